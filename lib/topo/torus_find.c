/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the place of each switch in a torus, starting from one switch with
 * known directions of some neighbours.
 *
 * Two neighbours v and w of a switch u that lie in different dimensions have
 * two neighbours in common: u, and the fourth corner of the square. So the
 * direction from u to v is also that from w to the corner, and places spread
 * from square to square. Switches that no square reaches - the next row - are
 * found by elimination: if all directions of a switch are known except one, and
 * one of its neighbours is not placed, that one lies there. So does one that
 * fits no other empty place: it is one step from all its placed neighbours.
 *
 * At the seed the missing directions are found by their squares: the neighbour
 * opposite to v shares no corner with v, but one with the neighbours of other
 * dimensions. In a ring of four it does share one: there both directions must
 * be named, as in OpenSM.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rl_lines.h"
#include "rl_refuse.h"
#include "rl_torus_conf.h"

#define WAYS (2 * RL_DIMS_MAX)

struct torus {
	const struct rl_ibnet *net;
	const struct rl_torus_conf *conf;
	uint32_t nplaces;
	uint32_t *place;   /* [nnode] */
	uint32_t *at;	   /* [nplaces]: node; RL_IBNET_NONE */
	uint32_t (*way)[WAYS]; /* [nnode]: neighbour by way; RL_IBNET_NONE */
	uint32_t changes;
	char *err;
};

#define torus_error(t, ...)                                                    \
	rl_refuse((t)->err, RL_ERR_MAX, -EINVAL, __VA_ARGS__)

/* The i-th neighbour of a switch; RL_IBNET_NONE if that is no switch. */
static uint32_t
neighbour(const struct torus *t, uint32_t u, uint32_t i)
{
	const struct rl_ibnet_port *p =
		&t->net->port[t->net->node[u].first_port + i];
	const uint32_t v = t->net->port[p->peer].node;

	return v != u && t->net->node[v].kind == RL_IBNET_SWITCH ?
		       v : RL_IBNET_NONE;
}

static bool
adjacent(const struct torus *t, uint32_t u, uint32_t v)
{
	for (uint32_t i = 0; i < t->net->node[u].nports; i++)
		if (neighbour(t, u, i) == v)
			return true;
	return false;
}

/*
 * The only common neighbour of v and w besides u; RL_IBNET_NONE: none, or
 * several.
 */
static uint32_t
corner(const struct torus *t, uint32_t u, uint32_t v, uint32_t w)
{
	uint32_t found = RL_IBNET_NONE;

	for (uint32_t i = 0; i < t->net->node[v].nports; i++) {
		const uint32_t x = neighbour(t, v, i);

		if (x == RL_IBNET_NONE || x == u || x == found ||
		    !adjacent(t, w, x))
			continue;
		if (found != RL_IBNET_NONE)
			return RL_IBNET_NONE;
		found = x;
	}
	return found;
}

/* The place one step from another; RL_IBNET_NONE past an open end. */
static uint32_t
step(const struct torus *t, uint32_t place, unsigned int way)
{
	uint32_t stride = 1, c, radix;

	for (unsigned int d = RL_DIMS_MAX; --d > way / 2;)
		stride *= t->conf->dims[d];
	radix = t->conf->dims[way / 2];
	c = place / stride % radix;
	if (way % 2 == 0) {
		if (c + 1 == radix && !t->conf->wrap[way / 2])
			return RL_IBNET_NONE;
		return c + 1 == radix ? place - c * stride : place + stride;
	}
	if (c == 0 && !t->conf->wrap[way / 2])
		return RL_IBNET_NONE;
	return c == 0 ? place + (radix - 1) * stride : place - stride;
}

static int
lay(struct torus *t, uint32_t u, unsigned int way, uint32_t v)
{
	const uint32_t place = step(t, t->place[u], way);
	const struct rl_ibnet_node *nu = &t->net->node[u], *nv =
						&t->net->node[v];

	if (t->way[u][way] == v)
		return 0;
	if (place == RL_IBNET_NONE || t->way[u][way] != RL_IBNET_NONE ||
	    (t->place[v] != RL_IBNET_NONE && t->place[v] != place) ||
	    (t->at[place] != RL_IBNET_NONE && t->at[place] != v))
		return torus_error(t, "%s beside %s has no place in this "
				      "torus; check radices and seeds",
				   nv->name, nu->name);
	if (t->place[v] == RL_IBNET_NONE) {
		t->place[v] = place;
		t->at[place] = v;
	}
	t->way[u][way] = v;
	t->way[v][way ^ 1] = u;
	t->changes++;
	return 0;
}

