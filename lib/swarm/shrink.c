/* SPDX-License-Identifier: BSD-3-Clause */

/* Shrinking: the search. What can be left out goes, largest parts first. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_swarm_case.h"
#include "shrink_priv.h"

/* Seeds that a smaller plan is tried with, besides its own; one of fewer
   packets, which takes less time, with more. */
#define OTHER_SEEDS 3
#define PACKET_SEEDS 8
#define KEYS_MAX 256

/*
 * Leaves out parts [at, at + n) of `all`, halves first, then quarters, down to
 * single ones. @p gone says that what is left out is no longer counted.
 */
static void
each_part(struct shrinking *sh, uint32_t all, bool gone,
	  bool (*leave)(struct shrinking *sh, uint32_t at, uint32_t n))
{
	for (uint32_t n = all; n != 0; n = n == 1 ? 0 : (n + 1) / 2)
		for (uint32_t at = 0; at < all && sh->err == 0;) {
			const uint32_t most = rl_min_u32(n, all - at);

			if (!leave(sh, at, most))
				at += most;
			else if (gone)
				all -= most;
			else
				at += most;
		}
}

static bool
leave_faults(struct shrinking *sh, uint32_t at, uint32_t n)
{
	struct rl_sim_faults *list = &sh->plan->faults;

	if (!shrink_faults(sh))
		return false;
	memmove(&list->f[at], &list->f[at + n],
		(list->n - at - n) * sizeof(list->f[0]));
	list->n -= n;
	return shrink_keep(sh);
}

/* One field of a fault to what it is in the plainest one. */
static void
plain_fault(struct shrinking *sh, uint32_t i, size_t offset, size_t size)
{
	static const uint64_t zero;
	struct rl_fault *f = &sh->plan->faults.f[i];

	if (memcmp((const char *)f + offset, &zero, size) == 0 ||
	    !shrink_faults(sh))
		return;
	memset((char *)&sh->plan->faults.f[i] + offset, 0, size);
	shrink_keep(sh);
}

#define PLAIN(field)                                                           \
	plain_fault(sh, i, offsetof(struct rl_fault, field),               \
		    sizeof(((struct rl_fault *)0)->field))

static void
plain_faults(struct shrinking *sh)
{
	for (uint32_t i = 0; i < sh->plan->faults.n; i++) {
		PLAIN(silent);
		PLAIN(flight);
		PLAIN(lasting);
		PLAIN(noise.loss_ppb);
		PLAIN(noise.corrupt_ppb);
		PLAIN(noise.dup_ppb);
		PLAIN(noise.jitter_ppb);
		PLAIN(noise.delay_ns);
		PLAIN(noise.soft_ppb);
		PLAIN(noise.poison_ppb);
		PLAIN(noise.bit_rate);
	}
}

/* The structure of a group of the fabric file, in a plan. */
static void *
group_of(struct rl_config *cfg, const char *group)
{
	return strcmp(group, "link") == 0	? (void *)&cfg->link
	       : strcmp(group, "endpoint") == 0 ? (void *)&cfg->endpoint
						: (void *)&cfg->controller;
}

/* Keys of link, endpoint and controller that have a default of their own. */
static uint32_t
keys_of(const struct rl_config_key **list)
{
	size_t n;
	const struct rl_config_key *key = rl_config_keys(&n);
	uint32_t have = 0;

	for (size_t i = 0; i < n && have < KEYS_MAX; i++)
		if (key[i].def == NULL && key[i].size != 0 &&
		    (strcmp(key[i].group, "link") == 0 ||
		     strcmp(key[i].group, "endpoint") == 0 ||
		     strcmp(key[i].group, "controller") == 0))
			list[have++] = &key[i];
	return have;
}

/* Copies fields from one plan to another. @return whether any differed */
static bool
copy_field(void *to, const void *from, size_t offset, size_t size)
{
	char *t = (char *)to + offset;
	const char *f = (const char *)from + offset;

	if (memcmp(t, f, size) == 0)
		return false;
	memcpy(t, f, size);
	return true;
}

