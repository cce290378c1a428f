/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "option_next.h"
#include "options.h"
#include "profile.h"

enum {
	OPT_TABLE = 256, OPT_FIGURE, OPT_QUICK, OPT_OUT, OPT_JSON, OPT_JOBS,
	OPT_FRESH, OPT_NO_PLOTS, OPT_QUIET, OPT_SEED, OPT_CRC, OPT_ISN,
	OPT_LONG_FLITS, OPT_PROFILE, OPT_RETRY, OPT_LEVELS, OPT_COALESCE,
	OPT_BER, OPT_PROPAGATE, OPT_LANES, OPT_BYTE_BURSTS, OPT_LOST,
	OPT_INSIDE, OPT_REPORTS, OPT_FLITS, OPT_HELP,
};

static const struct option longs[] = {
	{ "table", required_argument, NULL, OPT_TABLE },
	{ "figure", required_argument, NULL, OPT_FIGURE },
	{ "quick", no_argument, NULL, OPT_QUICK },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "fresh", no_argument, NULL, OPT_FRESH },
	{ "no-plots", no_argument, NULL, OPT_NO_PLOTS },
	{ "quiet", no_argument, NULL, OPT_QUIET },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "crc", required_argument, NULL, OPT_CRC },
	{ "isn", required_argument, NULL, OPT_ISN },
	{ "long-flits", required_argument, NULL, OPT_LONG_FLITS },
	{ "profile", required_argument, NULL, OPT_PROFILE },
	{ "retry", required_argument, NULL, OPT_RETRY },
	{ "levels", required_argument, NULL, OPT_LEVELS },
	{ "coalesce", required_argument, NULL, OPT_COALESCE },
	{ "ber", required_argument, NULL, OPT_BER },
	{ "propagate", required_argument, NULL, OPT_PROPAGATE },
	{ "lanes", required_argument, NULL, OPT_LANES },
	{ "byte-bursts", required_argument, NULL, OPT_BYTE_BURSTS },
	{ "lost", required_argument, NULL, OPT_LOST },
	{ "inside", required_argument, NULL, OPT_INSIDE },
	{ "drop-reports", no_argument, NULL, OPT_REPORTS },
	{ "flits", required_argument, NULL, OPT_FLITS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static void
usage(FILE *f)
{
	fprintf(f,
		"usage: reflit-sim rxl [options]\n\n"
		"Computes the evaluation of the RXL paper, and measures it by "
		"the code that ships.\n\n"
		"What (everything, if left out; may be repeated)\n"
		"  --table NAME|N   ");
	for (int i = 0; i < RXL_REPORTS; i++)
		fprintf(f, "%s%s", i > 0 ? ", " : "", rxl_reports[i].name);
	fprintf(f, "; or 1 to %d\n  --figure NAME    ", RXL_REPORTS);
	for (int i = 0; i < RXL_FIGURES; i++)
		fprintf(f, "%s%s", i > 0 ? ", " : "", rxl_figures[i].name);
	fprintf(f,
		"; 8 is the paper's\n"
		"  --quick          run a twentieth of the simulations\n"
		"  --long-flits N   flits of table long (1000000000)\n\n"
		"How\n"
		"  --out DIR        write tables, pictures and the state to go on "
		"from (rxl-results)\n"
		"  --json FILE      write all of it as JSON\n"
		"  --jobs N         run N threads (one a processor)\n"
		"  --fresh          forget what was simulated before\n"
		"  --no-plots, --quiet, --seed N\n"
		"  --crc NAME       crc64-bch, crc64-ecma, pcie6-rs\n"
		"  --isn NAME       wide, xor10, wide19\n\n"
		"One point of your own (any of these)\n"
		"  --profile NAME   rxl, rxl-compact, cxl, cxl-sep-ack\n"
		"  --retry NAME     go-back-n, selective\n"
		"  --levels N       switches, 0 to 8\n"
		"  --coalesce N     flits acknowledged at once\n"
		"  --ber P          first bit errors, per bit\n"
		"  --propagate P    the next bit is wrong too (DFE)\n"
		"  --lanes N        lanes along which bursts run: 1, 2, 4, 8, 16\n"
		"  --byte-bursts P  bursts of 1 to 8 bytes, per flit and link\n"
		"  --lost P         flits lost by a wire\n"
		"  --inside P       corruption inside a switch, per flit\n"
		"  --drop-reports   let switches tell the originator\n"
		"  --flits N        simulate N flits (10000000)\n\n"
		"Exit status: 0 done; 1 a profile that promises order or data "
		"lost some;\n2 unusable arguments, or files that can't be "
		"written.\n");
}

static bool
complain(const char *option, const char *value, const char *use)
{
	fprintf(stderr, "reflit-sim rxl: --%s %s: %s\n", option, value, use);
	return false;
}

static bool
number(const char *name, const char *s, uint64_t lo, uint64_t hi, uint64_t *v)
{
	char use[80];
	char *end;

	errno = 0;
	*v = strtoull(s, &end, 0);
	if (errno == 0 && end != s && *end == '\0' && s[0] != '-' && *v >= lo &&
	    *v <= hi)
		return true;
	snprintf(use, sizeof(use), "use a whole number of %llu to %llu",
		 (unsigned long long)lo, (unsigned long long)hi);
	return complain(name, s, use);
}

static bool
small(const char *name, const char *s, uint32_t lo, uint32_t hi, uint32_t *v)
{
	uint64_t n;

	if (!number(name, s, lo, hi, &n))
		return false;
	*v = (uint32_t)n;
	return true;
}

static bool
rate(const char *name, const char *s, double below, double *v)
{
	char *end;

	*v = strtod(s, &end);
	if (end != s && *end == '\0' && *v >= 0 && *v < below)
		return true;
	return complain(name, s, below == 1 ? "use 0 to less than 1"
					    : "use 0 to less than 0.5");
}

/** One of @p n words; the value is its index. */
static bool
word(const char *name, const char *s, const char *const words[], int n,
     int *value)
{
	char use[96] = "use";

	for (int i = 0; i < n; i++) {
		if (strcmp(s, words[i]) == 0) {
			*value = i;
			return true;
		}
		strncat(use, " ", sizeof(use) - strlen(use) - 1);
		strncat(use, words[i], sizeof(use) - strlen(use) - 1);
	}
	return complain(name, s, use);
}

static bool
want_table(struct rxl_options *o, const char *s)
{
	char *end;
	const unsigned long n = strtoul(s, &end, 10);

	o->selected = true;
	for (unsigned int i = 0; i < RXL_REPORTS; i++)
		if (strcmp(s, rxl_reports[i].name) == 0 ||
		    (*end == '\0' && n == i + 1)) {
			o->table[i] = true;
			return true;
		}
	return complain("table", s, "there is no such table; see --help");
}

static bool
want_figure(struct rxl_options *o, const char *s)
{
	const struct rxl_figure_spec *f = rxl_figure_find(s);

	o->selected = true;
	if (strcmp(s, "4") == 0 || strncmp(s, "5", 1) == 0)
		return complain("figure", s,
				"that one is played: reflit-sim scenario fig4, "
				"fig5a or fig5b");
	if (f == NULL)
		return complain("figure", s,
				"there is no such figure; see --help");
	o->figure[f - rxl_figures] = true;
	return true;
}

static bool
error_option(struct rxl_options *o, int opt, const char *s)
{
	struct rxl_case *c = &o->c;

	switch (opt) {
	case OPT_BER:
		return rate("ber", s, 0.5, &c->ber);
	case OPT_PROPAGATE:
		return rate("propagate", s, 1, &c->propagate);
	case OPT_LANES:
		if (!small("lanes", s, 1, RL_ERROR_LANES_MAX, &c->lanes))
			return false;
		return (c->lanes & (c->lanes - 1)) == 0 ||
		       complain("lanes", s, "use 1, 2, 4, 8 or 16");
	case OPT_BYTE_BURSTS:
		return rate("byte-bursts", s, 1, &c->byte_bursts);
	case OPT_LOST:
		return rate("lost", s, 1, &c->lost);
	default:
		return rate("inside", s, 1, &c->inside);
	}
}

static bool
point_option(struct rxl_options *o, int opt, const char *s)
{
	static const char *const retries[] = { "go-back-n", "selective" };
	struct rxl_case *c = &o->c;
	int i;

	o->point = true;
	switch (opt) {
	case OPT_PROFILE:
		return rxl_profile_find(s, &c->profile) == 0 ||
		       complain("profile", s, "use rxl, rxl-compact, cxl or "
					      "cxl-sep-ack");
	case OPT_RETRY:
		if (!word("retry", s, retries, 2, &i))
			return false;
		c->retry = (enum rl_e2e_retry)i;
		return true;
	case OPT_LEVELS:
		return small("levels", s, 0, RL_RXL_LEVELS_MAX, &c->levels);
	case OPT_COALESCE:
		return small("coalesce", s, 1, 256, &c->coalesce);
	case OPT_REPORTS:
		c->reports = true;
		return true;
	case OPT_FLITS:
		return number("flits", s, 1000, 1000000000000ull, &c->flits);
	default:
		return error_option(o, opt, s);
	}
}

static bool
codec_option(struct rxl_options *o, int opt, const char *s)
{
	static const char *const crcs[] = { "crc64-ecma", "crc64-bch",
					    "pcie6-rs" };
	static const char *const isns[] = { "xor10", "wide", "wide19" };
	int i;

	if (opt == OPT_CRC) {
		if (!word("crc", s, crcs, 3, &i))
			return false;
		o->c.crc = (enum rl_crc_kind)i;
	} else {
		if (!word("isn", s, isns, 3, &i))
			return false;
		o->c.isn = (enum rl_isn_kind)i;
	}
	return true;
}

static bool
take(struct rxl_options *o, int opt, const char *s)
{
	switch (opt) {
	case OPT_TABLE:
		return want_table(o, s);
	case OPT_FIGURE:
		return want_figure(o, s);
	case OPT_QUICK:
		return o->quick = true;
	case OPT_OUT:
		o->out = s;
		return true;
	case OPT_JSON:
		o->json = s;
		return true;
	case OPT_JOBS:
		return small("jobs", s, 1, 64, &o->jobs);
	case OPT_FRESH:
		return o->fresh = true;
	case OPT_NO_PLOTS:
		o->plots = false;
		return true;
	case OPT_QUIET:
		return o->quiet = true;
	case OPT_SEED:
		return number("seed", s, 0, UINT64_MAX - 1000000, &o->c.seed);
	case OPT_CRC:
	case OPT_ISN:
		return codec_option(o, opt, s);
	case OPT_LONG_FLITS:
		return number("long-flits", s, 1000, 1000000000000000ull,
			      &o->long_flits);
	default:
		return point_option(o, opt, s);
	}
}

static unsigned int
processors(void)
{
	return rl_min_u32(cpus_allowed(), 64);
}

/** Whether the codec can do what was asked for. */
static bool
codec_possible(const struct rxl_options *o)
{
	void *mem = aligned_alloc(RL_CACHE_LINE,
				  (rl_codec_memsize() + 63) & ~(size_t)63);
	const int ret = mem == NULL ? 0
				    : rl_codec_init(mem, o->c.crc, o->c.isn,
						    RL_ISA_SCALAR);

	free(mem);
	if (ret == 0)
		return true;
	fprintf(stderr,
		"reflit-sim rxl: --isn %s does not go with --crc %s; use "
		"xor10, or crc64-bch\n",
		rxl_isn_name(o->c.isn), rxl_crc_name(o->c.crc));
	return false;
}

enum rxl_parsed
rxl_options_parse(struct rxl_options *o, int argc, char **argv)
{
	int opt;

	memset(o, 0, sizeof(*o));
	rxl_case_defaults(&o->c);
	o->c.ber = 1e-5;
	o->c.levels = 1;
	o->c.flits = 10000000;
	o->plots = true;
	o->jobs = processors();
	o->long_flits = 1000000000;
	o->out = "rxl-results";
	optind = 0; /* begin anew: reflit-sim may have parsed before */
	while ((opt = option_next("reflit-sim", argc, argv, "", longs,
				  NULL)) != -1) {
		if (opt == OPT_HELP) {
			usage(stdout);
			return RXL_HELPED;
		}
		if (opt == '?' || !take(o, opt, optarg)) {
			if (opt == '?')
				fprintf(stderr, "see reflit-sim rxl --help\n");
			return RXL_UNUSABLE;
		}
	}
	if (optind != argc) {
		fprintf(stderr, "reflit-sim rxl: unexpected %s; see --help\n",
			argv[optind]);
		return RXL_UNUSABLE;
	}
	return codec_possible(o) ? RXL_RUN : RXL_UNUSABLE;
}
