/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFLIT_QUALITY_H
#define REFLIT_QUALITY_H

/** @file Quality of sets of paths, computed without their tables. */

#include "route_graph.h"

struct any_quality {
	uint64_t links;	  /**< between switches, of the paths of all flows */
	uint64_t busiest; /**< flows on the busiest link */
};

/** The load of the busiest link, by the flows on each arc. */
uint64_t any_busiest(const struct route_graph *g, const uint64_t *load);

/** Quality of up*-down* from a root in the middle. Returns 0 or -ENOMEM. */
int any_updown_quality(const struct route_graph *g, struct any_quality *q);

#endif /* REFLIT_QUALITY_H */
