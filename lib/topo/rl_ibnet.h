/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_IBNET_H
#define RL_IBNET_H

/**
 * @file An InfiniBand fabric as its tools print it [ROUTE-8]: the output of
 * `ibnetdiscover`, and `opensm-subnet.lst`, which OpenSM writes after each
 * sweep. Both name nodes by GUIDs and cables by the ports at their ends; a
 * cable may appear once or from both sides. Control path only: it allocates.
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_topo.h"

RL_PUBLIC_BEGIN

/** Longest accepted line; a description has 64 characters. */
#define RL_IBNET_LINE_MAX 1024
#define RL_IBNET_DESC_MAX 65
#define RL_IBNET_NONE UINT32_MAX

enum rl_ibnet_kind { RL_IBNET_SWITCH, RL_IBNET_CA, RL_IBNET_ROUTER };

struct rl_ibnet_node {
	uint64_t guid;
	enum rl_ibnet_kind kind;
	uint32_t line;	     /**< its first line */
	uint32_t lid;	     /**< switches: of port 0; 0: not said */
	uint32_t first_port; /**< index into rl_ibnet.port */
	uint32_t nports;     /**< with a cable in them */
	char desc[RL_IBNET_DESC_MAX]; /**< as the tool prints it */
	/**
	 * A valid device name: the description, with '_' for every invalid
	 * character, cut at RL_NAME_MAX - 1. "S.<guid>", "H.<guid>" or
	 * "R.<guid>" if that is empty or not unique.
	 */
	char name[RL_NAME_MAX];
};

/** A port with a cable in it. */
struct rl_ibnet_port {
	uint32_t node;	 /**< index into rl_ibnet.node */
	uint32_t number; /**< 1 to 255, as printed on the device */
	uint32_t peer;	 /**< index into rl_ibnet.port */
	uint32_t link;	 /**< index into rl_ibnet.link; RL_IBNET_NONE: loop */
	uint32_t line;	 /**< its first line */
	uint32_t lid;	 /**< CAs, routers; 0: not said */
	uint32_t lmc;	 /**< CAs, routers */
	uint64_t guid;	 /**< CAs, routers; 0: not said */
	uint32_t mbps;	 /**< of the cable: width x speed, at present; the lower
			      one if its ends differ; 0: not said */
};

struct rl_ibnet {
	uint32_t nnode;
	uint32_t nport;
	uint32_t nlink;
	uint32_t nloops; /**< cables from a node to itself: left out */
	struct rl_ibnet_node *node;   /**< in the order of the file */
	struct rl_ibnet_port *port;   /**< by node, then number */
	uint32_t (*link)[2];	      /**< two ports each, by the first one */
};

/**
 * Control thread. Reads the output of ibnetdiscover, or an opensm-subnet.lst,
 * and detects which it is. @p text need not end in a zero.
 *
 * @param err   RL_ERR_MAX bytes; on failure one line without newline, ending
 *   in what to do
 * @param line  the line that is wrong, or 0
 * @return 0; -EINVAL, -ENOMEM, with nothing to free
 */
int rl_ibnet_read(const char *text, size_t len, struct rl_ibnet *net, char *err,
		  int *line);

/** Control thread. Frees what rl_ibnet_read() made; a zeroed net is fine. */
void rl_ibnet_free(struct rl_ibnet *net);

/** Any thread. Index of a node's port with this number, or RL_IBNET_NONE. */
uint32_t rl_ibnet_find_port(const struct rl_ibnet *net, uint32_t node,
			    uint32_t number);

/**
 * Any thread. Index of the switch with this GUID, or RL_IBNET_NONE; O(nodes).
 */
uint32_t rl_ibnet_find_switch(const struct rl_ibnet *net, uint64_t guid);

/**
 * Control thread. The description of the fabric: switches, then CAs and routers
 * as endpoints, in the order of the file, without those that have no cable.
 * Link i of the description is link i of @p net. Fills `switches`, `endpoints`,
 * `links` and their numbers of @p spec; the three are the caller's to free(),
 * on failure too.
 *
 * @return 0 or -ENOMEM
 */
int rl_ibnet_spec(const struct rl_ibnet *net, struct rl_topo_spec *spec);

RL_PUBLIC_END

#endif /* RL_IBNET_H */
