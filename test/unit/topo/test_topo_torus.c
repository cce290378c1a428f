/* SPDX-License-Identifier: BSD-3-Clause */
/* torus-2QoS.conf, and the places of switches that it leads to [ROUTE-8]. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_prng.h"
#include "rl_torus_conf.h"

#define TEXT_MAX (1u << 20)
#define SWITCHES_MAX 512

/* A torus, described as ibnetdiscover would, under GUIDs in any order. */
struct lab {
	unsigned int dims[RL_DIMS_MAX];
	bool wrap[RL_DIMS_MAX];
	uint32_t n;
	uint32_t guid[SWITCHES_MAX]; /* of each place */
	bool gone[SWITCHES_MAX];
	bool cut[SWITCHES_MAX][RL_DIMS_MAX]; /* the cable in + */
	unsigned int parallel;
	struct rl_ibnet net;
};

static uint32_t
next_place(const struct lab *l, uint32_t p, unsigned int d)
{
	uint32_t stride = 1;

	for (unsigned int i = RL_DIMS_MAX; --i > d;)
		stride *= l->dims[i];
	if (p / stride % l->dims[d] + 1 < l->dims[d])
		return p + stride;
	return l->wrap[d] && l->dims[d] > 2 ?
		       p - (l->dims[d] - 1) * stride : UINT32_MAX;
}

static void
lab_make(struct lab *l, unsigned int x, unsigned int y, unsigned int z,
	 bool wrap, uint64_t seed)
{
	struct rl_prng prng;

	memset(l, 0, sizeof(*l));
	l->dims[0] = x;
	l->dims[1] = y;
	l->dims[2] = z;
	l->n = x * y * z;
	l->parallel = 1;
	assert_true(l->n <= SWITCHES_MAX);
	rl_prng_seed(&prng, seed);
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++)
		l->wrap[d] = wrap;
	for (uint32_t i = 0; i < l->n; i++) {
		const uint32_t k = rl_prng_below(&prng, i + 1);

		l->guid[i] = l->guid[k];
		l->guid[k] = 0x1000 + i;
	}
}

/* Writes the fabric, each cable from one side, and reads it. */
static void
lab_read(struct lab *l)
{
	char *text = malloc(TEXT_MAX), err[RL_ERR_MAX];
	size_t n = 0;
	int line;

	assert_non_null(text);
	for (uint32_t p = 0; p < l->n; p++) {
		if (l->gone[p])
			continue;
		n += (size_t)sprintf(text + n, "Switch 64 \"S-%x\" # \"sw%x\"\n"
				     "[60] \"H-%x\"[1](%x)\n", l->guid[p],
				     l->guid[p], 0x10000 + p, 0x20000 + p);
		for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
			const uint32_t q = next_place(l, p, d);

			if (q == UINT32_MAX || l->gone[q] || l->cut[p][d])
				continue;
			for (unsigned int k = 0; k < l->parallel; k++)
				n += (size_t)sprintf(
					text + n, "[%u] \"S-%x\"[%u]\n",
					1 + 2 * (d * l->parallel + k),
					l->guid[q],
					2 + 2 * (d * l->parallel + k));
		}
		n += (size_t)sprintf(text + n, "Ca 1 \"H-%x\" # \"h%u\"\n",
				     0x10000 + p, p);
		assert_true(n < TEXT_MAX - 4096);
	}
	if (rl_ibnet_read(text, n, &l->net, err, &line) != 0)
		fail_msg("line %d: %s", line, err);
	free(text);
}

