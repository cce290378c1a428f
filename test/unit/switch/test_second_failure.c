/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real ports and cores: a second link dies, or the first returns, at every
 * microsecond of a failover [DRL-2]; all links die; links flap under loss. Each
 * packet comes once and in the order of its flow [LINK-C30, LINK-C33].
 */
#include "../../few.h"
#include "duo.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* A little traffic on every flow, all the time. */
static void
traffic(struct duo *d, unsigned int us)
{
	for (unsigned int i = 0; i < us; i++) {
		const uint64_t t = d->now_ns / US;

		if (t % 3 == 0 && d->pool.cache.count > 128)
			duo_send(d, t / 3 % DUO_FLOWS, 1 + t % 6);
		duo_run(d, US);
	}
}

static void
the_alternate_dies_at_every_step_of_the_drain(void **state)
{
	(void)state;
	for (unsigned int step = 0; step < 90; step += FEW(3)) {
		struct duo d;

		duo_cfg(&d, 3);
		duo_open(&d);
		traffic(&d, 60);
		duo_kill(&d, 0);
		traffic(&d, step);
		duo_kill(&d, 1); /* the egress of the first one's packets */
		traffic(&d, 60);
		duo_settle(&d, 5 * MS);
		duo_check(&d);
		assert_int_equal(DUO_COUNTER(&d.a, failovers), 2);
		duo_close(&d);
	}
}

static void
the_third_dies_too_at_every_step_and_one_returns(void **state)
{
	(void)state;
	for (unsigned int step = 0; step < 90; step += FEW(3)) {
		struct duo d;

		duo_cfg(&d, 3);
		duo_open(&d);
		traffic(&d, 60);
		duo_kill(&d, 0);
		traffic(&d, step / 2);
		duo_kill(&d, 1);
		traffic(&d, step / 2);
		duo_kill(&d, 2); /* no way at all */
		traffic(&d, 70);
		duo_heal(&d, step % 3);
		traffic(&d, 300);
		duo_settle(&d, 5 * MS);
		/* by the link it died on: the filter has no word on those */
		d.sink.duplicates = 0;
		duo_check(&d);
		assert_int_equal(d.a.drops[RL_DROP_NO_PATH], 0);
		duo_close(&d);
	}
}

/* The link is back, and the way round dies while it restores. */
static void
the_way_round_dies_at_every_step_of_a_restore(void **state)
{
	(void)state;
	for (unsigned int step = 0; step < 150; step += FEW(3)) {
		struct duo d;

		duo_cfg(&d, 2);
		duo_open(&d);
		traffic(&d, 60);
		duo_kill(&d, 0);
		traffic(&d, 80);
		duo_heal(&d, 0);
		traffic(&d, step);
		duo_kill(&d, 1);
		traffic(&d, 150);
		duo_settle(&d, 5 * MS);
		duo_check(&d);
		assert_int_equal(d.a.drops[RL_DROP_NO_PATH], 0);
		duo_close(&d);
	}
}

/* Back after any time: also before the drain's delay is over. */
static void
a_link_returns_at_every_step_of_its_failover(void **state)
{
	(void)state;
	for (unsigned int step = 1; step < 100; step += FEW(3)) {
		struct duo d;

		duo_cfg(&d, 2);
		d.cfg.flap_damping_ns = 0;
		d.cfg.flap_damping_max_ns = 0;
		d.cfg.resume_delay_ns = 60 * US;
		duo_open(&d);
		traffic(&d, 60);
		duo_kill(&d, 0);
		traffic(&d, step);
		duo_heal(&d, 0);
		traffic(&d, 200);
		duo_settle(&d, 5 * MS);
		duo_check(&d);
		assert_int_equal(DUO_COUNTER(&d.a, restores), 1);
		assert_int_equal(DUO_COUNTER(&d.a, restore_timeouts), 0);
		duo_close(&d);
	}
}

/* All links dead for good: within the watchdog's time all is reported. */
static void
no_link_at_all_reports_everything_in_bounded_time(void **state)
{
	struct duo d;
	uint64_t sent;

	(void)state;
	duo_cfg(&d, 2);
	d.cfg.no_path_ns = 2 * MS;
	duo_open(&d);
	traffic(&d, 60);
	duo_kill(&d, 0);
	traffic(&d, 10);
	duo_kill(&d, 1);
	traffic(&d, 40);
	duo_run(&d, 3 * MS);
	assert_int_equal(rl_core_flits(d.a.core), 0);
	assert_true(d.a.drops[RL_DROP_NO_PATH] > 0);
	/* some arrived and are reported, too: their ACK was lost */
	sent = d.next_tag[0] + d.next_tag[1] + d.next_tag[2] + d.next_tag[3];
	assert_in_range(d.sink.packets + d.a.drops[RL_DROP_NO_PATH], sent,
			sent + 10);
	duo_close(&d);
}

static enum bench_act
lose_two_percent(void *ctx, struct bench_frame *f)
{
	(void)f;
	return rl_prng_below(ctx, 50) == 0 ? BENCH_DROP : BENCH_PASS;
}

/*
 * Flaps of all links, while frames are lost. A copy whose first one's ACK was
 * lost may slip past the filter; order and completeness must hold.
 */
static void
links_that_flap_under_loss_lose_nothing(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 25; seed += FEW(3)) {
		struct rl_prng prng;
		struct duo d;

		rl_prng_seed(&prng, seed);
		duo_cfg(&d, 2 + seed % 2);
		d.cfg.watchdog_ns = RL_NS_PER_S;
		d.cfg.no_path_ns = RL_NS_PER_S;
		duo_open(&d);
		for (unsigned int i = 0; i < d.links; i++)
			for (unsigned int w = 0; w < 2; w++) {
				d.wire[i][w].hook = lose_two_percent;
				d.wire[i][w].ctx = &prng;
			}
		for (unsigned int i = 0; i < 40; i++) {
			const unsigned int link =
				rl_prng_below(&prng, d.links);

			if (d.wire[link][0].cut)
				duo_heal(&d, link);
			else
				duo_kill(&d, link);
			traffic(&d, rl_prng_below(&prng, 200));
		}
		for (unsigned int i = 0; i < d.links; i++)
			if (d.wire[i][0].cut)
				duo_heal(&d, i);
		traffic(&d, 200);
		duo_settle(&d, 500 * MS);
		if (d.sink.disorder != 0)
			fail_msg("seed %u: %llu out of order", seed,
				 (unsigned long long)d.sink.disorder);
		d.sink.duplicates = 0;
		duo_check(&d);
		duo_close(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C30 the alternate dies at every step of the drain",
		     the_alternate_dies_at_every_step_of_the_drain),
		CASE("LINK-C30 the third dies too at every step, and one "
		     "returns",
		     the_third_dies_too_at_every_step_and_one_returns),
		CASE("LINK-C30 [DRL-8] the way round dies at every step of a "
		     "restore",
		     the_way_round_dies_at_every_step_of_a_restore),
		CASE("LINK-C33 [DRL-8] a link returns at every step of its "
		     "failover, under load",
		     a_link_returns_at_every_step_of_its_failover),
		CASE("LINK-C30 [DRL-7] no link at all reports everything in "
		     "bounded time",
		     no_link_at_all_reports_everything_in_bounded_time),
		CASE("LINK-C33 links that flap under loss lose nothing",
		     links_that_flap_under_loss_lose_nothing),
	};

	return cmocka_run_group_tests_name("second-failure", tests, NULL,
					   NULL);
}
