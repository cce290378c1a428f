/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_MAIN_H
#define FUZZ_MAIN_H

/** @file What a fuzz harness gives to libFuzzer, or to fuzz_main.c. */

#include <stddef.h>
#include <stdint.h>

/** Runs one input; traps on a broken promise. Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Words of the input format, for the mutations of fuzz_main.c. */
extern const char *const fuzz_words[];
extern const size_t fuzz_nwords;

#endif /* FUZZ_MAIN_H */
