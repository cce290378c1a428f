/* SPDX-License-Identifier: BSD-3-Clause */
/* A local controller by itself: orders late, twice and foreign; its lease. */

#include "resil_fixture.h"

struct one {
	struct rl_resil_cfg cfg;
	struct rl_local *l;
	uint64_t now_ns;
};

static void
one_dark(struct one *o, bool endpoint, bool waits)
{
	struct rl_local_params p = {
		.cfg = &o->cfg, .dev = 3, .nports = 4, .incarnation = 9,
		.endpoint = endpoint, .waits = waits,
	};

	rl_resil_cfg_defaults(&o->cfg);
	o->now_ns = 1000;
	o->l = rl_local_init(aligned_alloc(RL_CACHE_LINE, rl_local_memsize(4)),
			     &p, o->now_ns);
}

/* With all links up. */
static void
one_open(struct one *o, bool endpoint, bool waits)
{
	one_dark(o, endpoint, waits);
	for (uint16_t i = 0; i < 4; i++)
		rl_local_link(o->l, i, RL_RESIL_LINK_UP, 0, o->now_ns);
}

/* An order to device 3, answered at once; @return the action, if any. */
static bool
order(struct one *o, uint64_t seq, enum rl_resil_hold hold, uint32_t table,
      struct rl_local_action *a)
{
	const struct rl_resil_msg m = {
		.version = RL_RESIL_VERSION, .type = RL_RESIL_ORDER, .dev = 3,
		.ctl_inc = 5, .seq = seq, .hold = (uint8_t)hold,
		.hold_epoch = 4, .table_epoch = table,
	};

	rl_local_rx(o->l, &m, o->now_ns);
	return rl_local_action(o->l, a);
}

static void
an_older_order_is_ignored(void **state)
{
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, true, false);
	assert_true(order(&o, 7, RL_RESIL_HOLD_NONE, 2, &a));
	assert_int_equal(a.type, RL_LOCAL_INSTALL);
	assert_int_equal(a.epoch, 2);
	rl_local_installed(o.l, 2);
	assert_false(order(&o, 6, RL_RESIL_HOLD_ALL, 1, &a)); /* late */
	assert_false(order(&o, 7, RL_RESIL_HOLD_NONE, 2, &a)); /* twice */
	free(o.l);
}

static void
an_answer_tells_what_is_done_not_what_is_ordered(void **state)
{
	struct rl_local_action a;
	struct rl_resil_msg m;
	struct one o;

	(void)state;
	one_open(&o, false, false);
	assert_true(order(&o, 1, RL_RESIL_HOLD_NONE, 2, &a));
	assert_false(rl_local_asked(o.l));
	rl_local_installed(o.l, 2);
	assert_true(rl_local_asked(o.l));
	rl_local_answer(o.l, &(struct rl_local_view){ .quiet = true,
						      .activity = 11 });
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.type, RL_RESIL_STATUS);
	assert_int_equal(m.seq, 1);
	assert_int_equal(m.table_epoch, 2);
	assert_int_equal(m.activity, 11);
	assert_true(m.flags & RL_RESIL_QUIET);
	free(o.l);
}

static void
a_lease_that_ends_lets_go_and_refuses_the_tables(void **state)
{
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, true, false);
	assert_true(order(&o, 1, RL_RESIL_HOLD_ALL, 0, &a));
	assert_int_equal(a.type, RL_LOCAL_HOLD);
	assert_int_equal(rl_local_deadline(o.l), o.now_ns + o.cfg.lease_ns);
	o.now_ns += o.cfg.lease_ns;
	rl_local_tick(o.l, o.now_ns);
	assert_true(rl_local_action(o.l, &a));
	assert_int_equal(a.type, RL_LOCAL_RELEASE);
	/* an install that was meant for a fabric at rest, late */
	assert_false(order(&o, 2, RL_RESIL_HOLD_ALL, 4, &a));
	assert_true(rl_local_asked(o.l)); /* and says so */
	free(o.l);
}

