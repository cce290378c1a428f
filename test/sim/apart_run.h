/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One fabric, run in the ways that are to come to the same: each nanosecond by
 * all devices, devices by themselves, and threads that share them.
 */
#ifndef APART_RUN_H
#define APART_RUN_H

#include "rl_sim.h"
#include "rl_sim_load.h"

#define APART_EVENTS_MAX 20000

/* Something that the host was told. */
struct told {
	uint64_t t_ns;
	uint32_t dev;
	uint32_t what; /* the reporter, and the event's kind */
	uint64_t more;
};

/* All that a run leaves behind. */
struct outcome {
	struct rl_sim_load_stats load;
	struct rl_sim_stats sim;
	struct rl_delay delay; /* of VC 0 */
	uint64_t counters; /* a hash of all of them, in order */
	uint64_t failovers; /* the same */
	uint64_t recoveries; /* the same; in order of time */
	uint64_t since;	     /* the same, of when endpoints were connected */
	uint32_t nfailovers;
	uint32_t nrecoveries;
	uint64_t back;	   /* times that a client's clock was behind another's */
	uint32_t untimely; /* tales that came after later ones */
	uint32_t ntold;
	struct told told[APART_EVENTS_MAX];
};

/* A case: a fabric, and what differs from the usual. */
struct apart_case {
	const char *fabric;
	uint64_t latency_ns;
	uint64_t tick_ns;
	uint64_t notice_ns;
	double load;
	uint32_t requests_ppm;
	const char *faults;
	uint64_t packets; /* 0: 20 us of them */
	uint64_t end_us;
	uint64_t flit_ps; /* 0: as usual */
	bool abreast; /* no device is ahead of another */
};

/* How it is run. */
enum how { EACH_NS, APART, THREADS };

/** Runs a case, and fails the test where its audit does. */
void apart_run(const struct apart_case *c, enum how how, uint32_t threads,
	       struct outcome *out);

#endif
