/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CRC32_STEP_H
#define RL_CRC32_STEP_H

/**
 * @file The crc32 instructions of x86 (SSE4.2) and arm64: the register of a
 * CRC-32C after 8, 4, 2 or 1 bytes more. A function that uses them is
 * CRC32_TARGET, which saves a file and a dispatch table; its callers check the
 * CPU first. Without CRC32_TARGET there are none.
 */

#if defined(__x86_64__)
#define CRC32_TARGET __attribute__((target("sse4.2")))
#define CRC32_8 __builtin_ia32_crc32di
#define CRC32_4 __builtin_ia32_crc32si
#define CRC32_2 __builtin_ia32_crc32hi
#define CRC32_1 __builtin_ia32_crc32qi
#elif defined(__aarch64__) && defined(__clang__)
#define CRC32_TARGET __attribute__((target("crc")))
#define CRC32_8(c, v) __builtin_arm_crc32cd((uint32_t)(c), v)
#define CRC32_4 __builtin_arm_crc32cw
#define CRC32_2 __builtin_arm_crc32ch
#define CRC32_1 __builtin_arm_crc32cb
#elif defined(__aarch64__)
#define CRC32_TARGET __attribute__((target("+crc")))
#define CRC32_8(c, v) __builtin_aarch64_crc32cx((uint32_t)(c), v)
#define CRC32_4 __builtin_aarch64_crc32cw
#define CRC32_2 __builtin_aarch64_crc32ch
#define CRC32_1 __builtin_aarch64_crc32cb
#endif

#endif /* RL_CRC32_STEP_H */
