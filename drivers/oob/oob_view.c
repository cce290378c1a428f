/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Interprets the watched keys. They come in the order of their revisions, first
 * by a range, then by a watch. This file never queries the store: the loop
 * does, from what is noted here.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oob_priv.h"

/* Index of a process by its name; nprocess: not in this fabric. */
static uint32_t
process_of(const struct rl_oob *o, const char *name)
{
	uint32_t i = 0;

	while (i < o->p.nprocess && strcmp(o->p.name[i], name) != 0)
		i++;
	return i;
}

static void
note_floor(struct rl_oob *o, uint64_t floor)
{
	pthread_mutex_lock(&o->lock);
	o->floor = rl_max_u64(o->floor, floor);
	pthread_mutex_unlock(&o->lock);
}

static void
on_member(struct rl_oob *o, const char *name, const struct oob_kv *kv)
{
	const uint32_t i = process_of(o, name);
	struct rl_oob_member m;
	bool there;

	if (i == o->p.nprocess)
		return;
	/* a key without a lease has no process behind it */
	there = kv->value != NULL && kv->lease != 0 &&
		rl_oob_member_read(kv->value, kv->len, &m) == 0;
	if (there)
		note_floor(o, m.floor);
	else if (kv->value != NULL)
		oob_why(o, "a member in etcd cannot be read");
	pthread_mutex_lock(&o->lock);
	if (there)
		o->info.members |= 1ull << i;
	else
		o->info.members &= ~(1ull << i);
	pthread_mutex_unlock(&o->lock);
	/* our lease has ended, or another process assumed so */
	if (i == o->p.process &&
	    (kv->value == NULL || kv->created != o->member_rev))
		o->joined = false;
}

static void
note_office(struct rl_oob *o, const char *name, bool here)
{
	pthread_mutex_lock(&o->lock);
	snprintf(o->info.office, sizeof(o->info.office), "%s", name);
	o->info.here = here;
	pthread_mutex_unlock(&o->lock);
}

void
oob_view_depose(struct rl_oob *o)
{
	const struct rl_oob_event ev = { .type = RL_OOB_DEPOSED };

	atomic_store_explicit(&o->office_until_ns, 0, memory_order_relaxed);
	if (!o->mine)
		return;
	o->mine = false;
	oob_push(o, &ev);
	pthread_mutex_lock(&o->lock);
	free(o->store);
	o->store = NULL;
	o->down.n = 0;
	o->info.here = false;
	pthread_mutex_unlock(&o->lock);
}

/* The office is ours: we have seen all that was written before. */
static void
take_office(struct rl_oob *o)
{
	struct rl_oob_event ev = { .type = RL_OOB_OFFICE };

	pthread_mutex_lock(&o->lock);
	ev.incarnation = rl_max_u64(o->office_rev << 20,
				    (o->floor | (INCARNATIONS - 1)) + 1);
	o->floor = rl_max_u64(o->floor, ev.incarnation);
	o->up.n = 0; /* messages to the previous controller */
	pthread_mutex_unlock(&o->lock);
	o->mine = true;
	atomic_store_explicit(&o->office_until_ns, o->until_ns,
			      memory_order_relaxed);
	oob_push(o, &ev);
}

static void
on_office(struct rl_oob *o, const struct oob_kv *kv)
{
	struct rl_oob_office of = { 0 };
	bool ours;

	if (o->ranging) {
		/* handled after the rest of the range */
		free(o->ranged_office);
		o->ranged_office = strdup(kv->value);
		o->ranged_rev = kv->created;
		o->ranged_lease = kv->lease;
		return;
	}
	o->evict_rev = 0;
	if (kv->value == NULL || kv->lease == 0 ||
	    rl_oob_office_read(kv->value, kv->len, &of) != 0) {
		/* gone; or not tied to a process, so that it would never end */
		oob_view_depose(o);
		o->office_rev = kv->value == NULL ? 0 : kv->created;
		o->evict_rev = o->office_rev;
		note_office(o, "", false);
		return;
	}
	ours = strcmp(of.process, o->p.name[o->p.process]) == 0 &&
	       of.member == o->member_rev && o->joined;
	if (!ours || kv->created != o->office_rev)
		oob_view_depose(o);
	o->office_rev = kv->created;
	if (ours && !o->mine)
		take_office(o);
	note_office(o, of.process, ours);
}

