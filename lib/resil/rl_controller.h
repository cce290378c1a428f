/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CONTROLLER_H
#define RL_CONTROLLER_H

/**
 * @file
 * The resiliency controller [RES-1..7]. Local controllers report to it which
 * links died or returned. It has new tables computed and proven, and installs
 * them while it stops as little traffic as possible:
 *
 *   IDLE -> GATHER -> COMPUTE -> [HOLD -> DRAIN ->] INSTALL -> [RELEASE ->] IDLE
 *
 * With tokens [RES-5], STAGE -> PASS replaces HOLD -> DRAIN.
 *
 * Links act first, within microseconds and without the controller [RES-4]. The
 * controller only makes the best use of what is left.
 *
 * Pure, like all protocol code. The host does the computing: the controller
 * hands out a *job* and takes the result whenever it is ready (rl_tables.h does
 * such jobs). A controller may be thrown away at any time and replaced by a new
 * one with a higher incarnation, which learns the state of the fabric from the
 * local controllers.
 *
 * When something happened, or at rl_controller_deadline(), the host does:
 *
 *   rl_controller_rx(), rl_controller_done()
 *   rl_controller_tick()
 *   if (rl_controller_job()) ...      start computing; forget an older job
 *   while (rl_controller_tx()) ...    send the message
 *
 * One thread owns it.
 */

#include "rl_local.h"
#include "rl_topo.h"

/** Phases. One function writes them: ctl_set_phase(). X(name, word). */
#define RL_CONTROLLER_PHASES(X)                                                \
	X(LEARN, "learning")	 /* started: finds out which devices exist */  \
	X(IDLE, "idle")							       \
	X(GATHER, "gathering")	 /* waits for more failures of the group */    \
	X(COMPUTE, "computing")						       \
	X(HOLD, "holding")	 /* tells local controllers what to hold */    \
	X(DRAIN, "draining")	 /* held traffic leaves the fabric */          \
	X(QUIET, "quiet")	 /* by hand: until reroute or unquiesce */     \
	X(STAGE, "staging")	 /* devices prepare to pass tokens */          \
	X(PASS, "passing tokens") /* old traffic leaves ahead of them */       \
	X(INSTALL, "installing")					       \
	X(RELEASE, "releasing")						       \
	X(PORTS, "ports")	 /* planned: ports empty and go down */

enum rl_controller_phase {
#define RL_CONTROLLER_ENUM(name, word) RL_CONTROLLER_##name,
	RL_CONTROLLER_PHASES(RL_CONTROLLER_ENUM)
#undef RL_CONTROLLER_ENUM
};

/** Why a recovery began. X(name, word). */
#define RL_CAUSES(X)                                                           \
	X(LINK_DEAD, "dead")						       \
	X(LINK_BACK, "back")						       \
	X(DEVICE, "restarted")						       \
	X(DEGRADED, "degraded")						       \
	X(GAVE_UP, "gave up packets")					       \
	X(REMOVE, "removed")						       \
	X(REMOVE_DEV, "removed")					       \
	X(ADD, "added")							       \
	X(CONTROLLER, "controller restarted")				       \
	X(COMMAND, "reroute by command")				       \
	X(QUIESCE, "quiesce by command") /* only a failed one is recorded */   \
	X(RETRY, "tried again")

enum rl_cause {
#define RL_CAUSE_ENUM(name, word) RL_CAUSE_##name,
	RL_CAUSES(RL_CAUSE_ENUM)
#undef RL_CAUSE_ENUM
};

/** How a recovery ended. X(name, word in reports). */
#define RL_OUTCOMES(X)                                                         \
	X(OPEN, "open")		    /* still in progress */                    \
	X(DONE, "done")							       \
	X(SUPERSEDED, "superseded") /* something else changed first */         \
	X(REFUSED, "refused")	    /* no tables, or none that are proven */   \
	X(TIMEOUT, "timeout")	    /* a phase exceeded its time limit */

enum rl_outcome {
#define RL_OUTCOME_ENUM(name, word) RL_OUTCOME_##name,
	RL_OUTCOMES(RL_OUTCOME_ENUM)
#undef RL_OUTCOME_ENUM
};

