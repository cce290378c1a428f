/* SPDX-License-Identifier: BSD-3-Clause */
/* The channel between two processes, with an etcd that does as it is told:
   elections, and who may write [RES-1]. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fake_etcd.h"
#include "oob_test.h"

#define PATIENCE_NS (20 * RL_NS_PER_S) /* for a busy machine */
#define LOG_MAX 256

/* One of the two processes: its channel, and all that it was told. */
struct side {
	struct rl_oob *oob;
	struct rl_oob_event log[LOG_MAX];
	uint32_t n;
	uint64_t incarnation; /* of the controller here; 0: none is here */
};

struct pair {
	struct rl_config *cfg;
	struct fake_etcd *etcd;
	struct side side[2];
};

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

static int
join(struct pair *p, int i, char *err)
{
	static const char *const name[] = { "l", "r" };
	const struct rl_oob_params op = {
		.channel = &p->cfg->channel,
		.topo = &p->cfg->topo,
		.dev_process = p->cfg->dev_process,
		.name = name,
		.nprocess = 2,
		.process = (uint32_t)i,
		.digest = rl_config_digest(p->cfg),
		.diff = rl_config_digest_diff,
	};

	p->side[i].n = 0;
	p->side[i].incarnation = 0;
	return rl_oob_open(&op, &p->side[i].oob, err);
}

static struct pair *
pair_open_with(int sides, const char *user)
{
	struct pair *p = calloc(1, sizeof(*p));
	char more[200], err[RL_OOB_ERR_MAX];

	assert_non_null(p);
	p->etcd = fake_start();
	snprintf(more, sizeof(more), "controller: { etcd = [\"%s\"]; %s };",
		 fake_url(p->etcd), user);
	if (user[0] != '\0')
		fake_new_tokens(p->etcd, FAKE_INVALID);
	p->cfg = oob_config(more);
	for (int i = 0; i < sides; i++)
		if (join(p, i, err) != 0)
			fail_msg("%s", err);
	return p;
}

static struct pair *
pair_open(int sides)
{
	return pair_open_with(sides, "");
}

static void
side_drop(struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		rl_oob_drop(s->log[i].recipe);
	rl_oob_close(s->oob);
	s->oob = NULL;
	s->n = 0;
}

static void
pair_close(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		side_drop(&p->side[i]);
	fake_stop(p->etcd);
	oob_config_drop(p->cfg);
	free(p);
}

/* Takes what both were told. */
static void
take(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		struct side *s = &p->side[i];

		while (s->oob != NULL && s->n < LOG_MAX &&
		       rl_oob_event(s->oob, &s->log[s->n])) {
			const struct rl_oob_event *ev = &s->log[s->n++];

			if (ev->type == RL_OOB_OFFICE)
				s->incarnation = ev->incarnation;
			if (ev->type == RL_OOB_DEPOSED)
				s->incarnation = 0;
		}
	}
}

typedef bool (*cond_fn)(struct pair *p);

static void
say(struct pair *p, const char *what)
{
	for (int i = 0; i < 2; i++) {
		struct rl_oob_info in = { .why = "not there" };

		if (p->side[i].oob != NULL)
			rl_oob_info(p->side[i].oob, &in);
		print_error("%c: away %d, member %d, office \"%s\", rules %d, "
			    "members %x, %s\n", "lr"[i], in.away, in.member,
			    in.office, p->side[i].incarnation != 0,
			    (unsigned int)in.members, in.why);
	}
	fail_msg("never: %s", what);
}

static void
until(struct pair *p, cond_fn cond, const char *what)
{
	const uint64_t end_ns = now_ns() + PATIENCE_NS;

	while (take(p), !cond(p)) {
		if (now_ns() > end_ns)
			say(p, what);
		usleep(2000);
	}
}
#define UNTIL(p, cond) until(p, cond, #cond)

static bool
left_rules(struct pair *p)
{
	return p->side[0].incarnation != 0 && p->side[1].incarnation == 0;
}

static bool
right_rules(struct pair *p)
{
	return p->side[1].incarnation != 0 && p->side[0].incarnation == 0;
}

static bool
one_rules(struct pair *p)
{
	return left_rules(p) || right_rules(p);
}

static struct rl_oob_info
info(struct pair *p, int i)
{
	struct rl_oob_info in;

	rl_oob_info(p->side[i].oob, &in);
	return in;
}

/* Both see both, and who has the office. */
static bool
settled(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		const struct rl_oob_info in = info(p, i);

		if (in.away || in.members != 3 || in.office[0] == '\0')
			return false;
	}
	return one_rules(p);
}

static bool
both_away(struct pair *p)
{
	return info(p, 0).away && info(p, 1).away;
}

static bool
nobody_rules(struct pair *p)
{
	return p->side[0].incarnation + p->side[1].incarnation == 0;
}

static uint32_t
count(const struct side *s, enum rl_oob_event_type type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->log[i].type == type;
	return n;
}

