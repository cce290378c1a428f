/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "sim_app.h"

/*
 * Fairness and throughput: what each sender had delivered in the window, by
 * default until the traffic ends. Later everything arrives, so the end of the
 * run shows only who sends.
 */

/* A number of flits in the window, as flits for each slot. */
static double
per_slot(const struct setup *s, const struct outcome *out, double flits)
{
	const double ps =
		(double)(out->counted.to_ns - out->counted.from_ns) * 1000;

	return flits * s->plan.load.slot_ps / ps;
}

static const char *
name_of(const struct setup *s, uint16_t ep)
{
	const struct rl_topo *t = &s->plan.cfg.topo;

	return t->dev[t->ep_dev[ep]].name;
}

json_t *
shares_json(const struct setup *s, const struct outcome *out)
{
	const struct rl_sim_load_window *w = out->window;
	const struct rl_hist *h = &w->latency;
	const double mean = (double)w->flits / w->senders;

	return json_pack(
		"{s:I,s:I,s:i,s:I,s:I,s:f,s:f,s:s,s:f,s:f,"
		"s:{s:I,s:I,s:I,s:I,s:I}}",
		"from_ns", (json_int_t)out->counted.from_ns, "to_ns",
		(json_int_t)out->counted.to_ns, "count", (int)w->senders,
		"packets", (json_int_t)w->packets, "flits",
		(json_int_t)w->flits, "delivered", per_slot(s, out, mean),
		"worst", per_slot(s, out, (double)w->slowest_flits),
		"worst_sender", name_of(s, w->slowest), "slowest",
		(double)w->slowest_flits / mean, "jain", w->jain, "latency_ns",
		"mean", (json_int_t)rl_hist_mean(h), "p50",
		(json_int_t)rl_hist_quantile(h, 50000), "p99",
		(json_int_t)rl_hist_quantile(h, 99000), "p999",
		(json_int_t)rl_hist_quantile(h, 99900), "max",
		(json_int_t)h->max);
}

void
shares_print(const struct setup *s, const struct outcome *out)
{
	const struct rl_sim_load_window *w = out->window;
	const struct rl_hist *h;

	if (s->plan.load.window.to_ns == 0 || w == NULL)
		return;
	h = &w->latency;
	printf("from %" PRIu64 " to %" PRIu64 " ns: %u senders, %.4f flits "
	       "for each slot and sender, %.4f of the worst, %s; Jain's "
	       "index %.4f\n", out->counted.from_ns, out->counted.to_ns,
	       w->senders, per_slot(s, out, (double)w->flits / w->senders),
	       per_slot(s, out, (double)w->slowest_flits),
	       name_of(s, w->slowest), w->jain);
	printf("latency ns in that time: mean %" PRIu64 ", p50 %" PRIu64
	       ", p99 %" PRIu64 ", max %" PRIu64 "\n",
	       rl_hist_mean(h), rl_hist_quantile(h, 50000),
	       rl_hist_quantile(h, 99000), h->max);
}
