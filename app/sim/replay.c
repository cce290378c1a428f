/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The recording of a run on lcores (docs/recording.md), replayed in virtual
 * time: the same fabric, traffic of the same pattern and rate, links with the
 * measured latency, and the same faults at the same moments. Then once more
 * for each --what-if, with another policy.
 *
 * A recording holds no packets, so the run is of the same kind, but not
 * identical.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "rl_infile.h"
#include "say_error.h"
#include "sim_app.h"
#include "stop_signal.h"

#define FILE_MAX_BYTES (64u << 20)
#define LOAD_MAX 16.0

#define OUTCOMES(X)                                                            \
	X(sent)                                                                \
	X(delivered)                                                           \
	X(lost)                                                                \
	X(duplicated)                                                          \
	X(reordered)                                                           \
	X(corrupted)                                                           \
	X(reported)                                                            \
	X(failovers)                                                           \
	X(frames_lost)                                                         \
	X(frames_hurt)                                                         \
	X(frames_repeated)                                                     \
	X(frames_delayed)

enum {
#define OUTCOME_ENUM(name) OUTCOME_##name,
	OUTCOMES(OUTCOME_ENUM)
#undef OUTCOME_ENUM
	OUTCOME_COUNT
};

static const char *const outcome_names[] = { OUTCOMES(RL_OWN_NAME) };

struct recording {
	const char *path;
	unsigned int line;
	/* the same number of lines as the recording, so that errors name its
	   lines: those of the fabric file, and those of faults */
	char *fabric, *faults;
	size_t nfabric, nfaults_text;
	uint64_t seed, duration_ns, round_trip_ns;
	int pattern;
	uint32_t min_flits, max_flits, classes;
	bool by_kind;
	double rate; /* flits per us and endpoint, without responses */
	double requests; /* share of packets that ask for a response */
	uint64_t outcome[OUTCOME_COUNT];
	uint64_t faults_before;
	uint32_t nfaults, nnotes, nevents;
	bool traffic, has_fabric, ended;
};

static int
bad(const struct recording *r, const char *why)
{
	return say_error(-EINVAL, "%s:%u: %s\n", r->path, r->line, why);
}

static int
take_number(const struct recording *r, const char *text, uint64_t *v)
{
	return parse_number(text, 0, UINT64_MAX, v) == 0
		       ? 0
		       : bad(r, "a whole number is missing");
}

/* "uniform 1-8 1 0.25": pattern, flits, classes, flits per us */
static int
take_traffic(struct recording *r, char *text)
{
	char *save = NULL, *word[4], *dash;
	uint64_t lo, hi, classes = RL_KINDS;

	for (int i = 0; i < 4; i++) {
		word[i] = strtok_r(i == 0 ? text : NULL, " ", &save);
		if (word[i] == NULL)
			return bad(r, "traffic has four words: PATTERN "
				      "MIN-MAX CLASSES RATE");
	}
	r->pattern = rl_pattern_parse(word[0]);
	dash = strchr(word[1], '-');
	if (dash != NULL)
		*dash = '\0';
	if (r->pattern < 0)
		return bad(r, "there is no such pattern of traffic");
	if (dash == NULL ||
	    parse_number(word[1], 1, RL_PACKET_FLITS_MAX, &lo) != 0 ||
	    parse_number(dash + 1, lo, RL_PACKET_FLITS_MAX, &hi) != 0)
		return bad(r, "lengths of packets are MIN-MAX, 1 to 255");
	r->by_kind = strcmp(word[2], "kind") == 0;
	if (!r->by_kind && parse_number(word[2], 1, 16, &classes) != 0)
		return bad(r, "there are 1 to 16 classes of service, or kind");
	if (parse_rate(word[3], 0, 1e6, &r->rate) != 0)
		return bad(r, "the rate is not a number of flits per us");
	r->min_flits = (uint32_t)lo;
	r->max_flits = (uint32_t)hi;
	r->classes = (uint32_t)classes;
	r->traffic = true;
	return 0;
}

static int
take_outcome(struct recording *r, char *text)
{
	char *space = strchr(text, ' ');

	if (space == NULL)
		return bad(r, "outcome NAME NUMBER");
	*space = '\0';
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (strcmp(text, outcome_names[i]) == 0)
			return take_number(r, space + 1, &r->outcome[i]);
	return bad(r, "an outcome of this name is not known");
}

