/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The controller and its local ones put tables in place by tokens [RES-5]: all
 * are prepared before anybody begins, each phase has a way out, and a new
 * controller goes on where the one before has died.
 */

#include "resil_fixture.h"

#define MS RL_NS_PER_MS

static int
setup(void **state)
{
	static struct fx f;

	fx_open(&f, 1);
	f.mode = RL_RESIL_TOKENS;
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	fx_close(*state);
	return 0;
}

static void
cut(struct fx *f)
{
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
}

static void
run_to(struct fx *f, enum rl_controller_phase phase)
{
	for (unsigned int i = 0; rl_controller_phase(f->ctl) != phase; i++) {
		assert_true(i < 10000);
		fx_run(f, 1000);
	}
}

static void
all_are_prepared_before_any_token_goes(void **state)
{
	struct fx *f = *state;
	const struct rl_recovery *r;

	f->jitter_ns = 40000;
	f->busy[2] = true; /* tokens are not through */
	cut(f);
	run_to(f, RL_CONTROLLER_PASS);
	fx_run(f, f->cfg.quiesce_ns / 16);
	assert_int_equal(f->installs, 0);
	for (uint32_t d = 0; d < FX_DEVS; d++)
		assert_int_equal(f->passed[d], f->staged[d]);
	f->busy[2] = false;
	assert_true(fx_settle(f, 10 * MS));
	r = fx_last(f);
	assert_int_equal(r->outcome, RL_OUTCOME_DONE);
	assert_int_equal(r->mode, RL_RESIL_TOKENS);
	assert_int_equal(r->held_flows, 0);
	assert_int_equal(r->paused_ns, 0);
	assert_true(r->quiesce_ns > f->cfg.quiesce_ns / 16);
	assert_int_equal(f->holds, 0);
	assert_int_equal(f->bad_passes, 0);
	fx_all_have(f, r->epoch);
}

/* A token was lost: all are held, for the same tables. */
static void
tokens_that_do_not_arrive_end_in_a_full_quiesce(void **state)
{
	struct fx *f = *state;
	const struct rl_recovery *r;

	f->busy[2] = true;
	cut(f);
	run_to(f, RL_CONTROLLER_PASS);
	/* and room for some answers */
	fx_run(f, f->cfg.quiesce_ns / 8 + 2 * MS);
	assert_int_equal(f->hold[fx_dev(f, "e1")], RL_RESIL_HOLD_ALL);
	assert_int_equal(f->installs, 0);
	f->busy[2] = false;
	assert_true(fx_settle(f, 10 * MS));
	r = fx_last(f);
	assert_int_equal(r->outcome, RL_OUTCOME_DONE);
	assert_int_equal(r->mode, RL_RESIL_FULL);
	assert_int_equal(r->held_flows, 12);
	assert_int_equal(f->jobs, 1);
	assert_int_equal(f->bad_installs, 0);
	fx_all_have(f, r->epoch);
}

/* [RES-6] Few are held, and do not drain: they go on, and tokens pass. */
static void
if_some_flows_never_drain_the_same_tables_come_by_tokens(void **state)
{
	struct fx *f = *state;
	const uint32_t e1 = fx_dev(f, "e1");
	const struct rl_recovery *r;

	f->cfg.quiesce_ns = 64 * MS;
	f->mode = RL_RESIL_PARTIAL;
	f->tokens = true;
	f->busy[e1] = true;
	cut(f);
	fx_run(f, f->cfg.quiesce_ns / 8);
	assert_int_equal(f->hold[e1], RL_RESIL_HOLD_FLOWS);
	fx_run(f, 4 * MS);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_PASS);
	for (uint32_t d = 0; d < FX_DEVS; d++) {
		assert_int_equal(f->hold[d], RL_RESIL_HOLD_NONE);
		assert_int_equal(f->passed[d], f->staged[d]);
	}
	assert_int_equal(f->installs, 0);
	f->busy[e1] = false;
	assert_true(fx_settle(f, 10 * MS));
	r = fx_last(f);
	assert_int_equal(f->jobs, 1);
	assert_int_equal(r->outcome, RL_OUTCOME_DONE);
	assert_int_equal(r->mode, RL_RESIL_TOKENS);
	assert_int_equal(r->held_flows, 2);
	/* from the order to hold until they went on */
	assert_in_range(r->paused_ns, f->cfg.quiesce_ns / 8,
			f->cfg.quiesce_ns / 8 + MS);
	assert_int_equal(r->unquiesce_ns, 0);
	assert_int_equal(f->bad_passes, 0);
	assert_int_equal(f->bad_installs, 0);
	fx_all_have(f, r->epoch);
}

