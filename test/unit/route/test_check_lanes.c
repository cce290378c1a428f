/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof by ranks, where it looks at eight destinations side by side: a rank
 * that is too low is found wherever it stands, and a hop that bears a plane
 * which none of its kind bore before is found, too. What is expected is found
 * step by step, one destination at a time.
 */
#include <errno.h>
#include <stdlib.h>

#include "check_proof.h"
#include "check_ranks.h"
#include "rl_check.h"
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

static const char *const engines[] = { "reflit", "torus-2qos", "updown",
				       "minhop" };

static int
by_ranks(const struct rl_topo *t, const struct rl_route *r,
	 const uint32_t *rank, struct rl_ranks_report *rep)
{
	const struct rl_check_ranks in = { .topo = t,
					   .fwd = r->fwd,
					   .rank = rank };

	return rl_check_ranks(&in, NULL, rep);
}

/* More endpoints than a tile of the proof, and a tile that is not full. */
#define HOSTS 5
#define SWITCHES 4

static void
each_pair_counts_once_and_the_longest_path_is_found(void **state)
{
	static struct rl_check_report found;

	(void)state;
	for (unsigned int i = 0; i < 4 * RL_ARRAY_SIZE(engines); i++) {
		struct rl_check_in in = { .alts = RL_CHECK_FIRST };
		struct rl_ranks_report rep;
		char err[RL_ERR_MAX], name[3 * RL_NAME_MAX];
		struct rl_route *r;
		struct rl_topo t;
		uint32_t *rank, left;

		fix_grid_hosts(&t, i % 2, SWITCHES, i & 2 ? 3 : 0, 0, 1, HOSTS);
		/* an endpoint of the first tile, or of the last one */
		rl_topo_link_name(
			&t, t.dev[t.ep_dev[i & 2 ? 7 : t.nep - 1]].port[0].link,
			name, sizeof(name));
		fix_fail(&t, name);
		left = t.nep - 1u;
		if (rl_route_compute(&t, engines[i / 4], 8, &r, err) != 0) {
			rl_topo_free(&t);
			continue;
		}
		rank = calloc(rl_channels(&t), sizeof(*rank));
		assert_non_null(rank);
		in.topo = &t;
		in.fwd = r->fwd;
		if (rl_check(&in, &found) == 0 &&
		    rl_check_find_ranks(&t, r->fwd, rank, &found) == 0) {
			assert_int_equal(rl_check(&in, &found), 0);
			assert_int_equal(by_ranks(&t, r, rank, &rep), 0);
			assert_int_equal(rep.pairs, left * (left - 1));
			assert_int_equal(rep.reachable, rep.pairs);
			assert_int_equal(found.pairs, rep.pairs);
			assert_int_equal(rep.max_hops, found.max_hops);
		}
		free(rank);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* Of all planes: the switch delivers what is for one endpoint to another. */
static void
deliver(struct rl_route *r, uint32_t dev, uint32_t e, uint16_t port)
{
	for (unsigned int p = 0; p < r->fwd[dev].nplanes; p++) {
		struct rl_fwd_hop *h =
			rl_fwd_at(&r->fwd[dev], p, (uint16_t)e, 0);

		if (h != NULL)
			h->port = port & 0x1fff;
	}
}

static void
what_another_endpoint_gets_has_not_arrived(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * RL_ARRAY_SIZE(engines); i++) {
		struct rl_ranks_report rep;
		struct rl_route *r;
		struct rl_topo t;
		uint32_t *rank;
		static struct rl_check_report found;

		/* round a ring by two SLs, packet by packet */
		fix_grid_hosts(&t, i % 2 != 0, SWITCHES, 0, 0, 1, HOSTS);
		r = fix_route(&t, engines[i / 2], 8);
		rank = calloc(rl_channels(&t), sizeof(*rank));
		assert_non_null(rank);
		if (rl_check_find_ranks(&t, r->fwd, rank, &found) != 0)
			assert_true(i % 2); /* a loop: no ranks for it */
		for (uint32_t e = 0; e < t.nep && found.cycle_len == 0; e++) {
			const struct rl_topo_port *at =
				&t.dev[t.ep_dev[e]].port[0];
			const struct rl_topo_dev *sw = &t.dev[at->peer_dev];
			uint16_t own = 0;

			assert_int_equal(by_ranks(&t, r, rank, &rep), 0);
			while (sw->port[own].peer_dev != t.ep_dev[e])
				own++;
			for (uint16_t p = 0; p < sw->nports; p++) {
				const uint32_t to = sw->port[p].peer_dev;

				if (p == own || t.dev[to].kind == RL_DEV_SWITCH)
					continue;
				deliver(r, at->peer_dev, e, p);
				assert_int_equal(by_ranks(&t, r, rank, &rep),
						 -EHOSTUNREACH);
				assert_int_equal(rep.lost_dst, e);
			}
			deliver(r, at->peer_dev, e, own);
		}
		free(rank);
		rl_route_free(r);
		rl_topo_free(&t);
	}
}

/* Marks of a proof for tables in which one hop was changed. */
static void
check_marks(const struct ranks_map *m, const struct rl_proof *was,
	    const struct rl_fwd_hop *h, uint32_t dev, unsigned int plane,
	    uint32_t e)
{
	struct rl_proof *now = check_proof_new(m);
	struct proof_diff d;
	size_t marked = 0;

	assert_non_null(h);
	assert_non_null(now);
	assert_int_equal(check_proof_differ(was, now, &d), 0);
	for (size_t k = 0; k < (size_t)now->ntile * now->nrow; k++)
		marked += d.at[k] != 0;
	assert_int_equal(marked, 1);
	assert_int_equal(d.at[e / RANKS_TILE * now->nrow + now->row[dev]],
			 1u << plane);
	assert_false(check_proof_same(was, now, &d, e));
	assert_true(
		check_proof_same(was, now, &d, (e + RANKS_TILE) % was->nep));
	check_proof_differ_free(&d);
	rl_proof_free(now);
}

static void
a_proof_knows_the_place_of_each_hop_that_changed(void **state)
{
	unsigned int hops[RL_FWD_ALTS] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(engines); i++) {
		struct rl_check_ranks in = { 0 };
		struct ranks_map m;
		struct rl_proof *was;
		struct rl_route *r;
		struct rl_topo t;

		fix_grid_hosts(&t, false, SWITCHES, 2, 0, 1, 3);
		r = fix_route(&t, engines[i], 8);
		in = (struct rl_check_ranks){ .topo = &t, .fwd = r->fwd };
		in.rank = calloc(rl_channels(&t), sizeof(*in.rank));
		assert_int_equal(check_ranks_map(&m, &in), 0);
		was = check_proof_new(&m);
		assert_non_null(was);
		for (uint32_t k = 0; k < t.nep * RL_FWD_ALTS; k++) {
			const uint32_t dev = k % (t.ndev - t.nep);
			const uint32_t e = k / RL_FWD_ALTS;
			const unsigned int at = k % RL_FWD_ALTS;
			struct rl_fwd_hop *h;

			for (unsigned int p = 0; p < r->fwd[dev].nplanes; p++) {
				h = rl_fwd_at(&r->fwd[dev], p, (uint16_t)e, at);
				if (h == NULL || !(was->used >> p & 1))
					continue;
				hops[at]++;
				h->port ^= 1;
				check_marks(&m, was, h, dev, p, e);
				h->port ^= 1;
			}
		}
		rl_proof_free(was);
		check_ranks_map_free(&m);
		free((void *)(uintptr_t)in.rank);
		rl_route_free(r);
		rl_topo_free(&t);
	}
	assert_true(hops[0] > 0 && hops[1] > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_rank_that_is_too_low_is_found_on_any_channel),
		cmocka_unit_test(
			a_hop_back_to_an_earlier_plane_is_found_for_any_destination),
		cmocka_unit_test(
			each_pair_counts_once_and_the_longest_path_is_found),
		cmocka_unit_test(what_another_endpoint_gets_has_not_arrived),
		cmocka_unit_test(
			a_proof_knows_the_place_of_each_hop_that_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
