/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

/* --- flits ------------------------------------------------------------- */

void
bench_pool_open(struct bench_pool *p, uint32_t flits)
{
	memset(p, 0, sizeof(*p));
	p->total = flits;
	p->mem = aligned_alloc(RL_CACHE_LINE, flits * sizeof(*p->mem));
	p->cache.slot = calloc(flits, sizeof(*p->cache.slot));
	p->codec = aligned_alloc(RL_CACHE_LINE,
				 (rl_codec_memsize() + 63) & ~(size_t)63);
	assert_non_null(p->mem);
	assert_non_null(p->cache.slot);
	assert_non_null(p->codec);
	/* stale bytes in a free flit must not matter */
	memset(p->mem, 0xa5, flits * sizeof(*p->mem));
	p->cache.cap = flits;
	for (uint32_t i = 0; i < flits; i++)
		rl_flit_put(&p->cache, &p->mem[i]);
	assert_int_equal(rl_codec_init(p->codec, RL_CRC_ECMA, RL_ISN_XOR10,
				       rl_codec_best_isa(512)),
			 0);
}

void
bench_pool_check(const struct bench_pool *p)
{
	uint8_t *seen = calloc(p->total, 1);

	assert_int_equal(p->cache.count, p->total);
	for (uint32_t i = 0; i < p->cache.count; i++) {
		const ptrdiff_t n = p->cache.slot[i] - p->mem;

		assert_in_range(n, 0, p->total - 1);
		if (seen[n]++)
			fail_msg("flit %d was freed twice", (int)n);
	}
	free(seen);
}

void
bench_pool_close(struct bench_pool *p)
{
	free(p->mem);
	free(p->cache.slot);
	free(p->codec);
}

static void
fill_data(uint8_t *wire)
{
	uint64_t seed = rl_get64(wire + 2) ^ rl_get64(wire + 10) << 1;

	for (unsigned int i = RL_FLIT_DATA_OFF; i < RL_FLIT_CRC_OFF; i += 8)
		rl_put64(wire + i, rl_splitmix64(&seed));
}

struct rl_flit *
bench_make(struct bench_pool *p, const struct bench_packet *k)
{
	struct rl_flit *head = NULL;

	for (uint16_t i = 0; i < k->flits; i++) {
		struct rl_flit *f = rl_flit_get(&p->cache);
		const struct rl_txn t = {
			.dst = k->dst, .src = k->src, .sl = k->sl,
			.class = k->class, .sop = i == 0,
			.eop = i + 1 == k->flits,
			.valid_bytes = RL_FLIT_DATA_BYTES,
			.tag = k->tag, .pos = i, .len_flits = k->flits,
		};
		const uint32_t seq = i;
		uint8_t *wire;

		assert_non_null(f);
		*f = (struct rl_flit){
			.in_port = RL_PORT_NONE, .dst = k->dst, .src = k->src,
			.sl = k->sl, .class = k->class,
			.flags = (uint8_t)((t.sop ? RL_FF_SOP : 0) |
					   (t.eop ? RL_FF_EOP : 0)),
		};
		wire = f->wire;
		rl_flit_set_header(wire, 0, RL_CMD_SEQ);
		rl_txn_put(wire, &t);
		fill_data(wire);
		rl_codec_tx(p->codec, &wire, &seq, 1);
		if (head == NULL) {
			rl_packet_start(f);
			head = f;
		} else {
			rl_packet_append(head, f);
		}
	}
	head->vc = k->vc; /* the core only sets that of the head */
	return head;
}

bool
bench_flit_intact(const struct rl_flit *f)
{
	uint8_t want[RL_FLIT_BYTES];

	memcpy(want, f->wire, sizeof(want));
	fill_data(want);
	return memcmp(want, f->wire, sizeof(want)) == 0;
}

bool
bench_intact(const struct rl_flit *pkt)
{
	const struct rl_flit *f = pkt;
	struct rl_txn t, first;

	rl_txn_get(pkt->wire, &first);
	if (pkt->pkt_flits != first.len_flits)
		return false;
	for (uint16_t i = 0; i < pkt->pkt_flits; i++, f = f->next) {
		if (f == NULL)
			return false;
		rl_txn_get(f->wire, &t);
		if (t.tag != first.tag || t.pos != i || t.dst != first.dst ||
		    t.src != first.src || t.len_flits != first.len_flits)
			return false;
		if (!bench_flit_intact(f))
			return false;
	}
	return f == NULL;
}

