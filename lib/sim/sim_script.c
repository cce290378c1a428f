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

#include "rl_error.h"
#include "rl_infile.h"
#include "rl_sim_case.h"

#define WORDS_MAX 16
#define LINE_MAX_BYTES 512
#define FILE_MAX_BYTES (16u << 20)
#define TIME_MAX_NS (3600 * RL_NS_PER_S)

struct script {
	const char *name;
	const struct rl_topo *topo;
	struct rl_sim_faults list;
	struct rl_sim_plan *plan; /* that `run` lines set; NULL: none */
	bool run;		  /* there was one */
	uint32_t line;
	char *err;
	size_t errlen;
};

/* The words of a line. */
struct words {
	char text[LINE_MAX_BYTES];
	char *w[WORDS_MAX];
	unsigned int n;
};

/* Options of a line, for all kinds. */
struct opts {
	uint32_t flap_count;
	uint64_t dark_ns;
	uint64_t light_ns;
	bool flap;
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

/* Parses "250", "10us" or "1.5ms" into nanoseconds. */
static int
parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		      { "", 1 } };
	char *end;
	double v;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	v = strtod(text, &end);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		v *= units[i].ns;
		if (!(v >= 0 && v <= (double)TIME_MAX_NS))
			return -EINVAL;
		*ns = (uint64_t)(v + 0.5);
		return 0;
	}
	return -EINVAL;
}

static int
parse_chance(const char *text, double *v)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	*v = strtod(text, &end);
	return *end != '\0' || !(*v >= 0 && *v <= 1) ? -EINVAL : 0;
}

static int
parse_rate(const char *text, uint32_t *ppb)
{
	double v;

	if (parse_chance(text, &v) != 0)
		return -EINVAL;
	*ppb = (uint32_t)(v * 1e9 + 0.5);
	return 0;
}

static int
parse_count(const char *text, uint32_t most, uint32_t *n)
{
	unsigned long v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end != '\0' || errno != 0 || v == 0 || v > most)
		return -EINVAL;
	*n = (uint32_t)v;
	return 0;
}

/* "any", or some of "header", "body", "length" with a plus between them. */
static int
parse_hurt(const char *text, uint8_t *where)
{
	static const char *const parts[] = { "header", "body", "length" };
	uint8_t found = 0;

	*where = 0;
	if (strcmp(text, "any") == 0)
		return 0;
	for (;;) {
		const size_t n = strcspn(text, "+");

		found = 0;
		for (unsigned int i = 0; i < RL_ARRAY_SIZE(parts); i++)
			if (strlen(parts[i]) == n &&
			    memcmp(parts[i], text, n) == 0)
				found = (uint8_t)(1u << i);
		*where |= found;
		if (found == 0 || text[n] == '\0')
			return found == 0 ? -EINVAL : 0;
		text += n + 1;
	}
}

/* Parses a noise option with a value. @return the same as parse_value() */
static int
parse_noise(struct rl_sim_noise *noise, const char *key, const char *val)
{
	const struct {
		const char *key;
		uint32_t *ppb;
	} rates[] = {
		{ "loss", &noise->loss_ppb }, { "corrupt", &noise->corrupt_ppb },
		{ "dup", &noise->dup_ppb },   { "jitter", &noise->jitter_ppb },
		{ "soft", &noise->soft_ppb }, { "poison", &noise->poison_ppb },
	};
	uint32_t n = 0;
	int ret = -ENOENT;

	for (size_t i = 0; i < RL_ARRAY_SIZE(rates); i++)
		if (strcmp(key, rates[i].key) == 0)
			return parse_rate(val, rates[i].ppb);
	if (strcmp(key, "ber") == 0) {
		ret = parse_chance(val, &noise->bit_rate);
	} else if (strcmp(key, "propagate") == 0) {
		ret = parse_chance(val, &noise->propagate);
		if (noise->propagate == 1)
			ret = -EINVAL; /* a burst would never end */
	} else if (strcmp(key, "lanes") == 0) {
		ret = parse_count(val, RL_ERROR_LANES_MAX, &n);
		if ((n & (n - 1)) != 0)
			ret = -EINVAL;
		noise->lanes = (uint8_t)n;
	} else if (strcmp(key, "within") == 0) {
		ret = parse_time(val, &noise->jitter_ns);
	} else if (strcmp(key, "delay") == 0) {
		ret = parse_time(val, &noise->delay_ns);
	} else if (strcmp(key, "bytes") == 0) {
		ret = parse_count(val, RL_FLIT_BYTES, &n);
		noise->burst_bytes = (uint16_t)n;
	} else if (strcmp(key, "hurt") == 0) {
		ret = parse_hurt(val, &noise->where);
	}
	return ret;
}

