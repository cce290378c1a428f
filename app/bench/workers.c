/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suite `hop`, on worker lcores: the same fabric under the lcore host of
 * `reflit`, its flits passing from the caches of one lcore to the other's.
 */

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench_host.h"
#include "bench_workers.h"
#include "host.h"

#define WORKERS_MAX 2
#define RING_FRAMES 512

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

/* The first half of the row on the first worker, the rest on the last. */
static void
place(struct rl_config *cfg, unsigned int workers)
{
	static const char *const half[2][2] = { { "e0", "s0" },
						{ "e1", "s1" } };

	for (unsigned int i = 0; i < 4; i++) {
		struct rl_place *p = &cfg->place[cfg->nplace++];

		snprintf(p->role, sizeof(p->role), "%s", half[i / 2][i % 2]);
		p->lcore = (uint16_t)(i / 2 < workers ? i / 2 + 1 : 1);
	}
}

static int
rig_open(struct rig *r, const struct bench_shape *s, unsigned int workers)
{
	struct host_params p = {
		.cfg = &r->cfg,
		.seed = 1,
		.ring_frames = RING_FRAMES,
		.frame_bytes = RL_FRAME_BYTES_MAX,
	};
	char err[HOST_ERR_MAX] = "";
	int ret = bench_row(s, &r->cfg);

	place(&r->cfg, workers);
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
			.dst = 1,
			.send = i == 0,
			.cache = &r->host.lcore[pl->lcore[host_role(pl, d, -1)]]
					  ->cache,
		};
		r->host.fabric.dev[d].core.client = (struct rl_client){
			&r->client[i], bench_client_poll, NULL };
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
	return __atomic_load_n(&r->client[1].received_flits, __ATOMIC_RELAXED);
}

/* Mflit/s; what was sent need not have arrived when it ends */
static int
measure(const struct bench_opts *o, const struct bench_shape *s,
	unsigned int workers, double *median)
{
	const uint64_t slice_ns = (o->quick ? 20 : 300) * RL_NS_PER_MS;
	struct rig *r = calloc(1, sizeof(*r));
	double *rate = calloc(o->reps, sizeof(*rate));
	int ret = r == NULL || rate == NULL ? -ENOMEM
					    : rig_open(r, s, workers);

	if (ret == 0)
		host_run(&r->host, slice_ns); /* links train, pipes fill */
	for (unsigned int i = 0; i < o->reps && ret == 0; i++) {
		const uint64_t base = received(r), t0 = bench_now_ns();

		host_run(&r->host, slice_ns);
		rate[i] = 1e3 * (double)(received(r) - base) /
			  (double)(bench_now_ns() - t0);
	}
	if (ret == 0) {
		*median = bench_median(rate, o->reps);
		ret = r->client[1].wrong != 0 ? -EBADMSG : 0;
	}
	if (r != NULL)
		rig_close(r);
	free(r);
	free(rate);
	return ret;
}

int
bench_workers(const struct bench_opts *o, json_t *out, FILE *human)
{
	const unsigned int most = rte_lcore_count() > WORKERS_MAX ? WORKERS_MAX
								  : 1;
	json_t *rows = json_array();
	int ret = 0;

	fprintf(human, "on worker lcores (wall time), two switches, packets "
		       "of 16 flits, 5 flits a frame:\n");
	for (unsigned int i = 0; i < 2 && ret == 0; i++) {
		const struct bench_shape s = {
			.switches = 2,
			.parallel = 1,
			.packet_flits = 16,
			.flits_per_frame = 5,
			.vcs = RL_VCS,
			.cut_through = i == 1,
		};
		const char *mode = i == 0 ? "store-and-forward"
					  : "cut-through";

		for (unsigned int w = 1; w <= most && ret == 0; w++) {
			double mflits = 0;

			ret = measure(o, &s, w, &mflits);
			if (ret != 0)
				break;
			json_array_append_new(rows, json_pack(
				"{s:s,s:i,s:f}", "mode", mode, "workers",
				(int)w, "mflits_per_s", mflits));
			fprintf(human, "  %-17s  %u worker%s  %6.2f Mflit/s\n",
				mode, w, w == 1 ? " " : "s", mflits);
			fflush(human);
		}
	}
	if (ret != 0)
		fprintf(stderr, "reflit-bench: workers: %s\n",
			strerror(-ret));
	json_object_set_new(out, "workers", rows);
	return ret;
}
