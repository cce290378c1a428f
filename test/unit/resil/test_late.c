/* SPDX-License-Identifier: BSD-3-Clause */
/* Late messages change nothing that is known since. */
#include "resil_fixture.h"

#define MS RL_NS_PER_MS

/* Incarnations of the fixture: devices 1 to FX_DEVS, then the controller. */
static struct rl_resil_msg
said(uint32_t dev, enum rl_resil_msg_type type)
{
	return (struct rl_resil_msg){
		.version = RL_RESIL_VERSION,
		.type = (uint8_t)type,
		.dev = dev,
		.ctl_inc = FX_DEVS + 1,
		.local_inc = dev + 1,
		.seq = 1, /* the first order there was */
	};
}

static void
a_greeting_of_a_former_life_is_no_return_to_it(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3");
	const struct rl_resil_msg old = said(s3, RL_RESIL_HELLO);

	fx_local_begin(f, s3, false);
	assert_true(fx_settle(f, 50 * MS));
	rl_controller_rx(f->ctl, &old, f->now_ns);
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(fx_last(f)->silent, 0);
	for (uint32_t d = 0; d < FX_DEVS; d++)
		assert_int_equal(f->table[d], fx_last(f)->epoch);
}

static void
an_answer_to_an_older_order_is_none_to_the_newest(void **state)
{
	struct fx *f = *state;
	const uint32_t e0 = fx_dev(f, "e0"), e1 = fx_dev(f, "e1");
	const struct rl_resil_msg old = said(e0, RL_RESIL_STATUS);

	f->mode = RL_RESIL_FULL;
	f->busy[e1] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_until(f, RL_CONTROLLER_DRAIN);
	/* when it was given, no device held */
	assert_int_equal(f->hold[e0], RL_RESIL_HOLD_ALL);
	for (unsigned int us = 0; us < 1000; us++) {
		/* also while its answer to the newest is under way */
		rl_controller_rx(f->ctl, &old, f->now_ns);
		assert_int_equal(rl_controller_phase(f->ctl),
				 RL_CONTROLLER_DRAIN);
		fx_run(f, 1000);
	}
	f->busy[e1] = false;
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(rl_controller_recoveries(f->ctl), 1);
}

static void
a_report_of_a_port_that_is_not_there_says_nothing(void **state)
{
	struct fx *f = *state;

	for (uint32_t d = 0; d < FX_DEVS; d++) {
		struct rl_resil_msg m = said(d, RL_RESIL_LINK);

		m.port = f->topo.dev[d].nports;
		m.ver = 1000;
		m.link = RL_RESIL_LINK_DEAD;
		if (d + 1 < FX_DEVS) /* the last lies beyond all ports */
			rl_controller_rx(f->ctl, &m, f->now_ns);
	}
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->jobs, 0);
	for (uint32_t l = 0; l < f->topo.nlink; l++)
		assert_true(rl_controller_link_ok(f->ctl, l));
}

static void
an_older_report_of_a_link_does_not_undo_a_newer_one(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 50 * MS));
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	for (unsigned int e = 0; e < 2; e++) {
		struct rl_resil_msg m = said(l->dev[e], RL_RESIL_LINK);

		m.port = l->port[e];
		m.ver = 2; /* the report in the middle */
		m.link = RL_RESIL_LINK_UP;
		rl_controller_rx(f->ctl, &m, f->now_ns);
	}
	assert_true(fx_settle(f, 50 * MS));
	assert_false(rl_controller_link_ok(f->ctl, link));
	assert_int_equal(f->job_link_ok[link], RL_LINK_NO);
}

static void
an_answer_to_an_older_order_to_a_port_is_none_to_the_newest(void **state)
{
	struct fx *f = *state;
	const uint32_t link = fx_link_of(f, "s0-s1");
	const struct rl_topo_link *l = &f->topo.link[link];

	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns),
			 0);
	fx_until(f, RL_CONTROLLER_PORTS);
	memset(f->flight, 0, sizeof(f->flight)); /* the orders are lost */
	for (unsigned int e = 0; e < 2; e++) {
		struct rl_resil_msg m = said(l->dev[e], RL_RESIL_PORT_DONE);

		m.port = l->port[e];
		m.ver = 999;
		rl_controller_rx(f->ctl, &m, f->now_ns);
	}
	fx_run(f, f->cfg.resend_ns / 2);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_PORTS);
	/* so they are told again, and this time they are done */
	assert_true(fx_settle(f, 50 * MS));
	for (unsigned int e = 0; e < 2; e++)
		assert_int_equal(f->order[l->dev[e]][l->port[e]],
				 RL_LOCAL_PORT_DRAIN);
}

