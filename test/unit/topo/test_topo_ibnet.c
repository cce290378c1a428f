/* SPDX-License-Identifier: BSD-3-Clause */
/* Fabrics that InfiniBand's tools print [ROUTE-8]. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_ibnet.h"

#define DIR "test/unit/topo/ibnet/"

static char *
slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = malloc(1 << 20);

	if (f == NULL || text == NULL)
		fail_msg("cannot open %s from the top of the tree", path);
	*len = fread(text, 1, 1 << 20, f);
	fclose(f);
	return text;
}

static struct rl_ibnet
take(const char *path)
{
	struct rl_ibnet net;
	char err[RL_ERR_MAX];
	size_t len;
	char *text = slurp(path, &len);
	int line;

	if (rl_ibnet_read(text, len, &net, err, &line) != 0)
		fail_msg("%s:%d: %s", path, line, err);
	free(text);
	return net;
}

static struct rl_topo
build(const struct rl_ibnet *net)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_topo t;

	rl_topo_spec_defaults(&spec, RL_TOPO_IBNET);
	assert_int_equal(rl_ibnet_spec(net, &spec), 0);
	if (rl_topo_build(&spec, &t, err, NULL) != 0)
		fail_msg("not built: %s", err);
	free(spec.switches);
	free(spec.endpoints);
	free(spec.links);
	return t;
}

static void
ibnetdiscover_s_switches_cas_and_parallel_links_become_a_fabric(void **state)
{
	struct rl_ibnet net = take(DIR "two-switches.txt");
	struct rl_topo t = build(&net);
	unsigned int n;

	(void)state;
	assert_int_equal(t.ndev - t.nep, 2);
	assert_int_equal(t.nep, 2);
	assert_int_equal(t.nlink, 6);
	assert_true(rl_topo_find_link(&t, "Switch1-Switch2", &n) >= 0);
	assert_int_equal(n, 2);
	assert_true(rl_topo_find_link(&t, "Hca2-Switch2", &n) >= 0);
	assert_int_equal(n, 2);
	rl_topo_free(&t);
	rl_ibnet_free(&net);
}

static void
opensm_s_own_list_of_the_same_fabric_says_the_same(void **state)
{
	struct rl_ibnet a = take(DIR "two-switches.txt");
	struct rl_ibnet b = take(DIR "two-switches.lst");

	(void)state;
	assert_int_equal(a.nnode, b.nnode);
	assert_int_equal(a.nport, b.nport);
	assert_int_equal(a.nlink, b.nlink);
	for (uint32_t i = 0; i < a.nport; i++) {
		const struct rl_ibnet_node *na = &a.node[a.port[i].node];
		const struct rl_ibnet_node *nb;
		uint32_t k = 0, p;

		while (b.node[k].guid != na->guid)
			k++;
		nb = &b.node[k];
		assert_string_equal(na->name, nb->name);
		assert_int_equal(na->lid, nb->lid);
		p = rl_ibnet_find_port(&b, k, a.port[i].number);
		assert_int_not_equal(p, RL_IBNET_NONE);
		assert_int_equal(a.port[i].lid, b.port[p].lid);
		assert_int_equal(a.port[i].guid, b.port[p].guid);
		assert_int_equal(a.port[a.port[i].peer].number,
				 b.port[b.port[p].peer].number);
	}
	rl_ibnet_free(&a);
	rl_ibnet_free(&b);
}

static const struct rl_ibnet_node *
node_of(const struct rl_ibnet *net, uint64_t guid)
{
	for (uint32_t i = 0; i < net->nnode; i++)
		if (net->node[i].guid == guid)
			return &net->node[i];
	fail_msg("no node %llx", (unsigned long long)guid);
	return NULL;
}

/* Chassis, external port numbers, a router, a cable from a switch to itself,
 * a switch without a cable, and switches that all have the same description. */
static void
what_a_real_machine_room_has_besides_is_understood(void **state)
{
	struct rl_ibnet net = take(DIR "chassis.txt");
	struct rl_topo t = build(&net);
	const struct rl_ibnet_node *node;
	uint32_t p;

	(void)state;
	assert_int_equal(net.nnode, 6);
	assert_int_equal(net.nloops, 1);
	node = node_of(&net, 0x0002c902004000a0);
	assert_string_equal(node->desc, "Infiniscale-IV Mellanox Technologies");
	assert_string_equal(node->name, "S.0002c902004000a0");
	assert_int_equal(node->lid, 3);
	assert_int_equal(node->nports, 7);
	node = node_of(&net, 0x0002c9030045ac12);
	assert_string_equal(node->name, "node02_HCA_1");
	p = rl_ibnet_find_port(&net, (uint32_t)(node - net.node), 2);
	assert_int_equal(net.port[p].lid, 10);
	assert_int_equal(net.port[p].lmc, 1);
	assert_int_equal(net.port[p].guid, 0x0002c9030045ac14);
	node = node_of(&net, 0x0002c9030045ad00);
	assert_int_equal(node->kind, RL_IBNET_ROUTER);
	assert_string_equal(node->name, "gateway__1");
	/* the spare switch has no cable and is left out */
	assert_int_equal(t.ndev, 5);
	assert_int_equal(t.nep, 3);
	assert_int_equal(t.nlink, 2 + 4);
	assert_int_equal(t.dev[rl_topo_find_dev(&t, "node02_HCA_1")].nports, 2);
	rl_topo_free(&t);
	rl_ibnet_free(&net);
}

