/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Foreign data in the store, and a malicious etcd [RES-1]: texts of any bytes.
 * Each is refused, or is accepted, written as a text, and accepted again with
 * the same meaning. The first byte selects the reader.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_fabric.h"
#include "fuzz_main.h"
#include "oob_etcd.h"
#include "rl_oob_text.h"

const char *const fuzz_words[] = {
	"{", "}", "[", "]", ",", ":", "\"", "\\u0000", "\\n", "null", "true",
	"0", "1", "-1", "1.5", "4294967296", "9223372036854775807",
	"18446744073709551616", "\"version\":1", "\"messages\":[", "\"type\":",
	"\"device\":", "\"hello\"", "\"order\"", "\"link\":", "\"link-ack\"",
	"\"port\":2", "\"hold\":", "\"flags\":", "\"tables\":", "\"held\":",
	"\"seq\":", "\"age_ns\":", "\"epoch\":", "\"digest\":",
	"\"0123456789abcdef\"", "\"links\":[", "\"devices\":[", "\"flows\":{",
	"\"s0\"", "\"e0\"", "\"e1\"", "\"s0-s1#1\"", "\"s0-s1\"",
	"\"floor\":", "\"host\":", "\"process\":", "\"member\":",
	"\"header\":{", "\"revision\":", "\"kvs\":[", "\"events\":[",
	"\"kv\":{", "\"key\":\"YQ==\"", "\"value\":\"aGk=\"", "\"lease\":",
	"\"error\":", "\"result\":{", "\"DELETE\"", "\"token\":", "\xff",
};
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

size_t
fuzz_seed(unsigned int i, uint8_t *to, size_t room)
{
	static const char *const text[] = {
		"0{\"version\":1,\"messages\":[{\"type\":\"hello\",\"device\":"
		"\"s0\",\"local\":9,\"tables\":3},{\"type\":\"link\","
		"\"device\":\"s1\",\"port\":2,\"ver\":7,\"link\":2,"
		"\"age_ns\":5000}]}",
		"0{\"version\":1,\"messages\":[{\"type\":\"order\",\"device\":"
		"\"e0\",\"controller\":5,\"seq\":12,\"tables\":4,\"hold\":1,"
		"\"held\":4,\"flags\":1}]}",
		"1{\"version\":1,\"epoch\":3,\"digest\":\"0123456789abcdef\","
		"\"links\":[\"s0-s1#1\"],\"devices\":[\"e1\"],\"flows\":"
		"{\"e0\":[\"e1\"]}}",
		"2{\"version\":1,\"digest\":\"0123456789abcdef\",\"floor\":7,"
		"\"host\":\"h\",\"boot\":\"b\",\"pid\":4,\"start\":5}",
		"3{\"version\":1,\"process\":\"left\",\"member\":17}",
		"4{\"header\":{\"revision\":\"17\"},\"kvs\":[{\"key\":"
		"\"YQ==\",\"create_revision\":\"2\",\"value\":\"aGk=\","
		"\"lease\":\"7\"}],\"ID\":\"5\",\"TTL\":\"3\"}",
		"4{\"result\":{\"header\":{\"revision\":\"17\"},\"events\":"
		"[{\"type\":\"DELETE\",\"kv\":{\"key\":\"YQ==\"}}]}}",
		"4{\"error\":{\"grpc_code\":14,\"message\":\"no leader\"}}",
		"5Zm9vYmFy",
	};

	if (i >= RL_ARRAY_SIZE(text) || room < strlen(text[i]))
		return 0;
	memcpy(to, text[i], strlen(text[i]));
	return strlen(text[i]);
}

static void
check(bool good)
{
	if (!good)
		__builtin_trap();
}

static void
messages(const char *text, size_t len)
{
	/* made once: they are large, and most texts are refused */
	static struct rl_resil_msg m[RL_OOB_MSGS_MAX], back[RL_OOB_MSGS_MAX];
	const struct rl_topo *topo = &fuzz_fabric()->topo;
	const int n = rl_oob_msgs_read(topo, text, len, m);
	char *again;

	check(n <= RL_OOB_MSGS_MAX);
	for (int i = 0; i < n; i++)
		check(m[i].dev < topo->ndev && m[i].type >= RL_RESIL_HELLO &&
		      m[i].type <= RL_RESIL_PORT &&
		      m[i].port < topo->dev[m[i].dev].nports);
	if (n >= 0) {
		again = rl_oob_msgs_text(topo, m, (uint32_t)n);
		check(rl_oob_msgs_read(topo, again, strlen(again), back) == n);
		check(memcmp(m, back, (size_t)n * sizeof(m[0])) == 0);
		free(again);
	}
}

static void
recipe(const char *text, size_t len)
{
	const struct rl_topo *topo = &fuzz_fabric()->topo;
	struct rl_oob_recipe a, b;
	char *again;

	if (rl_oob_recipe_read(topo, text, len, &a) != 0)
		return;
	again = rl_oob_recipe_text(topo, &a.r);
	check(rl_oob_recipe_read(topo, again, strlen(again), &b) == 0);
	check(a.r.epoch == b.r.epoch && a.r.digest == b.r.digest &&
	      a.flows.count == b.flows.count);
	check(memcmp(a.link_out, b.link_out, topo->nlink) == 0);
	check(memcmp(a.dev_out, b.dev_out, topo->ndev) == 0);
	rl_oob_recipe_free(&a);
	rl_oob_recipe_free(&b);
	free(again);
}

static void
member(const char *text, size_t len)
{
	struct rl_oob_member a, b;
	char *again;

	if (rl_oob_member_read(text, len, &a) != 0)
		return;
	again = rl_oob_member_text(&a);
	check(rl_oob_member_read(again, strlen(again), &b) == 0);
	check(a.digest == b.digest && a.floor == b.floor && a.pid == b.pid &&
	      a.start == b.start && strcmp(a.host, b.host) == 0 &&
	      strcmp(a.boot, b.boot) == 0);
	free(again);
}

static void
office(const char *text, size_t len)
{
	struct rl_oob_office a, b;
	char *again;

	if (rl_oob_office_read(text, len, &a) != 0)
		return;
	again = rl_oob_office_text(&a);
	check(rl_oob_office_read(again, strlen(again), &b) == 0);
	check(a.member == b.member && strcmp(a.process, b.process) == 0);
	free(again);
}

static void
on_kv(void *ctx, const struct oob_kv *kv)
{
	size_t *n = ctx;

	check(kv->key != NULL);
	*n += strlen(kv->key) + (kv->value == NULL ? 0 : kv->len);
}

static void
answer(const char *text, size_t len)
{
	struct oob_answer a;
	size_t n = 0;
	const int ret = oob_answer_read(text, len, &a, on_kv, &n);

	check(n <= len);
	check((a.error[0] != '\0') == (ret == -EREMOTEIO));
	check(a.error[strcspn(a.error, "\r\n")] == '\0');
	check(a.token[strcspn(a.token, "\r\n")] == '\0');
}

static void
base64(const char *text, size_t len)
{
	char *copy = strndup(text, len);
	size_t n;
	char *plain = oob_unbase64(copy, &n);

	if (plain != NULL) {
		char *again = oob_base64(plain, n);

		check(strlen(again) == strlen(copy));
		free(again);
	}
	free(plain);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const read[])(const char *, size_t) = {
		messages, recipe, member, office, answer, base64,
	};

	if (size != 0)
		read[data[0] % RL_ARRAY_SIZE(read)](
			(const char *)data + 1, size - 1);
	return 0;
}
