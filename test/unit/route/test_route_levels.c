/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service levels: each has VLs of its own, and travels on them as the first
 * does on its [LCB-3, ROUTE-2]. With tables that are copies VL by VL, what the
 * checker proves of one level holds for all.
 */
#include <errno.h>

#include "route_fixture.h"


/* Every entry of every table of level q is that of level 0, q levels up. */
static void
same_on_every_level(const struct rl_fwd *f, unsigned int levels)
{
	const unsigned int vls = f->nvls / levels, sls = RL_SLS / levels;

	assert_int_equal(f->levels, levels);
	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		const unsigned int q = sl / sls;
		const uint8_t sl0 = (uint8_t)(sl % sls);

		assert_int_equal(f->inject_plane[sl], f->inject_plane[sl0]);
		for (unsigned int vl = 0; vl < vls; vl++)
			assert_int_equal(f->plane_of[q * vls + vl][sl],
					 f->plane_of[vl][sl0]);
		for (unsigned int p = 0; p < f->nplanes; p++)
			for (uint16_t in = 0; in <= f->nports; in++)
				for (uint16_t out = 0; out < f->nports; out++) {
					const unsigned int vl0 = rl_fwd_vl(
						f, p, in, out, sl0);

					assert_true(vl0 < vls);
					assert_int_equal(
						rl_fwd_vl(f, p, in, out,
							  (uint8_t)sl),
						vl0 + q * vls);
				}
	}
}

static void
levels_are_copies_on_vls_of_their_own(void **state)
{
	static const struct {
		const char *engine;
		bool wrap;
		unsigned int x, y, levels;
	} c[] = {
		{ "torus-2qos", true, 4, 4, 2 }, { "torus-2qos", false, 3, 3, 4 },
		{ "updown", true, 3, 3, 2 },	 { "updown", false, 2, 3, 4 },
		{ "updown", false, 2, 2, 8 },	 { "reflit", true, 4, 4, 2 },
		{ "reflit", false, 2, 2, 2 },	 { "minhop", false, 2, 2, 8 },
		{ "reflit", true, 4, 4, 1 },
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		char err[RL_ERR_MAX] = "";
		struct rl_route *r;
		struct rl_topo t;

		fix_grid(&t, c[i].wrap, c[i].x, c[i].y, 0, 1);
		if (rl_route_compute_levels(&t, c[i].engine, RL_VCS,
					    c[i].levels, &r, err) != 0)
			fail_msg("%s: %s", c[i].engine, err);
		for (uint32_t d = 0; d < t.ndev && c[i].levels > 1; d++)
			same_on_every_level(&r->fwd[d], c[i].levels);
		/* once more changes nothing */
		assert_int_equal(rl_route_levels(r, c[i].levels, err), 0);
		for (uint32_t d = 0; d < t.ndev && c[i].levels > 1; d++)
			same_on_every_level(&r->fwd[d], c[i].levels);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

static void
what_does_not_fit_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *engine;
		unsigned int z, vls, levels;
		const char *why;
	} c[] = {
		{ "updown", 0, 8, 3, "use 1, 2, 4 or 8" },
		{ "updown", 0, 8, 0, "need as many VLs" },
		{ "updown", 0, 4, 8, "need as many VLs" },
		{ "torus-2qos", 3, 8, 4, "SLs" }, /* one bit a dimension */
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		char err[RL_ERR_MAX] = "";
		struct rl_route *r;
		struct rl_topo t;

		fix_grid(&t, true, 4, 4, c[i].z, 1);
		assert_int_equal(rl_route_compute_levels(&t, c[i].engine,
							 c[i].vls, c[i].levels,
							 &r, err),
				 -EINVAL);
		assert_null(r);
		if (strstr(err, c[i].why) == NULL)
			fail_msg("%s %u: %s", c[i].engine, c[i].levels, err);
		rl_topo_free(&t);
	}
}

/* Levels are given to a route that has its VLs already. */
static void
levels_that_need_more_vls_than_there_are_are_refused(void **state)
{
	unsigned int refused = 0;

	(void)state;
	for (unsigned int levels = 1; levels <= RL_VCS; levels *= 2) {
		char err[RL_ERR_MAX] = "";
		unsigned int vls;
		struct rl_route *r;
		struct rl_topo t;
		int ret;

		fix_grid(&t, true, 4, 4, 0, 1);
		assert_int_equal(rl_route_compute(&t, "updown", 8, &r, err), 0);
		vls = r->fwd[0].nvls;
		assert_in_range(vls, 2, 8);
		ret = rl_route_levels(r, levels, err);
		assert_int_equal(ret, vls * levels > RL_VCS ? -EINVAL : 0);
		if (ret != 0) {
			assert_non_null(strstr(err, "more than the 8"));
			assert_int_equal(r->fwd[0].nvls, vls);
			refused++;
		}
		rl_route_free(r);
		rl_topo_free(&t);
	}
	assert_true(refused > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		{ "[LCB-3] levels are copies on VLs of their own",
		  levels_are_copies_on_vls_of_their_own, NULL, NULL, NULL },
		{ "levels that need more VLs than there are, are refused",
		  levels_that_need_more_vls_than_there_are_are_refused, NULL,
		  NULL, NULL },
		{ "what does not fit is refused with the reason",
		  what_does_not_fit_is_refused_with_the_reason, NULL, NULL,
		  NULL },
	};

	return cmocka_run_group_tests_name("service levels", tests, NULL,
					   NULL);
}
