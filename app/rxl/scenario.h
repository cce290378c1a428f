/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_SCENARIO_H
#define RXL_SCENARIO_H

/**
 * @file
 * Figures 4, 5a and 5b of the RXL paper, played by the product's own endpoints
 * [EP-5]. In each, four flits #0 to #3 go one way, a switch drops #1, and an
 * ACK is due just when #2 leaves. driver/scenario.py draws what happens, and
 * judges it.
 */

#include <jansson.h>

#include "rl_rxl_path.h"

enum rxl_figure {
	RXL_FIG4,  /**< the link layer: #2 is delivered before #1 */
	RXL_FIG5A, /**< the flits are requests: C is executed twice */
	RXL_FIG5B, /**< the flits are data of one queue: C before B */
};

/** Any thread. @return 0, or -ENOENT */
int rxl_figure_find(const char *name, enum rxl_figure *fig);

/**
 * Main thread. Plays @p fig.
 * @return "events", in order, each with its time and side: steps of flits, what
 *   clients took, what memory agents did; "leak": a flit buffer leaked. NULL: no
 *   memory
 */
json_t *rxl_scenario_play(enum rxl_figure fig, enum rl_profile profile);

#endif /* RXL_SCENARIO_H */
