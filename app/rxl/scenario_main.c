/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "driver.h"
#include "opts.h"
#include "report_file.h"
#include "rl_rxl_app.h"
#include "say_error.h"
#include "scenario.h"

#define WHO "reflit-sim scenario"
#define FIG4 "four flits; #1 is dropped, and #2 carries an ACK"
#define FIG5A "the same with read requests: is one executed twice?"
#define FIG5B                                                                  \
	"the same with data, B and C of one command queue: in order?"

struct args {
	enum rl_profile profile;
	const char *json;
	bool help;
};

static int
take_profile(RL_UNUSED const struct opt *opt, const char *name, void *to)
{
	if (rxl_profile_find(name, &((struct args *)to)->profile) == 0)
		return 0;
	return say_error(-EBADMSG,
			 WHO ": unknown profile %s; use rxl, "
			     "rxl-compact, cxl or cxl-sep-ack\n",
			 name);
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

/** What a figure shows; NULL, after an error: there is none of that name. */
static const char *
what_of(const char *name)
{
	static const char *const what[] = {
		[RXL_FIG4] = FIG4,
		[RXL_FIG5A] = FIG5A,
		[RXL_FIG5B] = FIG5B,
	};
	enum rxl_figure fig;

	if (rxl_figure_find(name, &fig) == 0)
		return what[fig];
	fprintf(stderr, WHO ": unknown figure %s; use fig4, fig5a or fig5b\n",
		name);
	return NULL;
}

/** driver/scenario.py asks for what happens, draws it and judges it. */
static int
play(const struct args *a, const char *figure, const char *what, int argc,
     char **argv)
{
	const char *const words[] = { RL_VERSION, figure, what,
				      rl_profile_name(a->profile),
				      a->json == NULL ? "" : a->json };
	const int more = (int)RL_ARRAY_SIZE(words);
	int n;
	char **args = driver_args(WHO, "rxl", RXL_INSTALLED, "scenario.py",
				  more + argc, &n);

	if (args == NULL)
		return 2;
	memcpy(args + n, words, sizeof(words));
	memcpy(args + n + more, argv, (size_t)argc * sizeof(*args));
	execvp(args[0], args);
	driver_failed(WHO);
	free(args);
	return 2;
}

int
rl_scenario_main(int argc, char **argv)
{
	/* opts_read() brings the words into another order */
	char **const given = calloc((size_t)argc, sizeof(*given));
	struct args a = { .profile = RL_PROFILE_CXL };
	const char *what = NULL;
	int first, ret = 2;

	if (given != NULL)
		memcpy(given, argv, (size_t)argc * sizeof(*given));
	first = opts_read(&program, argc, argv, &a);
	if (first >= 0 && a.help) {
		opts_help(&program);
		ret = 0;
	} else if (first >= 0 && argc - first != 1) {
		fprintf(stderr, WHO ": name one figure; see --help\n");
	} else if (first >= 0 && report_check(WHO, a.json) == 0) {
		what = what_of(argv[first]);
	}
	if (what != NULL && given != NULL)
		ret = play(&a, argv[first], what, argc, given);
	free(given);
	return ret;
}
