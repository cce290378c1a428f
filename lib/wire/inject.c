/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "rl_inject.h"
#include "rl_frame.h"

#define SIDEBAND_EOP 16

void
rl_inject_init(struct rl_inject_link *l, uint64_t seed,
	      struct rl_inject_held *line, uint32_t line_cap)
{
	RL_ASSERT(line_cap != 0 && (line_cap & (line_cap - 1)) == 0);
	memset(l, 0, sizeof(*l));
	for (unsigned int i = 0; i < 2; i++) {
		struct rl_inject_dir *d = &l->dir[i];

		d->link = l;
		d->line = line + (size_t)i * line_cap;
		d->line_cap = line_cap;
		rl_prng_seed(&d->wire.prng, seed * 2 + i);
	}
}

static bool
waits(const struct rl_fault *f)
{
	return f->kind == RL_FAULT_DROP || f->kind == RL_FAULT_CORRUPT ||
	       (f->kind == RL_FAULT_CUT && (f->nth != 0 || f->mid));
}

static bool
order_room(const struct rl_inject_dir *d)
{
	const uint32_t tail =
		atomic_load_explicit(&d->order_tail, memory_order_relaxed);

	/* acquire: pairs with the release of order_head in rl_inject_poll() */
	return tail - atomic_load_explicit(&d->order_head,
					   memory_order_acquire) <
	       RL_INJECT_ORDERS;
}

int
rl_inject_order(struct rl_inject_link *l, unsigned int from,
		const struct rl_fault *f)
{
	struct rl_inject_dir *d = &l->dir[from];
	uint32_t tail;

	RL_ASSERT(from < 2);
	if (!order_room(d) ||
	    (waits(f) && d->waits - atomic_load(&d->waited) >= RL_INJECT_WAITS))
		return -EAGAIN;
	d->waits += waits(f);
	tail = atomic_load_explicit(&d->order_tail, memory_order_relaxed);
	d->order[tail % RL_INJECT_ORDERS] = *f;
	/* release: pairs with the acquire in rl_inject_poll() */
	atomic_store_explicit(&d->order_tail, tail + 1, memory_order_release);
	return 0;
}

/* Remembers only the first moment: later ones are the same death. */
static void
sever(struct rl_inject_link *l, uint64_t now_ns)
{
	uint64_t never = 0;

	atomic_compare_exchange_strong(&l->severed_ns, &never, now_ns);
}

void
rl_inject_down(struct rl_inject_link *l, uint64_t now_ns)
{
	sever(l, now_ns);
	atomic_store_explicit(&l->down, 1, memory_order_release);
}

int
rl_inject_clear(struct rl_inject_link *l)
{
	const struct rl_fault clear = { .kind = RL_FAULT_HEAL };

	if (!order_room(&l->dir[0]) || !order_room(&l->dir[1]))
		return -EAGAIN;
	rl_inject_order(l, 0, &clear);
	rl_inject_order(l, 1, &clear);
	return 0;
}

bool
rl_inject_settled(const struct rl_inject_link *l)
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct rl_inject_dir *d = &l->dir[i];

		/* acquire: pairs with the release in rl_inject_poll() */
		if (atomic_load_explicit(&d->order_head,
					 memory_order_acquire) !=
		    atomic_load_explicit(&d->order_tail, memory_order_relaxed))
			return false;
	}
	return true;
}

void
rl_inject_light_up(struct rl_inject_link *l)
{
	atomic_store_explicit(&l->severed_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&l->down, 0, memory_order_release);
}

bool
rl_inject_severed(const struct rl_inject_link *l)
{
	return !rl_inject_light(l) || atomic_load(&l->dir[0].cut) != 0 ||
	       atomic_load(&l->dir[1].cut) != 0;
}

static void
cut(struct rl_inject_dir *d, bool down, uint64_t now_ns)
{
	if (down) {
		rl_inject_down(d->link, now_ns);
		return;
	}
	sever(d->link, now_ns);
	atomic_store(&d->cut, 1);
}

static void
wait_for(struct rl_inject_dir *d, const struct rl_fault *f)
{
	RL_ASSERT(d->nwaits < RL_INJECT_WAITS);
	d->wait[d->nwaits++] = (struct rl_inject_wait){
		.kind = f->kind,
		.flits = f->nth_flit,
		.mid = f->mid,
		.down = !f->silent,
		.left = f->nth,
		.what = f->kind == RL_FAULT_DROP ? rl_max_u32(f->count, 1)
						 : f->noise.burst_bytes,
	};
}

static void
heal(struct rl_inject_dir *d)
{
	atomic_store(&d->cut, 0);
	atomic_fetch_add(&d->waited, d->nwaits);
	d->nwaits = 0;
	d->stall_until_ns = 0;
	rl_wire_clear(&d->wire);
}

static void
take_order(struct rl_inject_dir *d, const struct rl_fault *f, uint64_t now_ns)
{
	if (waits(f))
		wait_for(d, f);
	else if (f->kind == RL_FAULT_CUT)
		cut(d, !f->silent, now_ns);
	else if (f->kind == RL_FAULT_STALL)
		d->stall_until_ns = rl_max_u64(d->stall_until_ns,
					       rl_deadline(now_ns, f->for_ns));
	else if (f->kind == RL_FAULT_NOISE)
		rl_wire_noise(&d->wire, &f->noise);
	else
		heal(d);
}

