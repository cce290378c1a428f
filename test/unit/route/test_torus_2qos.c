/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine torus-2qos [ROUTE-2]: the examples of the torus-2QoS manual page by
 * its letters, the SL and VL rules, parallel links, what is refused, and the
 * fabrics with a credit loop that the manual's rules let pass.
 *
 *   y                        6x5: m S n T o p are (0..5, 1); I (2,2), r (3,2),
 *   ^                             D (3,3)
 *   |                        6x6: q (2,2), R (3,2), I (2,3), u (3,3), D (3,4)
 *   +--> x
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check.h"
#include "route_fixture.h"

struct route_fix {
	struct rl_topo t;
	struct rl_route *r;
};

static void
up(struct route_fix *f, unsigned int x, unsigned int y,
   const char *const *fail)
{
	fix_grid(&f->t, true, x, y, 0, 1);
	for (; fail != NULL && *fail != NULL; fail++)
		fix_fail(&f->t, *fail);
	f->r = fix_route(&f->t, "torus-2qos", 8);
}

static void
down(struct route_fix *f)
{
	rl_route_free(f->r);
	rl_topo_free(&f->t);
}

/* The path from e<src> to e<dst> as "s1.1 s2.1:0 ...": switch and VL into it. */
static void
expect_path(const struct route_fix *f, const char *src, const char *dst,
	    const char *want)
{
	const struct rl_topo *t = &f->t;
	uint32_t dev = fix_dev(t, src);
	const uint32_t end = fix_dev(t, dst);
	const uint16_t to = t->dev[end].ep_id;
	const uint8_t sl = f->r->fwd[dev].path_sl[to];
	uint16_t in = f->r->fwd[dev].nports;
	unsigned int plane = 0;
	char got[256] = "";

	for (int hops = 0; dev != end && hops < 20; hops++) {
		const struct rl_fwd *fwd = &f->r->fwd[dev];
		const struct rl_fwd_hop h =
			rl_fwd_lookup(fwd, plane, to).hop[0];
		const struct rl_topo_port *p = &t->dev[dev].port[h.port];
		const uint8_t vl = rl_fwd_vl(fwd, h.plane, in, h.port, sl);

		if (hops > 0 && p->peer_dev != end)
			snprintf(got + strlen(got), sizeof(got) - strlen(got),
				 " %s:%u", t->dev[p->peer_dev].name, vl);
		dev = p->peer_dev;
		in = p->peer_port;
		plane = f->r->fwd[dev].plane_of[vl][sl];
	}
	assert_string_equal(got, want);
}

static void
pristine_the_path_is_S_n_T_r_D(void **state)
{
	struct route_fix f;

	(void)state;
	up(&f, 6, 5, NULL);
	expect_path(&f, "e1.1", "e3.3", " s2.1:0 s3.1:0 s3.2:0 s3.3:0");
	down(&f);
}

static void
without_the_link_n_T_it_goes_the_long_way_S_m_p_o_T_r_D(void **state)
{
	const char *const fail[] = {"s2.1-s3.1", NULL};
	struct route_fix f;

	(void)state;
	up(&f, 6, 5, fail);
	expect_path(&f, "e1.1", "e3.3",
		    " s0.1:0 s5.1:0 s4.1:0 s3.1:0 s3.2:0 s3.3:0");
	down(&f);
}

static void
without_the_link_S_n_too(void **state)
{
	const char *const fail[] = {"s1.1-s2.1", NULL};
	struct route_fix f;

	(void)state;
	up(&f, 6, 5, fail);
	expect_path(&f, "e1.1", "e3.3",
		    " s0.1:0 s5.1:0 s4.1:0 s3.1:0 s3.2:0 s3.3:0");
	down(&f);
}

static void
without_T_it_turns_early_S_n_I_r_D_with_I_r_on_VL_2(void **state)
{
	const char *const fail[] = {"s3.1", NULL};
	struct route_fix f;

	(void)state;
	up(&f, 6, 5, fail);
	expect_path(&f, "e1.1", "e3.3", " s2.1:0 s2.2:0 s3.2:2 s3.3:0");
	down(&f);
}

static void
without_T_and_R_it_goes_S_n_q_I_u_D_with_I_u_on_VL_2(void **state)
{
	const char *const fail[] = {"s3.1", "s3.2", NULL};
	struct route_fix f;

	(void)state;
	up(&f, 6, 6, fail);
	expect_path(&f, "e1.1", "e3.4",
		    " s2.1:0 s2.2:0 s2.3:0 s3.3:2 s3.4:0");
	down(&f);
}

/* Refused, and the reason holds these words. */
static void
expect_refused(struct rl_topo *t, unsigned int vls, const char *why)
{
	char err[RL_ERR_MAX] = "";
	struct rl_route *r;

	assert_int_equal(rl_route_compute(t, "torus-2qos", vls, &r, err),
			 -EHOSTUNREACH);
	assert_null(r);
	if (strstr(err, why) == NULL)
		fail_msg("'%s' does not say '%s'", err, why);
	rl_topo_free(t);
}

