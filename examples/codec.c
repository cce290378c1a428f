/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The codec alone (pkg-config reflit): the CRC of a flit contains its
 * sequence number, which is not sent. Eight flits leave; the wire drops #3 and
 * flips bits in #5. The receiver tells the two apart, and how many flits are
 * missing.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_codec.h"

#define FLITS 8

static uint8_t wire[FLITS][RL_FLIT_BYTES] RL_ALIGNED(64);

static void
send_all(const struct rl_codec *codec)
{
	uint8_t *flit[FLITS];
	uint32_t number[FLITS];

	for (uint32_t i = 0; i < FLITS; i++) {
		memset(wire[i] + RL_FLIT_DATA_OFF, (int)('a' + i),
		       RL_FLIT_DATA_BYTES);
		flit[i] = wire[i];
		number[i] = i;
	}
	rl_codec_tx(codec, flit, number, FLITS);
}

/* @return the receiver's verdict on flit @p i when it expects @p expected */
static struct rl_isn_result
receive(const struct rl_codec *codec, uint32_t i, uint32_t expected)
{
	uint8_t *flit[1] = { wire[i] };
	uint64_t syndrome = 0;
	uint8_t fec = RL_FEC_CLEAN;

	rl_codec_rx(codec, flit, &expected, 1, &syndrome, &fec);
	if (fec == RL_FEC_BAD)
		return (struct rl_isn_result){ .verdict = RL_ISN_CORRUPT };
	return rl_isn_decode(codec, syndrome, expected);
}

int
main(void)
{
	const enum rl_isa isa = rl_codec_best_isa(512);
	struct rl_codec *codec = aligned_alloc(64, rl_codec_memsize());
	uint32_t expected = 0, good = 0, ahead = 0, bad = 0;

	if (codec == NULL ||
	    rl_codec_init(codec, RL_CRC_BCH, RL_ISN_WIDE, isa) != 0)
		return 1;
	printf("codec: crc64-bch, %s\n", rl_isa_name(isa));
	send_all(codec);
	for (unsigned int byte = 40; byte < 60; byte++) /* more than FEC
							   corrects */
		wire[5][byte] ^= 0x5a;
	for (uint32_t i = 0; i < FLITS; i++) {
		struct rl_isn_result r;

		if (i == 3) {
			printf("flit 3: lost on the wire\n");
			continue;
		}
		r = receive(codec, i, expected);
		switch (r.verdict) {
		case RL_ISN_OK:
			printf("flit %u: good, as expected\n", i);
			expected++;
			good++;
			break;
		case RL_ISN_AHEAD:
		case RL_ISN_BEHIND:
			printf("flit %u: intact, but %+d from the expected %u\n",
			       i, r.slip, expected);
			ahead++;
			break;
		case RL_ISN_CORRUPT:
			printf("flit %u: corrupt\n", i);
			bad++;
			break;
		}
	}
	free(codec);
	return good == 3 && ahead == 3 && bad == 1 ? 0 : 1;
}
