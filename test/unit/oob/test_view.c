/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each key of the store means to a process [RES-1]: who is there, whose the
 * office is, which message is for it, and what of that its program is told.
 */
#include "oob_priv.h"
#include "oob_test.h"

#define MEMBER 10 /* revision that created our key */
#define LATER 99  /* ns */

static struct rl_config *cfg;
static const char *const names[] = { "l", "r" };
static struct rl_oob o;
static uint64_t incarnation; /* of the last office that was told */
static uint32_t epoch;	     /* of the last recipe that was told */

/* What both threads use is used under the lock, which is left open. */
static int held;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

int
__wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	if (m == &o.lock)
		assert_int_equal(held++, 0);
	return __real_pthread_mutex_lock(m);
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (m == &o.lock)
		assert_int_equal(held--, 1);
	return __real_pthread_mutex_unlock(m);
}

static int
begin(void **state)
{
	(void)state;
	held = 0;
	memset(&o, 0, sizeof(o));
	o.p = (struct rl_oob_params){ .channel = &cfg->channel,
				      .topo = &cfg->topo,
				      .name = names,
				      .nprocess = 2 };
	pthread_mutex_init(&o.lock, NULL);
	o.tail = &o.head;
	o.joined = true;
	o.member_rev = MEMBER;
	o.until_ns = LATER;
	return 0;
}

static int
end(void **state)
{
	(void)state;
	free(o.up.msg);
	free(o.down.msg);
	free(o.store);
	for (unsigned int i = 0; i < OOB_RECIPES; i++)
		free(o.kept[i].text);
	return o.head != NULL;
}

static void
see(const char *key, const char *value, uint64_t created, uint64_t lease)
{
	char whole[OOB_KEY_MAX];
	struct oob_kv kv = { .created = created, .lease = lease };
	char *copy = value == NULL ? NULL : strdup(value);

	snprintf(whole, sizeof(whole), "%s/%s", cfg->channel.prefix, key);
	kv.key = whole;
	kv.value = copy;
	kv.len = copy == NULL ? 0 : strlen(copy);
	oob_on_kv(&o, &kv);
	free(copy);
}

static void
see_member(const char *name, uint64_t floor, uint64_t created, uint64_t lease)
{
	const struct rl_oob_member m = {
		.floor = floor, .host = "h", .boot = "b", .pid = 1, .start = 1
	};
	char key[40], *text = rl_oob_member_text(&m);

	snprintf(key, sizeof(key), "members/%s", name);
	see(key, text, created, lease);
	free(text);
}

static void
see_office(const char *name, uint64_t member, uint64_t created, uint64_t lease)
{
	struct rl_oob_office of = { .member = member };
	char *text;

	snprintf(of.process, sizeof(of.process), "%s", name);
	text = rl_oob_office_text(&of);
	see("office", text, created, lease);
	free(text);
}

static void
see_msgs(const char *key, uint64_t ctl, uint64_t local)
{
	const struct rl_resil_msg m[] = {
		{ .type = RL_RESIL_CALL, .dev = 1, .ctl_inc = ctl },
		{ .type = RL_RESIL_HELLO, .dev = 2, .local_inc = local },
	};
	char *text = rl_oob_msgs_text(&cfg->topo, m, 2);

	see(key, text, 50, 5);
	free(text);
}

static void
see_recipe(uint32_t of)
{
	const uint8_t none[8] = { 0 };
	const struct rl_tables_recipe r = {
		.epoch = of, .link_out = none, .dev_out = none, .digest = 7
	};
	char *text = rl_oob_recipe_text(&cfg->topo, &r);

	see("tables/1", text, 60, 0);
	free(text);
}

