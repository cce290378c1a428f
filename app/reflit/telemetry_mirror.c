/* SPDX-License-Identifier: BSD-3-Clause */

/* The mirror, its lock, and the tables of answers. */

#include <stdarg.h>
#include <stdio.h>

#include "telemetry_mirror.h"

struct mirror telemetry_mirror = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.answered = PTHREAD_COND_INITIALIZER,
};

struct app *
mirror_enter(void)
{
	pthread_mutex_lock(&telemetry_mirror.lock);
	return telemetry_mirror.app;
}

void
mirror_leave(void)
{
	pthread_mutex_unlock(&telemetry_mirror.lock);
}

/* DPDK makes no JSON of letters beyond ASCII, nor of control characters. */
static const char *
plain(const char *text, char buf[RTE_TEL_MAX_STRING_LEN])
{
	size_t at = 0;

	for (; *text != '\0' && at + 1 < RTE_TEL_MAX_STRING_LEN; text++)
		if ((*text & 0xc0) != 0x80) /* the first byte of a letter */
			buf[at++] = *text < ' ' || *text > '~' ? '?' : *text;
	buf[at] = '\0';
	return buf;
}

void
mirror_string(struct rte_tel_data *d, const char *name, const char *text)
{
	char buf[RTE_TEL_MAX_STRING_LEN];

	rte_tel_data_add_dict_string(d, name, plain(text, buf));
}

int
mirror_error(struct rte_tel_data *d, const char *format, ...)
{
	char text[RTE_TEL_MAX_STRING_LEN];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	rte_tel_data_start_dict(d);
	mirror_string(d, "error", text);
	return 0;
}

bool
mirror_elsewhere(const struct app *app, uint32_t dev, struct rte_tel_data *d)
{
	const struct rl_config *cfg = &app->cfg;

	if (rl_config_runs(cfg, app->process, dev))
		return false;
	mirror_error(d, "%s is in process %s; ask there",
		     cfg->topo.dev[dev].name,
		     cfg->process[cfg->dev_process[dev]].name);
	return true;
}

void
mirror_counters(struct rte_tel_data *d, const struct counter_kind *kind,
		const uint64_t *c)
{
	for (unsigned int i = 0; i < kind->n; i++)
		rte_tel_data_add_dict_uint(d, kind->name[i], c[i]);
}

void
mirror_table(struct mirror_table *t, const char *const name[],
	     unsigned int texts, unsigned int numbers)
{
	*t = (struct mirror_table){ .name = name, .texts = texts,
				    .n = texts + numbers };
	RL_ASSERT(t->n <= MIRROR_COLUMNS);
	for (unsigned int i = 0; i < t->n; i++) {
		t->col[i] = rte_tel_data_alloc();
		if (t->col[i] != NULL)
			rte_tel_data_start_array(t->col[i],
						 i < texts ? RTE_TEL_STRING_VAL
							   : RTE_TEL_UINT_VAL);
	}
}

/* The column to fill; behind the last one the next row begins. */
static struct rte_tel_data *
next_column(struct mirror_table *t)
{
	struct rte_tel_data *c = t->col[t->at];

	t->at = (t->at + 1) % t->n;
	return c;
}

void
mirror_text(struct mirror_table *t, const char *text)
{
	struct rte_tel_data *c = next_column(t);
	char buf[RTE_TEL_MAX_STRING_LEN];

	if (c != NULL)
		rte_tel_data_add_array_string(c, plain(text, buf));
}

void
mirror_number(struct mirror_table *t, uint64_t v)
{
	struct rte_tel_data *c = next_column(t);

	if (c != NULL)
		rte_tel_data_add_array_uint(c, v);
}

void
mirror_row(struct mirror_table *t, const char *const text[],
	   const uint64_t number[])
{
	for (unsigned int i = 0; i < t->texts; i++)
		mirror_text(t, text[i]);
	for (unsigned int i = 0; i < t->n - t->texts; i++)
		mirror_number(t, number[i]);
}

void
mirror_table_end(struct mirror_table *t, struct rte_tel_data *d)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (t->col[i] != NULL)
			rte_tel_data_add_dict_container(d, t->name[i],
							t->col[i], 0);
}
