/* SPDX-License-Identifier: BSD-3-Clause */

/* Everything a run needs, read and checked before anything is started. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "busy.h"
#include "clock_ns.h"
#include "cpus.h"
#include "report_file.h"
#include "say_error.h"
#include "sim_app.h"

#define ERR_BYTES (RL_ERR_MAX + 1024)
#define LOAD_DEFAULT 0.3
#define FLITS_DEFAULT 8u

static int
set_profile(struct rl_config *cfg, const char *name)
{
	if (name == NULL)
		return 0;
	for (int p = 0; p <= RL_PROFILE_CXL_SEP_ACK; p++)
		if (strcmp(name, rl_profile_name((enum rl_profile)p)) == 0) {
			cfg->endpoint.profile = (enum rl_profile)p;
			return 0;
		}
	return say_error(-EINVAL, "reflit-sim: --profile %s: unknown; use rxl, "
			 "rxl-compact, cxl or cxl-sep-ack\n", name);
}

static int
set_routes(struct rl_swarm_plan *plan, const struct options *o)
{
	const struct rl_config *cfg = &plan->cfg;
	const unsigned int vls = rl_min_u32(cfg->vls, cfg->link.vcs);
	char err[RL_ERR_MAX];
	int ret;

	busy_begin("computing the tables", o->progress);
	ret = rl_route_setup(&cfg->topo, cfg->engine, vls, rl_config_levels(cfg),
			     &plan->route, err);
	busy_end();
	if (ret == -EHOSTUNREACH) {
		printf("refused: %s\n", err);
		return EXIT_REFUSED;
	}
	if (ret != 0) {
		if (o->engine != NULL)
			fprintf(stderr, "reflit-sim: --engine: %s\n", err);
		else
			fprintf(stderr, "%s:%u: routing: %s\n",
				cfg->engine_file != NULL ? cfg->engine_file
							 : cfg->file,
				cfg->engine_line, err);
		return EXIT_UNUSABLE;
	}
	return EXIT_KEPT;
}

/* CPU time of computing, whatever else the machine does. */
static uint64_t
cpu_clock(RL_UNUSED void *ctx)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void
set_wire(struct rl_swarm_plan *plan, const struct options *o)
{
	rl_sim_wire_defaults(&plan->wire);
	if (o->latency_ns != RL_NEVER)
		plan->wire.latency_ns = o->latency_ns;
	if (o->flit_ps != 0)
		plan->wire.flit_ps = o->flit_ps;
	if (o->mtu != 0)
		plan->wire.frame_bytes = o->mtu + RL_FRAME_LINK_OFF;
	plan->poll_ns = o->poll_ns;
	plan->tick_ns = o->tick_ns;
	plan->turns = !o->roles;
	plan->notice_ns = 1000;
	plan->resil = (struct rl_sim_resil_cfg){
		.delay_ns = o->channel_ns,
		.jitter_ns = o->channel_jitter_ns,
		.loss_ppb = o->channel_loss_ppb,
		.dup_ppb = o->channel_dup_ppb,
		.compute_ns = o->compute_ns,
		.clock = cpu_clock,
	};
}

/* Mean length of the frames of a trace, in flits. */
static uint32_t
trace_flits(const struct rl_sim_trace *t)
{
	uint64_t flits = 0;

	for (uint32_t i = 0; i < t->n; i++)
		flits += rl_ep_flits_of((uint32_t)(t->off[i + 1] - t->off[i]));
	return (uint32_t)((flits + t->n / 2) / t->n);
}

static uint32_t
threads_of(const struct options *o, const struct rl_topo *topo, bool capture)
{
	/* packets of a capture are counted at both ends of a flow at once; and
	   what is traced is told in order */
	if (capture || o->trace != NULL)
		return 1;
	return o->threads != 0 ? o->threads
			       : rl_sim_threads(topo, cpus_allowed());
}

static int
check_load(const struct rl_sim_load_cfg *c)
{
	struct rl_sim_load *probe = rl_sim_load_new(c);

	if (probe == NULL)
		return say_error(-EINVAL, "reflit-sim: --traffic %s: not for "
				 "this fabric: it needs %s\n",
				 rl_pattern_name(c->pattern.kind),
				 rl_pattern_needs(c->pattern.kind));
	rl_sim_load_free(probe);
	return 0;
}

static int
set_window(struct rl_sim_load_cfg *c, const struct options *o)
{
	struct rl_sim_window *w = &c->window;

	if (o->warmup_ns == RL_NEVER && o->window_ns == 0)
		return 0;
	w->from_ns = o->warmup_ns == RL_NEVER ? 0 : o->warmup_ns;
	w->to_ns = o->window_ns == 0 ? c->stop_ns : w->from_ns + o->window_ns;
	if (w->to_ns == RL_NEVER)
		fprintf(stderr, "reflit-sim: --warmup: until when? Give "
			"--window or --duration\n");
	else if (w->from_ns >= w->to_ns)
		fprintf(stderr, "reflit-sim: --warmup leaves nothing of "
			"--duration\n");
	else if (w->to_ns > c->stop_ns)
		fprintf(stderr, "reflit-sim: --warmup and --window together "
			"are longer than --duration\n");
	else
		return 0;
	return -EINVAL;
}

