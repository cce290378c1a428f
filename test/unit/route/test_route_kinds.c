/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random fabrics of all kinds, with failures, cut in parts or not, by every
 * engine: both checkers, the search for cycles and the proof by ranks, say the
 * same; what engines that promise freedom from loops make is free of loops and
 * complete, and a detour leads round any one link [ROUTE-3, ROUTE-4, ROUTE-6,
 * ROUTE-8]. Arguments: how many seeds, and the first.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check_ranks.h"
#include "route_draw.h"

static uint64_t seeds = 150, first_seed = 1;

static const char *const engines[] = {"reflit", "torus-2qos", "updown",
				      "minhop"};

enum { KIND_GRID, KIND_CUSTOM, KIND_BRIDGES, KIND_RANDOM, KIND_TREE,
       KIND_DRAGONFLY, KIND_SLIM_FLY, KIND_BOARDS, KIND_BOARD, KINDS };

static void
spec_tree(struct rl_topo_spec *s, struct rl_prng *p)
{
	rl_topo_spec_defaults(s, RL_TOPO_FAT_TREE);
	s->levels = (uint16_t)rl_prng_range(p, 1, 3);
	for (unsigned int l = 0; l < s->levels; l++) {
		s->m[l] = (uint16_t)rl_prng_range(p, 2, 4);
		s->w[l] = (uint16_t)rl_prng_range(p, 1, l == 0 ? 2 : 3);
		s->tree_links[l] =
			(uint16_t)(1 + (rl_prng_below(p, 4) == 0));
	}
}

static void
spec_dragonfly(struct rl_topo_spec *s, struct rl_prng *p)
{
	rl_topo_spec_defaults(s, RL_TOPO_DRAGONFLY);
	s->a = (uint16_t)rl_prng_range(p, 2, 4);
	s->h = (uint16_t)rl_prng_range(p, 1, 2);
	s->groups = (uint16_t)rl_prng_range(p, 2, s->a * s->h + 1u);
	s->hosts_per_switch = (uint16_t)rl_prng_range(p, 1, 2);
	s->global_links = (enum rl_topo_global)rl_prng_below(p, 2);
}

static void
spec_random(struct rl_topo_spec *s, struct rl_prng *p)
{
	rl_topo_spec_defaults(s, RL_TOPO_RANDOM);
	s->degree = (uint16_t)rl_prng_range(p, 3, 6);
	s->n = (uint16_t)(2 * rl_prng_range(p, 4, 20));
	s->hosts_per_switch = (uint16_t)rl_prng_range(p, 1, 2);
	s->seed = rl_prng_u64(p);
}

static void
spec_boards(struct rl_topo_spec *s, struct rl_prng *p, bool one)
{
	rl_topo_spec_defaults(s, one ? RL_TOPO_BOARD : RL_TOPO_BOARDS);
	s->boards = one ? 1 : (uint16_t)rl_prng_range(p, 2, 4);
	s->switches_per_board = (uint16_t)rl_prng_range(p, 2, 5);
	s->endpoints_per_board = (uint16_t)rl_prng_range(p, 2, 12);
	s->switches_per_endpoint = (uint16_t)rl_prng_range(
		p, 2, s->switches_per_board);
	s->intra_board_links = (uint16_t)rl_prng_below(p, one ? 2 : 3);
	s->links_per_edge[0] = (uint16_t)rl_prng_range(p, 1, 2);
}

static void
fail_some(struct rl_topo *t, struct rl_prng *p)
{
	const uint32_t links = rl_prng_below(p, t->nlink / 10 + 2);
	const uint32_t switches = rl_prng_below(p, 4) == 0;

	for (uint32_t i = 0; i < links; i++)
		t->link[rl_prng_below(p, t->nlink)].failed = true;
	for (uint32_t i = 0; i < switches; i++)
		t->dev[rl_prng_below(p, t->ndev - t->nep)].failed = true;
}

static void
draw_kind(struct rl_topo *t, unsigned int kind, uint64_t seed)
{
	static const uint16_t slim[] = {3, 4, 5};
	struct rl_topo_spec s;
	char err[RL_ERR_MAX];
	struct rl_prng p;

	rl_prng_seed(&p, seed);
	switch (kind) {
	case KIND_GRID:
		draw_grid(t, seed);
		return;
	case KIND_CUSTOM:
		draw_custom(t, seed);
		return;
	case KIND_BRIDGES:
		draw_bridges(t, seed);
		return;
	case KIND_RANDOM:
		spec_random(&s, &p);
		break;
	case KIND_TREE:
		spec_tree(&s, &p);
		break;
	case KIND_DRAGONFLY:
		spec_dragonfly(&s, &p);
		break;
	case KIND_SLIM_FLY:
		rl_topo_spec_defaults(&s, RL_TOPO_SLIM_FLY);
		s.q = slim[rl_prng_below(&p, RL_ARRAY_SIZE(slim))];
		s.hosts_per_switch = 1;
		break;
	default:
		spec_boards(&s, &p, kind == KIND_BOARD);
	}
	if (rl_topo_build(&s, t, err, NULL) != 0)
		fail_msg("seed %llu: %s", (unsigned long long)seed, err);
	fail_some(t, &p);
}

