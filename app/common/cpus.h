/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CPUS_H
#define CPUS_H

/** Any thread. CPUs that this process may run on; at least 1. */
unsigned int cpus_allowed(void);

#endif /* CPUS_H */
