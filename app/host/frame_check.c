/* SPDX-License-Identifier: BSD-3-Clause */

#include "frame_check.h"


#include "rl_crc32c.h"

#define ETHER_BYTES 14u
#define TYPE_IPV4 0x0800u
#define TYPE_TEB 0x6558u /* a whole Ethernet frame, in GRE and Geneve */
#define TYPE_VLAN 0x8100u
#define TYPE_IPV6 0x86ddu
#define TYPE_MPLS 0x8847u
#define TYPE_MPLS_MANY 0x8848u
#define TYPE_PPPOE 0x8864u
#define TYPE_QINQ 0x88a8u
#define TYPE_ITAG 0x88e7u
#define TYPE_QINQ_OLD 0x9100u
#define PPP_IPV4 0x0021u
#define PPP_IPV6 0x0057u
#define PROTO_HOP_BY_HOP 0
#define PROTO_IPIP 4
#define PROTO_TCP 6
#define PROTO_UDP 17
#define PROTO_IPV6 41
#define PROTO_ROUTING 43
#define PROTO_GRE 47
#define PROTO_DST_OPTS 60
#define PROTO_MPLS 137
#define PROTO_SCTP 132
#define TCP_BYTES 20u
#define UDP_BYTES 8u
#define SCTP_BYTES 12u
#define PORT_GTPU 2152u
#define PORT_VXLAN_GPE 4790u
#define PORT_GENEVE 6081u
#define PORT_MPLS 6635u

/* Most IP headers inside each other. Deeper frames are refused, so that no
   wrong checksum is passed on. */
#define DEPTH 4
/* Most tags or labels of a frame. */
#define TAGS_MAX 8

struct segment {
	uint8_t *data;
	uint32_t len;
	uint32_t pseudo; /* sum of the pseudo header, not folded */
	uint8_t proto;
};

enum next { NEXT_ETHER, NEXT_TYPE, NEXT_PROTO, NEXT_END };

