/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_ring.h>

#include "rl_phy_eth.h"
#include "rl_tsan.h"

static bool
aligned(const void *p)
{
	return ((uintptr_t)p & (RL_CACHE_LINE - 1)) == 0;
}

int
rl_phy_eth_open(struct rl_phy_eth *phy, const struct rl_phy_eth_params *p)
{
	struct rte_mbuf *m;
	bool fits;

	memset(phy, 0, sizeof(*phy));
	phy->p = *p;
	m = rte_pktmbuf_alloc(p->pool);
	if (m == NULL)
		return -ENOMEM;
	fits = aligned(rte_pktmbuf_mtod(m, void *)) &&
	       rte_pktmbuf_tailroom(m) >= p->frame_bytes;
	phy->data_at = (uint32_t)(rte_pktmbuf_mtod(m, uint8_t *) -
				  (uint8_t *)m);
	rte_pktmbuf_free(m);
	if (!fits)
		return -EINVAL;
	phy->bounce_bytes = RTE_ALIGN_CEIL(p->frame_bytes, RL_CACHE_LINE);
	/* untouched, and so without pages, unless a driver forces bounces */
	phy->bounce = aligned_alloc(RL_CACHE_LINE,
				    (size_t)RL_PHY_BURST * phy->bounce_bytes);
	return phy->bounce == NULL ? -ENOMEM : 0;
}

void
rl_phy_eth_carrier(struct rl_phy_eth *phy, bool up)
{
	/* relaxed: no other data depends on it */
	atomic_store_explicit(&phy->dark, !up, memory_order_relaxed);
}

void
rl_phy_eth_remove(struct rl_phy_eth *phy)
{
	/* relaxed: the caller waits for the lcore's round */
	atomic_store_explicit(&phy->removed, true, memory_order_relaxed);
}

void
rl_phy_eth_replace(struct rl_phy_eth *phy, uint16_t port_id)
{
	phy->p.port_id = port_id;
	/* release: pairs with the acquire in is_removed() */
	atomic_store_explicit(&phy->removed, false, memory_order_release);
}

static bool
is_removed(const struct rl_phy_eth *phy)
{
	/* acquire: pairs with the release in rl_phy_eth_replace() */
	return rl_unlikely(atomic_load_explicit(&phy->removed,
						memory_order_acquire));
}

/* Frames in the delay line are ordinary mbufs. */
static void
free_delayed(struct rl_inject_dir *d)
{
	struct rl_inject_held h;

	while (rl_inject_due(d, &h, RL_NEVER))
		rte_pktmbuf_free(h.frame.cookie);
}

void
rl_phy_eth_close(struct rl_phy_eth *phy)
{
	rte_pktmbuf_free_bulk(phy->pending, phy->npending);
	rte_pktmbuf_free_bulk(phy->spare, phy->nspare);
	phy->npending = phy->nspare = 0;
	if (phy->p.rx_fault != NULL)
		free_delayed(phy->p.rx_fault);
	free(phy->bounce);
	phy->bounce = NULL;
}

static uint16_t
wire_tx(const struct rl_phy_eth_params *p, struct rte_mbuf *m[], uint16_t n)
{
	if (p->tx_ring != NULL)
		return (uint16_t)rte_ring_enqueue_burst(p->tx_ring, (void **)m,
							n, NULL);
	rl_tsan_give(&rl_phy_eth_ops);
	return rte_eth_tx_burst(p->port_id, p->queue, m, n);
}

static uint16_t
wire_rx(struct rl_phy_eth *phy, struct rte_mbuf *m[], uint16_t n)
{
	const struct rl_phy_eth_params *p = &phy->p;

	if (p->rx_ring != NULL)
		return (uint16_t)rte_ring_dequeue_burst(p->rx_ring, (void **)m,
							n, NULL);
	n = rl_likely(p->rx_queues <= 1)
		    ? rte_eth_rx_burst(p->port_id, p->queue, m, n)
		    : rl_ethdev_rx(p->port_id, p->rx_queues, &phy->rx_next, m,
				   n);
	rl_tsan_get(&rl_phy_eth_ops);
	return n;
}