/* A seed at a place: + of each dimension, - too in rings of four. */
static void
lab_conf(const struct lab *l, uint32_t at, bool both, struct rl_torus_conf *c)
{
	char text[2000], err[RL_ERR_MAX];
	uint32_t stride = l->n;
	size_t n;
	int line;

	n = (size_t)sprintf(text, "torus %u%c %u%c %u%c\n", l->dims[0],
			    l->wrap[0] ? 't' : 'm', l->dims[1],
			    l->wrap[1] ? 't' : 'm', l->dims[2],
			    l->wrap[2] ? 't' : 'm');
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
		const uint32_t up = next_place(l, at, d);
		uint32_t down = UINT32_MAX;

		stride /= l->dims[d];
		for (uint32_t p = 0; p < l->n; p++)
			if (next_place(l, p, d) == at)
				down = p;
		if (up != UINT32_MAX)
			n += (size_t)sprintf(text + n, "%cp_link 0x%x 0x%x\n",
					     'x' + (char)d, l->guid[at],
					     l->guid[up]);
		if (down != UINT32_MAX &&
		    (both || l->dims[d] == 4 || up == UINT32_MAX))
			n += (size_t)sprintf(text + n, "%cm_link 0x%x 0x%x\n",
					     'x' + (char)d, l->guid[at],
					     l->guid[down]);
		n += (size_t)sprintf(text + n, "%c_dateline -%u\n",
				     'x' + (char)d,
				     at / stride % l->dims[d]);
	}
	if (rl_torus_conf_read(text, n, c, err, &line) != 0)
		fail_msg("line %d: %s\n%s", line, err, text);
}

/* Every switch is where it was put. */
static void
check_places(const struct lab *l, const struct rl_torus_conf *c)
{
	uint32_t *place = calloc(l->net.nnode, sizeof(*place));
	char err[RL_ERR_MAX];
	int line;

	assert_non_null(place);
	if (rl_torus_find(&l->net, c, place, err, &line) != 0)
		fail_msg("%ux%ux%u: %s", l->dims[0], l->dims[1], l->dims[2],
			 err);
	for (uint32_t p = 0; p < l->n; p++) {
		const uint32_t u = rl_ibnet_find_switch(&l->net, l->guid[p]);

		if (!l->gone[p])
			assert_int_equal(place[u], p);
	}
	free(place);
}

static void
every_switch_of_a_torus_is_found_from_any_seed(void **state)
{
	static const unsigned int dims[][3] = {
		{5, 1, 1}, {1, 4, 1}, {1, 3, 3}, {3, 4, 1}, {4, 4, 1},
		{1, 5, 6}, {6, 7, 1}, {2, 5, 3}, {3, 3, 3}, {4, 4, 4},
		{5, 4, 3}, {5, 5, 5}, {2, 2, 2}, {8, 8, 8},
	};
	struct rl_torus_conf *c = calloc(1, sizeof(*c));

	(void)state;
	assert_non_null(c);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(dims); i++) {
		struct lab l;

		lab_make(&l, dims[i][0], dims[i][1], dims[i][2], true, i);
		lab_read(&l);
		for (uint32_t at = 0; at < l.n; at += 1 + l.n / 7) {
			lab_conf(&l, at, at % 2, c);
			check_places(&l, c);
		}
		rl_ibnet_free(&l.net);
	}
	free(c);
}

static void
meshes_and_parallel_cables_are_found(void **state)
{
	static const unsigned int dims[][3] = {
		{5, 5, 1}, {1, 4, 6}, {4, 4, 4}, {3, 5, 4}, {2, 3, 1},
	};
	struct rl_torus_conf *c = calloc(1, sizeof(*c));

	(void)state;
	assert_non_null(c);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(dims); i++) {
		struct lab l;

		lab_make(&l, dims[i][0], dims[i][1], dims[i][2], false, i);
		l.parallel = 1 + i % 3;
		lab_read(&l);
		lab_conf(&l, 0, true, c);
		check_places(&l, c);
		rl_ibnet_free(&l.net);
	}
	free(c);
}

/*
 * One failed switch and a cable, or two cables: what is left shows where all
 * stood. (With more about one place it may not: a switch could as well stand
 * in the hole, and is refused.)
 */
static void
a_torus_with_failures_keeps_its_places(void **state)
{
	struct rl_torus_conf *c = calloc(1, sizeof(*c));

	(void)state;
	assert_non_null(c);
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct rl_prng prng;
		struct lab l;

		rl_prng_seed(&prng, seed);
		if (seed % 2 == 0)
			lab_make(&l, 5, 6, 1, true, seed);
		else
			lab_make(&l, 4, 4, 5, true, seed);
		if (seed % 3 == 0)
			l.gone[l.n / 2] = true;
		for (int i = 0; i < (seed % 3 == 0 ? 1 : 2); i++) {
			bool *cut = l.cut[rl_prng_below(&prng, l.n)];

			cut[rl_prng_below(&prng, seed % 2 ? 3 : 2)] = true;
		}
		for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
			l.cut[0][d] = false; /* the seed's own */
			for (uint32_t p = 0; p < l.n; p++)
				if (next_place(&l, p, d) == 0)
					l.cut[p][d] = false;
		}
		lab_read(&l);
		lab_conf(&l, 0, true, c);
		check_places(&l, c);
		rl_ibnet_free(&l.net);
	}
	free(c);
}