/* It was made for a fabric that has changed since. */
static void
the_result_of_an_older_job_is_not_installed(void **state)
{
	struct fx *f = *state;
	struct rl_controller_result r = { .mode = RL_RESIL_LIVE };

	f->never = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_until(f, RL_CONTROLLER_COMPUTE);
	fx_link(f, fx_link_of(f, "s1-s2"), RL_RESIL_LINK_DEAD);
	while (f->jobs < 2)
		fx_run(f, 1000);
	r.epoch = f->job_epoch - 1;
	rl_controller_done(f->ctl, &r, f->now_ns);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_COMPUTE);
	assert_int_equal(f->installs, 0);
	r.epoch = f->job_epoch;
	rl_controller_done(f->ctl, &r, f->now_ns);
	assert_true(fx_settle(f, 50 * MS));
	for (uint32_t d = 0; d < FX_DEVS; d++)
		assert_int_equal(f->table[d], r.epoch);
}

/*
 * [RES-6]: a crashed switch does not answer. That shows while tables are
 * computed, so no flow is held longer for it.
 */
static void
a_switch_that_has_crashed_is_not_waited_for_while_flows_are_held(void **state)
{
	struct fx *f = *state;
	const uint32_t dead = fx_dev(f, "s1");
	const struct rl_topo_dev *d = &f->topo.dev[dead];

	f->mode = RL_RESIL_PARTIAL;
	f->compute_ns = 2 * f->cfg.resend_ns;
	fx_local_kill(f, dead);
	for (uint16_t p = 0; p < d->nports; p++)
		fx_end(f, d->port[p].link, !d->port[p].end,
		       RL_RESIL_LINK_DEAD);
	fx_run(f, f->cfg.gather_ns);
	assert_true(fx_settle(f, 5 * RL_NS_PER_S));
	assert_int_equal(rl_controller_recoveries(f->ctl), 1);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(fx_last(f)->mode, RL_RESIL_PARTIAL);
	assert_true(fx_last(f)->paused_ns < 2 * f->cfg.resend_ns);
	for (uint32_t i = 0; i < FX_DEVS; i++)
		assert_true(i == dead || f->table[i] == fx_last(f)->epoch);
}

/* One look may come before what has just left is seen: two must agree. */
static void
some_flows_that_are_held_are_looked_at_twice(void **state)
{
	struct fx *f = *state;

	f->mode = RL_RESIL_PARTIAL;
	f->cfg.observe_ns = 2 * MS;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(fx_last(f)->mode, RL_RESIL_PARTIAL);
	assert_true(fx_last(f)->quiesce_ns >= f->cfg.observe_ns);
}

/* An answer of a device is under way: as if its lease had ended before. */
static bool
says_that_it_has_gone_on(struct fx *f, uint32_t dev)
{
	bool any = false;

	for (uint32_t i = 0; i < f->nflight; i++) {
		struct fx_flight *m = &f->flight[i];

		if (!m->used || !m->to_ctl || m->m.dev != dev ||
		    m->m.type != RL_RESIL_STATUS)
			continue;
		m->m.hold = RL_RESIL_HOLD_NONE;
		any = true;
	}
	return any;
}

/* Then it is unknown what it has sent since: the recovery ends. */
static void
a_source_that_goes_on_by_itself_ends_the_recovery(void **state)
{
	struct fx *f = *state;
	const uint32_t e1 = fx_dev(f, "e1");

	f->mode = RL_RESIL_FULL;
	f->busy[fx_dev(f, "e0")] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_until(f, RL_CONTROLLER_DRAIN);
	for (unsigned int i = 0; !says_that_it_has_gone_on(f, e1); i++) {
		assert_true(i < 10000);
		fx_run(f, f->delay_ns / 4);
	}
	f->mode = RL_RESIL_LIVE;
	fx_run(f, 4 * f->delay_ns);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_TIMEOUT);
	assert_int_equal(f->hold[fx_dev(f, "e0")], RL_RESIL_HOLD_NONE);
	assert_int_equal(f->installs, 0);
}

