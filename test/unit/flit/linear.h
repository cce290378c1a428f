/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINEAR_H
#define LINEAR_H

/**
 * @file
 * Linear algebra over bits, for proofs about the CRCs by exhaustion. Vectors
 * are the syndromes that the reference code gives, not theory.
 */

#include "codec_test.h"

/** Vectors in echelon form; v[i] is zero or has i as its highest bit. */
struct basis {
	uint64_t v[64];
	unsigned int rank;
};

/** Adds @p x; false where it depends on what is there. */
bool basis_add(struct basis *b, uint64_t x);

/** The member of x + span(b) that is the same for all of x + span(b). */
uint64_t basis_reduce(const struct basis *b, uint64_t x);

/**
 * Syndromes of the 2000 single wrong bits: bit 8 i + j of byte i first.
 */
void bit_syndromes(enum rl_crc_kind crc, uint64_t syn[CODE_BITS]);

/** What the numbers 1, 2, 4, ... add to the CRC field, as a basis. */
void number_basis(enum rl_crc_kind crc, enum rl_isn_kind isn,
		  struct basis *b);

/**
 * Whether all sums of up to two of the vectors differ, 0 included: then no
 * sum of up to four is 0.
 */
bool pairs_differ(const uint64_t syn[CODE_BITS]);

/** What triples_collide() found. */
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
