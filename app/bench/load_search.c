/* SPDX-License-Identifier: BSD-3-Clause */

/* Suite `load`: one fabric under one load, and the highest that it carries. */

#include <errno.h>
#include <string.h>

#include "load.h"
#include "stop_signal.h"

#define CARRIED 0.97
#define WIDTH 0.02 /* of the knee */
#define STEP 0.15  /* from the first guess to the second */

static void
take_point(const struct load_rig *rig, uint32_t slot_ps, double load,
	   struct load_point *p)
{
	const struct rl_sim_load_window *w = &rig->counted;
	const double slots = (double)rig->window_ns * 1000 / slot_ps;
	const double slot_ns = slot_ps / 1000.0;
	const double n = w->senders == 0 ? 1 : w->senders;

	*p = (struct load_point){
		.offered = load,
		.delivered = (double)w->flits / n / slots,
		.worst = (double)w->slowest_flits / slots,
		.jain = w->jain,
		.mean = (double)rl_hist_mean(&w->latency) / slot_ns,
		.p50 = (double)rl_hist_quantile(&w->latency, 50000) / slot_ns,
		.p99 = (double)rl_hist_quantile(&w->latency, 99000) / slot_ns,
	};
}

/* Runs until the window ends; what is under way then has no part. */
static int
run(struct load_rig *rig, struct rl_sim_load *load, uint64_t end_ns)
{
	struct rl_sim_params p = {
		.mem = &rig->mem,
		.cfg = &rig->cfg,
		.fwd = rig->route->fwd,
		.isa = rl_codec_best_isa(512),
		.seed = rig->seed,
		.turns = true,
		.apart = true,
		.notice_ns = RL_NEVER,
	};
	struct rl_sim_load_stats st;
	struct rl_sim *sim;
	char err[RL_ERR_MAX];
	int ret;

	rl_sim_wire_defaults(&p.wire);
	rl_sim_load_serve(load, &p);
	ret = rl_sim_create(&p, &sim, err);
	if (ret != 0)
		return ret;
	rl_sim_run(sim, end_ns);
	rl_sim_load_window(load, &rig->counted);
	rl_sim_load_stats(load, &st);
	if (st.duplicated + st.reordered + st.corrupted != 0)
		ret = -EBADMSG;
	return rl_sim_destroy(sim, err) != 0 ? -EUCLEAN : ret;
}

int
load_run(struct load_rig *rig, const struct rl_pattern_cfg *pattern,
	 const bool *count, double load, struct load_point *p)
{
	const uint64_t end_ns = rig->warmup_ns + rig->window_ns;
	const uint32_t flits =
		rl_min_u32(LOAD_FLITS, rig->cfg.link.max_packet_flits);
	struct rl_sim_wire_cfg wire;
	struct rl_sim_load_cfg c = {
		.pattern = *pattern,
		.load = load,
		.min_flits = flits,
		.max_flits = flits,
		.cos = 1,
		.stop_ns = end_ns,
		.seed = rig->seed,
		.nep = (uint16_t)rig->cfg.topo.nep,
		.window = { rig->warmup_ns, end_ns, count },
	};
	struct rl_sim_load *l;
	int ret;

	rl_sim_wire_defaults(&wire);
	c.slot_ps = wire.flit_ps;
	rl_sim_load_grid(&c.pattern, &rig->cfg.topo);
	l = rl_sim_load_new(&c);
	if (l == NULL)
		return -EINVAL;
	ret = run(rig, l, end_ns);
	rl_sim_load_free(l);
	take_point(rig, wire.flit_ps, load, p);
	return ret;
}

bool
load_carried(const struct load_point *p)
{
	return p->delivered >= CARRIED * p->offered;
}

/* Runs a load, and keeps its point among the others, in order. */
static int
try_load(struct load_rig *rig, const struct rl_pattern_cfg *pattern,
	 double load, struct load_curve *c, struct load_point *p)
{
	unsigned int i = c->n;
	const int ret = load_run(rig, pattern, NULL, load, p);

	if (ret != 0 || c->n == LOAD_POINTS)
		return ret;
	for (; i > 0 && c->point[i - 1].offered > load; i--)
		c->point[i] = c->point[i - 1];
	c->point[i] = *p;
	c->n++;
	return 0;
}

int
load_search(struct load_rig *rig, const struct rl_pattern_cfg *pattern,
	    struct load_curve *c)
{
	double low = 0, high = 1, guess;
	struct load_point p;
	int ret = try_load(rig, pattern, 1, c, &c->full);

	if (load_carried(&c->full))
		low = 1;
	/* what arrives at load 1 is near the knee, on either side */
	guess = c->full.delivered;
	while (ret == 0 && high - low > WIDTH * high && stop_asked() == 0 &&
	       c->n < LOAD_POINTS - 1) {
		if (guess <= low || guess >= high)
			guess = (low + high) / 2;
		ret = try_load(rig, pattern, guess, c, &p);
		if (ret != 0)
			break;
		if (load_carried(&p))
			low = guess;
		else
			high = guess;
		guess = c->n > 2     ? 0
			: low == guess ? guess * (1 + STEP)
				       : guess * (1 - STEP);
	}
	c->knee = low;
	if (ret == 0 && low > 0 && stop_asked() == 0)
		ret = try_load(rig, pattern, low / 2, c, &c->half);
	return ret;
}
