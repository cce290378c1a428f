/* SPDX-License-Identifier: BSD-3-Clause */
/* Planned changes: removing, adding, leaving what degrades [RES-3] [RES-7]. */

#include "resil_fixture.h"

#define MS RL_NS_PER_MS

static void
a_removed_link_is_left_before_it_goes_down_and_used_after_it_is_up(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns), 0);
	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns),
			 -EALREADY);
	fx_run(f, f->cfg.gather_ns + f->compute_ns - 1000);
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_NONE);
	assert_true(fx_settle(f, 50 * MS));
	fx_all_have(f, fx_last(f)->epoch);
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_DRAIN);
	assert_int_equal(f->order[l->dev[1]][l->port[1]], RL_LOCAL_PORT_DRAIN);
	assert_true(rl_controller_link_out(f->ctl, link));
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(rl_controller_add_link(f->ctl, link, f->now_ns), 0);
	assert_false(rl_controller_link_out(f->ctl, link));
	fx_run(f, 1 * MS);
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_UP);
	assert_int_equal(f->job_link_ok[link], RL_LINK_LEAVE);
	assert_int_equal(f->jobs, 1);
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(f->job_link_ok[link], RL_LINK_USE);
}

static void
a_switch_that_is_added_again_brings_its_links(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3");
	const struct rl_topo_dev *d = &f->topo.dev[s3];

	assert_int_equal(rl_controller_add_dev(f->ctl, s3, f->now_ns),
			 -EALREADY);
	assert_int_equal(rl_controller_remove_dev(f->ctl, s3, f->now_ns), 0);
	assert_int_equal(rl_controller_remove_dev(f->ctl, s3, f->now_ns),
			 -EALREADY);
	assert_true(fx_settle(f, 50 * MS));
	for (uint16_t p = 0; p < d->nports; p++) {
		const struct rl_topo_port *tp = &d->port[p];

		assert_int_equal(f->order[s3][p], RL_LOCAL_PORT_DRAIN);
		assert_int_equal(f->order[tp->peer_dev][tp->peer_port],
				 RL_LOCAL_PORT_DRAIN);
		assert_true(rl_controller_link_out(f->ctl, tp->link));
		fx_link(f, tp->link, RL_RESIL_LINK_DEAD);
	}
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(rl_controller_add_dev(f->ctl, s3, f->now_ns), 0);
	fx_run(f, 1 * MS);
	for (uint16_t p = 0; p < d->nports; p++) {
		const struct rl_topo_port *tp = &d->port[p];

		assert_int_equal(f->order[s3][p], RL_LOCAL_PORT_UP);
		assert_int_equal(f->order[tp->peer_dev][tp->peer_port],
				 RL_LOCAL_PORT_UP);
		fx_link(f, tp->link, RL_RESIL_LINK_UP);
	}
	assert_true(fx_settle(f, 50 * MS));
	for (uint16_t p = 0; p < d->nports; p++) {
		assert_true(rl_controller_link_ok(f->ctl, d->port[p].link));
		assert_false(rl_controller_link_out(f->ctl, d->port[p].link));
		assert_int_equal(f->job_link_ok[d->port[p].link], RL_LINK_USE);
	}
}

/*
 * Orders to ports that are not confirmed in time are still orders. A link whose
 * ports were late to go down comes up again when it is added.
 */
static void
orders_to_ports_outlive_the_time_to_wait_for_them(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(rl_controller_remove_link(f->ctl, link,
							   f->now_ns), 0);
		fx_until(f, RL_CONTROLLER_PORTS);
		f->loss_pct = 100;
		assert_true(fx_settle(f, 2 * f->cfg.train_ns));
		if (i == 1) { /* late, but heard */
			f->loss_pct = 0;
			fx_run(f, 10 * MS);
			assert_int_equal(f->order[l->dev[0]][l->port[0]],
					 RL_LOCAL_PORT_DRAIN);
		}
		assert_int_equal(rl_controller_add_link(f->ctl, link,
							f->now_ns), 0);
		f->loss_pct = 0;
		fx_run(f, 10 * MS);
		for (unsigned int e = 0; e < 2; e++)
			assert_int_equal(f->order[l->dev[e]][l->port[e]],
					 RL_LOCAL_PORT_UP);
		assert_true(fx_settle(f, 50 * MS));
	}
}

/* A silent device gets the orders of its ports when it speaks again. */
static void
an_order_to_a_port_waits_for_a_device_that_does_not_answer(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1"), s1 = fx_dev(f, "s1");
	const struct rl_topo_link *l = &f->topo.link[link];
	const unsigned int end = l->dev[1] == s1;

	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns), 0);
	fx_until(f, RL_CONTROLLER_PORTS);
	fx_local_kill(f, s1);
	assert_true(fx_settle(f, 2 * f->cfg.train_ns));
	assert_int_equal(rl_controller_reroute(f->ctl, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS)); /* it is silent now */
	fx_run(f, f->cfg.answer_ns);
	fx_local_begin(f, s1, false);
	fx_run(f, 10 * MS);
	assert_int_equal(f->order[s1][l->port[end]], RL_LOCAL_PORT_DRAIN);
}