/* Tokens do not pass either: then all are held. */
static void
if_tokens_do_not_pass_either_all_are_held(void **state)
{
	struct fx *f = *state;
	const uint32_t e1 = fx_dev(f, "e1");
	const struct rl_recovery *r;

	f->cfg.quiesce_ns = 64 * MS;
	f->mode = RL_RESIL_PARTIAL;
	f->tokens = true;
	f->busy[e1] = true;
	cut(f);
	fx_run(f, f->cfg.quiesce_ns / 4 + 4 * MS);
	assert_int_equal(f->hold[e1], RL_RESIL_HOLD_ALL);
	f->busy[e1] = false;
	assert_true(fx_settle(f, 10 * MS));
	r = fx_last(f);
	assert_int_equal(f->jobs, 1);
	assert_int_equal(r->outcome, RL_OUTCOME_DONE);
	assert_int_equal(r->mode, RL_RESIL_FULL);
	assert_int_equal(r->held_flows, 12);
	/* twice: some, and then all; not while tokens passed */
	assert_in_range(r->paused_ns, f->cfg.quiesce_ns / 8,
			f->cfg.quiesce_ns / 8 + 5 * MS);
	assert_int_equal(f->bad_passes, 0);
	fx_all_have(f, r->epoch);
}

/* And if that leads nowhere either, all have the tables of before again. */
static void
what_comes_to_nothing_is_taken_back(void **state)
{
	struct fx *f = *state;

	f->busy[2] = true;
	cut(f);
	fx_run(f, 2 * f->cfg.quiesce_ns);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_TIMEOUT);
	assert_int_equal(f->installs, FX_DEVS);
	for (uint32_t d = 0; d < FX_DEVS; d++)
		assert_int_equal(f->table[d], 0);
	f->busy[2] = false;
	assert_true(fx_settle(f, 100 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	fx_all_have(f, fx_last(f)->epoch);
}

static void
a_silent_device_is_not_passed_over(void **state)
{
	struct fx *f = *state;

	cut(f);
	run_to(f, RL_CONTROLLER_COMPUTE);
	fx_local_kill(f, fx_dev(f, "s2"));
	fx_run(f, f->compute_ns + f->cfg.answer_ns + 4 * MS);
	assert_int_equal(f->passed[fx_dev(f, "e1")], 0);
	fx_local_begin(f, fx_dev(f, "s2"), false);
	assert_true(fx_settle(f, 200 * MS));
	assert_int_equal(f->bad_passes, 0);
	fx_all_have(f, fx_last(f)->epoch);
}

/* At any moment: its successor goes on with what it finds. */
static void
a_new_controller_goes_on(void **state)
{
	struct fx *f = *state;

	for (uint64_t at = 0; at < 800000; at += 3000) {
		teardown(state);
		setup(state);
		fx_run(f, 1 * MS);
		cut(f);
		fx_run(f, at);
		fx_ctl_kill(f);
		fx_run(f, 100000);
		fx_ctl_begin(f);
		assert_true(fx_settle(f, 200 * MS));
		assert_int_equal(f->bad_passes, 0);
		assert_int_equal(f->holds, 0);
		fx_all_have(f, fx_last(f)->epoch);
	}
}

/* It finishes the change under way before it makes new tables. */
static void
a_new_controller_brings_tokens_that_are_under_way_to_their_end(void **state)
{
	struct fx *f = *state;
	uint32_t epoch;

	cut(f);
	fx_until(f, RL_CONTROLLER_PASS);
	epoch = f->staged[fx_dev(f, "s0")];
	assert_int_not_equal(epoch, 0);
	fx_ctl_kill(f);
	fx_ctl_begin(f);
	for (unsigned int i = 0;
	     i < 100000 && rl_controller_recoveries(f->ctl) == 0; i++)
		fx_run(f, 1000);
	assert_int_equal(fx_last(f)->epoch, epoch);
	assert_int_equal(fx_last(f)->mode, RL_RESIL_TOKENS);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	fx_all_have(f, epoch);
}

/* A further failure waits for the end; a lost, late or doubled order does not
   matter. */
static void
failures_and_a_bad_channel_are_absorbed(void **state)
{
	struct fx *f = *state;

	for (uint64_t seed = 1; seed < 60; seed++) {
		teardown(state);
		setup(state);
		rl_prng_seed(&f->prng, seed);
		f->jitter_ns = 50000;
		f->loss_pct = 25;
		f->dup_pct = 25;
		cut(f);
		fx_run(f, seed * 10000);
		fx_link(f, fx_link_of(f, "s2-s3"), RL_RESIL_LINK_DEAD);
		fx_run(f, seed * 5000);
		fx_link(f, fx_link_of(f, "s2-s3"), RL_RESIL_LINK_UP);
		assert_true(fx_settle(f, 500 * MS));
		assert_int_equal(f->bad_passes, 0);
		assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
		fx_all_have(f, rl_controller_epoch(f->ctl));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_are_prepared_before_any_token_goes),
		TEST(tokens_that_do_not_arrive_end_in_a_full_quiesce),
		TEST(if_some_flows_never_drain_the_same_tables_come_by_tokens),
		TEST(if_tokens_do_not_pass_either_all_are_held),
		TEST(what_comes_to_nothing_is_taken_back),
		TEST(a_silent_device_is_not_passed_over),
		TEST(a_new_controller_goes_on),
		TEST(a_new_controller_brings_tokens_that_are_under_way_to_their_end),
		TEST(failures_and_a_bad_channel_are_absorbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
