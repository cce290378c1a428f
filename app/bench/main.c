/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-bench [options] SUITE...
 *
 * Measures; never judges. Every suite runs its bare work in the same run, so
 * that the ratios hold where the absolute times do not.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_host.h"
#include "opts.h"
#include "report_file.h"
#include "say_error.h"
#include "stop_signal.h"
#include "rl_base.h"
#include "rl_config.h"

struct suite {
	const char *name;
	bench_fn run;
	const char *what;
};

static const struct suite suites[] = {
	{ "codec", bench_codec, "CRC, ISN and FEC, every instruction set" },
	{ "hop", bench_hop, "endpoint - switch - endpoint over net_ring" },
	{ "replay", bench_replay, "a full replay buffer into net_null" },
	{ "failover", bench_failover, "links cut under load, at random" },
	{ "endpoint", bench_endpoint, "two endpoints back to back" },
	{ "route", bench_route, "tables, checks and recomputation" },
	{ "recovery", bench_recovery, "links and switches fail for good" },
	{ "sim", bench_sim, "virtual time: flit-hops a second" },
	{ "load", bench_load, "virtual time: full fabrics" },
	{ "wire", bench_wire, "a full replay buffer through --port, or a link" },
};

static const struct suite *
find_suite(const char *name)
{
	for (size_t i = 0; i < RL_ARRAY_SIZE(suites); i++)
		if (strcmp(suites[i].name, name) == 0)
			return &suites[i];
	return NULL;
}

struct args {
	struct bench_opts o;
	const char *json;
	bool help, version;
};

/* seed, and numbers of 32 bits: in other bases, too */
static int
take_number(const struct opt *opt, const char *s, void *to)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno != 0 || *s == '\0' || *s == '-' || *end != '\0' ||
	    v < opt->min || v > opt->max)
		return say_error(-EBADMSG, "reflit-bench: --%s: '%s' is not a "
				 "number of %llu to %llu\n", opt->name, s,
				 (unsigned long long)opt->min,
				 (unsigned long long)opt->max);
	if (opt->at == offsetof(struct args, o.seed))
		((struct args *)to)->o.seed = v;
	else
		*(unsigned int *)(void *)((char *)to + opt->at) =
			(unsigned int)v;
	return 0;
}

/* "16/5,1/1" */
static int
take_cases(RL_UNUSED const struct opt *opt, const char *s, void *to)
{
	struct bench_opts *const o = &((struct args *)to)->o;

	for (const char *at = s;; at++) {
		char *end;
		struct bench_case *c = &o->cases[o->ncases];
		unsigned long v;

		if (o->ncases == BENCH_CASES || *at < '0' || *at > '9')
			break;
		v = strtoul(at, &end, 10);
		if (v < 1 || v > RL_FRAME_FLITS_MAX || *end != '/' ||
		    end[1] < '0' || end[1] > '9')
			break;
		c->packet_flits = (uint32_t)v;
		v = strtoul(end + 1, &end, 10);
		if (v < 1 || v > RL_FRAME_FLITS_MAX)
			break;
		c->flits_per_frame = (uint32_t)v;
		o->ncases++;
		at = end;
		if (*at == '\0')
			return 0;
		if (*at != ',')
			break;
	}
	return say_error(-EBADMSG, "reflit-bench: --case: '%s' is not "
			 "FLITS_A_PACKET/FLITS_A_FRAME[,...], 1 to %d each, at "
			 "most %d of them\n", s, RL_FRAME_FLITS_MAX,
			 BENCH_CASES);
}

static int
take_port(RL_UNUSED const struct opt *opt, const char *s, void *to)
{
	struct bench_opts *const o = &((struct args *)to)->o;

	if (o->nports == BENCH_PORTS)
		return say_error(-EBADMSG, "reflit-bench: --port: give one "
				 "port, or two that are joined\n");
	o->port[o->nports++] = s;
	bench_eal_port(s);
	return 0;
}

#define TO(field) offsetof(struct args, field)

