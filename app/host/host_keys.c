/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

int
host_key_read(const struct rl_config *cfg, struct rl_auth_root *root,
	      bool *keyed, char *err)
{
	char why[256];
	int ret;

	*keyed = false;
	if (cfg->key_file == NULL)
		return 0;
	ret = rl_auth_root_read(root, cfg->key_file, why, sizeof(why));
	*keyed = ret == 0;
	if (ret != 0)
		snprintf(err, HOST_ERR_MAX, "%s:%u: link.key_file: %.300s: %s",
			 cfg->key_file_file, cfg->key_file_line, cfg->key_file,
			 why);
	return ret;
}

int
host_keys_open(struct host *h)
{
	const struct rl_config *cfg = h->p.cfg;
	char name[2 * RL_NAME_MAX + 8];

	if (h->p.key == NULL || cfg->nwire == 0)
		return 0;
	h->key = calloc(2ull * cfg->topo.nlink, sizeof(*h->key));
	if (h->key == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * cfg->nwire; i++) {
		const uint32_t link = cfg->wire[i / 2].index;
		struct rl_auth **a = &h->key[2 * link + i % 2];

		if (!rl_config_runs(cfg, h->p.process,
				    cfg->topo.link[link].dev[i % 2]))
			continue;
		rl_topo_link_name(&cfg->topo, link, name, sizeof(name));
		*a = rl_auth_open(h->p.key, name, i % 2);
		if (*a == NULL)
			return -ENOMEM;
	}
	return 0;
}

const struct rl_link_auth *
host_keys_of(const struct host *h, uint32_t link, unsigned int end)
{
	const struct rl_auth *a = h->key == NULL ? NULL
						 : h->key[2 * link + end];

	return a == NULL ? NULL : rl_auth_link(a);
}

void
host_keys_close(struct host *h)
{
	for (uint32_t i = 0; h->key != NULL && i < 2 * h->p.cfg->topo.nlink;
	     i++)
		rl_auth_close(h->key[i]);
	free(h->key);
	h->key = NULL;
}
