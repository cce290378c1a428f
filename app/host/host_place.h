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
 * Automatic placement cuts the list of roles, in the order of the devices,
 * into as many pieces as there are lcores: a device stays together while there
 * are fewer lcores than devices, and with enough lcores each role has its own.
 */

#include "rl_config.h"

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
 * Control thread. Places every role of @p cfg on one of @p n lcores.
 *
 * @param err  @p errlen bytes: one line on failure
 * @return 0; -EINVAL (the file wants an lcore that is not among them),
 *   -ENOMEM; on failure nothing is to be freed
 */
int host_place(const struct rl_config *cfg, const uint16_t lcore[], uint32_t n,
	       struct host_place *place, char *err, size_t errlen);

/** Control thread. Frees what host_place() made. */
void host_place_free(struct host_place *place);

#endif /* HOST_PLACE_H */
