/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An order is a line of the prompt. A client's thread puts it into the mirror
 * and waits. The control thread takes it at its next step, runs it through the
 * prompt's parser, and answers with what it printed. An order that takes too
 * long is answered with -ETIMEDOUT, but may have been carried out.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "rl_refuse.h"
#include "telemetry_mirror.h"

#define ORDER_WAIT_S 5
#define LINES_MAX 400 /* an array of DPDK's has 512 elements */

/* Orders that take long, use files of this machine, or end the run, so that
   their answer would be lost. */
static const char *
local_word(const char *line)
{
	static const char *const words[] = { "wait", "load", "capture",
					     "record", "quit" };

	line += strspn(line, " \t");
	for (unsigned int i = 0; i < RTE_DIM(words); i++)
		if (strncmp(line, words[i], strlen(words[i])) == 0)
			return words[i];
	return NULL;
}

/* @return 0; -errno, and why in @p why */
static int
check_order(const struct app *app, const char *line, char *why, size_t len)
{
	const char *word;

	if (app == NULL || !app->opt.allow_orders)
		return rl_refuse(why, len, -EPERM, "reflit runs without "
				 "--allow-orders");
	if (line == NULL || line[strspn(line, " \t")] == '\0')
		return rl_refuse(why, len, -EINVAL, "the order is empty: "
				 "/reflit/order,LINE");
	if (strlen(line) >= ORDER_MAX)
		return rl_refuse(why, len, -EINVAL, "an order of %zu "
				 "characters is too long; give at most %d",
				 strlen(line), ORDER_MAX - 1);
	word = local_word(line);
	if (word != NULL)
		return rl_refuse(why, len, -EINVAL, "%s is for reflit's own "
				 "prompt only: it waits, uses files there, or "
				 "ends the run", word);
	if (telemetry_mirror.order_given || telemetry_mirror.order_taken)
		return rl_refuse(why, len, -EBUSY, "another order is being "
				 "carried out");
	return 0;
}

/* The printed lines, and the number of lines that did not fit. */
static void
add_text(struct rte_tel_data *d, char *text, uint64_t left)
{
	static const char *const names[] = { "text" };
	struct mirror_table lines;
	char *next = text;
	unsigned int n = 0;

	mirror_table(&lines, names, 1, 0);
	for (char *line = text; *line != '\0'; line = next) {
		const size_t len = strcspn(line, "\n");
		const size_t take = RTE_MIN(len, RTE_TEL_MAX_STRING_LEN - 1);
		const char was = line[take];

		next = line + take + (was == '\n');
		if (n++ >= LINES_MAX) {
			left++;
			continue;
		}
		line[take] = '\0';
		mirror_text(&lines, line);
		line[take] = was;
	}
	mirror_table_end(&lines, d);
	rte_tel_data_add_dict_uint(d, "lines_left_off", left);
}

/* "/reflit/order,LINE". */
int
telemetry_order(RL_UNUSED const char *cmd, const char *params,
		struct rte_tel_data *d)
{
	struct mirror *m = &telemetry_mirror;
	struct app *app = mirror_enter();
	char error[RTE_TEL_MAX_STRING_LEN] = "", text[ORDER_TEXT] = "";
	int result = check_order(app, params, error, sizeof(error));
	struct timespec until;
	uint64_t left = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ORDER_WAIT_S;
	if (result == 0) {
		snprintf(m->order, sizeof(m->order), "%s", params);
		m->order_given = true;
		m->order_done = false;
		while (!m->order_done && m->app != NULL &&
		       pthread_cond_timedwait(&m->answered, &m->lock,
					      &until) == 0)
			;
		result = m->order_done ? m->order_result : -ETIMEDOUT;
		if (m->order_done) {
			memcpy(error, m->order_error, sizeof(error));
			memcpy(text, m->order_text, sizeof(text));
			left = m->order_left;
		}
		m->order_given = false;
	}
	mirror_leave();
	if (result != 0 && error[0] == '\0')
		snprintf(error, sizeof(error), "%s", strerror(-result));
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_int(d, "result", result);
	mirror_string(d, "error", error);
	add_text(d, text, left);
	return 0;
}

/* Reads printed lines from a file, for telemetry. @return lines left off */
static uint64_t
read_back(FILE *f, char *text, size_t len)
{
	uint64_t left = 0;
	size_t n;
	int c;

	rewind(f);
	n = fread(text, 1, len - 1, f);
	while ((c = fgetc(f)) != EOF)
		left += c == '\n';
	text[n] = '\0';
	for (size_t i = 0; i < n; i++) /* quotes would need room, too */
		if (text[i] == '\t')
			text[i] = ' ';
		else if ((text[i] < ' ' && text[i] != '\n') ||
			 (text[i] & 0x80) != 0)
			text[i] = '?';
	return left;
}

/* Runs a line, and collects its output in @p text. */
static int
run_order(struct app *app, const char *line, char *text, size_t len,
	  uint64_t *left)
{
	FILE *f = tmpfile();
	const int out = f == NULL ? -1 : dup(STDOUT_FILENO);
	int result;

	fflush(stdout);
	if (out >= 0)
		dup2(fileno(f), STDOUT_FILENO);
	result = command_line(app, line, false);
	fflush(stdout);
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		close(out);
		*left = read_back(f, text, len);
	}
	if (f != NULL)
		fclose(f);
	return result;
}

void
telemetry_take_order(struct app *app)
{
	struct mirror *m = &telemetry_mirror;
	/* a client's mistake does not change the verdict of the run */
	const unsigned int failed = app->failed_commands;
	char line[ORDER_MAX], text[ORDER_TEXT] = "";
	uint64_t left = 0;
	int result;
	bool given;

	pthread_mutex_lock(&m->lock);
	/* an order may wait, and the steps of its wait come here, too */
	given = m->order_given && !m->order_done && !m->order_taken;
	m->order_taken |= given;
	memcpy(line, m->order, sizeof(line));
	pthread_mutex_unlock(&m->lock);
	if (!given)
		return;
	app->last_error[0] = '\0';
	result = run_order(app, line, text, sizeof(text), &left);
	app->failed_commands = failed;
	pthread_mutex_lock(&m->lock);
	m->order_result = result;
	snprintf(m->order_error, sizeof(m->order_error), "%.*s",
		 (int)sizeof(m->order_error) - 1, app->last_error);
	memcpy(m->order_text, text, sizeof(m->order_text));
	m->order_left = left;
	m->order_done = true;
	m->order_taken = false;
	pthread_cond_broadcast(&m->answered);
	pthread_mutex_unlock(&m->lock);
}