/* Keys of the fabric file, and then settings of run lines, to their defaults. */
static bool
leave_settings(struct shrinking *sh, uint32_t at, uint32_t n)
{
	const struct rl_config_key *key[KEYS_MAX];
	const uint32_t nkeys = keys_of(key);
	struct rl_swarm_plan *plain = calloc(1, sizeof(*plain));
	size_t nset;
	const struct rl_swarm_setting *set = rl_swarm_settings(&nset);
	bool any = false;

	if (plain == NULL) {
		sh->err = -ENOMEM;
		return false;
	}
	rl_link_cfg_defaults(&plain->cfg.link);
	rl_ep_cfg_defaults(&plain->cfg.endpoint);
	rl_resil_cfg_defaults(&plain->cfg.controller);
	rl_swarm_settings_defaults(plain);
	for (uint32_t i = at; i < at + n; i++)
		if (i < nkeys)
			any |= copy_field(
				group_of(&sh->plan->cfg, key[i]->group),
				group_of(&plain->cfg, key[i]->group),
				key[i]->offset, key[i]->size);
		else if (!set[i - nkeys].needed)
			any |= copy_field(sh->plan, plain,
					  set[i - nkeys].offset,
					  set[i - nkeys].size);
	free(plain);
	sh->plan->load.slot_ps = sh->plan->wire.flit_ps;
	return any && shrink_keep(sh);
}

/* About the smallest value of a field, @p low or more, that still fails. */
static void
lower(struct shrinking *sh, uint64_t *field, uint64_t low)
{
	uint64_t high = *field;

	if (low >= high)
		return;
	*field = low;
	if (shrink_keep(sh))
		return;
	while (high - low > high / 8 && high - low > 1 && sh->err == 0) {
		const uint64_t mid = low + (high - low) / 2;

		*field = mid;
		if (shrink_keep(sh))
			high = mid;
		else
			low = mid;
	}
}

/* What happens from fault @p i on, sooner. */
static void
sooner(struct shrinking *sh, uint32_t i)
{
	for (unsigned int part = 1; part <= 4; part *= 2) {
		struct rl_fault *f = sh->plan->faults.f;
		const uint64_t gap =
			f[i].t_ns - (i == 0 ? 0 : f[i - 1].t_ns);
		const uint64_t less = gap / part;

		if (less == 0 || !shrink_faults(sh))
			return;
		for (uint32_t j = i; j < sh->plan->faults.n; j++)
			sh->plan->faults.f[j].t_ns -= less;
		if (sh->plan->heal_ns > less)
			sh->plan->heal_ns -= less;
		if (shrink_keep(sh))
			return;
	}
}

static void
shrink_packets(struct shrinking *sh)
{
	struct rl_swarm_plan *p = sh->plan;

	sh->seeds = PACKET_SEEDS;
	if (p->load.packets == 0 || p->load.packets > sh->sent)
		p->load.packets = sh->sent;
	if (p->load.packets != sh->old->load.packets)
		shrink_keep(sh);
	if (p->load.packets != 0)
		lower(sh, &p->load.packets, 1);
	sh->seeds = OTHER_SEEDS;
}

static void
shrink_times(struct shrinking *sh)
{
	struct rl_swarm_plan *p = sh->plan;
	const struct rl_sim_faults *list = &p->faults;

	lower(sh, &p->load.start_ns, 0);
	for (uint32_t i = 0; i < list->n; i++)
		sooner(sh, i);
	if (p->load.stop_ns != RL_NEVER)
		lower(sh, &p->load.stop_ns, p->load.start_ns + 1);
	if (p->heal_ns != 0)
		lower(sh, &p->heal_ns,
		      list->n == 0 ? 1 : list->f[list->n - 1].t_ns + 1);
}

int
rl_swarm_shrink(struct rl_swarm_shrink *s, struct rl_swarm_plan *plan)
{
	struct shrinking sh = { .s = s, .plan = plan };
	const struct rl_config_key *key[KEYS_MAX];
	size_t nset;

	s->runs = 0;
	if (!shrink_ask(&sh))
		return -EINVAL;
	sh.old = malloc(sizeof(*sh.old));
	if (sh.old == NULL)
		return -ENOMEM;
	*sh.old = *plan;
	rl_swarm_settings(&nset);
	do {
		sh.changed = false;
		shrink_packets(&sh);
		each_part(&sh, plan->faults.n, true, leave_faults);
		shrink_fabric(&sh);
		shrink_packets(&sh);
		shrink_times(&sh);
		sh.seeds = 0; /* there are many of them */
		each_part(&sh, keys_of(key) + (uint32_t)nset, false,
			  leave_settings);
		plain_faults(&sh);
	} while (sh.changed && s->runs < s->most && sh.err == 0);
	free(sh.old);
	return sh.err;
}
