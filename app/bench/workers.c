/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `workers`: what a second worker lcore brings. A row of four devices,
 * e0 - s0 - s1 - e1, under the lcore host of `reflit`: its endpoints flood each
 * other, and its devices are dealt out by load to one worker, then to two, so
 * that only the wire between the switches crosses. Two CPUs of a machine may be
 * two threads of one core, so the bare work is measured in turn with the rows,
 * on one CPU and on both at once: that is what a second CPU can bring.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_host.h"
#include "bench_workers.h"
#include "host.h"
#include "stop_signal.h"

#define WORKERS_MAX 2
#define RING_FRAMES 512
#define ALL 0 /* lcores that work, and not a certain one of them */

/* One fabric under the host. */
struct rig {
	struct rl_config cfg;
	struct rl_route *route;
	struct host host;
	struct bench_client client[2];
};

const char *
bench_lcores(char buf[BENCH_LCORES_MAX])
{
	cpu_set_t set;
	int cpu[WORKERS_MAX] = { 0 };
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (int i = 0; i < CPU_SETSIZE && n < WORKERS_MAX; i++)
			if (CPU_ISSET(i, &set))
				cpu[n++] = i;
	if (n == WORKERS_MAX)
		snprintf(buf, BENCH_LCORES_MAX, "0@%d,1@%d,2@%d", cpu[0],
			 cpu[0], cpu[1]);
	else
		snprintf(buf, BENCH_LCORES_MAX, "0@%d,1@%d", cpu[0], cpu[0]);
	return buf;
}

/* All on one lcore; else the host deals out the devices by load. */
static void
place_on(struct rl_config *cfg, unsigned int lcore)
{
	static const char *const device[] = { "e", "s" };

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(device); i++) {
		struct rl_place *p = &cfg->place[cfg->nplace++];

		snprintf(p->role, sizeof(p->role), "%s", device[i]);
		p->lcore = (uint16_t)lcore;
	}
}

/* Records the thread that polls it. */
static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct bench_client *c = ctx;

	if (rl_unlikely(c->cpu_clock == 0)) {
		clockid_t clock;

		if (pthread_getcpuclockid(pthread_self(), &clock) == 0)
			__atomic_store_n(&c->cpu_clock, clock,
					 __ATOMIC_RELAXED);
	}
	return bench_client_poll(ctx, ep, now_ns);
}

static int
rig_open(struct rig *r, const struct bench_shape *s, unsigned int lcore)
{
	struct host_params p = {
		.cfg = &r->cfg,
		.seed = 1,
		.ring_frames = RING_FRAMES,
		.frame_bytes = RL_FRAME_BYTES_MAX,
	};
	char err[HOST_ERR_MAX] = "";
	int ret = bench_row(s, &r->cfg);

	if (lcore != ALL)
		place_on(&r->cfg, lcore);
	if (ret == 0)
		ret = bench_row_route(s, &r->cfg, &r->route);
	if (ret != 0)
		return ret;
	p.route = r->route;
	ret = host_open(&r->host, &p, err);
	if (ret != 0) {
		fprintf(stderr, "reflit-bench: %s\n", err);
		return ret;
	}
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t d = r->cfg.topo.ep_dev[i];
		const struct host_place *pl = &r->host.place;

		r->client[i] = (struct bench_client){
			.packet_flits = s->packet_flits,
			.sent_limit = UINT64_MAX,
			.dst = (uint16_t)!i,
			.send = true,
			.cache = &r->host.lcore[pl->lcore[host_role(pl, d, -1)]]
					  ->cache,
		};
		r->host.fabric.dev[d].core.client = (struct rl_client){
			&r->client[i], client_poll, NULL };
	}
	return host_start(&r->host);
}

static void
rig_close(struct rig *r)
{
	host_stop(&r->host);
	host_close(&r->host);
	rl_route_free(r->route);
	rl_topo_free(&r->cfg.topo);
}

static uint64_t
received(const struct rig *r)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < 2; i++)
		n += __atomic_load_n(&r->client[i].received_flits,
				     __ATOMIC_RELAXED);
	return n;
}

/* What a row did, in the time that it had. */
struct pace {
	uint64_t flits;
	uint64_t ns;
};