static int
squares(struct torus *t, uint32_t u)
{
	for (unsigned int a = 0; a < WAYS; a++) {
		for (unsigned int b = 0; b < WAYS; b++) {
			const uint32_t v = t->way[u][a], w = t->way[u][b];
			uint32_t x;
			int ret;

			if (a / 2 == b / 2 || v == RL_IBNET_NONE ||
			    w == RL_IBNET_NONE)
				continue;
			x = t->way[v][b] != RL_IBNET_NONE ?
				    t->way[v][b] : corner(t, u, v, w);
			if (x == RL_IBNET_NONE || !adjacent(t, w, x))
				continue;
			ret = lay(t, v, b, x);
			if (ret == 0)
				ret = lay(t, w, a, x);
			if (ret != 0)
				return ret;
		}
	}
	return 0;
}

/* The directions between two placed neighbours follow from their places. */
static int
join_placed(struct torus *t, uint32_t u)
{
	for (uint32_t i = 0; i < t->net->node[u].nports; i++) {
		const uint32_t v = neighbour(t, u, i);

		if (v == RL_IBNET_NONE || t->place[v] == RL_IBNET_NONE)
			continue;
		for (unsigned int way = 0; way < WAYS; way++) {
			int ret = 0;

			if (step(t, t->place[u], way) == t->place[v] &&
			    t->place[u] != t->place[v])
				ret = lay(t, u, way, v);
			if (ret != 0)
				return ret;
		}
	}
	return 0;
}

static int
eliminate(struct torus *t, uint32_t u)
{
	uint32_t left = RL_IBNET_NONE, open = 0;
	unsigned int last = 0;

	for (uint32_t i = 0; i < t->net->node[u].nports; i++) {
		const uint32_t v = neighbour(t, u, i);

		if (v == RL_IBNET_NONE || t->place[v] != RL_IBNET_NONE ||
		    v == left)
			continue;
		if (left != RL_IBNET_NONE)
			return 0;
		left = v;
	}
	for (unsigned int way = 0; way < WAYS; way++) {
		const uint32_t p = step(t, t->place[u], way);

		if (t->conf->dims[way / 2] < 2 || p == RL_IBNET_NONE ||
		    t->at[p] != RL_IBNET_NONE)
			continue;
		open++;
		last = way;
	}
	return left != RL_IBNET_NONE && open == 1 ? lay(t, u, last, left) : 0;
}

/* Whether a switch next to all its placed neighbours could be here. */
static bool
fits(const struct torus *t, uint32_t x, uint32_t place)
{
	for (uint32_t i = 0; i < t->net->node[x].nports; i++) {
		const uint32_t v = neighbour(t, x, i);
		bool near = false;

		if (v == RL_IBNET_NONE || t->place[v] == RL_IBNET_NONE)
			continue;
		for (unsigned int way = 0; way < WAYS; way++)
			near |= t->conf->dims[way / 2] > 1 &&
				step(t, place, way) == t->place[v];
		if (!near)
			return false;
	}
	return true;
}

