/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "rl_ranges.h"
#include "rl_refuse.h"

#define NOWHERE UINT64_MAX

struct span {
	const char *src;
	const char *dst;
	uint32_t first;
	uint64_t packets;
	uint64_t digest;
	bool last; /* of its source: nothing restarted after it */
	bool killed; /* its source was killed; unsent packets died with it */
	bool torn; /* a sink of it proves nothing: killed, or no report */
	bool silent; /* its sink was killed, and had received nothing */
	uint64_t killed_end; /* behind all that killed sinks received */
	uint64_t life; /* numbers below went to a peer that has died since */
	struct rl_range_pool pool;
	struct rl_ranges got; /* numbers from its first one on */
	uint64_t twice;	      /* that several runs have */
	uint64_t got_digest;
};

static uint64_t
number(const json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

static uint64_t
hex(const json_t *s)
{
	const char *text = json_string_value(s);

	return text == NULL ? 0 : strtoull(text, NULL, 16);
}

static const char *
text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s == NULL ? "" : s;
}

static bool
is_flow(const json_t *flow, const char *end, const struct span *s)
{
	return strcmp(text(flow, "end"), end) == 0 &&
	       (s == NULL || (strcmp(text(flow, "source"), s->src) == 0 &&
			      strcmp(text(flow, "destination"), s->dst) == 0));
}

/* Numbers lo .. hi-1 arrived. */
static int
add_piece(struct span *s, uint64_t lo, uint64_t hi)
{
	const uint32_t before = s->got.count;

	hi = rl_min_u64(hi, UINT32_MAX);
	if (lo >= hi)
		return 0;
	if (!rl_range_pool_grow(&s->pool))
		return -ENOMEM;
	rl_ranges_add(&s->pool, &s->got, (uint32_t)lo, (uint32_t)hi);
	s->twice += hi - lo - (s->got.count - before);
	return 0;
}

/* A run of a sink, without what is missing in it. */
static int
add_run(struct span *s, const json_t *run, bool killed)
{
	const uint64_t at = (uint32_t)(number(run, "first") - s->first);
	const uint64_t len = (uint32_t)(number(run, "next") -
					number(run, "first"));
	uint64_t lo = 0;
	size_t i;
	json_t *gap;
	int ret = 0;

	if (at >= s->packets)
		return 0; /* of another span, or of another sender's life */
	json_array_foreach(json_object_get(run, "missing"), i, gap) {
		const uint64_t from = (uint64_t)json_integer_value(
			json_array_get(gap, 0));

		ret |= add_piece(s, at + lo, at + from);
		lo = (uint64_t)json_integer_value(json_array_get(gap, 1));
	}
	ret |= add_piece(s, at + lo, at + len);
	if (killed && at + len > s->killed_end)
		s->killed_end = at + len;
	s->got_digest += hex(json_object_get(run, "digest"));
	return ret == 0 ? 0 : -ENOMEM;
}

/* Of the numbers below @p limit. */
static uint64_t
count_got(const struct span *s, uint64_t limit)
{
	return rl_ranges_within(&s->pool, &s->got, 0,
				(uint32_t)rl_min_u64(limit, UINT32_MAX));
}

/* Packets below @p limit that the source gave up and no sink has. */
static uint64_t
count_reported(const struct span *s, const json_t *source, uint64_t limit,
	       uint64_t *digest)
{
	uint64_t n = 0;
	size_t i;
	json_t *r;

	*digest = 0;
	json_array_foreach(json_object_get(source, "reported"), i, r) {
		const uint64_t at =
			(uint32_t)((uint64_t)json_integer_value(
					   json_array_get(r, 0)) -
				   s->first);

		if (at >= limit ||
		    rl_ranges_has(&s->pool, &s->got, (uint32_t)at))
			continue;
		n++;
		*digest += hex(json_array_get(r, 1));
	}
	return n;
}

/*
 * Packets that died with a killed process on their way to or from it: the
 * numbers behind the last that arrived.
 */
static uint64_t
on_its_way(const struct span *s, const json_t *source)
{
	uint64_t end = s->life, all, below, none;

	if (s->got.count != 0)
		end = rl_max_u64(end, s->pool.node[s->got.tail].hi);
	if (end >= s->packets)
		return 0;
	if (!s->killed && (end == 0 || end != s->killed_end) &&
	    (!(s->torn || s->silent) || s->got.count != 0))
		return 0;
	all = count_reported(s, source, s->packets, &none);
	below = count_reported(s, source, end, &none);
	return s->packets - end - (all - below);
}

static void
judge(struct span *s, const json_t *source, struct merged *m)
{
	uint64_t gone, given_up, digest, before, none;

	m->duplicated += s->twice;
	gone = s->packets - count_got(s, s->packets);
	given_up = count_reported(s, source, s->packets, &digest);
	before = s->life - count_got(s, s->life) -
		 count_reported(s, source, s->life, &none);
	m->reported += given_up;
	if (gone == given_up) {
		if (s->got_digest + digest != s->digest)
			m->altered++; /* at least one */
	} else if (s->last) {
		before += on_its_way(s, source);
		m->lost += gone - given_up - before;
		m->unproven += before;
	} else {
		m->unproven += gone - given_up;
	}
}

