/* SPDX-License-Identifier: BSD-3-Clause */

/* The result of a run. The keys of the JSON report are a contract. */

#include <inttypes.h>
#include <stdio.h>

#include "delay_report.h"
#include "json_set.h"
#include "report_file.h"
#include "sim_app.h"

static json_t *
drops_json(const struct rl_sim_stats *st)
{
	json_t *o = json_object();

	for (int r = 0; r < RL_DROP_REASON_COUNT; r++)
		set(o, rl_drop_reason_name((enum rl_drop_reason)r),
		    st->drops[r]);
	return o;
}

static json_t *
wires_json(const struct rl_sim_stats *st)
{
	json_t *o = json_object();

	set(o, "frames", st->frames);
	set(o, "lost", st->frames_lost);
	set(o, "hurt", st->frames_corrupt);
	set(o, "repeated", st->frames_dup);
	set(o, "delayed", st->frames_delayed);
	set(o, "late", st->frames_late);
	return o;
}

json_t *
edge_json(uint64_t oversize)
{
	/* captures are not read by ports, so nothing is missed there */
	return json_pack("{s:i, s:i, s:i, s:I}", "refused", 0, "missed", 0,
			 "cut", 0, "oversize", (json_int_t)oversize);
}

static void
set_packets(json_t *o, const struct rl_sim_load_stats *l, uint64_t oversize)
{
	set(o, "sent_packets", l->sent);
	set(o, "delivered_packets", l->delivered);
	set(o, "lost_packets", l->lost);
	set(o, "duplicated_packets", l->duplicated);
	set(o, "reordered_packets", l->reordered);
	set(o, "corrupted_packets", l->corrupted);
	set(o, "reported_packets", rl_sim_load_given_up(l));
	set(o, "reported_delivered_packets", l->reported_delivered);
	set(o, "refused_packets", l->refused);
	set(o, "redirected_packets", l->redirected);
	json_object_set_new(o, "edge", edge_json(oversize));
	set(o, "sent_requests", l->sent_requests);
	set(o, "delivered_requests", l->delivered_requests);
	set(o, "sent_responses", l->sent_responses);
	set(o, "delivered_responses", l->delivered_responses);
}

json_t *
report_json(const struct setup *s, const struct options *o,
	    struct outcome *out)
{
	const struct rl_swarm_verdict *v = &out->v;
	json_t *root = json_object();

	set_packets(root, &v->load, s->oversize);
	set(root, "flit_hops", v->sim.flits);
	set(root, "elapsed_ns", out->elapsed_ns);
	set(root, "wall_ns", out->wall_ns);
	set(root, "threads", s->threads);
	delay_json(root, out->delay);
	json_object_set_new(root, "failovers", out->failovers);
	out->failovers = NULL;
	json_object_set_new(root, "unreachable",
			    absences_json(&out->absences, &s->plan.cfg.topo,
					  0));
	json_object_set_new(root, "recoveries", out->recoveries);
	out->recoveries = NULL;
	if (out->window != NULL)
		json_object_set_new(root, "senders", shares_json(s, out));
	set(root, "died_packets", v->load.died);
	set(root, "seed", s->plan.seed);
	set(root, "outage_ns", v->load.outage_ns);
	set(root, "flits_peak", v->sim.flits_peak);
	set(root, "polls", v->sim.polls);
	json_object_set_new(root, "drops", drops_json(&v->sim));
	json_object_set_new(root, "wires", wires_json(&v->sim));
	counter_sums_json(root, &out->counters);
	if (out->parts != NULL)
		(void)json_object_update(root, out->parts);
	json_object_set_new(root, "adaptive",
			    json_boolean(s->plan.route->adapts));
	json_object_set_new(root, "at_rest", json_boolean(out->at_rest));
	json_object_set_new(root, "interrupted",
			    json_boolean(out->interrupted));
	json_object_set_new(root, "broken", json_string(v->why));
	if (o->pcap != NULL) {
		set(root, "trace_frames", s->trace.n);
		set(root, "trace_oversize", s->oversize);
		json_object_set_new(root, "trace_truncated",
				    json_boolean(s->truncated));
	}
	return root;
}

int
report_write(json_t *root, const char *path)
{
	const int ret = report_save("reflit-sim", root, path);

	json_decref(root);
	return ret;
}

/* Packets that were not sent, or not where they were to go. */
static void
print_unsent(const struct rl_sim_load_stats *l)
{
	if (l->refused != 0)
		printf("refused %" PRIu64 ": there was no way to their "
		       "destination\n", l->refused);
	if (l->redirected != 0)
		printf("redirected %" PRIu64 ": they went elsewhere, as their "
		       "destinations did not answer for a while\n",
		       l->redirected);
}

void
report_print(const struct setup *s, const struct outcome *out)
{
	const struct rl_swarm_verdict *v = &out->v;
	const struct rl_sim_load_stats *l = &v->load;

	if (s->oversize != 0)
		printf("%" PRIu64 " frames of the capture are longer than a "
		       "packet and were left out\n", s->oversize);
	if (s->truncated)
		printf("the capture ends in the middle of a frame\n");
	printf("sent %" PRIu64 " packets, delivered %" PRIu64 " in %.3f ms of "
	       "virtual time\n", l->sent, l->delivered,
	       (double)out->elapsed_ns / 1e6);
	printf("lost %" PRIu64 ", duplicated %" PRIu64 ", reordered %" PRIu64
	       ", altered %" PRIu64 ", reported %" PRIu64 "\n", l->lost,
	       l->duplicated, l->reordered, l->corrupted,
	       rl_sim_load_given_up(l));
	if (l->sent_requests != 0)
		printf("requests %" PRIu64 ", arrived %" PRIu64 "; responses %"
		       PRIu64 ", arrived %" PRIu64 "\n", l->sent_requests,
		       l->delivered_requests, l->sent_responses,
		       l->delivered_responses);
	print_unsent(l);
	printf("latency ns: p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
	       ", max %" PRIu64 "; failovers %u\n",
	       rl_hist_quantile(&l->latency, 50000),
	       rl_hist_quantile(&l->latency, 99000),
	       rl_hist_quantile(&l->latency, 99900), l->latency.max,
	       v->failovers);
	if (out->nrecoveries != 0)
		printf("recoveries %u: the last %s, %s; longest silence of a "
		       "connected flow %.3f ms\n", out->nrecoveries,
		       rl_outcome_name(out->recovery.outcome),
		       rl_resil_mode_name(out->recovery.mode),
		       (double)l->outage_ns / 1e6);
	if (l->died != 0)
		printf("of the reported, died with endpoints that crashed: %"
		       PRIu64 "\n", l->died);
	delay_print(out->delay);
	printf("%" PRIu64 " flit-hops in %.3f s: %.2f M a second; %" PRIu64
	       " flits in use at most\n", v->sim.flits,
	       (double)out->wall_ns / 1e9,
	       out->wall_ns == 0 ? 0
				 : (double)v->sim.flits * 1e3 /
					   (double)out->wall_ns,
	       v->sim.flits_peak);
	if (out->interrupted)
		printf("interrupted: what was under way counts as lost\n");
	else if (!out->at_rest)
		printf("did not come to rest: %s\n", v->why);
	else if (!v->ok)
		printf("broken: %s\n", v->why);
	if (l->first_error[0] != '\0')
		printf("first: %s\n", l->first_error);
	if (outcome_failure(out) != NULL)
		printf("this run is no success: %s\n", outcome_failure(out));
}