/* @return whether nothing is pending any more */
static bool
flush(struct rl_phy_eth *phy)
{
	const uint16_t sent = wire_tx(&phy->p, phy->pending, phy->npending);

	phy->c.tx_frames += sent;
	phy->npending -= sent;
	memmove(phy->pending, phy->pending + sent,
		phy->npending * sizeof(phy->pending[0]));
	return phy->npending == 0;
}

/*
 * Fetches mbufs of the pool into phy->spare, up to @p n.
 * rte_pktmbuf_alloc_bulk() would write all of their fields; eth_tx_alloc() and
 * eth_tx() write those that are read of a sent frame.
 */
static void
spare_fill(struct rl_phy_eth *phy, unsigned int n)
{
	rl_tsan_get(phy->p.pool);
	if (rte_mempool_get_bulk(phy->p.pool,
				 (void **)(phy->spare + phy->nspare),
				 n - phy->nspare) == 0)
		phy->nspare = (uint16_t)n;
	else
		phy->c.tx_no_mbuf++;
}

static unsigned int
eth_tx_alloc(void *ctx, struct rl_phy_frame f[], unsigned int n,
	     RL_UNUSED uint64_t now_ns)
{
	struct rl_phy_eth *phy = ctx;

	if (is_removed(phy) || (phy->npending != 0 && !flush(phy))) {
		phy->c.tx_backpressure++;
		return 0;
	}
	n = RTE_MIN(n, (unsigned int)RL_PHY_BURST);
	if (phy->nspare < n) {
		spare_fill(phy, n);
		n = RTE_MIN(n, phy->nspare);
	}
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = phy->spare[--phy->nspare];

		/* not from its contents, which would have to be loaded first */
		m->data_off = RTE_PKTMBUF_HEADROOM;
		f[i].data = (uint8_t *)m + phy->data_at;
		f[i].len = 0;
		f[i].cookie = m;
	}
	return n;
}

static void
eth_tx(void *ctx, struct rl_phy_frame f[], unsigned int n,
       RL_UNUSED uint64_t now_ns)
{
	struct rl_phy_eth *phy = ctx;

	RL_DASSERT(phy->npending == 0 && n <= RL_PHY_BURST);
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = f[i].cookie;

		if (f[i].len == 0) {
			phy->spare[phy->nspare++] = m;
			continue;
		}
		RL_DASSERT(f[i].len <= phy->p.frame_bytes);
		m->data_len = (uint16_t)f[i].len;
		m->pkt_len = f[i].len;
		m->ol_flags = 0;
		m->packet_type = 0;
		phy->c.tx_bytes += f[i].len;
		phy->pending[phy->npending++] = m;
	}
	if (phy->npending != 0)
		flush(phy);
}

/* @return whether the frame can be read; otherwise the mbuf is freed */
static bool
rx_frame(struct rl_phy_eth *phy, struct rte_mbuf *m, unsigned int slot,
	 struct rl_phy_frame *f)
{
	const uint32_t len = rte_pktmbuf_pkt_len(m);

	f->data = rte_pktmbuf_mtod(m, uint8_t *);
	f->len = len;
	f->cookie = m;
	if (rl_likely(m->nb_segs == 1 && aligned(f->data)))
		return true;
	if (len > phy->bounce_bytes) {
		phy->c.rx_oversize++;
		rte_pktmbuf_free(m);
		return false;
	}
	phy->c.rx_bounced++;
	f->data = phy->bounce + (size_t)slot * phy->bounce_bytes;
	for (uint32_t off = 0; m != NULL; m = m->next) {
		memcpy(f->data + off, rte_pktmbuf_mtod(m, uint8_t *),
		       m->data_len);
		off += m->data_len;
	}
	return true;
}