static void
link_i_of_the_fabric_is_link_i_of_the_cables(void **state)
{
	struct rl_ibnet net = take(DIR "chassis.txt");
	struct rl_topo t = build(&net);

	(void)state;
	for (uint32_t i = 0; i < net.nlink; i++) {
		for (unsigned int e = 0; e < 2; e++) {
			const struct rl_ibnet_port *p =
				&net.port[net.link[i][e]];

			assert_int_equal(p->link, i);
			assert_string_equal(net.node[p->node].name,
					    t.dev[t.link[i].dev[e]].name);
		}
	}
	rl_topo_free(&t);
	rl_ibnet_free(&net);
}

#define SW(n) "Switch\t8 \"S-" n "\"\t\t# \"sw " n "\" base port 0 lid 1 lmc 0\n"
#define CA(n) "Ca\t1 \"H-" n "\"\t\t# \"ca " n "\"\n"

static void
a_cable_may_be_named_from_one_side_alone(void **state)
{
	static const char text[] = SW("a1") "[1]\t\"H-b1\"[1](c1) # \"x\"\n"
				   "[2]\t\"H-b2\"[1](c2) # \"y\"\n"
				   CA("b1") CA("b2");
	struct rl_ibnet net;
	char err[RL_ERR_MAX];
	int line;

	(void)state;
	assert_int_equal(rl_ibnet_read(text, strlen(text), &net, err, &line),
			 0);
	assert_int_equal(net.nlink, 2);
	assert_int_equal(net.nport, 4);
	rl_ibnet_free(&net);
}

static void
an_adapter_may_be_called_as_ibsim_calls_it(void **state)
{
	static const char text[] = SW("a1") "[1]\t\"H-b1\"[1] w=12\n"
				   "Hca 2\t\"H-b1\"\n[1]\t\"S-a1\"[1]\n";
	struct rl_ibnet net;
	char err[RL_ERR_MAX];
	int line;

	(void)state;
	assert_int_equal(rl_ibnet_read(text, strlen(text), &net, err, &line),
			 0);
	assert_int_equal(net.nnode, 2);
	assert_int_equal(net.node[1].kind, RL_IBNET_CA);
	assert_int_equal(net.nlink, 1);
	rl_ibnet_free(&net);
}

/* The slower end counts; what is not understood is no speed. */
static void
a_cable_is_as_fast_as_its_width_and_speed_say(void **state)
{
	static const struct {
		const char *here, *there;
		uint32_t mbps;
	} c[] = {
		{"4xSDR", "4xSDR", 10000},   {"4xSDR", "1xSDR", 2500},
		{"1xSDR", "4xSDR", 2500},    {"12xHDR", "12xHDR", 637500},
		{"4xFDR10", "4xFDR10", 41248}, {"4xFDR", "4xFDR", 56248},
		{"2xNDR", "", 212500},	     {"", "4xEDR", 103124},
		{"4xABC", "13xSDR", 0},	     {"", "", 0},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_ibnet net;
		char text[400], err[RL_ERR_MAX];
		int line;

		snprintf(text, sizeof(text), SW("a1") SW("a2") "[1]\t\"S-a1\""
			 "[3]\t# \"8xHDR\" lid 6 %s\n" SW("a1") "[3]\t\"S-a2\""
			 "[1]\t# \"8xHDR\" lid 1 %s\n", c[i].here, c[i].there);
		if (rl_ibnet_read(text, strlen(text), &net, err, &line) != 0)
			fail_msg("row %u: %d: %s", i, line, err);
		assert_int_equal(net.nlink, 1);
		if (net.port[0].mbps != c[i].mbps ||
		    net.port[1].mbps != c[i].mbps)
			fail_msg("row %u: %u and %u", i, net.port[0].mbps,
				 net.port[1].mbps);
		rl_ibnet_free(&net);
	}
}

