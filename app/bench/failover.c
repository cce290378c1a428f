/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `failover`: two switches joined by two links, both endpoints flooding,
 * all roles on one thread. One of the two links is cut at a random moment,
 * again and again. Measured by the clock, not by the moment a poll was given:
 * from the cut to the port's verdict, from there to the first flit that leaves
 * by the other port, and to the end of the drain. Both clients check every
 * packet: none may be missing, twice, or out of order.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_host.h"
#include "rl_prng.h"
#include "stop_signal.h"

struct samples {
	double *v;
	unsigned int n;
};

struct failover {
	struct samples detect;
	struct samples rerouted;
	struct samples drained;
	uint64_t looped_flits;
	uint64_t looped_acked;
	uint64_t loops;
};

static void
tune(struct rl_config *cfg)
{
	cfg->link.flap_damping_ns = 0; /* the next cut shall not wait */
	cfg->link.flap_damping_max_ns = 0;
}

static void
sample(struct samples *s, uint64_t from_ns, uint64_t to_ns)
{
	s->v[s->n++] = (double)(to_ns - from_ns);
}

static bool
settled(const struct bench_host *h)
{
	struct rl_port_info info;

	for (uint32_t d = 0; d < h->fabric.ndev; d++)
		for (uint16_t p = 0; p < h->fabric.dev[d].nports; p++) {
			const struct rl_device *dev = &h->fabric.dev[d];

			rl_port_info(dev->port[p].port, &info);
			if (info.state != RL_LINK_UP ||
			    rl_core_egress_state(dev->core.core, p) !=
				    RL_EGRESS_ALIVE)
				return false;
		}
	return true;
}

/* What came of one cut. @return deaths that have drained */
static unsigned int
digest(const struct bench_host *h, uint64_t cut_ns, struct failover *f,
       bool final)
{
	unsigned int drained = 0;

	for (uint32_t i = 0; i < h->failovers.n; i++) {
		const struct rl_failover *e = &h->failovers.rec[i];

		if (e->dead_ns == RL_NEVER) /* of the cut before */
			continue;
		drained += e->drained_ns != RL_NEVER;
		if (!final)
			continue;
		sample(&f->detect, cut_ns, e->dead_ns);
		if (e->rerouted_ns != RL_NEVER)
			sample(&f->rerouted, e->dead_ns, e->rerouted_ns);
		if (e->drained_ns == RL_NEVER || e->looped_flits == 0)
			continue;
		sample(&f->drained, e->dead_ns, e->drained_ns);
		f->looped_flits += e->looped_flits;
		f->looped_acked += e->looped_acked_flits;
		f->loops++;
	}
	return drained;
}

static int
poll_until_settled(struct bench_host *h)
{
	const uint64_t end = bench_now_ns() + 5 * RL_NS_PER_S;

	while (!settled(h)) {
		bench_host_poll(h, 0);
		if (bench_now_ns() > end)
			return -ETIME;
	}
	return 0;
}

static int
cut_once(struct bench_host *h, uint32_t link, uint64_t after_ns,
	 struct failover *f)
{
	uint64_t t = bench_now_ns() + after_ns, cut_ns;
	int ret;

	while (bench_now_ns() < t)
		bench_host_poll(h, 0);
	h->failovers.n = 0;
	cut_ns = bench_now_ns();
	rl_inject_down(&h->fault[link], cut_ns);
	t = cut_ns + 5 * RL_NS_PER_S;
	while (digest(h, cut_ns, f, false) < 2) {
		bench_host_poll(h, 0);
		if (bench_now_ns() > t)
			return -ETIME;
	}
	/* held traffic goes on; then the link heals */
	for (unsigned int i = 0; i < 200; i++)
		bench_host_poll(h, 0);
	digest(h, cut_ns, f, true);
	ret = rl_inject_clear(&h->fault[link]);
	while (ret == 0 && !rl_inject_settled(&h->fault[link]))
		bench_host_poll(h, 0);
	rl_inject_light_up(&h->fault[link]);
	for (unsigned int i = 0; i < 4; i++)
		bench_host_poll(h, 0);
	return ret == 0 ? poll_until_settled(h) : ret;
}

