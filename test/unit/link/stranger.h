/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_STRANGER_H
#define LINK_STRANGER_H

/**
 * @file
 * Two ends with keys, and a recorder of their frames, which replays them.
 */

#include "bench.h"
#include "rl_auth.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS
#define RECORD_MAX 4096

enum key { NONE, KEY_A, KEY_B };

static inline struct rl_auth *
key_of(enum key k, const char *link, unsigned int end)
{
	struct rl_auth_root root;

	if (k == NONE)
		return NULL;
	rl_auth_root_make(&root, k == KEY_A ? "a" : "b", 1);
	return rl_auth_open(&root, link, end);
}

/* Frames recorded on a wire. */
struct record {
	uint8_t *data[RECORD_MAX];
	uint32_t len[RECORD_MAX];
	unsigned int n;
};

static inline enum bench_act
on_frame(void *ctx, struct bench_frame *f)
{
	struct record *r = ctx;

	if (r->n == RECORD_MAX)
		return BENCH_PASS;
	r->data[r->n] = aligned_alloc(64, 1024);
	assert_non_null(r->data[r->n]);
	memcpy(r->data[r->n], f->data, f->len);
	r->len[r->n++] = f->len;
	return BENCH_PASS;
}

static inline void
record_on(struct bench *b, unsigned int wire, struct record *r)
{
	b->wire[wire].hook = on_frame;
	b->wire[wire].ctx = r;
}

static inline void
play(const struct record *r, struct bench_end *to, uint64_t now_ns)
{
	uint8_t *copy = aligned_alloc(64, 1024);

	assert_non_null(copy);
	for (unsigned int i = 0; i < r->n; i++) {
		memcpy(copy, r->data[i], r->len[i]);
		rl_port_rx_frame(to->port, copy, r->len[i], now_ns);
	}
	free(copy);
}

static inline void
record_free(struct record *r)
{
	for (unsigned int i = 0; i < r->n; i++)
		free(r->data[i]);
	r->n = 0;
}

/* Two ends with these keys for these links. */
struct pair {
	struct bench b;
	struct rl_auth *auth[2];
};

static inline void
pair_open(struct pair *p, enum key a, const char *link_a, enum key b,
	  const char *link_b, const struct rl_link_cfg *cfg)
{
	memset(p, 0, sizeof(*p));
	p->auth[0] = key_of(a, link_a, 0);
	p->auth[1] = key_of(b, link_b, 1);
	for (unsigned int i = 0; i < 2; i++)
		if (p->auth[i] != NULL)
			p->b.auth[i] = rl_auth_link(p->auth[i]);
	bench_open(&p->b, cfg);
}

static inline void
pair_close(struct pair *p)
{
	bench_close(&p->b);
	rl_auth_close(p->auth[0]);
	rl_auth_close(p->auth[1]);
}

static inline void
keyed(struct pair *p, const struct rl_link_cfg *cfg)
{
	pair_open(p, KEY_A, "s0-s1#0", KEY_A, "s0-s1#0", cfg);
	bench_start(&p->b);
}

static inline void
check_carries(struct bench *b, unsigned int packets)
{
	for (unsigned int from = 0; from < 2; from++) {
		struct bench_sink *s = &b->end[!from].sink;

		memset(s, 0, sizeof(*s));
		s->next_tag[0] = b->end[from].next_tag[0];
		bench_send(b, from, 0, 3, packets);
		bench_settle(b, 50 * MS);
		assert_int_equal(s->packets, packets);
		assert_int_equal(s->duplicates + s->disorder + s->corrupt, 0);
	}
}

#endif /* LINK_STRANGER_H */
