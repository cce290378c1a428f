/* SPDX-License-Identifier: BSD-3-Clause */
/* The channel between two processes, with an etcd that does as it is told:
   elections, and who may write [RES-1]. */
#include "pair.h"

static void
one_is_elected_and_the_other_hears_it(void **state)
{
	struct pair *p = pair_open(2);
	struct rl_oob_info first;

	(void)state;
	UNTIL(p, settled);
	assert_false(rl_oob_joined_others(p->side[0].oob));
	assert_true(rl_oob_joined_others(p->side[1].oob));
	first = info(p, 0);
	assert_string_equal(first.office, info(p, 1).office);
	assert_true(rl_oob_incarnation(p->side[1].oob) >
		    rl_oob_incarnation(p->side[0].oob));
	check_speaks(p);
	pair_close(p);
}

static void
a_process_that_leaves_removes_its_keys_and_another_is_elected(void **state)
{
	struct pair *p = pair_open(2);
	int at;

	(void)state;
	UNTIL(p, settled);
	at = left_rules(p) ? 0 : 1;
	side_drop(&p->side[at]);
	p->side[at].incarnation = 0;
	UNTIL(p, one_rules);
	assert_int_equal(fake_count(p->etcd, "/reflit/members/"), 1);
	fake_put(p->etcd, "/reflit/tables/0000000003", "{}", 0);
	side_drop(&p->side[1 - at]);
	assert_int_equal(fake_count(p->etcd, ""), 0);
	pair_close(p);
}

static void
a_process_whose_lease_ends_is_deposed_and_joins_again(void **state)
{
	struct pair *p = pair_open(2);
	uint64_t highest = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		UNTIL(p, settled);
		for (int s = 0; s < 2; s++) {
			if (p->side[s].incarnation == 0)
				continue;
			/* no controller ever bears a number twice */
			assert_true(p->side[s].incarnation > highest);
			highest = p->side[s].incarnation;
		}
		assert_true(fake_expire(p->etcd, left_rules(p)
							 ? "/reflit/members/l"
							 : "/reflit/members/"
							   "r"));
		UNTIL(p, one_rules);
		check_speaks(p);
	}
	assert_true(highest != 0);
	pair_close(p);
}

/* Both see it free at the same time; neither ever takes it from the other. */
static void
of_two_that_stand_at_once_one_is_elected(void **state)
{
	struct pair *p = pair_open(2);

	(void)state;
	for (uint32_t i = 1; i <= 20; i++) {
		UNTIL(p, settled);
		assert_int_equal(both(p, RL_OOB_OFFICE), i);
		fake_delete(p->etcd, "/reflit/office");
		for (const uint64_t end_ns = now_ns() + PATIENCE_NS;
		     both(p, RL_OOB_DEPOSED) < i; take(p))
			assert_true(now_ns() < end_ns);
	}
	pair_close(p);
}

/* It believes that it rules, but another does: no process gets its orders. */
static void
a_deposed_process_can_write_nothing(void **state)
{
	struct pair *p = pair_open(1);
	const uint8_t none[8] = { 0 };
	const struct rl_tables_recipe r = { .epoch = 5, .link_out = none,
					    .dev_out = none, .digest = 7 };
	uint64_t lost;

	(void)state;
	UNTIL(p, left_rules);
	fake_mute_watches(p->etcd);
	/* another process takes the office, and l does not hear of it */
	assert_true(fake_expire(p->etcd, "/reflit/office"));
	fake_put(p->etcd, "/reflit/office",
		 "{\"version\":1,\"process\":\"r\",\"member\":1}", 999);
	assert_true(left_rules(p));
	lost = info(p, 0).lost;
	rl_oob_send_down(p->side[0].oob, &order);
	assert_int_equal(rl_oob_store(p->side[0].oob, &r), 0);
	while (info(p, 0).lost == lost && left_rules(p)) {
		usleep(2000);
		take(p);
	}
	assert_int_equal(fake_count(p->etcd, "/reflit/down/"), 0);
	assert_int_equal(fake_count(p->etcd, "/reflit/tables/"), 0);
	/* and its lease tells it in the end */
	UNTIL(p, nobody_rules);
	pair_close(p);
}

