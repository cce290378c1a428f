/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINEAR_H
#define LINEAR_H

/**
 * @file
 * Linear algebra over bits, for exhaustive proofs about the CRCs. The vectors
 * are syndromes computed by the reference code, not derived from theory.
 */

#include "codec_test.h"

/** Vectors in echelon form; v[i] is zero or has i as its highest bit. */
struct basis {
	uint64_t v[64];
	unsigned int rank;
};

/** Adds @p x. @return false if it depends on the others */
bool basis_add(struct basis *b, uint64_t x);

/** @return the canonical member of x + span(b) */
uint64_t basis_reduce(const struct basis *b, uint64_t x);

/**
 * Syndromes of the 2000 single-bit errors: index 8 i + j is bit j of byte i.
 */
void bit_syndromes(enum rl_crc_kind crc, uint64_t syn[CODE_BITS]);

/** Basis of what the numbers 1, 2, 4, ... add to the CRC field. */
void number_basis(enum rl_crc_kind crc, enum rl_isn_kind isn,
		  struct basis *b);

/**
 * Whether all sums of up to two of the vectors differ, including 0: then no sum
 * of up to four is 0.
 */
bool pairs_differ(const uint64_t syn[CODE_BITS]);

/** Result of triples_collide(). */
struct collisions {
	uint64_t six;	/**< triples with the same sum: up to 6 bits */
	uint64_t five;	/**< triples with the sum of a pair: up to 5 bits */
	uint64_t seven; /**< triples that differ by @p extra: up to 7 bits */
};

/**
 * Compares the sums of all 1.3 * 10^9 triples. Takes about a minute.
 * @p extra: a vector of one bit set, 0 for none.
 */
struct collisions triples_collide(const uint64_t syn[CODE_BITS],
				  uint64_t extra);

#endif /* LINEAR_H */
