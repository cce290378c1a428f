/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "client_dev.h"
#include "frame_check.h"
#include "rl_phy_eth.h"

/* Longest delay of pacing that is caught up. */
#define PACE_SLACK_NS (1 * RL_NS_PER_MS)

void
client_dev_init(struct client_dev *c, const struct client_dev_params *p)
{
	memset(c, 0, sizeof(*c));
	c->p = *p;
}

void
client_dev_run(struct client_dev *c, bool on)
{
	atomic_store_explicit(&c->running, on, memory_order_relaxed);
}

void
client_dev_rate(struct client_dev *c, uint64_t pps)
{
	atomic_store_explicit(&c->rate_pps, pps, memory_order_relaxed);
}

void
client_dev_away(struct client_dev *c)
{
	/* relaxed: the caller waits for the lcore's round */
	atomic_store_explicit(&c->away, 1, memory_order_relaxed);
}

void
client_dev_back(struct client_dev *c, uint16_t port_id)
{
	c->p.port_id = port_id;
	/* release: pairs with the acquire in client_dev_poll() */
	atomic_store_explicit(&c->away, 0, memory_order_release);
}

static struct proof *
proof_of(const struct client_dev *c, uint16_t src, uint16_t dst)
{
	return c->p.flow == NULL
		       ? NULL
		       : c->p.flow[(size_t)dst * c->p.npeers + src];
}

static bool
pace(struct client_dev *c, uint64_t now_ns)
{
	const uint64_t pps =
		atomic_load_explicit(&c->rate_pps, memory_order_relaxed);

	if (pps == 0)
		return true;
	if (now_ns < c->next_ns)
		return false;
	if (c->next_ns + PACE_SLACK_NS < now_ns)
		c->next_ns = now_ns - PACE_SLACK_NS;
	c->next_ns += RL_NS_PER_S / pps;
	return true;
}

struct fill {
	const uint8_t *data;
};

static void
fill_flit(void *ctx, uint8_t *to, uint32_t off, uint32_t len)
{
	const struct fill *f = ctx;

	memcpy(to, f->data + off, len);
}

/*
 * Checks and completes a frame, but only once: a frame that waits for a window
 * is not checked again. @return its bytes, or NULL: skip it
 */
static const uint8_t *
whole_frame(struct client_dev *c, struct rte_mbuf *m, uint32_t len)
{
	const void *data = rte_pktmbuf_read(m, 0, len, c->p.scratch);

	if (!c->p.check || c->rx_checked == m)
		return data;
	switch (c->p.rx_slot != 0 && len >= c->p.rx_slot
			? FRAME_CUT
			: frame_check((uint8_t *)(uintptr_t)data, len)) {
	case FRAME_CUT:
		c->c.rx_cut++;
		return NULL;
	case FRAME_DEEP:
		c->c.rx_nested++;
		return NULL;
	case FRAME_COMPLETED:
		c->c.rx_completed++;
		break;
	case FRAME_WHOLE:
		break;
	}
	/*
	 * a segmented frame was completed in its copy only: repeat it next time
	 */
	c->rx_checked = rte_pktmbuf_is_contiguous(m) ? m : NULL;
	return data;
}

/*
 * Whether to wait with a frame for a flow that makes no progress. If it delays
 * frames for other endpoints, this and the next such frames wait for a short
 * time only.
 */
static bool
waits_for_stalled(struct client_dev *c, uint64_t now_ns)
{
	if (c->p.l2 == NULL)
		return true;
	if (c->stall_ns == 0 || now_ns - c->stalled_ns >= CLIENT_STALL_NS)
		c->stall_ns = now_ns;
	c->stalled_ns = now_ns;
	if (now_ns - c->stall_ns < CLIENT_STALL_NS)
		return true;
	c->c.rx_stalled++;
	return false;
}

/*
 * Sends one packet of a frame. @return 0; -EAGAIN: try later; else it is
 * refused
 */
