/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HOST_PLACE_H
#define HOST_PLACE_H

/**
 * @file
 * Which lcore runs which role [SW-3]. A role is named after its device ("s0":
 * the core of s0) and, for a port, its number ("s0/2"), so that a name prefix
 * in the `lcores` group of a fabric file stands for a device with all its
 * ports.
 *
 * Automatic placement keeps ports and core of a device together, so that only
 * wires cross lcores. Switches with their endpoints are in order of proximity,
 * and the sequence is cut into pieces of even load (host_load()). Only the file
 * can give ports their own lcores.
 */

#include "rl_config.h"
#include "rl_fwd.h"

#define HOST_ROLE_NAME (RL_NAME_MAX + 8)

struct host_place {
	uint32_t nroles;
	uint32_t *base;	 /**< [ndev] role number of the core of a device */
	uint16_t *lcore; /**< [nroles]: of the core, then of its ports */
};

/** @return number of a role; port -1 is the core */
static inline uint32_t
host_role(const struct host_place *p, uint32_t dev, int port)
{
	return p->base[dev] + 1 + (uint32_t)port;
}

/** Writes the name of a role into @p buf (HOST_ROLE_NAME). @return buf */
char *host_role_name(const struct rl_topo *t, uint32_t dev, int port,
		     char *buf);

/**
 * Any thread. Estimates the load of each device, in packets at a port, under
 * all-to-all traffic by the tables of @p fwd; NULL: by the number of ports.
 *
 * @param load [ndev]; set
 */
void host_load(const struct rl_topo *t, const struct rl_fwd *fwd,
	       uint64_t load[]);

/**
 * Control thread. Places every role of @p cfg on one of @p n lcores.
 *
 * @param fwd [ndev] tables, or NULL
 * @param process only its devices count (rl_config_runs())
 * @param err @p errlen bytes: one line on failure
 * @return 0; -EINVAL: the file names an lcore that is not given; -ENOMEM; on
 *   failure there is nothing to free
 */
int host_place(const struct rl_config *cfg, const struct rl_fwd *fwd,
	       int process, const uint16_t lcore[], uint32_t n,
	       struct host_place *place, char *err, size_t errlen);

/** Control thread. Frees what host_place() made. */
void host_place_free(struct host_place *place);

#endif /* HOST_PLACE_H */
