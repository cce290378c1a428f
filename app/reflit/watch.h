/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WATCH_H
#define WATCH_H

/**
 * @file
 * The control thread's memory of what lcores reported: the last events, every
 * failover.
 *
 * Records of one lcore arrive in order, those of several lcores in any order.
 */

#include "absence.h"
#include "console.h"
#include "host.h"
#include "rl_failover.h"

#define WATCH_EVENTS 4096 /* power of two */
/** Room for the text of an event. */
#define WATCH_LINE_MAX 512
/** Lines of the control thread's own that are kept, and their room. */
#define WATCH_NOTES 256
#define WATCH_NOTE_MAX 448

/** Which events are printed as they happen. */
enum watch_verbose { WATCH_UNSET, WATCH_QUIET, WATCH_LINKS, WATCH_ALL };

struct watch {
	struct host *host;
	uint64_t start_ns; /**< of the run: zero of all times that are shown */
	struct host_rec event[WATCH_EVENTS];
	uint64_t nevents; /**< ever; the last WATCH_EVENTS are kept */
	char note[WATCH_NOTES][WATCH_NOTE_MAX];
	uint64_t nnotes; /**< ever */
	struct rl_failover_log failovers;
	uint64_t *order_ns; /**< [nlink] when a command last injected a
			         fault; 0: never */
	uint64_t *changed_ns; /**< [2 * link + end] when a port last came up,
			           died, or refused its peer; 0: never */
	bool *degraded; /**< [nlink] a port said so since it last came up */
	uint64_t given_up;	/**< packets, ever ... */
	uint64_t given_up_ns;	/**< ... the last of them ... */
	uint64_t giving_up_ns;	/**< ... and the first with no long pause since */
	struct absences absences; /**< what endpoints said of each other */
	enum watch_verbose verbose; /**< printed as they come */
	struct console *console;    /**< prints there; NULL: plain output */
};

/** Control thread, after host_open(). @return 0 or -ENOMEM */
int watch_open(struct watch *w, struct host *h);

/** Control thread, often. Reads the lcores' logs. */
void watch_pump(struct watch *w);

/**
 * Control thread. Adds an event of the control thread to those of the lcores.
 */
void watch_note(struct watch *w, const struct host_rec *rec);

/**
 * Control thread. Records a notable event with this text; @p print also writes
 * a line to standard error.
 */
void watch_say(struct watch *w, const char *text, bool print);

/**
 * Control thread. A command injects a fault into @p link now that the fault
 * layer does not count as a cut (a stall, noise, an order to the ports).
 */
void watch_order(struct watch *w, uint32_t link);

/** Control thread. One event as a line of text. Returns buf. */
char *watch_event_text(const struct watch *w, const struct host_rec *rec,
		       char *buf, size_t len);

/**
 * Control thread. From @p start_ns to @p t_ns; 0 if one is not known, and 1 if
 * the second is not later: events have the time at which their poll began.
 */
uint64_t watch_since(uint64_t start_ns, uint64_t t_ns);

void watch_close(struct watch *w);

#endif /* WATCH_H */
