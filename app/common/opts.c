/* SPDX-License-Identifier: BSD-3-Clause */

#include "opts.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"
#include "rl_base.h"
#include "rl_near.h"

#define OPTS_MAX 64

static void *
field(const struct opt *o, void *to)
{
	return (char *)to + o->at;
}

int
opt_text(const struct opt *o, const char *arg, void *to)
{
	*(const char **)field(o, to) = arg;
	return 0;
}

int
opt_u64(const struct opt *o, const char *arg, void *to)
{
	return parse_number(arg, o->min, o->max, field(o, to));
}

int
opt_u32(const struct opt *o, const char *arg, void *to)
{
	uint64_t v;
	const int ret = parse_number(arg, o->min, o->max, &v);

	if (ret == 0)
		*(uint32_t *)field(o, to) = (uint32_t)v;
	return ret;
}

int
opt_rate(const struct opt *o, const char *arg, void *to)
{
	return parse_rate(arg, (double)o->min, (double)o->max, field(o, to));
}

static int
take_time(const struct opt *o, int ret, uint64_t ns, void *to)
{
	if (ret == 0 && (ns < o->min || (o->max != 0 && ns > o->max)))
		ret = -ERANGE;
	if (ret == 0)
		*(uint64_t *)field(o, to) = ns;
	return ret;
}

int
opt_time(const struct opt *o, const char *arg, void *to)
{
	uint64_t ns = 0;
	const int ret = parse_time(arg, &ns);

	return take_time(o, ret, ns, to);
}

int
opt_time_or_ns(const struct opt *o, const char *arg, void *to)
{
	uint64_t ns = 0;
	const int ret = parse_time_or_ns(arg, &ns);

	return take_time(o, ret, ns, to);
}

static void
complain(const struct opts *p, const struct opt *o, const char *arg, int ret)
{
	char range[80];
	const char *want = o->want;

	if (want == NULL) {
		snprintf(range, sizeof(range), "a number of %llu to %llu",
			 (unsigned long long)o->min,
			 (unsigned long long)o->max);
		want = range;
	}
	fprintf(stderr, "%s: --%s %s: %s %s\n", p->program, o->name, arg,
		p->give ? "give" :
		ret == -ERANGE ? "out of range; use" : "not understood; use",
		want);
}

static int
take(const struct opts *p, const struct opt *o, const char *arg, void *to)
{
	int ret;

	if (o->read == NULL) {
		*(bool *)field(o, to) = true;
		return 0;
	}
	ret = o->read(o, arg, to);
	if (ret != 0 && ret != -EBADMSG)
		complain(p, o, arg, ret);
	return ret;
}

/* A word without its dashes and its argument. */
static void
bare(const char *word, char *buf, size_t len)
{
	const char *name = word + strspn(word, "-");

	snprintf(buf, len, "%.*s", (int)strcspn(name, "="), name);
}

/* Two options begin like @p name, and the first does it differently. */
static bool
ambiguous(const char *name, const struct option *longs, const char *of[2])
{
	unsigned int n = 0;

	for (; longs->name != NULL && n < 2; longs++)
		if (strncmp(longs->name, name, strlen(name)) == 0)
			of[n++] = longs->name;
	return n == 2;
}

static const char *
nearest(const char *name, const struct option *longs)
{
	unsigned int least = RL_NEAR_FAR;
	const char *best = NULL;

	for (; longs->name != NULL; longs++) {
		const unsigned int d = rl_name_distance(name, longs->name);

		if (d < least) {
			least = d;
			best = longs->name;
		}
	}
	return best;
}

static void
complain_of_word(const char *program, int c, const char *word,
		 const struct option *longs)
{
	const char *of[2], *near;
	char name[64];

	bare(word, name, sizeof(name));
	if (c == ':') {
		fprintf(stderr, "%s: %s needs an argument; see --help\n",
			program, word);
	} else if (strncmp(word, "--", 2) != 0) {
		fprintf(stderr, "%s: there is no option -%c; see --help\n",
			program, optopt);
	} else if (optopt != 0) {
		fprintf(stderr, "%s: --%s takes no argument\n", program, name);
	} else if (name[0] != '\0' && ambiguous(name, longs, of)) {
		fprintf(stderr, "%s: --%s may be --%s or --%s\n", program,
			name, of[0], of[1]);
	} else {
		near = nearest(name, longs);
		if (near != NULL)
			fprintf(stderr, "%s: there is no option --%s; did you "
					"mean --%s?\n", program, name, near);
		else
			fprintf(stderr, "%s: there is no option --%s; see "
					"--help\n", program, name);
	}
}

/*
 * getopt_long() whose error is one line on standard error, with the option that
 * was probably meant. @return as getopt_long(): '?' after an error
 */
static int
option_next(const char *program, int argc, char *const argv[],
	    const char *shorts, const struct option *longs)
{
	const int before = optind, prints = opterr;
	int c;

	opterr = 0;
	optopt = 0;
	c = getopt_long(argc, argv, shorts, longs, NULL);
	opterr = prints; /* EAL's getopt_long() prints its own errors */
	if (c != '?' && c != ':')
		return c;
	/* a short option among others: the index stays */
	complain_of_word(program, c, optind > before ? argv[optind - 1] : "-",
			 longs);
	return '?';
}

int
opts_read(const struct opts *p, int argc, char **argv, void *to)
{
	struct option longs[OPTS_MAX + 1];
	char letters[OPTS_MAX + 2] = ":"; /* ':' if an argument is missing */
	size_t n = 0, len = 1;
	int c;

	memset(longs, 0, sizeof(longs));
	for (const struct opt *o = p->table; o->name != NULL; o++, n++) {
		RL_ASSERT(n < OPTS_MAX);
		longs[n].name = o->name;
		longs[n].has_arg = o->arg == NULL ? no_argument :
				   o->arg[0] == '[' ? optional_argument :
						      required_argument;
		longs[n].val = o->letter != '\0' ? o->letter : 256 + (int)n;
		if (o->letter != '\0')
			letters[len++] = o->letter;
	}
	optind = 0; /* restart at the first word, even after another parser */
	while ((c = option_next(p->program, argc, argv, letters, longs)) != -1) {
		for (n = 0; longs[n].name != NULL && longs[n].val != c;)
			n++;
		if (longs[n].name == NULL ||
		    take(p, &p->table[n], optarg, to) != 0)
			return -EINVAL;
	}
	return optind;
}

/* Lines of a text, the first behind what stands already. */
static void
print_lines(const char *text, int column)
{
	for (;;) {
		const size_t len = strcspn(text, "\n");

		printf("%.*s\n", (int)len, text);
		if (text[len] == '\0')
			return;
		text += len + 1;
		printf("%*s", column, "");
	}
}

void
opts_help(const struct opts *p)
{
	fputs(p->usage, stdout);
	for (const struct opt *o = p->table; o->name != NULL; o++) {
		char left[80], letter[8] = "";

		if (o->above != NULL)
			printf("%s%s:\n", o == p->table ? "" : "\n",
			       o->above);
		if (o->help == NULL)
			continue;
		if (o->letter != '\0')
			snprintf(letter, sizeof(letter), "-%c, ", o->letter);
		/* what may be left out can't be a word of its own */
		snprintf(left, sizeof(left), "  %s--%s%s%s", letter, o->name,
			 o->arg == NULL ? "" : o->arg[0] == '[' ? "[=" : " ",
			 o->arg == NULL ? "" : o->arg + (o->arg[0] == '['));
		printf("%-*s  ", p->column - 2, left);
		print_lines(o->help, p->column);
	}
	fputs(p->more, stdout);
}
