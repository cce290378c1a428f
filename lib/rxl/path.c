/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "hop.h"
#include "meter.h"
#include "rl_seq.h"

#define BURST_MAX 64
#define REPORTS_MAX 256

/** A flit on its way, and when it arrives. */
struct transit {
	struct rl_flit *flit;
	uint64_t slot;
};

struct notice {
	uint64_t slot;
	struct rl_txn txn;
};

/** One direction: all between the two endpoints. */
struct dir {
	struct rxl_hops hops;
	struct rl_rxl_dir_tally tally;
	struct rl_pktq out;	/**< polled, and waiting for a slot */
	struct transit *ring;
	uint32_t ring_mask;
	uint32_t head;
	uint32_t tail;
	uint32_t nnotices;
	struct notice notice[REPORTS_MAX];
	uint32_t fresh;	 /**< next tag to be sent first */
	uint32_t expect; /**< tag that the receiver waits for */
	uint32_t window; /**< most that a sender is ahead of it */
};

struct rl_rxl_path {
	struct rl_rxl_path_cfg cfg;
	uint64_t slot;
	struct rl_flit_cache cache;
	struct rl_ep *ep[RL_RXL_SIDES];
	struct dir dir[RL_RXL_SIDES]; /**< by the side that sends */
	struct rxl_meter meter[RL_RXL_SIDES];
};

struct layout {
	size_t ep[RL_RXL_SIDES];
	size_t ring[RL_RXL_SIDES];
	size_t slots;
	size_t flits;
	size_t total;
	uint32_t ring_size;
	uint32_t nflits;
};

static size_t
place(size_t *at, size_t bytes)
{
	const size_t here = *at;

	*at += (bytes + RL_CACHE_LINE - 1) & ~(size_t)(RL_CACHE_LINE - 1);
	return here;
}

static void
lay_out(const struct rl_rxl_path_cfg *cfg, struct layout *l)
{
	size_t at = 0;

	l->ring_size = rl_pow2_ceil(cfg->latency_slots +
				    2 * cfg->burst_slots + 1);
	/* each end: retry buffer, a copy of each in flight, reorder window */
	l->nflits = RL_RXL_SIDES * (4 * cfg->ep.window_flits + l->ring_size +
				    8 * BURST_MAX);
	place(&at, sizeof(struct rl_rxl_path));
	for (int i = 0; i < RL_RXL_SIDES; i++) {
		l->ep[i] = place(&at, rl_ep_memsize(&cfg->ep, 2));
		l->ring[i] = place(&at, l->ring_size * sizeof(struct transit));
	}
	l->slots = place(&at, l->nflits * sizeof(struct rl_flit *));
	l->flits = place(&at, l->nflits * sizeof(struct rl_flit));
	l->total = at;
}

size_t
rl_rxl_path_memsize(const struct rl_rxl_path_cfg *cfg)
{
	struct layout l;

	lay_out(cfg, &l);
	return l.total;
}

static void
init_side(struct rl_rxl_path *p, unsigned int side, const struct layout *l,
	  const struct rl_codec *codec)
{
	struct rl_rxl_trial_cfg way = p->cfg.way;
	uint8_t *base = (uint8_t *)p;
	struct dir *d = &p->dir[side];
	const struct rl_ep_params ep = {
		.cfg = &p->cfg.ep,
		.codec = codec,
		.cache = &p->cache,
		.ep_id = (uint16_t)side,
		.npeers = RL_RXL_SIDES,
	};

	p->ep[side] = rl_ep_init(base + l->ep[side], &ep);
	/*
	 * Scrambled, so that no wire of one way runs on the numbers of a wire
	 * of the other: failures that come together both ways would count.
	 */
	way.seed = way.seed * RL_RXL_SIDES + side;
	way.seed = rl_splitmix64(&way.seed);
	rxl_hops_init(&d->hops, &way, codec);
	d->hops.every_hop = p->cfg.every_hop;
	d->ring = (struct transit *)(void *)(base + l->ring[side]);
	d->ring_mask = l->ring_size - 1;
	d->window = p->cfg.ep.window_flits;
	p->meter[side] = (struct rxl_meter){
		.seed = p->cfg.way.seed,
		.cache = &p->cache,
		.in = &p->dir[1 - side].tally,
		.peer = (uint16_t)(1 - side),
		.sends = p->cfg.sends[side],
	};
	rl_range_pool_init(&p->meter[side].pool, p->meter[side].node,
			   RXL_METER_NODES);
	if (p->cfg.client[side].poll == NULL)
		p->cfg.client[side] = (struct rl_rxl_client){
			&p->meter[side], rxl_meter_poll };
}

