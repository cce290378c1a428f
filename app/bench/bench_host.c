/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_memory.h>
#include <rte_errno.h>
#include <rte_ring.h>

#include "bench.h"
#include "bench_host.h"
#include "rl_binding.h"
#include "rl_driver.h"
#include "rl_hush.h"
#include "runtime_dir.h"
#include "say_error.h"

#define WIRE_FRAMES 512
#define HUGE_BYTES (2u << 20)

/* Huge pages without asking for any: the kernel may give transparent ones. */
static int
advise_huge(const struct rte_memseg_list *msl, RL_UNUSED void *arg)
{
	(void)madvise(msl->base_va, msl->len, MADV_HUGEPAGE);
	return 0;
}

static struct runtime_dir runtime_dir;
static bool eal_up;
static bool has_memif;

/*
 * net_memif leaves its listener to EAL's interrupt thread, which would read
 * memory that a cleanup unmaps.
 */
void
bench_eal_end(void)
{
	if (eal_up && !has_memif)
		(void)rte_eal_cleanup();
	eal_up = false;
	runtime_dir_remove(&runtime_dir);
}

static const char *device[BENCH_PORTS];
static unsigned int ndevices;

void
bench_eal_port(const char *port)
{
	has_memif |= rl_driver_is(port, "net_memif");
	if (rl_driver_of(port)->hardware && ndevices < BENCH_PORTS)
		device[ndevices++] = port;
}

/* Whether a device needs hugepages. */
static bool
device_huge(const char *arg)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg, ","), arg);
	return rl_binding_huge("", name);
}

/* No file of EAL's is shared: any number of runs beside each other. */
static int
eal_args(char *args[], char *lcores)
{
	static const char *const plain[] = {
		"-m", "256", "--no-telemetry", "--no-shconf",
		"--log-level=error",
	};
	bool huge = false;
	int n = 0;

	args[n++] = (char *)(uintptr_t)"reflit-bench";
	args[n++] = (char *)(uintptr_t)"--lcores";
	args[n++] = lcores;
	for (size_t i = 0; i < RL_ARRAY_SIZE(plain); i++)
		args[n++] = (char *)(uintptr_t)plain[i];
	for (unsigned int i = 0; i < ndevices; i++) {
		huge |= device_huge(device[i]);
		args[n++] = (char *)(uintptr_t)"-a";
		args[n++] = (char *)(uintptr_t)device[i];
	}
	if (ndevices == 0)
		args[n++] = (char *)(uintptr_t)"--no-pci";
	args[n++] = (char *)(uintptr_t)(huge ? "--in-memory" : "--no-huge");
	return n;
}

int
bench_eal(void)
{
	static char lcores[16];
	char *args[16] = { NULL };
	char said[RL_HUSH_LINE], why[300];
	struct rl_hush hush;
	cpu_set_t set;
	int cpu, n, ret;

	if (eal_up)
		return 0;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -errno;
	/* one lcore, on the first CPU that there is for us */
	for (cpu = 0; cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set); cpu++)
		;
	snprintf(lcores, sizeof(lcores), "0@%d", cpu);
	runtime_dir_make(&runtime_dir);
	rl_hush_begin(&hush);
	n = eal_args(args, lcores);
	ret = rte_eal_init(n, args);
	(void)rl_hush_end(&hush, said);
	if (ret < 0) {
		rl_binding_of_args(n, args, rte_eal_has_hugepages(), why,
				   sizeof(why));
		return say_error(why[0] == '\0' ? -rte_errno : -EINVAL,
				 "reflit-bench: EAL did not start%s%s\n", said,
				 why);
	}
	rte_memseg_list_walk(advise_huge, NULL);
	eal_up = true;
	return 0;
}

