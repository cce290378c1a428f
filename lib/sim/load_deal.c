/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All sources together make so many packets: the first ones. Who makes how many
 * of them is found by letting all sources go through their times beforehand. So
 * it follows from the seed, and not from when anybody is polled.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load_priv.h"

/* A source, by the time of its next packet; of equal times, by number. */
struct deal_next {
	uint64_t t_ns;
	uint16_t id;
};

static bool
before(const struct deal_next *a, const struct deal_next *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->id < b->id;
}

/* The first of a heap has another time: it finds its place. */
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

/* Counts the first packets by source. Moves the sources on. */
static void
deal(struct rl_sim_load *load, struct deal_next heap[], uint64_t made[])
{
	const uint32_t n = load->cfg.nep;

	for (uint32_t i = 0; i < n; i++) {
		load_next(&load->src[i], load->cfg.start_ns);
		heap[i] = (struct deal_next){ load->src[i].next_ns,
					      (uint16_t)i };
	}
	for (uint32_t i = n; i > 0; i--)
		sift(heap, n, i - 1);
	for (uint64_t k = 0;
	     k < load->cfg.packets && heap[0].t_ns != RL_NEVER; k++) {
		struct load_src *const src = &load->src[heap[0].id];

		made[src->id]++;
		load_next(src, src->next_ns);
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
			load->src[i].left = made[i];
		ret = 0;
	}
	free(made);
	free(heap);
	free(as_new);
	return ret;
}
