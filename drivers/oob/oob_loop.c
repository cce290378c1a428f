/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The channel's thread. It gives signs of life, stands for election if the
 * office is free, writes messages, and watches. Each request blocks: for
 * milliseconds, or a second if no server answers.
 *
 * When the lease may have ended, the thread gives up the office before another
 * process can have it: at the time of the last sign of life, plus the lease. No
 * clock is compared with another.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oob_priv.h"

#define RETRY_NS (200 * RL_NS_PER_MS)
#define WAIT_MS 100
/**
 * etcd answers a watch at once, also if there is nothing to tell. One that has no
 * answer for so long was lost on its way: it would be silent for ever.
 */
#define WATCH_NS (2 * RL_NS_PER_S)

static void
fail(struct rl_oob *o)
{
	o->retry_ns = oob_now() + RETRY_NS;
}

/* No longer a member: our keys are gone, or will be. */
static void
fall_out(struct rl_oob *o)
{
	oob_view_depose(o);
	oob_http_watch_end(&o->http);
	o->joined = false;
	pthread_mutex_lock(&o->lock);
	o->info.member = false;
	o->info.members = 0;
	o->info.office[0] = '\0';
	o->up.n = 0;
	pthread_mutex_unlock(&o->lock);
}

static void
rejoin(struct rl_oob *o)
{
	char err[RL_OOB_ERR_MAX];

	fall_out(o);
	if (oob_join(o, false, err) == 0)
		return;
	if (!o->info.away)
		oob_why(o, err);
	fail(o);
}

/* Reads all keys, and from then on changes. */
static void
begin_watch(struct rl_oob *o)
{
	char key[OOB_KEY_MAX];
	struct oob_answer a;
	int ret;

	o->lost_watch = false;
	oob_key(o, key, "", "");
	oob_view_begin(o);
	ret = oob_ask(o, "/v3/kv/range", oob_range_body(key), &a, oob_on_kv,
		      o);
	if (ret != 0) {
		o->ranging = false;
		fail(o);
		return;
	}
	oob_view_end(o);
	if (oob_http_watch(&o->http, oob_watch_body(key, a.revision + 1)) != 0)
		fail(o);
	o->watch_ns = oob_now() + WATCH_NS;
}

static void
sign_of_life(struct rl_oob *o)
{
	const uint64_t sent_ns = oob_now();
	struct oob_answer a;
	int ret = oob_ask(o, "/v3/lease/keepalive", oob_lease_body(o->lease),
			  &a, NULL, NULL);

	if (ret != 0) {
		fail(o);
		return;
	}
	/* the lease has ended; or may have, and our keys may be another's */
	if (a.ttl_s == 0 || sent_ns >= o->until_ns) {
		rejoin(o);
		return;
	}
	o->until_ns = sent_ns + o->ttl_ns;
	o->keep_ns = sent_ns + o->ttl_ns / 3;
	if (o->mine)
		atomic_store_explicit(&o->office_until_ns, o->until_ns,
				      memory_order_relaxed);
}

/*
 * The watch shows the winner of an election; a losing attempt changes nothing.
 */
static void
campaign(struct rl_oob *o)
{
	struct rl_oob_office of = { .member = o->member_rev };
	char key[OOB_KEY_MAX];
	struct oob_answer a;
	struct oob_txn t;
	char *text;

	o->campaign_ns = oob_now() + RETRY_NS;
	snprintf(of.process, sizeof(of.process), "%s",
		 o->p.name[o->p.process]);
	text = rl_oob_office_text(&of);
	if (text == NULL)
		return;
	oob_txn_begin(&t);
	oob_txn_if_created(&t, oob_key(o, key, "office", ""), 0);
	oob_txn_put(&t, key, text, o->lease);
	oob_txn_if_created(&t,
			   oob_key(o, key, "members/",
				   o->p.name[o->p.process]),
			   o->member_rev);
	free(text);
	if (oob_ask_txn(o, &t, &a) != 0)
		fail(o);
}

/* Deletes an office that no process holds, so that elections go on. */
static void
evict_office(struct rl_oob *o)
{
	const uint64_t rev = o->evict_rev;
	char key[OOB_KEY_MAX];

	o->evict_rev = 0;
	if (oob_evict(o, oob_key(o, key, "office", ""), rev) != 0) {
		o->evict_rev = rev;
		fail(o);
	}
}

