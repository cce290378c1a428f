/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `hop`: what a flit costs on its way from endpoint to endpoint, all
 * roles polled by one thread over net_ring. Rows of one and three switches are
 * measured; half of what the two more switches add is the price of a hop:
 * replay buffer, frame, ring, header check, FEC check and copy,
 * acknowledgement, lookup, queues and credits. Both rows and the bare work are
 * measured in turn in each repetition, so that what slows the machine down slows
 * them all; of the ratios the median is taken, and their spread says whether it
 * holds. By packets and frames of many
 * sizes, with eight VCs in use and with one, store-and-forward and
 * cut-through.
 */

#include <errno.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_host.h"
#include "stop_signal.h"

#define VCS 8

struct hop_price {
	struct bench_stat hop_ns; /* per flit */
	struct bench_stat vs_bare;
	struct bench_stat vs_copy;
	struct bench_stat end_to_end_ns; /* over one switch */
};

/* Rows of one and of three switches beside each other, and the bare work. */
struct rows {
	struct bench_bare *bare;
	struct bench_host one, three;
	bool one_open, three_open;
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

static void
rows_close(struct rows *w)
{
	if (w->one_open)
		bench_host_close(&w->one);
	if (w->three_open)
		bench_host_close(&w->three);
	free(w);
}

static int
rows_open(struct bench_bare *bare, struct bench_shape s, struct rows **rows)
{
	struct rows *w = calloc(1, sizeof(*w));
	int ret;

	*rows = w;
	if (w == NULL)
		return -ENOMEM;
	w->bare = bare;
	s.switches = 1;
	w->one_open = true;
	ret = bench_host_open(&w->one, &s, NULL);
	if (ret != 0)
		return ret;
	s.switches = 3;
	w->three_open = true;
	return bench_host_open(&w->three, &s, NULL);
}

/* One repetition of everything, the bare work before and after. */
static int
measure_once(struct rows *w, const struct bench_opts *o, double v[4])
{
	const uint64_t flits = o->quick ? 5000 : 100000;
	double bare = bench_bare_ns(w->bare);
	double copy = bench_bare_copy_ns(w->bare);
	double one, three;
	int ret = run_once(&w->one, flits, &one);

	if (ret == 0)
		ret = run_once(&w->three, flits, &three);
	if (ret != 0)
		return ret;
	bare = (bare + bench_bare_ns(w->bare)) / 2;
	copy = (copy + bench_bare_copy_ns(w->bare)) / 2;
	v[0] = (three - one) / 2;
	v[1] = v[0] / bare;
	v[2] = v[0] / copy;
	v[3] = one;
	return 0;
}

/* As often as asked for, and up to three times that while it does not hold. */
static int
measure(struct rows *w, const struct bench_opts *o, struct hop_price *p)
{
	struct bench_stat *const stat[] = { &p->hop_ns, &p->vs_bare,
					    &p->vs_copy, &p->end_to_end_ns };
	const unsigned int most = (o->quick ? 1 : 3) * o->reps;
	double *v[4], one[4];
	int ret = 0;

	for (unsigned int i = 0; i < 4; i++) {
		v[i] = calloc(most, sizeof(**v));
		if (v[i] == NULL)
			ret = -ENOMEM;
	}
	for (unsigned int n = 1; n <= most && ret == 0; n++) {
		ret = measure_once(w, o, one);
		for (unsigned int i = 0; i < 4 && ret == 0; i++)
			v[i][n - 1] = one[i];
		if (ret != 0 || (n % o->reps != 0 && stop_asked() == 0))
			continue;
		for (unsigned int i = 0; i < 4; i++)
			bench_stat(v[i], n, stat[i]);
		if (!p->vs_bare.noisy || stop_asked() != 0)
			break;
	}
	for (unsigned int i = 0; i < 4; i++)
		free(v[i]);
	return ret;
}

static int
run_rows(const struct bench_opts *o, struct bench_bare *bare,
	 const struct bench_shape *s, struct hop_price *price)
{
	struct rows *w;
	int ret = rows_open(bare, *s, &w);

	if (ret == 0)
		ret = measure(w, o, price);
	if (w != NULL)
		rows_close(w);
	return ret;
}

static json_t *
price_json(const char *name, const struct hop_price *p)
{
	return json_pack("{s:s,s:f,s:f,s:f,s:f,s:b,s:f,s:f}", "mode", name,
			 "ns_per_hop", p->hop_ns.median, "ratio_vs_bare",
			 p->vs_bare.median, "ratio_vs_copy",
			 p->vs_copy.median, "spread", p->vs_bare.spread,
			 "noisy", p->vs_bare.noisy, "end_to_end_ns_per_flit",
			 p->end_to_end_ns.median, "mflits_per_s",
			 1e3 / p->end_to_end_ns.median);
}

/* One size of packets and frames, in each way of working. */
static int
run_case(const struct bench_opts *o, uint32_t packet_flits,
	 uint32_t flits_per_frame, struct bench_bare *bare, json_t *runs,
	 FILE *human)
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
	struct hop_price p[RL_ARRAY_SIZE(modes)] = { 0 };
	json_t *modes_json = json_array();
	int ret = 0;

