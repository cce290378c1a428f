/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line of opensm-subnet.lst, a cable with both its ends:
 *
 *   { CA Ports:01 SystemGUID:.. NodeGUID:0002c903000e7a20
 *     PortGUID:0002c903000e7a21 VenID:.. DevID:.. Rev:.. {node1} LID:0007 PN:01
 *     }
 *   { SW Ports:24 ... } PHY=4x LOG=ACT SPD=10
 *
 * LIDs and port numbers are hexadecimal. A port that is down has no second end,
 * or a LOG other than ACT.
 */

#include "ibnet_impl.h"

/* The hexadecimal value behind a key; does not move p. */
static bool
value_of(const char *p, const char *key, uint64_t max, uint64_t *v)
{
	p = strstr(p, key);
	if (p == NULL)
		return false;
	p += strlen(key);
	return rl_take_number(&p, 16, max, v);
}

static bool
kind_of(const char *p, enum rl_ibnet_kind *kind)
{
	if (strncmp(p, "SW", 2) == 0)
		*kind = RL_IBNET_SWITCH;
	else if (strncmp(p, "CA", 2) == 0)
		*kind = RL_IBNET_CA;
	else if (strncmp(p, "R", 1) == 0)
		*kind = RL_IBNET_ROUTER;
	else
		return false;
	return true;
}

static int
read_end(struct ibnet_read *r, const char **p, struct ibnet_end *end)
{
	const char *at = *p, *desc, *rest;
	uint64_t port, lid, node_guid;
	int ret;

	at = rl_skip_blanks(at + 1);
	desc = strchr(at, '{');
	rest = desc != NULL ? strstr(desc, "} LID:") : NULL;
	if (rest == NULL || !kind_of(at, &end->id.kind) ||
	    !value_of(at, "NodeGUID:", UINT64_MAX, &node_guid) ||
	    !value_of(at, "PortGUID:", UINT64_MAX, &end->guid) ||
	    !value_of(rest, "LID:", UINT16_MAX, &lid) ||
	    !value_of(rest, "PN:", 255, &port) || port == 0)
		return ibnet_error(r, r->in.line, "no end of a cable here; "
				   "OpenSM writes { SW Ports:.. NodeGUID:.. "
				   "PortGUID:.. {name} LID:.. PN:.. }");
	end->id.guid = node_guid;
	end->port = (uint32_t)port;
	end->lid = end->id.kind == RL_IBNET_SWITCH ? 0 : (uint32_t)lid;
	if (end->id.kind == RL_IBNET_SWITCH)
		end->guid = 0;
	ret = ibnet_add_node(r, end->id, (uint32_t)lid, desc + 1,
			     (size_t)(rest - desc - 1));
	at = strchr(rest + 1, '}');
	if (ret == 0 && at == NULL)
		return ibnet_error(r, r->in.line, "this end of a cable is not "
				   "closed by '}'; take the file whole");
	*p = at != NULL ? at + 1 : rest;
	return ret;
}

/* "PHY=4x ... SPD=10" */
static uint32_t
find_mbps(const char *p)
{
	const char *width = strstr(p, "PHY="), *speed = strstr(p, "SPD=");
	uint64_t lanes;

	if (width == NULL || speed == NULL)
		return 0;
	width += strlen("PHY=");
	return rl_take_number(&width, 10, 12, &lanes) ?
		       ibnet_mbps(lanes, speed + strlen("SPD=")) : 0;
}

int
ibnet_line_subnet(struct ibnet_read *r)
{
	struct ibnet_cable c = {.line = r->in.line};
	const char *p = rl_skip_blanks(r->text);
	int ret;

	if (*p != '{')
		return *p == '\0' || *p == '#' ?
			       0 :
			       ibnet_error(r, r->in.line, "no cable here; a "
					   "line of opensm-subnet.lst begins "
					   "with {");
	ret = read_end(r, &p, &c.end[0]);
	if (ret != 0)
		return ret;
	p = rl_skip_blanks(p);
	if (*p != '{')
		return 0;
	ret = read_end(r, &p, &c.end[1]);
	if (ret != 0 || (strstr(p, "LOG=") != NULL &&
			 strstr(p, "LOG=ACT") == NULL &&
			 strstr(p, "LOG=ARM") == NULL &&
			 strstr(p, "LOG=INI") == NULL))
		return ret;
	c.mbps = find_mbps(p);
	return ibnet_add_cable(r, &c);
}
