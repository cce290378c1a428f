/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "meter.h"

static const uint8_t *
content(const struct rxl_meter *m, uint64_t number)
{
	/* neighbours lie far apart: 2^64 / golden ratio */
	return m->noise + (number * 0x9e3779b97f4a7c15ull >> 52);
}

_Static_assert(RXL_METER_NOISE == 1 << (64 - 52), "content() reaches all");

static void
fill(void *ctx, uint8_t *to, uint32_t off, uint32_t len)
{
	const struct rxl_meter *m = ctx;

	(void)off; /* one flit */
	memcpy(to, content(m, m->sent), len);
	rl_put64(to, m->sent);
}

static void
send(struct rxl_meter *m, struct rl_ep *ep, uint64_t now_ns)
{
	const struct rl_ep_msg msg = {
		.dst = m->peer,
		.class = RL_CLASS_REQ_POSTED,
		.len_bytes = RL_FLIT_DATA_BYTES,
	};

	while (rl_ep_send_fill(ep, now_ns, &msg, fill, m, NULL) == 0)
		m->sent++;
}

static bool
test_and_set(struct rxl_meter *m, uint64_t number)
{
	uint64_t *word = &m->seen[number / 64 % RL_ARRAY_SIZE(m->seen)];
	const uint64_t bit = 1ull << (number & 63);
	const bool was = *word & bit;

	*word |= bit;
	return was;
}

/** Numbers from .. to-1 were passed over. */
static void
pass_over(struct rxl_meter *m, uint64_t from, uint64_t to)
{
	m->missing += to - from;
	for (uint64_t n = from; n < to; n++)
		m->seen[n / 64 % RL_ARRAY_SIZE(m->seen)] &=
			~(1ull << (n & 63));
}

static void
count(struct rxl_meter *m, uint64_t number)
{
	if (rl_likely(number == m->next)) {
		m->next++;
		test_and_set(m, number);
	} else if (number > m->next) {
		m->in->order_failures++;
		pass_over(m, m->next, number);
		m->next = number + 1;
		test_and_set(m, number);
	} else if (m->next - number > RXL_METER_PAST ||
		   test_and_set(m, number)) {
		m->in->duplicates++;
	} else {
		m->in->late++;
		m->missing--;
	}
}

static void
check(struct rxl_meter *m, const struct rl_flit *pkt)
{
	const uint8_t *data = pkt->wire + RL_FLIT_DATA_OFF;
	const uint64_t number = rl_get64(data);

	m->in->delivered++;
	/* a number far off is no number: the data were altered */
	if (pkt->pkt_flits != 1 || pkt->wire[8] != RL_FLIT_DATA_BYTES ||
	    number > m->next + RXL_METER_PAST / 2 ||
	    memcmp(data + 8, content(m, number) + 8,
		   RL_FLIT_DATA_BYTES - 8) != 0) {
		m->in->altered++;
		return;
	}
	count(m, number);
}

void
rxl_meter_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct rxl_meter *m = ctx;
	struct rl_flit *pkt;

	while ((pkt = rl_ep_recv(ep)) != NULL) {
		check(m, pkt);
		rl_packet_put(m->cache, pkt);
	}
	if (m->sends)
		send(m, ep, now_ns);
}
