/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "rl_hush.h"
#include "rl_netdev.h"

/* Descriptors of a queue, what its owner has in hand, the pool's caches. */
#define FRAMES 2048u
#define HARDWARE_FRAMES 4096u
#define SMALLEST_BUFFER 2048u
/* net_af_xdp: its fill ring takes 2,048 for good, the socket may hold more. */
#define XDP_FRAMES 8192u
/* The kernel wants a buffer within a page; it keeps 256 bytes before a frame,
 * DPDK 320 (its headers and headroom), the pool up to 128 behind. */
#define XDP_BYTES (4096u - 256 - 320 - 128)
#define XDP_HEADROOM 256u
/* The kernel wants a buffer of 2,048 bytes at least. */
#define XDP_LEAST (SMALLEST_BUFFER - XDP_HEADROOM)
/* net_af_packet: a slot unless framesz= says otherwise; the kernel's header
 * and alignment before a frame, either way. */
#define PACKET_SLOT 2048u
#define PACKET_RX_HEAD 66u
#define PACKET_TX_HEAD 32u

struct kind {
	const char *begins; /* the port's name */
	const char *how; /* to give it to EAL, around the name */
	const char *more;
	bool live;
};

static const struct kind kinds[] = {
	{ "net_af_packet", "--vdev=", ",iface=INTERFACE", true },
	{ "net_af_xdp", "--vdev=", ",iface=INTERFACE", true },
	{ "net_tap", "--vdev=", ",iface=NAME", false },
	{ "net_memif", "--vdev=", ",role=server,socket=PATH", false },
	{ "net_pcap", "--vdev=", ",rx_pcap=IN,tx_pcap=OUT", false },
	{ "net_", "--vdev=", "", false },
	{ "", "-a ", "", false },
};

static const struct kind *
kind_of(const char *name)
{
	const struct kind *k = kinds;

	while (strncmp(name, k->begins, strlen(k->begins)) != 0)
		k++;
	return k;
}

static bool
is_xdp(const char *name)
{
	return strncmp(name, "net_af_xdp", 10) == 0;
}

static bool
is_packet(const char *name)
{
	return strncmp(name, "net_af_packet", 13) == 0;
}

bool
rl_devarg(const char *args, const char *key, char *buf, size_t len)
{
	const size_t n = strlen(key);

	for (const char *at = args; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, n) != 0 || at[n] != '=')
			continue;
		snprintf(buf, len, "%.*s", (int)strcspn(at + n + 1, ","),
			 at + n + 1);
		return true;
	}
	return false;
}

uint32_t
rl_netdev_frames(const char *name)
{
	if (is_xdp(name))
		return XDP_FRAMES;
	return kind_of(name)->begins[0] == '\0' ? HARDWARE_FRAMES : FRAMES;
}

uint32_t
rl_netdev_bytes(const char *name, uint32_t frame_bytes)
{
	if (is_xdp(name))
		return XDP_HEADROOM + RTE_MIN(RTE_MAX(frame_bytes, XDP_LEAST),
					      XDP_BYTES);
	return RTE_MAX(frame_bytes, SMALLEST_BUFFER);
}

/* Whether this process may open raw sockets. */
static bool
may_open(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &h, d) != 0 ||
	       (d[CAP_TO_INDEX(CAP_NET_RAW)].effective &
		CAP_TO_MASK(CAP_NET_RAW)) != 0;
}

char *
rl_netdev_missing(const char *name, char *buf, size_t len)
{
	const struct kind *k = kind_of(name);

	snprintf(buf, len, "there is no port %s, or it did not start%s; give "
			   "it to EAL, as in %s%s%s",
		 name, rl_hush_first(), k->how, name, k->more);
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

/* The MTU of a kernel interface; 0: not known. */
static uint32_t
iface_mtu(const char *iface)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };
	uint32_t mtu = 0;

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", iface);
	if (fd >= 0 && ioctl(fd, SIOCGIFMTU, &r) == 0)
		mtu = (uint32_t)r.ifr_mtu;
	if (fd >= 0)
		close(fd);
	return mtu;
}

/* Flags of a kernel interface. @return 0 or -errno */
static int
iface_flags(const char *iface, short *flags)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };
	int ret = 0;

	if (fd < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", iface);
	if (ioctl(fd, SIOCGIFFLAGS, &r) != 0)
		ret = -errno;
	close(fd);
	*flags = r.ifr_flags;
	return ret;
}

