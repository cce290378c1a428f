/* SPDX-License-Identifier: BSD-3-Clause */

#include "busy.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "stop_signal.h"

#define TERMINAL_S 1
#define ELSEWHERE_S 10

static const char *volatile now_doing;
static volatile sig_atomic_t spent_s;
static volatile sig_atomic_t told;
static int every_s;
static bool terminal;

/* A signal handler may only use write(), so it builds the line itself. */
static size_t
append(char *line, size_t at, size_t len, const char *text)
{
	while (*text != '\0' && at < len)
		line[at++] = *text++;
	return at;
}

static size_t
append_number(char *line, size_t at, size_t len, unsigned int v)
{
	char digits[12];
	size_t n = sizeof(digits);

	digits[--n] = '\0';
	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	return append(line, at, len, digits + n);
}

static void
on_tick(int sig)
{
	char line[160];
	size_t n = 0;

	(void)sig;
	if (now_doing == NULL)
		return;
	spent_s += every_s;
	told = 1;
	n = append(line, n, sizeof(line), terminal ? "\r\033[K" : "");
	n = append(line, n, sizeof(line), now_doing);
	n = append(line, n, sizeof(line), ": ");
	n = append_number(line, n, sizeof(line), (unsigned int)spent_s);
	n = append(line, n, sizeof(line), terminal ? " s" : " s\n");
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}

void
busy_begin(const char *doing, bool asked)
{
	const struct sigaction sa = {.sa_handler = on_tick,
				     .sa_flags = SA_RESTART};
	struct itimerval timer = {{0}};

	fflush(NULL); /* a signal loses nothing that was printed */
	terminal = isatty(STDERR_FILENO);
	every_s = terminal ? TERMINAL_S : ELSEWHERE_S;
	spent_s = 0;
	told = 0;
	now_doing = doing;
	stop_at_once(doing);
	if (!terminal && !asked)
		return;
	sigaction(SIGALRM, &sa, NULL);
	timer.it_interval.tv_sec = timer.it_value.tv_sec = every_s;
	setitimer(ITIMER_REAL, &timer, NULL);
}

void
busy_end(void)
{
	const struct itimerval none = {{0}};

	setitimer(ITIMER_REAL, &none, NULL);
	now_doing = NULL;
	stop_at_once(NULL);
	if (told && terminal)
		fputs("\r\033[K", stderr);
	told = 0;
}
