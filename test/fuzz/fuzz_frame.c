/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of any bytes [APP-4, FLIT-3]. An input is opened as it is, and again
 * with its EtherType, version and header check repaired, to get past the check.
 * An accepted frame matches its header; sealed again, it has the same header.
 */
#include <string.h>

#include "fuzz_main.h"
#include "fuzz_repair.h"
#include "rl_base.h"
#include "rl_crc32c.h"
#include "rl_frame.h"

const char *const fuzz_words[] = {
	"\x88\xb5", "\x11", "\x12", "\x13", "\x14", "\x15", "\x1f", "\x20",
	"\x21", "\xff", "\xff\xff", "\x06", "\x07", "\x80",
};
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

size_t
fuzz_seed(unsigned int i, uint8_t *to, size_t room)
{
	static const uint8_t flits[] = { 0, 1, 6, 7, 32 };
	static const uint8_t mac[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	struct rl_frame_hdr h = { .type = RL_FRAME_DATA, .seq = 65530 };

	if (i >= RL_ARRAY_SIZE(flits) + 2)
		return 0;
	if (i < RL_ARRAY_SIZE(flits))
		h.nflits = flits[i];
	else
		h.type = i % 2 == 0 ? RL_FRAME_INIT : RL_FRAME_CLOSE;
	h.bytes = i % 3 == 0 ? 700 : 0;
	if (room < rl_frame_length(&h))
		return 0;
	memset(to, (int)i, rl_frame_length(&h));
	rl_frame_seal(to, &h, mac, false);
	return rl_frame_length(&h);
}

/* A header must describe its own frame. */
static void
check_taken(const uint8_t *frame, size_t size, const struct rl_frame_hdr *h)
{
	static const uint8_t mac[12];
	static uint8_t again[1 << 17];
	struct rl_frame_hdr back, said = *h;

	RL_ASSERT(h->nflits <= RL_FRAME_FLITS_MAX);
	RL_ASSERT(size >= rl_frame_bytes(h->nflits));
	RL_ASSERT(h->type >= RL_FRAME_DATA && h->type <= RL_FRAME_CLOSE);
	for (unsigned int i = 0; i < h->nflits; i++) {
		struct rl_flit f = { 0 };
		uint16_t s;

		memcpy(&s, frame + RL_FRAME_SIDEBAND_OFF + 2 * i, 2);
		rl_sideband_unpack(s, &f);
		RL_ASSERT(f.vc < RL_VCS && f.hops <= RL_HOPS_MAX);
		RL_ASSERT(rl_sideband_pack(&f) == s);
	}
	RL_ASSERT(size >= rl_frame_length(h) || h->nflits == 0);
	memcpy(again, frame, rl_min_u64(size, rl_frame_length(h)));
	rl_frame_seal(again, h, mac, false);
	/* without flits, `bytes` is the whole length, including the header */
	if (h->nflits == 0)
		said.bytes = (uint16_t)rl_frame_length(h);
	memset(&back, 0, sizeof(back));
	RL_ASSERT(rl_frame_open(again, rl_frame_length(h), &back, false) ==
		  RL_FRAME_OK);
	RL_ASSERT(memcmp(&back, &said, sizeof(back)) == 0);
}

static enum rl_frame_error
open_both(const uint8_t *frame, size_t size)
{
	const bool hw = rl_crc32c_hw();
	struct rl_frame_hdr h, other;
	enum rl_frame_error e;

	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	e = rl_frame_open(frame, (uint32_t)size, &h, false);
	RL_ASSERT(e < RL_FRAME_ERRORS);
	RL_ASSERT(rl_frame_open(frame, (uint32_t)size, &other, hw) == e);
	if (e == RL_FRAME_OK) {
		RL_ASSERT(memcmp(&h, &other, sizeof(h)) == 0);
		check_taken(frame, size, &h);
	}
	return e;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t frame[2 * RL_FRAME_BYTES_MAX];
	enum rl_frame_error e;

	open_both(data, size);
	size = rl_min_u64(size, sizeof(frame));
	if (size < RL_FRAME_HEADER_SHORT)
		return 0;
	memcpy(frame, data, size);
	frame[12] = RL_FRAME_ETHERTYPE >> 8;
	frame[13] = RL_FRAME_ETHERTYPE & 0xff;
	frame[14] = (uint8_t)((frame[14] & 15) | RL_FRAME_VERSION << 4);
	if (rl_frame_bytes(frame[15]) > size ||
	    frame[15] > RL_FRAME_FLITS_MAX)
		frame[15] = (uint8_t)rl_frame_fit((uint32_t)size);
	if (fuzz_header_bytes(frame) > size)
		return 0;
	fuzz_repair_check(frame);
	e = open_both(frame, size);
	/* its stated length exceeds the frame, or the maximum */
	RL_ASSERT(e == RL_FRAME_OK || e == RL_FRAME_TYPE_ERR ||
		  ((e == RL_FRAME_TRUNCATED || e == RL_FRAME_COUNT_ERR) &&
		   frame[15] == 0));
	return 0;
}
