/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "rl_inject.h"
#include "rl_frame.h"

#define FRAME_TYPE(data) ((data)[RL_FRAME_LINK_OFF] & 0xf)
#define FRAME_FLITS(data) ((data)[RL_FRAME_LINK_OFF + 1])
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
		rl_prng_seed(&d->prng, seed * 2 + i);
	}
}

static void
bits_cfg(struct rl_error_cfg *cfg, const struct rl_inject_order *o)
{
	rl_error_cfg_defaults(cfg);
	cfg->bit_rate = o->rate;
	cfg->propagate = o->propagate;
	cfg->lanes = o->lanes == 0 ? 1 : o->lanes;
}

static bool
bits_ok(const struct rl_inject_order *o)
{
	struct rl_error_cfg cfg;
	char why[160];

	bits_cfg(&cfg, o);
	return o->rate <= 0.5 && rl_error_cfg_check(&cfg, why, sizeof(why)) == 0;
}

static bool
order_ok(const struct rl_inject_order *o)
{
	switch (o->kind) {
	case RL_INJECT_CUT:
		return o->value <= 1;
	case RL_INJECT_STALL:
	case RL_INJECT_DELAY:
		return o->value <= 3600 * RL_NS_PER_S;
	case RL_INJECT_DROP:
		return o->value >= 1;
	case RL_INJECT_CORRUPT:
		return o->value >= 1 && o->value <= RL_INJECT_CORRUPT_MAX;
	case RL_INJECT_BER:
		return bits_ok(o);
	case RL_INJECT_LOSS:
	case RL_INJECT_DUP:
		return o->rate >= 0.0 && o->rate <= 1.0;
	case RL_INJECT_JITTER:
		return o->rate >= 0.0 && o->rate <= 1.0 &&
		       o->value <= 3600 * RL_NS_PER_S;
	case RL_INJECT_TRIGGER:
	case RL_INJECT_CLEAR:
		return true;
	}
	return false;
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
	       const struct rl_inject_order *order)
{
	struct rl_inject_dir *d = &l->dir[from];
	uint32_t tail;

	RL_ASSERT(from < 2);
	if (!order_ok(order))
		return -ERANGE;
	if (!order_room(d))
		return -EAGAIN;
	tail = atomic_load_explicit(&d->order_tail, memory_order_relaxed);
	d->order[tail % RL_INJECT_ORDERS] = *order;
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
	const struct rl_inject_order clear = { .kind = RL_INJECT_CLEAR };

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
bits_start(struct rl_inject_dir *d, const struct rl_inject_order *o)
{
	struct rl_error_cfg cfg;

	bits_cfg(&cfg, o);
	d->bit_errors = o->rate > 0.0;
	d->bits.at = 0;
	rl_error_init(&d->bits.process, &cfg, rl_prng_u64(&d->prng));
}

static void
take_order(struct rl_inject_dir *d, const struct rl_inject_order *o,
	   uint64_t now_ns)
{
	switch (o->kind) {
	case RL_INJECT_CUT:
		atomic_store(&d->cut, (uint32_t)o->value);
		if (o->value != 0)
			sever(d->link, now_ns);
		break;
	case RL_INJECT_STALL:
		d->stall_until_ns = rl_deadline(now_ns, o->value);
		break;
	case RL_INJECT_DELAY:
		d->delay_ns = o->value;
		break;
	case RL_INJECT_DROP:
		d->drop_left = o->value;
		break;
	case RL_INJECT_CORRUPT:
		d->corrupt_bytes = (uint32_t)o->value;
		break;
	case RL_INJECT_BER:
		bits_start(d, o);
		break;
	case RL_INJECT_LOSS:
		d->loss = o->rate;
		break;
	case RL_INJECT_DUP:
		d->dup = o->rate;
		break;
	case RL_INJECT_JITTER:
		d->jitter = o->rate;
		d->jitter_ns = o->value;
		break;
	case RL_INJECT_TRIGGER:
		d->trigger = true;
		d->trigger_when = o->when;
		d->trigger_down = o->down;
		d->trigger_left = o->value;
		break;
	case RL_INJECT_CLEAR:
		atomic_store(&d->cut, 0);
		d->trigger = false;
		d->drop_left = 0;
		d->corrupt_bytes = 0;
		d->stall_until_ns = 0;
		d->delay_ns = 0;
		d->bit_errors = false;
		d->loss = d->dup = d->jitter = 0.0;
		break;
	}
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
	d->active = atomic_load(&d->cut) != 0 || d->trigger ||
		    d->drop_left != 0 || d->corrupt_bytes != 0 ||
		    d->bit_errors || d->loss > 0.0 ||
		    rl_inject_stalled(d, now_ns) || rl_inject_delays(d);
	return d->active || !rl_inject_light(d->link);
}

static void
trigger_fire(struct rl_inject_dir *d, uint64_t now_ns)
{
	d->trigger = false;
	sever(d->link, now_ns);
	if (d->trigger_down)
		atomic_store_explicit(&d->link->down, 1, memory_order_release);
	else
		atomic_store(&d->cut, 1);
}

/* @return whether the trigger drops this frame, too */
static bool
trigger_frame(struct rl_inject_dir *d, const uint8_t *data, uint64_t now_ns)
{
	const unsigned int flits = FRAME_FLITS(data);
	const uint8_t *last = data + RL_FRAME_SIDEBAND_OFF + 2 * (flits - 1);

	switch (d->trigger_when) {
	case RL_INJECT_AFTER:
		if (flits > d->trigger_left) {
			trigger_fire(d, now_ns);
			return true;
		}
		d->trigger_left -= flits;
		if (d->trigger_left == 0)
			trigger_fire(d, now_ns);
		return false;
	case RL_INJECT_MID_PACKET:
		if (!(*last & SIDEBAND_EOP))
			trigger_fire(d, now_ns);
		return false;
	}
	return false;
}

static void
bits_next_span(struct rl_inject_bits *b)
{
	b->at = 0;
	b->hit = !rl_error_pass(&b->process);
	if (!b->hit)
		return;
	memset(b->mask, 0, sizeof(b->mask));
	rl_error_strike(&b->process, b->mask);
}

static void
flip_bits(struct rl_inject_dir *d, struct rl_phy_frame *f)
{
	struct rl_inject_bits *b = &d->bits;
	uint8_t *at = f->data + RL_FRAME_LINK_OFF;
	uint64_t wrong = 0;

	for (uint32_t n, left = f->len - RL_FRAME_LINK_OFF; left > 0;
	     at += n, left -= n) {
		if (b->at == 0)
			bits_next_span(b);
		n = rl_min_u32(left, RL_ERROR_SPAN_MAX - b->at);
		for (uint32_t i = 0; b->hit && i < n; i++) {
			at[i] ^= b->mask[b->at + i];
			wrong += (uint32_t)__builtin_popcount(
				b->mask[b->at + i]);
		}
		b->at = (b->at + n) % RL_ERROR_SPAN_MAX;
	}
	d->c.flipped_bits += wrong;
	d->c.corrupted_frames += wrong != 0;
}

static void
corrupt(struct rl_inject_dir *d, struct rl_phy_frame *f)
{
	const uint32_t room = f->len - RL_FRAME_LINK_OFF;
	const uint32_t n = rl_min_u32(d->corrupt_bytes, room);
	uint8_t *p = f->data + RL_FRAME_LINK_OFF +
		     rl_prng_below(&d->prng, room - n + 1);

	for (uint32_t i = 0; i < n; i++)
		p[i] ^= (uint8_t)(1 + rl_prng_below(&d->prng, 255));
	d->corrupt_bytes = 0;
	d->c.corrupted_frames++;
}

/* @return whether the frame passes */
static bool
judge(struct rl_inject_dir *d, struct rl_phy_frame *f, uint64_t now_ns)
{
	const bool ours = f->len >= RL_FRAME_HEADER_SHORT;
	const bool data = ours && FRAME_TYPE(f->data) == RL_FRAME_DATA &&
			  FRAME_FLITS(f->data) != 0 &&
			  FRAME_FLITS(f->data) <= RL_FRAME_FLITS_MAX;
	bool lost = !rl_inject_light(d->link) || atomic_load(&d->cut) != 0;

	if (!lost && data && d->trigger)
		lost = trigger_frame(d, f->data, now_ns);
	if (!lost && data && d->drop_left != 0)
		lost = --d->drop_left == 0;
	if (!lost && d->loss > 0.0)
		lost = rl_prng_double(&d->prng) < d->loss;
	if (lost) {
		d->c.dropped_frames++;
		d->c.dropped_flits += data ? FRAME_FLITS(f->data) : 0;
		return false;
	}
	if (data && d->corrupt_bytes != 0)
		corrupt(d, f);
	if (ours && d->bit_errors)
		flip_bits(d, f);
	return true;
}

unsigned int
rl_inject_pass(struct rl_inject_dir *d, struct rl_phy_frame f[], unsigned int n,
	      uint64_t now_ns)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct rl_phy_frame t = f[i];

		if (!judge(d, &t, now_ns))
			continue;
		/* lost frames are moved to the end, so that the caller frees
		   them */
		f[i] = f[kept];
		f[kept++] = t;
	}
	return kept;
}

