/* SPDX-License-Identifier: BSD-3-Clause */

/* Carries out orders of local controllers; reports the state of a device. */

#include "sim_ctl.h"

static void
wake(struct rl_sim *s, uint32_t dev, const struct rl_local_action *a)
{
	const uint32_t core = s->dev_role[dev];

	switch (a->type) {
	case RL_LOCAL_START:
		for (uint16_t p = 0; p < s->fabric.dev[dev].nports; p++)
			sim_ready(s, core + 1 + p);
		return;
	case RL_LOCAL_PORT:
		sim_ready(s, core + 1 + a->port);
		return;
	case RL_LOCAL_STAGE: /* a token comes first */
		return;
	case RL_LOCAL_INSTALL:
	case RL_LOCAL_HOLD:
	case RL_LOCAL_RELEASE:
	case RL_LOCAL_PASS:
	case RL_LOCAL_NO_TABLES:
		sim_ready(s, core);
		return;
	}
}

void
sim_ctl_act(struct rl_sim *s, uint32_t dev, const struct rl_local_action *a)
{
	struct rl_device_order o = { .act = *a };

	sim_apart_disturb(s);
	(void)rl_device_order_find(&o, dev, s->ctl->tables);
	rl_device_order(&s->fabric.dev[dev], &o, s->now_ns);
	rl_device_order_done(&o, dev, s->ctl->tables, s->ctl->local[dev]);
	wake(s, dev, a);
}

void
sim_ctl_view(struct rl_sim *s, uint32_t dev, struct rl_local_view *v)
{
	struct rl_local_info held;

	rl_local_info(s->ctl->local[dev], &held);
	rl_device_view(&s->fabric.dev[dev], &held,
		       rl_tables_flows(s->ctl->tables, held.hold_epoch), v);
}
