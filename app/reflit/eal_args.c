/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * EAL's arguments. A user who says nothing gets a run that works without root,
 * hugepages or NICs, and leaves nothing behind:
 *
 *   --no-huge -m N   memory from anywhere, as much as the fabric needs
 *   --no-pci         no search for devices
 *   --no-shconf      no files: any number of runs beside each other
 *   --lcores ...     two of the CPUs we may use: one controls, one works
 *
 * Each is left out if the user gives an option for the same thing.
 */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static bool
given(const struct options *o, const char *const names[])
{
	for (int i = 1; i < o->eal_argc; i++)
		for (const char *const *n = names; *n != NULL; n++) {
			const size_t len = strlen(*n);
			const char *arg = o->eal_argv[i];
			const bool is_short = (*n)[1] != '-';

			if (strncmp(arg, *n, len) != 0)
				continue;
			/* -l0,1 and --lcores=0 are as good as two words */
			if (is_short || arg[len] == '\0' || arg[len] == '=')
				return true;
		}
	return false;
}

static int
add(struct eal_args *a, const char *arg)
{
	if (a->argc == OPTIONS_EAL_MAX)
		return -E2BIG;
	a->own[a->argc] = strdup(arg);
	if (a->own[a->argc] == NULL)
		return -ENOMEM;
	a->argv[a->argc] = a->own[a->argc];
	a->argv[++a->argc] = NULL;
	return 0;
}

/*
 * Lcore 0 controls, lcore 1 works; on one CPU, lcore 0 does both. Where CPUs are
 * shared there are @p lcores of them, dealt out over the CPUs in turn.
 */
static void
pick_cpus(struct eal_args *a, uint32_t lcores)
{
	const unsigned int all = lcores == 0 ? 2
				: lcores > EAL_LCORES_MAX ? EAL_LCORES_MAX
							  : lcores;
	int cpu[EAL_LCORES_MAX] = { 0 }, at;
	unsigned int n = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_SET(0, &set);
	for (int i = 0; i < CPU_SETSIZE && n < all; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	at = snprintf(a->lcores, sizeof(a->lcores), "--lcores=0@%d", cpu[0]);
	for (unsigned int i = 1; i < (lcores == 0 ? n : all); i++)
		at += snprintf(a->lcores + at, sizeof(a->lcores) - (size_t)at,
			       ",%u@%d", i, cpu[i % (n == 0 ? 1 : n)]);
}

/* The user's, with ports as @p vdev wants them. */
static int
add_users(struct eal_args *a, const struct options *o, eal_vdev_fn vdev,
	  void *ctx)
{
	static const char word[] = "--vdev";
	const size_t len = sizeof(word) - 1;
	int ret = 0;

	for (int i = 1; i < o->eal_argc && ret == 0; i++) {
		const char *arg = o->eal_argv[i];
		const bool joined = strncmp(arg, "--vdev=", len + 1) == 0;
		const bool follows = i > 1 &&
				     strcmp(o->eal_argv[i - 1], word) == 0;
		const size_t skip = joined ? len + 1 : 0;
		char buf[1024];
		int changed = 0;

		memcpy(buf, "--vdev=", skip);
		if (joined || follows)
			changed = vdev(ctx, arg + skip, buf + skip,
				       sizeof(buf) - skip);
		if (changed < 0)
			return changed;
		ret = add(a, changed == 1 ? buf : arg);
	}
	return ret;
}

int
eal_args_make(struct eal_args *a, const struct options *o, uint32_t memory_mb,
	      uint32_t lcores, eal_vdev_fn vdev, void *ctx)
{
	static const char *const cpus[] = { "-l", "-c", "-s", "-S",
					    "--lcores", NULL };
	static const char *const huge[] = {
		"--socket-mem", "--huge-dir", "--in-memory", "--huge-unlink",
		"--single-file-segments", "--legacy-mem", NULL
	};
	static const char *const no_huge[] = { "--no-huge", NULL };
	static const char *const size[] = { "-m", NULL };
	static const char *const pci[] = { "--no-pci", "-a", "--allow", "-b",
					   "--block", NULL };
	static const char *const shared[] = { "--no-shconf", "--in-memory",
					      "--file-prefix", "--proc-type",
					      NULL };
	static const char *const log[] = { "--log-level", NULL };
	int ret = add(a, o->eal_argv[0]);

	if (!given(o, cpus)) {
		pick_cpus(a, lcores);
		ret |= add(a, a->lcores);
	}
	if (!given(o, huge) && !given(o, no_huge))
		ret |= add(a, "--no-huge");
	if (!given(o, huge) && !given(o, size)) {
		snprintf(a->memory, sizeof(a->memory), "%u", memory_mb);
		ret |= add(a, "-m");
		ret |= add(a, a->memory);
	}
	if (!given(o, pci))
		ret |= add(a, "--no-pci");
	if (!given(o, shared))
		ret |= add(a, "--no-shconf");
	a->talks = given(o, log);
	if (!a->talks) {
		/* the first pattern that fits decides */
		ret |= add(a, "--log-level=*telemetry*:error");
		ret |= add(a, "--log-level=*:warning");
	}
	if (ret != 0)
		return -E2BIG;
	ret = add_users(a, o, vdev, ctx);
	if (ret != 0)
		return ret;
	runtime_dir_make(&a->dir);
	return 0;
}

void
eal_args_clean(struct eal_args *a)
{
	for (int i = 0; i < OPTIONS_EAL_MAX; i++)
		free(a->own[i]);
	runtime_dir_remove(&a->dir);
}
