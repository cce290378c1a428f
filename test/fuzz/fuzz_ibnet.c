/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of ibnetdiscover and OpenSM, with any bytes [APP-4]: a text is either
 * accepted as a whole and gives a consistent fabric, or is refused with one
 * line, leaving nothing allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_main.h"
#include "rl_ibnet.h"

const char *const fuzz_words[] = {
	"Switch\t36 \"S-", "Ca\t2 \"H-", "Rt\t1 \"R-", "\"", "[1]", "[2]",
	"[36]", "[255]", "[256]", "[0]", "[1][ext 2]", "(2c9030045ab13)",
	"\t", "#", "\n", "\r\n", "# \"leaf\" base port 0 lid 6 lmc 0",
	"# lid 7 lmc 3 \"leaf\" lid 6 4xQDR", "lid 65536", "lmc 9",
	"\"S-0000000000200000\"", "\"H-0000000000100003\"",
	"ffffffffffffffff", "10000000000000000", "{ ", "} ", "SW ", "CA ",
	"CA-SM ", "Rtr ", "NodeGUID:", "PortGUID:", "{name} LID:", "PN:",
	"LOG=ACT", "LOG=DWN", "0x", "-1",
};
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

static void
check_net(const struct rl_ibnet *net)
{
	uint32_t loops = 0;

	RL_ASSERT(net->nnode > 0);
	for (uint32_t i = 0; i < net->nnode; i++) {
		const struct rl_ibnet_node *n = &net->node[i];

		RL_ASSERT(rl_topo_name_ok(n->name));
		for (uint32_t k = 0; k < n->nports; k++)
			RL_ASSERT(net->port[n->first_port + k].node == i);
	}
	for (uint32_t i = 0; i < net->nport; i++) {
		const struct rl_ibnet_port *p = &net->port[i];
		const struct rl_ibnet_port *q = &net->port[p->peer];

		RL_ASSERT(q->peer == i && q->link == p->link);
		RL_ASSERT(rl_ibnet_find_port(net, p->node, p->number) == i);
		if (p->link == RL_IBNET_NONE)
			loops += p->peer >= i;
		else
			RL_ASSERT(net->link[p->link][q < p] == i);
	}
	RL_ASSERT(loops == net->nloops);
}

static void
check_fabric(const struct rl_ibnet *net)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];
	struct rl_topo t;

	rl_topo_spec_defaults(&spec, RL_TOPO_IBNET);
	RL_ASSERT(rl_ibnet_spec(net, &spec) == 0);
	if (rl_topo_build(&spec, &t, err, NULL) == 0) {
		RL_ASSERT(t.nlink == net->nlink);
		rl_topo_free(&t);
	}
	free(spec.switches);
	free(spec.endpoints);
	free(spec.links);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rl_ibnet net;
	char err[RL_ERR_MAX] = "";
	int line = -1;

	if (rl_ibnet_read((const char *)data, size, &net, err, &line) != 0) {
		RL_ASSERT(err[0] != '\0' && strchr(err, '\n') == NULL);
		RL_ASSERT(line >= 0);
		RL_ASSERT(net.node == NULL && net.port == NULL);
		return 0;
	}
	check_net(&net);
	check_fabric(&net);
	rl_ibnet_free(&net);
	return 0;
}
