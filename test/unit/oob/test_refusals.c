/* SPDX-License-Identifier: BSD-3-Clause */
/* An etcd that refuses, and keys in it that no process wrote [RES-1]. */
#include "oob_priv.h"
#include "pair.h"

/*
 * What a process says of its channel changes under the lock alone: between an
 * unlock and the next lock it stays as it is.
 */
static struct watched {
	struct rl_oob *oob; /* NULL: none is watched */
	struct rl_oob_info last;
	bool seen;
	unsigned int changes; /* without the lock */
} watched;

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

static bool
is_watched(const pthread_mutex_t *m)
{
	struct rl_oob *o = __atomic_load_n(&watched.oob, __ATOMIC_SEQ_CST);

	return o != NULL && m == &o->lock;
}

int
__wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	const int ret = __real_pthread_mutex_lock(m);

	if (is_watched(m) && watched.seen)
		watched.changes += memcmp(&watched.last, &watched.oob->info,
					  sizeof(watched.last)) != 0;
	return ret;
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (is_watched(m)) {
		watched.last = watched.oob->info;
		watched.seen = true;
	}
	return __real_pthread_mutex_unlock(m);
}

static bool
etcd_is_away(struct pair *p)
{
	return info(p, 0).away && info(p, 1).away;
}

static bool
etcd_is_back(struct pair *p)
{
	return !info(p, 0).away && !info(p, 1).away && settled(p);
}

/* An answer that is an error is no answer: the store is away, and why. */
static void
an_etcd_that_answers_with_errors_is_away(void **state)
{
	static const struct {
		enum fake_mood mood;
		const char *why;
	} c[] = {
		{ FAKE_ERRS, "no leader" },
		{ FAKE_ERRS_NEW, "no leader" },
		{ FAKE_RAVES, "(HTTP 200)" },
		{ FAKE_EMPTY, "not one of an etcd" },
		{ FAKE_GATEWAY, "(HTTP 502)" },
	};
	struct pair *p = pair_open(2);

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(c); i++) {
		UNTIL(p, etcd_is_back);
		fake_mood(p->etcd, c[i].mood);
		UNTIL(p, etcd_is_away);
		assert_true(info(p, 0).refuses);
		if (strstr(info(p, 0).why, c[i].why) == NULL)
			fail_msg("row %zu: %s", i, info(p, 0).why);
		fake_mood(p->etcd, FAKE_WELL);
	}
	UNTIL(p, etcd_is_back);
	check_speaks(p);
	pair_close(p);
}

static void
an_etcd_that_says_nothing_is_away(void **state)
{
	struct pair *p = pair_open(2);

	(void)state;
	UNTIL(p, settled);
	fake_mood(p->etcd, FAKE_SILENT);
	UNTIL(p, etcd_is_away);
	assert_false(info(p, 0).refuses);
	assert_non_null(strstr(info(p, 0).why, "time"));
	fake_mood(p->etcd, FAKE_WELL);
	UNTIL(p, etcd_is_back);
	check_speaks(p);
	pair_close(p);
}

/* One that a proxy took and lost would be silent for ever. */
static void
a_watch_without_an_answer_is_begun_again(void **state)
{
	struct pair *p = pair_open(2);

	(void)state;
	UNTIL(p, settled);
	fake_lose(p->etcd, "/v3/watch");
	fake_cut_watches(p->etcd);
	usleep(300000); /* in which they begin again, in vain */
	assert_int_equal(fake_watches(p->etcd), 0);
	fake_lose(p->etcd, NULL);
	check_speaks(p);
	pair_close(p);
}

static bool
some_are_lost(struct pair *p)
{
	struct rl_resil_msg up = order;

	up.type = RL_RESIL_STATUS;
	rl_oob_send_up(p->side[1].oob, &up);
	return info(p, 1).lost != 0;
}

static void
what_a_channel_says_of_itself_changes_under_its_lock(void **state)
{
	struct pair *p = pair_open(1);
	char err[RL_OOB_ERR_MAX];

	(void)state;
	UNTIL(p, left_rules);
	assert_int_equal(join(p, 1, err), 0);
	__atomic_store_n(&watched.oob, p->side[1].oob, __ATOMIC_SEQ_CST);
	UNTIL(p, settled);
	check_speaks(p);
	assert_true(info(p, 1).sent != 0);
	fake_refuse(p->etcd, "/v3/kv/txn");
	UNTIL(p, some_are_lost);
	fake_refuse(p->etcd, NULL);
	UNTIL(p, settled);
	__atomic_store_n(&watched.oob, NULL, __ATOMIC_SEQ_CST);
	assert_true(watched.seen);
	assert_int_equal(watched.changes, 0);
	pair_close(p);
}

