/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RESIL_FIXTURE_H
#define RESIL_FIXTURE_H

/*
 * A ring of four switches with an endpoint each, their local controllers, a
 * controller, and a channel that delays, loses, duplicates and reorders
 * messages by seed. The host acts at once; of packets, it only counts those
 * outstanding.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_controller.h"
#include "rl_prng.h"

#define FX_DEVS 8
#define FX_MSGS 8192

struct fx_flight {
	uint64_t at_ns;
	bool to_ctl;
	bool used;
	struct rl_resil_msg m;
};

struct fx {
	struct rl_topo topo;
	struct rl_resil_cfg cfg;
	struct rl_controller *ctl; /* NULL: crashed */
	void *ctl_mem;
	struct rl_local *local[FX_DEVS]; /* NULL: crashed */
	void *local_mem[FX_DEVS];
	uint64_t inc; /* next incarnation */
	bool at_rest; /* endpoints do not retry */
	uint64_t now_ns;
	struct rl_prng prng;
	struct fx_flight flight[FX_MSGS];
	uint32_t nflight; /* all slots in use are below */
	/* the channel */
	uint64_t delay_ns, jitter_ns;
	uint64_t slow_ns[FX_DEVS]; /* additional delay, to and from a device */
	uint32_t loss_pct, dup_pct;
	bool late[FX_DEVS]; /* alive, but does nothing yet */
	/* the job */
	enum rl_resil_mode mode; /* mode of results */
	bool tokens; /* the result allows tokens, too */
	int status;
	uint64_t compute_ns;
	bool job;
	bool never; /* no job ever ends */
	uint64_t job_ns;
	uint32_t job_epoch;
	uint8_t job_link_ok[64];
	uint8_t job_silent[FX_DEVS];
	uint8_t job_waits[FX_DEVS];
	uint8_t job_unsure[FX_DEVS];
	enum rl_resil_mode job_mode;
	bool job_renew;
	uint32_t jobs;
	bool avoided;
	bool cut; /* the tables leave out a device */
	/* devices */
	uint32_t table[FX_DEVS];
	enum rl_resil_hold hold[FX_DEVS];
	/* from the latest order: whether to hold, and for which tables */
	bool order_holds[FX_DEVS];
	uint32_t order_hold_epoch[FX_DEVS];
	bool started[FX_DEVS]; /* ports train */
	bool busy[FX_DEVS];    /* held packets are still outstanding */
	uint64_t activity[FX_DEVS];
	uint32_t installs;
	uint32_t holds;
	uint32_t bad_installs; /* tables for a hold, but a device does not
				  hold */
	uint32_t restless;     /* installs while an endpoint does not hold */
	uint32_t staged[FX_DEVS];
	uint32_t passed[FX_DEVS];
	uint32_t none[FX_DEVS]; /* waits that ended without tables */
	uint32_t bad_passes; /* tokens, but a device is not prepared */
	enum rl_local_port_order order[FX_DEVS][8];
};

void fx_open(struct fx *f, uint64_t seed);
void fx_close(struct fx *f);
/* Runs for @p ns. */
void fx_run(struct fx *f, uint64_t ns);
/* Runs until the controller is in phase @p p, for at most a second. */
void fx_until(struct fx *f, enum rl_controller_phase p);
/*
 * Runs until the controller is idle, for at most @p ns. @return whether it is
 */
bool fx_settle(struct fx *f, uint64_t ns);
/* Both ends report a state of a link; a crashed device reports nothing. */
void fx_link(struct fx *f, uint32_t link, enum rl_resil_link state);
void fx_end(struct fx *f, uint32_t link, unsigned int end,
	    enum rl_resil_link state);
void fx_local_kill(struct fx *f, uint32_t dev);
void fx_local_begin(struct fx *f, uint32_t dev, bool waits);
void fx_ctl_kill(struct fx *f);
void fx_ctl_begin(struct fx *f);
const struct rl_recovery *fx_last(const struct fx *f);
/* A fixture at rest, for cmocka; *state is a struct fx. */
int fx_setup(void **state);
int fx_setup_at_rest(void **state);
int fx_teardown(void **state);
/* Checks that all live devices have these tables, and none holds. */
void fx_all_have(const struct fx *f, uint32_t epoch);
uint32_t fx_dev(const struct fx *f, const char *name);
uint32_t fx_link_of(const struct fx *f, const char *name);

#endif /* RESIL_FIXTURE_H */
