/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers of a burst: what one says that the one before it said is not read
 * again [FLIT-3].
 */
#include "frame_fixture.h"

/* Changes field @p k of a header; false: there are no more. */
static bool
header_change(struct rl_frame_hdr *h, unsigned int k)
{
	switch (k) {
	case 0:
		h->flags ^= RL_FRF_RETRY;
		return true;
	case 1:
		h->tx_epoch ^= 0x80;
		return true;
	case 2:
		h->rx_epoch ^= 1;
		return true;
	case 3:
		h->ack ^= 0x8000;
		return true;
	case 4:
		h->stamp_echo ^= 1;
		return true;
	case 5:
		h->stamp_echo ^= UINT32_C(1) << 31;
		return true;
	case 6:
		h->stamp += UINT64_C(1) << 48;
		return true;
	default:
		if (k - 7 >= RL_VCS)
			return false;
		h->credit[k - 7] ^= 0x100;
		return true;
	}
}

/* The frame that came before. Plain C opens none like it: skips the test. */
static uint8_t *
before_new(void)
{
	const struct rl_frame_hdr h = header(3);
	uint8_t *before;

	if (rl_codec_best_isa(128) == RL_ISA_SCALAR)
		skip();
	before = frame_new();
	rl_frame_seal(before, &h, mac, true);
	return before;
}

/* Frames of a burst: number, stamp, flits and sidebands are of each alone. */
static void
a_header_like_the_last_one_s_is_opened_as_if_it_were_alone(void **state)
{
	uint8_t *before = before_new(), *f = frame_new();
	struct rl_frame_hdr h, g;
	uint64_t stamp;
	uint16_t seq;

	(void)state;
	for (uint8_t n = 1; n <= RL_FRAME_FLITS_MAX; n++) {
		const uint32_t len = rl_frame_bytes(n);

		h = header(n);
		h.seq = (uint16_t)(h.seq + 3 * n);
		h.stamp += n;
		memset(f + RL_FRAME_SIDEBAND_OFF, n, 2 * n);
		rl_frame_seal(f, &h, mac, true);
		assert_int_equal(rl_frame_open(f, len, &g, true), RL_FRAME_OK);
		assert_int_equal(
			rl_frame_open_like(f, len, before, &seq, &stamp, true),
			n);
		assert_int_equal(seq, g.seq);
		assert_true(stamp == g.stamp);
		assert_int_equal(rl_frame_open_like(f, len - 1, before, &seq,
						    &stamp, true),
				 0);
		for (uint32_t bit = 12 * 8;
		     bit < rl_frame_header_bytes(n) * 8; bit++) {
			f[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(
				rl_frame_open_like(f, RL_FRAME_BYTES_MAX, before,
						   &seq, &stamp, true),
				0);
			f[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	assert_int_equal(rl_frame_open_like(f, RL_FRAME_BYTES_MAX, before,
					    &seq, &stamp, false),
			 0);
	free(before);
	free(f);
}

static void
a_header_that_says_anything_else_is_not_like_the_last_one_s(void **state)
{
	uint8_t *before = before_new(), *f = frame_new();
	struct rl_frame_hdr h = header(3);
	uint64_t stamp;
	uint16_t seq;

	(void)state;
	for (unsigned int k = 0; header_change(&h, k); k++, h = header(3)) {
		rl_frame_seal(f, &h, mac, true);
		assert_int_equal(rl_frame_open_like(f, RL_FRAME_BYTES_MAX,
						    before, &seq, &stamp, true),
				 0);
	}
	h = header(0);
	rl_frame_seal(f, &h, mac, true);
	assert_int_equal(rl_frame_open_like(f, RL_FRAME_BYTES_MAX, before,
					    &seq, &stamp, true),
			 0);
	assert_int_equal(rl_frame_open_like(f, RL_FRAME_HEADER_SHORT - 1,
					    before, &seq, &stamp, true),
			 0);
	free(before);
	free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_header_like_the_last_one_s_is_opened_as_if_it_were_alone),
		cmocka_unit_test(
			a_header_that_says_anything_else_is_not_like_the_last_one_s),
	};

	return cmocka_run_group_tests_name("like", tests, NULL, NULL);
}
