/* SPDX-License-Identifier: BSD-3-Clause */

#include "stop_signal.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t asked;
static volatile sig_atomic_t second_kills;

static const char *volatile doing;

/* write() and strlen() may be called in a handler. */
static void
say_stopped(const char *what)
{
	static const char begin[] = "\nstopped while ";

	if (write(STDERR_FILENO, begin, sizeof(begin) - 1) < 0 ||
	    write(STDERR_FILENO, what, strlen(what)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		return;
}

static void
on_signal(int sig)
{
	const char *const what = doing;

	if (what != NULL && sig != SIGPIPE) {
		say_stopped(what);
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	if (sig == SIGPIPE)
		signal(SIGPIPE, SIG_IGN);
	if (asked != 0 && second_kills && sig != SIGPIPE) {
		/* blocked in here; it is delivered when we return */
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	asked = sig;
}

void
stop_catch(enum stop_again again)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGPIPE };
	/* what is being written at that moment is written whole */
	const struct sigaction sa = { .sa_handler = on_signal,
				      .sa_flags = SA_RESTART };
	struct sigaction old;

	second_kills = again == STOP_AGAIN_KILLS;
	for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaction(sigs[i], &sa, NULL);
	if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

void
stop_at_once(const char *what)
{
	const int before = asked;

	doing = what;
	/* a signal came before this call: act on it now */
	if (what != NULL && before != 0)
		on_signal(before);
}

void
stop_interrupts(bool on)
{
	static const int sigs[] = { SIGINT, SIGTERM };
	struct sigaction sa;

	for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
		if (sigaction(sigs[i], NULL, &sa) != 0)
			continue;
		sa.sa_flags = on ? sa.sa_flags & ~SA_RESTART
				 : sa.sa_flags | SA_RESTART;
		sigaction(sigs[i], &sa, NULL);
	}
}

int
stop_asked(void)
{
	return asked;
}

void
stop_forget(void)
{
	asked = 0;
}
