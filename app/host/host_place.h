/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_PLACE_H
#define HOST_PLACE_H

/**
 * @file
 * Which lcore runs which role [SW-3]. A role is called after its device
 * ("s0": the core of s0) and, for a port, the port's number ("s0/2"), so that
 * the beginning of a name in a fabric file's `lcores` group stands for a
 * device with all its ports.
 *
 * Automatic placement keeps a device together, its ports and its core, so that
 * only wires go from lcore to lcore. Each switch with its endpoints stands next
 * to its neighbours, and the row is cut into pieces of even load (host_load()).
 * Ports get lcores of their own by the file alone.
 */

#include "rl_config.h"
#include "rl_fwd.h"

#define HOST_ROLE_NAME (RL_NAME_MAX + 8)

struct host_place {
	uint32_t nroles;
	uint32_t *base;	 /**< [ndev] number of a device's core role */
	uint16_t *lcore; /**< [nroles]: the core's, then its ports' */
};

/** Number of a role; port -1 is the core. */
static inline uint32_t
host_role(const struct host_place *p, uint32_t dev, int port)
{
	return p->base[dev] + 1 + (uint32_t)port;
}

/** Writes the name of a role into @p buf (HOST_ROLE_NAME). Returns buf. */
char *host_role_name(const struct rl_topo *t, uint32_t dev, int port,
		     char *buf);

/**
 * Any thread. What each device has to do, in packets at a port, where everybody
 * sends to everybody by the tables of @p fwd; NULL: by the number of its ports.
 *
 * @param load  [ndev]; set
 */
void host_load(const struct rl_topo *t, const struct rl_fwd *fwd,
	       uint64_t load[]);

/**
 * Control thread. Places every role of @p cfg on one of @p n lcores.
 *
 * @param fwd  [ndev] tables, or NULL
 * @param process  whose devices count (rl_config_runs())
 * @param err  @p errlen bytes: one line on failure
 * @return 0; -EINVAL (the file wants an lcore that is not among them),
 *   -ENOMEM; on failure nothing is to be freed
 */
int host_place(const struct rl_config *cfg, const struct rl_fwd *fwd,
	       int process, const uint16_t lcore[], uint32_t n,
	       struct host_place *place, char *err, size_t errlen);

/** Control thread. Frees what host_place() made. */
void host_place_free(struct host_place *place);

#endif /* HOST_PLACE_H */