static void *
host_alloc(void *ctx, size_t bytes)
{
	struct bench_host *h = ctx;
	const size_t align = bytes >= HUGE_BYTES ? HUGE_BYTES : 64;
	const size_t n = (bytes + align - 1) & ~(align - 1);
	void *p;

	if (h->nmem == RL_ARRAY_SIZE(h->mem))
		return NULL;
	p = aligned_alloc(n >= HUGE_BYTES ? HUGE_BYTES : 64, n == 0 ? 64 : n);
	if (p != NULL) {
		if (n >= HUGE_BYTES)
			(void)madvise(p, n, MADV_HUGEPAGE);
		memset(p, 0, n);
		h->mem[h->nmem++] = p;
	}
	return p;
}

static struct rl_flit_cache *
host_cache(void *ctx, RL_UNUSED uint32_t dev, RL_UNUSED int port)
{
	struct bench_host *h = ctx;

	return &h->cache;
}

static unsigned int
ring_put(void *ring, void *const obj[], unsigned int n)
{
	return rte_ring_sp_enqueue_burst(ring, obj, n, NULL);
}

static unsigned int
ring_get(void *ring, void *obj[], unsigned int n)
{
	return rte_ring_sc_dequeue_burst(ring, obj, n, NULL);
}

static int
host_pipe(void *ctx, uint32_t size, struct rl_pipe *pipe)
{
	const uint32_t count = rl_pow2_ceil(size + 1);
	struct rte_ring *r =
		host_alloc(ctx, (size_t)rte_ring_get_memsize(count));

	if (r == NULL)
		return -ENOMEM;
	rte_ring_init(r, "bench", count, RING_F_SP_ENQ | RING_F_SC_DEQ);
	*pipe = (struct rl_pipe){ .ring = r, .put = ring_put, .get = ring_get };
	return 0;
}

static int
host_phy(void *ctx, uint32_t dev, uint16_t port, struct rl_phy *phy,
	 uint32_t *frame_bytes)
{
	struct bench_host *h = ctx;
	const struct rl_topo_port *tp = &h->cfg.topo.dev[dev].port[port];
	const uint32_t end = 2 * tp->link + tp->end;
	const struct rl_phy_eth_params p = {
		.port_id = h->wires.end[end].port_id,
		.queue = h->wires.end[end].queue,
		.frame_bytes = RL_FRAME_BYTES_MAX,
		.pool = h->pool,
		.rx_fault = h->fault == NULL
				    ? NULL
				    : &h->fault[tp->link].dir[!tp->end],
	};

	*frame_bytes = p.frame_bytes;
	*phy = (struct rl_phy){ &h->phy[end], &rl_phy_eth_ops };
	return rl_phy_eth_open(&h->phy[end], &p);
}

static void
host_port_event(void *ctx, uint32_t dev, uint16_t port,
		const struct rl_port_event *ev)
{
	struct bench_host *h = ctx;
	struct rl_port_event now = *ev;

	now.t_ns = bench_now_ns();
	(void)rl_failover_take(&h->failovers, dev, port, &now);
}

static void
host_core_event(RL_UNUSED void *ctx, RL_UNUSED uint32_t dev,
		RL_UNUSED const struct rl_core_event *ev)
{
}

static void
host_drop(void *ctx, RL_UNUSED const struct rl_flit *pkt,
	  RL_UNUSED enum rl_drop_reason why, RL_UNUSED uint64_t now_ns)
{
	struct bench_host *h = ctx;

	h->drops++;
}

/* Every packet starts with its number; the rest is derived from it. */
static void
client_fill(void *ctx, uint8_t *to, uint32_t off, RL_UNUSED uint32_t len)
{
	const struct bench_client *c = ctx;

	rl_put64(to, c->flow_sent[c->turn] ^ off);
}

