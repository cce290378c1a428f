/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order and completeness of a core under any interleaving of failures.
 *
 * Each port is a queue that delivers at once and whole: what has left it is
 * across and acknowledged, what has not loops back when it dies. So there are
 * no duplicates and no ways of different length, and whatever the core does,
 * every flow must come out complete and in order. Ports die and return at any
 * moment, also while others drain, wait or restore; marks, looped packets and
 * fences reach the core as late as a ring may be read.
 *
 * With cut-through packets come and go in fragments. A port that dies gives
 * back all of a packet whose end has not crossed, and packets may be cut off
 * on their way in: closed by a marked end, and sent again whole.
 */
#include "core_bench.h"

#define RING 4096
#define FLOWS 6 /* destinations 1..FLOWS */

struct fifo {
	struct rl_flit *item[RING];
	unsigned int head;
	unsigned int tail;
};

struct mport {
	enum { P_DOWN, P_UP, P_LOOPING } state;
	struct fifo wire; /* given by the core: packets and FENCE marks */
	struct fifo loop; /* for the core: marks and packets */
	struct rl_flit *part[RL_VCS]; /* across, but for its end */
	struct rl_flit *open[RL_VCS]; /* LOOPING: without its end so far */
};

struct model {
	struct core_bench c;
	struct rl_prng prng;
	struct mport port[CB_PORTS];
	bool cut;		      /* cut-through */
	struct rl_flit *rest[RL_VCS]; /* of the packet that comes in */
	struct rl_flit *again[RL_VCS]; /* to be sent whole: it was cut off */
	uint64_t taken_flits;	      /* that held a credit of port 0 */
	uint64_t cut_off;
	uint32_t got[CB_DSTS];
	unsigned int seed;
	unsigned int nports; /* 1..nports-1 may die; 0 is the way in */
	uint64_t kills;
	uint64_t max_down;   /* most ports down at once */
};

static bool trace; /* RL_SEED=n: this seed alone, told step by step */

#define TRACE(...)                                                             \
	do {                                                                   \
		if (trace)                                                     \
			printf(__VA_ARGS__);                                   \
	} while (0)

static const char *
item_name(const struct rl_flit *item)
{
	static char name[32];
	static const char *const marks[] = { "?", "UP", "BEGIN", "END",
					     "FENCE_DONE", "LOOP_FENCE",
					     "FENCE" };
	const enum rl_pipe_mark m = rl_pipe_is_mark(item);

	if (m != RL_MARK_NONE)
		return marks[m];
	snprintf(name, sizeof(name), "%u.%u", item->dst,
		 rl_flit_tag(item->wire));
	return name;
}

static void
fifo_put(struct fifo *f, struct rl_flit *item)
{
	assert_true(f->tail - f->head < RING);
	f->item[f->tail++ % RING] = item;
}

static bool
fifo_get(struct fifo *f, struct rl_flit **item)
{
	if (f->head == f->tail)
		return false;
	*item = f->item[f->head++ % RING];
	return true;
}

/* One piece of what the dead port has; whole packets go back. */
static void
loop_out(struct mport *p, unsigned int port, struct rl_flit *piece)
{
	struct rl_flit **open = &p->open[piece->vc];
	struct rl_flit *pkt = *open == NULL ? piece : *open;

	if (pkt != piece)
		rl_packet_join(pkt, piece);
	*open = rl_packet_ends(pkt) ? NULL : pkt;
	for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
		f->flags |= RL_FF_LOOPED;
		f->loop_id = port + 1;
	}
	if (*open == NULL)
		fifo_put(&p->loop, pkt);
}

/* Nothing more will come: what has no end goes back without. */
static void
loop_unended(struct mport *p)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (p->open[vc] != NULL)
			fifo_put(&p->loop, p->open[vc]);
		p->open[vc] = NULL;
	}
}

/* The port takes one item from the core. */
static void
port_take(struct model *m, unsigned int port, struct rl_flit *item)
{
	struct mport *p = &m->port[port];

	switch (rl_pipe_is_mark(item)) {
	case RL_MARK_LOOP_FENCE:
		assert_int_equal(p->state, P_LOOPING);
		loop_unended(p);
		fifo_put(&p->loop, rl_pipe_mark(RL_MARK_LOOP_END));
		p->state = P_DOWN;
		return;
	case RL_MARK_FENCE:
		if (p->state == P_UP)
			fifo_put(&p->wire, item);
		else
			fifo_put(&p->loop, rl_pipe_mark(RL_MARK_FENCE_DONE));
		return;
	default:
		break;
	}
	assert_int_not_equal(p->state, P_DOWN); /* it would be lost */
	rl_shared_add(&m->c.shared[port]->taken[item->vc], item->pkt_flits);
	if (p->state == P_UP)
		fifo_put(&p->wire, item);
	else
		loop_out(p, port, item);
}

