/* SPDX-License-Identifier: BSD-3-Clause */
/* Recoveries, phase by phase, and the ways out of each [RES-1..4] [RES-4] [RES-6]. */

#include "resil_fixture.h"

#define MS RL_NS_PER_MS

static void
a_dead_link_brings_new_tables_and_holds_no_flow(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_recovery *r;
	char text[128];

	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 1);
	assert_int_equal(f->job_link_ok[link], RL_LINK_NO);
	assert_int_equal(f->holds, 0);
	r = fx_last(f);
	fx_all_have(f, r->epoch);
	assert_int_equal(r->outcome, RL_OUTCOME_DONE);
	assert_int_equal(r->mode, RL_RESIL_LIVE);
	assert_int_equal(r->paused_ns, 0);
	assert_int_equal(r->compute_ns + r->prove_ns, f->compute_ns);
	/* a message, and the time to gather */
	assert_int_equal(r->detect_ns, f->delay_ns + f->cfg.gather_ns);
	assert_int_equal(r->install_ns, 2 * f->delay_ns);
	assert_string_equal(rl_recovery_text(r, &f->topo, text, sizeof(text)),
			    "link s0-s1 dead");
}

static void
one_end_that_hears_nothing_is_enough(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");

	fx_end(f, link, 1, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->job_link_ok[link], RL_LINK_NO);
	assert_false(rl_controller_link_ok(f->ctl, link));
	/* back only when the other end does, too, and stays */
	fx_end(f, link, 1, RL_RESIL_LINK_UP);
	fx_run(f, f->cfg.return_ns / 2);
	assert_false(rl_controller_link_ok(f->ctl, link));
	assert_true(fx_settle(f, 10 * MS));
	assert_true(rl_controller_link_ok(f->ctl, link));
	assert_int_equal(fx_last(f)->cause, RL_CAUSE_LINK_BACK);
	assert_int_equal(f->job_link_ok[link], RL_LINK_USE);
}

static void
failures_within_the_time_to_gather_are_one_recovery(void **state)
{
	struct fx *f = *state;

	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, f->cfg.gather_ns / 2);
	fx_link(f, fx_link_of(f, "e2-s2"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 1);
	assert_int_equal(fx_last(f)->changes, 2);
}

static void
a_failure_while_computing_restarts_it(void **state)
{
	struct fx *f = *state;

	f->compute_ns = 1 * MS;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, MS / 2);
	fx_link(f, fx_link_of(f, "e2-s2"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 2);
	assert_int_equal(rl_controller_recoveries(f->ctl), 2);
	assert_int_equal(rl_controller_recovery(f->ctl, 0)->outcome,
			 RL_OUTCOME_SUPERSEDED);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(f->job_link_ok[fx_link_of(f, "s0-s1")], RL_LINK_NO);
	fx_all_have(f, fx_last(f)->epoch);
}

static void
failures_that_never_end_do_not_keep_tables_from_coming(void **state)
{
	struct fx *f = *state;

	f->compute_ns = 1 * MS;
	for (unsigned int i = 0; i < 40; i++) {
		fx_link(f, i % 4, RL_RESIL_LINK_DEAD);
		fx_run(f, MS / 4);
		fx_link(f, i % 4, RL_RESIL_LINK_UP);
		fx_run(f, MS / 4);
	}
	assert_true(f->table[0] > 0);
	assert_true(fx_settle(f, 50 * MS));
	fx_all_have(f, fx_last(f)->epoch);
}

static void
some_flows_are_held_until_theirs_have_left(void **state)
{
	struct fx *f = *state;
	const struct rl_recovery *r;

	f->cfg.quiesce_ns = 400 * MS;
	f->mode = RL_RESIL_PARTIAL;
	f->busy[fx_dev(f, "e1")] = true;
	f->activity[0] = 7;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 5 * MS);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_DRAIN);
	assert_int_equal(f->hold[fx_dev(f, "e1")], RL_RESIL_HOLD_FLOWS);
	assert_int_equal(f->installs, 0);
	f->busy[fx_dev(f, "e1")] = false;
	assert_true(fx_settle(f, 10 * MS));
	r = fx_last(f);
	assert_int_equal(r->outcome, RL_OUTCOME_DONE);
	assert_int_equal(r->held_flows, 2);
	assert_true(r->quiesce_ns > 4 * MS && r->quiesce_ns < 6 * MS);
	assert_true(r->paused_ns >= r->quiesce_ns + r->install_ns);
	assert_int_equal(f->bad_installs, 0);
	fx_all_have(f, r->epoch);
}

