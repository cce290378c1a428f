/* SPDX-License-Identifier: BSD-3-Clause */
/* Which endpoints were away, from what endpoints say of each other [EP-6]. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "absence.h"

#define N 5

static struct rl_topo_dev dev[N];
static uint32_t ep_dev[N];
static struct rl_topo topo;
static struct absences a;

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
		absences_add(&a, &(struct rl_ep_event){
					 .t_ns = until_ns,
					 .since_ns = since_ns,
					 .ep = ep,
					 .peer = peer,
					 .kind = RL_EP_EV_REACHABLE,
				 });
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
		cmocka_unit_test_setup(without_accusers_there_is_no_absence, setup),
		cmocka_unit_test_setup(one_that_is_cut_off_is_named_and_not_those_it_misses, setup),
		cmocka_unit_test_setup(an_absence_lasts_from_its_first_to_its_last_accuser, setup),
		cmocka_unit_test_setup(two_that_accuse_each_other_are_both_named, setup),
		cmocka_unit_test_setup(silence_during_an_absence_counts_from_its_end, setup),
		cmocka_unit_test_setup(what_was_said_at_another_time_does_not_count, setup),
		cmocka_unit_test_setup(an_end_that_names_another_begin_ends_it_all_the_same, setup),
		cmocka_unit_test_setup(what_an_endpoint_claimed_ends_when_it_crashes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
