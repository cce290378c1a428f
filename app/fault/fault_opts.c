/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_opts.h"
#include "opts.h"

#define RATE_ONE (1ull << 32)
#define DEFAULT_SEED 1
#define CORRUPT_BYTES_MAX 8

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

/* A number that a fault is set to. */
static int
take_number(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;
	uint64_t v = 0;

	if (number(text, 10, opt->max, &v) != 0)
		return -EINVAL;
	if (opt->at == offsetof(struct fault_opts, set.seed)) {
		o->set.seed = v;
		o->changes |= FAULT_SEED;
	} else {
		o->set.drop_nth = (uint32_t)v;
		o->changes |= FAULT_DROP_NTH;
	}
	return 0;
}

static int
take_rate(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;
	char *end = NULL;
	double r;

	if (text[strspn(text, "0123456789.e-")] == '\0' && text[0] != '-' &&
	    text[0] != '\0') {
		r = strtod(text, &end);
		if (*end == '\0' && r >= 0 && r <= 1) {
			*(uint64_t *)((char *)to + opt->at) =
				(uint64_t)(r * (double)RATE_ONE + 0.5);
			o->changes |= opt->at == offsetof(struct fault_opts,
							  set.drop_below) ?
					      FAULT_DROP_RATE : FAULT_DUPLICATE;
			return 0;
		}
	}
	return -EINVAL;
}

static int
corrupt(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;
	const char *colon = strchr(text, ':');
	uint64_t n = 0, bytes = 1;
	char nth[24];

	(void)opt;
	snprintf(nth, sizeof(nth), "%.*s",
		 (int)(colon != NULL ? colon - text : (long)strlen(text)),
		 text);
	if (number(nth, 10, UINT32_MAX, &n) != 0 ||
	    (colon != NULL && number(colon + 1, 10, CORRUPT_BYTES_MAX,
				     &bytes) != 0) || bytes == 0)
		return -EINVAL;
	o->set.corrupt_nth = (uint32_t)n;
	o->set.corrupt_bytes = (uint32_t)bytes;
	o->changes |= FAULT_CORRUPT;
	return 0;
}

static int
duration(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ms", 1000000ull }, { "s", 1000000000ull },
		      { "m", 60000000000ull } };
	const size_t digits = strspn(text, "0123456789");
	uint64_t v;
	char n[24];

	(void)opt;
	snprintf(n, sizeof(n), "%.*s", (int)digits, text);
	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text + digits, units[i].unit) == 0 &&
		    number(n, 10, 1000000, &v) == 0 && v > 0) {
			o->duration_ns = v * units[i].ns;
			return 0;
		}
	}
	return -EINVAL;
}

static int
ethertype(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;
	uint64_t v = 0;

	(void)opt;
	if (strcmp(text, "all") != 0 &&
	    (number(text, 16, 0xffff, &v) != 0 || v < 0x600))
		return -EINVAL;
	o->set.ethertype = (uint32_t)v;
	o->changes |= FAULT_ETHERTYPE;
	return 0;
}

static int
one_way(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;

	(void)opt;
	if (text != NULL && strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		return -EINVAL;
	o->set.one_way = text == NULL || strcmp(text, "on") == 0;
	o->changes |= FAULT_ONE_WAY;
	return 0;
}

static int
take_clear(const struct opt *opt, const char *text, void *to)
{
	(void)opt;
	(void)text;
	((struct fault_opts *)to)->changes |= FAULT_CLEAR;
	return 0;
}

static int
take_mode(const struct opt *opt, const char *text, void *to)
{
	(void)text;
	((struct fault_opts *)to)->mode = opt->name[0] == 'n' ? RL_XDP_NATIVE :
								 RL_XDP_GENERIC;
	return 0;
}

#define TO(field) offsetof(struct fault_opts, field)
#define A_RATE "a probability of 0 to 1"

static const struct opt table[] = {
	{ "drop-nth", "N", take_number, TO(set.drop_nth), 0, UINT32_MAX,
	  "a number", .help = "drop every N-th frame; 0: none" },
	{ "drop-rate", "R", take_rate, TO(set.drop_below), 0, 0, A_RATE,
	  .help = "drop frames with probability R (0.02: 2 %)" },
	{ "one-way", "[on|off]", one_way, 0, 0, 0, "on or off",
	  .help = "drop all frames received on IFACE" },
	{ "corrupt", "N[:BYTES]", corrupt, 0, 0, 0,
	  "N or N:BYTES, BYTES 1 to 8",
	  .help = "change BYTES bytes (1) of every N-th frame" },
	{ "duplicate", "R", take_rate, TO(set.duplicate_below), 0, 0, A_RATE,
	  .help = "duplicate received frames with probability R" },
	{ "ethertype", "HEX|all", ethertype, 0, 0, 0,
	  "all, or 600 to ffff (hex)",
	  .help = "affect only such frames; default all (flit frames: 88b5)" },
	{ "clear", NULL, take_clear, 0,
	  .help = "end all faults, then start those given with it" },
	{ "show", NULL, NULL, TO(show),
	  .help = "print faults and counters of the reflit-fault on IFACE" },
	{ "duration", "TIME", duration, 0, 0, 0,
	  "a time such as 500ms, 10s, 5m",
	  .help = "end after 500ms, 10s, ...; default: at a signal" },
	{ "native", NULL, take_mode, 0,
	  .help = "run in the driver, or not at all" },
	{ "generic", NULL, take_mode, 0,
	  .help = "run before the stack, on any interface" },
	{ "seed", "N", take_number, TO(set.seed), 0, UINT64_MAX, "a number",
	  .help = "seed for random faults; default 1" },
	{ "json", "FILE", opt_text, TO(json),
	  .help = "write the report as JSON ('-': here)" },
	{ "help", NULL, NULL, TO(help), .help = "print this text" },
	{ "version", NULL, NULL, TO(version), .help = "print the version" },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-fault",
	.usage = "usage: reflit-fault IFACE [options]\n\n"
		 "Injects faults into frames received on a network interface, by "
		 "XDP,\nindependently of the program under test. "
		 "Removes its XDP program when it ends.\n\n"
		 "While one runs on IFACE, a second call changes its faults "
		 "(only those it names)\nand ends at once.\n\n",
	.more = "\nExit status: 0 done; 1 a copy could not be injected, so "
		"faults are\nmissing; 2 unusable arguments, or the "
		"interface takes no program.\n",
	.table = table,
	.column = 26,
	.give = true,
};

int
fault_opts_parse(struct fault_opts *o, int argc, char **argv)
{
	int first;

	memset(o, 0, sizeof(*o));
	o->set.seed = DEFAULT_SEED;
	o->set.corrupt_bytes = 1;
	first = opts_read(&program, argc, argv, o);
	if (first < 0)
		return first;
	o->done = o->help || o->version;
	if (o->help)
		opts_help(&program);
	else if (o->version)
		puts("reflit-fault " RL_VERSION);
	if (o->done)
		return 0;
	if (first != argc - 1) {
		fputs(first == argc ?
		      "reflit-fault: name an interface (see --help)\n" :
		      "reflit-fault: name one interface (see --help)\n",
		      stderr);
		return -EINVAL;
	}
	o->ifname = argv[first];
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
