/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IBNET_IMPL_H
#define IBNET_IMPL_H

/**
 * @file Shared by the files that read an InfiniBand fabric. Each format
 * collects nodes and ends of cables as it finds them; ibnet.c sorts them, finds
 * contradictions, and names the nodes.
 */

#include <errno.h>

#include "rl_ibnet.h"
#include "rl_lines.h"
#include "rl_refuse.h"

/** Identity of a node in a file: kind and GUID. */
struct ibnet_id {
	enum rl_ibnet_kind kind;
	uint64_t guid;
};

/** One side of a cable, as in a line. */
struct ibnet_end {
	struct ibnet_id id;
	uint32_t port;
	uint32_t lid;
	uint32_t lmc;
	uint64_t guid;
};

/** A line that says where a cable goes. */
struct ibnet_cable {
	struct ibnet_end end[2];
	uint32_t mbps; /**< 0: not said */
	uint32_t line;
};

struct ibnet_read {
	struct rl_lines in;
	char text[RL_IBNET_LINE_MAX];
	struct rl_ibnet *net;
	uint32_t cap_node;
	struct ibnet_cable *cable;
	uint32_t ncable;
	uint32_t cap_cable;
	uint32_t *by_id; /**< nodes in the order of their ids */
	char *err;
	uint32_t line; /**< of the error */
};

/** Writes the one line of an error, which is at line @p at; -EINVAL. */
#define ibnet_error(r, at, ...)                                                \
	((r)->line = (at),                                                     \
	 rl_refuse((r)->err, RL_ERR_MAX, -EINVAL, __VA_ARGS__))

/** Says so in the error. @return -ENOMEM */
int ibnet_no_memory(struct ibnet_read *r);

/** Adds a node of the line being read. @return 0 or -ENOMEM */
int ibnet_add_node(struct ibnet_read *r, struct ibnet_id id, uint32_t lid,
		   const char *desc, size_t desc_len);

/** Adds a cable of the line being read. @return 0 or -ENOMEM */
int ibnet_add_cable(struct ibnet_read *r, const struct ibnet_cable *c);

/**
 * Speed of a cable of @p lanes lanes in Mbit/s, by the name of the lanes' speed
 * ("SDR" to "XDR") or by Gbit/s of a lane ("2.5"). @return 0: not known
 */
uint32_t ibnet_mbps(uint64_t lanes, const char *speed);

/** Each reads one line. @return 0, -EINVAL, -ENOMEM */
int ibnet_line_discover(struct ibnet_read *r);
int ibnet_line_subnet(struct ibnet_read *r);

#endif /* IBNET_IMPL_H */
