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

#include "progress.h"
#include "sim_app.h"
#include "stop_signal.h"
#include "tally.h"

/*
 * Whether an argument concerns only the campaign, not what a seed does. getopt
 * has accepted it, so an abbreviated name is unambiguous.
 *
 * @param value  whether the next one is its value
 */
static bool
is_campaign_s(const char *arg, bool *value)
{
	static const char *const own[] = { "--seed", "--seeds", "--shard",
					   "--json", "--store",
					   "--block", "--time-budget",
					   "--progress" };
	const size_t n = strcspn(arg, "=");

	for (size_t i = 0; n > 2 && i < RL_ARRAY_SIZE(own); i++) {
		if (strncmp(own[i], arg, n) != 0)
			continue;
		*value = arg[n] == '\0' && strcmp(own[i], "--progress") != 0;
		return true;
	}
	return false;
}

/* Quoted for a shell. */
static void
print_argument(const char *arg)
{
	const bool plain = arg[0] != '\0' &&
			   strspn(arg, "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_./:=,%+@#-") == strlen(arg);

	putchar(' ');
	if (!plain)
		putchar('\'');
	for (; *arg != '\0'; arg++)
		if (*arg == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*arg);
	if (!plain)
		putchar('\'');
}

void
campaign_arguments(const struct options *o)
{
	for (char *const *arg = o->argv + 1; *arg != NULL; arg++) {
		bool value = false;

		if (!is_campaign_s(*arg, &value))
			print_argument(*arg);
		else if (value)
			arg++;
	}
}

static void
tell_failure(const struct options *o, uint64_t seed,
	     const struct rl_swarm_verdict *v)
{
	printf("seed %" PRIu64 ": %s\nreplay with: reflit-sim", seed, v->why);
	campaign_arguments(o);
	printf(" --seed %" PRIu64 " --seeds 1\n", seed);
	fflush(stdout);
}

static uint32_t
kinds_of(const struct rl_config *cfg)
{
	uint32_t kinds = (1u << RL_SWARM_KIND_COUNT) - 1;

	if (!cfg->link.retry) /* frames that overtake are lost then */
		kinds &= ~(1u << RL_SWARM_KIND_JITTER);
	return kinds;
}

/*
 * The plan as the files have it. Seeds change nearly all of it, and the next one
 * begins here again, or a verdict would depend on those before.
 */
static struct rl_swarm_plan base;

void
campaign_begin(struct setup *s)
{
	s->plan.route_lent = true;
	base = s->plan;
}

void
campaign_back(struct rl_swarm_plan *plan)
{
	const struct rl_sim_faults faults = plan->faults;

	if (plan->route != base.route)
		rl_route_free(plan->route);
	*plan = base;
	plan->faults = faults; /* the file's, or memory for those of a seed */
}

/* Whether the file has devices alter or mark packets, which are dropped then. */
static bool
marks(const struct rl_sim_faults *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->f[i].kind == RL_FAULT_SOFT ||
		    list->f[i].kind == RL_FAULT_POISON)
			return true;
	return rl_sim_faults_soft(list);
}

static int
plan_seed(struct rl_swarm_plan *plan, const struct options *o, uint64_t seed)
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
		plan->soft_errors = marks(&plan->faults);
		plan->heal_ns = span + rl_sim_faults_end(&plan->faults);
		plan->limit_ns = plan->heal_ns + o->drain_ns;
		return 0;
	}
	rl_sim_faults_free(&plan->faults);
	if (rl_swarm_plan_faults(plan, seed, kinds_of(&plan->cfg), 0, span) !=
	    0)
		return -ENOMEM;
	plan->limit_ns = plan->heal_ns + o->drain_ns;
	return 0;
}

int
campaign_seed(struct rl_swarm_plan *plan, const struct options *o,
	      uint64_t seed)
{
	struct rl_swarm_shares wide = o->wide;
	int ret;

	if (o->faults != NULL) /* the file says all that happens */
		wide.pct[RL_SWARM_WD_DEVICE] = wide.pct[RL_SWARM_WD_REBORN] =
			wide.pct[RL_SWARM_WD_PARTITION] = 0;
	ret = plan_seed(plan, o, seed);
	return ret != 0 ? ret : rl_swarm_plan_widen(plan, seed, &wide);
}

/* A seed of the swarm draws its fabric as well. */
static int
run_swarm(const struct options *o, uint64_t seed, struct rl_sim_mem *mem,
	  struct rl_swarm_verdict *v)
{
	static struct rl_swarm_plan plan; /* large */
	char err[RL_ERR_MAX];
	int ret = rl_swarm_plan_draw(&plan, seed, err);