static unsigned int
client_send(struct bench_client *c, struct rl_ep *ep, uint64_t now_ns)
{
	struct rl_ep_msg msg = {
		.dst = c->dst,
		.len_bytes = c->packet_flits * RL_FLIT_DATA_BYTES,
	};
	unsigned int n, refused = 0;

	for (n = 0; n < 32 && c->sent_packets < c->sent_limit;) {
		msg.cos = (uint8_t)c->turn;
		if (rl_ep_send_fill(ep, now_ns, &msg, client_fill, c, NULL) ==
		    0) {
			c->flow_sent[c->turn]++;
			c->sent_packets++;
			n++;
			refused = 0;
		} else if (++refused == BENCH_FLOWS) {
			break;
		}
		c->turn = (c->turn + 1) % BENCH_FLOWS;
	}
	return n;
}

static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct bench_client *c = ctx;
	unsigned int work = c->send ? client_send(c, ep, now_ns) : 0;
	struct rl_flit *pkt;

	while ((pkt = rl_ep_recv(ep)) != NULL) {
		const unsigned int flow = pkt->wire[6] >> 4;

		if (rl_get64(pkt->wire + RL_FLIT_DATA_OFF) !=
		    c->flow_received[flow])
			c->wrong++;
		c->flow_received[flow]++;
		c->received_packets++;
		c->received_flits += pkt->pkt_flits;
		rl_packet_put(c->cache, pkt);
		work++;
	}
	return work;
}

/* The row itself, and how its links and endpoints are set. */
static int
row_config(const struct bench_shape *s, struct rl_config *cfg)
{
	struct rl_topo_ref sw[16] = { 0 }, ep[2] = { 0 }, link[17] = { 0 };
	struct rl_topo_spec spec = {
		.kind = RL_TOPO_CUSTOM,
		.switches = sw,
		.nswitches = s->switches,
		.endpoints = ep,
		.nendpoints = 2,
		.links = link,
		.nlinks = s->switches + 1,
	};
	char err[RL_ERR_MAX];
	int line;

	RL_ASSERT(s->switches >= 1 && s->switches < RL_ARRAY_SIZE(sw));
	for (unsigned int i = 0; i < s->switches; i++) {
		snprintf(sw[i].a, RL_NAME_MAX, "s%u", i);
		snprintf(link[i].a, RL_NAME_MAX, "s%u", i);
		snprintf(link[i].b, RL_NAME_MAX, "s%u", i + 1);
		link[i].count = (uint16_t)s->parallel;
		link[i].k = -1;
	}
	snprintf(ep[0].a, RL_NAME_MAX, "e0");
	snprintf(ep[1].a, RL_NAME_MAX, "e1");
	/* the last of the row is an endpoint link, and so is one more */
	snprintf(link[s->switches - 1].b, RL_NAME_MAX, "e1");
	link[s->switches - 1].count = 1;
	snprintf(link[s->switches].a, RL_NAME_MAX, "e0");
	snprintf(link[s->switches].b, RL_NAME_MAX, "s0");
	link[s->switches].count = 1;
	link[s->switches].k = -1;
	rl_link_cfg_defaults(&cfg->link);
	rl_ep_cfg_defaults(&cfg->endpoint);
	cfg->link.flits_per_frame =
		s->flits_per_frame == 0 ? 5 : s->flits_per_frame;
	cfg->link.vcs = s->vcs == 0 ? 1 : s->vcs;
	cfg->link.switching = s->cut_through ? RL_CUT_THROUGH
					     : RL_STORE_AND_FORWARD;
	cfg->link.witness = s->witness;
	cfg->link.lcrc = s->lcrc;
	cfg->endpoint.max_packet_flits = cfg->link.max_packet_flits;
	cfg->endpoint.max_flows = 2 * BENCH_FLOWS;
	/* a preempted process has lost nothing, but timers that give packets up
	   follow the clock and would turn a pause into an error */
	cfg->endpoint.give_up_ns = 0;
	cfg->link.watchdog_ns = 60 * RL_NS_PER_S;
	/* as much under way, whatever the number of flows */
	cfg->endpoint.window_flits = 128;
	return rl_topo_build(&spec, &cfg->topo, err, &line);
}

