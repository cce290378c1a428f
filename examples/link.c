/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A link alone (pkg-config reflit): a wire loses a third of the frames at
 * random, the replay buffer repairs it, and twenty packets arrive once and in
 * order. There is no thread, and the clock is a variable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_port.h"
#include "rl_prng.h"

#define PACKETS 20

static struct rl_flit flits[PACKETS * 2];
static struct rl_flit *slots[PACKETS * 2];
static struct rl_flit_cache cache = { .slot = slots, .cap = PACKETS * 2 };
static struct rl_port_shared shared[2];
static struct rl_port *port[2];
static struct rl_prng luck;
static unsigned int frames, lost;

static void *
mem(size_t n)
{
	void *p = aligned_alloc(64, (n + 63) & ~(size_t)63);

	return p != NULL ? memset(p, 0, n) : (exit(1), NULL);
}

/* One poll of port @p i: runs its timers, then moves its frames over. */
static void
poll_port(unsigned int i, uint64_t now_ns)
{
	static uint8_t frame[RL_FRAME_BYTES_MAX] RL_ALIGNED(64);
	uint32_t len;

	rl_port_tick(port[i], now_ns);
	for (; (len = rl_port_tx_frame(port[i], frame, now_ns)) != 0; frames++)
		if (rl_prng_below(&luck, 3) == 0)
			lost++;
		else
			rl_port_rx_frame(port[!i], frame, len, now_ns);
}

static void
send_packet(const struct rl_codec *codec, uint32_t tag, uint64_t now_ns)
{
	const struct rl_txn txn = { .tag = tag, .len_flits = 1 };
	struct rl_flit *f = rl_flit_get(&cache);

	memset(f, 0, sizeof(*f));
	rl_txn_put(f->wire, &txn);
	rl_codec_fec_encode(codec, f->wire); /* a link only checks the FEC */
	rl_packet_start(f);
	f->flags = RL_FF_SOP | RL_FF_EOP;
	rl_port_submit(port[0], f, now_ns);
}

int
main(void)
{
	struct rl_codec *codec = mem(rl_codec_memsize());
	struct rl_link_cfg cfg;
	uint32_t sent = 0, got = 0, wrong = 0, again;
	struct rl_flit *pkt;
	rl_prng_seed(&luck, 1);
	for (unsigned int i = 0; i < PACKETS * 2; i++)
		rl_flit_put(&cache, &flits[i]);
	rl_codec_init(codec, RL_CRC_BCH, RL_ISN_WIDE, RL_ISA_SCALAR);
	rl_link_cfg_defaults(&cfg);
	cfg.flits_per_frame = 1;
	for (unsigned int i = 0; i < 2; i++) {
		const struct rl_port_params p = {
			.cfg = &cfg, .codec = codec, .cache = &cache,
			.shared = &shared[i], .seed = i, .uid = i,
			.frame_bytes = RL_FRAME_BYTES_MAX,
		};

		port[i] = rl_port_init(mem(rl_port_memsize(&cfg)), &p);
		rl_port_start(port[i], 0);
	}
	for (uint64_t t = 1000; got < PACKETS && t < RL_NS_PER_S; t += 1000) {
		if (rl_port_state(port[0]) == RL_LINK_UP && sent < PACKETS)
			send_packet(codec, sent++, t);
		poll_port(0, t);
		poll_port(1, t);
		while ((pkt = rl_pktq_pop(rl_port_rx_out(port[1]))) != NULL) {
			wrong += rl_flit_tag(pkt->wire) != got++;
			rl_packet_put(&cache, pkt);
		}
	}
	again = (uint32_t)rl_port_counters(port[0])[RL_PC_tx_replay_flits];
	printf("%u frames, %u lost; %u flits sent again; %u packets, %u wrong\n",
	       frames, lost, again, got, wrong);
	return got == PACKETS && wrong == 0 && again > 0 ? 0 : 1;
}
