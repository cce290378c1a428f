/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Command files. A file is read once (it may be a pipe), and checked as a
 * whole before anything starts: words, names, numbers and their ranges. So a
 * typing error in the last line does not spoil a long run. A mistake that
 * shows only on the running fabric (a link that is down already) is an error
 * of that line, and the file goes on.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "rl_infile.h"
#include "say_error.h"

#define FILE_MAX_BYTES (16u << 20)
/*
 * A file with more mistakes is not a command file, and a user would not read
 * them.
 */
#define MISTAKES_MAX 100

/* `say TEXT`; TEXT may be anything. @return it; NULL: something else */
static const char *
said(const char *line)
{
	line += strspn(line, " \t");
	if (strncmp(line, "say", 3) != 0 || strspn(line + 3, " \t") == 0)
		return NULL;
	return line + 3 + strspn(line + 3, " \t");
}

static int
take_line(struct app *app, const char *at, size_t len, bool check)
{
	const char *text;
	char *line;
	int ret = 0;

	app->script_line++;
	if (memchr(at, '\0', len) != NULL)
		return app_error(app, "a zero byte; commands are plain text");
	len -= len != 0 && at[len - 1] == '\r';
	line = strndup(at, len);
	if (line == NULL)
		return app_error(app, "out of memory");
	text = said(line);
	if (text == NULL)
		ret = command_line(app, line, check);
	else if (!check)
		timeline_say(app, text);
	free(line);
	return ret;
}

static int
for_each_line(struct app *app, const char *path, const char *text, size_t size,
	      bool check)
{
	const char *const outer = app->script;
	const unsigned int outer_line = app->script_line;
	const char *at = text, *end = text + size;
	unsigned int mistakes = 0;
	int ret = 0;

	app->script = path;
	app->script_line = 0;
	while (at < end && !app->quit && stop_asked() == 0 &&
	       mistakes < MISTAKES_MAX) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const size_t len = (size_t)((nl == NULL ? end : nl) - at);

		if (take_line(app, at, len, check) != 0) {
			ret = -EINVAL;
			mistakes += check;
		}
		at += len + 1;
	}
	if (mistakes == MISTAKES_MAX && at < end)
		app_error(app, "%u mistakes; what follows is not checked",
			  mistakes);
	app->script = outer;
	app->script_line = outer_line;
	return ret;
}

static const char *
read_error(int err)
{
	return err == -EFBIG ? "more than 16 MiB" : rl_infile_error(err);
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
	if (ret != 0)
		return say_error(-EINVAL, "%s: %s\n",
				 path[0] == '\0'
					 ? "a command file without a name"
					 : path,
				 read_error(ret));
	return for_each_line(app, path, app->script_text, app->script_len,
			     true);
}

void
command_file_run(struct app *app)
{
	for_each_line(app, app->opt.cmdline_file, app->script_text,
		      app->script_len, false);
}

/*
 * Checks the whole file, then runs it. Within a file that is being checked,
 * only checks it.
 */
int
cmd_load(struct app *app, const char *const arg[])
{
	const bool check = app->checking;
	char *text;
	size_t len;
	int ret;

	if (app->script_depth >= COMMAND_FILES_MAX)
		return app_error(app, "%s: files load one another more than %u "
				      "deep; does it load itself?",
				 arg[0], COMMAND_FILES_MAX);
	/* read twice if the file that loads it is checked first, so it
	   cannot be a pipe */
	ret = rl_infile_read(arg[0], RL_INFILE_PLAIN, FILE_MAX_BYTES, &text,
			     &len);
	if (ret != 0)
		return app_error(app, "%s: %s", arg[0], read_error(ret));
	app->script_depth++;
	ret = for_each_line(app, arg[0], text, len, true);
	if (ret == 0 && !check)
		ret = for_each_line(app, arg[0], text, len, false);
	app->script_depth--;
	free(text);
	return ret;
}

void
command_stdin_line(struct app *app, const char *line, size_t len)
{
	(void)take_line(app, line, len, false);
}
