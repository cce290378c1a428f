/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to etcd's gateway and its answers, as text. */
#include <inttypes.h>
#include <stdio.h>

#include "oob_etcd.h"
#include "oob_test.h"

static void
base64_is_that_of_the_rfc_and_comes_back(void **state)
{
	static const struct {
		const char *plain;
		const char *text;
	} rfc[] = { /* RFC 4648, section 10 */
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"},
		{"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
	};
	static const char *const bad[] = { "Z", "Zg=", "Zg", "Z===", "Zm9v\n",
					   "Zm-v", "=Zm9", "Zg==Zg==" };
	char all[256];
	size_t len;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(rfc); i++) {
		char *t = oob_base64(rfc[i].plain, strlen(rfc[i].plain));
		char *p = oob_unbase64(rfc[i].text, &len);

		assert_string_equal(t, rfc[i].text);
		assert_int_equal(len, strlen(rfc[i].plain));
		assert_string_equal(p, rfc[i].plain);
		free(t);
		free(p);
	}
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		assert_null(oob_unbase64(bad[i], &len));
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	for (size_t n = 253; n <= 256; n++) {
		char *t = oob_base64(all, n);
		char *p = oob_unbase64(t, &len);

		assert_int_equal(len, n);
		assert_memory_equal(p, all, n);
		free(t);
		free(p);
	}
}

static void
a_transaction_asks_and_puts_as_etcd_wants_it(void **state)
{
	struct oob_txn t;
	char *body;

	(void)state;
	oob_txn_begin(&t);
	oob_txn_if_none(&t, "/r/m/");
	oob_txn_if_created(&t, "/r/o", 12);
	oob_txn_put(&t, "/r/o", "v", 1418812015351268869ull);
	oob_txn_delete_prefix(&t, "/r/t/");
	oob_txn_delete_range(&t, "a", "b");
	body = oob_txn_end(&t);
	/* keys and values in base64, numbers as strings */
	assert_string_equal(
		body,
		"{\"compare\":[{\"target\":\"CREATE\",\"result\":\"EQUAL\","
		"\"key\":\"L3IvbS8=\",\"range_end\":\"L3IvbTA=\","
		"\"create_revision\":\"0\"},{\"target\":\"CREATE\","
		"\"result\":\"EQUAL\",\"key\":\"L3Ivbw==\","
		"\"create_revision\":\"12\"}],\"success\":[{\"request_put\":"
		"{\"key\":\"L3Ivbw==\",\"value\":\"dg==\",\"lease\":"
		"\"1418812015351268869\"}},{\"request_delete_range\":{\"key\":"
		"\"L3IvdC8=\",\"range_end\":\"L3IvdDA=\"}},"
		"{\"request_delete_range\":{\"key\":\"YQ==\",\"range_end\":"
		"\"Yg==\"}}],\"failure\":[]}");
	free(body);
}

static void
note(void *ctx, const struct oob_kv *kv)
{
	char *all = ctx;

	sprintf(all + strlen(all), "%s=%s@%" PRIu64 "/%" PRIu64 " ", kv->key,
		kv->value == NULL ? "gone" : kv->value, kv->created,
		kv->lease);
}

#define HEAD "\"header\":{\"cluster_id\":\"1\",\"revision\":\"17\"}"

static int
read_one(const char *text, struct oob_answer *a, char *all)
{
	all[0] = '\0';
	return oob_answer_read(text, strlen(text), a, note, all);
}