/* A port that restarts is as new: it would train, and stay up. */
static void
a_removed_link_goes_down_again_where_a_device_restarts(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1"), s1 = fx_dev(f, "s1");
	const struct rl_topo_link *l = &f->topo.link[link];
	const unsigned int end = l->dev[1] == s1;

	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	for (unsigned int i = 0; i < 2; i++) {
		fx_local_kill(f, s1);
		for (uint16_t p = 0; p < f->topo.dev[s1].nports; p++)
			f->order[s1][p] = RL_LOCAL_PORT_NONE;
		f->order[l->dev[!end]][l->port[!end]] = RL_LOCAL_PORT_NONE;
		fx_run(f, f->cfg.answer_ns);
		fx_local_begin(f, s1, true);
		fx_run(f, 10 * MS);
		for (uint16_t p = 0; p < f->topo.dev[s1].nports; p++)
			assert_int_equal(f->order[s1][p],
					 p == l->port[end] ?
						 RL_LOCAL_PORT_DRAIN :
						 RL_LOCAL_PORT_NONE);
		/* the other port was not restarted */
		assert_int_equal(f->order[l->dev[!end]][l->port[!end]],
				 RL_LOCAL_PORT_NONE);
	}
}

/*
 * [RES-3]: without a link it has not crashed. However slow it is, its answer
 * counts: its tables are known, and no other device has to stop for it.
 */
static void
a_switch_that_was_taken_out_is_given_time_to_answer(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3");
	const struct rl_topo_dev *d = &f->topo.dev[s3];

	f->mode = RL_RESIL_PARTIAL;
	assert_int_equal(rl_controller_remove_dev(f->ctl, s3, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	for (uint16_t p = 0; p < d->nports; p++)
		fx_link(f, d->port[p].link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	f->slow_ns[s3] = 2 * f->cfg.resend_ns;
	for (unsigned int i = 0; i < 2; i++) {
		fx_link(f, fx_link_of(f, i == 0 ? "s0-s1" : "s1-s2"),
			RL_RESIL_LINK_DEAD);
		assert_true(fx_settle(f, 200 * MS));
		assert_int_equal(f->job_unsure[s3], 0);
		assert_int_equal(fx_last(f)->mode, RL_RESIL_PARTIAL);
		assert_true(fx_last(f)->paused_ns > f->cfg.resend_ns);
	}
	assert_int_equal(f->table[s3], fx_last(f)->epoch);
}

static void
a_link_that_degrades_is_left_before_it_dies(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	/* no other way: it stays [RES-7] */
	fx_end(f, link, 0, RL_RESIL_LINK_DEGRADED);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->job_link_ok[link], RL_LINK_AVOID);
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_NONE);
	assert_false(rl_controller_link_out(f->ctl, link));
	/* another way */
	f->avoided = true;
	assert_int_equal(rl_controller_reroute(f->ctl, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_DRAIN);
	assert_true(rl_controller_link_out(f->ctl, link));
}

/* It still works: where something else fails, it may be the only way. */
static void
a_link_that_was_left_comes_back_if_it_is_the_only_way(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	f->avoided = true;
	fx_end(f, link, 0, RL_RESIL_LINK_DEGRADED);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_DRAIN);
	fx_link(f, link, RL_RESIL_LINK_DEAD); /* as it was told to */
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_DRAIN);
	f->avoided = false;
	f->cut = true;
	fx_link(f, fx_link_of(f, "s2-s3"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(f->order[l->dev[i]][l->port[i]],
				 RL_LOCAL_PORT_UP);
	f->cut = false;
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->job_link_ok[link], RL_LINK_USE);
	/* but not what was taken out by hand */
	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	f->cut = true;
	assert_int_equal(rl_controller_reroute(f->ctl, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_DRAIN);
}

/* A link that dies meanwhile may leave no other way. */
static void
a_link_that_degrades_stays_up_while_something_else_has_failed(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	f->avoided = true;
	f->slow_ns[l->dev[0]] = 2 * MS;
	fx_end(f, link, 0, RL_RESIL_LINK_DEGRADED);
	for (int i = 0; i < 100 && rl_controller_phase(f->ctl) !=
					   RL_CONTROLLER_INSTALL; i++)
		fx_run(f, MS / 10);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_INSTALL);
	f->avoided = false;
	fx_link(f, fx_link_of(f, "s2-s3"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 100 * MS));
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_NONE);
	assert_false(rl_controller_link_out(f->ctl, link));
}

