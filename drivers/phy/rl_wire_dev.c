/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "rl_frame.h"
#include "rl_refuse.h"
#include "rl_wire_dev.h"

size_t
rl_wire_dev_bytes(const char *name, unsigned int rx_queues)
{
	return rl_frame_pool_bytes(rl_netdev_frames(name, rx_queues),
				   rl_netdev_bytes(name, RL_FRAME_BYTES_MAX),
				   rl_driver_of(name)->hardware);
}

/* The requested MTU must be the interface's. */
static int
check_mtu(const struct rl_wire_dev *w, uint32_t mtu, char *err, size_t len)
{
	const struct rl_netdev *d = &w->dev;

	if (mtu > d->mtu_max)
		return rl_refuse(err, len, -EMSGSIZE, "%s: mtu = %u, and its "
				 "driver, %s, takes at most %u", d->name, mtu,
				 d->driver, d->mtu_max);
	if (mtu == 0 || d->mtu == 0 || mtu <= d->mtu)
		return 0;
	return rl_refuse(err, len, -EMSGSIZE, "%s: mtu = %u, and %s has %u; ip "
			 "link set %s mtu %u, or ask for less", d->name, mtu,
			 d->iface, d->mtu, d->iface, mtu);
}

/* Sets the frame size by the MTU, the driver, and the frame format. */
static int
size_frames(struct rl_wire_dev *w, uint32_t mtu, char *err, size_t len)
{
	const struct rl_netdev *d = &w->dev;
	uint32_t frame = mtu != 0      ? mtu + RTE_ETHER_HDR_LEN
			 : d->mtu != 0 ? d->mtu + RTE_ETHER_HDR_LEN
				       : rl_ethdev_frame_bytes(d->port_id);

	if (mtu != 0 && !rl_netdev_fits(d, RTE_MIN(frame, RL_FRAME_BYTES_MAX)))
		return rl_refuse(err, len, -EMSGSIZE, "%s: its driver takes "
				 "frames of less than %u bytes, mtu = %u asks "
				 "for %u; %s%s%u", d->name,
				 RTE_MIN(d->rx_bytes, d->tx_bytes + 1), mtu,
				 frame,
				 d->kind->room != NULL ? "give it "
						       : "ask for mtu ",
				 d->kind->room != NULL ? d->kind->room : "",
				 d->kind->room != NULL
					 ? rl_netdev_slot(d, frame)
					 : d->tx_bytes - RTE_ETHER_HDR_LEN);
	frame = RTE_MIN(frame, d->tx_bytes);
	if (d->rx_bytes != UINT32_MAX)
		frame = RTE_MIN(frame, d->rx_bytes - 1);
	w->frame_bytes = RTE_MIN(frame, RL_FRAME_BYTES_MAX);
	if (rl_frame_fit(w->frame_bytes) != 0)
		return 0;
	return rl_refuse(err, len, -EMSGSIZE, "%s: an MTU of %u is too small "
			 "for a flit; it takes %u, and 1486 for five", d->name,
			 w->frame_bytes - RTE_ETHER_HDR_LEN,
			 rl_frame_bytes(1) - RTE_ETHER_HDR_LEN);
}

static int
make_pool(struct rl_wire_dev *w, char *err, size_t len)
{
	const uint32_t frames = rl_netdev_frames(w->dev.name, w->dev.queues);

	w->pool = rl_netdev_pool(&w->dev, "wire", frames, w->frame_bytes);
	if (w->pool != NULL)
		return 0;
	return rl_refuse(err, len, -ENOMEM, "%s: no memory for %u frames: %s; "
			 "start with a larger -m", w->dev.name, frames,
			 rte_strerror(rte_errno));
}

/* Kernel interfaces keep their MTU; no frame is longer than ours. */
static uint16_t
mtu_of(const struct rl_wire_dev *w)
{
	return w->dev.live ? 0
			   : (uint16_t)RTE_MIN(w->mtu, RL_FRAME_BYTES_MAX -
							       RTE_ETHER_HDR_LEN);
}

static void
watch(struct rl_wire_dev *w)
{
	w->present = true;
	w->ifindex = w->dev.live ? w->dev.ifindex : 0;
	if (w->dev.kind->hardware)
		rl_unplug_watch(&w->unplug, w->dev.name, w->dev.port_id);
	else if (w->ifindex != 0)
		rl_unplug_watch_iface(&w->unplug, w->dev.iface,
				      rl_driver_is(w->dev.kind->name,
						   "net_af_xdp"));
}

int
rl_wire_dev_open(struct rl_wire_dev *w, const char *name, uint32_t mtu,
		 unsigned int rx_queues, char *err, size_t len)
{
	int ret;

	memset(w, 0, sizeof(*w));
	w->mtu = mtu;
	ret = rl_netdev_find(&w->dev, name);
	if (ret != 0) {
		(void)rl_netdev_missing(name, err, len);
		return ret;
	}
	ret = rl_netdev_check_queues(&w->dev, rx_queues, err, len);
	if (ret == 0)
		ret = check_mtu(w, mtu, err, len);
	if (ret == 0)
		ret = size_frames(w, mtu, err, len);
	if (ret == 0)
		ret = make_pool(w, err, len);
	if (ret != 0)
		return ret;
	w->started = true;
	w->present = true; /* and must be closed, whatever follows */
	ret = rl_netdev_start(&w->dev, w->pool, mtu_of(w), err, len);
	if (ret == 0)
		watch(w);
	return ret;
}

static void
end_watch(struct rl_wire_dev *w)
{
	/* there is nothing to undo, and a driver would wait for an answer */
	if (rl_unplug_gone(&w->unplug))
		w->dev.promiscuous = false;
	rl_unplug_forget(&w->unplug);
	w->present = false;
}

void
rl_wire_dev_let_go(struct rl_wire_dev *w)
{
	rl_wire_dev_note_stats(w);
	w->dev.before = w->stats;
	end_watch(w);
	rl_netdev_let_go(&w->dev);
}

int
rl_wire_dev_take_back(struct rl_wire_dev *w, char *err, size_t len)
{
	const struct rl_netdev *d = &w->dev;
	int ret = rl_netdev_take_back(&w->dev, w->pool, mtu_of(w), err, len);

	if (ret != 0)
		return ret;
	if (d->mtu == 0 || d->mtu + RTE_ETHER_HDR_LEN >= w->frame_bytes) {
		watch(w);
		return 0;
	}
	ret = rl_refuse(err, len, -EMSGSIZE, "%s has an MTU of %u, and its "
			"frames have %u bytes; ip link set %s mtu %u",
			d->iface, d->mtu, w->frame_bytes, d->iface,
			w->frame_bytes - RTE_ETHER_HDR_LEN);
	rl_netdev_let_go(&w->dev);
	return ret;
}

void
rl_wire_dev_note_stats(struct rl_wire_dev *w)
{
	/* a device that is gone counts all ones */
	if (w->present && !rl_unplug_gone(&w->unplug))
		rl_netdev_stats(&w->dev, &w->stats);
}

void
rl_wire_dev_close(struct rl_wire_dev *w)
{
	if (w->present) {
		end_watch(w);
		rl_netdev_close(&w->dev);
	}
	rte_mempool_free(w->pool);
	memset(w, 0, sizeof(*w));
}
