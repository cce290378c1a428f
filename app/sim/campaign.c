/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many seeds over one fabric: each draws its own faults (unless a file gives
 * them) and its own traffic, and every promise is checked as in the campaign
 * of the tests. A failure prints the seed and the command that replays it.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim_app.h"
#include "stop_signal.h"

struct tally {
	uint64_t seeds; /* done */
	struct rl_sim_load_stats load; /* sums; the histogram is merged */
	uint64_t flits;
	uint64_t failovers;
	uint64_t elapsed_ns;
	uint64_t failed;
	json_t *failures;
};

static void
add_up(struct tally *t, const struct rl_sim_verdict *v)
{
	t->seeds++;
	t->load.sent += v->load.sent;
	t->load.delivered += v->load.delivered;
	t->load.lost += v->load.lost;
	t->load.duplicated += v->load.duplicated;
	t->load.reordered += v->load.reordered;
	t->load.corrupted += v->load.corrupted;
	t->load.reported += v->load.reported;
	t->load.reported_delivered += v->load.reported_delivered;
	rl_hist_merge(&t->load.latency, &v->load.latency);
	t->flits += v->sim.flits;
	t->failovers += v->failovers;
	t->elapsed_ns += v->end_ns;
}

static void
tell_failure(const struct options *o, struct tally *t, uint64_t seed,
	     const struct rl_sim_verdict *v)
{
	t->failed++;
	printf("seed %" PRIu64 ": %s\nreplay with: reflit-sim --config %s "
	       "--seed %" PRIu64 " --seeds 1", seed, v->why, o->config, seed);
	if (o->faults != NULL)
		printf(" --faults %s", o->faults);
	if (o->load > 0)
		printf(" --load %g", o->load);
	if (o->min_flits != 0)
		printf(" --packet-flits %u-%u", o->min_flits, o->max_flits);
	if (o->packets != 0)
		printf(" --packets %" PRIu64, o->packets);
	if (o->duration_ns != 0)
		printf(" --duration %" PRIu64 "ns", o->duration_ns);
	if (o->profile != NULL)
		printf(" --profile %s", o->profile);
	if (o->engine != NULL)
		printf(" --engine %s", o->engine);
	printf("\n");
	fflush(stdout);
	json_array_append_new(t->failures,
			      json_pack("{s:I, s:s}", "seed", (json_int_t)seed,
					"broken", v->why));
}

/* What random faults may do to this fabric. */
static uint32_t
kinds_of(const struct rl_config *cfg)
{
	uint32_t kinds = (1u << RL_SIM_SW_COUNT) - 1;

	if (!cfg->link.retry) /* frames that overtake are lost then */
		kinds &= ~(1u << RL_SIM_SW_JITTER);
	return kinds;
}

/* The setup of one seed. */
static int
plan_seed(struct rl_sim_plan *plan, const struct options *o, uint64_t seed)
{
	const struct rl_sim_load_cfg *l = &plan->load;
	uint64_t span = l->stop_ns;

	if (span == RL_NEVER) /* as long as the packets will take, or so */
		span = (uint64_t)((double)l->packets * l->max_flits *
				  l->slot_ps / 1000 / l->load / l->nep) +
		       1000;
	plan->seed = seed;
	plan->load.seed = seed;
	plan->fec_safe = !plan->cfg.endpoint.retry;
	plan->reports_ok = true;
	plan->losses_ok = plan->cfg.link.loopback != RL_LOOPBACK_WHOLE &&
			  !plan->cfg.endpoint.retry;
	if (o->faults != NULL) {
		plan->heal_ns = span + plan->faults.f[plan->faults.n - 1].t_ns;
		plan->limit_ns = plan->heal_ns + o->drain_ns;
		return 0;
	}
	rl_sim_faults_free(&plan->faults);
	if (rl_sim_plan_faults(plan, seed, kinds_of(&plan->cfg), 0, span) != 0)
		return -ENOMEM;
	plan->limit_ns = plan->heal_ns + o->drain_ns;
	return 0;
}