/* Each number of what `show controller` prints is another. */
static void
what_it_says_of_itself_is_what_it_was_told_and_has_done(void **state)
{
	const struct rl_resil_msg stage = {
		.version = RL_RESIL_VERSION, .type = RL_RESIL_ORDER, .dev = 3,
		.ctl_inc = 5, .seq = 3, .hold_epoch = 9, .table_epoch = 6,
		.flags = RL_RESIL_STAGE };
	struct rl_resil_msg pass = stage;
	struct rl_local_action a;
	struct rl_local_info i;
	struct one o;

	(void)state;
	one_open(&o, true, true);
	rl_local_info(o.l, &i);
	assert_true(i.waits);
	free(o.l);
	one_open(&o, true, false);
	assert_true(order(&o, 1, RL_RESIL_HOLD_NONE, 6, &a));
	while (rl_local_action(o.l, &a))
		; /* until nothing is to be done */
	rl_local_info(o.l, &i);
	assert_false(i.waits);
	assert_int_equal(i.table_epoch, 0);
	assert_int_equal(i.want_epoch, 6);
	rl_local_installed(o.l, 6);
	rl_local_rx(o.l, &stage, o.now_ns);
	rl_local_info(o.l, &i);
	assert_int_equal(i.table_epoch, 6);
	assert_int_equal(i.stage_epoch, 9);
	assert_false(i.passes);
	assert_true(rl_local_action(o.l, &a));
	assert_int_equal(a.type, RL_LOCAL_STAGE);
	assert_int_equal(a.epoch, 9);
	pass.seq = 4;
	pass.flags |= RL_RESIL_PASS;
	rl_local_rx(o.l, &pass, o.now_ns);
	rl_local_info(o.l, &i);
	assert_int_equal(i.stage_epoch, 9);
	assert_true(i.passes);
	assert_int_equal(i.hold, RL_RESIL_HOLD_NONE);
	assert_int_equal(i.lease_ends, 0);
	free(o.l);
	/* another that is held until its lease ends */
	one_open(&o, true, false);
	(void)order(&o, 1, RL_RESIL_HOLD_ALL, 0, &a);
	rl_local_info(o.l, &i);
	assert_int_equal(i.hold, RL_RESIL_HOLD_ALL);
	assert_int_equal(i.hold_epoch, 4);
	assert_int_equal(i.stage_epoch, 0);
	o.now_ns += o.cfg.lease_ns;
	rl_local_tick(o.l, o.now_ns);
	rl_local_info(o.l, &i);
	assert_int_equal(i.hold, RL_RESIL_HOLD_NONE);
	assert_int_equal(i.lease_ends, 1);
	free(o.l);
}

static void
switches_let_go_before_sources(void **state)
{
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, false, false);
	assert_true(order(&o, 1, RL_RESIL_HOLD_ALL, 0, &a));
	assert_int_equal(rl_local_deadline(o.l), o.now_ns + o.cfg.lease_ns / 2);
	free(o.l);
}

static void
new_tables_first_then_go_on(void **state)
{
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, true, false);
	assert_true(order(&o, 1, RL_RESIL_HOLD_ALL, 0, &a));
	/* the order to install was lost: this one says both */
	assert_true(order(&o, 3, RL_RESIL_HOLD_NONE, 4, &a));
	assert_int_equal(a.type, RL_LOCAL_INSTALL);
	assert_false(rl_local_action(o.l, &a)); /* not before it is done */
	rl_local_installed(o.l, 4);
	assert_true(rl_local_action(o.l, &a));
	assert_int_equal(a.type, RL_LOCAL_RELEASE);
	free(o.l);
}

static void
a_report_is_told_until_it_is_confirmed(void **state)
{
	struct rl_resil_msg m, ack;
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, false, false);
	order(&o, 1, RL_RESIL_HOLD_NONE, 0, &a);
	rl_local_link(o.l, 2, RL_RESIL_LINK_DEAD, 1, o.now_ns);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(rl_local_tx(o.l, &m, o.now_ns));
		assert_int_equal(m.type, RL_RESIL_LINK);
		assert_int_equal(m.port, 2);
		assert_int_equal(m.ver, 1);
		assert_false(rl_local_tx(o.l, &m, o.now_ns));
		o.now_ns = rl_local_deadline(o.l);
		rl_local_tick(o.l, o.now_ns);
	}
	/* it changes: the confirmation of the older report is not enough */
	rl_local_link(o.l, 2, RL_RESIL_LINK_UP, 0, o.now_ns);
	ack = m;
	ack.type = RL_RESIL_LINK_ACK;
	ack.ctl_inc = 5;
	rl_local_rx(o.l, &ack, o.now_ns);
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.ver, 2);
	assert_int_equal(m.link, RL_RESIL_LINK_UP);
	ack.ver = 2;
	rl_local_rx(o.l, &ack, o.now_ns);
	assert_int_equal(rl_local_deadline(o.l), RL_NEVER);
	free(o.l);
}

