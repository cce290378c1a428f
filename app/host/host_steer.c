/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define RENEW_NS (RL_XDP_STEER_LEASE_MS / 8 * RL_NS_PER_MS)

struct host_steer {
	struct rl_xdp_steer prog;
	bool noted;
	uint64_t count[RL_STEER_COUNTS];
};

int
host_steer_open(struct host *h)
{
	char err[RL_XDP_ERR_MAX];

	if (h->p.cfg->nwire == 0)
		return 0;
	h->steer = calloc(2ull * h->p.cfg->nwire, sizeof(*h->steer));
	if (h->steer == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * h->p.cfg->nwire; i++) {
		const struct rl_wire_dev *d = &h->wire_dev[i];

		/* if the user loaded another program, nothing is counted */
		if (d->started && strcmp(d->dev.driver, "net_af_xdp") == 0)
			(void)rl_xdp_steer_own(&h->steer[i].prog, d->dev.iface,
					       err);
	}
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
		h->steer[i].noted = rl_xdp_steer_counts(&h->steer[i].prog,
							h->steer[i].count) == 0;
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