static void
what_is_wrong_is_told_with_its_line(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *why;
	} c[] = {
		{"", 0, "no node"},
		{"# nothing\n\n", 2, "no node"},
		{"hello\n", 1, "no node"},
		{"[1]\t\"S-a1\"[2]\n", 1, "a port of no node"},
		{SW("a1") "[0]\t\"S-a1\"[2]\n", 2, "no port here"},
		{SW("a1") "[256]\t\"S-a1\"[2]\n", 2, "no port here"},
		{SW("a1") "[1\t\"S-a1\"[2]\n", 2, "no port here"},
		{SW("a1") "[1][ext\t\"S-a1\"[2\n", 2, "no port here"},
		{SW("a1") "[1]\t\"Q-a1\"[2]\n", 2, "nothing that port 1 is"},
		{SW("a1") "[1]\t\"S-a1[2]\n", 2, "nothing that port 1 is"},
		{SW("a1") "[1]\t\"S-a2\"[2]\n", 2, "S-00000000000000a2, which "
						   "is not in the file"},
		{SW("a1") "[1]\t\"S-11112222333344445\"[2]\n", 2,
		 "nothing that port 1 is"},
		{SW("a1") "[1]\t\"H-b1\"[1](c1) #\n[1]\t\"H-b1\"[2](c1) #\n"
		 CA("b1"), 3, "port 1 of S-00000000000000a1 has a cable "
			      "already, in line 2"},
		{SW("a1") "[1]\t\"H-b1\"[1](c1) #\n[2]\t\"H-b1\"[1](c1) #\n"
		 CA("b1"), 3, "port 1 of H-00000000000000b1 has a cable "
			      "already, in line 2"},
		{SW("a1") "Bridge\t2 \"H-b1\"\n[1]\t\"S-a1\"[1]\n", 2,
		 "a node of a kind that is not known: \"Bridge\""},
		{"Switch\t\"S-a1\"\n", 1, "no number of ports"},
		{"Switch\t8 \"H-a1\"\n", 1, "no node here"},
		{"Ca\t8 S-a1\n", 1, "no node here"},
		{"{ SW Ports:08 NodeGUID:1 PortGUID:1 {a} LID:1 PN:01 } {\n", 1,
		 "no end of a cable here"},
		{"{ SW Ports:08 NodeGUID:1 PortGUID:1 {a} LID:1 PN:00 }\n", 1,
		 "no end of a cable here"},
		{"{ XX Ports:08 NodeGUID:1 PortGUID:1 {a} LID:1 PN:01 }\n", 1,
		 "no end of a cable here"},
		{"{ SW NodeGUID:1 PortGUID:1 {a} LID:1 PN:01 \n", 1,
		 "not closed"},
		{"{ SW NodeGUID:1 PortGUID:1 {a} LID:1 PN:01 }\nx\n", 2,
		 "no cable here"},
	};

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(c); i++) {
		struct rl_ibnet net;
		char err[RL_ERR_MAX] = "";
		int line = -1;

		if (rl_ibnet_read(c[i].text, strlen(c[i].text), &net, err,
				  &line) != -EINVAL)
			fail_msg("taken: %s", c[i].text);
		if (line != c[i].line || strstr(err, c[i].why) == NULL ||
		    strstr(err, "; ") == NULL)
			fail_msg("'%d: %s' is not '%d: %s'", line, err,
				 c[i].line, c[i].why);
	}
}

static void
a_line_that_is_no_text_is_refused(void **state)
{
	static const char zero[] = SW("a1") "\0\n";
	struct rl_ibnet net;
	char err[RL_ERR_MAX], *text = malloc(3000);
	int line;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 3000);
	assert_int_equal(rl_ibnet_read(text, 3000, &net, err, &line), -EINVAL);
	assert_int_equal(line, 1);
	assert_int_equal(rl_ibnet_read(zero, sizeof(zero) - 1, &net, err,
				       &line), -EINVAL);
	assert_int_equal(line, 2);
	free(text);
}

/* LOG tells what carries something: a port that is down has no link. */
static void
opensm_s_dead_ports_are_no_links(void **state)
{
#define END(g, p) "{ SW Ports:08 NodeGUID:" g " PortGUID:" g " VenID:0 "      \
		  "Rev:0 {s {" g "}} LID:0001 PN:" p " } "
	static const char text[] =
		"# links\n" END("0a", "01") END("0b", "0A")
		"PHY=4x LOG=ACT SPD=10\n" " \n" "  # those that are down\n"
		END("0a", "02") END("0b", "02") "PHY=4x LOG=DWN SPD=10\n"
		END("0a", "03") "\n";
	struct rl_ibnet net;
	char err[RL_ERR_MAX];
	int line;

	(void)state;
	assert_int_equal(rl_ibnet_read(text, strlen(text), &net, err, &line),
			 0);
	assert_int_equal(net.nnode, 2);
	assert_int_equal(net.nlink, 1);
	assert_int_equal(net.port[net.link[0][1]].number, 10);
	assert_int_equal(net.port[net.link[0][1]].mbps, 40000);
	assert_string_equal(net.node[0].name, "s__0a_");
	rl_ibnet_free(&net);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			ibnetdiscover_s_switches_cas_and_parallel_links_become_a_fabric),
		cmocka_unit_test(
			opensm_s_own_list_of_the_same_fabric_says_the_same),
		cmocka_unit_test(
			what_a_real_machine_room_has_besides_is_understood),
		cmocka_unit_test(link_i_of_the_fabric_is_link_i_of_the_cables),
		cmocka_unit_test(a_cable_may_be_named_from_one_side_alone),
		cmocka_unit_test(an_adapter_may_be_called_as_ibsim_calls_it),
		cmocka_unit_test(a_cable_is_as_fast_as_its_width_and_speed_say),
		cmocka_unit_test(what_is_wrong_is_told_with_its_line),
		cmocka_unit_test(a_line_that_is_no_text_is_refused),
		cmocka_unit_test(opensm_s_dead_ports_are_no_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
