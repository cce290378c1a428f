/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables in several processes: made again of their recipe [RES-1]. */
#include <errno.h>
#include <stdlib.h>

#include "../route/route_fixture.h"
#include "rl_tables.h"

#define LINKS_MAX 256
#define DEVS_MAX 64

/* Two processes of one fabric: here one computes, there the other makes. */
struct pair {
	struct rl_topo topo;
	struct rl_route *route;
	struct rl_tables *here;
	struct rl_tables *there;
	uint8_t link_ok[LINKS_MAX];
	uint8_t dev_ok[DEVS_MAX];
	uint32_t present[DEVS_MAX];
	uint8_t none[DEVS_MAX];
};

static struct pair *
pair_open(void)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct rl_tables_params tp = { .vls = 8, .levels = 1, .retry = true,
				       .anew = true };
	char err[RL_ERR_MAX];

	assert_non_null(p);
	fix_grid(&p->topo, true, 4, 4, 0, 1);
	assert_true(p->topo.nlink <= LINKS_MAX && p->topo.ndev <= DEVS_MAX);
	assert_int_equal(rl_route_setup(&p->topo, "", 8, 1, &p->route, err), 0);
	tp.topo = &p->topo;
	p->here = rl_tables_new(&tp, p->route);
	p->there = rl_tables_new(&tp, p->route);
	assert_non_null(p->here);
	assert_non_null(p->there);
	memset(p->link_ok, RL_LINK_USE, sizeof(p->link_ok));
	memset(p->dev_ok, 1, sizeof(p->dev_ok));
	return p;
}

static void
pair_close(struct pair *p)
{
	rl_tables_free(p->here);
	rl_tables_free(p->there);
	rl_route_free(p->route);
	rl_topo_free(&p->topo);
	free(p);
}

static struct rl_controller_result
compute(struct pair *p, struct rl_tables *t, uint32_t epoch,
	enum rl_resil_mode mode)
{
	const struct rl_controller_job job = {
		.epoch = epoch, .mode = mode, .link_ok = p->link_ok,
		.dev_ok = p->dev_ok, .present = p->present, .unsure = p->none,
		.silent = p->none, .waits = p->none,
	};
	struct rl_controller_result res;

	rl_tables_compute(t, &job, &res);
	return res;
}

static void
cut(struct pair *p, const char *name)
{
	const int64_t link = rl_topo_find_link(&p->topo, name, NULL);

	assert_true(link >= 0);
	p->link_ok[link] = RL_LINK_NO;
}

static void
all_have(struct pair *p, uint32_t epoch)
{
	for (uint32_t d = 0; d < p->topo.ndev; d++) {
		p->present[d] = epoch;
		rl_tables_installed(p->here, d, epoch);
		rl_tables_installed(p->there, d, epoch);
	}
}

static void
check_same_tables(const struct pair *p, uint32_t epoch)
{
	for (uint32_t d = 0; d < p->topo.ndev; d++) {
		const struct rl_fwd *a = rl_tables_fwd(p->here, epoch, d);
		const struct rl_fwd *b = rl_tables_fwd(p->there, epoch, d);

		assert_non_null(a);
		assert_non_null(b);
		assert_int_equal(a->nplanes, b->nplanes);
		assert_int_equal(memcmp(a->inject_plane, b->inject_plane,
					sizeof(a->inject_plane)), 0);
		for (unsigned int pl = 0; pl <= a->inject_plane[0]; pl++)
			for (uint16_t e = 0; e < a->ndst; e++)
				assert_true(rl_fwd_word(a, pl, e) ==
					    rl_fwd_word(b, pl, e));
	}
}

static void
the_same_recipe_makes_the_same_tables_whatever_was_before(void **state)
{
	static const char *const dead[] = { "s0.0-s0.1", "s1.1-s2.1",
					    "e3.3-s3.3", "s2.2-s2.3" };
	struct pair *p = pair_open();
	struct rl_tables_recipe r;

	(void)state;
	for (uint32_t i = 0; i < RL_ARRAY_SIZE(dead); i++) {
		cut(p, dead[i]);
		assert_int_equal(compute(p, p->here, i + 1,
					 RL_RESIL_AUTO).status, 0);
		all_have(p, i + 1);
	}
	/* the other one begins late, and sees only the newest */
	assert_int_equal(rl_tables_recipe(p->here, 4, &r), 0);
	assert_int_equal(rl_tables_make(p->there, &r), 0);
	check_same_tables(p, 4);
	assert_int_equal(rl_tables_newest(p->there), 4);
	assert_int_equal(rl_tables_make(p->there, &r), -EALREADY);
	/* and computes on from there */
	all_have(p, 4);
	p->link_ok[rl_topo_find_link(&p->topo, dead[0], NULL)] = RL_LINK_USE;
	assert_int_equal(compute(p, p->there, 5, RL_RESIL_AUTO).status, 0);
	assert_int_equal(rl_tables_recipe(p->there, 5, &r), 0);
	assert_int_equal(rl_tables_make(p->here, &r), 0);
	check_same_tables(p, 5);
	pair_close(p);
}

