/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>

#include "rl_suspect.h"

void
rl_suspects_begin(struct rl_suspect *s, const struct rl_topo *t)
{
	for (uint32_t i = 0; i < rl_suspects_max(t); i++)
		s[i] = (struct rl_suspect){
			.is_link = i >= t->ndev,
			.index = i < t->ndev ? i : i - t->ndev,
		};
}

void
rl_suspects_port(struct rl_suspect *s, const struct rl_topo *t, uint32_t dev,
		 uint16_t port, const uint64_t c[RL_PORT_COUNTER_COUNT])
{
	struct rl_suspect *const link =
		&s[t->ndev + t->dev[dev].port[port].link];

	s[dev].altered += c[RL_PC_tx_altered];
	s[dev].looked += c[RL_PC_tx_witnessed];
	link->altered += c[RL_PC_rx_altered];
	link->looked += c[RL_PC_rx_witnessed];
}

void
rl_suspects_ep(struct rl_suspect *s, uint32_t dev,
	       const uint64_t c[RL_EP_COUNTER_COUNT])
{
	s[dev].altered += c[RL_EPC_rx_altered];
}

/* The worst first; devices before links, and in the order of the file. */
static int
by_guilt(const void *va, const void *vb)
{
	const struct rl_suspect *a = va, *b = vb;

	if (a->altered != b->altered)
		return a->altered < b->altered ? 1 : -1;
	if (a->is_link != b->is_link)
		return a->is_link ? 1 : -1;
	return a->index < b->index ? -1 : 1;
}

uint32_t
rl_suspects_rank(struct rl_suspect *s, const struct rl_topo *t)
{
	const uint32_t most = rl_suspects_max(t);
	uint64_t all = 0;
	uint32_t n = 0;

	qsort(s, most, sizeof(*s), by_guilt);
	while (n < most && s[n].altered != 0)
		all += s[n++].altered;
	for (uint32_t i = 0; i < n; i++)
		s[i].confidence_percent = (uint32_t)(
			100 * (s[i].altered + 1) / (all + 2));
	return n;
}

uint32_t
rl_suspects_of(struct rl_suspect *s, const struct rl_fabric *f)
{
	rl_suspects_begin(s, f->topo);
	for (uint32_t d = 0; d < f->ndev; d++) {
		const struct rl_device *dev = &f->dev[d];

		for (uint16_t p = 0; p < dev->nports; p++)
			rl_suspects_port(s, f->topo, d, p,
					 rl_port_counters(dev->port[p].port));
		if (dev->core.ep != NULL)
			rl_suspects_ep(s, d, rl_ep_counters(dev->core.ep));
	}
	return rl_suspects_rank(s, f->topo);
}

char *
rl_suspect_name(const struct rl_suspect *s, const struct rl_topo *t, char *buf,
		size_t len)
{
	if (s->is_link)
		return rl_topo_link_name(t, s->index, buf, len);
	snprintf(buf, len, "%s", t->dev[s->index].name);
	return buf;
}
