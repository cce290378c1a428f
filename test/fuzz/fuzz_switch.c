/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fabric with an attacker on one wire [APP-4]. Two switches, two links
 * between them, four endpoints. e0 and e1 are honest and talk to each other
 * through both switches; so do e2 and e3, but an attacker owns the wire of e2:
 * it changes, repeats, reorders, truncates, drops and forges frames in both
 * directions, always with a valid header check. It corrupts flits with and
 * without repairing their FEC; only the end-to-end CRC is out of its reach.
 *
 * In any case:
 *   - nothing breaks (assertions, sanitizers), no flit is lost from the pool;
 *   - the honest flow gets every packet once, in order, byte for byte, and no
 *     other link dies;
 *   - e2 and e3 get no packet that was not sent to them, and none twice;
 *   - after the attack, e2 and e3 talk again.
 *
 *   fuzz_switch COUNT FIRST_SEED     COUNT runs
 * A failure prints its seed, which reproduces it.
 */

#include "../unit/device/host.h"
#include "fuzz_repair.h"
#include "fuzz_seeds.h"
#include "rl_codec.h"
#include "rl_prng.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS
#define RECORDED 64
#define HONEST 400	   /* packets in each direction */
#define TALK 40		   /* packets of e2 and e3 after the attack */
#define QUIET_NS (2000 * MS) /* limit for their arrival */

static const char fabric[] =
	"fabric: { topology = \"custom\";\n"
	"  switches = ( { name = \"s0\"; }, { name = \"s1\"; } );\n"
	"  endpoints = ( { name = \"e0\"; }, { name = \"e1\"; },\n"
	"                { name = \"e2\"; }, { name = \"e3\"; } );\n"
	"  links = ( { a = \"e0\"; b = \"s0\"; }, { a = \"e2\"; b = \"s0\"; },\n"
	"            { a = \"s0\"; b = \"s1\"; count = 2; },\n"
	"            { a = \"s1\"; b = \"e1\"; }, { a = \"s1\"; b = \"e3\"; } );\n"
	"};\n"
	"routing: { engine = \"updown\"; };\n";
#define ATTACKED "e2-s0"


/*
 * Client of e2 or e3: numbered packets, with contents derived from the number.
 */
struct talker {
	struct host *host;
	uint16_t peer;
	uint32_t to_send;
	uint32_t sent;
	uint32_t next; /* lowest number that may come next */
	uint32_t last; /* 1 + the last number received */
	uint32_t wrong;
};

struct attack {
	struct host host;
	struct rl_prng prng;
	struct talker talker[2];
	struct rl_codec *codec;
	struct host_wire *wire[2]; /* from e2, from s0 */
	uint8_t recorded[RECORDED][2048];
	uint32_t recorded_len[RECORDED];
	uint32_t nrecorded;
	uint64_t forged;
};

static struct attack a;

static uint32_t
below(uint32_t n)
{
	return rl_prng_below(&a.prng, n);
}

static uint32_t
talker_len(uint32_t n)
{
	return 8 + n * 37 % 900;
}

static unsigned int
talker_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct talker *t = ctx;
	unsigned int work = 0;
	struct rl_flit *pkt;
	uint8_t buf[1024];

	while (t->sent < t->to_send) {
		const struct rl_ep_msg msg = {
			.dst = t->peer,
			.len_bytes = talker_len(t->sent),
		};

		memset(buf, (int)(7 * t->sent), sizeof(buf));
		memcpy(buf, &t->sent, 4);
		if (rl_ep_send(ep, now_ns, &msg, buf, NULL) != 0)
			break;
		t->sent++;
		work++;
	}
	while ((pkt = rl_ep_recv(ep)) != NULL) {
		const uint32_t len = rl_ep_copy_out(pkt, buf, sizeof(buf));
		uint32_t n = 0;

		memcpy(&n, buf, 4);
		t->wrong += n < t->next || len != talker_len(n);
		for (uint32_t i = 4; i < len && i < sizeof(buf); i++)
			t->wrong += buf[i] != (uint8_t)(7 * n);
		t->next = n + 1;
		t->last = n + 1;
		work++;
		rl_packet_put(&t->host->cache, pkt);
	}
	return work;
}

/* --- the attacker ---------------------------------------------------------- */

static void
remember(const uint8_t *frame, uint32_t len)
{
	const uint32_t slot = a.nrecorded < RECORDED ? a.nrecorded++
						      : below(RECORDED);

	memcpy(a.recorded[slot], frame, len);
	a.recorded_len[slot] = len;
}

