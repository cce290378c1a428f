/* SPDX-License-Identifier: BSD-3-Clause */

/* What the controller did, as reports say it. */

#include "sim_app.h"

static json_t *
one(const struct rl_recovery *r, const struct rl_topo *topo)
{
	char cause[2 * RL_NAME_MAX + 64];

	return json_pack(
		"{s:i, s:s, s:i, s:I, s:I, s:I, s:I, s:s, s:i, s:I, s:I, s:I, "
		"s:I, s:i, s:s}",
		"epoch", (int)r->epoch, "cause",
		rl_recovery_text(r, topo, cause, sizeof(cause)), "changes",
		(int)r->changes, "at_ns", (json_int_t)r->at_ns, "detect_ns",
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
recoveries_json(const struct rl_sim *sim, const struct rl_topo *topo)
{
	json_t *a = json_array();
	uint32_t n;
	const struct rl_recovery *r = rl_sim_recoveries(sim, &n);

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(a, one(&r[i], topo));
	return a;
}
