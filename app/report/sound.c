/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <string.h>

#include "sound.h"

enum type { COUNT, TEXT, FLAG, OBJECT, LIST, PAIRS };

static const char *const wanted[] = {
	[COUNT] = "a whole number of 0 or more",
	[TEXT] = "a text",
	[FLAG] = "true or false",
	[OBJECT] = "an object",
	[LIST] = "a list",
	[PAIRS] = "a list of pairs that begin with a number of 0 or more",
};

/* A key of the report; those that go on behind a key are of its object, or of
   each object of its list. */
static const struct row {
	const char *path;
	enum type type;
} rows[] = {
	{ "sent_packets", COUNT }, { "delivered_packets", COUNT },
	{ "lost_packets", COUNT }, { "duplicated_packets", COUNT },
	{ "reordered_packets", COUNT }, { "corrupted_packets", COUNT },
	{ "reported_packets", COUNT }, { "refused_packets", COUNT },
	{ "inexact_packets", COUNT }, { "unwritten_frames", COUNT },
	{ "leaked_flits", COUNT }, { "unrecorded_events", COUNT },
	{ "lost_drop_notices", COUNT }, { "elapsed_ns", COUNT },
	{ "outage_ns", COUNT }, { "flit_hops", COUNT },
	{ "drained", FLAG }, { "killed", FLAG }, { "process", TEXT },
	{ "processes", LIST }, { "attached", LIST },
	{ "edge", OBJECT }, { "edge.refused", COUNT },
	{ "edge.missed", COUNT }, { "edge.cut", COUNT },
	{ "edge.oversize", COUNT }, { "edge.filtered", COUNT },
	{ "channel", OBJECT }, { "channel.outages", COUNT },
	{ "channel.away_ns", COUNT },
	{ "recoveries", LIST }, { "recoveries.epoch", COUNT },
	{ "suspects", LIST }, { "suspects.count", COUNT },
	{ "suspects.looked_flits", COUNT },
	{ "flows.end", TEXT }, { "flows.source", TEXT },
	{ "flows.destination", TEXT }, { "flows.torn", FLAG },
	{ "flows.unlisted", COUNT }, { "flows.reported", PAIRS },
	{ "flows.spans", LIST }, { "flows.spans.first", COUNT },
	{ "flows.spans.packets", COUNT }, { "flows.spans.digest", TEXT },
	{ "flows.runs", LIST }, { "flows.runs.first", COUNT },
	{ "flows.runs.next", COUNT }, { "flows.runs.packets", COUNT },
	{ "flows.runs.digest", TEXT }, { "flows.runs.missing", PAIRS },
};

static bool
is_count(const json_t *v)
{
	return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool
is_pairs(const json_t *v)
{
	size_t i;
	json_t *e;

	json_array_foreach(v, i, e)
		if (json_array_size(e) != 2 || !is_count(json_array_get(e, 0)))
			return false;
	return json_is_array(v);
}

static bool
is(const json_t *v, enum type type)
{
	switch (type) {
	case COUNT:
		return is_count(v);
	case TEXT:
		return json_is_string(v);
	case FLAG:
		return json_is_boolean(v);
	case OBJECT:
		return json_is_object(v);
	case LIST:
		return json_is_array(v);
	default:
		return is_pairs(v);
	}
}

/* Whether all that @p path leads to from @p o, if anything, is of the type. */
static bool
all_are(const json_t *o, const char *path, enum type type)
{
	const size_t len = strcspn(path, ".");
	char key[32];
	const json_t *v;
	json_t *e;
	size_t i;

	snprintf(key, sizeof(key), "%.*s", (int)len, path);
	v = json_object_get(o, key);
	if (path[len] == '\0')
		return v == NULL || is(v, type);
	if (!json_is_array(v))
		return v == NULL || all_are(v, path + len + 1, type);
	json_array_foreach(v, i, e)
		if (!json_is_object(e) || !all_are(e, path + len + 1, type))
			return false;
	return true;
}

bool
sound_report(const json_t *report, const char *name, char *err, size_t len)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (all_are(report, rows[i].path, rows[i].type))
			continue;
		snprintf(err, len, "%s: %s: %s belongs there; give the files of "
				   "--json", name, rows[i].path,
			 wanted[rows[i].type]);
		return false;
	}
	return true;
}