void
bench_sink_take(struct bench_sink *s, const struct rl_flit *pkt)
{
	const uint32_t tag = rl_flit_tag(pkt->wire);
	uint32_t *next = &s->next_tag[pkt->sl & (RL_SLS - 1)];

	s->packets++;
	s->flits += pkt->pkt_flits;
	s->corrupt += !bench_intact(pkt);
	s->marked += pkt->mark != RL_MARK_OK;
	if (tag == *next)
		(*next)++;
	else if (tag < *next)
		s->duplicates++;
	else
		s->disorder++;
}

/* --- wires ------------------------------------------------------------- */

void
bench_wire_open(struct bench_wire *w, uint32_t frame_bytes)
{
	memset(w, 0, sizeof(*w));
	w->cap = 4096;
	w->frame_bytes = (frame_bytes + 63) & ~63u;
	w->slot = calloc(w->cap, sizeof(*w->slot));
	assert_non_null(w->slot);
}

void
bench_wire_close(struct bench_wire *w)
{
	for (uint32_t i = 0; i < w->cap; i++)
		free(w->slot[i].data);
	free(w->slot);
}

struct bench_rule *
bench_rule(struct bench_wire *w, struct bench_rule r)
{
	assert_true(w->nrules < BENCH_RULES);
	w->rule[w->nrules] = r;
	return &w->rule[w->nrules++];
}

void
bench_no_rules(struct bench_wire *w)
{
	w->nrules = 0;
	w->hook = NULL;
}

bool
bench_wire_ready(const struct bench_wire *w, uint64_t now_ns)
{
	return now_ns >= w->busy_ns;
}

/* Errors in all three sub-blocks: FEC detects them but cannot correct them. */
static void
hurt_flit(struct bench_frame *f, uint32_t n)
{
	uint8_t *p = f->data + rl_frame_header_bytes(f->h.nflits) +
		     n % f->h.nflits * RL_FLIT_BYTES;

	for (unsigned int i = 0; i < 12; i++)
		p[30 + i] ^= (uint8_t)(0x11 + 7 * i * i);
}

static enum bench_act
wire_act(struct bench_wire *w, struct bench_frame *f, uint32_t *arg)
{
	enum bench_act act = BENCH_PASS;

	if (w->hook != NULL)
		act = w->hook(w->ctx, f);
	for (unsigned int i = 0; i < w->nrules && act == BENCH_PASS; i++) {
		struct bench_rule *r = &w->rule[i];

		if ((r->type != 0 && r->type != f->h.type) ||
		    (f->h.flags & r->with) != r->with ||
		    (f->h.flags & r->without) != 0)
			continue;
		if (r->seen >= r->first && r->seen <= r->last) {
			act = r->act;
			*arg = r->arg;
		}
		r->seen++;
	}
	return act;
}

static struct bench_frame *
wire_push(struct bench_wire *w, const uint8_t *data, uint32_t len)
{
	struct bench_frame *f = &w->slot[w->tail++ % w->cap];

	assert_true(w->tail - w->head <= w->cap);
	if (f->data == NULL)
		f->data = aligned_alloc(RL_CACHE_LINE, w->frame_bytes);
	assert_non_null(f->data);
	assert_true(len <= w->frame_bytes);
	memcpy(f->data, data, len);
	f->len = len;
	f->gone = false;
	return f;
}

void
bench_wire_send(struct bench_wire *w, const uint8_t *data, uint32_t len,
		uint64_t now_ns)
{
	struct bench_frame *f = wire_push(w, data, len);
	uint32_t arg = 0;

	assert_int_equal(rl_frame_open(f->data, len, &f->h, false),
			 RL_FRAME_OK);
	w->frames++;
	w->flits += f->h.nflits;
	w->type[f->h.type & 7]++;
	w->busy_ns = now_ns + w->slot_ns;
	f->due_ns = now_ns + w->slot_ns + w->delay_ns;
	switch (wire_act(w, f, &arg)) {
	case BENCH_PASS:
		break;
	case BENCH_DROP:
		f->gone = true;
		break;
	case BENCH_TWICE: {
		struct bench_frame *g = wire_push(w, data, len);

		g->h = f->h;
		g->due_ns = f->due_ns;
		break;
	}
	case BENCH_HURT:
		hurt_flit(f, arg);
		break;
	case BENCH_NUDGE:
		f->data[rl_frame_header_bytes(f->h.nflits) +
			arg % f->h.nflits * RL_FLIT_BYTES + 77] ^= 0x40;
		break;
	case BENCH_SPOIL:
		f->data[arg] ^= 0x01;
		break;
	case BENCH_LATE:
		f->due_ns += arg;
		break;
	}
	if (w->cut)
		f->gone = true;
}

uint64_t
bench_wire_due(const struct bench_wire *w)
{
	uint64_t due = RL_NEVER;

	for (uint32_t i = w->head; i != w->tail; i++)
		if (!w->slot[i % w->cap].gone)
			due = rl_min_u64(due, w->slot[i % w->cap].due_ns);
	return due;
}

