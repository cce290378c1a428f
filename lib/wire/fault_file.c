/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fault files: one fault a line, "TIME WHAT LINK [option ...]";
 * docs/simulation.md describes the format. A line may apply to several links
 * (parallel ones, or all of a device) and several times (a flap), so it can
 * stand for several faults.
 */

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_priv.h"

#define WORDS_MAX 16
#define LINE_MAX_BYTES 512

struct script {
	const char *name;
	const struct rl_topo *topo;
	int (*take)(void *ctx, const struct rl_fault *f);
	void *ctx;
	uint32_t n; /* faults so far */
	const struct rl_fault_run_lines *run; /* NULL: they are skipped */
	bool ran; /* there was one */
	uint32_t line;
	char *err;
	size_t errlen;
};

struct words {
	char text[LINE_MAX_BYTES];
	char *w[WORDS_MAX];
	unsigned int n;
};

__attribute__((format(printf, 2, 3))) static int
refuse(struct script *s, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(s->err, s->errlen, "%s:%u: ", s->name, s->line);

	if (n < 0 || (size_t)n >= s->errlen)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(s->err + n, s->errlen - (size_t)n, fmt, ap);
	va_end(ap);
	/* remove control characters, which could corrupt a terminal */
	for (char *p = s->err + n; *p != '\0'; p++)
		if (iscntrl((unsigned char)*p))
			*p = '?';
	return -EINVAL;
}

static int
parse_option(struct script *s, struct fault_line *l, char *word)
{
	const char *const kind = rl_fault_name(l->f.kind);
	char *eq = strchr(word, '=');
	int ret;

	if (eq != NULL)
		*eq = '\0';
	ret = fault_word_take(l, word, eq == NULL ? NULL : eq + 1);
	if (ret == -ENOENT && eq == NULL)
		return refuse(s, "unknown option %s of %s; see "
				 "docs/simulation.md", word, kind);
	if (ret == -ENOENT)
		return refuse(s, "%s has no option %s; see docs/simulation.md",
			      kind, word);
	if (ret != 0)
		return refuse(s, "%s: bad value %s; times need a unit (10us), "
				 "rates are 0 to 1 (propagate: less), counts are "
				 "1 or more, lanes 1, 2, 4, 8 or 16",
			      word, eq + 1);
	return 0;
}

/* "cut", or two words: "controller late". @return whether there is one */
static bool
parse_kind(const struct words *w, struct fault_line *l)
{
	char two[2 * LINE_MAX_BYTES];

	if (strcmp(w->w[1], "flap") == 0) {
		l->f.kind = RL_FAULT_CUT;
		l->flap = true;
		l->flaps = 2;
		l->dark_ns = l->light_ns = 10000;
		return true;
	}
	snprintf(two, sizeof(two), "%s %s", w->w[1], w->w[2]);
	for (unsigned int k = 0; k < RL_FAULT_KINDS; k++) {
		const bool whole = k >= RL_FAULT_CTL_CRASH;

		if (strcmp(whole ? two : w->w[1], rl_fault_name(k)) != 0)
			continue;
		l->f.kind = (enum rl_fault_kind)k;
		return true;
	}
	return false;
}

static int
add_one(struct script *s, const struct rl_fault *f)
{
	if (s->n++ == RL_FAULTS_MAX)
		return refuse(s, "the file has more than %u faults, flaps and "
				 "links of devices counted one by one; use "
				 "fewer", RL_FAULTS_MAX);
	return s->take(s->ctx, f);
}

static int
add_link(struct script *s, struct rl_fault f, const struct fault_line *l)
{
	struct rl_fault heal;
	int ret = add_one(s, &f);

	for (uint32_t i = 1; l->flap && ret == 0; i++) {
		heal = f;
		heal.kind = RL_FAULT_HEAL;
		heal.t_ns = f.t_ns + l->dark_ns;
		ret = add_one(s, &heal);
		if (ret != 0 || i == l->flaps)
			break;
		f.t_ns = heal.t_ns + l->light_ns;
		ret = add_one(s, &f);
	}
	return ret;
}