/* The tables of a row: each VC that is used is a service level of its own. */
static int
row_route(const struct bench_shape *s, const struct rl_config *cfg,
	  struct rl_route **route)
{
	const unsigned int vcs = s->vcs == 0 ? 1 : s->vcs;
	char err[RL_ERR_MAX];

	return rl_route_setup(&cfg->topo, "minhop", vcs, vcs, route, err);
}

static int
build_flits(struct bench_host *h)
{
	const uint32_t n = 32768;

	h->flits = host_alloc(h, n * sizeof(struct rl_flit));
	h->cache.slot = host_alloc(h, n * sizeof(struct rl_flit *));
	if (h->flits == NULL || h->cache.slot == NULL)
		return -ENOMEM;
	h->cache.cap = n;
	for (uint32_t i = n; i > 0; i--)
		rl_flit_put(&h->cache, (struct rl_flit *)h->flits + i - 1);
	return 0;
}

static int
build_wires(struct bench_host *h, bool faults)
{
	static unsigned int pools;
	const uint32_t nlink = h->cfg.topo.nlink;
	char err[RL_ERR_MAX] = "", name[24];
	int ret;

	snprintf(name, sizeof(name), "frames%u", pools++);
	h->pool = rl_frame_pool(name, nlink * 2 * (WIRE_FRAMES + 64),
				RL_FRAME_BYTES_MAX, false);
	if (h->pool == NULL)
		return -rte_errno;
	h->phy = host_alloc(h, 2 * nlink * sizeof(*h->phy));
	if (faults) {
		h->fault = host_alloc(h, nlink * sizeof(*h->fault));
		h->fault_line =
			host_alloc(h, nlink * 2 * 64 * sizeof(*h->fault_line));
		for (uint32_t i = 0; i < nlink; i++)
			rl_inject_init(&h->fault[i], i,
				      h->fault_line + i * 2 * 64, 64);
	}
	ret = rl_wires_open(&h->wires, nlink, NULL, WIRE_FRAMES, h->pool, err,
			    sizeof(err));
	if (ret != 0)
		fprintf(stderr, "reflit-bench: %s\n", err);
	return ret;
}

static void
collect_ports(struct bench_host *h)
{
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		h->nports += h->fabric.dev[d].nports;
	h->ports = host_alloc(h, h->nports * sizeof(*h->ports));
	h->nports = 0;
	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		for (uint16_t p = 0; p < h->fabric.dev[d].nports; p++) {
			struct rl_role_port *rp = &h->fabric.dev[d].port[p];

			rl_role_join(&h->fabric.dev[d].core, rp);
			h->ports[h->nports++] = rp;
		}
}

static int
build_fabric(struct bench_host *h)
{
	const struct rl_fabric_host host = {
		.ctx = h,
		.alloc = host_alloc,
		.cache = host_cache,
		.pipe = host_pipe,
		.phy = host_phy,
		.drop = host_drop,
		.sink = { h, host_port_event, host_core_event, NULL },
		.seed = 1,
		.jitter_ns = 200 * RL_NS_PER_US,
	};
	struct rl_fabric_host *kept = host_alloc(h, sizeof(*kept));
	const struct rl_fwd **fwd;
	char err[RL_ERR_MAX];
	int ret;

	*kept = host;
	fwd = host_alloc(h, h->cfg.topo.ndev * sizeof(*fwd));
	for (uint32_t i = 0; i < h->cfg.topo.ndev; i++)
		fwd[i] = &h->route->fwd[i];
	ret = rl_fabric_build(&h->fabric, &h->cfg, fwd,
			      rl_codec_best_isa(512), kept, err);
	if (ret != 0)
		return say_error(ret, "reflit-bench: %s\n", err);
	for (uint32_t i = 0; i < h->cfg.topo.nep; i++) {
		h->client[i].cache = &h->cache;
		h->client[i].sent_limit = UINT64_MAX;
		h->fabric.dev[h->cfg.topo.ep_dev[i]].core.client =
			(struct rl_client){ &h->client[i], client_poll,
					    NULL };
	}
	collect_ports(h);
	return 0;
}