/*
 * [RES-6]: an endpoint that has no link sends nothing. If it speaks only when
 * tables are installed already, it does not hold, and need not: no other is
 * released for that before all have the tables.
 */
static void
a_device_without_a_link_or_a_hold_ends_no_install(void **state)
{
	struct fx *f = *state;
	const uint32_t e1 = fx_dev(f, "e1"), s3 = fx_dev(f, "s3");

	f->mode = RL_RESIL_FULL;
	fx_local_kill(f, e1);
	fx_end(f, fx_link_of(f, "e1-s1"), 1, RL_RESIL_LINK_DEAD);
	fx_until(f, RL_CONTROLLER_INSTALL);
	fx_local_kill(f, s3); /* so that it takes a while */
	fx_local_begin(f, e1, false);
	fx_run(f, 4 * MS);
	assert_int_equal(rl_controller_phase(f->ctl), RL_CONTROLLER_INSTALL);
	assert_int_equal(f->hold[fx_dev(f, "e0")], RL_RESIL_HOLD_ALL);
	fx_local_begin(f, s3, false);
	assert_true(fx_settle(f, 500 * MS));
	assert_int_equal(rl_controller_recovery(f->ctl, 0)->outcome,
			 RL_OUTCOME_DONE);
	assert_int_equal(f->bad_installs, 0);
	fx_all_have(f, rl_controller_epoch(f->ctl));
}

/*
 * [RES-8]: a busy lcore is there; no flow is held while the controller waits
 * for it.
 */
static void
a_device_that_is_late_is_waited_for_while_it_says_that_it_is_there(
	void **state)
{
	static const enum rl_resil_mode modes[] = { RL_RESIL_LIVE,
						    RL_RESIL_TOKENS };
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3"), link = fx_link_of(f, "s0-s1");

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(modes); i++) {
		f->mode = modes[i];
		f->late[s3] = true;
		fx_link(f, link, i == 0 ? RL_RESIL_LINK_DEAD
					: RL_RESIL_LINK_UP);
		fx_run(f, 20 * f->cfg.answer_ns);
		f->late[s3] = false;
		assert_true(fx_settle(f, 100 * MS));
		assert_int_equal(rl_controller_recoveries(f->ctl), i + 1);
		assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
		assert_int_equal(fx_last(f)->mode, modes[i]);
		assert_int_equal(fx_last(f)->silent, 0);
		assert_int_equal(fx_last(f)->paused_ns, 0);
		fx_all_have(f, fx_last(f)->epoch);
	}
}

/* Those that hold meanwhile do not take the controller for dead. */
static void
while_one_is_late_the_leases_of_the_others_go_on(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3"), e1 = fx_dev(f, "e1");
	struct rl_local_info i;

	f->mode = RL_RESIL_FULL;
	f->cfg.quiesce_ns = 4 * f->cfg.lease_ns;
	f->late[s3] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 3 * f->cfg.lease_ns);
	assert_int_equal(f->hold[e1], RL_RESIL_HOLD_ALL);
	f->late[s3] = false;
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	rl_local_info(f->local[e1], &i);
	assert_int_equal(i.lease_ends, 0);
	assert_int_equal(f->bad_installs, 0);
}

/* It is there, and does nothing for ever: the phase ends without it [RES-2]. */
static void
a_device_that_is_late_for_ever_is_not_waited_for_for_ever(void **state)
{
	static const enum rl_resil_mode modes[] = { RL_RESIL_LIVE,
						    RL_RESIL_FULL };
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3");

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(modes); i++) {
		const uint32_t n = rl_controller_recoveries(f->ctl);

		f->mode = modes[i];
		f->late[s3] = true;
		fx_link(f, fx_link_of(f, "s0-s1"),
			i == 0 ? RL_RESIL_LINK_DEAD : RL_RESIL_LINK_UP);
		fx_run(f, 30 * f->cfg.install_ns);
		assert_true(rl_controller_recoveries(f->ctl) > n);
		assert_true(fx_last(f)->paused_ns <=
			    f->cfg.quiesce_ns + 11 * f->cfg.install_ns);
		f->late[s3] = false;
		assert_true(fx_settle(f, 20 * RL_NS_PER_S));
		fx_all_have(f, rl_controller_epoch(f->ctl));
	}
}

