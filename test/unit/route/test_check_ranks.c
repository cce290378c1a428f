/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof by ranks [ROUTE-4] [ROUTE-7]: it passes what the engines make,
 * agrees with the search for cycles, refuses wrong tables and wrong ranks. An
 * argument sets the number of seeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check_mix.h"
#include "route_draw.h"

static uint64_t seeds = 120;

static const char *const engines[] = {"reflit", "torus-2qos", "updown",
				      "minhop"};

static void
draw(struct rl_topo *t, uint64_t seed)
{
	if (seed % 2 == 0)
		draw_grid(t, seed);
	else
		draw_custom(t, seed);
}

static int
search(const struct rl_topo *t, const struct rl_route *r)
{
	static struct rl_check_report rep;
	struct rl_check_in in = {.topo = t, .fwd = r->fwd};
	int first = rl_check(&in, &rep), all;

	in.alts = RL_CHECK_ALL;
	all = rl_check(&in, &rep);
	return all == -ELOOP ? all : first;
}

static int
by_ranks(const struct rl_topo *t, const struct rl_route *r,
	 const uint32_t *rank, struct rl_ranks_report *rep)
{
	const struct rl_check_ranks in = {.topo = t, .fwd = r->fwd,
					  .rank = rank};

	return rl_check_ranks(&in, NULL, rep);
}

/* With ranks found by a search the verdict is that of the search. */
static void
agree(const struct rl_topo *t, const struct rl_route *r, uint64_t seed)
{
	static struct rl_check_report found;
	uint32_t *rank = calloc(rl_channels(t), sizeof(*rank));
	struct rl_ranks_report rep;
	const int want = search(t, r);
	int ret;

	assert_non_null(rank);
	ret = rl_check_find_ranks(t, r->fwd, rank, &found);
	if (ret == 0)
		ret = by_ranks(t, r, rank, &rep);
	if (ret != want)
		fail_msg("seed %llu, %s: search says %d, ranks say %d",
			 (unsigned long long)seed, r->engine, want, ret);
	free(rank);
}

static void
both_verdicts_agree_on_random_fabrics(void **state)
{
	uint64_t with_ranks = 0, loops = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct rl_topo t;

		draw(&t, seed);
		for (unsigned int i = 0; i < RL_ARRAY_SIZE(engines); i++) {
			struct rl_ranks_report rep;
			char err[RL_ERR_MAX];
			struct rl_route *r;

			if (rl_route_compute(&t, engines[i], 8, &r, err) != 0)
				continue;
			if (r->rank != NULL) {
				with_ranks++;
				if (by_ranks(&t, r, r->rank, &rep) != 0)
					fail_msg("seed %llu: %s gives wrong "
						 "ranks: %u to %u for %u",
						 (unsigned long long)seed,
						 engines[i], rep.from, rep.to,
						 rep.dst);
				assert_int_equal(rep.pairs, rep.reachable);
				if (seed % 4 < 2)
					assert_int_equal(search(&t, r), 0);
			}
			loops += search(&t, r) == -ELOOP;
			agree(&t, r, seed);
			rl_route_free(r);
		}
		rl_topo_free(&t);
	}
	assert_true(with_ranks > seeds);
	assert_true(loops > seeds / 20);
}

static struct rl_fwd_hop *
hop_of(const struct rl_route *r, uint32_t dev, unsigned int p, uint32_t e,
       unsigned int i)
{
	return rl_fwd_at(&r->fwd[dev], p, (uint16_t)e, i);
}

/* Another port for one next hop of one entry, often for the worse. */
static void
spoil(struct rl_route *r, const struct rl_topo *t, struct rl_prng *p)
{
	const uint32_t dev = rl_prng_below(p, t->ndev - t->nep);
	const uint32_t dst = rl_prng_below(p, t->nep);
	const unsigned int plane = rl_prng_below(p, 3) == 0;
	struct rl_fwd_hop *h;

	if (plane >= r->fwd[dev].nplanes || t->dev[dev].nports == 0)
		return;
	h = hop_of(r, dev, plane, dst, rl_prng_below(p, 2));
	if (h != NULL)
		h->port = rl_prng_below(p, t->dev[dev].nports) & 0x1fff;
}