static const struct opt table[] = {
	{ "case", "P/F[,..]", take_cases, 0,
	  .help = "suite hop: measure only packets of P flits in\nframes of F" },
	{ "config", "FILE", opt_text, TO(o.config),
	  .help = "suites sim, load: this fabric instead of their own" },
	{ "lcrc", NULL, NULL, TO(o.lcrc), .help = "suite hop: with link.lcrc" },
	{ "witness", "N", take_number, TO(o.witness), 0, 1u << 20,
	  .help = "suite hop: with switch.witness = N; 1: of all (0: off)" },
	{ "json", "FILE", opt_text, TO(json),
	  .help = "write the figures as JSON; -: to standard output,\n"
		  "and everything else to standard error" },
	{ "seed", "N", take_number, TO(o.seed), 0, INT64_MAX - 1000,
	  .help = "seed whatever is drawn (1)" },
	{ "reps", "N", take_number, TO(o.reps), 1, 1000,
	  .help = "repetitions; medians are reported (9); suite load:\n"
		  "random permutations, mean and worst" },
	{ "row", "TEXT", opt_text, TO(o.row),
	  .help = "suite recovery: only rows whose names, 10x10x10 1/0\n"
		  "auto (torus, links/switches, mode), hold TEXT" },
	{ "quick", NULL, NULL, TO(o.quick),
	  .help = "small sizes: a smoke test, not a measurement" },
	{ "port", "PORT", take_port, 0,
	  .help = "suite wire: use this ethdev: 0000:01:00.0, or as EAL's\n"
		  "--vdev takes it, net_af_packet0,iface=veth0\n"
		  "(net_null); twice: a link between the two" },
	{ "help", NULL, NULL, TO(help), .help = "print this text" },
	{ "version", NULL, NULL, TO(version), .help = "print the version" },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-bench",
	.usage = "usage: reflit-bench [options] SUITE...\n\n"
		 "Measures each figure beside the bare work of the same run.\n\n"
		 "options:\n",
	.more = "\nsuites:\n",
	.table = table,
	.column = 17,
};

static int
parse_suites(int n, char **names)
{
	if (n == 0)
		return say_error(-EINVAL, "reflit-bench: name a suite; see "
				 "--help\n");
	for (int i = 0; i < n; i++)
		if (find_suite(names[i]) == NULL)
			return say_error(-EINVAL, "reflit-bench: no suite "
					 "'%s'; see --help\n", names[i]);
	return 0;
}

/* @return index of the first suite; 0 to exit with 0, -EINVAL for bad arguments */
static int
parse_args(int argc, char **argv, struct args *a)
{
	const int first = opts_read(&program, argc, argv, a);

	if (first < 0)
		return first;
	if (a->help) {
		opts_help(&program);
		for (size_t i = 0; i < RL_ARRAY_SIZE(suites); i++)
			printf("  %-9s %s\n", suites[i].name, suites[i].what);
	} else if (a->version) {
		printf("reflit-bench %s\n", RL_VERSION);
	} else {
		const int ret = parse_suites(argc - first, argv + first);

		return ret != 0 ? ret : first;
	}
	return 0;
}

/* Bad files are found before anything is measured. */
static int
check_files(const struct bench_opts *o, const char *json)
{
	char err[RL_ERR_MAX + 512];
	struct rl_config cfg;
	int ret;

	if (report_check("reflit-bench", json) != 0 ||
	    report_apart("reflit-bench", &json, 1, &o->config, 1) != 0 ||
	    report_claim_stdout("reflit-bench", &json, 1) != 0)
		return -EINVAL;
	if (o->config == NULL)
		return 0;
	if (rl_config_read(o->config, &cfg, err, sizeof(err)) != 0)
		return say_error(-EINVAL, "%s\n", err);
	ret = report_apart("reflit-bench", &json, 1,
			   (const char *const *)cfg.files, cfg.nfiles);
	rl_config_free(&cfg);
	return ret;
}

/* A suite may find that the fabric file asks for what can't be. */
static int
exit_status(int ret)
{
	switch (ret) {
	case 0:
		return 0;
	case -EINVAL:
		return 2;
	case -EHOSTUNREACH:
		return 3;
	default:
		return 1;
	}
}

int
main(int argc, char **argv)
{
	struct args a = { .o = { .reps = 9, .seed = 1 } };
	json_t *report;
	int first, ret = 0;

	report_begin("reflit-bench", argc, argv);
	first = parse_args(argc, argv, &a);
	if (first <= 0)
		return first == 0 ? 0 : 2;
	if (check_files(&a.o, a.json) != 0)
		return 2;
	stop_catch(STOP_AGAIN_KILLS);
	bench_cpus_note();
	report = json_object();
	json_object_set_new(report, "machine", bench_machine(stdout));
	for (int i = first; i < argc && stop_asked() == 0; i++) {
		const struct suite *s = find_suite(argv[i]);
		json_t *out = json_object();

		ret = s->run(&a.o, out, stdout);
		fflush(stdout);
		json_object_set_new(report, s->name, out);
		if (ret == -EHOSTUNREACH ||
		    (ret == -EINVAL && (a.o.config || a.o.nports != 0)))
			break; /* it has said what is wrong with that */
		if (ret != 0) {
			fprintf(stderr, "reflit-bench: %s: %s\n", s->name,
				strerror(-ret));
			break;
		}
	}
	json_object_set_new(report, "interrupted",
			    json_boolean(stop_asked() != 0));
	if (stop_asked() != 0)
		fprintf(stderr, "reflit-bench: ended early: the report has the "
			"measurements so far\n");
	if (a.json != NULL &&
	    report_save("reflit-bench", report, a.json) != 0 && ret == 0)
		ret = -EINVAL;
	json_decref(report);
	bench_eal_end();
	if (report_flush("reflit-bench") != 0 && ret == 0)
		ret = -EINVAL;
	return exit_status(ret);
}
