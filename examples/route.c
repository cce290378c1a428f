/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Routing alone (pkg-config reflit): tables of a 4x4 torus, the path of a
 * packet, the same after a link failure, and the checker's verdict on both.
 * `route s1.0-s2.0` fails another link.
 */

#include <stdio.h>

#include "rl_check.h"
#include "rl_route.h"

/* Prints the path from e0.0 to e2.1 by the tables. */
static unsigned int
print_path(const struct rl_topo *topo, const struct rl_route *route)
{
	const uint32_t src = (uint32_t)rl_topo_find_dev(topo, "e0.0");
	const uint32_t to = (uint32_t)rl_topo_find_dev(topo, "e2.1");
	const uint16_t dst = topo->dev[to].ep_id;
	const uint8_t sl = route->fwd[src].path_sl[dst];
	unsigned int plane = route->fwd[src].inject_plane[sl], hops = 0;
	uint16_t in = route->fwd[src].nports;
	uint32_t at = src;

	printf("%s", topo->dev[at].name);
	while (at != to && hops < RL_CHECK_HOPS_MAX) {
		const struct rl_fwd *fwd = &route->fwd[at];
		const struct rl_fwd_entry e = rl_fwd_lookup(fwd, plane, dst);
		unsigned int i = 0;

		while (i < RL_FWD_ALTS && e.hop[i].port < fwd->nports &&
		       !rl_topo_link_up(topo,
					topo->dev[at].port[e.hop[i].port].link))
			i++;
		if (i == RL_FWD_ALTS || e.hop[i].port >= fwd->nports)
			break;
		const struct rl_topo_port *p = &topo->dev[at].port[e.hop[i].port];
		const uint8_t vl = rl_fwd_vl(fwd, e.hop[i].plane, in,
					     e.hop[i].port, sl);

		at = p->peer_dev;
		in = p->peer_port;
		plane = route->fwd[at].plane_of[vl][sl];
		printf(" -%u-> %s", vl, topo->dev[at].name);
		hops++;
	}
	printf("   (VL on each arrow)\n");
	return at == to ? hops : 0;
}

static int
judge(const struct rl_topo *topo, const struct rl_route *route)
{
	const struct rl_check_in in = { .topo = topo, .fwd = route->fwd };
	static struct rl_check_report rep;
	const int rc = rl_check(&in, &rep);

	printf("pairs %llu/%llu, longest path %u, credit loops: %s\n",
	       (unsigned long long)rep.reachable, (unsigned long long)rep.pairs,
	       rep.max_hops, rep.cycle_len == 0 ? "none" : "there is one");
	return rc;
}

int
main(int argc, char **argv)
{
	const char *fail = argc > 1 ? argv[1] : "s0.0-s1.0";
	struct rl_topo_spec spec;
	struct rl_topo topo = { 0 };
	struct rl_route *route = NULL;
	char err[RL_ERR_MAX];
	int bad = 0;

	rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
	spec.ndims = 2;
	spec.dims[0] = spec.dims[1] = 4;
	if (rl_topo_build(&spec, &topo, err, NULL) != 0 ||
	    rl_route_compute(&topo, NULL, RL_VCS, &route, err) != 0)
		goto out;
	bad |= print_path(&topo, route) == 0 || judge(&topo, route) != 0;
	if (rl_topo_fail(&topo, fail, err) != 0 ||
	    rl_route_update(route, &topo, NULL, err) != 0)
		goto out;
	printf("%s has failed\n", fail);
	bad |= print_path(&topo, route) == 0 || judge(&topo, route) != 0;
	err[0] = '\0';
out:
	if (err[0] != '\0')
		fprintf(stderr, "route: %s\n", err);
	rl_route_free(route);
	rl_topo_free(&topo);
	return err[0] != '\0' || bad;
}
