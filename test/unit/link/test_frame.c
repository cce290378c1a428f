/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame's header: what is sealed is what opens, and each way of being
 * wrong is refused with its own reason, in the order of the checks [FLIT-3].
 */
#include "frame_fixture.h"

/* Opens a frame in both ways, which say the same. */
static enum rl_frame_error
open_both(const uint8_t *f, uint32_t len, struct rl_frame_hdr *h, bool hw)
{
	const enum rl_frame_error e = rl_frame_open(f, len, h, hw);
	struct rl_frame_hdr other = *h;

	if (rl_codec_best_isa(128) == RL_ISA_SCALAR)
		return e;
	assert_int_equal(rl_frame_open(f, len, &other, !hw), e);
	if (e == RL_FRAME_OK)
		assert_memory_equal(&other, h, sizeof(other));
	return e;
}

static void
what_is_sealed_is_what_opens(void **state)
{
	uint8_t *f = frame_new();

	(void)state;
	for (unsigned int n = 0; n <= RL_FRAME_FLITS_MAX; n++) {
		for (unsigned int hw = 0; hw < 4; hw++) {
			const struct rl_frame_hdr h = header(n);
			struct rl_frame_hdr g;

			if (hw != 0 && rl_codec_best_isa(128) == RL_ISA_SCALAR)
				continue;
			memset(f, (int)(0x11 * n + hw), RL_FRAME_BYTES_MAX);
			rl_frame_seal(f, &h, mac, hw & 1);
			assert_int_equal(open_both(f, rl_frame_bytes(n), &g,
						       hw & 2),
					 RL_FRAME_OK);
			assert_int_equal(g.type, h.type);
			assert_int_equal(g.nflits, n);
			assert_int_equal(g.flags, h.flags);
			assert_int_equal(g.tx_epoch, 255);
			assert_int_equal(g.rx_epoch, 1);
			assert_int_equal(g.seq, 65535);
			assert_int_equal(g.ack, 32768);
			assert_true(g.stamp == h.stamp);
			assert_int_equal(g.stamp_echo, h.stamp_echo);
			assert_memory_equal(g.credit, h.credit,
					    sizeof(h.credit));
		}
	}
	free(f);
}

static void
sidebands_survive_and_unused_ones_are_zero(void **state)
{
	uint8_t *f = frame_new();

	(void)state;
	for (unsigned int n = 1; n <= RL_FRAME_FLITS_MAX; n++) {
		const struct rl_frame_hdr h = header(n);
		const uint32_t end = rl_frame_header_bytes(n);
		struct rl_frame_hdr g;

		memset(f, 0xa5, RL_FRAME_BYTES_MAX);
		for (unsigned int i = 0; i < n; i++)
			rl_put16(f + RL_FRAME_SIDEBAND_OFF + 2 * i,
				 (uint16_t)(0x1234 + i));
		rl_frame_seal(f, &h, mac, false);
		assert_int_equal(open_both(f, rl_frame_bytes(n), &g,
					       false),
				 RL_FRAME_OK);
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(rl_get16(f + RL_FRAME_SIDEBAND_OFF +
						  2 * i),
					 0x1234 + i);
		for (unsigned int i = RL_FRAME_SIDEBAND_OFF + 2 * n; i < end;
		     i++)
			assert_int_equal(f[i], 0);
		/* the flits, which are there already, stay */
		for (unsigned int i = end; i < RL_FRAME_BYTES_MAX; i++)
			assert_int_equal(f[i], 0xa5);
	}
	free(f);
}