struct rl_rxl_path *
rl_rxl_path_init(void *mem, const struct rl_rxl_path_cfg *cfg,
		 const struct rl_codec *codec)
{
	struct rl_rxl_path *p = mem;
	struct rl_flit *flits;
	struct layout l;

	RL_ASSERT(cfg->burst_slots >= 1 && cfg->burst_slots <= BURST_MAX);
	RL_ASSERT(cfg->latency_slots >= 1);
	lay_out(cfg, &l);
	memset(p, 0, sizeof(*p));
	p->cfg = *cfg;
	p->cache.slot = (struct rl_flit **)(void *)((uint8_t *)mem + l.slots);
	p->cache.cap = l.nflits;
	flits = (struct rl_flit *)(void *)((uint8_t *)mem + l.flits);
	for (uint32_t i = l.nflits; i > 0; i--)
		rl_flit_put(&p->cache, &flits[i - 1]);
	for (unsigned int i = 0; i < RL_RXL_SIDES; i++)
		init_side(p, i, &l, codec);
	return p;
}

static void
watch(const struct rl_rxl_path *p, unsigned int from, enum rl_rxl_step step,
      const struct rl_flit *f, uint64_t slot)
{
	if (rl_unlikely(p->cfg.script.watch != NULL))
		p->cfg.script.watch(p->cfg.script.ctx, from, step, f, slot);
}

/** The switch's notice goes back the way that the flit has come. */
static void
take_notice(struct rl_rxl_path *p, struct dir *d, const struct rl_flit *f,
	    unsigned int where, uint64_t slot)
{
	struct notice *n = &d->notice[d->nnotices];

	if (!p->cfg.drop_reports || d->nnotices == REPORTS_MAX)
		return;
	rl_txn_get(f->wire, &n->txn);
	n->slot = slot + 2ull * p->cfg.latency_slots * where /
				 (p->cfg.way.levels + 1);
	d->nnotices++;
}

/** Notices that reach the originator of direction @p d by now. */
static void
give_notices(struct rl_rxl_path *p, unsigned int side, uint64_t now_ns)
{
	struct dir *d = &p->dir[side];

	for (uint32_t i = 0; i < d->nnotices;) {
		const struct notice n = d->notice[i];

		if (n.slot > p->slot) {
			i++;
			continue;
		}
		d->notice[i] = d->notice[--d->nnotices];
		/* the header may be corrupt: then no source is told */
		if (n.txn.src != side || n.txn.type != RL_FLIT_DATA)
			continue;
		d->tally.reports++;
		rl_ep_dropped(p->ep[side], now_ns, n.txn.dst, n.txn.cos,
			      n.txn.tag, n.txn.pos, RL_EP_DROP_LOST);
	}
}

/**
 * Follows what the receiver will think, from outside. A flit that the sender
 * goes on without, a whole window later, was acknowledged and never arrived:
 * with cxl that happens.
 */
static void
bear_witness(struct dir *d, uint32_t tag, bool fresh, enum rxl_fate fate)
{
	const bool gone = fate == RXL_DROPPED || fate == RXL_LOST;
	const bool good = fate == RXL_INTACT || fate == RXL_RIGHT;

	if (rl_seq_diff(tag, d->expect) >= (int32_t)d->window)
		d->expect = tag;
	if (tag != d->expect)
		return;
	/* what is awaited after a loss is not fresh when it comes */
	d->tally.chances += fresh;
	d->tally.drops += fresh && gone;
	d->expect += good;
}