/* A letter for each event that the program is told of. */
static void
check_told(const char *want)
{
	static const char letter[] = { [RL_OOB_MSG] = 'M',
				       [RL_OOB_RECIPE] = 'R',
				       [RL_OOB_STORED] = 'S',
				       [RL_OOB_OFFICE] = 'O',
				       [RL_OOB_DEPOSED] = 'D' };
	char told[40] = "";
	size_t n = 0;

	while (o.head != NULL) {
		struct oob_item *it = o.head;

		assert_true(n < sizeof(told) - 1);
		told[n++] = letter[it->ev.type];
		if (it->ev.type == RL_OOB_OFFICE)
			incarnation = it->ev.incarnation;
		if (it->ev.recipe != NULL) {
			epoch = it->ev.epoch;
			assert_int_equal(it->ev.recipe->r.epoch, epoch);
		}
		o.head = it->next;
		rl_oob_drop(it->ev.recipe);
		free(it);
	}
	o.tail = &o.head;
	assert_string_equal(told, want);
}

static void
check_office(const char *want, bool ours, uint64_t rev, uint64_t evict)
{
	assert_string_equal(o.info.office, want);
	assert_int_equal(o.info.here, ours);
	assert_int_equal(o.mine, ours);
	assert_int_equal(o.office_until_ns, ours ? LATER : 0);
	assert_int_equal(o.office_rev, rev);
	assert_int_equal(o.evict_rev, evict);
}

static void
members_are_those_whose_keys_have_a_lease(void **state)
{
	(void)state;
	see_member("r", 0, 11, 6);
	assert_int_equal(o.info.members, 2);
	see_member("l", 0, MEMBER, 5);
	assert_int_equal(o.info.members, 3);
	assert_true(o.joined);
	/* of another fabric file; beside the keys that we know */
	see_member("x", 0, 12, 7);
	see("members/", "{}", 12, 7);
	see("other", "{}", 12, 7);
	see("", "{}", 12, 7);
	oob_on_kv(&o, &(struct oob_kv){ .key = "/" });
	assert_int_equal(o.info.members, 3);
	assert_string_equal(o.info.why, "");
	/* without a process, not to be read, and gone */
	for (unsigned int i = 0; i < 3; i++) {
		o.info.why[0] = '\0';
		see_member("r", 0, 11, 6);
		if (i == 0)
			see_member("r", 0, 13, 0);
		else
			see("members/r", i == 1 ? "{}" : NULL, 13, 6);
		assert_int_equal(o.info.members, 1);
		assert_string_equal(o.info.why,
				    i == 2 ? ""
					   : "a member in etcd cannot be "
					     "read");
		assert_true(o.joined); /* it is not ours */
	}
	check_told("");
}

static void
we_are_out_once_our_key_is_gone_or_another_ones(void **state)
{
	(void)state;
	see_member("l", 0, MEMBER + 1, 5);
	assert_false(o.joined);
	assert_int_equal(o.info.members, 1);
	see_member("l", 0, MEMBER, 5); /* late: only joining again helps */
	assert_false(o.joined);
	o.joined = true;
	see_member("l", 0, MEMBER, 5);
	assert_true(o.joined);
	see("members/l", NULL, MEMBER, 5);
	assert_false(o.joined);
	assert_int_equal(o.info.members, 0);
}