static struct rl_topo
build(const struct lab *l, const struct rl_torus_conf *c)
{
	char err[RL_ERR_MAX];
	struct rl_topo t;
	bool in_fail;
	int line;

	if (rl_torus_build(&l->net, c, NULL, 0, &t, err, &line, &in_fail) != 0)
		fail_msg("%d: %s", line, err);
	return t;
}

static void
the_grid_has_coordinates_dimensions_and_holes(void **state)
{
	struct rl_torus_conf *c = calloc(1, sizeof(*c));
	struct rl_topo t;
	struct lab l;

	(void)state;
	assert_non_null(c);
	lab_make(&l, 1, 5, 4, true, 3);
	l.parallel = 2;
	l.gone[7] = true;
	lab_read(&l);
	lab_conf(&l, 0, true, c);
	t = build(&l, c);
	assert_int_equal(t.spec.kind, RL_TOPO_TORUS);
	assert_int_equal(t.spec.ndims, 3);
	assert_int_equal(t.ndev - t.nep, 20);
	assert_int_equal(t.nep, 19);
	assert_string_equal(t.dev[7].name, "hole.0.1.3");
	assert_true(t.dev[7].failed);
	for (uint32_t u = 0; u < 20; u++) {
		assert_int_equal(t.dev[u].coord[1], u / 4);
		assert_int_equal(t.dev[u].coord[2], u % 4);
	}
	for (uint32_t i = 0; i < t.nlink; i++) {
		const struct rl_topo_link *k = &t.link[i];
		const struct rl_topo_port *p;
		unsigned int d;

		if (k->kind != RL_LINK_ISL)
			continue;
		d = (unsigned int)k->dim;
		assert_int_equal(next_place(&l, k->dev[0], d), k->dev[1]);
		p = &t.dev[k->dev[1]].port[k->port[1]];
		assert_int_equal(p->peer_dev, k->dev[0]);
		assert_int_equal(p->dir, -1);
		assert_int_equal(p->link, i);
		assert_int_equal(p->end, 1);
	}
	rl_topo_free(&t);
	/* a switch's own port 0 counts among its hosts */
	c->portgroup_max_ports = 1;
	{
		char err[RL_ERR_MAX];
		bool in_fail;
		int line;

		assert_int_equal(rl_torus_build(&l.net, c, NULL, 0, &t, err,
						&line, &in_fail), -EINVAL);
		assert_non_null(strstr(err, "portgroup_max_ports is 1"));
	}
	rl_ibnet_free(&l.net);
	free(c);
}

static void
what_is_no_such_torus_is_refused(void **state)
{
	struct rl_torus_conf *c = calloc(1, sizeof(*c));
	uint32_t place[200];
	char err[RL_ERR_MAX];
	struct lab l;
	int line;

	(void)state;
	assert_non_null(c);
	lab_make(&l, 5, 5, 1, true, 1);
	lab_read(&l);
	lab_conf(&l, 0, true, c);
	c->dims[0] = 6; /* a row too many */
	assert_int_equal(rl_torus_find(&l.net, c, place, err, &line), -EINVAL);
	assert_non_null(strstr(err, "check radices"));
	c->dims[0] = 4;
	assert_int_equal(rl_torus_find(&l.net, c, place, err, &line), -EINVAL);
	c->dims[0] = 5;
	c->seed[0].to[0][0] = c->seed[0].from + 0x100000;
	assert_int_equal(rl_torus_find(&l.net, c, place, err, &line), -EINVAL);
	assert_non_null(strstr(err, "no cable joins"));
	assert_int_equal(line, (int)c->seed[0].line);
	/* the next seed serves where the first can't */
	c->seed[1] = c->seed[0];
	lab_conf(&l, 0, true, c);
	c->seed[1] = c->seed[0];
	c->seed[0].from = 0x999;
	c->nseeds = 2;
	assert_int_equal(rl_torus_find(&l.net, c, place, err, &line), 0);
	rl_ibnet_free(&l.net);
	free(c);
}

