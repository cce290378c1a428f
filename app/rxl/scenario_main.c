/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "opts.h"
#include "profile.h"
#include "report_file.h"
#include "rl_rxl_app.h"
#include "scenario.h"

#define FIG4 "four flits; #1 is dropped, and #2 carries an ACK"
#define FIG5A "the same with read requests: is one executed twice?"
#define FIG5B                                                                  \
	"the same with data, B and C of one command queue: in order?"

static const struct {
	const char *name;
	enum rxl_figure fig;
	const char *what;
} figures[] = {
	{ "fig4", RXL_FIG4, FIG4 },
	{ "fig5a", RXL_FIG5A, FIG5A },
	{ "fig5b", RXL_FIG5B, FIG5B },
};

struct args {
	enum rl_profile profile;
	const char *json;
	bool help;
};

static int
take_profile(const struct opt *opt, const char *name, void *to)
{
	(void)opt;
	if (rxl_profile_find(name, &((struct args *)to)->profile) == 0)
		return 0;
	fprintf(stderr, "reflit-sim scenario: unknown profile %s; use rxl, "
		"rxl-compact, cxl or cxl-sep-ack\n", name);
	return -EBADMSG;
}

static const struct opt table[] = {
	{ "profile", "NAME", take_profile, 0,
	  .help = "cxl (default), cxl-sep-ack, rxl, rxl-compact" },
	{ "json", "FILE", opt_text, offsetof(struct args, json),
	  .help = "write the result as JSON" },
	{ "help", NULL, NULL, offsetof(struct args, help),
	  .help = "print this text" },
	{ .name = NULL },
};

static const struct opts program = {
	.program = "reflit-sim",
	.usage = "usage: reflit-sim scenario FIGURE [options]\n\n"
		 "Plays a figure of the RXL paper flit by flit.\n\n"
		 "  fig4   " FIG4 "\n  fig5a  " FIG5A "\n  fig5b  " FIG5B
		 "\n\n",
	.more = "\nExit status: 0 nothing came twice, out of order or not at "
		"all; 1 something did;\n2 unusable arguments.\n",
	.table = table,
	.column = 18,
};

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

/** @return index of the named figure, or -1 */
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
	struct args a = { .profile = RL_PROFILE_CXL };
	const int first = opts_read(&program, argc, argv, &a);
	int figure;

	if (first < 0)
		return 2;
	if (a.help) {
		opts_help(&program);
		return 0;
	}
	if (argc - first != 1) {
		fprintf(stderr, "reflit-sim scenario: name one figure; see "
			"--help\n");
		return 2;
	}
	if (report_check("reflit-sim scenario", a.json) != 0 ||
	    report_claim_stdout("reflit-sim scenario", &a.json, 1) != 0)
		return 2;
	figure = find_figure(argv[first]);
	return figure < 0 ? 2 : play(figure, a.profile, a.json);
}