/* The store has the recipe of an epoch: put it back if it loses it. */
static void
keep(struct rl_oob *o, uint32_t epoch, const struct oob_kv *kv)
{
	struct oob_kept *k = &o->kept[epoch % OOB_RECIPES];

	if (k->text != NULL && k->epoch > epoch)
		return;
	free(k->text);
	*k = (struct oob_kept){ .text = strndup(kv->value, kv->len),
				.epoch = epoch, .there = true };
}

static void
on_tables(struct rl_oob *o, const struct oob_kv *kv)
{
	struct rl_oob_event ev = { .type = RL_OOB_RECIPE };

	if (kv->value == NULL)
		return;
	ev.recipe = malloc(sizeof(*ev.recipe));
	if (ev.recipe == NULL)
		return;
	if (rl_oob_recipe_read(o->p.topo, kv->value, kv->len, ev.recipe) != 0) {
		oob_why(o, "a recipe of tables in etcd cannot be read");
		free(ev.recipe);
		return;
	}
	ev.epoch = ev.recipe->r.epoch;
	keep(o, ev.epoch, kv);
	/* our own write comes back: the store has it */
	pthread_mutex_lock(&o->lock);
	if (o->mine && o->stored_epoch == ev.epoch)
		ev.type = RL_OOB_STORED;
	pthread_mutex_unlock(&o->lock);
	oob_push(o, &ev);
}

static void
on_msgs(struct rl_oob *o, const struct oob_kv *kv)
{
	struct rl_resil_msg *m;
	int n;

	if (kv->value == NULL)
		return;
	m = malloc(RL_OOB_MSGS_MAX * sizeof(*m));
	n = m == NULL ? 0
		      : rl_oob_msgs_read(o->p.topo, kv->value, kv->len, m);
	if (n < 0)
		oob_why(o, "messages in etcd cannot be read");
	for (int i = 0; i < n; i++) {
		const struct rl_oob_event ev = { .type = RL_OOB_MSG,
						 .msg = m[i] };

		note_floor(o, rl_max_u64(m[i].ctl_inc, m[i].local_inc));
		oob_push(o, &ev);
	}
	free(m);
}

void
oob_on_kv(void *ctx, const struct oob_kv *kv)
{
	struct rl_oob *o = ctx;
	const size_t skip = strlen(o->p.channel->prefix) + 1;
	const char *me = o->p.name[o->p.process];
	const char *key = kv->key;

	if (strlen(key) < skip)
		return;
	key += skip;
	if (strncmp(key, "members/", 8) == 0)
		on_member(o, key + 8, kv);
	else if (strcmp(key, "office") == 0)
		on_office(o, kv);
	else if (strncmp(key, "tables/", 7) == 0)
		on_tables(o, kv);
	else if (strncmp(key, "up/", 3) == 0 && o->mine &&
		 strcmp(key + 3, me) != 0)
		on_msgs(o, kv);
	else if (strncmp(key, "down/", 5) == 0 && !o->mine &&
		 strcmp(key + 5, me) == 0)
		on_msgs(o, kv);
}

void
oob_view_begin(struct rl_oob *o)
{
	o->ranging = true;
	for (uint32_t i = 0; i < OOB_RECIPES; i++)
		o->kept[i].there = false;
	pthread_mutex_lock(&o->lock);
	o->info.members = 0;
	pthread_mutex_unlock(&o->lock);
}

void
oob_view_end(struct rl_oob *o)
{
	struct oob_kv kv = { .key = "office", .created = o->ranged_rev,
			     .lease = o->ranged_lease };
	char *text = o->ranged_office;
	bool there;

	o->ranging = false;
	o->ranged_office = NULL;
	pthread_mutex_lock(&o->lock);
	there = o->info.members >> o->p.process & 1;
	pthread_mutex_unlock(&o->lock);
	o->joined = o->joined && there;
	kv.value = text;
	kv.len = text == NULL ? 0 : strlen(text);
	on_office(o, &kv);
	free(text);
}
