/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The second time: a flow whose peer was away and is back is, field by field,
 * what one is whose peer was always there.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ep_fixture.h"
#include "ep_priv.h"

#define SAME(X)                                                                \
	X(peer) X(cos) X(state) X(blocked) X(doubt) X(backoff) X(flushed)      \
	X(flags) X(unacked) X(asked_ns) X(una) X(sent) X(next) X(tx_tag)       \
	X(resend) X(retries) X(sync_tag) X(tx_win) X(hidden) X(ask)            \
	X(rto_at_ns) X(rx_win) X(part) X(expect) X(rx_tag) X(rx_pos) X(held)   \
	X(high) X(nak_lo) X(nak_hi) X(shown) X(sure) X(hint_seq) X(lost_lo)    \
	X(lost_hi) X(echo) X(ack_by) X(ack_at_ns) X(gap_at_ns) X(window)
#define DIFFERS(X)                                                             \
	X(link)	      /* lists: where other flows are */                       \
	X(turn)	      /* when it was put on each list, read while it is on */  \
	X(heap_pos)   /* among the timers of other flows */                    \
	X(rtt_seq)    /* the flit or probe that was timed last */              \
	X(rtt_t0_ns)  /* and when; both read while one is being timed */       \
	X(srtt_ns)    /* round trips as they were measured */                  \
	X(rttvar_ns)                                                           \
	X(gbn_seq)    /* the last go-back-N, which has its time */             \
	X(gbn_ns)                                                              \
	X(resent)     /* by which probe something was last sent again */       \
	X(alive_ns)   /* when it made progress last */                         \
	X(pred)	      /* of a burst that has its number */                     \
	X(pred_burst)

static struct fx away, there;

static void
open_one(struct fx *fx)
{
	struct rl_ep_cfg cfg;

	fx_cfg(&cfg);
	cfg.probe_ns = 200;
	cfg.give_up_ns = 0;
	fx_open(fx, &cfg, 2, 4000);
	fx->now = 1000;
	fx_advance(fx, 3);
}

/* What endpoint 0 sends is lost until then; with notices: for want of a way. */
static void
lose(struct fx *fx, uint64_t until_ns, bool notices)
{
	while (fx->now < until_ns) {
		struct rl_pktq q = fx_poll(fx, 0);

		if (rl_pktq_empty(&q))
			fx->now = rl_max_u64(fx->now + 1,
					     rl_min_u64(until_ns,
							rl_ep_deadline(
								fx->ep[0])));
		while (!rl_pktq_empty(&q)) {
			struct rl_flit *pkt = rl_pktq_pop(&q);

			if (notices)
				fx_notice(fx, pkt, RL_EP_DROP_NO_PATH);
			fx_drop(fx, pkt);
		}
	}
}

/* The way is back: until the first echo of a probe, and no further. */
static void
come_back(struct fx *fx)
{
	while (rl_ep_unreachable(fx->ep[0], 1, NULL)) {
		struct rl_pktq q = fx_poll(fx, 0);

		if (rl_pktq_empty(&q))
			fx->now = rl_max_u64(fx->now + 1,
					     rl_ep_deadline(fx->ep[0]));
		fx_rx_all(fx, 1, &q);
		q = fx_poll(fx, 1);
		fx_rx_all(fx, 0, &q);
	}
}

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		fail_msg("%s is another one after the absence", #field);

static void
same_flows(void)
{
	const struct ep_flow *a = ep_flow_find(away.ep[0], 1, 0);
	const struct ep_flow *b = ep_flow_find(there.ep[0], 1, 0);

	assert_true(a != NULL && b != NULL);
	SAME(CHECK)
}

static void
a_flow_whose_peer_is_back_is_as_if_it_had_never_gone(void **state)
{
	(void)state;
	open_one(&away);
	open_one(&there);
	for (unsigned int round = 0; round < 2; round++) {
		assert_int_equal(fx_send(&away, 0, 1, 0, 700), 0);
		assert_int_equal(fx_send(&there, 0, 1, 0, 700), 0);
		/* first silence, in which the timer backs off; then a word */
		lose(&away, away.now + 300000, false);
		assert_true(ep_flow_find(away.ep[0], 1, 0)->backoff > 1);
		for (unsigned int i = 0; i < 100; i++)
			if (!rl_ep_unreachable(away.ep[0], 1, NULL))
				lose(&away, away.now + 50000, true);
		assert_true(rl_ep_unreachable(away.ep[0], 1, NULL));
		come_back(&away);
		/* what is lost now is not waited for longer than at first */
		assert_int_equal(ep_flow_find(away.ep[0], 1, 0)->backoff, 0);
		assert_int_equal(ep_flow_find(away.ep[0], 1, 0)->retries, 0);
		fx_run(&away, 8);
		fx_run(&there, 8);
		assert_int_equal(fx_take(&away, 1, false), 1);
		assert_int_equal(fx_take(&there, 1, false), 1);
		assert_true(rl_ep_idle(away.ep[0]) && rl_ep_idle(there.ep[0]));
		same_flows();
	}
	fx_close(&away);
	fx_close(&there);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_flow_whose_peer_is_back_is_as_if_it_had_never_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
