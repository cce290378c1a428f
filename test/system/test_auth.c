/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The key file, and tags that another implementation of HKDF, HMAC and GMAC
 * gives as well (Python's hmac; `openssl mac -cipher AES-256-GCM ... GMAC`).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rl_auth.h"

#define NONCE_0 0x0123456789abcdefull
#define NONCE_1 0xfedcba9876543210ull

static char folder[] = "/tmp/rl-auth-XXXXXX";

static int
in_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
out_of_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* A file of @p n bytes 'k' and @p tail. */
static void
make(char *path, size_t n, const char *tail, mode_t mode)
{
	FILE *f;

	snprintf(path, 64, "%s/key", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fputc('k', f);
	fputs(tail, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static void
a_key_file_is_read_or_refused_with_a_reason(void **state)
{
	static const struct {
		size_t n;
		const char *tail;
		mode_t mode;
		int ret;
		const char *why;
	} c[] = {
		{ 32, "", 0600, 0, NULL },
		{ 32, "\n", 0400, 0, NULL },
		{ 4096, "", 0600, 0, NULL },
		{ 0, "", 0600, -EINVAL, "holds 0 bytes" },
		{ 31, "", 0600, -EINVAL, "holds 31 bytes" },
		{ 31, "\n \n", 0600, -EINVAL, "holds 31 bytes" },
		{ 4097, "", 0600, -EINVAL, "holds more than 4096 bytes" },
		{ 0, "00000000000000000000000000000000", 0600, -EINVAL,
		  "holds only zeros" },
		{ 32, "", 0640, -EACCES, "others than its owner" },
		{ 32, "", 0604, -EACCES, "mode 604" },
		{ 32, "", 0620, -EACCES, "chmod 600" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct rl_auth_root root;
		char path[64], err[256] = "";

		make(path, c[i].n, c[i].tail, c[i].mode);
		assert_int_equal(rl_auth_root_read(&root, path, err,
						   sizeof(err)), c[i].ret);
		if (c[i].why != NULL && strstr(err, c[i].why) == NULL)
			fail_msg("\"%s\" says not \"%s\"", err, c[i].why);
		assert_null(strchr(err, '\n'));
		unlink(path);
	}
}

/* Root reads whatever it likes, and must not like it. */
static void
a_key_file_of_another_user_is_refused(void **state)
{
	struct rl_auth_root root;
	char path[64], err[256] = "";

	(void)state;
	make(path, 32, "", 0600);
	if (geteuid() != 0 || chown(path, 12345, 0) != 0) {
		unlink(path);
		skip();
	}
	assert_int_equal(rl_auth_root_read(&root, path, err, sizeof(err)),
			 -EACCES);
	assert_non_null(strstr(err, "uid 12345"));
	unlink(path);
}

static void
what_is_no_file_is_refused_and_never_waited_for(void **state)
{
	struct rl_auth_root root;
	char path[64], err[256];

	(void)state;
	assert_int_equal(rl_auth_root_read(&root, folder, err, sizeof(err)),
			 -EINVAL);
	assert_non_null(strstr(err, "not a plain file"));
	snprintf(path, sizeof(path), "%s/missing", folder);
	assert_int_equal(rl_auth_root_read(&root, path, err, sizeof(err)),
			 -ENOENT);
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(rl_auth_root_read(&root, path, err, sizeof(err)),
			 -EINVAL);
	unlink(path);
}

static void
a_newline_at_the_end_is_no_part_of_the_key(void **state)
{
	struct rl_auth_root a, b;
	char path[64], err[256];

	(void)state;
	make(path, 40, "", 0600);
	assert_int_equal(rl_auth_root_read(&a, path, err, sizeof(err)), 0);
	make(path, 40, "\r\n", 0600);
	assert_int_equal(rl_auth_root_read(&b, path, err, sizeof(err)), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	make(path, 41, "", 0600);
	assert_int_equal(rl_auth_root_read(&b, path, err, sizeof(err)), 0);
	assert_memory_not_equal(&a, &b, sizeof(a));
	unlink(path);
}

static const uint8_t init_tag[] = {
	0xc3, 0x19, 0x4c, 0xa9, 0x70, 0x04, 0x2b, 0xfd,
	0x25, 0xa1, 0xdb, 0x0f, 0x5c, 0x1c, 0x74, 0x1f };
static const uint8_t epoch_tag[2][16] = {
	{ 0x2d, 0x63, 0xbb, 0x8b, 0x40, 0x9b, 0xba, 0xa5,
	  0xdf, 0xc9, 0x64, 0x5d, 0x78, 0xd1, 0x28, 0xcd },
	{ 0x98, 0x0a, 0xf6, 0x14, 0x88, 0x6e, 0x85, 0xc8,
	  0x38, 0x0d, 0xfc, 0x12, 0x6f, 0x43, 0x8e, 0x18 } };

static void
tags_are_those_of_the_standards(void **state)
{
	uint8_t secret[32], frame[50], tag[RL_AUTH_TAG_BYTES];
	struct rl_auth_root root;
	struct rl_auth *a[2];
	const struct rl_link_auth *l[2];

	(void)state;
	for (unsigned int i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t)i;
	for (unsigned int i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(7 * i);
	rl_auth_root_make(&root, secret, sizeof(secret));
	for (unsigned int e = 0; e < 2; e++) {
		a[e] = rl_auth_open(&root, "s0-s1#0", e);
		assert_non_null(a[e]);
		l[e] = rl_auth_link(a[e]);
	}
	l[0]->ops->seal(l[0]->ctx, RL_AUTH_INIT, 9, frame, sizeof(frame), tag);
	assert_memory_equal(tag, init_tag, sizeof(tag));
	assert_true(l[1]->ops->check(l[1]->ctx, RL_AUTH_INIT, 9, frame,
				     sizeof(frame), tag));
	assert_false(l[0]->ops->check(l[0]->ctx, RL_AUTH_INIT, 9, frame,
				      sizeof(frame), tag));
	/* before the first training there is no key, and nothing is right */
	l[0]->ops->seal(l[0]->ctx, RL_AUTH_EPOCH, 1, frame, sizeof(frame), tag);
	assert_false(l[1]->ops->check(l[1]->ctx, RL_AUTH_EPOCH, 1, frame,
				      sizeof(frame), tag));
	l[0]->ops->epoch(l[0]->ctx, NONCE_0, NONCE_1);
	l[1]->ops->epoch(l[1]->ctx, NONCE_1, NONCE_0);
	for (uint64_t stamp = 1; stamp <= 2; stamp++) {
		l[0]->ops->seal(l[0]->ctx, RL_AUTH_EPOCH, stamp, frame,
				sizeof(frame), tag);
		assert_memory_equal(tag, epoch_tag[stamp - 1], sizeof(tag));
		assert_true(l[1]->ops->check(l[1]->ctx, RL_AUTH_EPOCH, stamp,
					     frame, sizeof(frame), tag));
		assert_false(l[1]->ops->check(l[1]->ctx, RL_AUTH_EPOCH,
					      stamp + 1, frame, sizeof(frame),
					      tag));
		assert_false(l[0]->ops->check(l[0]->ctx, RL_AUTH_EPOCH, stamp,
					      frame, sizeof(frame), tag));
	}
	for (unsigned int e = 0; e < 2; e++)
		rl_auth_close(a[e]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_file_is_read_or_refused_with_a_reason),
		cmocka_unit_test(a_key_file_of_another_user_is_refused),
		cmocka_unit_test(
			what_is_no_file_is_refused_and_never_waited_for),
		cmocka_unit_test(a_newline_at_the_end_is_no_part_of_the_key),
		cmocka_unit_test(tags_are_those_of_the_standards),
	};

	return cmocka_run_group_tests(tests, in_folder, out_of_folder);
}