/*
 * Parses an option with a value. @return 0; -EINVAL: bad value; -ENOENT:
 * unknown option
 */
static int
parse_value(struct rl_sim_fault *f, struct opts *o, const char *key,
	    const char *val)
{
	const bool nth = f->kind == RL_SIM_CUT || f->kind == RL_SIM_DROP ||
			 f->kind == RL_SIM_CORRUPT;
	int ret = -ENOENT;

	if (nth && !o->flap &&
	    (strcmp(key, "frame") == 0 || strcmp(key, "flit") == 0)) {
		ret = parse_count(val, UINT32_MAX, &f->nth);
		f->nth_flit = key[1] == 'l';
	} else if (f->kind == RL_SIM_DROP && strcmp(key, "count") == 0) {
		ret = parse_count(val, UINT32_MAX, &f->count);
	} else if (o->flap && strcmp(key, "count") == 0) {
		ret = parse_count(val, 100000, &o->flap_count);
	} else if (o->flap && strcmp(key, "dark") == 0) {
		ret = parse_time(val, &o->dark_ns);
	} else if (o->flap && strcmp(key, "light") == 0) {
		ret = parse_time(val, &o->light_ns);
	} else if (f->kind == RL_SIM_STALL && strcmp(key, "for") == 0) {
		ret = parse_time(val, &f->for_ns);
	} else if (f->kind == RL_SIM_NOISE ||
		   (f->kind == RL_SIM_CORRUPT && strcmp(key, "bytes") == 0)) {
		ret = parse_noise(&f->noise, key, val);
	}
	return ret;
}

static int
parse_option(struct script *s, struct rl_sim_fault *f, struct opts *o,
	     char *word)
{
	char *eq = strchr(word, '=');
	int ret;

	if (eq == NULL) {
		if (f->kind == RL_SIM_CUT && strcmp(word, "silent") == 0)
			f->silent = true;
		else if (f->kind == RL_SIM_CUT && strcmp(word, "late") == 0)
			f->flight = RL_SIM_FLIGHT_LATE;
		else if (f->kind == RL_SIM_CUT && strcmp(word, "arrive") == 0)
			f->flight = RL_SIM_FLIGHT_ARRIVE;
		else if (f->kind == RL_SIM_CUT && !o->flap &&
			 strcmp(word, "lasting") == 0)
			f->lasting = true;
		else
			return refuse(s, "unknown option %s of %s; see "
					 "docs/simulation.md",
				      word, rl_sim_fault_name(f->kind));
		return 0;
	}
	*eq = '\0';
	ret = parse_value(f, o, word, eq + 1);
	if (ret == -ENOENT)
		return refuse(s, "%s has no option %s; see docs/simulation.md",
			      rl_sim_fault_name(f->kind), word);
	if (ret != 0)
		return refuse(s, "%s: bad value %s; times need a unit (10us), "
				 "rates are 0 to 1 (propagate: less), counts are "
				 "1 or more, lanes 1, 2, 4, 8 or 16",
			      word, eq + 1);
	return 0;
}

static int
parse_kind(const char *word, struct rl_sim_fault *f, struct opts *o)
{
	if (strcmp(word, "flap") == 0) {
		f->kind = RL_SIM_CUT;
		*o = (struct opts){ .flap = true, .flap_count = 2,
				    .dark_ns = 10000, .light_ns = 10000 };
		return 0;
	}
	for (unsigned int k = 0; k < RL_SIM_FAULT_KINDS; k++)
		if (strcmp(word, rl_sim_fault_name(k)) == 0) {
			f->kind = (enum rl_sim_fault_kind)k;
			return 0;
		}
	return -ENOENT;
}

/* Adds a fault, up to the limit of a file. */
static int
add_one(struct script *s, const struct rl_sim_fault *f)
{
	if (s->list.n == RL_SIM_FAULTS_MAX)
		return refuse(s, "the file has more than %u faults, flaps and "
				 "links of devices counted one by one; use "
				 "fewer", RL_SIM_FAULTS_MAX);
	return rl_sim_fault_push(&s->list, f);
}

