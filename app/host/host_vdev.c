/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "host_vdev.h"
#include "rl_driver.h"
#include "rl_iface.h"
#include "rl_listen.h"

#define WHY_MAX 384

/* The entry that wants a port, for the line of an error. */
struct wish {
	const char *file; /* NULL: none */
	uint32_t line;
	const char *entry;
	bool wire;
};

static bool
wants_end(const struct rl_config *cfg, int process, const struct rl_wire *w,
	  const char *port)
{
	const uint32_t *dev = cfg->topo.link[w->index].dev;

	return (strcmp(w->a, port) == 0 &&
		rl_config_runs(cfg, process, dev[0])) ||
	       (strcmp(w->b, port) == 0 &&
		rl_config_runs(cfg, process, dev[1]));
}

static struct wish
who_wants(const struct rl_config *cfg, int process, const char *port)
{
	for (uint32_t i = 0; i < cfg->nwire; i++)
		if (wants_end(cfg, process, &cfg->wire[i], port))
			return (struct wish){ cfg->wire[i].file,
					      cfg->wire[i].line, "wires",
					      true };
	for (uint32_t i = 0; i < cfg->nattach; i++)
		if (strcmp(cfg->attach[i].port, port) == 0 &&
		    rl_config_runs(cfg, process,
				   (uint32_t)rl_topo_find_dev(
					   &cfg->topo,
					   cfg->attach[i].endpoint)))
			return (struct wish){ cfg->attach[i].file,
					      cfg->attach[i].line, "attach",
					      false };
	return (struct wish){ 0 };
}

/* @return the same as host_vdev() */
static int
give_program(const struct wish *w, const char *vdev, char *buf, size_t len,
	     char *why)
{
	char iface[RL_IFNAME], given[8], queue[8] = "0";
	char path[64];
	int ret;

	if (!rl_driver_is(vdev, "net_af_xdp") ||
	    rl_devarg(vdev, "xdp_prog", given, sizeof(given)) ||
	    !rl_devarg(vdev, "iface", iface, sizeof(iface)))
		return 0;
	(void)rl_devarg(vdev, "start_queue", queue, sizeof(queue));
	if (!w->wire)
		return rl_xdp_port_check(iface,
					 (uint32_t)strtoul(queue, NULL, 10),
					 why);
	ret = rl_xdp_steer_clear(iface, why);
	if (ret == 0)
		ret = rl_xdp_steer_path(path, sizeof(path), why);
	if (ret != 0)
		return ret;
	if ((size_t)snprintf(buf, len, "%s,xdp_prog=%s", vdev, path) >= len)
		return -E2BIG;
	return 1;
}

int
host_vdev(const struct rl_config *cfg, int process, const char *vdev,
	  char *buf, size_t len, char *err)
{
	char port[64], why[WHY_MAX] = "";
	struct wish w;
	int ret;

	snprintf(port, sizeof(port), "%.*s", (int)strcspn(vdev, ","), vdev);
	w = who_wants(cfg, process, port);
	ret = rl_iface_claim(vdev, why, sizeof(why));
	if (ret == 0)
		ret = rl_listen_clear(vdev, why, sizeof(why));
	if (ret == 0)
		ret = give_program(&w, vdev, buf, len, why);
	if (ret >= 0 || ret == -E2BIG)
		return ret;
	if (w.file == NULL)
		snprintf(err, HOST_ERR_MAX, "reflit: --vdev=%s: %s", port, why);
	else
		snprintf(err, HOST_ERR_MAX, "%s:%u: %s: %s: %s", w.file, w.line,
			 w.entry, port, why);
	return ret;
}
