/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The event loop. Time stands still while any role is ready; roles that were
 * given something (a frame, a packet, an order) become ready at once or after
 * the poll delay, and after each poll a role says when it next has something
 * to do by itself. So nothing is polled in vain, and a fabric at rest costs
 * its keepalives only.
 *
 * What lcores do all the time, a simulation must do on purpose: a core whose
 * egress was full is polled again when the port took something, and a port
 * whose core gave back credits looks whether to tell its peer.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim_priv.h"

/* So many polls ahead a role is fetched, what it points to, and its wire. */
#define WARM_ROLE 8
#define WARM_STATE 4
#define WARM_WIRE 2

void
rl_sim_wire_defaults(struct rl_sim_wire_cfg *w)
{
	*w = (struct rl_sim_wire_cfg){
		.flit_ps = 2000,
		.latency_ns = 100,
		.queue_frames = 4,
		.frame_bytes = RL_FRAME_BYTES_MAX,
	};
}

static void *
host_alloc(void *ctx, size_t bytes)
{
	struct rl_sim *s = ctx;

	return sim_alloc(s->mem, bytes);
}

static struct rl_flit_cache *
host_cache(void *ctx, uint32_t dev, int port)
{
	struct rl_sim *s = ctx;

	(void)dev;
	(void)port;
	return &s->mem->cache;
}

static struct rl_flit_cache *
host_keep(void *ctx, uint32_t dev)
{
	struct rl_sim *s = ctx;

	(void)dev;
	return &s->mem->keep;
}

/* Called three times a port (rx, loop, tx), before its host_phy(). */
static int
host_pipe(void *ctx, uint32_t size, struct rl_pipe *pipe)
{
	struct rl_sim *s = ctx;
	struct sim_pipe *sp = &s->pipe[s->npipe++];

	sim_pipe_make(s, sp, size, pipe);
	return sp->slot == NULL ? -ENOMEM : 0;
}

static int
host_phy(void *ctx, uint32_t dev, uint16_t port, struct rl_phy *phy,
	 uint32_t *frame_bytes)
{
	struct rl_sim *s = ctx;
	const struct rl_topo_port *tp = &s->p.cfg->topo.dev[dev].port[port];
	const uint32_t core = s->dev_role[dev], role = core + 1 + port;
	struct sim_end *end = &s->end[2 * tp->link + tp->end];
	struct sim_pipe *sp = &s->pipe[s->npipe - 3];

	sp[0].consumer = sp[1].consumer = core;
	sp[0].producer = sp[1].producer = role;
	sp[2].consumer = role;
	sp[2].producer = core;
	if (s->p.cfg->topo.dev[dev].nports <= 64) {
		sp[0].port = sp[1].port = port;
		sp[0].pending = &s->pending[dev].rx;
		sp[1].pending = &s->pending[dev].loop;
	}
	*end = (struct sim_end){
		.sim = s,
		.tx = &s->dir[2 * tp->link + tp->end],
		.rx = &s->dir[2 * tp->link + !tp->end],
		.phy_up = true,
		.role = role,
	};
	end->rx->rx_role = role;
	end->rx->link = tp->link;
	s->role[role].end = end;
	*phy = (struct rl_phy){ .ctx = end, .ops = &sim_wire_ops };
	*frame_bytes = s->p.wire.frame_bytes;
	return 0;
}

static void *
sim_array(struct rl_sim *s, size_t n, size_t size)
{
	return sim_alloc(s->mem, (n == 0 ? 1 : n) * size);
}

