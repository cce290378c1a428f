/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Becoming a member, and leaving. The first member clears what an earlier
 * fabric may have left. A process that finds a member of another fabric file is
 * refused. One that finds a member of its own name checks whether that lives:
 * by its lease, and on the same machine by the kernel, at once.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "oob_priv.h"
#include "rl_refuse.h"

/* Gives up after interference by others for this long. */
#define STRUGGLE_NS (5 * RL_NS_PER_S)
/*
 * A server that refuses a connection is not there; one that is silent may be
 * slow, and a start waits for it this long.
 */
#define SILENCE_NS (5 * RL_NS_PER_S)
#define NAP_NS (100 * RL_NS_PER_MS)
/* A key may outlive its lease by this time. */
#define REVOKE_NS (2 * RL_NS_PER_S)

struct found {
	struct rl_oob *o;
	uint32_t members;
	uint64_t floor;
	bool mine; /**< one of our name */
	uint64_t lease;
	struct rl_oob_member twin;
	bool other; /**< one of another fabric file */
	char other_name[64];
	uint64_t other_digest;
	uint64_t stray_rev; /**< of a member without a process */
	char stray[OOB_KEY_MAX];
};

/* The kernel's start time of a process; 0: there is none. */
static uint64_t
start_of(uint32_t pid)
{
	char path[64], line[512];
	uint64_t t = 0;
	const char *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) != NULL) {
		/* the name in parentheses may contain anything */
		p = strrchr(line, ')');
		for (int i = 0; p != NULL && i < 20; i++)
			p = strchr(p + 1, ' ');
		t = p == NULL ? 0 : strtoull(p, NULL, 10);
	}
	fclose(f);
	return t;
}

void
oob_me(struct rl_oob_member *m)
{
	char ns[48] = "", self[16] = "";
	char boot[40] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	memset(m, 0, sizeof(*m));
	if (gethostname(m->host, sizeof(m->host) - 1) != 0)
		snprintf(m->host, sizeof(m->host), "?");
	if (f != NULL && fgets(boot, sizeof(boot), f) == NULL)
		boot[0] = '\0';
	if (f != NULL)
		fclose(f);
	boot[strcspn(boot, "\n")] = '\0';
	if (readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1) < 0)
		ns[0] = '\0';
	m->pid = (uint32_t)getpid();
	/* a /proc of another PID namespace tells of other processes */
	if (readlink("/proc/self", self, sizeof(self) - 1) < 0 ||
	    strtoul(self, NULL, 10) != m->pid)
		boot[0] = '\0';
	snprintf(m->boot, sizeof(m->boot), "%s %s", boot, ns);
	m->start = start_of(m->pid);
}

/* Whether a member is certainly gone, whatever its lease. */
static bool
surely_dead(const struct rl_oob *o, const struct rl_oob_member *m)
{
	if (strcmp(m->boot, o->me.boot) != 0 || m->boot[0] == ' ')
		return false;
	return start_of(m->pid) != m->start ||
	       (m->pid == o->me.pid && m->start == o->me.start);
}

static void
on_member(void *ctx, const struct oob_kv *kv)
{
	struct found *f = ctx;
	char key[OOB_KEY_MAX];
	const size_t at = strlen(oob_key(f->o, key, "members/", ""));
	const char *name = kv->key + at;
	struct rl_oob_member m;

	if (strncmp(kv->key, key, at) != 0)
		return;
	if (kv->lease == 0) {
		f->stray_rev = kv->created;
		snprintf(f->stray, sizeof(f->stray), "%s", kv->key);
		return;
	}
	f->members++;
	if (kv->value == NULL ||
	    rl_oob_member_read(kv->value, kv->len, &m) != 0)
		m = (struct rl_oob_member){ 0 };
	f->floor = rl_max_u64(f->floor, m.floor);
	if (m.digest != f->o->p.digest && !surely_dead(f->o, &m)) {
		f->other = true;
		snprintf(f->other_name, sizeof(f->other_name), "%s", name);
		f->other_digest = m.digest;
	}
	if (strcmp(name, f->o->p.name[f->o->p.process]) == 0) {
		f->mine = true;
		f->lease = kv->lease;
		f->twin = m;
	}
}

