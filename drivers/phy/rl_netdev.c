/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "rl_binding.h"
#include "rl_hush.h"
#include "rl_iface.h"
#include "rl_listen.h"
#include "rl_netdev.h"
#include "rl_phy_eth.h"
#include "rl_refuse.h"
#include "rl_sockets.h"
#include "rl_unplug.h"

#define SMALLEST_BUFFER 2048u
/* The kernel requires a buffer within a page; it keeps 256 bytes before a
 * frame, DPDK 320 (its headers and headroom), the pool up to 128 behind. */
#define XDP_BYTES (4096u - 256 - 320 - 128)
#define XDP_HEADROOM 256u
/* The kernel requires a buffer of at least 2,048 bytes. */
#define XDP_LEAST (SMALLEST_BUFFER - XDP_HEADROOM)
/* net_af_packet: a slot unless framesz= says otherwise; in both cases the
 * kernel's header and alignment precede the frame. */
#define PACKET_SLOT 2048u
#define PACKET_RX_HEAD 66u
#define PACKET_TX_HEAD 32u
/* net_memif: a buffer, unless bsize= says otherwise. */
#define MEMIF_BUFFER 2048u
/* For each further queue: its descriptors; net_af_xdp fills so many. */
#define QUEUE_FRAMES 2048u
/*
 * More than any ring holds: an upper limit if frames arrive faster than they
 * are discarded.
 */
#define DISCARD_MAX (1u << 20)

uint32_t
rl_netdev_frames(const char *name, unsigned int queues)
{
	return rl_driver_of(name)->frames +
	       (RTE_MAX(queues, 1u) - 1) * QUEUE_FRAMES;
}

uint32_t
rl_netdev_bytes(const char *name, uint32_t frame_bytes)
{
	if (rl_driver_is(name, "net_af_xdp"))
		return XDP_HEADROOM + RTE_MIN(RTE_MAX(frame_bytes, XDP_LEAST),
					      XDP_BYTES);
	/*
	 * Some devices count a header of their own, tags or the FCS; and some
	 * use whole KiB of a buffer.
	 */
	if (rl_driver_of(name)->hardware)
		frame_bytes = RTE_ALIGN_CEIL(frame_bytes + 64, 1024u);
	return RTE_MAX(frame_bytes, SMALLEST_BUFFER);
}

char *
rl_netdev_missing(const char *name, char *buf, size_t len)
{
	const struct rl_driver *k = rl_driver_of(name);
	char why[RL_HUSH_LINE], wrong[256];

	if (k->hardware && rl_binding_wrong("", name, rte_eal_has_hugepages(),
					    wrong, sizeof(wrong)))
		snprintf(buf, len, "there is no port %s: %s", name, wrong);
	else if (rl_hush_why(name, why)[0] != '\0')
		snprintf(buf, len, "there is no port %s, for it did not start%s",
			 name, why);
	else
		snprintf(buf, len, "there is no port %s; give it to EAL, as in "
				   "%s%s%s%s", name,
			 k->hardware ? "-a " : "--vdev=", name, k->more,
			 k->hardware ? "; if it was given, DPDK has no driver "
				       "for it, or that did not start"
				     : "");
	return buf;
}

/* Value of a device argument, into @p buf. */
static bool
arg_of(uint16_t port_id, const char *key, char *buf, size_t len)
{
	struct rte_eth_dev_info info;
	const struct rte_devargs *da;

	if (rte_eth_dev_info_get(port_id, &info) != 0)
		return false;
	da = rte_dev_devargs(info.device);
	return da != NULL && da->args != NULL &&
	       rl_devarg(da->args, key, buf, len);
}

