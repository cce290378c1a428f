/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Building, running and ending a run. Time stands still while a role has
 * something to do. A role that received a frame, a packet or an order is polled
 * at once or after the poll delay, and then says when it next has something to
 * do. So no poll is idle, and a fabric at rest only costs its keepalives. Roles
 * are polled one by one (sim_role.c), or devices as a whole (sim_turn.c).
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim_priv.h"

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
host_cache(void *ctx, uint32_t dev, RL_UNUSED int port)
{
	struct rl_sim *s = ctx;

	return &sim_dev_part(s, dev)->mem->cache;
}

static struct rl_flit_cache *
host_keep(void *ctx, uint32_t dev)
{
	struct rl_sim *s = ctx;

	return &sim_dev_part(s, dev)->mem->keep;
}

static void *
host_drop_ctx(void *ctx, uint32_t dev)
{
	return sim_dev_part(ctx, dev);
}

/* Called three times for each port (rx, loop, tx), before its host_phy(). */
static int
host_pipe(void *ctx, uint32_t size, struct rl_pipe *pipe)
{
	struct rl_sim *s = ctx;
	struct sim_pipe *sp = &s->pipe[s->npipe++];

	/* host_phy() will set the part */
	sim_pipe_make(&s->part[0], sp, size, pipe);
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
	struct sim_part *const pt = sim_dev_part(s, dev);

	sp[0].part = sp[1].part = sp[2].part = pt;
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
		.part = pt,
		.tx = &s->dir[2 * tp->link + tp->end],
		.rx = &s->dir[2 * tp->link + !tp->end],
		.phy_up = true,
		.role = role,
	};
	end->rx->rx_role = role;
	end->rx->link = tp->link;
	end->rx->crosses = sim_dev_part(s, tp->peer_dev) != pt;
	s->role[role].end = end;
	*phy = (struct rl_phy){ .ctx = end, .ops = s->p.tap == NULL
							   ? &sim_wire_ops
							   : &sim_wire_tapped };
	end->tx->tapped = end->tx->odd = s->p.tap != NULL;
	*frame_bytes = s->p.wire.frame_bytes;
	return 0;
}

static void *
sim_array(struct rl_sim *s, size_t n, size_t size)
{
	return sim_alloc(s->mem, (n == 0 ? 1 : n) * size);
}

static int
sim_arrays(struct rl_sim *s)
{
	const struct rl_topo *topo = &s->p.cfg->topo;
	uint32_t nports = 0;

	for (uint32_t d = 0; d < topo->ndev; d++)
		nports += topo->dev[d].nports;
	s->nrole = topo->ndev + nports;
	s->role = sim_array(s, s->nrole, sizeof(*s->role));
	s->dev_role = sim_array(s, topo->ndev, sizeof(*s->dev_role));
	s->heap_pos = sim_array(s, s->nrole, sizeof(*s->heap_pos));
	s->is_ready = sim_array(s, s->nrole, sizeof(*s->is_ready));
	if (s->p.turns)
		s->key = sim_array(s, s->nrole, sizeof(*s->key));
	s->ready_mask = rl_pow2_ceil(s->nrole) - 1;
	s->ready = sim_array(s, s->ready_mask + 1, sizeof(*s->ready));
	s->end = sim_array(s, 2 * (size_t)topo->nlink, sizeof(*s->end));
	s->dir = sim_array(s, 2 * (size_t)topo->nlink, sizeof(*s->dir));
	s->pipe = sim_array(s, 3 * (size_t)nports, sizeof(*s->pipe));
	s->fault_ns = sim_array(s, topo->nlink, sizeof(*s->fault_ns));
	s->pending = sim_array(s, topo->ndev, sizeof(*s->pending));
	s->due = sim_array(s, topo->ndev, sizeof(*s->due));
	s->dead = sim_array(s, topo->ndev, sizeof(*s->dead));
	s->down = sim_array(s, topo->nlink, sizeof(*s->down));
	s->degraded = sim_array(s, topo->nlink, sizeof(*s->degraded));
	if (s->role == NULL || s->dev_role == NULL || s->heap_pos == NULL ||
	    s->is_ready == NULL ||
	    s->ready == NULL || s->end == NULL || s->dir == NULL ||
	    s->pipe == NULL || s->fault_ns == NULL ||
	    s->pending == NULL || s->due == NULL || s->dead == NULL ||
	    s->down == NULL || s->degraded == NULL || (s->p.turns && s->key == NULL))
		return -ENOMEM;
	for (uint32_t i = 0; s->key != NULL && i < s->nrole; i++)
		s->key[i] = RL_NEVER;
	for (uint32_t l = 0; l < topo->nlink; l++)
		s->fault_ns[l] = RL_NEVER;
	for (uint32_t i = 0; i < 2 * topo->nlink; i++)
		rl_prng_seed(&s->dir[i].wire.prng,
			     s->p.seed * 0x2545f4914f6cdd1dull + i + 1);
	for (uint32_t d = 0, r = 0; d < topo->ndev; d++) {
		s->dev_role[d] = r;
		for (int32_t p = SIM_PORT_CORE; p < topo->dev[d].nports; p++)
			s->role[r++] = (struct sim_role){
				.ext_ns = RL_NEVER,
				.dev = d,
				.nports = topo->dev[d].nports,
				.port = p,
			};
	}
	return sim_part_open(s);
}

