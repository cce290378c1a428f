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
#include "rl_refuse.h"

#define WHY_MAX 384

/* The entry that wants a port, also for the line of an error. */
struct wish {
	const char *file; /* NULL: none */
	uint32_t line;
	const char *entry;
	bool wire;
	uint16_t *rx_queues;
};

/* @return the end of a wire in this process that is this port, or -1 */
static int
which_end(const struct rl_config *cfg, int process, const struct rl_wire *w,
	  const char *port)
{
	const uint32_t *dev = cfg->topo.link[w->index].dev;

	for (int end = 0; end < 2; end++)
		if (strcmp(end == 0 ? w->a : w->b, port) == 0 &&
		    rl_config_runs(cfg, process, dev[end]))
			return end;
	return -1;
}

static struct wish
who_wants(struct rl_config *cfg, int process, const char *vdev)
{
	char port[64];

	snprintf(port, sizeof(port), "%.*s", (int)strcspn(vdev, ","), vdev);
	for (uint32_t i = 0; i < cfg->nwire; i++) {
		struct rl_wire *w = &cfg->wire[i];
		const int end = which_end(cfg, process, w, port);

		if (end >= 0)
			return (struct wish){ w->file, w->line, "wires", true,
					      &w->rx_queues[end] };
	}
	for (uint32_t i = 0; i < cfg->nattach; i++)
		if (strcmp(cfg->attach[i].port, port) == 0 &&
		    rl_config_runs(cfg, process,
				   (uint32_t)rl_topo_find_dev(
					   &cfg->topo,
					   cfg->attach[i].endpoint)))
			return (struct wish){ cfg->attach[i].file,
					      cfg->attach[i].line, "attach",
					      false,
					      &cfg->attach[i].rx_queues };
	return (struct wish){ 0 };
}

void
host_vdev_plan(struct rl_config *cfg, int process, const char *vdev)
{
	const struct wish w = who_wants(cfg, process, vdev);

	if (w.file != NULL && *w.rx_queues == 0)
		*w.rx_queues = (uint16_t)RTE_MIN(
			rl_netdev_queues(vdev), (unsigned int)RL_RX_QUEUES_MAX);
}

/*
 * Arguments for the queues of its entry. One socket of net_af_packet has all
 * frames of its interface. @return the same as host_vdev()
 */
static int
give_queues(const struct wish *w, const char *vdev, char *buf, size_t len,
	    char *why)
{
	const struct rl_driver *k = rl_driver_of(vdev);
	const unsigned int n = w->file != NULL ? *w->rx_queues : 1;
	char given[8] = "", iface[RL_IFNAME];

	if (k->queues == NULL)
		return 0;
	if (rl_devarg(vdev, k->queues, given, sizeof(given))) {
		if (!rl_driver_is(vdev, "net_af_packet") ||
		    strtoul(given, NULL, 10) <= 1)
			return 0;
		fprintf(stderr, "reflit: --vdev=%.*s: qpairs=1, not %s: it has "
				"all frames, and of several %s\n",
			(int)strcspn(vdev, ","), vdev, given, k->single);
		return rl_devarg_set(buf, len, vdev, k->queues, 1) ? 1 : -E2BIG;
	}
	if (k->single != NULL || n <= 1)
		return 0;
	if (rl_driver_is(vdev, "net_af_xdp") &&
	    rl_devarg(vdev, "iface", iface, sizeof(iface)) &&
	    n > rl_netdev_combined(iface))
		return rl_refuse(why, WHY_MAX, -ENOTSUP, "rx_queues = %u, and "
				 "ethtool -l %s has %u combined; ask for less",
				 n, iface, rl_netdev_combined(iface));
	return rl_devarg_set(buf, len, vdev, k->queues, n) ? 1 : -E2BIG;
}

/* @return the same as host_vdev() */
static int
give_program(const struct wish *w, const char *vdev, char *buf, size_t len,
	     char *why)
{
	char iface[RL_IFNAME], given[8], first[8] = "0", count[8] = "1";
	char path[64];
	uint32_t q, n;
	int ret = 0;

	if (!rl_driver_is(vdev, "net_af_xdp") ||
	    rl_devarg(vdev, "xdp_prog", given, sizeof(given)) ||
	    !rl_devarg(vdev, "iface", iface, sizeof(iface)))
		return 0;
	(void)rl_devarg(vdev, "start_queue", first, sizeof(first));
	(void)rl_devarg(vdev, "queue_count", count, sizeof(count));
	q = (uint32_t)strtoul(first, NULL, 10);
	n = (uint32_t)RTE_MIN(strtoul(count, NULL, 10),
			      (unsigned long)RL_RX_QUEUES_MAX);
	for (uint32_t i = 0; !w->wire && i < n && ret == 0; i++)
		ret = rl_xdp_port_check(iface, q + i, why);
	if (!w->wire)
		return ret;
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
host_vdev(struct rl_config *cfg, int process, const char *vdev, char *buf,
	  size_t len, char *err)
{
	const struct wish w = who_wants(cfg, process, vdev);
	const int port = (int)strcspn(vdev, ",");
	char why[WHY_MAX] = "", with[RL_VDEV_MAX];
	int ret = rl_iface_claim(vdev, why, sizeof(why)), more;

	if (ret == 0)
		ret = rl_listen_clear(vdev, why, sizeof(why));
	if (ret == 0)
		ret = give_queues(&w, vdev, with, sizeof(with), why);
	more = ret;
	if (ret >= 0)
		more = give_program(&w, ret == 1 ? with : vdev, buf, len, why);
	if (more == 0 && ret == 1 &&
	    (size_t)snprintf(buf, len, "%s", with) >= len)
		more = -E2BIG;
	if (more == -E2BIG)
		return more;
	if (more >= 0)
		return ret == 1 ? 1 : more;
	if (w.file == NULL)
		snprintf(err, HOST_ERR_MAX, "reflit: --vdev=%.*s: %s", port,
			 vdev, why);
	else
		snprintf(err, HOST_ERR_MAX, "%s:%u: %s: %.*s: %s", w.file,
			 w.line, w.entry, port, vdev, why);
	return more;
}