static int
set_load(struct setup *s, const struct options *o)
{
	struct rl_swarm_plan *plan = &s->plan;
	const uint32_t most = plan->cfg.link.max_packet_flits;
	const uint64_t warmup = o->warmup_ns == RL_NEVER ? 0 : o->warmup_ns;
	struct rl_sim_load_cfg *c = &plan->load;
	const struct rl_pattern_cfg pairs = c->pattern;

	*c = (struct rl_sim_load_cfg){
		.pattern = { .kind = (enum rl_pattern_kind)o->traffic,
			     .hot_pct = 25,
			     .pair = pairs.pair,
			     .npairs = pairs.npairs },
		.load = o->load > 0 ? o->load : LOAD_DEFAULT,
		.slot_ps = plan->wire.flit_ps,
		.min_flits = o->min_flits != 0 ? o->min_flits : 1,
		.max_flits = o->max_flits != 0
				     ? o->max_flits
				     : rl_min_u32(FLITS_DEFAULT, most),
		.cos = s->trace.n != 0 ? 1 : o->classes,
		.by_kind = s->trace.n == 0 && o->by_kind,
		.requests_ppm = s->trace.n != 0
					? 0
					: (uint32_t)(o->requests * 1e6 + 0.5),
		.packets = o->packets,
		.stop_ns = o->duration_ns != 0 ? o->duration_ns
			   : o->packets != 0   ? RL_NEVER
			   : o->window_ns != 0 ? warmup + o->window_ns
					       : RL_NS_PER_MS,
		.seed = o->seed,
		.nep = (uint16_t)plan->cfg.topo.nep,
		.window = { .source = s->counted },
	};
	if (c->max_flits > most)
		return say_error(-EINVAL, "reflit-sim: --packet-flits: the "
				 "fabric file allows packets of %u flits at "
				 "most\n", most);
	if (set_window(c, o) != 0)
		return -EINVAL;
	if (c->nep < 2)
		return say_error(-EINVAL, "reflit-sim: %s: traffic needs two "
				 "endpoints\n", plan->cfg.file);
	rl_sim_load_grid(&c->pattern, &plan->cfg.topo);
	if (s->trace.n != 0) {
		c->trace = &s->trace;
		c->min_flits = c->max_flits = trace_flits(&s->trace);
		if (o->packets == 0 && o->duration_ns == 0) {
			c->packets = (uint64_t)s->trace.n * c->nep;
			c->stop_ns = RL_NEVER;
		}
	}
	s->threads = threads_of(o, &plan->cfg.topo, s->trace.n != 0);
	return check_load(c);
}

static int
set_up(struct setup *s, const struct options *o)
{
	char err[ERR_BYTES];

	if (set_profile(&s->plan.cfg, o->profile) != 0)
		return EXIT_UNUSABLE;
	if (o->engine != NULL)
		snprintf(s->plan.cfg.engine, sizeof(s->plan.cfg.engine), "%s",
			 o->engine);
	rl_config_choose_paths(&s->plan.cfg);
	s->plan.seed = o->seed;
	set_wire(&s->plan, o);
	if (o->pcap != NULL && trace_read(s, o->pcap, err, sizeof(err)) != 0)
		return say_error(EXIT_UNUSABLE, "reflit-sim: --traffic pcap: "
				 "%s\n", err);
	if (o->pairs != NULL &&
	    pairs_read(s, o->pairs, err, sizeof(err)) != 0)
		return say_error(EXIT_UNUSABLE, "reflit-sim: --traffic pairs: "
				 "%s\n", err);
	if (set_load(s, o) != 0)
		return EXIT_UNUSABLE;
	if (o->faults != NULL &&
	    rl_swarm_case_read(o->faults, &s->plan, &s->run, err,
			       sizeof(err)) != 0)
		return say_error(EXIT_UNUSABLE, "%s\n", err);
	if (s->run && options_of_run(o) != NULL)
		return say_error(EXIT_UNUSABLE, "reflit-sim: %s: its `run` "
				 "lines say what the run is; leave %s out\n",
				 o->faults, options_of_run(o));
	if (s->run && check_load(&s->plan.load) != 0)
		return EXIT_UNUSABLE;
	return set_routes(&s->plan, o);
}

/* No output may be a file that the fabric file includes. */
static int
included_kept(const struct options *o, const struct rl_config *cfg)
{
	const char *const path[] = { o->json, o->csv, o->trace };

	return report_apart("reflit-sim", path, RL_ARRAY_SIZE(path),
			    (const char *const *)cfg->files, cfg->nfiles);
}

int
setup_open(struct setup *s, const struct options *o)
{
	if (o->config == NULL) {
		memset(s, 0, sizeof(*s));
		return say_error(EXIT_UNUSABLE, "reflit-sim: which fabric? Use "
				 "--config FILE\n");
	}
	return setup_open_text(s, o, o->config, NULL);
}

int
setup_open_text(struct setup *s, const struct options *o, const char *name,
		const char *text)
{
	struct rl_config *cfg = &s->plan.cfg;
	char err[ERR_BYTES];
	int ret;

	memset(s, 0, sizeof(*s));
	ret = text == NULL ? rl_config_read(name, cfg, err, sizeof(err)) :
			     rl_config_read_text(name, text, strlen(text), cfg,
						 err, sizeof(err));
	if (ret != 0)
		return say_error(EXIT_UNUSABLE, "%s\n", err);
	ret = included_kept(o, cfg) == 0 ? set_up(s, o) : EXIT_UNUSABLE;
	if (ret != EXIT_KEPT)
		setup_close(s);
	return ret;
}

void
setup_close(struct setup *s)
{
	rl_route_free(s->plan.route);
	rl_sim_faults_free(&s->plan.faults);
	rl_config_free(&s->plan.cfg);
	free(s->trace_bytes);
	free(s->trace_off);
	free(s->pairs);
	free(s->counted);
	memset(s, 0, sizeof(*s));
}