static void
count_sent(struct dir *d, const struct rl_flit *f, enum rxl_fate fate)
{
	const uint32_t tag = rl_flit_tag(f->wire);
	const bool fresh = tag == d->fresh;

	if (f->class == RL_CLASS_CTRL) {
		d->tally.control++;
		return;
	}
	d->tally.fresh += fresh;
	d->tally.again += !fresh;
	d->fresh += fresh;
	d->tally.with_ack += fresh && rl_flit_cmd(f->wire) == RL_CMD_ACK;
	bear_witness(d, tag, fresh, fate);
}

/** One flit of side @p side takes slot @p slot. */
static void
transmit(struct rl_rxl_path *p, unsigned int side, struct rl_flit *f,
	 uint64_t slot)
{
	const struct rl_rxl_script *script = &p->cfg.script;
	struct dir *d = &p->dir[side];
	uint8_t sent[RL_FLIT_BYTES];
	enum rxl_fate fate = RXL_LOST;
	unsigned int where = 0;

	watch(p, side, RL_RXL_SENT, f, slot);
	/* what is counted is what was sent; errors are made in place */
	memcpy(sent, f->wire, RL_FLIT_DATA_OFF);
	if (rl_likely(script->drop == NULL ||
		      !script->drop(script->ctx, side, f, slot)))
		fate = rxl_hops_cross(&d->hops, f->wire, &where);
	if (fate == RXL_DROPPED)
		take_notice(p, d, f, where, slot);
	if (rl_unlikely(fate != RXL_INTACT)) {
		uint8_t got[RL_FLIT_DATA_OFF];

		memcpy(got, f->wire, sizeof(got));
		memcpy(f->wire, sent, sizeof(got));
		count_sent(d, f, fate);
		memcpy(f->wire, got, sizeof(got));
	} else {
		count_sent(d, f, fate);
	}
	d->tally.dropped += fate == RXL_DROPPED;
	d->tally.lost += fate == RXL_LOST;
	d->tally.wrong += fate == RXL_WRONG;
	if (fate == RXL_DROPPED || fate == RXL_LOST) {
		watch(p, side, RL_RXL_DROPPED, f, slot);
		rl_flit_put(&p->cache, f);
		return;
	}
	RL_ASSERT(d->head - d->tail <= d->ring_mask);
	d->ring[d->head++ & d->ring_mask] =
		(struct transit){ f, slot + p->cfg.latency_slots };
}

/** Sends the burst of side @p side. */
static void
speak(struct rl_rxl_path *p, unsigned int side, uint64_t now_ns)
{
	const uint32_t burst = p->cfg.burst_slots;
	struct dir *d = &p->dir[side];
	uint32_t n = 0;

	if (d->out.flits < burst)
		rl_ep_poll(p->ep[side], now_ns, &d->out,
			   burst - d->out.flits);
	while (n < burst) {
		struct rl_flit *f = rl_pktq_pop(&d->out);

		if (f == NULL)
			break;
		/* a link carries flits, whatever packets they are of */
		rl_packet_open(f);
		for (uint32_t k = f->pkt_flits; k > 0; k--) {
			struct rl_flit *next = f->next;

			rl_packet_start(f);
			f->flags = RL_FF_SOP | RL_FF_EOP;
			transmit(p, side, f, p->slot + n++);
			f = next;
		}
	}
	d->tally.slots += burst;
}

/** What arrives at side @p side by now. */
static void
listen(struct rl_rxl_path *p, unsigned int side, uint64_t now_ns)
{
	struct dir *d = &p->dir[1 - side];
	struct rl_flit *burst[BURST_MAX];
	unsigned int n = 0;

	while (d->tail != d->head) {
		const struct transit *t = &d->ring[d->tail & d->ring_mask];

		if (t->slot > p->slot)
			break;
		watch(p, 1 - side, RL_RXL_ARRIVED, t->flit, t->slot);
		burst[n++] = t->flit;
		d->tail++;
		if (n == BURST_MAX) {
			rl_ep_rx(p->ep[side], now_ns, burst, n);
			n = 0;
		}
	}
	if (n > 0)
		rl_ep_rx(p->ep[side], now_ns, burst, n);
}

