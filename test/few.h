/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FEW_H
#define FEW_H

/*
 * How far a sweep over many like cases steps: n with sanitizers, which look at
 * each access and take ten times as long; else 1, and each case is run.
 */
#ifdef RL_DEBUG
#define FEW(n) (n)
#else
#define FEW(n) 1
#endif

#endif /* FEW_H */