struct walk {
	uint8_t *at;
	uint32_t left;
	enum next next;
	uint32_t type;	/* NEXT_TYPE: of Ethernet */
	uint8_t proto;	/* NEXT_PROTO: of IP */
	bool inner;	/* after an IP header: unexpected bytes may be data */
	unsigned int tags;
	unsigned int n;
	struct segment seg[DEPTH];
	enum frame_state state;
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

static void
end(struct walk *w, enum frame_state state)
{
	w->next = NEXT_END;
	w->state = state;
}

/* Skips a header. @return false: it is not complete */
static bool
skip(struct walk *w, uint32_t bytes)
{
	if (bytes > w->left) {
		end(w, w->inner ? FRAME_WHOLE : FRAME_CUT);
		return false;
	}
	w->at += bytes;
	w->left -= bytes;
	return true;
}

static void
go_type(struct walk *w, uint32_t type)
{
	w->next = NEXT_TYPE;
	w->type = type;
}

/* Continues after an IP header, with @p len bytes of @p proto. */
static void
go_proto(struct walk *w, uint8_t proto, uint32_t len, uint32_t addresses,
	 bool fragment)
{
	w->inner = true;
	w->left = len;
	if (fragment) { /* a stack completes checksums before it fragments */
		end(w, FRAME_WHOLE);
		return;
	}
	if (w->n == DEPTH) {
		end(w, FRAME_DEEP);
		return;
	}
	w->seg[w->n++] = (struct segment){
		.data = w->at, .len = len, .proto = proto,
		.pseudo = fold((uint64_t)addresses + proto + len),
	};
	w->next = NEXT_PROTO;
	w->proto = proto;
}

static void
walk_ipv4(struct walk *w)
{
	const bool inner = w->inner;
	uint8_t *ip = w->at;
	uint32_t head, total, len = w->left;

	if (!skip(w, 20))
		return;
	head = (ip[0] & 0xfu) * 4;
	total = get16(ip + 2);
	if (ip[0] >> 4 != 4 || head < 20 || (total != 0 && total < head) ||
	    total == 0) { /* not valid IP, or longer than its field can tell */
		end(w, FRAME_WHOLE);
		return;
	}
	if (total > len || head > len) {
		end(w, inner ? FRAME_WHOLE : FRAME_CUT);
		return;
	}
	w->at = ip + head;
	go_proto(w, ip[9], total - head, sum_bytes(ip + 12, 8),
		 (get16(ip + 6) & 0x3fff) != 0);
}

static void
walk_ipv6(struct walk *w)
{
	const bool inner = w->inner;
	uint8_t *ip = w->at;
	uint32_t at = 40, len = w->left, payload;
	uint8_t proto;

	if (!skip(w, 40))
		return;
	payload = get16(ip + 4);
	if (ip[0] >> 4 != 6 || payload == 0 || payload + 40 > len) {
		end(w, ip[0] >> 4 == 6 && payload != 0 && !inner ?
			       FRAME_CUT : FRAME_WHOLE);
		return;
	}
	len = payload + 40;
	proto = ip[6];
	while (proto == PROTO_HOP_BY_HOP || proto == PROTO_ROUTING ||
	       proto == PROTO_DST_OPTS) {
		if (at + 8 > len) {
			end(w, FRAME_WHOLE);
			return;
		}
		proto = ip[at];
		at += (ip[at + 1] + 1u) * 8;
	}
	if (at > len) {
		end(w, FRAME_WHOLE);
		return;
	}
	w->at = ip + at;
	go_proto(w, proto, len - at, sum_bytes(ip + 8, 32), false);
}

/* A stack of labels, then IP, or the Ethernet of a pseudowire. */
static void
walk_mpls(struct walk *w)
{
	bool last = false;

	while (!last) {
		if (w->left >= 4)
			last = w->at[2] & 1;
		if (!skip(w, 4))
			return;
		if (++w->tags > TAGS_MAX) {
			end(w, FRAME_DEEP);
			return;
		}
	}
	if (w->left == 0)
		end(w, FRAME_WHOLE);
	else if (w->at[0] >> 4 == 4)
		go_type(w, TYPE_IPV4);
	else if (w->at[0] >> 4 == 6)
		go_type(w, TYPE_IPV6);
	else if (w->at[0] == 0 && skip(w, 4)) /* RFC 4385: control word */
		w->next = NEXT_ETHER;
	else
		end(w, w->state);
}

static void
walk_ether(struct walk *w)
{
	const uint8_t *frame = w->at;

	if (skip(w, ETHER_BYTES))
		go_type(w, get16(frame + 12));
}

static void
walk_type(struct walk *w)
{
	const uint8_t *at = w->at;

	switch (w->type) {
	case TYPE_VLAN:
	case TYPE_QINQ:
	case TYPE_QINQ_OLD:
		if (++w->tags > TAGS_MAX)
			end(w, FRAME_DEEP);
		else if (skip(w, 4))
			go_type(w, get16(at + 2));
		break;
	case TYPE_ITAG: /* 802.1ah: a tag, then the frame of the customer */
		if (skip(w, 4))
			w->next = NEXT_ETHER;
		break;
	case TYPE_MPLS:
	case TYPE_MPLS_MANY:
		walk_mpls(w);
		break;
	case TYPE_PPPOE:
		if (skip(w, 8))
			go_type(w, get16(at + 6) == PPP_IPV4 ? TYPE_IPV4 :
				   get16(at + 6) == PPP_IPV6 ? TYPE_IPV6 : 0);
		break;
	case TYPE_TEB:
		w->next = NEXT_ETHER;
		break;
	case TYPE_IPV4:
		walk_ipv4(w);
		break;
	case TYPE_IPV6:
		walk_ipv6(w);
		break;
	default:
		end(w, FRAME_WHOLE);
	}
}

/* Version 0, with checksum, key and sequence number as flagged. */
static void
walk_gre(struct walk *w)
{
	const uint8_t *gre = w->at;
	uint32_t head = 4;

	if (w->left < 4 || (gre[1] & 7) != 0 || (gre[0] & 0x40) != 0) {
		end(w, FRAME_WHOLE);
		return;
	}
	head += (gre[0] & 0x80) != 0 ? 4 : 0;
	head += (gre[0] & 0x20) != 0 ? 4 : 0;
	head += (gre[0] & 0x10) != 0 ? 4 : 0;
	if (skip(w, head))
		go_type(w, get16(gre + 2));
}

/* Version 1, user data; IP follows its options and extensions. */
static void
walk_gtpu(struct walk *w)
{
	const uint8_t *gtp = w->at;
	uint8_t more;

	if (w->left < 12 || gtp[0] >> 4 != 3 || gtp[1] != 0xff ||
	    !skip(w, (gtp[0] & 7) != 0 ? 12 : 8)) {
		end(w, FRAME_WHOLE);
		return;
	}
	more = (gtp[0] & 4) != 0 ? gtp[11] : 0;
	while (more != 0) {
		const uint32_t len = w->left != 0 ? w->at[0] * 4u : 0;

		if (len == 0 || !skip(w, len)) {
			end(w, FRAME_WHOLE);
			return;
		}
		more = w->at[-1];
	}
	go_type(w, w->left == 0		? 0
		   : w->at[0] >> 4 == 4 ? TYPE_IPV4
		   : w->at[0] >> 4 == 6 ? TYPE_IPV6
					: 0);
}

/*
 * Recognises VXLAN by its header, because Linux allows any port. Other data
 * that looks like it contains a partial checksum only with a chance of one in
 * 65,536.
 */
static bool
is_vxlan(const uint8_t *p, uint32_t len)
{
	return len >= 8 + ETHER_BYTES && (p[0] & 0x7f) == 8 && p[7] == 0;
}

static void
walk_udp(struct walk *w)
{
	uint8_t *p;
	uint32_t port;

	if (w->left < UDP_BYTES) {
		end(w, FRAME_WHOLE);
		return;
	}
	port = get16(w->at + 2);
	(void)skip(w, UDP_BYTES);
	p = w->at;
	if (port == PORT_GENEVE && w->left >= 8 && p[0] >> 6 == 0) {
		if (skip(w, 8 + (p[0] & 63u) * 4))
			go_type(w, get16(p + 2));
	} else if (port == PORT_GTPU) {
		walk_gtpu(w);
	} else if (port == PORT_MPLS) {
		go_type(w, TYPE_MPLS);
	} else if (port == PORT_VXLAN_GPE && w->left >= 8 && (p[0] & 4) != 0) {
		(void)skip(w, 8);
		go_type(w, p[3] == 1   ? TYPE_IPV4
			   : p[3] == 2 ? TYPE_IPV6
			   : p[3] == 3 ? TYPE_TEB
			   : p[3] == 5 ? TYPE_MPLS
				       : 0);
	} else if (is_vxlan(p, w->left)) {
		(void)skip(w, 8);
		w->next = NEXT_ETHER;
	} else {
		end(w, FRAME_WHOLE);
	}
}

static void
walk_proto(struct walk *w)
{
	switch (w->proto) {
	case PROTO_UDP:
		walk_udp(w);
		break;
	case PROTO_GRE:
		walk_gre(w);
		break;
	case PROTO_IPIP:
		go_type(w, TYPE_IPV4);
		break;
	case PROTO_IPV6:
		go_type(w, TYPE_IPV6);
		break;
	case PROTO_MPLS:
		go_type(w, TYPE_MPLS);
		break;
	default:
		end(w, FRAME_WHOLE);
	}
}

/* Completes the checksum at @p field if it is that of the pseudo header. */
static bool
complete(const struct segment *s, uint8_t *field)
{
	const uint32_t have = get16(field);
	uint32_t sum;

	if (have != s->pseudo || (have == 0 && s->proto == PROTO_UDP))
		return false;
	sum = sum_bytes(s->data, s->len);
	/* a complete checksum looks the same with a chance of one in 65,536 */
	if (fold((uint64_t)sum + s->pseudo) == 0xffff)
		return false;
	sum = ~fold(sum) & 0xffff; /* the field held the sum of the pseudo
				      header */
	if (sum == 0 && s->proto == PROTO_UDP)
		sum = 0xffff;
	field[0] = (uint8_t)(sum >> 8);
	field[1] = (uint8_t)sum;
	return true;
}

/* SCTP uses CRC-32C [RFC 9260]; a stack that offloads it leaves zeros. */
static bool
complete_sctp(const struct segment *s)
{
	uint8_t *field = s->data + 8;
	uint32_t crc;

	if (field[0] != 0 || field[1] != 0 || field[2] != 0 || field[3] != 0)
		return false;
	crc = rl_crc32c(s->data, s->len, rl_crc32c_hw());
	for (unsigned int i = 0; i < 4; i++)
		field[i] = (uint8_t)(crc >> 8 * i);
	return crc != 0;
}

static bool
complete_segment(const struct segment *s)
{
	if (s->proto == PROTO_TCP && s->len >= TCP_BYTES)
		return complete(s, s->data + 16);
	if (s->proto == PROTO_UDP && s->len >= UDP_BYTES)
		return complete(s, s->data + 6);
	if (s->proto == PROTO_SCTP && s->len >= SCTP_BYTES)
		return complete_sctp(s);
	return false;
}

enum frame_state
frame_check(uint8_t *frame, uint32_t len)
{
	struct walk w;

	w.at = frame;
	w.left = len;
	w.next = NEXT_ETHER;
	w.inner = false;
	w.tags = w.n = 0;
	w.state = FRAME_WHOLE;
	while (w.next != NEXT_END) {
		if (w.next == NEXT_ETHER)
			walk_ether(&w);
		else if (w.next == NEXT_TYPE)
			walk_type(&w);
		else
			walk_proto(&w);
	}
	if (w.state != FRAME_WHOLE)
		return w.state;
	/* inner first, because the outer sum covers the inner checksum */
	while (w.n > 0)
		if (complete_segment(&w.seg[--w.n]))
			w.state = FRAME_COMPLETED;
	return w.state;
}
