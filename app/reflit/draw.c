/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Draws small tori and meshes: a switch is an o, one that failed an X; a link
 * that is up is a line to the next one, one of other processes a ?, any other
 * an x. Wrap-around links are at the end.
 */

#include <stdio.h>

#include "command.h"
#include "link_health.h"

#define DRAW_X_MAX 16
#define DRAW_Y_MAX 16

/* Whether all links from a switch in one direction are up at both ends. */
static char
draw_link(const struct app *app, uint32_t dev, int dim, char up)
{
	const struct rl_topo *t = &app->cfg.topo;
	char mark = ' ';

	for (unsigned int p = 0; p < t->dev[dev].nports; p++) {
		const struct rl_topo_port *port = &t->dev[dev].port[p];
		struct link_health h;

		if (port->dim != dim || port->dir < 0)
			continue;
		link_health(app, port->link, &h);
		if (h.oper > LINK_OPER_DEGRADED)
			return h.oper == LINK_OPER_REMOTE ? '?' : 'x';
		mark = up;
	}
	return mark;
}

void
draw_fabric(const struct app *app)
{
	const struct rl_topo *t = &app->cfg.topo;
	const struct rl_topo_spec *s = &t->spec;
	const uint32_t ny = s->ndims > 1 ? s->dims[1] : 1;

	if ((s->kind != RL_TOPO_TORUS && s->kind != RL_TOPO_MESH) ||
	    s->ndims > 2 || s->dims[0] > DRAW_X_MAX || ny > DRAW_Y_MAX)
		return;
	/* y points up, and switches are numbered with x slowest. */
	for (uint32_t y = ny; y-- > 0;) {
		printf("   ");
		for (uint32_t x = 0; x < s->dims[0] && ny > 1; x++)
			printf(" %c  ", draw_link(app, x * ny + y, 1, '|'));
		printf("%s %2u", ny > 1 ? "\n" : "", y);
		for (uint32_t x = 0; x < s->dims[0]; x++) {
			const uint32_t u = x * ny + y;
			const char link = draw_link(app, u, 0, '-');

			printf(" %c%c%c",
			       t->dev[u].failed || app->host.dead[u] ? 'X'
								     : 'o',
			       link, link);
		}
		printf("\n");
	}
	printf("    ");
	for (uint32_t x = 0; x < s->dims[0]; x++)
		printf("%-4u", x);
	printf("\n");
}