/*
 * Tables that were computed for a device without links are not proven beside its
 * old ones: where a link of its is back before all is at rest, they are not
 * installed, though at that very look all is at rest.
 */
static void
a_silent_device_whose_link_is_back_ends_the_recovery(void **state)
{
	unsigned int ended = 0;

	(void)state;
	for (unsigned int us = 0; us < 60; us++) {
		static struct fx f;
		const struct rl_topo_dev *d;
		uint32_t s3;

		fx_open(&f, 4);
		assert_true(fx_settle(&f, 50 * MS));
		s3 = fx_dev(&f, "s3");
		d = &f.topo.dev[s3];
		f.mode = RL_RESIL_FULL;
		f.busy[fx_dev(&f, "e1")] = true;
		fx_local_kill(&f, s3);
		for (uint16_t p = 0; p < d->nports; p++)
			fx_link(&f, d->port[p].link, RL_RESIL_LINK_DEAD);
		fx_until(&f, RL_CONTROLLER_DRAIN);
		fx_run(&f, 2 * f.cfg.answer_ns);
		fx_link(&f, d->port[0].link, RL_RESIL_LINK_UP);
		fx_run(&f, f.cfg.return_ns - 30000 + us * 1000);
		f.busy[fx_dev(&f, "e1")] = false;
		while (rl_controller_phase(f.ctl) == RL_CONTROLLER_DRAIN)
			fx_run(&f, 1000);
		ended += rl_controller_phase(f.ctl) == RL_CONTROLLER_RELEASE;
		if (rl_controller_phase(f.ctl) == RL_CONTROLLER_RELEASE)
			assert_int_equal(f.installs, 0);
		fx_close(&f);
	}
	assert_true(ended > 20 && ended < 60);
}

/* [RES-8]: the second time it is known how long an answer takes. */
static void
limits_follow_the_answers_that_were_seen(void **state)
{
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3"), link = fx_link_of(f, "s0-s1");

	f->slow_ns[s3] = f->cfg.answer_ns; /* and back: twice the limit */
	for (unsigned int i = 0; i < 8; i++) {
		fx_link(f, link, i % 2 == 0 ? RL_RESIL_LINK_DEAD
					    : RL_RESIL_LINK_UP);
		assert_true(fx_settle(f, RL_NS_PER_S));
	}
	assert_int_equal(fx_last(f)->silent, 0);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	fx_all_have(f, fx_last(f)->epoch);
	/* one that says nothing is still found out */
	fx_local_kill(f, s3);
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, RL_NS_PER_S));
	assert_int_equal(fx_last(f)->silent, 1);
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
}

/* [RES-8]: no tables are proven beside those it has; it is heard, and they are. */
static void
what_fails_for_a_late_answer_is_not_refused_but_tried_again(void **state)
{
	static const int status[] = { -ETIME, -ENOMEM };
	struct fx *f = *state;
	const uint32_t s3 = fx_dev(f, "s3"), link = fx_link_of(f, "s0-s1");

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(status); i++) {
		f->status = status[i];
		f->slow_ns[s3] = 8 * f->cfg.answer_ns;
		fx_link(f, link, i == 0 ? RL_RESIL_LINK_DEAD
					: RL_RESIL_LINK_UP);
		fx_run(f, 5 * MS);
		assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_TIMEOUT);
		assert_false(rl_controller_idle(f->ctl));
		f->status = 0;
		f->slow_ns[s3] = 0;
		assert_true(fx_settle(f, 100 * MS));
		assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
		assert_int_equal(fx_last(f)->cause, RL_CAUSE_RETRY);
		fx_all_have(f, fx_last(f)->epoch);
	}
}

