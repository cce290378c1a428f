/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_MEMTXN_H
#define RL_MEMTXN_H

/**
 * @file Memory transactions over an endpoint [EP-5]: small, but enough to show
 * the effects in Figures 4, 5a and 5b of the RXL paper. A transaction is a
 * request, a response, and data:
 *
 *     requester                             responder
 *         |  READ tag, cqid, address            |
 *         |------------------------------------>| executes
 *         |          RSP tag, DATA tag, cqid    |
 *         |<------------------------------------|
 *
 * Transactions of different command queues (CQID) may complete in any order;
 * those of one queue complete in the order in which they were issued, and the
 * requester takes their data as one stream. There is no protection against
 * duplicate requests or data out of order: the layer below promises that there
 * are none. Violations of that promise are counted and reported.
 *
 * Several messages share a flit. Each is 16 bytes and the data it carries:
 *
 * | bytes | what                                |
 * |-------|-------------------------------------|
 * | 0     | enum rl_memtxn_op                   |
 * | 1     | bytes of data that follow: 0 or 64  |
 * | 2-3   | CQID                                |
 * | 4-7   | tag                                 |
 * | 8-15  | address                             |
 *
 * An agent is both requester and responder. It is pure, allocates nothing,
 * and belongs to the owner of its endpoint.
 */

#include "rl_endpoint.h"

#define RL_MEMTXN_LINE 64	/* bytes that a transaction moves */
#define RL_MEMTXN_HEADER 16	/* of a message */
#define RL_MEMTXN_CQIDS 16
#define RL_MEMTXN_OPEN_MAX 64	/* transactions not complete, power of two */
#define RL_MEMTXN_QUEUE 128	/* messages waiting to be sent, power of two */
/** How many past tags an agent remembers as executed or not. */
#define RL_MEMTXN_PAST 1024

enum rl_memtxn_op {
	RL_MEMTXN_READ = 1,
	RL_MEMTXN_WRITE = 2, /**< carries the line */
	RL_MEMTXN_RSP = 3,   /**< the request was taken */
	RL_MEMTXN_DATA = 4,  /**< the line read */
};

struct rl_memtxn_msg {
	uint8_t op;
	uint8_t data_bytes;
	uint16_t cqid;
	uint32_t tag;
	uint64_t addr;
	uint8_t data[RL_MEMTXN_LINE];
};

/** What an agent reports of a received message. */
enum rl_memtxn_event {
	RL_MEMTXN_EXECUTED,	    /**< a request, for the first time */
	RL_MEMTXN_EXECUTED_AGAIN,   /**< a request that was executed before */
	RL_MEMTXN_COMPLETED,	    /**< a response, or data in their turn */
	RL_MEMTXN_OUT_OF_ORDER,	    /**< data before older ones of its queue */
	RL_MEMTXN_UNEXPECTED,	    /**< response or data for nothing open */
	RL_MEMTXN_EVENTS
};

typedef void (*rl_memtxn_event_fn)(void *ctx, enum rl_memtxn_event event,
				   const struct rl_memtxn_msg *msg,
				   uint64_t now_ns);

struct rl_memtxn_cfg {
	uint16_t peer;
	uint8_t cos;
	/** Most messages in a flit; at most as many as fit. */
	uint32_t pack;
	/** The memory that this agent serves, lines of 64 bytes; the caller's. */
	uint8_t *mem;
	uint64_t mem_bytes;
	rl_memtxn_event_fn event; /**< may be NULL */
	void *event_ctx;
	struct rl_flit_cache *cache; /**< of the endpoint */
};

struct rl_memtxn_counters {
	uint64_t issued;
	uint64_t event[RL_MEMTXN_EVENTS];
	uint64_t malformed; /**< invalid packets, dropped */
	uint64_t bad_addr;  /**< requests beyond memory: answered, not done */
	uint64_t flits_sent;
	uint64_t messages_sent;
};

/** A transaction of this agent that is not complete. */
struct rl_memtxn_open {
	bool open;
	uint8_t op;
	bool responded;
	uint16_t cqid;
	uint32_t tag;
	uint32_t turn; /**< place in its command queue */
};

struct rl_memtxn {
	struct rl_memtxn_cfg cfg;
	struct rl_memtxn_counters ctr;
	uint32_t next_tag;
	uint32_t nopen;
	struct rl_memtxn_open open[RL_MEMTXN_OPEN_MAX];
	uint32_t issue_turn[RL_MEMTXN_CQIDS];
	uint32_t data_turn[RL_MEMTXN_CQIDS];
	uint32_t head; /**< of the queue, free-running */
	uint32_t tail;
	struct rl_memtxn_msg queue[RL_MEMTXN_QUEUE];
	uint64_t done[RL_MEMTXN_PAST / 64]; /**< requests executed, by tag */
	uint32_t done_high;		    /**< 1 + highest tag executed */
};

/** Owner. Makes an agent; @p cfg is copied. */
void rl_memtxn_init(struct rl_memtxn *m, const struct rl_memtxn_cfg *cfg);

/**
 * Owner. Issues a transaction; it leaves with the next poll.
 *
 * @param line  64 bytes to write; NULL for a read
 * @param tag   if not NULL: set to the transaction's tag
 * @return 0; -EAGAIN: too many are open; -EINVAL: unknown queue, or an address
 *   that is not aligned to a line
 */
int rl_memtxn_issue(struct rl_memtxn *m, enum rl_memtxn_op op, uint16_t cqid,
		    uint64_t addr, const uint8_t *line, uint32_t *tag);

/** Owner. Takes arrivals at @p ep, and sends waiting messages. */
void rl_memtxn_poll(struct rl_memtxn *m, struct rl_ep *ep, uint64_t now_ns);

/** Owner. Whether nothing is open, and nothing waits to be sent. */
bool rl_memtxn_idle(const struct rl_memtxn *m);

/**
 * Any thread. Writes @p msg to @p buf.
 * @return bytes written; 0 if @p room is too small
 */
uint32_t rl_memtxn_put(const struct rl_memtxn_msg *msg, uint8_t *buf,
		       uint32_t room);

/**
 * Any thread. Reads one message from @p len bytes; any bytes are safe.
 * @return bytes read; 0 if they are no message
 */
uint32_t rl_memtxn_get(struct rl_memtxn_msg *msg, const uint8_t *buf,
		       uint32_t len);

#endif /* RL_MEMTXN_H */
