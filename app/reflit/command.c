/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which command of the table a line is, and its run. Fixed words of a form stand
 * for themselves; a parameter takes any word of the right shape. The handler
 * checks whether a name exists, and explains. Completion: complete.c.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

bool
command_shows(const struct command *c)
{
	return strncmp(c->form, "show ", 5) == 0;
}

bool
command_split(const char *line, struct command_words *w)
{
	char *at = w->text;

	w->n = 0;
	if (strlen(line) >= sizeof(w->text))
		return false;
	strcpy(w->text, line);
	for (;;) {
		at += strspn(at, " \t");
		w->word[w->n] = at;
		at += strcspn(at, " \t");
		if (*at == '\0')
			return true;
		*at++ = '\0';
		if (++w->n > COMMAND_WORDS)
			return false;
	}
}

static bool
named(const char *param, const char *name)
{
	const size_t len = strlen(name);

	return strncmp(param + 1, name, len) == 0 && param[len + 1] == '>';
}

/* Numbers begin with a digit, names do not; file names may be anything. */
static bool
takes(const struct command *c, const char *param, const char *word)
{
	const bool digit = word[0] >= '0' && word[0] <= '9';

	if (strlen(word) >= COMMAND_WORD ||
	    (command_shows(c) && strcmp(word, "json") == 0))
		return false;
	if (named(param, "file"))
		return strcmp(word, "off") != 0;
	return digit == (named(param, "time") || named(param, "n") ||
			 named(param, "rate"));
}

/*
 * Whether @p n words are that command, or that and `json` behind it. Sets the
 * parameters.
 */
static bool
is_command(const struct command *c, const char *const word[], unsigned int n,
	   const char *arg[COMMAND_WORDS + 1], bool *json)
{
	const char *at = c->form;
	unsigned int i = 0, args = 0;

	for (; *at != '\0'; i++) {
		const size_t len = strcspn(at, " ");

		if (i == n)
			return false;
		if (at[0] == '<' ? !takes(c, at, word[i])
				 : strlen(word[i]) != len ||
					   memcmp(word[i], at, len) != 0)
			return false;
		if (at[0] == '<')
			arg[args++] = word[i];
		at += len + (at[len] == ' ');
	}
	arg[args] = NULL;
	*json = command_shows(c) && i + 1 == n && strcmp(word[i], "json") == 0;
	return i + *json == n;
}

static int
run(struct app *app, const struct command *c, const char *const arg[],
    bool json)
{
	int result;

	/* a command without parameters has nothing to check */
	if (app->checking && arg[0] == NULL)
		return 0;
	if (json)
		facts_begin(&app->facts);
	app->with = c->with;
	app->fault = c->fault;
	result = c->run(app, arg);
	if (json)
		facts_end(&app->facts, result == 0 && !app->checking);
	fflush(stdout);
	return result;
}

/* The forms that share their beginning with a line that fits none, as many as
   have room in a line of error. */
static int
explain(struct app *app, const char *line)
{
	const size_t len = strcspn(line, " \t");
	char forms[WATCH_LINE_MAX] = "";
	const size_t used = strlen(line) + 64;
	size_t at = 0;
	bool any = false, more = false;

	for (const struct command *c = command_table; c->form != NULL; c++) {
		if (strncmp(c->form, line, len) != 0 ||
		    (c->form[len] != ' ' && c->form[len] != '\0'))
			continue;
		any = true;
		if (used + at + strlen(c->form) >= sizeof(forms))
			more = true;
		else
			at += (size_t)snprintf(forms + at, sizeof(forms) - at,
					       "%s%s", at == 0 ? "" : " | ",
					       c->form);
	}
	if (!any)
		return app_error(app, "no such command: %s; see help", line);
	return app_error(app, "cannot read '%s'; it is %s%s", line, forms,
			 more ? " | ...; see help all" : "");
}

/* Cuts off the comment that follows a command, if any. */
static void
cut_comment(char *text)
{
	for (char *at = text; (at = strchr(at, '#')) != NULL; at++)
		if (at > text && (at[-1] == ' ' || at[-1] == '\t')) {
			*at = '\0';
			return;
		}
}

