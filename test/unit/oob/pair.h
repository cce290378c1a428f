/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PAIR_H
#define PAIR_H

/* Two processes at a small etcd. */

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fake_etcd.h"
#include "oob_test.h"

#define PATIENCE_NS (20 * RL_NS_PER_S) /* for a busy machine */
#define LOG_MAX 256

/* One of the two processes: its channel, and the events that it got. */
struct side {
	struct rl_oob *oob;
	struct rl_oob_event log[LOG_MAX];
	uint32_t n;
	uint64_t incarnation; /* of its controller; 0: none */
};

struct pair {
	struct rl_config *cfg;
	struct fake_etcd *etcd;
	struct side side[2];
};

static inline uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline int
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

static inline struct pair *
pair_open_beside(int sides, const char *user, const char *others)
{
	struct pair *p = calloc(1, sizeof(*p));
	char more[200], err[RL_OOB_ERR_MAX];

	assert_non_null(p);
	p->etcd = fake_start();
	snprintf(more, sizeof(more), "controller: { etcd = [\"%s\"%s]; %s };",
		 fake_url(p->etcd), others, user);
	if (user[0] != '\0')
		fake_new_tokens(p->etcd, FAKE_INVALID);
	p->cfg = oob_config(more);
	for (int i = 0; i < sides; i++)
		if (join(p, i, err) != 0)
			fail_msg("%s", err);
	return p;
}

static inline struct pair *
pair_open_with(int sides, const char *user)
{
	return pair_open_beside(sides, user, "");
}

static inline struct pair *
pair_open(int sides)
{
	return pair_open_with(sides, "");
}

static inline void
side_drop(struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		rl_oob_drop(s->log[i].recipe);
	rl_oob_close(s->oob);
	s->oob = NULL;
	s->n = 0;
}

static inline void
pair_close(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		side_drop(&p->side[i]);
	fake_stop(p->etcd);
	oob_config_drop(p->cfg);
	free(p);
}

/* Takes the events of both. */
static inline void
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

static inline void
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

static inline void
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

static inline bool
left_rules(struct pair *p)
{
	return p->side[0].incarnation != 0 && p->side[1].incarnation == 0;
}

static inline bool
right_rules(struct pair *p)
{
	return p->side[1].incarnation != 0 && p->side[0].incarnation == 0;
}

static inline bool
one_rules(struct pair *p)
{
	return left_rules(p) || right_rules(p);
}

static inline struct rl_oob_info
info(struct pair *p, int i)
{
	struct rl_oob_info in;

	rl_oob_info(p->side[i].oob, &in);
	return in;
}

/* Whether both know both members and the elected process. */
static inline bool
settled(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		const struct rl_oob_info in = info(p, i);

		if (in.away || in.members != 3 || in.office[0] == '\0')
			return false;
	}
	return one_rules(p);
}

static inline bool
both_away(struct pair *p)
{
	return info(p, 0).away && info(p, 1).away;
}

static inline bool
nobody_rules(struct pair *p)
{
	return p->side[0].incarnation + p->side[1].incarnation == 0;
}

static inline uint32_t
count(const struct side *s, enum rl_oob_event_type type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->log[i].type == type;
	return n;
}

static inline uint32_t
both(const struct pair *p, enum rl_oob_event_type type)
{
	return count(&p->side[0], type) + count(&p->side[1], type);
}

/* Device 0 is s0, of l; device 1 is s1, of r. */
static const struct rl_resil_msg order = { .version = RL_RESIL_VERSION,
					   .type = RL_RESIL_ORDER, .dev = 1 };

/*
 * Checks that messages arrive in both directions between the elected process
 * and the other.
 */
static inline void
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
		/* may be lost, so send again */
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
				p->side[s].n = 0; /* these tests have no
						     recipes */
	}
}

#endif /* PAIR_H */
