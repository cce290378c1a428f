/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_MAIN_H
#define FUZZ_MAIN_H

/** @file What a fuzz harness gives to libFuzzer, or to fuzz_main.c. */

#include <stddef.h>
#include <stdint.h>

/** Runs one input; traps on a broken promise. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * Writes the i-th input to begin with, of at most @p room bytes, and returns
 * its length; 0: there are no more. Formats that no file of the tree shows
 * have such; others need not define it.
 */
size_t fuzz_seed(unsigned int i, uint8_t *to, size_t room);

/** Words of the input format, for the mutations of fuzz_main.c. */
extern const char *const fuzz_words[];
extern const size_t fuzz_nwords;

#endif /* FUZZ_MAIN_H */
