/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include "rl_resil_cfg.h"

#define HOUR_NS (3600 * RL_NS_PER_S)

void
rl_resil_cfg_defaults(struct rl_resil_cfg *cfg)
{
	*cfg = (struct rl_resil_cfg){
		.mode = RL_RESIL_AUTO,
		.gather_ns = 50 * RL_NS_PER_US,
		.return_ns = 1 * RL_NS_PER_MS,
		.train_ns = 20 * RL_NS_PER_MS,
		.resend_ns = 200 * RL_NS_PER_US,
		.answer_ns = 5 * RL_NS_PER_MS,
		.await_ns = 20 * RL_NS_PER_MS,
		.compute_ns = 10 * RL_NS_PER_S,
		.quiesce_ns = 20 * RL_NS_PER_MS,
		.observe_ns = 20 * RL_NS_PER_US,
		.install_ns = 100 * RL_NS_PER_MS,
		.lease_ns = 50 * RL_NS_PER_MS,
		.retry_ns = 10 * RL_NS_PER_MS,
	};
}

void
rl_resil_cfg_defaults_store(struct rl_resil_cfg *cfg)
{
	*cfg = (struct rl_resil_cfg){
		.mode = RL_RESIL_AUTO,
		.gather_ns = 5 * RL_NS_PER_MS,
		.return_ns = 100 * RL_NS_PER_MS,
		.train_ns = 1 * RL_NS_PER_S,
		.resend_ns = 100 * RL_NS_PER_MS,
		.answer_ns = 500 * RL_NS_PER_MS,
		.await_ns = 500 * RL_NS_PER_MS,
		.compute_ns = 10 * RL_NS_PER_S,
		.quiesce_ns = 8 * RL_NS_PER_S,
		.observe_ns = 1 * RL_NS_PER_MS,
		.install_ns = 2 * RL_NS_PER_S,
		.lease_ns = 4 * RL_NS_PER_S,
		.retry_ns = 200 * RL_NS_PER_MS,
	};
}

int
rl_resil_cfg_check(const struct rl_resil_cfg *c, char *err, size_t errlen,
		   const char **key)
{
	const struct {
		const char *key;
		uint64_t value, min;
	} r[] = {
		{ "gather_ns", c->gather_ns, 0 },
		{ "return_ns", c->return_ns, 0 },
		{ "train_ns", c->train_ns, 1 },
		{ "resend_ns", c->resend_ns, 1 },
		{ "answer_ns", c->answer_ns, 1 },
		{ "await_ns", c->await_ns, 0 },
		{ "compute_ns", c->compute_ns, 1 },
		{ "quiesce_ns", c->quiesce_ns, 1 },
		{ "observe_ns", c->observe_ns, 0 },
		{ "install_ns", c->install_ns, 1 },
		{ "lease_ns", c->lease_ns, 1 },
		{ "retry_ns", c->retry_ns, 1 },
	};

	for (size_t i = 0; i < RL_ARRAY_SIZE(r); i++) {
		if (r[i].value >= r[i].min && r[i].value <= HOUR_NS)
			continue;
		*key = r[i].key;
		snprintf(err, errlen,
			 "%s: %llu is out of range; use %llu to %llu", r[i].key,
			 (unsigned long long)r[i].value,
			 (unsigned long long)r[i].min,
			 (unsigned long long)HOUR_NS);
		return -EINVAL;
	}
	if (c->answer_ns < 2 * c->resend_ns) {
		*key = "answer_ns";
		snprintf(err, errlen, "answer_ns: %llu is less than two resend_ns; use at "
			 "least %llu", (unsigned long long)c->answer_ns,
			 (unsigned long long)(2 * c->resend_ns));
		return -EINVAL;
	}
	if (c->lease_ns < 4 * c->answer_ns) {
		*key = "lease_ns";
		snprintf(err, errlen,
			 "lease_ns: %llu is less than four answer_ns; use at "
			 "least %llu", (unsigned long long)c->lease_ns,
			 (unsigned long long)(4 * c->answer_ns));
		return -EINVAL;
	}
	return 0;
}

const char *
rl_resil_mode_name(enum rl_resil_mode m)
{
	static const char *const name[] = {
#define RL_RESIL_MODE_WORD(n, word) [RL_RESIL_##n] = word,
		RL_RESIL_MODES(RL_RESIL_MODE_WORD)
#undef RL_RESIL_MODE_WORD
	};

	return (unsigned int)m < RL_RESIL_MODE_COUNT ? name[m] : "?";
}