static void
an_etcd_that_does_not_answer_ends_the_rule_before_the_lease_does(void **state)
{
	static const enum fake_mood moods[] = { FAKE_CLOSES, FAKE_ERRS,
						FAKE_RAVES };
	struct pair *p = pair_open(2);

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(moods); i++) {
		UNTIL(p, settled);
		fake_mood(p->etcd, moods[i]);
		/* the keys are still there: only our own clock tells */
		UNTIL(p, nobody_rules);
		assert_int_equal(fake_count(p->etcd, "/reflit/office"), 1);
		if (moods[i] == FAKE_CLOSES)
			UNTIL(p, both_away);
		fake_mood(p->etcd, FAKE_WELL);
		UNTIL(p, settled);
		check_speaks(p);
	}
	pair_close(p);
}

static bool
left_stored(struct pair *p)
{
	return count(&p->side[0], RL_OOB_STORED) != 0;
}

static bool
right_has_recipe(struct pair *p)
{
	return count(&p->side[1], RL_OOB_RECIPE) != 0;
}

static void
a_recipe_reaches_all_and_late_comers(void **state)
{
	struct pair *p = pair_open(1);
	const uint8_t link_out[4] = { 0, 1, 0, 0 }, dev_out[4] = { 0 };
	const struct rl_tables_recipe r = { .epoch = 5, .link_out = link_out,
					    .dev_out = dev_out, .digest = 7 };
	char err[RL_OOB_ERR_MAX];

	(void)state;
	UNTIL(p, left_rules);
	assert_int_equal(rl_oob_store(p->side[0].oob, &r), 0);
	UNTIL(p, left_stored);
	assert_int_equal(fake_count(p->etcd, "/reflit/tables/0000000005"), 1);
	assert_int_equal(join(p, 1, err), 0);
	UNTIL(p, right_has_recipe);
	for (uint32_t i = 0; i < p->side[1].n; i++) {
		const struct rl_oob_event *ev = &p->side[1].log[i];

		if (ev->type != RL_OOB_RECIPE)
			continue;
		assert_int_equal(ev->epoch, 5);
		assert_int_equal(ev->recipe->r.digest, 7);
		assert_memory_equal(ev->recipe->r.link_out, link_out, 4);
	}
	pair_close(p);
}

static void
check_same(struct pair *p, const char *key, const char *want)
{
	char *text = fake_get(p->etcd, key);

	assert_string_equal(text, want);
	free(text);
}

static bool
both_have(struct pair *p, uint32_t n)
{
	return both(p, RL_OOB_STORED) == n && both(p, RL_OOB_RECIPE) == n;
}

static bool
both_have_one(struct pair *p)
{
	return both_have(p, 1);
}

static bool
both_have_two(struct pair *p)
{
	return both_have(p, 2);
}

static bool
two_stored(struct pair *p)
{
	return fake_count(p->etcd, "/reflit/tables/00000000") == 2;
}

/* Devices have tables of them: one that begins anew must find them. */
static void
recipes_that_the_store_has_lost_are_put_back(void **state)
{
	struct pair *p = pair_open(2);
	const uint8_t link_out[4] = { 0, 1, 0, 0 }, dev_out[4] = { 0 };
	struct rl_tables_recipe r = { .epoch = 5, .link_out = link_out,
				      .dev_out = dev_out, .digest = 7 };
	char *text;

	(void)state;
	UNTIL(p, settled);
	for (uint32_t n = 1; n <= 2; n++, r.epoch = 9) {
		const int at = left_rules(p) ? 0 : 1;

		assert_int_equal(rl_oob_store(p->side[at].oob, &r), 0);
		UNTIL(p, n == 1 ? both_have_one : both_have_two);
	}
	text = fake_get(p->etcd, "/reflit/tables/0000000005");
	fake_wipe(p->etcd);
	UNTIL(p, nobody_rules);
	UNTIL(p, two_stored);
	check_same(p, "/reflit/tables/0000000005", text);
	/* also by one that never had the office: it alone is left */
	side_drop(&p->side[left_rules(p) ? 0 : 1]);
	fake_wipe(p->etcd);
	UNTIL(p, two_stored);
	check_same(p, "/reflit/tables/0000000005", text);
	free(text);
	pair_close(p);
}

/* A member says who it is; and while one server answers, no other is asked. */
static void
a_member_is_this_process_at_the_server_that_answers(void **state)
{
	struct fake_etcd *other = fake_start();
	struct rl_oob_member m;
	char host[256] = "", others[80], *value;
	struct pair *p;

	(void)state;
	snprintf(others, sizeof(others), ", \"%s\"", fake_url(other));
	p = pair_open_beside(2, "", others);
	UNTIL(p, settled);
	check_speaks(p);
	assert_int_equal(fake_requests(other), 0);
	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	value = fake_get(p->etcd, "/reflit/members/l");
	assert_non_null(value);
	assert_int_equal(rl_oob_member_read(value, strlen(value), &m), 0);
	free(value);
	assert_string_equal(m.host, host);
	assert_int_equal(m.pid, getpid());
	assert_int_not_equal(m.start, 0);
	assert_true(strlen(m.boot) > 36);
	pair_close(p);
	fake_stop(other);
}