/* Everything that is sized by the topology. */
static int
sim_arrays(struct rl_sim *s)
{
	const struct rl_topo *topo = &s->p.cfg->topo;
	uint32_t nports = 0;

	for (uint32_t d = 0; d < topo->ndev; d++)
		nports += topo->dev[d].nports;
	s->nrole = topo->ndev + nports;
	s->ready_mask = rl_pow2_ceil(s->nrole) - 1;
	s->role = sim_array(s, s->nrole, sizeof(*s->role));
	s->dev_role = sim_array(s, topo->ndev, sizeof(*s->dev_role));
	/* three slots unused: four children of a node share a cache line */
	s->heap = sim_array(s, s->nrole + 3, sizeof(*s->heap));
	s->heap_pos = sim_array(s, s->nrole, sizeof(*s->heap_pos));
	s->is_ready = sim_array(s, s->nrole, sizeof(*s->is_ready));
	s->ready = sim_array(s, s->ready_mask + 1, sizeof(*s->ready));
	s->end = sim_array(s, 2 * (size_t)topo->nlink, sizeof(*s->end));
	s->dir = sim_array(s, 2 * (size_t)topo->nlink, sizeof(*s->dir));
	s->pipe = sim_array(s, 3 * (size_t)nports, sizeof(*s->pipe));
	s->fault_ns = sim_array(s, topo->nlink, sizeof(*s->fault_ns));
	s->pending = sim_array(s, topo->ndev, sizeof(*s->pending));
	if (s->p.turns)
		s->key = sim_array(s, s->nrole, sizeof(*s->key));
	s->dead = sim_array(s, topo->ndev, sizeof(*s->dead));
	s->down = sim_array(s, topo->nlink, sizeof(*s->down));
	s->degraded = sim_array(s, topo->nlink, sizeof(*s->degraded));
	if (s->role == NULL || s->dev_role == NULL || s->heap == NULL ||
	    s->heap_pos == NULL || s->is_ready == NULL ||
	    s->ready == NULL || s->end == NULL || s->dir == NULL ||
	    s->pipe == NULL || s->fault_ns == NULL ||
	    s->pending == NULL || s->dead == NULL || s->down == NULL ||
	    s->degraded == NULL || (s->p.turns && s->key == NULL))
		return -ENOMEM;
	s->heap += 3;
	s->running = SIM_NO_DEV;
	for (uint32_t i = 0; s->key != NULL && i < s->nrole; i++)
		s->key[i] = RL_NEVER;
	for (uint32_t l = 0; l < topo->nlink; l++)
		s->fault_ns[l] = RL_NEVER;
	for (uint32_t i = 0; i < 2 * topo->nlink; i++)
		rl_prng_seed(&s->dir[i].prng,
			     s->p.seed * 0x2545f4914f6cdd1dull + i + 1);
	for (uint32_t d = 0, r = 0; d < topo->ndev; d++) {
		s->dev_role[d] = r;
		for (int32_t p = SIM_PORT_CORE; p < topo->dev[d].nports; p++)
			s->role[r++] = (struct sim_role){
				.ext_ns = RL_NEVER,
				.dev = d,
				.port = p,
			};
	}
	return 0;
}

static void
sim_join_port(struct rl_sim *s, struct sim_role *r, struct rl_role_port *rp)
{
	struct sim_pipe *rx = rp->rx.ring;

	r->rp = rp;
	r->state = rp->port;
	r->rx = r->end->rx;
	rx->core = s->fabric.dev[r->dev].core.core;
}

/* Roles exist when the fabric is built; clients come with them. */
static void
sim_join(struct rl_sim *s)
{
	const bool joined = s->p.turns && !s->p.soft;

	for (uint32_t i = 0; i < s->nrole; i++) {
		struct sim_role *r = &s->role[i];
		struct rl_device *d = &s->fabric.dev[r->dev];

		r->rc = &d->core;
		if (d->nports <= 64) {
			d->core.rx_pending = &s->pending[r->dev].rx;
			d->core.loop_pending = &s->pending[r->dev].loop;
		}
		r->state = d->core.core;
		if (r->port != SIM_PORT_CORE) {
			sim_join_port(s, r, &d->port[r->port]);
			if (joined)
				rl_role_join(&d->core, &d->port[r->port]);
		} else if (d->core.ep != NULL && s->p.client != NULL) {
			s->p.client(s->p.ctx, r->dev,
				    s->fabric.topo->dev[r->dev].ep_id,
				    &d->core.client);
		}
		sim_ready(s, i);
	}
}

