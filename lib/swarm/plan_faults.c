/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Faults of a plan: draws which kinds exist, then kind, place and time of each.
 */


#include "plan_priv.h"

struct draw {
	struct rl_swarm_plan *plan;
	struct rl_prng prng;
	uint32_t kinds; /* kinds in this run */
	uint64_t from_ns;
	uint64_t to_ns;
	int err;
};

static bool
has(const struct draw *d, enum rl_swarm_kind kind)
{
	return d->kinds & 1u << kind;
}

static void
add(struct draw *d, const struct rl_fault *f)
{
	if (d->err == 0)
		d->err = rl_sim_fault_add(&d->plan->faults, f);
}

static uint32_t
pick_link(struct draw *d)
{
	const struct rl_topo *topo = &d->plan->cfg.topo;
	uint32_t link = 0;

	for (unsigned int tries = 0; tries < 32; tries++) {
		link = rl_prng_below(&d->prng, topo->nlink);
		if (topo->link[link].kind == RL_LINK_ISL ||
		    has(d, RL_SWARM_KIND_ENDPOINT))
			break;
	}
	return link;
}

static uint64_t
pick_time(struct draw *d)
{
	return rl_prng_range(&d->prng, d->from_ns, d->to_ns);
}

static uint8_t
pick_dirs(struct draw *d)
{
	return (uint8_t)rl_prng_range(&d->prng, RL_FAULT_DIR_AB,
				      RL_FAULT_DIR_BOTH);
}

static struct rl_fault
draw_cut(struct draw *d, uint32_t link, uint64_t t_ns)
{
	struct rl_fault f = {
		.t_ns = t_ns,
		.kind = RL_FAULT_CUT,
		.link = link,
		.dirs = RL_FAULT_DIR_BOTH,
		.flight = plan_one_in(&d->prng, 2) ? RL_FAULT_FLIGHT_LOST
						   : RL_FAULT_FLIGHT_ARRIVE,
	};

	if (has(d, RL_SWARM_KIND_ONEWAY) &&
	    (!has(d, RL_SWARM_KIND_CUT) || plan_one_in(&d->prng, 2)))
		f.dirs = 1u << rl_prng_below(&d->prng, 2);
	f.silent = has(d, RL_SWARM_KIND_SILENT) && plan_one_in(&d->prng, 2);
	if (has(d, RL_SWARM_KIND_LATE) && !plan_one_in(&d->prng, 3))
		f.flight = RL_FAULT_FLIGHT_LATE;
	if (has(d, RL_SWARM_KIND_NTH) && plan_one_in(&d->prng, 2)) {
		f.nth = (uint32_t)plan_log(&d->prng, 1, 200);
		f.nth_flit = plan_one_in(&d->prng, 2);
		f.counts = (uint8_t)rl_prng_below(&d->prng, 2);
	}
	return f;
}

static void
draw_heal(struct draw *d, const struct rl_fault *cut, uint64_t after_ns)
{
	const struct rl_fault heal = {
		.t_ns = cut->t_ns + after_ns,
		.kind = RL_FAULT_HEAL,
		.link = cut->link,
		.dirs = RL_FAULT_DIR_BOTH,
	};

	add(d, &heal);
}

static void
draw_outage(struct draw *d)
{
	const uint64_t dark = plan_log(&d->prng, 50, 300000);
	const uint64_t at = pick_time(d);
	struct rl_fault f = draw_cut(d, pick_link(d), at);
	uint64_t later;

	add(d, &f);
	draw_heal(d, &f, f.nth == 0 ? dark : 4 * dark);
	if (!plan_one_in(&d->prng, 3))
		return;
	/* another link fails in the meantime, perhaps the one that took over */
	later = rl_prng_range(&d->prng, 0, rl_min_u64(dark, 20000));
	f = draw_cut(d, pick_link(d), f.t_ns + later);
	add(d, &f);
	draw_heal(d, &f, dark);
}

static void
draw_flaps(struct draw *d)
{
	const uint32_t link = pick_link(d);
	uint64_t t = pick_time(d);

	for (uint64_t n = rl_prng_range(&d->prng, 2, 8); n > 0; n--) {
		const uint64_t dark = plan_log(&d->prng, 10, 30000);
		struct rl_fault f = draw_cut(d, link, t);

		f.nth = 0;
		add(d, &f);
		draw_heal(d, &f, dark);
		t += dark + plan_log(&d->prng, 50, 100000);
	}
}

static uint32_t
rate(struct draw *d, enum rl_swarm_kind kind, uint32_t most)
{
	if (!has(d, kind) || plan_one_in(&d->prng, 4))
		return 0;
	return (uint32_t)plan_log(&d->prng, 100000, most);
}

