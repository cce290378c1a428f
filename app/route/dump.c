/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as text, one item a line, for programs that know nothing of the
 * tables' form (the contract's --dump), and the fabric as a graph.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_file.h"
#include "rl_path.h"
#include "route_app.h"
#include "say_error.h"

/* Ends a document. @return 0 or -errno, after saying why */
static int
close_document(FILE *f, const char *path)
{
	if (f == NULL)
		return say_error(-EIO, "reflit-route: %s: %s\n", path,
				 strerror(errno));
	if (report_close(f) == 0)
		return 0;
	return say_error(-EIO, "reflit-route: %s: could not be written\n",
			 path);
}

static void
dump_path(const struct route_app *app, FILE *f, uint32_t src, uint32_t dst)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_fwd *fwd = app->route->fwd;
	struct rl_path at =
		rl_path_begin(t, fwd, (uint16_t)src, (uint16_t)dst);
	const struct rl_topo_port *port;

	fprintf(f, "path %s %s %u", t->dev[at.dev].name,
		t->dev[t->ep_dev[dst]].name, at.sl);
	for (int hops = 0; at.dev != t->ep_dev[dst] &&
			   hops < RL_CHECK_HOPS_MAX; hops++) {
		const uint32_t from = at.dev;

		port = rl_path_step(t, fwd, &at, (uint16_t)dst);
		if (port == NULL)
			break;
		fprintf(f, " %s:%s#%u:%u", t->dev[from].name,
			t->dev[at.dev].name, t->link[port->link].k, at.vl);
	}
	fputc('\n', f);
}

static void
dump_backup(const struct route_app *app, FILE *f, uint32_t sw, uint32_t dst)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_topo_dev *dev = &t->dev[sw];
	const struct rl_fwd *fwd = &app->route->fwd[sw];
	struct rl_path at = {.dev = sw};
	const struct rl_topo_port *port;
	struct rl_fwd_hop h;

	/*
	 * A packet as an endpoint of this switch injects it, if there is such
	 * an endpoint with a live link that is not the destination.
	 */
	for (unsigned int p = 0; p < dev->nports; p++) {
		const uint32_t peer = dev->port[p].peer_dev;
		const struct rl_fwd *f_ep = &app->route->fwd[peer];

		if (t->dev[peer].kind != RL_DEV_ENDPOINT ||
		    t->dev[peer].ep_id == dst ||
		    !rl_topo_link_up(t, dev->port[p].link))
			continue;
		at.in_port = (uint16_t)p;
		at.sl = f_ep->path_sl[dst];
		at.vl = rl_fwd_vl(f_ep, 0, f_ep->nports,
				  dev->port[p].peer_port, at.sl);
		break;
	}
	h = rl_fwd_lookup(fwd, fwd->plane_of[at.vl][at.sl], (uint16_t)dst)
		    .hop[1];
	if (h.port >= dev->nports)
		return;
	port = &dev->port[h.port];
	fprintf(f, "backup %s %s %s#%u\n", dev->name,
		t->dev[t->ep_dev[dst]].name, t->dev[port->peer_dev].name,
		t->link[port->link].k);
}

/* Whether packets of src are routed to dst: both are there, together. */
static bool
route_pair(const struct route_app *app, uint32_t src, uint32_t dst)
{
	const struct rl_topo *t = &app->cfg.topo;

	return rl_topo_ep_there(t, src) && rl_topo_ep_there(t, dst) &&
	       (app->nparts < 2 || app->part[t->ep_dev[src]] ==
					   app->part[t->ep_dev[dst]]);
}

int
route_dump(const struct route_app *app, const char *path)
{
	const struct rl_topo *t = &app->cfg.topo;
	FILE *f = report_open(path);

	if (f == NULL)
		return close_document(f, path);
	for (uint32_t d = 0; d < t->ndev; d++)
		if (t->dev[d].kind == RL_DEV_SWITCH && !t->dev[d].failed)
			fprintf(f, "switch %s\n", t->dev[d].name);
	for (uint32_t l = 0; l < t->nlink; l++)
		if (rl_topo_link_up(t, l))
			fprintf(f, "link %s %s %u\n",
				t->dev[t->link[l].dev[0]].name,
				t->dev[t->link[l].dev[1]].name, t->link[l].k);
	for (uint32_t src = 0; src < t->nep; src++)
		for (uint32_t dst = 0; dst < t->nep; dst++)
			if (src != dst && route_pair(app, src, dst))
				dump_path(app, f, src, dst);
	for (uint32_t d = 0; d < t->ndev; d++)
		for (uint32_t dst = 0; dst < t->nep; dst++)
			if (t->dev[d].kind == RL_DEV_SWITCH &&
			    !t->dev[d].failed && rl_topo_ep_there(t, dst))
				dump_backup(app, f, d, dst);
	return close_document(f, path);
}

int
route_dot(const struct route_app *app, const char *path)
{
	const struct rl_topo *t = &app->cfg.topo;
	FILE *f = report_open(path);

	if (f == NULL)
		return close_document(f, path);
	fprintf(f, "graph fabric {\n\tnode [fontsize=10];\n");
	for (uint32_t d = 0; d < t->ndev; d++)
		fprintf(f, "\t\"%s\" [shape=%s%s];\n", t->dev[d].name,
			t->dev[d].kind == RL_DEV_SWITCH ? "box" : "ellipse",
			t->dev[d].failed ? ",style=filled,fillcolor=gray" : "");
	for (uint32_t l = 0; l < t->nlink; l++)
		fprintf(f, "\t\"%s\" -- \"%s\"%s;\n",
			t->dev[t->link[l].dev[0]].name,
			t->dev[t->link[l].dev[1]].name,
			rl_topo_link_up(t, l) ? "" :
						" [color=red,style=dashed]");
	fprintf(f, "}\n");
	return close_document(f, path);
}

int
route_worst(const struct route_app *app, const char *path)
{
	const struct rl_topo *t = &app->cfg.topo;
	uint16_t *to = calloc(t->nep + 1, sizeof(*to));
	const int ret = to == NULL ? -ENOMEM
				   : rl_path_worst(t, app->route->fwd, to);
	FILE *f = ret < 0 ? NULL : report_open(path);

	if (ret < 0)
		errno = -ret;
	for (uint32_t e = 0; f != NULL && e < t->nep; e++)
		fprintf(f, "%s %s\n", t->dev[t->ep_dev[e]].name,
			t->dev[t->ep_dev[to[e]]].name);
	free(to);
	return close_document(f, path);
}