static void
the_example_of_the_manual_page_is_read(void **state)
{
	static const char text[] =
		"# Look for a 2D (since x radix is one) 4x5 torus.\n"
		"torus 1 4 5\n\n"
		"yp_link 0x200000 0x200005  # sw @ y=0,z=0 -> sw @ y=1,z=0\n"
		"ym_link 0x200000 0x20000f\n"
		"zp_link 0x200000 0x200001\n"
		"next_seed\n"
		"yp_link 0x20000b 0x200010\n"
		"ym_link 0x20000b 0x200006\n"
		"zp_link 0x20000b 0x20000c\n"
		"y_dateline -2  # Move the dateline for this seed\n"
		"z_dateline -1  # back to its original position.\n"
		"port_order 7 10 8 11 9 12 25 28 7 26 29 27 30\n"
		"portgroup_max_ports 20\nmax_changes 8\n";
	struct rl_torus_conf *c = calloc(1, sizeof(*c));
	char err[RL_ERR_MAX] = "";
	int line;

	(void)state;
	assert_non_null(c);
	if (rl_torus_conf_read(text, strlen(text), c, err, &line) != 0)
		fail_msg("%d: %s", line, err);
	assert_int_equal(c->dims[1], 4);
	assert_true(c->wrap[1] && c->wrap[2] && !c->wrap[0]);
	assert_int_equal(c->nseeds, 2);
	assert_int_equal(c->seed[0].to[1][1], 0x20000f);
	assert_int_equal(c->seed[1].dateline[1], -2);
	assert_int_equal(c->norder, 12);
	assert_int_equal(c->order[8], 26);
	assert_int_equal(c->portgroup_max_ports, 20);
	assert_int_equal(c->max_changes, 8);
	free(c);
}

static void
bad_files_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *why;
	} bad[] = {
		{"", 0, "no torus or mesh"},
		{"torus 4 4 4\n", 1, "no seed"},
		{"xp_link 1 2\n", 1, "not torus or mesh"},
		{"torus 4 4\n", 1, "radix 3 is not a number"},
		{"torus 4 0 4\n", 1, "radix 2 is not a number"},
		{"torus 4 4q 4\n", 1, "radix 2 has 'q'"},
		{"torus 4 4 4\nmesh 4 4 4\n", 2, "a second torus"},
		{"torus 4 4 4\nxp_link 1\n", 2, "without two GUIDs"},
		{"torus 4 4 4\nxp_link 1 2\nyp_link 3 4\n", 3,
		 "begins at another switch"},
		{"torus 4 4 4\nwp_link 1 2\n", 2, "no keyword 'wp_link'"},
		{"torus 4 4 4\nx_link 1 2\n", 2, "no keyword"},
		{"torus 4 4 4\nx_dateline\n", 2, "without its place"},
		{"torus 4 4 4\nport_order 1 x\n", 2,
		 "port_order is not a number"},
		{"torus 4 4 4\nportgroup_max_ports\n", 2, "without its number"},
	};
	struct rl_torus_conf *c = calloc(1, sizeof(*c));

	(void)state;
	assert_non_null(c);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		char err[RL_ERR_MAX] = "";
		int line = -1;

		assert_int_equal(rl_torus_conf_read(bad[i].text,
						    strlen(bad[i].text), c, err,
						    &line), -EINVAL);
		if (strstr(err, bad[i].why) == NULL || line != bad[i].line ||
		    strstr(err, "; ") == NULL)
			fail_msg("'%d: %s' is not '%d: %s'", line, err,
				 bad[i].line, bad[i].why);
	}
	free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_switch_of_a_torus_is_found_from_any_seed),
		cmocka_unit_test(meshes_and_parallel_cables_are_found),
		cmocka_unit_test(a_torus_with_failures_keeps_its_places),
		cmocka_unit_test(the_grid_has_coordinates_dimensions_and_holes),
		cmocka_unit_test(what_is_no_such_torus_is_refused),
		cmocka_unit_test(the_example_of_the_manual_page_is_read),
		cmocka_unit_test(bad_files_are_refused_with_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
