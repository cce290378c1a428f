/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-sim campaign: seeds of the swarm, or over a fabric, whose results go to
 * a store block by block [SIM-1]. Each block is run by a process of its own; if
 * that dies of a broken invariant, its seeds are run one by one.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "progress.h"
#include "say_error.h"
#include "stop_signal.h"
#include "store.h"

struct camp {
	struct setup *s;
	const struct options *o;
	struct store store;
	struct rl_sim_mem mem;
	uint64_t seed;	/**< the first of those to run */
	uint64_t seeds;
};

/* What comes back from a block's process: a report as text. */
struct result {
	uint64_t hash;
	char text[1 << 18];
};

static void
add_hash(uint64_t *h, const struct rl_swarm_verdict *v)
{
	uint64_t state = *h ^ v->hash;

	*h = rl_splitmix64(&state);
}

static struct tally_of
block_of(const struct camp *c)
{
	return (struct tally_of){ c->seed, c->seeds,
				  c->store.of.settings };
}

/* In a process of its own. */
static int
run_block(void *ctx, void *to)
{
	struct camp *c = ctx;
	struct result *r = to;
	const struct tally_of of = block_of(c);
	struct rl_swarm_verdict v;
	struct tally t;
	json_t *report;
	size_t n;
	int ret = rl_sim_mem_init(&c->mem);

	tally_init(&t, &of);
	t.oversize = c->s->oversize;
	for (uint64_t i = 0; i < c->seeds && ret == 0; i++) {
		ret = campaign_run(c->s, c->o, c->seed + i, &c->mem, &v);
		if (ret == 0) {
			tally_add(&t, c->seed + i, &v);
			add_hash(&r->hash, &v);
		}
	}
	if (ret != 0)
		return ret;
	report = tally_json(&t);
	n = json_dumpb(report, r->text, sizeof(r->text) - 1, JSON_COMPACT);
	json_decref(report);
	return n >= sizeof(r->text) ? -E2BIG : 0;
}

static int
run_one(void *ctx, void *to)
{
	struct camp *c = ctx;
	int ret = rl_sim_mem_init(&c->mem);

	if (ret == 0)
		ret = campaign_run(c->s, c->o, c->seed, &c->mem, to);
	return ret;
}

/* Seed by seed: one of them, or several, end their process. */
static int
run_singly(struct camp *c, struct tally *t, uint64_t *hash)
{
	const uint64_t first = c->seed;
	struct rl_swarm_verdict *v = malloc(sizeof(*v));
	int ret = v == NULL ? -ENOMEM : 0;

	for (uint64_t i = 0; i < t->of.seeds && ret == 0; i++) {
		int sig = 0;

		c->seed = first + i;
		memset(v, 0, sizeof(*v));
		ret = judge_apart(run_one, c, v, sizeof(*v), 1, &sig);
		if (ret == -EINTR && judge_finding(sig)) {
			memset(v, 0, sizeof(*v));
			rl_hist_reset(&v->load.latency);
			judge_died(sig, v->why, sizeof(v->why));
			ret = 0;
		}
		if (ret == 0) {
			tally_add(t, c->seed, v);
			add_hash(hash, v);
		}
	}
	free(v);
	return ret;
}

/* The result of a block, whatever its seeds do. */
static int
run_apart(struct camp *c, struct tally *t, uint64_t *hash)
{
	const struct tally_of of = block_of(c);
	struct result *r = calloc(1, sizeof(*r));
	char why[RL_ERR_MAX];
	json_t *report = NULL;
	int sig = 0, ret = -ENOMEM;

	if (r != NULL)
		ret = judge_apart(run_block, c, r, sizeof(*r), c->seeds,
				  &sig);
	if ((ret == -EINTR && judge_finding(sig)) || ret == -E2BIG) {
		tally_init(t, &of);
		t->oversize = c->s->oversize;
		*hash = 0;
		ret = run_singly(c, t, hash);
		if (ret != 0)
			tally_free(t);
	} else if (ret == 0) {
		report = json_loads(r->text, 0, NULL);
		*hash = r->hash;
		ret = tally_read(t, report, why);
		json_decref(report);
	}
	free(r);
	return ret;
}

