/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_APP_H
#define SIM_APP_H

/**
 * @file
 * reflit-sim: the fabric of a file in virtual time.
 *
 *   main.c      from the command line to the exit status
 *   options.c   what may stand there
 *   setup.c     fabric file, routes, traffic, faults
 *   pairs.c     a file that says who sends to whom
 *   run.c       one run, with progress
 *   report.c    what came of it, for people and as JSON
 *   shares.c    whether all senders got the same
 *   campaign.c  many seeds over one fabric
 *   tally.c     what came of them
 *   merge.c     the stores of a campaign as one
 *   campaign_store.c  a campaign that is stopped and goes on
 *   store.c     the file that it writes
 *   shrink.c    a run that fails, in fewer parts
 *   judge.c     runs in processes of their own
 *   replay.c    a recorded run, and what another policy would have lost
 *   policy.c    what --what-if changes in a fabric file
 *   ablation.c  what loopback, end-to-end retry and duplicate filters are worth
 *   trace.c     captured frames as traffic
 *   flit_trace.c  what each flit met, as text
 */

#include <jansson.h>

#include "absence.h"
#include "counter_report.h"
#include "rl_swarm_case.h"

enum exit_status {
	EXIT_KEPT = 0,	   /**< done, and every promise kept */
	EXIT_BROKEN = 1,   /**< something lost, or wrong, or unaccounted for */
	EXIT_UNUSABLE = 2, /**< arguments or files; nothing was started */
	EXIT_REFUSED = 3,  /**< the fabric cannot be routed */
};

/** Policies that a replay can be asked for at once. */
#define WHAT_IFS_MAX 8

struct options {
	char *const *argv;	/**< as they were given, for a replay */
	const char *config;
	const char *json;
	const char *csv;
	const char *faults;
	const char *trace;	/**< --trace; NULL: none */
	const char *replay;	/**< a recording */
	const char *what_if[WHAT_IFS_MAX];
	unsigned int nwhat_ifs;
	const char *profile;
	const char *engine;
	const char *pcap;	/**< --traffic pcap:FILE */
	const char *pairs;	/**< --traffic pairs:FILE */
	int traffic;		/**< enum rl_pattern_kind */
	double load;		/**< 0: not given */
	uint32_t min_flits;	/**< 0: not given */
	uint32_t max_flits;
	uint32_t classes;	/**< of service */
	bool by_kind;		/**< one for each kind of packet */
	double requests;	/**< share of packets that ask for a response */
	uint64_t packets;	/**< 0: not given */
	uint64_t duration_ns;	/**< 0: not given */
	uint64_t warmup_ns;	/**< RL_NEVER: not given */
	uint64_t window_ns;	/**< 0: not given */
	uint64_t drain_ns;	/**< how long to wait for the end */
	uint64_t seed;
	uint64_t seeds;		/**< 0: no campaign */
	const char *out;	/**< of shrink: where to; NULL: not given */
	const char *store;	/**< of a campaign; NULL: not given */
	uint64_t block;		/**< seeds written at once; 0: not given */
	uint64_t budget_ns;	/**< of a campaign; 0: no end */
	uint64_t runs;		/**< of shrink, at most; 0: not given */
	char *const *words;	/**< that are no options */
	int nwords;
	const char *wide_text;	/**< --wide; NULL: the plain swarm */
	struct rl_swarm_shares wide;
	uint64_t shard;		/**< of shards, from 0 */
	uint64_t shards;	/**< 1: not given */
	uint64_t cuts;		/**< of the ablation; 0: not given */
	uint64_t latency_ns;	/**< of wires; RL_NEVER: not given */
	uint64_t poll_ns;
	uint64_t compute_ns;	/**< 0: by size; RL_NEVER: as measured */
	bool seeded;		/**< --seed was given */
	bool channel;		/**< --channel was given */
	uint64_t channel_ns;	/**< of the controller's messages */
	uint64_t channel_jitter_ns;
	uint32_t channel_loss_ppb;
	uint32_t channel_dup_ppb;
	uint64_t tick_ns;
	bool roles; /* polls each role, not whole devices */
	uint32_t threads; /**< 0: not given */
	uint32_t flit_ps;
	uint32_t mtu;		/**< bytes of a frame, without Ethernet header */
	bool events;
	bool progress; /**< lines also where there is no terminal */
	bool dup_filter;	/**< of the ablation: its other table */
	bool help;
	bool version;
};

/** All inputs of a run. Zeroed: nothing to free. */
struct setup {
	struct rl_swarm_plan plan;
	struct rl_sim_trace trace;
	uint8_t *trace_bytes;
	uint64_t *trace_off;
	struct rl_pattern_pair *pairs;
	bool *counted;		/**< [nep]: sources of `pairs` in the window */
	uint32_t threads;	/**< that a run may take */
	bool run;		/**< the fault file's `run` lines say all else */
	uint64_t oversize;	/**< frames of the trace left out */
	bool truncated;		/**< the trace ends in the middle of a frame */
};

/**
 * @param words  most words that may stand there beside options
 * @return -1: go on; else the exit status, after an error or --help
 */
