/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mixes of old and new tables with an adaptive plane [ROUTE-9, RES-5]: packets
 * take any hop of either plane, and may leave it anywhere. A walker that draws
 * each choice knows nothing of the proof: with the flows held that
 * rl_check_hold() names, all its packets arrive, and the channels that they wait
 * for have no cycle.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "rl_check_mix.h"
#include "route_draw.h"

#define HOPS 64
#define WALKS 40 /* of each flow */

static uint64_t seeds = 24;
static struct rl_check_mix_report rep;

struct change {
	struct rl_topo t;
	struct rl_route *old, *new;
	uint32_t dead;
	struct rl_check_mix mix;
};

static struct rl_route *
adaptive(const struct rl_topo *t)
{
	const struct rl_route_params p = { .max_vls = RL_VCS, .qos_levels = 1,
					   .parts = true, .adaptive = true };
	struct rl_route *r;
	char err[RL_ERR_MAX];

	if (rl_route_compute_with(t, &p, &r, err) != 0)
		return NULL;
	assert_int_equal(rl_route_accept(r, t, NULL, err), 0);
	return r;
}

static bool
change_make(struct change *c, uint32_t dead)
{
	c->old = adaptive(&c->t);
	c->dead = dead;
	c->t.link[dead].failed = true;
	c->new = adaptive(&c->t);
	if (c->old == NULL || c->new == NULL || !c->old->adapts ||
	    !c->new->adapts)
		return false;
	c->mix = (struct rl_check_mix){
		.topo = &c->t, .old = c->old->fwd, .fwd = c->new->fwd,
		.old_rank = c->old->rank, .rank = c->new->rank,
		.dead = &c->dead, .ndead = 1 };
	return true;
}

static void
change_free(struct change *c)
{
	rl_route_free(c->old);
	rl_route_free(c->new);
	rl_topo_free(&c->t);
}

static bool
change_draw(struct change *c, uint64_t seed)
{
	struct rl_prng p;
	uint32_t dead, x, y;

	memset(c, 0, sizeof(*c));
	rl_prng_seed(&p, seed);
	x = 3 + rl_prng_below(&p, 3);
	y = 3 + rl_prng_below(&p, 3);
	fix_grid(&c->t, seed % 3 != 0, x, y, seed % 5 == 0 ? 2 : 0,
		 1 + (seed % 4 == 0));
	do
		dead = rl_prng_below(&p, c->t.nlink);
	while (c->t.link[dead].kind != RL_LINK_ISL);
	return change_make(c, dead);
}

/* What the walker's packets wait for: a byte for each pair of channels. */
struct waits {
	uint32_t n;
	uint8_t *after; /* [n][n] */
	uint8_t *mark;
};

static bool
cycle_from(struct waits *w, uint32_t c)
{
	w->mark[c] = 1;
	for (uint32_t d = 0; d < w->n; d++)
		if (w->after[(size_t)c * w->n + d] &&
		    (w->mark[d] == 1 || (w->mark[d] == 0 && cycle_from(w, d))))
			return true;
	w->mark[c] = 2;
	return false;
}

/* A hop that the tables or the plane of f let a packet take; -1: none. */
static int
hop_draw(const struct change *c, const struct rl_fwd *f, struct rl_prng *p,
	 uint32_t dev, uint32_t dst, uint16_t in, bool plane, uint8_t vl,
	 bool *stays, uint8_t *out_vl)
{
	const struct rl_topo_dev *td = &c->t.dev[dev];
	struct rl_fwd_entry e;
	unsigned int pl;

	plane = plane && f->adapt != NULL;
	*stays = plane && rl_prng_below(p, 4) != 0;
	if (*stays) {
		uint64_t ports = f->adapt[dst];
		unsigned int i;

		if (in < td->nports)
			ports &= ~(UINT64_C(1) << in);
		for (unsigned int k = 0; k < 2 * RL_FWD_ADAPT_PORTS; k++) {
			i = rl_prng_below(p, td->nports);
			*out_vl = f->adapt_vl;
			if ((ports >> i & 1) &&
			    rl_topo_link_up(&c->t, td->port[i].link))
				return (int)i;
		}
	}
	*stays = false;
	if (plane)
		in = td->nports;
	pl = in == td->nports ? f->inject_plane[0] : f->plane_of[vl][0];
	e = rl_fwd_lookup(f, pl, (uint16_t)dst);
	for (unsigned int k = 0; k < RL_FWD_ALTS; k++) {
		const struct rl_fwd_hop h = e.hop[k];

		if (h.port >= td->nports || (h.port == in && h.plane == pl) ||
		    !rl_topo_link_up(&c->t, td->port[h.port].link))
			continue;
		*out_vl = rl_fwd_vl(f, h.plane, in, h.port, 0);
		return h.port;
	}
	return -1;
}

