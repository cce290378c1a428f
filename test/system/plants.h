/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLANTS_H
#define PLANTS_H

/**
 * @file
 * Bugs that test the verdict. reflit-plants is reflit built a second time, with
 * a few calls redirected to plants.c; the environment variable REFLIT_PLANT
 * selects a bug. The report and the exit status must show it. The product
 * contains none of this.
 *
 * X(name, effect)
 */
#define PLANT_LIST(X)                                                          \
	X(DUPLICATE, "a client is given a packet twice")                       \
	X(REORDER, "a client is given two packets in the wrong order")         \
	X(ALTER, "a byte of a packet changes before its client has it")        \
	X(LOSE, "a packet is thrown away before its client has it")            \
	X(STUCK, "an endpoint gives its client nothing more")                  \
	X(INEXACT, "a packet is given up that was never sent")                  \
	X(LEAK, "a flit buffer is not given back")                             \
	X(LIE, "tables lead in a circle and say that they are proven")         \
	X(UNPROVEN, "tables that nobody has proven")                           \
	X(LOG, "the log of an lcore holds next to nothing")                    \
	X(NOTICES, "hardly any drop can be told to its source")

#define PLANT_OF 2 /* the bug acts after this many events */

struct rl_ep;
struct rl_flit;
struct rl_flit_cache;
struct rl_route;
struct rl_tg;
struct rl_tg_cfg;
struct rl_topo;

unsigned int plant_log_records(void);
unsigned int plant_notices(void);

#endif /* PLANTS_H */