/* The table of rl_frame.h, field by field. */
/* Bytes behind the last of them are read, and ignored. */
static void
sidebands_from_elsewhere_are_sealed_as_those_in_place(void **state)
{
	uint8_t *f = frame_new(), *g = frame_new();
	uint16_t sideband[RL_FRAME_FLITS_MAX + 4];

	(void)state;
	for (unsigned int n = 1; n <= RL_FRAME_FLITS_MAX; n++) {
		const struct rl_frame_hdr h = header(n);

		memset(sideband, 0xff, sizeof(sideband));
		for (unsigned int i = 0; i < n; i++) {
			sideband[i] = (uint16_t)(0x8001 * i + 77);
			rl_put16(f + RL_FRAME_SIDEBAND_OFF + 2 * i,
				 sideband[i]);
		}
		rl_frame_seal(f, &h, mac, false);
		for (unsigned int hw = 0; hw < 2; hw++) {
			if (hw && rl_codec_best_isa(128) == RL_ISA_SCALAR)
				continue;
			memset(g, 0xa5, RL_FRAME_HEADER_LONG);
			rl_frame_seal_from(g, &h, (const uint8_t *)sideband,
					   mac, hw);
			assert_memory_equal(f, g, rl_frame_header_bytes(n));
		}
	}
	free(f);
	free(g);
}

/* All that the headers of a burst share is said once. */
static void
a_header_like_another_is_sealed_as_if_it_were_alone(void **state)
{
	uint8_t *f = frame_new(), *g = frame_new();
	uint16_t sideband[RL_FRAME_FLITS_MAX + 4];

	(void)state;
	memset(sideband, 0xff, sizeof(sideband));
	for (unsigned int i = 0; i < RL_FRAME_FLITS_MAX; i++)
		sideband[i] = (uint16_t)(0x8001 * i + 77);
	for (unsigned int n = 1; n <= RL_FRAME_FLITS_MAX; n++) {
		struct rl_frame_hdr h = header(7);
		struct rl_frame_like like;

		rl_frame_like(&like, &h, mac);
		h.nflits = (uint8_t)n;
		h.seq = (uint16_t)(0xfedc - n);
		h.stamp = 0x00a1b2c3d4e5f607 + n;
		rl_frame_seal_from(f, &h, (const uint8_t *)sideband, mac,
				   false);
		for (unsigned int hw = 0; hw < 2; hw++) {
			if (hw && rl_codec_best_isa(128) == RL_ISA_SCALAR)
				continue;
			memset(g, 0xa5, RL_FRAME_HEADER_LONG);
			rl_frame_seal_like(g, &like, n, h.seq, h.stamp,
					   (const uint8_t *)sideband, hw);
			assert_memory_equal(f, g, rl_frame_header_bytes(n));
		}
	}
	free(f);
	free(g);
}

static void
a_sideband_s_state_is_what_unpacking_it_gives(void **state)
{
	(void)state;
	for (uint32_t s = 0; s <= UINT16_MAX; s++) {
		struct rl_flit f = { .state = 0 };

		rl_sideband_unpack((uint16_t)s, &f);
		assert_true(rl_sideband_state((uint16_t)s) == f.state);
		assert_int_equal(rl_state_sideband(f.state), s);
		assert_int_equal(rl_sideband_pack(&f), s);
	}
}

static void
every_field_lies_where_the_page_says(void **state)
{
	static const uint8_t want[] = {
		0x88, 0xb5, 0x31, 5,	0x09, 0xfe, 255,  1,	0xff, 0xff,
		0x00, 0x80, 0xff, 0xff, 0xfe, 0xff, 0xfd, 0xff, 0xfc, 0xff,
		0xfb, 0xff, 0xfa, 0xff, 0xf9, 0xff, 0xf8, 0xff, 0x32, 0x54,
		0x76, 0x98, 0xba, 0xdc, 0x04, 0x03, 0x02, 0x01,
	};
	uint8_t *f = frame_new();
	const struct rl_frame_hdr h = header(5);

	(void)state;
	rl_frame_seal(f, &h, mac,
		      rl_codec_best_isa(128) != RL_ISA_SCALAR);
	assert_memory_equal(f, mac, 12);
	assert_memory_equal(f + 12, want, sizeof(want));
	free(f);
}