static void
without_O_and_T_it_is_refused(void **state)
{
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 6, 6, 0, 1);
	fix_fail(&t, "s3.1");
	fix_fail(&t, "s4.1");
	expect_refused(&t, 8, "s3.1 and s4.1");
}

static void
a_ring_cut_in_two_is_refused(void **state)
{
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 6, 5, 0, 1);
	fix_fail(&t, "s2.1-s3.1");
	fix_fail(&t, "s3.1-s4.1");
	expect_refused(&t, 8, "s0.1 in dimension 0");
}

static void
two_failed_switches_on_one_line_apart_from_each_other_are_refused(void **state)
{
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 6, 6, 0, 1);
	fix_fail(&t, "s3.1");
	fix_fail(&t, "s3.3");
	expect_refused(&t, 8, "cut into pieces");
}

static void
failed_switches_round_the_corner_of_the_last_dimension_follow_one_another(
	void **state)
{
	const char *const fail[] = {"s3.5", "s3.0", NULL};
	struct route_fix f;

	(void)state;
	up(&f, 6, 6, fail);
	down(&f);
}

static void
an_inner_failure_of_a_mesh_is_refused_and_one_at_its_edge_is_not(void **state)
{
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, false, 4, 4, 0, 1);
	fix_fail(&t, "s1.1-s2.1");
	expect_refused(&t, 8, "cut into pieces");
	fix_grid(&t, false, 4, 4, 0, 1);
	fix_fail(&t, "s0.0");
	r = fix_route(&t, "torus-2qos", 8);
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
fewer_VLs_than_it_takes_are_refused(void **state)
{
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 6, 5, 0, 1);
	expect_refused(&t, 1, "needs 2 VLs");
	/* Two are enough for links, but not for the early turn: without bit 1
	 * eight channels round the failed switch make a loop. */
	fix_grid(&t, true, 6, 5, 0, 1);
	fix_fail(&t, "s3.1");
	expect_refused(&t, 3, "credit loop of 8 channels");
	fix_grid(&t, true, 6, 6, 0, 1);
	fix_fail(&t, "s3.1");
	fix_fail(&t, "s3.2");
	expect_refused(&t, 3, "credit loop of 10 channels");
}

static void
boards_are_no_grid(void **state)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_topo t;

	(void)state;
	rl_topo_spec_defaults(&spec, RL_TOPO_BOARDS);
	spec.boards = 2;
	spec.switches_per_board = 2;
	spec.endpoints_per_board = 2;
	assert_int_equal(rl_topo_build(&spec, &t, err, NULL), 0);
	expect_refused(&t, 8, "tori and meshes");
}

/* A case in which the manual's rules accept a loop: a corner of the failed
 * switch's square is cut off on either side. Channels found by hand
 * beforehand. */
static void
the_fabrics_with_a_credit_loop_that_the_rules_accept_are_refused(void **state)
{
	static const struct {
		unsigned int n;
		const char *why;
	} trap[] = {
		{5, "credit loop of 10 channels"},
		{6, "credit loop of 12 channels"},
		{8, "credit loop of 16 channels"},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(trap); i++) {
		static struct rl_check_report rep;
		struct rl_check_in in = {0};
		struct rl_route *r;
		struct rl_topo t;

		fix_grid(&t, true, trap[i].n, trap[i].n, 0, 1);
		fix_fail(&t, "s2.2");
		fix_fail(&t, "s1.1-s2.1");
		fix_fail(&t, "s2.3-s3.3");
		/* The default engine routes them without one. */
		r = fix_route(&t, "reflit", 8);
		in.topo = &t;
		in.fwd = r->fwd;
		assert_int_equal(rl_check(&in, &rep), 0);
		rl_route_free(r);
		expect_refused(&t, 8, trap[i].why);
	}
}

static void
sl_bits_say_which_dimensions_wrap_and_no_failure_changes_them(void **state)
{
	const char *const fail[] = {"s2.1-s3.1", "s5.2", NULL};
	struct route_fix a, b;

	(void)state;
	up(&a, 6, 5, NULL);
	up(&b, 6, 5, fail);
	for (uint32_t s = 0; s < a.t.nep; s++) {
		for (uint32_t d = 0; d < a.t.nep; d++) {
			const uint16_t *cs = a.t.dev[s].coord;
			const uint16_t *cd = a.t.dev[d].coord;
			const int dx = abs((int)cs[0] - (int)cd[0]);
			const int dy = abs((int)cs[1] - (int)cd[1]);
			const uint8_t want = (uint8_t)((6 - dx < dx) |
						       (5 - dy < dy) << 1);

			assert_int_equal(a.r->fwd[a.t.ep_dev[s]].path_sl[d],
					 want);
			if (s != 27 && d != 27) /* s5.2 is gone */
				assert_int_equal(b.r->fwd[b.t.ep_dev[s]]
							 .path_sl[d], want);
		}
	}
	down(&a);
	down(&b);
}

