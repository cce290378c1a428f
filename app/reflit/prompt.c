/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmdline.h>
#include <cmdline_rdline.h>
#include <cmdline_socket.h>

#include "command.h"
#include "command_set.h"
#include "prompt.h"

#define STEP_NS (1 * RL_NS_PER_MS)

/* @return > 0: can be read (or has ended); 0: not now */
static int
input_ready(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0);
}

static void
prompt_terminal(struct app *app)
{
	struct cmdline *cl = cmdline_stdin_new(app->commands->ctx, "reflit> ");
	char buf[64];

	if (cl == NULL) {
		app_error(app, "no prompt: standard input is not usable");
		return;
	}
	while (!app->quit && stop_asked() == 0) {
		ssize_t n;

		if (input_ready() <= 0) {
			app_step(app, STEP_NS);
			continue;
		}
		n = read(STDIN_FILENO, buf, sizeof(buf));
		if (n <= 0 || cmdline_in(cl, buf, (int)n) < 0)
			break;
	}
	cmdline_stdin_exit(cl);
	putchar('\n');
}

/* Lines of a pipe or file; at its end the run ends. */
static void
prompt_lines(struct app *app)
{
	char line[512];
	size_t len = 0;
	ssize_t n = 1;

	app->script = "stdin";
	app->script_line = 0;
	while (!app->quit && stop_asked() == 0 && n > 0) {
		char c;

		if (input_ready() <= 0) {
			app_step(app, STEP_NS);
			continue;
		}
		n = read(STDIN_FILENO, &c, 1);
		if (n == 1 && c != '\n' && len < sizeof(line) - 1) {
			line[len++] = c;
			continue;
		}
		line[len] = '\0';
		len = 0;
		app->script_line++;
		command_line(app, line, false);
	}
	app->script = NULL;
}

void
prompt_run(struct app *app)
{
	if (isatty(STDIN_FILENO))
		prompt_terminal(app);
	else
		prompt_lines(app);
	app->quit = true;
}
