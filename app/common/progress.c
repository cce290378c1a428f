/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "clock_ns.h"
#include "progress.h"
#include "rl_base.h"

#define TERMINAL_NS RL_NS_PER_S
#define ELSEWHERE_NS (10 * RL_NS_PER_S)

void
progress_begin(struct progress *p, const char *what, uint64_t all, bool asked)
{
	const bool terminal = isatty(STDERR_FILENO);

	*p = (struct progress){
		.what = what,
		.all = all,
		.start_ns = clock_ns(CLOCK_MONOTONIC),
		.on = terminal || asked,
		.terminal = terminal,
	};
	p->told_ns = p->start_ns;
}

/* The two largest units of a time. */
static int
print_time(char *buf, unsigned int len, uint64_t s)
{
	if (s >= 3600)
		return snprintf(buf, len, "%" PRIu64 " h %" PRIu64 " min",
				s / 3600, s / 60 % 60);
	if (s >= 60)
		return snprintf(buf, len, "%" PRIu64 " min %" PRIu64 " s",
				s / 60, s % 60);
	return snprintf(buf, len, "%" PRIu64 " s", s);
}

char *
progress_text(const struct progress *p, uint64_t done, uint64_t spent_ns,
	      char *buf, unsigned int len)
{
	char left[48] = "";
	const double each = done == 0 ? 0 : (double)spent_ns / (double)done;

	if (done > p->all)
		done = p->all;
	if (done != 0)
		print_time(left, sizeof(left),
			   (uint64_t)(each * (double)(p->all - done) / 1e9 +
				      0.5));
	snprintf(buf, len, "%" PRIu64 " of %" PRIu64 " %s%s%s%s", done, p->all,
		 p->what, done == 0 ? "" : ", ", left,
		 done == 0 ? "" : " left");
	return buf;
}

void
progress_tell(struct progress *p, uint64_t done, const char *more)
{
	const uint64_t every = p->terminal ? TERMINAL_NS : ELSEWHERE_NS;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	char line[160];

	if (!p->on || now - p->told_ns < every)
		return;
	p->told_ns = now;
	p->told = true;
	progress_text(p, done, now - p->start_ns, line, sizeof(line));
	fprintf(stderr, "%s%s%s%s%s", p->terminal ? "\r\033[K" : "", line,
		more == NULL ? "" : ", ", more == NULL ? "" : more,
		p->terminal ? "" : "\n");
	fflush(stderr);
}

void
progress_end(struct progress *p)
{
	if (p->told && p->terminal)
		fputc('\n', stderr);
	p->told = false;
}
