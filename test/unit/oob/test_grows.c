/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing grows [APP-4]: an etcd refuses a thousand times, and the process has
 * as many descriptors, threads and leases as before, and as much memory.
 */
#include <dirent.h>
#include <malloc.h>

#include "../../few.h"
#include "pair.h"
#include "rl_oob_text.h"

#define TIMES (1000 / FEW(10))
/* What a heap may take once more; a leak is more an error. */
#define HEAP_BYTES (TIMES * 8)

struct held {
	unsigned int fds, threads, leases;
	size_t bytes;
};

static unsigned int
entries(const char *folder)
{
	DIR *d = opendir(folder);
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static bool
all_watch(struct pair *p)
{
	return fake_watches(p->etcd) == (unsigned int)(p->side[0].oob != NULL) +
						(p->side[1].oob != NULL);
}

static struct held
look(struct pair *p)
{
	struct mallinfo2 m;

	UNTIL(p, all_watch);
	fake_forget(p->etcd);
	m = mallinfo2();
	return (struct held){
		.fds = entries("/proc/self/fd"),
		.threads = entries("/proc/self/task"),
		.leases = fake_leases(p->etcd),
		.bytes = m.uordblks + m.hblkhd,
	};
}

/* Connections that have ended leave a thread and a buffer for a moment. */
static struct held
settled_as(struct pair *p, const struct held *was)
{
	const uint64_t end_ns = now_ns() + PATIENCE_NS;
	struct held h = look(p);

	while (h.fds != was->fds || h.threads != was->threads ||
	       h.leases != was->leases || h.bytes > was->bytes + HEAP_BYTES) {
		if (now_ns() > end_ns)
			break;
		usleep(5000);
		h = look(p);
	}
	return h;
}

/*
 * Does it so many times, after some to warm up. What is kept for good is kept
 * each time: memory that was needed at once is not needed again.
 */
static void
repeated(struct pair *p, void (*once)(struct pair *p, unsigned int i))
{
	struct held was, h;
	unsigned int rounds = 0;

	for (unsigned int i = 0; i < TIMES / 10; i++)
		once(p, i);
	/* connections that have ended are still being closed */
	do {
		was = look(p);
		usleep(100000);
		h = look(p);
	} while (h.fds != was.fds || h.threads != was.threads);
	do {
		was = h;
		for (unsigned int i = 0; i < TIMES; i++)
			once(p, i);
		h = settled_as(p, &was);
	} while (h.bytes > was.bytes + HEAP_BYTES && ++rounds < 2);
	assert_int_equal(h.fds, was.fds);
	assert_int_equal(h.threads, was.threads);
	assert_int_equal(h.leases, was.leases);
	assert_in_range(h.bytes, 0, was.bytes + HEAP_BYTES);
}

static void
refused(struct pair *p)
{
	char err[RL_OOB_ERR_MAX] = "";

	assert_int_not_equal(join(p, 1, err), 0);
	assert_null(p->side[1].oob);
	assert_memory_equal(err, "etcd", 4);
}

static void
any_answer(struct pair *p, unsigned int i)
{
	static const enum fake_mood mood[] = { FAKE_ERRS,    FAKE_ERRS_NEW,
					       FAKE_RAVES,   FAKE_EMPTY,
					       FAKE_GATEWAY, FAKE_CLOSES,
					       FAKE_ECHO };

	fake_mood(p->etcd, mood[i % RL_ARRAY_SIZE(mood)]);
	refused(p);
}

static void
joins_that_any_answer_ends_leave_nothing(void **state)
{
	struct pair *p = pair_open(0);

	(void)state;
	repeated(p, any_answer);
	fake_mood(p->etcd, FAKE_WELL);
	pair_close(p);
}

/* Without a lease, or with one that is given back. */
static void
join_half(struct pair *p, unsigned int i)
{
	fake_refuse(p->etcd, i % 2 == 0 ? "/v3/kv/txn" : "/v3/lease/grant");
	refused(p);
}

static void
a_join_that_fails_half_way_gives_its_lease_back(void **state)
{
	struct pair *p = pair_open(0);

	(void)state;
	repeated(p, join_half);
	assert_int_equal(fake_leases(p->etcd), 0);
	fake_refuse(p->etcd, NULL);
	pair_close(p);
}

static void
join_beside(struct pair *p, RL_UNUSED unsigned int i)
{
	refused(p);
}

static void
a_member_of_another_fabric_refuses_and_costs_nothing(void **state)
{
	struct pair *p = pair_open(0);
	const struct rl_oob_member other = { .digest = 1,
					     .pid = 1,
					     .boot = "elsewhere" };
	char *text = rl_oob_member_text(&other);

	(void)state;
	fake_put(p->etcd, "/reflit/members/l", text, 999);
	free(text);
	repeated(p, join_beside);
	pair_close(p);
}

static void
watch_that_ends(struct pair *p, RL_UNUSED unsigned int i)
{
	fake_put(p->etcd, "/reflit/nosuch", "x", 0);
	fake_cut_watches(p->etcd);
	if (p->side[0].n > LOG_MAX / 2)
		p->side[0].n = 0; /* without recipes */
	take(p);
	usleep(2000);
}

static void
watches_that_end_leave_nothing(void **state)
{
	struct pair *p = pair_open(1);

	(void)state;
	UNTIL(p, left_rules);
	repeated(p, watch_that_ends);
	UNTIL(p, left_rules);
	pair_close(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_that_any_answer_ends_leave_nothing),
		cmocka_unit_test(
			a_join_that_fails_half_way_gives_its_lease_back),
		cmocka_unit_test(
			a_member_of_another_fabric_refuses_and_costs_nothing),
		cmocka_unit_test(watches_that_end_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
