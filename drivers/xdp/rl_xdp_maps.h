/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_XDP_MAPS_H
#define RL_XDP_MAPS_H

/**
 * @file Names, layouts and units of maps, shared by the XDP programs and the
 * programs that load them [PHY-2]. Kernel and user side have only this file in
 * common. All integers are the host's.
 *
 *      frame --> rl_steer --chain[0]--> rl_fault --next[0]--> rl_steer (copy)
 *                   |  no fault program: goes on by itself
 *                   +--> AF_XDP socket (flit frames), or the kernel (the rest)
 *
 * Without a port of ours on the interface rl_fault is attached alone.
 */

#include <stdint.h>

/** EtherType of link frames, host order (drivers/phy). */
#define RL_XDP_ETHERTYPE 0x88b5
/** Longest frame that user space gets for duplication. */
#define RL_XDP_COPY_BYTES 3072
/** Queues whose AF_XDP sockets rl_steer supports. */
#define RL_XDP_QUEUES 64

/** Counters of rl_steer: index into its map `rl_steer_count`. */
enum rl_steer_count {
	RL_STEER_FLIT,	 /**< flit frames given to a socket */
	RL_STEER_KERNEL, /**< other frames, left to the kernel */
	RL_STEER_NOBODY, /**< flit frames for a queue without a socket: to the
			      kernel, too */
	RL_STEER_COUNTS,
};

/**
 * Value 0 of the map `rl_steer_owner`: the process that attached rl_steer. DPDK
 * attaches it permanently, so a killed process leaves it behind. Only user
 * space writes and reads it.
 */
struct rl_steer_owner {
	uint64_t until_ns; /**< CLOCK_MONOTONIC; renewed while the owner lives */
	uint64_t pid;
	uint64_t pid_space; /**< inode of the pid's namespace */
};

/** Value 0 of the map `rl_fault_set`. Only user space writes it. */
struct rl_fault_set {
	uint64_t seed;
	uint64_t drop_below;    /**< drop if a 32-bit draw is less; 2^32: all */
	uint64_t duplicate_below;
	uint32_t drop_nth;	     /**< every n-th frame; 0: none */
	uint32_t corrupt_nth;   /**< every n-th frame; 0: none */
	uint32_t corrupt_bytes; /**< bytes to change in each of them, 1..8 */
	uint32_t ethertype;     /**< affected frames; 0: all */
	uint32_t one_way;	     /**< drops all frames that it receives */
	uint32_t pad;
};

/*
 * Value 0 of the map `rl_fault_until`, a uint64_t: CLOCK_MONOTONIC in ns, after
 * which the program does nothing, so a killed process leaves no faults.
 * UINT64_MAX if the kernel removes the program with its process.
 */

/** Value 0 of the map `rl_fault_count`. Only rl_fault adds to it. */
struct rl_fault_count {
	uint64_t other;	      /**< frames of other types, passed */
	uint64_t frames;	      /**< frames that faults apply to */
	uint64_t passed;	      /**< of them: passed, corrupt ones too */
	uint64_t cut;	      /**< dropped: one-way */
	uint64_t dropped_nth;
	uint64_t dropped_rate;
	uint64_t corrupted;
	uint64_t duplicate_asked; /**< copies handed to user space */
	uint64_t duplicate_lost; /**< too long, or user space had no room */
};

/** A record of the ring buffer `rl_fault_copy`. */
struct rl_fault_copy {
	uint32_t len;   /**< bytes */
	uint32_t queue; /**< receive queue it came by */
	uint8_t data[RL_XDP_COPY_BYTES];
};

#endif /* RL_XDP_MAPS_H */
