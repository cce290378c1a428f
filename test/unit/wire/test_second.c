/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second time: a wire that every fault has met, and that is healed, is,
 * field by field, what one is to which nothing has happened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fault_bed.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* All fields, and those that may differ with why. */
#define RL_INJECT_LINK_SAME(X) X(down) X(severed_ns)
#define RL_INJECT_LINK_DIFFERS(X) X(dir) /* compared by its own fields */
#define RL_INJECT_DIR_SAME(X)                                                  \
	X(active) X(cut) X(nwaits) X(stall_until_ns) X(line_cap)
#define RL_INJECT_DIR_DIFFERS(X)                                               \
	X(link) /* memory of its own */                                        \
	X(line)                                                                \
	X(line_head) /* places of the delay line, which is empty */            \
	X(line_tail)                                                           \
	X(wait)	 /* read up to nwaits */                                       \
	X(wire)	 /* compared by its own fields */                              \
	X(c)	 /* counts over all faults: told */                            \
	X(order) /* read between head and tail, which are as far */            \
	X(order_tail)                                                          \
	X(order_head)                                                          \
	X(waits) /* of these all have ended */                                 \
	X(waited)
#define RL_WIRE_FAULTS_SAME(X)                                                 \
	X(noise) X(drop_left) X(corrupt_bytes) X(fec_safe)
#define RL_WIRE_FAULTS_DIFFERS(X)                                              \
	X(prng)		/* has given more numbers */                           \
	X(flipped_bits) /* counts over all faults: told */                     \
	X(bits)		/* compared by its own fields while there is noise */
#define RL_WIRE_BITS_SAME(X) X(at)
#define RL_WIRE_BITS_DIFFERS(X)                                                \
	X(process) /* compared by its own fields */                            \
	X(hit)	   /* read while at is not 0 */                                \
	X(mask)
#define RL_ERROR_SAME(X)                                                       \
	X(cfg)                                                                 \
	X(now) X(burst_next) X(drop_next) X(bit_log) X(prop_log) X(burst_log)  \
		X(drop_log) X(carried)