/* [DRL-7] */
static void
packets_given_up_are_told_once_until_other_tables_come(void **state)
{
	struct rl_resil_msg m, ack;
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, false, false);
	order(&o, 1, RL_RESIL_HOLD_NONE, 0, &a);
	for (uint32_t ver = 1; ver <= 2; ver++) {
		const uint64_t found_ns = o.now_ns;

		rl_local_gave_up(o.l, found_ns);
		for (unsigned int i = 0; i < 3; i++) {
			assert_true(rl_local_tx(o.l, &m, o.now_ns));
			assert_int_equal(m.type, RL_RESIL_GAVE_UP);
			assert_int_equal(m.port, 4);
			assert_int_equal(m.ver, ver);
			assert_int_equal(m.t_ns, found_ns);
			assert_false(rl_local_tx(o.l, &m, o.now_ns));
			o.now_ns = rl_local_deadline(o.l);
			rl_local_tick(o.l, o.now_ns);
		}
		ack = m;
		ack.type = RL_RESIL_LINK_ACK;
		ack.ctl_inc = 5;
		rl_local_rx(o.l, &ack, o.now_ns);
		assert_int_equal(rl_local_deadline(o.l), RL_NEVER);
		/* more of them, by the same tables */
		rl_local_gave_up(o.l, o.now_ns);
		assert_false(rl_local_tx(o.l, &m, o.now_ns));
		assert_true(order(&o, 1 + ver, RL_RESIL_HOLD_NONE, ver, &a));
		assert_int_equal(a.type, RL_LOCAL_INSTALL);
		rl_local_installed(o.l, ver);
		rl_local_answer(o.l, &(struct rl_local_view){ .quiet = true });
		assert_true(rl_local_tx(o.l, &m, o.now_ns));
	}
	free(o.l);
}

/* A controller that had heard of it may have died before it did anything. */
static void
a_new_controller_hears_what_a_watchdog_gave_up(void **state)
{
	struct rl_resil_msg m, ack;
	struct rl_local_action a;
	bool told = false;
	struct one o;

	(void)state;
	one_open(&o, false, false);
	order(&o, 1, RL_RESIL_HOLD_NONE, 0, &a);
	rl_local_gave_up(o.l, o.now_ns);
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.type, RL_RESIL_GAVE_UP);
	ack = m;
	ack.type = RL_RESIL_LINK_ACK;
	ack.ctl_inc = 5;
	rl_local_rx(o.l, &ack, o.now_ns);
	assert_false(rl_local_tx(o.l, &m, o.now_ns));
	ack.type = RL_RESIL_CALL;
	ack.ctl_inc = 6;
	rl_local_rx(o.l, &ack, o.now_ns);
	while (rl_local_tx(o.l, &m, o.now_ns))
		told |= m.type == RL_RESIL_GAVE_UP && m.ver == 1;
	assert_true(told);
	free(o.l);
}

/* All links count as up until a report says otherwise: this one does. */
static void
a_link_that_never_comes_up_is_told_to_be_dead(void **state)
{
	struct rl_resil_msg m;
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_dark(&o, false, false);
	order(&o, 1, RL_RESIL_HOLD_NONE, 0, &a);
	for (uint16_t p = 0; p < 4; p++)
		if (p != 2)
			rl_local_link(o.l, p, RL_RESIL_LINK_UP, 0, o.now_ns);
	assert_false(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(rl_local_deadline(o.l),
			 o.now_ns + 4 * o.cfg.train_ns);
	rl_local_tick(o.l, rl_local_deadline(o.l) - 1);
	assert_false(rl_local_tx(o.l, &m, o.now_ns));
	o.now_ns = rl_local_deadline(o.l);
	rl_local_tick(o.l, o.now_ns);
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.type, RL_RESIL_LINK);
	assert_int_equal(m.port, 2);
	assert_int_equal(m.link, RL_RESIL_LINK_DEAD);
	assert_false(rl_local_tx(o.l, &m, o.now_ns));
	/* late, but it comes */
	rl_local_link(o.l, 2, RL_RESIL_LINK_UP, 0, o.now_ns);
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.link, RL_RESIL_LINK_UP);
	free(o.l);
}

