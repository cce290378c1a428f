/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_opts.h"
#include "option_next.h"

#define RATE_ONE (1ull << 32)
#define DEFAULT_SEED 1
#define CORRUPT_BYTES_MAX 8

enum {
	OPT_DROP_NTH = 256,
	OPT_DROP_RATE,
	OPT_ONE_WAY,
	OPT_CORRUPT,
	OPT_DUPLICATE,
	OPT_ETHERTYPE,
	OPT_CLEAR,
	OPT_SHOW,
	OPT_NATIVE,
	OPT_GENERIC,
	OPT_DURATION,
	OPT_JSON,
	OPT_SEED,
	OPT_HELP,
	OPT_VERSION,
};

static const struct {
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *what;
	int id;
} table[] = {
	{ "drop-nth", "N", "drop every N-th frame; 0: none", OPT_DROP_NTH },
	{ "drop-rate", "R", "drop frames with probability R (0.02: 2 %)",
	  OPT_DROP_RATE },
	{ "one-way", "[on|off]", "drop all frames that come in by IFACE",
	  OPT_ONE_WAY },
	{ "corrupt", "N[:BYTES]", "change BYTES bytes (1) of every N-th frame",
	  OPT_CORRUPT },
	{ "duplicate", "R", "let frames come in twice with probability R",
	  OPT_DUPLICATE },
	{ "ethertype", "HEX|all", "affect only such frames; default all "
	  "(flit frames: 88b5)", OPT_ETHERTYPE },
	{ "clear", NULL, "end all faults, then begin those named beside it",
	  OPT_CLEAR },
	{ "show", NULL, "print the faults of the reflit-fault on IFACE, and its counts",
	  OPT_SHOW },
	{ "duration", "TIME", "end after 500ms, 10s, ...; default: at a signal",
	  OPT_DURATION },
	{ "native", NULL, "run in the driver, or not at all", OPT_NATIVE },
	{ "generic", NULL, "run before the stack, on any interface", OPT_GENERIC },
	{ "seed", "N", "seed rates and changes; default 1", OPT_SEED },
	{ "json", "FILE", "write the report as JSON ('-': here)", OPT_JSON },
	{ "help", NULL, "print this text", OPT_HELP },
	{ "version", NULL, "print the version", OPT_VERSION },
};

#define NOPTS (sizeof(table) / sizeof(table[0]))

static void
help(void)
{
	fputs("usage: reflit-fault IFACE [options]\n\n"
	      "Injects faults into what comes in by a network interface, by "
	      "XDP: faults that do\nnot depend on the program under test. "
	      "Takes its program away when it ends.\n\n"
	      "While one runs on IFACE, a second call changes its faults (only "
	      "those it names)\nand ends at once.\n\n", stdout);
	for (unsigned int i = 0; i < NOPTS; i++) {
		char left[40];

		snprintf(left, sizeof(left), "--%s %s", table[i].name,
			 table[i].arg != NULL ? table[i].arg : "");
		printf("  %-22s  %s\n", left, table[i].what);
	}
	fputs("\nExit status: 0 done; 1 a copy could not be sent in, so that "
	      "orders and\nresults differ; 2 unusable arguments, "
	      "or the interface takes no program.\n", stdout);
}

static int
bad(const char *name, const char *text, const char *want)
{
	fprintf(stderr, "reflit-fault: --%s %s: give %s\n", name, text, want);
	return -EINVAL;
}

static int
number(const char *text, int base, uint64_t max, uint64_t *v)
{
	char *end = NULL;

	errno = 0;
	if (text[0] == '\0' || strchr(" +-", text[0]) != NULL)
		return -EINVAL;
	*v = strtoull(text, &end, base);
	return errno == 0 && *end == '\0' && *v <= max ? 0 : -EINVAL;
}

static int
rate(const char *name, const char *text, uint64_t *below)
{
	char *end = NULL;
	double r;

	if (text[strspn(text, "0123456789.e-")] == '\0' && text[0] != '-' &&
	    text[0] != '\0') {
		r = strtod(text, &end);
		if (*end == '\0' && r >= 0 && r <= 1) {
			*below = (uint64_t)(r * (double)RATE_ONE + 0.5);
			return 0;
		}
	}
	return bad(name, text, "a probability of 0 to 1");
}

static int
corrupt(struct fault_opts *o, const char *text)
{
	const char *colon = strchr(text, ':');
	uint64_t n = 0, bytes = 1;
	char nth[24];

	snprintf(nth, sizeof(nth), "%.*s",
		 (int)(colon != NULL ? colon - text : (long)strlen(text)),
		 text);
	if (number(nth, 10, UINT32_MAX, &n) != 0 ||
	    (colon != NULL && number(colon + 1, 10, CORRUPT_BYTES_MAX,
				     &bytes) != 0) || bytes == 0)
		return bad("corrupt", text, "N or N:BYTES, BYTES 1 to 8");
	o->set.corrupt_nth = (uint32_t)n;
	o->set.corrupt_bytes = (uint32_t)bytes;
	o->changes |= FAULT_CORRUPT;
	return 0;
}