/* Corrupts flits of a frame, except for the end-to-end CRC. */
static void
hurt_flit(uint8_t *frame, uint32_t len)
{
	const uint32_t head = rl_frame_header_bytes(frame[15]);
	uint32_t n;
	uint8_t *flit;

	if (len < head + RL_FLIT_BYTES)
		return;
	n = (len - head) / RL_FLIT_BYTES;
	flit = frame + head + below(n) * RL_FLIT_BYTES;
	for (uint32_t k = 1 + below(6); k > 0; k--) {
		uint8_t *at = flit + below(below(2) ? 20 : RL_FLIT_BYTES);

		*at = (uint8_t)rl_prng_u64(&a.prng);
	}
	if (below(2))
		rl_codec_fec_encode(a.codec, flit);
}

static void
hurt_header(uint8_t *frame)
{
	const uint32_t head = rl_frame_header_bytes(frame[15]);
	uint32_t at;

	for (uint32_t k = 1 + below(3); k > 0; k--) {
		switch (below(5)) {
		case 0: /* type, count, flags, epochs */
			at = 14 + below(6);
			break;
		case 1: /* sequence, ACK: change them a little */
			at = 20 + 2 * below(2);
			frame[at] += (uint8_t)(below(9) - 4);
			continue;
		case 2: /* sideband: VC, SOP, EOP, marks, hops */
			at = RL_FRAME_SIDEBAND_OFF + below(12);
			frame[at] ^= (uint8_t)(1u << below(8));
			continue;
		default:
			at = 14 + below(head - 14);
			break;
		}
		frame[at] = (uint8_t)rl_prng_u64(&a.prng);
	}
	frame[14] = (uint8_t)((frame[14] & 15) | RL_FRAME_VERSION << 4);
}

/* A forged frame. @return its length */
static uint32_t
forge(uint8_t *frame)
{
	uint32_t len = RL_FRAME_HEADER_SHORT;

	if (a.nrecorded > 0) {
		const uint32_t from = below(a.nrecorded);

		len = a.recorded_len[from];
		memcpy(frame, a.recorded[from], len);
	} else {
		memset(frame, 0, len);
		frame[12] = RL_FRAME_ETHERTYPE >> 8;
		frame[13] = RL_FRAME_ETHERTYPE & 0xff;
	}
	if (below(3) == 0)
		frame[14] = (uint8_t)(RL_FRAME_VERSION << 4 | (1 + below(6)));
	if (len < fuzz_header_bytes(frame)) {
		memset(frame + len, 0, fuzz_header_bytes(frame) - len);
		len = fuzz_header_bytes(frame);
	}
	if (below(2))
		hurt_header(frame);
	if (below(3) == 0)
		hurt_flit(frame, len);
	return len;
}

static void
seal(uint8_t *frame, uint32_t *len)
{
	if (below(12) == 0) /* truncated, with or without a matching count */
		*len = 1 + below(*len);
	if (*len < RL_FRAME_HEADER_SHORT)
		return;
	if (frame[15] > RL_FRAME_FLITS_MAX ||
	    (below(4) != 0 && rl_frame_bytes(frame[15]) > *len))
		frame[15] = (uint8_t)rl_frame_fit(*len);
	if (below(2)) { /* a stamp newer than all others, or in the future */
		const uint64_t soon = a.host.now_ns + below(10);

		fuzz_put_stamp(frame, soon + (below(50) ? 0 : 900 * MS));
	}
	if (fuzz_header_bytes(frame) <= *len)
		fuzz_repair_check(frame);
}

static void
attack_wire(struct host_wire *w)
{
	const uint32_t waiting = w->tail - w->head;
	uint32_t slot, other, len;
	uint8_t *frame;

	if (waiting > 0 && below(3) != 0) {
		slot = (w->head + below(waiting)) % HOST_FRAMES;
		other = (w->head + below(waiting)) % HOST_FRAMES;
		switch (below(4)) {
		case 0:
			hurt_header(w->frame[slot]);
			break;
		case 1:
			hurt_flit(w->frame[slot], w->len[slot]);
			break;
		case 2: /* lose the last frame */
			w->tail--;
			return;
		default:
			frame = w->frame[slot];
			w->frame[slot] = w->frame[other];
			w->frame[other] = frame;
			len = w->len[slot];
			w->len[slot] = w->len[other];
			w->len[other] = len;
			return;
		}
	} else if (waiting + 1 < HOST_FRAMES) {
		slot = w->tail++ % HOST_FRAMES;
		w->len[slot] = forge(w->frame[slot]);
	} else {
		return;
	}
	seal(w->frame[slot], &w->len[slot]);
	a.forged++;
}

static void
record(const struct host_wire *w)
{
	for (uint32_t i = w->head; i != w->tail; i++)
		if (w->len[i % HOST_FRAMES] >= RL_FRAME_HEADER_SHORT &&
		    below(4) == 0)
			remember(w->frame[i % HOST_FRAMES],
				 w->len[i % HOST_FRAMES]);
}

