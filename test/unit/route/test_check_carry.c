/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof that is carried along [ROUTE-4]: whatever changes (failures, returns,
 * tables, ranks, SLs), looking at the change alone gives the verdict that looking
 * at everything gives, and the flows that a change may touch are found without a
 * look at all flows. An argument sets the number of seeds.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check_mix.h"
#include "route_draw.h"

static uint64_t seeds = 60;

struct carried {
	struct rl_topo t;
	const char *engine;
	unsigned int vls;
	bool parts; /* it may be cut */
	struct rl_route *r;
	struct rl_proof *proof;
	struct rl_prng p;
	uint64_t states_all, states_new; /* looked at, from scratch and carried */
	uint64_t refused, passed;
};

static bool
carried_open(struct carried *c, uint64_t seed)
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
	c->parts = seed % 2;
	return rl_route_compute(&c->t, c->engine, c->vls, &c->r, err) == 0 &&
	       c->r->rank != NULL;
}

static void
carried_close(struct carried *c)
{
	rl_proof_free(c->proof);
	rl_route_free(c->r);
	rl_topo_free(&c->t);
}

/* Both ways; returns the verdict. */
static int
carried_judge(struct carried *c, uint64_t seed, const char *what)
{
	const struct rl_check_ranks in = {.topo = &c->t, .fwd = c->r->fwd,
					  .rank = c->r->rank,
					  .parts = c->parts};
	struct rl_ranks_report all, new;
	const int want = rl_check_ranks(&in, NULL, &all);
	int ret;

	/* Knowing it twice changes nothing. */
	if (c->proof != NULL && rl_prng_below(&c->p, 2) == 0) {
		struct rl_proof *copy = rl_proof_copy(c->proof);

		assert_non_null(copy);
		rl_proof_free(c->proof);
		c->proof = copy;
	}
	ret = rl_check_ranks(&in, &c->proof, &new);
	if (ret != want)
		fail_msg("seed %llu, %s, %s: %d, from scratch %d",
			 (unsigned long long)seed, c->engine, what, ret, want);
	assert_true((c->proof == NULL) == (ret != 0));
	if (ret != -ELOOP) {
		assert_int_equal(new.pairs, all.pairs);
		assert_int_equal(new.reachable, all.reachable);
	}
	if (ret == 0) {
		c->states_all += all.states;
		c->states_new += new.states;
	}
	c->passed += ret == 0;
	c->refused += ret != 0;
	return ret;
}

/* New tables for the fabric as it is; false: there are none. */
static bool
carried_tables(struct carried *c)
{
	char err[RL_ERR_MAX];
	struct rl_route *r;

	if (rl_route_compute(&c->t, c->engine, c->vls, &r, err) != 0)
		return false;
	if (r->rank == NULL) {
		rl_route_free(r);
		return false;
	}
	rl_route_free(c->r);
	c->r = r;
	return true;
}

static void
fail_or_heal(struct rl_topo *t, struct rl_prng *p)
{
	const uint32_t l = rl_prng_below(p, t->nlink);
	const uint32_t d = rl_prng_below(p, t->ndev - t->nep);

	if (rl_prng_below(p, 5) == 0)
		t->dev[d].failed = !t->dev[d].failed;
	else
		t->link[l].failed = !t->link[l].failed;
}

static void
after_any_change_the_verdict_is_that_of_a_look_at_everything(void **state)
{
	uint64_t all = 0, new = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct carried c;
		bool good = carried_open(&c, seed);

		for (int step = 0; step < 10 && good; step++) {
			assert_int_equal(carried_judge(&c, seed, "tables"), 0);
			fail_or_heal(&c.t, &c.p);
			good = carried_tables(&c);
		}
		all += c.states_all;
		new += c.states_new;
		carried_close(&c);
	}
	/* Changes on small fabrics concern much of them. */
	assert_true(new < all);
}

static struct rl_fwd_hop *
hop_of(const struct carried *c, uint32_t dev, unsigned int p, uint32_t e,
       unsigned int i)
{
	return rl_fwd_at(&c->r->fwd[dev], p, (uint16_t)e, i);
}

