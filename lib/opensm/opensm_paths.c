/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The SLs of paths, in one of two formats. OpenSM's plugin writes a block for
 * each source:
 *   Channel Adapter 0x0000000000100001, base LID 1, "node1", port 1
 *   # LID  : SL : MTU : RATE
 *   0x0005 : 3  : 5   : 3
 * `saquery -p` writes a block for each pair:
 *   PathRecord dump:
 *           dlid....................5
 *           slid....................1
 *           sl......................0x3
 */
#include <stdlib.h>

#include "opensm_impl.h"

/* The endpoint of a LID; RL_IBNET_NONE for those of switches. */
static uint32_t
end_of(const struct osm_read *r, uint64_t lid)
{
	return lid < OSM_LIDS ? r->end_of_lid[lid] : RL_IBNET_NONE;
}

static void
set_sl(struct osm_read *r, uint32_t src, uint32_t dst, uint64_t sl)
{
	for (uint32_t e = src; e < r->nend &&
			       r->end[e].port == r->end[src].port; e++)
		r->path_sl[(size_t)e * r->nend + dst] = (uint8_t)sl;
}

/* "0x0005 : 3 : ..." of the current source. */
static int
plugin_row(struct osm_read *r, uint32_t src)
{
	const char *p = r->line;
	uint64_t lid, sl;
	bool ok = rl_take_number(&p, 16, OSM_LIDS - 1, &lid);

	p = rl_skip_blanks(p);
	ok = ok && rl_take_word(&p, ":");
	p = rl_skip_blanks(p);
	if (ok && strncmp(p, "UNREACHABLE", 11) == 0)
		return 0;
	if (!ok || !rl_take_number(&p, 10, RL_SLS - 1, &sl))
		return osm_error(r, RL_OPENSM_PATHS, r->in.line,
				 "no LID and SL here; OpenSM's plugin writes "
				 "0x0001 : 0, with SLs of 0 to 15");
	if (src != RL_IBNET_NONE && end_of(r, lid) != RL_IBNET_NONE)
		set_sl(r, src, end_of(r, lid), sl);
	return 0;
}

/* The number behind the dots of a line of saquery; false: another line. */
static bool
saquery_value(const char *line, const char *key, uint64_t *v)
{
	const char *p = rl_skip_blanks(line);
	const size_t n = strlen(key);

	if (strncmp(p, key, n) != 0 || p[n] != '.')
		return false;
	p += n + strspn(p + n, ".");
	return rl_take_number(&p, p[0] == '0' && p[1] == 'x' ? 16 : 10,
			      UINT16_MAX, v);
}

/* A pair from saquery, as far as it has been read. */
struct saquery {
	uint64_t slid;
	uint64_t dlid;
	uint64_t sl;
};

static int
saquery_line(struct osm_read *r, struct saquery *q)
{
	uint64_t v;

	if (saquery_value(r->line, "slid", &v))
		q->slid = v;
	else if (saquery_value(r->line, "dlid", &v))
		q->dlid = v;
	else if (saquery_value(r->line, "sl", &v))
		q->sl = v;
	else
		return 0;
	if (q->slid == 0 || q->dlid == 0 || q->sl == UINT64_MAX)
		return 0;
	if (q->sl >= RL_SLS)
		return osm_error(r, RL_OPENSM_PATHS, r->in.line,
				 "SL %u; SLs are 0 to 15", (unsigned int)q->sl);
	if (end_of(r, q->slid) != RL_IBNET_NONE &&
	    end_of(r, q->dlid) != RL_IBNET_NONE)
		set_sl(r, end_of(r, q->slid), end_of(r, q->dlid), q->sl);
	*q = (struct saquery){.sl = UINT64_MAX};
	return 0;
}

int
osm_read_paths(struct osm_read *r)
{
	struct saquery q = {.sl = UINT64_MAX};
	uint32_t src = RL_IBNET_NONE;
	bool saquery = false;
	int got, ret = 0;

	r->path_sl = calloc((size_t)r->nend * r->nend + 1, 1);
	if (r->path_sl == NULL)
		return osm_no_memory(r);
	if (r->file[RL_OPENSM_PATHS].text == NULL)
		return 0;
	osm_open(r, RL_OPENSM_PATHS);
	while (ret == 0 && (got = osm_next(r, RL_OPENSM_PATHS)) != 0) {
		const char *lid;

		if (got < 0)
			return got;
		lid = strstr(r->line, "base LID ");
		if (strstr(r->line, "PathRecord") != NULL) {
			saquery = true;
			q = (struct saquery){.sl = UINT64_MAX};
		} else if (saquery) {
			ret = saquery_line(r, &q);
		} else if (r->line[0] == '0') {
			ret = plugin_row(r, src);
		} else if (lid != NULL) {
			uint64_t v;

			lid += strlen("base LID ");
			src = rl_take_number(&lid, 10, UINT16_MAX, &v) ?
				      end_of(r, v) : RL_IBNET_NONE;
		}
	}
	return ret;
}
