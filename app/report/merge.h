/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REPORT_MERGE_H
#define REPORT_MERGE_H

/**
 * @file
 * Merges the reports of the processes of one fabric, and judges the whole
 * [PHY-3].
 *
 * If the two ends of a flow ran in two processes, its source knows what it
 * sent, and its sinks know what arrived (half.h). For each span of the source
 * the merge joins the numbers of all runs of all sinks. A number in no run was
 * given up (reported), went to a life of the sink that left no report
 * (unproven), or is lost. If all missing numbers were reported, the sums of
 * the digests must agree; otherwise a packet was altered.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct merged {
	uint64_t sent;
	uint64_t delivered;
	uint64_t lost;
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t altered;
	uint64_t reported;
	uint64_t refused; /**< not sent: there was no path when they came */
	struct {	  /**< frames of attached ports that were not taken */
		uint64_t refused;
		uint64_t missed;
		uint64_t cut;
		uint64_t oversize;
		uint64_t filtered; /**< as every bridge does: no loss */
	} edge;
	unsigned int ports; /**< attached, in all */
	uint64_t unproven;  /**< to or from a life that ended without a report */
	uint64_t unaccounted; /**< of these, what no ledger shows, either */
	uint64_t unlisted;  /**< not written down: no proof */
	uint64_t flows;	    /**< between two processes */
	uint64_t torn;	    /**< halves that were being written at a kill */
	unsigned int missing; /**< processes that left nothing */
	unsigned int unclean; /**< reports of runs that broke a promise */
};

/**
 * Adds up @p n reports and judges the flows between them. @p missing processes
 * of the fabric left none.
 * @param err  @p len bytes, one line on failure
 * @return 0; -EINVAL if they are not reports of one fabric; -ENOMEM
 */
int merge_reports(json_t *const report[], const char *const name[],
		  unsigned int n, unsigned int missing, struct merged *m,
		  char *err, size_t len);

/** Most of what was sent was given up. */
bool merged_mostly_given_up(const struct merged *m);

/** Whether every promise was kept, and the run is a success. */
bool merged_clean(const struct merged *m);

#endif /* REPORT_MERGE_H */
