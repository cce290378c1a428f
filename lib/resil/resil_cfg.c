/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "rl_resil_cfg.h"

#define HOUR_NS (3600 * RL_NS_PER_S)

/* Each time with its minimum, its default within one process, and its default
   if orders and answers go through a store. */
static const struct resil_time {
	const char *key;
	size_t at; /* in struct rl_resil_cfg */
	uint64_t min_ns, usual_ns, store_ns;
} times[] = {
#define TIME(key, min, usual, store) \
	{ #key, offsetof(struct rl_resil_cfg, key), min, usual, store }
	TIME(gather_ns, 0, 50 * RL_NS_PER_US, 5 * RL_NS_PER_MS),
	TIME(return_ns, 0, 1 * RL_NS_PER_MS, 100 * RL_NS_PER_MS),
	TIME(train_ns, 1, 20 * RL_NS_PER_MS, 1 * RL_NS_PER_S),
	TIME(resend_ns, 1, 200 * RL_NS_PER_US, 100 * RL_NS_PER_MS),
	TIME(answer_ns, 1, 5 * RL_NS_PER_MS, 500 * RL_NS_PER_MS),
	TIME(await_ns, 0, 20 * RL_NS_PER_MS, 500 * RL_NS_PER_MS),
	TIME(compute_ns, 1, 10 * RL_NS_PER_S, 10 * RL_NS_PER_S),
	TIME(quiesce_ns, 1, 20 * RL_NS_PER_MS, 8 * RL_NS_PER_S),
	TIME(observe_ns, 0, 20 * RL_NS_PER_US, 1 * RL_NS_PER_MS),
	TIME(install_ns, 1, 100 * RL_NS_PER_MS, 2 * RL_NS_PER_S),
	TIME(lease_ns, 1, 50 * RL_NS_PER_MS, 4 * RL_NS_PER_S),
	TIME(retry_ns, 1, 10 * RL_NS_PER_MS, 200 * RL_NS_PER_MS),
#undef TIME
};

static void
set_time(struct rl_resil_cfg *cfg, const struct resil_time *t, uint64_t ns)
{
	memcpy((char *)cfg + t->at, &ns, sizeof(ns));
}

static uint64_t
get_time(const struct rl_resil_cfg *cfg, const struct resil_time *t)
{
	uint64_t ns;

	memcpy(&ns, (const char *)cfg + t->at, sizeof(ns));
	return ns;
}

void
rl_resil_cfg_defaults(struct rl_resil_cfg *cfg)
{
	*cfg = (struct rl_resil_cfg){ .mode = RL_RESIL_AUTO };
	for (size_t i = 0; i < RL_ARRAY_SIZE(times); i++)
		set_time(cfg, &times[i], times[i].usual_ns);
}

void
rl_resil_cfg_defaults_store(struct rl_resil_cfg *cfg)
{
	*cfg = (struct rl_resil_cfg){ .mode = RL_RESIL_AUTO };
	for (size_t i = 0; i < RL_ARRAY_SIZE(times); i++)
		set_time(cfg, &times[i], times[i].store_ns);
}

/* A time that is too short compared with another one. */
struct bound {
	const char *key, *beside;
	uint64_t value_ns, least_ns;
};

int
rl_resil_cfg_check(const struct rl_resil_cfg *c, char *err, size_t errlen,
		   const char **key)
{
	const struct bound bounds[] = {
		{ "answer_ns", "two resend_ns", c->answer_ns,
		  2 * c->resend_ns },
		{ "lease_ns", "four answer_ns", c->lease_ns,
		  4 * c->answer_ns },
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(times); i++) {
		const uint64_t ns = get_time(c, &times[i]);

		if (ns >= times[i].min_ns && ns <= HOUR_NS)
			continue;
		*key = times[i].key;
		snprintf(err, errlen,
			 "%s: %llu is out of range; use %llu to %llu", *key,
			 (unsigned long long)ns,
			 (unsigned long long)times[i].min_ns,
			 (unsigned long long)HOUR_NS);
		return -EINVAL;
	}
	for (size_t i = 0; i < RL_ARRAY_SIZE(bounds); i++) {
		const struct bound *b = &bounds[i];

		if (b->value_ns >= b->least_ns)
			continue;
		*key = b->key;
		snprintf(err, errlen,
			 "%s: %llu is less than %s; use at least %llu", b->key,
			 (unsigned long long)b->value_ns, b->beside,
			 (unsigned long long)b->least_ns);
		return -EINVAL;
	}
	return 0;
}

RL_NAMES(rl_resil_mode_name, enum rl_resil_mode, RL_RESIL_MODES(RL_WORD))