#define RL_RECOVERIES 256 /* records that are kept; a power of two */

/**
 * One recovery as it is reported. Spans are 0 for phases that did not happen.
 */
struct rl_recovery {
	uint32_t epoch;		 /**< of the tables to be installed */
	enum rl_cause cause;
	uint32_t what;		 /**< link, or a device if what_is_dev */
	bool what_is_dev;
	uint32_t changes;	 /**< number of link and device changes it
				      covers */
	uint64_t at_ns;		 /**< when the first change was detected */
	uint64_t detect_ns;	 /**< from then until computing started */
	uint64_t compute_ns;
	uint64_t prove_ns;
	enum rl_resil_mode mode; /**< LIVE, PARTIAL, TOKENS or FULL; LIVE, with
				      an install_ns of 0: by detours alone */
	uint32_t held_flows;
	uint64_t quiesce_ns;	 /**< from the order to hold until quiet; with
				      tokens until the last token arrived */
	uint64_t install_ns;
	uint64_t unquiesce_ns;
	uint64_t paused_ns;	 /**< from the order to hold until released */
	uint32_t silent;	 /**< devices that did not answer */
	enum rl_outcome outcome;
	uint64_t end_ns;
};

/** Whether new tables may use a link. */
enum rl_link_use {
	RL_LINK_NO,
	RL_LINK_USE,
	RL_LINK_AVOID, /**< works but may fail soon: use only if needed */
	RL_LINK_LEAVE, /**< works and is to be removed */
};

/** What the host is to compute. The arrays stay valid until the next job. */
struct rl_controller_job {
	uint32_t epoch;		/**< of the tables to compute */
	enum rl_resil_mode mode;
	const uint8_t *link_ok; /**< [nlink]: enum rl_link_use */
	const uint8_t *dev_ok;	/**< [ndev]: false for removed devices */
	/** [ndev]: epoch of the tables that a device has. If unsure[] is set,
	    it may have the newest ordered tables instead, because it did not
	    answer. */
	const uint32_t *present;
	const uint8_t *unsure;
	/** [ndev]: does not answer, so it keeps its tables */
	const uint8_t *silent;
	/** [ndev]: restarts: has no tables and no links yet */
	const uint8_t *waits;
	/** asked for by command, or packets were given up: do not leave it to
	    detours */
	bool renew;
};

struct rl_controller_result {
	uint32_t epoch; /**< of the job */
	/** 0; -EALREADY: the installed tables are already right (with LIVE:
	    their detours serve all); -EHOSTUNREACH: refused; -ETIME: not proven
	    together with the tables of a device that does not answer; -ENOMEM:
	    also if late devices keep all tables in use */
	int status;
	enum rl_resil_mode mode; /**< how to install: LIVE, PARTIAL, TOKENS or
				      FULL */
	uint32_t held_flows;	 /**< PARTIAL: in the list of this epoch */
	bool tokens;		 /**< PARTIAL: the same tables may come by
				      tokens if the held flows do not drain */
	bool avoided; /**< the tables do not use links to be avoided */
	bool cut;     /**< an endpoint that is not removed has no path, so a
			   link that returns is used at once */
	uint64_t compute_ns;
	uint64_t prove_ns;
};

struct rl_controller_params {
	const struct rl_resil_cfg *cfg;
	const struct rl_topo *topo; /**< links marked failed are out of use from
					 the start */
	uint64_t incarnation;	    /**< higher than that of any earlier
					 controller */
	/** newest epoch that an earlier controller used, even if only for a
	    job: an epoch must never mean two different tables */
	uint32_t epoch;
	/** endpoints do not retry, so packets must stay in order on the way:
	    tables change only while all devices are known to be at rest */
	bool at_rest;
};

struct rl_controller;

/** Any thread. @return bytes of a controller, to be aligned to 64 bytes */
size_t rl_controller_memsize(const struct rl_topo *topo);

/**
 * Control thread. Builds a controller in @p mem and returns it (== mem). It
 * first asks the local controllers for the state of the fabric.
 *
 * @param mem rl_controller_memsize() bytes; the caller's
 * @param p copied; what it points to must outlive the controller
 */
