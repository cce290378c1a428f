/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "sim_app.h"

/*
 * Fairness: how much of each sender had been delivered when the traffic ended.
 * Later everything arrives, so the end of the run shows only who sends.
 */

static uint64_t
sent_by(const struct shares *sh, uint16_t nep, uint32_t src)
{
	uint64_t n = 0;

	for (uint32_t d = 0; d < nep; d++)
		n += sh->flow[(size_t)src * nep + d].packets;
	return n;
}

int
shares_init(struct shares *sh, struct rl_sim_load_cfg *load)
{
	*sh = (struct shares){ 0 };
	if (load->nep > SHARES_EPS_MAX || load->stop_ns == RL_NEVER)
		return 0;
	sh->flow = calloc((size_t)load->nep * load->nep, sizeof(*sh->flow));
	load->flow = sh->flow;
	return sh->flow == NULL ? -ENOMEM : 0;
}

void
shares_until(struct shares *sh, uint16_t nep)
{
	if (sh->flow == NULL || sh->until != NULL)
		return;
	sh->until = calloc(nep, sizeof(*sh->until));
	for (uint32_t s = 0; s < nep && sh->until != NULL; s++)
		sh->until[s] = sent_by(sh, nep, s);
}

json_t *
shares_json(struct shares *sh, uint16_t nep)
{
	double sum = 0, squares = 0, least = 0, x;
	json_t *o = NULL;
	uint32_t n = 0;

	for (uint32_t s = 0; sh->until != NULL && s < nep; s++) {
		if (sent_by(sh, nep, s) == 0)
			continue; /* it has nothing to send */
		x = (double)sh->until[s];
		least = n++ == 0 || x < least ? x : least;
		sum += x;
		squares += x * x;
	}
	if (sum > 0) {
		o = json_object();
		json_object_set_new(o, "count", json_integer(n));
		json_object_set_new(o, "packets",
				    json_integer((json_int_t)sum));
		json_object_set_new(o, "slowest", json_real(least * n / sum));
		json_object_set_new(o, "jain",
				    json_real(sum * sum / (n * squares)));
	}
	free(sh->flow);
	free(sh->until);
	*sh = (struct shares){ 0 };
	return o;
}