int
command_line(struct app *app, const char *line, bool check)
{
	const char *text = line + strspn(line, " \t");
	const bool outer = app->checking; /* of a line that loads this one */
	const size_t len = strcspn(text, "\r\n");
	const char *arg[COMMAND_WORDS + 1];
	const struct command *c = command_table;
	char buf[COMMAND_LINE_MAX], shown[128];
	struct command_words w;
	unsigned int n;
	bool json = false;
	int ret;

	if (len == 0 || text[0] == '#')
		return 0;
	snprintf(shown, sizeof(shown), "%.*s", (int)len, text);
	if (len + 2 > sizeof(buf))
		return app_error(app, "a line of %zu characters is too long",
				 len);
	snprintf(buf, sizeof(buf), "%.*s", (int)len, text);
	cut_comment(buf);
	if (!command_split(buf, &w))
		return explain(app, shown);
	n = w.n + (w.word[w.n][0] != '\0');
	while (c->form != NULL && !is_command(c, w.word, n, arg, &json))
		c++;
	if (c->form == NULL)
		return explain(app, shown);
	app->checking = check;
	ret = run(app, c, arg, json);
	app->checking = outer;
	if (ret == 0 && !check)
		recorder_command(app, buf);
	return ret;
}

int
command_find_link(struct app *app, const char *name, uint32_t *first,
		  unsigned int *n)
{
	const int64_t l = rl_topo_find_link(&app->cfg.topo, name, n);

	if (l < 0)
		return app_error(app, "there is no link %s; see show fabric",
				 name);
	*first = (uint32_t)l;
	return 0;
}

int
command_find_links(struct app *app, const char *name, uint32_t link[],
		   unsigned int most, unsigned int *n)
{
	uint32_t first = 0;

	if (command_find_link(app, name, &first, n) != 0)
		return -EINVAL;
	if (*n > most)
		return app_error(app, "%s are %u links; name one of them", name,
				 *n);
	for (unsigned int k = 0; k < *n; k++)
		link[k] = rl_topo_link_of(&app->cfg.topo, first, *n, k);
	return 0;
}

int
command_find_device(struct app *app, const char *name, uint32_t *dev)
{
	const int32_t d = rl_topo_find_dev(&app->cfg.topo, name);

	if (d < 0)
		return app_error(app, "there is no device %s; see show fabric",
				 name);
	*dev = (uint32_t)d;
	return 0;
}

int
command_find_endpoint(struct app *app, const char *name, uint32_t *dev)
{
	const struct rl_topo *t = &app->cfg.topo;
	const int32_t d = rl_topo_find_dev(t, name);

	if (d < 0 || t->dev[d].kind != RL_DEV_ENDPOINT)
		return app_error(app, "there is no endpoint %s", name);
	*dev = (uint32_t)d;
	return 0;
}

int
command_here(struct app *app, uint32_t dev)
{
	const struct rl_config *cfg = &app->cfg;

	if (rl_config_runs(cfg, app->process, dev))
		return 0;
	return app_error(app, "%s is in process %s; give the command there",
			 cfg->topo.dev[dev].name,
			 cfg->process[cfg->dev_process[dev]].name);
}

int
command_link_here(struct app *app, uint32_t link)
{
	const uint32_t *dev = app->cfg.topo.link[link].dev;

	return rl_config_runs(&app->cfg, app->process, dev[1])
		       ? 0
		       : command_here(app, dev[0]);
}

bool
command_link_meant(const struct app *app, const char *name, uint32_t first,
		   uint32_t link)
{
	const struct rl_topo_link *a = &app->cfg.topo.link[first];
	const struct rl_topo_link *b = &app->cfg.topo.link[link];

	if (name == NULL || strcmp(name, "all") == 0 || first == link)
		return true;
	return strchr(name, '#') == NULL &&
	       ((a->dev[0] == b->dev[0] && a->dev[1] == b->dev[1]) ||
		(a->dev[0] == b->dev[1] && a->dev[1] == b->dev[0]));
}

bool
command_attached(const struct app *app, const char *endpoint)
{
	for (uint32_t i = 0; i < app->cfg.nattach; i++)
		if (strcmp(app->cfg.attach[i].endpoint, endpoint) == 0)
			return true;
	return false;
}

int
cmd_quit(struct app *app, RL_UNUSED const char *const arg[])
{
	app->quit = true;
	return 0;
}