/* Places neighbours of u that fit only one empty place beside it. */
static int
fit_in(struct torus *t, uint32_t u)
{
	for (uint32_t i = 0; i < t->net->node[u].nports; i++) {
		const uint32_t x = neighbour(t, u, i);
		unsigned int n = 0, last = 0;
		int ret;

		if (x == RL_IBNET_NONE || t->place[x] != RL_IBNET_NONE)
			continue;
		for (unsigned int way = 0; way < WAYS; way++) {
			const uint32_t p = t->conf->dims[way / 2] > 1 ?
						   step(t, t->place[u], way) :
						   RL_IBNET_NONE;

			if (p == RL_IBNET_NONE || t->at[p] != RL_IBNET_NONE ||
			    !fits(t, x, p))
				continue;
			n++;
			last = way;
		}
		ret = n == 1 ? lay(t, u, last, x) : 0;
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* Spreads from known places until no more can be found. */
static int
spread(struct torus *t)
{
	int ret = 0;

	do {
		t->changes = 0;
		for (uint32_t p = 0; p < t->nplaces && ret == 0; p++) {
			const uint32_t u = t->at[p];

			if (u == RL_IBNET_NONE)
				continue;
			ret = join_placed(t, u);
			if (ret == 0)
				ret = squares(t, u);
			if (ret == 0)
				ret = fit_in(t, u);
			if (ret == 0)
				ret = eliminate(t, u);
		}
	} while (ret == 0 && t->changes != 0);
	return ret;
}

/*
 * If a direction of the seed is not named: finds the switch opposite the other
 * one.
 */
static int
opposites(struct torus *t, uint32_t u)
{
	for (unsigned int way = 0; way < WAYS; way++) {
		const uint32_t v = t->way[u][way ^ 1];
		const uint16_t radix = t->conf->dims[way / 2];
		uint32_t found = RL_IBNET_NONE;

		if (t->way[u][way] != RL_IBNET_NONE || v == RL_IBNET_NONE ||
		    radix == 4 || step(t, t->place[u], way) == RL_IBNET_NONE)
			continue;
		for (uint32_t i = 0; i < t->net->node[u].nports; i++) {
			const uint32_t x = neighbour(t, u, i);

			if (x == RL_IBNET_NONE || x == found ||
			    t->place[x] != RL_IBNET_NONE ||
			    adjacent(t, x, v) != (radix == 3) ||
			    corner(t, u, v, x) != RL_IBNET_NONE)
				continue;
			if (found != RL_IBNET_NONE)
				return 0; /* ambiguous */
			found = x;
		}
		if (found != RL_IBNET_NONE) {
			const int ret = lay(t, u, way, found);

			if (ret != 0)
				return ret;
		}
	}
	return 0;
}

static int
plant(struct torus *t, const struct rl_torus_seed *s)
{
	const uint32_t u = rl_ibnet_find_switch(t->net, s->from);
	uint32_t place = 0;
	int ret = 0;

	memset(t->place, 0xff, t->net->nnode * sizeof(*t->place));
	memset(t->way, 0xff, t->net->nnode * sizeof(*t->way));
	memset(t->at, 0xff, t->nplaces * sizeof(*t->at));
	if (u == RL_IBNET_NONE)
		return torus_error(t, "there is no switch 0x%llx; give a seed "
				      "of switches that are there",
				   (unsigned long long)s->from);
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
		const int32_t radix = t->conf->dims[d];

		place = place * (uint32_t)radix +
			(uint32_t)(((-s->dateline[d]) % radix + radix) % radix);
	}
	t->place[u] = place;
	t->at[place] = u;
	for (unsigned int way = 0; way < WAYS && ret == 0; way++) {
		const uint64_t to = s->to[way / 2][way % 2];
		const uint32_t v = to != 0 ? rl_ibnet_find_switch(t->net, to) :
					     RL_IBNET_NONE;

		if (to == 0)
			continue;
		if (v == RL_IBNET_NONE || !adjacent(t, u, v))
			return torus_error(t, "no cable joins 0x%llx and "
					      "0x%llx; give a seed whose links "
					      "are there",
					   (unsigned long long)s->from,
					   (unsigned long long)to);
		ret = lay(t, u, way, v);
	}
	return ret != 0 ? ret : opposites(t, u);
}

/*
 * Checks that every switch has a place, and that every cable is one step long.
 */
static int
complete(struct torus *t)
{
	for (uint32_t u = 0; u < t->net->nnode; u++) {
		const struct rl_ibnet_node *node = &t->net->node[u];
		bool linked = false;

		if (node->kind != RL_IBNET_SWITCH)
			continue;
		for (uint32_t i = 0; i < node->nports; i++) {
			const uint32_t v = neighbour(t, u, i);
			bool near = false;

			linked |= t->net->port[node->first_port + i].link !=
				  RL_IBNET_NONE;
			if (v == RL_IBNET_NONE || t->place[u] == RL_IBNET_NONE)
				continue;
			for (unsigned int way = 0; way < WAYS; way++)
				near |= t->way[u][way] == v;
			if (!near && t->place[v] != RL_IBNET_NONE)
				return torus_error(t, "the cable from %s to %s "
						      "is not a step of "
						      "this torus; check "
						      "radices and seeds",
						   node->name,
						   t->net->node[v].name);
		}
		if (linked && t->place[u] == RL_IBNET_NONE)
			return torus_error(t, "the place of %s in this torus "
					      "is not known; check radices, or "
					      "name both ways of a ring of "
					      "four in a seed", node->name);
	}
	return 0;
}

int
rl_torus_find(const struct rl_ibnet *net, const struct rl_torus_conf *conf,
	      uint32_t *place, char *err, int *line)
{
	struct torus t = {.net = net, .conf = conf, .place = place,
			  .err = err, .nplaces = 1};
	int ret = -ENOMEM;

	*line = 0;
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
		const uint64_t n = (uint64_t)t.nplaces * conf->dims[d];

		if (n > RL_DEVICES_MAX)
			return torus_error(&t, "a torus of more than %u "
					       "switches; give smaller radices",
					   RL_DEVICES_MAX);
		t.nplaces = (uint32_t)n;
	}
	t.at = malloc(t.nplaces * sizeof(*t.at));
	t.way = malloc(net->nnode * sizeof(*t.way));
	if (t.at == NULL || t.way == NULL)
		snprintf(err, RL_ERR_MAX, "no memory for %u switches; take a "
			 "smaller fabric", t.nplaces);
	else
		ret = -EINVAL;
	for (uint32_t i = 0; i < conf->nseeds && ret == -EINVAL; i++) {
		char why[RL_ERR_MAX];

		t.err = i == 0 ? err : why; /* report the first seed's reason */
		ret = plant(&t, &conf->seed[i]);
		if (ret == 0)
			ret = spread(&t);
		if (ret == 0)
			ret = complete(&t);
		*line = ret == 0 ? 0 : (int)conf->seed[0].line;
	}
	free(t.way);
	free(t.at);
	return ret;
}