#define RL_ERROR_DIFFERS(X)                                                    \
	X(prng) /* seeded by another number of the wire's */                   \
	X(next) /* drawn from it */                                            \
	X(bit_next)                                                            \
	X(carry) /* read up to carried */

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		others += (print_error("%s is another one\n", #field), 1);
#define PART(type, used, fresh, LIST)                                          \
	do {                                                                   \
		const struct type *a = (used), *b = (fresh);                   \
                                                                               \
		LIST(CHECK)                                                    \
	} while (0)

static void
check_dir(const struct rl_inject_dir *used, const struct rl_inject_dir *fresh)
{
	unsigned int others = 0;

	PART(rl_inject_dir, used, fresh, RL_INJECT_DIR_SAME);
	PART(rl_wire_faults, &used->wire, &fresh->wire, RL_WIRE_FAULTS_SAME);
	assert_int_equal(others, 0);
	assert_int_equal(used->line_head, used->line_tail);
	assert_int_equal(used->order_head, used->order_tail);
	assert_int_equal(used->waits, used->waited);
}

static void
check_same(const struct rl_inject_link *used,
	   const struct rl_inject_link *fresh)
{
	unsigned int others = 0;

	PART(rl_inject_link, used, fresh, RL_INJECT_LINK_SAME);
	assert_int_equal(others, 0);
	for (unsigned int e = 0; e < 2; e++)
		check_dir(&used->dir[e], &fresh->dir[e]);
}

static const struct rl_noise noisy = {
	.loss_ppb = RL_PPB / 4,
	.corrupt_ppb = RL_PPB / 4,
	.dup_ppb = RL_PPB / 4,
	.jitter_ppb = RL_PPB / 2,
	.jitter_ns = 50 * US,
	.delay_ns = 10 * US,
	.burst_bytes = 9,
	.where = RL_FAULT_HURT_BODY,
	.lanes = 4,
	.bit_rate = 1e-3,
	.propagate = 0.5,
};

/* So many frames both ways, through the delay line where faults delay. */
static void
carry(struct bed *b, uint64_t now_ns)
{
	struct rl_phy_frame out[FRAMES];

	for (unsigned int e = 0; e < 2; e++) {
		struct rl_inject_dir *d = &b->link.dir[e];
		unsigned int kept;

		make_all(b, 8, 2);
		kept = pass_dir(b, e, 8, now_ns);
		for (unsigned int i = 0; i < kept && rl_inject_delays(d); i++)
			rl_inject_hold(
				d,
				&(struct rl_inject_held){
					.frame = b->f[i],
					.later_ns = rl_wire_later_ns(&d->wire),
				},
				now_ns);
	}
	(void)due(b, out, FRAMES, now_ns + 1);
}

static void
order(struct bed *b, struct rl_fault f)
{
	for (unsigned int e = 0; e < 2; e++)
		assert_int_equal(rl_inject_order(&b->link, e, &f), 0);
	for (unsigned int e = 0; e < 2; e++)
		(void)rl_inject_poll(&b->link.dir[e], 1);
}

/* As the prompt heals: forgets, waits until that is done, lights up. */
static void
heal(struct bed *b, uint64_t now_ns)
{
	struct rl_inject_held h;

	assert_int_equal(rl_inject_clear(&b->link), 0);
	for (unsigned int e = 0; e < 2; e++)
		(void)rl_inject_poll(&b->link.dir[e], now_ns);
	assert_true(rl_inject_settled(&b->link));
	rl_inject_light_up(&b->link);
	for (unsigned int e = 0; e < 2; e++)
		while (rl_inject_due(&b->link.dir[e], &h, now_ns + 10 * MS))
			;
}

/* Faults that wait, that are under way, and that are over as it is healed. */
static void
suffer(struct bed *b, uint64_t now_ns)
{
	order(b, (struct rl_fault){ .kind = RL_FAULT_NOISE, .noise = noisy });
	carry(b, now_ns);
	order(b, (struct rl_fault){
			 .kind = RL_FAULT_DROP, .nth = 2, .count = 9999 });
	order(b, (struct rl_fault){ .kind = RL_FAULT_CORRUPT,
				    .nth = 3,
				    .noise.burst_bytes = 5 });
	carry(b, now_ns + 20 * US);
	order(b, (struct rl_fault){ .kind = RL_FAULT_CORRUPT,
				    .nth = 9999,
				    .noise.burst_bytes = 5 });
	order(b, (struct rl_fault){ .kind = RL_FAULT_CUT, .nth = 9998 });
	order(b, (struct rl_fault){
			 .kind = RL_FAULT_CUT, .nth = 9997, .nth_flit = true });
	order(b, (struct rl_fault){ .kind = RL_FAULT_CUT, .mid = true });
	order(b, (struct rl_fault){ .kind = RL_FAULT_STALL, .for_ns = MS });
	order(b, (struct rl_fault){ .kind = RL_FAULT_CUT, .silent = true });
	carry(b, now_ns + 40 * US);
	assert_true(rl_inject_severed(&b->link));
	rl_inject_down(&b->link, now_ns + 60 * US);
	/* what was drawn and waits for the next data frame */
	b->link.dir[0].wire.corrupt_bytes = 7;
	carry(b, now_ns + 80 * US);
	assert_false(rl_inject_light(&b->link));
	assert_true(b->link.severed_ns != 0);
	heal(b, now_ns + 2 * MS);
}

static struct bed used, fresh;

static void
open_both(void)
{
	memset(&used, 0, sizeof(used));
	memset(&fresh, 0, sizeof(fresh));
	rl_inject_init(&used.link, 7, used.line, LINE);
	rl_inject_init(&fresh.link, 7, fresh.line, LINE);
}

static void
a_wire_that_is_healed_is_as_one_that_nothing_has_met(void **state)
{
	(void)state;
	open_both();
	for (unsigned int i = 0; i < 2; i++) {
		suffer(&used, (1 + i) * 100 * MS);
		/* light as it is, and the next stall is not that of before */
		for (unsigned int e = 0; e < 2; e++)
			assert_false(rl_inject_stalled(&used.link.dir[e], 0));
		carry(&used, (2 + i) * 100 * MS);
		carry(&fresh, (2 + i) * 100 * MS);
		check_same(&used.link, &fresh.link);
	}
}

/* Noise after noise: bit errors begin anew, on whole spans. */
static void
noise_that_begins_again_is_as_it_was_the_first_time(void **state)
{
	const struct rl_fault again = { .kind = RL_FAULT_NOISE,
					.noise = noisy };

	(void)state;
	open_both();
	for (unsigned int i = 0; i < 3; i++)
		suffer(&used, (1 + i) * 100 * MS);
	order(&used, again);
	order(&fresh, again);
	for (unsigned int e = 0; e < 2; e++) {
		const struct rl_wire_bits *u = &used.link.dir[e].wire.bits;
		const struct rl_wire_bits *f = &fresh.link.dir[e].wire.bits;
		unsigned int others = 0;

		check_dir(&used.link.dir[e], &fresh.link.dir[e]);
		PART(rl_wire_bits, u, f, RL_WIRE_BITS_SAME);
		PART(rl_error, &u->process, &f->process, RL_ERROR_SAME);
		assert_int_equal(others, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_wire_that_is_healed_is_as_one_that_nothing_has_met),
		cmocka_unit_test(
			noise_that_begins_again_is_as_it_was_the_first_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
