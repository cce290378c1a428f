/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_RXL_APP_H
#define RL_RXL_APP_H

/**
 * @file
 * Two subcommands of reflit-sim. argv[0] is the subcommand's own name.
 */

/**
 * Main thread. `reflit-sim rxl`: the evaluation of the RXL paper [EVAL-1,
 * EVAL-4]; docs/evaluation.md.
 *
 * @return exit status: 0 done; 1 a profile that promises it has lost order or
 *   data; 2 unusable arguments
 */
int rl_rxl_main(int argc, char **argv);

/**
 * Main thread. `reflit-sim scenario fig4|fig5a|fig5b`: the figures of the RXL
 * paper, flit by flit [EP-5].
 *
 * @return exit status: 0 order and number were kept; 1 they were not; 2
 *   unusable arguments
 */
int rl_scenario_main(int argc, char **argv);

#endif /* RL_RXL_APP_H */
