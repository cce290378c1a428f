/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many flits through each instruction set [FLIT-8]. Without arguments it
 * compares each with the tables of the scalar code. With RL_LONG=1 a million
 * flits are sent and received by the plain reference as well. With the name of
 * an instruction set it runs each operation over 64 flits and does nothing else,
 * for one who counts instructions.
 */

#include <stdio.h>
#include <string.h>

#include "codec_test.h"

#define BURST 64
#define FLITS 100000
#define FLITS_LONG 1000000

/** Some flits, their copies and what an operation says of them. */
struct many {
	struct rl_codec *codec;
	uint8_t f[BURST][RL_FLIT_BYTES], copy[BURST][RL_FLIT_BYTES];
	uint8_t *flit[BURST], *dst[BURST];
	uint32_t seq[BURST];
	uint64_t syndrome[BURST];
	uint8_t fec[BURST];
	unsigned int bad;
};

static struct many fast, plain;

static void
many_open(struct many *m, enum rl_isa isa)
{
	m->codec = codec_new(RL_CRC_BCH, RL_ISN_WIDE, isa);
	for (unsigned int i = 0; i < BURST; i++) {
		m->flit[i] = m->f[i];
		m->dst[i] = m->copy[i];
		m->seq[i] = i;
	}
}

/** Runs operation @p op ("tx", "rx", "hop", "check") over a burst. */
static void
many_run(struct many *m, const char *op)
{
	const uint8_t *const *const in = (const uint8_t *const *)m->flit;

	if (op[0] == 't')
		rl_codec_tx(m->codec, m->flit, m->seq, BURST);
	else if (op[0] == 'r')
		m->bad = rl_codec_rx(m->codec, m->flit, m->seq, BURST,
				     m->syndrome, m->fec);
	else if (op[0] == 'h')
		m->bad = rl_codec_hop(m->codec, in, m->dst, BURST, m->fec);
	else
		m->bad = rl_codec_fec_check(m->codec, in, BURST, m->fec);
}

/** Sends or receives a burst by the reference. */
static void
reference_run(struct many *m, const char *op)
{
	m->bad = 0;
	for (unsigned int i = 0; i < BURST; i++) {
		if (op[0] == 't') {
			rl_ref_tx(RL_CRC_BCH, RL_ISN_WIDE, m->f[i], m->seq[i]);
			continue;
		}
		m->syndrome[i] = 0;
		m->fec[i] = rl_ref_rx(RL_CRC_BCH, RL_ISN_WIDE, m->f[i],
				      m->seq[i], &m->syndrome[i]);
		m->bad += m->fec[i] == RL_FEC_BAD || m->syndrome[i] != 0;
	}
}

static void
both_run(const char *op, bool by_reference)
{
	many_run(&fast, op);
	if (by_reference)
		reference_run(&plain, op);
	else
		many_run(&plain, op);
	assert_int_equal(fast.bad, plain.bad);
	assert_memory_equal(fast.fec, plain.fec, sizeof(fast.fec));
	assert_memory_equal(fast.f, plain.f, sizeof(fast.f));
}

/** One burst: sent, checked, forwarded and received, some flits damaged. */
static void
compare_burst(struct rl_prng *p, bool by_reference)
{
	for (size_t k = 0; k < sizeof(fast.f); k += 8)
		rl_put64((uint8_t *)(void *)fast.f + k, rl_prng_u64(p));
	memcpy(plain.f, fast.f, sizeof(fast.f));
	both_run("tx", by_reference);
	for (unsigned int i = 0; i < BURST; i++) {
		const uint64_t r = rl_prng_u64(p);
		const unsigned int at = r >> 8 & 0xff;

		/* one flit in four: one to four bytes */
		for (unsigned int k = 0; r % 4 == 0 && k <= (r >> 16 & 3); k++)
			fast.f[i][(at + k) & 0xff] ^= (uint8_t)(r >> (24 + k));
	}
	memcpy(plain.f, fast.f, sizeof(fast.f));
	both_run("check", false);
	both_run("hop", false);
	assert_memory_equal(fast.copy, plain.copy, sizeof(fast.copy));
	both_run("rx", by_reference);
	for (unsigned int i = 0; i < BURST; i++) {
		if (fast.fec[i] != RL_FEC_BAD)
			assert_int_equal(fast.syndrome[i], plain.syndrome[i]);
		fast.seq[i] = plain.seq[i] += BURST;
	}
}

static void
many_flits_are_those_of_the_scalar_code(void **state)
{
	const bool by_reference = long_campaign();
	const unsigned int flits = by_reference ? FLITS_LONG : FLITS;
	struct rl_prng p;

	(void)state;
	rl_prng_seed(&p, 11);
	many_open(&plain, RL_ISA_SCALAR);
	for (int isa = RL_ISA_SCALAR + 1; isa < RL_ISA_COUNT; isa++) {
		many_open(&fast, (enum rl_isa)isa);
		if (fast.codec == NULL)
			continue;
		memcpy(plain.seq, fast.seq, sizeof(fast.seq));
		for (unsigned int done = 0; done < flits; done += BURST)
			compare_burst(&p, by_reference);
		print_message("%s: %u flits\n", rl_isa_name(isa), flits);
		free(fast.codec);
	}
	free(plain.codec);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_flits_are_those_of_the_scalar_code),
	};
	int isa = 0;

	if (argc != 2)
		return cmocka_run_group_tests(tests, NULL, NULL);
	while (isa < RL_ISA_COUNT && strcmp(rl_isa_name(isa), argv[1]) != 0)
		isa++;
	many_open(&fast, (enum rl_isa)isa);
	if (fast.codec == NULL)
		return 2;
	many_run(&fast, "tx");
	many_run(&fast, "rx");
	many_run(&fast, "hop");
	many_run(&fast, "check");
	return 0;
}
