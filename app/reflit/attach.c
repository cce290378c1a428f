/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "attach.h"
#include "pcap_kind.h"
#include "rl_iface.h"
#include "rl_listen.h"
#include "rl_phy_eth.h"
#include "rl_refuse.h"
#include "say_error.h"

/* For writing: frames that a driver may keep, and the pool's caches. */
#define WRITE_FRAMES 1280u
#define WRITE_SPARE 1024u
#define MTU_NS (50 * RL_NS_PER_MS)

struct pcap_scan {
	uint64_t frames;
	uint32_t longest;
	uint64_t partial; /* frames whose end was not captured */
	bool truncated;
	char why[256]; /* of -EPROTO: one line, printed after the name */
};

/*
 * Reads @p path to its end. @return 0; -EINVAL: no capture; -EPROTO: a capture
 * that can't be traffic, see `why`
 */
static int
pcap_scan(const char *path, struct pcap_scan *scan)
{
	char err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *hdr;
	const u_char *data;
	pcap_t *p = pcap_open_offline(path, err);
	int ret;

	*scan = (struct pcap_scan){ 0 };
	if (p == NULL)
		return -EINVAL;
	while ((ret = pcap_next_ex(p, &hdr, &data)) == 1) {
		scan->frames++;
		scan->partial += hdr->caplen < hdr->len;
		scan->longest = RTE_MAX(scan->longest, hdr->caplen);
	}
	if (!pcap_is_ethernet(p, scan->why, sizeof(scan->why)))
		ret = -EPROTO;
	else if (ret == PCAP_ERROR && !pcap_is_cut_off(p))
		snprintf(scan->why, sizeof(scan->why), "it cannot be read "
			 "beyond frame %" PRIu64 ": %.120s", scan->frames,
			 pcap_geterr(p));
	scan->truncated = ret == PCAP_ERROR && scan->why[0] == '\0';
	pcap_close(p);
	return scan->why[0] == '\0' ? 0 : -EPROTO;
}

/* The arguments that EAL gets for a vdev, or NULL. */
static const char *
vdev_args(int argc, char *const argv[], const char *name)
{
	const size_t len = strlen(name);

	for (int i = 1; i < argc; i++) {
		const char *at = argv[i];

		if (strncmp(at, "--vdev=", 7) == 0)
			at += 7;
		if (strncmp(at, name, len) == 0 && at[len] == ',')
			return at + len;
	}
	return NULL;
}

/* Frames that net_pcap reads into mbufs at its start (infinite_rx=1). */
static uint32_t
read_ahead(const char *args)
{
	char path[512], endless[8];
	struct pcap_scan scan;

	if (args != NULL &&
	    rl_devarg(args, "infinite_rx", endless, sizeof(endless)) &&
	    endless[0] == '1' &&
	    rl_devarg(args, "rx_pcap", path, sizeof(path)) &&
	    pcap_scan(path, &scan) == 0)
		return (uint32_t)scan.frames;
	return 0;
}

static uint32_t
write_frames(const struct rl_config *cfg)
{
	return cfg->nattach * WRITE_FRAMES + WRITE_SPARE;
}

static bool
is_mine(const struct rl_config *cfg, int process, uint32_t i)
{
	return rl_config_runs(cfg, process,
			      (uint32_t)rl_topo_find_dev(
				      &cfg->topo, cfg->attach[i].endpoint));
}

static bool
any_device(const struct rl_config *cfg)
{
	for (uint32_t i = 0; i < cfg->nattach; i++)
		if (rl_driver_of(cfg->attach[i].port)->hardware)
			return true;
	return false;
}

