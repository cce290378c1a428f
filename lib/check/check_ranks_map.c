/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about a fabric that a proof by ranks needs before it reads entries:
 * where ports lead, which SLs and input ports are equivalent, and the effect of
 * each (port, plane) on a packet. All are read from the tables and the
 * topology; nothing is taken on trust.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_ranks.h"

static int
map_ports(struct ranks_map *m)
{
	const struct rl_topo *t = m->topo;

	m->port0 = malloc((t->ndev + 1u) * sizeof(*m->port0));
	m->port = malloc((2u * (size_t)t->nlink + 1) * sizeof(*m->port));
	m->live = calloc(t->nep + 1u, 1);
	if (m->port0 == NULL || m->port == NULL || m->live == NULL)
		return -ENOMEM;
	m->nsw = t->ndev - t->nep;
	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_topo_dev *dev = &t->dev[d];

		RL_ASSERT((dev->kind == RL_DEV_SWITCH) == (d < m->nsw));
		m->port0[d] = m->nports;
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *from = &dev->port[p];
			struct ranks_port *to = &m->port[m->nports++];

			to->dev = from->peer_dev;
			to->in_port = from->peer_port;
			to->dirlink = from->link * 2 + from->end;
			if (!rl_topo_link_up(t, from->link))
				to->dirlink = RANKS_NONE;
			else if (dev->kind == RL_DEV_ENDPOINT)
				m->live[dev->ep_id] = 1;
		}
	}
	m->port0[t->ndev] = m->nports;
	for (uint32_t e = 0; e < t->nep; e++)
		m->nlive += m->live[e];
	return 0;
}

/* most repeat the previous one */
uint16_t
check_sls_of(const uint8_t *sl, uint32_t n)
{
	uint64_t last = 0, w = 0;
	uint16_t used = 0;

	for (uint32_t e = 0; e < n; e++) {
		if (e % sizeof(w) == 0 && n - e >= sizeof(w)) {
			memcpy(&w, sl + e, sizeof(w));
			if (e != 0 && w == last) {
				e += sizeof(w) - 1;
				continue;
			}
			last = w;
		}
		used |= (uint16_t)(1u << (sl[e] & (RL_SLS - 1)));
	}
	return used;
}

/* Finds the SLs of packets, and the planes of tables. */
static void
map_sls(struct ranks_map *m)
{
	const struct rl_topo *t = m->topo;
	const uint8_t *last = NULL;

	m->levels = 1;
	for (uint32_t d = 0; d < t->ndev; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];

		if (f->levels > m->levels)
			m->levels = f->levels;
		if (f->nplanes > m->nplanes)
			m->nplanes = f->nplanes;
	}
	for (uint32_t s = 0; s < t->nep; s++) {
		const uint8_t *sl = m->in->fwd[t->ep_dev[s]].path_sl;

		if (sl == last || !m->live[s])
			continue;
		last = sl;
		m->used_sls |= check_sls_of(sl, t->nep);
	}
	for (unsigned int q = 1; q < m->levels; q++)
		m->used_sls |= (uint16_t)(m->used_sls <<
					  (q * RL_SLS / m->levels));
}

/* Whether two SLs have the same effect in the table of a device. */
static bool
sl_same(const struct rl_fwd *f, const struct rl_fwd *last, unsigned int a,
	unsigned int b)
{
	const size_t in = f->port_class != NULL ? f->nclass : f->nports + 1u;
	const size_t out = f->port_class != NULL ? f->nclass : f->nports;

	if (f->inject_plane[a] != f->inject_plane[b])
		return false;
	for (unsigned int vl = 0; vl < RL_VCS; vl++)
		if (f->plane_of[vl][a] != f->plane_of[vl][b])
			return false;
	if (last != NULL && last->sl2vl == f->sl2vl &&
	    last->nplanes == f->nplanes)
		return true;
	for (size_t row = 0; row < f->nplanes * in * out; row++)
		if (f->sl2vl[row * RL_SLS + a] != f->sl2vl[row * RL_SLS + b])
			return false;
	return true;
}

static void
map_sl_classes(struct ranks_map *m)
{
	const struct rl_topo *t = m->topo;

	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		unsigned int c;

		if (!(m->used_sls >> sl & 1))
			continue;
		for (c = 0; c < m->nslc; c++) {
			const struct rl_fwd *last = NULL;
			uint32_t d;

			for (d = 0; d < t->ndev; d++) {
				if (!sl_same(&m->in->fwd[d], last, sl,
					     m->sl_of[c]))
					break;
				last = &m->in->fwd[d];
			}
			if (d == t->ndev)
				break;
		}
		if (c == m->nslc)
			m->sl_of[m->nslc++] = (uint8_t)sl;
		m->slc_of[sl] = (uint8_t)c;
	}
}