/* Another next hop, somewhere. */
static void
plant_entry(struct carried *c)
{
	const uint32_t dev = rl_prng_below(&c->p, c->t.ndev - c->t.nep);
	const unsigned int planes = rl_prng_below(&c->p, 3) == 0 ? 3 : 1;
	const unsigned int plane = rl_prng_below(&c->p, planes);
	struct rl_fwd_hop *h;
	uint32_t way;

	if (plane >= c->r->fwd[dev].nplanes || c->t.dev[dev].nports == 0)
		return;
	way = rl_prng_below(&c->p, 2);
	h = hop_of(c, dev, plane, rl_prng_below(&c->p, c->t.nep), way);
	if (h != NULL)
		h->port = rl_prng_below(&c->p, c->t.dev[dev].nports) & 0x1fff;
}

static void
plant_rank(struct carried *c)
{
	const uint32_t chan = rl_prng_below(&c->p, rl_channels(&c->t));

	c->r->rank[chan] = rl_prng_below(&c->p, 2) ? 0 :
			   c->r->rank[rl_prng_below(&c->p,
						    rl_channels(&c->t))];
}

/* Packets of a source have another SL. */
static void
plant_sl(struct carried *c)
{
	const uint32_t s = rl_prng_below(&c->p, c->t.nep);
	uint8_t *sl = (uint8_t *)(uintptr_t)
		c->r->fwd[c->t.ep_dev[s]].path_sl;

	sl += rl_prng_below(&c->p, c->t.nep);
	*sl = (uint8_t)rl_prng_below(&c->p, 4);
}

/* A packet that comes by a VL is on another plane. */
static void
plant_plane(struct carried *c)
{
	const uint32_t dev = rl_prng_below(&c->p, c->t.ndev - c->t.nep);
	struct rl_fwd *f = &c->r->fwd[dev];
	uint8_t *plane_of;

	plane_of = f->plane_of[rl_prng_below(&c->p, 3)];
	plane_of += rl_prng_below(&c->p, 3);
	*plane_of = (uint8_t)rl_prng_below(&c->p, rl_min_u32(3, f->nplanes));
}

/* A link that the tables do not know dies or returns: unchanged entries
 * become right or wrong. */
static void
plant_link(struct carried *c)
{
	const uint32_t l = rl_prng_below(&c->p, c->t.nlink);

	c->t.link[l].failed = !c->t.link[l].failed;
}

static void
whatever_is_planted_is_refused_as_by_a_look_at_everything(void **state)
{
	static const struct {
		const char *name;
		void (*fn)(struct carried *c);
	} plant[] = {
		{"entry", plant_entry}, {"rank", plant_rank}, {"SL", plant_sl},
		{"plane", plant_plane}, {"link", plant_link},
	};
	uint64_t refused[RL_ARRAY_SIZE(plant)] = {0};
	uint64_t passed[RL_ARRAY_SIZE(plant)] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct carried c;
		bool good = carried_open(&c, seed);

		for (unsigned int step = 0; step < 15 && good; step++) {
			unsigned int n = 1 + rl_prng_below(&c.p, 5);
			int ret = 0;

			if (c.proof == NULL)
				assert_int_equal(carried_judge(&c, seed, "all"),
						 0);
			/*
			 * A proof that passes is carried on, with more faults
			 * planted.
			 */
			for (; n > 0 && ret == 0; n--) {
				const uint32_t k = rl_prng_below(
					&c.p, RL_ARRAY_SIZE(plant));

				plant[k].fn(&c);
				ret = carried_judge(&c, seed, plant[k].name);
				refused[k] += ret != 0;
				passed[k] += ret == 0;
			}
			if (rl_prng_below(&c.p, 3) == 0)
				fail_or_heal(&c.t, &c.p);
			if (ret != 0 || rl_prng_below(&c.p, 2) == 0) {
				rl_proof_free(c.proof);
				c.proof = NULL;
				good = carried_tables(&c);
			} else {
				good = carried_tables(&c);
				if (good)
					carried_judge(&c, seed, "new tables");
			}
		}
		carried_close(&c);
	}
	for (unsigned int k = 0; k < RL_ARRAY_SIZE(plant); k++) {
		if (refused[k] == 0 || passed[k] == 0)
			fail_msg("%s: %llu refused, %llu passed", plant[k].name,
				 (unsigned long long)refused[k],
				 (unsigned long long)passed[k]);
	}
}