/* Those of its thread, by the clock that the kernel keeps of it. */
static uint64_t
worker_cpu_ns(const struct rig *r)
{
	struct timespec t = { 0 };

	clock_gettime(__atomic_load_n(&r->client[0].cpu_clock,
				      __ATOMIC_RELAXED), &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

/*
 * What a machine takes away is no work of ours. One worker has the time of its
 * CPU; two have the time of roles, which stands still while one is away.
 */
static struct pace
pace_now(const struct rig *r, unsigned int lcore)
{
	return (struct pace){
		.flits = received(r),
		.ns = lcore == ALL
			      ? host_time_seen(&r->host.time, r->host.pace,
					       r->host.nlcores,
					       host_now(&r->host))
			      : worker_cpu_ns(r),
	};
}

/* 0 where nothing was measured */
static double
ratio(double a, double b)
{
	return b > 0 && a > 0 ? a / b : 0;
}

/*
 * Mflit/s; what was sent need not have arrived when it ends. @p taken: the part
 * of the time that the machine took away.
 */
static int
measure_row(const struct bench_shape *s, unsigned int lcore, uint64_t slice_ns,
	    double *mflits, double *taken)
{
	struct rig *r = calloc(1, sizeof(*r));
	int ret = r == NULL ? -ENOMEM : rig_open(r, s, lcore);

	if (ret == 0) {
		struct pace from, to;
		uint64_t t0;

		host_run(&r->host, slice_ns / 2); /* links train, pipes fill */
		t0 = bench_now_ns();
		from = pace_now(r, lcore);
		host_run(&r->host, slice_ns);
		to = pace_now(r, lcore);
		to.ns = to.ns > from.ns ? to.ns - from.ns : 0;
		t0 = bench_now_ns() - t0;
		*taken = to.ns < t0 ? 1 - (double)to.ns / (double)t0 : 0;
		*mflits = 1e3 * ratio((double)(to.flits - from.flits),
				      (double)to.ns);
		ret = r->client[0].wrong + r->client[1].wrong != 0 ? -EBADMSG
								   : 0;
	}
	if (r != NULL)
		rig_close(r);
	free(r);
	return ret;
}

/* The bare work on a worker. */
struct bare_lcore {
	struct bench_bare *bare;
	uint64_t end_ns;
	double mflits; /* a second */
} RL_ALIGNED(RL_CACHE_LINE);

static int
bare_main(void *arg)
{
	struct bare_lcore *b = arg;
	double ns = 0;
	unsigned int n = 0;

	do {
		ns += bench_bare_ns(b->bare); /* of CPU time */
		n++;
	} while (bench_now_ns() < b->end_ns);
	b->mflits = 1e3 * n / ns;
	return 0;
}

/* Mflit/s of that worker, or of all together */
static double
measure_bare(struct bare_lcore b[WORKERS_MAX], unsigned int lcore,
	     uint64_t slice_ns)
{
	const uint64_t end_ns = bench_now_ns() + slice_ns;
	unsigned int id, n = 0;
	double sum = 0;

	RTE_LCORE_FOREACH_WORKER(id) {
		if (n == WORKERS_MAX || (lcore != ALL && lcore != id))
			continue;
		b[n].end_ns = end_ns;
		if (rte_eal_remote_launch(bare_main, &b[n], id) == 0)
			n++;
	}
	rte_eal_mp_wait_lcore();
	while (n > 0)
		sum += b[--n].mflits;
	return sum;
}

/* What is measured in each repetition, and what it comes to. */
enum figure { ONE, TWO, SPEEDUP, BARE_SPEEDUP, OF_BARE, TAKEN, FIGURES };

/* One alone is each of them in turn: something else may be on one of the CPUs. */
static int
measure_once(const struct bench_opts *o, const struct bench_shape *s,
	     struct bare_lcore b[WORKERS_MAX], unsigned int most,
	     double v[FIGURES])
{
	const uint64_t slice_ns = (o->quick ? 10 : 100) * RL_NS_PER_MS;
	double row, taken, bare = 0;
	int ret = 0;

	for (unsigned int i = 1; i <= most && ret == 0; i++) {
		ret = measure_row(s, i, slice_ns, &row, &taken);
		v[ONE] += row / most;
		bare += measure_bare(b, i, slice_ns / 2) / most;
	}
	if (ret != 0 || most < WORKERS_MAX)
		return ret;
	v[BARE_SPEEDUP] = ratio(measure_bare(b, ALL, slice_ns / 2), bare);
	ret = measure_row(s, ALL, slice_ns, &v[TWO], &v[TAKEN]);
	v[SPEEDUP] = ratio(v[TWO], v[ONE]);
	v[OF_BARE] = ratio(v[SPEEDUP], v[BARE_SPEEDUP]);
	return ret;
}

/* As often as asked for, and up to three times that while it does not hold. */
static int
measure(const struct bench_opts *o, const struct bench_shape *s,
	struct bare_lcore b[WORKERS_MAX], unsigned int most,
	struct bench_stat stat[FIGURES])
{
	const unsigned int reps = (o->quick ? 1 : 3) * o->reps;
	double *v = calloc((size_t)FIGURES * reps, sizeof(*v));
	int ret = v == NULL ? -ENOMEM : 0;

	for (unsigned int n = 1; n <= reps && ret == 0; n++) {
		double one[FIGURES] = { 0 };

		ret = measure_once(o, s, b, most, one);
		for (unsigned int i = 0; i < FIGURES && ret == 0; i++)
			v[i * reps + n - 1] = one[i];
		if (ret != 0 || (n % o->reps != 0 && stop_asked() == 0))
			continue;
		for (unsigned int i = 0; i < FIGURES; i++)
			bench_stat(v + i * reps, n, &stat[i]);
		if (!stat[SPEEDUP].noisy || stop_asked() != 0)
			break;
	}
	free(v);
	return ret;
}

static void
tell(const char *mode, const struct bench_stat stat[FIGURES],
     unsigned int most, json_t *out, FILE *human)
{
	json_t *rows = json_object_get(out, "workers");
	json_t *ratios = json_object_get(out, "speedup");

	for (unsigned int w = 1; w <= most; w++)
		json_array_append_new(rows, json_pack(
			"{s:s,s:i,s:f,s:f,s:b}", "mode", mode, "workers",
			(int)w, "mflits_per_s", stat[w - 1].median, "spread",
			stat[w - 1].spread, "noisy", stat[w - 1].noisy));
	fprintf(human, "  %-17s  %6.2f", mode, stat[ONE].median);
	if (most == WORKERS_MAX) {
		json_array_append_new(ratios, json_pack(
			"{s:s,s:o,s:o,s:o,s:f}", "mode", mode, "rows",
			bench_stat_json(&stat[SPEEDUP]), "bare",
			bench_stat_json(&stat[BARE_SPEEDUP]), "of_bare",
			bench_stat_json(&stat[OF_BARE]), "taken",
			stat[TAKEN].median));
		fprintf(human, "  %6.2f  %5.2f %4.0f %%%c  %5.2f %4.0f %%%c  %5.2f    %4.0f %%",
			stat[TWO].median, stat[SPEEDUP].median,
			100 * stat[SPEEDUP].spread,
			stat[SPEEDUP].noisy ? '?' : ' ',
			stat[BARE_SPEEDUP].median,
			100 * stat[BARE_SPEEDUP].spread,
			stat[BARE_SPEEDUP].noisy ? '?' : ' ',
			stat[OF_BARE].median, 100 * stat[TAKEN].median);
	}
	fprintf(human, "\n");
	fflush(human);
}

static int
run_modes(const struct bench_opts *o, struct bare_lcore b[WORKERS_MAX],
	  json_t *out, FILE *human)
{
	const unsigned int most = rte_lcore_count() > WORKERS_MAX ? WORKERS_MAX
								  : 1;
	int ret = 0;

	fprintf(human,
		"workers: four devices in a row, both ways, packets of 16 "
		"flits, 5 flits a frame\n"
		"(medians; spread: the middle half of all; ? : too busy a "
		"machine to say; taken: by the\n"
		" machine from two workers, and left out)\n"
		"                     Mflit/s        two workers    the bare "
		"work   of what\n"
		"                        one     two  to one spread  the same "
		"spread   is there   taken\n");
	for (unsigned int i = 0; i < 2 && ret == 0 && stop_asked() == 0; i++) {
		const struct bench_shape s = {
			.switches = 2,
			.parallel = 1,
			.packet_flits = 16,
			.flits_per_frame = 5,
			.vcs = RL_VCS,
			.cut_through = i == 1,
		};
		struct bench_stat stat[FIGURES];

		ret = measure(o, &s, b, most, stat);
		if (ret == 0)
			tell(i == 0 ? "store-and-forward" : "cut-through",
			     stat, most, out, human);
	}
	return ret;
}

int
bench_workers(const struct bench_opts *o, json_t *out, FILE *human)
{
	struct bare_lcore b[WORKERS_MAX] = { 0 };
	int ret = 0;

	json_object_set_new(out, "workers", json_array());
	json_object_set_new(out, "speedup", json_array());
	for (unsigned int i = 0; i < WORKERS_MAX; i++) {
		b[i].bare = bench_bare_new();
		if (b[i].bare == NULL)
			ret = -ENOMEM;
	}
	if (ret == 0)
		ret = bench_eal();
	if (ret == 0)
		ret = run_modes(o, b, out, human);
	for (unsigned int i = 0; i < WORKERS_MAX; i++)
		bench_bare_free(b[i].bare);
	return ret;
}
