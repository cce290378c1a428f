/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cables in wrong sockets [LINK-8, PHY-6]: ends that do not belong together do
 * not come up, with and without a key, and both name their peer.
 */
#include "bench.h"
#include "rl_auth.h"
#include "rl_crc32c.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

/* One end: of which fabric, and where in it. link 0: it does not tell. */
struct socket {
	uint64_t digest;
	uint32_t link;
	uint8_t end;
};

static struct rl_auth *
key_of(const struct socket *s)
{
	struct rl_auth_root root;
	char name[16];

	snprintf(name, sizeof(name), "link%u", s->link);
	rl_auth_root_make(&root, "k", 1);
	return rl_auth_open(&root, name, s->end);
}

/* A new process at end i of the bench, which is told that it is at @p s. */
static void
plug(struct bench *b, unsigned int i, const struct socket *s,
     struct rl_auth *auth)
{
	struct bench_end *e = &b->end[i];
	struct bench_end_params p = {
		.cfg = &b->cfg, .pool = &b->pool, .in = e->in, .out = e->out,
		.uid = i + 1, .index = (uint16_t)(i + 3), .kind = b->kind,
		.digest = s->digest,
		.place = { .link = s->link, .end = s->end, .port = 7,
			   .dev = "s4" },
		.auth = auth == NULL ? NULL : rl_auth_link(auth),
	};

	bench_end_close(e);
	bench_end_open(e, &p);
	rl_port_start(e->port, b->now_ns);
}

/* Both ends tell of each other, or train. */
static void
check_end(const struct bench *b, unsigned int i, enum rl_refusal why,
	  const struct socket *other)
{
	const struct bench_end *e = &b->end[i];
	const struct rl_port_info info = bench_info(e);
	const bool train = why == RL_REFUSED_NONE;

	assert_int_equal(info.state, train ? RL_LINK_UP : RL_LINK_INIT);
	assert_int_equal(info.refused.why, why);
	assert_int_equal(bench_end_events(e, RL_PEV_REFUSED), !train);
	if (train)
		return;
	assert_int_equal(info.refused.peer.link, other->link);
	assert_int_equal(info.refused.peer.end, other->end);
	assert_int_equal(info.refused.peer.port, 7);
	assert_string_equal(info.refused.peer.dev, "s4");
	assert_true(info.refused.digest == other->digest);
}

static const struct {
	struct socket a, b;
	enum rl_refusal why;
} pairs[] = {
	{ { 9, 1, 0 }, { 9, 1, 1 }, RL_REFUSED_NONE },
	{ { 9, 1, 1 }, { 9, 1, 0 }, RL_REFUSED_NONE },
	/* an end that does not tell may be any */
	{ { 9, 0, 0 }, { 9, 1, 1 }, RL_REFUSED_NONE },
	{ { 0, 1, 0 }, { 9, 1, 1 }, RL_REFUSED_NONE },
	/* crossed pairs, in the one way and the other */
	{ { 9, 1, 0 }, { 9, 2, 1 }, RL_REFUSED_PLACE },
	{ { 9, 2, 0 }, { 9, 1, 1 }, RL_REFUSED_PLACE },
	{ { 9, 1, 0 }, { 9, 2, 0 }, RL_REFUSED_PLACE },
	/* another process that plays the same end */
	{ { 9, 1, 0 }, { 9, 1, 0 }, RL_REFUSED_PLACE },
	{ { 9, 1, 1 }, { 9, 1, 1 }, RL_REFUSED_PLACE },
	/* another file, whatever number the link has there */
	{ { 9, 1, 0 }, { 8, 1, 1 }, RL_REFUSED_FABRIC },
	{ { 9, 1, 0 }, { 8, 2, 0 }, RL_REFUSED_FABRIC },
};

static void
ends_train_only_where_they_belong(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(pairs); i++) {
		struct bench b = { 0 };

		bench_open(&b, NULL);
		plug(&b, 0, &pairs[i].a, NULL);
		plug(&b, 1, &pairs[i].b, NULL);
		bench_run(&b, 20 * MS);
		check_end(&b, 0, pairs[i].why, &pairs[i].b);
		check_end(&b, 1, pairs[i].why, &pairs[i].a);
		for (unsigned int k = 0; k < 2; k++)
			assert_true((COUNTER(&b.end[k], rx_init_refused) > 5) ==
				    (pairs[i].why != RL_REFUSED_NONE));
		bench_close(&b);
	}
}