/* The verdict of the search: arrival by first next hops, loops by all. */
static int
by_search(const struct rl_topo *t, const struct rl_route *r)
{
	static struct rl_check_report rep;
	struct rl_check_in in = {.topo = t, .fwd = r->fwd, .parts = r->parts};
	const int first = rl_check(&in, &rep);

	in.alts = RL_CHECK_ALL;
	return rl_check(&in, &rep) == -ELOOP ? -ELOOP : first;
}

static int
by_ranks(const struct rl_topo *t, const struct rl_route *r)
{
	static struct rl_check_report found;
	uint32_t *own = calloc(rl_channels(t) + 1u, sizeof(*own));
	struct rl_check_ranks in = {.topo = t, .fwd = r->fwd,
				    .rank = r->rank, .parts = r->parts};
	struct rl_ranks_report rep;
	int ret = 0;

	assert_non_null(own);
	if (r->rank == NULL) {
		in.rank = own;
		ret = rl_check_find_ranks(t, r->fwd, own, &found);
	}
	if (ret == 0)
		ret = rl_check_ranks(&in, NULL, &rep);
	free(own);
	return ret;
}

static void
judge_detours(const struct rl_topo *t, const struct rl_route *r, uint64_t seed)
{
	const struct rl_check_in in = {.topo = t, .fwd = r->fwd,
				       .parts = r->parts};
	struct rl_check_detours d;

	assert_int_equal(rl_check_detours(&in, RL_CHECK_LINK, &d), 0);
	if (d.covered != d.connected)
		fail_msg("seed %llu, %s, %u + %u VLs: detours for %llu of "
			 "%llu: none at %s round %s-%s to endpoint %u",
			 (unsigned long long)seed, r->engine, r->vls,
			 r->detour_vls,
			 (unsigned long long)d.covered,
			 (unsigned long long)d.connected, t->dev[d.dev].name,
			 t->dev[t->link[d.link].dev[0]].name,
			 t->dev[t->link[d.link].dev[1]].name, d.dst);
}

/* @return whether the engine routes it */
static bool
judge(const struct rl_topo *t, const char *engine, uint64_t seed, bool whole)
{
	const struct rl_route_params params = {
		.engine = engine, .max_vls = 8, .qos_levels = 1,
		.parts = !whole};
	const bool loops = strcmp(engine, "minhop") == 0;
	char err[RL_ERR_MAX];
	struct rl_route *r;
	int search, ranks;

	if (rl_route_compute_with(t, &params, &r, err) != 0)
		return false;
	search = by_search(t, r);
	ranks = by_ranks(t, r);
	if (search != ranks || (search != 0 && !loops))
		fail_msg("seed %llu, %s: search says %d, ranks say %d",
			 (unsigned long long)seed, engine, search, ranks);
	/* Away and tree cover every single link. */
	if (!loops && r->detour_vls >= 2)
		judge_detours(t, r, seed);
	rl_route_free(r);
	return true;
}

static void
both_checkers_pass_what_engines_make_of_any_fabric(void **state)
{
	uint64_t routed[RL_ARRAY_SIZE(engines)] = {0}, cut = 0;

	(void)state;
	for (uint64_t s = first_seed; s < first_seed + seeds; s++) {
		char err[RL_ERR_MAX];
		struct rl_topo t;
		bool whole;

		draw_kind(&t, (unsigned int)(s % KINDS), s);
		whole = rl_topo_reach(&t, RL_REACH_WORKING, err) == 0;
		cut += !whole;
		for (unsigned int i = 0; i < RL_ARRAY_SIZE(engines); i++) {
			const bool ok = judge(&t, engines[i], s, whole);

			routed[i] += ok;
			if (!ok && strcmp(engines[i], "torus-2qos") != 0)
				fail_msg("seed %llu: %s refuses it",
					 (unsigned long long)s, engines[i]);
		}
		rl_topo_free(&t);
	}
	assert_true(routed[1] > 0);
	assert_true(cut > 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_checkers_pass_what_engines_make_of_any_fabric),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
