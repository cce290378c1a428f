/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_memtxn.h"
#include "scenario.h"

#define HOST 0
#define DEVICE 1
#define LATENCY_SLOTS 10
#define SLOT_NS 2
#define NFLITS 4
/** In figure 4 the device's flits count from 100. */
#define WARM_UP_FLITS 100
/** Start of the four flits, after the whole warm-up is acknowledged. */
#define START_SLOT 400
#define END_SLOT (START_SLOT + 400)
#define MEM_BYTES (8 * RL_MEMTXN_LINE)

struct play {
	enum rxl_figure fig;
	enum rl_profile profile;
	struct rxl_ladder *ladder;
	struct rxl_scenario_result *result;
	struct rl_rxl_path *path;
	struct rl_memtxn agent[RL_RXL_SIDES];
	unsigned int done;   /**< of the four flits */
	unsigned int warm;   /**< of the warm-up */
	unsigned int seen;   /**< bit per received flit */
	unsigned int newest; /**< 1 + highest flit received */
	bool reverse_sent;
	uint8_t mem[MEM_BYTES];
};

/** The side whose four flits the figure shows. */
static unsigned int
subject(const struct play *p)
{
	return p->fig == RXL_FIG5B ? DEVICE : HOST;
}

static uint64_t
slot_of(const struct play *p)
{
	return rl_rxl_path_slot(p->path);
}

static uint64_t
ladder_ns(uint64_t slot)
{
	return slot < START_SLOT ? 0 : (slot - START_SLOT) * SLOT_NS;
}

static void
append(char *list, size_t size, char c)
{
	const size_t n = strlen(list);

	if (n + 1 < size)
		list[n] = c;
}

/** Flit @p i reached the upper layer of the receiver. */
static void
received(struct play *p, unsigned int i)
{
	struct rxl_scenario_result *r = p->result;
	const uint64_t t = ladder_ns(slot_of(p));
	const unsigned int to = 1 - subject(p);
	const char letter = (char)('A' + i);

	append(r->received, sizeof(r->received), letter);
	if (p->seen >> i & 1) {
		r->again++;
		rxl_ladder_remark(p->ladder, t, to, "%c goes up AGAIN", letter);
	} else if (i > p->newest) {
		r->out_of_order++;
		rxl_ladder_remark(p->ladder, t, to, "%c goes up OUT OF ORDER",
				  letter);
	} else {
		rxl_ladder_remark(p->ladder, t, to, "%c goes up", letter);
	}
	p->seen |= 1u << i;
	if (i >= p->newest)
		p->newest = i + 1;
}

static void
send_plain(struct rl_ep *ep, unsigned int dst, uint8_t what, uint64_t now_ns)
{
	const struct rl_ep_msg msg = {
		.dst = (uint16_t)dst,
		.class = RL_CLASS_REQ_POSTED,
		.len_bytes = 1,
	};

	rl_ep_send(ep, now_ns, &msg, &what, NULL);
}

/** Figure 4, either side: sends and receives plain packets. */
static void
poll_plain(struct play *p, unsigned int side, struct rl_ep *ep, uint64_t now_ns)
{
	const uint64_t slot = slot_of(p);
	struct rl_flit *pkt;

	while ((pkt = rl_ep_recv(ep)) != NULL) {
		if (side == DEVICE)
			received(p, pkt->wire[RL_FLIT_DATA_OFF]);
		rl_packet_put(rl_rxl_path_cache(p->path), pkt);
	}
	if (side == DEVICE && p->warm < WARM_UP_FLITS) {
		send_plain(ep, HOST, 0, now_ns);
		p->warm++;
	}
	/* arrives at the host just before #2 leaves */
	if (side == DEVICE && slot == START_SLOT + 2 - LATENCY_SLOTS)
		send_plain(ep, HOST, 0, now_ns);
	if (side == HOST && slot >= START_SLOT && p->done < NFLITS)
		send_plain(ep, DEVICE, (uint8_t)p->done++, now_ns);
}