static bool
was_killed(const json_t *report)
{
	return json_is_true(json_object_get(report, "killed"));
}

static bool
is_torn(const json_t *flow)
{
	return json_is_true(json_object_get(flow, "torn"));
}

static const char *
sink_process(json_t *const report[], unsigned int n, const struct span *s)
{
	json_t *flow;
	size_t k;

	for (unsigned int i = 0; i < n; i++)
		json_array_foreach(json_object_get(report[i], "flows"), k, flow)
			if (is_flow(flow, "sink", s))
				return text(report[i], "process");
	return NULL;
}

/*
 * Whether what is unproven of a span died with a process, as its ledger shows.
 * A source begins a span for each life of its sink, so with fewer lives than
 * that given, a ledger is missing.
 */
static bool
died_with_one(json_t *const report[], unsigned int n, const json_t *source,
	      const struct span *s)
{
	const char *process = sink_process(report, n, s);
	size_t lives = 0;
	bool killed = false;

	if (s->torn || (s->killed && s->last))
		return !s->torn;
	for (unsigned int i = 0; i < n; i++) {
		if (process != NULL &&
		    strcmp(text(report[i], "process"), process) != 0)
			continue;
		lives++;
		killed |= was_killed(report[i]);
	}
	return killed && lives >= json_array_size(
					json_object_get(source, "spans"));
}

/* Whether report @p i is of a killed process that did not come back. */
static bool
stayed_dead(json_t *const report[], unsigned int n, unsigned int i)
{
	if (!was_killed(report[i]))
		return false;
	for (unsigned int k = 0; k < n; k++)
		if (!was_killed(report[k]) &&
		    strcmp(text(report[k], "process"),
			   text(report[i], "process")) == 0)
			return false;
	return true;
}

static int
judge_span(json_t *const report[], unsigned int n, const json_t *source,
	   struct span *s, struct merged *m)
{
	const uint64_t unproven = m->unproven;
	bool heard = false;
	int ret = 0;

	for (unsigned int i = 0; i < n; i++) {
		json_t *flow, *run;
		size_t k, j;

		json_array_foreach(json_object_get(report[i], "flows"), k, flow)
			if (is_flow(flow, "sink", s)) {
				heard = true;
				s->torn |= is_torn(flow);
				s->silent |= stayed_dead(report, n, i);
				json_array_foreach(
					json_object_get(flow, "runs"), j, run)
					ret |= add_run(s, run,
						       was_killed(report[i]));
			}
	}
	s->torn |= !heard && m->missing != 0;
	if (ret == 0)
		judge(s, source, m);
	if (!died_with_one(report, n, source, s))
		m->unaccounted += m->unproven - unproven;
	free(s->pool.node);
	return ret;
}

/*
 * A source learns of a restart when its peer says so. Packets that then waited
 * for the flow to open were written down before, but went to the new life: a
 * run of the sink that begins in the span before.
 * @return the number in the span where that run begins; NOWHERE: there is none
 */
static uint64_t
goes_on(json_t *const report[], unsigned int n, const struct span *s)
{
	for (unsigned int i = 0; i < n; i++) {
		json_t *flow, *run;
		size_t k, j;

		json_array_foreach(json_object_get(report[i], "flows"), k,
				   flow) {
			if (!is_flow(flow, "sink", s))
				continue;
			json_array_foreach(json_object_get(flow, "runs"), j,
					   run) {
				const uint64_t at = (uint32_t)(
					number(run, "first") - s->first);
				const uint64_t len = (uint32_t)(
					number(run, "next") -
					number(run, "first"));

				if (at < s->packets && at + len > s->packets)
					return at;
			}
		}
	}
	return NOWHERE;
}

/* Joins a span with the next ones, as far as runs of the sink join them.
   @return how many */
static size_t
join_spans(json_t *const report[], unsigned int n, const json_t *spans,
	   size_t i, struct span *s)
{
	size_t joined = 0;

	for (; i + 1 + joined < json_array_size(spans); joined++) {
		const json_t *o = json_array_get(spans, i + 1 + joined);
		const uint64_t at = goes_on(report, n, s);

		if (at == NOWHERE || (uint32_t)number(o, "first") !=
				       (uint32_t)(s->first + s->packets))
			break;
		s->life = at;
		s->packets += number(o, "packets");
		s->digest += hex(json_object_get(o, "digest"));
		s->last = i + 2 + joined == json_array_size(spans);
	}
	return joined;
}