/* [DRL-11]: packets wait for tables only while they are being made. */
static void
packets_do_not_wait_for_refused_tables(void **state)
{
	struct fx *f = *state;
	const uint32_t s0 = fx_dev(f, "s0");

	f->status = -EHOSTUNREACH;
	f->compute_ns = 2 * MS;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 2 * MS);
	assert_int_equal(f->none[s0], 0); /* they are being made */
	fx_run(f, 1 * MS);
	assert_int_equal(f->none[s0], 1);
	f->status = 0;
	fx_link(f, fx_link_of(f, "s0-s3"), RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(f->none[s0], 1); /* they came */
}

static void
packets_do_not_wait_for_tables_of_a_dead_controller(void **state)
{
	struct fx *f = *state;
	const uint32_t s0 = fx_dev(f, "s0"), s2 = fx_dev(f, "s2");

	f->never = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	fx_run(f, 5 * f->cfg.answer_ns / 2);
	assert_int_equal(f->none[s0], 0);
	fx_ctl_kill(f); /* while it computes */
	fx_run(f, f->cfg.answer_ns);
	assert_int_equal(f->none[s0], 1);
	assert_true(rl_local_alone(f->local[s0]));
	/* and before */
	assert_false(rl_local_alone(f->local[s2]));
	fx_link(f, fx_link_of(f, "s2-s3"), RL_RESIL_LINK_DEAD);
	fx_run(f, f->cfg.answer_ns);
	assert_int_equal(f->none[s2], 1);
	f->never = false;
	fx_ctl_begin(f);
	assert_true(fx_settle(f, 100 * MS));
	assert_false(rl_local_alone(f->local[s0]));
	assert_false(rl_local_alone(f->local[s2]));
}

/* What takes five times quiesce_ns to drain does so at the fourth try. */
static void
a_fabric_that_drains_slowly_gets_twice_the_time_with_each_try(void **state)
{
	struct fx *f = *state;
	const uint32_t e1 = fx_dev(f, "e1");
	uint64_t held_ns = 0;

	f->mode = RL_RESIL_FULL;
	f->busy[e1] = true;
	fx_link(f, fx_link_of(f, "s0-s1"), RL_RESIL_LINK_DEAD);
	for (unsigned int i = 0; i < 4000 && f->busy[e1]; i++) {
		fx_run(f, MS / 4);
		held_ns = f->hold[e1] == RL_RESIL_HOLD_ALL ? held_ns + MS / 4
							   : 0;
		f->busy[e1] = held_ns < 5 * f->cfg.quiesce_ns;
	}
	assert_false(f->busy[e1]);
	assert_true(fx_settle(f, 10 * MS));
	assert_int_equal(fx_last(f)->outcome, RL_OUTCOME_DONE);
	assert_int_equal(f->jobs, 4);
	fx_all_have(f, fx_last(f)->epoch);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		T(a_greeting_of_a_former_life_is_no_return_to_it),
		T(a_report_of_a_port_that_is_not_there_says_nothing),
		T(an_older_report_of_a_link_does_not_undo_a_newer_one),
		T(an_answer_to_an_older_order_to_a_port_is_none_to_the_newest),
		T(the_result_of_an_older_job_is_not_installed),
		T(an_answer_to_an_older_order_is_none_to_the_newest),
		T(a_switch_that_has_crashed_is_not_waited_for_while_flows_are_held),
		T(some_flows_that_are_held_are_looked_at_twice),
		T(a_source_that_goes_on_by_itself_ends_the_recovery),
		T(a_device_without_a_link_or_a_hold_ends_no_install),
		T(a_device_that_is_late_is_waited_for_while_it_says_that_it_is_there),
		T(while_one_is_late_the_leases_of_the_others_go_on),
		T(a_device_that_is_late_for_ever_is_not_waited_for_for_ever),
		cmocka_unit_test(
			a_silent_device_whose_link_is_back_ends_the_recovery),
		T(limits_follow_the_answers_that_were_seen),
		T(what_fails_for_a_late_answer_is_not_refused_but_tried_again),
		T(packets_do_not_wait_for_refused_tables),
		T(packets_do_not_wait_for_tables_of_a_dead_controller),
		T(a_fabric_that_drains_slowly_gets_twice_the_time_with_each_try),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