/* The key of another place is another: the word for it is the place. */
static void
with_keys_it_is_the_same(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(pairs); i++) {
		struct rl_auth *auth[2];
		const bool fabric = pairs[i].why == RL_REFUSED_FABRIC;
		enum rl_refusal why = pairs[i].why;
		struct bench b = { 0 };

		if (pairs[i].a.link == 0)
			continue; /* its key is for another link */
		auth[0] = key_of(&pairs[i].a);
		auth[1] = key_of(&pairs[i].b);
		if (fabric && pairs[i].a.link != pairs[i].b.link)
			why = RL_REFUSED_KEY;
		for (unsigned int k = 0; k < 2; k++)
			b.auth[k] = rl_auth_link(auth[k]); /* room for tags */
		bench_open(&b, NULL);
		plug(&b, 0, &pairs[i].a, auth[0]);
		plug(&b, 1, &pairs[i].b, auth[1]);
		bench_run(&b, 20 * MS);
		check_end(&b, 0, why, &pairs[i].b);
		check_end(&b, 1, why, &pairs[i].a);
		bench_close(&b);
		rl_auth_close(auth[0]);
		rl_auth_close(auth[1]);
	}
}

static void
a_cable_that_leads_back_is_not_taken_for_a_peer(void **state)
{
	static const struct socket here = { 9, 3, 1 };

	(void)state;
	for (unsigned int keyed = 0; keyed < 2; keyed++) {
		struct rl_auth *auth = keyed ? key_of(&here) : NULL;
		struct bench b = { 0 };

		b.auth[0] = keyed ? rl_auth_link(auth) : NULL;
		bench_open(&b, NULL);
		b.end[0].in = b.end[0].out;
		b.end[1].in = b.end[1].out; /* of its own */
		plug(&b, 0, &here, auth);
		bench_run(&b, 20 * MS);
		check_end(&b, 0, RL_REFUSED_SELF, &here);
		bench_close(&b);
		if (auth != NULL)
			rl_auth_close(auth);
	}
}

/* --- while a link runs --------------------------------------------------- */

/* Two links that are up; then the cables of the far ends change places. */
struct cross {
	struct bench b[2];
};

static void
cross_open(struct cross *x)
{
	memset(x, 0, sizeof(*x));
	for (unsigned int i = 0; i < 2; i++) {
		const struct socket s[2] = { { 9, i + 1, 0 }, { 9, i + 1, 1 } };

		bench_open(&x->b[i], NULL);
		for (unsigned int k = 0; k < 2; k++)
			plug(&x->b[i], k, &s[k], NULL);
		bench_start(&x->b[i]);
	}
}

/*
 * Crosses two cables: frames go to the far end of the other link, and come
 * from there.
 */
static void
cross_cables(struct cross *x, bool crossed)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct bench *far = &x->b[crossed ? !i : i];

		x->b[i].end[1].in = &far->wire[0];
		x->b[i].end[1].out = &far->wire[1];
	}
}

static void
cross_run(struct cross *x, uint64_t ns)
{
	for (uint64_t t = 0; t < ns; t += 10 * US)
		for (unsigned int i = 0; i < 2; i++)
			bench_run(&x->b[i], 10 * US);
}

static void
a_cable_that_is_moved_ends_its_link_and_the_stranger_is_named(void **state)
{
	struct cross x;

	(void)state;
	cross_open(&x);
	cross_cables(&x, true);
	cross_run(&x, 60 * MS);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < 2; k++) {
			const struct bench_end *e = &x.b[i].end[k];
			const struct rl_port_info info = bench_info(e);

			assert_int_equal(info.state, RL_LINK_INIT);
			assert_int_equal(COUNTER(e, deaths), 1);
			assert_int_equal(info.refused.why, RL_REFUSED_PLACE);
			assert_int_equal(info.refused.peer.link, 2 - i);
			assert_int_equal(info.refused.peer.end, !k);
			assert_int_equal(COUNTER(e, rx_ok), 0);
		}
	/* and back again: it is as if nothing had been */
	cross_cables(&x, false);
	cross_run(&x, 10 * MS);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < 2; k++) {
			const struct rl_port_info info =
				bench_info(&x.b[i].end[k]);

			assert_int_equal(info.state, RL_LINK_UP);
			assert_int_equal(info.refused.why, RL_REFUSED_NONE);
		}
	for (unsigned int i = 0; i < 2; i++)
		bench_close(&x.b[i]);
}

