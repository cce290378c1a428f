/* SPDX-License-Identifier: BSD-3-Clause */

#include "frame_check.h"

#include <stddef.h>

#define ETHER_BYTES 14u
#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86ddu
#define TYPE_VLAN 0x8100u
#define TYPE_QINQ 0x88a8u
#define PROTO_HOP_BY_HOP 0
#define PROTO_TCP 6
#define PROTO_UDP 17
#define PROTO_ROUTING 43
#define PROTO_DST_OPTS 60
#define TCP_BYTES 20u
#define UDP_BYTES 8u

/* What is behind the IP header. */
struct segment {
	uint8_t *data;
	uint32_t len;
	uint32_t pseudo; /* sum of the pseudo header, not folded */
	uint8_t proto;
	bool whole; /* no fragment: has a checksum of all its bytes */
};

static uint32_t
get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t
sum_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;

	for (; len > 1; len -= 2, p += 2)
		sum += get16(p);
	if (len != 0)
		sum += (uint32_t)p[0] << 8;
	while (sum >> 32 != 0)
		sum = (sum & UINT32_MAX) + (sum >> 32);
	return (uint32_t)sum;
}

static uint32_t
fold(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint32_t)sum;
}

static enum frame_state
find_ipv4(uint8_t *ip, uint32_t len, struct segment *s)
{
	uint32_t head, total;

	if (len < 20)
		return FRAME_CUT;
	head = (ip[0] & 0xfu) * 4;
	total = get16(ip + 2);
	if (ip[0] >> 4 != 4 || head < 20 || (total != 0 && total < head))
		return FRAME_WHOLE; /* not ours to judge */
	if (total > len || head > len)
		return FRAME_CUT;
	if (total == 0) /* too long for its field: nothing can be told */
		return FRAME_WHOLE;
	s->data = ip + head;
	s->len = total - head;
	s->proto = ip[9];
	s->pseudo = fold((uint64_t)sum_bytes(ip + 12, 8) + s->proto + s->len);
	s->whole = (get16(ip + 6) & 0x3fff) == 0;
	return FRAME_WHOLE;
}

static enum frame_state
find_ipv6(uint8_t *ip, uint32_t len, struct segment *s)
{
	uint32_t at = 40, payload;
	uint8_t proto;

	if (len < 40)
		return FRAME_CUT;
	payload = get16(ip + 4);
	if (ip[0] >> 4 != 6 || payload == 0)
		return FRAME_WHOLE;
	if (payload + 40 > len)
		return FRAME_CUT;
	len = payload + 40;
	proto = ip[6];
	while (proto == PROTO_HOP_BY_HOP || proto == PROTO_ROUTING ||
	       proto == PROTO_DST_OPTS) {
		if (at + 8 > len)
			return FRAME_WHOLE;
		proto = ip[at];
		at += (ip[at + 1] + 1u) * 8;
	}
	if (at > len)
		return FRAME_WHOLE;
	s->data = ip + at;
	s->len = len - at;
	s->proto = proto;
	s->pseudo = fold((uint64_t)sum_bytes(ip + 8, 32) + proto + s->len);
	s->whole = true;
	return FRAME_WHOLE;
}

/* Completes the checksum at @p field if it is that of the pseudo header. */
static enum frame_state
complete(const struct segment *s, uint8_t *field)
{
	const uint32_t have = get16(field);
	uint32_t sum;

	if (have != s->pseudo || (have == 0 && s->proto == PROTO_UDP))
		return FRAME_WHOLE;
	sum = sum_bytes(s->data, s->len);
	/* one whole checksum in 65,536 looks the same */
	if (fold((uint64_t)sum + s->pseudo) == 0xffff)
		return FRAME_WHOLE;
	sum = ~fold(sum) & 0xffff; /* the field held the pseudo header's */
	if (sum == 0 && s->proto == PROTO_UDP)
		sum = 0xffff;
	field[0] = (uint8_t)(sum >> 8);
	field[1] = (uint8_t)sum;
	return FRAME_COMPLETED;
}

enum frame_state
frame_check(uint8_t *frame, uint32_t len)
{
	struct segment s = { .whole = false };
	enum frame_state state = FRAME_WHOLE;
	uint32_t at = ETHER_BYTES, type;

	if (len < ETHER_BYTES)
		return FRAME_CUT;
	type = get16(frame + 12);
	for (int tags = 0; tags < 2 && (type == TYPE_VLAN || type == TYPE_QINQ);
	     tags++) {
		if (at + 4 > len)
			return FRAME_CUT;
		type = get16(frame + at + 2);
		at += 4;
	}
	if (type == TYPE_IPV4)
		state = find_ipv4(frame + at, len - at, &s);
	else if (type == TYPE_IPV6)
		state = find_ipv6(frame + at, len - at, &s);
	if (state != FRAME_WHOLE || !s.whole)
		return state;
	if (s.proto == PROTO_TCP && s.len >= TCP_BYTES)
		return complete(&s, s.data + 16);
	if (s.proto == PROTO_UDP && s.len >= UDP_BYTES)
		return complete(&s, s.data + 6);
	return FRAME_WHOLE;
}