static void
step_tx(struct model *m, unsigned int port)
{
	struct rl_flit *out[8];
	const unsigned int n =
		rl_core_tx(m->c.core, (uint16_t)port, out,
			   1 + rl_prng_below(&m->prng, 8));

	for (unsigned int i = 0; i < n; i++) {
		TRACE("tx %u: %s\n", port, item_name(out[i]));
		port_take(m, port, out[i]);
	}
}

/* A packet is across: the next of its flow, whole, or cut off upstream. */
static void
arrived(struct model *m, struct rl_flit *pkt)
{
	if (pkt->last->mark == RL_MARK_TRANSMIT_ERROR) {
		assert_true(m->cut);
	} else {
		if (rl_flit_tag(pkt->wire) != m->got[pkt->dst])
			fail_msg("seed %u, flow %u: packet %u came, %u was "
				 "expected", m->seed, pkt->dst,
				 rl_flit_tag(pkt->wire), m->got[pkt->dst]);
		assert_true(bench_intact(pkt));
		m->got[pkt->dst]++;
	}
	rl_packet_put(&m->c.pool.cache, pkt);
}

/* The oldest item of a live port's wire arrives. */
static void
step_deliver(struct model *m, unsigned int port)
{
	struct mport *p = &m->port[port];
	struct rl_flit *pkt, **part;

	if (p->state != P_UP || !fifo_get(&p->wire, &pkt))
		return;
	if (rl_pipe_is_mark(pkt) == RL_MARK_FENCE) {
		fifo_put(&p->loop, rl_pipe_mark(RL_MARK_FENCE_DONE));
		return;
	}
	TRACE("deliver %u: %s\n", port, item_name(pkt));
	part = &p->part[pkt->vc];
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
	arrived(m, pkt);
}

static void
step_kill(struct model *m, unsigned int port)
{
	struct mport *p = &m->port[port];
	struct rl_flit *item;
	struct fifo rest = { .head = 0 };
	uint64_t down = 0;

	if (p->state != P_UP || port == 0)
		return;
	m->kills++;
	TRACE("kill %u\n", port);
	p->state = P_LOOPING;
	fifo_put(&p->loop, rl_pipe_mark(RL_MARK_LOOP_BEGIN));
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		if (p->part[vc] != NULL)
			loop_out(p, port, p->part[vc]);
		p->part[vc] = NULL;
	}
	while (fifo_get(&p->wire, &item)) {
		if (rl_pipe_is_mark(item) == RL_MARK_FENCE)
			fifo_put(&p->loop, rl_pipe_mark(RL_MARK_FENCE_DONE));
		else
			fifo_put(&rest, item);
	}
	while (fifo_get(&rest, &item))
		loop_out(p, port, item);
	for (unsigned int i = 1; i < m->nports; i++)
		down += m->port[i].state != P_UP;
	if (down > m->max_down)
		m->max_down = down;
}

static void
step_up(struct model *m, unsigned int port)
{
	struct mport *p = &m->port[port];

	if (p->state != P_DOWN)
		return;
	p->state = P_UP;
	fifo_put(&p->loop, rl_pipe_mark(RL_MARK_LINK_UP));
}

/* The core reads some of a loop ring. */
static void
step_ring(struct model *m, unsigned int port, unsigned int n)
{
	struct rl_flit *item;

	while (n-- > 0 && fifo_get(&m->port[port].loop, &item)) {
		TRACE("ring %u: %s\n", port, item_name(item));
		rl_core_loop(m->c.core, (uint16_t)port, &item, 1,
			     m->c.now_ns);
		TRACE("  %u is %s\n", port,
		      rl_egress_state_name(CB_STATE(&m->c, port)));
	}
}

