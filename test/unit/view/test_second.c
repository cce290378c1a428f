/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second time: a source of the view that has gone in each way, and is back,
 * is, field by field, what one is that was found a moment ago.
 */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "tel_client.h"

/* All fields, and those that may differ with why. */
#define TEL_SOURCE_SAME(X) X(max_bytes) X(silent_ns)
#define TEL_SOURCE_DIFFERS(X)                                                  \
	X(path) /* another socket beside it: compared with its own */          \
	X(lock)                                                                \
	X(fd) /* a number of its own; open: asserted */

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		others += (print_error("%s is another one\n", #field), 1);

/* A process whose telemetry a test plays, one question at a time. */
struct played {
	char path[TEL_PATH_MAX];
	int listens;
	unsigned int max_bytes; /* as it greets */
	const char *says;	/* its answer; NULL: none */
	const char *hello;	/* in place of a greeting; NULL: it is one */
	unsigned int asked;
	pthread_t thread;
};

/* What is found is what a test puts there, in folders that are trusted. The names
   are those of large files, which Meson asks for. */
int __wrap_glob64(const char *pattern, int flags,
		int (*on_error)(const char *, int), glob_t *found);
int __real_glob64(const char *pattern, int flags,
		int (*on_error)(const char *, int), glob_t *found);
int __wrap_lstat64(const char *path, struct stat *st);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

static char dir[] = "/tmp/reflit-test-XXXXXX";

int
__wrap_glob64(const char *pattern, int flags, int (*on_error)(const char *, int),
	    glob_t *found)
{
	char here[TEL_PATH_MAX];

	(void)pattern;
	snprintf(here, sizeof(here), "%s/found*", dir);
	return __real_glob64(here, flags, on_error, found);
}

int
__wrap_lstat64(const char *path, struct stat *st)
{
	(void)path;
	*st = (struct stat){ .st_mode = S_IFDIR | 0700 };
	return 0;
}

static uid_t peer; /* whose every process is */

int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	(void)fd;
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_PEERCRED);
	assert_int_equal(*len, sizeof(struct ucred));
	*(struct ucred *)value = (struct ucred){ .uid = peer };
	return 0;
}

static void *
play(void *arg)
{
	struct played *p = arg;
	char text[300];
	int fd;

	while ((fd = accept(p->listens, NULL, NULL)) >= 0) {
		if (p->hello != NULL)
			snprintf(text, sizeof(text), "%s", p->hello);
		else
			snprintf(text, sizeof(text),
				 "{\"version\": \"DPDK\", "
				 "\"max_output_len\": %u}",
				 p->max_bytes);
		(void)send(fd, text, strlen(text), MSG_NOSIGNAL);
		while (recv(fd, text, sizeof(text), 0) > 0 &&
		       strncmp(text, "/bye", 4) != 0) {
			p->asked++;
			if (p->says != NULL)
				(void)send(fd, p->says, strlen(p->says),
					   MSG_NOSIGNAL);
		}
		close(fd);
	}
	return NULL;
}

static void
begin(struct played *p, const char *name, unsigned int max_bytes,
      const char *says)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	*p = (struct played){ .max_bytes = max_bytes, .says = says };
	snprintf(p->path, sizeof(p->path), "%s/%s", dir, name);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", p->path);
	p->listens = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(p->listens, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(p->listens, 8), 0);
	assert_int_equal(pthread_create(&p->thread, NULL, play, p), 0);
}

/* It is killed; what is connected ends at its next question. */
static void
kill_it(struct played *p)
{
	shutdown(p->listens, SHUT_RDWR);
	pthread_join(p->thread, NULL);
	close(p->listens);
}

static void
end(struct played *p)
{
	unlink(p->path);
	kill_it(p);
}

static unsigned int
place_of(struct tel *t, const char *path)
{
	char at[TEL_PATH_MAX];

	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++)
		if (tel_path(t, i, at) && strcmp(at, path) == 0)
			return i;
	fail_msg("%s is not there", path);
	return 0;
}

static bool
answers(struct tel *t, const char *path, const char *cmd)
{
	json_t *v = tel_ask(t, place_of(t, path), cmd, 1, NULL);
	const bool is = json_integer_value(v) == 5;

	json_decref(v);
	return is;
}

static void
check_same(struct tel *t, const char *used, const char *fresh)
{
	const struct tel_source *a = &t->source[place_of(t, used)];
	const struct tel_source *b = &t->source[place_of(t, fresh)];
	unsigned int others = 0;

	TEL_SOURCE_SAME(CHECK)
	assert_int_equal(others, 0);
	assert_true(a->fd >= 0 && b->fd >= 0);
}

static bool
is_there(struct tel *t, const char *path)
{
	char at[TEL_PATH_MAX];

	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++)
		if (tel_path(t, i, at) && strcmp(at, path) == 0)
			return true;
	return false;
}

/* How a source is before it goes: what it says, and whether that is heard. */
static const struct {
	unsigned int max_bytes;
	const char *says;
	bool heard;
} lives[] = {
	{ 4096, "{\"/r\": 5}", true },
	{ 512, "{\"/r\": 5", false }, /* no JSON */
	{ 8192, NULL, false },	      /* silent: not asked for seconds */
	{ 0, "{\"/r\": 5}", true },   /* says no size */
};

