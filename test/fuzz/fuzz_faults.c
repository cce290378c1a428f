/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault files of any bytes [APP-4]: each is either accepted as a whole, sorted
 * by time, or refused with one line, with nothing appended. Accepted faults,
 * written as text, are accepted again.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_fabric.h"
#include "fuzz_main.h"
#include "rl_sim_fault.h"

#define NAME "fuzz/input.flt"

const char *const fuzz_words[] = {
	"\n", " ", "\t", "#", "0", "1", "-1", "7", "100", "4294967296",
	"18446744073709551615", "0.02", "1e-5", "nan", "inf", "us", "ms", "ns",
	"s", "1h", "50us ", "1.5ms ", "cut ", "heal ", "flap ", "stall ",
	"noise ", "drop ", "down ", "up ", "drain ", "crash ", "remove ",
	"add ", "restart ", "controller crash", "s0-s1", "s0-s1#0", "s0-s1#1",
	"#9", "e0-s0", "s0->s1", "->", "e0", "s0", "s1", "s9", " silent",
	" late", " arrive", " frame=", " flit=", " count=", " dark=",
	" light=", " for=", " loss=", " corrupt=", " dup=", " jitter=",
	" within=", " bytes=", " hurt=header", " hurt=", "any", " soft=",
	" poison=", " ber=", " propagate=", " lanes=", "=", "\xff", "\x01",
};
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

size_t
fuzz_seed(unsigned int i, uint8_t *to, size_t room)
{
	static const char *const text[] = {
		"# a comment\n50us cut s0-s1#0\n1ms heal s0-s1#0\n",
		"10us flap s0-s1 count=3 dark=5us light=7us silent\n",
		("0 noise s0-s1#1 loss=0.1 corrupt=1e-3 dup=0.2 jitter=0.5 "
		 "within=3us bytes=9 hurt=header soft=0.01\n"),
		"0 noise s0-s1 ber=1e-6 propagate=0.5 lanes=16 poison=0.1\n",
		"5us drop s0->s1#0 frame=3 count=2\n7us drop s0->s1 flit=9\n",
		"1us cut e0-s0 silent late flit=7\n2us stall s1-e1 for=9us\n",
		"3us down s0-s1#0\n4us up s0-s1#0\n5us drain s0-s1#1\n",
		"1us cut s0\n2us heal s0\n",
	};

	if (i >= RL_ARRAY_SIZE(text) || room < strlen(text[i]))
		return 0;
	memcpy(to, text[i], strlen(text[i]));
	return strlen(text[i]);
}

static void
check_error(const char *err, size_t errlen)
{
	RL_ASSERT(memchr(err, '\0', errlen) != NULL);
	RL_ASSERT(strncmp(err, NAME ":", strlen(NAME) + 1) == 0);
	for (const char *p = err; *p != '\0'; p++)
		RL_ASSERT(!iscntrl((unsigned char)*p));
}

static void
check_list(const struct rl_sim_faults *list)
{
	const struct rl_topo *topo = &fuzz_fabric()->topo;

	for (uint32_t i = 0; i < list->n; i++) {
		const struct rl_fault *f = &list->f[i];
		char line[512];

		RL_ASSERT(i == 0 || list->f[i - 1].t_ns <= f->t_ns);
		RL_ASSERT(f->link < topo->nlink);
		RL_ASSERT((f->dirs & ~RL_FAULT_DIR_BOTH) == 0);
		RL_ASSERT(f->noise.bit_rate <= 1 && f->noise.propagate < 1);
		RL_ASSERT(f->noise.lanes == 0 || 16 % f->noise.lanes == 0);
		memset(line, 0xff, sizeof(line));
		rl_fault_text(f, topo, line, sizeof(line));
		RL_ASSERT(memchr(line, '\0', sizeof(line)) != NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rl_sim_faults list = { 0 };
	char err[RL_ERR_MAX + 512];
	int ret;

	memset(err, 0xff, sizeof(err));
	ret = rl_sim_faults_text(NAME, (const char *)data, size,
				 &fuzz_fabric()->topo, NULL, &list, err, sizeof(err));
	if (ret == 0) {
		check_list(&list);
	} else {
		RL_ASSERT(ret == -EINVAL || ret == -ENOMEM);
		RL_ASSERT(list.n == 0);
		check_error(err, sizeof(err));
	}
	rl_sim_faults_free(&list);
	return 0;
}