static struct rl_fault
somewhere(struct draw *d, uint64_t t_ns, enum rl_fault_kind kind)
{
	struct rl_fault f = {
		.t_ns = t_ns,
		.kind = kind,
		.link = pick_link(d),
	};

	f.dirs = pick_dirs(d);
	return f;
}

static void
draw_noise(struct draw *d)
{
	struct rl_fault f = somewhere(
		d, plan_one_in(&d->prng, 2) ? d->from_ns : pick_time(d),
		RL_FAULT_NOISE);
	struct rl_noise *n = &f.noise;

	n->loss_ppb = rate(d, RL_SWARM_KIND_LOSS, 300000000);
	n->corrupt_ppb = rate(d, RL_SWARM_KIND_CORRUPT, 300000000);
	n->dup_ppb = rate(d, RL_SWARM_KIND_DUP, 300000000);
	n->jitter_ppb = rate(d, RL_SWARM_KIND_JITTER, 300000000);
	n->jitter_ns = plan_log(&d->prng, 10, 5000);
	if (d->plan->cfg.topo.link[f.link].kind == RL_LINK_ISL)
		n->soft_ppb = rate(d, RL_SWARM_KIND_SOFT, 100000000);
	n->burst_bytes = (uint16_t)plan_log(&d->prng, 1, 16);
	n->where = (uint8_t)rl_prng_below(&d->prng, 8);
	/* an RXL hop drops what FEC cannot correct: make some */
	if (!d->plan->cfg.link.retry && plan_one_in(&d->prng, 2)) {
		n->corrupt_ppb |= 50000000;
		n->burst_bytes |= 8;
		n->where = RL_FAULT_HURT_BODY;
	}
	add(d, &f);
	if (plan_one_in(&d->prng, 2))
		draw_heal(d, &f, plan_log(&d->prng, 1000, 300000));
}

static void
draw_stall(struct draw *d)
{
	struct rl_fault f = somewhere(d, pick_time(d), RL_FAULT_STALL);

	f.for_ns = plan_log(&d->prng, 100, 200000);
	add(d, &f);
}

static void
draw_drop(struct draw *d)
{
	struct rl_fault f = somewhere(d, pick_time(d), RL_FAULT_DROP);

	f.nth = (uint32_t)plan_log(&d->prng, 1, 100);
	f.nth_flit = plan_one_in(&d->prng, 2);
	f.count = (uint32_t)plan_log(&d->prng, 1, 20);
	add(d, &f);
}

static void
draw_command(struct draw *d)
{
	const uint64_t at = pick_time(d);
	struct rl_fault f = somewhere(
		d, at, plan_one_in(&d->prng, 2) ? RL_FAULT_DOWN : RL_FAULT_DRAIN);

	add(d, &f);
	f.kind = RL_FAULT_UP;
	f.t_ns += plan_log(&d->prng, 50, 300000);
	add(d, &f);
}

static void
draw_some(struct draw *d, bool exists, uint32_t most, void (*one)(struct draw *))
{
	const uint32_t n = exists ? 1 + rl_prng_below(&d->prng, most) : 0;

	for (uint32_t i = 0; i < n; i++)
		one(d);
}

/* The k-th link parallel to this one, from 0; or the link itself. */
static uint32_t
parallel(const struct rl_topo *topo, uint32_t link, unsigned int k)
{
	const struct rl_topo_link *l = &topo->link[link];
	const int64_t other =
		rl_topo_link_between(topo, l->dev[0], l->dev[1], k);

	return other < 0 ? link : (uint32_t)other;
}

/*
 * If three links are parallel, a second one may fail while the first is dark,
 * drains or returns: the third carries on.
 */
static void
strict_second(struct draw *d, const struct rl_fault *first, uint64_t dark)
{
	const struct rl_topo *topo = &d->plan->cfg.topo;
	const unsigned int n = rl_topo_parallel(topo, first->link);
	const unsigned int k = topo->link[first->link].k;
	struct rl_fault f;
	uint64_t t;

	if (n < 3 || first->nth != 0 || plan_one_in(&d->prng, 3))
		return;
	t = first->t_ns + (plan_one_in(&d->prng, 2)
				   ? rl_prng_range(&d->prng, 0, dark)
				   : dark + plan_log(&d->prng, 50, 60000));
	f = draw_cut(d, parallel(topo, first->link, (k + 1) % n), t);
	f.nth = 0;
	add(d, &f);
	draw_heal(d, &f, plan_log(&d->prng, 50, 100000));
}

/*
 * A link fails; the next one fails silently while it carries the first one's
 * traffic; then the first returns and waits in vain for confirmation of the
 * packets that took the detour. All within a time so short that much is on its
 * way.
 */
