/* SPDX-License-Identifier: BSD-3-Clause */
/* Which endpoints were away, from what endpoints say of each other [EP-6]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "absence.h"

#define N 5

static struct rl_topo_dev dev[N];
static uint32_t ep_dev[N];
static struct rl_topo topo;
static struct absences a;
static bool no_memory;

/* The linker leads calls of realloc() here. */
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *
__wrap_realloc(void *p, size_t size)
{
	return no_memory ? NULL : __real_realloc(p, size);
}

static int
setup(void **state)
{
	(void)state;
	memset(&a, 0, sizeof(a));
	memset(&topo, 0, sizeof(topo));
	for (unsigned int i = 0; i < N; i++) {
		dev[i].name[0] = 'e';
		dev[i].name[1] = (char)('0' + i);
		ep_dev[i] = i;
	}
	topo.dev = dev;
	topo.ep_dev = ep_dev;
	topo.nep = N;
	return 0;
}

/** @p ep finds @p peer again. */
static void
claim_end(uint16_t ep, uint16_t peer, uint64_t since_ns, uint64_t until_ns)
{
	absences_add(&a, &(struct rl_ep_event){
				 .t_ns = until_ns,
				 .since_ns = since_ns,
				 .ep = ep,
				 .peer = peer,
				 .kind = RL_EP_EV_REACHABLE,
			 });
}

/** @p ep finds @p peer away; @p until_ns 0: for good */
static void
claim(uint16_t ep, uint16_t peer, uint64_t since_ns, uint64_t until_ns)
{
	absences_add(&a, &(struct rl_ep_event){
				 .t_ns = since_ns,
				 .ep = ep,
				 .peer = peer,
				 .kind = RL_EP_EV_UNREACHABLE,
			 });
	if (until_ns != 0)
		claim_end(ep, peer, since_ns, until_ns);
}

/** The same, as a host tells it that left out @p out_ns meanwhile. */
static void
claim_late(uint16_t ep, uint16_t peer, uint64_t since_ns, uint64_t until_ns,
	   uint64_t out_ns)
{
	claim(ep, peer, since_ns, 0);
	absences_add(&a, &(struct rl_ep_event){
				 .t_ns = until_ns,
				 .since_ns = since_ns + out_ns,
				 .ep = ep,
				 .peer = peer,
				 .kind = RL_EP_EV_REACHABLE,
			 });
}

static void
expect(const char *text)
{
	json_t *list = absences_json(&a, &topo, 0);
	char *got = json_dumps(list, JSON_COMPACT);

	assert_string_equal(got, text);
	free(got);
	json_decref(list);
	absences_free(&a);
}

static void
without_accusers_there_is_no_absence(void **state)
{
	(void)state;
	absences_add(&a, &(struct rl_ep_event){ .kind = RL_EP_EV_HELD });
	expect("[]");
}

static void
one_that_is_cut_off_is_named_and_not_those_it_misses(void **state)
{
	(void)state;
	for (uint16_t i = 1; i < N; i++) {
		claim(i, 0, 100 + i, 0);
		claim(0, i, 90 + i, 0);
	}
	expect("[{\"endpoint\":\"e0\",\"since_ns\":101,\"until_ns\":0}]");
}

static void
an_absence_lasts_from_its_first_to_its_last_accuser(void **state)
{
	(void)state;
	claim(1, 0, 100, 500);
	claim(2, 0, 200, 700);
	claim(3, 0, 2000, 2100);
	expect("[{\"endpoint\":\"e0\",\"since_ns\":100,\"until_ns\":700},"
	       "{\"endpoint\":\"e0\",\"since_ns\":2000,\"until_ns\":2100}]");
}

static void
an_absence_that_one_accuser_has_not_ended_lasts(void **state)
{
	(void)state;
	claim(1, 0, 100, 500);
	claim(2, 0, 200, 0);
	claim(3, 0, 300, 400);
	claim(1, 2, 9, 11);
	claim(3, 2, 10, 13);
	expect("[{\"endpoint\":\"e2\",\"since_ns\":9,\"until_ns\":13},"
	       "{\"endpoint\":\"e0\",\"since_ns\":100,\"until_ns\":0}]");
}