int
attach_plan(const struct rl_config *cfg, int process, int argc,
	    char *const argv[], uint32_t *mb)
{
	const uint32_t max = rl_ep_max_bytes(&cfg->endpoint);
	size_t bytes = 0;

	*mb = 0;
	for (uint32_t i = 0; i < cfg->nattach; i++) {
		const char *name = cfg->attach[i].port;
		const char *args = vdev_args(argc, argv, name);
		char path[512];
		struct stat st;

		if (!is_mine(cfg, process, i))
			continue;
		if (args != NULL &&
		    rl_devarg(args, "rx_pcap", path, sizeof(path)) &&
		    stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
			return say_error(-EINVAL, "%s:%u: attach: %s reads %s, "
					 "a pipe; net_pcap reads plain files\n",
					 cfg->attach[i].file,
					 cfg->attach[i].line, name, path);
		bytes += rl_frame_pool_bytes(
			rl_netdev_frames(name, cfg->attach[i].rx_queues) +
				read_ahead(args),
			rl_netdev_bytes(name, max),
			rl_driver_of(name)->hardware);
	}
	if (cfg->nattach != 0)
		*mb = (uint32_t)((bytes + rl_frame_pool_bytes(write_frames(cfg),
							      max,
							      any_device(cfg)))
				 >> 20) + 8;
	return 0;
}

/* With a VLAN tag. The kernel drops longer frames of net_af_packet without a
   word. */
uint32_t
attach_longest(const struct rl_netdev *d, uint32_t mtu)
{
	if (rl_driver_is(d->name, "net_memif"))
		return UINT32_MAX; /* in several buffers */
	return mtu == 0 ? d->tx_bytes
			: RTE_MIN(d->tx_bytes, mtu + RTE_ETHER_HDR_LEN + 4);
}

static int
check_mtu(const struct rl_netdev *d, uint32_t mtu, uint32_t max_bytes, char *err,
	  size_t len)
{
	const uint32_t most = mtu + RTE_ETHER_HDR_LEN + 4;

	if (mtu == 0)
		return 0;
	if (most > d->rx_bytes)
		return rl_refuse(err, len, -EMSGSIZE, "%s: frames of %s (MTU "
				 "%u) may have %u bytes, and the driver hands "
				 "out %u of them; give it larger slots, as in "
				 "framesz=%u,blocksz=%u, or lower the MTU",
				 d->name, d->iface, mtu, most, d->rx_bytes,
				 rl_netdev_slot(d, most),
				 2 * rl_netdev_slot(d, most));
	if (mtu + RTE_ETHER_HDR_LEN > max_bytes)
		fprintf(stderr, "reflit: %s: frames of %s may have %u bytes; "
				"those over %u (link.max_packet_flits) are "
				"skipped\n",
			d->name, d->iface, mtu + RTE_ETHER_HDR_LEN, max_bytes);
	return 0;
}

static void
follow_mtu(struct attach_dev *d, uint64_t now_ns)
{
	const uint32_t mtu = rl_netdev_mtu(&d->port);
	char err[HOST_ERR_MAX];

	d->mtu_due_ns = now_ns + MTU_NS;
	if (mtu == 0 || mtu == d->mtu)
		return;
	if (d->mtu != 0)
		fprintf(stderr, "reflit: %s: the MTU of %s is %u now\n",
			d->port.name, d->port.iface, mtu);
	if (d->mtu != 0 && check_mtu(&d->port, mtu, d->client.p.max_bytes, err,
				     sizeof(err)) != 0)
		fprintf(stderr, "reflit: %s\n", err);
	d->mtu = mtu;
	atomic_store_explicit(&d->client.p.tx_max,
			      attach_longest(&d->port, mtu),
			      memory_order_relaxed);
}

static void
watch_iface(struct attach_dev *d)
{
	const struct rl_netdev *p = &d->port;

	if (p->live && p->iface[0] != '\0')
		rl_unplug_watch_iface(&d->iface, p->iface,
				      rl_driver_is(p->name, "net_af_xdp"));
}

/*
 * Finds the port, makes its pool, starts it, and makes sure that it can receive
 * frames whole. @p read_ahead: frames that the driver keeps for good.
 */
static int
open_port(struct attach_dev *d, uint32_t max_bytes, uint32_t read_ahead,
	  char *err, size_t len)
{
	const char *name = d->cfg->port;
	int ret = rl_netdev_find(&d->port, name);
	uint32_t frames;

	if (ret != 0) {
		(void)rl_netdev_missing(name, err, len);
		return ret;
	}
	ret = rl_netdev_check_queues(&d->port, d->cfg->rx_queues, err, len);
	if (ret == 0)
		ret = check_mtu(&d->port, d->port.mtu, max_bytes, err, len);
	if (ret != 0)
		return ret;
	frames = rl_netdev_frames(name, d->port.queues) + read_ahead;
	d->rx_pool = rl_netdev_pool(&d->port, "client", frames, max_bytes);
	if (d->rx_pool == NULL)
		return rl_refuse(err, len, -ENOMEM, "no memory for %u frames "
				 "of %s: %s; start with a larger -m", frames,
				 name, rte_strerror(rte_errno));
	d->open = true;
	ret = rl_netdev_start(&d->port, d->rx_pool, 0, err, len);
	if (ret == 0 &&
	    rte_mempool_avail_count(d->rx_pool) < 4 * CLIENT_BURST) {
		snprintf(err, len, "the driver of %s keeps all of %u frames and "
				   "could receive none", name, frames);
		ret = -ENOBUFS;
	}
	if (ret == 0)
		watch_iface(d);
	return ret;
}

/* Looks through the file that a net_pcap port will read. @return 0 or -EPROTO */
static int
look_through(struct attach_dev *d, const char *args, uint32_t max_bytes,
	     char *err)
{
	char path[512], endless[8];
	struct pcap_scan scan;
	int ret;

	if (!rl_devarg(args, "rx_pcap", path, sizeof(path)))
		return 0;
	ret = pcap_scan(path, &scan);
	if (ret == -EPROTO)
		snprintf(err, HOST_ERR_MAX, "%s:%u: attach: %s: %.300s: %s",
			 d->cfg->file, d->cfg->line, d->cfg->port, path,
			 scan.why);
	if (ret != 0) /* -EINVAL: the driver has refused it by now */
		return ret == -EPROTO ? ret : 0;
	d->file_truncated = scan.truncated;
	if (scan.truncated)
		fprintf(stderr, "reflit: %s: cut off after frame %" PRIu64
				"; these are sent\n",
			path, scan.frames);
	if (scan.partial != 0)
		fprintf(stderr, "reflit: %s: the capture kept only the beginning "
				"of %" PRIu64 " frames; that is sent\n",
			path, scan.partial);
	if (scan.longest > max_bytes)
		fprintf(stderr, "reflit: %s: holds frames of up to %u bytes; "
				"those over %u (link.max_packet_flits) are "
				"skipped\n",
			path, scan.longest, max_bytes);
	if (!rl_devarg(args, "infinite_rx", endless, sizeof(endless)) ||
	    endless[0] != '1')
		d->file_frames = scan.frames;
	return 0;
}

static int
open_one(struct attach_dev *d, const struct rl_config *cfg, char *err)
{
	const uint32_t max = rl_ep_max_bytes(&cfg->endpoint);
	struct rte_eth_dev_info info;
	const char *args = NULL;
	char why[HOST_ERR_MAX - 320];
	uint16_t port_id;
	int ret;

	d->dev = (uint32_t)rl_topo_find_dev(&cfg->topo, d->cfg->endpoint);
	if (rte_eth_dev_get_port_by_name(d->cfg->port, &port_id) == 0 &&
	    rte_eth_dev_info_get(port_id, &info) == 0 &&
	    rte_dev_devargs(info.device) != NULL)
		args = rte_dev_devargs(info.device)->args;
	ret = open_port(d, max, read_ahead(args), why, sizeof(why));
	if (ret != 0)
		snprintf(err, HOST_ERR_MAX, "%s:%u: attach: %s", d->cfg->file,
			 d->cfg->line, why);
	else if (args != NULL)
		ret = look_through(d, args, max, err);
	return ret;
}

int
attach_open(struct attach *a, const struct rl_config *cfg, int process,
	    char *err)
{
	int ret = 0;

	memset(a, 0, sizeof(*a));
	a->ledger.fd = -1;
	if (cfg->nattach == 0)
		return 0;
	a->dev = calloc(cfg->nattach, sizeof(*a->dev));
	a->pool = rl_frame_pool("clients", write_frames(cfg),
				rl_ep_max_bytes(&cfg->endpoint),
				any_device(cfg));
	if (a->dev == NULL || a->pool == NULL)
		return rl_refuse(err, HOST_ERR_MAX, -ENOMEM,
				 "no memory for frames of attached ports; "
				 "start with a larger -m");
	for (uint32_t i = 0; i < cfg->nattach && ret == 0; i++) {
		struct attach_dev *d = &a->dev[a->ndev];

		if (!is_mine(cfg, process, i))
			continue;
		d->cfg = &cfg->attach[i];
		a->ndev++;
		ret = open_one(d, cfg, err);
	}
	return ret;
}

struct attach_dev *
attach_find(struct attach *a, uint32_t dev)
{
	for (uint32_t i = 0; i < a->ndev; i++)
		if (a->dev[i].dev == dev)
			return &a->dev[i];
	return NULL;
}

bool
attach_has(const struct attach *a, uint32_t dev)
{
	for (uint32_t i = 0; i < a->ndev; i++)
		if (a->dev[i].dev == dev)
			return true;
	for (uint32_t i = 0; i < a->nsinks; i++)
		if (a->sink[i].dev == dev)
			return true;
	return false;
}

static bool
through(const struct attach_dev *d)
{
	return d->file_frames == 0 ||
	       (d->cfg->dst[0] == '\0' && d->l2 == NULL) ||
	       atomic_load_explicit(&d->client.finished,
				    memory_order_relaxed) != 0;
}

static void
note_cut(struct attach_dev *d)
{
	if (d->cut_noted || d->client.c.rx_cut == 0)
		return;
	d->cut_noted = true;
	fprintf(stderr, "reflit: %s: frames come cut short and are not sent: "
			"turn off what makes them longer than the MTU (ethtool "
			"-K ... tso off gso off gro off)\n", d->cfg->port);
}

void
attach_note(struct attach *a)
{
	for (uint32_t i = 0; i < a->ndev; i++) {
		struct attach_dev *d = &a->dev[i];

		note_cut(d);
		if (d->file_frames == 0 || d->end_noted || !through(d))
			continue;
		d->end_noted = true;
		fprintf(stderr, "reflit: %s: all %" PRIu64
				" frames of its file are sent\n",
			d->cfg->port, d->file_frames);
	}
}

static bool
has_no_link(uint16_t port_id)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port_id, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_DOWN;
}

