/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CONTROLLER_H
#define RL_CONTROLLER_H

/**
 * @file
 * The resiliency controller [RES-1..7]. Local controllers tell
 * it which links died or returned; it has new tables computed and proven, and
 * puts them in place, stopping nobody who need not stop:
 *
 *   IDLE -> GATHER -> COMPUTE -> [HOLD -> DRAIN ->] INSTALL -> [RELEASE ->] IDLE
 *
 * By tokens [RES-5], STAGE -> PASS stands in place of HOLD -> DRAIN.
 *
 * The links themselves act first and alone, within microseconds [RES-4]: the
 * controller only makes the best of what is left.
 *
 * Pure, as all of the protocol. Computing is the host's: a *job* comes out, and
 * its result goes in whenever it is done (rl_tables.h does what a job asks).
 * A controller may be thrown away and built anew at any moment, with a higher
 * incarnation: it learns from the local controllers how things stand.
 *
 * A host does, whenever something happened or rl_controller_deadline() is
 * reached:
 *
 *   rl_controller_rx(), rl_controller_done()
 *   rl_controller_tick()
 *   if (rl_controller_job()) ...      begin to compute; forget an older job
 *   while (rl_controller_tx()) ...    send it
 *
 * One thread owns it.
 */

#include "rl_local.h"
#include "rl_topo.h"

/** Phases. One function writes them: ctl_set_phase(). X(name, word). */
#define RL_CONTROLLER_PHASES(X)                                                \
	X(LEARN, "learning")	 /* it has begun; who is there? */             \
	X(IDLE, "idle")							       \
	X(GATHER, "gathering")	 /* failures come in groups */                 \
	X(COMPUTE, "computing")						       \
	X(HOLD, "holding")	 /* locals are told what to hold */            \
	X(DRAIN, "draining")	 /* what is held leaves the fabric */          \
	X(QUIET, "quiet")	 /* by hand: until reroute or unquiesce */     \
	X(STAGE, "staging")	 /* all are prepared to pass tokens */	       \
	X(PASS, "passing tokens") /* ... and do: old traffic leaves */	       \
	X(INSTALL, "installing")					       \
	X(RELEASE, "releasing")						       \
	X(PORTS, "ports")	 /* planned: ports go down, empty */

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
	X(QUIESCE, "quiesce by command") /* recorded where it fails */	       \
	X(RETRY, "tried again")

enum rl_cause {
#define RL_CAUSE_ENUM(name, word) RL_CAUSE_##name,
	RL_CAUSES(RL_CAUSE_ENUM)
#undef RL_CAUSE_ENUM
};

/** How a recovery ended. X(name, word in reports). */
#define RL_OUTCOMES(X)                                                         \
	X(OPEN, "open")		    /* it still goes on */                     \
	X(DONE, "done")							       \
	X(SUPERSEDED, "superseded") /* something more happened */              \
	X(REFUSED, "refused")	    /* no tables, or none that are proven */   \
	X(TIMEOUT, "timeout")	    /* a phase took longer than it may */

enum rl_outcome {
#define RL_OUTCOME_ENUM(name, word) RL_OUTCOME_##name,
	RL_OUTCOMES(RL_OUTCOME_ENUM)
#undef RL_OUTCOME_ENUM
};

#define RL_RECOVERIES 256 /* kept; power of two */

/** What is reported of one recovery. Spans are 0 where a phase did not happen. */
struct rl_recovery {
	uint32_t epoch;		 /**< of the tables it was to install */
	enum rl_cause cause;
	uint32_t what;		 /**< link, or device where cause says so */
	bool what_is_dev;
	uint32_t changes;	 /**< of links and devices, taken together */
	uint64_t at_ns;		 /**< when the first of them was found out */
	uint64_t detect_ns;	 /**< from then until computing began */
	uint64_t compute_ns;
	uint64_t prove_ns;
	enum rl_resil_mode mode; /**< LIVE, PARTIAL, TOKENS or FULL */
	uint32_t held_flows;
	uint64_t quiesce_ns;	 /**< from the order to hold until quiet; by
				      tokens: until the last one has come */
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
	RL_LINK_AVOID, /**< it works, but perhaps not for long: if need be */
	RL_LINK_LEAVE, /**< it works, and is to be removed */
};

/** What the host is to compute. The arrays stay valid until the next job. */
struct rl_controller_job {
	uint32_t epoch;		/**< of the tables to make */
	enum rl_resil_mode mode;
	const uint8_t *link_ok; /**< [nlink]: enum rl_link_use */
	const uint8_t *dev_ok;	/**< [ndev]: not removed */
	/** [ndev]: epoch of the tables that a device has; and whether it may
	    have the newest ordered ones instead: it did not answer */
	const uint32_t *present;
	const uint8_t *unsure;
	/** [ndev]: does not answer: it will keep what it has */
	const uint8_t *silent;
	/** [ndev]: begins anew, and has no tables and no links yet */
	const uint8_t *waits;
};