/* The claim of a later endpoint may be the older one. */
static void
several_accusers_are_all_and_one_is_itself(void **state)
{
	struct absence_claim *out;
	uint32_t n;

	(void)state;
	claim(1, 0, 200, 500);
	claim(2, 0, 100, 300);
	claim(3, 4, 700, 800);
	claim(3, 4, 790, 900);
	out = absences_list(&a, &topo, &n);
	assert_int_equal(n, 2);
	assert_int_equal(out[0].peer, 0);
	assert_int_equal(out[0].ep, RL_EP_ALL);
	assert_int_equal(out[0].since_ns, 100);
	assert_int_equal(out[0].until_ns, 500);
	assert_int_equal(out[1].peer, 4);
	assert_int_equal(out[1].ep, 3);
	assert_int_equal(out[1].since_ns, 700);
	assert_int_equal(out[1].until_ns, 900);
	free(out);
	absences_free(&a);
}

/* Ends come in another order than begins. */
static void
each_accuser_ends_its_own_claim(void **state)
{
	(void)state;
	claim(1, 0, 100, 0);
	claim(2, 0, 110, 0);
	claim(3, 0, 120, 0);
	claim_end(2, 0, 110, 300);
	claim_end(1, 0, 100, 200);
	claim_end(3, 0, 120, 400);
	claim(1, 0, 500, 600);
	assert_int_equal(a.n, 8);
	expect("[{\"endpoint\":\"e0\",\"since_ns\":100,\"until_ns\":400},"
	       "{\"endpoint\":\"e0\",\"since_ns\":500,\"until_ns\":600}]");
}

static void
what_lies_behind_the_last_claim_is_none(void **state)
{
	(void)state;
	claim(1, 2, 100, 200);
	claim(1, 2, 300, 400);
	claim(1, 0, 100, 0);
	claim(2, 0, 100, 0);
	a.n = 1;
	assert_int_equal(absences_over(&a, 1, 2, 50, 1000), 1000);
	a.n = 2;
	assert_int_equal(absences_over(&a, 1, 2, 50, 1000), 200);
	assert_int_equal(absences_over(&a, 2, 0, 50, 1000), 50);
	a.n = 1; /* what ended it lies behind */
	absences_crash(&a, 1, 600);
	assert_int_equal(a.n, 2);
	expect("[{\"endpoint\":\"e2\",\"since_ns\":100,\"until_ns\":600}]");
}

static void
an_event_without_memory_is_counted(void **state)
{
	(void)state;
	no_memory = true;
	claim(1, 2, 100, 200);
	no_memory = false;
	assert_int_equal(a.n, 0);
	assert_int_equal(a.lost, 2);
	claim(1, 2, 300, 0);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.lost, 2);
	absences_free(&a);
	assert_int_equal(a.lost, 0);
}

/* Others miss the same one, and go on to do so. */
static void
a_crash_ends_the_claims_of_one_alone(void **state)
{
	(void)state;
	claim(1, 4, 100, 0);
	claim(2, 4, 110, 0);
	claim(1, 3, 120, 0);
	absences_crash(&a, 1, 500);
	assert_int_equal(a.n, 5);
	assert_int_equal(absences_over(&a, 1, 4, 50, 900), 500);
	assert_int_equal(absences_over(&a, 2, 4, 50, 900), 900);
	expect("[{\"endpoint\":\"e4\",\"since_ns\":100,\"until_ns\":0},"
	       "{\"endpoint\":\"e3\",\"since_ns\":120,\"until_ns\":500}]");
}

static void
times_count_from_the_start(void **state)
{
	json_t *list;
	char *got;

	(void)state;
	claim(1, 0, 100, 200);
	claim(1, 2, 150, 0);
	list = absences_json(&a, &topo, 40);
	got = json_dumps(list, JSON_COMPACT);
	assert_string_equal(
		got, "[{\"endpoint\":\"e0\",\"since_ns\":60,\"until_ns\":160},"
		     "{\"endpoint\":\"e2\",\"since_ns\":110,\"until_ns\":0}]");
	free(got);
	json_decref(list);
	absences_free(&a);
}

static void
two_that_accuse_each_other_are_both_named(void **state)
{
	(void)state;
	claim(0, 1, 50, 0);
	claim(1, 0, 60, 0);
	expect("[{\"endpoint\":\"e1\",\"since_ns\":50,\"until_ns\":0},"
	       "{\"endpoint\":\"e0\",\"since_ns\":60,\"until_ns\":0}]");
}

