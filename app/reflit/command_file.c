/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Command files. A file is read once (it may be a pipe), and checked as a whole
 * before anything starts: words, names, numbers and their ranges. So a typing
 * error in its last line does not spoil a long run. What only the running
 * fabric can tell (a link that is down already) is an error of that line, and
 * the file goes on.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "rl_infile.h"

#define FILE_MAX_BYTES (16u << 20)

/* One line, without its end. */
static int
take_line(struct app *app, const char *at, size_t len, bool check)
{
	char *line;
	int ret;

	app->script_line++;
	if (memchr(at, '\0', len) != NULL)
		return app_error(app, "a zero byte; commands are plain text");
	line = strndup(at, len);
	if (line == NULL)
		return app_error(app, "out of memory");
	ret = command_line(app, line, check);
	free(line);
	return ret;
}

static int
for_each_line(struct app *app, bool check)
{
	const char *at = app->script_text;
	const char *end = at + app->script_len;
	int ret = 0;

	app->script = app->opt.cmdline_file;
	app->script_line = 0;
	while (at < end && !app->quit && stop_asked() == 0) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const size_t len = (size_t)((nl == NULL ? end : nl) - at);

		if (take_line(app, at, len, check) != 0)
			ret = -EINVAL;
		at += len + 1;
	}
	app->script = NULL;
	return ret;
}

int
command_file_check(struct app *app)
{
	const char *path = app->opt.cmdline_file;
	int ret;

	if (path == NULL)
		return 0;
	ret = rl_infile_read(path, RL_INFILE_ANY, FILE_MAX_BYTES,
			     &app->script_text, &app->script_len);
	if (ret != 0) {
		fprintf(stderr, "%s: %s\n",
			path[0] == '\0' ? "a command file without a name"
					: path,
			ret == -EFBIG ? "more than 16 MiB"
				      : rl_infile_error(ret));
		return -EINVAL;
	}
	return for_each_line(app, true);
}

void
command_file_run(struct app *app)
{
	for_each_line(app, false);
}

void
command_stdin_line(struct app *app, const char *line, size_t len)
{
	(void)take_line(app, line, len, false);
}
