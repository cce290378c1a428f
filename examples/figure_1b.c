/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Figure 1B of the DRL patent by hand: a port sends a packet of ten flits,
 * seven are acknowledged, the link dies, and all ten come back out of the
 * replay buffer. Two ports, a wire that is a function call, a clock that is a
 * variable: that is all a port needs.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_port.h"

#define FLITS 64

struct end {
	struct rl_port *port;
	struct rl_port_shared shared;
};

static struct rl_flit flits[FLITS];
static struct rl_flit *slots[FLITS];
static uint8_t frame[RL_FRAME_BYTES_MAX] __attribute__((aligned(64)));

static void *
zalloc(size_t n)
{
	void *p = aligned_alloc(64, (n + 63) & ~(size_t)63);

	if (p == NULL)
		exit(1);
	return memset(p, 0, n);
}

/* Moves up to `frames` frames from `from` to `to`. */
static void
carry(struct end *from, struct end *to, unsigned int frames, uint64_t now_ns)
{
	uint32_t len;

	while (frames-- > 0 &&
	       (len = rl_port_tx_frame(from->port, frame, now_ns)) != 0)
		rl_port_rx_frame(to->port, frame, len, now_ns);
}

/* Ten flits that a link accepts: their FEC is correct. */
static struct rl_flit *
ten_flits(struct rl_flit_cache *cache, const struct rl_codec *codec)
{
	struct rl_flit *head = NULL;

	for (unsigned int i = 0; i < 10; i++) {
		struct rl_flit *f = rl_flit_get(cache);

		memset(f, 0, sizeof(*f));
		rl_codec_fec_encode(codec, f->wire);
		if (head == NULL)
			rl_packet_start(head = f);
		else
			rl_packet_append(head, f);
	}
	head->flags |= RL_FF_SOP;
	head->last->flags |= RL_FF_EOP;
	return head;
}

int
main(void)
{
	struct rl_flit_cache cache = { .slot = slots, .cap = FLITS };
	struct rl_codec *codec = zalloc(rl_codec_memsize());
	struct end e[2] = { 0 };
	struct rl_link_cfg cfg;
	struct rl_port_info info;
	struct rl_flit *pkt;
	unsigned int back = 0;
	uint64_t now_ns = 1000;

	for (unsigned int i = 0; i < FLITS; i++)
		rl_flit_put(&cache, &flits[i]);
	rl_codec_init(codec, RL_CRC_BCH, RL_ISN_WIDE, RL_ISA_SCALAR);
	rl_link_cfg_defaults(&cfg);
	cfg.flits_per_frame = 1;
	cfg.ack_coalesce_flits = 1;
	for (unsigned int i = 0; i < 2; i++) {
		const struct rl_port_params p = {
			.cfg = &cfg,
			.codec = codec,
			.cache = &cache,
			.shared = &e[i].shared,
			.seed = i,
			.uid = i,
			.frame_bytes = RL_FRAME_BYTES_MAX,
		};

		e[i].port = rl_port_init(zalloc(rl_port_memsize(&cfg)), &p);
		rl_port_start(e[i].port, now_ns);
	}
	for (unsigned int i = 0; i < 4; i++) /* handshake of both ends */
		carry(&e[i & 1], &e[!(i & 1)], 4, now_ns += 1000);
	rl_port_submit(e[0].port, ten_flits(&cache, codec), now_ns);
	carry(&e[0], &e[1], 7, now_ns); /* seven flits cross */
	carry(&e[1], &e[0], 1, now_ns); /* and are acknowledged */
	rl_port_info(e[0].port, &info);
	printf("held %u flits, of them not acknowledged %u\n", info.held_flits,
	       info.outstanding_flits);

	rl_port_phy_status(e[0].port, false, now_ns); /* the link dies */
	while ((pkt = rl_port_loop(e[0].port, now_ns)) != NULL) {
		if (rl_pipe_is_mark(pkt) != RL_MARK_NONE)
			continue;
		printf("looped out: a packet of %u flits%s%s\n",
		       pkt->pkt_flits,
		       pkt->flags & RL_FF_SOP ? ", with its start" : "",
		       rl_packet_ends(pkt) ? " and its end" : "");
		back += pkt->pkt_flits;
		rl_packet_put(&cache, pkt);
	}
	for (unsigned int i = 0; i < 2; i++) {
		rl_port_flush(e[i].port);
		free(e[i].port);
	}
	free(codec);
	return back == 10 && cache.count == FLITS ? 0 : 1;
}