static void
note_taker(struct attach_dev *d, uint64_t start_ns)
{
	struct client_dev *c = &d->client;
	const uint64_t since_ns = atomic_load(&c->waits_ns);
	const bool gone = atomic_load(&c->gone) != 0;

	atomic_store(&c->down, since_ns != 0 &&
				       (!d->open ||
					has_no_link(d->port.port_id)));
	if (gone == d->gone_noted)
		return;
	d->gone_noted = gone;
	if (gone)
		fprintf(stderr, "reflit: %s of %s has taken no frames since "
				"%.3f s: %s; its frames are thrown away and "
				"counted\n",
			d->cfg->port, d->cfg->endpoint,
			since_ns > start_ns
				? (double)(since_ns - start_ns) / 1e9 : 0,
			atomic_load(&c->down) ? "it has no link"
					      : "it has no reader");
	else
		fprintf(stderr, "reflit: %s of %s takes frames again; it did "
				"not take %" PRIu64 "\n",
			d->cfg->port, d->cfg->endpoint, c->c.tx_not_taken);
}

void
attach_note_takers(struct attach *a, uint64_t start_ns)
{
	for (uint32_t i = 0; i < a->ndev; i++)
		note_taker(&a->dev[i], start_ns);
}

bool
attach_waits(const struct attach *a)
{
	for (uint32_t i = 0; i < a->ndev; i++) {
		const struct client_dev *c = &a->dev[i].client;

		if (atomic_load(&c->waits_ns) != 0 &&
		    atomic_load(&c->gone) == 0)
			return true;
	}
	return false;
}

