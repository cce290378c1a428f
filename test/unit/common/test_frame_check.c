/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames of a kernel: cut short, or with a partial checksum [EP-1]. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame_check.h"
#include "rl_base.h"
#include "rl_prng.h"

struct kind {
	bool v6;
	bool udp;
	unsigned int tags;
	bool options; /* of the IP header, or an extension header */
};

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* The plain way, a byte at a time, over what a checksum covers. */
static uint32_t
plain_sum(const uint8_t *p, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++) {
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

struct frame {
	uint8_t data[2000];
	uint32_t len;
	uint8_t *l4;
	uint32_t l4_len;
	uint8_t *field;
	uint32_t pseudo;
};

/* A frame whose payload has @p n bytes; the checksum is left partial. */
static void
make(struct frame *f, const struct kind *k, uint32_t n, struct rl_prng *prng)
{
	const uint32_t head = k->udp ? 8 : 20;
	uint8_t *ip = f->data + 14;
	uint32_t ip_head;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < sizeof(f->data); i++)
		f->data[i] = (uint8_t)rl_prng_u64(prng);
	for (unsigned int i = 0; i < k->tags; i++, ip += 4)
		put16(ip - 2, i == 0 && k->tags == 2 ? 0x88a8 : 0x8100);
	put16(ip - 2, k->v6 ? 0x86dd : 0x0800);
	ip_head = k->v6 ? (k->options ? 56 : 40) : (k->options ? 32 : 20);
	f->l4 = ip + ip_head;
	f->l4_len = head + n;
	if (k->v6) {
		ip[0] = 0x60;
		put16(ip + 4, ip_head - 40 + f->l4_len);
		ip[6] = k->options ? 60 : k->udp ? 17 : 6;
		ip[40] = k->options ? (k->udp ? 17 : 6) : ip[40];
		ip[41] = k->options ? 1 : ip[41];
		sum = plain_sum(ip + 8, 32, sum);
	} else {
		ip[0] = (uint8_t)(0x40 | ip_head / 4);
		put16(ip + 2, ip_head + f->l4_len);
		put16(ip + 6, 0x4000);
		ip[9] = k->udp ? 17 : 6;
		sum = plain_sum(ip + 12, 8, sum);
	}
	sum += (k->udp ? 17 : 6) + f->l4_len;
	f->pseudo = (sum & 0xffff) + (sum >> 16);
	f->field = f->l4 + (k->udp ? 6 : 16);
	f->len = (uint32_t)(f->l4 - f->data) + f->l4_len;
	put16(f->field, f->pseudo);
}

static const struct kind kinds[] = {
	{ false, false, 0, false }, { false, true, 0, false },
	{ true, false, 0, false },  { true, true, 0, false },
	{ false, true, 1, true },   { true, false, 2, true },
	{ true, true, 2, true },    { false, false, 2, true },
};

static void
a_partial_checksum_is_completed_and_a_whole_one_is_left_alone(void **state)
{
	struct rl_prng prng;
	struct frame f;

	(void)state;
	rl_prng_seed(&prng, 1);
	for (uint32_t i = 0; i < RL_ARRAY_SIZE(kinds); i++)
		for (uint32_t n = 0; n < 1400; n += 1 + n / 7) {
			uint8_t was[2000];

			make(&f, &kinds[i], n, &prng);
			assert_int_equal(frame_check(f.data, f.len),
					 FRAME_COMPLETED);
			/* right: the sum of it all is -0 */
			assert_int_equal(plain_sum(f.l4, f.l4_len, f.pseudo),
					 0xffff);
			memcpy(was, f.data, sizeof(was));
			assert_int_equal(frame_check(f.data, f.len),
					 FRAME_WHOLE);
			assert_memory_equal(f.data, was, sizeof(was));
			/* hurt on its way here: not ours to hide */
			f.field[1] ^= 0x55;
			memcpy(was, f.data, sizeof(was));
			assert_int_equal(frame_check(f.data, f.len),
					 FRAME_WHOLE);
			assert_memory_equal(f.data, was, sizeof(was));
		}
}

static void
a_frame_that_lacks_its_end_is_told_at_every_length(void **state)
{
	struct rl_prng prng;
	struct frame f;

	(void)state;
	rl_prng_seed(&prng, 2);
	for (uint32_t i = 0; i < RL_ARRAY_SIZE(kinds); i++) {
		make(&f, &kinds[i], 100, &prng);
		for (uint32_t len = 0; len < f.len; len++) {
			uint8_t copy[2000];

			memcpy(copy, f.data, sizeof(copy));
			assert_int_equal(frame_check(copy, len), FRAME_CUT);
			assert_memory_equal(copy, f.data, sizeof(copy));
		}
		/* padding behind the packet is none of its business */
		assert_int_equal(frame_check(f.data, f.len + 20),
				 FRAME_COMPLETED);
	}
}

static void
what_it_does_not_know_passes_untouched(void **state)
{
	struct rl_prng prng;
	struct frame f;
	uint8_t was[2000];

	(void)state;
	rl_prng_seed(&prng, 3);
	for (int i = 0; i < 8; i++) {
		make(&f, &kinds[i < 5 ? i % 2 : 3], 64, &prng);
		switch (i) {
		case 0: /* another protocol */
			f.data[14 + 9] = 89;
			break;
		case 1: /* UDP without a checksum */
			put16(f.field, 0);
			break;
		case 2: /* a fragment: its checksum is of more than this */
			put16(f.data + 14 + 6, 0x2000);
			break;
		case 3: /* another EtherType */
			put16(f.data + 12, 0x88b5);
			break;
		case 4: /* another version of IP */
			f.data[14] = 0x55;
			break;
		case 5: /* a jumbogram */
			put16(f.data + 14 + 4, 0);
			break;
		case 6: /* extension headers beyond the end */
			f.data[14 + 6] = 60;
			f.data[14 + 41] = 255;
			break;
		default: /* a header that is too short for its protocol */
			put16(f.data + 14 + 4, 7);
			break;
		}
		memcpy(was, f.data, sizeof(was));
		assert_int_equal(frame_check(f.data, f.len), FRAME_WHOLE);
		assert_memory_equal(f.data, was, sizeof(was));
	}
}

static void
random_bytes_do_no_harm(void **state)
{
	struct rl_prng prng;
	uint8_t data[128];

	(void)state;
	rl_prng_seed(&prng, 4);
	for (int i = 0; i < 200000; i++) {
		const uint32_t len = rl_prng_below(&prng, sizeof(data) + 1);
		/* right up to the end, where a sanitizer watches */
		uint8_t *at = data + sizeof(data) - len;

		for (uint32_t k = 0; k < len; k++)
			at[k] = (uint8_t)rl_prng_u64(&prng);
		if (len >= 15) {
			put16(at + 12, i % 2 ? 0x0800 : 0x86dd);
			at[14] = i % 2 ? (uint8_t)(0x40 | (at[14] & 0xf))
				       : 0x60;
		}
		(void)frame_check(at, len);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_partial_checksum_is_completed_and_a_whole_one_is_left_alone),
		cmocka_unit_test(
			a_frame_that_lacks_its_end_is_told_at_every_length),
		cmocka_unit_test(what_it_does_not_know_passes_untouched),
		cmocka_unit_test(random_bytes_do_no_harm),
	};

	return cmocka_run_group_tests_name("frame-check", tests, NULL, NULL);
}
