/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may happen to a packet while devices change their tables. A state is
 * (input channel, SL); at a device that may have either table, the next hop is
 * by the old one, the new one, or the new one on the plane that the old one had
 * put the packet on when it came. A depth-first search finds all successors,
 * and folds into each state what may go wrong from there on. A state that is
 * reached again while it is still being searched is on a cycle: packets may
 * loop there, and it gets all flags, since no order ascends all the way round.
 *
 * Links that died since the old tables were made count as alive for these, and
 * as dead as well: packets may have crossed them before.
 *
 * A packet on the adaptive plane may take any port of either table's set, or
 * leave the plane as if it were injected there; tables without a plane take it
 * for one of theirs. Nothing that holds a channel of the tables waits for one of
 * the plane (core_adapt.c), so hops from and to these close no cycle. But it may
 * go round on the plane of two tables, and then has all flags.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_mix.h"
#include "check_parts.h"

#define STATE_NEW 0
#define STATE_OPEN 1
#define STATE_DONE 2

/* Next hops to consider: by the old tables with dead links alive or not, by the
 * new ones on the new plane or the old; and ports of the adaptive plane. */
#define MIX_CHOICES (4 * RL_FWD_ALTS + RL_FWD_ADAPT_PORTS)

struct mix_at {
	uint32_t dev;
	uint16_t in_port; /* nports: injected */
	uint8_t vl;
	uint8_t sl;
};

struct mix_choice {
	uint32_t chan;
	bool first; /* not only after a further failure */
	struct mix_at to;
};

struct mix_frame {
	uint32_t state;
	uint32_t chan; /* the input channel */
	uint32_t next;
	uint32_t n;
	bool first; /* how it came here */
	uint32_t dev;
	bool foreign;
	struct mix_choice choice[MIX_CHOICES];
};

static unsigned int
mix_may(const struct mix_run *r, uint32_t dev)
{
	return r->mix->may != NULL ? r->mix->may[dev] : RL_MIX_EITHER;
}

/* Whether packets on a channel are on the adaptive plane. */
static bool
mix_adapts(const struct mix_run *r, uint32_t chan)
{
	return chan != RANKS_NONE && chan % RL_VCS == r->plane;
}

/*
 * The channel of a VL of a port, and where it leads; RANKS_NONE: it does not work.
 * alive: recently dead links still do.
 */
static uint32_t
mix_cross(const struct mix_run *r, const struct mix_at *at, unsigned int port,
	  unsigned int vl, bool alive, struct mix_at *to)
{
	const struct ranks_port *p = &r->map.port[r->map.port0[at->dev] + port];
	const struct rl_topo_port *tp = &r->topo->dev[at->dev].port[port];
	uint32_t dirlink = p->dirlink;

	if (dirlink == RANKS_NONE) {
		if (!alive || !r->dead[tp->link])
			return RANKS_NONE;
		dirlink = tp->link * 2 + tp->end;
	}
	to->dev = p->dev;
	to->in_port = p->in_port;
	to->sl = at->sl;
	to->vl = vl & (RL_VCS - 1);
	return dirlink * RL_VCS + to->vl;
}

/* The channel of hop h, or RANKS_NONE. */
static uint32_t
mix_move(const struct mix_run *r, const struct rl_fwd *f, unsigned int plane,
	 struct rl_fwd_hop h, const struct mix_at *at, bool alive,
	 struct mix_at *to)
{
	const struct rl_topo_dev *dev = &r->topo->dev[at->dev];

	if (h.port >= dev->nports || h.plane >= f->nplanes)
		return RANKS_NONE;
	if (h.port == at->in_port &&
	    (dev->kind == RL_DEV_ENDPOINT || h.plane == plane))
		return RANKS_NONE;
	return mix_cross(r, at, h.port,
			 rl_fwd_vl(f, h.plane, at->in_port, h.port, at->sl),
			 alive, to);
}