/** Figures 5a and 5b: the host reads four lines; B and C are of one queue. */
static void
poll_memory(struct play *p, unsigned int side, struct rl_ep *ep,
	    uint64_t now_ns)
{
	static const uint16_t cqid[NFLITS] = { 1, 2, 2, 3 };
	struct rl_memtxn *m = &p->agent[side];
	const uint64_t slot = slot_of(p);

	if (side == HOST && slot >= START_SLOT && p->done < NFLITS) {
		rl_memtxn_issue(m, RL_MEMTXN_READ, cqid[p->done],
				p->done * RL_MEMTXN_LINE, NULL, NULL);
		p->done++;
	}
	/* the device writes, so that the host acknowledges it with #2 */
	if (side == DEVICE && p->fig == RXL_FIG5A && !p->reverse_sent &&
	    slot >= START_SLOT + 2 - LATENCY_SLOTS) {
		rl_memtxn_issue(m, RL_MEMTXN_WRITE, 0, 0, p->mem, NULL);
		p->reverse_sent = true;
	}
	rl_memtxn_poll(m, ep, now_ns);
}

static void
poll(struct play *p, unsigned int side, struct rl_ep *ep, uint64_t now_ns)
{
	if (p->fig == RXL_FIG4)
		poll_plain(p, side, ep, now_ns);
	else
		poll_memory(p, side, ep, now_ns);
}

static void
poll_host(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	poll(ctx, HOST, ep, now_ns);
}

static void
poll_device(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	poll(ctx, DEVICE, ep, now_ns);
}

/** Counts executed requests, for figure 5a. */
static void
device_event(void *ctx, enum rl_memtxn_event event,
	     const struct rl_memtxn_msg *msg, uint64_t now_ns)
{
	struct play *p = ctx;

	(void)now_ns;
	if (p->fig == RXL_FIG5A && (event == RL_MEMTXN_EXECUTED ||
				    event == RL_MEMTXN_EXECUTED_AGAIN))
		received(p, msg->tag);
}

/** Counts arriving data, for figure 5b. */
static void
host_event(void *ctx, enum rl_memtxn_event event,
	   const struct rl_memtxn_msg *msg, uint64_t now_ns)
{
	struct play *p = ctx;
	const uint64_t t = ladder_ns(slot_of(p));
	const char letter = (char)('A' + msg->addr / RL_MEMTXN_LINE);

	(void)now_ns;
	if (msg->op != RL_MEMTXN_DATA)
		return;
	append(p->result->data, sizeof(p->result->data), letter);
	if (p->fig == RXL_FIG5B)
		received(p, msg->tag);
	if (event == RL_MEMTXN_UNEXPECTED) {
		p->result->unexpected++;
		rxl_ladder_remark(p->ladder, t, HOST,
				  "data %c, NOT ASKED FOR", letter);
	} else if (event == RL_MEMTXN_OUT_OF_ORDER) {
		rxl_ladder_remark(p->ladder, t, HOST,
				  "queue %u gets %c FOR AN OLDER LINE",
				  msg->cqid, letter);
	}
}

/** Name of a flit in the diagram. */
static const char *
name_of(const struct play *p, unsigned int from, const struct rl_flit *f)
{
	static const char *const reads[] = { "read A", "read B", "read C",
					     "read D" };
	static const char *const plain[] = { "A", "B", "C", "D" };
	static const char *const data[] = { "data A", "data B", "data C",
					    "data D" };
	const uint8_t *d = f->wire + RL_FLIT_DATA_OFF;
	struct rl_memtxn_msg msg;
	unsigned int i;

	if (p->fig == RXL_FIG4)
		return from == HOST ? plain[d[0] & 3] : "upstream";
	if (rl_memtxn_get(&msg, d, f->wire[8]) == 0)
		return "?";
	i = (unsigned int)(msg.addr / RL_MEMTXN_LINE) & 3;
	switch ((enum rl_memtxn_op)msg.op) {
	case RL_MEMTXN_READ:
		return reads[i];
	case RL_MEMTXN_WRITE:
		return "write X";
	case RL_MEMTXN_RSP:
		return from == HOST ? "response X" : data[i];
	case RL_MEMTXN_DATA:
		return data[i];
	}
	return "?";
}

static void
watch(void *ctx, unsigned int from, enum rl_rxl_step step,
      const struct rl_flit *f, uint64_t slot)
{
	struct play *p = ctx;

	if (from == subject(p) && step == RL_RXL_SENT &&
	    f->class != RL_CLASS_CTRL && rl_flit_tag(f->wire) == 2 &&
	    rl_flit_cmd(f->wire) == RL_CMD_ACK &&
	    p->profile == RL_PROFILE_CXL)
		p->result->hidden = true;
	/* omit the warm-up and its acknowledgements */
	if (slot + LATENCY_SLOTS < START_SLOT)
		return;
	if (slot < START_SLOT && f->class == RL_CLASS_CTRL)
		return;
	rxl_ladder_flit(p->ladder, ladder_ns(slot), from, step, f, p->profile,
			f->class == RL_CLASS_CTRL ? "" : name_of(p, from, f));
}

