/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "half.h"
#include "rl_prng.h"

void
half_init(struct half *h, bool sink)
{
	memset(h, 0, sizeof(*h));
	h->sink = sink;
	rl_range_pool_init(&h->pool, h->node, HALF_NODES);
}

uint64_t
half_digest(uint32_t tag, uint32_t len, uint32_t crc)
{
	uint64_t x = (uint64_t)tag << 32 | crc;

	x = rl_splitmix64(&x) ^ len;
	return rl_splitmix64(&x);
}

/*
 * A kill may hit between two stores of this thread; the fences keep their
 * order.
 */
static void
begin(struct half *h, enum half_writing what)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&h->writing, what, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

static void
end(struct half *h)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&h->writing, HALF_AT_REST, memory_order_relaxed);
}

static void
sent(struct half *h, uint32_t tag, uint64_t digest)
{
	struct half_span *s;

	if (h->nspans == 0 || h->other_life) {
		if (h->nspans == HALF_SPANS) {
			h->unlisted++;
			return;
		}
		h->span[h->nspans++] = (struct half_span){ .first = tag };
		h->other_life = false;
	}
	s = &h->span[h->nspans - 1];
	s->packets++;
	s->digest += digest;
}

void
half_sent(struct half *h, uint32_t tag, uint64_t digest)
{
	if (h->nspans == 0 || h->other_life) {
		begin(h, HALF_CHANGES);
	} else {
		const struct half_span *s = &h->span[h->nspans - 1];

		h->before = (struct half_before){ 0, s->packets, s->digest };
		begin(h, HALF_COUNTS);
	}
	sent(h, tag, digest);
	end(h);
}

static void
peer_restarted(struct half *h, uint32_t tag, uint32_t packets, uint64_t digest)
{
	struct half_span *s = h->nspans == 0 ? NULL : &h->span[h->nspans - 1];

	if (packets == 0) {
		h->other_life = s != NULL;
		return;
	}
	if (s == NULL || packets >= s->packets)
		return; /* no packet of this span had left */
	if (h->nspans == HALF_SPANS) {
		h->unlisted++;
		return;
	}
	s->packets -= packets;
	s->digest -= digest;
	h->span[h->nspans++] = (struct half_span){
		.first = tag,
		.packets = packets,
		.digest = digest,
	};
}

void
half_peer_restarted(struct half *h, uint32_t tag, uint32_t packets,
		    uint64_t digest)
{
	begin(h, HALF_CHANGES);
	peer_restarted(h, tag, packets, digest);
	end(h);
}

void
half_reported(struct half *h, uint32_t tag, uint64_t digest)
{
	begin(h, HALF_CHANGES);
	if (h->nreports == HALF_REPORTS)
		h->unlisted++;
	else
		h->report[h->nreports++] = (struct half_report){ tag, digest };
	end(h);
}

static struct half_run *
run_of(struct half *h, uint32_t tag)
{
	struct half_run *r = h->nruns == 0 ? NULL : &h->run[h->nruns - 1];

	if (r != NULL &&
	    tag - r->first - r->seen.next + HALF_NEAR < 2 * HALF_NEAR &&
	    tag - r->first < UINT32_MAX / 2)
		return r;
	if (h->nruns == HALF_RUNS)
		return NULL;
	r = &h->run[h->nruns++];
	*r = (struct half_run){ .first = tag };
	return r;
}

static bool
got(struct half *h, uint32_t tag, uint64_t digest)
{
	struct half_run *r = run_of(h, tag);

	if (r == NULL) {
		h->unlisted++;
		return false;
	}
	r->packets++;
	r->digest += digest;
	return rl_seen_take(&h->pool, &r->seen, tag - r->first) !=
	       RL_SEEN_FIRST;
}

bool
half_got(struct half *h, uint32_t tag, uint64_t digest)
{
	const struct half_run *r = h->nruns == 0 ? NULL : &h->run[h->nruns - 1];
	bool late;

	if (r == NULL || tag - r->first != r->seen.next) {
		begin(h, HALF_CHANGES);
	} else {
		h->before = (struct half_before){ r->seen.next, r->packets,
						  r->digest };
		begin(h, HALF_COUNTS);
	}
	late = got(h, tag, digest);
	h->late += late;
	end(h);
	return late;
}

bool
half_mend(struct half *h)
{
	const uint32_t was = atomic_load_explicit(&h->writing,
						  memory_order_relaxed);

	if (was == HALF_AT_REST)
		return true;
	if (was != HALF_COUNTS || h->nspans + h->nruns == 0)
		return false;
	if (h->sink) {
		h->run[h->nruns - 1].seen.next = h->before.next;
		h->run[h->nruns - 1].packets = h->before.packets;
		h->run[h->nruns - 1].digest = h->before.digest;
	} else {
		h->span[h->nspans - 1].packets = h->before.packets;
		h->span[h->nspans - 1].digest = h->before.digest;
	}
	end(h);
	return true;
}
