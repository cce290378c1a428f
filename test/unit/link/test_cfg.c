/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a link: every range at both of its edges, every relation. */
#include "bench.h"
#include "rl_seq.h"

static void
expect(const struct rl_link_cfg *c, const char *key)
{
	const char *k = NULL;
	char err[160] = "";
	const int ret = rl_link_cfg_check(c, err, sizeof(err), &k);

	if (key == NULL) {
		if (ret != 0)
			fail_msg("refused: %s", err);
		return;
	}
	assert_int_equal(ret, -EINVAL);
	assert_string_equal(k, key);
	/* the message begins with the key */
	assert_memory_equal(err, key, strlen(key));
	assert_int_equal(err[strlen(key)], ':');
}

static void
the_defaults_are_good(void **state)
{
	struct rl_link_cfg c;

	(void)state;
	rl_link_cfg_defaults(&c);
	expect(&c, NULL);
	bench_cfg(&c);
	expect(&c, NULL);
}

#define HOUR (3600 * RL_NS_PER_S)
#define KEY(name, lo, hi)                                                      \
	{ #name, offsetof(struct rl_link_cfg, name),                           \
	  sizeof(((struct rl_link_cfg *)0)->name), lo, hi }

/* Every number of the configuration with its range. */
static const struct {
	const char *key;
	size_t off;
	size_t size;
	uint64_t lo;
	uint64_t hi;
} keys[] = {
	KEY(window_flits, 1, RL_LINK_WINDOW_MAX),
	KEY(credits_flits, 1, 32767),
	KEY(queue_flits, 1, 32767),
	KEY(max_packet_flits, 1, RL_PACKET_FLITS_MAX),
	KEY(flits_per_frame, 0, RL_FRAME_FLITS_MAX),
	KEY(vcs, 1, RL_VCS),
	KEY(ack_coalesce_flits, 1, RL_LINK_WINDOW_MAX),
	KEY(ack_delay_ns, 0, RL_NS_PER_S),
	KEY(replay_timer_ns, 0, HOUR),
	KEY(replay_timer_min_ns, 1, 20 * RL_NS_PER_MS),
	KEY(replay_timer_max_ns, 1, HOUR),
	KEY(replay_limit, 1, 255),
	KEY(retrain_interval_ns, 1, HOUR),
	KEY(retrain_limit, 1, 255),
	KEY(init_interval_ns, 1, HOUR),
	KEY(keepalive_dead_ns, 0, HOUR),
	KEY(phy_lost_ns, 0, HOUR),
	KEY(error_window_ns, 0, HOUR),
	KEY(error_corrected_max, 0, 1000000),
	KEY(error_uncorrectable_max, 0, 1000000),
	KEY(error_replay_max, 0, 1000000),
	KEY(resume_delay_ns, 0, HOUR),
	KEY(restore_delay_ns, 0, HOUR),
	KEY(watchdog_ns, 1, HOUR),
	KEY(wait_flits, 0, 1u << 20),
	KEY(no_path_ns, 1, HOUR),
	KEY(flap_damping_ns, 0, RL_NS_PER_S),
	KEY(flap_damping_max_ns, RL_NS_PER_MS, HOUR),
	KEY(flap_forget_ns, 0, HOUR),
};

static void
values_below_or_above_their_range_are_refused(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(keys); i++) {
		const uint64_t v[4] = { keys[i].lo, keys[i].hi,
					keys[i].lo - 1, keys[i].hi + 1 };

		for (unsigned int n = 0; n < 4; n++) {
			struct rl_link_cfg c;
			const bool good = n < 2;

			rl_link_cfg_defaults(&c);
			/* relations are not what is tested here */
			c.max_packet_flits = 1;
			c.queue_flits = 255;
			if (strcmp(keys[i].key, "replay_timer_max_ns") == 0)
				c.replay_timer_min_ns = 1;
			if (keys[i].size == 4 && v[n] > UINT32_MAX)
				continue; /* 0 - 1, or no value above */
			if (!good && n == 2 && keys[i].lo == 0)
				continue;
			memcpy((uint8_t *)&c + keys[i].off, &v[n],
			       keys[i].size);
			if (strcmp(keys[i].key, "replay_timer_min_ns") == 0 &&
			    n == 3) {
				expect(&c, "replay_timer_max_ns");
				continue;
			}
			if (strcmp(keys[i].key, "flap_damping_ns") == 0 &&
			    n == 3) {
				expect(&c, "flap_damping_max_ns");
				continue;
			}
			expect(&c, good ? NULL : keys[i].key);
		}
	}
}

static void
a_packet_must_fit_window_credits_and_queue(void **state)
{
	struct rl_link_cfg c;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t *room[3] = { &c.window_flits, &c.credits_flits,
				      &c.queue_flits };

		rl_link_cfg_defaults(&c);
		c.max_packet_flits = 32;
		*room[i] = 32;
		expect(&c, NULL);
		*room[i] = 31;
		expect(&c, "max_packet_flits");
	}
}

static void
a_silence_shorter_than_two_keepalives_is_refused(void **state)
{
	struct rl_link_cfg c;

	(void)state;
	rl_link_cfg_defaults(&c);
	c.keepalive_dead_ns = 2 * c.keepalive_ns;
	expect(&c, NULL);
	c.keepalive_dead_ns--;
	expect(&c, "keepalive_dead_ns");
	c.keepalive_dead_ns = 0;
	expect(&c, NULL);
	c.keepalive_ns = 0; /* an idle link would die of it */
	expect(&c, NULL);
	c.keepalive_dead_ns = RL_NS_PER_S;
	expect(&c, "keepalive_dead_ns");
}

/* A PHY whose frames cannot carry one flit gets no port. */
static void
frames_too_small_for_a_flit_make_no_port(void **state)
{
	struct rl_port_shared shared = { 0 };
	struct bench_pool pool;
	struct rl_link_cfg cfg;
	struct rl_port_params p;
	struct rl_port_info info;
	void *mem;

	(void)state;
	bench_cfg(&cfg);
	bench_pool_open(&pool, 16);
	mem = aligned_alloc(64, rl_port_memsize(&cfg));
	p = (struct rl_port_params){ .cfg = &cfg, .codec = pool.codec,
				     .cache = &pool.cache, .shared = &shared,
				     .uid = 1, .frame_bytes = 319 };
	assert_null(rl_port_init(mem, &p));
	p.frame_bytes = 320;
	assert_non_null(rl_port_init(mem, &p));
	cfg.flits_per_frame = 0; /* as many as the MTU carries */
	p.frame_bytes = 1514;
	assert_non_null(rl_port_init(mem, &p));
	rl_port_info((struct rl_port *)mem, &info);
	assert_int_equal(info.flits_per_frame, 5);
	cfg.flits_per_frame = 3;
	assert_non_null(rl_port_init(mem, &p));
	rl_port_info((struct rl_port *)mem, &info);
	assert_int_equal(info.flits_per_frame, 3);
	free(mem);
	bench_pool_close(&pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_defaults_are_good),
		CASE("LINK-C1 values below or above their range are refused",
		     values_below_or_above_their_range_are_refused),
		CASE("LINK-C1 a packet must fit window, credits and queue",
		     a_packet_must_fit_window_credits_and_queue),
		CASE("LINK-C1 a silence shorter than two keepalives is refused",
		     a_silence_shorter_than_two_keepalives_is_refused),
		cmocka_unit_test(frames_too_small_for_a_flit_make_no_port),
	};

	return cmocka_run_group_tests_name("cfg", tests, NULL, NULL);
}