/* While a destination is away its entries are not checked. */
static void
what_changed_while_a_destination_was_away_is_looked_at(void **state)
{
	struct rl_fwd_hop *h;
	struct carried c;

	(void)state;
	memset(&c, 0, sizeof(c));
	fix_grid(&c.t, true, 4, 4, 0, 1);
	c.engine = "reflit";
	c.r = fix_route(&c.t, c.engine, 8);
	assert_int_equal(carried_judge(&c, 0, "whole"), 0);
	fix_fail(&c.t, "e1.1-s1.1");
	assert_int_equal(carried_judge(&c, 0, "away"), 0);
	for (unsigned int i = 0;
	     (h = hop_of(&c, fix_dev(&c.t, "s3.3"), 0,
			 c.t.dev[fix_dev(&c.t, "e1.1")].ep_id, i)) != NULL; i++)
		h->port = RL_FWD_PORT_NONE;
	assert_int_equal(carried_judge(&c, 0, "changed"), 0);
	for (uint32_t l = 0; l < c.t.nlink; l++)
		c.t.link[l].failed = false;
	assert_int_equal(carried_judge(&c, 0, "back"), -EHOSTUNREACH);
	carried_close(&c);
}

/* Entries that agree for all SLs in use may differ for one more. */
static void
a_new_sl_is_followed_if_it_means_another_vl(void **state)
{
	uint8_t *sl, *vl;
	struct carried c;
	size_t rows;

	(void)state;
	memset(&c, 0, sizeof(c));
	fix_grid(&c.t, true, 4, 4, 0, 1);
	c.engine = "updown";
	c.r = fix_route(&c.t, c.engine, 8);
	/* By SL 5 the second plane of detours has the VL of the first. */
	vl = (uint8_t *)(uintptr_t)c.r->fwd[0].sl2vl;
	rows = (size_t)c.r->fwd[0].nclass * c.r->fwd[0].nclass;
	for (size_t i = 2 * rows; i < 3 * rows; i++)
		vl[i * RL_SLS + 5] = 1;
	assert_int_equal(carried_judge(&c, 0, "nobody has it"), 0);
	sl = (uint8_t *)(uintptr_t)c.r->fwd[16 + 3].path_sl;
	sl[9] = 5;
	assert_int_not_equal(carried_judge(&c, 0, "one has it"), 0);
	carried_close(&c);
}

/* One link of a fabric of a hundred switches: little is looked at. */
static void
expect_small_parts(bool parts)
{
	struct carried c;

	memset(&c, 0, sizeof(c));
	c.parts = parts;
	fix_grid(&c.t, true, 5, 5, 4, 1);
	c.engine = "reflit";
	c.vls = 8;
	c.r = fix_route(&c.t, c.engine, c.vls);
	assert_int_equal(carried_judge(&c, 0, "whole"), 0);
	c.states_all = c.states_new = 0;
	fix_fail(&c.t, "s1.1.1-s1.2.1");
	assert_true(carried_tables(&c));
	assert_int_equal(carried_judge(&c, 0, "failed"), 0);
	assert_true(c.states_new * 5 < c.states_all);
	c.states_all = c.states_new = 0;
	fix_fail(&c.t, "s3.1.1-s3.2.1");
	assert_true(carried_tables(&c));
	assert_int_equal(carried_judge(&c, 0, "failed twice"), 0);
	assert_true(c.states_new * 5 < c.states_all);
	c.states_all = c.states_new = 0;
	for (uint32_t l = 0; l < c.t.nlink; l++)
		c.t.link[l].failed = false;
	assert_true(carried_tables(&c));
	assert_int_equal(carried_judge(&c, 0, "back"), 0);
	assert_true(c.states_new * 5 < c.states_all);
	carried_close(&c);
}

static void
a_failure_and_a_return_cost_a_small_part(void **state)
{
	(void)state;
	expect_small_parts(false);
}

/* If proofs are compared by destination, every port of a device counts. */
static void
each_of_the_ports_that_changed_is_seen(void **state)
{
	const struct rl_topo_port *a, *b;
	struct carried c;

	(void)state;
	memset(&c, 0, sizeof(c));
	fix_grid(&c.t, true, 4, 4, 0, 1);
	c.engine = "torus-2qos";
	c.r = fix_route(&c.t, c.engine, 8);
	assert_int_equal(carried_judge(&c, 0, "whole"), 0);
	a = &c.t.dev[5].port[0];
	b = &c.t.dev[5].port[1];
	c.r->rank[rl_channel(a->link, a->end, RL_VCS - 1)]++;
	for (unsigned int vl = 0; vl < RL_VCS; vl++)
		c.r->rank[rl_channel(b->link, b->end, vl)] = 1;
	assert_int_equal(carried_judge(&c, 0, "two ports"), -ELOOP);
	carried_close(&c);
}

