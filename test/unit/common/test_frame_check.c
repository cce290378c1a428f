/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames of a kernel: cut short, or with a partial checksum [EP-1]. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame_check.h"
#include "rl_base.h"
#include "rl_prng.h"

struct kind {
	bool v6;
	bool udp;
	unsigned int tags;
	bool options; /* of the IP header, or an extension header */
};

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* The plain way, a byte at a time, over what a checksum covers. */
static uint32_t
plain_sum(const uint8_t *p, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++) {
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

struct frame {
	uint8_t data[2000];
	uint32_t len;
	uint8_t *l4;
	uint32_t l4_len;
	uint8_t *field;
	uint32_t pseudo;
};

/* A frame whose payload has @p n bytes; the checksum is left partial. */
static void
make(struct frame *f, const struct kind *k, uint32_t n, struct rl_prng *prng)
{
	const uint32_t head = k->udp ? 8 : 20;
	uint8_t *ip = f->data + 14;
	uint32_t ip_head;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < sizeof(f->data); i++)
		f->data[i] = (uint8_t)rl_prng_u64(prng);
	for (unsigned int i = 0; i < k->tags; i++, ip += 4)
		put16(ip - 2, i == 0 && k->tags == 2 ? 0x88a8 : 0x8100);
	put16(ip - 2, k->v6 ? 0x86dd : 0x0800);
	ip_head = k->v6 ? (k->options ? 56 : 40) : (k->options ? 32 : 20);
	f->l4 = ip + ip_head;
	f->l4_len = head + n;
	if (k->v6) {
		ip[0] = 0x60;
		put16(ip + 4, ip_head - 40 + f->l4_len);
		ip[6] = k->options ? 60 : k->udp ? 17 : 6;
		ip[40] = k->options ? (k->udp ? 17 : 6) : ip[40];
		ip[41] = k->options ? 1 : ip[41];
		sum = plain_sum(ip + 8, 32, sum);
	} else {
		ip[0] = (uint8_t)(0x40 | ip_head / 4);
		put16(ip + 2, ip_head + f->l4_len);
		put16(ip + 6, 0x4000);
		ip[9] = k->udp ? 17 : 6;
		sum = plain_sum(ip + 12, 8, sum);
	}
	sum += (k->udp ? 17 : 6) + f->l4_len;
	f->pseudo = (sum & 0xffff) + (sum >> 16);
	f->field = f->l4 + (k->udp ? 6 : 16);
	f->len = (uint32_t)(f->l4 - f->data) + f->l4_len;
	put16(f->field, f->pseudo);
}

static const struct kind kinds[] = {
	{ false, false, 0, false }, { false, true, 0, false },
	{ true, false, 0, false },  { true, true, 0, false },
	{ false, true, 1, true },   { true, false, 2, true },
	{ true, true, 2, true },    { false, false, 2, true },
};

static void
a_partial_checksum_is_completed_and_a_whole_one_is_left_alone(void **state)
{
	struct rl_prng prng;
	struct frame f;

	(void)state;
	rl_prng_seed(&prng, 1);
	for (uint32_t i = 0; i < RL_ARRAY_SIZE(kinds); i++)
		for (uint32_t n = 0; n < 1400; n += 1 + n / 7) {
			uint8_t was[2000];

			make(&f, &kinds[i], n, &prng);
			assert_int_equal(frame_check(f.data, f.len),
					 FRAME_COMPLETED);
			/* right: the sum of it all is -0 */
			assert_int_equal(plain_sum(f.l4, f.l4_len, f.pseudo),
					 0xffff);
			memcpy(was, f.data, sizeof(was));
			assert_int_equal(frame_check(f.data, f.len),
					 FRAME_WHOLE);
			assert_memory_equal(f.data, was, sizeof(was));
			/* damaged on its way here: reflit must not hide it */
			f.field[1] ^= 0x55;
			memcpy(was, f.data, sizeof(was));
			assert_int_equal(frame_check(f.data, f.len),
					 FRAME_WHOLE);
			assert_memory_equal(f.data, was, sizeof(was));
		}
}

static void
a_frame_that_lacks_its_end_is_told_at_every_length(void **state)
{
	struct rl_prng prng;
	struct frame f;

	(void)state;
	rl_prng_seed(&prng, 2);
	for (uint32_t i = 0; i < RL_ARRAY_SIZE(kinds); i++) {
		make(&f, &kinds[i], 100, &prng);
		for (uint32_t len = 0; len < f.len; len++) {
			uint8_t copy[2000];

			memcpy(copy, f.data, sizeof(copy));
			assert_int_equal(frame_check(copy, len), FRAME_CUT);
			assert_memory_equal(copy, f.data, sizeof(copy));
		}
		/* padding behind the packet is none of its business */
		assert_int_equal(frame_check(f.data, f.len + 20),
				 FRAME_COMPLETED);
	}
}

