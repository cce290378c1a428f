/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Deals a total number of packets to the sources: the first ones by time.
 * Running the schedules of all sources in advance shows how many each one
 * makes. So the result follows from the seed, and not from when the sources are
 * polled.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

/* A source, ordered by the time of its next packet, then by number. */
struct deal_next {
	uint64_t t_ns;
	uint16_t id;
};

static bool
before(const struct deal_next *a, const struct deal_next *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->id < b->id;
}

/* The root of a heap has a new time: moves it to its place. */
static void
sift(struct deal_next heap[], uint32_t n, uint32_t i)
{
	const struct deal_next moved = heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &moved))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moved;
}

/* Counts the first packets of each source. Advances the sources. */
static void
deal(struct rl_sim_load *load, struct deal_next heap[], uint64_t made[])
{
	const uint32_t n = load->cfg.nep;

	for (uint32_t i = 0; i < n; i++) {
		struct rl_source *const src = &load->src[i].source;

		rl_source_next(src, load->cfg.start_ns);
		heap[i] = (struct deal_next){ src->next_ns, (uint16_t)i };
	}
	for (uint32_t i = n; i > 0; i--)
		sift(heap, n, i - 1);
	for (uint64_t k = 0;
	     k < load->cfg.packets && heap[0].t_ns != RL_NEVER; k++) {
		struct rl_source *const src = &load->src[heap[0].id].source;

		made[src->id]++;
		rl_source_next(src, src->next_ns);
		heap[0].t_ns = src->next_ns;
		sift(heap, n, 0);
	}
}

int
load_deal(struct rl_sim_load *load)
{
	const size_t n = load->cfg.nep;
	struct load_src *const as_new = malloc(n * sizeof(*as_new));
	struct deal_next *const heap = malloc(n * sizeof(*heap));
	uint64_t *const made = calloc(n, sizeof(*made));
	int ret = -ENOMEM;

	if (as_new != NULL && heap != NULL && made != NULL) {
		memcpy(as_new, load->src, n * sizeof(*as_new));
		deal(load, heap, made);
		memcpy(load->src, as_new, n * sizeof(*as_new));
		for (size_t i = 0; i < n; i++)
			load->src[i].source.left = made[i];
		ret = 0;
	}
	free(made);
	free(heap);
	free(as_new);
	return ret;
}
