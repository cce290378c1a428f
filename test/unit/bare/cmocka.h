/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BARE_CMOCKA_H
#define BARE_CMOCKA_H

/**
 * @file
 * As much of cmocka as the unit tests of the libraries use, for a CPU whose
 * packages are not here (-Dbare=true). It says what cmocka says: OK, FAILED and
 * SKIPPED by name, and exits with the number of failures.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
	const char *name;
	void (*test)(void **state);
	int (*setup)(void **state);
	int (*teardown)(void **state);
	void *initial_state;
};

enum {
	BARE_FAILED = 1,
	BARE_SKIPPED
};

static jmp_buf bare_out;

#define cmocka_unit_test(f) { #f, f, NULL, NULL, NULL }
#define cmocka_unit_test_setup(f, s) { #f, f, s, NULL, NULL }
#define cmocka_unit_test_teardown(f, t) { #f, f, NULL, t, NULL }
#define cmocka_unit_test_setup_teardown(f, s, t) { #f, f, s, t, NULL }
#define cmocka_unit_test_prestate_setup_teardown(f, s, t, p) { #f, f, s, t, p }

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define skip() longjmp(bare_out, BARE_SKIPPED)
#define fail() fail_msg("failed")
#define fail_msg(...)                                                          \
	do {                                                                   \
		printf("%s:%d: ", __FILE__, __LINE__);                         \
		printf(__VA_ARGS__);                                           \
		printf("\n");                                                  \
		longjmp(bare_out, BARE_FAILED);                                \
	} while (0)

#define bare_assert(good, what)                                                \
	do {                                                                   \
		if (!(good))                                                   \
			fail_msg("not so: %s", what);                          \
	} while (0)
#define bare_compare(a, op, b)                                                 \
	do {                                                                   \
		const uintmax_t bare_a = (uintmax_t)(a);                       \
		const uintmax_t bare_b = (uintmax_t)(b);                       \
                                                                               \
		if (!(bare_a op bare_b))                                       \
			fail_msg("not so: %s (%#jx) %s %s (%#jx)", #a, bare_a, \
				 #op, #b, bare_b);                             \
	} while (0)

#define assert_true(x) bare_assert(x, #x)
#define assert_false(x) bare_assert(!(x), "!(" #x ")")
#define assert_null(x) bare_assert((x) == NULL, #x " == NULL")
#define assert_non_null(x) bare_assert((x) != NULL, #x " != NULL")
#define assert_ptr_equal(a, b) bare_assert((a) == (b), #a " == " #b)
#define assert_ptr_not_equal(a, b) bare_assert((a) != (b), #a " != " #b)
#define assert_int_equal(a, b) bare_compare(a, ==, b)
#define assert_int_not_equal(a, b) bare_compare(a, !=, b)
#define assert_in_range(x, low, high)                                          \
	do {                                                                   \
		bare_compare(x, >=, low);                                      \
		bare_compare(x, <=, high);                                     \
	} while (0)
#define assert_string_equal(a, b) bare_assert(strcmp(a, b) == 0, #a " is " #b)
#define assert_memory_equal(a, b, n)                                           \
	bare_assert(memcmp(a, b, n) == 0, #a " is as " #b)
#define assert_memory_not_equal(a, b, n)                                       \
	bare_assert(memcmp(a, b, n) != 0, #a " differs from " #b)

static inline int
bare_run_one(const struct CMUnitTest *t)
{
	void *state = t->initial_state;
	const int how = setjmp(bare_out);

	if (how == 0) {
		printf("[ RUN      ] %s\n", t->name);
		if (t->setup != NULL && t->setup(&state) != 0)
			fail_msg("its setup failed");
		t->test(&state);
		if (t->teardown != NULL && t->teardown(&state) != 0)
			fail_msg("its teardown failed");
	}
	printf(how == 0		     ? "[       OK ] %s\n"
	       : how == BARE_SKIPPED ? "[  SKIPPED ] %s\n"
				     : "[  FAILED  ] %s\n",
	       t->name);
	return how == BARE_FAILED;
}

static inline int
bare_run(const struct CMUnitTest *t, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n; i++)
		failed += bare_run_one(&t[i]);
	return failed;
}

/* groups have no setup of their own here */
#define cmocka_run_group_tests(tests, setup, teardown)                         \
	((void)(setup), (void)(teardown),                                      \
	 bare_run(tests, sizeof(tests) / sizeof((tests)[0])))
#define cmocka_run_group_tests_name(name, tests, setup, teardown)              \
	((void)(name), cmocka_run_group_tests(tests, setup, teardown))

#endif /* BARE_CMOCKA_H */
