/* SPDX-License-Identifier: BSD-3-Clause */

#include "tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_set.h"
#include "judge.h"
#include "rl_refuse.h"

/* Each sum under its key: added, written and read by one list. */
#define LOAD_SUMS(X)                                                           \
	X("sent_packets", load.sent)                                           \
	X("delivered_packets", load.delivered)                                 \
	X("lost_packets", load.lost)                                           \
	X("duplicated_packets", load.duplicated)                               \
	X("reordered_packets", load.reordered)                                 \
	X("corrupted_packets", load.corrupted)                                 \
	X("reported_delivered_packets", load.reported_delivered)               \
	X("died_packets", load.died)                                           \
	X("refused_packets", load.refused)                                     \
	X("redirected_packets", load.redirected)                               \
	X("sent_requests", load.sent_requests)                                 \
	X("delivered_requests", load.delivered_requests)                       \
	X("sent_responses", load.sent_responses)                               \
	X("delivered_responses", load.delivered_responses)
#define SUMS(X)                                                                \
	LOAD_SUMS(X)                                                           \
	X("flit_hops", flits)                                                  \
	X("elapsed_ns", elapsed_ns)                                            \
	X("wall_ns", wall_ns)                                                  \
	X("seeds", seeds)                                                      \
	X("failover_count", failovers)                                         \
	X("recovery_count", recoveries)

/* What single runs list, and a campaign only counts. */
static const char *const lists[] = { "failovers", "recoveries", "unreachable",
				     "suspects", "alarms" };

void
tally_init(struct tally *t, const struct tally_of *of)
{
	memset(t, 0, sizeof(*t));
	t->of = *of;
	t->failures = json_array();
	rl_hist_reset(&t->load.latency);
}

void
tally_free(struct tally *t)
{
	json_decref(t->failures);
	t->failures = NULL;
}

void
tally_add(struct tally *t, uint64_t seed, const struct rl_swarm_verdict *v)
{
	char shape[sizeof(v->why)];

	t->seeds++;
#define ADD(key, field) t->field += v->field;
	LOAD_SUMS(ADD)
#undef ADD
	t->load.reported += v->load.reported;
	t->load.outage_ns = rl_max_u64(t->load.outage_ns, v->load.outage_ns);
	rl_hist_merge(&t->load.latency, &v->load.latency);
	t->flits += v->sim.flits;
	t->failovers += v->failovers;
	t->recoveries += v->recoveries;
	t->elapsed_ns += v->end_ns;
	if (v->ok)
		return;
	judge_shape(v->why, shape, sizeof(shape));
	t->failed++;
	json_array_append_new(t->failures,
			      json_pack("{s:I, s:s, s:s}", "seed",
					(json_int_t)seed, "broken", v->why,
					"fingerprint", shape));
}

void
tally_merge(struct tally *to, const struct tally *from)
{
#define ADD(key, field) to->field += from->field;
	SUMS(ADD)
#undef ADD
	to->load.reported += from->load.reported;
	to->load.outage_ns = rl_max_u64(to->load.outage_ns,
					from->load.outage_ns);
	to->oversize = rl_max_u64(to->oversize, from->oversize);
	to->failed += from->failed;
	rl_hist_merge(&to->load.latency, &from->load.latency);
	json_array_extend(to->failures, from->failures);
}

void
tally_print(const struct tally *t)
{
	printf("%" PRIu64 " seeds from %" PRIu64 ": %" PRIu64
	       " packets, %" PRIu64 " failovers; lost %" PRIu64
	       ", duplicated %" PRIu64 ", reordered %" PRIu64
	       ", altered %" PRIu64 ", reported %" PRIu64 "; %" PRIu64
	       " seeds failed\n",
	       t->seeds, t->of.first_seed, t->load.sent, t->failovers,
	       t->load.lost, t->load.duplicated, t->load.reordered, t->load.corrupted,
	       rl_sim_load_given_up(&t->load), t->failed);
}

int
tally_end(const struct tally *t, const char *json)
{
	tally_print(t);
	if (json != NULL && report_write(tally_json(t), json) != 0)
		return EXIT_UNUSABLE;
	return t->failed != 0 ? EXIT_BROKEN : EXIT_KEPT;
}

static json_t *
of_json(const struct tally_of *of)
{
	char hash[20];

	snprintf(hash, sizeof(hash), "%016" PRIx64, of->settings);
	return json_pack("{s:I, s:I, s:s}", "first_seed",
			 (json_int_t)of->first_seed, "seeds",
			 (json_int_t)of->seeds, "settings", hash);
}

static json_t *
hist_json(const struct rl_hist *h)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < RL_HIST_BUCKETS; i++)
		if (h->bucket[i] != 0)
			json_array_append_new(
				a, json_pack("[i, I]", (int)i,
					     (json_int_t)h->bucket[i]));
	return json_pack("{s:I, s:I, s:I, s:o}", "sum_ns", (json_int_t)h->sum,
			 "min_ns", (json_int_t)(h->count == 0 ? 0 : h->min),
			 "max_ns", (json_int_t)h->max, "buckets", a);
}