/* Asks the kernel for a property of an interface. @return 0 or -errno */
static int
iface_ask(const char *iface, unsigned long what, struct ifreq *r)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", iface);
	if (fd < 0 || ioctl(fd, what, r) != 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The same, by the name that its interface has now. */
static int
ask_now(const struct rl_netdev *d, unsigned long what, struct ifreq *r)
{
	char name[IF_NAMESIZE];

	return if_indextoname(d->ifindex, name) != NULL
		       ? iface_ask(name, what, r) : -ENODEV;
}

uint32_t
rl_netdev_mtu(const struct rl_netdev *d)
{
	struct ifreq r = { 0 };

	return d->live && ask_now(d, SIOCGIFMTU, &r) == 0 ? (uint32_t)r.ifr_mtu
							  : 0;
}

/* Queues over which a kernel interface spreads received frames. */
static struct ethtool_channels
channels(const char *iface)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq r = { .ifr_data = (char *)&c };

	if (iface_ask(iface, SIOCETHTOOL, &r) != 0)
		c = (struct ethtool_channels){ .rx_count = 1 };
	return c;
}

unsigned int
rl_netdev_combined(const char *iface)
{
	return RTE_MAX(channels(iface).combined_count, 1u);
}

unsigned int
rl_netdev_queues(const char *vdev)
{
	const struct rl_driver *k = rl_driver_of(vdev);
	char text[RL_IFNAME];

	if (k->single != NULL || k->queues == NULL)
		return 1;
	if (rl_devarg(vdev, k->queues, text, sizeof(text)))
		return (unsigned int)strtoul(text, NULL, 10);
	return rl_driver_is(vdev, "net_af_xdp") &&
			       rl_devarg(vdev, "iface", text, sizeof(text))
		       ? rl_netdev_combined(text)
		       : 1;
}

/* A possible problem of the interface, as the rest of a sentence; or "". */
static const char *
trouble(const struct rl_netdev *d)
{
	struct ifreq r = { 0 };

	if (d->iface[0] == '\0')
		return "";
	if (ask_now(d, SIOCGIFFLAGS, &r) == -ENODEV)
		return "; there is no such interface";
	if (!rl_iface_may(CAP_NET_RAW))
		return "; this needs root, or CAP_NET_RAW, CAP_NET_ADMIN and "
		       "CAP_BPF";
	return r.ifr_flags & IFF_UP ? "" : "; it is down: ip link set up";
}

/* An interface that was already promiscuous stays so at the end. */
static void
take_all(struct rl_netdev *d)
{
	struct ifreq r = { 0 };

	if (ask_now(d, SIOCGIFFLAGS, &r) == 0 && r.ifr_flags & IFF_PROMISC)
		return;
	d->promiscuous = rte_eth_promiscuous_enable(d->port_id) == 0;
}

/* Drivers call an interface by the name that it had. */
static void
take_own(struct rl_netdev *d)
{
	struct ifreq r = { 0 };

	if (d->promiscuous && rte_eth_promiscuous_disable(d->port_id) != 0 &&
	    ask_now(d, SIOCGIFFLAGS, &r) == 0) {
		r.ifr_flags &= (short)~IFF_PROMISC;
		(void)ask_now(d, SIOCSIFFLAGS, &r);
	}
	d->promiscuous = false;
}

static struct rl_sockets
sockets(const struct rl_netdev *d)
{
	return (struct rl_sockets){
		.ifindex = (int)d->ifindex,
		.xdp = strcmp(d->kind->name, "net_af_xdp") == 0,
	};
}

/*
 * Accepts frames for all addresses, except those sent by this machine. Waiting
 * frames are discarded and counted: net_af_packet gets frames of all interfaces
 * until it is bound to its own [PHY-10].
 */
static void
begin(struct rl_netdev *d)
{
	const struct rl_sockets of = sockets(d);
	struct rte_mbuf *m[32];
	uint16_t n, q = 0;

	rl_sockets_begin(&of);
	take_all(d);
	while (d->kind->leaks && d->discarded < DISCARD_MAX &&
	       (n = rl_ethdev_rx(d->port_id, d->queues, &q, m, 32)) != 0) {
		rte_pktmbuf_free_bulk(m, n);
		d->discarded += n;
	}
}

