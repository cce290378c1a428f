/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From the table to DPDK's cmdline library: a token for each word of a form.
 * Fixed words are cmdline's own strings; parameters are a token of ours, which
 * takes any word of the right shape (names may hold '#', which cmdline would
 * take for a comment). The handler checks whether a name exists, and explains.
 * Completion: complete.c.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmdline.h>
#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#include "command.h"
#include "command_set.h"

/* A parameter; hdr first: cmdline knows no more of it. */
struct word_token {
	struct cmdline_token_hdr hdr;
	char name[16]; /* between < and > */
	bool shows;    /* of a command that `json` may follow */
};

union token {
	struct cmdline_token_hdr hdr;
	cmdline_parse_token_string_t fixed;
	struct word_token word;
};

/* One command, bound to its program. */
struct bound {
	struct command_set *set;
	const struct command *cmd;
	bool json; /* the same, and `json` behind it */
	unsigned int nwords;
	union token token[COMMAND_WORDS];
	bool param[COMMAND_WORDS];
	char fixed[COMMAND_WORDS][24];
};

static bool
is_word_end(char c)
{
	return c == '\0' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Numbers begin with a digit, names do not; file names may be anything. */
static bool
fits(const struct word_token *w, const char *word, unsigned int n)
{
	const bool digit = word[0] >= '0' && word[0] <= '9';

	if (w->shows && n == 4 && memcmp(word, "json", 4) == 0)
		return false;
	if (strcmp(w->name, "file") == 0)
		return n != 3 || memcmp(word, "off", 3) != 0;
	return digit == (strcmp(w->name, "time") == 0 ||
			 strcmp(w->name, "n") == 0 ||
			 strcmp(w->name, "rate") == 0);
}

static int
word_parse(cmdline_parse_token_hdr_t *tk, const char *buf, void *res,
	   unsigned int size)
{
	const struct word_token *w = (const struct word_token *)tk;
	unsigned int n = 0;

	while (!is_word_end(buf[n]))
		n++;
	if (n == 0 || n >= COMMAND_WORD || buf[0] == '#' || !fits(w, buf, n))
		return -1;
	if (res != NULL) {
		if (size <= n)
			return -1;
		memcpy(res, buf, n);
		((char *)res)[n] = '\0';
	}
	return (int)n;
}

static int
word_help(cmdline_parse_token_hdr_t *tk, char *buf, unsigned int size)
{
	snprintf(buf, size, "<%s>", ((const struct word_token *)tk)->name);
	return 0;
}

static struct cmdline_token_ops word_ops = {
	.parse = word_parse,
	.get_help = word_help,
};

/* cmdline has parsed a line. */
static void
on_command(void *parsed, struct cmdline *cl, void *data)
{
	const struct bound *b = data;
	const char *arg[COMMAND_WORDS + 1] = { NULL };
	unsigned int n = 0;
	int result = 0;

	(void)cl;
	for (unsigned int i = 0; i < b->nwords; i++)
		if (b->param[i])
			arg[n++] = (const char *)parsed + i * COMMAND_WORD;
	/* a command without parameters has nothing to check */
	if (!b->set->app->checking || n != 0) {
		if (b->json)
			facts_begin(&b->set->app->facts);
		result = b->cmd->run(b->set->app, arg);
		if (b->json)
			facts_end(&b->set->app->facts,
				  result == 0 && !b->set->app->checking);
	}
	/* last: a loaded file may have changed this meanwhile */
	b->set->ran = true;
	b->set->result = result;
	fflush(stdout);
}

bool
command_shows(const struct command *c)
{
	return strncmp(c->form, "show ", 5) == 0;
}

static void
bind_word(struct bound *b, const char *word, size_t len)
{
	const unsigned int i = b->nwords++;
	union token *t = &b->token[i];

	RL_ASSERT(i < COMMAND_WORDS && len < sizeof(b->fixed[0]));
	t->hdr.offset = i * COMMAND_WORD;
	b->param[i] = word[0] == '<';
	if (b->param[i]) {
		t->hdr.ops = &word_ops;
		t->word.shows = command_shows(b->cmd);
		snprintf(t->word.name, sizeof(t->word.name), "%.*s",
			 (int)len - 2, word + 1);
		return;
	}
	snprintf(b->fixed[i], sizeof(b->fixed[i]), "%.*s", (int)len, word);
	t->fixed.hdr.ops = &cmdline_token_string_ops;
	t->fixed.string_data.str = b->fixed[i];
}

static cmdline_parse_inst_t *
make_inst(struct bound *b)
{
	cmdline_parse_inst_t *inst = calloc(
		1, sizeof(*inst) + (COMMAND_WORDS + 1) *
					   sizeof(inst->tokens[0]));
	const char *at = b->cmd->form;

	if (inst == NULL)
		return NULL;
	while (*at != '\0') {
		const size_t len = strcspn(at, " ");

		bind_word(b, at, len);
		at += len + (at[len] == ' ');
	}
	if (b->json)
		bind_word(b, "json", 4);
	inst->f = on_command;
	inst->data = b;
	inst->help_str = b->cmd->help;
	for (unsigned int i = 0; i < b->nwords; i++)
		inst->tokens[i] = &b->token[i].hdr;
	return inst;
}

int
command_open(struct app *app)
{
	struct command_set *s = calloc(1, sizeof(*s));
	unsigned int n = 0;

	app->commands = s;
	if (s == NULL)
		return -ENOMEM;
	s->app = app;
	for (const struct command *c = command_table; c->form != NULL; c++)
		n += 1 + command_shows(c);
	s->ctx = calloc(n + 1, sizeof(*s->ctx));
	s->bound = calloc(n, sizeof(*s->bound));
	if (s->ctx == NULL || s->bound == NULL)
		return -ENOMEM;
	n = 0;
	for (const struct command *c = command_table; c->form != NULL; c++)
		for (int json = 0; json <= command_shows(c); json++, n++) {
			s->bound[n].set = s;
			s->bound[n].cmd = c;
			s->bound[n].json = json != 0;
			s->ctx[n] = make_inst(&s->bound[n]);
			if (s->ctx[n] == NULL)
				return -ENOMEM;
		}
	s->parser = cmdline_new(s->ctx, "", -1, -1);
	return s->parser == NULL ? -ENOMEM : 0;
}

void
command_close(struct app *app)
{
	struct command_set *s = app->commands;

	free(app->script_text);
	app->script_text = NULL;
	if (s == NULL)
		return;
	if (s->parser != NULL)
		cmdline_free(s->parser);
	for (unsigned int i = 0; s->ctx != NULL && s->ctx[i] != NULL; i++)
		free(s->ctx[i]);
	free(s->ctx);
	free(s->bound);
	free(s);
	app->commands = NULL;
}

/* The forms that share their beginning with a line that fits none. */
static int
explain(struct app *app, const char *line)
{
	const size_t len = strcspn(line, " \t");
	char forms[600] = "";
	size_t at = 0;

	for (const struct command *c = command_table; c->form != NULL; c++) {
		if (strncmp(c->form, line, len) != 0 ||
		    (c->form[len] != ' ' && c->form[len] != '\0'))
			continue;
		if (at + strlen(c->form) + 8 < sizeof(forms))
			at += (size_t)snprintf(forms + at, sizeof(forms) - at,
					       "%s%s", at == 0 ? "" : " | ",
					       c->form);
	}
	if (at == 0)
		return app_error(app, "no such command: %s; see help", line);
	return app_error(app, "cannot read '%s'; it is %s", line, forms);
}

int
command_line(struct app *app, const char *line, bool check)
{
	struct command_set *s = app->commands;
	const char *text = line + strspn(line, " \t");
	char buf[COMMAND_LINE_MAX], shown[128];
	size_t len = strcspn(text, "\r\n");
	bool outer; /* a line that loads a file is still being run */
	int ret;

	if (len == 0 || text[0] == '#')
		return 0;
	snprintf(shown, sizeof(shown), "%.*s", (int)len, text);
	if (len + 2 > sizeof(buf))
		return app_error(app, "a line of %zu characters is too long",
				 len);
	snprintf(buf, sizeof(buf), "%.*s\n", (int)len, text);
	s->ran = false;
	s->result = 0;
	outer = app->checking;
	app->checking = check;
	ret = cmdline_parse(s->parser, buf);
	app->checking = outer;
	if (ret < 0 || !s->ran)
		return explain(app, shown);
	if (s->result == 0 && !check)
		recorder_command(app, shown);
	return s->result;
}

int
cmd_quit(struct app *app, const char *const arg[])
{
	(void)arg;
	app->quit = true;
	return 0;
}
