/* SPDX-License-Identifier: BSD-3-Clause */
#include "meter.h"
#include "rl_content.h"
#include "rl_prng.h"

/** A number further ahead than this was altered. */
#define NEAR 2048
/** Numbers from one base; then rebase(). */
#define NUMBERS (1u << 31)

static uint64_t
key_of(const struct rxl_meter *m, uint64_t number)
{
	uint64_t key = m->seed ^ number;

	return rl_splitmix64(&key);
}

static void
fill(void *ctx, uint8_t *to, uint32_t off, uint32_t len)
{
	const struct rxl_meter *m = ctx;

	(void)off; /* one flit */
	rl_put64(to, m->sent);
	rl_content_fill(key_of(m, m->sent), to + 8, 8, len - 8);
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

/** What is missing by now does not come any more. */
static void
rebase(struct rxl_meter *m)
{
	m->base += m->seen.next;
	m->seen.next = 0;
	m->pool.lost += m->seen.missing.count;
	rl_ranges_clear(&m->pool, &m->seen.missing);
}

static void
check(struct rxl_meter *m, const struct rl_flit *pkt)
{
	const uint8_t *data = pkt->wire + RL_FLIT_DATA_OFF;
	const uint64_t number = rl_get64(data);
	const uint64_t next = m->base + m->seen.next;

	m->in->delivered++;
	if (pkt->pkt_flits != 1 || pkt->wire[8] != RL_FLIT_DATA_BYTES ||
	    number > next + NEAR ||
	    !rl_content_same(key_of(m, number), data + 8, 8,
			     RL_FLIT_DATA_BYTES - 8)) {
		m->in->altered++;
		return;
	}
	switch (number < m->base ? RL_SEEN_AGAIN :
		rl_seen_take(&m->pool, &m->seen, (uint32_t)(number - m->base))) {
	case RL_SEEN_FIRST:
		m->in->order_failures += number != next;
		break;
	case RL_SEEN_LATE:
		m->in->late++;
		break;
	case RL_SEEN_AGAIN:
		m->in->duplicates++;
		break;
	}
	if (rl_unlikely(m->seen.next > NUMBERS ||
			(m->pool.free == RL_RANGE_END &&
			 m->pool.used == m->pool.cap)))
		rebase(m); /* or the next gaps could not be written down */
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
