/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "app.h"

static const struct sockaddr_un journal_at = {
	.sun_family = AF_UNIX,
	.sun_path = "/run/systemd/journal/socket",
};

/* Whether a unit started this: its standard error may have been led elsewhere. */
static bool
streams_there(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream != NULL && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev &&
	       st.st_ino == ino;
}

void
journal_open(struct journal *j)
{
	if (!streams_there())
		return;
	j->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	j->on = j->fd >= 0;
}

void
journal_close(struct journal *j)
{
	if (j->on)
		close(j->fd);
	*j = (struct journal){ 0 };
}

/* Syslog's priorities; the end of an alarm is a notice. */
static char
priority(const struct alarm *a, const char *what)
{
	const char *severity = alarm_severity(a->kind);

	if (strcmp(what, "over") == 0)
		return '5';
	return strcmp(severity, "critical") == 0 ? '2'
	       : strcmp(severity, "major") == 0	 ? '3'
						 : '4';
}

void
journal_alarm(const struct app *app, const struct alarm *a, const char *what,
	      const char *text)
{
	const struct rl_config *cfg = &app->cfg;
	/* each line is a field */
	const char *file = strchr(app->opt.config, '\n') == NULL
				   ? app->opt.config
				   : "";
	char entry[4096], utc[APP_UTC_MAX];
	int n;

	if (!app->journal.on)
		return;
	n = snprintf(entry, sizeof(entry),
		     "MESSAGE=%s\nPRIORITY=%c\nMESSAGE_ID=" JOURNAL_ALARM "\n"
		     "SYSLOG_IDENTIFIER=reflit\nREFLIT_ALARM=%s\n"
		     "REFLIT_SEVERITY=%s\nREFLIT_STATE=%s\nREFLIT_WHERE=%s\n"
		     "REFLIT_WHY=%s\nREFLIT_SINCE=%s\nREFLIT_CONFIG=%.1024s\n"
		     "REFLIT_PROCESS=%s\n",
		     text, priority(a, what), alarm_word(a->kind),
		     alarm_severity(a->kind), what, a->where, alarm_why(a),
		     app_utc(app, a->since_ns, utc), file,
		     cfg->nprocess > 0 ? cfg->process[app->process].name : "");
	if (n < (int)sizeof(entry))
		sendto(app->journal.fd, entry, (size_t)n, MSG_NOSIGNAL,
		       (const struct sockaddr *)&journal_at,
		       sizeof(journal_at));
}
