/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_TORUS_CONF_H
#define RL_TORUS_CONF_H

/**
 * @file torus-2QoS.conf, OpenSM's description of a torus, in its own format
 * [ROUTE-8]: it gives coordinates to the switches that ibnetdiscover has seen,
 * so that engines for grids can route them. Control path only: it allocates.
 */

#include "rl_ibnet.h"

RL_PUBLIC_BEGIN

#define RL_TORUS_SEEDS_MAX 64
#define RL_TORUS_ORDER_MAX 256

/** A switch, and the directions of some of its neighbours. */
struct rl_torus_seed {
	uint32_t line;
	uint64_t from; /**< GUID; 0: no link is named */
	/** GUID of the neighbour in + (0) or - (1) of a dimension; 0: none */
	uint64_t to[RL_DIMS_MAX][2];
	/** offset of the origin from the switch, per dimension */
	int32_t dateline[RL_DIMS_MAX];
};

struct rl_torus_conf {
	uint16_t dims[RL_DIMS_MAX];
	bool wrap[RL_DIMS_MAX]; /**< never for a radix below 3 */
	uint32_t portgroup_max_ports;
	uint32_t max_changes; /**< of OpenSM's log; not used */
	uint8_t order[RL_TORUS_ORDER_MAX]; /**< port_order, without doubles */
	uint32_t norder;
	struct rl_torus_seed seed[RL_TORUS_SEEDS_MAX];
	uint32_t nseeds;
};

/**
 * Any thread. Reads a torus-2QoS.conf.
 *
 * @param err   RL_ERR_MAX bytes; on failure one line without newline
 * @param line  the line that is wrong, or 0
 * @return 0 or -EINVAL
 */
int rl_torus_conf_read(const char *text, size_t len, struct rl_torus_conf *conf,
		       char *err, int *line);

/**
 * Control thread. Finds the place of every switch of @p net, from the first
 * seed that allows it.
 *
 * @param place  [net->nnode], set to the number of a switch's place: its
 *   coordinates in mixed radix, x slowest; RL_IBNET_NONE for other nodes and
 *   for switches without a cable
 * @param err    RL_ERR_MAX bytes
 * @param line   the seed's line, or 0
 * @return 0; -EINVAL: the fabric is not that torus, @p err has the reason;
 *   -ENOMEM
 */
int rl_torus_find(const struct rl_ibnet *net, const struct rl_torus_conf *conf,
		  uint32_t *place, char *err, int *line);

/**
 * Control thread. Builds the fabric of @p net as the grid described by @p conf.
 * A place without a switch gets a failed one, "hole.<x>.<y>.<z>". Endpoints
 * follow the order of their switches and, within one, port_order, then the
 * numbers of their ports.
 *
 * @param fail, nfail  failed from the start, as in rl_topo_spec
 * @param err   RL_ERR_MAX bytes
 * @param line  line of @p conf, or of the reference in @p fail if *in_fail is
 *   set, or 0
 * @return 0, -EINVAL, -ENOMEM, with nothing to free
 */
int rl_torus_build(const struct rl_ibnet *net, const struct rl_torus_conf *conf,
		   struct rl_topo_ref *fail, uint32_t nfail,
		   struct rl_topo *topo, char *err, int *line, bool *in_fail);

RL_PUBLIC_END

#endif /* RL_TORUS_CONF_H */
