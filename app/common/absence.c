/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "absence.h"
#include "rl_grow.h"

void
absences_add(struct absences *a, const struct rl_ep_event *ev)
{
	const bool back = ev->kind == RL_EP_EV_REACHABLE;

	if (!back && ev->kind != RL_EP_EV_UNREACHABLE)
		return;
	if (!rl_grow(&a->claim, a->n, &a->cap, sizeof(*a->claim))) {
		a->lost++;
		return;
	}
	a->claim[a->n++] = (struct absence_claim){
		.since_ns = back ? ev->since_ns : ev->t_ns,
		.until_ns = back ? ev->t_ns : 0,
		.order = a->order++,
		.ep = ev->ep,
		.peer = ev->peer,
	};
}

/* Whether a claim is the last news of its accuser about its peer. */
static bool
is_open(const struct absences *a, const struct absence_claim *c)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->claim[i].ep == c->ep && a->claim[i].peer == c->peer &&
		    a->claim[i].order > c->order)
			return false;
	return c->until_ns == 0;
}

void
absences_crash(struct absences *a, uint16_t ep, uint64_t t_ns)
{
	const uint32_t n = a->n; /* the ends come behind */

	for (uint32_t i = 0; i < n; i++) {
		const struct absence_claim c = a->claim[i];

		if (c.ep == ep && is_open(a, &c))
			absences_add(a, &(struct rl_ep_event){
						.t_ns = t_ns,
						.since_ns = c.since_ns,
						.ep = ep,
						.peer = c.peer,
						.kind = RL_EP_EV_REACHABLE,
					});
	}
}

uint64_t
absences_over(const struct absences *a, uint16_t ep, uint16_t peer,
	      uint64_t from_ns, uint64_t to_ns)
{
	bool lasts = false;

	/* reported at its begin and again at its end: the end counts */
	for (uint32_t i = 0; i < a->n; i++) {
		const struct absence_claim *c = &a->claim[i];

		if (c->ep != ep || c->peer != peer)
			continue;
		lasts = c->until_ns == 0 && c->since_ns < to_ns;
		if (c->until_ns > from_ns && c->since_ns < to_ns)
			from_ns = rl_min_u64(c->until_ns, to_ns);
	}
	return lasts ? to_ns : from_ns;
}

static int
cmp(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
by_peer(const void *pa, const void *pb)
{
	const struct absence_claim *a = pa, *b = pb;
	int d = cmp(a->peer, b->peer);

	if (d == 0)
		d = cmp(a->ep, b->ep);
	return d == 0 ? cmp(a->order, b->order) : d;
}

static int
by_time(const void *pa, const void *pb)
{
	const struct absence_claim *a = pa, *b = pb;
	const int d = cmp(a->since_ns, b->since_ns);

	return d == 0 ? cmp(a->peer, b->peer) : d;
}

/**
 * A claim is reported at its begin and again at its end; keep it once. The end
 * may say another begin: a host may have left out time meanwhile.
 */
static void
join_ends(struct absences *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++) {
		struct absence_claim c = a->claim[i];

		if (i + 1 < a->n && c.until_ns == 0 &&
		    a->claim[i + 1].peer == c.peer &&
		    a->claim[i + 1].ep == c.ep &&
		    a->claim[i + 1].until_ns != 0)
			c.until_ns = a->claim[++i].until_ns;
		a->claim[n++] = c;
	}
	a->n = n;
}

static bool
overlap(const struct absence_claim *a, const struct absence_claim *b)
{
	return (b->until_ns == 0 || a->since_ns <= b->until_ns) &&
	       (a->until_ns == 0 || b->since_ns <= a->until_ns);
}

/** How many endpoints accuse @p peer while @p c lasts. */
static uint32_t
accusers(const struct absences *a, const uint32_t *first, uint16_t peer,
	 const struct absence_claim *c)
{
	uint32_t n = 0, last = UINT32_MAX;

	for (uint32_t i = first[peer]; i < first[peer + 1u]; i++) {
		if (a->claim[i].ep == last || !overlap(&a->claim[i], c))
			continue;
		last = a->claim[i].ep;
		n++;
	}
	return n;
}

/** Where the claims about each endpoint begin, [nep + 1]; the caller's. */
static uint32_t *
index_claims(const struct absences *a, uint32_t nep)
{
	uint32_t *first = calloc(nep + 1u, sizeof(*first));

	if (first == NULL)
		return NULL;
	for (uint32_t i = 0; i < a->n; i++)
		first[a->claim[i].peer + 1u]++;
	for (uint32_t p = 0; p < nep; p++)
		first[p + 1] += first[p];
	return first;
}

/** Merges @p c into the absences found so far, which are of one endpoint. */
static uint32_t
merge(struct absence_claim *out, uint32_t from, uint32_t n,
      const struct absence_claim *c)
{
	for (uint32_t i = from; i < n; i++) {
		if (!overlap(&out[i], c))
			continue;
		if (out[i].ep != c->ep)
			out[i].ep = RL_EP_ALL;
		if (c->since_ns < out[i].since_ns)
			out[i].since_ns = c->since_ns;
		if (out[i].until_ns != 0 &&
		    (c->until_ns == 0 || c->until_ns > out[i].until_ns))
			out[i].until_ns = c->until_ns;
		return n;
	}
	out[n] = *c;
	return n + 1;
}

/** @return how many absences there were, in @p out */
static uint32_t
judge(const struct absences *a, const uint32_t *first, uint32_t nep,
      struct absence_claim *out)
{
	uint32_t n = 0;

	for (uint16_t p = 0; p < nep; p++) {
		const uint32_t from = n;

		for (uint32_t i = first[p]; i < first[p + 1u]; i++) {
			const struct absence_claim *c = &a->claim[i];

			if (accusers(a, first, p, c) >=
			    accusers(a, first, c->ep, c))
				n = merge(out, from, n, c);
		}
	}
	return n;
}

struct absence_claim *
absences_list(struct absences *a, const struct rl_topo *topo, uint32_t *n)
{
	struct absence_claim *out = calloc(a->n + 1u, sizeof(*out));
	uint32_t *first;

	*n = 0;
	if (a->n > 0)
		qsort(a->claim, a->n, sizeof(*a->claim), by_peer);
	join_ends(a);
	first = index_claims(a, topo->nep);
	if (out != NULL && first != NULL)
		*n = judge(a, first, topo->nep, out);
	if (*n > 0)
		qsort(out, *n, sizeof(*out), by_time);
	free(first);
	return out;
}

json_t *
absences_json(struct absences *a, const struct rl_topo *topo,
	      uint64_t start_ns)
{
	uint32_t n;
	struct absence_claim *out = absences_list(a, topo, &n);
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t since = out[i].since_ns, until = out[i].until_ns;

		json_array_append_new(
			list,
			json_pack("{s:s, s:I, s:I}", "endpoint",
				  topo->dev[topo->ep_dev[out[i].peer]].name,
				  "since_ns", (json_int_t)(since - start_ns),
				  "until_ns",
				  (json_int_t)(until == 0 ? 0
							  : until - start_ns)));
	}
	free(out);
	return list;
}

void
absences_free(struct absences *a)
{
	free(a->claim);
	memset(a, 0, sizeof(*a));
}
