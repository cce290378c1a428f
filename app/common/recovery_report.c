/* SPDX-License-Identifier: BSD-3-Clause */

#include "recovery_report.h"

#include <stdio.h>

static uint64_t
since(uint64_t start_ns, uint64_t t_ns)
{
	return t_ns > start_ns ? t_ns - start_ns : 0;
}

static json_t *
one(const struct rl_recovery *r, const struct rl_topo *topo, uint64_t start_ns)
{
	char cause[2 * RL_NAME_MAX + 64];

	return json_pack(
		"{s:i, s:s, s:i, s:I, s:I, s:I, s:I, s:s, s:i, s:I, s:I, s:I, "
		"s:I, s:i, s:s}",
		"epoch", (int)r->epoch, "cause",
		rl_recovery_text(r, topo, cause, sizeof(cause)), "changes",
		(int)r->changes, "at_ns",
		(json_int_t)since(start_ns, r->at_ns), "detect_ns",
		(json_int_t)r->detect_ns, "compute_ns",
		(json_int_t)r->compute_ns, "prove_ns", (json_int_t)r->prove_ns,
		"mode", rl_resil_mode_name(r->mode), "held_flows",
		(int)r->held_flows, "quiesce_ns", (json_int_t)r->quiesce_ns,
		"install_ns", (json_int_t)r->install_ns, "unquiesce_ns",
		(json_int_t)r->unquiesce_ns, "paused_ns",
		(json_int_t)r->paused_ns, "silent_devices", (int)r->silent,
		"outcome", rl_outcome_name(r->outcome));
}

json_t *
recoveries_json(const struct rl_recovery *r, uint32_t n,
		const struct rl_topo *topo, uint64_t start_ns)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(a, one(&r[i], topo, start_ns));
	return a;
}

static void
span(uint64_t ns)
{
	if (ns == 0)
		printf(" %11s", "-");
	else
		printf(" %8.1f us", (double)ns / 1e3);
}

void
recoveries_print(const struct rl_recovery *r, uint32_t n,
		 const struct rl_topo *topo, uint64_t start_ns, uint32_t most)
{
	char cause[2 * RL_NAME_MAX + 64];

	printf("%-5s %10s  %-26s %-8s %-10s %11s %11s %11s %11s %11s %11s "
	       "%6s\n", "epoch", "at", "recovery", "mode", "outcome", "gathered",
	       "computed", "proven", "quiesced", "installed", "paused", "held");
	for (uint32_t i = n > most ? n - most : 0; i < n; i++) {
		printf("%-5u %7.1f ms  %-26s %-8s %-10s", r[i].epoch,
		       (double)since(start_ns, r[i].at_ns) / 1e6,
		       rl_recovery_text(&r[i], topo, cause, sizeof(cause)),
		       rl_resil_mode_name(r[i].mode),
		       rl_outcome_name(r[i].outcome));
		span(r[i].detect_ns);
		span(r[i].compute_ns);
		span(r[i].prove_ns);
		span(r[i].quiesce_ns);
		span(r[i].install_ns);
		span(r[i].paused_ns);
		printf(" %6u\n", r[i].held_flows);
	}
}