int options_parse(int argc, char **argv, int words, struct options *o);
/** What reflit-sim is asked for. */
enum option_of {
	OF_RUN = 1,
	OF_SEEDS = 2,	/**< --seeds */
	OF_REPLAY = 4,	/**< --replay */
	OF_ABLATION = 8,
	OF_CAMPAIGN = 16,
	OF_SHRINK = 32,
};

/** @return 0; EXIT_UNUSABLE after naming an option that it does not heed */
int options_check(const struct options *o, enum option_of command);
/** @return an option given that concerns a single run, or NULL */
const char *options_of_run(const struct options *o);

/** @return an exit status; EXIT_KEPT: @p s is ready */
int setup_open(struct setup *s, const struct options *o);
void setup_close(struct setup *s);
/** The same from @p text, for a built-in fabric; NULL: from file @p name. */
int setup_open_text(struct setup *s, const struct options *o,
		    const char *name, const char *text);

/** @return 0; -errno with a line in @p err */
int trace_read(struct setup *s, const char *path, char *err, size_t errlen);

/**
 * The pairs of a file, as a pattern of the plan's traffic.
 * @return 0; -errno with a line in @p err
 */
int pairs_read(struct setup *s, const char *path, char *err, size_t errlen);

/** The result of a run. */
struct outcome {
	struct rl_swarm_verdict
		v; /**< why: only what broke, not what was lost */
	uint64_t elapsed_ns;
	uint64_t wall_ns;
	bool at_rest;
	bool interrupted;	/**< a signal stopped it */
	bool trace_torn;	/**< not all of --trace was written */
	struct rl_delay *delay; /**< [RL_VCS], owned */
	json_t *failovers;	/**< array, owned; NULL unless wanted */
	json_t *parts;		/**< counters by part, as failovers */
	struct absences absences; /**< owned */
	json_t *recoveries;	/**< the same */
	struct rl_sim_window counted; /**< when deliveries were counted */
	struct rl_sim_load_window *window; /**< owned; NULL: they were not */
	uint32_t nrecoveries;
	struct rl_recovery recovery; /**< the last one */
	struct counter_sums counters;
	uint64_t *changed_ns;	/**< [nlink], owned: last event of its ports */
};

/** @return 0 or -errno; @p json: keep failovers for a report */
int run_once(const struct setup *s, const struct options *o,
	     struct rl_sim_mem *mem, bool json, struct outcome *out);
/** A run whose `run` lines say how it is judged: @p out has v and trace_torn. */
int run_case(const struct setup *s, const struct options *o,
	     struct rl_sim_mem *mem, struct outcome *out);
void outcome_free(struct outcome *out);
bool outcome_kept(const struct outcome *out);
/** What a run that kept its promises still failed to achieve, or NULL. */
const char *outcome_failure(const struct outcome *out);

/** What each sender had delivered in the window of a run that had one. */
json_t *shares_json(const struct setup *s, const struct outcome *out);
/** Prints nothing if no window was asked for. */
void shares_print(const struct setup *s, const struct outcome *out);

/**
 * What is wrong at the end of a run, the worst kinds first, as `alarms` of
 * reflit's report. What was ordered is no alarm.
 */
json_t *sim_alarms_json(const struct setup *s, struct rl_sim *sim,
			struct outcome *out);

void report_print(const struct setup *s, const struct outcome *out);
json_t *report_json(const struct setup *s, const struct options *o,
		    struct outcome *out);
/** The key `edge` of reports. @p oversize: frames that no packet could hold */
json_t *edge_json(uint64_t oversize);
/** Writes @p root to @p path and frees it. @return 0 or -errno */
int report_write(json_t *root, const char *path);

int campaign(struct setup *s, const struct options *o);
/** Makes an open setup's plan that of one seed. @return 0 or -ENOMEM */
int campaign_seed(struct rl_swarm_plan *plan, const struct options *o,
		  uint64_t seed);
/** Before campaign_run(), once. @p s: zeroed for seeds of the swarm alone */
void campaign_begin(struct setup *s);
/** After campaign_run() in the same process: the plan as the files have it. */
void campaign_back(struct rl_swarm_plan *plan);
/** Runs and judges one seed. @return 0 or -errno */
int campaign_run(struct setup *s, const struct options *o, uint64_t seed,
		 struct rl_sim_mem *mem, struct rl_swarm_verdict *v);
/** A hash of all that makes a run but its seed. */
uint64_t campaign_settings(const struct options *o);
/** Prints the arguments that make a run of the campaign, a space before each. */
void campaign_arguments(const struct options *o);
int campaign_store(int argc, char **argv);
int shrink(int argc, char **argv);
int merge(int argc, char **argv);
int ablation(int argc, char **argv);
/** Sets what --what-if says. @return 0; -EINVAL, -ENOMEM, which it says */
int policy_set(const char *text, struct rl_config *cfg);
/** @return an exit status */
int replay_run(const struct options *o);

/** Nanoseconds of a monotonic clock. */
uint64_t wall_ns(void);

#endif /* SIM_APP_H */
