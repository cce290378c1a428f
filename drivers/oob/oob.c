/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oob_priv.h"
#include "rl_grow.h"

static void
set_none(struct rl_oob *o)
{
	o->tail = &o->head;
	o->stand = true;
	pthread_mutex_init(&o->lock, NULL);
}

static int
read_password(struct rl_oob *o, char *err)
{
	const char *path = o->p.channel->password_file;
	FILE *f;

	if (path[0] == '\0')
		return 0;
	f = fopen(path, "re");
	if (f == NULL || fgets(o->password, sizeof(o->password), f) == NULL)
		snprintf(err, RL_OOB_ERR_MAX, "%s:%u: etcd_password_file %.80s: "
			 "%s", o->p.channel->file, o->p.channel->line, path,
			 f == NULL ? strerror(errno) : "it is empty");
	if (f != NULL)
		fclose(f);
	o->password[strcspn(o->password, "\r\n")] = '\0';
	return o->password[0] == '\0' ? -EINVAL : 0;
}

static void
free_all(struct rl_oob *o)
{
	while (o->head != NULL) {
		struct oob_item *it = o->head;

		o->head = it->next;
		rl_oob_drop(it->ev.recipe);
		free(it);
	}
	oob_http_close(&o->http);
	pthread_mutex_destroy(&o->lock);
	memset(o->password, 0, sizeof(o->password));
	free(o->up.msg);
	free(o->down.msg);
	free(o->store);
	for (uint32_t i = 0; i < OOB_RECIPES; i++)
		free(o->kept[i].text);
	free(o);
}

static void
on_line(void *ctx, const char *line, size_t len)
{
	struct rl_oob *o = ctx;
	struct oob_answer a;

	if (oob_answer_read(line, len, &a, oob_on_kv, o) == 0 && !a.canceled)
		return;
	if (a.error[0] != '\0')
		oob_why(o, a.error);
	o->lost_watch = true;
}

int
rl_oob_open(const struct rl_oob_params *p, struct rl_oob **out, char *err)
{
	struct rl_oob *o = calloc(1, sizeof(*o));
	int ret;

	*out = NULL;
	snprintf(err, RL_OOB_ERR_MAX, "out of memory");
	if (o == NULL)
		return -ENOMEM;
	o->p = *p;
	set_none(o);
	oob_me(&o->me);
	o->me.digest = p->digest;
	ret = read_password(o, err);
	if (ret == 0)
		ret = oob_http_open(&o->http, p->channel, on_line, o);
	if (ret == 0)
		ret = oob_join(o, true, err);
	if (ret == 0) {
		ret = -pthread_create(&o->thread, NULL, oob_loop, o);
		o->thread_on = ret == 0;
		if (ret != 0)
			oob_leave(o);
	}
	if (ret != 0)
		free_all(o);
	else
		*out = o;
	return ret;
}

void
rl_oob_close(struct rl_oob *o)
{
	if (o == NULL)
		return;
	pthread_mutex_lock(&o->lock);
	o->quit = true;
	pthread_mutex_unlock(&o->lock);
	oob_http_wake(&o->http);
	pthread_join(o->thread, NULL);
	oob_leave(o);
	free_all(o);
}

bool
rl_oob_joined_others(const struct rl_oob *o)
{
	return o->others;
}

uint64_t
rl_oob_incarnation(const struct rl_oob *o)
{
	return o->incarnation;
}

/* The lease is over, even if the store has not said so yet. */
static bool
expired(struct rl_oob *o)
{
	return o->told_office &&
	       oob_now() >= atomic_load_explicit(&o->office_until_ns,
						 memory_order_relaxed);
}

bool
rl_oob_ready(struct rl_oob *o)
{
	return atomic_load_explicit(&o->ready, memory_order_acquire) != 0 ||
	       expired(o);
}

/* The oldest event that was pushed. */
static bool
pop(struct rl_oob *o, struct rl_oob_event *ev)
{
	struct oob_item *it;

	pthread_mutex_lock(&o->lock);
	it = o->head;
	if (it != NULL) {
		o->head = it->next;
		o->queued--;
	}
	if (o->head == NULL) {
		o->tail = &o->head;
		atomic_store_explicit(&o->ready, 0, memory_order_relaxed);
	}
	pthread_mutex_unlock(&o->lock);
	if (it == NULL)
		return false;
	*ev = it->ev;
	free(it);
	return true;
}

bool
rl_oob_event(struct rl_oob *o, struct rl_oob_event *ev)
{
	bool any = true;

	if (expired(o)) {
		*ev = (struct rl_oob_event){ .type = RL_OOB_DEPOSED };
	} else {
		/* a deposition noticed by our own clock is not reported
		   twice */
		do
			any = pop(o, ev);
		while (any && ev->type == RL_OOB_DEPOSED && !o->told_office);
	}
	if (any && ev->type == RL_OOB_OFFICE)
		o->told_office = true;
	if (any && ev->type == RL_OOB_DEPOSED)
		o->told_office = false;
	return any;
}

static void
add(struct rl_oob *o, struct oob_out *out, const struct rl_resil_msg *m)
{
	pthread_mutex_lock(&o->lock);
	o->floor = rl_max_u64(o->floor, rl_max_u64(m->ctl_inc, m->local_inc));
	if (out->n < OOB_OUT_MAX &&
	    rl_grow(&out->msg, out->n, &out->cap, sizeof(*out->msg)))
		out->msg[out->n++] = *m;
	else
		o->info.lost++;
	pthread_mutex_unlock(&o->lock);
	oob_http_wake(&o->http);
}

void
rl_oob_send_up(struct rl_oob *o, const struct rl_resil_msg *m)
{
	add(o, &o->up, m);
}

void
rl_oob_send_down(struct rl_oob *o, const struct rl_resil_msg *m)
{
	add(o, &o->down, m);
}

int
rl_oob_store(struct rl_oob *o, const struct rl_tables_recipe *r)
{
	char *text = rl_oob_recipe_text(o->p.topo, r);

	if (text == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&o->lock);
	free(o->store);
	o->store = text;
	o->store_epoch = r->epoch;
	pthread_mutex_unlock(&o->lock);
	oob_http_wake(&o->http);
	return 0;
}

void
rl_oob_stand(struct rl_oob *o, bool stand)
{
	pthread_mutex_lock(&o->lock);
	o->stand = stand;
	pthread_mutex_unlock(&o->lock);
	oob_http_wake(&o->http);
}

void
rl_oob_info(struct rl_oob *o, struct rl_oob_info *info)
{
	pthread_mutex_lock(&o->lock);
	*info = o->info;
	if (info->away)
		info->away_ns += oob_now() - o->away_since_ns;
	pthread_mutex_unlock(&o->lock);
}
