/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The second time: a local controller that had one controller and has another
 * one now is, field by field, what a new one is that has never had one before.
 */

#include "local_priv.h"
#include "resil_fixture.h"

#define NPORTS 4

/* Everything but what stands in differs. */
#define SAME(X)                                                                \
	X(ctl_inc) X(seq) X(heard_ns) X(table_epoch)              \
	X(want_epoch) X(hold_epoch) X(stage_epoch) X(hold) X(unknown)          \
	X(next_port) X(greeted) X(hello_owed) X(asked) X(answer_owed)          \
	X(late_owed) X(installing) X(install_owed) X(staging) X(stage_owed)    \
	X(passes) X(pass_owed) X(hold_owed) X(start_owed) X(waits) X(alone)    \
	X(awaits) X(none_owed) X(await_port) X(await_until_ns)      \
	X(gave_up) X(trains) X(train_by_ns)
#define DIFFERS(X)                                                             \
	X(p)	      /* the same parameters, by another pointer */            \
	X(resend_ns)  /* the pace of what is not answered, from the last time */ \
	X(poll_ns)    /* set when packets begin to wait, read while they do */ \
	X(lease_ends) /* a count over all of its life */                       \
	X(view)	      /* what the host answered last, read with `answer_owed` */
#define PORT_SAME(X)                                                           \
	X(ver) X(known) X(sent) X(order_ver) X(state) X(detector) X(order)     \
	X(done_owed) X(t_ns)

struct one {
	struct rl_resil_cfg cfg;
	struct rl_local *l;
	uint32_t done;	 /* orders to ports that were carried out */
	uint32_t told;	 /* reports of links */
};

static uint64_t now_ns;

static void
one_open(struct one *o)
{
	struct rl_local_params p = { .cfg = &o->cfg, .dev = 3,
				     .nports = NPORTS, .incarnation = 9 };

	memset(o, 0, sizeof(*o));
	rl_resil_cfg_defaults(&o->cfg);
	o->l = rl_local_init(aligned_alloc(RL_CACHE_LINE,
					   rl_local_memsize(NPORTS)),
			     &p, now_ns);
	for (uint16_t i = 0; i < NPORTS; i++)
		rl_local_link(o->l, i, RL_RESIL_LINK_UP, 0, now_ns);
}

/* Whatever it wants to do or say is done, and confirmed by @p ctl. */
static void
pump(struct one *o, uint64_t ctl)
{
	struct rl_local_action a;
	struct rl_resil_msg m;

	rl_local_tick(o->l, now_ns);
	while (rl_local_action(o->l, &a)) {
		if (a.type == RL_LOCAL_INSTALL)
			rl_local_installed(o->l, a.epoch);
		o->done += a.type == RL_LOCAL_PORT;
	}
	if (rl_local_asked(o->l))
		rl_local_answer(o->l, &(struct rl_local_view){ .quiet = true });
	while (rl_local_tx(o->l, &m, now_ns)) {
		if (m.type != RL_RESIL_LINK)
			continue;
		o->told++;
		m.type = RL_RESIL_LINK_ACK;
		m.ctl_inc = ctl;
		rl_local_rx(o->l, &m, now_ns);
	}
}

static void
order(struct one *o, uint64_t ctl, uint64_t seq, enum rl_resil_hold hold)
{
	const struct rl_resil_msg m = {
		.version = RL_RESIL_VERSION, .type = RL_RESIL_ORDER, .dev = 3,
		.ctl_inc = ctl, .seq = seq, .hold = (uint8_t)hold,
		.hold_epoch = 4, .table_epoch = 2,
	};

	rl_local_rx(o->l, &m, now_ns);
	pump(o, ctl);
}

static void
port_order(struct one *o, uint64_t ctl, uint32_t ver)
{
	const struct rl_resil_msg m = {
		.version = RL_RESIL_VERSION, .type = RL_RESIL_PORT, .dev = 3,
		.ctl_inc = ctl, .ver = ver, .port = 2,
		.link = RL_LOCAL_PORT_DOWN,
	};

	rl_local_rx(o->l, &m, now_ns);
	pump(o, ctl);
}

/* What a controller says to a device: @p n orders, and as many to a port. */
static void
reign(struct one *o, uint64_t ctl, uint32_t n)
{
	order(o, ctl, 1, RL_RESIL_HOLD_NONE); /* the tables come first */
	for (uint32_t i = 1; i <= n; i++) {
		order(o, ctl, 3 * i, RL_RESIL_HOLD_ALL);
		order(o, ctl, 3 * i + 1, RL_RESIL_HOLD_NONE);
		port_order(o, ctl, i);
	}
}

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		fail_msg("%s is another one the second time", #field);
#define PORT_CHECK(field)                                                      \
	if (a->port[i].field != b->port[i].field)                              \
		fail_msg("%s of port %u is another one", #field, i);
static void
same(const struct rl_local *a, const struct rl_local *b)
{
	SAME(CHECK)
	for (unsigned int i = 0; i <= NPORTS; i++) {
		PORT_SAME(PORT_CHECK)
	}
}

static void
the_second_controller_is_obeyed_as_the_first_was(void **state)
{
	struct one used, fresh;

	(void)state;
	now_ns = 1000;
	one_open(&used);
	reign(&used, 5, 4);
	rl_local_link(used.l, 1, RL_RESIL_LINK_DEAD, 1, now_ns);
	pump(&used, 5);
	now_ns += 5000;
	one_open(&fresh);
	rl_local_link(fresh.l, 1, RL_RESIL_LINK_DEAD, 1, 1000);
	used.done = used.told = 0;
	reign(&used, 6, 1);
	reign(&fresh, 6, 1);
	assert_int_equal(used.done, 1); /* though it counts from 1 again */
	assert_int_equal(fresh.done, 1);
	assert_int_equal(used.told, 1);
	same(used.l, fresh.l);
	free(used.l);
	free(fresh.l);
}

/* And a third one, after a hold that only the lease has ended. */
static void
a_lease_that_ended_leaves_nothing_behind(void **state)
{
	struct one used, fresh;

	(void)state;
	now_ns = 1000;
	one_open(&used);
	reign(&used, 5, 2);
	order(&used, 5, 20, RL_RESIL_HOLD_ALL);
	now_ns += used.cfg.lease_ns;
	pump(&used, 5);
	assert_int_equal(used.l->lease_ends, 1);
	one_open(&fresh);
	reign(&used, 7, 3);
	reign(&fresh, 7, 3);
	same(used.l, fresh.l);
	free(used.l);
	free(fresh.l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_second_controller_is_obeyed_as_the_first_was),
		cmocka_unit_test(a_lease_that_ended_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
