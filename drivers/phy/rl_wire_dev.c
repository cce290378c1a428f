/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "rl_frame.h"
#include "rl_hush.h"
#include "rl_wire_dev.h"

size_t
rl_wire_dev_bytes(const char *name)
{
	return rl_frame_pool_bytes(rl_netdev_frames(name),
				   rl_netdev_bytes(name, RL_FRAME_BYTES_MAX));
}

/* The requested MTU must be the interface's. */
static int
check_mtu(const struct rl_wire_dev *w, uint32_t mtu, char *err, size_t len)
{
	const struct rl_netdev *d = &w->dev;

	if (mtu == 0 || d->mtu == 0 || mtu <= d->mtu)
		return 0;
	snprintf(err, len,
		 "%s: mtu = %u, and %s has %u; ip link set %s mtu %u, or ask "
		 "for less", d->name, mtu, d->iface, d->mtu, d->iface, mtu);
	return -EMSGSIZE;
}

/* Sets the frame size by the MTU, the driver, and the frame format. */
static int
size_frames(struct rl_wire_dev *w, uint32_t mtu, char *err, size_t len)
{
	const struct rl_netdev *d = &w->dev;
	uint32_t frame = mtu != 0      ? mtu + RTE_ETHER_HDR_LEN
			 : d->mtu != 0 ? d->mtu + RTE_ETHER_HDR_LEN
				       : rl_ethdev_frame_bytes(d->port_id);

	if (mtu != 0 && !rl_netdev_fits(d, RTE_MIN(frame, RL_FRAME_BYTES_MAX))) {
		snprintf(err, len,
			 "%s: its driver takes frames of less than %u bytes, "
			 "mtu = %u asks for %u; %s%s%u", d->name,
			 RTE_MIN(d->rx_bytes, d->tx_bytes + 1), mtu, frame,
			 d->kind->room != NULL ? "give it " : "ask for mtu ",
			 d->kind->room != NULL ? d->kind->room : "",
			 d->kind->room != NULL
				 ? rl_netdev_slot(d, frame)
				 : d->tx_bytes - RTE_ETHER_HDR_LEN);
		return -EMSGSIZE;
	}
	frame = RTE_MIN(frame, d->tx_bytes);
	if (d->rx_bytes != UINT32_MAX)
		frame = RTE_MIN(frame, d->rx_bytes - 1);
	w->frame_bytes = RTE_MIN(frame, RL_FRAME_BYTES_MAX);
	if (rl_frame_fit(w->frame_bytes) != 0)
		return 0;
	snprintf(err, len,
		 "%s: an MTU of %u is too small for a flit; it takes %u, and "
		 "1486 for five", d->name,
		 w->frame_bytes - RTE_ETHER_HDR_LEN,
		 rl_frame_bytes(1) - RTE_ETHER_HDR_LEN);
	return -EMSGSIZE;
}

static int
make_pool(struct rl_wire_dev *w, char *err, size_t len)
{
	const uint32_t frames = rl_netdev_frames(w->dev.name);
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "wire%u", w->dev.port_id);
	w->pool = rl_frame_pool(name, frames,
				RTE_MAX(rl_netdev_bytes(w->dev.name,
							w->frame_bytes),
					w->dev.buffer_bytes));
	if (w->pool != NULL)
		return 0;
	snprintf(err, len,
		 "%s: no memory for %u frames: %s; start with a larger -m",
		 w->dev.name, frames, rte_strerror(rte_errno));
	return -ENOMEM;
}

int
rl_wire_dev_open(struct rl_wire_dev *w, const char *name, uint32_t mtu,
		 char *err, size_t len)
{
	const char *what;
	char said[RL_HUSH_LINE];
	struct rl_hush hush;
	int ret;

	memset(w, 0, sizeof(*w));
	ret = rl_netdev_find(&w->dev, name);
	if (ret != 0) {
		(void)rl_netdev_missing(name, err, len);
		return ret;
	}
	ret = rl_netdev_check_queues(&w->dev, err, len);
	if (ret == 0)
		ret = check_mtu(w, mtu, err, len);
	if (ret == 0)
		ret = size_frames(w, mtu, err, len);
	if (ret == 0)
		ret = make_pool(w, err, len);
	if (ret != 0)
		return ret;
	rl_hush_begin(&hush);
	/* a kernel interface keeps its MTU */
	ret = rl_ethdev_start(w->dev.port_id, 1, w->pool,
			      w->dev.live ? 0 : (uint16_t)mtu, &what);
	(void)rl_hush_end(&hush, said);
	w->started = true;
	if (ret != 0) {
		snprintf(err, len, "cannot %s port %s: %s%s%s", what, name,
			 strerror(-ret), said, rl_netdev_trouble(&w->dev));
		return ret;
	}
	rl_netdev_begin(&w->dev);
	w->ifindex = w->dev.live ? if_nametoindex(w->dev.iface) : 0;
	return 0;
}

void
rl_wire_dev_note_stats(struct rl_wire_dev *w)
{
	if (w->started)
		rl_netdev_stats(&w->dev, &w->stats);
}

void
rl_wire_dev_close(struct rl_wire_dev *w)
{
	if (w->started)
		rl_netdev_close(&w->dev);
	rte_mempool_free(w->pool);
	memset(w, 0, sizeof(*w));
}
