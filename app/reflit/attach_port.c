/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "attach.h"
#include "attach_port.h"
#include "rl_phy_eth.h"

/* Descriptors of a queue, what the client has in hand, the pool's caches. */
#define FRAMES 2048u
#define SMALLEST_BUFFER 2048u
/* net_af_xdp: its fill ring takes 2,048 for good, the socket may hold more. */
#define XDP_FRAMES 8192u
/* The kernel wants a buffer within a page; it keeps 256 bytes before a frame,
 * DPDK 320 (its headers and headroom), the pool up to 128 behind. */
#define XDP_BYTES (4096u - 256 - 320 - 128)
#define XDP_HEADROOM 256u
/* net_af_packet: a slot unless framesz= says otherwise; the kernel's header
 * and alignment before a frame, either way. */
#define PACKET_SLOT 2048u
#define PACKET_RX_HEAD 66u
#define PACKET_TX_HEAD 32u

struct kind {
	const char *begins; /* the port's name */
	bool live;
	const char *how; /* to give it to EAL */
};

static const struct kind kinds[] = {
	{ "net_af_packet", true, "--vdev=%s,iface=INTERFACE" },
	{ "net_af_xdp", true, "--vdev=%s,iface=INTERFACE" },
	{ "net_tap", false, "--vdev=%s,iface=NAME" },
	{ "net_pcap", false, "--vdev=%s,rx_pcap=IN,tx_pcap=OUT" },
	{ "net_", false, "--vdev=%s" },
	{ "", false, "-a %s" },
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

uint32_t
attach_port_frames(const char *name, uint32_t read_ahead)
{
	return is_xdp(name) ? XDP_FRAMES : FRAMES + read_ahead;
}

uint32_t
attach_port_bytes(const char *name, uint32_t max_bytes)
{
	if (is_xdp(name))
		return XDP_HEADROOM + RTE_MIN(max_bytes, XDP_BYTES);
	return RTE_MAX(max_bytes, SMALLEST_BUFFER);
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
	       attach_devarg(da->args, key, buf, len);
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

/* Whether a kernel interface is there and up. */
static const char *
iface_trouble(const char *iface)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };
	const char *what = "";

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", iface);
	if (fd < 0)
		return "";
	if (ioctl(fd, SIOCGIFFLAGS, &r) != 0)
		what = "; there is no such interface";
	else if ((r.ifr_flags & IFF_UP) == 0)
		what = "; it is down: ip link set up";
	close(fd);
	return what;
}

static void
learn(struct attach_port *p, uint32_t max_bytes)
{
	struct rte_eth_dev_info info;
	char text[ATTACH_IFNAME];
	uint32_t slot = 0, mtu;

	p->rx_bytes = p->tx_bytes = UINT32_MAX;
	if (rte_eth_dev_info_get(p->port_id, &info) != 0)
		return;
	snprintf(p->driver, sizeof(p->driver), "%s", info.driver_name);
	if (arg_of(p->port_id, "iface", text, sizeof(text)))
		snprintf(p->iface, sizeof(p->iface), "%s", text);
	if (is_packet(p->name)) {
		slot = arg_of(p->port_id, "framesz", text, sizeof(text))
			       ? (uint32_t)strtoul(text, NULL, 10)
			       : PACKET_SLOT;
		p->rx_bytes = slot - PACKET_RX_HEAD;
		p->tx_bytes = slot - PACKET_TX_HEAD;
		p->asks_socket = true;
	} else if (is_xdp(p->name)) {
		/* what is longer, the kernel drops and counts */
		p->tx_bytes = RTE_MIN(max_bytes, XDP_BYTES);
	}
	mtu = p->live && p->iface[0] != '\0' ? iface_mtu(p->iface) : 0;
	if (mtu != 0) /* and a VLAN tag */
		p->tx_bytes = RTE_MIN(p->tx_bytes, mtu + RTE_ETHER_HDR_LEN + 4);
}

