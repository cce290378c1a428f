/* SPDX-License-Identifier: BSD-3-Clause */
/* What the controller's jobs come to: which tables, and how to install them. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_config.h"
#include "rl_tables.h"

#define DEVS 64
#define LINKS 128

/* A 4x4 torus; what all devices have, and what works. */
struct world {
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_tables *t;
	uint8_t link_ok[LINKS], dev_ok[DEVS], none[DEVS];
	uint32_t present[DEVS];
	uint32_t epoch;
};

static void
world_open(struct world *w)
{
	static const char text[] =
		"fabric: { topology = \"torus\"; dims = [4, 4]; };\n";
	struct rl_tables_params p = { .vls = 8, .levels = 1, .retry = true };
	char err[1024];

	memset(w, 0, sizeof(*w));
	assert_int_equal(rl_config_read_text("world", text, strlen(text),
					     &w->cfg, err, sizeof(err)), 0);
	assert_true(w->cfg.topo.ndev <= DEVS && w->cfg.topo.nlink <= LINKS);
	assert_int_equal(rl_route_setup(&w->cfg.topo, NULL, 8, 1, &w->route,
					err), 0);
	p.topo = &w->cfg.topo;
	w->t = rl_tables_new(&p, w->route);
	assert_non_null(w->t);
	memset(w->link_ok, RL_LINK_USE, sizeof(w->link_ok));
	memset(w->dev_ok, 1, sizeof(w->dev_ok));
}

static void
world_close(struct world *w)
{
	rl_tables_free(w->t);
	rl_route_free(w->route);
	rl_config_free(&w->cfg);
}

static void
mark(struct world *w, const char *a, const char *b, enum rl_link_use use)
{
	const struct rl_topo *t = &w->cfg.topo;

	for (uint32_t i = 0; i < t->nlink; i++) {
		const char *x = t->dev[t->link[i].dev[0]].name;
		const char *y = t->dev[t->link[i].dev[1]].name;

		if ((strcmp(x, a) == 0 && strcmp(y, b) == 0) ||
		    (strcmp(x, b) == 0 && strcmp(y, a) == 0)) {
			w->link_ok[i] = (uint8_t)use;
			return;
		}
	}
	fail();
}

/* Computes; what comes of it all devices get. */
static struct rl_controller_result
job(struct world *w, enum rl_resil_mode mode)
{
	const struct rl_controller_job j = {
		.epoch = ++w->epoch, .mode = mode, .link_ok = w->link_ok,
		.dev_ok = w->dev_ok, .present = w->present, .unsure = w->none,
		.silent = w->none, .waits = w->none,
	};
	struct rl_controller_result r;

	rl_tables_compute(w->t, &j, &r);
	for (uint32_t d = 0; r.status == 0 && d < w->cfg.topo.ndev; d++) {
		w->present[d] = w->epoch;
		rl_tables_installed(w->t, d, w->epoch);
	}
	return r;
}

static uint32_t
ep_of(const struct world *w, const char *name)
{
	const struct rl_topo *t = &w->cfg.topo;

	for (uint32_t e = 0; e < t->nep; e++)
		if (strcmp(t->dev[t->ep_dev[e]].name, name) == 0)
			return e;
	fail();
	return 0;
}

/* Whether the newest tables of an endpoint's switch lead to another at all. */
static bool
leads(const struct world *w, const char *from, const char *to)
{
	const struct rl_topo *t = &w->cfg.topo;
	const uint32_t ep = t->ep_dev[ep_of(w, from)];
	const struct rl_fwd *f = rl_tables_fwd(w->t, rl_tables_newest(w->t),
					       t->dev[ep].port[0].peer_dev);

	assert_non_null(f);
	return rl_fwd_lookup(f, f->plane_of[0][0], (uint16_t)ep_of(w, to))
		       .hop[0].port != RL_FWD_PORT_NONE;
}