static int
send_copy(struct client_dev *c, struct rl_ep *ep, uint16_t dst,
	  const uint8_t *data, uint32_t len, uint64_t now_ns)
{
	const struct rl_ep_msg msg = {
		.dst = dst,
		.class = RL_CLASS_REQ_POSTED,
		.len_bytes = len,
	};
	struct fill f = { data };
	struct proof *proof = proof_of(c, c->p.ep_id, dst);
	uint32_t tag;
	int ret = rl_ep_send_fill(ep, now_ns, &msg, fill_flit, &f, &tag);

	if (ret == 0 && proof != NULL)
		proof_sent(proof, tag, data, len, now_ns);
	if (ret == -EBUSY ||
	    (ret == -ENOBUFS && waits_for_stalled(c, now_ns)))
		return -EAGAIN;
	if (ret != 0 && ret != -EAGAIN && ret != -ENOBUFS)
		c->c.rx_refused++;
	return ret;
}

/* Looks up the destinations of the next frame, once for all attempts. */
static void
route_frame(struct client_dev *c, const uint8_t *data, uint32_t len,
	    uint64_t now_ns)
{
	const int to = c->p.l2 == NULL
			       ? c->p.dst
			       : rl_l2_route(c->p.l2, data, len, now_ns);

	c->routed = true;
	c->next = 0;
	c->end = to >= 0 ? 1 : to == RL_L2_ALL ? c->p.nmembers : 0;
	c->one = (uint16_t)to;
	c->to = to >= 0 ? &c->one : c->p.member;
	c->c.rx_refused += to == RL_L2_BAD;
}

/* @return 0; -EAGAIN: keep the frame and try later; else drop it */
static int
send_frame(struct client_dev *c, struct rl_ep *ep, struct rte_mbuf *m,
	   uint64_t now_ns)
{
	const uint32_t len = rte_pktmbuf_pkt_len(m);
	const uint8_t *data;

	if (len > c->p.max_bytes) {
		c->c.rx_oversize++;
		return -EMSGSIZE;
	}
	data = whole_frame(c, m, len);
	if (data == NULL)
		return -EBADMSG;
	if (!c->routed)
		route_frame(c, data, len, now_ns);
	for (; c->next < c->end; c->next++)
		if (send_copy(c, ep, c->to[c->next], data, len, now_ns) ==
		    -EAGAIN)
			return -EAGAIN;
	return 0;
}

static unsigned int
client_send(struct client_dev *c, struct rl_ep *ep, uint64_t now_ns)
{
	unsigned int n = 0;

	if (c->rx_count == 0 && !c->closed) {
		c->rx_head = 0;
		c->rx_count = rl_ethdev_rx(c->p.port_id, c->p.rx_queues,
					   &c->rx_next, c->rx, CLIENT_BURST);
		c->c.rx_frames += c->rx_count;
	}
	while (c->rx_count > 0 && pace(c, now_ns)) {
		struct rte_mbuf *m = c->rx[c->rx_head];

		if (send_frame(c, ep, m, now_ns) == -EAGAIN) {
			c->next_ns = now_ns; /* it does not lose its turn */
			break;
		}
		rte_pktmbuf_free(m);
		c->rx_checked = NULL;
		c->routed = false;
		c->rx_head++;
		c->rx_count--;
		n++;
	}
	if (c->p.total_frames != 0 && c->rx_count == 0 &&
	    c->c.rx_frames >= c->p.total_frames)
		atomic_store_explicit(&c->finished, 1, memory_order_relaxed);
	return n;
}

static void
tx_tell(struct client_dev *c, const struct taker *before)
{
	if (rl_likely(c->taker.since_ns == before->since_ns &&
		      c->taker.gone == before->gone))
		return;
	atomic_store_explicit(&c->waits_ns, c->taker.since_ns,
			      memory_order_relaxed);
	atomic_store_explicit(&c->gone, c->taker.gone, memory_order_relaxed);
}

static void
tx_flush(struct client_dev *c, uint64_t now_ns)
{
	const struct taker before = c->taker;
	const uint16_t sent = c->closed ? 0
					: rte_eth_tx_burst(c->p.port_id, 0,
							   c->tx, c->tx_count);

	c->c.tx_frames += sent;
	c->tx_count -= sent;
	memmove(c->tx, c->tx + sent, c->tx_count * sizeof(c->tx[0]));
	if (taker_gone(&c->taker, sent, c->tx_count,
		       c->closed || atomic_load_explicit(&c->down,
							 memory_order_relaxed),
		       now_ns)) {
		rte_pktmbuf_free_bulk(c->tx, c->tx_count);
		c->c.tx_not_taken += c->tx_count;
		c->tx_count = 0;
	}
	tx_tell(c, &before);
}

