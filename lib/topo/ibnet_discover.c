/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One line of the output of ibnetdiscover:
 *
 *   Switch  36 "S-0002c90200404a60"  # "leaf 1" enhanced port 0 lid 6 lmc 0
 *   [1]     "H-0002c903000e7a20"[1](2c903000e7a21)   # "node1" lid 7 4xQDR
 *   [19][ext 1]  "S-0002c90200404a80"[3][ext 2]      # "spine 1" lid 2 4xQDR
 *
 *   Ca      2 "H-0002c903000e7a20"   # "node1 HCA-1"
 *   [1](2c903000e7a21) "S-0002c90200404a60"[1] # lid 7 lmc 0 "leaf 1" lid 6 ...
 *
 * Lines of other forms - vendid=, caguid=, "Chassis 1 ..." - are ignored.
 */

#include "ibnet_impl.h"

/* "S-0002c90200404a60" in quotes. */
static bool
take_id(const char **p, struct ibnet_id *id)
{
	const char *at = *p;

	if (!rl_take_word(&at, "\""))
		return false;
	if (rl_take_word(&at, "S-"))
		id->kind = RL_IBNET_SWITCH;
	else if (rl_take_word(&at, "H-"))
		id->kind = RL_IBNET_CA;
	else if (rl_take_word(&at, "R-"))
		id->kind = RL_IBNET_ROUTER;
	else
		return false;
	if (!rl_take_number(&at, 16, UINT64_MAX, &id->guid) ||
	    !rl_take_word(&at, "\""))
		return false;
	*p = at;
	return true;
}

/* "[1]", then its optional suffixes: "[ext 2]", "(2c903000e7a21)". */
static bool
take_port(const char **p, struct ibnet_end *end)
{
	const char *at = *p;
	uint64_t v;

	if (!rl_take_word(&at, "[") || !rl_take_number(&at, 10, 255, &v) ||
	    v == 0 || !rl_take_word(&at, "]"))
		return false;
	end->port = (uint32_t)v;
	for (;;) {
		if (*at == '[') {
			at += strcspn(at, "]");
			if (!rl_take_word(&at, "]"))
				return false;
		} else if (*at == '(') {
			at++;
			if (!rl_take_number(&at, 16, UINT64_MAX, &end->guid) ||
			    !rl_take_word(&at, ")"))
				return false;
		} else {
			break;
		}
	}
	*p = at;
	return true;
}

/* The number behind " <word> " in a comment, or 0. */
static uint32_t
find_number(const char *comment, const char *word)
{
	const char *p = strstr(comment, word);
	uint64_t v;

	if (p == NULL)
		return 0;
	p += strlen(word);
	return rl_take_number(&p, 10, UINT16_MAX, &v) ? (uint32_t)v : 0;
}

/* A comment begins at the first '#' outside quotes. */
static const char *
comment_of(const char *p)
{
	bool quoted = false;

	for (; *p != '\0'; p++) {
		if (*p == '"')
			quoted = !quoted;
		if (*p == '#' && !quoted)
			return p + 1;
	}
	return p;
}

/* "4xQDR" at the end of a comment; the description may contain anything. */
static uint32_t
find_mbps(const char *comment)
{
	const char *p = strrchr(comment, '"'), *x;
	uint64_t lanes;

	for (p = p != NULL ? p + 1 : comment; *p != '\0'; p++) {
		x = p;
		if (rl_take_number(&x, 10, 12, &lanes) && *x == 'x')
			return ibnet_mbps(lanes, x + 1);
		p += strcspn(p, " \t");
		if (*p == '\0')
			break;
	}
	return 0;
}

static int
read_node(struct ibnet_read *r, const char *p, enum rl_ibnet_kind kind)
{
	const char *comment = comment_of(p), *desc, *end;
	struct ibnet_id id;
	uint64_t ports;

	p = rl_skip_blanks(p);
	if (!rl_take_number(&p, 10, 255, &ports))
		return ibnet_error(r, r->in.line, "no number of ports here; "
				   "ibnetdiscover writes: Switch 36 \"S-...\"");
	p = rl_skip_blanks(p);
	if (!take_id(&p, &id) || id.kind != kind)
		return ibnet_error(r, r->in.line, "no node here; ibnetdiscover "
				   "writes: Switch 36 \"S-<guid>\", Ca 1 "
				   "\"H-<guid>\" or Rt 1 \"R-<guid>\"");
	desc = strchr(comment, '"');
	end = strrchr(comment, '"');
	if (desc == NULL || end == desc)
		return ibnet_add_node(r, id, 0, "", 0);
	return ibnet_add_node(r, id, find_number(end, " lid "), desc + 1,
			      (size_t)(end - desc - 1));
}

static int
read_port(struct ibnet_read *r, const char *p)
{
	const char *comment = comment_of(p), *lid = strchr(comment, '"');
	struct ibnet_cable c = {.mbps = find_mbps(comment), .line = r->in.line};
	const struct rl_ibnet_node *node;

	if (r->net->nnode == 0)
		return ibnet_error(r, r->in.line, "a port of no node; is the "
				   "beginning of the file missing? Take it "
				   "whole");
	node = &r->net->node[r->net->nnode - 1];
	c.end[0].id = (struct ibnet_id){node->kind, node->guid};
	if (!take_port(&p, &c.end[0]))
		return ibnet_error(r, r->in.line, "no port here; ibnetdiscover "
				   "writes [1], with a number of 1 to 255");
	p = rl_skip_blanks(p);
	if (!take_id(&p, &c.end[1].id) || !take_port(&p, &c.end[1]))
		return ibnet_error(r, r->in.line, "nothing that port %u is "
				   "linked to; ibnetdiscover writes [1] "
				   "\"S-<guid>\"[2]", c.end[0].port);
	/* a CA's own LID is before the peer's description */
	if (node->kind != RL_IBNET_SWITCH && lid != NULL) {
		char own[64] = "";
		const size_t n = rl_min_u64((uint64_t)(lid - comment),
					    sizeof(own) - 1);

		memcpy(own, comment, n);
		c.end[0].lid = find_number(own, " lid ");
		c.end[0].lmc = find_number(own, " lmc ") & 7;
	}
	return ibnet_add_cable(r, &c);
}

/* A word, a number and a name in quotes: the ports below are its own. */
static bool
is_node(const char *p)
{
	uint64_t ports;

	p += strcspn(p, " \t");
	p = rl_skip_blanks(p);
	if (!rl_take_number(&p, 10, UINT64_MAX, &ports))
		return false;
	p = rl_skip_blanks(p);
	return *p == '"';
}

int
ibnet_line_discover(struct ibnet_read *r)
{
	const char *p = rl_skip_blanks(r->text);

	if (rl_take_word(&p, "Switch\t") || rl_take_word(&p, "Switch "))
		return read_node(r, p, RL_IBNET_SWITCH);
	/* ibsim's name for it */
	if (rl_take_word(&p, "Ca\t") || rl_take_word(&p, "Ca ") ||
	    rl_take_word(&p, "Hca\t") || rl_take_word(&p, "Hca "))
		return read_node(r, p, RL_IBNET_CA);
	if (rl_take_word(&p, "Rt\t") || rl_take_word(&p, "Rt "))
		return read_node(r, p, RL_IBNET_ROUTER);
	if (*p == '[')
		return read_port(r, p);
	return is_node(p) ? ibnet_error(r, r->in.line, "a node of a kind that "
					"is not known: \"%.*s\"; there are "
					"Switch, Ca (or Hca) and Rt",
					(int)strcspn(p, " \t"), p) :
			    0;
}
