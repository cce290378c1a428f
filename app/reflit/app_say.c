/* SPDX-License-Identifier: BSD-3-Clause */

/* Errors of commands, and times as dates. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "app.h"

int
app_error(struct app *app, const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	if (app->script != NULL)
		fprintf(stderr, "%s:%u: ", app->script, app->script_line);
	va_start(ap, format);
	vsnprintf(app->last_error, sizeof(app->last_error), format, ap);
	va_end(ap);
	/* words of a file may hold control characters of a terminal */
	for (char *p = app->last_error; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "%s\n", app->last_error);
	app->failed_commands++;
	return -EINVAL;
}

const char *
app_utc(const struct app *app, uint64_t t_ns, char buf[APP_UTC_MAX])
{
	const uint64_t ns = app->start_real_ns + t_ns - app->start_ns;
	const time_t s = (time_t)(ns / RL_NS_PER_S);
	struct tm tm;
	char date[24];

	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", gmtime_r(&s, &tm));
	snprintf(buf, APP_UTC_MAX, "%s.%06uZ", date,
		 (unsigned int)(ns % RL_NS_PER_S / 1000));
	return buf;
}