static void
the_office_is_ours_if_it_names_our_present_life(void **state)
{
	(void)state;
	o.down.n = o.up.n = 3;
	o.store = strdup("x");
	see_office("l", MEMBER, 20, 5);
	check_told("O");
	check_office("l", true, 20, 0);
	assert_int_equal(o.up.n, 0); /* they were for another controller */
	assert_int_equal(o.down.n, 3);
	see_office("l", MEMBER, 20, 5); /* renewed */
	check_told("");
	assert_non_null(o.store);
	/* elected once more: all that was ordered before is void */
	see_office("l", MEMBER, 21, 5);
	check_told("DO");
	check_office("l", true, 21, 0);
	assert_null(o.store);
	assert_int_equal(o.down.n, 0);
	o.down.n = o.up.n = 3;
	see_office("r", MEMBER, 22, 6);
	check_told("D");
	check_office("r", false, 22, 0);
	assert_int_equal(o.down.n, 0);
	assert_int_equal(o.up.n, 3);
	/* of a life of ours before, or of one to come */
	see_office("l", MEMBER - 1, 23, 6);
	check_office("l", false, 23, 0);
	see_office("l", MEMBER + 1, 24, 6);
	check_office("l", false, 24, 0);
	o.joined = false;
	see_office("l", MEMBER, 25, 6);
	check_office("l", false, 25, 0);
	check_told("");
	o.joined = true;
	see_office("l", MEMBER, 25, 6);
	check_office("l", true, 25, 0);
	oob_view_depose(&o);
	check_told("OD");
	assert_int_equal(o.office_until_ns, 0);
	assert_false(o.mine || o.info.here);
	oob_view_depose(&o); /* it is told once */
	check_told("");
}

static void
an_office_that_no_process_holds_is_to_be_deleted(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		see_office("l", MEMBER, 30 + i, 5);
		check_office("l", true, 30 + i, 0);
		if (i == 0)
			see_office("l", MEMBER, 40, 0);
		else
			see("office", i == 1 ? "{}" : NULL, 40, 5);
		check_told("OD");
		check_office("", false, i == 2 ? 0 : 40, i == 2 ? 0 : 40);
	}
}

static void
each_office_begins_above_all_that_was_heard_of(void **state)
{
	(void)state;
	see_office("l", MEMBER, 20, 5);
	check_told("O");
	assert_true(incarnation == 20ull << 20);
	assert_true(o.floor == incarnation);
	/* those of a member, and of messages; the greatest counts */
	see_member("r", (30ull << 20) + 5, 11, 6);
	see_member("r", 7, 11, 6);
	see_office("l", MEMBER, 21, 5);
	check_told("DO");
	assert_true(incarnation == 31ull << 20);
	see_msgs("up/r", 40ull << 20, 7);
	see_office("l", MEMBER, 22, 5);
	check_told("MMDO");
	assert_true(incarnation == 41ull << 20);
	see_msgs("up/r", 7, (51ull << 20) - 1);
	see_office("l", MEMBER, 23, 5);
	check_told("MMDO");
	assert_true(incarnation == 51ull << 20);
	see_office("l", MEMBER, 60, 5);
	check_told("DO");
	assert_true(incarnation == 60ull << 20);
	assert_true(o.floor == incarnation);
	oob_view_depose(&o);
	check_told("D");
}

static void
messages_are_for_the_controller_or_for_our_devices(void **state)
{
	static const struct {
		const char *key;
		const char *told[2]; /* without the office, and with it */
	} rows[] = { { "up/r", { "", "MM" } }, { "up/l", { "", "" } },
		     { "up/x", { "", "MM" } }, { "down/l", { "MM", "" } },
		     { "down/r", { "", "" } }, { "down", { "", "" } },
		     { "up", { "", "" } },     { "u/r", { "", "" } } };

	(void)state;
	for (unsigned int ours = 0; ours < 2; ours++) {
		o.mine = ours;
		for (size_t i = 0; i < RL_ARRAY_SIZE(rows); i++) {
			see_msgs(rows[i].key, 1, 1);
			check_told(rows[i].told[ours]);
			see(rows[i].key, NULL, 50, 5);
			see(rows[i].key, "{\"version\": 1, \"messages\": []}",
			    50, 5);
			assert_string_equal(o.info.why, "");
			see(rows[i].key, "{}", 50, 5);
			assert_string_equal(o.info.why,
					    rows[i].told[ours][0] == '\0'
						    ? ""
						    : "messages in etcd cannot "
						      "be read");
			check_told("");
			o.info.why[0] = '\0';
		}
	}
	o.mine = false;
}

