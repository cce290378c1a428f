/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The prompt. At a terminal DPDK's line editor reads the keys; reflit runs the
 * lines and completes words, so that a terminal and a file give the same
 * answers. Otherwise standard input is read by lines.
 *
 * While a line is edited, Ctrl-C is a key that drops it. While a command runs,
 * it is a signal that ends the command's waiting, not the program.
 */

#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API /* rdline_new(): so since DPDK 20.11 */
#endif

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cmdline_rdline.h>

#include "command.h"
#include "complete.h"

#define STEP_NS (1 * RL_NS_PER_MS)
#define PROMPT "reflit> "
#define LINE_MAX_BYTES (16u << 20)

struct terminal {
	struct app *app;
	struct complete complete;
	struct termios before; /* the program */
	struct termios edit;   /* while a line is edited */
	struct termios work;   /* while a command runs */
};

/* @return > 0: readable (or at its end); 0: not now */
static int
input_ready(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, 0);
}

static int
on_char(RL_UNUSED struct rdline *rdl, char c)
{
	return putchar(c) == EOF ? -1 : 1;
}

static void
on_line(struct rdline *rdl, const char *line, RL_UNUSED unsigned int size)
{
	struct terminal *t = rdline_get_opaque(rdl);

	tcsetattr(STDIN_FILENO, TCSADRAIN, &t->work);
	t->app->console.editing = false;
	command_line(t->app, line, false);
	fflush(stdout);
	if (stop_asked() == SIGINT) {
		printf("interrupted\n");
		stop_forget();
	}
	tcsetattr(STDIN_FILENO, TCSADRAIN, &t->edit);
	t->app->console.editing = true;
}

static int
on_tab(struct rdline *rdl, const char *line, char *to, unsigned int size,
       int *state)
{
	struct terminal *t = rdline_get_opaque(rdl);

	return complete_next(&t->complete, t->app, line, to, size, state);
}

/* One key. @return whether the prompt goes on */
static bool
take_key(struct rdline *rdl, char c)
{
	const int ret = rdline_char_in(rdl, c);

	if (ret == RDLINE_RES_VALIDATED) {
		const char *line = rdline_get_buffer(rdl);
		const size_t len = strcspn(line, "\n");

		if (len != 0 && line[0] != ' ')
			rdline_add_history(rdl, line);
		rdline_newline(rdl, PROMPT);
	}
	fflush(stdout);
	return ret != RDLINE_RES_EOF && ret != RDLINE_RES_EXITED;
}

static void
edit_lines(struct app *app, struct rdline *rdl)
{
	bool on = true;

	rdline_newline(rdl, PROMPT);
	fflush(stdout);
	while (on && !app->quit && stop_asked() == 0) {
		char keys[64];
		ssize_t n;

		if (input_ready() <= 0) {
			app_step(app, STEP_NS);
			if (app->console.redraw)
				rdline_redisplay(rdl);
			app->console.redraw = false;
			fflush(stdout);
			continue;
		}
		n = read(STDIN_FILENO, keys, sizeof(keys));
		on = n > 0;
		for (ssize_t i = 0; i < n && on && !app->quit; i++)
			on = take_key(rdl, keys[i]);
	}
}

static void
prompt_terminal(struct app *app)
{
	struct terminal t = { .app = app };
	struct rdline *rdl = rdline_new(on_char, on_line, on_tab, &t);

	if (rdl == NULL || tcgetattr(STDIN_FILENO, &t.before) != 0) {
		app_error(app, "no prompt: standard input is not usable");
		rdline_free(rdl);
		return;
	}
	t.work = t.before;
	t.work.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	t.edit = t.work;
	t.edit.c_lflag &= ~(tcflag_t)ISIG;
	tcsetattr(STDIN_FILENO, TCSANOW, &t.edit);
	app->console.editing = true;
	if (app->watch.verbose == WATCH_UNSET)
		app->watch.verbose = WATCH_LINKS;
	edit_lines(app, rdl);
	app->console.editing = false;
	tcsetattr(STDIN_FILENO, TCSANOW, &t.before);
	rdline_free(rdl);
	complete_free(&t.complete);
	putchar('\n');
}

/* Input that is not a whole line yet. */
struct lines {
	char *buf;
	size_t len;
	size_t cap;
};

/* Runs all whole lines; at the end of input also an unfinished one. */
static void
run_lines(struct app *app, struct lines *l, bool end)
{
	size_t at = 0;

	while (at < l->len && !app->quit && stop_asked() == 0) {
		const char *nl = memchr(l->buf + at, '\n', l->len - at);
		const size_t len = nl == NULL ? l->len - at
					      : (size_t)(nl - l->buf) - at;

		if (nl == NULL && !end)
			break;
		command_stdin_line(app, l->buf + at, len);
		at += len + (nl != NULL);
	}
	memmove(l->buf, l->buf + at, l->len - at);
	l->len -= at;
}

/* @return bytes read; 0: the end, or an error; -EFBIG, -ENOMEM */
static ssize_t
read_more(struct lines *l)
{
	ssize_t n;

	if (l->len >= LINE_MAX_BYTES)
		return -EFBIG;
	if (l->len == l->cap) {
		const size_t cap = l->cap == 0 ? 4096 : 2 * l->cap;
		char *more = realloc(l->buf, cap);

		if (more == NULL)
			return -ENOMEM;
		l->buf = more;
		l->cap = cap;
	}
	n = read(STDIN_FILENO, l->buf + l->len, l->cap - l->len);
	l->len += n > 0 ? (size_t)n : 0;
	return n < 0 ? 0 : n;
}

/* Reads lines of a pipe or file; the run ends with it. */
static void
prompt_lines(struct app *app)
{
	struct lines l = { 0 };
	ssize_t n = 1;

	app->script = "stdin";
	app->script_line = 0;
	while (!app->quit && stop_asked() == 0 && n > 0) {
		if (input_ready() <= 0) {
			app_step(app, STEP_NS);
			continue;
		}
		n = read_more(&l);
		if (n < 0)
			app_error(app, "a line of more than %zu bytes", l.len);
		else
			run_lines(app, &l, n == 0);
	}
	app->script = NULL;
	free(l.buf);
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
