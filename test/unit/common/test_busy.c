/* SPDX-License-Identifier: BSD-3-Clause */

/* How a long computation tells its time, and how a signal ends it [APP-4]. */

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "busy.h"
#include "said.h"
#include "stop_signal.h"

static struct said said;

/* The timer's next signal, and the ones after it, in seconds; then its ticks
   come from the test. */
static void
expect_timer(int every_s)
{
	struct itimerval left;

	assert_int_equal(getitimer(ITIMER_REAL, &left), 0);
	assert_int_equal(left.it_interval.tv_sec, every_s);
	assert_int_equal(left.it_interval.tv_usec, 0);
	/* it runs */
	assert_in_range(left.it_value.tv_sec + (left.it_value.tv_usec != 0),
			every_s == 10 ? 5 : 0, every_s);
}

static void
tick(unsigned int n)
{
	while (n-- > 0)
		raise(SIGALRM);
}

static void
if_asked_it_tells_the_time_in_lines_of_ten_seconds(void **state)
{
	(void)state;
	said_begin(&said);
	busy_begin("computing", true);
	expect_timer(10);
	tick(2);
	busy_end();
	expect_timer(0);
	tick(1); /* one that was under way */
	busy_begin("proving", true);
	tick(1);
	busy_end();
	said_end(&said);
	assert_string_equal(said.err, "computing: 10 s\ncomputing: 20 s\n"
				      "proving: 10 s\n");
	assert_string_equal(said.out, "");
}

static void
unasked_it_tells_a_file_nothing(void **state)
{
	(void)state;
	said_begin(&said);
	busy_begin("computing", false);
	expect_timer(0);
	busy_end();
	said_end(&said);
	assert_string_equal(said.err, "");
}

static void
a_text_that_is_too_long_is_cut(void **state)
{
	char doing[201];

	(void)state;
	memset(doing, 'x', sizeof(doing) - 1);
	doing[sizeof(doing) - 1] = '\0';
	said_begin(&said);
	busy_begin(doing, true);
	tick(1);
	busy_end();
	said_end(&said);
	assert_int_equal(strlen(said.err), 160);
	assert_int_equal(strspn(said.err, "x"), 160);
}

static void
a_long_time_has_all_its_digits(void **state)
{
	const char *last = said.err;

	(void)state;
	said_begin(&said);
	busy_begin("x", true);
	tick(123);
	busy_end();
	said_end(&said);
	for (const char *c = said.err; *c != '\0'; c++)
		if (c[0] == '\n' && c[1] != '\0')
			last = c + 1;
	assert_string_equal(last, "x: 1230 s\n");
}

/* Reads what was written to the terminal, which may take its time. */
static void
read_terminal(int master, char *text, size_t len)
{
	size_t n = 0;

	fflush(stderr);
	assert_int_equal(write(STDERR_FILENO, "|", 1), 1);
	while (n == 0 || text[n - 1] != '|') {
		const ssize_t more = n < len ? read(master, text + n, len - n)
					     : 0;

		assert_true(more > 0);
		n += (size_t)more;
	}
	text[n - 1] = '\0';
}

static void
on_a_terminal_it_is_one_line_of_each_second_that_goes(void **state)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY);
	const int was = dup(STDERR_FILENO);
	char text[3][200];
	struct termios raw;
	int slave;

	(void)state;
	assert_true(master >= 0 && grantpt(master) == 0 &&
		    unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0 && tcgetattr(slave, &raw) == 0);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	fflush(NULL);
	dup2(slave, STDERR_FILENO);
	busy_begin("computing", false);
	expect_timer(1);
	tick(2);
	read_terminal(master, text[0], sizeof(text[0]));
	busy_end();
	read_terminal(master, text[1], sizeof(text[1]));
	busy_begin("computing", false); /* and nothing is told of it */
	busy_end();
	read_terminal(master, text[2], sizeof(text[2]));
	dup2(was, STDERR_FILENO);
	close(was);
	close(slave);
	close(master);
	assert_string_equal(text[0], "\r\033[Kcomputing: 1 s"
				     "\r\033[Kcomputing: 2 s");
	assert_string_equal(text[1], "\r\033[K");
	assert_string_equal(text[2], "");
}

/* @return the status of a process that does this, and what it said */
static int
apart(void (*work)(void))
{
	int status = 0;
	pid_t pid;

	said_begin(&said);
	pid = fork();
	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		stop_catch(STOP_AGAIN_ASKS);
		work();
		fflush(NULL);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	said_end(&said);
	assert_true(pid > 0);
	return status;
}

static void
stopped_while_busy(void)
{
	printf("printed before");
	busy_begin("computing", false);
	raise(SIGTERM);
	_exit(3);
}

static void
stopped_behind_it(void)
{
	busy_begin("computing", false);
	busy_end();
	raise(SIGTERM);
	printf("asked by %d", stop_asked());
}

static void
a_signal_ends_the_program_at_once_and_behind_it_asks_again(void **state)
{
	char text[32];
	int status;

	(void)state;
	status = apart(stopped_while_busy);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_string_equal(said.err, "\nstopped while computing\n");
	assert_string_equal(said.out, "printed before");
	assert_int_equal(apart(stopped_behind_it), 0);
	snprintf(text, sizeof(text), "asked by %d", SIGTERM);
	assert_string_equal(said.out, text);
	assert_string_equal(said.err, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			if_asked_it_tells_the_time_in_lines_of_ten_seconds),
		cmocka_unit_test(unasked_it_tells_a_file_nothing),
		cmocka_unit_test(a_text_that_is_too_long_is_cut),
		cmocka_unit_test(a_long_time_has_all_its_digits),
		cmocka_unit_test(
			on_a_terminal_it_is_one_line_of_each_second_that_goes),
		cmocka_unit_test(
			a_signal_ends_the_program_at_once_and_behind_it_asks_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