/* Links die and return, and each process sees every other change only. */
static void
tables_do_not_depend_on_what_a_process_has_seen(void **state)
{
	struct pair *p = pair_open();
	struct rl_tables_recipe r;
	uint32_t made = 0;

	(void)state;
	for (uint32_t epoch = 1; epoch <= 60; epoch++) {
		struct rl_tables *one = epoch % 3 == 0 ? p->there : p->here;
		struct rl_tables *other = epoch % 3 == 0 ? p->here : p->there;
		const uint32_t n = p->topo.nlink;

		/* three are out at a time */
		p->link_ok[epoch * 29 % n] = RL_LINK_NO;
		if (epoch > 3)
			p->link_ok[(epoch - 3) * 29 % n] = RL_LINK_USE;
		if (compute(p, one, epoch, RL_RESIL_FULL).status != 0)
			continue;
		all_have(p, epoch);
		if (epoch % 2 != 0)
			continue;
		assert_int_equal(rl_tables_recipe(one, epoch, &r), 0);
		assert_int_equal(rl_tables_make(other, &r), 0);
		made++;
	}
	assert_true(made > 20);
	pair_close(p);
}

static void
devices_that_are_removed_are_in_the_recipe(void **state)
{
	struct pair *p = pair_open();
	struct rl_tables_recipe r;
	const int32_t dev = rl_topo_find_dev(&p->topo, "s1.2");

	(void)state;
	p->dev_ok[dev] = p->dev_ok[rl_topo_find_dev(&p->topo, "e1.2")] = 0;
	for (uint32_t i = 0; i < p->topo.nlink; i++)
		if (p->topo.link[i].dev[0] == (uint32_t)dev ||
		    p->topo.link[i].dev[1] == (uint32_t)dev)
			p->link_ok[i] = RL_LINK_LEAVE;
	assert_int_equal(compute(p, p->here, 1, RL_RESIL_FULL).status, 0);
	assert_int_equal(rl_tables_recipe(p->here, 1, &r), 0);
	assert_true(r.dev_out[dev]);
	assert_int_equal(rl_tables_make(p->there, &r), 0);
	check_same_tables(p, 1);
	pair_close(p);
}

static void
flows_to_be_held_come_with_the_recipe(void **state)
{
	struct pair *p = pair_open();
	struct rl_tables_recipe r;
	struct rl_controller_result res;
	uint32_t epoch = 0;

	(void)state;
	/* until the mix of some change asks for it */
	for (uint32_t i = 0; i < p->topo.nlink && epoch < 20; i++) {
		p->link_ok[i] = RL_LINK_NO;
		res = compute(p, p->here, ++epoch, RL_RESIL_AUTO);
		p->link_ok[i] = RL_LINK_USE;
		if (res.status == 0 && res.mode == RL_RESIL_PARTIAL)
			break;
	}
	assert_int_equal(res.mode, RL_RESIL_PARTIAL);
	assert_int_equal(rl_tables_recipe(p->here, epoch, &r), 0);
	assert_non_null(r.flows);
	assert_int_equal(r.flows->count, res.held_flows);
	assert_int_equal(rl_tables_make(p->there, &r), 0);
	assert_int_equal(rl_tables_flows(p->there, epoch)->count,
			 res.held_flows);
	for (uint32_t s = 0; s < p->topo.nep; s++)
		for (uint32_t d = 0; d < p->topo.nep; d++)
			assert_int_equal(
				rl_flows_has(rl_tables_flows(p->here, epoch),
					     s, d),
				rl_flows_has(rl_tables_flows(p->there, epoch),
					     s, d));
	pair_close(p);
}

/* The order of channels for tokens is made again, too, and compared. */
static void
tokens_come_with_the_recipe(void **state)
{
	struct pair *p = pair_open();
	struct rl_tables_recipe r;

	(void)state;
	for (uint32_t epoch = 1; epoch <= 3; epoch++) {
		const size_t bytes = RL_VCS * sizeof(uint32_t);

		p->link_ok[epoch * 7] = RL_LINK_NO;
		assert_int_equal(compute(p, p->here, epoch,
					 RL_RESIL_TOKENS).mode,
				 RL_RESIL_TOKENS);
		assert_int_equal(rl_tables_recipe(p->here, epoch, &r), 0);
		assert_true(r.tokens);
		assert_int_equal(r.from, epoch - 1);
		r.ranks ^= 1;
		assert_int_equal(rl_tables_make(p->there, &r), -EINVAL);
		assert_non_null(strstr(rl_tables_why(p->there),
				       "order of channels"));
		assert_null(rl_tables_fwd(p->there, epoch, 0));
		r.ranks ^= 1;
		assert_int_equal(rl_tables_make(p->there, &r), 0);
		for (uint32_t d = 0; d < p->topo.ndev; d++) {
			const struct rl_fwd_pass *a =
				rl_tables_pass(p->here, epoch, d);
			const struct rl_fwd_pass *b =
				rl_tables_pass(p->there, epoch, d);

			assert_non_null(b);
			assert_ptr_equal(b->fwd,
					 rl_tables_fwd(p->there, epoch, d));
			assert_int_equal(a->epoch, b->epoch);
			assert_int_equal(a->vls, b->vls);
			for (uint16_t i = 0; i < p->topo.dev[d].nports; i++) {
				assert_memory_equal(a->rank[i].in,
						    b->rank[i].in, bytes);
				assert_memory_equal(a->rank[i].out,
						    b->rank[i].out, bytes);
				assert_int_equal(a->end[i], b->end[i]);
			}
		}
		all_have(p, epoch);
	}
	pair_close(p);
}

