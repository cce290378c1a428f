/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second time: a port whose link has died and is back is, field by field,
 * what one is whose link has come up for the first time.
 */
#include "bench.h"
#include "port_priv.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* Of each part of a port: all fields, and those that may differ with why. */
#define PORT_LINK_SAME(X)                                                      \
	X(state)                                                               \
	X(started) X(admin_down) X(phy_up) X(planned) X(retrains) X(ill_ns)    \
		X(ill_until_ns) X(phy_lost_ns)
#define PORT_LINK_DIFFERS(X)                                                   \
	X(detector)  /* of the last death: told */                             \
	X(epochs)    /* trainings so far: told */                              \
	X(flaps)     /* so soon after the last: it counts them */              \
	X(loop_id)   /* of the last death: another one the next time */        \
	X(opened_ns) /* times of its own */                                    \
	X(dead_ns)                                                             \
	X(damp_until_ns) /* over, or it would not be up */
#define PORT_SHAKE_SAME(X)                                                     \
	X(peer_known)                                                          \
	X(peer_heard) X(ask) X(flits) X(challenge) X(said) X(refused_ns)       \
		X(refused)
#define PORT_SHAKE_DIFFERS(X)                                                  \
	X(tx_epoch) /* epochs: each training has another */                    \
	X(rx_epoch)                                                            \
	X(prng)	 /* has given more numbers */                                  \
	X(nonce) /* drawn for each training */                                 \
	X(peer_nonce)                                                          \
	X(stamp)	    /* a time */                                       \
	X(peer_incarnation) /* each bench has other processes */               \
	X(old_incarnation)  /* of the peer: none before the first training */
#define PORT_QUEUE_SAME(X)                                                     \
	X(mask)                                                                \
	X(turn) X(weighed) X(due) X(starved) X(fence_wanted) X(begun) X(left)  \
		X(consumed) X(limit) X(queued)
#define PORT_QUEUE_DIFFERS(X)                                                  \
	X(q)	    /* pointers to its own tails; empty, see mask */           \
	X(fence_at) /* read while a fence is wanted */
#define PORT_RETRY_SAME(X)                                                     \
	X(due_ns) X(asks) X(replays) X(wrong) X(replaying) X(nak_seen) X(done)
#define PORT_RETRY_DIFFERS(X)                                                  \
	X(replay)   /* compared by its own fields */                           \
	X(asked_ns) /* read while asks is not 0 */                             \
	X(nak_at)   /* read with nak_seen */
#define RL_REPLAY_SAME(X)                                                      \
	X(mask)                                                                \
	X(window) X(base) X(acked) X(acked_left) X(next) X(tail) X(sent_max)   \
		X(noted) X(reserved) X(part)
#define RL_REPLAY_DIFFERS(X)                                                   \
	X(wire) /* memory of its own */                                        \
	X(sideband)                                                            \
	X(flits)                                                               \
	X(part_sop) /* read where `part` says so */
#define PORT_TX_SAME(X) X(ask_due_ns) X(probes) X(last_loop_id) X(credit_told)
#define PORT_TX_DIFFERS(X)                                                     \
	X(last_ns) /* times of its own */                                      \
	X(stamp)                                                               \
	X(shake_due_ns) /* read while it trains */
#define PORT_RTT_SAME(X) X(timer_ns)
#define PORT_RTT_DIFFERS(X)                                                    \
	X(srtt_ns) /* round trips as they were measured */                     \
	X(open_ns)                                                             \
	X(peak_since_ns) /* times of its own */                                \
	X(peak_ns)                                                             \
	X(seen_ns)                                                             \
	X(recent_ns)                                                           \
	X(recent)                                                              \
	X(echo)
#define PORT_RX_SAME(X)                                                        \
	X(expected)                                                            \
	X(ack_owed) X(nak_sent) X(replays) X(own) X(limit) X(limit_stale)      \
		X(limit_look)
#define PORT_RX_DIFFERS(X)                                                     \
	X(newest) /* stamps and times of its own */                            \
	X(data_stamp)                                                          \
	X(open_stamp)                                                          \
	X(open_ns)                                                             \
	X(ack_due_ns) /* read while an ACK is owed */                          \
	X(replayed)   /* read with `replays` */                                \
	X(taken)      /* counts over all epochs, */                            \
	X(freed)                                                               \
	X(base)	  /* and where this one began */                               \
	X(sure)	  /* a part of the room, as last looked at */                  \
	X(ground) /* what `limit` was computed from: counts */                 \
	X(freed_seen)