/** Drops #1 when it is first sent. */
static bool
drop(void *ctx, unsigned int from, const struct rl_flit *f, uint64_t slot)
{
	struct play *p = ctx;

	(void)slot;
	if (p->result->drop_hit || from != subject(p) ||
	    f->class == RL_CLASS_CTRL || rl_flit_tag(f->wire) != 1)
		return false;
	p->result->drop_hit = true;
	return true;
}

static void
configure(struct play *p, struct rl_rxl_path_cfg *c)
{
	memset(c, 0, sizeof(*c));
	rl_ep_cfg_defaults(&c->ep);
	c->ep.profile = p->profile;
	c->ep.retry_mode = RL_RETRY_GBN;
	c->ep.max_packet_flits = 1;
	c->ep.max_flows = 2;
	c->ep.window_flits = 64;
	/* 5b: the ACK of three requests becomes due when C is answered */
	c->ep.ack_coalesce_flits = p->fig == RXL_FIG5B ? 3 : 1;
	c->ep.ack_delay_ns = 1000;
	c->ep.nak_delay_ns = 0;
	c->ep.retry_timer_ns = 5000;
	rl_error_cfg_defaults(&c->way.wire);
	rl_error_cfg_defaults(&c->way.inside);
	c->way.inside.span_bytes = RL_FLIT_FEC_OFF;
	c->way.levels = 1;
	c->latency_slots = LATENCY_SLOTS;
	c->burst_slots = 1;
	c->slot_ns = SLOT_NS;
	c->client[HOST] = (struct rl_rxl_client){ p, poll_host };
	c->client[DEVICE] = (struct rl_rxl_client){ p, poll_device };
	c->script = (struct rl_rxl_script){ p, watch, drop };
}

static void
init_agents(struct play *p)
{
	for (unsigned int i = 0; i < RL_RXL_SIDES; i++) {
		const struct rl_memtxn_cfg mc = {
			.peer = (uint16_t)(1 - i),
			.pack = 2, /* response and data in one flit */
			.mem = p->mem,
			.mem_bytes = MEM_BYTES,
			.event = i == HOST ? host_event : device_event,
			.event_ctx = p,
			.cache = rl_rxl_path_cache(p->path),
		};

		rl_memtxn_init(&p->agent[i], &mc);
	}
}

static void *
take(size_t bytes)
{
	return aligned_alloc(RL_CACHE_LINE, (bytes + RL_CACHE_LINE - 1) &
						    ~(size_t)(RL_CACHE_LINE - 1));
}

int
rxl_scenario_run(enum rxl_figure fig, enum rl_profile profile,
		 struct rxl_ladder *ladder, struct rxl_scenario_result *result)
{
	struct play p = { .fig = fig, .profile = profile, .ladder = ladder,
			  .result = result };
	struct rl_rxl_path_cfg cfg;
	struct rl_codec *codec = take(rl_codec_memsize());
	void *mem;
	int ret = -ENOMEM;

	memset(result, 0, sizeof(*result));
	memset(ladder, 0, sizeof(*ladder));
	ladder->left = "host";
	ladder->right = "device";
	configure(&p, &cfg);
	mem = take(rl_rxl_path_memsize(&cfg));
	if (codec == NULL || mem == NULL)
		goto free_mem;
	ret = rl_codec_init(codec, cfg.ep.crc, cfg.ep.isn, RL_ISA_SCALAR);
	if (ret != 0)
		goto free_mem;
	p.path = rl_rxl_path_init(mem, &cfg, codec);
	init_agents(&p);
	rl_rxl_path_run(p.path, END_SLOT);
	for (unsigned int i = 0; i < NFLITS; i++)
		result->missing += !(p.seen >> i & 1);
	result->leak = !rl_rxl_path_close(p.path);
free_mem:
	free(mem);
	free(codec);
	return ret;
}

bool
rxl_scenario_sound(const struct rxl_scenario_result *r)
{
	return r->again == 0 && r->out_of_order == 0 && r->unexpected == 0 &&
	       r->missing == 0 && !r->leak;
}
