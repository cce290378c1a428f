/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_SEEDS_H
#define FUZZ_SEEDS_H

/** @file A program that runs by seeds, and says which one ended it. */

#include <stdint.h>

/**
 * Text for standard error when a signal ends the program (abort, illegal
 * instruction, trap, bad address).
 */
void fuzz_last_words(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/** Makes these signals do so. A failed check of cmocka aborts from now on. */
void fuzz_catch(void);

/**
 * A main(): `PROGRAM COUNT [FIRST_SEED]` calls @p run for each seed, and says
 * how much of @p what was @p made. @return its exit status
 */
int fuzz_seeds(int argc, char **argv, void (*run)(uint64_t seed),
	       const uint64_t *made, const char *what);

#endif /* FUZZ_SEEDS_H */
