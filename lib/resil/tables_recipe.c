/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tables in several processes. One process computes, and tells the others which
 * parts its tables do not use; each makes the tables again from that. The same
 * marks give the same tables (rl_route.h), and a digest over all of them
 * verifies it: another version of the program may route differently.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rl_prng.h"
#include "tables_priv.h"

static uint64_t
add(uint64_t h, uint64_t v)
{
	uint64_t x = h ^ v;

	return rl_splitmix64(&x);
}

static uint64_t
add_bytes(uint64_t h, const uint8_t *b, size_t n)
{
	size_t i = 0;
	uint64_t v;

	for (; i + sizeof(v) <= n; i += sizeof(v)) {
		memcpy(&v, b + i, sizeof(v));
		h = add(h, v);
	}
	for (; i < n; i++)
		h = add(h, b[i]);
	return add(h, n);
}

/* Planes on which packets travel, one bit each; others only choose VLs and have
   no next hops. */
static unsigned int
planes_used(const struct rl_fwd *f)
{
	unsigned int used = 0;

	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		used |= 1u << f->inject_plane[sl];
		for (unsigned int vl = 0; vl < RL_VCS; vl++)
			used |= 1u << f->plane_of[vl][sl];
	}
	return used;
}

static uint64_t
digest_fwd(uint64_t h, const struct rl_fwd *f)
{
	const size_t ins = f->port_class != NULL ? f->nclass : f->nports + 1u;
	const size_t outs = f->port_class != NULL ? f->nclass : f->nports;
	const unsigned int used = planes_used(f);

	h = add(h, (uint64_t)f->ndst << 48 | (uint64_t)f->nports << 32 |
			   (uint64_t)f->nplanes << 16 |
			   (uint64_t)f->nvls << 8 | f->levels);
	h = add_bytes(h, &f->plane_of[0][0], sizeof(f->plane_of));
	h = add_bytes(h, f->inject_plane, sizeof(f->inject_plane));
	for (unsigned int p = 0; p < f->nplanes; p++)
		for (uint16_t d = 0; used >> p & 1 && d < f->ndst; d++)
			h = add(h, rl_fwd_word(f, p, d));
	if (f->sl2vl != NULL)
		h = add_bytes(h, f->sl2vl, f->nplanes * ins * outs * RL_SLS);
	if (f->port_class != NULL)
		h = add_bytes(h, f->port_class, f->nports + 1u);
	if (f->path_sl != NULL)
		h = add_bytes(h, f->path_sl, f->ndst);
	return h;
}

static uint64_t
digest(const struct rl_route *r)
{
	uint64_t h = (uint64_t)r->ndev << 32 | r->nep;

	for (uint32_t d = 0; d < r->ndev; d++)
		h = digest_fwd(h, &r->fwd[d]);
	return h;
}

/* Digest of the order of channels that tokens follow. */
static uint64_t
digest_ranks(const struct rl_topo *topo, const uint32_t *rank)
{
	return add_bytes(rl_channels(topo), (const uint8_t *)rank,
			 rl_channels(topo) * sizeof(*rank));
}

int
rl_tables_recipe(const struct rl_tables *t, uint32_t epoch,
		 struct rl_tables_recipe *out)
{
	const struct tables_gen *g = tables_gen(t, epoch);

	RL_ASSERT(t->p.anew);
	if (epoch == 0 || g == NULL)
		return -ENOENT;
	*out = (struct rl_tables_recipe){
		.epoch = epoch,
		.link_out = g->failed,
		.dev_out = g->gone,
		.flows = g->flows.bit != NULL && g->flows.count != 0
				 ? &g->flows
				 : NULL,
		.digest = digest(g->route),
		.tokens = g->pass != NULL,
	};
	if (out->tokens) {
		const struct tables_gen *from = tables_gen(t, g->pass_from);

		out->from = g->pass_from;
		out->ranks = digest_ranks(&t->topo, tables_of(t, from)->rank);
	}
	return 0;
}

static int
take_flows(struct rl_tables *t, const struct rl_flows *from,
	   struct tables_gen *g)
{
	int ret;

	rl_flows_free(&g->flows);
	if (from == NULL)
		return 0;
	ret = rl_flows_init(&g->flows, t->topo.nep);
	for (uint32_t s = 0; ret == 0 && s < t->topo.nep; s++)
		for (uint32_t d = 0; d < t->topo.nep; d++)
			if (rl_flows_has(from, s, d))
				rl_flows_add(&g->flows, s, d);
	return ret;
}

/*
 * Fills in what devices here need to change by tokens. A process whose devices
 * are all restarting does not know the earlier tables, and needs nothing.
 */
static int
take_pass(struct rl_tables *t, const struct rl_tables_recipe *r,
	  struct tables_gen *g)
{
	const struct tables_gen *from =
		r->tokens ? tables_gen(t, r->from) : NULL;
	const struct rl_route *was = from == NULL ? NULL : tables_of(t, from);

	tables_pass_free(g);
	if (was == NULL)
		return 0;
	if (was->rank == NULL || digest_ranks(&t->topo, was->rank) != r->ranks) {
		snprintf(t->why, sizeof(t->why),
			 "the order of channels of epoch %" PRIu32 " differs "
			 "from that where epoch %" PRIu32 " was computed: "
			 "is it the same program?", r->from, r->epoch);
		return -EINVAL;
	}
	return tables_pass(t, from, g, r->epoch);
}

static int
already_here(struct rl_tables *t, const struct rl_tables_recipe *r)
{
	const struct tables_gen *g = tables_gen(t, r->epoch);

	if (digest(tables_of(t, g)) == r->digest)
		return -EALREADY;
	snprintf(t->why, sizeof(t->why),
		 "epoch %" PRIu32 " means other tables here", r->epoch);
	return -EINVAL;
}

int
rl_tables_make(struct rl_tables *t, const struct rl_tables_recipe *r)
{
	struct tables_gen *g;
	int ret;

	RL_ASSERT(t->p.anew);
	t->why[0] = '\0';
	if (tables_gen(t, r->epoch) != NULL)
		return already_here(t, r);
	g = tables_spare(t);
	if (g == NULL) {
		snprintf(t->why, sizeof(t->why), "all tables are in use");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->topo.nlink; i++)
		t->topo.link[i].failed = r->link_out[i] != 0;
	for (uint32_t d = 0; d < t->topo.ndev; d++)
		t->topo.dev[d].failed = r->dev_out[d] != 0;
	ret = tables_gen_compute(t, g);
	if (ret == 0)
		ret = tables_gen_mark(t, g);
	if (ret == 0 && digest(g->route) != r->digest) {
		snprintf(t->why, sizeof(t->why),
			 "the tables of epoch %" PRIu32 " differ from those "
			 "where they were computed: is it the same "
			 "program?", r->epoch);
		ret = -EINVAL;
	}
	if (ret == 0)
		ret = rl_route_accept(g->route, &t->topo, NULL, t->why);
	if (ret == 0)
		ret = take_flows(t, r->flows, g);
	if (ret == 0)
		ret = take_pass(t, r, g);
	if (ret != 0) {
		tables_gen_free(g);
		return ret;
	}
	g->epoch = r->epoch;
	t->newest = rl_max_u32(t->newest, r->epoch);
	return 0;
}