struct rl_controller_result {
	uint32_t epoch; /**< of the job */
	/** 0; -EALREADY: what is installed is right as it is; -EHOSTUNREACH:
	    refused; -ETIME: not proven beside what a device has that does not
	    answer; -ENOMEM: also while late devices have all tables in use */
	int status;
	enum rl_resil_mode mode; /**< LIVE, PARTIAL, TOKENS, FULL: how to
				      install */
	uint32_t held_flows;	 /**< PARTIAL: in the list of this epoch */
	bool tokens;		 /**< PARTIAL: these tables may also come by
				      tokens, where what is held does not drain */
	bool avoided; /**< the tables do without the links to be avoided */
	bool cut;     /**< they leave somebody out that is not removed: what
			   returns is used at once */
	uint64_t compute_ns;
	uint64_t prove_ns;
};

struct rl_controller_params {
	const struct rl_resil_cfg *cfg;
	const struct rl_topo *topo; /**< its failed marks are the beginning */
	uint64_t incarnation;	    /**< higher than that of any before it */
	/** newest epoch that a controller before it has given away, were it
	    only for a job: an epoch never means two tables */
	uint32_t epoch;
	/** endpoints do not retry, and order rests on the way alone: tables
	    change only where all devices are known to be at rest */
	bool at_rest;
};

struct rl_controller;

/** Any thread. Bytes of a controller, 64-byte aligned. */
size_t rl_controller_memsize(const struct rl_topo *topo);

/**
 * Control thread. Builds one in @p mem; returns it (== mem). It first learns
 * from the local controllers how things stand.
 */
struct rl_controller *rl_controller_init(void *mem,
					 const struct rl_controller_params *p,
					 uint64_t now_ns);

/** Owner. A message that arrived; @p m is not kept. */
void rl_controller_rx(struct rl_controller *c, const struct rl_resil_msg *m,
		      uint64_t now_ns);

/** Owner. A job's result. One that nobody waits for any more is ignored. */
void rl_controller_done(struct rl_controller *c,
			const struct rl_controller_result *r, uint64_t now_ns);

/** Owner. Timers. */
void rl_controller_tick(struct rl_controller *c, uint64_t now_ns);

/** Owner. @return whether @p job is to be begun now; older ones are void */
bool rl_controller_job(struct rl_controller *c, struct rl_controller_job *job);

/** Owner. @return whether @p m was filled with a message to be sent now */
bool rl_controller_tx(struct rl_controller *c, struct rl_resil_msg *m,
		      uint64_t now_ns);

/** Owner. When rl_controller_tick() or _tx() has something to do by itself. */
uint64_t rl_controller_deadline(const struct rl_controller *c);

/**
 * Owner. Planned changes [RES-3]: new tables first, then the ports go down
 * empty; and the other way round. @return 0; -EALREADY
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
 * Owner. The steps by hand: all requests stop, and the fabric comes to rest;
 * new tables are computed and installed; requests go on.
 * @return 0; -EALREADY; -EBUSY: in the middle of a recovery; -EINVAL: nothing
 *   is quiesced
 */
int rl_controller_quiesce(struct rl_controller *c, uint64_t now_ns);
int rl_controller_reroute(struct rl_controller *c, uint64_t now_ns);
int rl_controller_unquiesce(struct rl_controller *c, uint64_t now_ns);

/** Owner. Nothing to do: no recovery goes on, nothing waits for one. */
bool rl_controller_idle(const struct rl_controller *c);

enum rl_controller_phase rl_controller_phase(const struct rl_controller *c);

/** Owner. Epoch of the newest tables that were ordered. */
uint32_t rl_controller_epoch(const struct rl_controller *c);

/** Owner. Newest epoch that was given to tables: later ones know all of now. */
uint32_t rl_controller_newest(const struct rl_controller *c);

/** Owner. Whether routes may use a link, as the controller knows it. */
bool rl_controller_link_ok(const struct rl_controller *c, uint32_t link);

/**
 * Owner. Whether a link is kept out until it is added: it, or a device at its
 * ends, was removed by command, or it was left because it degrades.
 */
bool rl_controller_link_out(const struct rl_controller *c, uint32_t link);

/** Owner. Of these: only by command, which is no failure. */
bool rl_controller_link_removed(const struct rl_controller *c, uint32_t link);

/** Owner. Recoveries since the start, RL_RECOVERIES of them kept. */
uint32_t rl_controller_recoveries(const struct rl_controller *c);
/** Owner. The i-th since the start; NULL where it is not kept any more. */
const struct rl_recovery *
rl_controller_recovery(const struct rl_controller *c, uint32_t i);

/** Any thread. "link A-B dead", "device s0 restarted". Returns buf. */
char *rl_recovery_text(const struct rl_recovery *r, const struct rl_topo *topo,
		       char *buf, size_t len);

const char *rl_controller_phase_name(enum rl_controller_phase p);
const char *rl_outcome_name(enum rl_outcome o);

#endif /* RL_CONTROLLER_H */
