/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reflit-fault before maps that this test plays [PHY-2]: what its options set,
 * what it asks of the kernel's side in which order, what it says and ends with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#undef main /* the program's is fault_main() here */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "fault_opts.h"
#include "rl_base.h"
#include "said.h"

#define WORDS_MAX 8
#define FAILS (-EIO)

int fault_main(int argc, char **argv);

/* The side of the kernel, as the program's process sees it, too. */
static struct kernel {
	struct rl_fault_set set;
	struct rl_fault_count counts;
	struct rl_xdp_copies copies;	       /* of each poll */
	int find, open, get, put, count, poll; /* what they return */
	unsigned int fails_at; /* of the polls; 0: `poll` is of none */
	int signal_at, sig;    /* raised in this poll; 0: none */
	enum rl_xdp_mode mode;
	char done[200]; /* calls that change something, in order */
	unsigned int polls;
} * kernel;

#define k (*kernel)
#define HANDLE ((struct rl_xdp_fault *)kernel)

/* In the program's process, which ends with a status of its own. */
static void
must(bool holds)
{
	if (!holds)
		exit(99);
}

static void
did(const char *what)
{
	strncat(k.done, what, sizeof(k.done) - strlen(k.done) - 1);
}

int
rl_xdp_fault_find(struct rl_xdp_fault **out, const char *ifname, char *err)
{
	must(strcmp(ifname, "vb") == 0);
	did("find ");
	if (k.find == 0)
		*out = HANDLE;
	else
		snprintf(err, RL_XDP_ERR_MAX, "vb: not found");
	return k.find;
}

int
rl_xdp_fault_open(struct rl_xdp_fault **out, const char *ifname,
		  enum rl_xdp_mode mode, const struct rl_fault_set *set,
		  char *err)
{
	must(strcmp(ifname, "vb") == 0);
	did("open ");
	k.mode = mode;
	k.set = *set;
	if (k.open == 0)
		*out = HANDLE;
	else
		snprintf(err, RL_XDP_ERR_MAX, "vb: not opened");
	return k.open;
}

void
rl_xdp_fault_close(struct rl_xdp_fault *f)
{
	must(f == HANDLE);
	did("close ");
}

int
rl_xdp_fault_get(const struct rl_xdp_fault *f, struct rl_fault_set *set)
{
	must(f == HANDLE);
	*set = k.set;
	return k.get;
}

int
rl_xdp_fault_set(struct rl_xdp_fault *f, const struct rl_fault_set *set)
{
	must(f == HANDLE);
	did("set ");
	if (k.put == 0)
		k.set = *set;
	return k.put;
}

int
rl_xdp_fault_counts(const struct rl_xdp_fault *f, struct rl_fault_count *counts)
{
	must(f == HANDLE);
	*counts = k.counts;
	return k.count;
}

int
rl_xdp_fault_poll(struct rl_xdp_fault *f, int timeout_ms,
		  struct rl_xdp_copies *copies)
{
	must(f == HANDLE);
	did(timeout_ms == 0 ? "last " : k.polls == 0 ? "poll " : "");
	must(timeout_ms == 0 || timeout_ms == 100);
	copies->sent += k.copies.sent;
	copies->failed += k.copies.failed;
	if (++k.polls == (unsigned int)k.signal_at)
		raise(k.sig);
	must(k.polls < 2000); /* it was to end */
	usleep(100);
	return k.polls == k.fails_at ? k.poll : 0;
}

static struct said said;

