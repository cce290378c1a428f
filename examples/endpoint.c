/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that is an endpoint itself: e0 sends numbered packets to e1 over a
 * fabric that drops every fifth flit. In between, a recovery tells e0's local
 * controller to hold: requests are refused until all that was sent has arrived
 * and the controller releases. All packets arrive once and in order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rl_endpoint.h"
#include "rl_local.h"

#define PACKETS 40
#define FLITS 4096

static struct rl_flit *slots[FLITS];
static struct rl_flit_cache cache = { .slot = slots, .cap = FLITS };
static struct rl_ep *ep[2];
static struct rl_local *local; /* of e0 */
static uint32_t sent, refused, got, dropped, wrong;

static void *
mem(size_t n)
{
	void *p = aligned_alloc(64, (n + 63) & ~(size_t)63);

	return p != NULL ? p : (exit(1), NULL);
}

static void
on_event(void *ctx, const struct rl_ep_event *ev)
{
	(void)ctx;
	printf("e%u is %s after %u packets\n", ev->ep,
	       rl_ep_event_name(ev->kind), sent);
}

/* The controller orders @p hold, as often as it likes, under one number.
   @return whether e0 has answered that nothing of it is under way */
static bool
order(enum rl_resil_hold hold, uint64_t seq, uint64_t now_ns)
{
	struct rl_resil_msg m = { .version = RL_RESIL_VERSION, .seq = seq,
		.type = RL_RESIL_ORDER, .hold = (uint8_t)hold, .ctl_inc = 1 };
	struct rl_local_view view = { 0 };
	struct rl_local_action a;
	bool quiet = false;

	rl_local_rx(local, &m, now_ns);
	rl_local_tick(local, now_ns);
	while (rl_local_action(local, &a)) /* stop, or go on */
		rl_ep_quiesce(ep[0], now_ns, a.type == RL_LOCAL_HOLD);
	view.quiet = rl_ep_quiescent(ep[0], RL_EP_ALL);
	if (rl_local_asked(local))
		rl_local_answer(local, &view);
	while (rl_local_tx(local, &m, now_ns))
		if (m.type == RL_RESIL_STATUS && m.seq == seq)
			quiet = m.flags & RL_RESIL_QUIET;
	return quiet;
}

static void
turn(unsigned int i, uint64_t now_ns)
{
	static uint32_t crossed;
	struct rl_pktq out = { 0 };
	struct rl_flit *pkt;
	uint32_t number;

	rl_ep_poll(ep[i], now_ns, &out, 64);
	while ((pkt = rl_pktq_pop(&out)) != NULL)
		if (++crossed % 5 == 0 && ++dropped != 0)
			rl_packet_put(&cache, pkt);
		else
			rl_ep_rx(ep[!i], now_ns, &pkt, 1);
	for (; (pkt = rl_ep_recv(ep[i])) != NULL; rl_packet_put(&cache, pkt))
		wrong += rl_ep_copy_out(pkt, &number, sizeof(number)) !=
				 sizeof(number) || number != got++;
}

int
main(void)
{
	struct rl_flit *flits = mem(FLITS * sizeof(flits[0]));
	struct rl_codec *codec = mem(rl_codec_memsize());
	const struct rl_ep_msg msg = { .dst = 1, .len_bytes = sizeof(sent) };
	struct rl_resil_cfg rc;
	const struct rl_local_params lp = { .cfg = &rc, .incarnation = 1,
					    .endpoint = true };
	struct rl_ep_cfg cfg;
	bool held = false, done = false;

	for (unsigned int i = 0; i < FLITS; i++)
		rl_flit_put(&cache, &flits[i]);
	rl_resil_cfg_defaults(&rc);
	rl_ep_cfg_defaults(&cfg);
	if (rl_codec_init(codec, cfg.crc, cfg.isn, rl_codec_best_isa(512)) != 0)
		return 1;
	for (uint16_t i = 0; i < 2; i++) {
		const struct rl_ep_params p = { .cfg = &cfg, .codec = codec,
			.cache = &cache, .ep_id = i, .npeers = 2,
			.event = on_event };

		ep[i] = rl_ep_init(mem(rl_ep_memsize(&cfg, 2)), &p);
	}
	local = rl_local_init(mem(rl_local_memsize(0)), &lp, 0);
	for (uint64_t t = 1000; got < PACKETS && t < RL_NS_PER_S; t += 1000) {
		if (sent < PACKETS && rl_ep_send(ep[0], t, &msg, &sent, NULL) == 0)
			sent++;
		else if (sent < PACKETS)
			refused++;
		if (sent == PACKETS / 2 && !done) /* a recovery begins */
			held = true;
		if (held && order(RL_RESIL_HOLD_ALL, 1, t)) {
			/* here new tables would be installed */
			order(RL_RESIL_HOLD_NONE, 2, t);
			held = false;
			done = true;
		}
		turn(0, t);
		turn(1, t);
	}
	printf("%u packets, %u wrong; %u drops; %u requests were refused\n",
	       got, wrong, dropped, refused);
	return got == PACKETS && wrong == 0 && refused > 0 && done ? 0 : 1;
}