/* Result of mix_add() if a table lets a packet do nothing. */
#define MIX_NOTHING 1u

/* Adds what a packet may do by a table; returns a sum that identifies the set.
 * Sets *dead if it would have used recently dead links. */
static uint64_t
mix_add(const struct mix_run *r, const struct rl_fwd *f, unsigned int plane,
	const struct mix_at *at, bool alive, struct mix_choice *c, uint32_t *n,
	bool *dead)
{
	const struct rl_topo_dev *dev = &r->topo->dev[at->dev];
	uint64_t word = rl_fwd_word(f, plane, (uint16_t)r->dst);
	uint64_t sum = MIX_NOTHING;
	bool first = true;

	for (unsigned int i = 0; i < RL_FWD_ALTS; i++, word >>= 16) {
		const struct rl_fwd_hop h = rl_fwd_word_hop(word);
		struct mix_at to;
		const uint32_t chan = mix_move(r, f, plane, h, at, alive, &to);
		uint32_t k;

		if (h.port == RL_FWD_PORT_NONE)
			break;
		if (h.port < dev->nports && r->dead[dev->port[h.port].link])
			*dead = true;
		if (chan == RANKS_NONE)
			continue;
		sum = sum * 0x9e3779b97f4a7c15ull + chan + 1;
		for (k = 0; k < *n && c[k].chan != chan; k++)
			;
		if (k == *n)
			c[(*n)++] = (struct mix_choice){chan, first, to};
		c[k].first |= first;
		first = false;
		if (r->mix->alts == RL_CHECK_FIRST)
			break;
	}
	return sum;
}

static unsigned int
mix_plane(const struct rl_fwd *f, const struct mix_at *at)
{
	const unsigned int p = at->in_port == f->nports ?
				       f->inject_plane[at->sl] :
				       f->plane_of[at->vl][at->sl];

	return p < f->nplanes ? p : 0;
}

/* Where a packet is for a table: if that has an adaptive plane, one that came
   by it is as if injected here. */
static struct mix_at
mix_joins(const struct mix_run *r, const struct rl_fwd *f, uint32_t chan,
	  const struct mix_at *at)
{
	struct mix_at here = *at;

	if (mix_adapts(r, chan) && f->adapt != NULL)
		here.in_port = f->nports;
	return here;
}

/* What a packet may do by the tables; flags as of mix_choose(). */
static uint32_t
mix_tables(const struct mix_run *r, uint32_t chan, const struct mix_at *at,
	   struct mix_choice *c, unsigned int *flags)
{
	const unsigned int may = mix_may(r, at->dev);
	const struct rl_fwd *old = &r->mix->old[at->dev];
	const struct rl_fwd *new = &r->mix->fwd[at->dev];
	const struct mix_at ao = mix_joins(r, old, chan, at);
	const struct mix_at an = mix_joins(r, new, chan, at);
	const unsigned int po = may & RL_MIX_OLD ? mix_plane(old, &ao)
						 : mix_plane(new, &an);
	const unsigned int pn = may & RL_MIX_NEW ? mix_plane(new, &an) : po;
	uint64_t sum[2] = {0};
	bool dead = false, stranded = false, differs = false;
	uint32_t n = 0;

	if (may & RL_MIX_OLD) {
		sum[0] = mix_add(r, old, po, &ao, false, c, &n, &dead);
		if (dead && mix_add(r, old, po, &ao, true, c, &n, &dead) !=
				    sum[0])
			differs = true;
	}
	if (may & RL_MIX_NEW) {
		sum[1] = mix_add(r, new, pn, &an, false, c, &n, &dead);
		stranded = sum[1] == MIX_NOTHING;
	}
	/* it came before the new tables did */
	if (may == RL_MIX_EITHER && po != pn && po < new->nplanes)
		stranded |= mix_add(r, new, po, &an, false, c, &n, &dead) ==
			    MIX_NOTHING;
	if (may == RL_MIX_EITHER && (po != pn || sum[0] != sum[1]))
		differs = true;
	*flags = (differs ? MIX_TOUCHED : 0) |
		 (stranded || n == 0 ? MIX_LOST : 0);
	return n;
}

