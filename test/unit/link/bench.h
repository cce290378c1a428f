/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_BENCH_H
#define LINK_BENCH_H

/*
 * A test bench for links: two ports joined by two hand-moved wires, a
 * hand-moved clock, and at each end a stand-in for the switch core that takes
 * packets, checks them, frees credits and answers the loopback's marks.
 *
 * The 33 cases that a port must pass, and the files of this folder, of
 * ../switch and of ../endpoint that name them (docs/testing.md has them with a
 * sentence each, and with those on lcores and in simulation):
 *
 *  1 settings      test_cfg              18 window of 4    test_credit
 *  2 echo          test_handshake        19 rate x delay   test_credit
 *  3 init action   test_handshake,       20 packet sizes   test_retry, _replay
 *                  test_init_action
 *  4 numbers, ACK  test_retry, _replay   21 2 % loss       test_long
 *  5 wraps         test_long             22 PHY lost       test_detect
 *  6 lost ACKs     test_retry            23 new epoch      test_handshake
 *  7 50th of 100   test_retry            24 zero credits   test_credit
 *  8 bad flit      test_retry            25 lost credits   test_credit
 *  9 burst of 100  test_retry            26 blocked VC     test_credit,
 * 10 lost NAK      test_retry               and incast     test_forward
 * 11 lost tail     test_retry            27 every k of F   test_figure_1b,
 * 12 timer         test_timer               cut through    test_cut_1b
 * 13 frozen ACKs   test_timer            28 hold, filters  test_failover, _loop
 * 14 unlimited     test_timer            29 duplicate tag  test_restore,
 *                                                          test_ep_order
 * 15 stale ACK     test_retry, _timer    30 again, at all  test_second_failure,
 * 16 duplicates    test_retry               steps          _order, _failover
 * 17 poison        test_retry, _marked   31 reflection     test_forward
 *                                        32 ISN and hole   test_ep_profile
 *                                        33 under load     test_planned,
 *                                                          test_second_failure
 *
 * Wires take rules: "drop the third DATA frame", "hurt flit 1 of the next
 * replayed frame". Everything a port gives is checked on the way: order and
 * content of packets here, the number of flits when the bench closes.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_codec.h"
#include "rl_port.h"
#include "rl_prng.h"

/* A test named as a sentence. */
#define CASE(name, fn) { name, fn, NULL, NULL, NULL }

/* --- flits ------------------------------------------------------------- */

struct bench_pool {
	struct rl_flit *mem;
	uint32_t total;
	struct rl_flit_cache cache;
	struct rl_codec *codec;
};

void bench_pool_open(struct bench_pool *p, uint32_t flits);
/* Checks that every flit was returned exactly once. */
void bench_pool_check(const struct bench_pool *p);
void bench_pool_close(struct bench_pool *p);

/* A packet of the bench. These numbers determine its content. */
struct bench_packet {
	uint16_t src;
	uint16_t dst;
	uint8_t sl;
	uint8_t class;
	uint8_t vc;
	uint16_t flits;
	uint32_t tag;
};

struct rl_flit *bench_make(struct bench_pool *p, const struct bench_packet *k);
/* Whether every flit of a packet is as bench_make() made it. */
bool bench_intact(const struct rl_flit *pkt);
/* The same for one flit. */
bool bench_flit_intact(const struct rl_flit *f);

/*
 * Takes and checks packets; one series of numbers for each VC (as the SL says).
 */
struct bench_sink {
	uint64_t packets;
	uint64_t flits;
	uint64_t duplicates; /* a tag that came before */
	uint64_t disorder;   /* a tag that skips others */
	uint64_t corrupt;
	uint64_t marked;     /* with an error mark */
	uint32_t next_tag[RL_SLS];
};

void bench_sink_take(struct bench_sink *s, const struct rl_flit *pkt);

/* --- wires ------------------------------------------------------------- */

struct bench_frame {
	uint8_t *data;
	uint32_t len;
	uint64_t due_ns;
	bool gone;
	struct rl_frame_hdr h;
};

enum bench_act {
	BENCH_PASS,
	BENCH_DROP,
	BENCH_TWICE,	/* delivered twice */
	BENCH_HURT,	/* flit `arg` becomes uncorrectable */
	BENCH_NUDGE,	/* flit `arg` becomes corrupt, but FEC corrects it */
	BENCH_SPOIL,	/* header byte `arg` flipped */
	BENCH_LATE,	/* delayed by `arg` ns: may be overtaken */
};

/*
 * Applies to frames of a type (0: any) with all flags of `with` and none of
 * `without`; among these, to number first..last, from 0.
 */
struct bench_rule {
	uint8_t type;
	uint8_t with;
	uint8_t without;
	enum bench_act act;
	uint32_t first;
	uint32_t last;
	uint32_t arg;
	uint32_t seen; /* frames matched so far */
};

#define BENCH_RULES 8
#define BENCH_EVER UINT32_MAX

struct bench_wire {
	struct bench_frame *slot;
	uint32_t cap;
	uint32_t head;
	uint32_t tail;
	uint32_t frame_bytes;
	uint64_t delay_ns;
	uint64_t slot_ns;    /* time that one frame takes; 0: none */
	uint64_t busy_ns;    /* end of the present frame */
	bool cut;
	uint64_t frames;     /* sent */
	uint64_t flits;
	uint64_t type[8];    /* frames by type */
	struct bench_rule rule[BENCH_RULES];
	unsigned int nrules;
	/* for cases that rules cannot express; called before them */
	enum bench_act (*hook)(void *ctx, struct bench_frame *f);
	void *ctx;
};