const char *
rl_netdev_trouble(const struct rl_netdev *d)
{
	short flags = 0;

	if (d->iface[0] == '\0')
		return "";
	if (iface_flags(d->iface, &flags) == -ENODEV)
		return "; there is no such interface";
	if (!may_open())
		return "; it takes root, or CAP_NET_RAW, CAP_NET_ADMIN and "
		       "CAP_BPF";
	return (flags & IFF_UP) == 0 ? "; it is down: ip link set up" : "";
}

void
rl_netdev_take_all(struct rl_netdev *d)
{
	short flags = 0;

	if (d->iface[0] != '\0' && iface_flags(d->iface, &flags) == 0 &&
	    (flags & IFF_PROMISC) != 0)
		return;
	d->promiscuous = rte_eth_promiscuous_enable(d->port_id) == 0;
}

void
rl_netdev_take_own(struct rl_netdev *d)
{
	if (d->promiscuous)
		(void)rte_eth_promiscuous_disable(d->port_id);
	d->promiscuous = false;
}

void
rl_netdev_close(struct rl_netdev *d)
{
	char said[RL_HUSH_LINE];
	struct rl_hush hush;

	rl_hush_begin(&hush);
	rl_netdev_take_own(d);
	(void)rte_eth_dev_stop(d->port_id);
	(void)rte_eth_dev_close(d->port_id);
	(void)rl_hush_end(&hush, said);
}

int
rl_netdev_find(struct rl_netdev *d, const char *name)
{
	struct rte_eth_dev_info info;
	char text[RL_IFNAME];
	uint32_t slot;

	*d = (struct rl_netdev){
		.name = name,
		.rx_bytes = UINT32_MAX,
		.tx_bytes = UINT32_MAX,
	};
	if (rte_eth_dev_get_port_by_name(name, &d->port_id) != 0 ||
	    rte_eth_dev_info_get(d->port_id, &info) != 0)
		return -ENODEV;
	d->live = kind_of(name)->live;
	d->own_iface = strncmp(name, "net_tap", 7) == 0;
	snprintf(d->driver, sizeof(d->driver), "%s", info.driver_name);
	if (arg_of(d->port_id, "iface", text, sizeof(text)))
		snprintf(d->iface, sizeof(d->iface), "%s", text);
	if (is_packet(name)) {
		slot = arg_of(d->port_id, "framesz", text, sizeof(text))
			       ? (uint32_t)strtoul(text, NULL, 10)
			       : PACKET_SLOT;
		d->rx_bytes = slot - PACKET_RX_HEAD;
		d->tx_bytes = slot - PACKET_TX_HEAD;
		d->buffer_bytes = slot;
		d->asks_socket = true;
	} else if (is_xdp(name)) {
		/* what is longer, the kernel drops and counts */
		d->tx_bytes = XDP_BYTES;
	}
	d->mtu = d->live && d->iface[0] != '\0' ? iface_mtu(d->iface) : 0;
	return 0;
}

bool
rl_netdev_fits(const struct rl_netdev *d, uint32_t frame_bytes)
{
	return frame_bytes < d->rx_bytes && frame_bytes <= d->tx_bytes;
}

uint32_t
rl_netdev_slot(uint32_t frame_bytes)
{
	return rte_align32pow2(frame_bytes + PACKET_RX_HEAD);
}

/*
 * What sockets on an interface dropped since they were asked last: the driver
 * has the socket and does not ask. It is one of this process.
 */
static uint64_t
ask_sockets(unsigned int ifindex)
{
	const int most = (int)sysconf(_SC_OPEN_MAX);
	uint64_t drops = 0;

	for (int fd = 0; fd < RTE_MIN(most, 4096); fd++) {
		struct sockaddr_ll at;
		struct tpacket_stats st;
		socklen_t n = sizeof(at), m = sizeof(st);

		if (getsockname(fd, (struct sockaddr *)&at, &n) == 0 &&
		    at.sll_family == AF_PACKET &&
		    at.sll_ifindex == (int)ifindex &&
		    getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &st, &m) == 0)
			drops += st.tp_drops;
	}
	return drops;
}

void
rl_netdev_stats(struct rl_netdev *d, struct rl_netdev_stats *st)
{
	const unsigned int ifindex =
		d->asks_socket ? if_nametoindex(d->iface) : 0;
	struct rte_eth_stats eth;

	if (ifindex != 0)
		d->socket_missed += ask_sockets(ifindex);
	*st = (struct rl_netdev_stats){ .missed = d->socket_missed };
	if (rte_eth_stats_get(d->port_id, &eth) != 0)
		return;
	st->missed += eth.imissed;
	st->rx_errors = eth.ierrors;
	st->no_mbuf = eth.rx_nombuf;
	st->tx_errors = eth.oerrors;
}