/* Frames of the interface fit its driver. */
static int
check_mtu(struct attach_port *p, const struct rl_attach *cfg,
	  uint32_t max_bytes, char *err, size_t len)
{
	const uint32_t mtu = p->live ? iface_mtu(p->iface) : 0;
	const uint32_t most = mtu + RTE_ETHER_HDR_LEN + 4;

	if (mtu == 0)
		return 0;
	if (most > p->rx_bytes) {
		snprintf(err, len,
			 "%s:%u: attach: %s: frames of %s (MTU %u) may have %u "
			 "bytes, and the driver hands out %u of them; give it "
			 "larger slots, as in framesz=%u,blocksz=%u, or lower "
			 "the MTU",
			 cfg->file, cfg->line, p->name, p->iface, mtu, most,
			 p->rx_bytes, rte_align32pow2(most + PACKET_RX_HEAD),
			 rte_align32pow2(most + PACKET_RX_HEAD) * 2);
		return -EMSGSIZE;
	}
	if (mtu + RTE_ETHER_HDR_LEN > max_bytes)
		fprintf(stderr, "reflit: %s: frames of %s may have %u bytes; "
				"those over %u (link.max_packet_flits) are "
				"skipped\n",
			p->name, p->iface, mtu + RTE_ETHER_HDR_LEN, max_bytes);
	return 0;
}

static int
not_there(const struct attach_port *p, const struct rl_attach *cfg, char *err,
	  size_t len)
{
	char how[128];

	snprintf(how, sizeof(how), "%s", kind_of(p->name)->how);
	if (strstr(how, "%s") != NULL) {
		const size_t at = (size_t)(strstr(how, "%s") - how);

		snprintf(how + at, sizeof(how) - at, "%s%s", p->name,
			 kind_of(p->name)->how + at + 2);
	}
	snprintf(err, len,
		 "%s:%u: attach: there is no port %s, or it did not start; "
		 "give it to EAL, as in %s",
		 cfg->file, cfg->line, p->name, how);
	return -ENODEV;
}

int
attach_port_open(struct attach_port *p, const struct rl_attach *cfg,
		 uint32_t max_bytes, uint32_t read_ahead, char *err, size_t len)
{
	const uint32_t frames = attach_port_frames(cfg->port, read_ahead);
	const char *what;
	char name[RTE_MEMPOOL_NAMESIZE];
	int ret;

	p->name = cfg->port;
	if (rte_eth_dev_get_port_by_name(cfg->port, &p->port_id) != 0)
		return not_there(p, cfg, err, len);
	p->live = kind_of(p->name)->live;
	learn(p, max_bytes);
	ret = check_mtu(p, cfg, max_bytes, err, len);
	if (ret != 0)
		return ret;
	snprintf(name, sizeof(name), "client%u", p->port_id);
	p->pool = rl_frame_pool(name, frames,
				attach_port_bytes(p->name, max_bytes));
	if (p->pool == NULL) {
		snprintf(err, len,
			 "%s:%u: attach: no memory for %u frames of %s: %s; "
			 "start with a larger -m", cfg->file, cfg->line, frames,
			 p->name, rte_strerror(rte_errno));
		return -ENOMEM;
	}
	p->open = true;
	ret = rl_ethdev_start(p->port_id, 1, p->pool, 0, &what);
	if (ret != 0) {
		snprintf(err, len, "%s:%u: attach: cannot %s port %s: %s%s",
			 cfg->file, cfg->line, what, p->name, strerror(-ret),
			 p->iface[0] == '\0' ? "" : iface_trouble(p->iface));
		return ret;
	}
	(void)rte_eth_promiscuous_enable(p->port_id);
	if (rte_mempool_avail_count(p->pool) < 4 * CLIENT_BURST) {
		snprintf(err, len, "%s:%u: attach: the driver of %s keeps all "
				   "of %u frames and could receive none",
			 cfg->file, cfg->line, p->name, frames);
		return -ENOBUFS;
	}
	return 0;
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
attach_port_stats(struct attach_port *p, struct attach_port_stats *st)
{
	const unsigned int ifindex =
		p->asks_socket ? if_nametoindex(p->iface) : 0;
	struct rte_eth_stats eth;

	*st = (struct attach_port_stats){ 0 };
	if (!p->open)
		return;
	if (ifindex != 0)
		p->socket_missed += ask_sockets(ifindex);
	st->missed = p->socket_missed;
	if (rte_eth_stats_get(p->port_id, &eth) != 0)
		return;
	st->missed += eth.imissed;
	st->rx_errors = eth.ierrors;
	st->no_mbuf = eth.rx_nombuf;
	st->tx_errors = eth.oerrors;
}

void
attach_port_close(struct attach_port *p)
{
	if (p->open) {
		(void)rte_eth_dev_stop(p->port_id);
		(void)rte_eth_dev_close(p->port_id);
	}
	rte_mempool_free(p->pool);
	p->open = false;
	p->pool = NULL;
}