static void
full_quiesce_is_observed_not_waited_for_by_the_clock(void **state)
{
	struct fx *f = *state;

	f->mode = RL_RESIL_FULL;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	/* quiet at every look, but something passed between any two */
	for (unsigned int i = 0; i < 50; i++) {
		fx_run(f, f->cfg.observe_ns);
		f->activity[2]++;
	}
	fx_run(f, 10 * f->delay_ns);
	while (rl_controller_phase(f->ctl) == RL_CONTROLLER_COMPUTE)
		fx_run(f, f->cfg.observe_ns);
	for (unsigned int i = 0; i < 50; i++) {
		assert_int_equal(f->installs, 0);
		f->activity[2]++;
		fx_run(f, f->cfg.observe_ns / 2);
	}
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->installs, FX_DEVS);
	assert_int_equal(f->bad_installs, 0);
	assert_int_equal(fx_last(f)->held_flows, 12);
}

static void
if_some_flows_never_drain_all_are_held_for_the_same_tables(void **state)
{
	struct fx *f = *state;
	const struct rl_recovery *r;

	f->cfg.quiesce_ns = 64 * MS;
	f->mode = RL_RESIL_PARTIAL;
	f->busy[fx_dev(f, "e1")] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	/* a busy machine needs some time for a few flows, and has it */
	fx_run(f, f->cfg.quiesce_ns / 8);
	assert_int_equal(f->hold[fx_dev(f, "e1")], RL_RESIL_HOLD_FLOWS);
	fx_run(f, 4 * MS);
	assert_int_equal(f->hold[fx_dev(f, "e1")], RL_RESIL_HOLD_ALL);
	assert_int_equal(f->installs, 0);
	f->busy[fx_dev(f, "e1")] = false;
	assert_true(fx_settle(f, 10 * MS));
	r = fx_last(f);
	assert_int_equal(f->jobs, 1);
	assert_int_equal(r->outcome, RL_OUTCOME_DONE);
	assert_int_equal(r->mode, RL_RESIL_FULL);
	assert_int_equal(r->held_flows, 12);
	assert_true(r->paused_ns > 4 * MS); /* from the first order on */
	assert_int_equal(f->bad_installs, 0);
	fx_all_have(f, r->epoch);
}

/* Nor does all of it: released, and tried again later. */
static void
what_never_drains_is_released_and_tried_again(void **state)
{
	struct fx *f = *state;

	f->mode = RL_RESIL_PARTIAL;
	f->busy[fx_dev(f, "e1")] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, f->cfg.quiesce_ns + 5 * MS);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_TIMEOUT);
	assert_int_equal(f->hold[fx_dev(f, "e1")], RL_RESIL_HOLD_NONE);
	assert_int_equal(f->installs, 0);
	f->busy[fx_dev(f, "e1")] = false;
	assert_true(fx_settle(f, 100 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(fx_last(f)->cause, RL_CAUSE_RETRY);
	fx_all_have(f, fx_last(f)->epoch);
}

/* A device that holds may be silent: new tables, proven with those it has. */
static void
beside_one_that_is_silent_all_are_held_for_new_tables(void **state)
{
	struct fx *f = *state;

	f->cfg.quiesce_ns = 64 * MS;
	fx_local_kill(f, fx_dev(f, "s3"));
	f->mode = RL_RESIL_FULL;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 20 * MS);
	f->mode = RL_RESIL_PARTIAL;
	f->busy[fx_dev(f, "e1")] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_UP);
	fx_run(f, 20 * MS);
	assert_int_equal(f->job_mode, RL_RESIL_FULL);
	f->busy[fx_dev(f, "e1")] = false;
	assert_true(fx_settle(f, 200 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
}

/* The mode forbids it. */
static void
a_controller_that_may_hold_some_flows_only_never_holds_all(void **state)
{
	struct fx *f = *state;

	f->cfg.mode = f->mode = RL_RESIL_PARTIAL;
	f->busy[fx_dev(f, "e1")] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, f->cfg.quiesce_ns / 2); /* and is given time for it */
	assert_int_equal(f->hold[fx_dev(f, "e1")], RL_RESIL_HOLD_FLOWS);
	assert_int_equal(f->jobs, 1);
	for (unsigned int i = 0; i < 100; i++) {
		fx_run(f, MS / 2);
		assert_int_not_equal(f->hold[fx_dev(f, "e1")],
				     RL_RESIL_HOLD_ALL);
		assert_int_not_equal(f->job_mode, RL_RESIL_FULL);
	}
	f->busy[fx_dev(f, "e1")] = false;
	assert_true(fx_settle(f, 200 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
}

static void
a_computation_that_never_ends_is_tried_again(void **state)
{
	struct fx *f = *state;

	f->cfg.compute_ns = 5 * MS;
	f->never = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 8 * MS);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_TIMEOUT);
	f->never = false;
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
}

