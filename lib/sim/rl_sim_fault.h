/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_SIM_FAULT_H
#define RL_SIM_FAULT_H

/**
 * @file
 * Faults of a simulated run: kind, wire and time. A list of them comes from a
 * fault file (docs/simulation.md), from the swarm, or from a test. Control path
 * only.
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_topo.h"

/** Kinds of faults. X(name, word in fault files). */
#define RL_SIM_FAULTS(X)                                                       \
	X(CUT, "cut")	  /* the wire goes dark */                             \
	X(HEAL, "heal")	  /* ends cuts, noise and stalls */                    \
	X(STALL, "stall") /* nothing moves for a while; nothing is lost */     \
	X(NOISE, "noise") /* sets rates of loss, corruption, ... */            \
	X(DROP, "drop")	  /* loses data frames from the n-th on */             \
	X(CORRUPT, "corrupt") /* alters bytes in a row of a data frame */      \
	X(DOWN, "down")	  /* end 0 goes down by command */                     \
	X(DRAIN, "drain") /* goes down once it is empty */                     \
	X(UP, "up")	  /* comes up by command */                            \
	X(CRASH, "crash") /* a device stops and loses its state */             \
	X(RESTART, "restart") /* a crashed device starts again */              \
	X(REMOVE, "remove") /* planned: nothing is lost */                     \
	X(ADD, "add")                                                          \
	X(LATE, "late") /* a device is slow to obey its controller */          \
	X(CTL_CRASH, "controller crash")                                       \
	X(CTL_RESTART, "controller restart")                                   \
	X(CTL_LATE, "controller late") /* its messages take longer */

enum rl_sim_fault_kind {
#define RL_SIM_FAULT_ENUM(name, word) RL_SIM_##name,
	RL_SIM_FAULTS(RL_SIM_FAULT_ENUM)
#undef RL_SIM_FAULT_ENUM
	RL_SIM_FAULT_KINDS
};

const char *rl_sim_fault_name(enum rl_sim_fault_kind k);

/** What happens to frames on the wire when it is cut. */
enum rl_sim_flight {
	RL_SIM_FLIGHT_LOST,   /**< they are lost */
	RL_SIM_FLIGHT_ARRIVE, /**< they arrive: the cut is behind them */
	RL_SIM_FLIGHT_LATE,   /**< some arrive only after the heal */
};

/** Rates of a noisy wire, for each frame, in parts of 10^9. */
struct rl_sim_noise {
	uint32_t loss_ppb;
	uint32_t corrupt_ppb;
	uint32_t dup_ppb;
	uint32_t jitter_ppb;   /**< delayed frames, which others overtake */
	uint64_t jitter_ns;    /**< longest such delay */
	uint64_t delay_ns;     /**< of every frame */
	/** packets with a flit corrupted inside the sending device, before its
	    port gets it [SW-2, LCB-2] */
	uint32_t soft_ppb;
	/** packets whose first flit is marked bad there [LCB-2] */
	uint32_t poison_ppb;
	uint16_t burst_bytes;  /**< corruption: longest run of altered bytes;
				    CORRUPT: how many */
	uint8_t where;	       /**< RL_SIM_HURT_*; 0: anywhere */
	/** bit errors of flits as in rl_error.h: the error model of the
	    evaluation, on a wire of a fabric */
	uint8_t lanes;	       /**< 0: one */
	double bit_rate;       /**< first errors, per bit */
	double propagate;      /**< chance that the next bit of the lane is
				    wrong, too */
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
	uint32_t dev;	  /**< CRASH, RESTART; REMOVE and ADD if is_dev */
	bool is_dev;
	bool lasting;	  /**< rl_sim_heal_most() does not end it */
	uint8_t dirs;	  /**< RL_SIM_DIR_* */
	bool silent;	  /**< CUT: PHY status does not show it */
	enum rl_sim_flight flight;
	/** CUT, DROP, CORRUPT: from t_ns on, act at the n-th data frame sent (with
	    nth_flit, at the frame that carries the n-th flit); 0: immediately.
	    DROP and CORRUPT count each direction separately; CUT counts frames from end
	    `counts` and cuts all of `dirs`. */
	uint32_t nth;
	bool nth_flit;
	uint8_t counts;
	uint32_t count;	  /**< DROP: number of consecutive frames */
	uint64_t for_ns;  /**< STALL: duration */
	struct rl_sim_noise noise;
	uint32_t line;	  /**< in the fault file; 0: none */
};

/** Most faults that a fault file may expand to. */
#define RL_SIM_FAULTS_MAX (1u << 18)

/** Faults sorted by time. All zeroes is an empty list. */
struct rl_sim_faults {
	struct rl_sim_fault *f;
	uint32_t n;
	uint32_t cap;
};

/** Control thread. @return 0 or -ENOMEM; the list stays sorted by time */
int rl_sim_fault_add(struct rl_sim_faults *list, const struct rl_sim_fault *f);

/**
 * Control thread. For many faults: append without order, then sort. Faults of
 * equal time stay in the order in which they were added. @return 0 or -ENOMEM
 */
int rl_sim_fault_push(struct rl_sim_faults *list, const struct rl_sim_fault *f);
int rl_sim_faults_sort(struct rl_sim_faults *list);

/** Any thread. @return the time of the last fault of a list; 0: it has none */
static inline uint64_t
rl_sim_faults_end(const struct rl_sim_faults *list)
{
	return list->n == 0 ? 0 : list->f[list->n - 1].t_ns;
}

/** Any thread. @return whether an endpoint crashes or restarts in a list */
bool rl_sim_faults_crash(const struct rl_sim_faults *list,
			 const struct rl_topo *topo);

/**
 * Any thread. @return whether a list corrupts or marks packets inside devices
 */
bool rl_sim_faults_soft(const struct rl_sim_faults *list);

/** Control thread. Frees the contents; the list may be empty. */
void rl_sim_faults_free(struct rl_sim_faults *list);

/** Takes lines `run KEY=VALUE ...` of a fault file, which say what no fault
    says. All of it is called by rl_sim_faults_text(). */
struct rl_sim_run_lines {
	void *ctx;
	void (*begin)(void *ctx); /**< a line begins */
	/** @return 0; -ENOENT: no such key; -EINVAL: no such value */
	int (*take)(void *ctx, const char *key, const char *value);
	/** After the last line of a file that has such lines.
	    @return 0; -EINVAL with the reason in @p err, RL_ERR_MAX bytes */
	int (*check)(void *ctx, char *err);
};

/**
 * Control thread. Reads a fault file, the @p len bytes at @p text, against a
 * topology and appends to @p list.
 *
 * @param name  the file's, for errors
 * @param run  hears of lines that begin with `run`; NULL: they are skipped
 * @param err  one line "FILE:LINE: reason; what to do"
 * @return 0; -EINVAL (bad content), -ENOMEM; on failure nothing was appended
 */
int rl_sim_faults_text(const char *name, const char *text, size_t len,
		       const struct rl_topo *topo,
		       const struct rl_sim_run_lines *run,
		       struct rl_sim_faults *list, char *err, size_t errlen);

/** The shortest text that is read as the same number. @return buf */
const char *rl_sim_real_text(double v, char *buf, size_t len);

/** Any thread. Writes a fault as a line of a fault file. @return buf */
char *rl_sim_fault_text(const struct rl_sim_fault *f,
			const struct rl_topo *topo, char *buf, size_t len);

#endif /* RL_SIM_FAULT_H */
