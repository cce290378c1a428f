/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads torus-2QoS.conf: one keyword per line, followed by its values; the rest
 * of the line is ignored, as in OpenSM. `torus` or `mesh` comes first.
 */
#include <errno.h>
#include <stdio.h>

#include "rl_lines.h"
#include "rl_refuse.h"
#include "rl_torus_conf.h"

#define CONF_LINE_MAX 1024

struct conf_read {
	struct rl_torus_conf *conf;
	struct rl_lines in;
	char text[CONF_LINE_MAX];
	char *err;
};

#define conf_error(r, ...)                                                     \
	rl_refuse((r)->err, RL_ERR_MAX, -EINVAL, __VA_ARGS__)

/* "torus 5 5t 4M": radices, each with a letter for its own shape. */
static int
read_shape(struct conf_read *r, const char *p, bool wrap)
{
	struct rl_torus_conf *c = r->conf;

	if (c->dims[0] != 0)
		return conf_error(r, "a second torus or mesh; the file "
				     "describes one");
	for (unsigned int d = 0; d < RL_DIMS_MAX; d++) {
		uint64_t radix;

		p = rl_skip_blanks(p);
		if (!rl_take_number(&p, 10, RL_DEVICES_MAX, &radix) ||
		    radix == 0)
			return conf_error(r, "radix %u is not a number from 1; "
					     "give three, such as torus 5 5 5",
					  d + 1);
		c->dims[d] = (uint16_t)radix;
		c->wrap[d] = wrap;
		if ((*p | 32) == 'm' || (*p | 32) == 't')
			c->wrap[d] = (*p++ | 32) == 't';
		if (*p != '\0' && *p != ' ' && *p != '\t')
			return conf_error(r, "radix %u has '%c' behind it; m "
					     "or t may follow a radix", d + 1,
					  *p < ' ' ? '?' : *p);
		c->wrap[d] = c->wrap[d] && radix > 2;
	}
	return 0;
}

static struct rl_torus_seed *
seed_now(struct conf_read *r)
{
	if (r->conf->nseeds == 0) {
		r->conf->nseeds = 1;
		r->conf->seed[0].line = r->in.line;
	}
	return &r->conf->seed[r->conf->nseeds - 1];
}

/* "xp_link 0x200000 0x200001". */
static int
read_link(struct conf_read *r, const char *p, unsigned int d, unsigned int way)
{
	struct rl_torus_seed *s = seed_now(r);
	uint64_t from, to;
	bool ok;

	p = rl_skip_blanks(p);
	ok = rl_take_number(&p, 16, UINT64_MAX, &from);
	p = rl_skip_blanks(p);
	if (!ok || !rl_take_number(&p, 16, UINT64_MAX, &to) || from == 0 ||
	    to == 0)
		return conf_error(r, "a link without two GUIDs; write xp_link "
				     "0x<GUID> 0x<GUID>");
	if (s->from != 0 && s->from != from)
		return conf_error(r, "this link begins at another switch than "
				     "the others of its seed; all begin at one, "
				     "next_seed begins a new seed");
	if (s->from == 0)
		s->line = r->in.line;
	s->from = from;
	s->to[d][way] = to;
	return 0;
}

static int
read_dateline(struct conf_read *r, const char *p, unsigned int d)
{
	bool minus;
	uint64_t v;

	p = rl_skip_blanks(p);
	minus = rl_take_word(&p, "-");
	if (!minus)
		rl_take_word(&p, "+");
	if (!rl_take_number(&p, 10, RL_DEVICES_MAX, &v))
		return conf_error(r, "a dateline without its place; write "
				     "x_dateline -2");
	seed_now(r)->dateline[d] = minus ? -(int32_t)v : (int32_t)v;
	return 0;
}

static int
read_order(struct conf_read *r, const char *p)
{
	struct rl_torus_conf *c = r->conf;

	for (p = rl_skip_blanks(p); *p != '\0' && *p != '#';
	     p = rl_skip_blanks(p)) {
		uint64_t port;

		if (!rl_take_number(&p, 10, 255, &port))
			return conf_error(r, "a port of port_order is not "
					     "a number of 0 to 255; write "
					     "port_order 7 10 8");
		if (memchr(c->order, (int)port, c->norder) == NULL)
			c->order[c->norder++] = (uint8_t)port;
	}
	return 0;
}

