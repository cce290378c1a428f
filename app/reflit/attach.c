/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>

#include "attach.h"
#include "pcap_kind.h"

/* For writing: frames that a driver may keep, and the pool's caches. */
#define WRITE_FRAMES 1280u
#define WRITE_SPARE 1024u

int
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

/* Whether this process runs the endpoint of an attached port. */
static bool
is_mine(const struct rl_config *cfg, int process, uint32_t i)
{
	return rl_config_runs(cfg, process,
			      (uint32_t)rl_topo_find_dev(
				      &cfg->topo, cfg->attach[i].endpoint));
}

/* Whether devices read the frames that are written. */
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
		    stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) {
			fprintf(stderr, "%s:%u: attach: %s reads %s, a pipe; "
					"net_pcap reads plain files\n",
				cfg->attach[i].file, cfg->attach[i].line, name,
				path);
			return -EINVAL;
		}
		bytes += rl_frame_pool_bytes(
			attach_port_frames(name, read_ahead(args)),
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
	uint16_t port_id;
	int ret;

	d->dev = (uint32_t)rl_topo_find_dev(&cfg->topo, d->cfg->endpoint);
	if (rte_eth_dev_get_port_by_name(d->cfg->port, &port_id) == 0 &&
	    rte_eth_dev_info_get(port_id, &info) == 0 &&
	    rte_dev_devargs(info.device) != NULL)
		args = rte_dev_devargs(info.device)->args;
	ret = attach_port_open(&d->port, d->cfg, max, read_ahead(args), err,
			       HOST_ERR_MAX);
	if (ret == 0 && args != NULL)
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
	if (a->dev == NULL || a->pool == NULL) {
		snprintf(err, HOST_ERR_MAX,
			 "no memory for frames of attached ports; start with "
			 "a larger -m");
		return -ENOMEM;
	}
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

	if (since_ns != 0)
		atomic_store(&c->down, has_no_link(d->port.dev.port_id));
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

void
attach_note_stats(struct attach *a)
{
	for (uint32_t i = 0; i < a->ndev; i++)
		attach_port_stats(&a->dev[i].port, &a->dev[i].stats);
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
		attach_port_close(&d->port);
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