static bool
peer_leaves(void *ctx, uint64_t now_ns)
{
	struct attach_dev *d = ctx;

	return d->port.calls
		       ? host_unplug_peer(&d->unplug,
					  !has_no_link(d->port.port_id), now_ns)
		       : host_unplug_device(&d->unplug, &d->iface, now_ns);
}

static void
peer_tell(void *ctx)
{
	struct attach_dev *d = ctx;

	client_dev_away(&d->client);
}

static void
peer_let_go(void *ctx)
{
	struct attach_dev *d = ctx;

	rl_netdev_stats(&d->port, &d->stats);
	d->port.before = d->stats;
	d->open = false;
	if (!d->port.calls)
		d->port.promiscuous = false; /* it went with the interface */
	rl_netdev_let_go(&d->port);
}

static int
peer_take_back(void *ctx, char *err, size_t len)
{
	struct attach_dev *d = ctx;
	int ret;

	if (!(d->port.calls ? rl_listen_answers(d->port.vdev)
			    : rl_unplug_back(&d->iface)))
		return -EAGAIN;
	ret = rl_iface_claim(d->port.vdev, err, len);
	if (ret == 0)
		ret = rl_netdev_take_back(&d->port, d->rx_pool, 0, err, len);
	if (ret != 0)
		return ret;
	watch_iface(d);
	follow_mtu(d, 0);
	d->open = true;
	client_dev_back(&d->client, d->port.port_id);
	return 0;
}