static int
read_number(struct conf_read *r, const char *p, const char *key, uint32_t *to)
{
	uint64_t v;

	p = rl_skip_blanks(p);
	if (!rl_take_number(&p, 10, UINT32_MAX, &v))
		return conf_error(r, "%s without its number; write %s 16", key,
				  key);
	*to = (uint32_t)v;
	return 0;
}

/* "xp_link", "z_dateline" and the like, for a dimension. */
static int
read_of_dimension(struct conf_read *r, const char *word, const char *p)
{
	const unsigned int d = (unsigned int)(word[0] - 'x');

	if (d < RL_DIMS_MAX && strncmp(word + 1, "p_link", 6) == 0)
		return read_link(r, p, d, 0);
	if (d < RL_DIMS_MAX && strncmp(word + 1, "m_link", 6) == 0)
		return read_link(r, p, d, 1);
	if (d < RL_DIMS_MAX && strncmp(word + 1, "_dateline", 9) == 0)
		return read_dateline(r, p, d);
	return conf_error(r, "there is no keyword '%.*s'; see "
			     "torus-2QoS.conf(5)",
			  (int)strcspn(word, " \t"), word);
}

static int
read_line(struct conf_read *r)
{
	struct rl_torus_conf *c = r->conf;
	const char *word = rl_skip_blanks(r->text);
	const size_t n = strcspn(word, " \t");
	const char *p = word + n;

	if (*word == '\0' || *word == '#')
		return 0;
	if (n == 5 && strncmp(word, "torus", 5) == 0)
		return read_shape(r, p, true);
	if (n == 4 && strncmp(word, "mesh", 4) == 0)
		return read_shape(r, p, false);
	if (c->dims[0] == 0)
		return conf_error(r, "the first keyword is not torus or mesh; "
				     "begin with torus X Y Z");
	if (n == 9 && strncmp(word, "next_seed", 9) == 0) {
		if (c->nseeds == RL_TORUS_SEEDS_MAX)
			return conf_error(r, "more than %d seeds; give fewer",
					  RL_TORUS_SEEDS_MAX);
		c->seed[c->nseeds++].line = r->in.line;
		return 0;
	}
	if (n == 10 && strncmp(word, "port_order", 10) == 0)
		return read_order(r, p);
	if (n == 19 && strncmp(word, "portgroup_max_ports", 19) == 0)
		return read_number(r, p, "portgroup_max_ports",
				   &c->portgroup_max_ports);
	if (n == 11 && strncmp(word, "max_changes", 11) == 0)
		return read_number(r, p, "max_changes", &c->max_changes);
	return read_of_dimension(r, word, p);
}

int
rl_torus_conf_read(const char *text, size_t len, struct rl_torus_conf *conf,
		   char *err, int *line)
{
	struct conf_read r = {.conf = conf, .in = {text, text + len, 0},
			      .err = err};
	uint32_t n = 0;
	int got, ret = 0;

	memset(conf, 0, sizeof(*conf));
	conf->portgroup_max_ports = 16;
	conf->max_changes = 32;
	while (ret == 0 &&
	       (got = rl_lines_next(&r.in, r.text, sizeof(r.text))) != 0)
		ret = got > 0 ? read_line(&r) :
				conf_error(&r, "a line that is not text, or "
					       "longer than %d bytes; is this "
					       "a torus-2QoS.conf?",
					   CONF_LINE_MAX - 1);
	for (uint32_t i = 0; i < conf->nseeds; i++)
		if (conf->seed[i].from != 0)
			conf->seed[n++] = conf->seed[i];
	conf->nseeds = n;
	if (ret == 0 && (conf->dims[0] == 0 || n == 0))
		ret = conf_error(&r, "the file has no %s; see "
				     "torus-2QoS.conf(5)",
				 conf->dims[0] == 0 ? "torus or mesh" : "seed");
	*line = ret != 0 ? (int)r.in.line : 0;
	return ret;
}