/* Plane of a packet that came to device d by a link on a VL. */
static unsigned int
map_plane(const struct ranks_map *m, uint32_t d, unsigned int vl,
	  unsigned int sl)
{
	const struct rl_fwd *f = &m->in->fwd[d];
	const unsigned int p = f->plane_of[vl][sl];

	return p < f->nplanes ? p : 0;
}

/* Whether the input port does not affect the VL of links between switches. */
static bool
map_in_free(const struct ranks_map *m, uint32_t d)
{
	const struct rl_fwd *f = &m->in->fwd[d];
	const struct rl_topo_dev *dev = &m->topo->dev[d];

	for (unsigned int out = 0; out < f->nports; out++) {
		if (dev->port[out].peer_dev >= m->nsw)
			continue;
		for (unsigned int q = 0; q < f->nplanes; q++)
			for (unsigned int in = 0; in < f->nports; in++)
				for (unsigned int c = 0; c < m->nslc; c++)
					if (rl_fwd_vl(f, q, (uint16_t)in,
						      (uint16_t)out,
						      m->sl_of[c]) !=
					    rl_fwd_vl(f, q, f->nports,
						      (uint16_t)out,
						      m->sl_of[c]))
						return false;
	}
	return true;
}

/* The same by classes of ports: rows of sl2vl, of classes that lead on. */
static bool
map_classes_free(const struct ranks_map *m, const struct rl_fwd *f,
		 uint32_t out_classes)
{
	const size_t n = f->nclass;

	for (unsigned int q = 0; q < f->nplanes; q++)
		for (unsigned int out = 0; out < n; out++)
			for (unsigned int in = 1; in < n && out_classes >> out & 1;
			     in++)
				for (unsigned int c = 0; c < m->nslc; c++) {
					const uint8_t *vl = f->sl2vl +
						(q * n * n + out) * RL_SLS +
						m->sl_of[c];

					if (vl[in * n * RL_SLS] != vl[0])
						return false;
				}
	return true;
}

static uint32_t
map_out_classes(const struct ranks_map *m, uint32_t d)
{
	const struct rl_topo_dev *dev = &m->topo->dev[d];
	uint32_t mask = 0;

	for (unsigned int p = 0; p < dev->nports; p++)
		if (dev->port[p].peer_dev < m->nsw)
			mask |= 1u << (m->in->fwd[d].port_class[p] & 31);
	return mask;
}

static bool
map_simple(const struct ranks_map *m)
{
	const struct rl_fwd *last = NULL;
	uint32_t last_mask = 0;

	for (uint32_t d = 0; d < m->nsw; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];
		uint32_t mask;

		if (f->port_class == NULL || f->nclass > 32) {
			if (!map_in_free(m, d))
				return false;
			continue;
		}
		mask = map_out_classes(m, d);
		if (last != NULL && last->sl2vl == f->sl2vl &&
		    last->nclass == f->nclass &&
		    last->nplanes == f->nplanes && (mask & ~last_mask) == 0)
			continue;
		if (!map_classes_free(m, f, mask | last_mask))
			return false;
		last = f;
		last_mask |= mask;
	}
	return true;
}

/* The channel that a hop takes, and its target. The VL to an endpoint may
 * depend on the input port: the lowest rank counts. */
static struct ranks_rec
map_rec(const struct ranks_map *m, uint32_t d, unsigned int port,
	unsigned int q, unsigned int slc)
{
	const struct rl_fwd *f = &m->in->fwd[d];
	const struct ranks_port *to = &m->port[m->port0[d] + port];
	const unsigned int sl = m->sl_of[slc];
	struct ranks_rec rec = {0};
	unsigned int vl, slot;

	if (to->dirlink == RANKS_NONE || q >= f->nplanes)
		return rec;
	vl = rl_fwd_vl(f, q, f->nports, (uint16_t)port, (uint8_t)sl) &
	     (RL_VCS - 1);
	rec.rank = m->in->rank[to->dirlink * RL_VCS + vl] + 1;
	if (to->dev < m->nsw) {
		slot = m->slot_of[map_plane(m, to->dev, vl, sl)][slc];
		rec.to = slot * m->nsw + to->dev;
		if (!m->slot_free[slot])
			rec.to |= RANKS_SEARCH;
		return rec;
	}
	rec.to = RANKS_ENDPOINT | to->dev;
	for (unsigned int in = 0; in < f->nports; in++) {
		const unsigned int v = rl_fwd_vl(f, q, (uint16_t)in,
						 (uint16_t)port, (uint8_t)sl) &
				       (RL_VCS - 1);
		const uint32_t rank =
			m->in->rank[to->dirlink * RL_VCS + v] + 1;

		if (rank < rec.rank)
			rec.rank = rank;
	}
	return rec;
}

