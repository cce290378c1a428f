/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Writes a capture with a frame of each type, and corrupt frames, made by the
 * library itself, to test the dissector. Prints one line a frame: its kind.
 */

#include <pcap.h>
#include <stdlib.h>
#include <string.h>

#include "rl_codec_ref.h"
#include "rl_frame.h"

static pcap_dumper_t *out;
static uint8_t frame[RL_FRAME_BYTES_MAX];
static const uint8_t mac[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

static void
dump(uint32_t len, const char *what)
{
	static struct timeval t;
	const struct pcap_pkthdr h = { t, len, len };

	t.tv_usec++;
	pcap_dump((unsigned char *)out, &h, frame);
	printf("%s\n", what);
}

static struct rl_frame_hdr
header(enum rl_frame_type type, uint8_t flags)
{
	struct rl_frame_hdr h = {
		.type = (uint8_t)type,
		.flags = flags,
		.tx_epoch = 7,
		.rx_epoch = 9,
		.seq = 65530,
		.ack = 4660,
		.stamp = 0x55112233445566,
		.stamp_echo = 0x01020304,
	};

	for (int vc = 0; vc < RL_VCS; vc++)
		h.credit[vc] = (uint16_t)(100 * vc + 1);
	return h;
}

/* Flits 0, 1, ... of one packet with numbers from @p number on. */
static void
put_flits(struct rl_frame_hdr *h, unsigned int n, enum rl_crc_kind crc,
	  enum rl_isn_kind isn, uint32_t number)
{
	const uint32_t at = rl_frame_header_bytes(n);

	h->nflits = (uint8_t)n;
	for (unsigned int i = 0; i < n; i++) {
		const struct rl_txn t = {
			.dst = 513, .src = 258, .sl = 5, .cos = 3,
			.class = RL_CLASS_REQ_NONPOSTED,
			.sop = i == 0, .eop = i == n - 1, .valid_bytes = 224,
			.tag = 0xdeadbeef, .pos = (uint16_t)i,
			.len_flits = (uint16_t)n,
		};
		const struct rl_flit side = {
			.vc = 6, .hops = 77,
			.flags = (uint8_t)(i == 0 ? RL_FF_SOP | RL_FF_LOOPED
						  : 0),
		};
		uint8_t *flit = frame + at + (size_t)i * RL_FLIT_BYTES;

		for (int b = 0; b < RL_FLIT_BYTES; b++)
			flit[b] = (uint8_t)(b * 7 + (int)i);
		rl_txn_put(flit, &t);
		rl_flit_set_ack(flit, 0x2abcde);
		rl_ref_tx(crc, isn, flit, number + i);
		rl_put16(frame + RL_FRAME_SIDEBAND_OFF + 2 * i,
			 rl_sideband_pack(&side));
	}
}

static void
seal(struct rl_frame_hdr *h, const char *what)
{
	rl_frame_seal(frame, h, mac, false);
	dump(rl_frame_length(h), what);
}

static void
data(enum rl_crc_kind crc, enum rl_isn_kind isn, const char *what)
{
	struct rl_frame_hdr h = header(RL_FRAME_DATA, RL_FRF_NAK);

	put_flits(&h, 6, crc, isn, 700);
	seal(&h, what);
}

static void
whole_types(void)
{
	static const struct rl_frame_init init = {
		.nonce = 0x1122334455667788, .nonce_echo = 0x99,
		.incarnation = 0xabc, .digest = 0xdef, .flits = 16,
		.place = { .link = 70000, .port = 12, .end = 1,
			   .dev = "s1.2" },
	};
	struct rl_frame_hdr h = header(RL_FRAME_INIT, RL_FRF_ECHO);

	h.seq = h.ack = 0;
	memset(frame, 0, sizeof(frame));
	rl_frame_init_put(frame, &init);
	seal(&h, "init");
	h = header(RL_FRAME_IDLE, RL_FRF_SPENT | RL_FRF_DRAIN);
	seal(&h, "idle");
	h = header(RL_FRAME_RETRAIN, RL_FRF_ECHO);
	seal(&h, "retrain");
	data(RL_CRC_BCH, RL_ISN_WIDE, "data");
	h = header(RL_FRAME_CLOSE, 0);
	seal(&h, "close");
}

/* As a switch sends it: one flit, without a number. */
static void
token(void)
{
	const struct rl_txn t = {
		.dst = RL_EP_TOKEN, .src = RL_EP_TOKEN, .class = RL_CLASS_CTRL,
		.type = RL_FLIT_CTRL, .sop = true, .eop = true, .tag = 41,
		.len_flits = 1,
	};
	const struct rl_flit side = { .vc = 2, .flags = RL_FF_SOP | RL_FF_EOP };
	struct rl_frame_hdr h = header(RL_FRAME_DATA, 0);
	uint8_t *flit = frame + rl_frame_header_bytes(1);

	h.nflits = 1;
	memset(flit, 0, RL_FLIT_BYTES);
	rl_txn_put(flit, &t);
	rl_ref_fec_encode(flit);
	rl_put16(frame + RL_FRAME_SIDEBAND_OFF, rl_sideband_pack(&side));
	seal(&h, "token");
}

static void
hurt(void)
{
	struct rl_frame_hdr h = header(RL_FRAME_DATA, 0);
	uint8_t *flit = frame + RL_FRAME_HEADER_SHORT;
	uint32_t len;

	put_flits(&h, 1, RL_CRC_BCH, RL_ISN_WIDE, 5);
	len = rl_frame_length(&h);
	flit[100] ^= 0x40;
	flit[101] ^= 0x01;
	seal(&h, "two bytes wrong");
	flit[103] ^= 0x10; /* the group of byte 100 */
	seal(&h, "two bytes of a group wrong");
	frame[RL_FRAME_LINK_OFF + 6] ^= 1;
	dump(len, "header wrong");
	dump(len - 1, "cut short");
	dump(40, "no header");
	frame[RL_FRAME_LINK_OFF] = RL_FRAME_DATA | (RL_FRAME_VERSION + 1) << 4;
	dump(len, "version 4");
	frame[RL_FRAME_LINK_OFF] = 9 | RL_FRAME_VERSION << 4;
	dump(len, "type 9");
	frame[RL_FRAME_LINK_OFF] = RL_FRAME_DATA | RL_FRAME_VERSION << 4;
	frame[RL_FRAME_LINK_OFF + 1] = 33;
	dump(len, "33 flits");
}

int
main(int argc, char **argv)
{
	pcap_t *p = pcap_open_dead(DLT_EN10MB, 65535);

	if (argc != 3 || p == NULL)
		return 2;
	out = pcap_dump_open(p, argv[2]);
	if (out == NULL)
		return 2;
	if (strcmp(argv[1], "types") == 0) {
		whole_types();
		hurt();
	} else if (strcmp(argv[1], "token") == 0) {
		token();
	} else if (strcmp(argv[1], "wide") == 0) {
		data(RL_CRC_ECMA, RL_ISN_WIDE, "ecma wide");
	} else if (strcmp(argv[1], "xor10") == 0) {
		data(RL_CRC_ECMA, RL_ISN_XOR10, "ecma xor10");
	} else if (strcmp(argv[1], "xor10-bch") == 0) {
		data(RL_CRC_BCH, RL_ISN_XOR10, "bch xor10");
	} else {
		struct rl_frame_hdr h = header(RL_FRAME_DATA, 0);

		put_flits(&h, 3, RL_CRC_BCH, RL_ISN_WIDE19, 0x7bcde);
		seal(&h, "bch wide19");
	}
	pcap_dump_close(out);
	pcap_close(p);
	return 0;
}