static void
step(struct rl_rxl_path *p)
{
	const uint64_t now_ns = p->slot * p->cfg.slot_ns;

	for (unsigned int i = 0; i < RL_RXL_SIDES; i++)
		listen(p, i, now_ns);
	for (unsigned int i = 0; i < RL_RXL_SIDES; i++) {
		const struct rl_rxl_client *c = &p->cfg.client[i];

		if (rl_unlikely(p->dir[i].nnotices > 0))
			give_notices(p, i, now_ns);
		c->poll(c->ctx, p->ep[i], now_ns);
		speak(p, i, now_ns);
	}
	p->slot += p->cfg.burst_slots;
}

void
rl_rxl_path_run(struct rl_rxl_path *p, uint64_t slots)
{
	const uint64_t end = p->slot + slots;

	while (p->slot < end)
		step(p);
}

bool
rl_rxl_path_drain(struct rl_rxl_path *p, uint64_t slots)
{
	const uint64_t end = p->slot + slots;

	for (int i = 0; i < RL_RXL_SIDES; i++)
		p->meter[i].sends = false;
	while (p->slot < end) {
		step(p);
		if (rl_ep_idle(p->ep[0]) && rl_ep_idle(p->ep[1]))
			return true;
	}
	return false;
}

const struct rl_rxl_dir_tally *
rl_rxl_path_tally(struct rl_rxl_path *p, unsigned int side)
{
	struct dir *d = &p->dir[side];

	memcpy(d->tally.link, d->hops.link, sizeof(d->tally.link));
	d->tally.hurt_inside = d->hops.hurt_inside;
	return &d->tally;
}

void
rl_rxl_path_reset(struct rl_rxl_path *p)
{
	for (int i = 0; i < RL_RXL_SIDES; i++) {
		struct dir *d = &p->dir[i];

		memset(&d->tally, 0, sizeof(d->tally));
		memset(d->hops.link, 0, sizeof(d->hops.link));
		d->hops.hurt_inside = 0;
	}
}

uint64_t
rl_rxl_path_missing(const struct rl_rxl_path *p, unsigned int side)
{
	const struct rxl_meter *to = &p->meter[1 - side];

	return p->meter[side].sent - to->base - to->seen.next +
	       to->seen.missing.count + to->pool.lost;
}

const struct rl_ep *
rl_rxl_path_ep(const struct rl_rxl_path *p, unsigned int side)
{
	return p->ep[side];
}

struct rl_flit_cache *
rl_rxl_path_cache(struct rl_rxl_path *p)
{
	return &p->cache;
}

uint64_t
rl_rxl_path_slot(const struct rl_rxl_path *p)
{
	return p->slot;
}

bool
rl_rxl_path_close(struct rl_rxl_path *p)
{
	for (int i = 0; i < RL_RXL_SIDES; i++) {
		struct dir *d = &p->dir[i];
		struct rl_flit *f;

		while (d->tail != d->head)
			rl_flit_put(&p->cache,
				    d->ring[d->tail++ & d->ring_mask].flit);
		while ((f = rl_pktq_pop(&d->out)) != NULL)
			rl_packet_put(&p->cache, f);
		rl_ep_flush(p->ep[i]);
	}
	return p->cache.count == p->cache.cap;
}

void
rl_rxl_dir_add(struct rl_rxl_dir_tally *to, const struct rl_rxl_dir_tally *from)
{
	/* counters all the way through */
	uint64_t *a = (uint64_t *)(void *)to;
	const uint64_t *b = (const uint64_t *)(const void *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*a); i++)
		a[i] += b[i];
}

_Static_assert(sizeof(struct rl_rxl_dir_tally) % sizeof(uint64_t) == 0,
	       "made of counters alone");
