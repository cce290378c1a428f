/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second time: a core whose egresses have died, and are back, is, field by
 * field, what one is whose egresses have come up once.
 */
#include "core_priv.h"
#include "duo.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

#define CORE_PORT_SAME(X)                                                      \
	X(state)                                                               \
	X(qmask) X(loop_fence_owed) X(fence_out) X(left) X(due_ns) X(bound_ns) \
		X(begun)
#define CORE_PORT_DIFFERS(X)                                                   \
	X(turn)	     /* whose turn it is */                                    \
	X(fence_gen) /* counts over all of its life, equal among themselves */ \
	X(fence_want)                                                          \
	X(fence_sent)                                                          \
	X(fence_done)                                                          \
	X(shared) /* memory of others */                                       \
	X(near)                                                                \
	X(ways_seen) /* as it last looked at rl_core.ways */                   \
	X(ended)     /* counts over all of its life */                         \
	X(sent)                                                                \
	X(fence_at)                                                            \
	X(way)	    /* remembered for what ways_seen says */                   \
	X(q)	    /* pointers to their own tails; empty, see qmask */        \
	X(fair)	    /* of queues that are not empty */                         \
	X(recent)   /* memory of its own */                                    \
	X(recent_n) /* a place in it */
#define RL_CORE_SAME(X)                                                        \
	X(unsettled)                                                           \
	X(fence_owed) X(begun) X(wants) X(wanted) X(still) X(swapped) X(fresh) \
		X(passing) X(adapt_vl) X(adapt_again_ns) X(fair_shift)         \
			X(await_ns) X(kept) X(own_flits) X(hold_vcs)
#define RL_CORE_DIFFERS(X)                                                     \
	X(p) /* memory of others */                                            \
	X(fwd)                                                                 \
	X(ways) /* counts over all of its life */                              \
	X(fence_gen)                                                           \
	X(freed)                                                               \
	X(given)                                                               \
	X(c)                                                                   \
	X(pass) /* memory of its own */                                        \
	X(fair)                                                                \
	X(wait)	 /* the waiting room: empty */                                 \
	X(local) /* pointers to their own tails; empty */                      \
	X(local_held)                                                          \
	X(stream)                                                              \
	X(next_due_ns) /* early at worst: computed anew where it is due */     \
	X(ev_head)     /* events: told */                                      \
	X(ev_tail)                                                             \
	X(ev)

static unsigned int others;

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		others += (print_error("%s is another one\n", #field), 1);

static void
check_port(const struct core_port *a, const struct core_port *b)
{
	CORE_PORT_SAME(CHECK)
	for (unsigned int v = 0; v < RL_VCS; v++) {
		assert_null(a->q[v].head);
		assert_int_equal(a->fair[v], 0);
	}
	assert_int_equal(a->fence_want, a->fence_done);
}

static void
check_same(const struct rl_core *a, const struct rl_core *b)
{
	others = 0;
	RL_CORE_SAME(CHECK)
	for (uint16_t i = 0; i < a->p.nports; i++)
		check_port(&a->port[i], &b->port[i]);
	assert_null(a->local.head);
	assert_int_equal(rl_core_flits(a), 0);
	assert_int_equal(others, 0);
}

static void
carry(struct duo *d)
{
	for (unsigned int i = 0; i < 40; i++)
		duo_send(d, i % DUO_FLOWS, 1 + i % 5);
	duo_settle(d, 200 * MS);
}

/* One link dies under load, then a second one while the first drains. */
static void
links_die(struct duo *d)
{
	for (unsigned int i = 0; i < 20; i++)
		duo_send(d, i % DUO_FLOWS, 6);
	duo_run(d, 10 * US);
	duo_kill(d, 0);
	duo_run(d, 3 * US);
	duo_send(d, 0, 4);
	duo_kill(d, 1);
	duo_run(d, 300 * US);
	duo_send(d, 1, 4);
	duo_heal(d, 1);
	duo_heal(d, 0);
	duo_run(d, 50 * MS);
	duo_settle(d, 200 * MS);
}

static void
a_core_whose_links_are_back_is_as_one_that_lost_none(void **state)
{
	static struct duo used, fresh;

	(void)state;
	for (unsigned int how = 0; how < 2; how++) {
		memset(&used, 0, sizeof(used));
		memset(&fresh, 0, sizeof(fresh));
		duo_cfg(&used, 3);
		used.cfg.switching = how ? RL_CUT_THROUGH
					 : RL_STORE_AND_FORWARD;
		duo_cfg(&fresh, 3);
		fresh.cfg.switching = used.cfg.switching;
		duo_open(&used);
		duo_open(&fresh);
		for (unsigned int i = 0; i < 2; i++) {
			links_die(&used);
			carry(&used);
			carry(&fresh);
			check_same(used.a.core, fresh.a.core);
			check_same(used.b.core, fresh.b.core);
		}
		duo_check(&used);
		duo_close(&used);
		duo_close(&fresh);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_core_whose_links_are_back_is_as_one_that_lost_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
