/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APP_H
#define APP_H

/**
 * @file
 * The program: the state of a run, and the functions that the main loop, the
 * prompt and command files share. All of it belongs to the control thread.
 */

#include "alarms.h"
#include "attach.h"
#include "capture.h"
#include "channel.h"
#include "console.h"
#include "counts.h"
#include "facts.h"
#include "gens.h"
#include "host.h"
#include "journal.h"
#include "options.h"
#include "outcome.h"
#include "recorder.h"
#include "stop_signal.h"
#include "tally.h"
#include "timeline.h"
#include "watch.h"

enum exit_status {
	EXIT_KEPT = 0,	    /**< every promise kept */
	EXIT_BROKEN = 1,    /**< lost, duplicated, reordered, altered */
	EXIT_UNUSABLE = 2,  /**< arguments, configuration, or a bad command */
	EXIT_REFUSED = 3,   /**< the fabric cannot be routed */
};

#define APP_UTC_MAX 32

/** Effects of commands on a link. */
struct link_state {
	struct rl_noise noise[2]; /**< by the end that frames leave */
	bool cut_waits[2];	  /**< a cut of theirs waits for its frame */
	bool hurt;	 /**< a fault lasts until it is healed */
	bool disabled;	 /**< its ports were ordered down */
	bool drained;	 /**< ... once nothing was on the way */
	bool crashed;	 /**< heals when the devices at its ends restart */
	bool flap_down;
	uint32_t flaps;	 /**< half periods to go; 0: none */
	uint64_t flap_half_ns;
	uint64_t flap_due_ns;
};

/** Totals over all clients. */
struct totals {
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t delivered;
	uint64_t under_way; /**< while the fabric runs */
	uint64_t lost;	    /**< once it has stopped */
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t altered;
	uint64_t reported;
	uint64_t refused; /**< not sent: their destination was unreachable */
	uint64_t redirected; /**< by generators: rl_tg_counts */
	uint64_t delivered_flits; /**< of generators */
	uint64_t vc_flits[RL_VCS]; /**< of these, by the VC of arrival */
	uint64_t sent_requests; /**< of generators to each other */
	uint64_t delivered_requests;
	uint64_t sent_responses;
	uint64_t delivered_responses;
	uint64_t inexact; /**< events that contradict the counts */
	uint64_t unwritten; /**< frames that arrived and that no port took */
	/** Frames of attached ports that never became packets. */
	struct {
		uint64_t refused;  /**< by the endpoint, or their network */
		uint64_t missed;   /**< before they could be read */
		uint64_t cut;	   /**< they came without their end */
		uint64_t oversize; /**< longer than a packet */
	} edge;
};

struct app {
	struct options opt;
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_auth_root key; /**< of wires with a key */
	bool keyed;
	int process; /**< entry of cfg.process; 0 if one runs all */
	struct rl_oob *oob; /**< channel to other processes; NULL: none */
	struct channel_seen channel_seen;
	struct host host;
	struct attach attach;
	struct gens gens;
	struct watch watch;
	struct outcomes outcomes; /**< of orders to the controller */
	struct alarms alarms;
	struct journal journal; /**< that alarms go to, too */
	struct link_state *link; /**< [nlink] */
	uint64_t start_ns; /**< zero of all times that are shown ... */
	uint64_t start_real_ns; /**< ... and when that was, since 1970 */
	char start_utc[APP_UTC_MAX]; /**< the same, for people */
	uint64_t end_ns;   /**< when traffic ended; 0: it goes on */
	uint64_t outage_ns; /**< longest silence that lasted until then */
	uint64_t progress_due_ns;
	uint64_t shown_ns;     /**< `show traffic` was last here ... */
	uint64_t shown_cpu_ns; /**< ... after so much processor time ... */
	struct totals shown;   /**< ... and saw this */
	struct rates rates;	   /**< since `show rates` was last here */
	struct rates period_rates; /**< of --stats-period */
	uint64_t stats_due_ns;
	struct timeline timeline;
	struct tally cleared; /**< how counters stood at `clear counters` */
	struct counts counts; /**< and since when they count */
	struct console console;
	struct captures captures;
	struct recorder recorder;
	char *fabric_text; /**< the fabric file, for a recording; or NULL */
	size_t fabric_len;
	bool quit;
	bool stuck; /**< never came to rest at the end */
	uint64_t leaked_flits;
	struct host_lost unsaid; /**< what lcores could not report */
	/* commands */
	struct facts facts;  /**< what the present command says */
	int with;	     /**< what its row of the table has for its handler */
	const char *fault;   /**< the same */
	bool checking;	     /**< handlers check their words and do nothing */
	char *script_text;   /**< of the --cmdline-file, or NULL */
	size_t script_len;
	const char *script;  /**< file being run, or NULL */
	unsigned int script_line;
	unsigned int script_depth; /**< files that `load` one another */
	unsigned int failed_commands;
	char last_error[WATCH_LINE_MAX]; /**< of a command, without file and line */
};