/* Adds a fault for one link, or its flaps. */
static int
add_link(struct script *s, struct rl_sim_fault f, const struct opts *o)
{
	struct rl_sim_fault heal;
	int ret = add_one(s, &f);

	for (uint32_t i = 1; o->flap && ret == 0; i++) {
		heal = f;
		heal.kind = RL_SIM_HEAL;
		heal.t_ns = f.t_ns + o->dark_ns;
		ret = add_one(s, &heal);
		if (ret != 0 || i == o->flap_count)
			break;
		f.t_ns = heal.t_ns + o->light_ns;
		ret = add_one(s, &f);
	}
	return ret;
}

/* Adds a fault for all links of a device. */
static int
add_device(struct script *s, struct rl_sim_fault f, const struct opts *o,
	   uint32_t dev)
{
	const struct rl_topo_dev *d = &s->topo->dev[dev];
	int ret = 0;

	for (uint16_t p = 0; ret == 0 && p < d->nports; p++) {
		f.link = d->port[p].link;
		ret = add_link(s, f, o);
	}
	return ret;
}

/* Adds a fault at a place: "A-B", "A-B#k", "A>B", "A>B#k" or "A". */
static int
add_place(struct script *s, struct rl_sim_fault f, const struct opts *o,
	  const char *place)
{
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
		return add_device(s, f, o, (uint32_t)dev);
	link = rl_topo_find_link(s->topo, name, &n);
	if (link < 0)
		return refuse(s, "no link or device %s in this fabric", place);
	dev = (int32_t)s->topo->link[link].dev[0];
	f.counts = strncmp(name, s->topo->dev[dev].name,
			   strlen(s->topo->dev[dev].name)) != 0 ||
		   name[strlen(s->topo->dev[dev].name)] != '-';
	if (arrow != NULL)
		f.dirs = f.counts ? RL_SIM_DIR_BA : RL_SIM_DIR_AB;
	for (unsigned int k = 0; ret == 0 && k < n; k++) {
		f.link = rl_topo_link_of(s->topo, link, n, k);
		ret = add_link(s, f, o);
	}
	return ret;
}

/* Parses "late NAME for=5ms" and "controller late for=5ms". */
static int
late_for(struct script *s, struct rl_sim_fault *f, const struct words *w)
{
	if (w->n != 4 || strncmp(w->w[3], "for=", 4) != 0 ||
	    parse_time(w->w[3] + 4, &f->for_ns) != 0)
		return refuse(s, "late: by how much? add for=5ms");
	return 0;
}

/* Adds a fault of a whole device or of the controller. */
static int
add_whole(struct script *s, struct rl_sim_fault f, const struct words *w)
{
	const bool plan = f.kind == RL_SIM_REMOVE || f.kind == RL_SIM_ADD;
	const int32_t dev = rl_topo_find_dev(s->topo, w->w[2]);
	const struct opts none = { 0 };

	if (f.kind == RL_SIM_LATE && late_for(s, &f, w) != 0)
		return -EINVAL;
	f.lasting = f.kind == RL_SIM_CRASH && w->n == 4 &&
		    strcmp(w->w[3], "lasting") == 0;
	if (f.kind != RL_SIM_LATE && w->n > 3 && !f.lasting)
		return refuse(s, "%s takes no options%s", w->w[1],
			      f.kind == RL_SIM_CRASH ? " but lasting" : "");
	if (dev < 0 && plan)
		return add_place(s, f, &none, w->w[2]);
	if (dev < 0)
		return refuse(s, "no device %s in this fabric", w->w[2]);
	f.dev = (uint32_t)dev;
	f.is_dev = true;
	return add_link(s, f, &none);
}

static int
add_controller(struct script *s, struct rl_sim_fault f, const struct words *w)
{
	const struct opts none = { 0 };

	if (strcmp(w->w[2], "late") == 0) {
		f.kind = RL_SIM_CTL_LATE;
		return late_for(s, &f, w) != 0 ? -EINVAL
					       : add_link(s, f, &none);
	}
	if (w->n != 3 || (strcmp(w->w[2], "crash") != 0 &&
			  strcmp(w->w[2], "restart") != 0))
		return refuse(s, "expected controller crash, restart or late "
				 "for=5ms");
	f.kind = w->w[2][0] == 'c' ? RL_SIM_CTL_CRASH : RL_SIM_CTL_RESTART;
	return add_link(s, f, &none);
}

