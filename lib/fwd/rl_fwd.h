/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FWD_H
#define RL_FWD_H

/**
 * @file Forwarding tables of one device: routing engines write them, the switch
 * core reads them, and neither depends on the other.
 *
 * A table has one or more *planes*. A plane is a routing function of its own
 * with VLs of its own (dimension order, escape, detour); the VL on which a
 * packet arrives, together with its SL, determines its plane. For every (plane,
 * destination) there is an ordered list of next hops: the first is the primary
 * one, the others are used if those before them are dead [ROUTE-6, DRL-2].
 *
 * Beside them there may be an *adaptive* plane on a VL of its own [ROUTE-9]:
 * for each destination a set of ports that all lead nearer to it. A packet takes
 * whichever has the most room. If none has any, it goes on by the tables, as if
 * it were injected here, and never comes back to the adaptive plane. The switch of
 * its source may begin with another port, on a non-minimal way.
 *
 * A table is immutable once published; a new one replaces all of it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rl_base.h"

#define RL_FWD_ALTS 4
/** log2 of the most next hops in an entry */
#define RL_FWD_ROOM 2
#define RL_FWD_PLANES 8
/** Ports that a device of an adaptive plane may have: a bit each. */
#define RL_FWD_ADAPT_PORTS 64u
/** Ports a device may have; port numbers are below this. */
#define RL_FWD_PORTS_MAX 8191u
#define RL_FWD_PORT_NONE 8191u

/**
 * A next hop, two bytes: tables of a thousand switches hold eight million of
 * them, and filling that memory dominates the cost of computing them.
 */
struct rl_fwd_hop {
	uint16_t port : 13; /**< output port; RL_FWD_PORT_NONE ends the list */
	uint16_t plane : 3; /**< plane on which the packet goes on */
};

/** Next hops of one destination, best first. */
struct rl_fwd_entry {
	struct rl_fwd_hop hop[RL_FWD_ALTS];
};

static_assert(sizeof(struct rl_fwd_entry) == 8, "an entry is one word");

struct rl_fwd {
	uint32_t epoch;	  /**< number of this table, for reports */
	uint16_t ndst;	  /**< endpoints of the fabric */
	uint16_t nports;  /**< ports of this device, without the local one */
	uint16_t nplanes;
	uint8_t nvls;	  /**< VLs in use are below this, 1..RL_VCS */
	/** service levels: level q has the SLs from q * RL_SLS / levels on, and
	    VLs of its own; 0, 1: only one */
	uint8_t levels;
	/** if all listed next hops are dead, any other link to the same
	    neighbour may replace one, on the same plane: parallel links have
	    equal ranks (rl_check_ranks.h) */
	bool grouped;
	/** plane of a packet that came in by a link on (VL, SL) */
	uint8_t plane_of[RL_VCS][RL_SLS];
	/** plane of a packet that is injected here with an SL */
	uint8_t inject_plane[RL_SLS];
	/**
	 * [plane] next hops of all destinations, 1 << room[plane] for each: a
	 * plane has as many as its longest list. Only rl_fwd_lookup() reads it;
	 * it may read a word at the last entry.
	 */
	const struct rl_fwd_hop *list[RL_FWD_PLANES];
	uint8_t room[RL_FWD_PLANES]; /**< 0..RL_FWD_ROOM */
	/**
	 * [plane][in_port][out_port][sl] -> VL. in_port runs to nports
	 * inclusive: the last row serves injected packets.
	 */
	const uint8_t *sl2vl;
	/**
	 * If not NULL: class of each port, [nports + 1], the last one that of
	 * injected packets. sl2vl is then [plane][class in][class out][sl],
	 * with nclass classes: a table that fits a switch with thousands of
	 * ports, and that switches share.
	 */
	const uint8_t *port_class;
	uint8_t nclass;
	/** endpoints only: SL of the path to each destination, else NULL */
	const uint8_t *path_sl;
	/** [ndst] the adaptive plane: a bit for each port; NULL: there is none.
	    plane_of[adapt_vl] is the plane of packets that leave it */
	const uint64_t *adapt;
	/** [ndst] links to the destination; 0: no packet for it may begin with
	    a non-minimal hop here */
	const uint8_t *adapt_links;
	/** [ndst] ports that a non-minimal hop to it may take, of the switch of
	    a packet's source */
	const uint64_t *adapt_longer;
	uint64_t adapt_ends; /**< a bit for each port to an endpoint */
	uint16_t adapt_sls; /**< a bit for each SL whose packets use it */
	uint8_t adapt_vl;
};

/** No next hop, four times. */
#define RL_FWD_WORD_NONE (RL_FWD_PORT_NONE * 0x0001000100010001ull)

/** Any thread. The next hops in @p word of an entry with this room, padded with
    "no next hop". */
static inline uint64_t
rl_fwd_word_of(uint64_t word, unsigned int room)
{
	const uint64_t held = UINT64_MAX >> (64 - (16u << room));

	return (word & held) | (RL_FWD_WORD_NONE & ~held);
}

/** Any thread. The next hops of @p dst on @p plane as one word, dst < ndst: see
    rl_fwd_word_hop(). */
static inline uint64_t
rl_fwd_word(const struct rl_fwd *f, unsigned int plane, uint16_t dst)
{
	const unsigned int room = f->room[plane];
	uint64_t w;

	RL_DASSERT(plane < f->nplanes && dst < f->ndst);
	memcpy(&w, f->list[plane] + ((size_t)dst << room), sizeof(w));
	return rl_fwd_word_of(w, room);
}

/**
 * Any thread. Next hops of @p dst on @p plane; dst < ndst. A device takes the
 * first whose link works, except that a switch sends no packet back by its
 * input port on the plane it came on, and an endpoint, given a packet for
 * another, on no plane.
 */