static unsigned int
rx_burst(struct rl_phy_eth *phy, struct rl_phy_frame f[], unsigned int n)
{
	struct rte_mbuf *m[RL_PHY_BURST];
	const unsigned int got =
		wire_rx(phy, m,
			(uint16_t)RTE_MIN(n, (unsigned int)RL_PHY_BURST));
	unsigned int kept = 0;

	for (unsigned int i = 0; i < got; i++)
		kept += rx_frame(phy, m[i], kept, &f[kept]);
	phy->c.rx_frames += kept;
	return kept;
}

/* The common mbuf: of the own pool, whole, and with one reference. */
static bool
rx_plain(const struct rl_phy_eth *phy, const struct rte_mbuf *m)
{
	return m->pool == phy->p.pool && m->nb_segs == 1 && m->next == NULL &&
	       RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
}

static void
eth_rx_free(void *ctx, struct rl_phy_frame f[], unsigned int n)
{
	struct rl_phy_eth *phy = ctx;
	struct rte_mbuf *m[RL_PHY_BURST];
	unsigned int plain = 0;

	rl_tsan_give(phy->p.pool);
	for (unsigned int i = 0; i < n; i++) {
		m[plain] = f[i].cookie;
		if (rl_likely(rx_plain(phy, m[plain])))
			plain++;
		else
			rte_pktmbuf_free(m[plain]);
	}
	if (plain != 0)
		rte_mempool_put_bulk(phy->p.pool, (void **)m, plain);
}

/* A second copy of a frame, if there is an mbuf for it. */
static void
rx_twice(struct rl_phy_eth *phy, struct rl_inject_dir *d,
	 const struct rl_phy_frame *f, uint64_t now_ns)
{
	struct rl_inject_held copy = { .later_ns = d->wire.noise.delay_ns };
	struct rte_mbuf *m;

	if (!rl_wire_twice(&d->wire))
		return;
	rl_tsan_get(phy->p.pool);
	m = rte_pktmbuf_copy(f->cookie, phy->p.pool, 0, UINT32_MAX);
	if (m == NULL || m->nb_segs != 1) {
		rte_pktmbuf_free(m);
		return;
	}
	copy.frame = (struct rl_phy_frame){
		.data = rte_pktmbuf_mtod(m, uint8_t *),
		.len = f->len,
		.cookie = m,
	};
	rl_inject_hold(d, &copy, now_ns);
	d->c.duplicated_frames++;
}

void
rl_phy_eth_tap(struct rl_phy_eth *phy, struct rl_tap *tap)
{
	/* release: pairs with the acquire in eth_rx() */
	atomic_store_explicit(&phy->tap, tap, memory_order_release);
}

/* Copies a frame to the tap, after what faults did to it. */
static void
tap_held(struct rl_tap *tap, const struct rl_inject_dir *d,
	 const struct rl_inject_held *h, bool lost, uint64_t now_ns)
{
	struct rl_tap_rec rec = {
		.t_ns = now_ns,
		.len = h->frame.len,
		.delay_ns = h->later_ns,
		.corrupted = h->corrupted,
	};

	if (tap == NULL)
		return;
	if (lost)
		rec.fate = !rl_inject_light(d->link) ? RL_TAP_DARK
			   : atomic_load(&d->cut) != 0 ? RL_TAP_CUT
						       : RL_TAP_LOST;
	rl_tap_put(tap, &rec, h->frame.data);
}

/* Frames of the delay line whose time has come. */
static unsigned int
rx_due(struct rl_phy_eth *phy, struct rl_tap *tap, struct rl_phy_frame f[],
       unsigned int n, uint64_t now_ns)
{
	struct rl_inject_dir *d = phy->p.rx_fault;
	struct rl_inject_held h;
	unsigned int got = 0;

	while (got < n && rl_inject_due(d, &h, now_ns)) {
		const bool lost = rl_inject_dark(d);

		tap_held(tap, d, &h, lost, now_ns);
		if (lost)
			rte_pktmbuf_free(h.frame.cookie);
		else
			f[got++] = h.frame;
	}
	return got;
}

