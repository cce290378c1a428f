/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If endpoints do not retry, order rests on the path alone: tables change only
 * if all devices are known to be at rest [RES-2].
 */
#include "resil_fixture.h"

#define MS RL_NS_PER_MS

static void
a_recovery_changes_tables_at_rest(void **state)
{
	struct fx *f = *state;

	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 100 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(f->restless, 0);
	fx_all_have(f, rl_controller_epoch(f->ctl));
}

/* Detours may stand in for new tables, but not for those that are asked for. */
static void
what_is_asked_for_is_not_left_to_detours(void **state)
{
	struct fx *f = *state;

	f->status = -EALREADY;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 100 * MS));
	assert_int_equal(f->jobs, 1);
	assert_false(f->job_renew);
	assert_int_equal(rl_controller_reroute(f->ctl, f->now_ns), 0);
	fx_until(f, RL_CONTROLLER_COMPUTE);
	fx_run(f, f->compute_ns / 2);
	assert_true(f->job_renew);
	/* a failure meanwhile starts it anew, and does not forget it */
	fx_link(f, fx_link_of(f, "s1-s2"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 100 * MS));
	assert_int_equal(f->jobs, 3);
	assert_true(f->job_renew);
	fx_link(f, fx_link_of(f, "s2-s3"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 100 * MS));
	assert_false(f->job_renew);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
}

/* Its packets under way are unknown, and no other stops for it in vain. */
static void
no_table_changes_while_a_device_does_not_answer(void **state)
{
	struct fx *f = *state;
	const uint32_t s2 = fx_dev(f, "s2");

	f->slow_ns[s2] = 100 * MS;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 20 * MS); /* now it is known to be silent */
	f->holds = 0;
	fx_run(f, 60 * MS);
	assert_int_equal(f->holds, 0);
	assert_int_equal(f->installs, 0);
	f->slow_ns[s2] = 0;
	assert_true(fx_settle(f, 500 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(fx_last(f)->silent, 0);
	assert_int_equal(f->restless, 0);
	fx_all_have(f, rl_controller_epoch(f->ctl));
}

/* The rest has gone on by then: it changes with all others, in the next one. */
static void
a_device_that_sleeps_through_an_install_changes_at_rest(void **state)
{
	struct fx *f = *state;
	const uint32_t s2 = fx_dev(f, "s2");

	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_until(f, RL_CONTROLLER_INSTALL);
	f->slow_ns[s2] = 2 * f->cfg.install_ns;
	for (uint32_t i = 0; i < f->nflight; i++)
		if (f->flight[i].m.dev == s2)
			f->flight[i].at_ns += f->slow_ns[s2];
	fx_run(f, 3 * f->cfg.install_ns / 2);
	assert_int_equal(fx_last(f)->silent, 1);
	assert_int_equal(f->hold[fx_dev(f, "e0")], RL_RESIL_HOLD_NONE);
	assert_int_equal(f->table[s2], 0);
	f->slow_ns[s2] = 0;
	fx_run(f, 2 * f->cfg.install_ns); /* until it wakes */
	assert_true(fx_settle(f, 1000 * MS));
	assert_int_equal(f->restless, 0);
	fx_all_have(f, rl_controller_epoch(f->ctl));
}

/* All it says comes late; but it has done what it was told to. */
static void
a_late_device_is_not_taken_to_have_slept(void **state)
{
	struct fx *f = *state;
	const uint32_t s2 = fx_dev(f, "s2");
	const struct rl_topo_dev *td = &f->topo.dev[s2];
	const uint32_t before = rl_controller_recoveries(f->ctl);

	/* it has no links: it is not waited for as long as its answers take */
	f->slow_ns[s2] = 2 * f->cfg.resend_ns;
	for (uint16_t p = 0; p < td->nports; p++)
		fx_link(f, td->port[p].link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 500 * MS));
	fx_run(f, 2 * f->slow_ns[s2]);
	assert_true(fx_settle(f, 500 * MS));
	assert_int_equal(rl_controller_recoveries(f->ctl), before + 1);
	fx_all_have(f, rl_controller_epoch(f->ctl));
}

/* Both orders come at once: what it was to take is history. */
static void
a_device_released_before_its_tables_keeps_the_old(void **state)
{
	struct fx *f = *state;
	const uint32_t s2 = fx_dev(f, "s2");
	struct rl_local *l = f->local[s2];
	struct rl_resil_msg m = {
		.version = RL_RESIL_VERSION, .type = RL_RESIL_ORDER, .dev = s2,
		.ctl_inc = f->inc, .local_inc = s2 + 1 + FX_DEVS + 1,
		.seq = 100, .hold = RL_RESIL_HOLD_ALL,
	};
	struct rl_local_action a;

	rl_local_rx(l, &m, f->now_ns);
	assert_true(rl_local_action(l, &a));
	assert_int_equal(a.type, RL_LOCAL_HOLD);
	m.seq++;
	m.table_epoch = 1;
	rl_local_rx(l, &m, f->now_ns);
	m.seq++;
	m.hold = RL_RESIL_HOLD_NONE;
	rl_local_rx(l, &m, f->now_ns);
	assert_true(rl_local_action(l, &a));
	assert_int_equal(a.type, RL_LOCAL_RELEASE);
	assert_false(rl_local_action(l, &a));
}

int
main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, fx_setup_at_rest, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(a_recovery_changes_tables_at_rest),
		T(what_is_asked_for_is_not_left_to_detours),
		T(no_table_changes_while_a_device_does_not_answer),
		T(a_device_that_sleeps_through_an_install_changes_at_rest),
		T(a_late_device_is_not_taken_to_have_slept),
		T(a_device_released_before_its_tables_keeps_the_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
