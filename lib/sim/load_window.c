/* SPDX-License-Identifier: BSD-3-Clause */

/* What was delivered between two moments, by source. */

#include <stdlib.h>

#include "load_priv.h"

struct load_window *
load_window_new(const struct rl_sim_load_cfg *c)
{
	struct load_window *w =
		calloc(1, sizeof(*w) + c->nep * sizeof(w->of[0]));

	if (w != NULL)
		rl_hist_reset(&w->latency);
	return w;
}

static struct load_count
count_of(const struct rl_sim_load *load, uint16_t src)
{
	struct load_count n = { 0, 0 };

	for (unsigned int i = 0; i < load->nparts; i++) {
		n.packets += load->part[i]->window->of[src].packets;
		n.flits += load->part[i]->window->of[src].flits;
	}
	return n;
}

void
rl_sim_load_window(const struct rl_sim_load *load, struct rl_sim_load_window *w)
{
	const bool *const source = load->cfg.window.source;
	double squares = 0;

	RL_ASSERT(load->cfg.window.to_ns != 0);
	*w = (struct rl_sim_load_window){ .slowest_flits = UINT64_MAX };
	rl_hist_reset(&w->latency);
	for (unsigned int i = 0; i < load->nparts; i++)
		rl_hist_merge(&w->latency, &load->part[i]->window->latency);
	for (uint16_t s = 0; s < load->cfg.nep; s++) {
		const struct load_count n = count_of(load, s);

		if ((source != NULL && !source[s]) ||
		    (!load->src[s].source.sends && n.packets == 0))
			continue;
		w->senders++;
		w->packets += n.packets;
		w->flits += n.flits;
		squares += (double)n.flits * (double)n.flits;
		if (n.flits < w->slowest_flits) {
			w->slowest_flits = n.flits;
			w->slowest = s;
		}
	}
	if (w->senders == 0)
		w->slowest_flits = 0;
	if (w->flits != 0)
		w->jain = (double)w->flits * (double)w->flits /
			  (w->senders * squares);
}
