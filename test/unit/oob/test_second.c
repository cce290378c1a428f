/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second time: a channel that has been away, deposed and out of the fabric,
 * and is back, is, field by field, what one is to which nothing has happened.
 */
#include "oob_priv.h"
#include "pair.h"

/* All fields, and those that may differ with why. */
#define RL_OOB_SAME(X)                                                         \
	X(ready)                                                               \
	X(told_office)                                                         \
	X(queued)                                                              \
	X(store) X(stand) X(quit) X(late) X(others) X(joined) X(lost_watch)    \
		X(ranging) X(ranged_office) X(evict_rev) X(mine) X(ttl_ns)     \
			X(password) X(head) X(thread_on)
#define RL_OOB_DIFFERS(X)                                                      \
	X(p)	  /* names and fabric file of each pair's own */               \
	X(thread) /* the test's: it stops it to look */                        \
	X(lock)                                                                \
	X(office_until_ns) /* times of its own; of the ruler until_ns */       \
	X(until_ns)                                                            \
	X(away_since_ns) /* read while it is away */                           \
	X(keep_ns) /* times to do things, which the test's pause delays */     \
	X(retry_ns)                                                            \
	X(campaign_ns)                                                         \
	X(watch_ns)                                                            \
	X(tail) /* to its own head: asserted */                                \
	X(up)	/* compared by their lengths: rooms grow */                    \
	X(down)                                                                \
	X(store_epoch)	/* read with store */                                  \
	X(stored_epoch) /* the newest recipe: told to be ours when it comes */ \
	X(info)		/* compared by its own fields */                       \
	X(http)                                                                \
	X(floor)       /* grows over all lives: that is what it is for */      \
	X(me)	       /* joined again above that floor */                     \
	X(incarnation) /* of its start: another store has other revisions */   \
	X(kept)	       /* texts of the store's recipes */                      \
	X(ranged_rev)  /* read with ranged_office */                           \
	X(ranged_lease)                                                        \
	X(lease)      /* the newest */                                         \
	X(member_rev) /* revisions of its own joining and election */          \
	X(office_rev)
#define RL_OOB_INFO_SAME(X) X(away) X(refuses) X(member) X(here) X(members)
#define RL_OOB_INFO_DIFFERS(X)                                                 \
	X(office) /* texts: compared up to their ends */                       \
	X(why)                                                                 \
	X(sent) /* counts over all lives: told */                              \
	X(received)                                                            \
	X(lost)                                                                \
	X(outages)                                                             \
	X(away_ns)
#define OOB_HTTP_SAME(X)                                                       \
	X(server) X(watch) X(watch_body) X(status) X(late) X(line)
#define OOB_HTTP_DIFFERS(X)                                                    \
	X(channel) /* memory of its own */                                     \
	X(ctx)                                                                 \
	X(rest)                                                                \
	X(multi)                                                               \
	X(headers)                                                             \
	X(answer) /* of the last request; emptied before the next */           \
	X(heard)  /* set to false as a watch begins */                         \
	X(lines)  /* compared by its length: its room grows */                 \
	X(why)	  /* of the last error: read after one */
#define OOB_OUT_SAME(X) X(n)
#define OOB_OUT_DIFFERS(X)                                                     \
	X(msg) /* memory of its own */                                         \
	X(cap)

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		others += (print_error("%s of %s is another one\n", #field,    \
				       who),                                   \
			   1);
#define PART(type, used, fresh, LIST)                                          \
	do {                                                                   \
		const struct type *a = (used), *b = (fresh);                   \
                                                                               \
		LIST(CHECK)                                                    \
	} while (0)

static void
check_same(const char *who, const struct rl_oob *used,
	   const struct rl_oob *fresh)
{
	unsigned int others = 0;

	PART(rl_oob, used, fresh, RL_OOB_SAME);
	PART(rl_oob_info, &used->info, &fresh->info, RL_OOB_INFO_SAME);
	PART(oob_http, &used->http, &fresh->http, OOB_HTTP_SAME);
	PART(oob_out, &used->up, &fresh->up, OOB_OUT_SAME);
	PART(oob_out, &used->down, &fresh->down, OOB_OUT_SAME);
	assert_int_equal(others, 0);
	assert_string_equal(used->info.office, fresh->info.office);
	assert_string_equal(used->info.why, fresh->info.why);
	assert_ptr_equal(used->tail, &used->head);
	assert_int_equal(used->http.lines.len, 0);
	assert_int_equal(used->office_until_ns,
			 used->mine ? used->until_ns : 0);
	assert_int_equal(fresh->office_until_ns,
			 fresh->mine ? fresh->until_ns : 0);
}

