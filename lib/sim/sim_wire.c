/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Wires as seen by ports. A frame leaves when the transmitter is idle, takes
 * the time of its bytes, and arrives complete after the latency of the wire. A
 * limited number may wait to be sent; then the wire accepts no more, and the
 * queues of the port fill: backpressure.
 *
 * Whatever goes wrong with a frame is decided when it is sent. Each direction
 * has its own PRNG, so other wires do not affect it.
 */

#include <string.h>

#include "sim_priv.h"

/* Counts a frame for waiting faults, and executes those that are due. */
static void
run_triggers(struct rl_sim *s, struct sim_dir *d, uint32_t nflits)
{
	struct sim_trigger **at = &d->trigger;

	while (*at != NULL) {
		struct sim_trigger *t = *at;
		const uint32_t step = t->fault.nth_flit ? nflits : 1;

		if (t->left > step) {
			t->left -= step;
			at = &t->next;
			continue;
		}
		*at = t->next;
		sim_fault_fire(s, &t->fault, (unsigned int)(d - s->dir));
	}
	sim_dir_update(d);
}

/* Puts a frame on the wire, or into `out` if it goes to another part. */
static void
wire_put(struct sim_part *pt, struct sim_dir *d, struct rl_sim_frame *f)
{
	if (rl_likely(!d->crosses || pt->sim->by_number)) {
		sim_dir_insert(pt->sim, d, f);
		return;
	}
	f->next = NULL;
	if (d->out == NULL) {
		d->next_out = pt->out;
		pt->out = d;
		d->out = f;
	} else {
		d->last_out->next = f;
	}
	d->last_out = f;
}

static bool
frame_lost(struct rl_sim *s, struct sim_dir *d, uint32_t flits)
{
	if (flits != 0 && d->trigger != NULL)
		run_triggers(s, d, flits);
	if (d->dark)
		return true;
	if (!rl_wire_loses(&d->wire, flits != 0))
		return false;
	sim_dir_update(d);
	return true;
}

static void
frame_twice(struct sim_part *pt, struct sim_dir *d,
	    const struct rl_sim_frame *f)
{
	struct rl_sim_frame *copy = sim_frame_get(pt->mem, f->len);

	if (copy == NULL)
		return;
	copy->len = f->len;
	copy->at_ns = f->at_ns + d->wire.noise.delay_ns;
	memcpy(copy->data, f->data, f->len);
	wire_put(pt, d, copy);
	pt->st.frames_dup++;
	pt->st.frames_delayed += d->wire.noise.delay_ns != 0;
	if (d->tapped)
		sim_dir_show(pt, d, f, RL_SIM_FATE_TWICE);
}

/* The slow path. @return whether the frame is lost */
static bool
odd_frame(struct sim_part *pt, struct sim_dir *d, struct rl_sim_frame *f)
{
	const uint32_t flits = rl_wire_flits(f->data, f->len);
	unsigned int altered;
	uint64_t later_ns;

	if (d->tapped)
		sim_dir_show(pt, d, f, RL_SIM_FATE_SENT);
	if (frame_lost(pt->sim, d, flits)) {
		if (d->tapped)
			sim_dir_show(pt, d, f, RL_SIM_FATE_LOST);
		return true;
	}
	if (rl_wire_twice(&d->wire))
		frame_twice(pt, d, f);
	altered = rl_wire_alter(&d->wire, f->data, &f->len);
	pt->st.frames_corrupt += altered;
	if (altered != 0)
		sim_dir_update(d);
	if (d->tapped && altered != 0)
		sim_dir_show(pt, d, f, RL_SIM_FATE_HURT);
	later_ns = rl_wire_later_ns(&d->wire);
	f->at_ns += later_ns;
	pt->st.frames_delayed += later_ns != 0;
	return false;
}

static unsigned int
wire_rx(void *phy, struct rl_phy_frame out[], unsigned int n, uint64_t now_ns)
{
	struct sim_end *end = phy;
	struct sim_dir *d = end->rx;
	struct rl_sim *s = end->part->sim;
	unsigned int got = 0;

	while (got < n && d->head != NULL && d->head->at_ns <= now_ns) {
		struct rl_sim_frame *f = d->head;

		d->head = f->next;
		out[got].data = f->data;
		out[got].len = f->len;
		out[got++].cookie = f;
	}
	if (got == n)
		s->role[end->role].again = true;
	if (s->key != NULL && got != 0 && d->head != NULL) {
		__builtin_prefetch(d->head->next);
		for (uint32_t b = 0; b < SIM_WARM_BYTES; b += RL_CACHE_LINE)
			__builtin_prefetch(d->head->data + b);
	}
	return got;
}

static void
wire_rx_free(void *phy, struct rl_phy_frame f[], unsigned int n)
{
	struct sim_end *end = phy;

	while (n > 0)
		sim_frame_done(end->part, f[--n].cookie);
}

static void
tapped_rx_free(void *phy, struct rl_phy_frame f[], unsigned int n)
{
	const struct sim_end *end = phy;
	const struct rl_sim *s = end->part->sim;
	const struct sim_role *r = &s->role[end->role];

	s->p.tap->heard(s->p.tap->ctx, r->dev, (uint16_t)r->port,
			r->rp->port, end->part->now_ns);
	wire_rx_free(phy, f, n);
}

