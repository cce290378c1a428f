/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "option_next.h"
#include "profile.h"
#include "report_file.h"
#include "rl_rxl_app.h"
#include "scenario.h"

static const struct {
	const char *name;
	enum rxl_figure fig;
	const char *what;
} figures[] = {
	{ "fig4", RXL_FIG4,
	  "four flits; #1 is dropped, and #2 carries an ACK" },
	{ "fig5a", RXL_FIG5A,
	  "the same with read requests: is one executed twice?" },
	{ "fig5b", RXL_FIG5B,
	  "the same with data, B and C of one command queue: in order?" },
};

static void
usage(FILE *out)
{
	fprintf(out,
		"usage: reflit-sim scenario FIGURE [options]\n\n"
		"Plays a figure of the RXL paper flit by flit.\n\n");
	for (size_t i = 0; i < RL_ARRAY_SIZE(figures); i++)
		fprintf(out, "  %-6s %s\n", figures[i].name, figures[i].what);
	fprintf(out,
		"\n  --profile NAME  cxl (default), cxl-sep-ack, rxl, "
		"rxl-compact\n"
		"  --json FILE     write the result as JSON\n"
		"  --help          print this text\n\n"
		"Exit status: 0 nothing came twice, out of order or not at "
		"all; 1 something did;\n2 unusable arguments.\n");
}

static int
write_json(const char *path, const char *figure, enum rl_profile profile,
	   const struct rxl_scenario_result *r)
{
	json_t *o = json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:b}", "figure",
		figure, "profile", rl_profile_name(profile), "received",
		r->received, "data", r->data, "received_again",
		(int)r->again, "out_of_order", (int)r->out_of_order,
		"unexpected_data", (int)r->unexpected, "missing",
		(int)r->missing, "sound", rxl_scenario_sound(r));
	const int ret = report_save("reflit-sim scenario", o, path);

	json_decref(o);
	return ret;
}

static void
summarise(enum rxl_figure fig, const struct rxl_scenario_result *r)
{
	printf("\nreceived in this order: %s", r->received);
	if (fig == RXL_FIG5A)
		printf("; data the host got: %s", r->data);
	printf("\n");
	printf("received again %u, out of order %u, data not asked for %u, "
	       "missing %u\n",
	       r->again, r->out_of_order, r->unexpected, r->missing);
	printf("%s\n", rxl_scenario_sound(r)
			       ? "every flit once and in order"
			       : "the loss was not seen in time");
}

/** The figure named; -1 where there is no such. */
static int
find_figure(const char *name)
{
	for (size_t i = 0; i < RL_ARRAY_SIZE(figures); i++)
		if (strcmp(name, figures[i].name) == 0)
			return (int)i;
	fprintf(stderr,
		"reflit-sim scenario: unknown figure %s; use fig4, fig5a or "
		"fig5b\n", name);
	return -1;
}

static int
play(int figure, enum rl_profile profile, const char *json)
{
	struct rxl_ladder *ladder = malloc(sizeof(*ladder));
	struct rxl_scenario_result r;
	int ret;

	if (ladder == NULL ||
	    rxl_scenario_run(figures[figure].fig, profile, ladder, &r) != 0) {
		fprintf(stderr, "reflit-sim scenario: out of memory\n");
		free(ladder);
		return 2;
	}
	printf("%s with %s: %s\n\n", figures[figure].name,
	       rl_profile_name(profile), figures[figure].what);
	rxl_ladder_print(ladder, stdout);
	free(ladder);
	summarise(figures[figure].fig, &r);
	ret = rxl_scenario_sound(&r) ? 0 : 1;
	if (json != NULL && write_json(json, figures[figure].name, profile,
				       &r) != 0)
		ret = 2;
	return ret;
}

int
rl_scenario_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "profile", required_argument, NULL, 'p' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	enum rl_profile profile = RL_PROFILE_CXL;
	const char *json = NULL;
	int c, figure;

	optind = 0; /* begin anew: reflit-sim may have parsed before */
	while ((c = option_next("reflit-sim", argc, argv, "", options,
				NULL)) != -1) {
		switch (c) {
		case 'p':
			if (rxl_profile_find(optarg, &profile) != 0) {
				fprintf(stderr,
					"reflit-sim scenario: unknown profile "
					"%s; use rxl, rxl-compact, cxl or "
					"cxl-sep-ack\n", optarg);
				return 2;
			}
			break;
		case 'j':
			json = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (argc - optind != 1) {
		usage(stderr);
		return 2;
	}
	if (report_check("reflit-sim scenario", json) != 0 ||
	    report_claim_stdout("reflit-sim scenario", &json, 1) != 0)
		return 2;
	figure = find_figure(argv[optind]);
	return figure < 0 ? 2 : play(figure, profile, json);
}
