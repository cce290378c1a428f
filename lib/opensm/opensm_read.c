/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the tables of switches.
 *
 * LFTs, one block per switch, from OpenSM or dump_lfts:
 *   Unicast lids [0-32] of switch Lid 2 guid 0x0000000000200000 ('s0'):
 *   0x0001 005 # Channel Adapter portguid 0x0000000000100001: 'node1'
 * SL2VL, one row for each input and output port:
 *   Switch 0x0000000000200000, base LID 2, "s0"
 *   0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "opensm_impl.h"

int
osm_no_memory(struct osm_read *r)
{
	osm_error(r, RL_OPENSM_NET, 0, "no memory for the tables; take a "
				       "smaller fabric");
	return -ENOMEM;
}

void
osm_open(struct osm_read *r, enum rl_opensm_file file)
{
	const struct rl_opensm_text *t = &r->file[file];

	r->in = (struct rl_lines){t->text, t->text + t->len, 0};
}

int
osm_next(struct osm_read *r, enum rl_opensm_file file)
{
	const int got = rl_lines_next(&r->in, r->line, sizeof(r->line));

	if (got >= 0)
		return got;
	return osm_error(r, file, r->in.line, "a line that is not text, or "
			 "longer than %d bytes; OpenSM's dump is needed",
			 OSM_LINE_MAX - 1);
}

static uint64_t
osm_hex_after(const char *p, const char *key)
{
	uint64_t v;

	p = strstr(p, key);
	if (p == NULL)
		return 0;
	p += strlen(key);
	return rl_take_number(&p, 16, UINT64_MAX, &v) ? v : 0;
}

/* The switch with this GUID in a dump; NULL: not in the fabric. */
static struct osm_switch *
switch_of(struct osm_read *r, uint64_t guid)
{
	const uint32_t node = rl_ibnet_find_switch(&r->net, guid);

	if (node == RL_IBNET_NONE || r->sw_of_node[node] == RL_IBNET_NONE)
		return NULL;
	return &r->sw[r->sw_of_node[node]];
}

/* The beginning of a switch's block of LFTs. */
static int
lft_begin(struct osm_read *r, struct osm_switch **sw)
{
	const uint64_t guid = osm_hex_after(r->line, "guid ");

	if (guid == 0)
		return osm_error(r, RL_OPENSM_LFTS, r->in.line,
				 "no GUID of a switch; OpenSM writes: Unicast "
				 "lids [0-9] of switch Lid 1 guid 0x...");
	*sw = switch_of(r, guid);
	if (*sw == NULL) {
		r->osm->unknown_switches++;
		return 0;
	}
	if ((*sw)->lft != NULL)
		return 0; /* dump_lfts writes long tables in several blocks */
	(*sw)->lft = malloc(OSM_LIDS);
	if ((*sw)->lft == NULL)
		return osm_no_memory(r);
	memset((*sw)->lft, OSM_NO_PORT, OSM_LIDS);
	return 0;
}

/* "0x0001 005 # Channel Adapter portguid 0x...". */
static int
lft_row(struct osm_read *r, struct osm_switch *sw)
{
	const char *p = r->line;
	uint64_t lid, port;
	bool ok = rl_take_number(&p, 16, OSM_LIDS - 1, &lid);

	p = rl_skip_blanks(p);
	if (ok && strncmp(p, "UNREACHABLE", 11) == 0)
		return 0;
	ok = ok && rl_take_number(&p, 10, 255, &port);
	if (!ok)
		return osm_error(r, RL_OPENSM_LFTS, r->in.line,
				 "no LID and port here; OpenSM writes 0x0001 "
				 "005, with LIDs below 0xc000");
	if (sw != NULL)
		sw->lft[lid] = (uint8_t)port;
	r->guid_of_lid[lid] = osm_hex_after(p, "portguid ");
	return 0;
}

int
osm_read_lfts(struct osm_read *r)
{
	struct osm_switch *sw = NULL;
	bool any = false;
	int got, ret = 0;

	osm_open(r, RL_OPENSM_LFTS);
	while (ret == 0 && (got = osm_next(r, RL_OPENSM_LFTS)) != 0) {
		if (got < 0)
			return got;
		if (strstr(r->line, "nicast lids") != NULL) {
			ret = lft_begin(r, &sw);
			any = true;
		} else if (r->line[0] == '0' && (r->line[1] | 32) == 'x') {
			if (!any)
				return osm_error(r, RL_OPENSM_LFTS, r->in.line,
						 "a row of no switch; take the "
						 "file from its beginning");
			ret = lft_row(r, sw);
		}
	}
	if (ret == 0 && !any)
		return osm_error(r, RL_OPENSM_LFTS, r->in.line,
				 "there is no table in this file; what OpenSM "
				 "or dump_lfts writes is needed");
	for (uint32_t i = 0; i < r->nsw && ret == 0; i++)
		r->osm->missing_switches += r->sw[i].lft == NULL;
	return ret;
}

/* "0   1   : 0  1  2 ...", one VL for each SL. */
static int
sl2vl_row(struct osm_read *r, struct osm_switch *sw)
{
	const char *p = r->line;
	uint64_t in, out, vl;
	uint8_t row[RL_SLS];
	bool ok;

	ok = rl_take_number(&p, 10, 255, &in);
	p = rl_skip_blanks(p);
	ok = ok && rl_take_number(&p, 10, 255, &out);
	p = rl_skip_blanks(p);
	ok = ok && rl_take_word(&p, ":");
	for (int sl = 0; sl < RL_SLS && ok; sl++) {
		p = rl_skip_blanks(p);
		ok = rl_take_number(&p, 10, 15, &vl);
		row[sl] = (uint8_t)vl;
	}
	if (!ok)
		return osm_error(r, RL_OPENSM_SL2VL, r->in.line,
				 "no row of SL to VL here; OpenSM writes two "
				 "ports, a colon, and 16 VLs of 0 to 15");
	if (sw != NULL && in < sw->nports && out < sw->nports)
		memcpy(&sw->sl2vl[(in * sw->nports + out) * RL_SLS], row,
		       sizeof(row));
	return 0;
}

int
osm_read_sl2vl(struct osm_read *r)
{
	struct osm_switch *sw = NULL;
	int got, ret = 0;

	if (r->file[RL_OPENSM_SL2VL].text == NULL)
		return 0;
	osm_open(r, RL_OPENSM_SL2VL);
	while (ret == 0 && (got = osm_next(r, RL_OPENSM_SL2VL)) != 0) {
		const char *p = r->line;

		if (got < 0)
			return got;
		if (*p >= '0' && *p <= '9')
			ret = sl2vl_row(r, sw);
		else if (rl_take_word(&p, "Switch "))
			sw = switch_of(r, osm_hex_after(r->line, "Switch "));
		else if (*p != '#' && *p != '\0')
			sw = NULL; /* a channel adapter: ignored */
	}
	return ret;
}
