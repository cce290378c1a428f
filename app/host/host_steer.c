/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define RENEW_NS (RL_XDP_STEER_LEASE_MS / 8 * RL_NS_PER_MS)

struct host_steer {
	struct rl_xdp_steer prog;
	bool owned; /**< once: no program of the user's stands there */
	bool noted;
	uint64_t before[RL_STEER_COUNTS]; /**< of programs that are gone */
	uint64_t count[RL_STEER_COUNTS];
};

/* If the user loaded another program, nothing is counted. */
void
host_steer_take(struct host *h, uint32_t end)
{
	const struct rl_wire_dev *d = &h->wire_dev[end];
	struct host_steer *s = &h->steer[end];
	char err[RL_XDP_ERR_MAX];

	if (d->started && strcmp(d->dev.driver, "net_af_xdp") == 0)
		s->owned |= rl_xdp_steer_own(&s->prog, d->dev.iface, err) == 0;
}

static void
note(struct host_steer *s)
{
	s->noted |= rl_xdp_steer_counts(&s->prog, s->count) == 0;
	for (uint32_t i = 0; s->prog.count_fd > 0 && i < RL_STEER_COUNTS; i++)
		s->count[i] += s->before[i];
}

int
host_steer_clear(struct host *h, uint32_t end, char *err)
{
	struct host_steer *s = &h->steer[end];

	if (!s->owned)
		return 0;
	note(s);
	memcpy(s->before, s->count, sizeof(s->before));
	rl_xdp_steer_close(&s->prog);
	return rl_xdp_steer_clear(h->wire_dev[end].dev.iface, err);
}

int
host_steer_open(struct host *h)
{
	if (h->p.cfg->nwire == 0)
		return 0;
	h->steer = calloc(2ull * h->p.cfg->nwire, sizeof(*h->steer));
	if (h->steer == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * h->p.cfg->nwire; i++)
		host_steer_take(h, i);
	return 0;
}

void
host_steer_renew(struct host *h)
{
	const uint64_t now_ns = host_now(h);

	if (h->steer == NULL || now_ns < h->steer_due_ns)
		return;
	h->steer_due_ns = now_ns + RENEW_NS;
	for (uint32_t i = 0; i < 2 * h->p.cfg->nwire; i++)
		rl_xdp_steer_renew(&h->steer[i].prog);
}

void
host_steer_note(struct host *h)
{
	for (uint32_t i = 0; h->steer != NULL && i < 2 * h->p.cfg->nwire; i++)
		note(&h->steer[i]);
}

const uint64_t *
host_steer_counts(const struct host *h, uint32_t wire, int end)
{
	const struct host_steer *s =
		h->steer == NULL ? NULL : &h->steer[2 * wire + (uint32_t)end];

	return s != NULL && s->noted ? s->count : NULL;
}

void
host_steer_close(struct host *h)
{
	for (uint32_t i = 0; h->steer != NULL && i < 2 * h->p.cfg->nwire; i++)
		rl_xdp_steer_close(&h->steer[i].prog);
	free(h->steer);
	h->steer = NULL;
}
