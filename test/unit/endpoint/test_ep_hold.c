/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows that are held while tables change: what had left, and is it gone? [RES-6] */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ep_fixture.h"

static struct fx fx;

/* [RES-6]: one packet has left and is lost, another one has not left. */
static struct rl_flit *
hold_with_one_lost(void)
{
	struct rl_flit *lost;

	fx_open_default(&fx, 3);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 300), 0);
	lost = fx_poll_one(&fx, 0);
	assert_int_equal(fx_send(&fx, 0, 1, 0, 300), 0); /* accepted only */
	assert_false(rl_ep_quiescent(fx.ep[0], 1));
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 1, true), 0);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 1, true), 0);
	return lost;
}

static void
what_is_held_stays_and_what_had_left_is_known_to_be_gone(void **state)
{
	(void)state;
	fx_drop(&fx, hold_with_one_lost());
	assert_int_equal(fx_send_raw(&fx, 1, 0, RL_CLASS_RSP, 8), -EBUSY);
	assert_int_equal(fx_send_raw(&fx, 1, 0, RL_CLASS_REQ_POSTED, 8), -EBUSY);
	/* others are not held, nor is the way back */
	assert_int_equal(fx_send(&fx, 0, 2, 0, 300), 0);
	assert_int_equal(fx_send(&fx, 1, 0, 0, 300), 0);
	assert_false(rl_ep_quiescent(fx.ep[0], 1));
	fx_run(&fx, 10);
	/* the probe that went behind has come back */
	assert_true(rl_ep_quiescent(fx.ep[0], 1));
	assert_int_equal(fx_take(&fx, 1, false), 0);
	assert_int_equal(fx_take(&fx, 2, false), 1);
	assert_int_equal(fx_take(&fx, 0, false), 1);
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_retransmitted_flits), 0);
	assert_false(rl_ep_idle(fx.ep[0]));
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 1, false), 0);
	/* at once: without a timer and without a request */
	assert_false(rl_ep_quiescent(fx.ep[0], 1));
	fx_run(&fx, 16);
	assert_int_equal(fx_take(&fx, 1, false), 2);
	assert_int_equal(fx_ctr(&fx, 1, RL_EPC_nak_sent), 0);
	assert_true(rl_ep_idle(fx.ep[0]));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
	assert_int_equal(fx.nevents, 2);
	assert_int_equal(fx.event[0].kind, RL_EP_EV_HELD);
	assert_int_equal(fx.event[0].peer, 1);
	assert_int_equal(fx.event[1].kind, RL_EP_EV_RELEASED);
	fx_close(&fx);
}

/* A flit of a probe, or of its answer, is lost: which end hears of it? */
static void
probe_dropped(struct rl_flit *f, enum rl_ep_drop why)
{
	struct rl_ep_notice n;

	rl_ep_notice_of(f, why, &n);
	assert_int_equal(n.pos, RL_EP_POS_CTRL);
	assert_int_equal(n.whose, 0); /* it has asked */
	rl_ep_notice(fx.ep[n.whose], fx.now, &n);
	fx_drop(&fx, f);
}

static void
a_probe_that_finds_no_way_tells_as_much_as_its_echo(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rl_flit *lost = hold_with_one_lost(), *probe;

		probe = fx_poll_one(&fx, 0);
		if (i == 1) { /* it arrives, and its echo has no way */
			fx_rx(&fx, 1, probe);
			probe = fx_poll_one(&fx, 1);
		}
		probe_dropped(probe, RL_EP_DROP_ASTRAY);
		assert_true(rl_ep_quiescent(fx.ep[0], 1));
		fx_drop(&fx, lost);
		assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 1, false), 0);
		fx_run(&fx, 8);
		assert_int_equal(fx_take(&fx, 1, false), 2);
		assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
		fx_close(&fx);
	}
}

/* A corrupted probe is sent again, since nothing may have overtaken it. The
 * answer to a probe of an earlier hold proves nothing. */
static void
a_held_flow_asks_until_it_knows(void **state)
{
	struct rl_flit *lost, *probe, *old;

	(void)state;
	lost = hold_with_one_lost();
	old = fx_poll_one(&fx, 0);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 1, false), 0);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 1, true), 0);
	probe = fx_poll_one(&fx, 0);
	fx_rx(&fx, 1, old);
	fx_rx(&fx, 0, fx_poll_one(&fx, 1));
	assert_false(rl_ep_quiescent(fx.ep[0], 1));
	probe_dropped(probe, RL_EP_DROP_LOST);
	assert_false(rl_ep_quiescent(fx.ep[0], 1));
	fx_run(&fx, 4);
	assert_true(rl_ep_quiescent(fx.ep[0], 1));
	assert_int_equal(fx_ctr(&fx, 0, RL_EPC_timeouts), 0);
	fx_drop(&fx, lost);
	fx_close(&fx);
}

/* A probe that is lost without a word is asked again after probe_ns. */
static void
a_held_flow_asks_again_until_it_is_answered(void **state)
{
	struct rl_flit *lost;

	(void)state;
	lost = hold_with_one_lost();
	for (unsigned int i = 0; i < 20; i++) {
		fx_drop(&fx, fx_poll_one(&fx, 0)); /* the probe */
		fx.now += fx.cfg.probe_ns - 1;
		assert_int_equal(fx_poll(&fx, 0).packets, 0);
		fx.now++;
		assert_false(rl_ep_quiescent(fx.ep[0], 1));
	}
	fx_settle(&fx);
	assert_true(rl_ep_quiescent(fx.ep[0], 1));
	fx_drop(&fx, lost);
	fx_close(&fx);
}

static void
all_are_held_beside_one_and_each_is_released_by_itself(void **state)
{
	(void)state;
	fx_open_default(&fx, 3);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 1, true), 0);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, RL_EP_ALL, true), 0);
	assert_int_equal(fx_send_raw(&fx, 2, 0, RL_CLASS_RSP, 8), -EBUSY);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, RL_EP_ALL, false), 0);
	assert_int_equal(fx_send_raw(&fx, 2, 0, RL_CLASS_RSP, 8), 0);
	assert_int_equal(fx_send_raw(&fx, 1, 0, RL_CLASS_RSP, 8), -EBUSY);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 3, true), -EINVAL);
	assert_int_equal(rl_ep_hold(fx.ep[0], fx.now, 0, true), -EINVAL);
	assert_int_equal(fx.nevents, 3);
	assert_int_equal(fx.event[1].peer, RL_EP_ALL);
	fx_close(&fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_held_stays_and_what_had_left_is_known_to_be_gone),
		cmocka_unit_test(a_probe_that_finds_no_way_tells_as_much_as_its_echo),
		cmocka_unit_test(a_held_flow_asks_until_it_knows),
		cmocka_unit_test(a_held_flow_asks_again_until_it_is_answered),
		cmocka_unit_test(all_are_held_beside_one_and_each_is_released_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