static void
tell_failures(const struct camp *c, const struct tally *t)
{
	size_t i;
	json_t *f;

	json_array_foreach(t->failures, i, f) {
		const uint64_t seed = (uint64_t)json_integer_value(
			json_object_get(f, "seed"));

		printf("seed %" PRIu64 ": %s\nshrink with: reflit-sim shrink",
		       seed, json_string_value(json_object_get(f, "broken")));
		campaign_arguments(c->o);
		printf(" --seed %" PRIu64 " --out DIR\n", seed);
	}
	fflush(stdout);
}

static uint64_t
left(const struct camp *c)
{
	uint64_t n = 0;

	for (uint64_t b = c->o->shard; b < c->store.blocks; b += c->o->shards)
		n += c->store.line[b] == NULL;
	return n;
}

static int
run_blocks(struct camp *c)
{
	const uint64_t start = wall_ns();
	struct progress far;
	uint64_t done = 0, hash;
	struct tally t;
	int ret = 0;

	progress_begin(&far, "blocks of seeds", left(c), c->o->progress);
	for (uint64_t b = c->o->shard;
	     b < c->store.blocks && ret == 0 && stop_asked() == 0;
	     b += c->o->shards) {
		if (c->store.line[b] != NULL)
			continue;
		if (c->o->budget_ns != 0 &&
		    wall_ns() - start >= c->o->budget_ns)
			break;
		c->seed = c->store.of.first_seed +
			  store_seeds(&c->store, b, &c->seeds);
		hash = 0;
		ret = run_apart(c, &t, &hash);
		if (ret != 0)
			break;
		ret = store_add(&c->store, b, &t, hash);
		if (t.failed != 0)
			progress_end(&far);
		tell_failures(c, &t);
		tally_free(&t);
		progress_tell(&far, ++done, NULL);
	}
	progress_end(&far);
	/* a signal to all processes may have ended the one of the block */
	return ret == -EINTR && stop_asked() != 0 ? 0 : ret;
}

static int
run_campaign(struct camp *c)
{
	struct tally t;
	int ret = run_blocks(c);

	if (ret != 0)
		return say_error(
			EXIT_UNUSABLE, "reflit-sim: campaign: %s\n",
			ret == -EINTR ? "the process that ran seeds was killed"
				      : strerror(-ret));
	if (store_sum(&c->store, &t) != 0)
		return EXIT_UNUSABLE;
	ret = tally_end(&t, c->o->json);
	if (left(c) != 0)
		printf("%" PRIu64 " blocks of %" PRIu64 " seeds are left; the "
		       "same command goes on\n", left(c), c->store.block);
	tally_free(&t);
	return ret;
}

static int
unusable(const char *why)
{
	return say_error(EXIT_UNUSABLE, "reflit-sim: campaign: %s\n", why);
}

int
campaign_store(int argc, char **argv)
{
	static struct setup s; /* large */
	struct options o;
	struct camp c = { .s = &s, .o = &o, .store = { .fd = -1 } };
	struct tally_of of;
	int ret = options_parse(argc, argv, 0, &o);

	if (ret >= 0)
		return ret;
	if (o.store == NULL)
		return unusable("where to? Give --store FILE");
	if (o.config == NULL &&
	    (o.faults != NULL || o.pcap != NULL || o.pairs != NULL))
		return unusable("--faults, captures and pairs need a fabric: "
				"--config");
	if (options_check(&o, OF_CAMPAIGN) != 0)
		return EXIT_UNUSABLE;
	ret = o.config == NULL ? EXIT_KEPT : setup_open(&s, &o);
	if (ret == EXIT_KEPT && s.run)
		ret = unusable("the fault file's `run` lines say all of one run");
	if (ret == EXIT_KEPT) {
		campaign_begin(&s);
		of = (struct tally_of){ o.seed, o.seeds,
					campaign_settings(&o) };
		stop_catch(STOP_AGAIN_KILLS);
		ret = store_open(&c.store, o.store, &of, o.block) != 0
			      ? EXIT_UNUSABLE
			      : run_campaign(&c);
		store_close(&c.store);
	}
	setup_close(&s);
	return ret;
}