#define PASSWORD "hush-hush"

static const char *
password_file(void)
{
	static char path[] = "/tmp/oob-password-XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0 && dprintf(fd, PASSWORD "\n") > 0);
	close(fd);
	return path;
}

/* However a token is refused, the next one is asked for. */
static void
a_token_that_is_refused_is_renewed(void **state)
{
	static const enum fake_refusal how[] = { FAKE_OLD, FAKE_DENIED,
						 FAKE_INVALID, FAKE_401 };
	const char *path = password_file();
	struct pair *p;
	char user[120];

	(void)state;
	snprintf(user, sizeof(user),
		 "etcd_user = \"u\"; "
		 "etcd_password_file = \"%s\";",
		 path);
	p = pair_open_with(2, user);
	for (size_t i = 0; i < RL_ARRAY_SIZE(how); i++) {
		UNTIL(p, settled);
		fake_new_tokens(p->etcd, how[i]);
		check_speaks(p);
		assert_false(info(p, 0).away);
	}
	fake_mood(p->etcd, FAKE_ECHO);
	UNTIL(p, etcd_is_away);
	assert_null(strstr(info(p, 0).why, PASSWORD));
	pair_close(p);
	unlink(path);
}

/* Before anything is asked of a server. */
static void
a_password_file_without_a_password_is_refused(void **state)
{
	char path[] = "/tmp/reflit-test-XXXXXX", err[RL_OOB_ERR_MAX];
	struct rl_config *cfg = oob_config("");
	struct rl_channel channel = cfg->channel;
	const char *const name = "l";
	const struct rl_oob_params p = { .channel = &channel,
					 .topo = &cfg->topo,
					 .name = &name,
					 .nprocess = 1 };
	const int fd = mkstemp(path);
	struct rl_oob *none;

	(void)state;
	assert_true(fd >= 0);
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(channel.password_file, sizeof(channel.password_file),
			 "%s", i == 0 ? "/nowhere/x" : path);
		assert_int_equal(rl_oob_open(&p, &none, err), -EINVAL);
		assert_null(none);
		assert_non_null(strstr(
			err, i == 0   ? "etcd_password_file /nowhere/x: No such"
			     : i == 1 ? ": it is empty"
				      : ""));
		/* what stands behind its first line is no password */
		if (i == 1)
			assert_int_equal(write(fd, "\nhush\n", 6), 6);
	}
	close(fd);
	unlink(path);
	oob_config_drop(cfg);
}

/*
 * A key that no process wrote is no office and no member: no process waits for
 * it.
 */
static void
keys_without_a_process_behind_them_are_deleted(void **state)
{
	static const struct {
		const char *text;
		uint64_t lease;
	} office[] = {
		{ "x", 0 },
		{ "x", 999 },
		{ "", 0 },
		{ "{\"version\":1,\"process\":\"r\",\"member\":1}", 0 },
	};
	struct pair *p = pair_open(1);
	char err[RL_OOB_ERR_MAX];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(office); i++) {
		UNTIL(p, left_rules);
		fake_put(p->etcd, "/reflit/office", office[i].text,
			 office[i].lease);
		UNTIL(p, nobody_rules);
	}
	UNTIL(p, left_rules);
	fake_put(p->etcd, "/reflit/members/r", "x", 0);
	fake_put(p->etcd, "/reflit/members/r.2", "x", 0);
	if (join(p, 1, err) != 0)
		fail_msg("%s", err);
	UNTIL(p, settled);
	check_speaks(p);
	assert_int_equal(fake_count(p->etcd, "/reflit/members/"), 2);
	pair_close(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_etcd_that_answers_with_errors_is_away),
		cmocka_unit_test(an_etcd_that_says_nothing_is_away),
		cmocka_unit_test(a_watch_without_an_answer_is_begun_again),
		cmocka_unit_test(
			what_a_channel_says_of_itself_changes_under_its_lock),
		cmocka_unit_test(a_token_that_is_refused_is_renewed),
		cmocka_unit_test(a_password_file_without_a_password_is_refused),
		cmocka_unit_test(
			keys_without_a_process_behind_them_are_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