/* Ports of the adaptive plane that a table lets a packet take here. */
static uint64_t
mix_ports(const struct mix_run *r, const struct rl_fwd *f, uint32_t chan,
	  const struct mix_at *at)
{
	uint64_t ports;

	if (f->adapt == NULL ||
	    (chan == RANKS_NONE && !(f->adapt_sls >> at->sl & 1)))
		return 0;
	ports = f->adapt[r->dst];
	if (at->in_port >= RL_FWD_ADAPT_PORTS)
		return ports;
	if ((f->adapt_ends >> at->in_port & 1) && f->adapt_links[r->dst] != 0)
		ports |= f->adapt_longer[r->dst];
	return ports & ~(UINT64_C(1) << at->in_port);
}

/* Adds what a packet may do on the adaptive plane. @return whether old and new
   tables disagree */
static bool
mix_adapt(const struct mix_run *r, uint32_t chan, const struct mix_at *at,
	  struct mix_choice *c, uint32_t *n)
{
	const struct rl_topo_dev *dev = &r->topo->dev[at->dev];
	const unsigned int may = mix_may(r, at->dev);
	uint64_t ports[2] = {0};
	bool differs = false;

	for (unsigned int k = 0; k < 2; k++) {
		const struct rl_fwd *f = k == 0 ? r->mix->old : r->mix->fwd;

		if (may >> k & 1)
			ports[k] = mix_ports(r, &f[at->dev], chan, at);
	}
	for (unsigned int p = 0; p < dev->nports; p++) {
		const bool old = ports[0] >> p & 1, new = ports[1] >> p & 1;
		struct mix_choice to = {.first = true};

		if (!old && !new)
			continue;
		differs = differs || r->dead[dev->port[p].link] ||
			  (may == RL_MIX_EITHER && old != new);
		to.chan = mix_cross(r, at, p, r->plane, old, &to.to);
		if (to.chan != RANKS_NONE)
			c[(*n)++] = to;
	}
	return differs;
}

/*
 * All that a packet may do at a device. MIX_TOUCHED in *flags: the tables
 * disagree; MIX_LOST: it may be stranded there. A packet stranded by the old
 * tables waits for the new ones, and goes on by them; one stranded by the new
 * tables is lost, whatever the old ones did.
 */
static uint32_t
mix_choose(const struct mix_run *r, uint32_t chan, const struct mix_at *at,
	   struct mix_choice *c, unsigned int *flags)
{
	uint32_t n = mix_tables(r, chan, at, c, flags);

	if (r->plane != RL_VCS &&
	    (chan == RANKS_NONE || mix_adapts(r, chan)) &&
	    mix_adapt(r, chan, at, c, &n))
		*flags |= MIX_TOUCHED;
	return n;
}

/* Finds the VL of the adaptive plane. @return whether all tables that have one
   have it there */
static bool
mix_find_plane(struct mix_run *r)
{
	r->plane = RL_VCS;
	for (uint32_t i = 0; i < 2 * r->topo->ndev; i++) {
		const struct rl_fwd *f = i % 2 == 0 ? r->mix->old : r->mix->fwd;
		const unsigned int vl = rl_fwd_adapt_vl(&f[i / 2]);

		if (vl == RL_VCS)
			continue;
		if (r->plane != RL_VCS && vl != r->plane)
			return false;
		r->plane = vl;
	}
	return true;
}

int
check_mix_init(struct mix_run *r, const struct rl_check_mix *mix,
	       struct rl_check_mix_report *rep)
{
	const struct rl_topo *t = mix->topo;
	const struct rl_check_ranks ports = {.topo = t, .fwd = mix->fwd};
	uint16_t used = 0;
	size_t n;

