/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service levels. Tables of V VLs are doubled, tripled, ...: level q has the
 * VLs q*V .. q*V+V-1 for its own, and packets use them like the first V. The
 * levels share only links: no packet ever changes its level, so the copies are
 * independent, and a level whose receivers stop blocks no other [LCB-3].
 *
 * The SL selects the level: of the 16, level q has 16/levels from q*16/levels
 * on. An endpoint chooses by the class of service of a flow.
 */
#include <errno.h>
#include <stdio.h>

#include "rl_refuse.h"
#include "route_impl.h"

/* VLs of one level: tables with levels keep the number of the first. */
static unsigned int
base_vls(const struct rl_route *r)
{
	const struct rl_fwd *f = r->fwd;

	if (r->ndev == 0)
		return 1;
	return f->levels > 1 ? f->nvls / f->levels : f->nvls;
}

/* Highest SL of any path. */
static uint8_t
top_sl(const struct rl_route *r)
{
	uint8_t top = 0;

	for (uint32_t d = 0; d < r->ndev; d++) {
		const uint8_t *sl = r->fwd[d].path_sl;

		for (uint32_t e = 0; sl != NULL && e < r->nep; e++)
			if (sl[e] > top)
				top = sl[e];
	}
	return top;
}

static void
fwd_levels(struct rl_fwd *f, unsigned int vls, unsigned int levels)
{
	const unsigned int sls = RL_SLS / levels;

	for (unsigned int sl = 0; sl < RL_SLS; sl++) {
		const unsigned int q = sl / sls;

		f->inject_plane[sl] = f->inject_plane[sl % sls];
		for (unsigned int vl = 0; vl < vls; vl++)
			f->plane_of[q * vls + vl][sl] =
				f->plane_of[vl][sl % sls];
	}
	f->levels = (uint8_t)levels;
	f->nvls = (uint8_t)(vls * levels);
}

int
rl_route_levels(struct rl_route *r, unsigned int levels, char *err)
{
	const unsigned int vls = base_vls(r);
	const unsigned int sls = levels == 0 ? 0 : RL_SLS / levels;
	struct route_mem *m = r->priv;

	if (levels == 0 || (levels & (levels - 1)) != 0 || levels > RL_VCS)
		return rl_refuse(err, RL_ERR_MAX, -EINVAL, "%u service levels: "
				 "use 1, 2, 4 or 8", levels);
	if (vls * levels > RL_VCS)
		return rl_refuse(err, RL_ERR_MAX, -EINVAL, "%u service levels "
				 "of %u VLs each need more than the %d there "
				 "are", levels, vls, RL_VCS);
	if (top_sl(r) >= sls)
		return rl_refuse(err, RL_ERR_MAX, -EINVAL, "%u service levels "
				 "leave %u SLs for the paths, which need %u",
				 levels, sls, top_sl(r) + 1u);
	for (size_t row = 0; r->ndev != 0 &&
	     row < (size_t)r->fwd[0].nplanes * ROUTE_CLASSES * ROUTE_CLASSES;
	     row++) {
		uint8_t *vl = m->vl + row * RL_SLS;

		for (unsigned int sl = sls; sl < RL_SLS; sl++)
			vl[sl] = (uint8_t)(vl[sl % sls] + vls * (sl / sls));
	}
	for (uint32_t c = 0; r->rank != NULL && c < m->nchan; c++)
		if (c % RL_VCS >= vls && c % RL_VCS < vls * levels)
			r->rank[c] = r->rank[c - c % RL_VCS + c % RL_VCS % vls];
	r->accepted = false;
	for (uint32_t d = 0; d < r->ndev; d++)
		fwd_levels(&r->fwd[d], vls, levels);
	return 0;
}

int
rl_route_compute_levels(const struct rl_topo *topo, const char *engine,
			unsigned int max_vls, unsigned int levels,
			struct rl_route **out, char *err)
{
	int ret;

	*out = NULL;
	if (levels == 0 || max_vls / levels == 0)
		return rl_refuse(err, RL_ERR_MAX, -EINVAL, "%u service levels "
				 "need as many VLs, and there are %u", levels,
				 max_vls);
	ret = rl_route_compute(topo, engine, max_vls / levels, out, err);
	if (ret != 0 || levels == 1)
		return ret;
	ret = rl_route_levels(*out, levels, err);
	if (ret != 0) {
		rl_route_free(*out);
		*out = NULL;
	}
	return ret;
}
