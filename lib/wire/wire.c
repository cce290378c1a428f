/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "rl_codec.h"
#include "rl_flit_run.h"
#include "rl_wire.h"

#define HEADER_BYTES (RL_FRAME_HEADER_SHORT - RL_FRAME_LINK_OFF)

static bool
chance(struct rl_wire_faults *w, uint32_t ppb)
{
	return ppb != 0 && rl_prng_below(&w->prng, RL_PPB) < ppb;
}

void
rl_wire_noise(struct rl_wire_faults *w, const struct rl_noise *n)
{
	struct rl_error_cfg cfg;

	w->noise = *n;
	if (n->bit_rate == 0)
		return;
	rl_error_cfg_defaults(&cfg);
	cfg.bit_rate = n->bit_rate;
	cfg.propagate = n->propagate;
	cfg.lanes = n->lanes == 0 ? 1 : n->lanes;
	rl_error_init(&w->bits.process, &cfg, rl_prng_u64(&w->prng));
	w->bits.at = 0;
}

void
rl_wire_clear(struct rl_wire_faults *w)
{
	w->noise = (struct rl_noise){ 0 };
	w->drop_left = 0;
	w->corrupt_bytes = 0;
}

bool
rl_wire_odd(const struct rl_wire_faults *w)
{
	const struct rl_noise *n = &w->noise;

	return w->drop_left != 0 || w->corrupt_bytes != 0 ||
	       n->delay_ns != 0 || n->bit_rate != 0 ||
	       (n->loss_ppb | n->corrupt_ppb | n->dup_ppb | n->jitter_ppb) != 0;
}

uint32_t
rl_wire_flits(const uint8_t *data, uint32_t len)
{
	const uint32_t n =
		len < RL_FRAME_HEADER_SHORT ||
				(data[RL_FRAME_LINK_OFF] & 0xf) != RL_FRAME_DATA
			? 0
			: data[RL_FRAME_LINK_OFF + 1];

	return n <= RL_FRAME_FLITS_MAX ? n : 0;
}

bool
rl_wire_loses(struct rl_wire_faults *w, bool data)
{
	if (data && w->drop_left != 0) {
		w->drop_left--;
		return true;
	}
	return chance(w, w->noise.loss_ppb);
}

bool
rl_wire_twice(struct rl_wire_faults *w)
{
	return chance(w, w->noise.dup_ppb);
}

uint64_t
rl_wire_later_ns(struct rl_wire_faults *w)
{
	uint64_t ns = w->noise.delay_ns;

	if (chance(w, w->noise.jitter_ppb) && w->noise.jitter_ns != 0)
		ns += rl_prng_range(&w->prng, 1, w->noise.jitter_ns);
	return ns;
}

/* Alters a run of bytes; its first and last byte always change. */
static void
corrupt_bytes(struct rl_wire_faults *w, uint8_t *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t x = (uint8_t)rl_prng_u64(&w->prng);

		if ((i == 0 || i == n - 1) && x == 0)
			x = (uint8_t)(1u << rl_prng_below(&w->prng, 8));
		at[i] ^= x;
	}
}

/*
 * Alters bytes from..from+span-1 of a flit so that FEC either corrects or
 * detects it. A burst of up to three bytes is always corrected; a longer one
 * can look valid.
 */
