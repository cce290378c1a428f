/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PORT_COUNTERS_H
#define RL_PORT_COUNTERS_H

/**
 * @file
 * The counters of a port, by the words of UEC LLR where it has one. X(name).
 */

#define RL_PORT_COUNTERS(X)                                                    \
	/* transmit */                                                         \
	X(tx_frames)                                                           \
	X(tx_flits)          /* new flits, first transmission */               \
	X(tx_replay_flits)   /* transmitted again */                           \
	X(tx_init)                                                             \
	X(tx_init_echo)                                                        \
	X(tx_retrain)                                                          \
	X(tx_idle)           /* lone ACK, credits or keepalive */              \
	X(tx_ack)            /* frames that acknowledged something new */      \
	X(tx_nak)                                                              \
	X(tx_close)                                                            \
	X(tx_window_full)    /* packets that had to wait for the window */     \
	X(tx_credit_stall)   /* packets that had to wait for credits */        \
	X(tx_poisoned)       /* flits sent with an error mark, each time */    \
	X(tx_soft_error)     /* flits found corrupt before transmission */     \
	X(tx_witnessed)      /* flits whose CRC was checked on their way out */ \
	X(tx_altered)        /* altered inside this device; also seen by FEC */\
	X(tx_ask)            /* frames that ask what has come */               \
	X(tx_replay_timeout) /* replays of what an answer lacked */            \
	X(tx_replays)        /* replays begun */                               \
	X(tx_discard)        /* flits dropped for want of a link to send them */\
	/* receive: frames */                                                  \
	X(rx_frames)                                                           \
	X(rx_truncated)                                                        \
	X(rx_ethertype_error)                                                  \
	X(rx_version_error)                                                    \
	X(rx_count_error)                                                      \
	X(rx_check_error)                                                      \
	X(rx_type_error)                                                       \
	X(rx_auth_error)     /* not of who has the key, or changed */          \
	X(rx_stamp_error)    /* of a time that is not yet */                   \
	X(rx_stale)          /* older than what was heard since */             \
	X(rx_epoch_error)                                                      \
	X(rx_state_drop)     /* frames that the link's state forbids */        \
	X(rx_init)                                                             \
	X(rx_init_echo)                                                        \
	X(rx_init_echo_error)                                                  \
	X(rx_init_refused)   /* of another fabric or place, or impossible */   \
	X(rx_init_unproven)  /* of a new peer that may be an old recording */  \
	X(rx_retrain)                                                          \
	X(rx_close)                                                            \
	X(rx_nak)                                                              \
	X(rx_nak_repeat)     /* for a flit that was asked for before */        \
	X(rx_ack)                                                              \
	X(rx_credit_error)   /* credits that no peer can have */               \
	X(rx_ack_seq_error)  /* stale, future or outside the window */         \
	/* receive: flits */                                                   \
	X(rx_ok)                                                               \
	X(rx_expected_good)  /* of these: without an error mark */             \
	X(rx_poisoned)       /* accepted with an error mark */                 \
	X(rx_corrected)      /* by FEC */                                      \
	X(rx_bad)            /* uncorrectable */                               \
	X(rx_expected_bad)   /* of these: the expected one */                  \
	X(rx_lcrc_bad)       /* refused by their CRC alone, and sent again */  \
	X(rx_witnessed)      /* flits that the witness checked as they came */  \
	X(rx_altered)        /* of them altered on the link, past FEC */       \
	X(rx_missing_seq)    /* gaps */                                        \
	X(rx_duplicate_seq)                                                    \
	X(rx_replays)        /* replays seen to begin */                       \
	X(rx_replay)         /* received in replays */                         \
	X(rx_silent_drop)    /* dropped while a NAK is out */                  \
	X(rx_vc_error)       /* on a VC that is not in use */                  \
	X(rx_mark_error)     /* transmit_error on a flit that is no end */     \
	X(rx_overrun)        /* beyond the credits given */                    \
	X(rx_no_buffer)                                                        \
	/* packets */                                                          \
	X(rx_packets)                                                          \
	X(rx_partial_discard)/* packets cut off by the link's death */         \
	X(rx_discard_to_sop) /* flits before a start-of-packet */              \
	X(rx_stalled)        /* packets whose rest never came */               \
	X(rx_clipped)        /* packets longer than the maximum */             \
	X(rx_closed)         /* cut-through packets closed after a death */    \
	/* loopback */                                                         \
	X(degraded)          /* times the error rate passed half its limit */ \
	X(deaths)                                                              \
	X(drained_down)      /* went down empty, as it was told to */         \
	X(trainings)                                                           \
	X(peer_restarts)     /* trainings with another process */              \
	X(retrains)                                                            \
	X(looped_packets)                                                      \
	X(looped_flits)                                                        \
	X(looped_acked_flits)                                                  \
	X(loop_policy_drop)  /* packets not looped out, by class or link type */ \
	X(loop_mode_drop)    /* packets dropped by loopback = "none" */

enum rl_port_counter {
#define RL_PORT_ENUM(name) RL_PC_##name,
	RL_PORT_COUNTERS(RL_PORT_ENUM)
#undef RL_PORT_ENUM
	RL_PORT_COUNTER_COUNT
};

#endif /* RL_PORT_COUNTERS_H */