static int
write_report(const struct options *o, struct tally *t, uint64_t took_ns)
{
	const struct rl_hist *h = &t->load.latency;
	json_t *root = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:[], "
		"s:[]}",
		"sent_packets", (json_int_t)t->load.sent, "delivered_packets",
		(json_int_t)t->load.delivered, "lost_packets",
		(json_int_t)t->load.lost, "duplicated_packets",
		(json_int_t)t->load.duplicated, "reordered_packets",
		(json_int_t)t->load.reordered, "corrupted_packets",
		(json_int_t)t->load.corrupted, "reported_packets",
		(json_int_t)(t->load.reported - t->load.reported_delivered),
		"flit_hops", (json_int_t)t->flits, "elapsed_ns",
		(json_int_t)t->elapsed_ns, "wall_ns", (json_int_t)took_ns,
		"failovers", "recoveries");

	json_object_set_new(
		root, "latency_ns",
		json_pack("{s:I, s:I, s:I, s:I}", "p50",
			  (json_int_t)rl_hist_quantile(h, 50000), "p99",
			  (json_int_t)rl_hist_quantile(h, 99000), "p999",
			  (json_int_t)rl_hist_quantile(h, 99900), "max",
			  (json_int_t)h->max));
	json_object_set_new(root, "first_seed",
			    json_integer((json_int_t)o->seed));
	json_object_set_new(root, "seeds", json_integer((json_int_t)t->seeds));
	json_object_set_new(root, "interrupted",
			    json_boolean(t->seeds < o->seeds));
	json_object_set_new(root, "failover_count",
			    json_integer((json_int_t)t->failovers));
	json_object_set(root, "failures", t->failures);
	return report_write(root, o->json);
}

int
campaign(struct setup *s, const struct options *o)
{
	const uint64_t start = wall_ns();
	const bool tty = isatty(STDERR_FILENO);
	uint64_t told = start;
	struct tally t = { .failures = json_array() };
	struct rl_sim_verdict v;
	struct rl_sim_mem mem;
	int ret = rl_sim_mem_init(&mem);

	rl_hist_reset(&t.load.latency);
	for (uint64_t i = 0; ret == 0 && i < o->seeds && stop_asked() == 0;
	     i++) {
		ret = plan_seed(&s->plan, o, o->seed + i);
		if (ret == 0)
			ret = rl_sim_plan_run(&s->plan, &mem, &v);
		if (ret != 0)
			break;
		add_up(&t, &v);
		if (!v.ok)
			tell_failure(o, &t, o->seed + i, &v);
		if (tty && wall_ns() - told > RL_NS_PER_S) {
			told = wall_ns();
			fprintf(stderr, "\r%" PRIu64 " of %" PRIu64
				" seeds, %" PRIu64 " failed  ", i + 1,
				o->seeds, t.failed);
		}
	}
	if (tty && told != start)
		fputc('\n', stderr);
	if (ret != 0)
		fprintf(stderr, "reflit-sim: %s\n", strerror(-ret));
	else if (t.seeds < o->seeds)
		fprintf(stderr, "reflit-sim: ended after %" PRIu64 " of %"
			PRIu64 " seeds\n", t.seeds, o->seeds);
	printf("%" PRIu64 " seeds from %" PRIu64 ": %" PRIu64 " packets, %"
	       PRIu64 " failovers; lost %" PRIu64 ", duplicated %" PRIu64
	       ", reordered %" PRIu64 ", altered %" PRIu64 ", reported %"
	       PRIu64 "; %" PRIu64 " seeds failed\n",
	       t.seeds, o->seed, t.load.sent, t.failovers, t.load.lost,
	       t.load.duplicated, t.load.reordered, t.load.corrupted,
	       t.load.reported - t.load.reported_delivered, t.failed);
	if (ret == 0 && o->json != NULL)
		ret = write_report(o, &t, wall_ns() - start);
	json_decref(t.failures);
	rl_sim_mem_free(&mem);
	if (ret != 0)
		return EXIT_UNUSABLE;
	return t.failed != 0 ? EXIT_BROKEN : EXIT_KEPT;
}