/* The search passes all tables that ranks pass: no wrong table gets through. */
static void
wrong_tables_are_refused_whenever_the_search_refuses_them(void **state)
{
	uint64_t refused = 0, passed = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct rl_ranks_report rep;
		char err[RL_ERR_MAX];
		struct rl_route *r;
		struct rl_topo t;
		struct rl_prng p;

		draw(&t, seed);
		rl_prng_seed(&p, seed);
		if (rl_route_compute(&t, seed % 3 ? "reflit" : "updown", 8, &r,
				     err) == 0) {
			for (int i = 0; i < 4; i++)
				spoil(r, &t, &p);
			agree(&t, r, seed);
			if (by_ranks(&t, r, r->rank, &rep) == 0) {
				assert_int_equal(search(&t, r), 0);
				passed++;
			} else {
				refused++;
			}
			rl_route_free(r);
		}
		rl_topo_free(&t);
	}
	assert_true(refused > seeds / 3);
	assert_true(passed > 0);
}

static void
wrong_ranks_are_refused_and_the_hop_is_named(void **state)
{
	uint32_t hit = 0;
	struct rl_topo t;
	struct rl_route *r;

	(void)state;
	fix_grid(&t, true, 5, 5, 0, 1);
	r = fix_route(&t, "reflit", 8);
	for (uint32_t c = 0; c < rl_channels(&t); c++) {
		const uint32_t was = r->rank[c];
		struct rl_ranks_report rep;

		/* Higher than what follows: someone goes on from it. */
		r->rank[c] = UINT32_MAX - 1;
		if (by_ranks(&t, r, r->rank, &rep) != 0) {
			assert_true(rep.from == c || rep.to != UINT32_MAX);
			hit++;
		}
		r->rank[c] = was;
	}
	/* Most of those that are in use at all: 200 directed links. */
	assert_true(hit > 300);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
equal_ranks_do_not_ascend(void **state)
{
	struct rl_ranks_report rep;
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 3, 0, 0, 1);
	r = fix_route(&t, "reflit", 8);
	memset(r->rank, 0, rl_channels(&t) * sizeof(*r->rank));
	assert_int_equal(by_ranks(&t, r, r->rank, &rep), -ELOOP);
	assert_int_not_equal(rep.from, rep.to);
	assert_int_not_equal(rep.to, UINT32_MAX);
	rl_route_free(r);
	rl_topo_free(&t);
}

/*
 * Three switches in a ring, tables by hand: a packet on VL v is on plane v, and
 * all go straight to where they belong.
 */
#define RING 3
#define RING_PLANES 3

struct ring {
	struct rl_topo t;
	struct rl_fwd fwd[2 * RING];
	struct rl_fwd_entry entry[2 * RING][RING_PLANES * RING];
	uint8_t vl[RING_PLANES][RING + 1][RING][RL_SLS]; /* plane p has VL p */
	uint8_t sl[RING];
	uint32_t *rank;
};

/* The port by which a device sends to another. */
static uint16_t
ring_port(const struct ring *r, uint32_t from, uint32_t to)
{
	for (uint16_t p = 0; p < r->t.dev[from].nports; p++)
		if (r->t.dev[from].port[p].peer_dev == to)
			return p;
	fail_msg("no link %u-%u", from, to);
	return 0;
}

static struct rl_fwd_hop
ring_hop(const struct ring *r, uint32_t from, uint32_t to, unsigned int plane)
{
	return (struct rl_fwd_hop){.port = ring_port(r, from, to) & 0x1fff,
				   .plane = plane & 7};
}

static void
ring_rank(struct ring *r, uint32_t from, uint32_t to, uint32_t rank)
{
	const struct rl_topo_port *p =
		&r->t.dev[from].port[ring_port(r, from, to)];

	for (unsigned int vl = 0; vl < RL_VCS; vl++)
		r->rank[rl_channel(p->link, p->end, vl)] = rank;
}

