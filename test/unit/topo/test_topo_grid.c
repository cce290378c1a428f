/* SPDX-License-Identifier: BSD-3-Clause */
/* Tori and meshes [ROUTE-1]. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rl_topo.h"

static void
make_grid(struct rl_topo_spec *spec, enum rl_topo_kind kind, unsigned int n,
	  unsigned int x, unsigned int y, unsigned int z)
{
	rl_topo_spec_defaults(spec, kind);
	spec->ndims = n;
	spec->dims[0] = (uint16_t)x;
	spec->dims[1] = (uint16_t)y;
	spec->dims[2] = (uint16_t)z;
}

static void
build_ok(const struct rl_topo_spec *spec, struct rl_topo *t)
{
	char err[RL_ERR_MAX] = "";
	int line = -1;

	if (rl_topo_build(spec, t, err, &line) != 0)
		fail_msg("not built: %s", err);
	assert_int_equal(line, 0);
}

static void
build_fails(const struct rl_topo_spec *spec, const char *why)
{
	char err[RL_ERR_MAX] = "";
	struct rl_topo t;

	assert_int_equal(rl_topo_build(spec, &t, err, NULL), -EINVAL);
	if (strstr(err, why) == NULL)
		fail_msg("'%s' does not say '%s'", err, why);
	assert_null(t.dev);
	assert_null(t.link);
	rl_topo_free(&t);
}

/* Both ends of every link tell the same story. */
static void
check_consistent(const struct rl_topo *t)
{
	uint32_t ports = 0;

	for (uint32_t u = 0; u < t->ndev; u++) {
		const struct rl_topo_dev *dev = &t->dev[u];

		assert_int_equal(rl_topo_find_dev(t, dev->name), u);
		if (dev->kind == RL_DEV_ENDPOINT)
			assert_int_equal(t->ep_dev[dev->ep_id], u);
		ports += dev->nports;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *port = &dev->port[p];
			const struct rl_topo_link *l = &t->link[port->link];
			const struct rl_topo_port *back =
				&t->dev[port->peer_dev].port[port->peer_port];

			assert_int_equal(l->dev[port->end], u);
			assert_int_equal(l->port[port->end], p);
			assert_int_equal(l->dev[!port->end], port->peer_dev);
			assert_int_equal(back->peer_dev, u);
			assert_int_equal(back->peer_port, p);
			assert_int_equal(back->link, port->link);
			assert_int_equal(back->dim, port->dim);
			assert_int_equal(back->dir, -port->dir);
		}
	}
	assert_int_equal(ports, 2 * t->nlink);
}

static void
a_torus_has_the_counts_of_its_radices(void **state)
{
	static const struct {
		unsigned int n, x, y, z, hosts;
		uint32_t switches, links;
	} c[] = {
		{1, 1, 1, 1, 1, 1, 1},	      /* one switch */
		{1, 2, 1, 1, 1, 2, 2 + 1},    /* radix 2 never wraps */
		{1, 3, 1, 1, 1, 3, 3 + 3},    /* the smallest ring */
		{2, 2, 2, 1, 1, 4, 4 + 4},    /* a square */
		{2, 4, 1, 1, 1, 4, 4 + 4},    /* radix 1 is unused */
		{2, 4, 4, 1, 1, 16, 16 + 32},
		{2, 6, 6, 1, 3, 36, 36 * 3 + 72},
		{3, 5, 5, 5, 1, 125, 125 + 375},
		{3, 2, 3, 4, 1, 24, 24 + 12 + 24 + 24},
		{3, 10, 10, 10, 1, 1000, 1000 + 3000},
		{3, 16, 16, 16, 1, 4096, 4096 + 12288},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_topo_spec spec;
		struct rl_topo t;

		make_grid(&spec, RL_TOPO_TORUS, c[i].n, c[i].x, c[i].y, c[i].z);
		spec.hosts_per_switch = (uint16_t)c[i].hosts;
		build_ok(&spec, &t);
		assert_int_equal(t.nep, c[i].switches * c[i].hosts);
		assert_int_equal(t.ndev, c[i].switches * (1 + c[i].hosts));
		assert_int_equal(t.nlink, c[i].links);
		check_consistent(&t);
		rl_topo_free(&t);
	}
}