void
bench_wire_clear(struct bench_wire *w)
{
	w->head = w->tail;
}

/* --- ends -------------------------------------------------------------- */

static void
end_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
	 uint64_t now_ns)
{
	struct rl_flit *flit[RL_PACKET_FLITS_HELD]; /* like the hosts do */
	struct bench_end *e = ctx;

	(void)now_ns;
	assert_int_equal(rl_packet_flits(pkt, flit), pkt->pkt_flits);
	assert_ptr_equal(flit[0], pkt);
	assert_true(e->ndrops < BENCH_DROPS);
	e->drop[e->ndrops++] = (struct bench_dropped){
		.why = why,
		.tag = rl_flit_tag(pkt->wire),
		.flits = pkt->pkt_flits,
	};
}

/* Each opened end counts as a process. */
static uint64_t bench_incarnation;

void
bench_end_open(struct bench_end *e, const struct bench_end_params *p)
{
	struct rl_port_params pp = {
		.cfg = p->cfg, .codec = p->pool->codec,
		.cache = &p->pool->cache, .drop = end_drop, .drop_ctx = e,
		.seed = 7 + p->uid, .uid = p->uid, .index = p->index,
		.incarnation = ++bench_incarnation, .digest = p->digest,
		.kind = p->kind, .frame_bytes = p->out->frame_bytes,
		.mac = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 },
		.auth = p->auth,
		.place = p->place,
	};

	memset(e, 0, sizeof(*e));
	e->in = p->in;
	e->out = p->out;
	e->pool = p->pool;
	e->mem = aligned_alloc(RL_CACHE_LINE, rl_port_memsize(p->cfg));
	e->shared = aligned_alloc(RL_CACHE_LINE, sizeof(*e->shared));
	e->frame = aligned_alloc(RL_CACHE_LINE, p->out->frame_bytes);
	memset(e->mem, 0xa5, rl_port_memsize(p->cfg));
	memset(e->shared, 0, sizeof(*e->shared));
	pp.shared = e->shared;
	e->port = rl_port_init(e->mem, &pp);
	assert_non_null(e->port);
}

static void
end_flush(struct bench_pool *pool, struct rl_pktq *q)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(q)) != NULL)
		rl_packet_put(&pool->cache, pkt);
}

static void
end_drop_parts(struct bench_end *e)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (e->part[vc] != NULL)
			rl_packet_put(&e->pool->cache, e->part[vc]);
		e->part[vc] = NULL;
	}
}

void
bench_end_close(struct bench_end *e)
{
	rl_port_flush(e->port);
	assert_int_equal(rl_port_flits(e->port), 0);
	end_drop_parts(e);
	end_flush(e->pool, &e->kept);
	end_flush(e->pool, &e->looped);
	free(e->mem);
	free(e->shared);
	free(e->frame);
}

/* Frames in the longest burst. */
#define BENCH_BURST 32

/* Receives frames in bursts, like a PHY. */
static void
end_receive(struct bench_end *e, uint64_t now_ns)
{
	struct bench_wire *w = e->in;
	const unsigned int most = e->burst == 0 ? BENCH_BURST : e->burst;
	uint8_t *data[BENCH_BURST];
	uint32_t len[BENCH_BURST];
	unsigned int n = 0;

	for (uint32_t i = w->head; i != w->tail; i++) {
		struct bench_frame *f = &w->slot[i % w->cap];

		if (f->gone || f->due_ns > now_ns)
			continue;
		f->gone = true;
		data[n] = f->data;
		len[n++] = f->len;
		if (n < most)
			continue;
		rl_port_rx_burst(e->port, data, len, n, now_ns);
		n = 0;
	}
	rl_port_rx_burst(e->port, data, len, n, now_ns);
	while (w->head != w->tail && w->slot[w->head % w->cap].gone)
		w->head++;
}

void
bench_end_port(struct bench_end *e, uint64_t now_ns)
{
	unsigned int frames = 0, bound, left;
	struct rl_port_burst burst = { .again = false };
	uint32_t len, most;

	end_receive(e, now_ns);
	rl_port_tick(e->port, now_ns);
	if (!rl_port_tx_ready(e->port, now_ns))
		return;
	rl_port_tx_most(e->port, &bound);
	while (bench_wire_ready(e->out, now_ns)) {
		most = rl_port_tx_most(e->port, &left);
		len = rl_port_tx_next(e->port, e->frame, &burst, now_ns);
		if (len == 0)
			break;
		assert_true(len <= most && ++frames <= bound);
		bench_wire_send(e->out, e->frame, len, now_ns);
		if (frames > 4000)
			fail_msg("a port never stops sending");
	}
}

