/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `hop`: what a flit costs on its way from endpoint to endpoint, all
 * roles polled by one thread over net_ring. Rows of one, two and four switches
 * are measured; what each further switch adds is the price of a hop: replay
 * buffer, frame, ring, header check, FEC check and copy, acknowledgement,
 * lookup, queues and credits.
 */

#include <errno.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_host.h"

struct hop_case {
	uint32_t packet_flits;
	uint32_t flits_per_frame;
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
run_row(const struct bench_opts *o, const struct hop_case *c,
	unsigned int switches, double *median)
{
	const struct bench_shape s = {
		.switches = switches,
		.parallel = 1,
		.packet_flits = c->packet_flits,
		.flits_per_frame = c->flits_per_frame,
	};
	struct bench_host *h = malloc(sizeof(*h));
	double *ns = calloc(o->reps, sizeof(*ns));
	int ret = h == NULL || ns == NULL ? -ENOMEM
					  : bench_host_open(h, &s, NULL);

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

int
bench_hop(const struct bench_opts *o, json_t *out, FILE *human)
{
	static const struct hop_case cases[] = {
		{ 1, 1 }, { 1, 5 }, { 4, 5 }, { 16, 5 }, { 16, 16 }, { 32, 32 },
	};
	json_t *runs = json_array();
	const double bare = bench_bare_hop_ns(o->reps);
	const double copy = bench_copy_ns(o->reps);
	int ret = bench_eal();

	fprintf(human, "hop: one thread, net_ring; bare work (FEC check and "
		       "copy in L2) %.2f ns, plain copy %.2f ns\n",
		bare, copy);
	for (size_t i = 0; i < RL_ARRAY_SIZE(cases) && ret == 0; i++) {
		double ns1, ns3, hop;

		ret = run_row(o, &cases[i], 1, &ns1);
		if (ret == 0)
			ret = run_row(o, &cases[i], 3, &ns3);
		if (ret != 0)
			break;
		hop = (ns3 - ns1) / 2;
		json_array_append_new(runs, json_pack(
			"{s:i,s:i,s:f,s:f,s:f,s:f}",
			"packet_flits", (int)cases[i].packet_flits,
			"flits_per_frame", (int)cases[i].flits_per_frame,
			"end_to_end_ns_per_flit", ns1, "ns_per_hop", hop,
			"ratio_vs_bare", hop / bare,
			"mflits_per_s", 1e3 / ns1));
		fprintf(human,
			"  %2u flits a packet, %2u a frame: a hop %6.1f ns "
			"(%5.1f x bare); endpoint to endpoint over one switch "
			"%6.1f ns, %5.2f Mflit/s\n",
			cases[i].packet_flits, cases[i].flits_per_frame, hop,
			hop / bare, ns1, 1e3 / ns1);
		fflush(human);
	}
	json_object_set_new(out, "bare_ns", json_real(bare));
	json_object_set_new(out, "copy_ns", json_real(copy));
	json_object_set_new(out, "runs", runs);
	return ret;
}
