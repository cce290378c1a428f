/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "delay_report.h"
#include "json_set.h"

static json_t *
delay_quantiles(const struct rl_hist *h)
{
	json_t *o = json_object();

	set(o, "p50", rl_hist_quantile(h, 50000));
	set(o, "p99", rl_hist_quantile(h, 99000));
	set(o, "p999", rl_hist_quantile(h, 99900));
	set(o, "max", h->max);
	return o;
}

struct rl_delay *
delay_sum(const struct rl_delay *by_vc)
{
	struct rl_delay *sum = calloc(1, sizeof(*sum));

	if (sum == NULL)
		return NULL;
	rl_delay_reset(sum);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		rl_delay_merge(sum, &by_vc[vc]);
	return sum;
}

static json_t *
by_vc_json(const struct rl_delay *by_vc)
{
	json_t *a = json_array();

	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		const struct rl_delay *d = &by_vc[vc];
		json_t *o;

		if (d->latency.count == 0)
			continue;
		o = json_object();
		set(o, "vc", vc);
		set(o, "packets", d->latency.count);
		set(o, "mean_ns", rl_hist_mean(&d->latency));
		json_object_set_new(o, "latency_ns",
				    delay_quantiles(&d->latency));
		json_object_set_new(o, "jitter_ns",
				    delay_quantiles(&d->jitter));
		json_array_append_new(a, o);
	}
	return a;
}

void
delay_json(json_t *report, const struct rl_delay *by_vc)
{
	struct rl_delay *sum = delay_sum(by_vc);

	if (sum == NULL)
		return;
	json_object_set_new(report, "latency_ns",
			    delay_quantiles(&sum->latency));
	json_object_set_new(report, "jitter_ns",
			    delay_quantiles(&sum->jitter));
	json_object_set_new(report, "latency_by_vc", by_vc_json(by_vc));
	free(sum);
}

static double
us(const struct rl_hist *h, uint32_t parts)
{
	return (double)rl_hist_quantile(h, parts) / 1e3;
}

void
delay_print(const struct rl_delay *by_vc)
{
	for (unsigned int vc = 0; vc < RL_VCS; vc++) {
		const struct rl_hist *l = &by_vc[vc].latency;
		const struct rl_hist *j = &by_vc[vc].jitter;

		if (l->count == 0)
			continue;
		printf("  VC %u: %" PRIu64 " packets; p50 %.3f us, p99 %.3f us, "
		       "p99.9 %.3f us, max %.3f us; jitter p50 %.3f us, p99 "
		       "%.3f us, max %.3f us\n",
		       vc, l->count, us(l, 50000), us(l, 99000), us(l, 99900),
		       (double)l->max / 1e3, us(j, 50000), us(j, 99000),
		       (double)j->max / 1e3);
	}
}
