/* SPDX-License-Identifier: BSD-3-Clause */
/* What the `endpoint` group of a fabric file may say. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_ep_cfg.h"
#include "rl_flit.h"
#include "rl_seq.h"

static int
check(const struct rl_ep_cfg *cfg, const char **key)
{
	char err[160] = "";
	int rc = rl_ep_cfg_check(cfg, err, sizeof(err), key);

	if (rc != 0) {
		/* the reason begins with the key, and says what to do */
		assert_memory_equal(err, *key, strlen(*key));
		assert_non_null(strpbrk(err, ";"));
	}
	return rc;
}

static void
defaults_are_valid(void **state)
{
	struct rl_ep_cfg cfg;
	const char *key;

	(void)state;
	rl_ep_cfg_defaults(&cfg);
	assert_int_equal(check(&cfg, &key), 0);
	assert_int_equal(cfg.profile, RL_PROFILE_RXL);
	assert_true(cfg.retry);
}

static void
every_number_is_refused_beyond_its_edges_and_taken_at_them(void **state)
{
	static const struct {
		const char *key;
		size_t off;
		bool wide;
		uint64_t min, max;
	} edge[] = {
#define E32(f, lo, hi) { #f, offsetof(struct rl_ep_cfg, f), false, lo, hi }
#define E64(f, lo) { #f, offsetof(struct rl_ep_cfg, f), true, lo, 86400ull * RL_NS_PER_S }
		E32(window_flits, 16, RL_E2E_WIDE_WINDOW_MAX),
		E32(max_packet_flits, 1, 256),
		E32(max_flows, 1, 65536),
		E32(tx_buffer_flits, 16, 1u << 24),
		E32(rx_buffer_flits, 16, 1u << 24),
		E32(ack_coalesce_flits, 1, RL_E2E_WINDOW_MAX),
		E32(retry_limit, 0, 1000000),
		E64(ack_delay_ns, 0),
		E64(nak_delay_ns, 0),
		E64(gap_skip_ns, 1),
		E64(give_up_ns, 0),
		E64(probe_ns, 1),
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(edge); i++) {
		for (int k = 0; k < 4; k++) {
			const uint64_t v[] = { edge[i].min, edge[i].max,
					       edge[i].min - 1,
					       edge[i].max + 1 };
			struct rl_ep_cfg cfg;
			const char *key = NULL;
			uint8_t *at = (uint8_t *)&cfg + edge[i].off;
			const uint32_t v32 = (uint32_t)v[k];
			int rc;

			rl_ep_cfg_defaults(&cfg);
			if (!strcmp(edge[i].key, "max_packet_flits")) {
				if (k == 1 || k == 3)
					continue; /* bound by others */
			}
			if (k == 2 && edge[i].min == 0)
				continue;
			if (edge[i].wide)
				memcpy(at, &v[k], 8);
			else
				memcpy(at, &v32, 4);
			rc = check(&cfg, &key);
			if (k < 2) {
				if (rc != 0)
					fail_msg("%s at %lu", edge[i].key,
						 (unsigned long)v[k]);
			} else {
				assert_int_equal(rc, -EINVAL);
				assert_string_equal(key, edge[i].key);
			}
		}
	}
}

static void
each_mixing_is_refused_without_a_crc_that_it_works_with(void **state)
{
	/* [crc][isn], as codec.md has it */
	static const bool works[3][3] = {
		[RL_CRC_BCH] = { true, true, true },
		[RL_CRC_ECMA] = { true, true, false },
		[RL_CRC_PCIE6_RS] = { true, false, false },
	};
	struct rl_codec *codec = aligned_alloc(
		64, (rl_codec_memsize() + 63) & ~(size_t)63);

	(void)state;
	for (int crc = 0; crc < 3; crc++) {
		for (int isn = 0; isn < 3; isn++) {
			struct rl_ep_cfg cfg;
			const char *key = NULL;

			rl_ep_cfg_defaults(&cfg);
			cfg.crc = (enum rl_crc_kind)crc;
			cfg.isn = (enum rl_isn_kind)isn;
			cfg.window_flits = rl_ep_cfg_window(&cfg);
			assert_int_equal(check(&cfg, &key),
					 works[crc][isn] ? 0 : -EINVAL);
			if (!works[crc][isn])
				assert_string_equal(key, "isn");
			/* and the codec is of the same opinion */
			assert_int_equal(rl_codec_init(codec, cfg.crc, cfg.isn,
						       RL_ISA_SCALAR) == 0,
					 works[crc][isn]);
		}
	}
	free(codec);
}

static void
a_window_must_hold_a_packet_and_stay_below_half_the_modulus(void **state)
{
	struct rl_ep_cfg cfg;
	const char *key;

	(void)state;
	rl_ep_cfg_defaults(&cfg);
	cfg.max_packet_flits = RL_PACKET_FLITS_MAX;
	cfg.window_flits = RL_PACKET_FLITS_MAX - 1;
	assert_int_equal(check(&cfg, &key), -EINVAL);
	assert_string_equal(key, "window_flits");
	cfg.window_flits = RL_E2E_WIDE_WINDOW_MAX + 1;
	assert_int_equal(check(&cfg, &key), -EINVAL);
	assert_string_equal(key, "window_flits");
	cfg.window_flits = RL_PACKET_FLITS_MAX;
	assert_int_equal(check(&cfg, &key), 0);
}

