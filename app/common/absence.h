/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ABSENCE_H
#define ABSENCE_H

/**
 * @file
 * Which endpoints were unreachable, and when [EP-6]: merges what all endpoints
 * of a fabric said of each other, for the report.
 *
 * An endpoint that is cut off finds all others unreachable, and all others
 * find it unreachable. If two accuse each other at the same time, the one with
 * more accusers was away; with equally many accusers, both were.
 */

#include <jansson.h>

#include "rl_endpoint.h"
#include "rl_topo.h"

/** One endpoint's claim that a peer was away. */
struct absence_claim {
	uint64_t since_ns;
	uint64_t until_ns; /**< 0: still */
	uint32_t order;	   /**< in which claims came */
	uint16_t ep;
	uint16_t peer;
};

/** The control thread's; begins as zeros. */
struct absences {
	struct absence_claim *claim;
	uint32_t n;
	uint32_t cap;
	uint32_t order;
	uint64_t lost; /**< events for which there was no memory */
};

/** Control thread. Takes any event, and ignores those of other kinds. */
void absences_add(struct absences *a, const struct rl_ep_event *ev);

/**
 * Control thread. Endpoint @p ep crashes: what it claimed ends, for whoever
 * restarts knows nothing of it. All that it said before was added before.
 */
void absences_crash(struct absences *a, uint16_t ep, uint64_t t_ns);

/**
 * Control thread. When, between @p from_ns and @p to_ns, endpoint @p ep ceased
 * to find @p peer unreachable; @p to_ns if it still did then.
 */
uint64_t absences_over(const struct absences *a, uint16_t ep, uint16_t peer,
		       uint64_t from_ns, uint64_t to_ns);

/**
 * Control thread. Absences, one entry each, in the order of their beginning.
 * @return *@p n of them, the caller's to free, whose `ep` is RL_EP_ALL if there
 *   were several accusers; NULL and 0: no memory
 */
struct absence_claim *absences_list(struct absences *a,
				    const struct rl_topo *topo, uint32_t *n);

/**
 * Control thread. The report's "unreachable": one entry per absence, in the
 * order of their beginning; times count from @p start_ns.
 */
json_t *absences_json(struct absences *a, const struct rl_topo *topo,
		      uint64_t start_ns);

/** Control thread. Gives back its memory. */
void absences_free(struct absences *a);

#endif /* ABSENCE_H */
