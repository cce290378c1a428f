/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's options: what they set, what is said of a wrong one, the help. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opts.h"
#include "rl_base.h"
#include "said.h"

#define WORDS_MAX 6

struct values {
	const char *text;
	uint32_t small;
	uint64_t large, time_ns, bare_ns, any_ns;
	double rate;
	bool on, other;
};

static int
odd(RL_UNUSED const struct opt *o, const char *arg, RL_UNUSED void *to)
{
	if (arg == NULL)
		return 0;
	fputs("odd: said already\n", stderr);
	return -EBADMSG;
}

#define AT(field) offsetof(struct values, field)

static const struct opt table[] = {
	{ "text", "FILE", opt_text, AT(text), .help = "a text" },
	{ "small", "N", opt_u32, AT(small), 2, 9, .help = "two\nlines" },
	{ "smaller", "N", opt_u32, AT(small), 0, UINT32_MAX, "a small one" },
	{ "large", "N", opt_u64, AT(large), 1, UINT64_MAX,
	  .help = "a large one", .above = "Numbers" },
	{ "rate", "R", opt_rate, AT(rate), 0, 2, "0 to 2", .help = "a rate" },
	{ "time", "T", opt_time, AT(time_ns), 5, 10, "5ns to 10ns",
	  .help = "a time" },
	{ "any", "T", opt_time, AT(any_ns), 0, 0, "a time", .help = "any" },
	{ "bare", "T", opt_time_or_ns, AT(bare_ns), 5, 10, "5 to 10",
	  .help = "a number" },
	{ "odd", "[ON]", odd, 0, .help = "or none" },
	{ "on", NULL, NULL, AT(on), .help = "a flag", .letter = 'o' },
	{ "other", NULL, NULL, AT(other), .letter = 'x' },
	{ .name = NULL },
};

static const struct opts plain = { "prog", "usage: prog\n", "more\n", table, 20,
				   false };

static struct said said;

static int
reads(const struct opts *p, const char *const args[], struct values *v)
{
	const char *argv[WORDS_MAX + 2] = { "prog" };
	int argc = 1, ret;

	memset(v, 0, sizeof(*v));
	memset(&said, 0, sizeof(said));
	for (; args[argc - 1] != NULL; argc++)
		argv[argc] = args[argc - 1];
	said_begin(&said);
	ret = opts_read(p, argc, (char **)(uintptr_t)argv, v);
	said_end(&said);
	return ret;
}

static const struct {
	const char *args[WORDS_MAX];
	int first; /* word that is no option */
	struct values v;
} good[] = {
	{ { NULL }, 1, { 0 } },
	{ { "word", "next" }, 1, { 0 } },
	{ { "--text", "a", "word" }, 3, { .text = "a" } },
	{ { "word", "--text=a" }, 2, { .text = "a" } },
	{ { "--small=2" }, 2, { .small = 2 } },
	{ { "--small", "9" }, 3, { .small = 9 } },
	{ { "--smaller", "4294967295" }, 3, { .small = UINT32_MAX } },
	{ { "--large", "1" }, 3, { .large = 1 } },
	{ { "--large", "18446744073709551615" }, 3, { .large = UINT64_MAX } },
	{ { "--rate", "0" }, 3, { .rate = 0 } },
	{ { "--rate=2" }, 2, { .rate = 2 } },
	{ { "--time=5ns" }, 2, { .time_ns = 5 } },
	{ { "--time=10ns" }, 2, { .time_ns = 10 } },
	{ { "--any=3600s" }, 2, { .any_ns = 3600000000000 } },
	{ { "--bare=5" }, 2, { .bare_ns = 5 } },
	{ { "--bare=10ns" }, 2, { .bare_ns = 10 } },
	{ { "--odd", "word" }, 2, { 0 } },
	{ { "--on" }, 2, { .on = true } },
	{ { "-ox" }, 2, { .on = true, .other = true } },
	{ { "--oth", "--", "--on" }, 3, { .other = true } },
};

static void
an_option_sets_its_field_and_no_other(void **state)
{
	struct values v;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(good); i++) {
		const struct values *w = &good[i].v;

		if (reads(&plain, good[i].args, &v) != good[i].first)
			fail_msg("%zu: %s", i, said.err);
		assert_string_equal(said.err, "");
		assert_true((v.text == NULL) == (w->text == NULL));
		if (w->text != NULL)
			assert_string_equal(v.text, w->text);
		v.text = w->text;
		assert_memory_equal(&v, w, sizeof(v));
	}
}