/* "run KEY=VALUE ...": what neither the fabric nor a fault says. */
static int
parse_run(struct script *s, struct words *w)
{
	if (s->plan == NULL)
		return 0;
	if (!s->run)
		rl_sim_settings_defaults(s->plan);
	s->run = true;
	for (unsigned int i = 1; i < w->n; i++) {
		char *eq = strchr(w->w[i], '=');
		int ret;

		if (eq != NULL)
			*eq = '\0';
		ret = eq == NULL ? -ENOENT
				 : rl_sim_setting_take(s->plan, w->w[i], eq + 1);
		if (ret == -ENOENT)
			return refuse(s, "run has no setting %s; see "
					 "docs/simulation.md", w->w[i]);
		if (ret != 0)
			return refuse(s, "run: bad value of %s: %s", w->w[i],
				      eq + 1);
	}
	return 0;
}

static int
parse_line(struct script *s, struct words *w)
{
	struct rl_sim_fault f = { .dirs = RL_SIM_DIR_BOTH, .line = s->line };
	struct opts o = { 0 };

	if (strcmp(w->w[0], "run") == 0)
		return parse_run(s, w);
	if (w->n < 3)
		return refuse(s, "expected TIME WHAT LINK");
	if (parse_time(w->w[0], &f.t_ns) != 0)
		return refuse(s, "bad time %s; use 100ns, 10us, 1.5ms or 2s, "
				 "at most an hour",
			      w->w[0]);
	if (strcmp(w->w[1], "controller") == 0)
		return add_controller(s, f, w);
	if (parse_kind(w->w[1], &f, &o) != 0)
		return refuse(s, "unknown fault %s; use cut, heal, flap, "
				 "stall, noise, drop, corrupt, down, drain, up, "
				 "crash, restart, remove, add, late or "
				 "controller",
			      w->w[1]);
	if (f.kind >= RL_SIM_CRASH)
		return add_whole(s, f, w);
	for (unsigned int i = 3; i < w->n; i++)
		if (parse_option(s, &f, &o, w->w[i]) != 0)
			return -EINVAL;
	if ((f.kind == RL_SIM_DROP || f.kind == RL_SIM_CORRUPT) && f.nth == 0)
		f.nth = 1;
	if (f.kind == RL_SIM_STALL && f.for_ns == 0)
		return refuse(s, "stall: how long? add for=10us");
	return add_place(s, f, &o, w->w[2]);
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

static int
read_script(struct script *s, const char *text, size_t len,
	    struct rl_sim_faults *list)
{
	char why[RL_ERR_MAX];
	int ret;

	s->err[0] = '\0';
	ret = parse_text(s, text, len);
	if (ret == 0 && s->run && rl_sim_settings_check(s->plan, why) != 0)
		ret = refuse(s, "run: %s", why);
	for (uint32_t i = 0; ret == 0 && i < s->list.n; i++)
		ret = rl_sim_fault_push(list, &s->list.f[i]);
	if (ret == 0)
		ret = rl_sim_faults_sort(list);
	rl_sim_faults_free(&s->list);
	if (ret == -ENOMEM)
		snprintf(s->err, s->errlen, "%s: out of memory", s->name);
	return ret;
}

int
rl_sim_faults_text(const char *name, const char *text, size_t len,
		   const struct rl_topo *topo, struct rl_sim_faults *list,
		   char *err, size_t errlen)
{
	struct script s = {
		.name = name, .topo = topo, .err = err, .errlen = errlen,
	};

	return read_script(&s, text, len, list);
}

int
rl_sim_case_text(const char *name, const char *text, size_t len,
		 struct rl_sim_plan *plan, bool *run, char *err, size_t errlen)
{
	struct script s = {
		.name = name, .topo = &plan->cfg.topo, .plan = plan,
		.err = err, .errlen = errlen,
	};
	const int ret = read_script(&s, text, len, &plan->faults);

	*run = s.run;
	return ret;
}

int
rl_sim_case_read(const char *path, struct rl_sim_plan *plan, bool *run,
		 char *err, size_t errlen)
{
	char *text = NULL;
	size_t len = 0;
	int ret = rl_infile_read(path, RL_INFILE_ANY, FILE_MAX_BYTES, &text,
				 &len);

	if (ret != 0)
		snprintf(err, errlen, "%s: %s",
			 path[0] == '\0' ? "a file without a name" : path,
			 ret == -EFBIG ? "more than 16 MiB"
				       : rl_infile_error(ret));
	else
		ret = rl_sim_case_text(path, text, len, plan, run, err,
				       errlen);
	free(text);
	return ret;
}
