/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Command files. A file is parsed as a whole before anything starts, so that a
 * typing error in its last line does not spoil a long run; what only the
 * running fabric can tell (a link that is down already) is an error of that
 * line, and the file goes on.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static int
for_each_line(struct app *app, bool check)
{
	const char *path = app->opt.cmdline_file;
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	int ret = 0;

	if (f == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -EINVAL;
	}
	app->script = path;
	app->script_line = 0;
	while (!app->quit && stop_asked() == 0 &&
	       getline(&line, &cap, f) != -1) {
		app->script_line++;
		if (command_line(app, line, check) != 0)
			ret = -EINVAL;
	}
	app->script = NULL;
	free(line);
	fclose(f);
	return ret;
}

int
command_file_check(struct app *app)
{
	if (app->opt.cmdline_file == NULL)
		return 0;
	return for_each_line(app, true);
}

void
command_file_run(struct app *app)
{
	for_each_line(app, false);
}
