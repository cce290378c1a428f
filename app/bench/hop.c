/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `hop`: what a flit costs on its way from endpoint to endpoint, all
 * roles polled by one thread over net_ring. Rows of one and three switches are
 * measured; half of what the two more switches add is the price of a hop:
 * replay buffer, frame, ring, header check, FEC check and copy,
 * acknowledgement, lookup, queues and credits. By packets and frames of many
 * sizes, with eight VCs in use and with one, store-and-forward and
 * cut-through.
 */

#include <errno.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_host.h"
#include "bench_workers.h"

#define VCS 8

/* The price of a hop in one way of working. */
struct hop_price {
	double hop_ns; /* per flit */
	double end_to_end_ns;
};

/* ns per flit from endpoint to endpoint, one repetition */
static int
run_once(struct bench_host *h, uint64_t flits, double *ns)
{
	struct bench_client *tx = &h->client[0], *rx = &h->client[1];
	uint64_t t0, base;
	int ret;

	tx->send = true;
	tx->dst = 1;
	tx->sent_limit = UINT64_MAX;
	for (unsigned int i = 0; i < 2000; i++) /* fill the pipes */
		bench_host_poll(h, bench_now_ns());
	base = rx->received_flits;
	t0 = bench_cpu_ns();
	while (rx->received_flits - base < flits)
		bench_host_poll(h, bench_now_ns());
	*ns = (double)(bench_cpu_ns() - t0) /
	      (double)(rx->received_flits - base);
	tx->sent_limit = 0;
	ret = bench_host_drain(h, 2 * RL_NS_PER_S);
	if (ret == 0 && (rx->wrong != 0 ||
			 rx->received_packets != tx->sent_packets))
		ret = -EBADMSG;
	return ret;
}

static int
run_row(const struct bench_opts *o, const struct bench_shape *s,
	double *median)
{
	struct bench_host *h = malloc(sizeof(*h));
	double *ns = calloc(o->reps, sizeof(*ns));
	int ret = h == NULL || ns == NULL ? -ENOMEM
					  : bench_host_open(h, s, NULL);

	for (unsigned int r = 0; r < o->reps && ret == 0; r++)
		ret = run_once(h, o->quick ? 20000 : 1000000, &ns[r]);
	if (ret == 0)
		*median = bench_median(ns, o->reps);
	if (h != NULL)
		bench_host_close(h);
	free(h);
	free(ns);
	return ret;
}

static int
run_rows(const struct bench_opts *o, struct bench_shape s,
	 struct hop_price *price)
{
	double ns1, ns3;
	int ret;

	s.switches = 1;
	ret = run_row(o, &s, &ns1);
	s.switches = 3;
	if (ret == 0)
		ret = run_row(o, &s, &ns3);
	if (ret == 0)
		*price = (struct hop_price){ (ns3 - ns1) / 2, ns1 };
	return ret;
}

static json_t *
price_json(const char *name, const struct hop_price *p, double bare)
{
	return json_pack("{s:s,s:f,s:f,s:f,s:f}", "mode", name, "ns_per_hop",
			 p->hop_ns, "ratio_vs_bare", p->hop_ns / bare,
			 "end_to_end_ns_per_flit", p->end_to_end_ns,
			 "mflits_per_s", 1e3 / p->end_to_end_ns);
}

/* One size of packets and frames, in each way of working. */
static int
run_case(const struct bench_opts *o, uint32_t packet_flits,
	 uint32_t flits_per_frame, double bare, json_t *runs, FILE *human)
{
	static const struct {
		const char *name;
		unsigned int vcs;
		bool cut_through;
	} modes[] = {
		{ "store-and-forward", VCS, false },
		{ "store-and-forward, one VC", 1, false },
		{ "cut-through", VCS, true },
	};
	struct hop_price p[RL_ARRAY_SIZE(modes)];
	json_t *modes_json = json_array();
	int ret = 0;

	for (size_t i = 0; i < RL_ARRAY_SIZE(modes) && ret == 0; i++) {
		const struct bench_shape s = {
			.parallel = 1,
			.packet_flits = packet_flits,
			.flits_per_frame = flits_per_frame,
			.vcs = modes[i].vcs,
			.cut_through = modes[i].cut_through,
		};

		ret = run_rows(o, s, &p[i]);
		if (ret == 0)
			json_array_append_new(modes_json,
					      price_json(modes[i].name, &p[i],
							 bare));
	}
	json_array_append_new(runs,
			      json_pack("{s:i,s:i,s:o}", "packet_flits",
					(int)packet_flits, "flits_per_frame",
					(int)flits_per_frame, "modes",
					modes_json));
	if (ret != 0)
		return ret;
	fprintf(human,
		"  %6u %6u   %6.1f %6.1f   %6.1f %+5.0f %%   %6.1f   %8.2f\n",
		packet_flits, flits_per_frame, p[0].hop_ns,
		p[0].hop_ns / bare, p[1].hop_ns,
		100 * (p[0].hop_ns / p[1].hop_ns - 1), p[2].hop_ns,
		1e3 / p[0].end_to_end_ns);
	fflush(human);
	return 0;
}

int
bench_hop(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const struct {
		uint32_t packet_flits, flits_per_frame;
	} cases[] = {
		{ 1, 1 },  { 1, 5 },  { 4, 5 },	  { 16, 1 },  { 16, 2 },
		{ 16, 5 }, { 16, 10 }, { 16, 16 }, { 32, 32 },
	};
	json_t *runs = json_array();
	const double bare = bench_bare_hop_ns(o->reps);
	const double copy = bench_copy_ns(o->reps);
	int ret = bench_eal();

	fprintf(human,
		"hop: one thread, net_ring; bare work (FEC check and copy in "
		"L2) %.2f ns, plain copy %.2f ns\n"
		"                    eight VCs         one VC  eight    cut-   "
		"over one\n"
		"   flits  flits    a hop   times   a hop  against through   "
		" switch\n"
		"  packet  frame       ns    bare      ns      one      ns   "
		"Mflit/s\n",
		bare, copy);
	for (size_t i = 0; i < RL_ARRAY_SIZE(cases) && ret == 0; i++)
		ret = run_case(o, cases[i].packet_flits,
			       cases[i].flits_per_frame, bare, runs, human);
	json_object_set_new(out, "bare_ns", json_real(bare));
	json_object_set_new(out, "copy_ns", json_real(copy));
	json_object_set_new(out, "runs", runs);
	if (ret == 0)
		ret = bench_workers(o, out, human);
	return ret;
}
