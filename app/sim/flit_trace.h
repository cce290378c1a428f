/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLIT_TRACE_H
#define FLIT_TRACE_H

/**
 * @file
 * What each flit of a simulated run met, as lines of a file (docs/simulation.md).
 * Control thread.
 */

#include "rl_sim.h"

struct flit_trace;

/** @return NULL with errno set */
struct flit_trace *flit_trace_open(const char *path,
				   const struct rl_topo *topo);

/** For the parameters of the simulation. */
const struct rl_sim_tap *flit_trace_tap(const struct flit_trace *t);

/** For rl_sim_load_cfg.taken; @p ctx is the trace. */
void flit_trace_taken(void *ctx, uint16_t at, const struct rl_flit *pkt,
		      uint64_t now_ns);

/** A line about a port, a core or an endpoint. */
void flit_trace_event(struct flit_trace *t, uint64_t t_ns, const char *text);

/** Ends and frees it. @return 0 or -EIO: not all lines were written */
int flit_trace_close(struct flit_trace *t);

#endif /* FLIT_TRACE_H */
