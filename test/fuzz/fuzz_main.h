/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_MAIN_H
#define FUZZ_MAIN_H

/**
 * @file Interface of a fuzz harness to libFuzzer, or to fuzz_main.c.
 */

#include <stddef.h>
#include <stdint.h>

/** Runs one input; traps if an invariant is broken. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * Writes the i-th initial input, at most @p room bytes, and returns its length;
 * 0: there are no more. Needed for formats without a sample file in the tree;
 * optional for others.
 */
size_t fuzz_seed(unsigned int i, uint8_t *to, size_t room);

/** Words of the input format, used by the mutations of fuzz_main.c. */
extern const char *const fuzz_words[];
extern const size_t fuzz_nwords;

#endif /* FUZZ_MAIN_H */