/* Polls until every link is up. */
static int
train(struct bench_host *h)
{
	const uint64_t end = bench_now_ns() + 5 * RL_NS_PER_S;
	struct rl_port_info info;

	rl_fabric_start(&h->fabric, bench_now_ns());
	for (;;) {
		uint32_t up = 0;

		bench_host_poll(h, bench_now_ns());
		for (uint32_t i = 0; i < h->nports; i++) {
			rl_port_info(h->ports[i]->port, &info);
			up += info.state == RL_LINK_UP;
		}
		if (up == h->nports)
			return 0;
		if (bench_now_ns() > end)
			return -ETIME;
	}
}

int
bench_host_open(struct bench_host *h, const struct bench_shape *s,
		void (*tune)(struct rl_config *cfg))
{
	int ret;

	memset(h, 0, sizeof(*h));
	ret = row_config(s, &h->cfg);
	if (tune != NULL)
		tune(&h->cfg);
	if (ret == 0)
		ret = row_route(s, &h->cfg, &h->route);
	if (ret == 0)
		ret = build_flits(h);
	if (ret == 0)
		ret = build_wires(h, s->faults);
	if (ret == 0)
		ret = build_fabric(h);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(h->client); i++)
		h->client[i].packet_flits = s->packet_flits;
	if (ret == 0)
		ret = train(h);
	if (ret != 0)
		fprintf(stderr, "reflit-bench: building the fabric: %s\n",
			strerror(-ret));
	return ret;
}

unsigned int
bench_host_poll(struct bench_host *h, uint64_t now_ns)
{
	const bool fresh = now_ns == 0;
	unsigned int work = 0;

	for (uint32_t d = 0; d < h->fabric.ndev; d++) {
		struct rl_device *dev = &h->fabric.dev[d];

		if (fresh)
			now_ns = bench_now_ns();
		for (uint16_t p = 0; p < dev->nports; p++)
			work += rl_role_port_in(&dev->port[p], now_ns);
		work += rl_role_core_poll(&dev->core, now_ns);
		for (uint16_t p = 0; p < dev->nports; p++)
			work += rl_role_port_out(&dev->port[p], now_ns);
	}
	return work;
}

static bool
host_idle(const struct bench_host *h)
{
	for (uint32_t d = 0; d < h->fabric.ndev; d++) {
		const struct rl_device *dev = &h->fabric.dev[d];

		if (!dev->core.idle)
			return false;
		for (uint16_t p = 0; p < dev->nports; p++)
			if (!dev->port[p].idle)
				return false;
	}
	return true;
}

int
bench_host_drain(struct bench_host *h, uint64_t limit_ns)
{
	const uint64_t end = bench_now_ns() + limit_ns;
	unsigned int quiet = 0;

	while (quiet < 3) {
		const unsigned int work = bench_host_poll(h, bench_now_ns());

		quiet = work == 0 && host_idle(h) ? quiet + 1 : 0;
		if (bench_now_ns() > end)
			return -ETIME;
	}
	return 0;
}

void
bench_host_close(struct bench_host *h)
{
	if (h->nports != 0) {
		rl_fabric_flush(&h->fabric);
		for (uint32_t i = 0; i < 2 * h->cfg.topo.nlink; i++)
			rl_phy_eth_close(&h->phy[i]);
		rl_wires_close(&h->wires);
	}
	rl_failover_log_free(&h->failovers);
	rl_route_free(h->route);
	rl_topo_free(&h->cfg.topo);
	rte_mempool_free(h->pool);
	for (uint32_t i = 0; i < h->nmem; i++)
		free(h->mem[i]);
}