static void
answers_are_read_as_etcd_writes_them(void **state)
{
	struct oob_answer a;
	char all[512];

	(void)state;
	assert_int_equal(read_one("{" HEAD ",\"ID\":\"5\",\"TTL\":\"3\"}", &a,
				  all), 0);
	assert_int_equal(a.id, 5);
	assert_int_equal(a.ttl_s, 3);
	assert_int_equal(read_one("{\"result\":{" HEAD ",\"ID\":\"5\"}}", &a,
				  all), 0);
	assert_int_equal(a.ttl_s, 0); /* it has ended */
	assert_int_equal(read_one("{" HEAD ",\"succeeded\":true,\"responses\":"
				  "[]}", &a, all), 0);
	assert_true(a.succeeded);
	assert_int_equal(a.revision, 17);
	assert_int_equal(read_one("{" HEAD "}", &a, all), 0);
	assert_false(a.succeeded);
	assert_int_equal(read_one("{" HEAD ",\"kvs\":[{\"key\":\"YQ==\","
				  "\"create_revision\":\"2\",\"value\":"
				  "\"aGk=\",\"lease\":\"7\"},{\"key\":"
				  "\"Yg==\",\"create_revision\":3}],"
				  "\"count\":\"2\"}", &a, all), 0);
	assert_string_equal(all, "a=hi@2/7 b=@3/0 ");
	assert_int_equal(read_one("{\"result\":{" HEAD ",\"events\":[{\"kv\":{"
				  "\"key\":\"YQ==\",\"create_revision\":\"4\","
				  "\"value\":\"aGk=\"}},{\"type\":\"DELETE\","
				  "\"kv\":{\"key\":\"YQ==\"}}]}}", &a, all),
			 0);
	assert_string_equal(all, "a=hi@4/0 a=gone@0/0 ");
	assert_int_equal(read_one("{\"result\":{" HEAD ",\"canceled\":true,"
				  "\"compact_revision\":\"9\"}}", &a, all), 0);
	assert_true(a.canceled);
	assert_int_equal(read_one("{\"token\":\"abc.12\"}", &a, all), 0);
	assert_string_equal(a.token, "abc.12");
	assert_int_equal(read_one("{\"token\":\"abc\\r\\nX: y\"}", &a, all),
			 0);
	assert_string_equal(a.token, "");
}

static void
errors_are_told_and_nonsense_is_none_of_ours(void **state)
{
	static const char *const bad[] = {
		"", "x", "[]", "1", "{\"header\":{\"revision\":\"x\"}}",
		"{\"header\":{\"revision\":\"-1\"}}",
		"{\"header\":{\"revision\":-1}}",
		"{\"header\":{\"revision\":\"99999999999999999999\"}}",
		"{}", "{\"result\":{}}", "{\"kvs\":[]}",
		"{" HEAD ",\"ID\":\"5x\"}", "{" HEAD ",\"kvs\":[1]}", "{" HEAD ",\"kvs\":[{}]}",
		"{" HEAD ",\"kvs\":[{\"key\":\"?\"}]}",
		"{" HEAD ",\"kvs\":[{\"key\":\"YQ==\",\"value\":\"?\"}]}",
		"{" HEAD ",\"kvs\":[{\"key\":\"YQ==\",\"lease\":\"?\"}]}",
		"{" HEAD ",\"events\":[{}]}", "{\"result\":{" HEAD ",\"events\":[{\"kv\":1}]}}",
	};
	struct oob_answer a;
	char all[512];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		if (read_one(bad[i], &a, all) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(read_one("{\"error\":\"etcdserver: invalid auth "
				  "token\",\"message\":\"m\",\"code\":16}",
				  &a, all), -EREMOTEIO);
	assert_string_equal(a.error, "etcdserver: invalid auth token");
	assert_true(a.denied);
	assert_int_equal(read_one("{\"error\":{\"grpc_code\":14,\"message\":"
				  "\"no\\nleader\"}}", &a, all), -EREMOTEIO);
	assert_string_equal(a.error, "no leader");
	assert_false(a.denied);
	assert_int_equal(read_one("{\"error\":1}", &a, all), -EREMOTEIO);
	assert_string_equal(a.error, "an error without a message");
	/* as newer gateways say it */
	assert_int_equal(read_one("{\"code\":3,\"message\":\"etcdserver: "
				  "revision of auth store is old\"}", &a, all),
			 -EREMOTEIO);
	assert_string_equal(a.error, "etcdserver: revision of auth store is "
				     "old");
	assert_true(a.denied);
	assert_int_equal(read_one("{\"message\":\"m\"}", &a, all),
			 -EREMOTEIO);
	assert_int_equal(read_one("{\"code\":14}", &a, all), -EREMOTEIO);
	assert_string_equal(a.error, "an error without a message");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_is_that_of_the_rfc_and_comes_back),
		cmocka_unit_test(a_transaction_asks_and_puts_as_etcd_wants_it),
		cmocka_unit_test(answers_are_read_as_etcd_writes_them),
		cmocka_unit_test(errors_are_told_and_nonsense_is_none_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
