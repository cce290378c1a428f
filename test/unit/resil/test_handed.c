/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that watchdogs gave up, handed to the controller [DRL-7]. */

#include "resil_fixture.h"

#define MS RL_NS_PER_MS

static void
packets_given_up_bring_new_tables_if_nothing_explains_them(void **state)
{
	struct fx *f = *state;
	const uint32_t s1 = fx_dev(f, "s1");
	char text[128];

	/* the tables reach all devices, and no recovery goes on */
	rl_local_gave_up(f->local[s1], f->now_ns);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 1);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_string_equal(rl_recovery_text(fx_last(f), &f->topo, text,
					     sizeof(text)),
			    "device s1 gave up packets");
	fx_all_have(f, fx_last(f)->epoch);
	/* again, though nothing has changed since: it is of no use */
	rl_local_gave_up(f->local[s1], f->now_ns);
	rl_local_gave_up(f->local[s1 + 1], f->now_ns);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 1);
	/* a recovery goes on, or tables leave a device out: explained */
	f->cut = true;
	fx_link(f, fx_link_of(f, "e2-s2"), RL_RESIL_LINK_DEAD);
	fx_run(f, f->cfg.gather_ns / 2);
	rl_local_gave_up(f->local[s1], f->now_ns);
	assert_true(fx_settle(f, 10 * MS));
	rl_local_gave_up(f->local[s1], f->now_ns);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 2);
	/* all are reached again, and packets are given up all the same */
	f->cut = false;
	fx_link(f, fx_link_of(f, "e2-s2"), RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 3);
	rl_local_gave_up(f->local[s1], f->now_ns);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->jobs, 4);
	assert_int_equal(fx_last(f)->cause, RL_CAUSE_GAVE_UP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			packets_given_up_bring_new_tables_if_nothing_explains_them,
			fx_setup, fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
