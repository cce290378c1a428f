/* SPDX-License-Identifier: BSD-3-Clause */

#include "rl_crc32c.h"
#include "rl_frame.h"

/*
 * The check covers the link header with its own field taken as zero. The
 * Ethernet header is left out: a kernel or a NIC may rewrite the addresses.
 */
static uint32_t
frame_check(const uint8_t *frame, uint32_t header_bytes, bool hw)
{
	return rl_crc32c_hole(frame + RL_FRAME_LINK_OFF,
			      header_bytes - RL_FRAME_LINK_OFF,
			      RL_FRAME_CHECK_OFF - RL_FRAME_LINK_OFF, hw);
}

/* Bytes of the header that the check covers. */
static uint32_t
frame_header(const struct rl_frame_hdr *h)
{
	return h->type == RL_FRAME_INIT ? RL_FRAME_HEADER_LONG
					: rl_frame_header_bytes(h->nflits);
}

void
rl_frame_seal(uint8_t *frame, const struct rl_frame_hdr *h, const uint8_t *mac,
	      bool hw)
{
	const uint32_t header_bytes = frame_header(h);
	const uint32_t bytes = rl_frame_length(h);
	uint32_t used = RL_FRAME_SIDEBAND_OFF + 2u * h->nflits;

	RL_DASSERT(h->nflits <= RL_FRAME_FLITS_MAX);
	memcpy(frame, mac, 12);
	frame[12] = RL_FRAME_ETHERTYPE >> 8;
	frame[13] = RL_FRAME_ETHERTYPE & 0xff;
	frame[14] = (uint8_t)(h->type | RL_FRAME_VERSION << 4);
	frame[15] = h->nflits;
	frame[16] = h->flags;
	frame[17] = (uint8_t)(h->stamp >> 48);
	frame[18] = h->tx_epoch;
	frame[19] = h->rx_epoch;
	rl_put16(frame + 20, h->seq);
	rl_put16(frame + 22, h->ack);
	memcpy(frame + 24, h->credit, sizeof(h->credit));
	rl_put32(frame + 40, (uint32_t)h->stamp);
	rl_put16(frame + 44, (uint16_t)(h->stamp >> 32));
	rl_put32(frame + 46, h->stamp_echo);
	if (h->nflits == 0) {
		rl_put16(frame + used, (uint16_t)bytes);
		used += 2;
		memset(frame + header_bytes, 0, bytes - header_bytes);
	}
	memset(frame + used, 0,
	       rl_frame_header_bytes(h->nflits) - used);
	rl_put32(frame + RL_FRAME_CHECK_OFF,
		 frame_check(frame, header_bytes, hw));
}

void
rl_frame_init_put(uint8_t *frame, const struct rl_frame_init *init)
{
	uint8_t *at = frame + RL_FRAME_INIT_OFF;

	memset(at, 0, RL_FRAME_HEADER_LONG - RL_FRAME_INIT_OFF);
	rl_put64(at, init->nonce);
	rl_put64(at + 8, init->nonce_echo);
	rl_put64(at + 16, init->incarnation);
	rl_put64(at + 24, init->digest);
	at[32] = init->flits;
}

void
rl_frame_init_get(const uint8_t *frame, struct rl_frame_init *init)
{
	const uint8_t *at = frame + RL_FRAME_INIT_OFF;

	init->nonce = rl_get64(at);
	init->nonce_echo = rl_get64(at + 8);
	init->incarnation = rl_get64(at + 16);
	init->digest = rl_get64(at + 24);
	init->flits = at[32];
}

enum rl_frame_error
rl_frame_open(const uint8_t *frame, uint32_t len, struct rl_frame_hdr *h,
	      bool hw)
{
	if (len < RL_FRAME_HEADER_SHORT)
		return RL_FRAME_TRUNCATED;
	if (frame[12] != RL_FRAME_ETHERTYPE >> 8 ||
	    frame[13] != (RL_FRAME_ETHERTYPE & 0xff))
		return RL_FRAME_ETHERTYPE_ERR;
	if (frame[14] >> 4 != RL_FRAME_VERSION)
		return RL_FRAME_VERSION_ERR;
	h->type = frame[14] & 0xf;
	h->nflits = frame[15];
	if (h->nflits > RL_FRAME_FLITS_MAX || len < rl_frame_bytes(h->nflits))
		return RL_FRAME_COUNT_ERR;
	if (len < frame_header(h))
		return RL_FRAME_TRUNCATED;
	if (rl_get32(frame + RL_FRAME_CHECK_OFF) !=
	    frame_check(frame, frame_header(h), hw))
		return RL_FRAME_CHECK_ERR;
	if (h->type < RL_FRAME_DATA || h->type > RL_FRAME_CLOSE ||
	    (h->type == RL_FRAME_DATA) != (h->nflits > 0))
		return RL_FRAME_TYPE_ERR;
	h->flags = frame[16];
	h->tx_epoch = frame[18];
	h->rx_epoch = frame[19];
	h->seq = rl_get16(frame + 20);
	h->ack = rl_get16(frame + 22);
	memcpy(h->credit, frame + 24, sizeof(h->credit));
	h->stamp = (uint64_t)frame[17] << 48 |
		   (uint64_t)rl_get16(frame + 44) << 32 | rl_get32(frame + 40);
	h->stamp_echo = rl_get32(frame + 46);
	h->bytes = 0;
	if (h->nflits > 0)
		return RL_FRAME_OK;
	h->bytes = rl_get16(frame + RL_FRAME_SIDEBAND_OFF);
	h->bytes = (uint16_t)rl_frame_length(h);
	if (h->bytes > RL_FRAME_BYTES_MAX)
		return RL_FRAME_COUNT_ERR;
	return len < h->bytes ? RL_FRAME_TRUNCATED : RL_FRAME_OK;
}