static inline struct rl_fwd_entry
rl_fwd_lookup(const struct rl_fwd *f, unsigned int plane, uint16_t dst)
{
	const uint64_t w = rl_fwd_word(f, plane, dst);
	struct rl_fwd_entry e;

	memcpy(&e, &w, sizeof(e));
	return e;
}

/** Any thread. Prefetches for rl_fwd_lookup(). */
static inline void
rl_fwd_prefetch(const struct rl_fwd *f, unsigned int plane, uint16_t dst)
{
	__builtin_prefetch(f->list[plane] + ((size_t)dst << f->room[plane]));
}

/** Any thread. The words of @p n destinations from @p dst on. */
static inline void
rl_fwd_words(const struct rl_fwd *f, unsigned int plane, uint32_t dst,
	     uint32_t n, uint64_t *words)
{
	const unsigned int room = f->room[plane];
	const struct rl_fwd_hop *from = f->list[plane] + ((size_t)dst << room);

	if (room == RL_FWD_ROOM) {
		memcpy(words, from, n * sizeof(*words));
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&words[i], from + ((size_t)i << room),
		       sizeof(*words));
		words[i] = rl_fwd_word_of(words[i], room);
	}
}

/** Destinations whose next hops are read together. */
#define RL_FWD_LANES 8

/**
 * Any thread. The entries of RL_FWD_LANES destinations from @p dst on as
 * stored, for comparing. @return how many words of @p line are filled, 2 <<
 * room
 */
static inline unsigned int
rl_fwd_line(const struct rl_fwd *f, unsigned int plane, uint32_t dst,
	    uint64_t line[RL_FWD_LANES])
{
	const unsigned int room = f->room[plane];
	const struct rl_fwd_hop *from = f->list[plane] + ((size_t)dst << room);

	if (room == 0)
		memcpy(line, from, 2 * sizeof(*line));
	else if (room == 1)
		memcpy(line, from, 4 * sizeof(*line));
	else
		memcpy(line, from, 8 * sizeof(*line));
	return 2u << room;
}

/**
 * Any thread. The next hops of RL_FWD_LANES destinations from @p dst on, 16
 * bits each as in a word: the first of all, then the second of all, and so on.
 * @return the number of next hops with room
 */
static inline unsigned int
rl_fwd_lanes(const struct rl_fwd *f, unsigned int plane, uint32_t dst,
	     uint16_t lane[RL_FWD_ALTS][RL_FWD_LANES])
{
	const unsigned int room = f->room[plane];
	const struct rl_fwd_hop *from = f->list[plane] + ((size_t)dst << room);
	uint32_t half[RL_FWD_LANES];
	uint64_t whole[RL_FWD_LANES];

	if (room == 0) {
		memcpy(lane[0], from, sizeof(lane[0]));
	} else if (room == 1) {
		memcpy(half, from, sizeof(half));
		for (unsigned int k = 0; k < RL_FWD_LANES; k++) {
			lane[0][k] = (uint16_t)half[k];
			lane[1][k] = (uint16_t)(half[k] >> 16);
		}
	} else {
		memcpy(whole, from, sizeof(whole));
		for (unsigned int i = 0; i < RL_FWD_ALTS; i++)
			for (unsigned int k = 0; k < RL_FWD_LANES; k++)
				lane[i][k] = (uint16_t)(whole[k] >> 16 * i);
	}
	return 1u << room;
}

/** Any thread. VL of the adaptive plane; RL_VCS: there is none. */
static inline uint8_t
rl_fwd_adapt_vl(const struct rl_fwd *f)
{
	return f->adapt != NULL ? f->adapt_vl : RL_VCS;
}

/** The author of tables, before they are read: planes of whole entries,
    [plane][ndst], one after another; ndst is set. */
static inline void
rl_fwd_entries(struct rl_fwd *f, const struct rl_fwd_entry *entry)
{
	for (unsigned int p = 0; p < RL_FWD_PLANES; p++) {
		f->list[p] = entry[(size_t)p * f->ndst].hop;
		f->room[p] = RL_FWD_ROOM;
	}
}

/** The author of tables, before they are read: the i-th next hop of an entry;
    NULL: the plane has room for fewer. */
static inline struct rl_fwd_hop *
rl_fwd_at(const struct rl_fwd *f, unsigned int plane, uint16_t dst,
	  unsigned int i)
{
	const unsigned int room = f->room[plane];

	if (i >> room != 0)
		return NULL;
	return (struct rl_fwd_hop *)(uintptr_t)f->list[plane] +
	       ((size_t)dst << room) + i;
}

/** Any thread. The lowest next hop of a word; the others are 16 bits apart. */
static inline struct rl_fwd_hop
rl_fwd_word_hop(uint64_t word)
{
	struct rl_fwd_hop hop;

	hop.port = word & 0x1fff;
	hop.plane = word >> 13 & 7;
	return hop;
}

/** Any thread. VL on the link of @p out_port; in_port nports = injected. */
static inline uint8_t
rl_fwd_vl(const struct rl_fwd *f, unsigned int plane, uint16_t in_port,
	  uint16_t out_port, uint8_t sl)
{
	uint32_t in = in_port, out = out_port;
	uint32_t ins = f->nports + 1u, outs = f->nports;

	RL_DASSERT(in_port <= f->nports && out_port < f->nports);
	if (f->port_class != NULL) {
		in = f->port_class[in];
		out = f->port_class[out];
		ins = outs = f->nclass;
	}
	return f->sl2vl[((plane * ins + in) * outs + out) * RL_SLS + sl];
}

#endif /* RL_FWD_H */
