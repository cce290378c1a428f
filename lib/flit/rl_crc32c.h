/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CRC32C_H
#define RL_CRC32C_H

/**
 * @file CRC-32C (Castagnoli, reflected; init and xorout all ones), the check of
 * frame headers. Headers are 50 to 120 bytes long: too short for interleaved
 * streams to pay.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rl_base.h"

RL_PUBLIC_BEGIN

/**
 * Any thread. Whether this CPU has the crc32 instruction (SSE4.2; arm64). Ask once
 * and keep the answer; it costs more than the check of a header.
 */
bool rl_crc32c_hw(void);

/**
 * Any thread. CRC-32C of @p len bytes at @p data (any alignment; @p len may be
 * 0). @p hw: use the crc32 instruction; only if rl_crc32c_hw() is true.
 */
uint32_t rl_crc32c(const void *data, size_t len, bool hw);

/**
 * Any thread. The same with the four bytes from @p hole on taken as zero: for a
 * check that lies in the header it covers.
 */
uint32_t rl_crc32c_hole(const void *data, size_t len, size_t hole, bool hw);

/**
 * Any thread. A digest of @p len bytes at @p data, the same with and without @p
 * hw: four CRCs, each of every fourth word, under one more. A change of one of
 * the four changes the whole. Four parallel chains of instructions take a third
 * of the time for a long packet.
 */
uint32_t rl_crc32c_lanes(const void *data, size_t len, bool hw);

RL_PUBLIC_END

#endif /* RL_CRC32C_H */
