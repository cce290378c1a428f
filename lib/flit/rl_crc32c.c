/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_crc32c.h"

#include <string.h>

#include "crc32_step.h"
#include "rl_base.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#define LANES 4

/*
 * The eight tables of slice-by-8 are built by the compiler, so that they are
 * constant and need not be typed.
 *
 * One step divides the register by x. X_n is the register after n steps from
 * 1. Because the CRC is linear, the entry for byte i in table k (k bytes
 * further away from the end) is the sum over the set bits j of i of
 * X_(8(k+1)-j).
 */
#define STEP(c) (((c) >> 1) ^ (0x82f63b78u & (0u - ((c) & 1u))))
#define STEPS8(n, m)                                                           \
	X_##n##1 = STEP(X_##m##8), X_##n##2 = STEP(X_##n##1),                   \
	X_##n##3 = STEP(X_##n##2), X_##n##4 = STEP(X_##n##3),                   \
	X_##n##5 = STEP(X_##n##4), X_##n##6 = STEP(X_##n##5),                   \
	X_##n##7 = STEP(X_##n##6), X_##n##8 = STEP(X_##n##7)

/* X_kj is the register after 8k+j steps; X_s8 is the start. */
enum {
	X_s8 = 1u,
	STEPS8(0, s),
	STEPS8(1, 0),
	STEPS8(2, 1),
	STEPS8(3, 2),
	STEPS8(4, 3),
	STEPS8(5, 4),
	STEPS8(6, 5),
	STEPS8(7, 6),
};

#define BIT(i, j, x) ((i) >> (j) & 1u ? (uint32_t)(x) : 0u)
#define E1(k, i)                                                               \
	(BIT(i, 0, X_##k##8) ^ BIT(i, 1, X_##k##7) ^ BIT(i, 2, X_##k##6) ^      \
	 BIT(i, 3, X_##k##5) ^ BIT(i, 4, X_##k##4) ^ BIT(i, 5, X_##k##3) ^      \
	 BIT(i, 6, X_##k##2) ^ BIT(i, 7, X_##k##1))
#define E4(k, i) E1(k, i), E1(k, (i) + 1), E1(k, (i) + 2), E1(k, (i) + 3)
#define E16(k, i) E4(k, i), E4(k, (i) + 4), E4(k, (i) + 8), E4(k, (i) + 12)
#define E64(k, i) E16(k, i), E16(k, (i) + 16), E16(k, (i) + 32), E16(k, (i) + 48)
#define TABLE(k) { E64(k, 0), E64(k, 64), E64(k, 128), E64(k, 192) }

static const uint32_t crc_table[8][256] = {
	TABLE(0), TABLE(1), TABLE(2), TABLE(3),
	TABLE(4), TABLE(5), TABLE(6), TABLE(7),
};

static uint32_t
crc32c_sw(uint32_t crc, const uint8_t *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8) {
		uint32_t lo, hi;

		memcpy(&lo, p, 4);
		memcpy(&hi, p + 4, 4);
		lo ^= crc;
		crc = crc_table[7][lo & 0xff] ^ crc_table[6][lo >> 8 & 0xff] ^
		      crc_table[5][lo >> 16 & 0xff] ^ crc_table[4][lo >> 24] ^
		      crc_table[3][hi & 0xff] ^ crc_table[2][hi >> 8 & 0xff] ^
		      crc_table[1][hi >> 16 & 0xff] ^ crc_table[0][hi >> 24];
	}
	for (; len > 0; len--, p++)
		crc = (crc >> 8) ^ crc_table[0][(crc ^ *p) & 0xff];
	return crc;
}

/* Lane i has word i of each group of four. @return the end of the groups */
static const uint8_t *
lanes_sw(uint32_t lane[LANES], const uint8_t *p, size_t groups)
{
	for (; groups > 0; groups--)
		for (int i = 0; i < LANES; i++, p += 8)
			lane[i] = crc32c_sw(lane[i], p, 8);
	return p;
}

#if defined(CRC32_TARGET)

CRC32_TARGET static uint32_t
crc32c_hw(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t c = crc;

	for (; len >= 8; len -= 8, p += 8) {
		uint64_t v;

		memcpy(&v, p, 8);
		c = CRC32_8(c, v);
	}
	crc = (uint32_t)c;
	if (len & 4) {
		uint32_t v;

		memcpy(&v, p, 4);
		crc = CRC32_4(crc, v);
		p += 4;
	}
	if (len & 2) {
		uint16_t v;

		memcpy(&v, p, 2);
		crc = CRC32_2(crc, v);
		p += 2;
	}
	if (len & 1)
		crc = CRC32_1(crc, *p);
	return crc;
}

CRC32_TARGET static const uint8_t *
lanes_hw(uint32_t lane[LANES], const uint8_t *p, size_t groups)
{
	uint64_t c[LANES], v[LANES];

	for (int i = 0; i < LANES; i++)
		c[i] = lane[i];
	for (; groups > 0; groups--, p += sizeof(v)) {
		memcpy(v, p, sizeof(v));
		for (int i = 0; i < LANES; i++)
			c[i] = CRC32_8(c[i], v[i]);
	}
	for (int i = 0; i < LANES; i++)
		lane[i] = (uint32_t)c[i];
	return p;
}

bool
rl_crc32c_hw(void)
{
#if defined(__aarch64__)
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
#else
	return __builtin_cpu_supports("sse4.2");
#endif
}

#else

static const uint8_t *
lanes_hw(uint32_t lane[LANES], const uint8_t *p, size_t groups)
{
	return lanes_sw(lane, p, groups);
}

static uint32_t
crc32c_hw(uint32_t crc, const uint8_t *p, size_t len)
{
	return crc32c_sw(crc, p, len);
}

bool
rl_crc32c_hw(void)
{
	return false;
}

#endif

static uint32_t
crc32c(uint32_t crc, const uint8_t *p, size_t len, bool hw)
{
	return rl_likely(hw) ? crc32c_hw(crc, p, len)
			     : crc32c_sw(crc, p, len);
}

uint32_t
rl_crc32c(const void *data, size_t len, bool hw)
{
	return ~crc32c(~0u, data, len, hw);
}

uint32_t
rl_crc32c_hole(const void *data, size_t len, size_t hole, bool hw)
{
	static const uint8_t zero[4];
	const uint8_t *p = data;
	uint32_t crc = crc32c(~0u, p, hole, hw);

	RL_DASSERT(hole + sizeof(zero) <= len);
	crc = crc32c(crc, zero, sizeof(zero), hw);
	p += hole + sizeof(zero);
	return ~crc32c(crc, p, len - hole - sizeof(zero), hw);
}

uint32_t
rl_crc32c_lanes(const void *data, size_t len, bool hw)
{
	const size_t groups = len / (8 * LANES);
	uint32_t lane[LANES] = { 1, 2, 3, 4 };
	const uint8_t *end;

	end = rl_likely(hw) ? lanes_hw(lane, data, groups)
			    : lanes_sw(lane, data, groups);
	lane[0] = crc32c(lane[0], end, len % (8 * LANES), hw);
	return rl_crc32c(lane, sizeof(lane), hw);
}