/* Marks differences between SL classes, and the slots that planes lead to. */
static void
map_sum_up(struct ranks_map *m)
{
	for (size_t i = 0; i < (size_t)m->nports * RL_FWD_PLANES; i++) {
		const struct ranks_rec *a = &m->rec[0][i];
		uint32_t flag = 0;

		for (unsigned int c = 0; c < m->nslc; c++) {
			const struct ranks_rec *b = &m->rec[c][i];

			if (b->rank != 0 && !(b->to & RANKS_ENDPOINT))
				m->slots_of[i % RL_FWD_PLANES] |=
					1ull << (b->to & RANKS_TO) / m->nsw;
			if (a->rank != b->rank || a->to != b->to)
				flag = RANKS_BY_SL;
		}
		for (unsigned int c = 0; c < m->nslc; c++)
			m->rec[c][i].to |= flag;
	}
}

static int
map_recs(struct ranks_map *m)
{
	for (unsigned int c = 0; c < m->nslc; c++) {
		m->rec[c] = calloc((size_t)m->nports * RL_FWD_PLANES + 1,
				   sizeof(*m->rec[c]));
		if (m->rec[c] == NULL)
			return -ENOMEM;
		for (uint32_t d = 0; d < m->topo->ndev; d++)
			for (uint32_t p = m->port0[d]; p < m->port0[d + 1]; p++)
				for (unsigned int q = 0; q < m->nplanes; q++)
					m->rec[c][p * RL_FWD_PLANES + q] =
						map_rec(m, d, p - m->port0[d],
							q, c);
	}
	map_sum_up(m);
	return 0;
}

/*
 * Planes on which the SL does not matter for VLs and planes: a hop with such a
 * plane takes one VL, and is then on one plane, for all SLs.
 */
static void
map_free_planes(const struct ranks_map *m, bool *is_free)
{
	for (unsigned int p = 0; p < RL_FWD_PLANES; p++)
		is_free[p] = p < m->nplanes;
	for (uint32_t d = 0; d < m->nsw; d++) {
		const struct rl_fwd *f = &m->in->fwd[d];

		for (unsigned int vl = 0; vl < RL_VCS; vl++) {
			unsigned int seen = 0;

			for (unsigned int c = 0; c < m->nslc; c++)
				seen |= 1u << map_plane(m, d, vl, m->sl_of[c]);
			/*
			 * several planes share a VL: each carries only its own
			 * packets
			 */
			for (unsigned int p = 0; p < m->nplanes; p++)
				if ((seen >> p & 1) && seen != 1u << p)
					is_free[p] = false;
		}
		for (unsigned int c = 0; c < m->nslc; c++)
			is_free[f->inject_plane[m->sl_of[c]] &
				(RL_FWD_PLANES - 1)] &= m->nslc == 1;
	}
}

static void
map_slots(struct ranks_map *m)
{
	bool is_free[RL_FWD_PLANES];

	map_free_planes(m, is_free);
	for (unsigned int p = 0; p < m->nplanes; p++)
		for (unsigned int c = 0; c < m->nslc; c++) {
			if (is_free[p] && c != 0) {
				m->slot_of[p][c] = m->slot_of[p][0];
				continue;
			}
			m->slot_of[p][c] = (uint8_t)m->nslots;
			m->slot_plane[m->nslots] = (uint8_t)p;
			m->slot_slc[m->nslots] = (uint8_t)c;
			m->slot_free[m->nslots++] = is_free[p];
		}
}

int
check_ranks_ports(struct ranks_map *m, const struct rl_check_ranks *in)
{
	memset(m, 0, sizeof(*m));
	m->in = in;
	m->topo = in->topo;
	if (map_ports(m) != 0)
		return -ENOMEM;
	map_sls(m);
	return 0;
}

int
check_ranks_map(struct ranks_map *m, const struct rl_check_ranks *in)
{
	const int ret = check_ranks_ports(m, in);

	if (ret != 0)
		return ret;
	map_sl_classes(m);
	map_slots(m);
	m->simple = m->nslots <= 64 && map_simple(m);
	return m->simple ? map_recs(m) : 0;
}

void
check_ranks_map_free(struct ranks_map *m)
{
	for (unsigned int c = 0; c < RL_SLS; c++)
		free(m->rec[c]);
	free(m->live);
	free(m->port);
	free(m->port0);
}