/* Positions alone decide, as in OpenSM: whether there is a way round does not. */
static void
sl_bits_of_a_mesh_are_those_of_the_torus(void **state)
{
	struct rl_topo mesh;
	struct rl_route *m;
	struct route_fix a;
	char err[RL_ERR_MAX] = "";
	uint32_t bits = 0;

	(void)state;
	up(&a, 6, 5, NULL);
	fix_grid(&mesh, false, 6, 5, 0, 1);
	m = fix_route(&mesh, "torus-2qos", 8);
	for (uint32_t s = 0; s < mesh.nep; s++)
		for (uint32_t d = 0; d < mesh.nep; d++) {
			assert_int_equal(
				m->fwd[mesh.ep_dev[s]].path_sl[d],
				a.r->fwd[a.t.ep_dev[s]].path_sl[d]);
			bits |= m->fwd[mesh.ep_dev[s]].path_sl[d];
		}
	assert_int_equal(bits, 3);
	assert_non_null(m->rank);
	if (rl_route_accept(m, &mesh, NULL, err) != 0)
		fail_msg("%s", err);
	rl_route_free(m);
	rl_topo_free(&mesh);
	down(&a);
}

static void
vls_follow_from_sl_and_ports_for_both_qos_levels(void **state)
{
	const struct rl_route_params params = {
		.engine = "torus-2qos", .max_vls = 8, .qos_levels = 2};
	char err[RL_ERR_MAX];
	struct rl_route *r;
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 4, 4, 4, 1);
	assert_int_equal(rl_route_compute_with(&t, &params, &r, err), 0);
	assert_int_equal(r->vls, 8);
	for (uint16_t in = 0; in <= t.dev[0].nports; in++) {
		for (uint16_t out = 0; out < t.dev[0].nports; out++) {
			const int din = in < t.dev[0].nports ?
						t.dev[0].port[in].dim : -1;
			const int dout = t.dev[0].port[out].dim;

			for (uint8_t sl = 0; sl < RL_SLS; sl++) {
				unsigned int want = (sl >> 3) << 2;

				if (dout < 0)
					want = sl >> 3;
				else
					want |= (sl >> dout & 1u) |
						(unsigned int)(din > dout) << 1;
				assert_int_equal(rl_fwd_vl(&r->fwd[0], 0, in,
							   out, sl), want);
			}
		}
	}
	rl_route_free(r);
	rl_topo_free(&t);
}

static void
parallel_links_carry_destinations_in_turn_and_share_what_a_dead_one_had(
	void **state)
{
	struct rl_topo t;

	(void)state;
	fix_grid(&t, true, 5, 5, 0, 3);
	for (int dead = 0; dead < 2; dead++) {
		struct rl_route *r = fix_route(&t, "torus-2qos", 8);

		for (uint32_t u = 0; u < 25; u++) {
			uint32_t used[64] = {0};
			const struct rl_topo_dev *dev = &t.dev[u];

			for (uint16_t e = 0; e < t.nep; e++)
				used[rl_fwd_lookup(&r->fwd[u], 0, e)
					     .hop[0].port]++;
			/* Ports to one neighbour differ by one at most. */
			for (unsigned int p = 0; p < dev->nports; p++)
				for (unsigned int q = 0; q < p; q++)
					if (dev->port[p].peer_dev ==
						    dev->port[q].peer_dev &&
					    rl_topo_link_up(&t, dev->port[p].link) &&
					    rl_topo_link_up(&t, dev->port[q].link))
						assert_in_range(used[p] + 1 -
								used[q], 0, 2);
		}
		rl_route_free(r);
		fix_fail(&t, "s1.1-s2.1#1");
	}
	rl_topo_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pristine_the_path_is_S_n_T_r_D),
		cmocka_unit_test(without_the_link_n_T_it_goes_the_long_way_S_m_p_o_T_r_D),
		cmocka_unit_test(without_the_link_S_n_too),
		cmocka_unit_test(without_T_it_turns_early_S_n_I_r_D_with_I_r_on_VL_2),
		cmocka_unit_test(without_T_and_R_it_goes_S_n_q_I_u_D_with_I_u_on_VL_2),
		cmocka_unit_test(without_O_and_T_it_is_refused),
		cmocka_unit_test(a_ring_cut_in_two_is_refused),
		cmocka_unit_test(two_failed_switches_on_one_line_apart_from_each_other_are_refused),
		cmocka_unit_test(failed_switches_round_the_corner_of_the_last_dimension_follow_one_another),
		cmocka_unit_test(an_inner_failure_of_a_mesh_is_refused_and_one_at_its_edge_is_not),
		cmocka_unit_test(fewer_VLs_than_it_takes_are_refused),
		cmocka_unit_test(boards_are_no_grid),
		cmocka_unit_test(the_fabrics_with_a_credit_loop_that_the_rules_accept_are_refused),
		cmocka_unit_test(sl_bits_say_which_dimensions_wrap_and_no_failure_changes_them),
		cmocka_unit_test(sl_bits_of_a_mesh_are_those_of_the_torus),
		cmocka_unit_test(vls_follow_from_sl_and_ports_for_both_qos_levels),
		cmocka_unit_test(parallel_links_carry_destinations_in_turn_and_share_what_a_dead_one_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