/* An INIT frame of the port at @p s, as `version` would send it. */
static void
stranger(struct bench_end *e, const struct socket *s, unsigned int version,
	 uint64_t now_ns)
{
	struct rl_frame_hdr h = { .type = RL_FRAME_INIT, .tx_epoch = 77,
				  .flags = RL_FRF_ACKREQ, .stamp = now_ns };
	const struct rl_frame_init init = {
		.nonce = 0x1234 + s->link, .incarnation = 4711,
		.digest = s->digest, .flits = 5,
		.place = { .link = s->link, .end = s->end },
	};
	const uint8_t mac[12] = { 2 };
	uint8_t *f = aligned_alloc(64, 128);

	assert_non_null(f);
	rl_frame_init_put(f, &init);
	rl_frame_seal(f, &h, mac, false);
	f[14] = (uint8_t)((f[14] & 15) | version << 4);
	rl_put32(f + RL_FRAME_CHECK_OFF,
		 rl_crc32c_hole(f + RL_FRAME_LINK_OFF, 128 - RL_FRAME_LINK_OFF,
				RL_FRAME_CHECK_OFF - RL_FRAME_LINK_OFF, false));
	rl_port_rx_frame(e->port, f, 128, now_ns);
	free(f);
}

static void
strangers_on_a_shared_wire_end_no_link(void **state)
{
	static const struct socket a = { 9, 1, 0 }, b1 = { 9, 1, 1 };
	static const struct socket others[] = { { 9, 2, 1 }, { 9, 2, 0 },
						{ 9, 1, 0 } };
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	plug(&b, 0, &a, NULL);
	plug(&b, 1, &b1, NULL);
	bench_start(&b);
	for (unsigned int i = 0; i < 300; i++) {
		stranger(&b.end[0], &others[i % 3], RL_FRAME_VERSION, b.now_ns);
		bench_run(&b, 100 * US);
	}
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_UP);
	assert_int_equal(COUNTER(&b.end[0], deaths), 0);
	assert_int_equal(COUNTER(&b.end[0], rx_init_refused), 300);
	assert_int_equal(bench_end_events(&b.end[0], RL_PEV_REFUSED), 0);
	bench_close(&b);
}

/* Peers that send by turns do not fill the log. */
static void
strangers_in_turn_are_named_once_a_second(void **state)
{
	static const struct socket here = { 9, 1, 0 };
	static const struct socket others[] = { { 9, 2, 1 }, { 9, 3, 1 } };
	struct bench b = { 0 };

	(void)state;
	bench_open(&b, NULL);
	b.step_ns = 10 * MS;
	plug(&b, 0, &here, NULL);
	for (unsigned int i = 0; i <= 350; i++) {
		stranger(&b.end[0], &others[i % 2], RL_FRAME_VERSION, b.now_ns);
		bench_run(&b, 10 * MS);
	}
	assert_int_equal(bench_state(&b.end[0]), RL_LINK_INIT);
	assert_in_range(bench_end_events(&b.end[0], RL_PEV_REFUSED), 2, 4);
	bench_close(&b);
}

static void
another_version_is_refused_in_words(void **state)
{
	static const struct socket here = { 9, 1, 0 }, there = { 9, 1, 1 };
	struct bench b = { 0 };
	struct rl_port_info info;

	(void)state;
	bench_open(&b, NULL);
	plug(&b, 0, &here, NULL);
	for (unsigned int i = 0; i < 5; i++)
		stranger(&b.end[0], &there, 2, b.now_ns);
	bench_end_port(&b.end[0], b.now_ns);
	bench_end_core(&b.end[0], b.now_ns);
	info = bench_info(&b.end[0]);
	assert_int_equal(info.state, RL_LINK_INIT);
	assert_int_equal(info.refused.why, RL_REFUSED_VERSION);
	assert_int_equal(info.refused.version, 2);
	assert_int_equal(bench_end_events(&b.end[0], RL_PEV_REFUSED), 1);
	assert_int_equal(COUNTER(&b.end[0], rx_version_error), 5);
	bench_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("LINK-8 ends train only where they belong, and say who is "
		     "there", ends_train_only_where_they_belong),
		CASE("LINK-8 with keys it is the same",
		     with_keys_it_is_the_same),
		CASE("PHY-6 a cable that leads back is not taken for a peer",
		     a_cable_that_leads_back_is_not_taken_for_a_peer),
		CASE("PHY-6 a cable that is moved ends its link, and the "
		     "stranger is named",
		     a_cable_that_is_moved_ends_its_link_and_the_stranger_is_named),
		CASE("LINK-8 strangers on a shared wire end no link",
		     strangers_on_a_shared_wire_end_no_link),
		CASE("LINK-8 strangers in turn are named once a second",
		     strangers_in_turn_are_named_once_a_second),
		CASE("LINK-8 another version is refused in words",
		     another_version_is_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
