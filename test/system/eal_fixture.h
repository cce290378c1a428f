/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EAL_FIXTURE_H
#define EAL_FIXTURE_H

/** Starts EAL for a test program: no hugepages, no files, the given lcores. */

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

static char eal_fixture_dir[] = "/tmp/reflit-test-XXXXXX";

static inline int
eal_fixture_remove(const char *path, const struct stat *st, int flag,
		   struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void
eal_fixture_clean(void)
{
	(void)nftw(eal_fixture_dir, eal_fixture_remove, 8,
		   FTW_DEPTH | FTW_PHYS);
}

static inline void
eal_fixture_start(const char *lcores)
{
	char arg[64];
	char *argv[] = { "test", "--no-huge", "-m", "256", "--no-pci",
			 "--no-shconf", "--no-telemetry",
			 "--log-level=*:error", arg, NULL };

	snprintf(arg, sizeof(arg), "--lcores=%s", lcores);
	/* an ordinary user needs a runtime directory of its own */
	if (geteuid() != 0 && mkdtemp(eal_fixture_dir) != NULL) {
		setenv("XDG_RUNTIME_DIR", eal_fixture_dir, 1);
		atexit(eal_fixture_clean);
	}
	if (rte_eal_init(9, argv) < 0) {
		fprintf(stderr, "EAL does not start with --lcores=%s\n",
			lcores);
		exit(1);
	}
}

#endif /* EAL_FIXTURE_H */
