/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHECK_RANKS_H
#define CHECK_RANKS_H

/** @file Inside of the proof by ranks. check_ranks.c says how it works. */

#include "rl_check_ranks.h"

#define RANKS_NONE UINT32_MAX
/** Slots: (plane, SL class) pairs that distinguish packets. */
#define RANKS_SLOTS (RL_FWD_PLANES * RL_SLS)
/** Destinations whose entries are gathered together: a cache line of each. */
#define RANKS_TILE 8

/** Where a port leads. */
struct ranks_port {
	uint32_t dev;	  /**< device at the other end */
	uint32_t dirlink; /**< link * 2 + sending end; RANKS_NONE: dead */
	uint16_t in_port; /**< port there */
};

/** The effect of a next hop (port, plane) of a device on a packet of an SL
 *  class, if it does not depend on the input port. */
struct ranks_rec {
	uint32_t rank; /**< of the channel it takes, plus 1; 0: not allowed */
	uint32_t to;   /**< slot * switches + switch, or RANKS_* */
};

#define RANKS_ENDPOINT (1u << 31) /**< to an endpoint; low bits: its device */
#define RANKS_BY_SL (1u << 30)	  /**< the effect depends on the SL class */
#define RANKS_SEARCH (1u << 29)	  /**< a slot on which the SL matters */
#define RANKS_BELOW (1u << 28)	  /**< in ranks_run.scan: its rank is lower than
				       all that its other end can do */
#define RANKS_TO (RANKS_BELOW - 1)

/** The same for all destinations. */
struct ranks_map {
	const struct rl_check_ranks *in;
	const struct rl_topo *topo;
	uint32_t nsw;	 /**< devices below this are switches */
	uint32_t nports; /**< of all devices */
	uint32_t *port0; /**< [ndev + 1] ports of a device */
	struct ranks_port *port;
	uint8_t *live;	 /**< [nep] endpoints that are present */
	uint32_t nlive;
	unsigned int levels; /**< service levels */
	/* SLs that paths use, grouped into classes with the same meaning
	   everywhere */
	uint16_t used_sls;
	unsigned int nslc;
	uint8_t slc_of[RL_SLS];
	uint8_t sl_of[RL_SLS]; /**< [class] one of its SLs */
	/* planes: those on which the SL does not matter have one slot */
	unsigned int nplanes;
	unsigned int nslots;
	uint8_t slot_of[RL_FWD_PLANES][RL_SLS]; /**< [plane][class] */
	uint8_t slot_plane[RANKS_SLOTS];
	uint8_t slot_slc[RANKS_SLOTS];
	bool slot_free[RANKS_SLOTS]; /**< of SLs */
	/* input ports, those with the same effect on the VL of the next link as
	 * one; [port0 + port], the last one injected */
	bool simple; /**< it matters at no switch */
	struct ranks_rec *rec[RL_SLS]; /**< [class] simple: [port][plane] */
	/** [plane] bit per slot that a hop with this plane may lead to */
	uint64_t slots_of[RL_FWD_PLANES];
};

/** State and result of a proof. */
struct ranks_run {
	struct ranks_map map;
	struct rl_ranks_report *rep;
	/* simple: [slot * nsw + switch][destination of a tile] */
	uint32_t *in_max;  /**< highest rank by which a packet comes in, or 0 */
	uint32_t *out_min; /**< lowest rank by which it leaves */
	uint16_t *hops;	   /**< links to the destination; see check_ranks_fast.c */
	uint32_t *turn;	   /**< port that its first hop takes, if packets that
				came by it may not */
	uint32_t *queue;   /**< of [slot * nsw + switch][destination], too */
	uint8_t *seen;
	/** [plane][switch][next hop][destination] entries, see rl_fwd_lanes() */
	uint16_t (*tile)[RANKS_TILE];
	uint32_t *alike;   /**< [nep] the first earlier source that injects
				alike, by the same tables */
	uint8_t alts[RL_FWD_PLANES]; /**< [plane] next hops that it holds */
	uint32_t *far;	   /**< [port] the port at the other end of its link */
	struct ranks_rec *scan; /**< [plane][port] map.rec of the first class */
	uint8_t assumed[RANKS_SLOTS]; /**< see check_ranks_fast.c */
	bool below;	   /**< scan has RANKS_BELOW */
	uint64_t followed; /**< bit per slot with hops that are not 0 */
	uint32_t *part;	   /**< [ndev] see check_parts.h */
	struct check_kept *kept; /**< what the proof keeps; NULL: nothing */
	uint64_t scanned;  /**< bit per slot whose entries all count */
	uint8_t bears[RANKS_SLOTS]; /**< [such a slot] bit per plane */
	struct ranks_exact *exact;
};

