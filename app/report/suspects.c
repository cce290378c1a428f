/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdbool.h>

#include "suspects.h"

static json_int_t
number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static bool
is_same(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "part"),
			  json_object_get(b, "part")) != 0 &&
	       json_equal(json_object_get(a, "kind"),
			  json_object_get(b, "kind")) != 0;
}

static void
add(json_t *all, const json_t *suspect)
{
	static const char *const sums[] = { "count", "looked_flits" };
	json_t *known = NULL, *e;
	size_t k;

	json_array_foreach(all, k, e)
		if (is_same(e, suspect))
			known = e;
	if (known == NULL) {
		json_array_append_new(all, json_deep_copy(suspect));
		return;
	}
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		json_object_set_new(known, sums[i],
				    json_integer(number(known, sums[i]) +
						 number(suspect, sums[i])));
}

/* The worst of those left in @p from. */
static size_t
worst(const json_t *from)
{
	size_t k, at = 0;
	json_t *e;

	json_array_foreach(from, k, e)
		if (number(e, "count") >
		    number(json_array_get(from, at), "count"))
			at = k;
	return at;
}

json_t *
suspects_merge(json_t *const report[], unsigned int n)
{
	json_t *all = json_array(), *sorted = json_array(), *e;
	json_int_t altered = 0;
	size_t k;

	for (unsigned int i = 0; i < n; i++)
		json_array_foreach(json_object_get(report[i], "suspects"), k, e)
		{
			add(all, e);
			altered += number(e, "count");
		}
	while (json_array_size(all) != 0) {
		const size_t at = worst(all);

		e = json_array_get(all, at);
		/* as in lib/device/rl_suspect.h */
		json_object_set_new(e, "confidence_percent",
				    json_integer(100 * (number(e, "count") + 1) /
						 (altered + 2)));
		json_array_append(sorted, e);
		json_array_remove(all, at);
	}
	json_decref(all);
	return sorted;
}
