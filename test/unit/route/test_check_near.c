/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By what the proofs of old and new tables keep, the flows that a change touches
 * are found without a look at all flows [ROUTE-4]. An argument sets the number
 * of seeds.
 */
#include <stdlib.h>

#include "rl_check_mix.h"
#include "route_draw.h"

static uint64_t seeds = 300;

struct change {
	struct rl_topo t;
	const char *engine;
	unsigned int vls;
	struct rl_route *r; /* the latest tables */
	struct rl_prng p;
};

static bool
change_open(struct change *c, uint64_t seed)
{
	static const char *const engines[] = {"reflit", "reflit", "updown",
					      "torus-2qos"};
	char err[RL_ERR_MAX];

	memset(c, 0, sizeof(*c));
	if (seed % 3 == 0)
		draw_custom(&c->t, seed);
	else
		draw_grid(&c->t, seed);
	rl_prng_seed(&c->p, seed);
	c->engine = engines[rl_prng_below(&c->p, RL_ARRAY_SIZE(engines))];
	c->vls = 4 + rl_prng_below(&c->p, 5);
	return rl_route_compute(&c->t, c->engine, c->vls, &c->r, err) == 0 &&
	       c->r->rank != NULL;
}

static void
change_close(struct change *c)
{
	rl_route_free(c->r);
	rl_topo_free(&c->t);
}

/* The mix of two tables, judged with what is known of both, and without. */
static void
expect_same_flows(struct change *c, const struct rl_route *old,
		  const uint32_t *dead, uint32_t ndead, uint64_t seed)
{
	struct rl_check_mix mix = {
		.topo = &c->t, .old = old->fwd, .fwd = c->r->fwd,
		.old_rank = old->rank, .rank = c->r->rank,
		.dead = dead, .ndead = ndead};
	struct rl_check_mix_report all, near;
	struct rl_flows a, b;

	assert_int_equal(rl_flows_init(&a, c->t.nep), 0);
	assert_int_equal(rl_flows_init(&b, c->t.nep), 0);
	assert_int_equal(rl_check_hold(&mix, &a, &all), 0);
	mix.old_proof = old->proof;
	mix.proof = c->r->proof;
	assert_int_equal(rl_check_hold(&mix, &b, &near), 0);
	if (all.touched != near.touched || a.count != b.count ||
	    memcmp(a.bit, b.bit, (size_t)a.nep * a.words * 8) != 0)
		fail_msg("seed %llu, %s: %llu of %llu flows, without proofs "
			 "%llu of %llu", (unsigned long long)seed, c->engine,
			 (unsigned long long)b.count,
			 (unsigned long long)near.touched,
			 (unsigned long long)a.count,
			 (unsigned long long)all.touched);
	rl_flows_free(&a);
	rl_flows_free(&b);
}

static void
the_flows_that_a_change_touches_are_those_that_a_look_at_all_finds(void **state)
{
	uint64_t changes = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct change c;
		bool good = change_open(&c, seed);

		for (int step = 0; step < 4 && good; step++) {
			struct rl_route *old = c.r;
			char err[RL_ERR_MAX];
			uint32_t dead[3], ndead = 0, late;

			if (rl_route_accept(old, &c.t, NULL, err) != 0)
				break;
			for (uint32_t i = rl_prng_below(&c.p, 3); i > 0; i--) {
				const uint32_t l =
					rl_prng_below(&c.p, c.t.nlink);

				if (!c.t.link[l].failed &&
				    rl_prng_below(&c.p, 4) != 0 &&
				    rl_topo_link_up(&c.t, l))
					dead[ndead++] = l;
				c.t.link[l].failed = !c.t.link[l].failed;
			}
			c.r = NULL;
			good = rl_route_compute(&c.t, c.engine, c.vls, &c.r,
						err) == 0 &&
			       rl_route_accept(c.r, &c.t, NULL, err) == 0;
			/* Now and then one works still that the new ones avoid. */
			if (good && ndead != 0 && rl_prng_below(&c.p, 3) == 0)
				c.t.link[dead[--ndead]].failed = false;
			/* ... or one has died that they know nothing of. */
			late = rl_prng_below(&c.p, c.t.nlink);
			if (good && rl_prng_below(&c.p, 3) == 0 &&
			    rl_topo_link_up(&c.t, late)) {
				dead[ndead++] = late;
				c.t.link[late].failed = true;
			}
			if (good && old->rank != NULL && c.r->rank != NULL) {
				expect_same_flows(&c, old, dead, ndead, seed);
				changes++;
			}
			rl_route_free(old);
		}
		change_close(&c);
	}
	assert_true(changes > seeds / 5);
}

/* The same entries, but on one switch packets are on another plane. */
static void
flows_are_touched_if_planes_differ(void **state)
{
	uint64_t changes = 0;

	(void)state;
	for (uint32_t d = 0; d < 16; d++) {
		struct rl_route *old;
		struct change c;
		char err[RL_ERR_MAX];

		memset(&c, 0, sizeof(c));
		fix_grid(&c.t, true, 4, 4, 0, 1);
		c.engine = "reflit";
		old = fix_route(&c.t, c.engine, 8);
		c.r = fix_route(&c.t, c.engine, 8);
		assert_int_equal(rl_route_accept(old, &c.t, NULL, err), 0);
		c.r->fwd[d].plane_of[0][0] = 1;
		if (rl_route_accept(c.r, &c.t, NULL, err) == 0) {
			expect_same_flows(&c, old, NULL, 0, d);
			changes++;
		}
		rl_route_free(old);
		change_close(&c);
	}
	assert_true(changes > 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_are_touched_if_planes_differ),
		cmocka_unit_test(the_flows_that_a_change_touches_are_those_that_a_look_at_all_finds),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
