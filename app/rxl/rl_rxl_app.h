/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_APP_H
#define RL_RXL_APP_H

/**
 * @file
 * Subcommands of reflit-sim. argv[0] is the name of the subcommand.
 */

/**
 * Main thread. `reflit-sim rxl`: the evaluation of the RXL paper [EVAL-1,
 * EVAL-4]; docs/evaluation.md.
 *
 * Replaces the process by a Python program, whose exit status is 0: done; 1: a
 * profile that guarantees order and data has lost some; 2: unusable arguments.
 *
 * @return only if that program cannot be run: 2, with a line on stderr
 */
int rl_rxl_main(int argc, char **argv);

/**
 * Main thread. `reflit-sim rxl-points`: answers requests of that program for
 * points on standard input until its end; see points.c.
 *
 * @return exit status: 0; 2: standard output could not be written
 */
int rl_rxl_points_main(int argc, char **argv);

/**
 * Main thread. `reflit-sim scenario fig4|fig5a|fig5b`: the figures of the RXL
 * paper, flit by flit [EP-5].
 *
 * @return exit status: 0: order and number were kept; 1: they were not; 2:
 *   unusable arguments
 */
int rl_scenario_main(int argc, char **argv);

#endif /* RL_RXL_APP_H */