/* Cuts the first n flits off a packet; the rest is returned. */
static struct rl_flit *
split(struct rl_flit *pkt, unsigned int n)
{
	struct rl_flit *f = pkt, *rest;

	if (n >= pkt->pkt_flits)
		return NULL;
	for (unsigned int i = 1; i < n; i++)
		f = f->next;
	rest = f->next;
	rest->last = pkt->last;
	rest->pkt_flits = (uint16_t)(pkt->pkt_flits - n);
	pkt->last = f;
	pkt->pkt_flits = (uint16_t)n;
	f->next = NULL;
	return rest;
}

/* The end that a port makes for a packet that was cut off. */
static struct rl_flit *
marked_end(struct model *m, const struct rl_flit *of)
{
	struct rl_flit *f = rl_flit_get(&m->c.pool.cache);

	assert_non_null(f);
	*f = *of;
	rl_packet_start(f);
	f->flags = RL_FF_EOP | RL_FF_CREDIT;
	f->mark = RL_MARK_TRANSMIT_ERROR;
	return f;
}

static void
give(struct model *m, struct rl_flit *piece)
{
	TRACE("rx %s: %u flits%s%s\n", item_name(piece), piece->pkt_flits,
	      rl_packet_ends(piece) ? ", ends" : "",
	      piece->last->mark != RL_MARK_OK ? " marked" : "");
	m->taken_flits += piece->pkt_flits;
	piece->flags |= RL_FF_CREDIT;
	cb_give(&m->c, 0, piece);
}

/* Begins a packet, by a fragment where the model cuts through. */
static void
begin(struct model *m, struct rl_flit *pkt)
{
	if (m->cut)
		m->rest[pkt->in_vc] = split(
			pkt, 1 + rl_prng_below(&m->prng, pkt->pkt_flits + 2u));
	give(m, pkt);
}

/* Goes on with the packet that is open on a VC, or cuts it off. */
static void
go_on(struct model *m, unsigned int vc)
{
	struct rl_flit *piece = m->rest[vc];

	if (rl_prng_below(&m->prng, 12) != 0) {
		m->rest[vc] = split(piece, 1 + rl_prng_below(&m->prng, 3));
		give(m, piece);
		return;
	}
	/* its rest never comes; all of it comes again, next on this VC */
	m->cut_off++;
	m->rest[vc] = NULL;
	m->c.next_tag[piece->dst]--;
	m->again[vc] = cb_packet(&m->c, 0, piece->dst,
				 rl_get16(piece->wire + 16));
	give(m, marked_end(m, piece));
	rl_packet_put(&m->c.pool.cache, piece);
}

static void
step_rx(struct model *m)
{
	const uint16_t dst = (uint16_t)(1 + rl_prng_below(&m->prng, FLOWS));
	const unsigned int vc = dst % 3; /* the SL of the flow */
	struct rl_flit *pkt = m->again[vc];

	if (m->c.pool.cache.count < 300)
		return;
	if (m->rest[vc] != NULL) {
		go_on(m, vc);
		return;
	}
	m->again[vc] = NULL;
	if (pkt == NULL)
		pkt = cb_packet(&m->c, 0, dst, 1 + rl_prng_below(&m->prng, 5));
	begin(m, pkt);
}

/* A packet that came in part is completed. */
static void
end_rx(struct model *m)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		while (m->rest[vc] != NULL || m->again[vc] != NULL) {
			if (m->rest[vc] != NULL) {
				go_on(m, vc);
				continue;
			}
			give(m, m->again[vc]);
			m->again[vc] = NULL;
		}
	}
}

static void
step_time(struct model *m, uint64_t ns)
{
	enum rl_egress_state was[CB_PORTS];

	for (uint16_t p = 0; p < m->nports; p++)
		was[p] = CB_STATE(&m->c, p);
	cb_advance(&m->c, ns);
	for (uint16_t p = 0; p < m->nports; p++)
		if (CB_STATE(&m->c, p) != was[p])
			TRACE("  %u is %s\n", p,
			      rl_egress_state_name(CB_STATE(&m->c, p)));
}