/* Gives up the office, so that others can have it. */
static void
resign(struct rl_oob *o)
{
	char key[OOB_KEY_MAX], end[OOB_KEY_MAX + 1];
	struct oob_answer a;
	struct oob_txn t;

	oob_txn_begin(&t);
	oob_txn_if_created(&t, oob_key(o, key, "office", ""), o->office_rev);
	snprintf(end, sizeof(end), "%s0", key);
	oob_txn_delete_range(&t, key, end);
	oob_view_depose(o);
	if (oob_ask_txn(o, &t, &a) != 0)
		fail(o);
}

static uint32_t
take(struct oob_out *out, struct rl_resil_msg *m, uint32_t n)
{
	n = rl_min_u32(n, out->n);
	if (n == 0)
		return 0;
	memcpy(m, out->msg, n * sizeof(*m));
	out->n -= n;
	memmove(out->msg, out->msg + n, out->n * sizeof(*m));
	return n;
}

static void
count(struct rl_oob *o, uint32_t n, bool written)
{
	pthread_mutex_lock(&o->lock);
	if (written)
		o->info.sent += n;
	else
		o->info.lost += n;
	pthread_mutex_unlock(&o->lock);
}

/* Messages of local controllers. Without a controller they are dropped. */
static void
write_up(struct rl_oob *o, struct rl_resil_msg *m)
{
	char key[OOB_KEY_MAX];
	struct oob_answer a;
	struct oob_txn t;
	uint32_t n;
	char *text;

	pthread_mutex_lock(&o->lock);
	n = take(&o->up, m, RL_OOB_MSGS_MAX);
	pthread_mutex_unlock(&o->lock);
	if (n == 0 || o->office_rev == 0 || o->mine)
		return;
	text = rl_oob_msgs_text(o->p.topo, m, n);
	if (text == NULL)
		return;
	oob_txn_begin(&t);
	oob_txn_if_created(&t,
			   oob_key(o, key, "members/",
				   o->p.name[o->p.process]),
			   o->member_rev);
	oob_txn_put(&t, oob_key(o, key, "up/", o->p.name[o->p.process]), text,
		    o->lease);
	free(text);
	if (oob_ask_txn(o, &t, &a) != 0)
		fail(o);
	count(o, n, a.succeeded);
}

static uint32_t
process_of(const struct rl_oob *o, const struct rl_resil_msg *m)
{
	return o->p.dev_process == NULL ? 0 : o->p.dev_process[m->dev];
}

/* Packs consecutive messages to one process into one text. */
static void
put_down(struct rl_oob *o, struct oob_txn *t, const struct rl_resil_msg *m,
	 uint32_t n, uint32_t process, struct rl_resil_msg *part)
{
	char key[OOB_KEY_MAX];
	uint32_t k = 0;
	char *text;

	for (uint32_t i = 0; i < n; i++)
		if (process_of(o, &m[i]) == process)
			part[k++] = m[i];
	if (k == 0)
		return;
	text = rl_oob_msgs_text(o->p.topo, part, k);
	if (text != NULL)
		oob_txn_put(t, oob_key(o, key, "down/", o->p.name[process]),
			    text, o->lease);
	free(text);
}

static const char *
recipe_key(const struct rl_oob *o, char *buf, uint32_t epoch)
{
	char name[16];

	snprintf(name, sizeof(name), "%010" PRIu32, epoch);
	return oob_key(o, buf, "tables/", name);
}

static void
put_recipe(struct rl_oob *o, struct oob_txn *t, const char *text,
	   uint32_t epoch)
{
	char from[OOB_KEY_MAX], to[OOB_KEY_MAX];

	if (epoch > OOB_RECIPES)
		oob_txn_delete_range(t, oob_key(o, from, "tables/", ""),
				     recipe_key(o, to, epoch - OOB_RECIPES));
	oob_txn_put(t, recipe_key(o, from, epoch), text, 0);
}

/*
 * Recipes that the store had, and has no more: it lost its data, or a process
 * that started took ours for that of a fabric before. Devices have tables of
 * them, so one that begins anew must find them.
 */
static bool
put_back(struct rl_oob *o)
{
	char key[OOB_KEY_MAX];

	for (uint32_t i = 0; i < OOB_RECIPES; i++) {
		struct oob_kept *k = &o->kept[i];
		struct oob_answer a;
		struct oob_txn t;

		if (k->text == NULL || k->there)
			continue;
		oob_txn_begin(&t);
		oob_txn_if_created(&t, oob_key(o, key, "members/",
					       o->p.name[o->p.process]),
				   o->member_rev);
		oob_txn_if_created(&t, recipe_key(o, key, k->epoch), 0);
		oob_txn_put(&t, key, k->text, 0);
		if (oob_ask_txn(o, &t, &a) != 0) {
			fail(o);
			return false;
		}
		k->there = true; /* another process may have been faster */
	}
	return true;
}