static void
a_mesh_is_a_torus_without_its_wraps(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	make_grid(&spec, RL_TOPO_MESH, 2, 8, 8, 1);
	build_ok(&spec, &t);
	assert_int_equal(t.nlink, 64 + 2 * 7 * 8);
	check_consistent(&t);
	assert_int_equal(rl_topo_find_link(&t, "s0.0-s7.0", NULL), -1);
	assert_true(rl_topo_find_link(&t, "s6.0-s7.0", NULL) >= 0);
	assert_int_equal(t.dev[rl_topo_find_dev(&t, "s0.0")].nports, 3);
	assert_int_equal(t.dev[rl_topo_find_dev(&t, "s0.1")].nports, 4);
	assert_int_equal(t.dev[rl_topo_find_dev(&t, "s1.1")].nports, 5);
	rl_topo_free(&t);
}

static void
each_dimension_wraps_or_does_not(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	make_grid(&spec, RL_TOPO_TORUS, 2, 4, 5, 1);
	spec.wrap[1] = false;
	build_ok(&spec, &t);
	assert_true(t.spec.wrap[0]);
	assert_false(t.spec.wrap[1]);
	assert_int_equal(t.nlink, 20 + 4 * 5 + 4 * 4);
	assert_true(rl_topo_find_link(&t, "s0.2-s3.2", NULL) >= 0);
	assert_int_equal(rl_topo_find_link(&t, "s2.0-s2.4", NULL), -1);
	rl_topo_free(&t);
}

static void
a_ring_of_two_is_an_open_line_and_says_so(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;
	unsigned int n;

	(void)state;
	make_grid(&spec, RL_TOPO_TORUS, 2, 2, 3, 1);
	build_ok(&spec, &t);
	assert_false(t.spec.wrap[0]);
	assert_true(t.spec.wrap[1]);
	assert_true(rl_topo_find_link(&t, "s0.0-s1.0", &n) >= 0);
	assert_int_equal(n, 1);
	rl_topo_free(&t);
}

static void
names_and_coordinates_follow_the_routing_order(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;
	uint32_t i = 0;

	(void)state;
	make_grid(&spec, RL_TOPO_TORUS, 3, 3, 4, 5);
	spec.hosts_per_switch = 2;
	build_ok(&spec, &t);
	for (unsigned int x = 0; x < 3; x++)
		for (unsigned int y = 0; y < 4; y++)
			for (unsigned int z = 0; z < 5; z++, i++) {
				char name[RL_NAME_MAX];

				snprintf(name, sizeof(name), "s%u.%u.%u", x, y,
					 z);
				assert_string_equal(t.dev[i].name, name);
				assert_int_equal(t.dev[i].coord[0], x);
				assert_int_equal(t.dev[i].coord[1], y);
				assert_int_equal(t.dev[i].coord[2], z);
				snprintf(name, sizeof(name), "e%u.%u.%u.1", x,
					 y, z);
				assert_string_equal(
					t.dev[t.ep_dev[2 * i + 1]].name, name);
				assert_int_equal(
					t.dev[t.ep_dev[2 * i + 1]].coord[1], y);
			}
	assert_int_equal(rl_topo_find_dev(&t, "e0.0.0"), -1);
	rl_topo_free(&t);

	make_grid(&spec, RL_TOPO_TORUS, 1, 4, 1, 1);
	build_ok(&spec, &t);
	assert_string_equal(t.dev[3].name, "s3");
	assert_string_equal(t.dev[t.ep_dev[3]].name, "e3");
	rl_topo_free(&t);
}

