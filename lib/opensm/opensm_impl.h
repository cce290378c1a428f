/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPENSM_IMPL_H
#define OPENSM_IMPL_H

/**
 * @file Shared by the files of this folder. A dump is read in this order: the
 * fabric, the forwarding tables by LID (which also identify LIDs), the
 * endpoints that follow from both, SL2VL, the SLs of the paths; then tables are
 * made, and each path is walked once to find the VLs in use.
 */

#include <errno.h>

#include "rl_ibnet.h"
#include "rl_lines.h"
#include "rl_opensm.h"
#include "rl_refuse.h"

/** Unicast LIDs are below this. */
#define OSM_LIDS 0xc000u
#define OSM_NO_PORT 255
/** VL of packets to be dropped. */
#define OSM_VL_DROP 15
#define OSM_LINE_MAX 4096

/** One endpoint: a LID of a port. */
struct osm_end {
	uint32_t port; /**< index into rl_ibnet.port */
	uint32_t lid;
};

/** One switch. */
struct osm_switch {
	uint32_t node;	 /**< index into rl_ibnet.node */
	uint8_t *lft;	 /**< [OSM_LIDS]: output port; NULL: no table */
	/** [nports][nports][RL_SLS], by input and output port; zero if the file
	    has no entry */
	uint8_t *sl2vl;
	uint32_t nports; /**< highest number of a port with a cable, plus 1 */
};

struct osm_read {
	const struct rl_opensm_text *file;
	struct rl_opensm *osm;
	struct rl_opensm_error *err;
	struct rl_ibnet net;
	struct osm_switch *sw;	/**< by device of the topology */
	uint32_t nsw;
	uint32_t *sw_of_node;	/**< switch of a node; RL_IBNET_NONE */
	struct osm_end *end;	/**< endpoints, by LID */
	uint32_t nend;
	uint32_t *end_of_lid;	/**< [OSM_LIDS]; RL_IBNET_NONE */
	uint64_t *guid_of_lid;	/**< [OSM_LIDS], from the LFTs; 0: not said */
	uint8_t *path_sl;	/**< [nend][nend] */
	struct rl_lines in;
	char line[OSM_LINE_MAX];
};

/** Tables of a device; rl_opensm.priv points to it. */
struct osm_priv {
	struct rl_fwd_entry *entry; /**< [ndev][nep] */
	uint8_t **sl2vl;	    /**< [ndev], each a table or NULL */
	uint32_t ndev;
	uint8_t *path_sl;
	uint8_t *zeros; /**< SL2VL of endpoints */
};

/** Writes a one-line error. @return -EINVAL, or -ENOMEM */
#define osm_error(r, what, at, ...)                                            \
	((r)->err->file = (what), (r)->err->line = (int)(at),                  \
	 rl_refuse((r)->err->why, sizeof((r)->err->why), -EINVAL, __VA_ARGS__))
int osm_no_memory(struct osm_read *r);

/** Seeks to the beginning of a file. */
void osm_open(struct osm_read *r, enum rl_opensm_file file);
/** The next line. @return 1, 0: the end; or -EINVAL after saying why */
int osm_next(struct osm_read *r, enum rl_opensm_file file);

int osm_read_lfts(struct osm_read *r);
int osm_read_sl2vl(struct osm_read *r);
int osm_read_paths(struct osm_read *r);
/** Makes the endpoints, and the topology. */
int osm_make_ends(struct osm_read *r);
int osm_make_topo(struct osm_read *r);
/** Converts the tables for the checker. */
int osm_make_fwd(struct osm_read *r);
/** Walks each path; sets the VLs in use, and renumbers them. */
int osm_walk(struct osm_read *r);

#endif /* OPENSM_IMPL_H */