bool
rl_inject_twice(struct rl_inject_dir *d)
{
	return d->dup > 0.0 && rl_prng_double(&d->prng) < d->dup;
}

/* Frames of equal times keep their order. */
static void
hold(struct rl_inject_dir *d, const struct rl_phy_frame *f, uint64_t due_ns)
{
	const uint32_t mask = d->line_cap - 1;
	uint32_t at = d->line_tail++;

	for (; at != d->line_head && d->line[(at - 1) & mask].due_ns > due_ns;
	     at--)
		d->line[at & mask] = d->line[(at - 1) & mask];
	d->line[at & mask] = (struct rl_inject_held){ *f, due_ns };
}

void
rl_inject_delay(struct rl_inject_dir *d, const struct rl_phy_frame f[],
	       unsigned int n, uint64_t now_ns)
{
	RL_ASSERT(n <= rl_inject_room(d));
	for (unsigned int i = 0; i < n; i++) {
		uint64_t ns = d->delay_ns;

		if (d->jitter > 0.0 && rl_prng_double(&d->prng) < d->jitter)
			ns += rl_prng_range(&d->prng, 1, d->jitter_ns);
		hold(d, &f[i], rl_deadline(now_ns, ns));
		d->c.delayed_frames += ns != 0;
	}
}

unsigned int
rl_inject_due(struct rl_inject_dir *d, struct rl_phy_frame f[], unsigned int n,
	     uint64_t now_ns)
{
	unsigned int got = 0;

	while (got < n && d->line_head != d->line_tail) {
		const struct rl_inject_held *h =
			&d->line[d->line_head & (d->line_cap - 1)];

		if (now_ns < h->due_ns)
			break;
		f[got++] = h->frame;
		d->line_head++;
	}
	return got;
}
