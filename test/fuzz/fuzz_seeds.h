/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_SEEDS_H
#define FUZZ_SEEDS_H

/**
 * @file A program that runs seeds, and reports the one that failed.
 */

#include <stdint.h>

/**
 * Text for standard error when a signal ends the program (abort, illegal
 * instruction, trap, bad address).
 */
void fuzz_last_words(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/** Enables this. A failed check of cmocka aborts from now on. */
void fuzz_catch(void);

/**
 * A main(): `PROGRAM COUNT [FIRST_SEED]` calls @p run for each seed, then
 * prints how many @p what it counted in @p made. @return its exit status
 */
int fuzz_seeds(int argc, char **argv, void (*run)(uint64_t seed),
	       const uint64_t *made, const char *what);

#endif /* FUZZ_SEEDS_H */