/* "NS TEXT" -> "NSns TEXT" as a line of the fault file. */
static int
take_fault(struct recording *r, const char *text)
{
	const size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 19 || text[digits] != ' ')
		return bad(r, "fault NANOSECONDS WHAT WHERE");
	r->nfaults++;
	r->nfaults_text += (size_t)sprintf(r->faults + r->nfaults_text,
					   "%.*sns%s", (int)digits, text,
					   text + digits);
	return 0;
}

static int
take_key(struct recording *r, const char *key, char *text)
{
	if (strcmp(key, "version") == 0 || strcmp(key, "date") == 0 ||
	    strcmp(key, "config") == 0)
		return 0;
	if (strcmp(key, "seed") == 0)
		return parse_number(text, 0, INT64_MAX, &r->seed) == 0
			       ? 0
			       : bad(r, "seeds are whole numbers below 2^63");
	if (strcmp(key, "duration") == 0)
		return take_number(r, text, &r->duration_ns);
	if (strcmp(key, "round-trip") == 0)
		return take_number(r, text, &r->round_trip_ns);
	if (strcmp(key, "traffic") == 0)
		return take_traffic(r, text);
	if (strcmp(key, "requests") == 0)
		return parse_rate(text, 0, 1, &r->requests) == 0
			       ? 0
			       : bad(r, "requests are a share, 0 to 1");
	if (strcmp(key, "outcome") == 0)
		return take_outcome(r, text);
	if (strcmp(key, "faults-before") == 0)
		return take_number(r, text, &r->faults_before);
	if (strcmp(key, "fault") == 0)
		return take_fault(r, text);
	r->nnotes += strcmp(key, "note") == 0;
	r->nevents += strcmp(key, "event") == 0;
	if (strcmp(key, "note") == 0 || strcmp(key, "event") == 0 ||
	    strcmp(key, "events-before") == 0)
		return 0;
	r->ended = strcmp(key, "end") == 0;
	return r->ended ? 0 : bad(r, "no line of a recording begins so");
}

static int
take_line(struct recording *r, char *line)
{
	char *space;
	int ret = 0;

	r->line++;
	if (r->ended)
		return bad(r, "there is text behind the end");
	if (r->line == 1 && strcmp(line, "reflit-recording 1") != 0)
		return bad(r, "no recording: it must begin with 'reflit-recording "
			      "1'");
	if (line[0] == '|') {
		r->has_fabric = true;
		r->nfabric += (size_t)sprintf(r->fabric + r->nfabric, "%s",
					      line + 1);
	} else if (r->line != 1) {
		space = strchr(line, ' ');
		if (space != NULL)
			*space = '\0';
		ret = take_key(r, line, space == NULL ? "" : space + 1);
	}
	r->fabric[r->nfabric++] = '\n';
	r->faults[r->nfaults_text++] = '\n';
	return ret;
}

static int
check_whole(struct recording *r)
{
	if (!r->ended)
		return bad(r, "it is cut short: the line 'end' is missing");
	if (!r->has_fabric)
		return bad(r, "the fabric file is missing");
	if (!r->traffic || r->duration_ns == 0 || r->rate <= 0.0)
		return bad(r, "nothing was sent while it was recorded");
	return 0;
}

static int
recording_read(struct recording *r, const char *path)
{
	size_t len = 0;
	char *text = NULL, *at;
	int ret = rl_infile_read(path, RL_INFILE_ANY, FILE_MAX_BYTES, &text,
				 &len);

	*r = (struct recording){ .path = path };
	if (ret != 0)
		return say_error(ret, "%s: %s\n",
				 path[0] == '\0' ? "a recording without a name"
						 : path,
				 ret == -EFBIG ? "more than 64 MiB"
					       : rl_infile_error(ret));
	/* a line grows by two characters at most */
	r->fabric = malloc(3 * len + 16);
	r->faults = malloc(3 * len + 16);
	if (r->fabric == NULL || r->faults == NULL)
		ret = -ENOMEM;
	else if (memchr(text, '\0', len) != NULL)
		ret = bad(r, "a zero byte; recordings are plain text");
	for (at = text; ret == 0 && at < text + len;) {
		char *nl = strchrnul(at, '\n');
		const bool last = *nl == '\0';

		nl[-(nl > at && nl[-1] == '\r')] = '\0';
		ret = take_line(r, at);
		at = last ? text + len : nl + 1;
	}
	free(text);
	if (r->fabric != NULL)
		r->fabric[r->nfabric] = '\0';
	return ret == 0 ? check_whole(r) : ret;
}

