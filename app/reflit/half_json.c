/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>

#include "half_json.h"
#include "json_set.h"

/* JSON's numbers are signed: sums of digests are texts. */
json_t *
half_hex(uint64_t v)
{
	char buf[20];

	snprintf(buf, sizeof(buf), "%016" PRIx64, v);
	return json_string(buf);
}

static void
source_json(json_t *o, const struct half *h)
{
	json_t *spans = json_array(), *reported = json_array();

	for (uint32_t i = 0; i < h->nspans; i++) {
		json_t *s = json_object();

		set(s, "first", h->span[i].first);
		set(s, "packets", h->span[i].packets);
		json_object_set_new(s, "digest", half_hex(h->span[i].digest));
		json_array_append_new(spans, s);
	}
	for (uint32_t i = 0; i < h->nreports; i++) {
		json_t *r = json_array();

		json_array_append_new(r, json_integer(h->report[i].tag));
		json_array_append_new(r, half_hex(h->report[i].digest));
		json_array_append_new(reported, r);
	}
	json_object_set_new(o, "spans", spans);
	json_object_set_new(o, "reported", reported);
}

static json_t *
missing_json(const struct half *h, const struct rl_ranges *s)
{
	json_t *a = json_array();

	for (uint32_t i = s->head; i != RL_RANGE_END; i = h->node[i].next) {
		json_t *r = json_array();

		json_array_append_new(r, json_integer(h->node[i].lo));
		json_array_append_new(r, json_integer(h->node[i].hi));
		json_array_append_new(a, r);
	}
	return a;
}

static void
sink_json(json_t *o, const struct half *h)
{
	json_t *runs = json_array();

	for (uint32_t i = 0; i < h->nruns; i++) {
		const struct half_run *run = &h->run[i];
		json_t *r = json_object();

		set(r, "first", run->first);
		set(r, "next", run->first + run->seen.next);
		set(r, "packets", run->packets);
		json_object_set_new(r, "digest", half_hex(run->digest));
		json_object_set_new(r, "missing",
				    missing_json(h, &run->seen.missing));
		json_array_append_new(runs, r);
	}
	json_object_set_new(o, "runs", runs);
}

json_t *
half_json(const struct half *h, const char *src, const char *dst)
{
	json_t *o = json_object();

	json_object_set_new(o, "source", json_string(src));
	json_object_set_new(o, "destination", json_string(dst));
	json_object_set_new(o, "end",
			    json_string(h->sink ? "sink" : "source"));
	set(o, "unlisted", h->unlisted + h->pool.lost);
	if (h->sink)
		sink_json(o, h);
	else
		source_json(o, h);
	return o;
}
