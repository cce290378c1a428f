/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLIENT_DEV_H
#define CLIENT_DEV_H

/**
 * @file
 * Any ethdev as the client of an endpoint [EP-1]: one frame read is one packet
 * sent, one packet received is one frame written, byte for byte.
 *
 * Without a device it is a sink: what arrives is checked and thrown away.
 *
 * A frame that is longer than the largest packet is counted and skipped; so is
 * one that a kernel's driver has cut short. A port that takes no frames is
 * waited for no longer than taker.h says; what it does not take then is
 * counted. A frame for one of several endpoints waits no longer than
 * CLIENT_STALL_NS where that one gets nothing. A
 * device that replays a file (net_pcap) reads as fast as it is polled, so the
 * client paces it: so many frames a second.
 */

#include <stdatomic.h>

#include <rte_mbuf.h>

#include "gather.h"
#include "proof.h"
#include "rl_l2.h"
#include "rl_role.h"
#include "taker.h"

#define CLIENT_BURST 32
#define CLIENT_NO_PORT UINT16_MAX
#define CLIENT_STALL_NS (20 * RL_NS_PER_MS)

struct client_dev_params {
	const char *name;	  /**< the ethdev's, for messages */
	uint16_t port_id;	  /**< started, one queue pair; or NO_PORT */
	struct rte_mempool *pool; /**< frames to write; one segment each */
	bool check;	   /**< frames come from a kernel: frame_check.h */
	uint32_t rx_slot;  /**< a frame of so many bytes may be cut; 0: none */
	uint32_t tx_max;   /**< longest frame it writes; 0: any */
	struct rl_flit_cache *cache; /**< of the endpoint's lcore */
	uint16_t ep_id;
	int32_t dst;		  /**< endpoint, or -1: see l2 */
	struct rl_l2 *l2;	  /**< its network finds where a frame goes;
				       NULL: dst, or nothing is read */
	const uint16_t *member;	  /**< the network's other endpoints */
	uint16_t nmembers;
	struct proof **flow; /**< [dst * npeers + src]; entries may be NULL */
	uint32_t npeers;
	uint64_t total_frames;	  /**< the device will give; 0: not known */
	uint8_t *scratch;	  /**< max_bytes of memory */
	uint32_t max_bytes;	  /**< longest packet */
};

struct client_dev_counters {
	uint64_t rx_frames;    /**< read from the device */
	uint64_t rx_oversize;  /**< of them too long: skipped */
	uint64_t rx_refused;   /**< of them refused for another reason */
	uint64_t rx_stalled;   /**< copies not sent: their endpoint got nothing */
	uint64_t rx_cut;       /**< of them without their end: skipped */
	uint64_t rx_nested;    /**< of them nested too deep to be checked */
	uint64_t rx_completed; /**< of them mended: their checksum was partial */
	uint64_t tx_frames;    /**< written to the device */
	uint64_t tx_too_long;  /**< packets that no frame of it can hold */
	uint64_t tx_not_taken; /**< frames that it did not take in time */
	uint64_t tx_no_mbuf;   /**< polls that could not write */
};

/** Belongs to the endpoint's lcore; others use the atomics. */
struct client_dev {
	struct client_dev_params p;
	uint64_t next_ns; /**< pacing: when the next frame may go */
	uint64_t interval_ns;
	struct rte_mbuf *rx[CLIENT_BURST]; /**< read, not sent yet */
	uint16_t rx_head;
	uint16_t rx_count;
	const struct rte_mbuf *rx_checked; /**< the next, if looked at */
	bool routed;	    /**< the next goes to to[next] .. to[end - 1] */
	uint16_t one;
	uint16_t next;
	uint16_t end;
	const uint16_t *to;
	struct rte_mbuf *tx[CLIENT_BURST]; /**< made, not written yet */
	uint16_t tx_count;
	struct gather gather; /**< when they are written */
	struct taker taker;   /**< and for how long that is tried */
	uint64_t stall_ns;    /**< since when frames have met stalled flows ... */
	uint64_t stalled_ns;  /**< ... and when the last did */
	struct rte_mbuf *spare;
	struct client_dev_counters c;
	_Atomic uint32_t running;
	_Atomic uint64_t rate_pps; /**< 0: as fast as it goes */
	_Atomic uint64_t waits_ns; /**< it has taken no frame since; 0: it does */
	_Atomic uint32_t gone;	   /**< what it does not take is thrown away */
	_Atomic uint32_t down;	   /**< it has no link: others ask that */
	_Atomic uint32_t finished; /**< total_frames were read and sent */
};

/** Control thread. */
void client_dev_init(struct client_dev *c, const struct client_dev_params *p);

/** Control thread. Reading begins, or ends. Writing always goes on. */
void client_dev_run(struct client_dev *c, bool on);

/** Control thread. Frames a second, 0: no limit. */
void client_dev_rate(struct client_dev *c, uint64_t pps);

/** The endpoint's lcore; see struct rl_client. */
unsigned int client_dev_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns);
uint64_t client_dev_deadline(void *ctx);

/** The endpoint's lcore; see struct rl_client. */
void client_dev_event(void *ctx, const struct rl_ep_event *ev);

/**
 * Any thread that can stand a torn number. Frames that its port did not take,
 * or does not now.
 */
static inline uint64_t
client_dev_not_taken(const struct client_dev *c)
{
	const bool waits = atomic_load_explicit(&c->waits_ns,
						memory_order_relaxed) != 0;

	return c->c.tx_not_taken + (waits ? c->tx_count : 0);
}

/** Control thread, after the lcores. Frees frames in hand. */
void client_dev_close(struct client_dev *c);

#endif /* CLIENT_DEV_H */
