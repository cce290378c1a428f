/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lcore that has been away longest leaves out its absence; all others wait
 * for it. So only one lcore at a time adjusts the time of all, and only by an
 * interval in which no other lcore ran.
 */

#include "host_time.h"

#include "rl_base.h"

void
host_time_init(struct host_time *t, uint32_t n)
{
	t->away_ns = n == 1 ? HOST_ALONE_NS : HOST_AWAY_NS;
}

void
host_pace_init(struct host_pace *p, uint64_t now_ns)
{
	p->others_ns = now_ns;
	atomic_store_explicit(&p->round_ns, now_ns, memory_order_relaxed);
}

static uint64_t
oldest_other(struct host_pace *const pace[], uint32_t n, uint32_t self)
{
	uint64_t oldest = RL_NEVER;

	for (uint32_t i = 0; i < n; i++)
		if (i != self)
			/* acquire: pairs with the release in host_time_round(),
			   so that earlier adjustments are visible, too */
			oldest = rl_min_u64(
				oldest,
				atomic_load_explicit(&pace[i]->round_ns,
						     memory_order_acquire));
	return oldest;
}

/* This lcore was away longest. @return the time without its absence */
static uint64_t
leave_out(struct host_time *t, uint64_t mine, uint64_t host_ns)
{
	uint64_t out = host_time_left_out(t);

	while (host_ns - out > mine + t->away_ns) {
		const uint64_t want = host_ns - (mine + t->away_ns);

		if (!atomic_compare_exchange_weak_explicit(
			    &t->left_out_ns, &out, want, memory_order_relaxed,
			    memory_order_relaxed))
			continue; /* another lcore adjusted it concurrently */
		atomic_fetch_add_explicit(&t->pauses, 1, memory_order_relaxed);
		return mine + t->away_ns;
	}
	return host_ns - out;
}

uint64_t
host_time_round(struct host_time *t, struct host_pace *const pace[],
		uint32_t n, uint32_t self, uint64_t host_ns)
{
	struct host_pace *me = pace[self];
	const uint64_t mine =
		atomic_load_explicit(&me->round_ns, memory_order_relaxed);
	uint64_t now_ns = host_ns - host_time_left_out(t);

	if (rl_unlikely(now_ns > rl_deadline(me->others_ns,
						 t->away_ns / 2)))
		me->others_ns = oldest_other(pace, n, self);
	if (rl_unlikely(now_ns > rl_deadline(rl_min_u64(mine, me->others_ns),
					     t->away_ns)))
		now_ns = me->others_ns < mine
				 ? me->others_ns + t->away_ns
				 : leave_out(t, mine, host_ns);
	now_ns = rl_max_u64(now_ns, mine);
	/* release: pairs with the acquire in oldest_other() */
	atomic_store_explicit(&me->round_ns, now_ns, memory_order_release);
	return now_ns;
}

uint64_t
host_time_seen(const struct host_time *t, struct host_pace *const pace[],
	       uint32_t n, uint64_t host_ns)
{
	/*
	 * read the rounds first: a returning lcore adjusts the time before it
	 * starts a round
	 */
	const uint64_t oldest = oldest_other(pace, n, n);

	return rl_min_u64(host_ns - host_time_left_out(t),
			  rl_deadline(oldest, t->away_ns));
}