static int
add_device(struct script *s, const struct fault_line *l, uint32_t dev)
{
	struct rl_fault f = l->f;
	const struct rl_topo_dev *d = &s->topo->dev[dev];
	int ret = 0;

	for (uint16_t p = 0; ret == 0 && p < d->nports; p++) {
		f.link = d->port[p].link;
		ret = add_link(s, f, l);
	}
	return ret;
}

/* Adds a fault at a place: "A-B", "A-B#k", "A>B", "A>B#k" or "A". */
static int
add_place(struct script *s, const struct fault_line *l, const char *place)
{
	struct rl_fault f = l->f;
	char name[2 * RL_NAME_MAX + 16], *arrow;
	unsigned int n = 0;
	int64_t link;
	int32_t dev;
	int ret = 0;

	if (strlen(place) >= sizeof(name))
		return refuse(s, "no link or device %.40s...", place);
	strcpy(name, place);
	arrow = strchr(name, '>');
	if (arrow != NULL)
		*arrow = '-';
	dev = rl_topo_find_dev(s->topo, name);
	if (dev >= 0)
		return add_device(s, l, (uint32_t)dev);
	link = rl_topo_find_link(s->topo, name, &n);
	if (link < 0)
		return refuse(s, "no link or device %s in this fabric", place);
	dev = (int32_t)s->topo->link[link].dev[0];
	f.counts = strncmp(name, s->topo->dev[dev].name,
			   strlen(s->topo->dev[dev].name)) != 0 ||
		   name[strlen(s->topo->dev[dev].name)] != '-';
	if (arrow != NULL)
		f.dirs = f.counts ? RL_FAULT_DIR_BA : RL_FAULT_DIR_AB;
	for (unsigned int k = 0; ret == 0 && k < n; k++) {
		f.link = rl_topo_link_of(s->topo, link, n, k);
		ret = add_link(s, f, l);
	}
	return ret;
}

static int
add_whole(struct script *s, const struct fault_line *l, const char *name)
{
	const bool plan = l->f.kind == RL_FAULT_REMOVE || l->f.kind == RL_FAULT_ADD;
	const int32_t dev = rl_topo_find_dev(s->topo, name);
	struct rl_fault f = l->f;

	if (dev < 0 && plan)
		return add_place(s, l, name);
	if (dev < 0)
		return refuse(s, "no device %s in this fabric", name);
	if ((f.kind == RL_FAULT_BLOCK || f.kind == RL_FAULT_UNBLOCK) &&
	    s->topo->dev[dev].kind != RL_DEV_ENDPOINT)
		return refuse(s, "%s is no endpoint", name);
	f.dev = (uint32_t)dev;
	f.is_dev = true;
	return add_link(s, f, l);
}

/* "run KEY=VALUE ...": what neither the fabric nor a fault says. */
static int
parse_run(struct script *s, struct words *w)
{
	if (s->run == NULL)
		return 0;
	s->run->begin(s->run->ctx);
	s->ran = true;
	for (unsigned int i = 1; i < w->n; i++) {
		char *eq = strchr(w->w[i], '=');
		int ret;

		if (eq != NULL)
			*eq = '\0';
		ret = eq == NULL ? -ENOENT
				 : s->run->take(s->run->ctx, w->w[i], eq + 1);
		if (ret == -ENOENT)
			return refuse(s, "run has no setting %s; see "
					 "docs/simulation.md", w->w[i]);
		if (ret != 0)
			return refuse(s, "run: bad value of %s: %s", w->w[i],
				      eq + 1);
	}
	return 0;
}

/* What a kind cannot do without. */
static int
check_line(struct script *s, struct rl_fault *f)
{
	if ((f->kind == RL_FAULT_DROP || f->kind == RL_FAULT_CORRUPT) && f->nth == 0)
		f->nth = 1;
	if (f->kind == RL_FAULT_STALL && (f->for_ns == RL_NEVER || f->for_ns == 0))
		return refuse(s, "stall: how long? add for=10us");
	if (f->for_ns == RL_NEVER)
		return refuse(s, "late: by how much? add for=5ms");
	return 0;
}

