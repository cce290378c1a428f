/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_BED_H
#define HOST_BED_H

/**
 * @file A fabric on lcores, with clients supplied by a test.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "eal_fixture.h"
#include "host.h"

struct host_bed {
	struct rl_config cfg;
	struct rl_route *route;
	struct host host;
};

/**
 * Opens the fabric in @p text (a fabric file), with software wires for frames
 * of @p frame_flits. Add clients, then call host_start().
 */
static inline void
host_bed_open(struct host_bed *b, const char *text, unsigned int frame_flits)
{
	struct host_params hp = {
		.cfg = &b->cfg,
		.seed = 1,
		.ring_frames = 256,
		.frame_bytes = rl_frame_bytes(frame_flits),
	};
	char err[HOST_ERR_MAX];

	if (rl_config_read_text("bed", text, strlen(text), &b->cfg, err,
				sizeof(err)) != 0 ||
	    rl_route_setup(&b->cfg.topo, b->cfg.engine, RL_VCS, 1, &b->route,
			   err) != 0)
		fail_msg("%s", err);
	hp.route = b->route;
	if (host_open(&b->host, &hp, err) != 0)
		fail_msg("%s", err);
}

/**
 * Sets the client of endpoint @p e.
 * @return the flit cache of the lcore that polls it
 */
static inline struct rl_flit_cache *
host_bed_client(struct host_bed *b, uint16_t e, const struct rl_client *client)
{
	const uint32_t d = b->cfg.topo.ep_dev[e];
	const struct host_place *pl = &b->host.place;

	b->host.fabric.dev[d].core.client = *client;
	return &b->host.lcore[pl->lcore[host_role(pl, d, -1)]]->cache;
}

/** Stops and closes it; a leaked flit fails the test. */
static inline void
host_bed_close(struct host_bed *b)
{
	host_stop(&b->host);
	assert_int_equal(host_leaked_flits(&b->host), 0);
	host_close(&b->host);
	rl_route_free(b->route);
	rl_config_free(&b->cfg);
}

#endif /* HOST_BED_H */