static void
ring_init(struct ring *r)
{
	memset(r, 0, sizeof(*r));
	fix_grid(&r->t, true, RING, 0, 0, 1);
	r->rank = calloc(rl_channels(&r->t), sizeof(*r->rank));
	assert_non_null(r->rank);
	memset(r->entry, 0xff, sizeof(r->entry));
	for (unsigned int p = 0; p < RING_PLANES; p++)
		memset(r->vl[p], (int)p, sizeof(r->vl[p]));
	for (uint32_t d = 0; d < 2 * RING; d++) {
		struct rl_fwd *f = &r->fwd[d];

		f->ndst = RING;
		f->nports = r->t.dev[d].nports;
		f->nplanes = d < RING ? RING_PLANES : 1;
		f->nvls = RING_PLANES;
		for (unsigned int vl = 0; vl < RING_PLANES; vl++)
			memset(f->plane_of[vl], (int)vl, RL_SLS);
		rl_fwd_entries(f, r->entry[d]);
		f->sl2vl = &r->vl[0][0][0][0];
		f->path_sl = d < RING ? NULL : r->sl;
	}
	for (uint32_t s = 0; s < RING; s++)
		for (uint32_t e = 0; e < RING; e++) {
			const uint32_t to = s == e ? RING + e : e;

			for (unsigned int p = 0; p < RING_PLANES; p++)
				r->entry[s][p * RING + e].hop[0] =
					ring_hop(r, s, to, 0);
			r->entry[RING + s][e].hop[0] =
				ring_hop(r, RING + s, s, 0);
		}
	for (uint32_t s = 0; s < RING; s++) {
		ring_rank(r, s, (s + 1) % RING, 1);
		ring_rank(r, s, (s + 2) % RING, 1);
		ring_rank(r, s, RING + s, 9);
	}
}

static void
ring_free(struct ring *r)
{
	free(r->rank);
	rl_topo_free(&r->t);
}

/* Both verdicts on the tables, which are to be the same. */
static int
ring_judge(const struct ring *r, struct rl_ranks_report *rep)
{
	const struct rl_route route = {.fwd = (struct rl_fwd *)(uintptr_t)r->fwd};
	const int ret = by_ranks(&r->t, &route, r->rank, rep);

	assert_int_equal(search(&r->t, &route), ret);
	return ret;
}

