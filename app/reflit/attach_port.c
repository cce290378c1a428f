/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "attach.h"
#include "attach_port.h"
#include "rl_hush.h"
#include "rl_phy_eth.h"


uint32_t
attach_port_frames(const char *name, uint32_t read_ahead)
{
	return rl_netdev_frames(name) + read_ahead;
}

/* And a VLAN tag. */
static void
limit_to_mtu(struct attach_port *p)
{
	if (p->dev.mtu != 0)
		p->dev.tx_bytes = RTE_MIN(p->dev.tx_bytes,
					  p->dev.mtu + RTE_ETHER_HDR_LEN + 4);
	if (rl_driver_is(p->dev.name, "net_memif"))
		p->dev.tx_bytes = UINT32_MAX; /* in several buffers */
}

/* Checks that frames of the interface fit its driver. */
static int
check_mtu(struct attach_port *p, const struct rl_attach *cfg,
	  uint32_t max_bytes, char *err, size_t len)
{
	const uint32_t mtu = p->dev.mtu;
	const uint32_t most = mtu + RTE_ETHER_HDR_LEN + 4;

	if (mtu == 0)
		return 0;
	if (most > p->dev.rx_bytes) {
		snprintf(err, len,
			 "%s:%u: attach: %s: frames of %s (MTU %u) may have %u "
			 "bytes, and the driver hands out %u of them; give it "
			 "larger slots, as in framesz=%u,blocksz=%u, or lower "
			 "the MTU",
			 cfg->file, cfg->line, p->dev.name, p->dev.iface, mtu,
			 most, p->dev.rx_bytes, rl_netdev_slot(&p->dev, most),
			 2 * rl_netdev_slot(&p->dev, most));
		return -EMSGSIZE;
	}
	if (mtu + RTE_ETHER_HDR_LEN > max_bytes)
		fprintf(stderr, "reflit: %s: frames of %s may have %u bytes; "
				"those over %u (link.max_packet_flits) are "
				"skipped\n",
			p->dev.name, p->dev.iface, mtu + RTE_ETHER_HDR_LEN,
			max_bytes);
	return 0;
}

static int
not_there(const struct rl_attach *cfg, char *err, size_t len)
{
	char why[RL_HUSH_LINE + 256];

	snprintf(err, len, "%s:%u: attach: %s", cfg->file, cfg->line,
		 rl_netdev_missing(cfg->port, why, sizeof(why)));
	return -ENODEV;
}

int
attach_port_open(struct attach_port *p, const struct rl_attach *cfg,
		 uint32_t max_bytes, uint32_t read_ahead, char *err, size_t len)
{
	const uint32_t frames = attach_port_frames(cfg->port, read_ahead);
	const char *what;
	char name[RTE_MEMPOOL_NAMESIZE], said[RL_HUSH_LINE], why[256];
	struct rl_hush hush;
	int ret;

	if (rl_netdev_find(&p->dev, cfg->port) != 0)
		return not_there(cfg, err, len);
	limit_to_mtu(p);
	ret = rl_netdev_check_queues(&p->dev, why, sizeof(why));
	if (ret != 0)
		snprintf(err, len, "%s:%u: attach: %s", cfg->file, cfg->line,
			 why);
	else
		ret = check_mtu(p, cfg, max_bytes, err, len);
	if (ret != 0)
		return ret;
	snprintf(name, sizeof(name), "client%u", p->dev.port_id);
	p->pool = rl_frame_pool(name, frames,
				RTE_MAX(rl_netdev_bytes(p->dev.name, max_bytes),
					p->dev.buffer_bytes),
				p->dev.kind->hardware);
	if (p->pool == NULL) {
		snprintf(err, len,
			 "%s:%u: attach: no memory for %u frames of %s: %s; "
			 "start with a larger -m", cfg->file, cfg->line, frames,
			 p->dev.name, rte_strerror(rte_errno));
		return -ENOMEM;
	}
	p->open = true;
	rl_hush_begin(&hush);
	ret = rl_ethdev_start(p->dev.port_id, 1, p->pool, 0, &what);
	(void)rl_hush_end(&hush, said);
	if (ret != 0) {
		snprintf(err, len, "%s:%u: attach: cannot %s port %s: %s%s%s",
			 cfg->file, cfg->line, what, p->dev.name,
			 strerror(-ret), said, rl_netdev_trouble(&p->dev));
		return ret;
	}
	rl_netdev_begin(&p->dev);
	if (rte_mempool_avail_count(p->pool) < 4 * CLIENT_BURST) {
		snprintf(err, len, "%s:%u: attach: the driver of %s keeps all "
				   "of %u frames and could receive none",
			 cfg->file, cfg->line, p->dev.name, frames);
		return -ENOBUFS;
	}
	return 0;
}

void
attach_port_stats(struct attach_port *p, struct rl_netdev_stats *st)
{
	struct rl_netdev_stats now = { 0 };

	if (p->open)
		rl_netdev_stats(&p->dev, &now);
	*st = now; /* telemetry may be reading */
}

void
attach_port_close(struct attach_port *p)
{
	if (p->open)
		rl_netdev_close(&p->dev);
	rte_mempool_free(p->pool);
	p->open = false;
	p->pool = NULL;
}