	memset(r, 0, sizeof(*r));
	memset(rep, 0, sizeof(*rep));
	r->mix = mix;
	r->topo = t;
	r->rep = rep;
	if (check_ranks_ports(&r->map, &ports) != 0)
		return -ENOMEM;
	for (uint32_t e = 0; e < t->nep; e++) {
		const uint32_t d = t->ep_dev[e];
		const uint8_t *sl[2] = {mix->old[d].path_sl,
					mix->fwd[d].path_sl};

		if (sl[0] == NULL || sl[1] == NULL ||
		    mix->old[d].ndst != t->nep || mix->fwd[d].ndst != t->nep)
			return -EINVAL;
		used |= check_sls_of(sl[0], t->nep) |
			check_sls_of(sl[1], t->nep);
	}
	if (!mix_find_plane(r))
		return -EINVAL;
	for (unsigned int sl = 0; sl < RL_SLS; sl++)
		if (used >> sl & 1)
			r->sl_idx[sl] = r->nsl++;
	r->part = mix->parts ? check_parts(t) : NULL;
	r->dead = calloc(t->nlink + 1u, 1);
	n = (size_t)rl_channels(t) * r->nsl + 1;
	r->state = calloc(n, sizeof(*r->state));
	r->touched = malloc(n * sizeof(*r->touched));
	r->stack = malloc((RL_CHECK_HOPS_MAX + 2) * sizeof(*r->stack));
	if (r->dead == NULL || r->state == NULL || r->touched == NULL ||
	    r->stack == NULL || (mix->parts && r->part == NULL))
		return -ENOMEM;
	for (uint32_t i = 0; i < mix->ndead; i++)
		r->dead[mix->dead[i]] = 1;
	return 0;
}

bool
check_mix_counts(const struct mix_run *r, uint32_t src, uint32_t dst)
{
	return src != dst && r->map.live[src] && r->map.live[dst] &&
	       (r->part == NULL || check_together(r->topo, r->part, src, dst));
}

void
check_mix_free(struct mix_run *r)
{
	free(r->part);
	free(r->stack);
	free(r->touched);
	free(r->state);
	free(r->dead);
	check_ranks_map_free(&r->map);
}

void
check_mix_forget(struct mix_run *r)
{
	for (uint32_t i = 0; i < r->ntouched; i++)
		r->state[r->touched[i]].mark = STATE_NEW;
	r->ntouched = 0;
}

/* Flags of a hop from one channel to another; the first hop of an injected
 * packet has no predecessor. */
static unsigned int
mix_hop(const struct mix_run *r, uint32_t from, uint32_t to)
{
	const struct rl_check_mix *m = r->mix;
	unsigned int bad = 0;

	if (mix_adapts(r, to))
		return 0;
	if (mix_adapts(r, from))
		from = RANKS_NONE;
	if (m->rank == NULL || (from != RANKS_NONE &&
				m->rank[from] >= m->rank[to]))
		bad |= MIX_BAD_NEW;
	if (m->old_rank == NULL || (from != RANKS_NONE &&
				    m->old_rank[from] >= m->old_rank[to]))
		bad |= MIX_BAD_OLD;
	return bad;
}

/* A packet is at `at` by a channel: pushes its possible next states. Returns
 * flags like mix_choose(). */
static unsigned int
mix_push(struct mix_run *r, uint32_t *depth, uint32_t chan, bool first,
	 const struct mix_at *at)
{
	struct mix_frame *f = &r->stack[(*depth)++];
	const uint32_t id = chan * r->nsl + r->sl_idx[at->sl];
	unsigned int flags;

	f->state = chan == RANKS_NONE ? RANKS_NONE : id;
	f->chan = chan;
	f->first = first;
	f->next = 0;
	f->dev = at->dev;
	f->foreign = r->topo->dev[at->dev].kind == RL_DEV_ENDPOINT &&
		     chan != RANKS_NONE;
	f->n = mix_choose(r, chan, at, f->choice, &flags);
	if (chan == RANKS_NONE)
		return flags;
	r->touched[r->ntouched++] = id;
	r->state[id] = (struct mix_state){
		.mark = STATE_OPEN,
		.flags = (uint8_t)flags,
		.foreign = f->foreign,
	};
	return flags;
}

