/* SPDX-License-Identifier: BSD-3-Clause */

/* What all steps of the channel use: time, keys, events, why it is away. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "oob_priv.h"

uint64_t
oob_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

char *
oob_key(const struct rl_oob *o, char *buf, const char *what, const char *name)
{
	snprintf(buf, OOB_KEY_MAX, "%s/%s%s", o->p.channel->prefix, what, name);
	return buf;
}

void
oob_push(struct rl_oob *o, const struct rl_oob_event *ev)
{
	struct oob_item *it = malloc(sizeof(*it));

	pthread_mutex_lock(&o->lock);
	if (it != NULL &&
	    (ev->type != RL_OOB_MSG || o->queued < OOB_IN_MAX)) {
		it->ev = *ev;
		it->next = NULL;
		*o->tail = it;
		o->tail = &it->next;
		o->queued++;
		o->info.received += ev->type == RL_OOB_MSG;
		atomic_store_explicit(&o->ready, 1, memory_order_release);
		it = NULL;
	} else {
		o->info.lost++;
		if (ev->recipe != NULL)
			rl_oob_drop(ev->recipe);
	}
	pthread_mutex_unlock(&o->lock);
	free(it);
}

void
oob_why(struct rl_oob *o, const char *why)
{
	pthread_mutex_lock(&o->lock);
	snprintf(o->info.why, sizeof(o->info.why), "%s", why);
	pthread_mutex_unlock(&o->lock);
}

void
oob_away(struct rl_oob *o, bool away, bool refuses)
{
	const uint64_t now_ns = oob_now();

	pthread_mutex_lock(&o->lock);
	if (o->info.away)
		o->info.away_ns += now_ns - o->away_since_ns;
	o->away_since_ns = now_ns;
	o->info.outages += away && !o->info.away;
	o->info.away = away;
	o->info.refuses = away && refuses;
	pthread_mutex_unlock(&o->lock);
}

void
rl_oob_drop(struct rl_oob_recipe *r)
{
	if (r == NULL)
		return;
	rl_oob_recipe_free(r);
	free(r);
}
