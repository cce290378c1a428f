/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The options of faults: a row each, by which it is parsed and written. A value
 * of zero is the default, and is not written, but for `for`.
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_priv.h"
#include "rl_error.h"
#include "rl_flit.h"

#define TIME_MAX_NS (3600 * RL_NS_PER_S)

enum type {
	FLAG,	/* a word without a value; it stands for `most` */
	RATE,	/* 0 to 1, in parts of 10^9 */
	CHANCE,	/* 0 to 1; if `most` is 0, 1 itself is refused */
	TIME,
	COUNT,	/* 1 to `most` */
	NUMBER,	/* 0 to `most` */
	POWER,	/* of two, 1 to `most` */
	PARTS,	/* of a frame: RL_FAULT_HURT_* */
};

struct word {
	const char *key;
	uint32_t kinds; /* a bit for each that has it */
	enum type type;
	uint32_t offset; /* in struct fault_line */
	uint32_t size;
	uint32_t most;
	uint32_t usual; /* as good as 0 */
};

#define OF(kind) (1u << RL_FAULT_##kind)
#define FLAP (1u << RL_FAULT_KINDS)
#define COUNTED (OF(CUT) | OF(DROP) | OF(CORRUPT))
#define PAUSES (OF(STALL) | OF(LATE) | OF(CTL_LATE))
#define BLOCKS (OF(BLOCK) | OF(UNBLOCK))
/* kinds whose options are written even if they are zero */
#define WHOLE (PAUSES | BLOCKS | OF(SOFT) | OF(POISON))
#define AT(field)                                                              \
	offsetof(struct fault_line, field),                                    \
		sizeof(((struct fault_line *)0)->field)

#define NOISE(key, type, field, most, usual)                                   \
	{ key, OF(NOISE), type, AT(f.noise.field), most, usual }

static const struct word words[] = {
	{ "frame", COUNTED, COUNT, AT(f.nth), UINT32_MAX, 0 },
	{ "flit", COUNTED, COUNT, AT(f.nth), UINT32_MAX, 0 },
	{ "count", OF(DROP), COUNT, AT(f.count), UINT32_MAX, 0 },
	{ "count", FLAP, COUNT, AT(flaps), 100000, 0 },
	{ "dark", FLAP, TIME, AT(dark_ns), 0, 0 },
	{ "light", FLAP, TIME, AT(light_ns), 0, 0 },
	{ "for", PAUSES, TIME, AT(f.for_ns), 0, 0 },
	{ "vc", BLOCKS, NUMBER, AT(f.vc), RL_VCS - 1, 0 },
	{ "rate", OF(SOFT), RATE, AT(f.noise.soft_ppb), 0, 0 },
	{ "rate", OF(POISON), RATE, AT(f.noise.poison_ppb), 0, 0 },
	NOISE("loss", RATE, loss_ppb, 0, 0),
	NOISE("corrupt", RATE, corrupt_ppb, 0, 0),
	NOISE("dup", RATE, dup_ppb, 0, 0),
	NOISE("jitter", RATE, jitter_ppb, 0, 0),
	NOISE("soft", RATE, soft_ppb, 0, 0),
	NOISE("poison", RATE, poison_ppb, 0, 0),
	NOISE("ber", CHANCE, bit_rate, 1, 0),
	NOISE("propagate", CHANCE, propagate, 0, 0), /* a burst must end */
	NOISE("lanes", POWER, lanes, RL_ERROR_LANES_MAX, 1),
	{ "bytes", OF(NOISE) | OF(CORRUPT), COUNT, AT(f.noise.burst_bytes),
	  RL_FLIT_BYTES, 8 },
	NOISE("hurt", PARTS, where, 0, 7),
	NOISE("within", TIME, jitter_ns, 0, 0),
	NOISE("delay", TIME, delay_ns, 0, 0),
	{ "silent", OF(CUT) | FLAP, FLAG, AT(f.silent), true, 0 },
	{ "arrive", OF(CUT) | FLAP, FLAG, AT(f.flight), RL_FAULT_FLIGHT_ARRIVE,
	  0 },
	{ "late", OF(CUT) | FLAP, FLAG, AT(f.flight), RL_FAULT_FLIGHT_LATE, 0 },
	{ "lasting", OF(CUT) | OF(CRASH), FLAG, AT(f.lasting), true, 0 },
};

static const char *const parts[] = { "header", "body", "length" };

/* A decimal number, and what stands behind it; @return -1: none */
static double
number(const char *text, const char **unit)
{
	char *end = NULL;
	double v = -1;

	if (isdigit((unsigned char)text[0]) && tolower((unsigned char)text[1]) != 'x')
		v = strtod(text, &end);
	*unit = end;
	return v;
}

int
fault_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
		      { "", 1 } };
	const char *unit;
	const double v = number(text, &unit);

	for (unsigned int i = 0; v >= 0 && i < RL_ARRAY_SIZE(units); i++)
		if (strcmp(unit, units[i].name) == 0 &&
		    v * units[i].ns <= TIME_MAX_NS) {
			*ns = (uint64_t)(v * units[i].ns + 0.5);
			return 0;
		}
	return -EINVAL;
}

/* "any", or some of the parts with a plus between them. */
static int
parse_parts(const char *text, uint64_t *where)
{
	*where = 0;
	if (strcmp(text, "any") == 0)
		return 0;
	for (;;) {
		const size_t n = strcspn(text, "+");
		unsigned int i = 0;

		while (i < RL_ARRAY_SIZE(parts) &&
		       (strlen(parts[i]) != n || memcmp(parts[i], text, n) != 0))
			i++;
		if (i == RL_ARRAY_SIZE(parts))
			return -EINVAL;
		*where |= 1u << i;
		if (text[n] == '\0')
			return 0;
		text += n + 1;
	}
}