struct rl_controller *rl_controller_init(void *mem,
					 const struct rl_controller_params *p,
					 uint64_t now_ns);

/** Owner. Takes a message that arrived; @p m is not kept. */
void rl_controller_rx(struct rl_controller *c, const struct rl_resil_msg *m,
		      uint64_t now_ns);

/**
 * Owner. Takes the result of a job. A result that is no longer expected is
 * ignored.
 */
void rl_controller_done(struct rl_controller *c,
			const struct rl_controller_result *r, uint64_t now_ns);

/** Owner. Runs timers that have expired. */
void rl_controller_tick(struct rl_controller *c, uint64_t now_ns);

/** Owner. @return whether @p job must be started now; older jobs are void */
bool rl_controller_job(struct rl_controller *c, struct rl_controller_job *job);

/** Owner. @return whether @p m was filled with a message to be sent now */
bool rl_controller_tx(struct rl_controller *c, struct rl_resil_msg *m,
		      uint64_t now_ns);

/**
 * Owner. @return when rl_controller_tick() or rl_controller_tx() must be called
 * even if nothing happens
 */
uint64_t rl_controller_deadline(const struct rl_controller *c);

/**
 * Owner. Planned changes [RES-3]. A removal installs new tables first and then
 * takes the empty ports down; an addition does the reverse.
 * @return 0 or -EALREADY
 */
int rl_controller_remove_link(struct rl_controller *c, uint32_t link,
			      uint64_t now_ns);
int rl_controller_add_link(struct rl_controller *c, uint32_t link,
			   uint64_t now_ns);
int rl_controller_remove_dev(struct rl_controller *c, uint32_t dev,
			     uint64_t now_ns);
int rl_controller_add_dev(struct rl_controller *c, uint32_t dev,
			  uint64_t now_ns);

/**
 * Owner. The steps by hand. Quiesce stops all requests and waits until the
 * fabric is at rest; reroute computes and installs new tables; unquiesce lets
 * requests go on.
 * @return 0; -EALREADY; -EBUSY: a recovery is in progress; -EINVAL: nothing is
 *   quiesced
 */
int rl_controller_quiesce(struct rl_controller *c, uint64_t now_ns);
int rl_controller_reroute(struct rl_controller *c, uint64_t now_ns);
int rl_controller_unquiesce(struct rl_controller *c, uint64_t now_ns);

/** Owner. @return whether no recovery is in progress or pending */
bool rl_controller_idle(const struct rl_controller *c);

enum rl_controller_phase rl_controller_phase(const struct rl_controller *c);

/** Owner. @return epoch of the newest tables that were ordered */
uint32_t rl_controller_epoch(const struct rl_controller *c);

/**
 * Owner. @return newest epoch given to tables; later tables reflect all that is
 * known now
 */
uint32_t rl_controller_newest(const struct rl_controller *c);

/** Owner. @return whether the controller lets routes use a link */
bool rl_controller_link_ok(const struct rl_controller *c, uint32_t link);

/**
 * Owner. @return whether a link stays unused until it is added: the link or a
 * device at its ends was removed by command, or the controller took the link
 * out of use because it is degraded
 */
bool rl_controller_link_out(const struct rl_controller *c, uint32_t link);

/** Owner. @return whether a link is unused by command, which is no failure */
bool rl_controller_link_removed(const struct rl_controller *c, uint32_t link);

/**
 * Owner. @return recoveries since the start; the last RL_RECOVERIES are kept
 */
uint32_t rl_controller_recoveries(const struct rl_controller *c);
/**
 * Owner. @return the i-th recovery since the start, or NULL if no longer kept
 */
const struct rl_recovery *
rl_controller_recovery(const struct rl_controller *c, uint32_t i);

/** Any thread. Writes for example "link A-B dead". @return buf */
char *rl_recovery_text(const struct rl_recovery *r, const struct rl_topo *topo,
		       char *buf, size_t len);

const char *rl_controller_phase_name(enum rl_controller_phase p);
const char *rl_outcome_name(enum rl_outcome o);

#endif /* RL_CONTROLLER_H */