/* A failure that repeats must not keep a controller busy all the time. */
static void
each_try_waits_twice_as_long_as_the_one_before(void **state)
{
	struct fx *f = *state;
	uint64_t at[6], gap[5];

	f->cfg.compute_ns = 5 * MS;
	f->never = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	for (unsigned int i = 0; i < 6; i++) {
		const uint64_t limit_ns = f->now_ns + 1000 * MS;

		while (f->jobs <= i && f->now_ns < limit_ns)
			fx_run(f, MS / 10);
		assert_int_equal(f->jobs, i + 1); /* it was tried again */
		at[i] = f->now_ns;
	}
	for (unsigned int i = 0; i < 5; i++)
		gap[i] = at[i + 1] - at[i];
	for (unsigned int i = 1; i < 5; i++)
		assert_in_range(gap[i] - gap[i - 1],
				(f->cfg.retry_ns << (i - 1)) - MS,
				(f->cfg.retry_ns << (i - 1)) + MS);
}

/* It may go again, so tables wait for it to stay; but not where it is needed. */
static void
what_has_just_returned_is_better_than_nothing(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const uint32_t last = fx_link_of(f, "e0-s0");

	f->cfg.return_ns = 10 * MS;
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 5 * MS));
	fx_link(f, link, RL_RESIL_LINK_UP);
	fx_run(f, 2 * MS);
	assert_int_equal(f->jobs, 1);
	f->cut = true;
	fx_link(f, last, RL_RESIL_LINK_DEAD);
	fx_run(f, 2 * MS);
	assert_int_equal(f->jobs, 2);
	assert_int_equal(f->job_link_ok[link], RL_LINK_AVOID);
	assert_int_equal(f->job_link_ok[last], RL_LINK_NO);
	/* a device is cut off: this link is used at once */
	f->cut = false;
	fx_link(f, last, RL_RESIL_LINK_UP);
	fx_run(f, 2 * MS);
	assert_int_equal(f->jobs, 3);
	assert_int_equal(f->job_link_ok[last], RL_LINK_USE);
}

static void
refused_tables_leave_the_fabric_as_it_is(void **state)
{
	struct fx *f = *state;

	f->status = -EHOSTUNREACH;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_REFUSED);
	assert_int_equal(f->installs, 0);
	f->status = 0;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
}