/* Headers between the outer Ethernet addresses and the inner packet. */
struct tunnel {
	const char *name;
	uint32_t type;	/* of Ethernet; 0x0800: an IPv4 header follows */
	uint8_t proto;	/* of that header; 17: a UDP header follows */
	uint32_t port;	/* of that header */
	uint8_t head[24];
	uint32_t len;
	bool ether; /* inside is a frame; else a packet, of the version that
		       ip says, 0: any */
	int ip;
};

static const struct tunnel tunnels[] = {
	{ "VXLAN", 0x0800, 17, 4789, { 8, 0, 0, 0, 0, 0, 7, 0 }, 8, true, 0 },
	{ "VXLAN at another port, with a group", 0x0800, 17, 33333,
	  { 0x88, 0, 1, 2, 0, 0, 7, 0 }, 8, true, 0 },
	{ "VXLAN-GPE", 0x0800, 17, 4790, { 0xc, 0, 0, 3, 0, 0, 7, 0 }, 8, true,
	  0 },
	{ "VXLAN-GPE of IPv6", 0x0800, 17, 4790, { 0xc, 0, 0, 2, 0, 0, 7, 0 },
	  8, false, 6 },
	{ "Geneve with options", 0x0800, 17, 6081,
	  { 2, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 1, 1, 1, 0, 0, 0, 0 }, 16, true,
	  0 },
	{ "Geneve of IPv4", 0x0800, 17, 6081, { 0, 0, 8, 0, 0, 0, 7, 0 }, 8,
	  false, 4 },
	{ "GTP-U", 0x0800, 17, 2152, { 0x30, 0xff, 0, 9, 0, 0, 0, 1 }, 8,
	  false, 0 },
	{ "GTP-U with two extensions", 0x0800, 17, 2152,
	  { 0x34, 0xff, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0x40, 1, 0,
	    0, 0 }, 20, false, 0 },
	{ "MPLS in UDP", 0x0800, 17, 6635, { 0, 0, 0x11, 9 }, 4, false, 0 },
	{ "GRE of IPv4", 0x0800, 47, 0, { 0, 0, 8, 0 }, 4, false, 4 },
	{ "GRE with key, sum and number, of frames", 0x0800, 47, 0,
	  { 0xb0, 0, 0x65, 0x58 }, 16, true, 0 },
	{ "IPIP", 0x0800, 4, 0, { 0 }, 0, false, 4 },
	{ "SIT", 0x0800, 41, 0, { 0 }, 0, false, 6 },
	{ "MPLS in IP", 0x0800, 137, 0, { 0, 0, 0x11, 9 }, 4, false, 0 },
	{ "PPPoE of IPv4", 0x8864, 0, 0, { 0x11, 0, 0, 1, 0, 9, 0, 0x21 }, 8,
	  false, 4 },
	{ "PPPoE of IPv6", 0x8864, 0, 0, { 0x11, 0, 0, 1, 0, 9, 0, 0x57 }, 8,
	  false, 6 },
	{ "MPLS, two labels", 0x8847, 0, 0, { 0, 1, 0x10, 9, 0, 2, 0x11, 9 },
	  8, false, 0 },
	{ "a pseudowire", 0x8847, 0, 0, { 0, 1, 0x11, 9, 0, 0, 0, 0 }, 8, true,
	  0 },
	{ "802.1ah", 0x88e7, 0, 0, { 0, 0, 0, 9 }, 4, true, 0 },
	{ "three tags", 0x9100, 0, 0,
	  { 0, 1, 0x88, 0xa8, 0, 2, 0x81, 0, 0, 3, 8, 0 }, 12, false, 4 },
};

/* Puts @p in into a tunnel. @return how many bytes stand before it */
static uint32_t
wrap(const struct tunnel *t, const uint8_t *in, uint32_t len, uint8_t *out)
{
	const uint32_t udp = t->proto == 17 ? 8 : 0;
	uint32_t at = 14;

	memset(out, 2, 12);
	put16(out + 12, t->type);
	if (t->type == 0x0800) {
		memset(out + at, 0, 20 + udp);
		out[at] = 0x45;
		put16(out + at + 2, 20 + udp + t->len + len);
		out[at + 9] = t->proto;
		put16(out + at + 22, t->port); /* of UDP, without a checksum */
		put16(out + at + 24, udp + t->len + len);
		at += 20 + udp;
	}
	memcpy(out + at, t->head, t->len);
	at += t->len;
	memcpy(out + at, in, len);
	return at;
}