/* Runs it at interface vb. */
static int
call(const char *const args[])
{
	char *argv[WORDS_MAX + 3] = { (char *)(uintptr_t) "reflit-fault",
				      (char *)(uintptr_t) "vb" };
	int argc = 2, status = 0;
	pid_t pid;

	for (; args[argc - 2] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)args[argc - 2];
	k.done[0] = '\0';
	k.polls = 0;
	said_begin(&said);
	pid = fork();
	if (pid == 0)
		exit(fault_main(argc, argv));
	waitpid(pid, &status, 0);
	said_end(&said);
	assert_true(pid > 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define CALL(...) call((const char *const[]){ __VA_ARGS__, NULL })

static int
begin(void **state)
{
	(void)state;
	memset(&k, 0, sizeof(k));
	k.set = (struct rl_fault_set){ .seed = 1, .corrupt_bytes = 1 };
	k.counts = (struct rl_fault_count){ .other = 11,
					    .frames = 12,
					    .passed = 13,
					    .cut = 14,
					    .dropped_nth = 15,
					    .dropped_rate = 16,
					    .corrupted = 17,
					    .duplicate_asked = 18 };
	return 0;
}

#define ONE (1ull << 32)

/* Beside seed 1 and a byte to change. */
static const struct {
	const char *args[WORDS_MAX];
	struct rl_fault_set set;
	const char *said;
} orders[] = {
	{ { "--one-way" }, { 1, 0, 0, 0, 0, 1, 0, 1, 0 }, "one-way " },
	{ { "--one-way=on" }, { 1, 0, 0, 0, 0, 1, 0, 1, 0 }, "one-way " },
	{ { "--one-way=off" }, { 1, 0, 0, 0, 0, 1, 0, 0, 0 }, "no faults" },
	{ { "--drop-nth", "1" }, { 1, 0, 0, 1, 0, 1, 0, 0, 0 }, "drop-nth 1 " },
	{ { "--drop-nth", "4294967295" },
	  { 1, 0, 0, UINT32_MAX, 0, 1, 0, 0, 0 },
	  "drop-nth 4294967295 " },
	{ { "--drop-rate", "1" },
	  { 1, ONE, 0, 0, 0, 1, 0, 0, 0 },
	  "drop-rate 1 " },
	{ { "--drop-rate", "0.25" },
	  { 1, ONE / 4, 0, 0, 0, 1, 0, 0, 0 },
	  "drop-rate 0.25 " },
	/* the nearest, not the one below */
	{ { "--drop-rate", "0.0000000006" },
	  { 1, 3, 0, 0, 0, 1, 0, 0, 0 },
	  "drop-rate 6.98492e-10 " },
	{ { "--duplicate", "0.5" },
	  { 1, 0, ONE / 2, 0, 0, 1, 0, 0, 0 },
	  "duplicate 0.5 " },
	{ { "--corrupt", "3" }, { 1, 0, 0, 0, 3, 1, 0, 0, 0 }, "corrupt 3:1 " },
	{ { "--corrupt", "4294967295:8" },
	  { 1, 0, 0, 0, UINT32_MAX, 8, 0, 0, 0 },
	  "corrupt 4294967295:8 " },
	{ { "--corrupt", "0:1" }, { 1, 0, 0, 0, 0, 1, 0, 0, 0 }, "no faults" },
	{ { "--ethertype", "600" },
	  { 1, 0, 0, 0, 0, 1, 0x600, 0, 0 },
	  "frames of type 0600: no faults" },
	{ { "--ethertype", "ffff" },
	  { 1, 0, 0, 0, 0, 1, 0xffff, 0, 0 },
	  "frames of type ffff: no faults" },
	{ { "--ethertype", "all" },
	  { 1, 0, 0, 0, 0, 1, 0, 0, 0 },
	  "no faults" },
	{ { "--seed", "18446744073709551615" },
	  { UINT64_MAX, 0, 0, 0, 0, 1, 0, 0, 0 },
	  "no faults" },
	{ { "--one-way", "--corrupt=2:3", "--drop-nth=4", "--duplicate=1",
	    "--drop-rate=0.5", "--ethertype=88B5", "--seed=0" },
	  { 0, ONE / 2, ONE, 4, 2, 3, 0x88b5, 1, 0 },
	  "frames of type 88b5: one-way drop-nth 4 drop-rate 0.5 corrupt 2:3 "
	  "duplicate 1 " },
};

static void
an_order_sets_what_it_names_and_says_it(void **state)
{
	char want[200];

	for (size_t i = 0; i < RL_ARRAY_SIZE(orders); i++) {
		snprintf(want, sizeof(want), "vb: %s\n", orders[i].said);
		begin(state);
		assert_int_equal(call(orders[i].args), 0);
		assert_memory_equal(&k.set, &orders[i].set, sizeof(k.set));
		assert_string_equal(k.done, "find set close ");
		assert_string_equal(said.out, want);
		assert_string_equal(said.err, "");
		/* the first call does the same, and stays */
		begin(state);
		k.find = -ENOENT;
		k.signal_at = 2;
		k.sig = SIGTERM;
		assert_int_equal(call(orders[i].args), 0);
		assert_memory_equal(&k.set, &orders[i].set, sizeof(k.set));
		assert_string_equal(k.done, "find open poll last close ");
		assert_int_equal(k.polls, 3);
		assert_string_equal(said.err, want);
		assert_int_equal(k.mode, RL_XDP_ANY);
	}
}

/* Of 9, 8, 7, 6, 5, 4, 0x900, 1: what an order leaves. */
static const struct {
	const char *args[WORDS_MAX];
	struct rl_fault_set set;
} changes[] = {
	{ { "--seed", "2" }, { 2, 8, 7, 6, 5, 4, 0x900, 1, 0 } },
	{ { "--drop-rate", "0" }, { 9, 0, 7, 6, 5, 4, 0x900, 1, 0 } },
	{ { "--duplicate", "0" }, { 9, 8, 0, 6, 5, 4, 0x900, 1, 0 } },
	{ { "--drop-nth", "0" }, { 9, 8, 7, 0, 5, 4, 0x900, 1, 0 } },
	{ { "--corrupt", "2" }, { 9, 8, 7, 6, 2, 1, 0x900, 1, 0 } },
	{ { "--ethertype", "all" }, { 9, 8, 7, 6, 5, 4, 0, 1, 0 } },
	{ { "--one-way=off" }, { 9, 8, 7, 6, 5, 4, 0x900, 0, 0 } },
	/* ends faults, and leaves what is none */
	{ { "--clear" }, { 9, 0, 0, 0, 0, 4, 0x900, 0, 0 } },
	{ { "--clear", "--corrupt=7:2" }, { 9, 0, 0, 0, 7, 2, 0x900, 0, 0 } },
	{ { "--drop-nth=3", "--clear" }, { 9, 0, 0, 3, 0, 4, 0x900, 0, 0 } },
};

static void
an_order_leaves_what_it_does_not_name(void **state)
{
	for (size_t i = 0; i < RL_ARRAY_SIZE(changes); i++) {
		begin(state);
		k.set = (struct rl_fault_set){ 9, 8, 7, 6, 5, 4, 0x900, 1, 0 };
		assert_int_equal(call(changes[i].args), 0);
		assert_memory_equal(&k.set, &changes[i].set, sizeof(k.set));
		assert_string_equal(k.done, "find set close ");
	}
}

static const struct {
	const char *args[WORDS_MAX];
	const char *why;
} wrong[] = {
	{ { "--drop-nth", "4294967296" }, "--drop-nth 4294967296: give a" },
	{ { "--drop-nth", "x" }, "--drop-nth x: give a number" },
	{ { "--drop-rate", "1.001" }, "give a probability of 0 to 1" },
	{ { "--duplicate", "2" }, "give a probability of 0 to 1" },
	{ { "--duplicate", "-1" }, "give a probability of 0 to 1" },
	{ { "--corrupt", "1:0" }, "give N or N:BYTES" },
	{ { "--corrupt", "1:9" }, "give N or N:BYTES" },
	{ { "--corrupt", "4294967296" }, "give N or N:BYTES" },
	{ { "--corrupt", ":" }, "give N or N:BYTES" },
	{ { "--corrupt", "1:" }, "give N or N:BYTES" },
	{ { "--ethertype", "5ff" }, "give all, or 600 to ffff" },
	{ { "--ethertype", "10000" }, "give all, or 600 to ffff" },
	{ { "--ethertype", "+800" }, "give all, or 600 to ffff" },
	{ { "--ethertype", "800x" }, "give all, or 600 to ffff" },
	{ { "--ethertype", "" }, "give all, or 600 to ffff" },
	{ { "--one-way=no" }, "give on or off" },
	{ { "--duration", "0ms" }, "give a time" },
	{ { "--duration", "1" }, "give a time" },
	{ { "--duration", "ms" }, "give a time" },
	{ { "--duration", "1000001s" }, "give a time" },
	{ { "--seed", "18446744073709551616" }, "--seed" },
	{ { "vc" }, "name one interface" },
	{ { "--show", "--one-way" }, "--show changes nothing" },
	{ { "--show", "--seed=1" }, "--show changes nothing" },
	{ { "--show", "--clear" }, "--show changes nothing" },
	{ { "--json", "/nowhere/x" }, "cannot write /nowhere/x" },
};

static void
what_is_wrong_is_one_line_and_asks_nothing_of_the_kernel(void **state)
{
	for (size_t i = 0; i < RL_ARRAY_SIZE(wrong); i++) {
		begin(state);
		assert_int_equal(call(wrong[i].args), 2);
		assert_string_equal(k.done, "");
		assert_string_equal(said.out, "");
		if (strstr(said.err, wrong[i].why) == NULL ||
		    strchr(said.err, '\n') != said.err + strlen(said.err) - 1)
			fail_msg("%s", said.err);
	}
	assert_int_equal(CALL("--version"), 0);
	assert_string_equal(said.out, "reflit-fault " RL_VERSION "\n");
	assert_int_equal(CALL("--help"), 0);
	assert_ptr_equal(strstr(said.out, "usage: reflit-fault IFACE"),
			 said.out);
	assert_string_equal(k.done, "");
}

/* A report of its counts, in words and as JSON. */
static void
check_report(const char *path, unsigned int sent, unsigned int failed)
{
	static const struct {
		const char *key;
		unsigned int n;
	} counts[] = { { "other_frames", 11 }, { "frames", 12 },
		       { "passed", 13 },       { "cut", 14 },
		       { "dropped_nth", 15 },  { "dropped_rate", 16 },
		       { "corrupted", 17 } };
	json_t *all = json_load_file(path, 0, NULL), *set;

	assert_non_null(all);
	assert_string_equal(
		"vb", json_string_value(json_object_get(all, "interface")));
	for (size_t i = 0; i < RL_ARRAY_SIZE(counts); i++)
		assert_int_equal(
			json_integer_value(json_object_get(all, counts[i].key)),
			counts[i].n);
	assert_int_equal(json_integer_value(json_object_get(all, "duplicated")),
			 sent);
	assert_int_equal(
		json_integer_value(json_object_get(all, "duplicate_failed")),
		failed);
	set = json_pack("{s:b, s:i, s:f, s:i, s:i, s:f, s:i, s:i}", "one_way",
			1, "drop_nth", 6, "drop_rate", 0.25, "corrupt_nth", 5,
			"corrupt_bytes", 4, "duplicate_rate", 0.5, "ethertype",
			0x900, "seed", 9);
	assert_true(json_equal(set, json_object_get(all, "set")));
	json_decref(set);
	json_decref(all);
}

#define COUNTED                                                                \
	"vb: 12 frames: 13 passed, 14 cut, 15 dropped by count, 16 dropped "   \
	"by rate, 17 corrupted, "

static void
a_report_has_each_count_in_its_place(void **state)
{
	char path[] = "/tmp/reflit-test-XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	begin(state);
	k.set = (struct rl_fault_set){
		9, ONE / 4, ONE / 2, 6, 5, 4, 0x900, 1, 0
	};
	/* of another process; its copies are known to that one */
	assert_int_equal(CALL("--show"), 0);
	assert_non_null(strstr(said.out, "\n" COUNTED "18 to be duplicated\n"));
	assert_string_equal(k.done, "find close ");
	assert_int_equal(CALL("--show", "--json", path), 0);
	check_report(path, 0, 0);
	assert_int_equal(CALL("--one-way", "--json", path), 0);
	assert_non_null(strstr(said.out, "\n" COUNTED "18 to be duplicated\n"));
	assert_string_equal(k.done, "find set close ");
	check_report(path, 0, 0);
	assert_int_equal(CALL("--show", "--json", "-"), 0);
	assert_int_equal(said.out[0], '{');
	assert_non_null(strstr(said.err, COUNTED));
	/* its own; each copy that is missing counts */
	for (unsigned int i = 0; i < 3; i++) {
		k.find = -ENOENT;
		k.signal_at = 1;
		k.sig = SIGINT;
		k.copies = (struct rl_xdp_copies){ 4, i == 1 };
		k.counts.duplicate_lost = i == 2;
		assert_int_equal(CALL("--one-way", "--drop-nth=6",
				      "--drop-rate=0.25", "--corrupt=5:4",
				      "--duplicate=0.5", "--ethertype=900",
				      "--seed=9", "--json", path),
				 i != 0);
		/* once while it runs, once at its end */
		assert_non_null(strstr(
			said.out, i == 0   ? COUNTED "8 duplicated, 0 not\n"
				  : i == 1 ? COUNTED "8 duplicated, 2 not\n"
					   : COUNTED "8 duplicated, 1 not\n"));
		check_report(path, 8, i == 0 ? 0 : i == 1 ? 2 : 1);
	}
	unlink(path);
}

static void
each_signal_and_its_time_end_it(void **state)
{
	const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	for (size_t i = 0; i < RL_ARRAY_SIZE(sigs); i++) {
		begin(state);
		k.find = -ENOENT;
		k.signal_at = 3;
		k.sig = sigs[i];
		assert_int_equal(CALL(i % 2 ? "--native" : "--generic"), 0);
		assert_int_equal(k.mode,
				 i % 2 ? RL_XDP_NATIVE : RL_XDP_GENERIC);
		assert_int_equal(k.polls, 4);
		assert_string_equal(k.done, "find open poll last close ");
	}
	/* a pipe that nothing reads does not */
	begin(state);
	k.find = -ENOENT;
	k.signal_at = 1;
	k.sig = SIGPIPE;
	assert_int_equal(CALL("--duration", "30ms"), 0);
	assert_true(k.polls > 2);
}

static void
times_are_what_they_say(void **state)
{
	static const struct {
		const char *args[2];
		uint64_t ns;
	} rows[] = {
		{ { "--duration", "1ms" }, 1000000 },
		{ { "--duration", "2s" }, 2000000000 },
		{ { "--duration", "3m" }, 180000000000 },
		{ { "--duration", "1000000m" }, 60000000000000000 },
		{ { "--native", "--native" }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(rows); i++) {
		const char *argv[] = { "x", "vb", rows[i].args[0],
				       rows[i].args[1], NULL };
		struct fault_opts o;

		assert_int_equal(
			fault_opts_parse(&o, 4, (char **)(uintptr_t)argv), 0);
		assert_int_equal(o.duration_ns, rows[i].ns);
		assert_false(o.any);
	}
}

static void
what_the_kernel_refuses_is_one_line_and_ends_in_2(void **state)
{
	begin(state);
	k.find = -EPERM;
	assert_int_equal(CALL("--one-way"), 2);
	assert_string_equal(said.err, "reflit-fault: vb: not found\n");
	assert_string_equal(k.done, "find ");
	k.find = -ENOENT; /* none runs there: nothing to show, or to end */
	assert_int_equal(CALL("--show"), 2);
	assert_int_equal(CALL("--clear"), 2);
	assert_string_equal(k.done, "find ");
	k.open = -EBUSY;
	assert_int_equal(CALL("--clear", "--one-way"), 2);
	assert_string_equal(k.done, "find open ");
	assert_string_equal(said.err, "reflit-fault: vb: not opened\n");
	k.open = 0;
	k.poll = FAILS;
	for (k.fails_at = 1; k.fails_at <= 3; k.fails_at++) {
		k.signal_at = 2;
		k.sig = SIGTERM;
		assert_int_equal(CALL("--one-way"), 2);
		assert_non_null(
			strstr(said.err, "\nreflit-fault: vb: Input/output"));
		assert_string_equal(
			k.done, k.fails_at == 3 ? "find open poll last close "
						: "find open poll close ");
	}
	begin(state);
	k.get = FAILS;
	assert_int_equal(CALL("--one-way"), 2);
	assert_string_equal(said.err, "reflit-fault: vb: changing its maps: "
				      "Input/output error\n");
	assert_string_equal(k.done, "find close ");
	assert_int_equal(CALL("--show"), 2);
	assert_string_equal(said.err,
			    "reflit-fault: vb: its maps cannot be read\n");
	k.get = 0;
	k.put = FAILS;
	assert_int_equal(CALL("--one-way"), 2);
	assert_string_equal(said.out, "");
	k.put = 0;
	k.count = FAILS;
	assert_int_equal(CALL("--show"), 2);
	assert_string_equal(said.err,
			    "reflit-fault: vb: its maps cannot be read\n");
	k.count = 0;
	assert_int_equal(CALL("--show", "--json", "/dev/full"), 2);
	k.find = -ENOENT;
	k.signal_at = 1;
	k.sig = SIGTERM;
	k.copies.failed = 1; /* the report is missing, too */
	assert_int_equal(CALL("--one-way", "--json", "/dev/full"), 2);
}

static int
setup(void **state)
{
	(void)state;
	kernel = mmap(NULL, sizeof(k), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return kernel == MAP_FAILED;
}

static int
teardown(void **state)
{
	(void)state;
	return munmap(kernel, sizeof(k));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_sets_what_it_names_and_says_it),
		cmocka_unit_test(an_order_leaves_what_it_does_not_name),
		cmocka_unit_test(
			what_is_wrong_is_one_line_and_asks_nothing_of_the_kernel),
		cmocka_unit_test(a_report_has_each_count_in_its_place),
		cmocka_unit_test(each_signal_and_its_time_end_it),
		cmocka_unit_test(times_are_what_they_say),
		cmocka_unit_test(
			what_the_kernel_refuses_is_one_line_and_ends_in_2),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
