/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_FAULT_H
#define RL_SIM_FAULT_H

/**
 * @file
 * Faults of a simulated run: what happens to which wire, and when. A list of
 * them comes from a fault file (docs/simulation.md), from the swarm, or from a
 * test. Control path only.
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_topo.h"

/** What a fault does. X(name, word in fault files). */
#define RL_SIM_FAULTS(X)                                                       \
	X(CUT, "cut")	  /* the wire goes dark */                             \
	X(HEAL, "heal")	  /* light again, noise and stalls end */              \
	X(STALL, "stall") /* nothing moves for a while; nothing is lost */     \
	X(NOISE, "noise") /* new rates of loss, corruption, ... */             \
	X(DROP, "drop")	  /* data frames are lost, from the n-th on */         \
	X(DOWN, "down")	  /* taken down by command, at end 0 */                \
	X(DRAIN, "drain") /* taken down when it has run empty */              \
	X(UP, "up")	  /* and up again */                                   \
	X(CRASH, "crash") /* a device stops dead, its state is lost */         \
	X(RESTART, "restart") /* and begins anew */                            \
	X(REMOVE, "remove") /* planned: nothing is lost */                     \
	X(ADD, "add")                                                          \
	X(LATE, "late") /* a device takes so long to obey its controller */    \
	X(CTL_CRASH, "controller crash")                                       \
	X(CTL_RESTART, "controller restart")                                   \
	X(CTL_LATE, "controller late") /* what it says and hears takes long */

enum rl_sim_fault_kind {
#define RL_SIM_FAULT_ENUM(name, word) RL_SIM_##name,
	RL_SIM_FAULTS(RL_SIM_FAULT_ENUM)
#undef RL_SIM_FAULT_ENUM
	RL_SIM_FAULT_KINDS
};

/** What becomes of frames that are under way when a wire is cut. */
enum rl_sim_flight {
	RL_SIM_FLIGHT_LOST,   /**< they are gone */
	RL_SIM_FLIGHT_ARRIVE, /**< the cut was behind them */
	RL_SIM_FLIGHT_LATE,   /**< some linger and arrive after the heal */
};

/** Rates of a noisy wire, per frame, in parts of 10^9. */
struct rl_sim_noise {
	uint32_t loss_ppb;
	uint32_t corrupt_ppb;
	uint32_t dup_ppb;
	uint32_t jitter_ppb;   /**< frames delayed, so that others overtake */
	uint64_t jitter_ns;    /**< and by how much at most */
	/** packets of which a flit is hurt inside the device that sends into
	    this direction, before its port gets them [SW-2, LCB-2] */
	uint32_t soft_ppb;
	/** packets whose first flit is declared bad there, by a mark [LCB-2] */
	uint32_t poison_ppb;
	uint16_t burst_bytes;  /**< corruption: longest run of hurt bytes */
	uint8_t where;	       /**< RL_SIM_HURT_*; 0: anywhere */
	/** bit errors of flits, as rl_error.h makes them: the model of the
	    evaluation on a wire of a fabric */
	uint8_t lanes;	       /**< 0: one */
	double bit_rate;       /**< first errors, per bit */
	double propagate;      /**< that the next on the lane is wrong, too */
};

#define RL_SIM_HURT_HEADER 1
#define RL_SIM_HURT_BODY 2
#define RL_SIM_HURT_LENGTH 4

#define RL_SIM_DIR_AB 1 /**< from end 0 of the link to end 1 */
#define RL_SIM_DIR_BA 2
#define RL_SIM_DIR_BOTH 3

struct rl_sim_fault {
	uint64_t t_ns;
	enum rl_sim_fault_kind kind;
	uint32_t link;
	uint32_t dev;	  /**< CRASH, RESTART; REMOVE, ADD where is_dev */
	bool is_dev;
	bool lasting;	  /**< rl_sim_heal_most() leaves it as it is */
	uint8_t dirs;	  /**< RL_SIM_DIR_* */
	bool silent;	  /**< CUT: PHY status does not show it */
	enum rl_sim_flight flight;
	/** CUT, DROP: from t_ns on, act at the n-th data frame that is sent
	    (or, where nth_flit, at the frame that carries the n-th flit); 0:
	    at once. DROP counts each direction by itself, CUT counts frames
	    from end `counts` and cuts all of `dirs`. */
	uint32_t nth;
	bool nth_flit;
	uint8_t counts;
	uint32_t count;	  /**< DROP: frames in a row */
	uint64_t for_ns;  /**< STALL: how long */
	struct rl_sim_noise noise;
	uint32_t line;	  /**< of the fault file; 0: none */
};

/** Most faults that a fault file may stand for. */
#define RL_SIM_FAULTS_MAX (1u << 18)

/** Faults in the order of their times. Zeroed = empty. */
struct rl_sim_faults {
	struct rl_sim_fault *f;
	uint32_t n;
	uint32_t cap;
};

/** Control thread. @return 0 or -ENOMEM; the list stays sorted by time */
int rl_sim_fault_add(struct rl_sim_faults *list, const struct rl_sim_fault *f);

/**
 * Control thread. For many faults at once: appends without regard to times, and
 * sorts in the end; faults of one time stay in their order. @return 0 or -ENOMEM
 */
int rl_sim_fault_push(struct rl_sim_faults *list, const struct rl_sim_fault *f);
int rl_sim_faults_sort(struct rl_sim_faults *list);

/** Any thread. Whether an endpoint crashes or restarts in a list. */
bool rl_sim_faults_crash(const struct rl_sim_faults *list,
			 const struct rl_topo *topo);

/** Any thread. Whether packets are hurt or marked inside devices in a list. */
bool rl_sim_faults_soft(const struct rl_sim_faults *list);

/** Control thread. Frees the list; a zeroed one is fine. */
void rl_sim_faults_free(struct rl_sim_faults *list);

/**
 * Control thread. Reads a fault file, the @p len bytes at @p text, against a
 * topology and appends to @p list. Lines that begin with `run` are skipped: see
 * rl_sim_case.h.
 *
 * @param name  the file's, for errors
 * @param err  one line "FILE:LINE: reason; what to do"
 * @return 0; -EINVAL (bad content), -ENOMEM; on failure nothing was appended
 */
int rl_sim_faults_text(const char *name, const char *text, size_t len,
		       const struct rl_topo *topo, struct rl_sim_faults *list,
		       char *err, size_t errlen);

/** Any thread. Writes a fault as a line of a fault file. Returns buf. */
char *rl_sim_fault_text(const struct rl_sim_fault *f,
			const struct rl_topo *topo, char *buf, size_t len);

#endif /* RL_SIM_FAULT_H */