/* Whether a packet of a flow arrives. */
static bool
walk(const struct change *c, struct rl_prng *p, struct waits *w, uint32_t src,
     uint32_t dst)
{
	uint32_t dev = c->t.ep_dev[src], from = UINT32_MAX;
	uint16_t in = c->t.dev[dev].nports;
	bool plane = true;
	uint8_t vl = 0;

	for (unsigned int hops = 0; hops < HOPS; hops++) {
		const struct rl_fwd *f =
			&(rl_prng_below(p, 2) ? c->old : c->new)->fwd[dev];
		const struct rl_topo_port *tp;
		uint32_t chan;
		bool stays;
		int port = hop_draw(c, f, p, dev, dst, in, plane, vl, &stays,
				    &vl);

		if (port < 0) /* the old ones strand it: it waits for the new */
			port = hop_draw(c, &c->new->fwd[dev], p, dev, dst, in,
					plane, vl, &stays, &vl);
		if (port < 0)
			return false;
		tp = &c->t.dev[dev].port[port];
		chan = rl_channel(tp->link, tp->end, vl);
		if (!stays && from != UINT32_MAX)
			w->after[(size_t)from * w->n + chan] = 1;
		from = stays ? UINT32_MAX : chan;
		plane = stays;
		in = tp->peer_port;
		dev = tp->peer_dev;
		if (dev == c->t.ep_dev[dst])
			return true;
	}
	return false;
}

static void
walk_all(const struct change *c, const struct rl_flows *held, uint64_t seed)
{
	const uint32_t n = rl_channels(&c->t);
	struct waits w = { .n = n, .after = calloc(n, n),
			   .mark = calloc(n, 1) };
	struct rl_prng p;

	assert_non_null(w.after);
	assert_non_null(w.mark);
	rl_prng_seed(&p, seed);
	for (uint32_t s = 0; s < c->t.nep; s++)
		for (uint32_t d = 0; d < c->t.nep; d++) {
			if (s == d || rl_flows_has(held, s, d))
				continue;
			for (unsigned int i = 0; i < WALKS; i++)
				if (!walk(c, &p, &w, s, d))
					fail_msg("seed %llu: %u to %u",
						 (unsigned long long)seed, s, d);
		}
	for (uint32_t c0 = 0; c0 < n; c0++)
		if (w.mark[c0] == 0 && cycle_from(&w, c0))
			fail_msg("seed %llu: a cycle", (unsigned long long)seed);
	free(w.after);
	free(w.mark);
}

static void
packets_of_two_planes_arrive_and_never_wait_in_a_circle(void **state)
{
	uint64_t live = 0, some = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct rl_flows held;
		struct change c;

		if (change_draw(&c, seed)) {
			const uint64_t all = c.t.nep * (c.t.nep - 1);

			assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
			assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
			assert_true(rep.touched >= held.count);
			live += held.count == 0;
			some += held.count != 0 && held.count < all;
			walk_all(&c, &held, seed);
			/* by no ranks: the search alone */
			c.mix.held = &held;
			c.mix.rank = c.mix.old_rank = NULL;
			assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
			rl_flows_free(&held);
		}
		change_free(&c);
	}
	assert_true(live > seeds / 8);
	assert_true(some > seeds / 3);
}

/* Bit of the port that leads from one device to another. */
static uint64_t
port_to(const struct rl_topo *t, const char *from, const char *to)
{
	const struct rl_topo_dev *d = &t->dev[fix_dev(t, from)];

	for (unsigned int p = 0; p < d->nports; p++)
		if (d->port[p].peer_dev == fix_dev(t, to))
			return UINT64_C(1) << p;
	fail();
	return 0;
}

static void
plane_set(const struct rl_route *r, const struct rl_topo *t, const char *dev,
	  uint32_t dst, uint64_t ports)
{
	*(uint64_t *)(uintptr_t)&r->fwd[fix_dev(t, dev)].adapt[dst] = ports;
}

/* Neither leads round by itself. */
static void
a_round_of_two_planes_is_found(void **state)
{
	struct change c = { 0 };
	struct rl_flows held;
	uint32_t dst;

	(void)state;
	fix_grid(&c.t, true, 3, 4, 0, 1);
	dst = c.t.dev[fix_dev(&c.t, "e0.2")].ep_id;
	assert_true(change_make(&c, (uint32_t)rl_topo_find_link(
					    &c.t, "s1.3-s2.3", NULL)));
	assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
	assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
	assert_false(rl_flows_has(&held, 0, dst));
	c.mix.held = &held;
	plane_set(c.old, &c.t, "s0.0", dst, port_to(&c.t, "s0.0", "s1.0"));
	plane_set(c.new, &c.t, "s1.0", dst, port_to(&c.t, "s1.0", "s2.0"));
	plane_set(c.old, &c.t, "s2.0", dst, port_to(&c.t, "s2.0", "s2.1"));
	plane_set(c.new, &c.t, "s2.0", dst, port_to(&c.t, "s2.0", "s2.1"));
	assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
	plane_set(c.old, &c.t, "s2.0", dst, port_to(&c.t, "s2.0", "s0.0"));
	assert_int_equal(rl_check_mix(&c.mix, &rep), -EHOSTUNREACH);
	assert_true(rep.wrong > 0);
	rl_flows_free(&held);
	change_free(&c);
}

