/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_PLANT_H
#define RL_PLANT_H

/**
 * @file Planted bugs. The simulation is only useful if it finds bugs, so it
 * must find each one below: the library is built again with
 * -DRL_PLANT=<number>, and the campaign must fail. In the shipped library
 * RL_PLANT is 0 and every RL_PLANTED() is a constant false.
 *
 * X(name, what it breaks)
 */
#define RL_PLANT_LIST(X)                                                       \
	X(FREE_PER_FLIT, "an ACK frees flits of packets not wholly acknowledged") \
	X(NO_ANSWER, "a port that is asked what has come does not answer")     \
	X(RESUME_BEFORE_DRAIN, "held traffic goes on before the drain ends")   \
	X(NO_DISCARD_TO_SOP, "a receiver takes flits before a start-of-packet") \
	X(STALE_EPOCH, "frames of an old epoch are accepted")                  \
	X(TAIL_NOT_RETRIED, "a lost tail is never retried")                    \
	X(ACK_STOPS_TIMER, "an ACK stops the replay timer for good")           \
	X(NAK_EVERY, "a gap moves the expected number forward")                \
	X(STALE_ACK, "an ACK outside the window is accepted")                  \
	X(KEEP_PARTIAL, "partial packets survive a new epoch")                 \
	X(LOOP_UNACKED, "loopback forgets acknowledged flits of open packets") \
	X(LOOP_NO_QUEUE, "loopback forgets packets that waited for the port")  \
	X(HOLD_LOST, "held traffic is forgotten when the port resumes")        \
	X(NO_FENCE, "a port ends its loopback without waiting for the core")   \
	X(CREDIT_LEAK, "a discarded partial packet keeps its credits")         \
	X(CREDIT_DOUBLE, "a replay charges credits again")                     \
	X(FEC_IGNORED, "an uncorrectable flit is accepted")                    \
	X(DUP_DELIVERED, "an endpoint delivers a duplicate")                   \
	X(GAP_ACCEPTED, "an endpoint accepts a flit that is ahead as the next") \
	X(REORDER_RESTORE, "traffic returns to a restored link at once")       \
	X(FLIT_LEAK, "a dropped duplicate's buffer is not given back")         \
	X(EOP_NEVER, "a cut-through packet cut off by a death is never closed") \
	X(JOIN_LOST, "fragments that wait for a looped packet are forgotten")  \
	X(CREDIT_CLOSE, "the end that closes a cut packet gives the peer a credit") \
	X(CREDIT_EXCISE, "a packet that is cut out keeps its credits")         \
	X(WRONG_EXCISE, "the end of a packet that has begun to leave is cut out") \
	X(VC_MIXED, "the rest of a packet leaves by the VC it came in by")     \
	X(MARK_SILENT, "a flit corrupted in a switch is dropped without a report") \
	X(LOOP_ORDER, "packets that waited for a dead port loop out first")    \
	X(FENCE_DEAD, "a restore does not wait for ports that die meanwhile")  \
	X(DUP_NO_HOPS, "the filter takes packets that come back for duplicates") \
	X(E2E_TAIL, "an endpoint never sends a lost tail again")               \
	X(WATCHDOG_SILENT, "the watchdog drops packets without a report")      \
	X(WAIT_OVERTAKEN, "a new packet does not join the waiting ones of its flow") \
	X(WAIT_FORGOTTEN, "a link that returns does not wake packets that wait for it") \
	X(WAIT_CREDIT, "the credit of a packet that waits is never given back") \
	X(ROOM_RESTLESS, "waiting packets move while tables are exchanged at rest") \
	X(ROOM_HEIR, "packets that joined one given up are not looked up again") \
	X(ROOM_PROBE, "a probe without a path waits while its flow is held")   \
	X(ROOM_ASTRAY, "a packet that new tables lead back waits in vain")     \
	X(TOKEN_EARLY, "a token does not wait for those of lower rank")        \
	X(TOKEN_UNHEARD, "packets after a token go by the old tables")         \
	X(TOKEN_FORGOTTEN, "packets that waited for a token are never sent")   \
	X(BYSTAND_HELD, "if some flows are held, all are")                     \
	X(FLOW_NO_DOUBT, "a flow that gave up takes new packets at once")      \
	X(FLOW_DOUBT_STAYS, "a flow that makes progress again is still doubted") \
	X(NO_GIVE_UP, "a flow without progress gives up by timeouts alone")    \
	X(FLOW_OLD_ECHO, "the echo of an earlier outage opens a flow")         \
	X(FLOW_NOTICE_ANY, "a notice of a flit that is not under way is accepted") \
	X(FLOW_REPORT_FLITS, "each flit of a packet given up is reported")     \
	X(FLOW_NO_PROBES, "an unreachable peer is never probed again")         \
	X(FLOW_FLUSH_OLD, "the answer to an earlier probe shows a held flow as quiet") \
	X(FLOW_FLUSH_LOST, "flits lost while a flow was held are not resent at once") \
	X(FLOW_HOLD_ANSWERS, "a quiesce refuses responses, too")               \
	X(ASK_STOPPED, "a client that is stopped owes its answers for ever")   \
	X(ASK_FORGOTTEN, "a response that meets backpressure is forgotten")    \
	X(RESIL_STALE_ORDER, "an order of an older step is obeyed")            \
	X(RESIL_REPORT_ONCE, "a report is not told again until it is confirmed") \
	X(RESIL_ACK_ANY, "a confirmation of an older report is accepted")      \
	X(RESIL_NO_LEASE, "a held source that hears nothing holds for ever")   \
	X(RESIL_RELEASE_FIRST, "held traffic goes on before the new tables are in") \
	X(RESIL_ONE_END, "a link counts as dead only when both its ends say so") \
	X(RESIL_ORDER_ONCE, "an order that was lost is not told again")        \
	X(RESIL_SILENT_DEAD, "a device silent once is never told anything again") \
	X(RESIL_CHANGE_LOST, "a change in a late phase is forgotten")          \
	X(RESIL_NO_START, "ports that waited for tables never begin")          \
	X(RESIL_OLD_CTL, "orders of a controller that is gone are obeyed")     \
	X(RESIL_NO_LEARN, "a new controller assumes all have the first tables it hears of") \
	X(RESIL_TABLES_HALF, "tables are taken for installed when half have them") \
	X(RESIL_NEVER_UP, "a link that has never come up is taken to be up")   \
	X(RESIL_NO_ESCALATION, "flows that do not drain are released, for new tables") \
	X(RESIL_PASS_EARLY, "tokens go before all devices are prepared")       \
	X(RESIL_STAGE_KEPT, "staged tables are kept after the change is given up") \
	X(RESIL_RESTLESS, "tables change beside devices not known to be at rest") \
	X(RESIL_NO_RETRY, "a recovery that failed is not tried again")

enum rl_plant {
	RL_PLANT_NONE,
#define RL_PLANT_ENUM(name, what) RL_PLANT_##name,
	RL_PLANT_LIST(RL_PLANT_ENUM)
#undef RL_PLANT_ENUM
	RL_PLANT_COUNT
};

#ifndef RL_PLANT
#define RL_PLANT 0
#endif

#ifdef RL_PLANT_AT_RUN_TIME
/* one more build serves all of them; the campaign selects one */
extern unsigned int rl_plant;
#define RL_PLANTED(name) (rl_plant == RL_PLANT_##name)
#else
#define RL_PLANTED(name) (RL_PLANT == RL_PLANT_##name)
#endif

#endif /* RL_PLANT_H */