static int
parse(const struct word *w, const char *text, uint64_t *v)
{
	const char *unit = "";
	const double n = w->type == FLAG ? w->most : number(text, &unit);
	const bool chance = w->type == RATE || w->type == CHANCE;

	if (w->type == TIME)
		return fault_time(text, v);
	if (w->type == PARTS)
		return parse_parts(text, v);
	if (!(n >= 0 && n <= (chance ? 1 : w->most)) || *unit != '\0')
		return -EINVAL;
	*v = (uint64_t)(w->type == RATE ? n * 1e9 + 0.5 : n);
	if (w->type == CHANCE)
		memcpy(v, &n, sizeof(n));
	if ((w->type == CHANCE && w->most == 0 && n == 1) ||
	    (w->type == RATE && n > 0 && *v == 0) ||
	    ((w->type == COUNT || w->type == POWER) && *v == 0) ||
	    (w->type >= COUNT &&
	     text[strspn(text, "0123456789")] != '\0') ||
	    (w->type == POWER && (*v & (*v - 1)) != 0))
		return -EINVAL;
	return 0;
}

static bool
has(const struct fault_line *l, const struct word *w)
{
	return w->kinds & (l->flap ? FLAP : 1u << l->f.kind);
}

int
fault_word_take(struct fault_line *l, const char *key, const char *value)
{
	for (size_t i = 0; i < RL_ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];
		uint64_t v = 0;

		if (!has(l, w) || strcmp(w->key, key) != 0 ||
		    (value == NULL) != (w->type == FLAG))
			continue;
		if (parse(w, value, &v) != 0)
			return -EINVAL;
		memcpy((char *)l + w->offset, &v, w->size);
		if (w->offset == offsetof(struct fault_line, f.nth))
			l->f.nth_flit = key[1] == 'l';
		return 0;
	}
	return -ENOENT;
}

const char *
rl_real_text(double v, char *buf, size_t len)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buf, len, "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	return buf;
}

static int
value_text(const struct word *w, uint64_t v, char *buf, size_t len)
{
	double n = (double)v / 1e9;
	char real[32];
	int at = 0;

	if (w->type == FLAG)
		return snprintf(buf, len, " %s", w->key);
	if (w->type == CHANCE)
		memcpy(&n, &v, sizeof(n));
	if (w->type == CHANCE || w->type == RATE)
		return snprintf(buf, len, " %s=%s", w->key,
				rl_real_text(n, real, sizeof(real)));
	if (w->type != PARTS)
		return snprintf(buf, len, " %s=%llu%s", w->key,
				(unsigned long long)v,
				w->type == TIME ? "ns" : "");
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(parts); i++)
		if (v >> i & 1)
			at += snprintf(buf + at, len - (size_t)at, "%s%s",
				       at == 0 ? " hurt=" : "+", parts[i]);
	return at;
}

static void
words_text(const struct rl_fault *f, char *buf, size_t len)
{
	const struct fault_line l = { .f = *f };
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < RL_ARRAY_SIZE(words); i++) {
		const struct word *w = &words[i];
		uint64_t v = 0;

		memcpy(&v, (const char *)&l + w->offset, w->size);
		if (!has(&l, w) || (v == 0 && !(w->kinds & WHOLE)) ||
		    (v != 0 && v == w->usual) ||
		    (w->type == FLAG && v != w->most) ||
		    (w->offset == offsetof(struct fault_line, f.nth) &&
		     f->nth_flit != (w->key[1] == 'l')))
			continue;
		at += (size_t)value_text(w, v, buf + at, len - at);
		RL_ASSERT(at < len);
	}
}

RL_NAMES(rl_fault_name, enum rl_fault_kind, RL_FAULTS(RL_WORD))

/* " A-B#k", or with an arrow in the direction of a one-way fault. */
static void
place_text(const struct rl_fault *f, const struct rl_topo *topo, char *buf,
	   size_t len)
{
	const struct rl_topo_link *l = &topo->link[f->link];
	const bool turned = f->dirs == RL_FAULT_DIR_BA ||
			    (f->dirs == RL_FAULT_DIR_BOTH && f->counts);

	snprintf(buf, len, " %s%c%s#%u", topo->dev[l->dev[turned]].name,
		 f->dirs == RL_FAULT_DIR_BOTH ? '-' : '>',
		 topo->dev[l->dev[!turned]].name, l->k);
}

char *
rl_fault_text(const struct rl_fault *f, const struct rl_topo *topo,
		  char *buf, size_t len)
{
	char place[2 * RL_NAME_MAX + 16], more[320];

	if (f->kind >= RL_FAULT_CTL_CRASH)
		place[0] = '\0';
	else if (f->is_dev)
		snprintf(place, sizeof(place), " %s", topo->dev[f->dev].name);
	else
		place_text(f, topo, place, sizeof(place));
	words_text(f, more, sizeof(more));
	snprintf(buf, len, "%lluns %s%s%s", (unsigned long long)f->t_ns,
		 rl_fault_name(f->kind), place, more);
	return buf;
}

char *
rl_noise_text(const struct rl_noise *n, char *buf, size_t len)
{
	const struct rl_fault f = { .kind = RL_FAULT_NOISE, .noise = *n };

	words_text(&f, buf, len);
	return buf;
}