void
attach_peers(struct attach *a, struct host *h)
{
	for (uint32_t i = 0; i < a->ndev; i++) {
		struct attach_dev *d = &a->dev[i];
		char at[RL_NAME_MAX + 16], without[sizeof(at) + 16];
		const struct host_unplug_port p = {
			.ctx = d,
			.name = d->cfg->port,
			.at = at,
			.without = without,
			.iface = d->port.iface,
			.leaves = peer_leaves,
			.tell = peer_tell,
			.let_go = peer_let_go,
			.take_back = peer_take_back,
		};

		if (!d->port.calls && !d->iface.watched)
			continue;
		if (d->open && host_now(h) >= d->mtu_due_ns)
			follow_mtu(d, host_now(h));
		d->unplug.calls = d->port.calls;
		snprintf(at, sizeof(at), "endpoint %s", d->cfg->endpoint);
		snprintf(without, sizeof(without), "%s has no client", at);
		host_unplug_turn(h, &d->unplug, &p);
	}
}

void
attach_note_stats(struct attach *a)
{
	for (uint32_t i = 0; i < a->ndev; i++) {
		struct rl_netdev_stats now = a->dev[i].port.before;

		if (a->dev[i].open)
			rl_netdev_stats(&a->dev[i].port, &now);
		a->dev[i].stats = now; /* telemetry may be reading */
	}
}

bool
attach_finished(const struct attach *a)
{
	for (uint32_t i = 0; i < a->ndev; i++)
		if (!through(&a->dev[i]))
			return false;
	return true;
}

void
attach_close(struct attach *a)
{
	for (uint32_t i = 0; i < a->ndev; i++) {
		struct attach_dev *d = &a->dev[i];

		if (d->client.p.pool != NULL)
			client_dev_close(&d->client);
		if (d->open)
			rl_netdev_close(&d->port);
		rte_mempool_free(d->rx_pool);
	}
	rte_mempool_free(a->pool);
	free(a->by_flow);
	free(a->flow);
	free(a->sink);
	free(a->dev);
	ledger_close(&a->ledger);
	memset(a, 0, sizeof(*a));
	a->ledger.fd = -1;
}