static int
parse_line(struct script *s, struct words *w)
{
	struct fault_line l = { .f.dirs = RL_FAULT_DIR_BOTH, .f.line = s->line };

	if (strcmp(w->w[0], "run") == 0)
		return parse_run(s, w);
	if (w->n < 3)
		return refuse(s, "expected TIME WHAT LINK");
	if (fault_time(w->w[0], &l.f.t_ns) != 0)
		return refuse(s, "bad time %s; use 100ns, 10us, 1.5ms or 2s, "
				 "at most an hour",
			      w->w[0]);
	if (!parse_kind(w, &l))
		return strcmp(w->w[1], "controller") == 0
			       ? refuse(s, "expected controller crash, restart "
					   "or late for=5ms")
			       : refuse(s, "unknown fault %s; use cut, heal, "
					   "flap, stall, noise, drop, corrupt, "
					   "down, drain, up, crash, restart, "
					   "remove, add, late, soft, poison, "
					   "block, unblock or controller",
					w->w[1]);
	if (l.f.kind == RL_FAULT_STALL || l.f.kind == RL_FAULT_LATE ||
	    l.f.kind == RL_FAULT_CTL_LATE)
		l.f.for_ns = RL_NEVER;
	for (unsigned int i = 3; i < w->n; i++)
		if (parse_option(s, &l, w->w[i]) != 0)
			return -EINVAL;
	if (check_line(s, &l.f) != 0)
		return -EINVAL;
	return l.f.kind >= RL_FAULT_CTL_CRASH ? add_link(s, l.f, &l)
	       : l.f.kind >= RL_FAULT_CRASH   ? add_whole(s, &l, w->w[2])
					    : add_place(s, &l, w->w[2]);
}

/*
 * Splits a line into words. A '#' at the start of a word begins a comment;
 * within a word it numbers a parallel link.
 */
static int
split(struct script *s, struct words *w, const char *line, size_t len)
{
	char *p = w->text;

	w->n = 0;
	if (len >= sizeof(w->text))
		return refuse(s, "line of %zu bytes; the most is %zu", len,
			      sizeof(w->text) - 1);
	if (memchr(line, '\0', len) != NULL)
		return refuse(s, "a zero byte: this is not text");
	memcpy(w->text, line, len);
	w->text[len] = '\0';
	for (;;) {
		p += strspn(p, " \t\r");
		if (*p == '\0' || *p == '#')
			return 0;
		if (w->n == WORDS_MAX)
			return refuse(s, "more than %u words", WORDS_MAX);
		w->w[w->n++] = p;
		p += strcspn(p, " \t\r");
		if (*p != '\0')
			*p++ = '\0';
	}
}

static int
parse_text(struct script *s, const char *text, size_t len)
{
	struct words w;

	for (size_t at = 0; at < len;) {
		const char *nl = memchr(text + at, '\n', len - at);
		const size_t end = nl == NULL ? len : (size_t)(nl - text);
		int ret;

		s->line++;
		ret = split(s, &w, text + at, end - at);
		if (ret == 0 && w.n != 0)
			ret = parse_line(s, &w);
		if (ret != 0)
			return ret;
		at = end + 1;
	}
	return 0;
}

int
rl_fault_file(const char *name, const char *text, size_t len,
	      const struct rl_topo *topo, const struct rl_fault_run_lines *run,
	      int (*take)(void *ctx, const struct rl_fault *f), void *ctx,
	      char *err, size_t errlen)
{
	struct script s = {
		.name = name, .topo = topo, .run = run, .take = take,
		.ctx = ctx, .err = err, .errlen = errlen,
	};
	char why[RL_ERR_MAX];
	int ret;

	err[0] = '\0';
	ret = parse_text(&s, text, len);
	if (ret == 0 && s.ran && run->check(run->ctx, why) != 0)
		ret = refuse(&s, "run: %s", why);
	return ret;
}