static void
what_is_right_as_it_is_is_not_made_anew(void **state)
{
	struct world w;

	(void)state;
	world_open(&w);
	assert_int_equal(job(&w, RL_RESIL_AUTO).status, -EALREADY);
	mark(&w, "s0.0", "s0.1", RL_LINK_NO);
	assert_int_equal(job(&w, RL_RESIL_AUTO).status, 0);
	assert_int_equal(job(&w, RL_RESIL_AUTO).status, -EALREADY);
	assert_int_equal(job(&w, RL_RESIL_FULL).status, 0); /* by hand */
	world_close(&w);
}

/* [RES-7]: a link that degrades is left, unless it is somebody's only one. */
static void
the_only_way_is_not_avoided_and_is_used_again_when_it_is_back(void **state)
{
	struct rl_controller_result r;
	struct world w;

	(void)state;
	world_open(&w);
	mark(&w, "s0.0", "s0.1", RL_LINK_AVOID);
	r = job(&w, RL_RESIL_AUTO);
	assert_int_equal(r.status, 0);
	assert_true(r.avoided);
	assert_int_equal(job(&w, RL_RESIL_AUTO).status, -EALREADY);
	mark(&w, "s0.0", "s0.1", RL_LINK_USE);
	mark(&w, "e0.0", "s0.0", RL_LINK_NO);
	assert_int_equal(job(&w, RL_RESIL_AUTO).status, 0);
	assert_false(leads(&w, "e1.1", "e0.0"));
	/* back, and it degrades: better than nothing */
	mark(&w, "e0.0", "s0.0", RL_LINK_AVOID);
	r = job(&w, RL_RESIL_AUTO);
	assert_int_equal(r.status, 0);
	assert_false(r.avoided);
	assert_true(leads(&w, "e1.1", "e0.0"));
	world_close(&w);
}

static void
each_part_has_its_tables_and_leads_nowhere_else(void **state)
{
	static const char *const rows[] = { "0", "1", "2", "3" };
	struct world w;

	(void)state;
	world_open(&w);
	for (unsigned int y = 0; y < 4; y++) { /* between columns 0 and 1 */
		char a[8] = "s0.", b[8] = "s1.", c[8] = "s3.", d[8] = "s2.";

		strcat(a, rows[y]);
		strcat(b, rows[y]);
		strcat(c, rows[y]);
		strcat(d, rows[y]);
		mark(&w, a, b, RL_LINK_NO);
		mark(&w, c, d, RL_LINK_NO);
	}
	assert_int_equal(job(&w, RL_RESIL_AUTO).status, 0);
	assert_true(leads(&w, "e0.0", "e3.2"));
	assert_true(leads(&w, "e1.1", "e2.3"));
	assert_false(leads(&w, "e0.0", "e1.0"));
	assert_false(leads(&w, "e2.2", "e3.2"));
	mark(&w, "s0.0", "s1.0", RL_LINK_USE);
	assert_int_equal(job(&w, RL_RESIL_AUTO).status, 0);
	assert_true(leads(&w, "e2.2", "e3.2"));
	world_close(&w);
}

/* [RES-6]: flows that have no way by the old tables cannot leave the fabric */
static void
what_could_not_drain_is_not_held_alone(void **state)
{
	const enum rl_resil_mode mode[] = { RL_RESIL_AUTO, RL_RESIL_PARTIAL };

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(mode); i++) {
		struct rl_controller_result r;
		struct world w;

		world_open(&w);
		/* s1.1 has one link left, which no detour knows */
		mark(&w, "s1.1", "s1.2", RL_LINK_NO);
		mark(&w, "s1.1", "s1.0", RL_LINK_NO);
		mark(&w, "s1.1", "s0.1", RL_LINK_NO);
		r = job(&w, mode[i]);
		assert_int_equal(r.status, 0);
		assert_int_equal(r.mode, i == 0 ? RL_RESIL_FULL
						: RL_RESIL_PARTIAL);
		assert_true(i == 0 || r.held_flows > 0);
		world_close(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_right_as_it_is_is_not_made_anew),
		cmocka_unit_test(the_only_way_is_not_avoided_and_is_used_again_when_it_is_back),
		cmocka_unit_test(each_part_has_its_tables_and_leads_nowhere_else),
		cmocka_unit_test(what_could_not_drain_is_not_held_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