static void
a_source_that_is_back_is_as_one_that_was_just_found(void **state)
{
	struct tel t = { .search = true };
	struct played old, now, other;
	char path[TEL_PATH_MAX];

	(void)state;
	tel_open(&t);
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		begin(&old, "old", lives[i].max_bytes, lives[i].says);
		assert_int_equal(tel_add(&t, old.path), 0);
		assert_int_equal(answers(&t, old.path, "/r"), lives[i].heard);
		/* it goes while it is connected, or silent */
		(void)answers(&t, old.path, "/bye");
		end(&old);
		assert_false(answers(&t, old.path, "/r"));
		tel_find(&t);
		assert_false(is_there(&t, old.path));
		begin(&now, "old", 2048, "{\"/r\": 5}");
		begin(&other, "new", 2048, "{\"/r\": 5}");
		assert_int_equal(tel_add(&t, now.path), 0);
		assert_int_equal(tel_add(&t, other.path), 0);
		assert_true(answers(&t, now.path, "/r"));
		assert_true(answers(&t, other.path, "/r"));
		check_same(&t, now.path, other.path);
		snprintf(path, sizeof(path), "%s", other.path);
		(void)answers(&t, now.path, "/bye");
		(void)answers(&t, other.path, "/bye");
		end(&now);
		end(&other);
		tel_find(&t);
		assert_false(is_there(&t, path));
	}
	tel_close(&t);
}

/* A socket that stays, and another process behind it. */
static void
a_process_that_follows_another_at_its_socket_is_connected(void **state)
{
	struct tel t = { 0 };
	struct played p, other;

	(void)state;
	tel_open(&t);
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		if (lives[i].says == NULL)
			continue;
		begin(&p, "same", lives[i].max_bytes, lives[i].says);
		assert_int_equal(tel_add(&t, p.path), 0);
		assert_int_equal(answers(&t, p.path, "/r"), lives[i].heard);
		(void)answers(&t, p.path, "/bye");
		end(&p);
		begin(&p, "same", 2048, "{\"/r\": 5}");
		begin(&other, "beside", 2048, "{\"/r\": 5}");
		assert_int_equal(tel_add(&t, other.path), 0);
		/* the first question finds out */
		(void)answers(&t, p.path, "/r");
		assert_true(answers(&t, p.path, "/r"));
		(void)answers(&t, other.path, "/r");
		assert_true(answers(&t, other.path, "/r"));
		check_same(&t, p.path, other.path);
		(void)answers(&t, p.path, "/bye");
		(void)answers(&t, other.path, "/bye");
		end(&p);
		end(&other);
	}
	tel_close(&t);
}

/* Of killed processes, whose sockets stay, none takes the place of another. */
static void
what_killed_processes_left_hides_no_process(void **state)
{
	struct tel t = { .search = true };
	struct played p;
	char name[16];

	(void)state;
	tel_open(&t);
	for (unsigned int i = 0; i < TEL_SOURCES_MAX + 1; i++) {
		snprintf(name, sizeof(name), "found%02u", i);
		begin(&p, name, 2048, "{\"/r\": 5}");
		tel_find(&t);
		assert_true(answers(&t, p.path, "/r"));
		(void)answers(&t, p.path, "/bye");
		kill_it(&p);
	}
	tel_find(&t);
	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++)
		assert_int_equal(t.source[i].path[0], '\0');
	tel_close(&t);
	for (unsigned int i = 0; i < TEL_SOURCES_MAX + 1; i++) {
		snprintf(p.path, sizeof(p.path), "%s/found%02u", dir, i);
		assert_int_equal(unlink(p.path), 0);
	}
}

/* Such as a process of another user, or another program. */
static void
what_is_no_source_of_ours_is_never_asked(void **state)
{
	static const char *const hellos[] = { NULL, "hello", "{", "\xff" };

	(void)state;
	for (size_t i = 0; i < sizeof(hellos) / sizeof(hellos[0]); i++) {
		struct tel t = { .search = true };
		struct played p;

		tel_open(&t);
		begin(&p, "strange", 2048, "{\"/r\": 5}");
		p.hello = hellos[i];
		peer = i == 0 ? geteuid() + 1 : 0;
		assert_int_equal(tel_add(&t, p.path), 0);
		for (unsigned int n = 0; n < 4; n++) {
			assert_false(answers(&t, p.path, "/r"));
			assert_int_equal(t.source[0].fd, -1);
		}
		assert_int_equal(p.asked, 0);
		assert_int_equal(t.source[0].silent_ns, 0);
		/* one that the user names may be anyone's */
		t.search = false;
		assert_int_equal(answers(&t, p.path, "/r"), i == 0);
		(void)answers(&t, p.path, "/bye");
		tel_close(&t);
		end(&p);
	}
	peer = geteuid();
}

/* Whatever failed before: to close is an answer, and the next may ask. */
static void
one_that_closes_is_not_silent(void **state)
{
	struct tel t = { 0 };
	struct played p;

	(void)state;
	tel_open(&t);
	begin(&p, "closes", 2048, "{\"/r\": 5}");
	assert_int_equal(tel_add(&t, p.path), 0);
	for (unsigned int n = 0; n < 3; n++) {
		assert_true(answers(&t, p.path, "/r"));
		errno = EAGAIN;
		assert_false(answers(&t, p.path, "/bye"));
		assert_int_equal(t.source[0].silent_ns, 0);
		assert_int_equal(t.source[0].fd, -1);
	}
	tel_close(&t);
	end(&p);
}

static int
setup(void **state)
{
	(void)state;
	peer = geteuid();
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_source_that_is_back_is_as_one_that_was_just_found),
		cmocka_unit_test(
			a_process_that_follows_another_at_its_socket_is_connected),
		cmocka_unit_test(what_killed_processes_left_hides_no_process),
		cmocka_unit_test(what_is_no_source_of_ours_is_never_asked),
		cmocka_unit_test(one_that_closes_is_not_silent),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
