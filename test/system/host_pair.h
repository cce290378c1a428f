/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_PAIR_H
#define HOST_PAIR_H

/**
 * @file Two endpoints of a fabric on lcores that send packets to each other.
 */

#include "../figure1.h"
#include "host_bed.h"

/*
 * Client of endpoint 0 or 1. Sends packets of four flits to the other one on
 * request.
 */
struct pair_client {
	uint32_t to_send;
	uint32_t sent;
	uint32_t received;
	uint16_t dst;
	struct rl_flit_cache *cache;
};

static inline unsigned int
pair_client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	static const uint8_t data[4 * RL_FLIT_DATA_BYTES];
	struct pair_client *c = ctx;
	const struct rl_ep_msg msg = {
		.dst = c->dst,
		.len_bytes = sizeof(data),
	};
	struct rl_flit *pkt;
	unsigned int work = 0;

	for (; (pkt = rl_ep_recv(ep)) != NULL; work++) {
		rl_packet_put(c->cache, pkt);
		c->received++;
	}
	for (; c->to_send != 0 && rl_ep_send(ep, now_ns, &msg, data, NULL) == 0;
	     work++) {
		c->to_send--;
		c->sent++;
	}
	return work;
}

/**
 * Opens the fabric in @p text (a fabric file), and gives its two endpoints
 * these clients. Then call host_start(); host_bed_close() closes it.
 */
static inline void
host_pair_open(struct host_bed *b, struct pair_client client[2],
	       const char *text)
{
	memset(client, 0, 2 * sizeof(*client));
	host_bed_open(b, text, 16);
	for (uint16_t e = 0; e < 2; e++) {
		const struct rl_client c = { .ctx = &client[e],
					     .poll = pair_client_poll };

		client[e].dst = !e;
		client[e].cache = host_bed_client(b, e, &c);
	}
}

/** @return whether all links are up */
static inline bool
host_pair_up(const struct host_bed *b)
{
	for (uint32_t d = 0; d < b->cfg.topo.ndev; d++)
		for (uint16_t p = 0; p < b->cfg.topo.dev[d].nports; p++)
			if (rl_port_state(b->host.fabric.dev[d].port[p].port) !=
			    RL_LINK_UP)
				return false;
	return true;
}

#endif /* HOST_PAIR_H */