static uint64_t
strict_duel(struct draw *d, uint64_t t)
{
	const struct rl_topo *topo = &d->plan->cfg.topo;
	const uint32_t link = pick_link(d);
	const unsigned int n = rl_topo_parallel(topo, link);
	const uint64_t dark = plan_log(&d->prng, 500, 30000);
	struct rl_fault f = {
		.t_ns = t + plan_log(&d->prng, 1000, 50000),
		.kind = RL_FAULT_CUT,
		.link = link,
		.dirs = RL_FAULT_DIR_BOTH,
	};

	add(d, &f);
	draw_heal(d, &f, dark);
	t = f.t_ns;
	if (n >= 3) {
		f.link = parallel(topo, link, (topo->link[link].k + 1) % n);
		f.t_ns += rl_prng_range(&d->prng, 0, dark);
		f.silent = true;
		add(d, &f);
	}
	return t + dark + plan_log(&d->prng, 5000, 100000);
}

uint64_t
plan_strict_faults(struct rl_swarm_plan *plan, struct rl_prng *prng, int *err)
{
	struct draw d = { .plan = plan, .prng = *prng };
	uint64_t t = plan->load.start_ns;

	d.kinds = (uint32_t)rl_prng_u64(prng);
	d.kinds |= 1u << RL_SWARM_KIND_CUT | 1u << RL_SWARM_KIND_NTH;
	d.kinds &= ~(1u << RL_SWARM_KIND_ENDPOINT);
	if (plan_one_in(&d.prng, 3)) {
		t = strict_duel(&d, t);
		*err = d.err;
		return t;
	}
	for (uint64_t n = rl_prng_range(&d.prng, 0, 3); n > 0; n--) {
		const uint64_t dark = plan_log(&d.prng, 50, 300000);
		struct rl_fault f;

		t += plan_log(&d.prng, 1000, 200000);
		f = draw_cut(&d, pick_link(&d), t);
		if (f.nth_flit)
			f.nth = rl_min_u32(f.nth, 16);
		add(&d, &f);
		draw_heal(&d, &f, dark);
		strict_second(&d, &f, dark);
		/* trained again and in use before the next failure */
		t += dark + 600000;
	}
	*err = d.err;
	return t + 50000;
}

int
rl_swarm_plan_faults(struct rl_swarm_plan *plan, uint64_t seed, uint32_t kinds,
		   uint64_t from_ns, uint64_t to_ns)
{
	struct draw d = { .plan = plan, .from_ns = from_ns, .to_ns = to_ns };

	rl_prng_seed(&d.prng, seed ^ 0xfa017);
	if (!plan_one_in(&d.prng, 12))
		for (unsigned int k = 0; k < RL_SWARM_KIND_COUNT; k++)
			if (rl_prng_below(&d.prng, 100) < 35)
				d.kinds |= 1u << k;
	if (!plan->cfg.link.retry && plan_one_in(&d.prng, 2))
		d.kinds |= 1u << RL_SWARM_KIND_CORRUPT;
	d.kinds &= kinds;
	draw_some(&d,
		  has(&d, RL_SWARM_KIND_CUT) || has(&d, RL_SWARM_KIND_ONEWAY),
		  3, draw_outage);
	draw_some(&d, has(&d, RL_SWARM_KIND_FLAP), 2, draw_flaps);
	draw_some(&d,
		  has(&d, RL_SWARM_KIND_LOSS) ||
			  has(&d, RL_SWARM_KIND_CORRUPT) ||
			  has(&d, RL_SWARM_KIND_DUP) ||
			  has(&d, RL_SWARM_KIND_JITTER) ||
			  has(&d, RL_SWARM_KIND_SOFT),
		  4, draw_noise);
	draw_some(&d, has(&d, RL_SWARM_KIND_STALL), 3, draw_stall);
	draw_some(&d, has(&d, RL_SWARM_KIND_DROP), 4, draw_drop);
	draw_some(&d, has(&d, RL_SWARM_KIND_COMMAND), 2, draw_command);
	if (has(&d, RL_SWARM_KIND_SOFT)) {
		plan->soft_errors = true;
		plan->reports_ok = true;
	}
	/* traffic may end before the faults, or go on after them */
	plan->heal_ns = from_ns + 1000 +
			rl_prng_range(&d.prng, (to_ns - from_ns) / 3,
				      2 * (to_ns - from_ns));
	plan->heal_ns += plan_log(&d.prng, 1000, 300000);
	plan->limit_ns = plan->heal_ns + 400 * RL_NS_PER_MS;
	return d.err;
}
