/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "rl_tap.h"

void
rl_tap_init(struct rl_tap *tap, uint8_t *ring, uint64_t size)
{
	RL_ASSERT(size >= 4096 && (size & (size - 1)) == 0);
	memset(tap, 0, sizeof(*tap));
	tap->ring = ring;
	tap->size = size;
}

static uint64_t
record_bytes(uint32_t len)
{
	return sizeof(struct rl_tap_rec) + ((len + 7ull) & ~7ull);
}

static void
copy_in(struct rl_tap *tap, uint64_t at, const void *from, uint64_t n)
{
	const uint64_t off = at & (tap->size - 1);
	const uint64_t first = rl_min_u64(n, tap->size - off);

	memcpy(tap->ring + off, from, first);
	memcpy(tap->ring, (const uint8_t *)from + first, n - first);
}

static void
copy_out(const struct rl_tap *tap, uint64_t at, void *to, uint64_t n)
{
	const uint64_t off = at & (tap->size - 1);
	const uint64_t first = rl_min_u64(n, tap->size - off);

	memcpy(to, tap->ring + off, first);
	memcpy((uint8_t *)to + first, tap->ring, n - first);
}

void
rl_tap_put(struct rl_tap *tap, struct rl_tap_rec *rec, const uint8_t *frame)
{
	const uint64_t tail =
		atomic_load_explicit(&tap->tail, memory_order_relaxed);
	/* acquire: pairs with the release in rl_tap_get() */
	const uint64_t head =
		atomic_load_explicit(&tap->head, memory_order_acquire);

	if (tail - head + record_bytes(rec->len) > tap->size) {
		tap->missed++;
		atomic_store_explicit(
			&tap->dropped,
			atomic_load_explicit(&tap->dropped,
					     memory_order_relaxed) + 1,
			memory_order_relaxed);
		return;
	}
	rec->missed = tap->missed;
	tap->missed = 0;
	copy_in(tap, tail, rec, sizeof(*rec));
	copy_in(tap, tail + sizeof(*rec), frame, rec->len);
	/* release: pairs with the acquire in rl_tap_get() */
	atomic_store_explicit(&tap->tail, tail + record_bytes(rec->len),
			      memory_order_release);
}

bool
rl_tap_get(struct rl_tap *tap, struct rl_tap_rec *rec, uint8_t *frame,
	   uint32_t cap)
{
	const uint64_t head =
		atomic_load_explicit(&tap->head, memory_order_relaxed);

	/* acquire: pairs with the release in rl_tap_put() */
	if (atomic_load_explicit(&tap->tail, memory_order_acquire) == head)
		return false;
	copy_out(tap, head, rec, sizeof(*rec));
	copy_out(tap, head + sizeof(*rec), frame,
		 rl_min_u32(rec->len, cap));
	/* release: pairs with the acquire in rl_tap_put() */
	atomic_store_explicit(&tap->head, head + record_bytes(rec->len),
			      memory_order_release);
	return true;
}