json_t *
tally_json(const struct tally *t)
{
	const struct rl_hist *h = &t->load.latency;
	json_t *root = json_object();

#define SET(key, field)                                                        \
	json_object_set_new(root, key, json_integer((json_int_t)t->field));
	SUMS(SET)
#undef SET
	json_object_set_new(root, "reported_packets",
			    json_integer((json_int_t)rl_sim_load_given_up(
				    &t->load)));
	set(root, "outage_ns", t->load.outage_ns);
	json_object_set_new(root, "edge", edge_json(t->oversize));
	for (size_t i = 0; i < RL_ARRAY_SIZE(lists); i++)
		json_object_set_new(root, lists[i], json_array());
	json_object_set_new(
		root, "latency_ns",
		json_pack("{s:I, s:I, s:I, s:I}", "p50",
			  (json_int_t)rl_hist_quantile(h, 50000), "p99",
			  (json_int_t)rl_hist_quantile(h, 99000), "p999",
			  (json_int_t)rl_hist_quantile(h, 99900), "max",
			  (json_int_t)h->max));
	json_object_set_new(root, "first_seed",
			    json_integer((json_int_t)t->of.first_seed));
	json_object_set_new(root, "interrupted",
			    json_boolean(t->seeds < t->of.seeds));
	json_object_set(root, "failures", t->failures);
	json_object_set_new(root, "campaign", of_json(&t->of));
	json_object_set_new(root, "latencies", hist_json(h));
	return root;
}

/* A count of @p o; -1 if it has none. */
static json_int_t
count_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : -1;
}

static int
missing(char *why, const char *key)
{
	return rl_refuse(why, RL_ERR_MAX, -EINVAL, "%s is missing or no count",
			 key);
}

static int
take_count(const json_t *o, const char *key, uint64_t *v, char *why)
{
	const json_int_t n = count_of(o, key);

	*v = (uint64_t)n;
	return n < 0 ? missing(why, key) : 0;
}

static int
read_of(struct tally_of *of, const json_t *o, char *why)
{
	const char *hash = json_string_value(json_object_get(o, "settings"));
	char *end;

	if (!json_is_object(o))
		return rl_refuse(why, RL_ERR_MAX, -EINVAL, "no result of a "
				 "campaign's block");
	if (take_count(o, "first_seed", &of->first_seed, why) != 0 ||
	    take_count(o, "seeds", &of->seeds, why) != 0)
		return -EINVAL;
	of->settings = hash == NULL ? 0 : strtoull(hash, &end, 16);
	return hash == NULL || end != hash + 16 || *end != '\0'
		       ? missing(why, "settings")
		       : 0;
}

static int
read_hist(struct rl_hist *h, const json_t *o, char *why)
{
	const json_t *buckets = json_object_get(o, "buckets");

	rl_hist_reset(h);
	if (!json_is_array(buckets))
		return missing(why, "latencies");
	if (take_count(o, "sum_ns", &h->sum, why) != 0 ||
	    take_count(o, "min_ns", &h->min, why) != 0 ||
	    take_count(o, "max_ns", &h->max, why) != 0)
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *b = json_array_get(buckets, i);
		json_int_t at, n;

		if (json_unpack((json_t *)(uintptr_t)b, "[I, I!]", &at, &n) !=
			    0 ||
		    at < 0 || at >= RL_HIST_BUCKETS || n < 1 ||
		    h->bucket[at] != 0)
			return rl_refuse(why, RL_ERR_MAX, -EINVAL,
					 "bucket %zu of latencies is corrupt",
					 i);
		h->bucket[at] = (uint64_t)n;
		h->count += (uint64_t)n;
	}
	if (h->count == 0)
		h->min = UINT64_MAX;
	return 0;
}

static int
read_failures(struct tally *t, const json_t *a, char *why)
{
	size_t i;
	json_t *f;

	if (!json_is_array(a))
		return missing(why, "failures");
	json_array_foreach(a, i, f)
		if (!json_is_integer(json_object_get(f, "seed")) ||
		    !json_is_string(json_object_get(f, "broken")))
			return rl_refuse(why, RL_ERR_MAX, -EINVAL,
					 "failure %zu is corrupt", i);
	json_array_extend(t->failures, (json_t *)(uintptr_t)a);
	t->failed = json_array_size(a);
	return 0;
}

static int
read_sums(struct tally *t, const json_t *report, char *why)
{
	uint64_t reported;

#define READ(key, field)                                                       \
	if (take_count(report, key, &t->field, why) != 0)                      \
		return -EINVAL;
	SUMS(READ)
#undef READ
	if (take_count(report, "reported_packets", &reported, why) != 0)
		return -EINVAL;
	if (reported < t->load.died)
		return rl_refuse(why, RL_ERR_MAX, -EINVAL, "more died_packets "
				 "than reported_packets");
	t->load.reported = reported - t->load.died +
			   t->load.reported_delivered;
	if (take_count(report, "outage_ns", &t->load.outage_ns, why) != 0 ||
	    take_count(json_object_get(report, "edge"), "oversize",
		       &t->oversize, why) != 0)
		return -EINVAL;
	if (t->seeds <= t->of.seeds && t->failed <= t->seeds)
		return 0;
	return rl_refuse(why, RL_ERR_MAX, -EINVAL, "%" PRIu64 " seeds, %" PRIu64
			 " failed, of a block of %" PRIu64, t->seeds, t->failed,
			 t->of.seeds);
}

int
tally_read(struct tally *t, const json_t *report, char *why)
{
	struct tally_of of = { 0 };
	int ret = read_of(&of, json_object_get(report, "campaign"), why);

	if (ret != 0)
		return ret;
	tally_init(t, &of);
	ret = read_failures(t, json_object_get(report, "failures"), why);
	if (ret == 0)
		ret = read_sums(t, report, why);
	if (ret == 0)
		ret = read_hist(&t->load.latency,
				json_object_get(report, "latencies"), why);
	if (ret != 0)
		tally_free(t);
	return ret;
}