bool
rl_inject_poll(struct rl_inject_dir *d, uint64_t now_ns)
{
	uint32_t head, tail;

	head = atomic_load_explicit(&d->order_head, memory_order_relaxed);
	/* acquire: pairs with the release in rl_inject_order() */
	tail = atomic_load_explicit(&d->order_tail, memory_order_acquire);
	if (rl_likely(head == tail && !d->active))
		return !rl_inject_light(d->link);
	for (; head != tail; head++)
		take_order(d, &d->order[head % RL_INJECT_ORDERS], now_ns);
	/* release: pairs with the acquire in order_room() and rl_inject_settled() */
	atomic_store_explicit(&d->order_head, head, memory_order_release);
	d->active = atomic_load(&d->cut) != 0 || d->nwaits != 0 ||
		    rl_wire_odd(&d->wire) || rl_inject_stalled(d, now_ns) ||
		    rl_inject_delays(d);
	return d->active || !rl_inject_light(d->link);
}

static void
wait_over(struct rl_inject_dir *d, uint32_t i, uint64_t now_ns)
{
	const struct rl_inject_wait w = d->wait[i];

	d->nwaits--;
	memmove(&d->wait[i], &d->wait[i + 1],
		(d->nwaits - i) * sizeof(d->wait[0]));
	atomic_fetch_add(&d->waited, 1);
	if (w.kind == RL_FAULT_CUT)
		cut(d, w.down, now_ns);
	else if (w.kind == RL_FAULT_DROP)
		d->wire.drop_left = w.what;
	else
		d->wire.corrupt_bytes = (uint16_t)w.what;
}

/*
 * Whether a fault has waited for this frame. *behind: the frame itself goes on,
 * because a cut comes in the middle of its packet, or when so many flits have
 * passed.
 */
static bool
wait_ends(struct rl_inject_wait *w, const uint8_t *data, uint32_t flits,
	  bool *behind)
{
	const uint8_t *last = data + RL_FRAME_SIDEBAND_OFF + 2 * (flits - 1);
	const uint32_t step = w->flits ? flits : 1;

	*behind = true;
	if (w->mid)
		return !(*last & SIDEBAND_EOP);
	if (w->left > step) {
		w->left -= step;
		return w->kind == RL_FAULT_CUT && w->flits && w->left == 1;
	}
	*behind = false;
	return true;
}

/* Counts a data frame for faults that wait. @return whether it is beyond all
   cuts */
static bool
count_waits(struct rl_inject_dir *d, const uint8_t *data, uint32_t flits,
	    uint64_t now_ns)
{
	const bool dark = rl_inject_dark(d);
	bool spared = !dark, behind;

	for (uint32_t i = 0; i < d->nwaits;) {
		if (!wait_ends(&d->wait[i], data, flits, &behind)) {
			i++;
			continue;
		}
		spared &= behind || d->wait[i].kind != RL_FAULT_CUT;
		wait_over(d, i, now_ns);
	}
	return spared;
}

bool
rl_inject_loses(struct rl_inject_dir *d, const struct rl_phy_frame *f,
		uint64_t now_ns)
{
	const uint32_t flits = rl_wire_flits(f->data, f->len);
	bool lost = flits != 0 && d->nwaits != 0
			    ? !count_waits(d, f->data, flits, now_ns)
			    : rl_inject_dark(d);

	if (!lost)
		lost = rl_wire_loses(&d->wire, flits != 0);
	d->c.dropped_frames += lost;
	d->c.dropped_flits += lost ? flits : 0;
	return lost;
}

bool
rl_inject_alter(struct rl_inject_dir *d, struct rl_phy_frame *f)
{
	const unsigned int n = rl_wire_alter(&d->wire, f->data, &f->len);

	d->c.corrupted_frames += n;
	d->c.flipped_bits = d->wire.flipped_bits;
	return n != 0;
}

/* Frames of equal times keep their order. */
void
rl_inject_hold(struct rl_inject_dir *d, struct rl_inject_held *h,
	       uint64_t now_ns)
{
	const uint32_t mask = d->line_cap - 1;
	uint32_t at;

	RL_ASSERT(rl_inject_room(d) != 0);
	at = d->line_tail++;
	h->due_ns = rl_deadline(now_ns, h->later_ns);
	for (; at != d->line_head &&
	       d->line[(at - 1) & mask].due_ns > h->due_ns;
	     at--)
		d->line[at & mask] = d->line[(at - 1) & mask];
	d->line[at & mask] = *h;
	d->c.delayed_frames += h->later_ns != 0;
}

bool
rl_inject_due(struct rl_inject_dir *d, struct rl_inject_held *h,
	      uint64_t now_ns)
{
	if (d->line_head == d->line_tail)
		return false;
	*h = d->line[d->line_head & (d->line_cap - 1)];
	if (now_ns < h->due_ns)
		return false;
	d->line_head++;
	if (rl_inject_dark(d)) {
		d->c.dropped_frames++;
		d->c.dropped_flits += rl_wire_flits(h->frame.data,
						    h->frame.len);
	}
	return true;
}
