/* SPDX-License-Identifier: BSD-3-Clause */

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "complete.h"
#include "rl_grow.h"
#include "rl_pattern.h"

#define ROW 78 /* characters of a row of choices */
#define FILES_MAX 200
#define LINK_NAME (2 * RL_NAME_MAX + 8)

static void
clear(struct complete *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		free(c->choice[i]);
	c->n = 0;
}

void
complete_free(struct complete *c)
{
	clear(c);
	free(c->choice);
	memset(c, 0, sizeof(*c));
}

static void
add(struct complete *c, const char *begun, const char *choice)
{
	if (strncmp(begun, choice, strlen(begun)) != 0)
		return;
	for (unsigned int i = 0; i < c->n; i++)
		if (strcmp(c->choice[i], choice) == 0)
			return;
	if (!rl_grow(&c->choice, c->n, &c->cap, sizeof(*c->choice)))
		return; /* leaves the choice out */
	c->choice[c->n] = strdup(choice);
	c->n += c->choice[c->n] != NULL;
}

/* Links of a device, named from its end: "A-B", "A-B#k". */
static void
add_links_of(struct complete *c, const struct rl_topo *t, uint32_t dev,
	     const char *begun)
{
	for (uint16_t p = 0; p < t->dev[dev].nports; p++) {
		const struct rl_topo_port *port = &t->dev[dev].port[p];
		char name[LINK_NAME], turned[LINK_NAME + RL_NAME_MAX];
		const char *k;

		rl_topo_link_name(t, port->link, name, sizeof(name));
		k = strchr(name, '#');
		snprintf(turned, sizeof(turned), "%s-%s%s", t->dev[dev].name,
			 t->dev[port->peer_dev].name, k == NULL ? "" : k);
		add(c, begun, turned);
	}
}

static void
add_links(struct complete *c, const struct rl_topo *t, const char *begun)
{
	const size_t len = strcspn(begun, "-");
	char name[RL_NAME_MAX + 2];

	for (uint32_t d = 0; d < t->ndev; d++) {
		if (begun[len] == '-') {
			if (strlen(t->dev[d].name) == len &&
			    memcmp(t->dev[d].name, begun, len) == 0)
				add_links_of(c, t, d, begun);
			continue;
		}
		snprintf(name, sizeof(name), "%s-", t->dev[d].name);
		add(c, begun, name);
	}
}

/* The ends of the link that the line names, or all devices. */
static void
add_devices(struct complete *c, const struct rl_topo *t, const struct command_words *w)
{
	const char *begun = w->word[w->n];

	for (unsigned int i = 0; i < w->n; i++) {
		const int64_t l = rl_topo_find_link(t, w->word[i], NULL);

		if (l < 0)
			continue;
		for (int e = 0; e < 2; e++)
			add(c, begun, t->dev[t->link[l].dev[e]].name);
		return;
	}
	for (uint32_t d = 0; d < t->ndev; d++)
		add(c, begun, t->dev[d].name);
}

/* "all", a device, and once a device is named, its ports. */
static void
add_ports(struct complete *c, const struct rl_topo *t, const char *begun)
{
	char role[HOST_ROLE_NAME];

	add(c, begun, "all");
	for (uint32_t d = 0; d < t->ndev; d++) {
		const size_t len = strlen(t->dev[d].name);

		add(c, begun, t->dev[d].name);
		if (strncmp(begun, t->dev[d].name, len) != 0)
			continue;
		for (uint16_t p = 0; p < t->dev[d].nports; p++)
			add(c, begun, host_role_name(t, d, p, role));
	}
}

/* Files and folders with this beginning. Completion continues into a folder. */
static void
add_files(struct complete *c, const char *begun)
{
	char pattern[COMMAND_LINE_MAX + 1];
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s*", begun);
	if (strpbrk(begun, "*?[\\") == NULL &&
	    glob(pattern, GLOB_MARK, NULL, &g) == 0) {
		for (size_t i = 0; i < g.gl_pathc && i < FILES_MAX; i++)
			if (strpbrk(g.gl_pathv[i], " \t") == NULL)
				add(c, begun, g.gl_pathv[i]);
		globfree(&g);
	} else if (begun[0] == '\0') {
		add(c, begun, "<file>");
	}
}

static void
add_sections(struct complete *c, const char *begun)
{
	char word[COMMAND_LINE_MAX];

	add(c, begun, "all");
	for (const struct command *cmd = command_table; cmd->form != NULL;
	     cmd++) {
		snprintf(word, sizeof(word), "%.*s",
			 (int)strcspn(cmd->form, " "), cmd->form);
		add(c, begun, word);
	}
}