static void
silence_during_an_absence_counts_from_its_end(void **state)
{
	(void)state;
	claim(1, 2, 100, 200);
	claim(1, 3, 300, 0);
	claim(1, 2, 250, 280);
	assert_int_equal(absences_over(&a, 1, 2, 50, 90), 50);
	assert_int_equal(absences_over(&a, 1, 2, 50, 150), 150);
	assert_int_equal(absences_over(&a, 1, 2, 150, 220), 200);
	assert_int_equal(absences_over(&a, 1, 2, 150, 290), 280);
	assert_int_equal(absences_over(&a, 1, 2, 200, 240), 200);
	/* of another flow, and the other way */
	assert_int_equal(absences_over(&a, 2, 1, 50, 290), 50);
	assert_int_equal(absences_over(&a, 1, 3, 50, 90), 50);
	/* one that lasts has no end yet, until it is told once more */
	assert_int_equal(absences_over(&a, 1, 3, 50, 400), 400);
	claim(1, 3, 300, 350);
	assert_int_equal(absences_over(&a, 1, 3, 50, 400), 350);
	absences_free(&a);
}

static void
what_was_said_at_another_time_does_not_count(void **state)
{
	(void)state;
	for (uint16_t i = 1; i < N; i++)
		claim(i, 0, 100, 200);
	claim(0, 1, 1000, 1100);
	expect("[{\"endpoint\":\"e0\",\"since_ns\":100,\"until_ns\":200},"
	       "{\"endpoint\":\"e1\",\"since_ns\":1000,\"until_ns\":1100}]");
}

static void
an_end_that_names_another_begin_ends_it_all_the_same(void **state)
{
	(void)state;
	claim_late(1, 0, 100, 500, 30);
	claim_late(1, 0, 600, 700, 0);
	claim_late(2, 0, 120, 450, 1000);
	expect("[{\"endpoint\":\"e0\",\"since_ns\":100,\"until_ns\":500},"
	       "{\"endpoint\":\"e0\",\"since_ns\":600,\"until_ns\":700}]");
}

static void
what_an_endpoint_claimed_ends_when_it_crashes(void **state)
{
	(void)state;
	claim(1, 0, 100, 200); /* an end that was told stays */
	claim(1, 0, 300, 0);
	claim(1, 2, 350, 0);
	claim(2, 3, 350, 0);   /* of another one */
	absences_crash(&a, 1, 500);
	absences_crash(&a, 1, 600); /* nothing is left to end */
	claim(1, 0, 700, 0);   /* and it may claim the same in its next life */
	claim(1, 2, 700, 800);
	expect("[{\"endpoint\":\"e0\",\"since_ns\":100,\"until_ns\":200},"
	       "{\"endpoint\":\"e0\",\"since_ns\":300,\"until_ns\":500},"
	       "{\"endpoint\":\"e2\",\"since_ns\":350,\"until_ns\":500},"
	       "{\"endpoint\":\"e3\",\"since_ns\":350,\"until_ns\":0},"
	       "{\"endpoint\":\"e0\",\"since_ns\":700,\"until_ns\":0},"
	       "{\"endpoint\":\"e2\",\"since_ns\":700,\"until_ns\":800}]");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_accusers_there_is_no_absence,
				       setup),
		cmocka_unit_test_setup(
			one_that_is_cut_off_is_named_and_not_those_it_misses,
			setup),
		cmocka_unit_test_setup(
			an_absence_lasts_from_its_first_to_its_last_accuser,
			setup),
		cmocka_unit_test_setup(
			an_absence_that_one_accuser_has_not_ended_lasts, setup),
		cmocka_unit_test_setup(several_accusers_are_all_and_one_is_itself, setup),
		cmocka_unit_test_setup(each_accuser_ends_its_own_claim, setup),
		cmocka_unit_test_setup(what_lies_behind_the_last_claim_is_none,
				       setup),
		cmocka_unit_test_setup(an_event_without_memory_is_counted,
				       setup),
		cmocka_unit_test_setup(a_crash_ends_the_claims_of_one_alone,
				       setup),
		cmocka_unit_test_setup(times_count_from_the_start, setup),
		cmocka_unit_test_setup(
			two_that_accuse_each_other_are_both_named, setup),
		cmocka_unit_test_setup(
			silence_during_an_absence_counts_from_its_end, setup),
		cmocka_unit_test_setup(
			what_was_said_at_another_time_does_not_count, setup),
		cmocka_unit_test_setup(
			an_end_that_names_another_begin_ends_it_all_the_same,
			setup),
		cmocka_unit_test_setup(
			what_an_endpoint_claimed_ends_when_it_crashes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