/* Every header byte but the addresses; each flip finds its reason. */
static void
a_flipped_bit_anywhere_in_the_header_is_refused(void **state)
{
	uint8_t *f = frame_new();

	(void)state;
	for (unsigned int n = 0; n <= 8; n += 4) {
		const struct rl_frame_hdr h = header(n);
		const uint32_t bytes = rl_frame_header_bytes(n);
		struct rl_frame_hdr g;

		rl_frame_seal(f, &h, mac, false);
		for (uint32_t bit = 12 * 8; bit < bytes * 8; bit++) {
			const enum rl_frame_error want =
				bit < 14 * 8 ? RL_FRAME_ETHERTYPE_ERR
				: bit / 8 == 14 && bit % 8 >= 4
					? RL_FRAME_VERSION_ERR
					: RL_FRAME_CHECK_ERR;
			enum rl_frame_error e;

			f[bit / 8] ^= (uint8_t)(1 << bit % 8);
			e = open_both(f, RL_FRAME_BYTES_MAX, &g, false);
			if (bit / 8 == 15 && e == RL_FRAME_COUNT_ERR)
				e = RL_FRAME_CHECK_ERR; /* a count over 32 */
			assert_int_equal(e, want);
			f[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		/* a kernel may rewrite the addresses */
		f[0] ^= 0xff;
		f[11] ^= 0xff;
		assert_int_equal(open_both(f, RL_FRAME_BYTES_MAX, &g,
					       false),
				 RL_FRAME_OK);
	}
	free(f);
}

static void
a_frame_shorter_than_its_content_is_refused(void **state)
{
	uint8_t *f = frame_new();

	(void)state;
	for (unsigned int n = 0; n <= RL_FRAME_FLITS_MAX; n++) {
		const struct rl_frame_hdr h = header(n);
		const uint32_t bytes = rl_frame_bytes(n);
		struct rl_frame_hdr g;

		rl_frame_seal(f, &h, mac, false);
		for (uint32_t len = 0; len < RL_FRAME_HEADER_SHORT; len++) {
			uint8_t *cut = malloc(len + !len);

			/* exact size: an address sanitizer sees a byte more */
			memcpy(cut, f, len);
			assert_int_equal(open_both(cut, len, &g, false),
					 RL_FRAME_TRUNCATED);
			free(cut);
		}
		if (n != 0) {
			assert_int_equal(open_both(f, bytes - 1, &g, false),
					 RL_FRAME_COUNT_ERR);
			assert_int_equal(
				open_both(f, RL_FRAME_HEADER_SHORT, &g,
					      false),
				RL_FRAME_COUNT_ERR);
		}
		/* Ethernet pads: longer is no error */
		assert_int_equal(open_both(f, bytes + 40, &g, false),
				 RL_FRAME_OK);
	}
	free(f);
}

static void
a_count_over_32_is_refused_before_anything_is_read(void **state)
{
	uint8_t *f = frame_new();
	const struct rl_frame_hdr h = header(1);
	struct rl_frame_hdr g;

	(void)state;
	rl_frame_seal(f, &h, mac, false);
	for (unsigned int n = 33; n < 256; n++) {
		f[15] = (uint8_t)n;
		assert_int_equal(open_both(f, 1u << 20, &g, false),
				 RL_FRAME_COUNT_ERR);
	}
	free(f);
}

static void
types_that_do_not_exist_or_do_not_fit_are_refused(void **state)
{
	uint8_t *f = frame_new();

	(void)state;
	for (unsigned int type = 0; type < 16; type++) {
		for (unsigned int n = 0; n < 2; n++) {
			struct rl_frame_hdr h = header(n), g;
			const bool good = n != 0 ? type == RL_FRAME_DATA
						 : type > RL_FRAME_DATA &&
						   type <= RL_FRAME_CLOSE;

			h.type = (uint8_t)type;
			rl_frame_seal(f, &h, mac, false);
			assert_int_equal(open_both(f, 400, &g, false),
					 good ? RL_FRAME_OK
					      : RL_FRAME_TYPE_ERR);
		}
	}
	free(f);
}

/* The INIT part is under the check, and padding is what the frame says. */
static void
an_init_frame_is_checked_to_its_end(void **state)
{
	const struct rl_frame_init init = {
		.nonce = 0x1122334455667788, .nonce_echo = ~0ull,
		.incarnation = 1ull << 63, .digest = 0xabcdef, .flits = 32,
		/* as long as there is room for */
		.place = { .link = 0x81000001, .port = 8190, .end = 1,
			   .dev = "a.2345678901234567890_" },
	};
	uint8_t *f = frame_new();

	(void)state;
	for (uint32_t bytes = 0; bytes <= 2000; bytes += 400) {
		struct rl_frame_hdr h = header(0), g;
		struct rl_frame_init got;
		uint32_t len;

		memset(f, 0xa5, RL_FRAME_BYTES_MAX);
		h.type = RL_FRAME_INIT;
		h.bytes = (uint16_t)bytes;
		rl_frame_init_put(f, &init);
		rl_frame_seal(f, &h, mac, false);
		len = rl_frame_length(&h);
		assert_int_equal(len, rl_max_u64(128, bytes));
		assert_int_equal(open_both(f, len, &g, false), RL_FRAME_OK);
		assert_int_equal(g.bytes, len);
		rl_frame_init_get(f, &got);
		assert_true(got.nonce == init.nonce);
		assert_true(got.nonce_echo == init.nonce_echo);
		assert_true(got.incarnation == init.incarnation);
		assert_true(got.digest == init.digest);
		assert_int_equal(got.flits, init.flits);
		assert_int_equal(got.place.link, init.place.link);
		assert_int_equal(got.place.port, init.place.port);
		assert_int_equal(got.place.end, init.place.end);
		assert_string_equal(got.place.dev, init.place.dev);
		for (uint32_t i = 128; i < len; i++)
			assert_int_equal(f[i], 0);
		assert_int_equal(f[len], 0xa5);
		/* cut anywhere it is refused, be it within the padding */
		for (uint32_t cut = 64; cut < len; cut++)
			assert_int_equal(open_both(f, cut, &g, false),
					 RL_FRAME_TRUNCATED);
		for (uint32_t bit = 15 * 8; bit < 128 * 8; bit++) {
			f[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_not_equal(open_both(f, len, &g, false),
					     RL_FRAME_OK);
			f[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	free(f);
}

static void
stamps_are_ordered_over_half_their_cycle(void **state)
{
	const uint64_t top = 1ull << RL_FRAME_STAMP_BITS;
	static const uint64_t base[] = { 0, 1, 1ull << 55, (1ull << 56) - 1 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(base); i++) {
		const uint64_t b = base[i];

		assert_false(rl_frame_stamp_after(b, b));
		assert_true(rl_frame_stamp_after((b + 1) % top, b));
		assert_false(rl_frame_stamp_after(b, (b + 1) % top));
		assert_true(rl_frame_stamp_after((b + top / 2 - 1) % top, b));
		assert_false(rl_frame_stamp_after((b + top / 2 + 1) % top, b));
	}
}

static void
the_flits_that_fit_are_as_many_as_the_bytes_allow(void **state)
{
	(void)state;
	assert_int_equal(rl_frame_fit(0), 0);
	assert_int_equal(rl_frame_fit(UINT32_MAX), RL_FRAME_FLITS_MAX);
	for (uint32_t bytes = 1; bytes < RL_FRAME_BYTES_MAX + 600; bytes++) {
		const unsigned int n = rl_frame_fit(bytes);

		assert_true(n == 0 || rl_frame_bytes(n) <= bytes);
		assert_true(n == RL_FRAME_FLITS_MAX ||
			    rl_frame_bytes(n + 1) > bytes);
	}
}

static void
sidebands_pack_and_unpack_every_field(void **state)
{
	(void)state;
	for (uint32_t s = 0; s <= UINT16_MAX; s++) {
		struct rl_flit f = { .flags = 0xff, .hops = 0xff };

		rl_sideband_unpack((uint16_t)s, &f);
		assert_int_equal(rl_sideband_pack(&f), s);
		/* marks of memory never come off the wire */
		assert_false(f.flags & RL_FF_CREDIT);
	}
}

/* A port counts bad frames by reason. */
static void
a_port_counts_bad_frames_by_reason_and_takes_nothing(void **state)
{
	struct bench b = { 0 };
	struct bench_end *e = &b.end[1];
	struct rl_port_info before, after;
	uint8_t *f = frame_new();
	struct rl_frame_hdr h;

	(void)state;
	bench_open(&b, NULL);
	bench_start(&b);
	bench_snapshot(e, &before);
	h = header(1);
	rl_frame_seal(f, &h, mac, false);
	rl_port_rx_frame(e->port, f, 13, b.now_ns);
	rl_port_rx_frame(e->port, f, 63, b.now_ns);
	f[12] ^= 1;
	rl_port_rx_frame(e->port, f, 320, b.now_ns);
	f[12] ^= 1;
	f[14] ^= 0x20;
	rl_port_rx_frame(e->port, f, 320, b.now_ns);
	f[14] ^= 0x20;
	rl_port_rx_frame(e->port, f, 319, b.now_ns);
	f[22] ^= 1; /* the ACK */
	rl_port_rx_frame(e->port, f, 320, b.now_ns);
	f[22] ^= 1;
	h.type = 9;
	rl_frame_seal(f, &h, mac, false);
	rl_port_rx_frame(e->port, f, 320, b.now_ns);
	h.type = RL_FRAME_DATA; /* good, but of other epochs */
	rl_frame_seal(f, &h, mac, false);
	rl_port_rx_frame(e->port, f, 320, b.now_ns);
	assert_int_equal(COUNTER(e, rx_truncated), 2);
	assert_int_equal(COUNTER(e, rx_ethertype_error), 1);
	assert_int_equal(COUNTER(e, rx_version_error), 1);
	assert_int_equal(COUNTER(e, rx_count_error), 1);
	assert_int_equal(COUNTER(e, rx_check_error), 1);
	assert_int_equal(COUNTER(e, rx_type_error), 1);
	assert_int_equal(COUNTER(e, rx_epoch_error), 1);
	bench_snapshot(e, &after);
	assert_memory_equal(&before, &after, sizeof(after));
	assert_int_equal(e->sink.packets, 0);
	free(f);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sealed_is_what_opens),
		cmocka_unit_test(sidebands_survive_and_unused_ones_are_zero),
		cmocka_unit_test(
			sidebands_from_elsewhere_are_sealed_as_those_in_place),
		cmocka_unit_test(
			a_header_like_another_is_sealed_as_if_it_were_alone),
		cmocka_unit_test(
			a_sideband_s_state_is_what_unpacking_it_gives),
		cmocka_unit_test(every_field_lies_where_the_page_says),
		cmocka_unit_test(a_flipped_bit_anywhere_in_the_header_is_refused),
		cmocka_unit_test(a_frame_shorter_than_its_content_is_refused),
		cmocka_unit_test(
			a_count_over_32_is_refused_before_anything_is_read),
		cmocka_unit_test(
			types_that_do_not_exist_or_do_not_fit_are_refused),
		CASE("[FLIT-3] an INIT frame is checked to its end",
		     an_init_frame_is_checked_to_its_end),
		cmocka_unit_test(stamps_are_ordered_over_half_their_cycle),
		cmocka_unit_test(
			the_flits_that_fit_are_as_many_as_the_bytes_allow),
		cmocka_unit_test(sidebands_pack_and_unpack_every_field),
		CASE("[APP-4] a port counts bad frames by reason and takes "
		     "nothing",
		     a_port_counts_bad_frames_by_reason_and_takes_nothing),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