/* Folds the result of a state into its predecessor. */
static void
mix_fold(struct mix_state *to, const struct mix_state *s, bool first,
	 bool foreign)
{
	const uint32_t len = s->len + 1u;

	to->flags |= first ? s->flags : s->flags & ~MIX_LOST;
	if (len > to->len)
		to->len = (uint16_t)len;
	if (first && s->foreign + foreign > to->foreign)
		to->foreign = (uint8_t)(s->foreign + foreign);
	if (len > RL_CHECK_HOPS_MAX || to->foreign > 1)
		to->flags |= MIX_LOST;
}

/*
 * Searches all successors of the frame at the bottom of the stack, into *sum.
 */
static void
mix_search(struct mix_run *r, struct mix_state *sum)
{
	const struct mix_state round = {.flags = MIX_ALL};
	uint32_t depth = 1;

	while (depth != 0) {
		struct mix_frame *f = &r->stack[depth - 1];
		struct mix_state *here = f->state == RANKS_NONE ?
						 sum : &r->state[f->state];
		const struct mix_choice *c = &f->choice[f->next];
		struct mix_state *s;

		if (f->next == f->n) {
			here->mark = STATE_DONE;
			if (--depth != 0) {
				struct mix_frame *up = &r->stack[depth - 1];

				mix_fold(up->state == RANKS_NONE ?
						 sum : &r->state[up->state],
					 here, f->first, up->foreign);
			}
			continue;
		}
		f->next++;
		here->flags |= (uint8_t)mix_hop(r, f->chan, c->chan);
		if (r->deps != NULL && f->chan != RANKS_NONE &&
		    !mix_adapts(r, f->chan))
			check_deps_add(r->deps, f->chan, c->chan, r->src,
				       r->dst);
		if (c->to.dev == r->topo->ep_dev[r->dst]) {
			if (here->len == 0)
				here->len = 1;
			continue;
		}
		s = &r->state[c->chan * r->nsl + r->sl_idx[c->to.sl]];
		if (s->mark == STATE_DONE)
			mix_fold(here, s, c->first, f->foreign);
		else if (s->mark == STATE_OPEN || depth > RL_CHECK_HOPS_MAX)
			mix_fold(here, &round, true, f->foreign);
		else
			mix_push(r, &depth, c->chan, c->first, &c->to);
	}
}

unsigned int
check_mix_flow(struct mix_run *r, uint32_t src, uint32_t dst, uint32_t *len)
{
	const uint32_t dev = r->topo->ep_dev[src];
	const unsigned int may = mix_may(r, dev);
	const struct rl_fwd *tab[2] = {&r->mix->old[dev], &r->mix->fwd[dev]};
	struct mix_state sum = {0};
	unsigned int sls = 0;

	r->src = src;
	r->dst = dst;
	for (unsigned int k = 0; k < 2; k++)
		if (may >> k & 1)
			sls |= 1u << (tab[k]->path_sl[dst] & (RL_SLS - 1));
	if ((sls & (sls - 1)) != 0)
		sum.flags |= MIX_TOUCHED;
	for (; sls != 0; sls &= sls - 1) {
		const struct mix_at at = {
			.dev = dev, .in_port = tab[0]->nports,
			.sl = (uint8_t)__builtin_ctz(sls)};
		uint32_t depth = 0;

		sum.flags |= (uint8_t)mix_push(r, &depth, RANKS_NONE, true,
					       &at);
		mix_search(r, &sum);
	}
	*len = sum.len;
	return sum.flags;
}