uint64_t
sim_frame_ps(const struct rl_sim *s, uint32_t len)
{
	/* rounded up, so that nothing arrives at the time it was sent */
	return ((uint64_t)len * s->p.wire.flit_ps + RL_FLIT_BYTES - 1) /
	       RL_FLIT_BYTES;
}

/*
 * The turn of a device ends when its ports have sent: they will send only what
 * they have now. @return most bytes of a frame; *n: at most this many frames
 */
static uint32_t
wire_need(struct sim_end *end, unsigned int *n)
{
	const struct rl_sim *s = end->part->sim;
	unsigned int frames;
	uint32_t bytes;

	end->enough = false;
	if (s->key == NULL)
		return s->p.wire.frame_bytes;
	bytes = rl_port_tx_most(s->role[end->role].rp->port, &frames);
	if (frames > *n)
		return bytes;
	end->enough = true;
	*n = frames;
	return bytes;
}

static unsigned int
wire_tx_alloc(void *phy, struct rl_phy_frame f[], unsigned int n,
	      uint64_t now_ns)
{
	struct sim_end *end = phy;
	struct rl_sim *s = end->part->sim;
	const uint64_t now_ps = now_ns * 1000, limit = s->backlog_ps;
	const uint64_t busy =
		end->tx->free_ps > now_ps ? end->tx->free_ps - now_ps : 0;
	const uint64_t one = s->frame_ps;
	const uint32_t bytes = wire_need(end, &n);
	unsigned int got = 0;
	uint64_t room = n;

	if (busy >= limit)
		room = 0;
	else if (limit - busy < n * one)
		room = rl_min_u64((limit - busy + one - 1) / one, n);
	end->enough &= room == n;
	while (got < room) {
		struct rl_sim_frame *frame = sim_frame_get(end->part->mem, bytes);

		if (frame == NULL)
			break;
		f[got].data = frame->data;
		f[got].len = 0;
		f[got++].cookie = frame;
	}
	end->blocked = got == 0;
	return got;
}

/*
 * Whether there may be more to send now. Control data, or a frame that was not
 * filled, may leave flits behind.
 */
static bool
wire_more(const struct sim_end *end)
{
	const struct rl_port *port = end->part->sim->role[end->role].rp->port;
	unsigned int frames;

	return !end->enough ||
	       rl_port_tx_most(port, &frames) != rl_frame_bytes(0);
}

static void
wire_tx(void *phy, struct rl_phy_frame f[], unsigned int n, uint64_t now_ns)
{
	struct sim_end *end = phy;
	struct sim_part *const pt = end->part;
	struct rl_sim *const s = pt->sim;
	struct sim_dir *d = end->tx;

	if (d->free_ps < now_ns * 1000)
		d->free_ps = now_ns * 1000;
	for (unsigned int i = 0; i < n; i++) {
		struct rl_sim_frame *frame = f[i].cookie;

		if (f[i].len == 0) {
			sim_frame_put(pt->mem, frame);
			continue;
		}
		if (i + 1 == n && wire_more(end))
			s->role[end->role].again = true;
		frame->len = f[i].len;
		RL_ASSERT(frame->len <= sim_frame_room(pt->mem, frame->size));
		d->free_ps += sim_frame_ps(s, frame->len);
		frame->at_ns = (d->free_ps + 999) / 1000 +
			       s->p.wire.latency_ns;
		pt->st.frames++;
		pt->st.flits += frame->data[15];
		if (rl_unlikely(d->odd) && odd_frame(pt, d, frame)) {
			pt->st.frames_lost++;
			sim_frame_put(pt->mem, frame);
			continue;
		}
		wire_put(pt, d, frame);
	}
}

static enum rl_phy_status
wire_status(void *phy)
{
	const struct sim_end *end = phy;

	return end->phy_up ? RL_PHY_UP : RL_PHY_DOWN;
}

/* When a full wire accepts frames again; RL_NEVER: now. */
static uint64_t
sim_wire_room_ns(const struct sim_end *end)
{
	const struct rl_sim *s = end->part->sim;

	if (!end->blocked || end->tx->free_ps <= s->backlog_ps)
		return RL_NEVER;
	return (end->tx->free_ps - s->backlog_ps) / 1000 + 1;
}

static uint64_t
wire_deadline(void *phy)
{
	const struct sim_end *end = phy;

	return rl_min_u64(end->rx->head == NULL ? RL_NEVER
						: end->rx->head->at_ns,
			  sim_wire_room_ns(end));
}

const struct rl_phy_ops sim_wire_ops = {
	.rx = wire_rx,
	.rx_free = wire_rx_free,
	.tx_alloc = wire_tx_alloc,
	.tx = wire_tx,
	.status = wire_status,
	.deadline = wire_deadline,
};

const struct rl_phy_ops sim_wire_tapped = {
	.rx = wire_rx,
	.rx_free = tapped_rx_free,
	.tx_alloc = wire_tx_alloc,
	.tx = wire_tx,
	.status = wire_status,
	.deadline = wire_deadline,
};