/* So much that all of it is looked at sooner than the changes one by one. */
static void
many_failures_cost_no_more_than_a_look_at_everything(void **state)
{
	struct carried c;

	(void)state;
	memset(&c, 0, sizeof(c));
	fix_grid(&c.t, true, 8, 8, 8, 1);
	c.engine = "reflit";
	c.vls = 8;
	c.r = fix_route(&c.t, c.engine, c.vls);
	assert_int_equal(carried_judge(&c, 0, "whole"), 0);
	rl_prng_seed(&c.p, 1);
	for (unsigned int i = 0; i < 5; i++)
		c.t.dev[rl_prng_below(&c.p, 512)].failed = true;
	for (unsigned int i = 0; i < 20; i++)
		c.t.link[512 + rl_prng_below(&c.p, 1536)].failed = true;
	c.states_all = c.states_new = 0;
	assert_true(carried_tables(&c));
	assert_int_equal(carried_judge(&c, 0, "failed"), 0);
	assert_int_equal(c.states_new, c.states_all);
	carried_close(&c);
}

/* As a controller asks: should failures cut the fabric, parts will do. */
static void
a_fabric_that_may_be_cut_costs_no_more_while_it_is_whole(void **state)
{
	(void)state;
	expect_small_parts(true);
}

/* The mix of two tables, judged with what is known of both, and without. */
static void
expect_same_flows(struct carried *c, const struct rl_route *old,
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
	/* Rare cases take more of them. */
	for (uint64_t seed = 1; seed <= 5 * seeds; seed++) {
		struct carried c;
		bool good = carried_open(&c, seed);

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
		carried_close(&c);
	}
	assert_true(changes > seeds);
}

/* The same entries, but on one switch packets are on another plane. */
static void
flows_are_touched_if_planes_differ(void **state)
{
	uint64_t changes = 0;

	(void)state;
	for (uint32_t d = 0; d < 16; d++) {
		struct rl_route *old;
		struct carried c;
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
		carried_close(&c);
	}
	assert_true(changes > 0);
}

/*
 * A way is written down in seven bits. Destinations to which one is longer are
 * looked at as if nothing were known: what is missing on it is found.
 */
static void
ways_longer_than_can_be_written_down_are_not_carried(void **state)
{
	static const unsigned int length[] = {127, 128, 129, 140};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(length); i++) {
		const unsigned int n = length[i];
		/* From here it is 127 links; one more has no room. */
		const unsigned int at = n > 127 ? n - 127 : 60;
		char link[2 * RL_NAME_MAX];
		struct rl_fwd_hop *h;
		struct carried c;

		memset(&c, 0, sizeof(c));
		rl_prng_seed(&c.p, n);
		fix_grid(&c.t, false, n, 0, 0, 1);
		c.engine = "reflit";
		c.vls = 8;
		c.r = fix_route(&c.t, c.engine, 8);
		assert_int_equal(carried_judge(&c, n, "whole"), 0);
		/* No source there whose way would be looked at. */
		snprintf(link, sizeof(link), "e%u-s%u", at, at);
		fix_fail(&c.t, link);
		assert_true(carried_tables(&c));
		assert_int_equal(carried_judge(&c, n, "one away"), 0);
		for (unsigned int k = 0;
		     (h = hop_of(&c, at, 0, n - 1, k)) != NULL; k++)
			h->port = RL_FWD_PORT_NONE;
		assert_int_equal(carried_judge(&c, n, "cut there"),
				 -EHOSTUNREACH);
		carried_close(&c);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_any_change_the_verdict_is_that_of_a_look_at_everything),
		cmocka_unit_test(whatever_is_planted_is_refused_as_by_a_look_at_everything),
		cmocka_unit_test(what_changed_while_a_destination_was_away_is_looked_at),
		cmocka_unit_test(a_new_sl_is_followed_if_it_means_another_vl),
		cmocka_unit_test(a_failure_and_a_return_cost_a_small_part),
		cmocka_unit_test(each_of_the_ports_that_changed_is_seen),
		cmocka_unit_test(many_failures_cost_no_more_than_a_look_at_everything),
		cmocka_unit_test(a_fabric_that_may_be_cut_costs_no_more_while_it_is_whole),
		cmocka_unit_test(flows_are_touched_if_planes_differ),
		cmocka_unit_test(the_flows_that_a_change_touches_are_those_that_a_look_at_all_finds),
		cmocka_unit_test(ways_longer_than_can_be_written_down_are_not_carried),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