/* Hosts, then x+ x- y+ y-; parallel links side by side. */
static void
ports_are_ordered_by_dimension_direction_and_number(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	make_grid(&spec, RL_TOPO_TORUS, 2, 4, 4, 1);
	spec.hosts_per_switch = 2;
	spec.links_per_edge[0] = 2;
	spec.links_per_edge[1] = 3;
	build_ok(&spec, &t);
	check_consistent(&t);
	for (uint32_t u = 0; u < 16; u++) {
		static const struct {
			int dim, dir;
			unsigned int k;
		} want[] = {{-1, 0, 0}, {-1, 0, 0}, {0, 1, 0},	{0, 1, 1},
			    {0, -1, 0}, {0, -1, 1}, {1, 1, 0},	{1, 1, 1},
			    {1, 1, 2},	{1, -1, 0}, {1, -1, 1}, {1, -1, 2}};
		const struct rl_topo_dev *dev = &t.dev[u];

		assert_int_equal(dev->nports, RL_ARRAY_SIZE(want));
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *port = &dev->port[p];
			const struct rl_topo_dev *peer = &t.dev[port->peer_dev];

			assert_int_equal(port->dim, want[p].dim);
			assert_int_equal(port->dir, want[p].dir);
			assert_int_equal(t.link[port->link].k, want[p].k);
			if (port->dim < 0) {
				assert_int_equal(peer->ep_id, 2 * u + p);
				continue;
			}
			assert_int_equal(peer->coord[port->dim],
					 (dev->coord[port->dim] + 4 +
					  port->dir) % 4);
			assert_int_equal(peer->coord[!port->dim],
					 dev->coord[!port->dim]);
		}
	}
	rl_topo_free(&t);
}

static void
grids_that_cannot_be_are_refused(void **state)
{
	struct rl_topo_spec spec;

	(void)state;
	make_grid(&spec, RL_TOPO_TORUS, 2, 4, 0, 1);
	build_fails(&spec, "dimension 1 is 0");
	make_grid(&spec, RL_TOPO_TORUS, 0, 4, 4, 1);
	build_fails(&spec, "1 to 3 dimensions");
	make_grid(&spec, RL_TOPO_TORUS, 4, 4, 4, 4);
	build_fails(&spec, "1 to 3 dimensions");
	make_grid(&spec, RL_TOPO_MESH, 2, 4, 4, 1);
	spec.hosts_per_switch = 0;
	build_fails(&spec, "hosts_per_switch is 0");
	make_grid(&spec, RL_TOPO_MESH, 2, 4, 4, 1);
	spec.links_per_edge[1] = 0;
	build_fails(&spec, "links_per_edge of dimension 1 is 0");
	make_grid(&spec, RL_TOPO_MESH, 2, 4, 4, 1);
	spec.links_per_edge[1] = 65535;
	build_fails(&spec, "s0.0 has 65537 links");
	spec.links_per_edge[0] = 65535;
	build_fails(&spec, "links; at most 1048576 are possible");
	make_grid(&spec, RL_TOPO_MESH, 1, 2, 1, 1);
	spec.links_per_edge[0] = 65535;
	build_fails(&spec, "s0 has 65536 links");
}

static void
more_than_65535_devices_are_refused_whatever_the_product(void **state)
{
	struct rl_topo_spec spec;
	struct rl_topo t;

	(void)state;
	make_grid(&spec, RL_TOPO_TORUS, 2, 256, 128, 1);
	build_fails(&spec, "32768 switches and 32768 endpoints");
	make_grid(&spec, RL_TOPO_TORUS, 3, 65535, 65535, 65535);
	spec.hosts_per_switch = 65535;
	build_fails(&spec, "at most 65535 devices");
	/* 21845 * 3 is 65535: the most there can be */
	make_grid(&spec, RL_TOPO_TORUS, 1, 21845, 1, 1);
	spec.hosts_per_switch = 2;
	build_ok(&spec, &t);
	assert_int_equal(t.ndev, 65535);
	assert_int_equal(t.nep, 43690);
	rl_topo_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_torus_has_the_counts_of_its_radices),
		cmocka_unit_test(a_mesh_is_a_torus_without_its_wraps),
		cmocka_unit_test(each_dimension_wraps_or_does_not),
		cmocka_unit_test(a_ring_of_two_is_an_open_line_and_says_so),
		cmocka_unit_test(names_and_coordinates_follow_the_routing_order),
		cmocka_unit_test(ports_are_ordered_by_dimension_direction_and_number),
		cmocka_unit_test(grids_that_cannot_be_are_refused),
		cmocka_unit_test(more_than_65535_devices_are_refused_whatever_the_product),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
