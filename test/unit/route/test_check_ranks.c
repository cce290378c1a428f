/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof by ranks [ROUTE-4]: it passes what the engines make, agrees with
 * the search for cycles, refuses wrong tables and wrong ranks, and after an
 * update looks at what changed, but at all of that. An argument sets the number
 * of seeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check_ranks.h"
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

static struct rl_fwd_entry *
entry_of(const struct rl_route *r, uint32_t dev, unsigned int p, uint32_t e)
{
	return (struct rl_fwd_entry *)(uintptr_t)rl_fwd_lookup(&r->fwd[dev], p,
							       (uint16_t)e);
}

/* Another port for one next hop of one entry, often for the worse. */
static void
spoil(struct rl_route *r, const struct rl_topo *t, struct rl_prng *p)
{
	const uint32_t dev = rl_prng_below(p, t->ndev - t->nep);
	const uint32_t dst = rl_prng_below(p, t->nep);
	const unsigned int plane = rl_prng_below(p, 3) == 0;
	struct rl_fwd_entry *e;

	if (plane >= r->fwd[dev].nplanes || t->dev[dev].nports == 0)
		return;
	e = entry_of(r, dev, plane, dst);
	e->hop[rl_prng_below(p, 2)].port =
		rl_prng_below(p, t->dev[dev].nports) & 0x1fff;
}

/* What ranks pass, the search passes: no wrong table gets through. */
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

static void
what_has_not_changed_is_not_looked_at_again(void **state)
{
	struct rl_topo t;
	struct rl_route *r;
	struct rl_check_ranks in = {0};
	struct rl_proof *proof = NULL;
	struct rl_ranks_report rep;

	(void)state;
	fix_grid(&t, true, 5, 5, 0, 1);
	r = fix_route(&t, "reflit", 8);
	in = (struct rl_check_ranks){.topo = &t, .fwd = r->fwd,
				     .rank = r->rank};
	assert_int_equal(rl_check_ranks(&in, &proof, &rep), 0);
	assert_int_equal(rep.dsts, 25);
	assert_int_equal(rl_check_ranks(&in, &proof, &rep), 0);
	assert_int_equal(rep.dsts, 0);
	assert_int_equal(rep.pairs, 25 * 24);
	assert_int_equal(rep.reachable, 25 * 24);
	/* One entry, spoilt: that one is, and the proof is gone. */
	entry_of(r, 3, 0, 17)->hop[0].port = RL_FWD_PORT_NONE;
	entry_of(r, 3, 0, 17)->hop[1].port = RL_FWD_PORT_NONE;
	assert_int_equal(rl_check_ranks(&in, &proof, &rep), -EHOSTUNREACH);
	assert_int_equal(rep.dsts, 1);
	assert_int_equal(rep.lost_dst, 17);
	assert_null(proof);
	rl_route_free(r);
	rl_topo_free(&t);
}

/* A rank, a link, an SL, a VL: each is seen to have changed. */
static void
whatever_changes_is_looked_at_again(void **state)
{
	struct rl_check_ranks in = {0};
	struct rl_proof *proof = NULL;
	struct rl_ranks_report rep;
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 4, 4, 0, 1);
	r = fix_route(&t, "reflit", 8);
	in = (struct rl_check_ranks){.topo = &t, .fwd = r->fwd,
				     .rank = r->rank};
	assert_int_equal(rl_check_ranks(&in, &proof, &rep), 0);
	/* Packets into the fabric may come from farther below. */
	for (uint32_t l = 0; l < t.nlink; l++)
		if (t.link[l].kind == RL_LINK_ISL && l % 7 == 0)
			r->rank[rl_channel(l, 0, 0)] = 0;
	assert_int_equal(rl_check_ranks(&in, &proof, &rep), -ELOOP);
	assert_null(proof);
	rl_route_free(r);
	r = fix_route(&t, "reflit", 8);
	in.fwd = r->fwd;
	in.rank = r->rank;
	assert_int_equal(rl_check_ranks(&in, &proof, &rep), 0);
	fix_fail(&t, "s1.1-s1.2");
	assert_int_equal(rl_check_ranks(&in, &proof, &rep), 0);
	assert_in_range(rep.dsts, 1, 16);
	((struct rl_fwd *)&r->fwd[3])->plane_of[0][0] = 1;
	rl_check_ranks(&in, &proof, &rep);
	assert_int_equal(rep.dsts, 16);
	rl_proof_free(proof);
	rl_route_free(r);
	rl_topo_free(&t);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_verdicts_agree_on_random_fabrics),
		cmocka_unit_test(wrong_tables_are_refused_whenever_the_search_refuses_them),
		cmocka_unit_test(wrong_ranks_are_refused_and_the_hop_is_named),
		cmocka_unit_test(equal_ranks_do_not_ascend),
		cmocka_unit_test(what_has_not_changed_is_not_looked_at_again),
		cmocka_unit_test(whatever_changes_is_looked_at_again),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