/* A restarted process gets tables, and its devices wait for them. */
static void
a_device_without_the_tables_before_needs_no_tokens(void **state)
{
	struct pair *p = pair_open();
	struct rl_tables_recipe r;

	(void)state;
	cut(p, "s0.0-s0.1");
	assert_int_equal(compute(p, p->here, 1, RL_RESIL_FULL).status, 0);
	assert_int_equal(rl_tables_recipe(p->here, 1, &r), 0);
	assert_false(r.tokens);
	all_have(p, 1);
	cut(p, "s1.1-s2.1");
	assert_int_equal(compute(p, p->here, 2, RL_RESIL_TOKENS).status, 0);
	assert_int_equal(rl_tables_recipe(p->here, 2, &r), 0);
	assert_true(r.tokens);
	assert_int_equal(r.from, 1);
	assert_int_equal(rl_tables_make(p->there, &r), 0);
	check_same_tables(p, 2);
	assert_null(rl_tables_pass(p->there, 2, 0));
	pair_close(p);
}

static void
tables_that_come_out_otherwise_are_refused_and_nothing_changes(void **state)
{
	struct pair *p = pair_open();
	struct rl_tables_recipe r;
	uint8_t out[LINKS_MAX];

	(void)state;
	cut(p, "s0.0-s0.1");
	assert_int_equal(compute(p, p->here, 7, RL_RESIL_AUTO).status, 0);
	assert_int_equal(rl_tables_recipe(p->here, 7, &r), 0);
	r.digest ^= 1;
	assert_int_equal(rl_tables_make(p->there, &r), -EINVAL);
	assert_non_null(strstr(rl_tables_why(p->there), "same program?"));
	assert_null(rl_tables_fwd(p->there, 7, 0));
	assert_int_equal(rl_tables_newest(p->there), 0);
	r.digest ^= 1;
	/* other marks: not the tables that the digest is of */
	memcpy(out, r.link_out, p->topo.nlink);
	out[rl_topo_find_link(&p->topo, "s2.2-s2.3", NULL)] = 1;
	r.link_out = out;
	assert_int_equal(rl_tables_make(p->there, &r), -EINVAL);
	assert_int_equal(rl_tables_recipe(p->here, 7, &r), 0);
	assert_int_equal(rl_tables_make(p->there, &r), 0);
	/* an epoch never means two tables */
	r.digest ^= 1;
	assert_int_equal(rl_tables_make(p->there, &r), -EINVAL);
	assert_non_null(strstr(rl_tables_why(p->there), "means other tables"));
	assert_int_equal(rl_tables_recipe(p->here, 0, &r), -ENOENT);
	assert_int_equal(rl_tables_recipe(p->here, 8, &r), -ENOENT);
	pair_close(p);
}

static void
a_silent_device_with_unknown_tables_is_not_mixed_with(void **state)
{
	struct pair *p = pair_open();
	uint8_t silent[DEVS_MAX] = { 0 };
	const struct rl_controller_job job = {
		.epoch = 9, .mode = RL_RESIL_AUTO, .link_ok = p->link_ok,
		.dev_ok = p->dev_ok, .present = p->present, .unsure = p->none,
		.silent = silent, .waits = p->none,
	};
	struct rl_controller_result res;

	(void)state;
	cut(p, "s0.0-s0.1");
	silent[3] = 1;
	p->present[3] = 5; /* of a controller before us */
	rl_tables_compute(p->here, &job, &res);
	assert_int_equal(res.status, -ETIME);
	p->present[3] = 0;
	rl_tables_compute(p->here, &job, &res);
	assert_int_equal(res.status, 0);
	pair_close(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_recipe_makes_the_same_tables_whatever_was_before),
		cmocka_unit_test(tables_do_not_depend_on_what_a_process_has_seen),
		cmocka_unit_test(devices_that_are_removed_are_in_the_recipe),
		cmocka_unit_test(flows_to_be_held_come_with_the_recipe),
		cmocka_unit_test(tokens_come_with_the_recipe),
		cmocka_unit_test(
			a_device_without_the_tables_before_needs_no_tokens),
		cmocka_unit_test(tables_that_come_out_otherwise_are_refused_and_nothing_changes),
		cmocka_unit_test(a_silent_device_with_unknown_tables_is_not_mixed_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