static void
no_packet_goes_straight_back_on_its_plane(void **state)
{
	struct rl_ranks_report rep;
	struct ring r;

	(void)state;
	ring_init(&r);
	assert_int_equal(ring_judge(&r, &rep), 0);
	assert_int_equal(rep.max_hops, 3);
	/* s0 sends to e2 by s1, and s1 straight back, all of it ascending. */
	r.entry[0][2].hop[0] = ring_hop(&r, 0, 1, 1);
	r.entry[1][RING + 2].hop[0] = ring_hop(&r, 1, 0, 1);
	r.entry[0][RING + 2].hop[0] = ring_hop(&r, 0, 2, 1);
	ring_rank(&r, 1, 0, 2);
	ring_rank(&r, 0, 2, 3);
	assert_int_equal(ring_judge(&r, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.lost_src, 0);
	assert_int_equal(rep.lost_dst, 2);
	/* The second next hop is the first that s1 may take. */
	r.entry[1][RING + 2].hop[1] = ring_hop(&r, 1, 2, 1);
	ring_rank(&r, 1, 2, 3);
	assert_int_equal(ring_judge(&r, &rep), 0);
	assert_int_equal(rep.max_hops, 4);
	/* Back on another plane it may go. */
	r.entry[1][RING + 2].hop[0] = ring_hop(&r, 1, 0, 2);
	r.entry[1][RING + 2].hop[1].port = RL_FWD_PORT_NONE;
	assert_int_equal(ring_judge(&r, &rep), 0);
	assert_int_equal(rep.max_hops, 5);
	ring_free(&r);
}

/* From s2 packets come to s0's plane 1, too, and go on by s1: they may. */
static void
another_way_does_not_vouch_for_packets_that_turn_back(void **state)
{
	struct rl_ranks_report rep;
	struct ring r;

	(void)state;
	ring_init(&r);
	r.entry[0][2].hop[0] = ring_hop(&r, 0, 2, 2);
	r.entry[2][2 * RING + 2].hop[0] = ring_hop(&r, 2, 0, 1);
	r.entry[0][RING + 2].hop[0] = ring_hop(&r, 0, 1, 1);
	r.entry[1][RING + 2].hop[0] = ring_hop(&r, 1, 2, 0);
	ring_rank(&r, 0, 2, 1);
	ring_rank(&r, 2, 0, 2);
	ring_rank(&r, 1, 0, 2);
	ring_rank(&r, 0, 1, 3);
	ring_rank(&r, 1, 2, 4);
	assert_int_equal(ring_judge(&r, &rep), 0);
	assert_int_equal(rep.max_hops, 6);
	r.entry[1][2].hop[0] = ring_hop(&r, 1, 0, 1);
	assert_int_equal(ring_judge(&r, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.lost_src, 1);
	assert_int_equal(rep.lost_dst, 2);
	ring_free(&r);
}

/* Nor does any while old and new tables mix: who would is to be held. */
static void
a_mix_sends_no_packet_straight_back_on_its_plane(void **state)
{
	struct rl_check_mix_report rep;
	struct rl_check_mix mix = {0};
	struct rl_flows held;
	struct ring old, r;

	(void)state;
	ring_init(&old);
	ring_init(&r);
	ring_rank(&r, 1, 0, 2);
	ring_rank(&r, 0, 2, 3);
	r.entry[0][2].hop[0] = ring_hop(&r, 0, 1, 1);
	r.entry[1][RING + 2].hop[0] = ring_hop(&r, 1, 0, 1);
	r.entry[0][RING + 2].hop[0] = ring_hop(&r, 0, 2, 1);
	mix = (struct rl_check_mix){.topo = &r.t, .old = old.fwd, .fwd = r.fwd,
				    .old_rank = r.rank, .rank = r.rank};
	assert_int_equal(rl_check_mix(&mix, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.src, 0);
	assert_int_equal(rep.dst, 2);
	assert_int_equal(rl_flows_init(&held, RING), 0);
	assert_int_equal(rl_check_hold(&mix, &held, &rep), 0);
	assert_int_equal(held.count, 1);
	assert_true(rl_flows_has(&held, 0, 2));
	rl_flows_free(&held);
	ring_free(&r);
	ring_free(&old);
}

static void
a_next_hop_without_a_port_ends_the_list(void **state)
{
	struct rl_ranks_report rep;
	struct ring r;

	(void)state;
	ring_init(&r);
	for (unsigned int p = 0; p < RING_PLANES; p++) {
		r.entry[0][p * RING + 2].hop[1] =
			r.entry[0][p * RING + 2].hop[0];
		r.entry[0][p * RING + 2].hop[0].port = RL_FWD_PORT_NONE;
	}
	assert_int_equal(ring_judge(&r, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.lost_src, 0);
	assert_int_equal(rep.lost_dst, 2);
	ring_free(&r);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_verdicts_agree_on_random_fabrics),
		cmocka_unit_test(wrong_tables_are_refused_whenever_the_search_refuses_them),
		cmocka_unit_test(wrong_ranks_are_refused_and_the_hop_is_named),
		cmocka_unit_test(equal_ranks_do_not_ascend),
		cmocka_unit_test(no_packet_goes_straight_back_on_its_plane),
		cmocka_unit_test(another_way_does_not_vouch_for_packets_that_turn_back),
		cmocka_unit_test(a_mix_sends_no_packet_straight_back_on_its_plane),
		cmocka_unit_test(a_next_hop_without_a_port_ends_the_list),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