static uint32_t
both(const struct pair *p, enum rl_oob_event_type type)
{
	return count(&p->side[0], type) + count(&p->side[1], type);
}

/* Device 0 is s0, of l; device 1 is s1, of r. */
static const struct rl_resil_msg order = { .version = RL_RESIL_VERSION,
					   .type = RL_RESIL_ORDER, .dev = 1 };

/* A message from ruler to ruled and back arrives. */
static void
check_speaks(struct pair *p)
{
	struct rl_resil_msg down = order, up = order;
	const uint64_t end_ns = now_ns() + PATIENCE_NS;

	down.seq = up.seq = now_ns();
	up.type = RL_RESIL_STATUS;
	for (bool d = false, u = false; !d || !u;) {
		const int at = left_rules(p) ? 0 : 1;

		down.dev = up.dev = (uint32_t)(1 - at);
		if (now_ns() > end_ns)
			fail_msg("not heard: down %d, up %d", d, u);
		/* may be lost, and is said again */
		rl_oob_send_down(p->side[at].oob, &down);
		rl_oob_send_up(p->side[1 - at].oob, &up);
		for (int i = 0; i < 50 && (!d || !u); i++) {
			usleep(2000);
			take(p);
			for (int s = 0; s < 2; s++)
				for (uint32_t k = 0; k < p->side[s].n; k++) {
					const struct rl_oob_event *ev =
						&p->side[s].log[k];

					if (ev->type != RL_OOB_MSG ||
					    ev->msg.seq != down.seq)
						continue;
					d = d || (s == 1 - at &&
						  ev->msg.type == down.type);
					u = u || (s == at &&
						  ev->msg.type == up.type);
				}
		}
		for (int s = 0; s < 2; s++)
			if (p->side[s].n > LOG_MAX / 2)
				p->side[s].n = 0; /* no recipes here */
	}
}

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
who_leaves_takes_its_keys_along_and_another_is_elected(void **state)
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
whose_lease_ends_is_deposed_and_joins_again(void **state)
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

/* Both see it free at the same time; nobody ever takes it from another. */
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

/* It believes that it rules, and another does: what it says, nobody gets. */
static void
who_was_deposed_and_does_not_know_it_can_write_nothing(void **state)
{
	struct pair *p = pair_open(1);
	const uint8_t none[8] = { 0 };
	const struct rl_tables_recipe r = { .epoch = 5, .link_out = none,
					    .dev_out = none, .digest = 7 };
	uint64_t lost;

	(void)state;
	UNTIL(p, left_rules);
	fake_mute_watches(p->etcd);
	/* somebody else takes the office, and l hears nothing of it */
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
		/* the keys are there still: nobody tells us but our clock */
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
a_recipe_reaches_all_and_who_comes_late(void **state)
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
a_watch_that_ends_begins_anew_and_misses_nothing(void **state)
{
	struct pair *p = pair_open(2);

	(void)state;
	UNTIL(p, settled);
	for (int i = 0; i < 5; i++) {
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
	/* one that somebody has heard of: it has begun anew many times */
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
who_does_not_stand_is_not_elected(void **state)
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
		{ FAKE_ERRS, "no leader" },  { FAKE_ERRS_NEW, "no leader" },
		{ FAKE_RAVES, "(HTTP 200)" }, { FAKE_EMPTY, "not one of an etcd" },
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
	snprintf(user, sizeof(user), "etcd_user = \"u\"; "
		 "etcd_password_file = \"%s\";", path);
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

/* What no process wrote is no office and no member: nobody waits for it. */
static void
keys_without_a_process_behind_them_are_deleted(void **state)
{
	static const struct {
		const char *text;
		uint64_t lease;
	} office[] = {
		{ "x", 0 }, { "x", 999 }, { "", 0 },
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
		cmocka_unit_test(one_is_elected_and_the_other_hears_it),
		cmocka_unit_test(who_leaves_takes_its_keys_along_and_another_is_elected),
		cmocka_unit_test(whose_lease_ends_is_deposed_and_joins_again),
		cmocka_unit_test(of_two_that_stand_at_once_one_is_elected),
		cmocka_unit_test(who_was_deposed_and_does_not_know_it_can_write_nothing),
		cmocka_unit_test(an_etcd_that_does_not_answer_ends_the_rule_before_the_lease_does),
		cmocka_unit_test(a_recipe_reaches_all_and_who_comes_late),
		cmocka_unit_test(a_watch_that_ends_begins_anew_and_misses_nothing),
		cmocka_unit_test(numbers_grow_on_when_the_store_has_lost_its_data),
		cmocka_unit_test(who_does_not_stand_is_not_elected),
		cmocka_unit_test(no_etcd_is_one_line_and_nothing_is_left_behind),
		cmocka_unit_test(an_etcd_that_answers_with_errors_is_away),
		cmocka_unit_test(a_token_that_is_refused_is_renewed),
		cmocka_unit_test(keys_without_a_process_behind_them_are_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