	if (ret != 0)
		return ret;
	ret = rl_swarm_plan_widen(&plan, seed, &o->wide);
	if (ret == 0)
		ret = rl_swarm_plan_run(&plan, mem, v);
	rl_swarm_plan_free(&plan);
	return ret;
}

int
campaign_run(struct setup *s, const struct options *o, uint64_t seed,
	     struct rl_sim_mem *mem, struct rl_swarm_verdict *v)
{
	int ret;

	if (o->config == NULL)
		return run_swarm(o, seed, mem, v);
	campaign_back(&s->plan);
	ret = campaign_seed(&s->plan, o, seed);
	return ret != 0 ? ret : rl_swarm_plan_run(&s->plan, mem, v);
}

static uint64_t
hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3u; /* FNV-1a */
	return h;
}

static uint64_t
hash_file(uint64_t h, const char *path)
{
	FILE *f = path == NULL ? NULL : fopen(path, "r");
	char buf[4096];
	size_t n;

	if (f == NULL)
		return h;
	while ((n = fread(buf, 1, sizeof(buf), f)) != 0)
		h = hash_bytes(h, buf, n);
	fclose(f);
	return hash_bytes(h, "", 1); /* separates it from the next value */
}

/*
 * Stores of one campaign have this in common: all that makes a run but the
 * seed. Files count by their content, since their paths differ between
 * machines.
 */
uint64_t
campaign_settings(const struct options *o)
{
	char text[512];
	const int n = snprintf(
		text, sizeof(text),
		"%s %s %s %d %a %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %u %u %" PRIu64 " %u %u %d %d %a %s",
		RL_VERSION, o->profile == NULL ? "" : o->profile,
		o->engine == NULL ? "" : o->engine, o->traffic, o->load,
		o->min_flits, o->max_flits, o->classes, o->packets,
		o->duration_ns, o->drain_ns, o->latency_ns, o->poll_ns,
		o->compute_ns, o->channel_ns, o->channel_jitter_ns,
		o->channel_loss_ppb, o->channel_dup_ppb, o->tick_ns,
		o->flit_ps, o->mtu, o->by_kind, !o->roles, o->requests,
		o->wide_text == NULL ? "" : o->wide_text);
	uint64_t h = hash_bytes(0xcbf29ce484222325u, text,
				rl_min_u64((uint64_t)n, sizeof(text) - 1));

	h = hash_file(h, o->config);
	h = hash_file(h, o->faults);
	h = hash_file(h, o->pcap);
	return hash_file(h, o->pairs);
}

static int
run_seeds(struct setup *s, const struct options *o, struct rl_sim_mem *mem,
	  struct tally *t)
{
	const uint64_t start = wall_ns();
	struct rl_swarm_verdict v;
	struct progress far;
	char failed[40];
	int ret = 0;

	campaign_begin(s);
	progress_begin(&far, "seeds", t->of.seeds, o->progress);
	for (uint64_t i = 0; i < t->of.seeds && stop_asked() == 0; i++) {
		ret = campaign_run(s, o, o->seed + i, mem, &v);
		if (ret != 0)
			break;
		tally_add(t, o->seed + i, &v);
		if (!v.ok) {
			progress_end(&far);
			tell_failure(o, o->seed + i, &v);
		}
		snprintf(failed, sizeof(failed), "%" PRIu64 " failed",
			 t->failed);
		progress_tell(&far, t->seeds, failed);
	}
	progress_end(&far);
	t->wall_ns = wall_ns() - start;
	return ret;
}

int
campaign(struct setup *s, const struct options *o)
{
	const struct tally_of of = { o->seed, o->seeds, campaign_settings(o) };
	struct tally t;
	struct rl_sim_mem mem;
	int ret = rl_sim_mem_init(&mem);

	tally_init(&t, &of);
	t.oversize = s->oversize;
	if (ret == 0)
		ret = run_seeds(s, o, &mem, &t);
	if (ret != 0)
		fprintf(stderr, "reflit-sim: %s\n", strerror(-ret));
	else if (t.seeds < of.seeds)
		fprintf(stderr, "reflit-sim: ended after %" PRIu64 " of %"
			PRIu64 " seeds\n", t.seeds, of.seeds);
	if (ret == 0) {
		ret = tally_end(&t, o->json);
	} else {
		tally_print(&t);
		ret = EXIT_UNUSABLE;
	}
	campaign_back(&s->plan);
	rl_sim_mem_free(&mem);
	tally_free(&t);
	return ret;
}