void bench_wire_open(struct bench_wire *w, uint32_t frame_bytes);
void bench_wire_close(struct bench_wire *w);
struct bench_rule *bench_rule(struct bench_wire *w, struct bench_rule r);
void bench_no_rules(struct bench_wire *w);
bool bench_wire_ready(const struct bench_wire *w, uint64_t now_ns);
void bench_wire_send(struct bench_wire *w, const uint8_t *data, uint32_t len,
		     uint64_t now_ns);
/* @return when the next frame arrives; RL_NEVER: there is none */
uint64_t bench_wire_due(const struct bench_wire *w);
/* Loses the frames on the wire. */
void bench_wire_clear(struct bench_wire *w);

/* --- ends -------------------------------------------------------------- */

#define BENCH_MARKS 256
#define BENCH_EVENTS 256
#define BENCH_DROPS 1024

struct bench_dropped {
	enum rl_drop_reason why;
	uint32_t tag;
	uint16_t flits;
};

struct bench_end {
	struct rl_port *port;
	void *mem;
	struct bench_pool *pool;
	struct rl_port_shared *shared;
	struct bench_wire *in;
	struct bench_wire *out;
	uint8_t *frame;
	/* most frames given to the port at once; 0: all that arrived */
	unsigned int burst;
	/* stand-in for the core */
	bool no_core;	   /* packets and marks stay in the port */
	bool no_fence;	   /* LOOP_BEGIN gets no answer */
	bool left;	   /* the fence was sent: the link drains */
	uint32_t hold_vcs; /* bit per VC: packets are taken and kept */
	struct rl_pktq kept;
	struct rl_pktq looped;
	struct rl_flit *part[RL_VCS]; /* cut-through: packet without its end */
	uint64_t fragments;	      /* taken, but incomplete */
	uint64_t closed;	      /* packets closed by a marked end */
	struct bench_sink sink;
	uint8_t mark[BENCH_MARKS];
	unsigned int nmarks;
	struct rl_port_event event[BENCH_EVENTS];
	unsigned int nevents;
	struct bench_dropped drop[BENCH_DROPS];
	unsigned int ndrops;
	uint32_t next_tag[RL_VCS]; /* of packets sent from here */
	uint64_t forged_ns;	   /* stamp of the last forged frame */
};

struct bench_end_params {
	const struct rl_link_cfg *cfg;
	struct bench_pool *pool;
	struct bench_wire *in;
	struct bench_wire *out;
	uint32_t uid;
	uint16_t index;
	enum rl_link_kind kind;
	uint64_t digest;
	struct rl_frame_place place;
	const struct rl_link_auth *auth;
};

void bench_end_open(struct bench_end *e, const struct bench_end_params *p);
void bench_end_close(struct bench_end *e);
/* One poll of the port: frames in, timers, frames out. */
void bench_end_port(struct bench_end *e, uint64_t now_ns);
/* One poll of the stand-in for the core. */
void bench_end_core(struct bench_end *e, uint64_t now_ns);
/* Frees the credits of kept packets, and takes them. */
void bench_end_release(struct bench_end *e);
unsigned int bench_end_events(const struct bench_end *e,
			      enum rl_port_event_type type);
/* Detector of the last DEAD event; RL_DET_NONE: it did not die. */
enum rl_detector bench_end_detector(const struct bench_end *e);
/* A header that the port of @p e accepts as the newest one from its peer. */
struct rl_frame_hdr bench_forge(struct bench_end *e, enum rl_frame_type type,
				uint8_t flags, uint64_t now_ns);
/* Delivers a frame with that header, and the rest from e->frame. */
void bench_inject(struct bench_end *e, const struct rl_frame_hdr *h,
		  uint64_t now_ns);
enum rl_link_state bench_state(const struct bench_end *e);
struct rl_port_info bench_info(const struct bench_end *e);
/* The same, with zeroed padding, for comparison byte by byte. */
void bench_snapshot(const struct bench_end *e, struct rl_port_info *info);

#define COUNTER(end, name) (rl_port_counters((end)->port)[RL_PC_##name])

/* --- two ends and what is between --------------------------------------- */

struct bench {
	struct rl_link_cfg cfg;
	struct bench_pool pool;
	struct bench_wire wire[2]; /* 0: from end 0 to end 1 */
	struct bench_end end[2];
	uint64_t now_ns;
	uint64_t step_ns;
	/* set before bench_open(), or zero */
	enum rl_link_kind kind;
	uint32_t pool_flits;
	uint32_t frame_bytes;
	const struct rl_link_auth *auth[2];
};

/* Settings with short times and frames of one flit. */
void bench_cfg(struct rl_link_cfg *cfg);
/* The caller zeroes @p b; cfg NULL: bench_cfg(). */
void bench_open(struct bench *b, const struct rl_link_cfg *cfg);
void bench_start(struct bench *b); /* runs until both are UP */
/* Both, over wires of 2 us with frames of 1 us; then runs for 50 us. */
void bench_open_up(struct bench *b, const struct rl_link_cfg *cfg);
void bench_poll(struct bench *b);
void bench_run(struct bench *b, uint64_t ns);
/* Runs until both ports are idle and the wires empty; fails after max_ns. */
void bench_settle(struct bench *b, uint64_t max_ns);
/* The same, but advances the clock only to deadlines. */
void bench_settle_by_deadlines(struct bench *b, uint64_t max_ns);
void bench_send(struct bench *b, unsigned int end, unsigned int vc,
		unsigned int flits, unsigned int packets);
void bench_cut(struct bench *b, bool cut); /* both directions */
/* Checks that packets from end 0 arrived once, in order and intact. */
void bench_check_delivered(struct bench *b);
void bench_close(struct bench *b); /* checks for leaks */

#endif /* LINK_BENCH_H */
