/* SPDX-License-Identifier: BSD-3-Clause */
/* The recoveries that a host keeps, across the lives of controllers [RES-2]. */

#include "resil_fixture.h"
#include "rl_recovery_log.h"

#define MS RL_NS_PER_MS

/* A link dies and returns: two recoveries. */
static void
flap(struct fx *f, const char *link)
{
	fx_link(f, fx_link_of(f, link), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	fx_link(f, fx_link_of(f, link), RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 10 * MS));
}

static void
recoveries_of_a_controller_that_died_are_kept_and_none_is_told_twice(void **state)
{
	struct rl_recovery_log log = { .n = 0 };
	struct fx *f = calloc(1, sizeof(*f));
	char text[128];

	(void)state;
	fx_open(f, 1);
	assert_true(fx_settle(f, 10 * MS));
	rl_recovery_log_take(&log, f->ctl);
	assert_int_equal(log.n, 0);
	flap(f, "s0-s1");
	rl_recovery_log_take(&log, f->ctl);
	rl_recovery_log_take(&log, f->ctl);
	assert_int_equal(log.n, 2);
	assert_int_equal(log.rec[0].cause, RL_CAUSE_LINK_DEAD);
	assert_int_equal(log.rec[1].cause, RL_CAUSE_LINK_BACK);
	fx_ctl_kill(f);
	fx_ctl_begin(f);
	rl_recovery_log_begin(&log);
	assert_true(fx_settle(f, 10 * MS));
	rl_recovery_log_take(&log, f->ctl);
	/* it has looked whether the tables it found are those of now */
	assert_int_equal(log.n, 3);
	assert_int_equal(log.rec[2].cause, RL_CAUSE_CONTROLLER);
	assert_int_equal(log.rec[2].outcome, RL_OUTCOME_DONE);
	flap(f, "s1-s2");
	rl_recovery_log_take(&log, f->ctl);
	assert_int_equal(log.n, 5);
	assert_string_equal(rl_recovery_text(&log.rec[3], &f->topo, text,
					     sizeof(text)),
			    "link s1-s2 dead");
	rl_recovery_log_free(&log);
	assert_int_equal(log.n, 0);
	assert_null(log.rec);
	fx_close(f);
	free(f);
}

/* More than a controller keeps, and more than the log's first room. */
static void
a_log_that_is_kept_up_to_date_misses_nothing(void **state)
{
	struct rl_recovery_log log = { .n = 0 };
	struct fx *f = calloc(1, sizeof(*f));

	(void)state;
	fx_open(f, 1);
	assert_true(fx_settle(f, 10 * MS));
	for (uint32_t i = 0; i < RL_RECOVERIES; i++) {
		flap(f, "s0-s1");
		rl_recovery_log_take(&log, f->ctl);
		assert_int_equal(log.n, 2 * (i + 1));
	}
	for (uint32_t i = 1; i < log.n; i++)
		assert_true(log.rec[i].epoch > log.rec[i - 1].epoch);
	rl_recovery_log_free(&log);
	fx_close(f);
	free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recoveries_of_a_controller_that_died_are_kept_and_none_is_told_twice),
		cmocka_unit_test(a_log_that_is_kept_up_to_date_misses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
