/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_opts.h"
#include "opts.h"
#include "parse.h"
#include "rl_base.h"

#define RATE_ONE (1ull << 32)
#define DEFAULT_SEED 1
#define CORRUPT_BYTES_MAX 8

#define TO(field) offsetof(struct fault_opts, field)

/* The option has set so many bytes of the faults. */
static void
given(struct fault_opts *o, const struct opt *opt, size_t bytes)
{
	memset((uint8_t *)&o->given + opt->at - TO(set), 0xff, bytes);
	o->any = true;
}

static int
take_nth(const struct opt *opt, const char *text, void *to)
{
	given(to, opt, sizeof(uint32_t));
	return opt_u32(opt, text, to);
}

static int
take_seed(const struct opt *opt, const char *text, void *to)
{
	given(to, opt, sizeof(uint64_t));
	return opt_u64(opt, text, to);
}

static int
take_rate(const struct opt *opt, const char *text, void *to)
{
	double r;

	if (parse_rate(text, 0, 1, &r) != 0)
		return -EINVAL;
	*(uint64_t *)((char *)to + opt->at) =
		(uint64_t)(r * (double)RATE_ONE + 0.5);
	given(to, opt, sizeof(uint64_t));
	return 0;
}

static int
corrupt(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;
	const char *colon = strchr(text, ':');
	uint64_t n = 0, bytes = 1;
	char nth[24];

	snprintf(nth, sizeof(nth), "%.*s",
		 (int)(colon != NULL ? colon - text : (long)strlen(text)),
		 text);
	if (parse_number(nth, 0, UINT32_MAX, &n) != 0 ||
	    (colon != NULL && parse_number(colon + 1, 1, CORRUPT_BYTES_MAX,
					   &bytes) != 0))
		return -EINVAL;
	o->set.corrupt_nth = (uint32_t)n;
	o->set.corrupt_bytes = (uint32_t)bytes;
	given(o, opt, 2 * sizeof(uint32_t));
	return 0;
}

static int
duration(RL_UNUSED const struct opt *opt, const char *text, void *to)
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

	snprintf(n, sizeof(n), "%.*s", (int)digits, text);
	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text + digits, units[i].unit) == 0 &&
		    parse_number(n, 1, 1000000, &v) == 0) {
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
	char *end = NULL;

	o->set.ethertype = 0;
	if (strcmp(text, "all") != 0) {
		const unsigned long v = strtoul(text, &end, 16);

		if (strchr(" +-", text[0]) != NULL || *end != '\0' ||
		    v < 0x600 || v > 0xffff)
			return -EINVAL;
		o->set.ethertype = (uint32_t)v;
	}
	given(o, opt, sizeof(o->set.ethertype));
	return 0;
}

static int
one_way(const struct opt *opt, const char *text, void *to)
{
	struct fault_opts *o = to;

	if (text != NULL && strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
		return -EINVAL;
	o->set.one_way = text == NULL || strcmp(text, "on") == 0;
	given(o, opt, sizeof(o->set.one_way));
	return 0;
}

/* Faults that are not given beside it are 0. */
static int
take_clear(RL_UNUSED const struct opt *opt, RL_UNUSED const char *text,
	   void *to)
{
	struct fault_opts *o = to;

	o->clear = true;
	o->given.one_way = UINT32_MAX;
	o->given.drop_nth = o->given.corrupt_nth = UINT32_MAX;
	o->given.drop_below = o->given.duplicate_below = UINT64_MAX;
	return 0;
}

static int
take_mode(const struct opt *opt, RL_UNUSED const char *text, void *to)
{
	((struct fault_opts *)to)->mode = opt->name[0] == 'n' ? RL_XDP_NATIVE :
								 RL_XDP_GENERIC;
	return 0;
}

#define A_RATE "a probability of 0 to 1"

static const struct opt table[] = {
	{ "drop-nth", "N", take_nth, TO(set.drop_nth), 0, UINT32_MAX,
	  "a number", .help = "drop every N-th frame; 0: none" },
	{ "drop-rate", "R", take_rate, TO(set.drop_below), 0, 0, A_RATE,
	  .help = "drop frames with probability R (0.02: 2 %)" },
	{ "one-way", "[on|off]", one_way, TO(set.one_way), 0, 0,
	  "on or off",
	  .help = "drop all frames received on IFACE" },
	{ "corrupt", "N[:BYTES]", corrupt, TO(set.corrupt_nth), 0, 0,
	  "N or N:BYTES, BYTES 1 to 8",
	  .help = "change BYTES bytes (1) of every N-th frame" },
	{ "duplicate", "R", take_rate, TO(set.duplicate_below), 0, 0, A_RATE,
	  .help = "duplicate received frames with probability R" },
	{ "ethertype", "HEX|all", ethertype, TO(set.ethertype), 0, 0,
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
	{ "seed", "N", take_seed, TO(set.seed), 0, UINT64_MAX, "a number",
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
	if (o->show && (o->any || o->clear)) {
		fputs("reflit-fault: --show changes nothing: leave out the "
		      "faults beside it\n", stderr);
		return -EINVAL;
	}
	return 0;
}

void
fault_opts_apply(const struct fault_opts *o, struct rl_fault_set *set)
{
	const uint8_t *mask = (const uint8_t *)&o->given;
	const uint8_t *from = (const uint8_t *)&o->set;
	uint8_t *to = (uint8_t *)set;

	for (size_t i = 0; i < sizeof(*set); i++)
		if (mask[i] != 0)
			to[i] = from[i];
}
