/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof by ranks, where it looks at eight destinations side by side: a rank
 * that is too low is found wherever it stands, and a hop that bears a plane
 * which none of its kind bore before is found, too. What is expected is found
 * step by step, one destination at a time.
 */
#include <errno.h>
#include <stdlib.h>

#include "rl_check_ranks.h"
#include "route_fixture.h"

/* The entries checked in a fabric whose paths all have SL 0. */
struct steps {
	struct rl_topo t;
	struct rl_route *r;
	uint32_t from[RL_FWD_PLANES][256]; /* [plane][switch] highest rank by
					which a packet comes, plus 1 */
	uint32_t state[RL_FWD_PLANES * 256];
	uint32_t n;
};

static uint32_t
chan_of(const struct steps *s, uint32_t u, struct rl_fwd_hop h, uint8_t *vl)
{
	const struct rl_topo_port *p = &s->t.dev[u].port[h.port];

	*vl = rl_fwd_vl(&s->r->fwd[u], h.plane, s->r->fwd[u].nports, h.port, 0);
	return rl_channel(p->link, p->end, *vl);
}

/* A packet comes to a switch; whether that is more than what was known. */
static void
come(struct steps *s, uint32_t u, unsigned int plane, uint32_t rank)
{
	if (rank <= s->from[plane][u])
		return;
	s->from[plane][u] = rank;
	s->state[s->n++] = plane * 256 + u;
	assert_true(s->n < RL_ARRAY_SIZE(s->state));
}

/* Whether all steps of packets to e ascend. */
static bool
ascends(struct steps *s, uint16_t e)
{
	const uint32_t nsw = s->t.ndev - s->t.nep;

	memset(s->from, 0, sizeof(s->from));
	s->n = 0;
	for (uint16_t from = 0; from < s->t.nep; from++) {
		const uint32_t d = s->t.ep_dev[from];
		const struct rl_fwd_hop h =
			rl_fwd_lookup(&s->r->fwd[d], 0, e).hop[0];
		uint8_t vl;

		if (from != e)
			come(s, s->t.dev[d].port[h.port].peer_dev, 0,
			     s->r->rank[chan_of(s, d, h, &vl)] + 2);
	}
	while (s->n > 0) {
		const uint32_t at = s->state[--s->n], u = at % 256;
		const unsigned int p = at / 256;
		const struct rl_fwd_entry x =
			rl_fwd_lookup(&s->r->fwd[u], p, e);

		for (unsigned int i = 0; i < RL_FWD_ALTS; i++) {
			const struct rl_fwd_hop h = x.hop[i];
			uint32_t rank, to;
			uint8_t vl;

			if (h.port >= s->t.dev[u].nports)
				break;
			to = s->t.dev[u].port[h.port].peer_dev;
			rank = s->r->rank[chan_of(s, u, h, &vl)] + 2;
			if (s->from[p][u] >= rank)
				return false;
			if (to < nsw)
				come(s, to, s->r->fwd[to].plane_of[vl][0], rank);
		}
	}
	return true;
}

static int
wanted(struct steps *s)
{
	for (uint16_t e = 0; e < s->t.nep; e++)
		if (!ascends(s, e))
			return -ELOOP;
	return 0;
}

static int
verdict(const struct steps *s)
{
	const struct rl_check_ranks in = {.topo = &s->t, .fwd = s->r->fwd,
					  .rank = s->r->rank};
	struct rl_ranks_report rep;

	return rl_check_ranks(&in, NULL, &rep);
}

static void
steps_open(struct steps *s)
{
	memset(s, 0, sizeof(*s));
	fix_grid(&s->t, true, 5, 4, 0, 1);
	s->r = fix_route(&s->t, "reflit", 8);
	assert_int_equal(verdict(s), 0);
	assert_int_equal(wanted(s), 0);
}

static void
steps_close(struct steps *s)
{
	rl_route_free(s->r);
	rl_topo_free(&s->t);
}

static void
a_rank_that_is_too_low_is_found_on_any_channel(void **state)
{
	static struct steps s;
	unsigned int loops = 0;

	(void)state;
	steps_open(&s);
	for (uint32_t c = 0; c < rl_channels(&s.t); c++) {
		const uint32_t was = s.r->rank[c];
		int want;

		s.r->rank[c] = 0;
		want = wanted(&s);
		if (verdict(&s) != want)
			fail_msg("channel %u: %d, wanted %d", c, verdict(&s),
				 want);
		loops += want != 0;
		s.r->rank[c] = was;
	}
	assert_true(loops > 100);
	steps_close(&s);
}

/* To a plane that all packets have passed when they come there. */
static void
a_hop_back_to_an_earlier_plane_is_found_for_any_destination(void **state)
{
	static struct steps s;
	unsigned int loops = 0;

	(void)state;
	steps_open(&s);
	for (uint32_t i = 0; i < 400; i++) {
		const uint32_t u = i * 7 % 20;
		const unsigned int plane = 1 + i % 3;
		const uint16_t e = (uint16_t)(i * 11 % 20);
		struct rl_fwd_hop *h = rl_fwd_at(&s.r->fwd[u], plane, e, 0);
		const struct rl_fwd_hop was = *h;
		int want;

		h->plane = (uint16_t)((plane - 1) & 7);
		want = wanted(&s);
		if (verdict(&s) != want)
			fail_msg("switch %u, plane %u, to %u: %d, wanted %d", u,
				 plane, e, verdict(&s), want);
		loops += want != 0;
		*h = was;
	}
	assert_true(loops > 100);
	steps_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_is_too_low_is_found_on_any_channel),
		cmocka_unit_test(a_hop_back_to_an_earlier_plane_is_found_for_any_destination),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