/* The neighbour of its only link may have crashed before the link was up. */
static void
a_device_none_of_whose_links_comes_up_says_so(void **state)
{
	struct rl_local_action a;
	struct rl_resil_msg m;
	uint32_t dead = 0;
	struct one o;

	(void)state;
	one_dark(&o, true, false);
	rl_local_tick(o.l, 100 * o.cfg.train_ns);
	assert_false(rl_local_trains(o.l)); /* nobody wants to know */
	o.now_ns = 200 * o.cfg.train_ns;
	order(&o, 1, RL_RESIL_HOLD_NONE, 0, &a);
	o.now_ns += 4 * o.cfg.train_ns;
	rl_local_tick(o.l, o.now_ns - 1);
	assert_true(rl_local_trains(o.l));
	rl_local_tick(o.l, o.now_ns);
	assert_false(rl_local_trains(o.l));
	while (rl_local_tx(o.l, &m, o.now_ns))
		dead += m.type == RL_RESIL_LINK &&
			m.link == RL_RESIL_LINK_DEAD;
	assert_int_equal(dead, 4);
	free(o.l);
}

/* All links have come up: no time limit is left to wake a host for. */
static void
a_device_with_all_links_up_waits_for_none(void **state)
{
	struct one o;

	(void)state;
	one_dark(&o, false, false);
	for (uint16_t p = 0; p < 4; p++) {
		rl_local_link(o.l, p, RL_RESIL_LINK_UP, 0, o.now_ns);
		assert_int_equal(rl_local_trains(o.l), p < 3);
	}
	free(o.l);
}

/* The ports of a host may have had no turn while their links train. */
static void
a_link_that_trains_while_ports_have_no_turn_is_not_dead(void **state)
{
	struct rl_local_action a;
	struct rl_resil_msg m;
	struct one o;

	(void)state;
	one_dark(&o, false, false);
	rl_local_late(o.l, o.now_ns);
	assert_false(rl_local_trains(o.l));
	order(&o, 1, RL_RESIL_HOLD_NONE, 0, &a);
	for (uint16_t p = 0; p < 3; p++)
		rl_local_link(o.l, p, RL_RESIL_LINK_UP, 0, o.now_ns);
	assert_true(rl_local_trains(o.l));
	o.now_ns = rl_local_deadline(o.l);
	rl_local_late(o.l, o.now_ns);
	rl_local_tick(o.l, o.now_ns);
	assert_false(rl_local_tx(o.l, &m, o.now_ns));
	o.now_ns += o.cfg.train_ns;
	rl_local_tick(o.l, o.now_ns);
	assert_false(rl_local_trains(o.l));
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.port, 3);
	assert_int_equal(m.link, RL_RESIL_LINK_DEAD);
	free(o.l);
}

/* Told twice it is confirmed twice, and done once. */
static void
an_order_to_a_port_is_done_once(void **state)
{
	struct rl_resil_msg m = { .version = RL_RESIL_VERSION,
				  .type = RL_RESIL_PORT, .ver = 4,
				  .link = RL_LOCAL_PORT_DOWN };
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, false, false);
	m.dev = 3;
	m.ctl_inc = 1;
	for (unsigned int i = 0; i < 3; i++) {
		struct rl_resil_msg back;
		bool done = false;

		m.ver = i < 2 ? 4 : 3; /* and then an older one, late */
		rl_local_rx(o.l, &m, o.now_ns);
		assert_int_equal(rl_local_action(o.l, &a), i == 0);
		if (i == 0) {
			assert_int_equal(a.type, RL_LOCAL_PORT);
			assert_int_equal(a.order, RL_LOCAL_PORT_DOWN);
		}
		while (rl_local_tx(o.l, &back, o.now_ns))
			if (back.type == RL_RESIL_PORT_DONE) {
				assert_int_equal(back.ver, 4);
				done = true;
			}
		assert_true(done);
	}
	free(o.l);
}