static void
end_accept(struct bench_end *e, struct rl_flit *pkt)
{
	struct rl_flit **part = &e->part[pkt->in_vc];

	assert_true(pkt->flags & RL_FF_CREDIT);
	rl_shared_add(&e->shared->freed[pkt->in_vc], pkt->pkt_flits);
	e->fragments += !(pkt->flags & RL_FF_SOP) || !rl_packet_ends(pkt);
	if (*part == NULL) {
		assert_true(pkt->flags & RL_FF_SOP);
		*part = pkt;
	} else {
		assert_false(pkt->flags & RL_FF_SOP);
		rl_packet_join(*part, pkt);
	}
	pkt = *part;
	if (!rl_packet_ends(pkt))
		return;
	*part = NULL;
	if (pkt->last->mark == RL_MARK_TRANSMIT_ERROR)
		e->closed++;
	else
		bench_sink_take(&e->sink, pkt);
	rl_packet_put(&e->pool->cache, pkt);
}

void
bench_end_release(struct bench_end *e)
{
	struct rl_flit *pkt;

	while ((pkt = rl_pktq_pop(&e->kept)) != NULL)
		end_accept(e, pkt);
}

void
bench_end_core(struct bench_end *e, uint64_t now_ns)
{
	struct rl_pktq *q = rl_port_rx_out(e->port);
	struct rl_flit *pkt;

	while (rl_port_event_pop(e->port, &e->event[e->nevents]))
		if (++e->nevents == BENCH_EVENTS)
			fail_msg("too many events");
	if (e->no_core)
		return;
	while ((pkt = rl_pktq_pop(q)) != NULL) {
		rl_packet_open(pkt); /* tests access flits, and corrupt them */
		if (e->hold_vcs & 1u << pkt->in_vc)
			rl_pktq_push(&e->kept, pkt);
		else
			end_accept(e, pkt);
	}
	while ((pkt = rl_port_loop(e->port, now_ns)) != NULL) {
		const enum rl_pipe_mark m = rl_pipe_is_mark(pkt);

		if (m == RL_MARK_NONE) {
			rl_pktq_push(&e->looped, pkt);
			continue;
		}
		assert_true(e->nmarks < BENCH_MARKS);
		e->mark[e->nmarks++] = (uint8_t)m;
		if ((m == RL_MARK_LINK_DRAIN ||
		     (m == RL_MARK_LOOP_BEGIN && !e->left)) &&
		    !e->no_fence)
			rl_port_submit(e->port,
				       rl_pipe_mark(RL_MARK_LOOP_FENCE),
				       now_ns);
		e->left = m == RL_MARK_LINK_DRAIN;
	}
}

unsigned int
bench_end_events(const struct bench_end *e, enum rl_port_event_type type)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < e->nevents; i++)
		n += e->event[i].type == type;
	return n;
}

enum rl_detector
bench_end_detector(const struct bench_end *e)
{
	enum rl_detector d = RL_DET_NONE;

	for (unsigned int i = 0; i < e->nevents; i++)
		if (e->event[i].type == RL_PEV_DEAD)
			d = e->event[i].detector;
	return d;
}

struct rl_port_info
bench_info(const struct bench_end *e)
{
	struct rl_port_info info;

	rl_port_info(e->port, &info);
	return info;
}

void
bench_snapshot(const struct bench_end *e, struct rl_port_info *info)
{
	memset(info, 0, sizeof(*info));
	rl_port_info(e->port, info);
}

struct rl_frame_hdr
bench_forge(struct bench_end *e, enum rl_frame_type type, uint8_t flags,
	    uint64_t now_ns)
{
	const struct rl_port_info info = bench_info(e);

	e->forged_ns = rl_max_u64(e->forged_ns + 1, now_ns);
	return (struct rl_frame_hdr){
		.type = (uint8_t)type, .flags = flags,
		.tx_epoch = info.rx_epoch, .rx_epoch = info.tx_epoch,
		.stamp = e->forged_ns,
		.bytes = type == RL_FRAME_RETRAIN
				 ? (uint16_t)rl_frame_bytes(
					   info.flits_per_frame)
				 : 0,
	};
}

void
bench_inject(struct bench_end *e, const struct rl_frame_hdr *h, uint64_t now_ns)
{
	static const uint8_t mac[12] = { 0 };

	rl_frame_seal(e->frame, h, mac, false);
	rl_port_rx_frame(e->port, e->frame, rl_frame_length(h), now_ns);
}

enum rl_link_state
bench_state(const struct bench_end *e)
{
	return bench_info(e).state;
}