static int
judge_source(json_t *const report[], unsigned int n, const json_t *source,
	     bool killed, struct merged *m)
{
	const json_t *spans = json_object_get(source, "spans");
	size_t i;

	m->flows++;
	m->unlisted += number(source, "unlisted");
	for (i = 0; i < json_array_size(spans); i++) {
		const json_t *o = json_array_get(spans, i);
		struct span s = {
			.src = text(source, "source"),
			.dst = text(source, "destination"),
			.first = (uint32_t)number(o, "first"),
			.packets = number(o, "packets"),
			.digest = hex(json_object_get(o, "digest")),
			.last = i + 1 == json_array_size(spans),
			.killed = killed,
		};

		i += join_spans(report, n, spans, i, &s);
		if (judge_span(report, n, source, &s, m) != 0)
			return -ENOMEM;
	}
	return 0;
}

static bool
was_sent(json_t *const report[], unsigned int n, const json_t *sink,
	 const json_t *run)
{
	const struct span s = {
		.src = text(sink, "source"),
		.dst = text(sink, "destination"),
	};

	for (unsigned int i = 0; i < n; i++) {
		json_t *flow, *span;
		size_t k, j;

		json_array_foreach(json_object_get(report[i], "flows"), k, flow)
			if (is_flow(flow, "source", &s))
				json_array_foreach(
					json_object_get(flow, "spans"), j, span)
					if ((uint32_t)(number(run, "first") -
						       number(span, "first")) <
					    number(span, "packets"))
						return true;
	}
	return false;
}

static void
judge_sink(json_t *const report[], unsigned int n, const json_t *sink,
	   struct merged *m)
{
	json_t *run;
	size_t i;

	m->unlisted += number(sink, "unlisted");
	json_array_foreach(json_object_get(sink, "runs"), i, run)
		if (!was_sent(report, n, sink, run)) {
			m->unproven += number(run, "packets");
			m->unaccounted += number(run, "packets");
		}
}

/* What a process saw without the others. */
static void
add_report(const json_t *r, struct merged *m)
{
	const json_t *edge = json_object_get(r, "edge");

	m->sent += number(r, "sent_packets");
	m->delivered += number(r, "delivered_packets");
	m->lost += number(r, "lost_packets");
	m->duplicated += number(r, "duplicated_packets");
	m->reordered += number(r, "reordered_packets");
	m->altered += number(r, "corrupted_packets");
	m->reported += number(r, "reported_packets");
	m->refused += number(r, "refused_packets");
	m->edge.refused += number(edge, "refused");
	m->edge.missed += number(edge, "missed");
	m->edge.cut += number(edge, "cut");
	m->edge.oversize += number(edge, "oversize");
	m->edge.filtered += number(edge, "filtered");
	m->ports += (unsigned int)json_array_size(json_object_get(r,
								  "attached"));
	m->unclean += number(r, "inexact_packets") +
			      number(r, "unwritten_frames") +
			      number(r, "leaked_flits") +
			      number(r, "unrecorded_events") +
			      number(r, "lost_drop_notices") !=
		      0;
	m->unclean += json_is_false(json_object_get(r, "drained"));
}

/* A report counts once, under whatever file name it is given. */
static int
all_differ(json_t *const report[], const char *const name[], unsigned int n,
	   char *err, size_t len)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < i; k++)
			if (json_equal(report[i], report[k]) != 0)
				return rl_refuse(err, len, -EINVAL,
						"%s: is the same report as %s; "
						"give each report once",
						name[i], name[k]);
	return 0;
}

static int
same_fabric(json_t *const report[], const char *const name[], unsigned int n,
	    char *err, size_t len)
{
	const char *digest = text(report[0], "digest");

	for (unsigned int i = 0; i < n; i++) {
		const char *other = text(report[i], "digest");

		if (other[0] == '\0' || !json_is_array(json_object_get(
						report[i], "flows")))
			return rl_refuse(err, len, -EINVAL, "%s: is no report "
					 "of reflit's; give the files of "
					 "--json", name[i]);
		if (strcmp(digest, other) != 0)
			return rl_refuse(err, len, -EINVAL, "%s: is of another "
					 "fabric than %s; give the reports of "
					 "one", name[i], name[0]);
	}
	return 0;
}

int
merge_reports(json_t *const report[], const char *const name[], unsigned int n,
	      unsigned int missing, struct merged *m, char *err, size_t len)
{
	int ret = same_fabric(report, name, n, err, len);

	if (ret == 0)
		ret = all_differ(report, name, n, err, len);
	*m = (struct merged){ .missing = missing };
	for (unsigned int i = 0; i < n && ret == 0; i++) {
		json_t *flow;
		size_t k;

		add_report(report[i], m);
		json_array_foreach(json_object_get(report[i], "flows"), k,
				   flow) {
			m->torn += is_torn(flow);
			if (is_flow(flow, "source", NULL))
				ret |= judge_source(report, n, flow,
						    was_killed(report[i]), m);
			else
				judge_sink(report, n, flow, m);
		}
		if (ret != 0)
			snprintf(err, len, "out of memory");
	}
	return ret;
}

bool
merged_mostly_given_up(const struct merged *m)
{
	return 2 * m->reported > m->sent && m->sent != 0;
}

bool
merged_clean(const struct merged *m)
{
	return m->lost + m->duplicated + m->reordered + m->altered +
		       m->unlisted + m->unclean + m->unaccounted + m->torn ==
	       0;
}