int
rl_netdev_start(struct rl_netdev *d, struct rte_mempool *pool, uint16_t mtu,
		char *err, size_t len)
{
	char said[RL_HUSH_LINE];
	struct rl_hush hush;
	const char *what;
	int ret;

	rl_hush_begin(&hush);
	ret = rl_ethdev_start(d->port_id, d->queues, pool, mtu, &what);
	(void)rl_hush_end(&hush, said);
	if (ret == 0)
		begin(d);
	else
		snprintf(err, len, "cannot %s port %s: %s%s%s", what, d->name,
			 strerror(-ret), said, trouble(d));
	return ret;
}

struct rte_mempool *
rl_netdev_pool(const struct rl_netdev *d, const char *of, uint32_t frames,
	       uint32_t frame_bytes)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "%s%u", of, d->port_id);
	return rl_frame_pool(name, frames,
			     RTE_MAX(rl_netdev_bytes(d->name, frame_bytes),
				     d->buffer_bytes),
			     d->kind->hardware);
}

/* A driver that fills queues only if it is configured to. */
static int
check_hash(const struct rl_netdev *d, const struct rte_eth_dev_info *info,
	   char *err, size_t len)
{
	if (d->queues > info->max_rx_queues)
		return rl_refuse(err, len, -ENOTSUP, "%s: rx_queues = %u, and "
				 "%s has at most %u; ask for less", d->name,
				 d->queues, d->driver, info->max_rx_queues);
	if (d->queues > 1 && !rl_ethdev_hashes(info))
		return rl_refuse(err, len, -ENOTSUP, "%s: rx_queues = %u, and "
				 "%s spreads no frames over queues; leave "
				 "rx_queues out", d->name, d->queues,
				 d->driver);
	return 0;
}

/* An interface of net_af_xdp whose queues are not all served. */
static int
check_iface(const struct rl_netdev *d, char *err, size_t len)
{
	const struct ethtool_channels c = channels(d->iface);
	const unsigned int n = c.combined_count + c.rx_count;
	char how[96];

	if (n <= d->queues)
		return 0;
	if (c.combined_count > d->queues)
		snprintf(how, sizeof(how), "give it queue_count=%u and no "
					   "rx_queues, or ethtool -L %s "
					   "combined %u", n, d->iface,
			 d->queues);
	else
		snprintf(how, sizeof(how), "ethtool -L %s rx 1 tx 1 (veth: at "
					   "both ends)", d->iface);
	return rl_refuse(err, len, -ENOTSUP, "%s: %s spreads its frames over "
			 "%u queues, and its driver reads %u; %s", d->name,
			 d->iface, n, d->queues, how);
}

int
rl_netdev_check_queues(struct rl_netdev *d, unsigned int asked, char *err,
		       size_t len)
{
	const struct rl_driver *k = d->kind;
	struct rte_eth_dev_info info;
	char tso[8];
	unsigned int fills;

	if (rl_devarg(d->vdev, "tso", tso, sizeof(tso)) && tso[0] != '0')
		return rl_refuse(err, len, -ENOTSUP, "%s: tso=%s has a machine "
				 "send frames longer than any packet; give it "
				 "tso=0", d->name, tso);
	if (rte_eth_dev_info_get(d->port_id, &info) != 0)
		info.max_rx_queues = 1;
	fills = k->queues != NULL ? RTE_MAX(info.max_rx_queues, 1u) : 1;
	d->queues = (uint16_t)RTE_MAX(asked, fills);
	if (k->single != NULL && d->queues > 1)
		return rl_refuse(err, len, -ENOTSUP, "%s: it can have one "
				 "queue, not %u: %s; %s", d->name, d->queues,
				 k->single, asked > 1 ? "leave rx_queues out"
						      : "give it one rx_pcap=");
	if (k->queues == NULL)
		return check_hash(d, &info, err, len);
	if (asked != 0 && asked != fills)
		return rl_refuse(err, len, -ENOTSUP, "%s: rx_queues = %u, and "
				 "%s=%u spreads its frames over %u; say one "
				 "of the two", d->name, asked, k->queues, fills,
				 fills);
	return sockets(d).xdp ? check_iface(d, err, len) : 0;
}

