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

void
rl_frame_seal(uint8_t *frame, const struct rl_frame_hdr *h, const uint8_t *mac,
	      bool hw)
{
	const uint32_t header_bytes = rl_frame_header_bytes(h->nflits);
	const uint32_t used = RL_FRAME_SIDEBAND_OFF + 2u * h->nflits;

	RL_DASSERT(h->nflits <= RL_FRAME_FLITS_MAX);
	RL_DASSERT(used <= header_bytes);
	memcpy(frame, mac, 12);
	frame[12] = RL_FRAME_ETHERTYPE >> 8;
	frame[13] = RL_FRAME_ETHERTYPE & 0xff;
	frame[14] = (uint8_t)(h->type | RL_FRAME_VERSION << 4);
	frame[15] = h->nflits;
	frame[16] = h->flags;
	frame[17] = 0;
	frame[18] = h->tx_epoch;
	frame[19] = h->rx_epoch;
	rl_put16(frame + 20, h->seq);
	rl_put16(frame + 22, h->ack);
	memcpy(frame + 24, h->credit, sizeof(h->credit));
	rl_put32(frame + 40, h->ts);
	rl_put32(frame + 44, h->ts_echo);
	memset(frame + used, 0, header_bytes - used);
	rl_put32(frame + RL_FRAME_CHECK_OFF,
		 frame_check(frame, header_bytes, hw));
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
	h->nflits = frame[15];
	if (h->nflits > RL_FRAME_FLITS_MAX || len < rl_frame_bytes(h->nflits))
		return RL_FRAME_COUNT_ERR;
	if (rl_get32(frame + RL_FRAME_CHECK_OFF) !=
	    frame_check(frame, rl_frame_header_bytes(h->nflits), hw))
		return RL_FRAME_CHECK_ERR;
	h->type = frame[14] & 0xf;
	if (h->type < RL_FRAME_DATA || h->type > RL_FRAME_CLOSE ||
	    (h->type == RL_FRAME_DATA) != (h->nflits > 0))
		return RL_FRAME_TYPE_ERR;
	h->flags = frame[16];
	h->tx_epoch = frame[18];
	h->rx_epoch = frame[19];
	h->seq = rl_get16(frame + 20);
	h->ack = rl_get16(frame + 22);
	memcpy(h->credit, frame + 24, sizeof(h->credit));
	h->ts = rl_get32(frame + 40);
	h->ts_echo = rl_get32(frame + 44);
	return RL_FRAME_OK;
}