static void
a_window_above_511_needs_nineteen_bits_in_the_crc(void **state)
{
	static const struct {
		enum rl_isn_kind isn;
		enum rl_profile profile;
		uint32_t max;
	} c[] = {
		{ RL_ISN_XOR10, RL_PROFILE_RXL, 511 },
		{ RL_ISN_WIDE, RL_PROFILE_RXL, 511 },
		{ RL_ISN_WIDE19, RL_PROFILE_RXL, 8191 },
		{ RL_ISN_WIDE19, RL_PROFILE_RXL_COMPACT, 8191 },
		{ RL_ISN_WIDE19, RL_PROFILE_CXL, 511 },
		{ RL_ISN_WIDE19, RL_PROFILE_CXL_SEP_ACK, 511 },
	};
	struct rl_ep_cfg cfg;
	const char *key;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(c); i++) {
		rl_ep_cfg_defaults(&cfg);
		cfg.isn = c[i].isn;
		cfg.profile = c[i].profile;
		cfg.window_flits = c[i].max;
		assert_int_equal(check(&cfg, &key), 0);
		cfg.window_flits++;
		assert_int_equal(check(&cfg, &key), -EINVAL);
		assert_string_equal(key, "window_flits");
	}
}

static void
the_rs_crc_takes_only_the_xor_mixing(void **state)
{
	struct rl_ep_cfg cfg;
	const char *key;

	(void)state;
	rl_ep_cfg_defaults(&cfg);
	cfg.crc = RL_CRC_PCIE6_RS;
	assert_int_equal(check(&cfg, &key), -EINVAL);
	assert_string_equal(key, "isn");
	cfg.isn = rl_ep_cfg_isn(cfg.crc);
	cfg.window_flits = rl_ep_cfg_window(&cfg);
	assert_int_equal(check(&cfg, &key), 0);
}

/* What a fabric file does not set is as long as what it sets allows. */
static void
defaults_of_numbers_and_windows_follow_crc_and_profile(void **state)
{
	struct rl_ep_cfg cfg;
	const char *key;

	(void)state;
	for (int crc = 0; crc < 3; crc++)
		for (int profile = 0; profile < 4; profile++) {
			const bool longer = crc == RL_CRC_BCH &&
					    profile <= RL_PROFILE_RXL_COMPACT;

			rl_ep_cfg_defaults(&cfg);
			cfg.crc = (enum rl_crc_kind)crc;
			cfg.profile = (enum rl_profile)profile;
			cfg.isn = rl_ep_cfg_isn(cfg.crc);
			cfg.window_flits = rl_ep_cfg_window(&cfg);
			assert_int_equal(check(&cfg, &key), 0);
			assert_int_equal(cfg.window_flits, longer ? 4095 : 511);
			rl_ep_cfg_set_retry(&cfg, false);
			assert_int_equal(cfg.window_flits, 511);
			rl_ep_cfg_set_retry(&cfg, true);
			assert_int_equal(cfg.window_flits, longer ? 4095 : 511);
			cfg.window_flits = 300; /* not a default */
			rl_ep_cfg_set_retry(&cfg, false);
			assert_int_equal(cfg.window_flits, 300);
			assert_int_equal(cfg.isn, crc == RL_CRC_BCH
							  ? RL_ISN_WIDE19
						  : crc == RL_CRC_ECMA
							  ? RL_ISN_WIDE
							  : RL_ISN_XOR10);
		}
}

static void
timers_that_contradict_each_other_are_refused(void **state)
{
	struct rl_ep_cfg cfg;
	const char *key;

	(void)state;
	rl_ep_cfg_defaults(&cfg);
	cfg.retry_timer_min_ns = cfg.retry_timer_max_ns + 1;
	assert_int_equal(check(&cfg, &key), -EINVAL);
	assert_string_equal(key, "retry_timer_min_ns");
	rl_ep_cfg_defaults(&cfg);
	cfg.retry_timer_ns = cfg.ack_delay_ns;
	assert_int_equal(check(&cfg, &key), -EINVAL);
	assert_string_equal(key, "retry_timer_ns");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_valid),
		cmocka_unit_test(every_number_is_refused_beyond_its_edges_and_taken_at_them),
		cmocka_unit_test(each_mixing_is_refused_without_a_crc_that_it_works_with),
		cmocka_unit_test(a_window_must_hold_a_packet_and_stay_below_half_the_modulus),
		cmocka_unit_test(a_window_above_511_needs_nineteen_bits_in_the_crc),
		cmocka_unit_test(the_rs_crc_takes_only_the_xor_mixing),
		cmocka_unit_test(defaults_of_numbers_and_windows_follow_crc_and_profile),
		cmocka_unit_test(timers_that_contradict_each_other_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