#define PORT_PACKET_SAME(X) X(part) X(open_flits) X(close_mask) X(close_tell)
#define PORT_PACKET_DIFFERS(X)                                                 \
	X(part_due_ns) /* read while a packet is open, as is */                \
	X(since_ns)                                                            \
	X(out) /* a pointer to its own tail; empty */
#define PORT_DRAIN_SAME(X) X(phase) X(then) X(peer_empty)
#define PORT_DRAIN_DIFFERS(X) X(begun_ns) /* read while it drains */
#define PORT_DETECT_SAME(X)                                                    \
	X(silent_ns)                                                           \
	X(heard) X(doubt) X(degraded) X(errors) X(hurt) X(score) X(ill_ns)
#define PORT_DETECT_DIFFERS(X)                                                 \
	X(last_tick_ns) /* a time of its own */                                \
	X(judged)	/* flits over all epochs, which scores compare */
#define PORT_LOOP_SAME(X) X(open) X(fence)
#define PORT_LOOP_DIFFERS(X)                                                   \
	X(q)	   /* a pointer to its own tail; empty */                      \
	X(drained) /* what the last death looped back: told */

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		others += (print_error("%s is another one\n", #field), 1);
#define PART(type, part, LIST)                                                 \
	do {                                                                   \
		const struct type *a = &used->part, *b = &fresh->part;         \
                                                                               \
		LIST(CHECK)                                                    \
	} while (0)

static void
check_same(const struct rl_port *used, const struct rl_port *fresh)
{
	unsigned int others = 0;

	assert_int_equal(used->owed, fresh->owed);
	PART(port_link, link, PORT_LINK_SAME);
	PART(port_shake, shake, PORT_SHAKE_SAME);
	PART(port_queue, queue, PORT_QUEUE_SAME);
	PART(port_retry, retry, PORT_RETRY_SAME);
	PART(rl_replay, retry.replay, RL_REPLAY_SAME);
	PART(port_tx, tx, PORT_TX_SAME);
	PART(port_rtt, rtt, PORT_RTT_SAME);
	PART(port_rx, rx, PORT_RX_SAME);
	PART(port_packet, packet, PORT_PACKET_SAME);
	PART(port_drain, drain, PORT_DRAIN_SAME);
	PART(port_detect, detect, PORT_DETECT_SAME);
	PART(port_loop, loop, PORT_LOOP_SAME);
	assert_int_equal(others, 0);
	assert_null(used->packet.out.head);
	assert_null(used->loop.q.head);
	for (unsigned int v = 0; v < RL_VCS; v++)
		assert_null(used->queue.q[v].head);
}

/* Traffic both ways, of two VCs, and all acknowledged. */
static void
carry(struct bench *b)
{
	for (unsigned int e = 0; e < 2; e++) {
		bench_send(b, e, 0, 3, 20);
		bench_send(b, e, 2, 1, 20);
	}
	bench_settle(b, 100 * MS);
}

/* Frames hurt and lost, then darkness in the middle of packets. */
static void
die(struct bench *b)
{
	for (unsigned int e = 0; e < 2; e++) {
		bench_rule(&b->wire[e],
			   (struct bench_rule){ .type = RL_FRAME_DATA,
						.act = BENCH_HURT,
						.first = 3,
						.last = 4 });
		bench_rule(&b->wire[e],
			   (struct bench_rule){ .type = RL_FRAME_DATA,
						.act = BENCH_DROP,
						.first = 7,
						.last = 7 });
		bench_send(b, e, 0, 5, 10);
		bench_send(b, e, 2, 2, 10);
	}
	bench_run(b, 12 * US);
	bench_cut(b, true);
	bench_run(b, 20 * MS);
	for (unsigned int e = 0; e < 2; e++) {
		assert_true(COUNTER(&b->end[e], deaths) > 0);
		bench_no_rules(&b->wire[e]);
	}
	bench_cut(b, false);
	bench_start(b);
}

static void
a_link_that_is_back_is_as_one_that_never_died(void **state)
{
	static struct bench used, fresh;

	(void)state;
	for (unsigned int how = 0; how < 2; how++) {
		struct rl_link_cfg cfg;

		bench_cfg(&cfg);
		cfg.switching = how ? RL_CUT_THROUGH : RL_STORE_AND_FORWARD;
		memset(&used, 0, sizeof(used));
		memset(&fresh, 0, sizeof(fresh));
		bench_open_up(&fresh, &cfg);
		bench_open_up(&used, &cfg);
		carry(&used);
		for (unsigned int i = 0; i < 2; i++)
			die(&used);
		carry(&used);
		carry(&fresh);
		for (unsigned int e = 0; e < 2; e++)
			check_same(used.end[e].port, fresh.end[e].port);
		bench_close(&used);
		bench_close(&fresh);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_that_is_back_is_as_one_that_never_died),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
