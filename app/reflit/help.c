/* SPDX-License-Identifier: BSD-3-Clause */

/* Help by section. A section is all commands that begin with the same word. */

#include <stdio.h>
#include <string.h>

#include "command.h"

static const struct {
	const char *word;
	const char *what;
} sections[] = {
	{ "start", "makes clients begin to send" },
	{ "stop", "makes clients stop sending" },
	{ "rate", "sets how fast a port's client sends" },
	{ "traffic", "sets what generators send" },
	{ "wait", "waits until something has happened, at most 30 s or a time" },
	{ "link", "cuts, heals, drains links" },
	{ "device", "crashes, removes, adds switches and endpoints" },
	{ "quiesce", "lets the fabric come to rest" },
	{ "reroute", "makes new tables" },
	{ "unquiesce", "lets requests go on" },
	{ "controller", "crashes the controller, starts another" },
	{ "inject", "injects faults into frames" },
	{ "capture", "writes frames of a link into a file" },
	{ "record", "writes what was done into a file" },
	{ "show", "shows what the fabric is and does" },
	{ "clear", "counts anew" },
	{ "set", "sets how this prompt behaves" },
	{ "load", "runs commands from a file" },
	{ "quit", "stops, drains, reports" },
};

static bool
is_of(const struct command *c, const char *word)
{
	const size_t len = strlen(word);

	return strncmp(c->form, word, len) == 0 &&
	       (c->form[len] == ' ' || c->form[len] == '\0');
}

/* Commands of a section; NULL: all. @return how many */
static unsigned int
list(const char *word)
{
	unsigned int n = 0;

	for (const struct command *c = command_table; c->form != NULL; c++) {
		if (word != NULL && !is_of(c, word))
			continue;
		printf("  %-42s %s\n", c->form, c->help);
		n++;
	}
	return n;
}

/* The topic of a word of the table; "" if it has none. */
static const char *
what_of(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strlen(sections[i].word) == len &&
		    memcmp(sections[i].word, word, len) == 0)
			return sections[i].what;
	return "";
}

static bool
seen_before(const struct command *c, size_t len)
{
	for (const struct command *b = command_table; b < c; b++)
		if (strcspn(b->form, " ") == len &&
		    memcmp(b->form, c->form, len) == 0)
			return true;
	return false;
}

int
cmd_help(RL_UNUSED struct app *app, RL_UNUSED const char *const arg[])
{
	printf("Sections; help SECTION lists its commands, help all lists "
	       "every one.\n");
	for (const struct command *c = command_table; c->form != NULL; c++) {
		const size_t len = strcspn(c->form, " ");

		if (!seen_before(c, len) && !is_of(c, "help"))
			printf("  %-10.*s %s\n", (int)len, c->form,
			       what_of(c->form, len));
	}
	printf("Tab completes, ? lists what may follow.\n");
	return 0;
}

int
cmd_help_on(struct app *app, const char *const arg[])
{
	bool any = strcmp(arg[0], "all") == 0;

	for (const struct command *c = command_table; c->form != NULL; c++)
		any |= is_of(c, arg[0]);
	if (!any)
		return app_error(app, "there is no section %s; see help",
				 arg[0]);
	if (!app->checking)
		list(strcmp(arg[0], "all") == 0 ? NULL : arg[0]);
	return 0;
}