static void
a_partial_checksum_is_completed_in_every_tunnel(void **state)
{
	struct rl_prng prng;

	(void)state;
	rl_prng_seed(&prng, 5);
	for (uint32_t i = 0; i < RL_ARRAY_SIZE(tunnels) * 4; i++) {
		const struct tunnel *t = &tunnels[i / 4];
		struct frame f;
		const uint32_t skip = t->ether ? 0 : 14;
		uint8_t out[2400], was[2400];
		uint32_t at, len;

		if (t->ip != 0 && (t->ip == 6) != kinds[i % 4].v6)
			continue;
		make(&f, &kinds[i % 4], 300, &prng);
		at = wrap(t, f.data + skip, f.len - skip, out);
		len = at + f.len - skip;
		memcpy(was, out, sizeof(was));
		if (frame_check(out, len) != FRAME_COMPLETED)
			fail_msg("%s: not completed", t->name);
		assert_memory_equal(out, was, at);
		at += (uint32_t)(f.l4 - f.data) - skip;
		assert_int_equal(plain_sum(out + at, f.l4_len, f.pseudo),
				 0xffff);
		memcpy(was, out, sizeof(was));
		assert_int_equal(frame_check(out, len), FRAME_WHOLE);
		assert_memory_equal(out, was, sizeof(was));
		/* cut inside: not told from data that look like a packet */
		(void)frame_check(out, len - 100);
	}
}

/* VXLAN in VXLAN, both sums partial: the outer one covers the inner one. */
static void
sums_within_each_other_are_all_right_in_the_end(void **state)
{
	const struct tunnel *t = &tunnels[0];
	struct rl_prng prng;
	struct frame f;
	uint8_t a[2400], b[2400];
	uint32_t at, len, sum, out;

	(void)state;
	rl_prng_seed(&prng, 6);
	make(&f, &kinds[0], 200, &prng);
	len = f.len + wrap(t, f.data, f.len, a);
	out = wrap(t, a, len, b);
	len += out;
	for (at = out + 14; at > 0; at = at == 14 ? 0 : 14) {
		const uint32_t n = (uint32_t)b[at + 24] << 8 | b[at + 25];

		sum = plain_sum(b + at + 12, 8, 17 + n);
		put16(b + at + 26, (sum & 0xffff) + (sum >> 16));
	}
	assert_int_equal(frame_check(b, len), FRAME_COMPLETED);
	for (at = out + 14; at > 0; at = at == 14 ? 0 : 14) {
		const uint32_t n = (uint32_t)b[at + 24] << 8 | b[at + 25];

		sum = plain_sum(b + at + 12, 8, 17 + n);
		assert_int_equal(plain_sum(b + at + 20, n, sum), 0xffff);
	}
	assert_int_equal(plain_sum(b + len - f.l4_len, f.l4_len, f.pseudo),
			 0xffff);
}

static void
what_nests_too_deep_is_refused(void **state)
{
	const struct tunnel *ipip = &tunnels[11];
	uint8_t in[2400], out[2400];
	struct rl_prng prng;
	struct frame f;
	uint32_t len;

	(void)state;
	assert_string_equal(ipip->name, "IPIP");
	rl_prng_seed(&prng, 7);
	make(&f, &kinds[0], 10, &prng);
	memcpy(in, f.data, f.len);
	len = f.len;
	for (int n = 2; n <= 6; n++) {
		len = len - 14 + wrap(ipip, in + 14, len - 14, out);
		memcpy(in, out, len);
		assert_int_equal(frame_check(out, len),
				 n <= 4 ? FRAME_COMPLETED : FRAME_DEEP);
	}
	memset(out, 0, sizeof(out));
	for (int n = 0; n < 10; n++)
		put16(out + 12 + 4 * n, 0x8100);
	assert_int_equal(frame_check(out, 100), FRAME_DEEP);
}

/* A payload may look like a tunnel whose packet is longer than what is there:
   the frame itself is whole. */
static void
data_that_look_like_a_cut_packet_pass(void **state)
{
	static const unsigned int of[] = { 0, 8, 9, 11, 12 };
	struct rl_prng prng;

	(void)state;
	rl_prng_seed(&prng, 9);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(of) * 2; i++) {
		const struct tunnel *t = &tunnels[of[i / 2]];
		const uint32_t skip = t->ether ? 0 : 14;
		const bool v6 = t->ip == 6 || (t->ip == 0 && i % 2 != 0);
		uint8_t out[2400], was[2400];
		struct frame f;
		uint32_t len;

		make(&f, &kinds[v6 ? 2 : 0], 300, &prng);
		/* the lengths of all headers before it are of what is there */
		len = f.len - skip - 100;
		len += wrap(t, f.data + skip, len, out);
		memcpy(was, out, sizeof(was));
		if (frame_check(out, len) != FRAME_WHOLE)
			fail_msg("%s, IPv%d: not whole", t->name, v6 ? 6 : 4);
		assert_memory_equal(out, was, sizeof(was));
	}
}