static void
a_silent_device_is_not_dead_and_comes_back(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3");
	struct rl_local *l = f->local[s3];

	f->local[s3] = NULL; /* its messages are lost for a while */
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(fx_last(f)->silent, 1);
	assert_int_equal(f->table[s3], 0);
	assert_int_equal(f->job_link_ok[fx_link_of(f, "s2-s3")], RL_LINK_USE);
	/* the next one knows */
	fx_link(f, fx_link_of(f, "s1-s2"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->job_silent[s3], 1);
	/* it may have got the tables that were on their way to it, or not */
	assert_int_equal(f->job_unsure[s3], 1);
	assert_int_equal(f->job_unsure[0], 0);
	f->local[s3] = l;
	fx_run(f, 2 * f->cfg.answer_ns);
	assert_true(fx_settle(f, 50 * MS));
	fx_all_have(f, fx_last(f)->epoch);
}

static void
a_source_that_falls_silent_while_held_ends_the_recovery(void **state)
{
	struct fx *f = *state;

	f->mode = RL_RESIL_FULL;
	f->busy[fx_dev(f, "e1")] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 3 * MS);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_DRAIN);
	fx_local_kill(f, fx_dev(f, "e1"));
	f->mode = RL_RESIL_LIVE;
	fx_run(f, 2 * f->cfg.answer_ns);
	assert_int_equal(f->installs, 0);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_TIMEOUT);
	assert_int_equal(f->hold[fx_dev(f, "e0")], RL_RESIL_HOLD_NONE);
	assert_true(fx_settle(f, 100 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(f->job_silent[fx_dev(f, "e1")], 1);
}

static void
a_restarted_device_gets_tables_before_its_ports_train(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3");

	fx_local_kill(f, s3);
	fx_end(f, fx_link_of(f, "s2-s3"), 0, RL_RESIL_LINK_DEAD);
	fx_end(f, fx_link_of(f, "s3-s0"), 1, RL_RESIL_LINK_DEAD);
	fx_end(f, fx_link_of(f, "e3-s3"), 0, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->job_link_ok[fx_link_of(f, "s2-s3")], RL_LINK_NO);
	fx_local_begin(f, s3, true);
	fx_run(f, f->compute_ns);
	assert_false(f->started[s3]);
	assert_true(f->job_waits[s3]);
	assert_int_equal(f->job_link_ok[fx_link_of(f, "s2-s3")], RL_LINK_USE);
	fx_run(f, 2 * MS);
	assert_true(f->started[s3]);
	assert_int_equal(f->table[s3], f->job_epoch);
	/* two of its links train, one never does */
	fx_link(f, fx_link_of(f, "s2-s3"), RL_RESIL_LINK_UP);
	fx_link(f, fx_link_of(f, "e3-s3"), RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, f->cfg.train_ns + 10 * MS));
	assert_int_equal(f->job_link_ok[fx_link_of(f, "s2-s3")], RL_LINK_USE);
	assert_int_equal(f->job_link_ok[fx_link_of(f, "s3-s0")], RL_LINK_NO);
	fx_all_have(f, fx_last(f)->epoch);
}

static void
a_new_controller_finds_half_an_install_and_ends_it(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3");
	struct rl_local *l = f->local[s3];

	f->local[s3] = NULL;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	while (f->installs == 0)
		fx_run(f, f->delay_ns / 5);
	fx_ctl_kill(f);
	fx_run(f, 1 * MS);
	f->local[s3] = l;
	assert_true(f->table[0] != f->table[s3]);
	fx_ctl_begin(f);
	/* no tables change before the mix of those in place is proven */
	while (f->jobs == 1) {
		assert_int_equal(f->table[s3], 0);
		fx_run(f, f->delay_ns / 5);
	}
	assert_int_equal(f->table[s3], 0);
	assert_true(fx_settle(f, 50 * MS));
	fx_all_have(f, fx_last(f)->epoch);
	assert_int_equal(f->job_link_ok[fx_link_of(f, "s0-s1")], RL_LINK_NO);
}

/* Its links are all up, and so is what the new one begins with. */
static void
what_returned_while_there_was_no_controller_is_in_its_successors_tables(
	void **state)
{
	struct fx *f = *state;
	const uint32_t l = fx_link_of(f, "e1-s1");

	f->cut = true; /* the tables leave e1 out */
	fx_link(f, l, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->jobs, 1);
	assert_int_equal(f->job_link_ok[l], RL_LINK_NO);
	fx_ctl_kill(f);
	fx_link(f, l, RL_RESIL_LINK_UP);
	fx_run(f, 1 * MS);
	f->cut = false;
	fx_ctl_begin(f);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->jobs, 2);
	assert_int_equal(f->job_link_ok[l], RL_LINK_USE);
	fx_all_have(f, fx_last(f)->epoch);
}

/* Half of the fabric has tables that are only good while nothing moves. */
static void
what_a_controller_had_stopped_its_successor_lets_go_with_new_tables(
	void **state)
{
	struct fx *f = *state;
	bool same;

	f->mode = RL_RESIL_FULL;
	f->jitter_ns = 200000;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	while (f->installs == 0)
		fx_run(f, 1000);
	assert_true(f->installs < FX_DEVS);
	fx_ctl_kill(f);
	memset(f->flight, 0, sizeof(f->flight)); /* and what it has said */
	f->jitter_ns = 0;
	fx_ctl_begin(f);
	do {
		fx_run(f, 1000);
		same = true;
		for (uint32_t d = 0; d < FX_DEVS; d++)
			same = same && f->table[d] == f->table[0];
		for (uint32_t d = 0; !same && d < FX_DEVS; d++)
			assert_int_not_equal(f->hold[d], RL_RESIL_HOLD_NONE);
	} while (!same);
	assert_true(fx_settle(f, 50 * MS));
	fx_all_have(f, fx_last(f)->epoch);
	assert_int_equal(f->bad_installs, 0);
	for (uint32_t d = 0; d < FX_DEVS; d++)
		assert_int_equal(f->hold[d], RL_RESIL_HOLD_NONE);
}