/* It was not proven, and is taken away: rl_route_accept(). */
static void
lose_plane(struct rl_route *r)
{
	for (uint32_t d = 0; d < r->ndev; d++) {
		r->fwd[d].adapt = NULL;
		r->fwd[d].adapt_links = NULL;
		r->fwd[d].adapt_longer = NULL;
		r->fwd[d].adapt_sls = 0;
	}
}

static void
a_plane_and_none_are_mixed_as_two_are(void **state)
{
	uint64_t some = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct rl_flows held;
		struct change c;

		if (change_draw(&c, seed)) {
			const uint64_t all = c.t.nep * (c.t.nep - 1);

			lose_plane(seed % 2 ? c.new : c.old);
			assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
			assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
			assert_int_equal(rep.touched, all);
			some += held.count < all;
			walk_all(&c, &held, seed);
			c.mix.held = &held;
			c.mix.rank = c.mix.old_rank = NULL;
			assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
			rl_flows_free(&held);
		}
		change_free(&c);
	}
	assert_true(some > seeds / 2);
}

static void
planes_on_two_vls_are_refused(void **state)
{
	struct rl_flows held;
	struct change c = { 0 };

	(void)state;
	fix_grid(&c.t, true, 4, 4, 0, 1);
	assert_true(change_make(&c, (uint32_t)rl_topo_find_link(
					    &c.t, "s0.0-s1.0", NULL)));
	assert_int_equal(rl_flows_init(&held, c.t.nep), 0);
	c.new->fwd[3].adapt_vl--;
	assert_int_equal(rl_check_hold(&c.mix, &held, &rep), -EINVAL);
	c.new->fwd[3].adapt_vl++;
	assert_int_equal(rl_check_hold(&c.mix, &held, &rep), 0);
	rl_flows_free(&held);
	change_free(&c);
}

static void
hops_that_are_not_minimal_belong_to_the_plane(void **state)
{
	struct change c = { 0 };
	uint32_t dst;

	(void)state;
	fix_grid(&c.t, true, 5, 5, 0, 1);
	dst = c.t.dev[fix_dev(&c.t, "e0.0")].ep_id;
	c.old = adaptive(&c.t);
	c.new = adaptive(&c.t);
	c.mix = (struct rl_check_mix){ .topo = &c.t, .old = c.old->fwd,
				       .fwd = c.new->fwd,
				       .old_rank = c.old->rank,
				       .rank = c.new->rank };
	assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
	assert_int_equal(rep.touched, 0);
	*(uint64_t *)(uintptr_t)&c.new->fwd[fix_dev(&c.t, "s2.0")]
		 .adapt_longer[dst] ^= port_to(&c.t, "s2.0", "s3.0");
	assert_int_equal(rl_check_mix(&c.mix, &rep), 0);
	assert_int_equal(rep.touched, 1); /* that of its own endpoint */
	change_free(&c);
}

/* The ranks of the tables hold for what joins them from the plane. */
static void
what_leaves_a_plane_ascends_in_the_ranks(void **state)
{
	struct rl_check_report r;
	struct rl_check_in in = { .alts = RL_CHECK_ALL, .joins = true };
	struct change c = { 0 };
	uint32_t *rank;

	(void)state;
	fix_grid(&c.t, true, 4, 4, 0, 1);
	assert_true(change_make(&c, (uint32_t)rl_topo_find_link(
					    &c.t, "s0.0-s1.0", NULL)));
	assert_true(c.new->ascends);
	in.topo = &c.t;
	in.fwd = c.new->fwd;
	in.rank = c.new->rank;
	(void)rl_check(&in, &r);
	assert_false(r.descends);
	rank = calloc(rl_channels(&c.t), sizeof(*rank));
	assert_non_null(rank);
	in.rank = rank;
	(void)rl_check(&in, &r);
	assert_true(r.descends);
	in.rank = NULL;
	(void)rl_check(&in, &r);
	assert_false(r.descends);
	free(rank);
	change_free(&c);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			packets_of_two_planes_arrive_and_never_wait_in_a_circle),
		cmocka_unit_test(a_round_of_two_planes_is_found),
		cmocka_unit_test(a_plane_and_none_are_mixed_as_two_are),
		cmocka_unit_test(planes_on_two_vls_are_refused),
		cmocka_unit_test(hops_that_are_not_minimal_belong_to_the_plane),
		cmocka_unit_test(what_leaves_a_plane_ascends_in_the_ranks),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