/* Messages of the controller, and its recipe, if it still is the controller. */
static void
write_down(struct rl_oob *o, struct rl_resil_msg *m, struct rl_resil_msg *part)
{
	char key[OOB_KEY_MAX];
	struct oob_answer a;
	struct oob_txn t;
	uint32_t n, epoch;
	char *recipe;

	pthread_mutex_lock(&o->lock);
	n = take(&o->down, m, RL_OOB_MSGS_MAX);
	recipe = o->store;
	epoch = o->store_epoch;
	o->store = NULL;
	/* the watch may be faster than the answer */
	if (recipe != NULL)
		o->stored_epoch = epoch;
	pthread_mutex_unlock(&o->lock);
	if ((n == 0 && recipe == NULL) || !o->mine) {
		free(recipe);
		return;
	}
	oob_txn_begin(&t);
	oob_txn_if_created(&t, oob_key(o, key, "office", ""), o->office_rev);
	for (uint32_t p = 0; p < o->p.nprocess; p++)
		put_down(o, &t, m, n, p, part);
	if (recipe != NULL)
		put_recipe(o, &t, recipe, epoch);
	if (oob_ask_txn(o, &t, &a) != 0) {
		fail(o);
		/* retry; writing it twice is harmless */
		pthread_mutex_lock(&o->lock);
		if (o->store == NULL) {
			o->store = recipe;
			recipe = NULL;
		}
		pthread_mutex_unlock(&o->lock);
	}
	free(recipe);
	count(o, n, a.succeeded);
}

struct todo {
	bool quit;
	bool stand;
	bool up;
	bool down;
};

static struct todo
look(struct rl_oob *o)
{
	struct todo d;

	pthread_mutex_lock(&o->lock);
	d = (struct todo){ .quit = o->quit,
			   .stand = o->stand,
			   .up = o->up.n != 0,
			   .down = o->down.n != 0 || o->store != NULL };
	pthread_mutex_unlock(&o->lock);
	return d;
}

/* One round. Pauses for a moment after a failure. */
static void
work(struct rl_oob *o, const struct todo *d, struct rl_resil_msg *m)
{
	const uint64_t now_ns = oob_now();

	if (o->joined && now_ns >= o->until_ns)
		fall_out(o);
	if (now_ns < o->retry_ns)
		return;
	if (!o->joined)
		rejoin(o);
	else if (now_ns >= o->keep_ns)
		sign_of_life(o);
	if (!o->http.heard && now_ns >= o->watch_ns)
		oob_http_watch_end(&o->http);
	if (o->joined && o->http.watch == NULL)
		begin_watch(o);
	if (!o->joined || o->http.watch == NULL || !put_back(o))
		return;
	if (o->evict_rev != 0)
		evict_office(o);
	if (o->mine && !d->stand)
		resign(o);
	else if (o->office_rev == 0 && d->stand && now_ns >= o->campaign_ns)
		campaign(o);
	if (d->down)
		write_down(o, m, m + RL_OOB_MSGS_MAX);
	if (d->up)
		write_up(o, m);
}

/* How long the thread may sleep, unless woken. */
static int
pause_ms(const struct rl_oob *o, const struct todo *d)
{
	const uint64_t now_ns = oob_now();
	uint64_t due_ns = o->keep_ns;

	if ((d->up || d->down) && now_ns >= o->retry_ns)
		return 0;
	if (o->retry_ns > now_ns || o->http.watch == NULL)
		due_ns = o->retry_ns;
	if (due_ns <= now_ns)
		return 1;
	return (int)rl_min_u64(WAIT_MS, (due_ns - now_ns) / RL_NS_PER_MS + 1);
}

void *
oob_loop(void *ctx)
{
	struct rl_oob *o = ctx;
	struct rl_resil_msg *m = calloc(2 * RL_OOB_MSGS_MAX, sizeof(*m));
	struct todo d = look(o);
	sigset_t all;

	/* signals go to the control thread, SIGPIPE to none */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (m != NULL && !d.quit) {
		work(o, &d, m);
		d = look(o);
		if (!oob_http_wait(&o->http, d.quit ? 0 : pause_ms(o, &d)) ||
		    o->lost_watch) {
			/* a watch that ends at once is not restarted
			   immediately */
			if (o->http.watch != NULL && !o->http.heard)
				fail(o);
			oob_http_watch_end(&o->http);
			o->lost_watch = false;
		}
		d = look(o);
	}
	oob_http_watch_end(&o->http);
	free(m);
	return NULL;
}