static int
sim_build(struct rl_sim *s, char *err)
{
	/* outlives the build: roles point to the sink */
	struct rl_fabric_host *host = sim_array(s, 1, sizeof(*host));
	const struct rl_fwd **fwd;
	int ret;

	if (host == NULL || sim_arrays(s) != 0)
		return -ENOMEM;
	*host = (struct rl_fabric_host){
		.ctx = s,
		.alloc = host_alloc,
		.cache = host_cache,
		.keep = host_keep,
		.pipe = host_pipe,
		.phy = host_phy,
		.drop = sim_on_drop,
		.report = sim_on_report,
		.sink = { .ctx = s,
			  .port_event = sim_on_port_event,
			  .core_event = sim_on_core_event,
			  .ep_event = sim_on_ep_event },
		.seed = s->p.seed,
		.lives = s->p.lives,
		.incarnation = ~s->p.seed,
		/* if not: what is wrong with it, the build will say */
		.codec = sim_codec(s->mem, s->p.cfg->endpoint.crc,
				   s->p.cfg->endpoint.isn, s->p.isa),
	};
	fwd = sim_array(s, s->p.cfg->topo.ndev, sizeof(struct rl_fwd *));
	if (fwd == NULL)
		return -ENOMEM;
	for (uint32_t d = 0; d < s->p.cfg->topo.ndev; d++)
		fwd[d] = &s->p.fwd[d];
	ret = rl_fabric_build(&s->fabric, s->p.cfg, fwd, s->p.isa, host, err);
	if (ret != 0)
		return ret;
	sim_join(s);
	rl_fabric_start(&s->fabric, 0);
	ret = sim_reach_open(s);
	return ret != 0 ? ret : sim_ctl_open(s);
}

int
rl_sim_create(const struct rl_sim_params *p, struct rl_sim **sim, char *err)
{
	struct rl_sim *s;
	int ret = sim_frame_size(p->mem, p->wire.frame_bytes);

	*sim = NULL;
	err[0] = '\0';
	s = ret == 0 ? sim_alloc(p->mem, sizeof(*s)) : NULL;
	if (s == NULL)
		return -ENOMEM;
	s->p = *p;
	s->mem = p->mem;
	s->frame_ps = sim_frame_ps(s, p->wire.frame_bytes);
	s->backlog_ps = p->wire.queue_frames * s->frame_ps;
	rl_prng_seed(&s->prng, p->seed ^ 0x51a7);
	ret = sim_build(s, err);
	if (ret != 0) {
		if (err[0] == '\0')
			snprintf(err, RL_ERR_MAX, "%s", strerror(-ret));
		sim_reach_close(s);
		sim_ctl_close(s);
		sim_mem_reset(p->mem);
		return ret;
	}
	*sim = s;
	return 0;
}

static void
drain_pipe(struct rl_sim *s, struct sim_pipe *sp)
{
	for (; sp->head != sp->tail; sp->head++) {
		struct rl_flit *f = sp->slot[sp->head & sp->mask].obj;

		if (rl_pipe_is_mark(f) == RL_MARK_NONE)
			rl_packet_put(&s->mem->cache, f);
	}
}

static void
drain_wire(struct rl_sim *s, struct rl_sim_frame *list)
{
	while (list != NULL) {
		struct rl_sim_frame *f = list;

		list = f->next;
		sim_frame_put(s->mem, f);
	}
}

int
rl_sim_destroy(struct rl_sim *sim, char *err)
{
	struct rl_sim_mem *mem = sim->mem;
	int ret = 0;

	for (uint32_t i = 0; i < sim->npipe; i++)
		drain_pipe(sim, &sim->pipe[i]);
	for (uint32_t i = 0; i < 2 * sim->fabric.topo->nlink; i++) {
		drain_wire(sim, sim->dir[i].head);
		drain_wire(sim, sim->dir[i].late);
	}
	rl_fabric_flush(&sim->fabric);
	if (sim_flits_free(mem) != mem->flits ||
	    mem->frames != mem->frames_free ||
	    sim_flits_unique(mem) != 0) {
		if (err != NULL)
			snprintf(err, RL_ERR_MAX,
				 "after the end %u of %llu flits and %llu of "
				 "%llu frames are free, or some twice",
				 sim_flits_free(mem),
				 (unsigned long long)mem->flits,
				 (unsigned long long)mem->frames_free,
				 (unsigned long long)mem->frames);
		ret = -EUCLEAN;
	}
	sim_reach_close(sim);
	sim_ctl_close(sim);
	free(sim->failover);
	free(sim->notice);
	rl_sim_faults_free(&sim->todo);
	sim_mem_reset(mem);
	return ret;
}