static void
corrupt_flit_seen(struct rl_wire_faults *w, uint8_t *flit, uint32_t from,
		  uint32_t span, uint32_t n)
{
	uint8_t was[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
	uint8_t bad[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);
	uint8_t fixed[RL_FLIT_BYTES] RL_ALIGNED(RL_CACHE_LINE);

	memcpy(was, flit, sizeof(was));
	for (unsigned int tries = 0; tries < 64; tries++) {
		const uint32_t off =
			from + rl_prng_below(&w->prng, span - n + 1);
		const uint8_t *src[1] = { bad };
		uint8_t *dst[1] = { fixed };
		uint8_t fec;

		memcpy(bad, was, sizeof(bad));
		corrupt_bytes(w, bad + off, n);
		rl_codec_hop(w->fec_safe, src, dst, 1, &fec);
		if (fec != RL_FEC_BAD &&
		    memcmp(fixed, was, sizeof(was)) != 0)
			continue;
		memcpy(flit, bad, sizeof(bad));
		return;
	}
}

void
rl_wire_packet(struct rl_wire_faults *w, struct rl_flit *pkt)
{
	const uint32_t n = 1 + rl_prng_below(&w->prng, 8);
	struct rl_flit *f = pkt;

	if (chance(w, w->noise.poison_ppb) && f->mark == RL_MARK_OK)
		f->mark = RL_MARK_POISON;
	if (!chance(w, w->noise.soft_ppb))
		return;
	rl_packet_open(pkt);
	for (uint32_t i = rl_prng_below(&w->prng, pkt->pkt_flits); i > 0; i--)
		f = f->next;
	if (f->mark != RL_MARK_OK)
		return; /* it will be dropped anyway */
	if (w->fec_safe != NULL) /* and its header must still name its flow */
		corrupt_flit_seen(w, f->wire, RL_FLIT_DATA_OFF,
				  RL_FLIT_DATA_BYTES, n);
	else
		corrupt_bytes(w, f->wire + rl_prng_below(&w->prng,
							  RL_FLIT_BYTES - n), n);
}

static void
corrupt_body(struct rl_wire_faults *w, uint8_t *data, uint32_t len)
{
	const uint32_t nflits = data[RL_FRAME_LINK_OFF + 1];
	const uint32_t header = rl_frame_header_bytes(nflits);
	const uint32_t most =
		w->noise.burst_bytes == 0 ? 8 : w->noise.burst_bytes;
	const uint32_t n = 1 + rl_prng_below(&w->prng, most);
	uint8_t *flit;

	if (nflits == 0 || header + nflits * RL_FLIT_BYTES > len)
		return;
	flit = data + header + rl_prng_below(&w->prng, nflits) * RL_FLIT_BYTES;
	if (w->fec_safe != NULL) {
		corrupt_flit_seen(w, flit, 0, RL_FLIT_BYTES,
				  rl_min_u32(n, RL_FLIT_BYTES));
		return;
	}
	/* at least one byte within this flit */
	corrupt_bytes(w, flit + rl_prng_below(&w->prng, RL_FLIT_BYTES), 1);
	for (uint32_t i = 1; i < n; i++)
		corrupt_bytes(w, data + header +
				      rl_prng_below(&w->prng,
						    nflits * RL_FLIT_BYTES), 1);
}

static void
corrupt_frame(struct rl_wire_faults *w, uint8_t *data, uint32_t *len)
{
	uint8_t where = w->noise.where;
	uint8_t pick;

	if (where == 0)
		where = RL_FAULT_HURT_HEADER | RL_FAULT_HURT_BODY |
			RL_FAULT_HURT_LENGTH;
	do {
		pick = (uint8_t)(1u << rl_prng_below(&w->prng, 3));
	} while (!(where & pick));
	switch (pick) {
	case RL_FAULT_HURT_HEADER:
		corrupt_bytes(w, data + RL_FRAME_LINK_OFF +
				      rl_prng_below(&w->prng, HEADER_BYTES), 1);
		break;
	case RL_FAULT_HURT_LENGTH:
		*len = rl_prng_below(&w->prng, *len);
		break;
	default:
		corrupt_body(w, data, *len);
		break;
	}
}

/* Alters so many bytes in a row, of its header or its flits. */
static void
corrupt_run(struct rl_wire_faults *w, uint8_t *data, uint32_t len)
{
	const uint32_t room = len - RL_FRAME_LINK_OFF;
	const uint32_t n = rl_min_u32(w->corrupt_bytes, room);
	uint8_t *at = data + RL_FRAME_LINK_OFF +
		      rl_prng_below(&w->prng, room - n + 1);

	for (uint32_t i = 0; i < n; i++)
		at[i] ^= (uint8_t)(1 + rl_prng_below(&w->prng, 255));
	w->corrupt_bytes = 0;
}

static void
bits_next_span(struct rl_wire_bits *b)
{
	b->at = 0;
	b->hit = !rl_error_pass(&b->process);
	if (!b->hit)
		return;
	memset(b->mask, 0, sizeof(b->mask));
	rl_error_strike(&b->process, b->mask);
}

/* @return whether bits are wrong */
static bool
flip_bits(struct rl_wire_faults *w, uint8_t *data, uint32_t len)
{
	struct rl_wire_bits *b = &w->bits;
	uint8_t *at = data + RL_FRAME_LINK_OFF;
	uint64_t wrong = 0;

	for (uint32_t n, left = len - RL_FRAME_LINK_OFF; left > 0;
	     at += n, left -= n) {
		if (b->at == 0)
			bits_next_span(b);
		n = rl_min_u32(left, RL_ERROR_SPAN_MAX - b->at);
		for (uint32_t i = 0; b->hit && i < n; i++) {
			at[i] ^= b->mask[b->at + i];
			wrong += (uint32_t)__builtin_popcount(
				b->mask[b->at + i]);
		}
		b->at = (b->at + n) % RL_ERROR_SPAN_MAX;
	}
	w->flipped_bits += wrong;
	return wrong != 0;
}

unsigned int
rl_wire_alter(struct rl_wire_faults *w, uint8_t *data, uint32_t *len)
{
	unsigned int n = 0;

	if (w->corrupt_bytes != 0 && rl_wire_flits(data, *len) != 0) {
		corrupt_run(w, data, *len);
		n++;
	}
	if (*len >= RL_FRAME_HEADER_SHORT && chance(w, w->noise.corrupt_ppb)) {
		corrupt_frame(w, data, len);
		n++;
	}
	if (w->noise.bit_rate != 0 && *len > RL_FRAME_LINK_OFF)
		n += flip_bits(w, data, *len);
	return n;
}
