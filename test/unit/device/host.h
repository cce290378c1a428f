/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DEVICE_TEST_HOST_H
#define DEVICE_TEST_HOST_H

/*
 * A minimal host of the fabric: memory whose n-th request fails, pipes of
 * exactly the requested size, wires that a test can cut, stop or blind, one
 * thread that polls every role in turn, and a client that sends numbered
 * packets and checks those it receives.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../figure1.h"
#include "rl_fabric.h"
#include "rl_route.h"

#define HOST_FRAMES 64	/* on one wire */
#define HOST_WIRES 128
#define HOST_PIPES 256
#define HOST_ALLOCS 256

struct host_pipe {
	void **slot;
	uint32_t size;
	uint32_t head;
	uint32_t tail;
	uint32_t peak;
};

/* One direction: frames sent, and frames not read by the receiver. */
struct host_wire {
	uint8_t *frame[HOST_FRAMES];
	uint32_t len[HOST_FRAMES];
	uint32_t head;
	uint32_t tail;
	bool cut;
	uint32_t lent;	/* frames handed out by tx_alloc */
	uint32_t unread; /* frames handed out by rx */
	uint32_t empty; /* returned empty */
	uint32_t longest; /* most frames in one burst */
};

struct host_end {
	struct host_wire *rx;
	struct host_wire *tx;
	bool link_up;
	bool full; /* tx_alloc gives nothing */
};

struct host {
	struct rl_config cfg;
	struct rl_route *route;
	struct rl_fabric fabric;
	struct rl_fabric_host ops;
	char err[RL_ERR_MAX];
	/* memory */
	void *mem[HOST_ALLOCS];
	unsigned int nmem;
	unsigned int fail_at;  /* the n-th request fails; 0: none */
	unsigned int asked;
	unsigned int pipe_fail_at;
	unsigned int phy_fail_at;
	unsigned int phys;
	struct rl_flit *flits;
	struct rl_flit_cache cache;
	uint32_t nflits;
	uint32_t frame_bytes;
	/* pipes and wires */
	struct host_pipe pipe[HOST_PIPES];
	unsigned int npipes;
	struct host_wire wire[HOST_WIRES]; /* two for each link */
	struct host_end end[HOST_WIRES];
	/* clients, by endpoint */
	struct host_client {
		struct host *host;
		uint16_t ep;
		uint16_t peer;
		uint32_t to_send;
		bool small; /* only packets of one flit */
		uint32_t sent;
		uint32_t got;
		uint32_t wrong;
	} client[4];
	/* events received */
	unsigned int port_events;
	unsigned int core_events;
	unsigned int dead;
	unsigned int drops;
	struct rl_ep_notice notice[64]; /* not delivered yet */
	unsigned int nnotices;
	uint64_t now_ns;
};

/* Reads the text and computes routes; builds nothing. */
void host_open(struct host *h, const char *text);
void host_fail(struct host *h, const char *link); /* out of use from the
						     start */
int host_build(struct host *h); /* rl_fabric_build() */
void host_start(struct host *h); /* and runs until all links are up */
void host_run(struct host *h, uint64_t ns);
/* Polls until clients have received everything and every role is idle. */
void host_finish(struct host *h, uint64_t max_ns);
/* A link by its name, "A-B#k". */
void host_cut(struct host *h, const char *link, bool cut);
/* @return the port role at the first (0) or second (1) end of a link */
struct rl_role_port *host_port(struct host *h, const char *link,
			       unsigned int end);
void host_close(struct host *h); /* checks for leaks */

/* For cmocka, with a struct host as state: reads Figure 1; also builds and
   starts it; closes it. */
int host_set_up(void **state);
int host_set_up_started(void **state);
int host_tear_down(void **state);

/* Figure 1: two switches joined by two links, an endpoint at each. */
#define HOST_FIGURE_1_FABRIC                                                   \
	FIGURE1_FABRIC                                                         \
	"routing: { engine = \"updown\"; };\n"
#define HOST_FIGURE_1                                                          \
	HOST_FIGURE_1_FABRIC "link: { flap_damping_ns = 100000; };\n"

#endif /* DEVICE_TEST_HOST_H */