static void
model_open(struct model *m, unsigned int seed)
{
	memset(m, 0, sizeof(*m));
	m->seed = seed;
	rl_prng_seed(&m->prng, seed);
	m->nports = 3 + rl_prng_below(&m->prng, 3);
	cb_cfg(&m->c);
	m->c.cfg.watchdog_ns = 3600 * RL_NS_PER_S;
	m->c.cfg.resume_delay_ns = rl_prng_below(&m->prng, 3) * 10000;
	m->c.cfg.restore_delay_ns = rl_prng_below(&m->prng, 3) * 10000;
	m->c.cfg.queue_flits = 8 + rl_prng_below(&m->prng, 120);
	m->c.cfg.max_packet_flits = 6;
	m->cut = seed % 2 == 0;
	if (m->cut)
		m->c.cfg.switching = RL_CUT_THROUGH;
	for (uint16_t d = 1; d <= FLOWS; d++) {
		uint16_t ports[RL_FWD_ALTS];
		unsigned int n = 0;
		const unsigned int first = rl_prng_below(&m->prng, 8);

		for (unsigned int i = 0; i < m->nports - 1; i++)
			if (n < RL_FWD_ALTS)
				ports[n++] = (uint16_t)(
					1 + (first + i) % (m->nports - 1));
		cb_route(&m->c, 0, d, ports, n);
	}
	cb_open(&m->c, -1);
	for (unsigned int p = 0; p < m->nports; p++)
		step_up(m, p);
}

static void
model_step(struct model *m)
{
	const unsigned int port = rl_prng_below(&m->prng, m->nports);
	const uint32_t r = rl_prng_below(&m->prng, 1000);

	if (r < 200)
		step_rx(m);
	else if (r < 450)
		step_tx(m, port);
	else if (r < 700)
		step_deliver(m, port);
	else if (r < 850)
		step_ring(m, port, 1 + rl_prng_below(&m->prng, 3));
	else if (r < 870)
		step_kill(m, port);
	else if (r < 890)
		step_up(m, port);
	else
		step_time(m, rl_prng_below(&m->prng, 4000));
}

static void
model_fail(const struct model *m, unsigned int flow)
{
	for (unsigned int p = 1; p < m->nports; p++)
		print_message("port %u: %s, %u flits held\n", p,
			      rl_egress_state_name(CB_STATE(&m->c, p)),
			      rl_core_held(m->c.core, (uint16_t)p));
	fail_msg("flow %u: %u of %u came; %u flits in the core", flow,
		 m->got[flow], m->c.next_tag[flow], rl_core_flits(m->c.core));
}

/* No more failures: everything must come out. */
static void
model_finish(struct model *m)
{
	end_rx(m);
	for (unsigned int round = 0; round < 3000; round++) {
		for (unsigned int p = 0; p < m->nports; p++) {
			step_up(m, p);
			step_ring(m, p, 100);
			step_tx(m, p);
			for (unsigned int i = 0; i < 10; i++)
				step_deliver(m, p);
		}
		step_time(m, 1000);
	}
	for (unsigned int d = 1; d <= FLOWS; d++)
		if (m->got[d] != m->c.next_tag[d])
			model_fail(m, d);
	for (unsigned int p = 1; p < m->nports; p++)
		assert_int_equal(CB_STATE(&m->c, p), RL_EGRESS_ALIVE);
	assert_int_equal(rl_core_flits(m->c.core), 0);
	assert_int_equal(m->c.ndrops, 0);
	assert_int_equal(cb_freed(&m->c, 0), m->taken_flits);
	cb_close(&m->c);
}

static void
any_order_of_failures_keeps_every_flow_in_order(void **state)
{
	static struct model m;
	uint64_t kills = 0, max_down = 0, cut_off = 0;
	unsigned int first = 1, last = 400;
	const char *env = getenv("RL_SEED"), *more = getenv("RL_SEEDS");

	(void)state;
	if (env != NULL)
		first = last = (unsigned int)atoi(env);
	trace = env != NULL;
	if (more != NULL)
		last = (unsigned int)atoi(more);
	for (unsigned int seed = first; seed <= last; seed++) {
		model_open(&m, seed);
		for (unsigned int i = 0; i < 4000; i++) {
			model_step(&m);
			if (m.max_down > max_down)
				max_down = m.max_down;
		}
		kills += m.kills;
		cut_off += m.cut_off;
		model_finish(&m);
	}
	if (env == NULL) {
		assert_true(kills > 10000);
		assert_true(cut_off > 1000);
		assert_int_equal(max_down, 4); /* of four: no way at all */
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-C30 [DRL-4] any order of failures keeps every flow "
		     "in order and complete",
		     any_order_of_failures_keeps_every_flow_in_order),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
