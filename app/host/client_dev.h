/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_DEV_H
#define CLIENT_DEV_H

/**
 * @file
 * Any ethdev as the client of an endpoint [EP-1]: each frame read becomes one
 * packet, and each packet received becomes one frame, byte for byte.
 *
 * Without a device it is a sink: packets are checked and discarded.
 *
 * Frames longer than the largest packet, and frames truncated by a kernel
 * driver, are counted and skipped. A port that takes no frames is waited for as
 * long as taker.h allows; after that, frames are counted and dropped. With
 * several destinations, a frame waits for one without progress at most
 * CLIENT_STALL_NS. A device that replays a file (net_pcap) delivers frames as
 * fast as it is polled, so the client paces it in frames a second.
 */

#include <stdatomic.h>

#include "gather.h"
#include "proof.h"
#include "rl_l2.h"
#include "rl_role.h"
#include "taker.h"

struct rte_mbuf;
struct rte_mempool;

#define CLIENT_BURST 32
#define CLIENT_NO_PORT UINT16_MAX
#define CLIENT_STALL_NS (20 * RL_NS_PER_MS)

struct client_dev_params {
	uint16_t port_id;	  /**< started; or CLIENT_NO_PORT */
	uint16_t rx_queues;	  /**< that it receives by; it writes by one */
	struct rte_mempool *pool; /**< for frames to write, with one segment
				       each */
	bool check;	   /**< frames come from a kernel, see frame_check.h */
	uint32_t rx_slot;  /**< a frame of this length may be truncated; 0:
				none */
	_Atomic uint32_t tx_max; /**< longest frame that it can write; 0: any */
	struct rl_flit_cache *cache; /**< of the lcore of the endpoint */
	uint16_t ep_id;
	int32_t dst;		  /**< destination endpoint, or -1: see l2 */
	struct rl_l2 *l2;	  /**< learning network that finds the
				       destination of a frame; NULL: dst, or
				       nothing is read */
	const uint16_t *member;	  /**< other endpoints of the network */
	uint16_t nmembers;
	struct proof **flow; /**< [dst * npeers + src]; entries may be NULL */
	uint32_t npeers;
	uint64_t total_frames;	  /**< that the device will deliver; 0:
				       unknown */
	uint8_t *scratch;	  /**< max_bytes of memory */
	uint32_t max_bytes;	  /**< longest packet */
};

struct client_dev_counters {
	uint64_t rx_frames;    /**< read from the device */
	uint64_t rx_oversize;  /**< too long: skipped */
	uint64_t rx_refused;   /**< refused for another reason */
	uint64_t rx_stalled;   /**< copies not sent: their endpoint made no
				    progress */
	uint64_t rx_cut;       /**< truncated: skipped */
	uint64_t rx_nested;    /**< nested too deep to be checked */
	uint64_t rx_completed; /**< with a partial checksum that was
				    completed */
	uint64_t tx_frames;    /**< written to the device */
	uint64_t tx_too_long;  /**< packets longer than its frames */
	uint64_t tx_not_taken; /**< frames not taken in time */
	uint64_t tx_no_mbuf;   /**< polls without an mbuf to write to */
};

/** Owned by the lcore of the endpoint; other threads use the atomics. */
struct client_dev {
	struct client_dev_params p;
	uint64_t next_ns; /**< pacing: time of the next frame */
	struct rte_mbuf *rx[CLIENT_BURST]; /**< read, not sent */
	uint16_t rx_head;
	uint16_t rx_count;
	uint16_t rx_next; /**< queue to be read next */
	const struct rte_mbuf *rx_checked; /**< the next frame, if already
						checked */
	bool routed;	    /**< the next frame goes to to[next] .. to[end -
				 1] */
	uint16_t one;
	uint16_t next;
	uint16_t end;
	const uint16_t *to;
	struct rte_mbuf *tx[CLIENT_BURST]; /**< made, not written */
	uint16_t tx_count;
	struct gather gather; /**< decides when they are written */
	struct taker taker;   /**< decides how long that is tried */
	uint64_t stall_ns;    /**< first of the frames for stalled flows ... */
	uint64_t stalled_ns;  /**< ... and last of them */
	struct rte_mbuf *spare;
	struct client_dev_counters c;
	_Atomic uint32_t running;
	_Atomic uint64_t rate_pps; /**< 0: no limit */
	_Atomic uint64_t waits_ns; /**< takes no frames since; 0: it takes
					them */
	_Atomic uint32_t gone;	   /**< frames that it does not take are
					dropped */
	_Atomic uint32_t down;	   /**< it has no link; set by another thread */
	_Atomic uint32_t away; /**< its port is closed; set by another thread */
	bool closed;	       /**< the same, for this poll */
	_Atomic uint32_t finished; /**< total_frames were read and sent */
};

/** Control thread. @p p is copied. */
void client_dev_init(struct client_dev *c, const struct client_dev_params *p);

/** Control thread. Starts or stops reading. Writing continues. */
void client_dev_run(struct client_dev *c, bool on);

/** Control thread. Frames a second; 0: no limit. */
void client_dev_rate(struct client_dev *c, uint64_t pps);

/**
 * Control thread. The port is to be closed while the lcore runs: from its next
 * poll on, it does not touch it. Close it after the lcore's next round.
 */
void client_dev_away(struct client_dev *c);

/** Control thread, after client_dev_away(). Another one takes its place. */
void client_dev_back(struct client_dev *c, uint16_t port_id);

/** The endpoint's lcore; see struct rl_client. */
unsigned int client_dev_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns);
uint64_t client_dev_deadline(void *ctx);

/** The endpoint's lcore; see struct rl_client. */
void client_dev_event(void *ctx, const struct rl_ep_event *ev);

/**
 * Any thread; the number may be torn. @return frames that its port did not
 * take, or has not taken yet
 */
static inline uint64_t
client_dev_not_taken(const struct client_dev *c)
{
	const bool waits = atomic_load_explicit(&c->waits_ns,
						memory_order_relaxed) != 0;

	return c->c.tx_not_taken + (waits ? c->tx_count : 0);
}

/** Control thread, after the lcores have stopped. Frees its frames. */
void client_dev_close(struct client_dev *c);

#endif /* CLIENT_DEV_H */