/** Runs the main loop for @p ns: takes events, and carries out flaps. */
void app_step(struct app *app, uint64_t ns);

/** Starts or stops sending at all clients. They always receive. */
void app_traffic(struct app *app, bool on);

/** Whether all clients that have an end have reached it. */
bool app_finished(const struct app *app);

/**
 * Waits until nothing is in flight. @return 0; -ETIME after @p limit_ns;
 * -EINTR
 */
int app_wait_drained(struct app *app, uint64_t limit_ns);

/**
 * Sums up all clients. sent = delivered + reported + under way + lost, at any
 * moment: counters of receivers are read before those of senders. For flows to
 * other processes this process knows only what it sent; reflit-report knows
 * the rest.
 */
void app_totals(const struct app *app, struct totals *t);

/** All frames of attached ports that never became packets. */
uint64_t app_not_taken(const struct totals *t);

/** What a run that kept its promises still failed to achieve, or NULL. */
const char *app_failure(const struct app *app, const struct totals *t);

/**
 * Reports an error of a command: one line, after FILE:LINE: if a file is run.
 * @return -EINVAL, for the caller to return
 */
int app_error(struct app *app, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * Latency and jitter of all clients' packets, by the VC that they came by. Freed
 * by the caller; NULL: no memory.
 */
struct rl_delay *app_delays(const struct app *app);

/** Latency alone, of packets by any VC, while the fabric runs. */
void app_latency(const struct app *app, struct rl_hist *sum);

/** The forwarding table of a device as it is now, new ones included. */
static inline const struct rl_fwd *
app_fwd(const struct app *app, uint32_t dev)
{
	return rl_core_fwd(app->host.fabric.dev[dev].core.core);
}

/** The name of a link, for as long as the block lives in which this stands. */
#define APP_LINK_NAME (2 * RL_NAME_MAX + 8)
#define APP_LINK(app, link)                                                    \
	rl_topo_link_name(&(app)->cfg.topo, link, (char[APP_LINK_NAME]){ "" }, \
			  APP_LINK_NAME)

/** Flits that crossed a link, over all links. */
uint64_t app_flit_hops(const struct app *app);

/** Control thread, telemetry. A time of host_now() in UTC, to us. @return buf */
const char *app_utc(const struct app *app, uint64_t t_ns,
		    char buf[APP_UTC_MAX]);

/** Any thread. The state of a port; "remote": another process knows it. */
static inline const char *
app_port_state(const struct app *app, uint32_t dev, uint16_t port)
{
	const struct rl_device *d = &app->host.fabric.dev[dev];

	if (d->foreign)
		return "remote";
	return rl_link_state_name(rl_port_state(d->port[port].port));
}

/** Whether frames that leave end @p end of a link arrive in this process. */
bool app_takes_frames(const struct app *app, uint32_t link, unsigned int end);

/** Heals a link of every injected fault. @return 0 or -ETIME */
int app_heal(struct app *app, uint32_t link);

#endif /* APP_H */
