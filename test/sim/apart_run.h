/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one fabric in ways that must give the same result: all devices together
 * each nanosecond, devices independently, and with several threads.
 */
#ifndef APART_RUN_H
#define APART_RUN_H

#include "rl_sim.h"
#include "rl_sim_load.h"

#define APART_EVENTS_MAX 20000

/* An event that the host received. */
struct told {
	uint64_t t_ns;
	uint32_t dev;
	uint32_t what; /* the reporter and the kind of event */
	uint64_t more;
};

/* Results of a run. */
struct outcome {
	struct rl_sim_load_stats load;
	struct rl_sim_stats sim;
	struct rl_delay delay; /* of VC 0 */
	uint64_t counters; /* hash of all of them, in order */
	uint64_t failovers; /* hash */
	uint64_t recoveries; /* hash, in order of time */
	uint64_t since;	     /* hash of the times of connection */
	uint32_t nfailovers;
	uint32_t nrecoveries;
	uint64_t back;	   /* times a client's clock was behind another's */
	uint32_t untimely; /* events received after later ones */
	uint32_t ntold;
	struct told told[APART_EVENTS_MAX];
};

/* A case: a fabric, and its differences from the defaults. */
struct apart_case {
	const char *fabric;
	uint64_t latency_ns;
	uint64_t tick_ns;
	uint64_t notice_ns;
	double load;
	uint32_t requests_ppm;
	const char *faults;
	uint64_t packets; /* 0: for 20 us */
	uint64_t end_us;
	uint64_t flit_ps; /* 0: the default */
	bool abreast; /* no device may run ahead */
};

/* Ways to run it. */
enum how { EACH_NS, APART, THREADS };

/** Runs a case; fails the test if an audit fails. */
void apart_run(const struct apart_case *c, enum how how, uint32_t threads,
	       struct outcome *out);

#endif
