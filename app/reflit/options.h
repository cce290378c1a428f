/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

/**
 * @file
 * The command line: `reflit [EAL options] -- [options]`. EAL's half is
 * completed with what a laptop needs (no hugepages, no PCI, no files left
 * behind), unless the user says otherwise.
 */

#include <stdbool.h>
#include <stdint.h>

#include "gens.h"
#include "runtime_dir.h"

#define OPTIONS_EAL_MAX 128

struct options {
	const char *config;
	const char *cmdline_file;
	const char *json;
	const char *counts;	 /**< counters that outlive the process, or NULL */
	uint64_t counts_period_ns; /**< between writing them */
	const char *process;	 /**< of the fabric file; NULL: one runs all */
	uint64_t seed;
	uint64_t duration_ns;	 /**< 0: until told */
	uint64_t timeline_ns; /**< a period of the report's timeline; 0: none */
	uint64_t stats_period_ns; /**< period of printed rates; 0: none */
	uint64_t idle_sleep_ns;
	const char *record;	 /**< recording of the run, or NULL */
	uint32_t ring_frames;	 /**< a direction of a software wire */
	uint32_t wire_flits;	 /**< that a frame on it carries at most */
	struct gens_plan gens;	 /**< what endpoints without a port send */
	bool interactive;
	bool check_cabling;
	bool progress;
	bool allow_orders;	 /**< telemetry clients may give commands */
	bool help;
	bool version;
	int eal_argc;	 /**< of what stands before "--" */
	char **eal_argv;
};

/**
 * Reads the command line; says on standard error what is wrong.
 * @return 0 or -EINVAL
 */
int options_read(struct options *o, int argc, char **argv);

/** Writes the help to standard output. */
void options_help(void);

/** Arguments for EAL, the user's and ours. */
#define EAL_LCORES_MAX 256

struct eal_args {
	int argc;
	char *argv[OPTIONS_EAL_MAX + 1]; /**< EAL changes the order */
	char *own[OPTIONS_EAL_MAX];	 /**< the same, to be freed */
	char memory[16];
	char lcores[16 * EAL_LCORES_MAX];
	bool talks; /**< the user wants DPDK's output: --log-level */
	struct runtime_dir dir;
};

/** Changes an argument of --vdev. @return 1: buf holds it; 0: no; -errno */
typedef int (*eal_vdev_fn)(void *ctx, const char *vdev, char *buf, size_t len);

/**
 * Completes EAL's arguments. @p memory_mb: what the fabric needs. Makes a
 * private runtime directory if the environment names none. Calls @p vdev for
 * each port that the user gives. @p lcores: makes so many, which share the CPUs
 * that there are; 0: one or two that do not share.
 * @return 0; -E2BIG; or what @p vdev returned
 */
int eal_args_make(struct eal_args *a, const struct options *o,
		  uint32_t memory_mb, uint32_t lcores, eal_vdev_fn vdev,
		  void *ctx);

/** Frees what eal_args_make() made; removes its runtime directory. */
void eal_args_clean(struct eal_args *a);

#endif /* OPTIONS_H */