static const struct {
	const char *args[WORDS_MAX];
	const char *says, *gives; /* the second: in programs that say "give" */
} bad[] = {
	{ { "--small", "1" },
	  "--small 1: out of range; use a number of 2 to 9",
	  "--small 1: give a number of 2 to 9" },
	{ { "--small", "10" },
	  "--small 10: out of range; use a number of 2 to 9",
	  "--small 10: give a number of 2 to 9" },
	{ { "--small", "x" },
	  "--small x: not understood; use a number of 2 to 9",
	  "--small x: give a number of 2 to 9" },
	{ { "--smaller", "4294967296" },
	  "--smaller 4294967296: out of range; use a small one",
	  "--smaller 4294967296: give a small one" },
	{ { "--large=0" },
	  "--large 0: out of range; use a number of 1 to "
	  "18446744073709551615",
	  "--large 0: give a number of 1 to 18446744073709551615" },
	{ { "--rate", "2.1" },
	  "--rate 2.1: out of range; use 0 to 2",
	  "--rate 2.1: give 0 to 2" },
	{ { "--time", "4ns" },
	  "--time 4ns: out of range; use 5ns to 10ns",
	  "--time 4ns: give 5ns to 10ns" },
	{ { "--time", "11ns" },
	  "--time 11ns: out of range; use 5ns to 10ns",
	  "--time 11ns: give 5ns to 10ns" },
	{ { "--time", "7" },
	  "--time 7: not understood; use 5ns to 10ns",
	  "--time 7: give 5ns to 10ns" },
	{ { "--bare", "4" },
	  "--bare 4: out of range; use 5 to 10",
	  "--bare 4: give 5 to 10" },
	{ { "--bare", "y" },
	  "--bare y: not understood; use 5 to 10",
	  "--bare y: give 5 to 10" },
	{ { "--any", "3601s" },
	  "--any 3601s: out of range; use a time",
	  "--any 3601s: give a time" },
	/* the same in either */
	{ { "--text" }, "--text needs an argument; see --help", NULL },
	{ { "-q" }, "there is no option -q; see --help", NULL },
	{ { "-oq" }, "there is no option -q; see --help", NULL },
	{ { "--on=1" }, "--on takes no argument", NULL },
	{ { "--o" }, "--o may be --odd or --on", NULL },
	{ { "--texd", "x" },
	  "there is no option --texd; did you mean --text?",
	  NULL },
	{ { "--rat3=1" },
	  "there is no option --rat3; did you mean --rate?",
	  NULL },
	{ { "--nonsensical" },
	  "there is no option --nonsensical; see --help",
	  NULL },
};

static void
of_a_wrong_option_one_line_says_what_is_right(void **state)
{
	struct opts giving = plain;
	struct values v;
	char want[200];

	(void)state;
	giving.give = true;
	for (size_t i = 0; i < 2 * RL_ARRAY_SIZE(bad); i++) {
		const char *other = bad[i / 2].gives;

		snprintf(want, sizeof(want), "prog: %s\n",
			 i % 2 && other != NULL ? other : bad[i / 2].says);
		if (reads(i % 2 ? &giving : &plain, bad[i / 2].args, &v) !=
		    -EINVAL)
			fail_msg("taken, not refused: %s", want);
		assert_string_equal(said.err, want);
		assert_string_equal(said.out, "");
		assert_int_equal(v.small | v.large | v.time_ns | v.bare_ns, 0);
	}
	assert_int_equal(
		reads(&plain, (const char *const[]){ "--odd=1", NULL }, &v),
		-EINVAL);
	assert_string_equal(said.err, "odd: said already\n");
}

static void
the_help_is_the_table(void **state)
{

	(void)state;
	said_begin(&said);
	opts_help(&plain);
	said_end(&said);
	assert_string_equal(said.out, "usage: prog\n"
				      "  --text FILE       a text\n"
				      "  --small N         two\n"
				      "                    lines\n"
				      "\nNumbers:\n"
				      "  --large N         a large one\n"
				      "  --rate R          a rate\n"
				      "  --time T          a time\n"
				      "  --any T           any\n"
				      "  --bare T          a number\n"
				      "  --odd[=ON]        or none\n"
				      "  -o, --on          a flag\n"
				      "more\n");
	assert_string_equal(said.err, "");
}

static void
a_heading_above_all_has_no_line_before_it(void **state)
{
	static const struct opt one[] = {
		{ "on", NULL, NULL, 0, .help = "x", .above = "All" },
		{ .name = NULL },
	};
	const struct opts p = { "prog", "", "", one, 10, false };

	(void)state;
	said_begin(&said);
	opts_help(&p);
	said_end(&said);
	assert_string_equal(said.out, "All:\n  --on    x\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_sets_its_field_and_no_other),
		cmocka_unit_test(of_a_wrong_option_one_line_says_what_is_right),
		cmocka_unit_test(the_help_is_the_table),
		cmocka_unit_test(a_heading_above_all_has_no_line_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