	for (size_t i = 0; i < RL_ARRAY_SIZE(modes) && ret == 0 &&
			   stop_asked() == 0;
	     i++) {
		const struct bench_shape s = {
			.parallel = 1,
			.packet_flits = packet_flits,
			.flits_per_frame = flits_per_frame,
			.vcs = modes[i].vcs,
			.cut_through = modes[i].cut_through,
			.witness = o->witness,
			.lcrc = o->lcrc,
		};

		ret = run_rows(o, bare, &s, &p[i]);
		if (ret == 0)
			json_array_append_new(modes_json,
					      price_json(modes[i].name, &p[i]));
	}
	json_array_append_new(runs,
			      json_pack("{s:i,s:i,s:o}", "packet_flits",
					(int)packet_flits, "flits_per_frame",
					(int)flits_per_frame, "modes",
					modes_json));
	if (ret != 0 || json_array_size(modes_json) != RL_ARRAY_SIZE(modes))
		return ret; /* or ended early: half a row is no line */
	fprintf(human, "  %6u %6u ", packet_flits, flits_per_frame);
	for (size_t i = 0; i < RL_ARRAY_SIZE(modes); i++)
		fprintf(human, "  %6.1f %5.1f %4.0f %%%c", p[i].hop_ns.median,
			p[i].vs_bare.median, 100 * p[i].vs_bare.spread,
			p[i].vs_bare.noisy ? '?' : ' ');
	fprintf(human, "  %6.1f   %6.2f\n", p[0].vs_copy.median,
		1e3 / p[0].end_to_end_ns.median);
	fflush(human);
	return 0;
}

static int
run_cases(const struct bench_opts *o, struct bench_bare *bare, json_t *runs,
	  FILE *human)
{
	static const struct bench_case all[] = {
		{ 1, 1 },  { 1, 5 },  { 4, 5 },	  { 16, 1 },  { 16, 2 },
		{ 16, 5 }, { 16, 10 }, { 16, 16 }, { 32, 32 },
	};
	const struct bench_case *c = o->ncases == 0 ? all : o->cases;
	const unsigned int n = o->ncases == 0 ? RL_ARRAY_SIZE(all) : o->ncases;
	const double work_ns = bench_bare_ns(bare);
	int ret = 0;

	fprintf(human,
		"hop: one thread, net_ring; bare work (FEC check and copy in "
		"L2) %.2f ns, plain copy %.2f ns\n"
		"(medians; spread: the middle half of all; ? : too busy a "
		"machine to say)\n"
		"   flits  flits   eight VCs, store-fwd.    one VC, store-fwd."
		"     eight VCs, cut-thr.   times  over one\n"
		"  packet  frame       ns  bare spread       ns  bare spread  "
		"     ns  bare spread    copy    switch\n"
		"                                                              "
		"                           Mflit/s\n",
		work_ns, bench_bare_copy_ns(bare));
	for (unsigned int i = 0; i < n && ret == 0 && stop_asked() == 0; i++)
		ret = run_case(o, c[i].packet_flits, c[i].flits_per_frame,
			       bare, runs, human);
	return ret;
}

int
bench_hop(const struct bench_opts *o, json_t *out, FILE *human)
{
	struct bench_bare *bare = bench_bare_new();
	json_t *runs = json_array();
	int ret = bare == NULL ? -ENOMEM : bench_eal();

	if (ret == 0) {
		json_object_set_new(out, "bare_ns",
				    json_real(bench_bare_ns(bare)));
		json_object_set_new(out, "copy_ns",
				    json_real(bench_bare_copy_ns(bare)));
		ret = run_cases(o, bare, runs, human);
	}
	json_object_set_new(out, "runs", runs);
	bench_bare_free(bare);
	return ret;
}
