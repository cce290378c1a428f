/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_POINT_H
#define RXL_POINT_H

/**
 * @file
 * One point of the user's own: everything that is said of it, in one table.
 */

#include "report.h"

/** Main thread. Appends the two simulations that a point needs. */
void rxl_point_plan(struct rxl_plan *plan, const struct rxl_case *c);

/** Main thread. As any report; the plan holds one point. */
void rxl_report_point(struct rxl_eval *e, struct rxl_table *t);

#endif /* RXL_POINT_H */