void
sim_role_begin(struct rl_sim *s, struct sim_role *r)
{
	s->st.polls++;
	r->again = false;
	if (r->ext_ns <= s->now_ns)
		r->ext_ns = RL_NEVER;
}

static void
poll_port(struct rl_sim *s, struct sim_role *r, uint32_t id)
{
	const uint64_t now = s->now_ns;
	uint64_t next;

	sim_role_begin(s, r);
	if (r->end->dozes)
		sim_doze_end(s, r);
	r->end->blocked = false; /* unless it is again */
	if (rl_role_port_poll(r->rp, now) == 0)
		s->st.idle_polls++;
	else if (rl_core_tx_pending(r->rc->core, (uint16_t)r->port))
		sim_wake_at(s, s->dev_role[r->dev], sim_seen(s));
	if (s->p.check_packets)
		sim_credit_check(s, r);
	if (r->again || !rl_pktq_empty(rl_port_rx_out(r->rp->port))) {
		sim_ready(s, id);
		return;
	}
	if (s->p.doze && sim_doze(s, id))
		return;
	next = rl_role_port_deadline(r->rp, now);
	if (next <= now)
		next = now + SIM_SPIN_PORT_NS;
	sim_heap_set(s, id, rl_min_u64(next, r->ext_ns));
}

static void
poll_core(struct rl_sim *s, uint32_t id)
{
	struct sim_role *r = &s->role[id];
	const uint64_t now = s->now_ns;
	unsigned int work;
	uint64_t freed, next;

	sim_role_begin(s, r);
	work = rl_role_core_poll(r->rc, now);
	freed = rl_core_freed(r->rc->core);
	for (; freed != 0; freed &= freed - 1) {
		const unsigned int first = (unsigned int)__builtin_ctzll(freed);

		for (uint32_t p = first; p < r->rc->nports; p += 64)
			sim_wake_at(s, id + 1 + p, now + SIM_CREDIT_NS);
	}
	if (work == 0)
		s->st.idle_polls++;
	if (r->again || (work != 0 && r->rc->ep != NULL)) {
		sim_ready(s, id);
		return;
	}
	next = rl_role_core_deadline(r->rc);
	if (next <= now)
		next = now + SIM_SPIN_CORE_NS;
	sim_heap_set(s, id, rl_min_u64(next, r->ext_ns));
}

static void
poll_role(struct rl_sim *s, uint32_t id)
{
	struct sim_role *r = &s->role[id];
	struct rl_sim_mem *mem = s->mem;

	if (rl_unlikely(s->dead[r->dev])) {
		s->is_ready[id] = false;
		r->ext_ns = RL_NEVER;
		return;
	}
	sim_flits_stock(mem);
	s->is_ready[id] = false;
	if (r->port == SIM_PORT_CORE)
		poll_core(s, id);
	else
		poll_port(s, r, id);
	s->st.flits_peak = rl_max_u64(s->st.flits_peak,
				      mem->flits - sim_flits_free(mem));
}

/*
 * What a role needs is far away by the time of its next poll, so it is fetched
 * while others are polled: first the role, then what it points to, at last the
 * frame that waits for it. No step waits for the one before.
 */
static void
warm_state(const struct rl_sim *s, uint32_t id)
{
	const struct sim_role *r = &s->role[id];

	if (r->port == SIM_PORT_CORE) {
		__builtin_prefetch(r->state);
		__builtin_prefetch(r->rc);
		return;
	}
	rl_port_prefetch(r->state);
	__builtin_prefetch(r->rp);
	__builtin_prefetch((const uint8_t *)r->rp + RL_CACHE_LINE);
	__builtin_prefetch(r->end);
	__builtin_prefetch(r->rx);
}