/* RFC 9260, appendix A: CRC-32C, its low byte first. */
static void
the_crc_of_sctp_is_filled_in_if_it_was_left_out(void **state)
{
	struct rl_prng prng;
	uint8_t was[2000];
	struct frame f;
	uint32_t crc = UINT32_MAX;

	(void)state;
	rl_prng_seed(&prng, 8);
	make(&f, &kinds[0], 100, &prng);
	f.data[14 + 9] = 132;
	memset(f.l4 + 8, 0, 4);
	for (uint32_t i = 0; i < f.l4_len; i++) {
		crc ^= f.l4[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
	}
	crc = ~crc;
	assert_int_equal(frame_check(f.data, f.len), FRAME_COMPLETED);
	for (int i = 0; i < 4; i++)
		assert_int_equal(f.l4[8 + i], crc >> 8 * i & 0xff);
	memcpy(was, f.data, sizeof(was));
	assert_int_equal(frame_check(f.data, f.len), FRAME_WHOLE);
	assert_memory_equal(f.data, was, sizeof(was));
	/* a field that is not zero is a checksum, if a wrong one */
	for (int i = 0; i < 4; i++) {
		memset(f.l4 + 8, 0, 4);
		f.l4[8 + i] = 1;
		memcpy(was, f.data, sizeof(was));
		assert_int_equal(frame_check(f.data, f.len), FRAME_WHOLE);
		assert_memory_equal(f.data, was, sizeof(was));
	}
}

static void
what_it_does_not_know_passes_untouched(void **state)
{
	struct rl_prng prng;
	struct frame f;
	uint8_t was[2000];

	(void)state;
	rl_prng_seed(&prng, 3);
	for (int i = 0; i < 8; i++) {
		make(&f, &kinds[i < 5 ? i % 2 : 3], 64, &prng);
		switch (i) {
		case 0: /* another protocol */
			f.data[14 + 9] = 89;
			break;
		case 1: /* UDP without a checksum */
			put16(f.field, 0);
			break;
		case 2: /* a fragment: its checksum is of more than this */
			put16(f.data + 14 + 6, 0x2000);
			break;
		case 3: /* another EtherType */
			put16(f.data + 12, 0x88b5);
			break;
		case 4: /* another version of IP */
			f.data[14] = 0x55;
			break;
		case 5: /* a jumbogram */
			put16(f.data + 14 + 4, 0);
			break;
		case 6: /* extension headers beyond the end */
			f.data[14 + 6] = 60;
			f.data[14 + 41] = 255;
			break;
		default: /* a header that is too short for its protocol */
			put16(f.data + 14 + 4, 7);
			break;
		}
		memcpy(was, f.data, sizeof(was));
		assert_int_equal(frame_check(f.data, f.len), FRAME_WHOLE);
		assert_memory_equal(f.data, was, sizeof(was));
	}
}

static void
random_bytes_do_no_harm(void **state)
{
	struct rl_prng prng;
	uint8_t data[128];

	(void)state;
	rl_prng_seed(&prng, 4);
	for (int i = 0; i < 200000; i++) {
		const uint32_t len = rl_prng_below(&prng, sizeof(data) + 1);
		/* right up to the end, where a sanitizer watches */
		uint8_t *at = data + sizeof(data) - len;

		for (uint32_t k = 0; k < len; k++)
			at[k] = (uint8_t)rl_prng_u64(&prng);
		if (len >= 15) {
			put16(at + 12, i % 2 ? 0x0800 : 0x86dd);
			at[14] = i % 2 ? (uint8_t)(0x40 | (at[14] & 0xf))
				       : 0x60;
		}
		(void)frame_check(at, len);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_partial_checksum_is_completed_and_a_whole_one_is_left_alone),
		cmocka_unit_test(
			a_frame_that_lacks_its_end_is_told_at_every_length),
		cmocka_unit_test(a_partial_checksum_is_completed_in_every_tunnel),
		cmocka_unit_test(sums_within_each_other_are_all_right_in_the_end),
		cmocka_unit_test(what_nests_too_deep_is_refused),
		cmocka_unit_test(data_that_look_like_a_cut_packet_pass),
		cmocka_unit_test(the_crc_of_sctp_is_filled_in_if_it_was_left_out),
		cmocka_unit_test(what_it_does_not_know_passes_untouched),
		cmocka_unit_test(random_bytes_do_no_harm),
	};

	return cmocka_run_group_tests_name("frame-check", tests, NULL, NULL);
}
