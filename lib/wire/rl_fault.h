/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FAULT_H
#define RL_FAULT_H

/**
 * @file
 * The vocabulary of faults: kind, place and time, read and written as lines of
 * a fault file (docs/simulation.md). The prompt and its orders to lcores
 * (rl_inject.h), recordings, the simulator and the swarm all use it. Control path
 * only; values belong to the caller, and nothing allocates.
 */

#include <stddef.h>
#include <stdint.h>

#include "rl_base.h"
#include "rl_topo.h"

/** Kinds of faults. X(name, word in fault files). */
#define RL_FAULTS(X)                                                       \
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
	X(SOFT, "soft") /* it alters packets */                                \
	X(POISON, "poison") /* it marks packets as bad */                      \
	X(BLOCK, "block") /* an endpoint takes nothing more from a VC */       \
	X(UNBLOCK, "unblock")                                                  \
	X(CTL_CRASH, "controller crash")                                       \
	X(CTL_RESTART, "controller restart")                                   \
	X(CTL_LATE, "controller late") /* its messages take longer */

enum rl_fault_kind {
#define RL_FAULT_ENUM(name, word) RL_FAULT_##name,
	RL_FAULTS(RL_FAULT_ENUM)
#undef RL_FAULT_ENUM
	RL_FAULT_KINDS
};

const char *rl_fault_name(enum rl_fault_kind k);

/** What happens to frames on the wire when it is cut. */
enum rl_fault_flight {
	RL_FAULT_FLIGHT_LOST,   /**< they are lost */
	RL_FAULT_FLIGHT_ARRIVE, /**< they arrive: the cut is behind them */
	RL_FAULT_FLIGHT_LATE,   /**< some arrive only after the heal */
};

/** Rates are in parts of 10^9. */
#define RL_PPB 1000000000u

/** Rates of a noisy wire, for each frame, in RL_PPB. */
struct rl_noise {
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
	uint8_t where;	       /**< RL_FAULT_HURT_*; 0: anywhere */
	/** bit errors of headers and flits as in rl_error.h: the error model of
	    the evaluation, on a wire of a fabric */
	uint8_t lanes;	       /**< 0: one */
	double bit_rate;       /**< first errors, per bit */
	double propagate;      /**< chance that the next bit of the lane is
				    wrong, too */
};

#define RL_FAULT_HURT_HEADER 1
#define RL_FAULT_HURT_BODY 2
#define RL_FAULT_HURT_LENGTH 4

#define RL_FAULT_DIR_AB 1 /**< from end 0 of the link to end 1 */
#define RL_FAULT_DIR_BA 2
#define RL_FAULT_DIR_BOTH 3

struct rl_fault {
	uint64_t t_ns;
	enum rl_fault_kind kind;
	uint32_t link;
	uint32_t dev;	  /**< from CRASH on; REMOVE and ADD if is_dev */
	bool is_dev;
	bool lasting;	  /**< healing all does not end it */
	uint8_t dirs;	  /**< RL_FAULT_DIR_* */
	bool silent;	  /**< CUT: PHY status does not show it */
	bool mid;	  /**< CUT: after the next frame that ends inside a packet;
			       on lcores alone */
	enum rl_fault_flight flight;
	/** CUT, DROP, CORRUPT: from t_ns on, act at the n-th data frame sent (with
	    nth_flit, at the frame that carries the n-th flit); 0: immediately.
	    DROP and CORRUPT count each direction separately; CUT counts frames from end
	    `counts` and cuts all of `dirs`. */
	uint32_t nth;
	bool nth_flit;
	uint8_t counts;
	uint32_t count;	  /**< DROP: number of consecutive frames */
	uint8_t vc;	  /**< BLOCK, UNBLOCK */
	uint64_t for_ns;  /**< STALL: duration */
	struct rl_noise noise; /**< NOISE; rates of SOFT and POISON */
	uint32_t line;	  /**< in the fault file; 0: none */
};

/** Most faults that a fault file may expand to. */
#define RL_FAULTS_MAX (1u << 18)

/** Takes lines `run KEY=VALUE ...` of a fault file, which say what no fault
    says. All of it is called by rl_fault_file(). */
struct rl_fault_run_lines {
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
 * topology. A line may stand for several faults (a flap, parallel links).
 *
 * @param name  the file's, for errors
 * @param run  hears of lines that begin with `run`; NULL: they are skipped
 * @param take  gets each fault, in the order of the file, also if a later line
 *   is bad. @return 0, or -errno, which ends the reading
 * @param err  one line "FILE:LINE: reason; what to do"
 * @return 0; -EINVAL (bad content); what @p take returned
 */
int rl_fault_file(const char *name, const char *text, size_t len,
		  const struct rl_topo *topo,
		  const struct rl_fault_run_lines *run,
		  int (*take)(void *ctx, const struct rl_fault *f), void *ctx,
		  char *err, size_t errlen);

/** The shortest text that is read as the same number. @return buf */
const char *rl_real_text(double v, char *buf, size_t len);

/** Any thread. Writes a noise as options: " loss=0.1 dup=0.2". @return buf */
char *rl_noise_text(const struct rl_noise *n, char *buf, size_t len);

/** Any thread. Writes a fault as a line of a fault file. @return buf */
char *rl_fault_text(const struct rl_fault *f, const struct rl_topo *topo,
		    char *buf, size_t len);

#endif /* RL_FAULT_H */
