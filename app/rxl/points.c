/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reflit-sim rxl-points`: computes for `rxl` and `scenario` (driver/). Each line
 * of standard input is an object with one member; each is answered by an object
 * on a line of standard output:
 *
 *   {"case": {...}}    simulates: see struct rxl_case; answers all counters
 *   {"model": {"ber": N}}   what FEC makes of independent errors, exactly
 *   {"expect": {...}}  what a path should do: see rl_rxl_expect.h
 *   {"scenario": {"figure": "fig4", "profile": "cxl"}}   see scenario.h
 *
 * An invalid request is answered by {"error": "..."}.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "case.h"
#include "rl_rxl_app.h"
#include "rl_rxl_expect.h"
#include "scenario.h"

struct field {
	const char *name;
	size_t at;
};

#define FIELD(type, name) { #name, offsetof(struct type, name) }

static const struct field link_fields[] = {
	FIELD(rl_rxl_link_tally, flits), FIELD(rl_rxl_link_tally, lost),
	FIELD(rl_rxl_link_tally, hit), FIELD(rl_rxl_link_tally, corrected),
	FIELD(rl_rxl_link_tally, detected), FIELD(rl_rxl_link_tally, missed),
	{ NULL, 0 },
};

static const struct field trial_fields[] = {
	FIELD(rl_rxl_trial_tally, flits), FIELD(rl_rxl_trial_tally, touched),
	FIELD(rl_rxl_trial_tally, hurt_inside),
	FIELD(rl_rxl_trial_tally, dropped),
	FIELD(rl_rxl_trial_tally, arrived_ok),
	FIELD(rl_rxl_trial_tally, fec_bad), FIELD(rl_rxl_trial_tally, crc_bad),
	FIELD(rl_rxl_trial_tally, slipped),
	FIELD(rl_rxl_trial_tally, undetected), { NULL, 0 },
};

static const struct field path_fields[] = {
	FIELD(rl_rxl_dir_tally, slots), FIELD(rl_rxl_dir_tally, fresh),
	FIELD(rl_rxl_dir_tally, again), FIELD(rl_rxl_dir_tally, control),
	FIELD(rl_rxl_dir_tally, with_ack), FIELD(rl_rxl_dir_tally, dropped),
	FIELD(rl_rxl_dir_tally, lost), FIELD(rl_rxl_dir_tally, wrong),
	FIELD(rl_rxl_dir_tally, reports), FIELD(rl_rxl_dir_tally, chances),
	FIELD(rl_rxl_dir_tally, drops), FIELD(rl_rxl_dir_tally, delivered),
	FIELD(rl_rxl_dir_tally, order_failures),
	FIELD(rl_rxl_dir_tally, late), FIELD(rl_rxl_dir_tally, duplicates),
	FIELD(rl_rxl_dir_tally, altered), FIELD(rl_rxl_dir_tally, hurt_inside),
	{ NULL, 0 },
};

static const struct field outcome_fields[] = {
	FIELD(rxl_outcome, wall_ns), FIELD(rxl_outcome, naks),
	FIELD(rxl_outcome, timeouts), FIELD(rxl_outcome, header_bits),
	FIELD(rxl_outcome, missing), FIELD(rxl_outcome, unsettled),
	FIELD(rxl_outcome, leaked), { NULL, 0 },
};

static json_t *
error(const char *what)
{
	return json_pack("{s:s}", "error", what);
}

/* JSON cannot represent infinity or NaN. */
static json_t *
real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *
counters(const struct field f[], const void *of)
{
	json_t *o = json_object();

	for (; f->name != NULL; f++) {
		uint64_t n;

		memcpy(&n, (const uint8_t *)of + f->at, sizeof(n));
		json_object_set_new(o, f->name, json_integer((json_int_t)n));
	}
	return o;
}

static json_t *
links(const struct rl_rxl_link_tally link[RL_RXL_LEVELS_MAX + 1])
{
	json_t *all = json_array();

	for (unsigned int i = 0; i <= RL_RXL_LEVELS_MAX; i++)
		json_array_append_new(all, counters(link_fields, &link[i]));
	return all;
}

static json_t *
outcome_json(const struct rxl_outcome *out)
{
	json_t *o = counters(outcome_fields, out);
	json_t *trial = counters(trial_fields, &out->trial);
	json_t *path = counters(path_fields, &out->path);

	json_object_set_new(trial, "link", links(out->trial.link));
	json_object_set_new(path, "link", links(out->path.link));
	json_object_set_new(o, "trial", trial);
	json_object_set_new(o, "path", path);
	return o;
}

static json_t *
answer_case(json_t *values)
{
	const char *kind, *profile, *retry, *crc, *isn, *seed;
	struct rxl_case c = { .kind = RXL_TRIAL };
	struct rxl_outcome out;
	json_int_t flits;
	int reports, ret;

	if (json_unpack(values,
			"{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:F,s:F,s:i,s:F,s:F,"
			"s:F,s:b,s:I,s:s}",
			"kind", &kind, "profile", &profile, "retry", &retry,
			"crc", &crc, "isn", &isn, "levels", &c.levels,
			"coalesce", &c.coalesce, "burst_slots", &c.burst_slots,
			"ber", &c.ber, "propagate", &c.propagate, "lanes",
			&c.lanes, "byte_bursts", &c.byte_bursts, "lost",
			&c.lost, "inside", &c.inside, "reports", &reports,
			"flits", &flits, "seed", &seed) != 0 ||
	    rxl_profile_find(profile, &c.profile) != 0 ||
	    rxl_retry_find(retry, &c.retry) != 0 ||
	    rxl_codec_find(crc, isn, &c.crc, &c.isn) != 0 ||
	    c.levels > RL_RXL_LEVELS_MAX)
		return error("not a case");
	c.kind = strcmp(kind, "path") == 0 ? RXL_PATH : RXL_TRIAL;
	c.reports = reports != 0;
	c.flits = (uint64_t)flits;
	c.seed = strtoull(seed, NULL, 10);
	ret = rxl_case_run(&c, &out);
	return ret != 0 ? error(strerror(-ret)) : outcome_json(&out);
}

static json_t *
answer_model(json_t *values)
{
	static double scratch[RL_RXL_FEC_SCRATCH];
	struct rl_rxl_fec_model m;
	double ber;

	if (json_unpack(values, "{s:F}", "ber", &ber) != 0)
		return error("no error rate");
	rl_rxl_fec_model(ber, scratch, &m);
	return json_pack("{s:o,s:o,s:o,s:o}", "clean", real(m.clean),
			 "corrected", real(m.corrected), "detected",
			 real(m.detected), "missed", real(m.missed));
}

static json_t *
answer_expect(json_t *values)
{
	struct rxl_case c = { .kind = RXL_PATH };
	struct rl_rxl_expect_in in = {
		.retry_slots = RXL_RETRY_NS / RXL_SLOT_NS,
		/* the timer is at least twice the retry time */
		.timer_slots = RXL_RETRY_NS / RXL_SLOT_NS,
	};
	struct rl_rxl_expect x;
	const char *retry;
	int steady;

	if (json_unpack(values, "{s:F,s:F,s:i,s:s,s:i,s:F,s:F,s:b}",
			"detected", &in.link.detected, "missed",
			&in.link.missed, "levels", &in.levels, "retry", &retry,
			"burst_slots", &c.burst_slots, "ack_share",
			&in.ack_share, "ack_alone", &in.ack_alone,
			"steady_acks", &steady) != 0 ||
	    rxl_retry_find(retry, &in.retry) != 0)
		return error("nothing to expect of");
	in.steady_acks = steady != 0;
	in.latency_slots = rxl_case_latency_slots(&c);
	rl_rxl_expect(&in, &x);
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "dropped",
			 real(x.dropped), "wrong", real(x.wrong),
			 "order_paper", real(x.order_paper), "order",
			 real(x.order), "loss_paper", real(x.loss_paper),
			 "loss", real(x.loss));
}

static json_t *
answer_scenario(json_t *values)
{
	const char *figure, *profile;
	enum rl_profile p;
	enum rxl_figure f;
	json_t *o;

	if (json_unpack(values, "{s:s,s:s}", "figure", &figure, "profile",
			&profile) != 0 ||
	    rxl_figure_find(figure, &f) != 0 ||
	    rxl_profile_find(profile, &p) != 0)
		return error("no such figure");
	o = rxl_scenario_play(f, p);
	return o != NULL ? o : error("out of memory");
}

static json_t *
answer(const char *line)
{
	static const struct {
		const char *name;
		json_t *(*fn)(json_t *values);
	} asked[] = {
		{ "case", answer_case },
		{ "model", answer_model },
		{ "expect", answer_expect },
		{ "scenario", answer_scenario },
	};
	json_t *o = json_loads(line, 0, NULL), *to = NULL;

	for (size_t i = 0; i < RL_ARRAY_SIZE(asked) && to == NULL; i++) {
		json_t *values = json_object_get(o, asked[i].name);

		if (values != NULL)
			to = asked[i].fn(values);
	}
	json_decref(o);
	return to != NULL ? to : error("not a question");
}

int
rl_rxl_points_main(RL_UNUSED int argc, RL_UNUSED char **argv)
{
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (ret == 0 && getline(&line, &size, stdin) > 0) {
		json_t *o = answer(line);

		if (json_dumpf(o, stdout, JSON_COMPACT) != 0 ||
		    putchar('\n') == EOF || fflush(stdout) != 0)
			ret = 2;
		json_decref(o);
	}
	free(line);
	return ret;
}