static int
duration(struct fault_opts *o, const char *text)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ms", 1000000ull }, { "s", 1000000000ull },
		      { "m", 60000000000ull } };
	const size_t digits = strspn(text, "0123456789");
	uint64_t v;
	char n[24];

	snprintf(n, sizeof(n), "%.*s", (int)digits, text);
	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text + digits, units[i].unit) == 0 &&
		    number(n, 10, 1000000, &v) == 0 && v > 0) {
			o->duration_ns = v * units[i].ns;
			return 0;
		}
	}
	return bad("duration", text, "a time such as 500ms, 10s, 5m");
}

static int
ethertype(struct fault_opts *o, const char *text)
{
	uint64_t v = 0;

	if (strcmp(text, "all") != 0 &&
	    (number(text, 16, 0xffff, &v) != 0 || v < 0x600))
		return bad("ethertype", text, "all, or 600 to ffff (hex)");
	o->set.ethertype = (uint32_t)v;
	o->changes |= FAULT_ETHERTYPE;
	return 0;
}

static int
one_way(struct fault_opts *o, const char *text)
{
	if (text != NULL && strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		return bad("one-way", text, "on or off");
	o->set.one_way = text == NULL || strcmp(text, "on") == 0;
	o->changes |= FAULT_ONE_WAY;
	return 0;
}

static int
take_fault(struct fault_opts *o, int id, const char *arg)
{
	uint64_t v = 0;

	switch (id) {
	case OPT_DROP_NTH:
		if (number(arg, 10, UINT32_MAX, &v) != 0)
			return bad("drop-nth", arg, "a number");
		o->set.drop_nth = (uint32_t)v;
		o->changes |= FAULT_DROP_NTH;
		return 0;
	case OPT_DROP_RATE:
		o->changes |= FAULT_DROP_RATE;
		return rate("drop-rate", arg, &o->set.drop_below);
	case OPT_DUPLICATE:
		o->changes |= FAULT_DUPLICATE;
		return rate("duplicate", arg, &o->set.duplicate_below);
	case OPT_SEED:
		if (number(arg, 10, UINT64_MAX, &v) != 0)
			return bad("seed", arg, "a number");
		o->set.seed = v;
		o->changes |= FAULT_SEED;
		return 0;
	case OPT_ONE_WAY:
		return one_way(o, arg);
	case OPT_CORRUPT:
		return corrupt(o, arg);
	default:
		return ethertype(o, arg);
	}
}

static int
take(struct fault_opts *o, int id, const char *arg)
{
	switch (id) {
	case OPT_CLEAR:
		o->changes |= FAULT_CLEAR;
		return 0;
	case OPT_SHOW:
		o->show = true;
		return 0;
	case OPT_NATIVE:
		o->mode = RL_XDP_NATIVE;
		return 0;
	case OPT_GENERIC:
		o->mode = RL_XDP_GENERIC;
		return 0;
	case OPT_DURATION:
		return duration(o, arg);
	case OPT_JSON:
		o->json = arg;
		return 0;
	case OPT_HELP:
		help();
		o->done = true;
		return 0;
	case OPT_VERSION:
		puts("reflit-fault " RL_VERSION);
		o->done = true;
		return 0;
	default:
		return take_fault(o, id, arg);
	}
}

int
fault_opts_parse(struct fault_opts *o, int argc, char **argv)
{
	struct option longs[NOPTS + 1];
	int c;

	memset(o, 0, sizeof(*o));
	memset(longs, 0, sizeof(longs));
	o->set.seed = DEFAULT_SEED;
	o->set.corrupt_bytes = 1;
	for (unsigned int i = 0; i < NOPTS; i++) {
		longs[i].name = table[i].name;
		longs[i].val = table[i].id;
		longs[i].has_arg = table[i].arg == NULL ? no_argument :
				   table[i].arg[0] == '[' ? optional_argument :
							    required_argument;
	}
	while ((c = option_next("reflit-fault", argc, argv, "", longs,
				NULL)) != -1) {
		if (c == '?' || take(o, c, optarg) != 0)
			return -EINVAL;
		if (o->done)
			return 0;
	}
	if (optind != argc - 1) {
		fputs(optind == argc ?
		      "reflit-fault: name an interface (see --help)\n" :
		      "reflit-fault: name one interface (see --help)\n",
		      stderr);
		return -EINVAL;
	}
	o->ifname = argv[optind];
	if (o->show && o->changes != 0) {
		fputs("reflit-fault: --show changes nothing: leave out the "
		      "faults beside it\n", stderr);
		return -EINVAL;
	}
	return 0;
}

void
fault_opts_apply(const struct fault_opts *o, struct rl_fault_set *set)
{
	if (o->changes & FAULT_CLEAR) {
		set->one_way = 0;
		set->drop_nth = set->corrupt_nth = 0;
		set->drop_below = set->duplicate_below = 0;
	}
	if (o->changes & FAULT_DROP_NTH)
		set->drop_nth = o->set.drop_nth;
	if (o->changes & FAULT_DROP_RATE)
		set->drop_below = o->set.drop_below;
	if (o->changes & FAULT_ONE_WAY)
		set->one_way = o->set.one_way;
	if (o->changes & FAULT_CORRUPT) {
		set->corrupt_nth = o->set.corrupt_nth;
		set->corrupt_bytes = o->set.corrupt_bytes;
	}
	if (o->changes & FAULT_DUPLICATE)
		set->duplicate_below = o->set.duplicate_below;
	if (o->changes & FAULT_ETHERTYPE)
		set->ethertype = o->set.ethertype;
	if (o->changes & FAULT_SEED)
		set->seed = o->set.seed;
}