/** Fills a map. Returns 0 or -ENOMEM; free it in both cases. */
int check_ranks_map(struct ranks_map *m, const struct rl_check_ranks *in);
/** The same, but only ports, endpoints, SLs and planes. */
int check_ranks_ports(struct ranks_map *m, const struct rl_check_ranks *in);
/** Bit per SL in a row of @p n of them. */
uint16_t check_sls_of(const uint8_t *sl, uint32_t n);
void check_ranks_map_free(struct ranks_map *m);

/** A word of next hops (rl_fwd.h): their ports, and a 1 in each. */
#define RANKS_PORT 0x1fffu
#define RANKS_ONES 0x0001000100010001ull

/** Whether there is a next hop at the front of a word. */
static inline bool
ranks_more(uint64_t word)
{
	return (word & RANKS_PORT) != RL_FWD_PORT_NONE;
}

static inline uint64_t
ranks_next(uint64_t word)
{
	return word >> 16 | (uint64_t)RL_FWD_PORT_NONE << 48;
}

/** The effect of the next hop at the front of a word; NULL: there is no such
    port, or no packet may take it. */
static inline const struct ranks_rec *
ranks_rec_of(uint64_t word, const struct ranks_rec *recs, uint32_t nports)
{
	const uint32_t port = word & RANKS_PORT;
	const struct ranks_rec *rec =
		&recs[port * RL_FWD_PLANES + (word >> 13 & 7)];

	return port < nports && rec->rank != 0 ? rec : NULL;
}

/** The same of the first next hop that packets may take. */
static inline const struct ranks_rec *
ranks_first(uint64_t word, const struct ranks_rec *recs, uint32_t nports)
{
	const struct ranks_rec *rec = NULL;

	for (; ranks_more(word) && rec == NULL; word = ranks_next(word))
		rec = ranks_rec_of(word, recs, nports);
	return rec;
}

/** Whether that leads to a switch in state @p at. */
static inline bool
ranks_leads(uint64_t word, const struct ranks_rec *recs, uint32_t nports,
	    uint32_t at)
{
	const struct ranks_rec *rec = ranks_first(word, recs, nports);

	return rec != NULL && !(rec->to & RANKS_ENDPOINT) &&
	       (rec->to & RANKS_TO) == at;
}

/** The SL of packets of level @p level from endpoint @p src. */
static inline unsigned int
ranks_sl(const struct ranks_map *m, const struct rl_fwd *f, uint32_t dst,
	 unsigned int level)
{
	return ((f->path_sl[dst] & (RL_SLS - 1)) + level * RL_SLS / m->levels) &
	       (RL_SLS - 1);
}

/** The word that source @p s injects packets of a level by for @p dst, its
    records and its class. */
static inline uint64_t
ranks_word(const struct ranks_map *m, uint32_t s, uint32_t dst,
	   unsigned int level, const struct ranks_rec **recs, unsigned int *slc)
{
	const uint32_t dev = m->nsw + s;
	const struct rl_fwd *f = &m->in->fwd[dev];
	const unsigned int sl = ranks_sl(m, f, dst, level);
	const unsigned int p = f->inject_plane[sl];

	*slc = m->slc_of[sl];
	*recs = m->rec[*slc] + (size_t)m->port0[dev] * RL_FWD_PLANES;
	return rl_fwd_word(f, p < f->nplanes ? p : 0, (uint16_t)dst);
}

/**
 * Checks all that leads to the destinations @p from to @p from + RANKS_TILE,
 * those with a bit in @p want, under the assumptions of the fast path. Returns
 * bits of those that are proven; the others are undecided.
 */
unsigned int check_ranks_fast(struct ranks_run *r, uint32_t from,
			      unsigned int want);

/**
 * Checks all that leads to destination @p dst, packet by packet; fills the
 * report with what is wrong. Returns 0, -ELOOP, -EHOSTUNREACH, -ENOMEM.
 */
int check_ranks_exact(struct ranks_run *r, uint32_t dst);
void check_ranks_exact_free(struct ranks_run *r);

#endif /* CHECK_RANKS_H */
