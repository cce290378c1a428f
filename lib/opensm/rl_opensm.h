/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_OPENSM_H
#define RL_OPENSM_H

/**
 * @file The tables of a real fabric, from a dump by OpenSM, converted for the
 * checker [ROUTE-8]. Control path only: it allocates.
 *
 * Every LID of a channel adapter or router is a separate endpoint: a port with
 * several LIDs is several endpoints, each with a link to the same port of the
 * switch. Their names are the node's, with ".p<port>" if a node has cables in
 * several ports and ".l<lid>" if a port has several LIDs.
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_fwd.h"
#include "rl_topo.h"

/** The files of a dump. */
enum rl_opensm_file {
	RL_OPENSM_NET,	 /**< opensm-subnet.lst, or ibnetdiscover's output */
	RL_OPENSM_LFTS,	 /**< opensm-lfts.dump, or the output of dump_lfts */
	RL_OPENSM_SL2VL, /**< opensm-sl2vl.dump; may be absent: VL 0 for all */
	/** opensm-path-records.dump, or the output of `saquery -p`; may be
	    absent: SL 0 for all */
	RL_OPENSM_PATHS,
	RL_OPENSM_FILES,
};

struct rl_opensm_text {
	const char *text; /**< NULL: no such file */
	size_t len;
};

/** The tables. Their owner frees them by rl_opensm_free(). */
struct rl_opensm {
	struct rl_topo topo;
	struct rl_fwd *fwd; /**< [topo.ndev] */
	uint32_t nodes_without_lid; /**< CA ports without a LID: left out */
	uint32_t unknown_switches;  /**< in the tables, but not in the fabric */
	uint32_t missing_switches;  /**< in the fabric, but without a table */
	/** VL of the dump for VL v of the tables: itself, unless a VL above
	    RL_VCS is in use; then the VLs in use, renumbered from 0 */
	uint8_t vl[RL_VCS];
	uint8_t nvls;	   /**< VLs of the tables are below this */
	uint16_t used_vls; /**< bit per VL of the dump that a path uses */
	/** pairs that a switch drops because their SL has VL 15 there; in the
	    tables they use one of the other VLs */
	uint64_t dropped;
	uint32_t drop_src, drop_dst, drop_dev; /**< the first of them */
	void *priv;
};

/** An error, and its location. */
struct rl_opensm_error {
	char why[RL_ERR_MAX]; /**< one line, ending in what to do */
	enum rl_opensm_file file;
	int line; /**< 0: the file as a whole */
};

/**
 * Control thread. Reads the texts of a dump, and makes tables of them.
 *
 * @return 0; -EINVAL (a file is wrong, contradicts another one, or the fabric
 *   needs more than RL_VCS VLs), -ENOMEM; with nothing to free on failure
 */
int rl_opensm_read(const struct rl_opensm_text file[RL_OPENSM_FILES],
		   struct rl_opensm *osm, struct rl_opensm_error *err);

/** Control thread. Frees what rl_opensm_read() made; a zeroed one is fine. */
void rl_opensm_free(struct rl_opensm *osm);

#endif /* RL_OPENSM_H */
