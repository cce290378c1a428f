/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The evaluation's hop is a codec call and a rule; a switch's port with link
 * retry off is what ships [LCB-4, SW-2]. Both are given the same errors: they
 * must drop, correct and miss the same flits.
 */
#include "bench.h"

#include "rl_error.h"

struct meddler {
	struct rl_error error;
	const struct rl_codec *codec;
	uint64_t corrected, detected, missed;
};

/**
 * Damages each flit as its wire does, and asks the codec what a hop would do.
 */
static enum bench_act
meddle(void *ctx, struct bench_frame *f)
{
	struct meddler *m = ctx;
	uint8_t sent[RL_FLIT_BYTES], got[RL_FLIT_BYTES] RL_ALIGNED(64);
	uint8_t out[RL_FLIT_BYTES] RL_ALIGNED(64);
	const uint8_t *src[1] = { got };
	uint8_t *dst[1] = { out }, *flit;
	uint8_t fec;

	if (f->h.type != RL_FRAME_DATA)
		return BENCH_PASS;
	assert_int_equal(f->h.nflits, 1);
	if (rl_error_pass(&m->error))
		return BENCH_PASS;
	flit = f->data + rl_frame_header_bytes(1);
	memcpy(sent, flit, sizeof(sent));
	rl_error_strike(&m->error, flit);
	memcpy(got, flit, sizeof(got));
	rl_codec_hop(m->codec, src, dst, 1, &fec);
	if (fec == RL_FEC_BAD)
		m->detected++;
	else if (memcmp(out, sent, sizeof(sent)) == 0)
		m->corrected++;
	else
		m->missed++;
	return BENCH_PASS;
}

static void
a_port_without_retry_does_what_the_hop_of_the_evaluation_does(void **state)
{
	struct rl_error_cfg ec;
	struct rl_link_cfg cfg;
	struct meddler m = { 0 };
	struct bench b;

	(void)state;
	memset(&b, 0, sizeof(b));
	bench_cfg(&cfg);
	cfg.retry = false;
	cfg.flits_per_frame = 1;
	cfg.max_packet_flits = 1;
	cfg.error_window_ns = 0;
	bench_open(&b, &cfg);
	bench_start(&b);
	rl_error_cfg_defaults(&ec);
	ec.bit_rate = 3e-4;
	ec.burst_rate = 0.02;
	ec.burst_max_bytes = 8;
	rl_error_init(&m.error, &ec, 4);
	m.codec = b.pool.codec;
	b.wire[0].hook = meddle;
	b.wire[0].ctx = &m;
	for (unsigned int i = 0; i < 4000; i++) {
		bench_send(&b, 0, 0, 1, 1);
		bench_run(&b, 4 * RL_NS_PER_US);
	}
	bench_settle(&b, RL_NS_PER_MS);
	assert_true(m.corrected > 500 && m.detected > 50 && m.missed > 10);
	assert_int_equal(COUNTER(&b.end[1], rx_bad), m.detected);
	assert_int_equal(b.end[1].sink.packets, 4000 - m.detected);
	/*
	 * errors that the FEC misses pass the hop: the endpoint must find them
	 */
	assert_int_equal(b.end[1].sink.corrupt, m.missed);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_port_without_retry_does_what_the_hop_of_the_evaluation_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