static void
held_sources_go_on_when_the_controller_is_gone(void **state)
{
	struct fx *f = *state;
	const uint32_t e1 = fx_dev(f, "e1");

	f->mode = RL_RESIL_FULL;
	f->busy[e1] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 3 * MS);
	assert_int_equal(f->hold[e1], RL_RESIL_HOLD_ALL);
	fx_ctl_kill(f);
	fx_run(f, f->cfg.lease_ns + 1 * MS);
	for (uint32_t d = 0; d < FX_DEVS; d++)
		assert_int_equal(f->hold[d], RL_RESIL_HOLD_NONE);
	f->busy[e1] = false;
	fx_ctl_begin(f);
	assert_true(fx_settle(f, 50 * MS));
	fx_all_have(f, fx_last(f)->epoch);
	assert_int_equal(f->bad_installs, 0);
}

static void
what_is_held_stays_held_while_the_controller_lives(void **state)
{
	struct fx *f = *state;

	assert_int_equal(rl_controller_unquiesce(f->ctl, f->now_ns), -EINVAL);
	assert_int_equal(rl_controller_quiesce(f->ctl, f->now_ns), 0);
	fx_run(f, 5 * f->cfg.lease_ns);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_QUIET);
	assert_int_equal(rl_controller_quiesce(f->ctl, f->now_ns), -EALREADY);
	for (uint32_t d = 0; d < FX_DEVS; d++)
		assert_int_equal(f->hold[d], RL_RESIL_HOLD_ALL);
	assert_int_equal(rl_controller_reroute(f->ctl, f->now_ns), 0);
	fx_run(f, 5 * MS);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_QUIET);
	assert_int_equal(f->installs, FX_DEVS);
	assert_int_equal(f->hold[0], RL_RESIL_HOLD_ALL);
	assert_int_equal(rl_controller_unquiesce(f->ctl, f->now_ns), 0);
	assert_true(fx_settle(f, 10 * MS));
	fx_all_have(f, f->job_epoch);
}

static void
a_device_without_a_live_link_is_not_waited_for(void **state)
{
	struct fx *f = *state;

	fx_local_kill(f, fx_dev(f, "s3"));
	fx_end(f, fx_link_of(f, "s2-s3"), 0, RL_RESIL_LINK_DEAD);
	fx_end(f, fx_link_of(f, "s3-s0"), 1, RL_RESIL_LINK_DEAD);
	fx_end(f, fx_link_of(f, "e3-s3"), 0, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_in_range(fx_last(f)->install_ns, 1, f->cfg.answer_ns / 2);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(a_dead_link_brings_new_tables_and_holds_no_flow),
		T(one_end_that_hears_nothing_is_enough),
		T(failures_within_the_time_to_gather_are_one_recovery),
		T(a_failure_while_computing_restarts_it),
		T(failures_that_never_end_do_not_keep_tables_from_coming),
		T(some_flows_are_held_until_theirs_have_left),
		T(full_quiesce_is_observed_not_waited_for_by_the_clock),
		T(if_some_flows_never_drain_all_are_held_for_the_same_tables),
		T(what_never_drains_is_released_and_tried_again),
		T(beside_one_that_is_silent_all_are_held_for_new_tables),
		T(a_controller_that_may_hold_some_flows_only_never_holds_all),
		T(a_computation_that_never_ends_is_tried_again),
		T(each_try_waits_twice_as_long_as_the_one_before),
		T(what_has_just_returned_is_better_than_nothing),
		T(refused_tables_leave_the_fabric_as_it_is),
		T(a_silent_device_is_not_dead_and_comes_back),
		T(a_source_that_falls_silent_while_held_ends_the_recovery),
		T(a_restarted_device_gets_tables_before_its_ports_train),
		T(a_new_controller_finds_half_an_install_and_ends_it),
		T(what_a_controller_had_stopped_its_successor_lets_go_with_new_tables),
		T(what_returned_while_there_was_no_controller_is_in_its_successors_tables),
		T(held_sources_go_on_when_the_controller_is_gone),
		T(what_is_held_stays_held_while_the_controller_lives),
		T(a_device_without_a_live_link_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
