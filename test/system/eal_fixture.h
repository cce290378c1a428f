/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EAL_FIXTURE_H
#define EAL_FIXTURE_H

/** EAL for a test program: no hugepages, no files, these lcores. */

#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>

static inline void
eal_fixture_start(const char *lcores)
{
	char runtime[] = "/tmp/reflit-test-XXXXXX", arg[64];
	char *argv[] = { "test", "--no-huge", "-m", "256", "--no-pci",
			 "--no-shconf", "--no-telemetry",
			 "--log-level=*:error", arg, NULL };

	snprintf(arg, sizeof(arg), "--lcores=%s", lcores);
	if (getenv("XDG_RUNTIME_DIR") == NULL && mkdtemp(runtime) != NULL)
		setenv("XDG_RUNTIME_DIR", runtime, 1);
	if (rte_eal_init(9, argv) < 0) {
		fprintf(stderr, "EAL does not start with --lcores=%s\n",
			lcores);
		exit(1);
	}
}

#endif /* EAL_FIXTURE_H */