static void
a_recipe_is_ours_if_we_have_stored_it(void **state)
{
	(void)state;
	for (unsigned int ours = 0; ours < 2; ours++) {
		o.mine = ours;
		o.stored_epoch = 8;
		see_recipe(8);
		check_told(ours ? "S" : "R");
		assert_int_equal(epoch, 8);
		see_recipe(9);
		check_told("R");
		assert_int_equal(epoch, 9);
	}
	see("tables/8", NULL, 60, 0);
	assert_string_equal(o.info.why, "");
	see("tables/8", "{}", 60, 0);
	assert_string_equal(o.info.why,
			    "a recipe of tables in etcd cannot be read");
	check_told("");
	o.mine = false;
}

static void
of_a_whole_range_the_office_is_read_last(void **state)
{
	(void)state;
	o.info.members = 0x82;
	for (unsigned int i = 0; i < 2; i++) {
		oob_view_begin(&o);
		assert_int_equal(o.info.members, 0);
		see_office("l", MEMBER, 20, 5);
		check_told("");
		see_member("r", 70ull << 20, 11, 6);
		see_member("l", 0, MEMBER, 5);
		see_recipe(9);
		oob_view_end(&o);
		check_told(i == 0 ? "RO" : "R");
		check_office("l", true, 20, 0);
		assert_int_equal(o.info.members, 3);
	}
	assert_true(incarnation == 71ull << 20); /* above the member's */
	/* as it is: without a lease, of another, or not there */
	oob_view_begin(&o);
	see_member("l", 0, MEMBER, 5);
	see_office("l", MEMBER, 20, 0);
	oob_view_end(&o);
	check_told("D");
	check_office("", false, 20, 20);
	oob_view_begin(&o);
	see_member("l", 0, MEMBER, 5);
	oob_view_end(&o);
	check_office("", false, 0, 0);
	assert_true(o.joined);
	/* of two the later one */
	oob_view_begin(&o);
	see_office("l", MEMBER, 24, 5);
	see_office("r", MEMBER, 25, 6);
	see_member("l", 0, MEMBER, 5);
	oob_view_end(&o);
	check_office("r", false, 25, 0);
	/* it does not name us: we are out, and have no office */
	oob_view_begin(&o);
	see_office("l", MEMBER, 26, 5);
	see_member("r", 0, 11, 6);
	oob_view_end(&o);
	assert_false(o.joined);
	check_office("l", false, 26, 0);
	see_office("l", MEMBER, 26, 5); /* after a range at once */
	check_office("l", false, 26, 0);
	check_told("");
}

/* @return the letter of what the program gets; 0: nothing */
static int
next(void)
{
	struct rl_oob_event ev;

	return rl_oob_event(&o, &ev) ? "MRSOD"[ev.type] : 0;
}

static void
a_lease_that_has_ended_deposes_once_whatever_is_told(void **state)
{
	const struct rl_oob_event office = { .type = RL_OOB_OFFICE };
	const struct rl_oob_event gone = { .type = RL_OOB_DEPOSED };
	const struct rl_oob_event msg = { .type = RL_OOB_MSG };

	(void)state;
	assert_false(rl_oob_ready(&o));
	assert_int_equal(next(), 0);
	o.office_until_ns = UINT64_MAX;
	oob_push(&o, &msg);
	oob_push(&o, &office);
	assert_true(rl_oob_ready(&o));
	assert_int_equal(o.queued, 2);
	assert_int_equal(next(), 'M');
	assert_true(rl_oob_ready(&o));
	assert_int_equal(next(), 'O');
	assert_false(rl_oob_ready(&o));
	assert_int_equal(o.queued, 0);
	assert_int_equal(next(), 0);
	/* by the store; our clock has nothing to add */
	oob_push(&o, &gone);
	oob_push(&o, &msg);
	assert_int_equal(next(), 'D');
	assert_int_equal(next(), 'M');
	assert_int_equal(next(), 0);
	/* by our clock first: before all that waits; the store's is old news */
	o.office_until_ns = UINT64_MAX;
	oob_push(&o, &office);
	assert_int_equal(next(), 'O');
	o.office_until_ns = 1;
	assert_true(rl_oob_ready(&o));
	oob_push(&o, &gone);
	oob_push(&o, &gone);
	oob_push(&o, &msg);
	assert_int_equal(next(), 'D');
	assert_int_equal(next(), 'M');
	assert_int_equal(next(), 0);
	assert_false(rl_oob_ready(&o));
	oob_push(&o, &gone); /* and alone */
	assert_int_equal(next(), 0);
}