static void
add_param(struct complete *c, const struct rl_topo *t, const char *param,
	  const struct command_words *w)
{
	const char *begun = w->word[w->n];

	if (strcmp(param, "<links>") == 0)
		add(c, begun, "all");
	if (strcmp(param, "<link>") == 0 || strcmp(param, "<links>") == 0)
		add_links(c, t, begun);
	else if (strcmp(param, "<file>") == 0)
		add_files(c, begun);
	else if (strcmp(param, "<section>") == 0)
		add_sections(c, begun);
	else if (strcmp(param, "<device>") == 0)
		add_devices(c, t, w);
	else if (strcmp(param, "<pattern>") == 0)
		for (int k = 0; k < RL_PATTERN_PAIRS; k++)
			add(c, begun, rl_pattern_name((enum rl_pattern_kind)k));
	else if (strcmp(param, "<port>") == 0)
		add_ports(c, t, begun);
	else if (strcmp(param, "<endpoint>") == 0)
		for (uint32_t e = 0; e < t->nep; e++)
			add(c, begun, t->dev[t->ep_dev[e]].name);
	else if (begun[0] == '\0')
		add(c, begun, param); /* shows what is expected */
}

static void
offer(struct complete *c, const struct rl_topo *t, const struct command *cmd,
      const struct command_words *w)
{
	char form[COMMAND_LINE_MAX];
	char *save = NULL, *word;
	unsigned int i = 0;

	snprintf(form, sizeof(form), "%s", cmd->form);
	word = strtok_r(form, " ", &save);
	for (; word != NULL && i < w->n; i++) {
		if (word[0] != '<' && strcmp(word, w->word[i]) != 0)
			return;
		word = strtok_r(NULL, " ", &save);
	}
	if (i < w->n)
		return;
	if (word == NULL && w->word[w->n][0] == '\0')
		snprintf(form, sizeof(form), "(return) %s", cmd->help);
	if (word == NULL) {
		add(c, w->word[w->n], form);
		if (command_shows(cmd))
			add(c, w->word[w->n], "json");
		return;
	}
	if (word[0] == '<')
		add_param(c, t, word, w);
	else
		add(c, w->word[w->n], word);
}

/* A choice that only says what is expected. */
static bool
is_hint(const char *choice)
{
	return choice[0] == '<' || choice[0] == '(';
}

static size_t
common(const struct complete *c)
{
	size_t len = strlen(c->choice[0]);

	for (unsigned int i = 1; i < c->n; i++) {
		size_t k = 0;

		while (k < len && c->choice[i][k] == c->choice[0][k])
			k++;
		len = k;
	}
	return len;
}

/* @return whether there is something to append */
static bool
append(const struct complete *c, const char *begun, char *to, unsigned int size)
{
	const size_t have = strlen(begun), len = common(c);
	const bool whole = c->n == 1 && c->choice[0][len - 1] != '-' &&
			   c->choice[0][len - 1] != '/';

	if (is_hint(c->choice[0]) || (len <= have && !whole) ||
	    len - have + 2 > size)
		return false;
	snprintf(to, size, "%.*s%s", (int)(len - have), c->choice[0] + have,
		 whole ? " " : "");
	return true;
}

/* Choices from *state on, as many as fit into a row. */
static int
row(const struct complete *c, char *to, unsigned int size, int *state)
{
	unsigned int at = 0;

	if ((unsigned int)*state >= c->n)
		return 0;
	while ((unsigned int)*state < c->n) {
		const char *choice = c->choice[*state];
		const size_t len = strlen(choice) + 2;

		if (at != 0 && (at + len > ROW || is_hint(choice)))
			break;
		at += (unsigned int)snprintf(to + at, size - at, "%s%s",
					     at == 0 ? "" : "  ", choice);
		++*state;
		if (is_hint(choice) || at >= size - RL_NAME_MAX)
			break;
	}
	return 1;
}

int
complete_next(struct complete *c, const struct app *app, const char *line,
	      char *to, unsigned int size, int *state)
{
	const bool list = *state != 0;
	struct command_words w;

	if (*state > 0)
		return row(c, to, size, state);
	*state = 0;
	clear(c);
	if (!command_split(line, &w))
		return 0;
	for (const struct command *cmd = command_table; cmd->form != NULL;
	     cmd++)
		offer(c, &app->cfg.topo, cmd, &w);
	if (c->n == 0)
		return 0;
	if (!list && append(c, w.word[w.n], to, size))
		return 2;
	return row(c, to, size, state);
}
