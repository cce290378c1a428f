/* SPDX-License-Identifier: BSD-3-Clause */

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_seeds.h"

static char last_words[80];

void
fuzz_last_words(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(last_words, sizeof(last_words), format, ap);
	va_end(ap);
}

static void
on_end(int sig)
{
	/* write() is safe in a signal handler */
	if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
		_exit(2);
	signal(sig, SIG_DFL);
	raise(sig);
}

void
fuzz_catch(void)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	signal(SIGABRT, on_end);
	signal(SIGILL, on_end);
	signal(SIGTRAP, on_end);
	signal(SIGSEGV, on_end);
}

int
fuzz_seeds(int argc, char **argv, void (*run)(uint64_t seed),
	   const uint64_t *made, const char *what)
{
	const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const char *name = strrchr(argv[0], '/');

	name = name == NULL ? argv[0] : name + 1;
	if (count == 0) {
		fprintf(stderr, "usage: %s COUNT [FIRST_SEED]\n", argv[0]);
		return 2;
	}
	fuzz_catch();
	for (uint64_t i = 0; i < count; i++) {
		fuzz_last_words("\n%s: seed %llu\n", name,
				(unsigned long long)(first + i));
		run(first + i);
	}
	printf("%llu runs from seed %llu, %llu %s\n",
	       (unsigned long long)count, (unsigned long long)first,
	       (unsigned long long)*made, what);
	return 0;
}