static void
report(const char *name, struct samples *s, json_t *out, FILE *human)
{
	bench_sort(s->v, s->n);
	json_object_set_new(out, name, json_pack(
		"{s:i,s:f,s:f,s:f}", "n", (int)s->n,
		"p50", bench_quantile(s->v, s->n, 0.5),
		"p99", bench_quantile(s->v, s->n, 0.99),
		"max", bench_quantile(s->v, s->n, 1.0)));
	fprintf(human, "  %-18s p50 %8.1f us  p99 %8.1f us  max %8.1f us  "
		       "(%u)\n",
		name, bench_quantile(s->v, s->n, 0.5) / 1e3,
		bench_quantile(s->v, s->n, 0.99) / 1e3,
		bench_quantile(s->v, s->n, 1.0) / 1e3, s->n);
}

/* sent = delivered, in order, in both directions */
static int
verdict(struct bench_host *h, struct failover *f, json_t *out, FILE *human)
{
	uint64_t sent = 0, got = 0, wrong = 0;
	int ret;

	h->client[0].sent_limit = h->client[1].sent_limit = 0;
	ret = bench_host_drain(h, 10 * RL_NS_PER_S);
	for (unsigned int i = 0; i < 2; i++) {
		sent += h->client[i].sent_packets;
		got += h->client[i].received_packets;
		wrong += h->client[i].wrong;
	}
	report("detect_ns", &f->detect, out, human);
	report("first_rerouted_ns", &f->rerouted, out, human);
	report("drained_ns", &f->drained, out, human);
	fprintf(human,
		"  looped out: %.0f flits a failover, %.0f of them "
		"acknowledged; packets sent %llu, delivered %llu, out of "
		"order %llu, given up %llu\n",
		f->loops == 0 ? 0 : (double)f->looped_flits / (double)f->loops,
		f->loops == 0 ? 0 : (double)f->looped_acked / (double)f->loops,
		(unsigned long long)sent, (unsigned long long)got,
		(unsigned long long)wrong, (unsigned long long)h->drops);
	json_object_set_new(out, "looped_flits", json_integer((json_int_t)f->looped_flits));
	json_object_set_new(out, "looped_acked_flits", json_integer((json_int_t)f->looped_acked));
	json_object_set_new(out, "failovers", json_integer((json_int_t)f->loops));
	json_object_set_new(out, "sent_packets", json_integer((json_int_t)sent));
	json_object_set_new(out, "delivered_packets", json_integer((json_int_t)got));
	json_object_set_new(out, "lost_packets", json_integer((json_int_t)(sent - got)));
	json_object_set_new(out, "wrong_packets", json_integer((json_int_t)wrong));
	if (ret == 0 && (sent != got || wrong != 0))
		ret = -EBADMSG;
	return ret;
}

int
bench_failover(const struct bench_opts *o, json_t *out, FILE *human)
{
	const unsigned int cuts = o->quick ? 20 : 1000;
	const struct bench_shape shape = {
		.switches = 2,
		.parallel = 2,
		.packet_flits = 24,
		.faults = true,
	};
	struct bench_host *h = malloc(sizeof(*h));
	struct failover f = { 0 };
	struct rl_prng prng;
	unsigned int nlinks;
	int64_t link[2];
	int ret = bench_eal();

	f.detect.v = calloc(2 * cuts, sizeof(double));
	f.rerouted.v = calloc(2 * cuts, sizeof(double));
	f.drained.v = calloc(2 * cuts, sizeof(double));
	if (h == NULL || f.detect.v == NULL || f.rerouted.v == NULL ||
	    f.drained.v == NULL)
		ret = -ENOMEM;
	if (ret == 0)
		ret = bench_host_open(h, &shape, tune);
	if (ret != 0)
		return ret;
	rl_prng_seed(&prng, o->seed);
	link[0] = rl_topo_find_link(&h->cfg.topo, "s0-s1#0", &nlinks);
	link[1] = rl_topo_find_link(&h->cfg.topo, "s0-s1#1", &nlinks);
	for (unsigned int i = 0; i < 2; i++) {
		h->client[i].send = true;
		h->client[i].dst = (uint16_t)!i;
	}
	fprintf(human, "failover: %u cuts under full load, one thread\n",
		cuts);
	ret = poll_until_settled(h);
	for (unsigned int i = 0; i < cuts && ret == 0 && stop_asked() == 0;
	     i++)
		ret = cut_once(h, (uint32_t)link[i % 2],
			       rl_prng_range(&prng, 50000, 500000), &f);
	if (ret == 0)
		ret = verdict(h, &f, out, human);
	bench_host_close(h);
	free(h);
	free(f.detect.v);
	free(f.rerouted.v);
	free(f.drained.v);
	return ret;
}
