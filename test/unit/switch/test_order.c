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
};

struct model {
	struct core_bench c;
	struct rl_prng prng;
	struct mport port[CB_PORTS];
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

static void
loop_out(struct mport *p, unsigned int port, struct rl_flit *pkt)
{
	for (struct rl_flit *f = pkt; f != NULL; f = f->next) {
		f->flags |= RL_FF_LOOPED;
		f->loop_id = port + 1;
	}
	fifo_put(&p->loop, pkt);
}

/* The port takes one item from the core. */
static void
port_take(struct model *m, unsigned int port, struct rl_flit *item)
{
	struct mport *p = &m->port[port];

	switch (rl_pipe_is_mark(item)) {
	case RL_MARK_LOOP_FENCE:
		assert_int_equal(p->state, P_LOOPING);
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

/* The oldest item of a live port's wire arrives. */
static void
step_deliver(struct model *m, unsigned int port)
{
	struct mport *p = &m->port[port];
	struct rl_flit *pkt;

	if (p->state != P_UP || !fifo_get(&p->wire, &pkt))
		return;
	if (rl_pipe_is_mark(pkt) == RL_MARK_FENCE) {
		fifo_put(&p->loop, rl_pipe_mark(RL_MARK_FENCE_DONE));
		return;
	}
	TRACE("deliver %u: %s\n", port, item_name(pkt));
	if (rl_flit_tag(pkt->wire) != m->got[pkt->dst])
		fail_msg("seed %u, flow %u: packet %u came, %u was expected",
			 m->seed, pkt->dst, rl_flit_tag(pkt->wire),
			 m->got[pkt->dst]);
	assert_true(bench_intact(pkt));
	m->got[pkt->dst]++;
	rl_packet_put(&m->c.pool.cache, pkt);
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

static void
step_rx(struct model *m)
{
	const uint16_t dst = (uint16_t)(1 + rl_prng_below(&m->prng, FLOWS));

	if (m->c.pool.cache.count < 200)
		return;
	TRACE("rx %u.%u\n", dst, m->c.next_tag[dst]);
	cb_rx(&m->c, 0, dst, 1 + rl_prng_below(&m->prng, 3));
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
	m->c.cfg.max_packet_flits = 3;
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
	cb_close(&m->c);
}

static void
any_order_of_failures_keeps_every_flow_in_order(void **state)
{
	static struct model m;
	uint64_t kills = 0, max_down = 0;
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
		model_finish(&m);
	}
	if (env == NULL) {
		assert_true(kills > 10000);
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