static void
a_new_controller_is_told_everything_and_an_old_one_ignored(void **state)
{
	struct rl_resil_msg m, call = {
		.version = RL_RESIL_VERSION, .type = RL_RESIL_CALL, .dev = 3,
		.ctl_inc = 6,
	};
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, false, false);
	order(&o, 1, RL_RESIL_HOLD_NONE, 0, &a);
	rl_local_link(o.l, 1, RL_RESIL_LINK_DEAD, 1, o.now_ns);
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	m.type = RL_RESIL_LINK_ACK;
	m.ctl_inc = 5;
	rl_local_rx(o.l, &m, o.now_ns);
	rl_local_rx(o.l, &call, o.now_ns);
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.type, RL_RESIL_HELLO);
	assert_true(rl_local_tx(o.l, &m, o.now_ns));
	assert_int_equal(m.type, RL_RESIL_LINK);
	assert_int_equal(m.ctl_inc, 6);
	/* the one before was only slow: too late */
	assert_false(order(&o, 99, RL_RESIL_HOLD_ALL, 7, &a));
	assert_false(order(&o, 99, RL_RESIL_HOLD_ALL, 0, &a));
	free(o.l);
}

static void
what_is_meant_for_another_is_ignored(void **state)
{
	struct rl_resil_msg m = {
		.version = RL_RESIL_VERSION, .type = RL_RESIL_ORDER, .dev = 3,
		.ctl_inc = 5, .seq = 1, .hold = RL_RESIL_HOLD_ALL,
	};
	struct rl_local_action a;
	struct one o;

	(void)state;
	one_open(&o, true, false);
	m.local_inc = 8; /* the life before */
	rl_local_rx(o.l, &m, o.now_ns);
	m.local_inc = 9;
	m.dev = 4;
	rl_local_rx(o.l, &m, o.now_ns);
	m.dev = 3;
	m.version = RL_RESIL_VERSION + 1;
	rl_local_rx(o.l, &m, o.now_ns);
	assert_false(rl_local_action(o.l, &a));
	m.version = RL_RESIL_VERSION;
	m.type = RL_RESIL_PORT;
	m.port = 4; /* there is none */
	rl_local_rx(o.l, &m, o.now_ns);
	assert_false(rl_local_action(o.l, &a));
	free(o.l);
}

static void
settings_out_of_range_are_refused(void **state)
{
	struct rl_resil_cfg cfg;
	const char *key = NULL;
	char err[128];

	(void)state;
	rl_resil_cfg_defaults(&cfg);
	assert_int_equal(rl_resil_cfg_check(&cfg, err, sizeof(err), &key), 0);
	cfg.resend_ns = 0;
	assert_int_equal(rl_resil_cfg_check(&cfg, err, sizeof(err), &key),
			 -EINVAL);
	assert_string_equal(key, "resend_ns");
	rl_resil_cfg_defaults(&cfg);
	cfg.answer_ns = cfg.resend_ns;
	assert_int_equal(rl_resil_cfg_check(&cfg, err, sizeof(err), &key),
			 -EINVAL);
	assert_string_equal(key, "answer_ns");
	rl_resil_cfg_defaults(&cfg);
	cfg.lease_ns = cfg.answer_ns;
	assert_int_equal(rl_resil_cfg_check(&cfg, err, sizeof(err), &key),
			 -EINVAL);
	assert_string_equal(key, "lease_ns");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_older_order_is_ignored),
		cmocka_unit_test(an_answer_tells_what_is_done_not_what_is_ordered),
		cmocka_unit_test(a_lease_that_ends_lets_go_and_refuses_the_tables),
		cmocka_unit_test(switches_let_go_before_sources),
		cmocka_unit_test(new_tables_first_then_go_on),
		cmocka_unit_test(a_report_is_told_until_it_is_confirmed),
		cmocka_unit_test(packets_given_up_are_told_once_until_other_tables_come),
		cmocka_unit_test(a_new_controller_hears_what_a_watchdog_gave_up),
		cmocka_unit_test(a_link_that_never_comes_up_is_told_to_be_dead),
		cmocka_unit_test(a_link_that_trains_while_ports_have_no_turn_is_not_dead),
		cmocka_unit_test(a_device_none_of_whose_links_comes_up_says_so),
		cmocka_unit_test(a_device_with_all_links_up_waits_for_none),
		cmocka_unit_test(
			what_it_says_of_itself_is_what_it_was_told_and_has_done),
		cmocka_unit_test(an_order_to_a_port_is_done_once),
		cmocka_unit_test(a_new_controller_is_told_everything_and_an_old_one_ignored),
		cmocka_unit_test(what_is_meant_for_another_is_ignored),
		cmocka_unit_test(settings_out_of_range_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