static void
what_has_no_room_is_dropped_and_counted_but_no_change_of_office(void **state)
{
	const struct rl_oob_event msg = { .type = RL_OOB_MSG };
	const struct rl_oob_event office = { .type = RL_OOB_OFFICE };

	(void)state;
	for (uint32_t i = 0; i < OOB_IN_MAX + 2; i++)
		oob_push(&o, &msg);
	assert_int_equal(o.queued, OOB_IN_MAX);
	assert_int_equal(o.info.received, OOB_IN_MAX);
	assert_int_equal(o.info.lost, 2);
	oob_push(&o, &office);
	assert_int_equal(o.queued, OOB_IN_MAX + 1);
	assert_int_equal(o.info.received, OOB_IN_MAX);
	assert_int_equal(o.info.lost, 2);
	o.office_until_ns = UINT64_MAX;
	for (uint32_t i = 0; i < OOB_IN_MAX; i++)
		assert_int_equal(next(), 'M');
	assert_int_equal(next(), 'O');
	oob_push(&o, &msg);
	assert_int_equal(o.info.received, OOB_IN_MAX + 1);
	assert_int_equal(next(), 'M');
}

static void
outages_are_counted_and_their_times_added(void **state)
{
	struct rl_oob_info info;

	(void)state;
	oob_away(&o, false, false);
	oob_away(&o, false, true);
	rl_oob_info(&o, &info);
	assert_false(info.away || info.refuses);
	assert_int_equal(info.outages, 0);
	assert_int_equal(info.away_ns, 0);
	for (unsigned int i = 1; i < 3; i++) {
		oob_away(&o, true, false);
		o.away_since_ns -= 5000000000;
		oob_away(&o, true, true); /* the same outage */
		assert_true(o.info.refuses);
		rl_oob_info(&o, &info);
		assert_true(info.away);
		assert_int_equal(info.outages, i);
		assert_true(info.away_ns / 5000000000 == 2 * i - 1);
		o.away_since_ns -= 5000000000;
		rl_oob_info(&o, &info); /* up to now */
		assert_true(info.away_ns / 5000000000 == 2 * i);
		assert_true(o.info.away_ns / 5000000000 == 2 * i - 1);
		oob_away(&o, false, true);
		rl_oob_info(&o, &info);
		assert_false(info.away || info.refuses);
		assert_true(info.away_ns / 5000000000 == 2 * i);
	}
}

static int
setup(void **state)
{
	(void)state;
	cfg = oob_config("");
	strcpy(cfg->channel.prefix, "/reflit");
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	oob_config_drop(cfg);
	return 0;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(members_are_those_whose_keys_have_a_lease),
		CASE(we_are_out_once_our_key_is_gone_or_another_ones),
		CASE(the_office_is_ours_if_it_names_our_present_life),
		CASE(an_office_that_no_process_holds_is_to_be_deleted),
		CASE(each_office_begins_above_all_that_was_heard_of),
		CASE(messages_are_for_the_controller_or_for_our_devices),
		CASE(a_recipe_is_ours_if_we_have_stored_it),
		CASE(of_a_whole_range_the_office_is_read_last),
		CASE(a_lease_that_has_ended_deposes_once_whatever_is_told),
		CASE(what_has_no_room_is_dropped_and_counted_but_no_change_of_office),
		CASE(outages_are_counted_and_their_times_added),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