/* The user reads that it failed; it is not tried again. */
static void
a_quiesce_by_hand_that_fails_says_so(void **state)
{
	struct fx *f = *state;

	f->busy[fx_dev(f, "e1")] = true;
	assert_int_equal(rl_controller_quiesce(f->ctl, f->now_ns), 0);
	fx_run(f, 8 * f->cfg.quiesce_ns + 5 * MS);
	assert_int_equal(rl_controller_recoveries(f->ctl), 1);
	assert_int_equal(fx_last(f)->cause, RL_CAUSE_QUIESCE);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_TIMEOUT);
	assert_int_equal(f->hold[fx_dev(f, "e1")], RL_RESIL_HOLD_NONE);
	fx_run(f, 3 * f->cfg.retry_ns);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_IDLE);
	assert_int_equal(rl_controller_recoveries(f->ctl), 1);
	assert_int_equal(f->jobs, 0);
}

/* It is not tried again, so its one try has the time of all. */
static void
a_quiesce_by_hand_waits_for_a_slow_fabric(void **state)
{
	struct fx *f = *state;
	const uint32_t e1 = fx_dev(f, "e1");

	f->busy[e1] = true;
	assert_int_equal(rl_controller_quiesce(f->ctl, f->now_ns), 0);
	fx_run(f, 8 * f->cfg.quiesce_ns - MS);
	assert_int_equal(f->hold[e1], RL_RESIL_HOLD_ALL);
	f->busy[e1] = false;
	fx_until(f, RL_CONTROLLER_QUIET);
}

/* The cause of a recovery is the first change, be it a link or a device. */
static void
a_device_that_is_removed_after_a_link_died_is_not_taken_for_the_link(
	void **state)
{
	struct fx *f = *state;
	char text[128];

	fx_link(f, fx_link_of(f, "e2-s2"), RL_RESIL_LINK_DEAD);
	fx_run(f, 2 * f->delay_ns);
	assert_int_equal(rl_controller_remove_dev(f->ctl, fx_dev(f, "s1"),
						  f->now_ns), 0);
	assert_true(fx_settle(f, 500 * MS));
	assert_string_equal(rl_recovery_text(rl_controller_recovery(f->ctl, 0),
					     &f->topo, text, sizeof(text)),
			    "link e2-s2 dead (+1)");
	assert_int_equal(rl_controller_remove_dev(f->ctl, fx_dev(f, "s3"),
						  f->now_ns), 0);
	assert_int_equal(rl_controller_remove_link(
				 f->ctl, fx_link_of(f, "s0-s1"), f->now_ns), 0);
	assert_true(fx_settle(f, 500 * MS));
	assert_string_equal(rl_recovery_text(fx_last(f), &f->topo, text,
					     sizeof(text)),
			    "device s3 removed (+1)");
}

/* It knows nothing yet; the port has been off since before it began. */
static void
what_is_added_before_a_new_controller_has_heard_of_it_is_ordered(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 10 * MS));
	fx_ctl_kill(f);
	fx_run(f, 1 * MS);
	fx_ctl_begin(f);
	assert_int_equal(rl_controller_add_link(f->ctl, link, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->order[l->dev[0]][l->port[0]], RL_LOCAL_PORT_UP);
	assert_int_equal(f->order[l->dev[1]][l->port[1]], RL_LOCAL_PORT_UP);
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(rl_controller_add_link(f->ctl, link, f->now_ns),
			 -EALREADY);
	/* a device in use stays so if one of its links was taken out */
	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(rl_controller_add_dev(f->ctl, l->dev[0], f->now_ns),
			 -EALREADY);
	assert_int_equal(rl_controller_add_link(f->ctl, link, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	/* and of a device: its links are asked for, not a mark of the last one */
	fx_ctl_kill(f);
	fx_ctl_begin(f);
	assert_int_equal(rl_controller_add_dev(f->ctl, l->dev[0], f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(rl_controller_add_dev(f->ctl, l->dev[0], f->now_ns),
			 -EALREADY);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(a_removed_link_is_left_before_it_goes_down_and_used_after_it_is_up),
		T(a_switch_that_is_added_again_brings_its_links),
		T(what_is_added_before_a_new_controller_has_heard_of_it_is_ordered),
		T(orders_to_ports_outlive_the_time_to_wait_for_them),
		T(an_order_to_a_port_waits_for_a_device_that_does_not_answer),
		T(a_removed_link_goes_down_again_where_a_device_restarts),
		T(a_switch_that_was_taken_out_is_given_time_to_answer),
		T(a_link_that_degrades_is_left_before_it_dies),
		T(a_link_that_was_left_comes_back_if_it_is_the_only_way),
		T(a_link_that_degrades_stays_up_while_something_else_has_failed),
		T(a_quiesce_by_hand_that_fails_says_so),
		T(a_quiesce_by_hand_waits_for_a_slow_fabric),
		T(a_device_that_is_removed_after_a_link_died_is_not_taken_for_the_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