static void
warm_wire(const struct rl_sim *s, uint32_t id)
{
	const struct sim_role *r = &s->role[id];

	if (r->port != SIM_PORT_CORE)
		__builtin_prefetch(r->rx->head);
}

static void
warm_rest(const struct rl_sim *s, uint32_t id)
{
	const struct sim_role *r = &s->role[id];
	const struct rl_sim_frame *f;

	if (r->port == SIM_PORT_CORE) {
		rl_core_prefetch(r->state);
		return;
	}
	f = r->rx->head;
	if (f != NULL)
		for (uint32_t i = 0; i < SIM_WARM_BYTES; i += RL_CACHE_LINE)
			__builtin_prefetch(f->data + i);
}

static void
poll_ready(struct rl_sim *s)
{
	while (s->ready_head != s->ready_tail) {
		const uint32_t *ring = s->ready, mask = s->ready_mask;
		const uint32_t at = s->ready_head++;
		const uint32_t more = s->ready_tail - s->ready_head;

		if (more >= WARM_ROLE)
			__builtin_prefetch(
				&s->role[ring[(at + WARM_ROLE) & mask]]);
		if (more >= WARM_STATE)
			warm_state(s, ring[(at + WARM_STATE) & mask]);
		if (more >= WARM_WIRE)
			warm_wire(s, ring[(at + WARM_WIRE) & mask]);
		if (more >= 1)
			warm_rest(s, ring[(at + 1) & mask]);
		poll_role(s, ring[at & mask]);
	}
}

uint64_t
sim_next_other(const struct rl_sim *s)
{
	uint64_t t = sim_notice_due(s);

	if (s->next_fault < s->todo.n)
		t = rl_min_u64(t, s->todo.f[s->next_fault].t_ns);
	if (s->ctl != NULL)
		t = rl_min_u64(t, sim_ctl_due(s));
	return t;
}

/* When something next happens. */
static uint64_t
sim_next(const struct rl_sim *s)
{
	return rl_min_u64(s->nheap == 0 ? RL_NEVER : s->heap[0].key_ns,
			  sim_next_other(s));
}

/* Wakes the roles whose time has come. */
static void
wake_due(struct rl_sim *s)
{
	while (s->nheap != 0 && s->heap[0].key_ns <= s->now_ns) {
		const uint32_t role = s->heap[0].role;

		sim_heap_set(s, role, RL_NEVER);
		sim_ready(s, role);
	}
}

void
rl_sim_run(struct rl_sim *sim, uint64_t until_ns)
{
	for (;;) {
		uint64_t t;

		poll_ready(sim);
		t = rl_max_u64(sim_next(sim), sim->now_ns);
		if (sim->reach.stale)
			sim_reach_look(sim);
		if (t >= until_ns) {
			sim->now_ns = until_ns;
			return;
		}
		sim->now_ns = t;
		while (sim->next_fault < sim->todo.n &&
		       sim->todo.f[sim->next_fault].t_ns <= t)
			sim_fault_apply(sim, &sim->todo.f[sim->next_fault++]);
		if (sim->ctl != NULL && sim_ctl_due(sim) <= t)
			sim_ctl_run(sim);
		sim_notice_deliver(sim);
		if (sim->key != NULL)
			sim_turn_run(sim, until_ns);
		else
			wake_due(sim);
	}
}

uint64_t
rl_sim_now(const struct rl_sim *sim)
{
	return sim->now_ns;
}

void
rl_sim_wake_core(struct rl_sim *sim, uint32_t dev)
{
	sim_ready(sim, sim->dev_role[dev]);
}

struct rl_fabric *
rl_sim_fabric(struct rl_sim *sim)
{
	return &sim->fabric;
}

void
rl_sim_stats(const struct rl_sim *sim, struct rl_sim_stats *stats)
{
	*stats = sim->st;
}