static void
sim_join_port(struct rl_sim *s, struct sim_role *r, struct rl_role_port *rp)
{
	struct sim_pipe *rx = rp->rx.ring;

	r->rp = rp;
	r->state = rp->port;
	r->rx = r->end->rx;
	rx->core = s->fabric.dev[r->dev].core.core;
	r->end->tx->wire.fec_safe = s->p.fec_safe ? s->fabric.codec : NULL;
}

/* Roles exist once the fabric is built; then their clients are attached. */
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
			const struct rl_sim_seat seat = {
				.part = r->part,
				.cache = &s->part[r->part].mem->cache,
			};

			s->p.client(s->p.ctx, r->dev,
				    s->fabric.topo->dev[r->dev].ep_id, &seat,
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

	if (host == NULL || sim_arrays(s) != 0 || sim_auth_open(s) != 0)
		return -ENOMEM;
	*host = (struct rl_fabric_host){
		.ctx = s,
		.alloc = host_alloc,
		.cache = host_cache,
		.keep = host_keep,
		.pipe = host_pipe,
		.phy = host_phy,
		.auth = s->p.keyed ? sim_auth : NULL,
		.drop = sim_on_drop,
		.report = sim_on_report,
		.drop_ctx = host_drop_ctx,
		.sink = { .ctx = s,
			  .port_event = sim_on_port_event,
			  .core_event = sim_on_core_event,
			  .ep_event = sim_on_ep_event },
		.whole = true,
		.seed = s->p.seed,
		.lives = s->p.lives,
		.incarnation = ~s->p.seed,
		/* NULL is allowed: the build reports what is wrong */
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
	if (s->nparts > 1) /* on failure one thread runs all parts */
		s->gang = sim_gang_new(s);
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
	if (p->tap != NULL) { /* pipes check what passes, and show it */
		s->p.check_packets = s->p.soft = true;
		s->p.apart = false;
	}
	s->mem = p->mem;
	s->frame_ps = sim_frame_ps(s, p->wire.frame_bytes);
	s->backlog_ps = p->wire.queue_frames * s->frame_ps;
	rl_prng_seed(&s->prng, p->seed ^ 0x51a7);
	ret = sim_build(s, err);
	if (ret != 0) {
		if (err[0] == '\0')
			snprintf(err, RL_ERR_MAX, "%s", strerror(-ret));
		sim_gang_free(s->gang);
		sim_reach_close(s);
		sim_ctl_close(s);
		sim_mem_reset(p->mem);
		return ret;
	}
	*sim = s;
	return 0;
}

static void
flush_wire(struct rl_sim *s, struct rl_sim_frame *list)
{
	while (list != NULL) {
		struct rl_sim_frame *f = list;

		list = f->next;
		sim_frame_free(s, f);
	}
}

static int
leak_check(const struct rl_sim_mem *mem, char *err)
{
	if (sim_flits_free(mem) == mem->flits &&
	    mem->frames == mem->frames_free)
		return 0;
	if (err != NULL)
		snprintf(err, RL_ERR_MAX,
			 "after the end %u of %llu flits and %llu of %llu "
			 "frames are free",
			 sim_flits_free(mem), (unsigned long long)mem->flits,
			 (unsigned long long)mem->frames_free,
			 (unsigned long long)mem->frames);
	return -EUCLEAN;
}

int
rl_sim_destroy(struct rl_sim *sim, char *err)
{
	int ret = 0;

	sim_gang_free(sim->gang);
	for (uint32_t i = 0; i < sim->npipe; i++)
		sim_pipe_flush(&sim->pipe[i]);
	for (uint32_t i = 0; i < 2 * sim->fabric.topo->nlink; i++) {
		flush_wire(sim, sim->dir[i].head);
		flush_wire(sim, sim->dir[i].late);
	}
	rl_fabric_flush(&sim->fabric);
	for (uint32_t i = 0; i < sim->nparts; i++) {
		struct rl_sim_mem *const mem = sim->part[i].mem;

		if (ret == 0)
			ret = leak_check(mem, err);
		if (ret == 0 && sim_flits_unique(mem) != 0) {
			ret = -EUCLEAN;
			if (err != NULL)
				snprintf(err, RL_ERR_MAX,
					 "after the end flits are free twice");
		}
		free(sim->part[i].told);
	}
	sim_reach_close(sim);
	sim_ctl_close(sim);
	rl_failover_log_free(&sim->failovers);
	free(sim->notice);
	rl_sim_faults_free(&sim->todo);
	sim_mem_reset(sim->mem);
	return ret;
}

static uint64_t
sim_next_other(const struct rl_sim *s)
{
	uint64_t t = sim_notice_due(s);

	if (s->next_fault < s->todo.n)
		t = rl_min_u64(t, s->todo.f[s->next_fault].t_ns);
	if (s->ctl != NULL)
		t = rl_min_u64(t, sim_ctl_due(s));
	return t;
}

static uint64_t
sim_next_role(const struct rl_sim *s)
{
	uint64_t t = RL_NEVER;

	for (uint32_t i = 0; i < s->nparts; i++)
		if (s->part[i].nheap != 0)
			t = rl_min_u64(t, s->part[i].heap[0].key_ns);
	return t;
}

static void
next_fault(struct rl_sim *s, uint64_t now_ns)
{
	const struct rl_fault *f = &s->todo.f[s->next_fault++];

	if (s->p.tap != NULL)
		s->p.tap->fault(s->p.tap->ctx, f, now_ns);
	sim_fault_apply(s, f);
}

void
rl_sim_run(struct rl_sim *sim, uint64_t until_ns)
{
	for (;;) {
		uint64_t t;

		sim_role_ready(sim);
		sim_told_flush(sim);
		t = rl_max_u64(rl_min_u64(sim_next_role(sim),
					  sim_next_other(sim)),
			       sim->now_ns);
		if (sim->reach.stale)
			sim_reach_look(sim);
		if (t >= until_ns) {
			sim_time(sim, until_ns);
			return;
		}
		sim_time(sim, t);
		while (sim->next_fault < sim->todo.n &&
		       sim->todo.f[sim->next_fault].t_ns <= t)
			next_fault(sim, t);
		if (sim->ctl != NULL && sim_ctl_due(sim) <= t)
			sim_ctl_run(sim);
		sim_notice_deliver(sim);
		if (sim->reach.stale) /* before devices run independently */
			sim_reach_look(sim);
		if (sim->key != NULL)
			sim_apart_run(sim, until_ns, sim_next_other(sim));
		else
			sim_role_wake(sim);
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
	uint64_t *const to = (uint64_t *)stats;

	_Static_assert(sizeof(*stats) % sizeof(*to) == 0, "counters alone");
	memset(stats, 0, sizeof(*stats));
	for (uint32_t i = 0; i < sim->nparts; i++) {
		const uint64_t *const from =
			(const uint64_t *)&sim->part[i].st;

		for (size_t k = 0; k < sizeof(*stats) / sizeof(*to); k++)
			to[k] += from[k];
	}
	stats->flits_peak = sim->flits_peak;
}