static int
look(struct rl_oob *o, struct found *f)
{
	char key[OOB_KEY_MAX];
	struct oob_answer a;

	*f = (struct found){ .o = o };
	return oob_ask(o, "/v3/kv/range",
		       oob_range_body(oob_key(o, key, "members/", "")), &a,
		       on_member, f);
}

static void
end_lease(struct rl_oob *o, uint64_t lease)
{
	struct oob_answer a;

	if (lease != 0)
		oob_ask(o, "/v3/lease/revoke", oob_lease_body(lease), &a, NULL,
			NULL);
}

/* Writes our keys in one transaction, unless others interfered. */
static int
enter(struct rl_oob *o, const struct found *f, bool start)
{
	char key[OOB_KEY_MAX];
	struct oob_answer a;
	struct oob_txn t;
	char *text;
	int ret;

	o->me.floor = rl_max_u64(o->floor, f->floor);
	text = rl_oob_member_text(&o->me);
	if (text == NULL)
		return -ENOMEM;
	oob_txn_begin(&t);
	if (f->members == 0 && start) {
		oob_txn_if_none(&t, oob_key(o, key, "members/", ""));
		oob_txn_delete_prefix(&t, oob_key(o, key, "tables/", ""));
		oob_txn_delete_prefix(&t, oob_key(o, key, "up/", ""));
		oob_txn_delete_prefix(&t, oob_key(o, key, "down/", ""));
	}
	oob_key(o, key, "members/", o->p.name[o->p.process]);
	oob_txn_if_created(&t, key, 0);
	oob_txn_put(&t, key, text, o->lease);
	free(text);
	ret = oob_ask_txn(o, &t, &a);
	if (ret == 0 && !a.succeeded)
		return -EAGAIN;
	o->member_rev = a.revision;
	return ret;
}

static int
grant(struct rl_oob *o)
{
	const uint64_t asked_ns = oob_now();
	const uint64_t ttl_s = o->p.channel->life_ns / RL_NS_PER_S;
	struct oob_answer a;
	int ret = oob_ask(o, "/v3/lease/grant", oob_grant_body(ttl_s), &a, NULL,
			  NULL);

	if (ret != 0)
		return ret;
	if (a.id == 0 || a.ttl_s == 0) {
		oob_why(o, "a lease was asked for, and the answer has none");
		return -EINVAL;
	}
	o->lease = a.id;
	/* etcd may grant a longer one */
	o->ttl_ns = a.ttl_s * RL_NS_PER_S;
	o->until_ns = asked_ns + o->ttl_ns;
	o->keep_ns = asked_ns + o->ttl_ns / 3;
	return 0;
}

static int
say_other(struct rl_oob *o, const struct found *f, char *err)
{
	char what[96] = "";

	o->p.diff(o->p.digest, f->other_digest, what, sizeof(what));
	return rl_refuse(err, RL_OOB_ERR_MAX, -EPERM, "etcd: process %s below "
			 "%s is of another fabric: %s differ; use its fabric "
			 "file, or another etcd_prefix", f->other_name,
			 o->p.channel->prefix, what[0] == '\0' ? "they" : what);
}

static int
say_twin(struct rl_oob *o, const struct found *f, char *err)
{
	return rl_refuse(err, RL_OOB_ERR_MAX, -EADDRINUSE, "etcd: process %s "
			 "runs already, as pid %" PRIu32 " on %s; stop that "
			 "one first", o->p.name[o->p.process], f->twin.pid,
			 f->twin.host);
}

static int
say_why(struct rl_oob *o, int ret, char *err)
{
	snprintf(err, RL_OOB_ERR_MAX,
		 ret == -EHOSTUNREACH
			 ? "etcd does not answer: %.240s; start it, correct "
			   "controller.etcd, or set controller.mode = \"off\""
			 : "etcd refuses: %.180s",
		 o->info.why);
	return ret == -EHOSTUNREACH ? ret : -EPERM;
}

