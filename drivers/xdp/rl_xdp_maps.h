/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_XDP_MAPS_H
#define RL_XDP_MAPS_H

/**
 * @file
 * What the XDP programs and the programs that load them agree on: names,
 * layouts and units of their maps [PHY-2]. Kernel and user side include this
 * file and nothing else of each other. All integers are the host's.
 *
 *      frame --> rl_steer --chain[0]--> rl_fault --next[0]--> rl_steer (copy)
 *                   |  no fault program: goes on by itself
 *                   +--> AF_XDP socket (flit frames), or the kernel (the rest)
 *
 * Without a port of ours on the interface rl_fault stands there alone.
 */

#include <stdint.h>

/** EtherType of link frames, host order (drivers/phy). */
#define RL_XDP_ETHERTYPE 0x88b5
/** Longest frame that is handed to user space to be sent in twice. */
#define RL_XDP_COPY_BYTES 3072
/** Queues whose AF_XDP sockets rl_steer knows. */
#define RL_XDP_QUEUES 64

/** What rl_steer counts: index into its map `rl_steer_count`. */
enum rl_steer_count {
	RL_STEER_FLIT,	 /**< flit frames given to a socket */
	RL_STEER_KERNEL, /**< other frames, left to the kernel */
	RL_STEER_NOBODY, /**< flit frames for a queue without a socket: they
			      go to the kernel, too */
	RL_STEER_COUNTS,
};

/**
 * Value 0 of the map `rl_steer_owner`: who has put rl_steer there. DPDK attaches
 * it to stay, so that a process that is killed leaves it behind. Written by user
 * space only, and read by user space only.
 */
struct rl_steer_owner {
	uint64_t until_ns; /**< CLOCK_MONOTONIC; renewed while the owner lives */
	uint64_t pid;
	uint64_t pid_space; /**< inode of the namespace that the pid is of */
};

/** Value 0 of the map `rl_fault_set`. Written by user space only. */
struct rl_fault_set {
	uint64_t seed;
	uint64_t drop_below;    /**< drop where a 32-bit draw lies below; 2^32: all */
	uint64_t duplicate_below;
	uint32_t drop_nth;	     /**< every n-th frame; 0: none */
	uint32_t corrupt_nth;   /**< every n-th frame; 0: none */
	uint32_t corrupt_bytes; /**< bytes to change in each of them, 1..8 */
	uint32_t ethertype;     /**< frames concerned; 0: all */
	uint32_t one_way;	     /**< nothing comes in by this interface */
	uint32_t pad;
};

/*
 * Value 0 of the map `rl_fault_until`, a uint64_t: CLOCK_MONOTONIC in ns, after
 * which nothing is done: a program that was killed leaves no faults. UINT64_MAX
 * where the kernel takes the program away with its process.
 */

/** Value 0 of the map `rl_fault_count`. Added to by rl_fault only. */
struct rl_fault_count {
	uint64_t other;	      /**< frames of other types, let pass */
	uint64_t frames;	      /**< frames that faults apply to */
	uint64_t passed;	      /**< of them: let pass, corrupted ones included */
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