static bool
both_watch(struct pair *p)
{
	return fake_watches(p->etcd) == 2;
}

static void
a_watch_that_ends_restarts_and_misses_nothing(void **state)
{
	struct pair *p = pair_open(2);

	(void)state;
	UNTIL(p, settled);
	for (int i = 0; i < 5; i++) {
		UNTIL(p, both_watch);
		fake_cut_watches(p->etcd);
		UNTIL(p, settled);
		check_speaks(p);
	}
	pair_close(p);
}

static void
numbers_grow_on_when_the_store_has_lost_its_data(void **state)
{
	struct pair *p = pair_open(2);
	uint64_t ctl, local;
	struct rl_resil_msg m = order;
	char err[RL_OOB_ERR_MAX];

	(void)state;
	UNTIL(p, settled);
	ctl = rl_max_u64(p->side[0].incarnation, p->side[1].incarnation);
	/* one that others have seen: it has restarted many times */
	local = ctl + (77ull << 20);
	m.type = RL_RESIL_STATUS;
	m.dev = left_rules(p) ? 1 : 0;
	m.local_inc = local;
	rl_oob_send_up(p->side[m.dev].oob, &m);
	check_speaks(p);
	fake_wipe(p->etcd);
	UNTIL(p, nobody_rules);
	UNTIL(p, settled);
	assert_true(rl_max_u64(p->side[0].incarnation,
			       p->side[1].incarnation) > local);
	/* and one start's are not those of the next, either */
	for (int i = 0; i < 2; i++) {
		side_drop(&p->side[1]);
		assert_int_equal(join(p, 1, err), 0);
		assert_true(rl_oob_incarnation(p->side[1].oob) > local);
		local = rl_oob_incarnation(p->side[1].oob);
	}
	UNTIL(p, settled);
	check_speaks(p);
	pair_close(p);
}

static void
a_process_that_does_not_stand_is_not_elected(void **state)
{
	struct pair *p = pair_open(2);
	int at;

	(void)state;
	UNTIL(p, settled);
	for (int i = 0; i < 3; i++) {
		at = left_rules(p) ? 0 : 1;
		rl_oob_stand(p->side[at].oob, false);
		UNTIL(p, at == 0 ? right_rules : left_rules);
		check_speaks(p);
		rl_oob_stand(p->side[at].oob, true);
	}
	pair_close(p);
}

static void
no_etcd_is_one_line_and_nothing_is_left_behind(void **state)
{
	static const enum fake_mood moods[] = { FAKE_CLOSES, FAKE_ERRS,
						FAKE_RAVES, FAKE_ERRS_NEW,
						FAKE_EMPTY, FAKE_GATEWAY,
						FAKE_ECHO };
	struct pair *p = pair_open(0);
	char err[RL_OOB_ERR_MAX];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(moods); i++) {
		fake_mood(p->etcd, moods[i]);
		assert_int_equal(join(p, 0, err), moods[i] == FAKE_CLOSES
							  ? -EHOSTUNREACH
							  : -EPERM);
		assert_null(strchr(err, '\n'));
		assert_non_null(strstr(err, "etcd"));
		assert_null(p->side[0].oob);
	}
	assert_int_equal(fake_count(p->etcd, ""), 0);
	pair_close(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_elected_and_the_other_hears_it),
		cmocka_unit_test(a_process_that_leaves_removes_its_keys_and_another_is_elected),
		cmocka_unit_test(a_process_whose_lease_ends_is_deposed_and_joins_again),
		cmocka_unit_test(of_two_that_stand_at_once_one_is_elected),
		cmocka_unit_test(a_deposed_process_can_write_nothing),
		cmocka_unit_test(an_etcd_that_does_not_answer_ends_the_rule_before_the_lease_does),
		cmocka_unit_test(a_recipe_reaches_all_and_late_comers),
		cmocka_unit_test(recipes_that_the_store_has_lost_are_put_back),
		cmocka_unit_test(
			a_member_is_this_process_at_the_server_that_answers),
		cmocka_unit_test(a_watch_that_ends_restarts_and_misses_nothing),
		cmocka_unit_test(numbers_grow_on_when_the_store_has_lost_its_data),
		cmocka_unit_test(a_process_that_does_not_stand_is_not_elected),
		cmocka_unit_test(no_etcd_is_one_line_and_nothing_is_left_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
