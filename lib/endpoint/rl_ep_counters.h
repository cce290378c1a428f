/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_EP_COUNTERS_H
#define RL_EP_COUNTERS_H

/**
 * @file
 * The counters of an endpoint. X(name); the names are those of xstats.
 */

#define RL_EP_COUNTERS(X)                                                      \
	/* from the client */                                                  \
	X(tx_packets)        /* accepted from the client */                    \
	X(tx_bytes)          /* of these packets, as the client counts */      \
	X(tx_refused_window) /* refused: the flow's window is full */          \
	X(window_cuts)       /* times that congestion made a window smaller */  \
	X(tx_refused_buffer) /* refused: tx_buffer_flits are in use */         \
	X(tx_refused_share)  /* refused: the flow's share of them is */        \
	X(tx_refused_cache)  /* refused: no free flit */                       \
	X(tx_refused_flows)  /* refused: max_flows are in use */               \
	X(tx_refused_unreachable) /* refused: there is no path to the peer */  \
	X(tx_refused_quiesce)/* refused: requests, or a peer, are held back */             \
	/* to the fabric */                                                    \
	X(tx_flits)          /* new data flits, first transmission */          \
	X(retransmitted_flits)                                                 \
	X(retransmitted_runs)/* link-level packets these travelled in */       \
	X(ack_sent)          /* acknowledgments of something new, any way */   \
	X(ack_alone_sent)    /* of these: stand-alone flits */                 \
	X(nak_sent)                                                            \
	X(sync_sent)         /* announcements that packets were given up */    \
	X(header_bits)       /* FSN and ReplayCmd bits that all flits sent */  \
	X(timeouts)          /* no answer in time: the peer is asked */        \
	X(probes)            /* probes sent to ask what is missing */          \
	X(overloads)         /* flows that the peer answers, but that make no  \
				progress for give_up_ns */                     \
	X(peer_restarts)     /* peers that restarted */                        \
	X(flow_failures)     /* flows given up */                              \
	X(unreachables)      /* peers that became unreachable */               \
	X(reach_probes)      /* of the probes: to such */                      \
	X(reported_packets)  /* packets reported to the client */              \
	X(drop_notices)      /* drops that the fabric gave notice of */        \
	/* acknowledgments received */                                         \
	X(ack_received)      /* that acknowledged something new */             \
	X(busy_received)     /* times that a peer's client became slow */      \
	X(ack_stale)         /* older than what is known: ignored */           \
	X(ack_invalid)       /* of what was never sent: ignored */             \
	X(nak_received)                                                        \
	X(nak_ignored)       /* stale, or of what was just sent again */       \
	/* flits from the fabric, each in exactly one of these */              \
	X(rx_ok)             /* the expected one */                            \
	X(rx_ahead)          /* intact, ahead: held (go-back-N: not) */        \
	X(rx_duplicate)      /* intact, seen before: dropped */                \
	X(rx_too_late)       /* no retry: intact, but skipped already */       \
	X(rx_corrupt)        /* no number makes its CRC right */               \
	X(rx_uncorrectable)  /* FEC could not correct it */                    \
	X(rx_marked)         /* a hop marked it as bad */                      \
	X(rx_misrouted)      /* intact, for another endpoint */                \
	X(rx_inconsistent)   /* number and header contradict each other */     \
	X(rx_malformed)      /* header invalid in this fabric */               \
	X(rx_no_flow)        /* max_flows are in use */                        \
	X(rx_overflow)       /* no room: sent again later */                   \
	X(rx_stranger)       /* of a flow that did not say where it begins */  \
	X(rx_unsure)         /* cxl: without its number, while one is missing */ \
	X(rx_ctrl)           /* stand-alone ACK, NAK, sync */                  \
	/* and among them */                                                   \
	X(rx_fec_corrected)                                                    \
	X(rx_altered)        /* in this device, says the witness */             \
	X(rx_squeezed)       /* no retry: gaps skipped for lack of room */     \
	X(rx_stale_life)     /* stand-alone: from, or for, an earlier life */  \
	X(rx_late_alias)     /* duplicates whose number looked current */      \
	X(rx_rolled_back)    /* cxl: taken for a number that another had */    \
	/* to the client */                                                    \
	X(rx_packets)                                                          \
	X(rx_bytes)                                                            \
	X(rx_partial_dropped)/* packets begun that will never be whole */      \
	X(rx_lost_flits)     /* numbers skipped: lost, or given up */          \
	X(rx_orphan_flits)   /* in order, but of a packet without its start */

enum rl_ep_counter {
#define RL_EP_ENUM(name) RL_EPC_##name,
	RL_EP_COUNTERS(RL_EP_ENUM)
#undef RL_EP_ENUM
	RL_EP_COUNTER_COUNT
};

#endif /* RL_EP_COUNTERS_H */
