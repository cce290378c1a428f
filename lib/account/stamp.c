/* SPDX-License-Identifier: BSD-3-Clause */
#include "rl_content.h"
#include "rl_prng.h"
#include "rl_stamp.h"

#define MAGIC 0x54464c52u /* "RLFT" */

/** Hash of the head's first 32 bytes and the seed. */
static uint64_t
key_of(const uint8_t *head, uint64_t seed)
{
	uint64_t key = seed;

	for (unsigned int i = 0; i < 32; i += 8) {
		uint64_t x = key ^ rl_get64(head + i);

		key = rl_splitmix64(&x);
	}
	return key;
}

void
rl_stamp_begin(struct rl_stamp_writer *w, const struct rl_stamp *s)
{
	uint8_t *h = w->head;

	rl_put32(h, MAGIC);
	rl_put16(h + 4, s->src);
	rl_put16(h + 6, s->dst);
	rl_put32(h + 8, s->cos | (uint32_t)s->class << 8);
	rl_put32(h + 12, s->number);
	rl_put64(h + 16, s->len_bytes);
	rl_put64(h + 24, s->t_ns);
	w->key = key_of(h, s->seed);
	rl_put64(h + 32, w->key);
}

void
rl_stamp_fill(void *writer, uint8_t *to, uint32_t off, uint32_t len)
{
	const struct rl_stamp_writer *w = writer;
	const uint32_t head = off == 0 ? RL_STAMP_BYTES : 0;

	memcpy(to, w->head, head);
	rl_content_fill(w->key, to + head, off + head, len - head);
}

static bool
head_ok(const struct rl_flit *head, uint64_t seed)
{
	const uint8_t *h = head->wire + RL_FLIT_DATA_OFF;

	return head->wire[8] >= RL_STAMP_BYTES && rl_get32(h) == MAGIC &&
	       rl_get16(h + 4) == rl_flit_src(head->wire) &&
	       rl_get16(h + 6) == rl_flit_dst(head->wire) &&
	       h[8] == head->wire[6] >> 4 && h[9] == rl_flit_class(head->wire) &&
	       rl_get64(h + 32) == key_of(h, seed);
}

enum rl_stamp_verdict
rl_stamp_check(const struct rl_flit *head, uint64_t seed, struct rl_stamp *s)
{
	const uint8_t *h = head->wire + RL_FLIT_DATA_OFF;
	const struct rl_flit *f = head;
	uint32_t off = 0, bytes = 0;
	bool ok = true;

	if (!head_ok(head, seed))
		return RL_STAMP_FOREIGN;
	*s = (struct rl_stamp){
		.src = rl_get16(h + 4),
		.dst = rl_get16(h + 6),
		.cos = h[8],
		.class = h[9],
		.number = rl_get32(h + 12),
		.len_bytes = rl_get32(h + 16),
		.t_ns = rl_get64(h + 24),
		.seed = seed,
	};
	for (unsigned int n = head->pkt_flits; n > 0; n--, f = f->next) {
		const uint32_t at = off == 0 ? RL_STAMP_BYTES : 0;

		ok &= rl_content_same(rl_get64(h + 32),
				      f->wire + RL_FLIT_DATA_OFF + at, off + at,
				      f->wire[8] - at);
		bytes += f->wire[8];
		off += RL_FLIT_DATA_BYTES;
	}
	return ok && bytes == s->len_bytes ? RL_STAMP_OK : RL_STAMP_BODY;
}
