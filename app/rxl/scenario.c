/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ep_ctrl.h"
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
	json_t *events;
	struct rl_rxl_path *path;
	struct rl_memtxn agent[RL_RXL_SIDES];
	unsigned int done; /**< of the four flits */
	unsigned int warm; /**< of the warm-up */
	bool dropped;
	bool reverse_sent;
	uint8_t mem[MEM_BYTES];
};

static const char *const op_name[] = {
	[RL_MEMTXN_READ] = "read",
	[RL_MEMTXN_WRITE] = "write",
	[RL_MEMTXN_RSP] = "response",
	[RL_MEMTXN_DATA] = "data",
};

int
rxl_figure_find(const char *name, enum rxl_figure *fig)
{
	static const char *const names[] = { "fig4", "fig5a", "fig5b" };

	for (size_t i = 0; i < RL_ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0) {
			*fig = (enum rxl_figure)i;
			return 0;
		}
	return -ENOENT;
}

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

/** Adds an event; takes @p e. */
static void
tell(struct play *p, const char *kind, uint64_t slot, unsigned int side,
     json_t *e)
{
	const uint64_t ns =
		slot < START_SLOT ? 0 : (slot - START_SLOT) * SLOT_NS;

	json_object_set_new(e, "kind", json_string(kind));
	json_object_set_new(e, "t_ns", json_integer((json_int_t)ns));
	json_object_set_new(e, "side", json_integer(side));
	json_array_append_new(p->events, e);
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
			tell(p, "up", slot, side,
			     json_pack("{s:i}", "value",
				       pkt->wire[RL_FLIT_DATA_OFF]));
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

static void
agent_event(struct play *p, unsigned int side, enum rl_memtxn_event event,
	    const struct rl_memtxn_msg *msg)
{
	static const char *const names[] = {
		[RL_MEMTXN_EXECUTED] = "executed",
		[RL_MEMTXN_EXECUTED_AGAIN] = "executed again",
		[RL_MEMTXN_COMPLETED] = "completed",
		[RL_MEMTXN_OUT_OF_ORDER] = "out of order",
		[RL_MEMTXN_UNEXPECTED] = "unexpected",
	};

	tell(p, "memory", slot_of(p), side,
	     json_pack("{s:s,s:s,s:I,s:i,s:i}", "event", names[event], "op",
		       op_name[msg->op], "line",
		       (json_int_t)(msg->addr / RL_MEMTXN_LINE), "queue",
		       (int)msg->cqid, "tag", (int)msg->tag));
}

static void
device_event(void *ctx, enum rl_memtxn_event event,
	     const struct rl_memtxn_msg *msg, RL_UNUSED uint64_t now_ns)
{
	agent_event(ctx, DEVICE, event, msg);
}

static void
host_event(void *ctx, enum rl_memtxn_event event,
	   const struct rl_memtxn_msg *msg, RL_UNUSED uint64_t now_ns)
{
	agent_event(ctx, HOST, event, msg);
}

static json_t *
control_json(const struct rl_flit *f)
{
	static const char *const names[] = {
		[RL_CMD_SEQ] = "sync",
		[RL_CMD_ACK] = "ack",
		[RL_CMD_NAK_GBN] = "nak all",
		[RL_CMD_NAK_ONE] = "nak missing",
	};

	return json_pack("{s:s,s:I}", "control",
			 names[f->wire[EP_CTRL_CMD_OFF]], "number",
			 (json_int_t)rl_get32(f->wire + EP_CTRL_SEQ_OFF));
}

/** A data flit: its true number, what the wire shows of it, and its content. */
static json_t *
data_json(const struct play *p, const struct rl_flit *f)
{
	const uint8_t *d = f->wire + RL_FLIT_DATA_OFF;
	json_t *o = json_pack("{s:I,s:b,s:i}", "number",
			      (json_int_t)rl_flit_tag(f->wire), "ack",
			      rl_flit_cmd(f->wire) == RL_CMD_ACK, "fsn",
			      (int)rl_flit_fsn(f->wire));
	struct rl_memtxn_msg msg;

	if (p->fig == RXL_FIG4) {
		json_object_set_new(o, "value", json_integer(d[0]));
	} else if (rl_memtxn_get(&msg, d, f->wire[8]) != 0) {
		json_object_set_new(o, "op", json_string(op_name[msg.op]));
		json_object_set_new(o, "line",
				    json_integer((json_int_t)(msg.addr /
							      RL_MEMTXN_LINE)));
	}
	return o;
}

static void
watch(void *ctx, unsigned int from, enum rl_rxl_step step,
      const struct rl_flit *f, uint64_t slot)
{
	static const char *const names[] = {
		[RL_RXL_SENT] = "sent",
		[RL_RXL_DROPPED] = "dropped",
		[RL_RXL_ARRIVED] = "arrived",
	};
	const bool control = f->class == RL_CLASS_CTRL;
	struct play *p = ctx;
	json_t *o;

	/* omit the warm-up and its acknowledgements */
	if (slot + LATENCY_SLOTS < START_SLOT ||
	    (slot < START_SLOT && control))
		return;
	o = control ? control_json(f) : data_json(p, f);
	json_object_set_new(o, "step", json_string(names[step]));
	tell(p, "flit", slot, from, o);
}

static bool
drop(void *ctx, unsigned int from, const struct rl_flit *f,
     RL_UNUSED uint64_t slot)
{
	struct play *p = ctx;

	if (p->dropped || from != subject(p) || f->class == RL_CLASS_CTRL ||
	    rl_flit_tag(f->wire) != 1)
		return false;
	p->dropped = true;
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

json_t *
rxl_scenario_play(enum rxl_figure fig, enum rl_profile profile)
{
	struct play p = { .fig = fig, .profile = profile,
			  .events = json_array() };
	struct rl_rxl_path_cfg cfg;
	struct rl_codec *codec = take(rl_codec_memsize());
	json_t *result = NULL;
	void *mem;

	configure(&p, &cfg);
	mem = take(rl_rxl_path_memsize(&cfg));
	if (codec != NULL && mem != NULL &&
	    rl_codec_init(codec, cfg.ep.crc, cfg.ep.isn, RL_ISA_SCALAR) == 0) {
		p.path = rl_rxl_path_init(mem, &cfg, codec);
		init_agents(&p);
		rl_rxl_path_run(p.path, END_SLOT);
		result = json_pack("{s:O,s:b}", "events", p.events, "leak",
				   !rl_rxl_path_close(p.path));
	}
	json_decref(p.events);
	free(mem);
	free(codec);
	return result;
}