/* A delayed frame outlives the poll it came in by, and with it the bounce
   buffers: only frames within their mbuf can be delayed. */
static bool
rx_stays(struct rl_phy_eth *phy, const struct rl_phy_frame *f)
{
	struct rte_mbuf *m = f->cookie;

	if (f->data == rte_pktmbuf_mtod(m, uint8_t *))
		return true;
	phy->c.rx_oversize++;
	rte_pktmbuf_free(m);
	return false;
}

static unsigned int
rx_faulty(struct rl_phy_eth *phy, struct rl_tap *tap, struct rl_phy_frame f[],
	  unsigned int n, uint64_t now_ns)
{
	struct rl_inject_dir *d = phy->p.rx_fault;
	const bool delays = rl_inject_delays(d);
	/* each may come twice */
	const unsigned int most = delays ? RTE_MIN(n, rl_inject_room(d) / 2) : n;
	unsigned int got, kept = 0;

	if (rl_inject_stalled(d, now_ns))
		return 0;
	got = most == 0 ? 0 : rx_burst(phy, f, most);
	for (unsigned int i = 0; i < got; i++) {
		struct rl_inject_held h = { .frame = f[i] };

		if (delays && !rx_stays(phy, &h.frame))
			continue;
		if (rl_inject_loses(d, &h.frame, now_ns)) {
			tap_held(tap, d, &h, true, now_ns);
			eth_rx_free(phy, &h.frame, 1);
			continue;
		}
		if (delays)
			rx_twice(phy, d, &h.frame, now_ns);
		h.corrupted = rl_inject_alter(d, &h.frame);
		h.later_ns = rl_wire_later_ns(&d->wire);
		if (delays) {
			rl_inject_hold(d, &h, now_ns);
			continue;
		}
		tap_held(tap, d, &h, false, now_ns);
		f[kept++] = h.frame;
	}
	return delays ? rx_due(phy, tap, f, n, now_ns) : kept;
}

/* Frames that a removed ethdev did not take are of the epoch that ended. */
static void
forget_pending(struct rl_phy_eth *phy)
{
	rte_pktmbuf_free_bulk(phy->pending, phy->npending);
	phy->npending = 0;
}

static unsigned int
eth_rx(void *ctx, struct rl_phy_frame f[], unsigned int n, uint64_t now_ns)
{
	struct rl_phy_eth *phy = ctx;
	/* acquire: pairs with the release in rl_phy_eth_tap() */
	struct rl_tap *tap =
		atomic_load_explicit(&phy->tap, memory_order_acquire);

	if (is_removed(phy)) {
		forget_pending(phy);
		return 0;
	}
	if (phy->npending != 0)
		flush(phy);
	n = RTE_MIN(n, (unsigned int)RL_PHY_BURST);
	if (phy->p.rx_fault != NULL && rl_inject_poll(phy->p.rx_fault, now_ns))
		return rx_faulty(phy, tap, f, n, now_ns);
	n = rx_burst(phy, f, n);
	for (unsigned int i = 0; rl_unlikely(tap != NULL) && i < n; i++)
		tap_held(tap, NULL,
			 &(struct rl_inject_held){ .frame = f[i] }, false,
			 now_ns);
	return n;
}

static enum rl_phy_status
eth_status(void *ctx)
{
	const struct rl_phy_eth *phy = ctx;

	if (is_removed(phy))
		return RL_PHY_REMOVED;
	if (rl_phy_eth_is_dark(phy) ||
	    (phy->p.rx_fault != NULL && !rl_inject_light(phy->p.rx_fault->link)))
		return RL_PHY_DOWN;
	return RL_PHY_UP;
}

static uint64_t
eth_deadline(RL_UNUSED void *ctx)
{
	return RL_NEVER;
}

const struct rl_phy_ops rl_phy_eth_ops = {
	.rx = eth_rx,
	.rx_free = eth_rx_free,
	.tx_alloc = eth_tx_alloc,
	.tx = eth_tx,
	.status = eth_status,
	.deadline = eth_deadline,
};
