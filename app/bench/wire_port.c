/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "rl_binding.h"
#include "rl_frame.h"
#include "rl_hush.h"
#include "rl_iface.h"
#include "rl_xdp.h"
#include "say_error.h"
#include "stop_signal.h"
#include "wire_port.h"

#define LINE WIRE_PORT_LINE
#define XDP_BUFFER 3776u /* with its headers within a page */
/* On the line, beside a frame: preamble, FCS, gap. */
#define LINE_BYTES 24u
/* A NIC may need seconds until it has agreed on a speed. */
#define LINK_TRIES 1000u
#define LINK_PAUSE_NS 10000000

static bool
is_device(const struct wire_port *p)
{
	return rl_driver_of(p->arg)->hardware;
}

double
wire_port_testpmd(const struct wire_port *p, uint32_t frame_bytes, bool quick)
{
	const bool huge = is_device(p) && rl_binding_huge("", p->name);
	char cmd[2 * LINE], line[LINE];
	double best = 0;
	FILE *f;

	snprintf(cmd, sizeof(cmd),
		 "timeout -s INT %d dpdk-testpmd -l 0,1 %s -m 256 "
		 "%s --no-shconf --no-telemetry --log-level=error "
		 "%s'%s' -- --forward-mode=txonly --txpkts=%u "
		 "--mbuf-size=%u --total-num-mbufs=16384 --auto-start "
		 "--stats-period=1 2>/dev/null </dev/null",
		 quick ? 3 : 5, huge ? "--in-memory" : "--no-huge",
		 is_device(p) ? "" : "--no-pci",
		 is_device(p) ? "-a " : "--vdev=", p->arg, frame_bytes,
		 rl_driver_is(p->arg, "net_af_xdp")
			 ? XDP_BUFFER
			 : RTE_MAX(frame_bytes + 256, 4352u));
	f = popen(cmd, "r");
	if (f == NULL)
		return 0;
	/* once a second; the first second is its start */
	while (fgets(line, sizeof(line), f) != NULL) {
		const char *at = strstr(line, "Tx-pps:");

		if (at != NULL && strtod(at + 7, NULL) > best)
			best = strtod(at + 7, NULL);
	}
	(void)pclose(f);
	return best;
}

/* Before the driver opens it: it would say less, and undo more. */
static int
check_port(const char *port, char err[LINE])
{
	char iface[RL_IFNAME];
	int ret = rl_iface_claim(port, err, LINE);

	if (ret == 0 && rl_driver_is(port, "net_af_xdp") &&
	    rl_devarg(port, "iface", iface, sizeof(iface)))
		ret = rl_xdp_port_check(iface, 0, err);
	return ret;
}

/* EAL has opened devices when it began; ports of --vdev begin here. */
static int
make_port(struct wire_port *p)
{
	const char *args = strchr(p->arg, ',');
	char err[LINE], said[RL_HUSH_LINE];
	struct rl_hush hush;
	int ret;

	if (is_device(p))
		return 0;
	if (check_port(p->arg, err) != 0)
		return say_error(-EINVAL, "reflit-bench: --port %s: %s\n",
				 p->arg, err);
	rl_hush_begin(&hush);
	ret = rte_eal_hotplug_add("vdev", p->name,
				  args == NULL ? "" : args + 1);
	(void)rl_hush_end(&hush, said);
	if (ret == 0)
		return 0;
	p->name[0] = '\0';
	return say_error(-EINVAL,
			 "reflit-bench: --port %s: there is no such "
			 "driver, or it refuses that%s\n",
			 p->arg, said);
}

int
wire_port_wait(struct wire_port *p)
{
	const struct timespec pause = { .tv_nsec = LINK_PAUSE_NS };
	struct rte_eth_link link;

	for (unsigned int i = 0; i < LINK_TRIES && stop_asked() == 0; i++) {
		if (rte_eth_link_get_nowait(p->w.dev.port_id, &link) != 0)
			return 0; /* it can't say */
		if (link.link_status == RTE_ETH_LINK_UP) {
			if (link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
				p->link_mbps = link.link_speed;
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	return say_error(-EINVAL,
			 "reflit-bench: --port %s: its link is down; "
			 "plug in a cable, or start its peer\n",
			 p->arg);
}

int
wire_port_open(struct wire_port *p, const char *arg)
{
	char err[LINE];
	int ret;

	memset(p, 0, sizeof(*p));
	p->arg = arg;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)strcspn(arg, ","), arg);
	ret = make_port(p);
	if (ret != 0)
		return ret;
	if (rl_wire_dev_open(&p->w, p->name, 0, 0, err, sizeof(err)) != 0)
		return say_error(-EINVAL, "reflit-bench: --port %s: %s\n", arg,
				 err);
	const struct rl_phy_eth_params params = {
		.port_id = p->w.dev.port_id,
		.rx_queues = p->w.dev.queues,
		.frame_bytes = p->w.frame_bytes,
		.pool = p->w.pool,
	};

	return rl_phy_eth_open(&p->phy, &params);
}

void
wire_port_close(struct wire_port *p)
{
	char said[RL_HUSH_LINE];
	struct rl_hush hush;

	if (p->name[0] == '\0')
		return;
	rl_hush_begin(&hush);
	if (p->phy.bounce != NULL)
		rl_phy_eth_close(&p->phy);
	rl_wire_dev_close(&p->w);
	(void)rte_eal_hotplug_remove(is_device(p) ? "pci" : "vdev", p->name);
	(void)rl_hush_end(&hush, said);
	p->name[0] = '\0';
}

double
wire_port_line_flits(const struct wire_port *p, uint32_t flits)
{
	return p->link_mbps * 1e6 / 8 / (rl_frame_bytes(flits) + LINE_BYTES) *
	       flits;
}