/* A thread that does nothing while it is looked at; its watch has ended. */
static void
stop(struct rl_oob *o)
{
	pthread_mutex_lock(&o->lock);
	o->quit = true;
	pthread_mutex_unlock(&o->lock);
	oob_http_wake(&o->http);
	pthread_join(o->thread, NULL);
}

static void
go_on(struct rl_oob *o)
{
	o->quit = false;
	assert_int_equal(pthread_create(&o->thread, NULL, oob_loop, o), 0);
}

/* The left one rules, as in a pair that is new. */
static struct pair *
open_left(void)
{
	struct pair *p = pair_open_beside(1, "", ", \"http://127.0.0.1:1\"");
	char err[RL_OOB_ERR_MAX];

	UNTIL(p, left_rules);
	if (join(p, 1, err) != 0)
		fail_msg("%s", err);
	UNTIL(p, settled);
	return p;
}

static void
left_again(struct pair *p)
{
	UNTIL(p, settled);
	rl_oob_stand(p->side[1].oob, false);
	UNTIL(p, left_rules);
	rl_oob_stand(p->side[1].oob, true);
	UNTIL(p, settled);
}

static uint32_t ends; /* of rules of the left one, so far */

static bool
left_is_deposed(struct pair *p)
{
	return count(&p->side[0], RL_OOB_DEPOSED) > ends;
}

/* Forgets what has come. */
static void
forget(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		struct side *s = &p->side[i];

		for (uint32_t k = 0; k < s->n; k++)
			rl_oob_drop(s->log[k].recipe);
		s->n = 0;
	}
}

static bool
left_knows_no_office(struct pair *p)
{
	return info(p, 0).office[0] == '\0';
}

/* Each way in which a channel fails, and messages and recipes under way. */
static void
suffer(struct pair *p)
{
	static const enum fake_mood moods[] = { FAKE_CLOSES, FAKE_ERRS,
						FAKE_RAVES, FAKE_GATEWAY };
	const uint8_t none[8] = { 0 };
	const struct rl_tables_recipe r = {
		.epoch = 5, .link_out = none, .dev_out = none, .digest = 7
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(moods); i++) {
		assert_int_equal(rl_oob_store(p->side[0].oob, &r), 0);
		fake_mood(p->etcd, moods[i]);
		for (int s = 0; s < 2; s++) {
			rl_oob_send_up(p->side[s].oob, &order);
			rl_oob_send_down(p->side[s].oob, &order);
		}
		assert_int_equal(rl_oob_store(p->side[0].oob, &r), 0);
		UNTIL(p, nobody_rules);
		fake_mood(p->etcd, FAKE_WELL);
		left_again(p);
	}
	ends = count(&p->side[0], RL_OOB_DEPOSED);
	assert_true(fake_expire(p->etcd, "/reflit/members/l"));
	UNTIL(p, left_is_deposed);
	left_again(p);
	assert_true(fake_expire(p->etcd, "/reflit/members/r"));
	left_again(p);
	fake_cut_watches(p->etcd);
	left_again(p);
	/* an office without a process, which is deleted */
	fake_delete(p->etcd, "/reflit/office");
	fake_put(p->etcd, "/reflit/office", "{}", 0);
	UNTIL(p, left_knows_no_office);
	left_again(p);
	fake_wipe(p->etcd);
	UNTIL(p, nobody_rules);
	left_again(p);
}

static void
quiet(struct pair *p)
{
	forget(p);
	check_speaks(p);
	for (int s = 0; s < 2; s++)
		stop(p->side[s].oob);
	take(p);
}

static void
a_channel_that_is_back_is_as_one_that_never_failed(void **state)
{
	struct pair *used = open_left(), *fresh = open_left();

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		suffer(used);
		quiet(used);
		quiet(fresh);
		check_same("l", used->side[0].oob, fresh->side[0].oob);
		check_same("r", used->side[1].oob, fresh->side[1].oob);
		for (int s = 0; s < 2; s++) {
			go_on(used->side[s].oob);
			go_on(fresh->side[s].oob);
		}
		UNTIL(used, settled);
		UNTIL(fresh, settled);
	}
	pair_close(used);
	pair_close(fresh);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_channel_that_is_back_is_as_one_that_never_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