/* --- a run ------------------------------------------------------------------ */

static void
open_fabric(void)
{
	static const char *const more[] = {
		"link: { flap_damping_ns = 100000; };\n",
		"link: { flap_damping_ns = 100000; "
		"switching = \"cut-through\"; };\n",
		"link: { flap_damping_ns = 100000; flits_per_frame = 1; };\n",
		"link: { flap_damping_ns = 100000; window_flits = 64; "
		"credits_flits = 64; };\n",
	};
	char text[2048];
	uint32_t link;

	snprintf(text, sizeof(text), "%s%s", fabric,
		 more[below(RL_ARRAY_SIZE(more))]);
	host_open(&a.host, text);
	assert_int_equal(host_build(&a.host), 0);
	a.host.client[0].peer = 1;
	a.host.client[1].peer = 0;
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t dev = a.host.cfg.topo.ep_dev[2 + i];

		a.talker[i] = (struct talker){ .host = &a.host,
					       .peer = (uint16_t)(3 - i) };
		a.host.fabric.dev[dev].core.client =
			(struct rl_client){ &a.talker[i], talker_poll, NULL };
	}
	host_start(&a.host);
	link = (uint32_t)rl_topo_find_link(&a.host.cfg.topo, ATTACKED, NULL);
	a.wire[0] = &a.host.wire[2 * link];
	a.wire[1] = &a.host.wire[2 * link + 1];
	a.nrecorded = 0;
}

static void
under_attack(uint64_t for_ns)
{
	const uint64_t end_ns = a.host.now_ns + for_ns;
	const uint32_t rate = 2 + below(60);

	while (a.host.now_ns < end_ns) {
		host_run(&a.host, US);
		for (unsigned int i = 0; i < 2; i++) {
			record(a.wire[i]);
			if (below(rate) == 0)
				attack_wire(a.wire[i]);
		}
	}
}

static bool
talked(void)
{
	return a.talker[0].last == a.talker[1].to_send &&
	       a.talker[1].last == a.talker[0].to_send;
}

/* The honest ends have finished, and their links never died. */
static void
check_honest(void)
{
	static const char *const links[] = { "e0-s0", "s0-s1#0", "s0-s1#1",
					     "s1-e1", "s1-e3" };
	struct host *h = &a.host;

	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(h->client[i].sent, h->client[i].to_send);
		assert_int_equal(h->client[i].got, h->client[i].to_send);
		assert_int_equal(h->client[i].wrong, 0);
	}
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(links); i++)
		for (unsigned int end = 0; end < 2; end++) {
			const struct rl_role_port *p =
				host_port(h, links[i], end);

			assert_int_equal(rl_port_counters(
				p->port)[RL_PC_deaths], 0);
		}
}

static void
run(uint64_t seed)
{
	struct host *h = &a.host;
	uint64_t end_ns;

	rl_prng_seed(&a.prng, seed);
	open_fabric();
	h->client[0].to_send = h->client[1].to_send = HONEST;
	for (unsigned int round = 1 + below(3); round > 0; round--) {
		a.talker[0].to_send += below(60);
		a.talker[1].to_send += below(60);
		under_attack((50 + below(1500)) * US);
		host_run(h, below(500) * US);
	}
	/* after the attack: frames on the wire still arrive */
	end_ns = h->now_ns + QUIET_NS;
	while (h->now_ns < end_ns &&
	       (h->client[0].got < HONEST || h->client[1].got < HONEST))
		host_run(h, 100 * US);
	check_honest();
	host_run(h, 5 * MS);
	a.talker[0].to_send += TALK;
	a.talker[1].to_send += TALK;
	while (h->now_ns < end_ns && !talked())
		host_run(h, 100 * US);
	if (!talked())
		fail_msg("after the attack: e2 got %u of %u, e3 %u of %u",
			 a.talker[0].last, a.talker[1].to_send,
			 a.talker[1].last, a.talker[0].to_send);
	assert_int_equal(a.talker[0].wrong, 0);
	assert_int_equal(a.talker[1].wrong, 0);
	check_honest();
	host_close(h);
}

int
main(int argc, char **argv)
{
	int status;

	a.codec = aligned_alloc(64, (rl_codec_memsize() + 63) & ~(size_t)63);
	if (a.codec == NULL ||
	    rl_codec_init(a.codec, RL_CRC_BCH, RL_ISN_WIDE,
			  RL_ISA_SCALAR) != 0)
		return 2;
	status = fuzz_seeds(argc, argv, run, &a.forged, "frames forged");
	free(a.codec);
	return status;
}