static void
write_frame(struct client_dev *c, const struct rl_flit *pkt, uint64_t now_ns)
{
	const uint32_t len = rl_ep_len_bytes(pkt);
	struct proof *l = proof_of(c, pkt->src, c->p.ep_id);
	char *data = rte_pktmbuf_append(c->spare, (uint16_t)len);

	RL_ASSERT(data != NULL); /* buffers of the pool hold max_bytes */
	rl_ep_copy_out(pkt, data, len);
	if (l != NULL)
		proof_got(l, rl_flit_tag(pkt->wire), data, len, pkt->in_vc,
			  now_ns);
	if (c->p.l2 != NULL)
		rl_l2_arrived(c->p.l2, (const uint8_t *)data, len, pkt->src,
			      now_ns);
	c->tx[c->tx_count++] = c->spare;
	c->spare = NULL;
}

static unsigned int
client_sink(struct client_dev *c, struct rl_ep *ep, uint64_t now_ns)
{
	struct rl_flit *pkt;
	unsigned int n = 0;

	while (n < CLIENT_BURST && (pkt = rl_ep_recv(ep)) != NULL) {
		struct proof *l = proof_of(c, pkt->src, c->p.ep_id);
		const uint32_t len =
			rl_ep_copy_out(pkt, c->p.scratch, c->p.max_bytes);

		if (l != NULL)
			proof_got(l, rl_flit_tag(pkt->wire), c->p.scratch,
				  len, pkt->in_vc, now_ns);
		rl_packet_put(c->p.cache, pkt);
		n++;
	}
	return n;
}

/*
 * Takes packets only while they can be written. If the device is slow, they
 * stay with the endpoint and cause backpressure to the senders, within the
 * limits of taker.h.
 */
static unsigned int
client_receive(struct client_dev *c, struct rl_ep *ep, uint64_t now_ns)
{
	const uint32_t most =
		atomic_load_explicit(&c->p.tx_max, memory_order_relaxed);
	unsigned int n = 0;

	while (c->tx_count < CLIENT_BURST) {
		struct rl_flit *pkt;

		if (c->spare == NULL)
			c->spare = rte_pktmbuf_alloc(c->p.pool);
		if (c->spare == NULL) {
			c->c.tx_no_mbuf++;
			break;
		}
		pkt = rl_ep_recv(ep);
		if (pkt == NULL)
			break;
		if (most != 0 && rl_ep_len_bytes(pkt) > most)
			c->c.tx_too_long++; /* it has no proof entry, so it
					       counts as lost */
		else
			write_frame(c, pkt, now_ns);
		rl_packet_put(c->p.cache, pkt);
		n++;
	}
	if (gather_due(&c->gather, c->tx_count, n, CLIENT_BURST, now_ns))
		tx_flush(c, now_ns);
	return n;
}

unsigned int
client_dev_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct client_dev *c = ctx;
	unsigned int n;

	/* acquire: pairs with the release in client_dev_back() */
	c->closed = atomic_load_explicit(&c->away, memory_order_acquire) != 0;
	if (!c->closed && c->p.port_id == CLIENT_NO_PORT)
		return client_sink(c, ep, now_ns);
	n = client_receive(c, ep, now_ns);

	if ((c->p.dst >= 0 || c->p.l2 != NULL) &&
	    atomic_load_explicit(&c->running, memory_order_relaxed) != 0)
		n += client_send(c, ep, now_ns);
	return n;
}

void
client_dev_event(void *ctx, const struct rl_ep_event *ev)
{
	const struct client_dev *c = ctx;
	struct proof *l;

	if (ev->kind != RL_EP_EV_RESTARTED || ev->peer >= c->p.npeers)
		return;
	l = proof_of(c, c->p.ep_id, ev->peer);
	if (l != NULL)
		proof_peer_restarted(l, ev->tag);
}

uint64_t
client_dev_deadline(void *ctx)
{
	const struct client_dev *c = ctx;

	return c->rx_count != 0 ? c->next_ns : RL_NEVER;
}

void
client_dev_close(struct client_dev *c)
{
	rte_pktmbuf_free_bulk(c->rx + c->rx_head, c->rx_count);
	rte_pktmbuf_free_bulk(c->tx, c->tx_count);
	rte_pktmbuf_free(c->spare);
	c->spare = NULL;
	c->rx_count = c->tx_count = 0;
}