static void
recording_free(struct recording *r)
{
	free(r->fabric);
	free(r->faults);
}

static int
replay_open(struct setup *s, const struct options *o,
	    const struct recording *r, const char *policy)
{
	struct options run = *o;
	char err[RL_ERR_MAX + 1024];
	int ret;

	run.traffic = r->pattern;
	run.min_flits = r->min_flits;
	run.max_flits = r->max_flits;
	run.classes = r->classes;
	run.by_kind = r->by_kind;
	run.requests = r->requests;
	run.duration_ns = r->duration_ns;
	if (run.flit_ps == 0)
		run.flit_ps = 2000;
	run.load = r->rate * run.flit_ps / 1e6;
	run.load = run.load > LOAD_MAX ? LOAD_MAX : run.load;
	if (run.latency_ns == RL_NEVER && r->round_trip_ns != 0)
		run.latency_ns = r->round_trip_ns / 2;
	ret = setup_open_text(s, &run, r->path, r->fabric);
	if (ret != EXIT_KEPT)
		return ret;
	if (rl_sim_faults_text(r->path, r->faults, r->nfaults_text,
			       &s->plan.cfg.topo, NULL, &s->plan.faults, err,
			       sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		setup_close(s);
		return EXIT_UNUSABLE;
	}
	if (policy != NULL && policy_set(policy, &s->plan.cfg) != 0) {
		setup_close(s);
		return EXIT_UNUSABLE;
	}
	return EXIT_KEPT;
}

static uint64_t
dropped(const struct outcome *out)
{
	uint64_t n = 0;

	for (int i = 0; i < RL_DROP_REASON_COUNT; i++)
		n += out->v.sim.drops[i];
	return n;
}

/* @p policy: NULL: as recorded */
static const char *
name_of(const char *policy)
{
	return policy == NULL ? "replayed" : policy;
}

static void
print_row(const char *name, const struct outcome *out)
{
	const struct rl_sim_load_stats *l = &out->v.load;

	printf("%-28s %9" PRIu64 " %9" PRIu64 " %7" PRIu64 " %7" PRIu64
	       " %7" PRIu64 " %8" PRIu64 " %8" PRIu64 " %10.1f %10.1f "
	       "%10.1f\n",
	       name, l->sent, l->delivered, l->lost,
	       l->duplicated + l->reordered + l->corrupted,
	       rl_sim_load_given_up(l), dropped(out),
	       out->counters.ep[RL_EPC_retransmitted_flits],
	       (double)rl_hist_quantile(&l->latency, 50000) / 1e3,
	       (double)rl_hist_quantile(&l->latency, 99900) / 1e3,
	       (double)l->outage_ns / 1e3);
}

static void
print_head(const struct recording *r)
{
	const uint64_t *v = r->outcome;

	printf("%u faults in %.3f s", r->nfaults, (double)r->duration_ns / 1e9);
	if (r->faults_before != 0)
		printf("; %" PRIu64 " earlier ones were not kept",
		       r->faults_before);
	if (r->nnotes != 0)
		printf("; %u more that the simulator does not know (note lines)",
		       r->nnotes);
	printf("\n%-28s %9s %9s %7s %7s %7s %8s %8s %10s %10s %10s\n", "",
	       "sent", "delivered", "lost", "wrong", "reported", "dropped",
	       "resent", "p50 us", "p99.9 us", "outage us");
	printf("%-28s %9" PRIu64 " %9" PRIu64 " %7" PRIu64 " %7" PRIu64
	       " %7" PRIu64 "\n",
	       "as recorded", v[OUTCOME_sent], v[OUTCOME_delivered],
	       v[OUTCOME_lost],
	       v[OUTCOME_duplicated] + v[OUTCOME_reordered] +
		       v[OUTCOME_corrupted],
	       v[OUTCOME_reported]);
}

static json_t *
recorded_json(const struct recording *r)
{
	json_t *o = json_object();

	for (int i = 0; i < OUTCOME_COUNT; i++)
		json_object_set_new(o, outcome_names[i],
				    json_integer((json_int_t)r->outcome[i]));
	json_object_set_new(o, "faults", json_integer(r->nfaults));
	json_object_set_new(o, "faults_not_played", json_integer(r->nnotes));
	json_object_set_new(o, "events", json_integer(r->nevents));
	return o;
}

static json_t *
row_json(const char *policy, const struct outcome *out)
{
	const struct rl_sim_load_stats *l = &out->v.load;
	const struct {
		const char *key;
		uint64_t v;
	} keys[] = {
		{ "sent_packets", l->sent },
		{ "delivered_packets", l->delivered },
		{ "lost_packets", l->lost },
		{ "duplicated_packets", l->duplicated },
		{ "reordered_packets", l->reordered },
		{ "corrupted_packets", l->corrupted },
		{ "reported_packets", rl_sim_load_given_up(l) },
		{ "dropped_packets", dropped(out) },
		{ "resent_flits", out->counters.ep[RL_EPC_retransmitted_flits] },
		{ "p50_ns", rl_hist_quantile(&l->latency, 50000) },
		{ "p999_ns", rl_hist_quantile(&l->latency, 99900) },
		{ "outage_ns", l->outage_ns },
	};
	json_t *o = json_object();

	json_object_set_new(o, "policy", json_string(name_of(policy)));
	for (size_t i = 0; i < RL_ARRAY_SIZE(keys); i++)
		json_object_set_new(o, keys[i].key,
				    json_integer((json_int_t)keys[i].v));
	return o;
}

/* One run. @return an exit status; *kept: whether it kept every promise */
static int
play(const struct options *o, const struct recording *r,
     const char *policy, json_t *rows, json_t **report, bool *kept)
{
	struct rl_sim_mem mem;
	struct outcome out = { 0 };
	struct setup s;
	int status = replay_open(&s, o, r, policy), ret;

	if (status != EXIT_KEPT)
		return status;
	ret = rl_sim_mem_init(&mem);
	if (ret == 0)
		ret = run_once(&s, o, &mem, report != NULL, &out);
	if (ret != 0) {
		fprintf(stderr, "reflit-sim: %s\n",
			out.v.why[0] != '\0' ? out.v.why : strerror(-ret));
		status = EXIT_UNUSABLE;
	} else {
		print_row(name_of(policy), &out);
		*kept = outcome_kept(&out);
		json_array_append_new(rows, row_json(policy, &out));
		if (report != NULL)
			*report = report_json(&s, o, &out);
	}
	outcome_free(&out);
	rl_sim_mem_free(&mem);
	setup_close(&s);
	return status;
}

static int
play_all(const struct options *o, const struct recording *r)
{
	json_t *rows = json_array(), *report = NULL;
	bool kept = false, other;
	int status = EXIT_KEPT;

	print_head(r);
	for (unsigned int i = 0; i <= o->nwhat_ifs && status == EXIT_KEPT &&
				 stop_asked() == 0; i++)
		status = play(o, r, i == 0 ? NULL : o->what_if[i - 1], rows,
			      i == 0 ? &report : NULL, i == 0 ? &kept : &other);
	if (status == EXIT_KEPT && o->json != NULL && report != NULL) {
		json_object_set_new(report, "recorded", recorded_json(r));
		json_object_set(report, "what_if", rows);
		if (report_write(json_incref(report), o->json) != 0)
			status = EXIT_UNUSABLE;
	}
	json_decref(rows);
	json_decref(report);
	if (status != EXIT_KEPT)
		return status;
	return kept ? EXIT_KEPT : EXIT_BROKEN;
}

int
replay_run(const struct options *o)
{
	struct rl_config any = { .vls = 0 };
	struct recording r;
	int status = EXIT_UNUSABLE;

	for (unsigned int i = 0; i < o->nwhat_ifs; i++)
		if (policy_set(o->what_if[i], &any) != 0)
			return EXIT_UNUSABLE;
	if (recording_read(&r, o->replay) == 0) {
		stop_catch(STOP_AGAIN_KILLS);
		status = play_all(o, &r);
	}
	recording_free(&r);
	return status;
}
