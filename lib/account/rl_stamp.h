/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_STAMP_H
#define RL_STAMP_H

/**
 * @file The data of a generated packet, which tell the receiver its source, its
 * number in its flow, when it was sent, and whether any byte or its class was
 * altered [EP-1]. Little-endian:
 *
 * | bytes | what                                                          |
 * |-------|---------------------------------------------------------------|
 * | 0-3   | magic                                                         |
 * | 4-5   | source                                                        |
 * | 6-7   | destination                                                   |
 * | 8     | class of service                                              |
 * | 9     | packet class                                                  |
 * | 10-11 | 0                                                             |
 * | 12-15 | number of the packet in its flow, from 0                      |
 * | 16-19 | length in bytes, all of it                                    |
 * | 20-23 | 0                                                             |
 * | 24-31 | send time in ns                                               |
 * | 32-39 | key: a hash of all above and of the seed of the run           |
 * | 40-   | what rl_content.h makes of the key                            |
 */

#include <stdint.h>

#include "rl_flit_cache.h"

/** Shortest packet that holds a stamp. */
#define RL_STAMP_BYTES 40

struct rl_stamp {
	uint16_t src;
	uint16_t dst;
	uint8_t cos;
	uint8_t class; /**< enum rl_class */
	uint32_t number;
	uint32_t len_bytes;
	uint64_t t_ns;
	uint64_t seed; /**< of the run; not on the wire */
};

/** Result of a check. */
enum rl_stamp_verdict {
	RL_STAMP_OK,
	RL_STAMP_BODY,	  /**< the stamp is good, the content is not */
	RL_STAMP_FOREIGN, /**< no stamp, a corrupt one, or another flow's */
};

/** A stamp made ready for writing. */
struct rl_stamp_writer {
	uint8_t head[RL_STAMP_BYTES];
	uint64_t key;
};

/** Any thread. Prepares the writing of one packet. */
void rl_stamp_begin(struct rl_stamp_writer *w, const struct rl_stamp *s);

/** A rl_ep_fill_fn whose context is a struct rl_stamp_writer. */
void rl_stamp_fill(void *writer, uint8_t *to, uint32_t off, uint32_t len);

/**
 * Owner of the packet. Checks one received packet: its flow and class must be
 * those of its flits' headers, its seed @p seed.
 *
 * @param s  set to the contents of the stamp, unless RL_STAMP_FOREIGN
 */
enum rl_stamp_verdict rl_stamp_check(const struct rl_flit *head, uint64_t seed,
				     struct rl_stamp *s);

#endif /* RL_STAMP_H */