/* A driver may write to a peer that has gone: no reason to end the run. */
static void
pipe_hold(sigset_t *before)
{
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, before);
}

static void
pipe_release(const sigset_t *before)
{
	const struct timespec at_once = { 0 };
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

struct errand {
	struct rl_netdev *d;
	sem_t done;
};

static void
close_it(void *ctx)
{
	struct errand *e = ctx;

	(void)rte_eth_dev_stop(e->d->port_id);
	(void)rte_eth_dev_close(e->d->port_id);
	sem_post(&e->done);
}

static void
nothing(void *ctx)
{
	struct errand *e = ctx;

	sem_post(&e->done);
}

/* Runs it on EAL's thread, if there is one, and waits. */
static void
have_done(void (*fn)(void *), struct rl_netdev *d)
{
	struct errand e = { .d = d };

	sem_init(&e.done, 0, 0);
	if (!d->kind->tells || rte_eal_alarm_set(1, fn, &e) != 0)
		fn(&e);
	while (sem_wait(&e.done) != 0)
		; /* a signal */
	sem_destroy(&e.done);
}

/*
 * A thread of EAL is notified when the peer of a memif or virtio-user port is
 * gone, and frees things that a close frees, too. So the close runs on that
 * thread, where the two can't collide. The thread then reads its listeners once
 * more; that memory must outlive this, which two more turns ensure.
 */
void
rl_netdev_close(struct rl_netdev *d)
{
	char said[RL_HUSH_LINE];
	struct rl_hush hush;
	sigset_t before;

	pipe_hold(&before);
	rl_hush_begin(&hush);
	take_own(d);
	have_done(close_it, d);
	have_done(nothing, d);
	have_done(nothing, d);
	(void)rl_hush_end(&hush, said);
	pipe_release(&before);
}

int
rl_netdev_find(struct rl_netdev *d, const char *name)
{
	struct rte_eth_dev_info info;
	const struct rte_devargs *args;
	char text[RL_IFNAME];
	uint32_t slot;

	*d = (struct rl_netdev){
		.name = name,
		.queues = 1,
		.rx_bytes = UINT32_MAX,
		.tx_bytes = UINT32_MAX,
	};
	if (rte_eth_dev_get_port_by_name(name, &d->port_id) != 0 ||
	    rte_eth_dev_info_get(d->port_id, &info) != 0)
		return -ENODEV;
	/* a device's own driver is one of many */
	d->kind = rl_driver_of(info.driver_name);
	if (strcmp(d->kind->name, "net_") == 0)
		d->kind = rl_driver_of(name);
	d->live = d->kind->live;
	d->mtu_max = d->live ? UINT32_MAX : info.max_mtu;
	snprintf(d->driver, sizeof(d->driver), "%s", info.driver_name);
	if (strcmp(d->kind->name, "net_vhost") != 0 && /* here, a path */
	    (arg_of(d->port_id, "iface", text, sizeof(text)) ||
	     arg_of(d->port_id, "rx_iface", text, sizeof(text))))
		snprintf(d->iface, sizeof(d->iface), "%s", text);
	if (strcmp(d->kind->name, "net_af_packet") == 0) {
		slot = arg_of(d->port_id, "framesz", text, sizeof(text))
			       ? (uint32_t)strtoul(text, NULL, 10)
			       : PACKET_SLOT;
		d->rx_bytes = slot - PACKET_RX_HEAD;
		d->tx_bytes = slot - PACKET_TX_HEAD;
		d->buffer_bytes = slot;
		d->asks_socket = true;
	} else if (strcmp(d->kind->name, "net_af_xdp") == 0) {
		/* the kernel drops and counts longer frames */
		d->tx_bytes = XDP_BYTES;
	} else if (strcmp(d->kind->name, "net_memif") == 0) {
		d->tx_bytes = arg_of(d->port_id, "bsize", text, sizeof(text))
				      ? (uint32_t)strtoul(text, NULL, 10)
				      : MEMIF_BUFFER;
	}
	d->ifindex = if_nametoindex(d->iface);
	d->mtu = rl_netdev_mtu(d);
	args = rte_dev_devargs(info.device);
	snprintf(d->vdev, sizeof(d->vdev), "%s,%s", name,
		 args != NULL && args->args != NULL ? args->args : "");
	d->calls = rl_listen_calls(d->vdev);
	return 0;
}

void
rl_netdev_let_go(struct rl_netdev *d)
{
	struct rte_eth_dev_info info;
	char said[RL_HUSH_LINE];
	struct rl_hush hush;

	if (rte_eth_dev_info_get(d->port_id, &info) != 0)
		info.device = NULL;
	rl_netdev_close(d);
	rl_hush_begin(&hush);
	if (info.device != NULL)
		(void)rte_dev_remove(info.device);
	(void)rl_hush_end(&hush, said);
}

static int
open_again(struct rl_netdev *d, struct rte_mempool *pool, uint16_t mtu,
	   char *err, size_t len)
{
	const char *const bus = d->kind->hardware ? "pci" : "vdev";
	const char *const args = strchr(d->vdev, ',') + 1;
	struct rl_netdev now;
	char said[RL_HUSH_LINE];
	struct rl_hush hush;
	int ret;

	rl_hush_begin(&hush);
	ret = rte_eal_hotplug_add(bus, d->name, args);
	if (ret == 0) {
		ret = rl_netdev_find(&now, d->name);
		if (ret != 0)
			(void)rte_eal_hotplug_remove(bus, d->name);
	}
	(void)rl_hush_end(&hush, said);
	if (ret != 0)
		return rl_refuse(err, len, ret, "%s%s", strerror(-ret), said);
	now.before = d->before;
	now.queues = d->queues;
	*d = now;
	ret = rl_netdev_start(d, pool, mtu, err, len);
	if (ret != 0)
		rl_netdev_let_go(d);
	return ret;
}

int
rl_netdev_take_back(struct rl_netdev *d, struct rte_mempool *pool,
		    uint16_t mtu, char *err, size_t len)
{
	sigset_t before;
	int ret;

	pipe_hold(&before);
	ret = open_again(d, pool, mtu, err, len);
	pipe_release(&before);
	return ret;
}

bool
rl_netdev_fits(const struct rl_netdev *d, uint32_t frame_bytes)
{
	return frame_bytes < d->rx_bytes && frame_bytes <= d->tx_bytes;
}

uint32_t
rl_netdev_slot(const struct rl_netdev *d, uint32_t frame_bytes)
{
	return rte_align32pow2(frame_bytes +
			       (d->asks_socket ? PACKET_RX_HEAD : 0));
}

/*
 * Frames that net_af_packet could not write stay in its ring, and go out once
 * the interface is up again. Frames that are too long are lost.
 */
static uint64_t
not_written(struct rl_netdev *d, uint64_t errors)
{
	const struct rl_sockets of = sockets(d);

	if (d->asks_socket && errors != d->written_late &&
	    rl_sockets_flush(&of) && rl_netdev_mtu(d) >= d->mtu)
		d->written_late = errors;
	return errors - d->written_late;
}

void
rl_netdev_stats(struct rl_netdev *d, struct rl_netdev_stats *st)
{
	const struct rl_sockets of = sockets(d);
	struct rte_eth_stats eth;

	if (d->live)
		d->socket_missed = rl_sockets_missed(&of, d->socket_missed);
	*st = d->before;
	st->missed += d->socket_missed;
	st->discarded += d->discarded;
	if (rte_eth_stats_get(d->port_id, &eth) != 0)
		return;
	st->missed += eth.imissed;
	st->rx_errors += eth.ierrors;
	st->no_mbuf += eth.rx_nombuf;
	st->tx_errors += not_written(d, eth.oerrors);
}