/* @return 0: entered; -EAGAIN: wait a little, and look again */
static int
try_enter(struct rl_oob *o, bool start, uint64_t patience_ns, char *err)
{
	struct found f;
	int ret = look(o, &f);

	if (ret != 0)
		return ret == -ENOMEM ? ret : say_why(o, ret, err);
	if (f.stray_rev != 0) {
		ret = oob_evict(o, f.stray, f.stray_rev);
		return ret == 0 ? -EAGAIN : say_why(o, ret, err);
	}
	if (f.mine && surely_dead(o, &f.twin) && f.lease != 0) {
		end_lease(o, f.lease);
		return -EAGAIN;
	}
	if (f.other)
		return say_other(o, &f, err);
	if (f.mine)
		return oob_now() < patience_ns ? -EAGAIN
					       : say_twin(o, &f, err);
	if (o->lease == 0)
		ret = grant(o);
	if (ret == 0)
		ret = enter(o, &f, start);
	if (ret == 0 && start)
		o->others = f.members != 0;
	return ret == 0 || ret == -EAGAIN || ret == -ENOMEM
		       ? ret
		       : say_why(o, ret, err);
}

/* The same; at a start, a server that is late is asked again. */
static int
try_join(struct rl_oob *o, bool start, uint64_t begun_ns, char *err)
{
	const uint64_t patience_ns =
		begun_ns + (start ? o->p.channel->life_ns + REVOKE_NS : 0);
	const int ret = try_enter(o, start, patience_ns, err);

	if (ret == -EHOSTUNREACH && start && o->late &&
	    oob_now() < begun_ns + SILENCE_NS)
		return -EAGAIN;
	return ret;
}

int
oob_join(struct rl_oob *o, bool start, char *err)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const uint64_t begun_ns = oob_now();
	const uint64_t end_ns =
		begun_ns + STRUGGLE_NS +
		(start ? o->p.channel->life_ns + REVOKE_NS + SILENCE_NS : 0);
	int ret = -EAGAIN;

	o->lease = 0;
	o->joined = false;
	/* a twin that outlives our patience is an error, and ends it */
	while (ret == -EAGAIN && oob_now() < end_ns) {
		snprintf(err, RL_OOB_ERR_MAX,
			 "etcd: others write %s/members all the time; use an "
			 "etcd_prefix of its own", o->p.channel->prefix);
		ret = try_join(o, start, begun_ns, err);
		if (ret == -EAGAIN && !start)
			break;
		if (ret == -EAGAIN)
			nanosleep(&nap, NULL);
	}
	if (ret != 0) {
		end_lease(o, o->lease);
		o->lease = 0;
		return ret;
	}
	o->joined = true;
	/*
	 * Our incarnations begin above all that any process has heard of, and
	 * those of the next start above these. Revisions provide both, until
	 * the store loses its data and counts from one again: then they only
	 * distinguish starts.
	 */
	if (o->me.floor >= o->member_rev << 20)
		o->me.floor = (o->me.floor | (INCARNATIONS - 1)) + 1;
	else
		o->me.floor = 0;
	o->me.floor += o->member_rev << 20;
	if (start)
		o->incarnation = o->me.floor;
	pthread_mutex_lock(&o->lock);
	o->floor = rl_max_u64(o->floor, o->me.floor);
	o->info.member = true;
	o->info.why[0] = '\0';
	pthread_mutex_unlock(&o->lock);
	return 0;
}

void
oob_leave(struct rl_oob *o)
{
	char key[OOB_KEY_MAX];
	struct oob_answer a;
	struct oob_txn t;

	if (!o->joined)
		return;
	end_lease(o, o->lease);
	oob_txn_begin(&t);
	oob_txn_if_none(&t, oob_key(o, key, "members/", ""));
	oob_txn_delete_prefix(&t, oob_key(o, key, "tables/", ""));
	oob_ask_txn(o, &t, &a);
	o->joined = false;
}
