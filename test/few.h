/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FEW_H
#define FEW_H

#include <stdlib.h>

/*
 * How far a sweep over many like cases steps. FEW: n with sanitizers, which look
 * at each access and take ten times as long; else 1, and each case is run. SOME:
 * n, unless RL_FULL stands in the environment: devtools/test.sh --full.
 */
#ifdef RL_DEBUG
#define FEW(n) (n)
#define SOME(n) (n)
#else
#define FEW(n) 1
#define SOME(n) (getenv("RL_FULL") == NULL ? (n) : 1)
#endif

#endif /* FEW_H */
