/* SPDX-License-Identifier: BSD-3-Clause */

#include "option_next.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rl_near.h"

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
complain(const char *program, int c, const char *word,
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

int
option_next(const char *program, int argc, char *const argv[],
	    const char *shorts, const struct option *longs)
{
	const int before = optind, prints = opterr;
	char list[32];
	int c;

	opterr = 0;
	snprintf(list, sizeof(list), ":%s", shorts); /* ':' if missing */
	optopt = 0;
	c = getopt_long(argc, argv, list, longs, NULL);
	opterr = prints; /* EAL's getopt_long() prints its own errors */
	if (c != '?' && c != ':')
		return c;
	/* a short option among others: the index stays */
	complain(program, c, optind > before ? argv[optind - 1] : "-", longs);
	return '?';
}
