/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FLIT_RUN_H
#define RL_FLIT_RUN_H

/**
 * @file Runs: consecutive flits in the middle of a packet that are alike. A run
 * is one object. Its first flit has the state of all and refers to the others
 * and to the next flit. The others have no state: their lines are not touched,
 * or keep pointers of the run. So a packet of 16 flits has four or five lines
 * of state instead of 16, wherever it is queued, looked up, held or stored.
 *
 * The chain of a packet skips the rest of a run: it leads from the run's first
 * flit to the one behind the run (rl_packet_next()). rl_packet_flits() lists
 * all flits. rl_packet_open() dissolves runs, for access to a single flit's
 * state or another chain.
 *
 * Neither the first nor the last flit of a packet, or of a fragment, is in a
 * run; nor is a flit out of a loopback, since each keeps its own loop_id.
 *
 * rl_flit.run: the flits of the run in the low bits, and the flit behind it.
 * The
 * run's flits 1 to 3 are in the first one's `mate`, and all further ones in
 * `row` of these three, eight in each.
 *
 * All functions: the owner of the flits.
 */

#include "rl_flit.h"

#define RL_RUN_MATES RL_ARRAY_SIZE(((struct rl_flit *)0)->mate)
#define RL_RUN_ROW RL_ARRAY_SIZE(((struct rl_flit *)0)->row)
/** Flits of a run at most. */
#define RL_RUN_FLITS (1 + RL_RUN_MATES + RL_RUN_MATES * RL_RUN_ROW)

#define RL_RUN_MASK ((uint64_t)RL_CACHE_LINE - 1)

static_assert(RL_RUN_FLITS <= RL_RUN_MASK, "they are counted there");
static_assert(sizeof(((struct rl_flit *)0)->row) == RL_CACHE_LINE,
	      "the line of state");

/** Makes @p f the first of no run. */
static inline void
rl_run_none(struct rl_flit *f)
{
	f->run = 0;
}

/** Flits of the run that begins with @p f; 0: it begins none. */
static inline unsigned int
rl_run_flits(const struct rl_flit *f)
{
	return f->run & RL_RUN_MASK;
}

/** The next flit in the chain of a packet after @p f and its run. */
static inline struct rl_flit *
rl_packet_next(const struct rl_flit *f)
{
	return rl_run_flits(f) == 0
		       ? f->next
		       : (struct rl_flit *)(uintptr_t)(f->run & ~RL_RUN_MASK);
}

/** Makes a run of @p n flits, 2 to RL_RUN_FLITS, followed by @p behind. */
static inline void
rl_run_make(struct rl_flit *const f[], unsigned int n, struct rl_flit *behind,
	    uint64_t state)
{
	struct rl_flit *const first = f[0];

	first->state = state;
	first->loop_id = 0;
	first->run = n | (uintptr_t)behind;
	f++;
	n--;
#ifdef RL_DEBUG /* they have no state: make any use of it fail */
	for (unsigned int i = 0; i < n; i++)
		memset(f[i], 0xa5, offsetof(struct rl_flit, wire));
#endif
	for (unsigned int i = 0; i < RL_RUN_MATES && i < n; i++)
		first->mate[i] = f[i];
	for (unsigned int at = RL_RUN_MATES; at < n; at += RL_RUN_ROW) {
		struct rl_flit *const of =
			first->mate[(at - RL_RUN_MATES) / RL_RUN_ROW];

		for (unsigned int i = 0; i < RL_RUN_ROW && at + i < n; i++)
			of->row[i] = f[at + i];
	}
}

/** The run of @p f without @p f; @p to has room. @return how many */
static inline unsigned int
rl_run_rest(const struct rl_flit *f, struct rl_flit *to[])
{
	const unsigned int n = rl_run_flits(f) - 1;

	for (unsigned int i = 0; i < RL_RUN_MATES && i < n; i++)
		to[i] = f->mate[i];
	for (unsigned int at = RL_RUN_MATES; at < n; at += RL_RUN_ROW) {
		const struct rl_flit *const of =
			f->mate[(at - RL_RUN_MATES) / RL_RUN_ROW];

		for (unsigned int i = 0; i < RL_RUN_ROW && at + i < n; i++)
			to[at + i] = of->row[i];
	}
	return n;
}

/* A flit with its own state, and nothing behind it yet. */
static inline void
run_single(struct rl_flit *f, uint64_t state)
{
	f->next = NULL;
	f->state = state;
	f->loop_id = 0;
	rl_run_none(f);
}

/**
 * Appends @p n flits to the packet of @p head, all with @p state except the
 * last, which has @p end; in runs as far as possible. At least one.
 */
static inline void
rl_packet_extend(struct rl_flit *head, struct rl_flit *const f[],
		 unsigned int n, uint64_t state, uint64_t end)
{
	struct rl_flit *last = head->last;

	last->next = f[0];
	head->pkt_flits = (uint16_t)(head->pkt_flits + n);
	if (rl_unlikely(state & rl_flit_state(0, 0, RL_FF_LOOPED)))
		for (; n > 2; n--, f++) {
			run_single(f[0], state);
			f[0]->next = f[1];
		}
	while (n > 2) {
		const unsigned int m = n - 1 < RL_RUN_FLITS ? n - 1
							    : RL_RUN_FLITS;

		rl_run_make(f, m, f[m], state);
		f += m;
		n -= m;
	}
	if (n == 2) {
		run_single(f[0], state);
		f[0]->next = f[1];
		f++;
	}
	run_single(f[0], end);
	head->last = f[0];
}

/** All flits of a packet, in order; @p to has room for RL_PACKET_FLITS_HELD,
    the most there can be. @return how many */
static inline uint32_t
rl_packet_flits(const struct rl_flit *head, struct rl_flit *to[])
{
	const struct rl_flit *f = head;
	uint32_t n = 0;

	for (; f != NULL; f = rl_packet_next(f)) {
		to[n++] = (struct rl_flit *)(uintptr_t)f;
		if (rl_run_flits(f) != 0)
			n += rl_run_rest(f, to + n);
	}
	return n;
}

/**
 * Dissolves the run of @p first: each of its flits gets a state, and is
 * chained.
 */
static inline void
rl_run_open(struct rl_flit *first)
{
	struct rl_flit *rest[RL_RUN_FLITS - 1];
	const unsigned int n = rl_run_rest(first, rest);
	struct rl_flit *const behind = rl_packet_next(first);
	struct rl_flit *last = first;

	for (unsigned int i = 0; i < n; i++) {
		run_single(rest[i], first->state);
		last->next = rest[i];
		last = rest[i];
	}
	last->next = behind;
	rl_run_none(first);
}

/** Dissolves all runs of the packet of @p head. */
static inline void
rl_packet_open(struct rl_flit *head)
{
	for (struct rl_flit *f = head; f != NULL; f = f->next)
		if (rl_run_flits(f) != 0)
			rl_run_open(f);
}

#endif /* RL_FLIT_RUN_H */
