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
	X(STALE_ACK, "an ACK outside the window is believed")                  \
	X(KEEP_PARTIAL, "partial packets survive a new epoch")                 \
	X(LOOP_UNACKED, "loopback forgets acknowledged flits of open packets") \
	X(LOOP_NO_QUEUE, "loopback forgets what waited for the port")          \
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
	X(WRONG_EXCISE, "of a packet that has begun to leave the end is cut out") \
	X(VC_MIXED, "the rest of a packet leaves by the VC it came in by")     \
	X(MARK_SILENT, "a flit hurt in a switch is dropped without a report")  \
	X(LOOP_ORDER, "what waited for a dead port loops out first")           \
	X(FENCE_DEAD, "a restore does not wait for ports that die meanwhile")  \
	X(DUP_NO_HOPS, "the filter takes what comes back for a duplicate")     \
	X(E2E_TAIL, "an endpoint never sends a lost tail again")               \
	X(WATCHDOG_SILENT, "the watchdog drops packets without a report")      \
	X(WAIT_OVERTAKEN, "what is new does not join those of its flow that wait") \
	X(WAIT_FORGOTTEN, "a link that returns does not wake what waits for it") \
	X(WAIT_CREDIT, "the credit of a packet that waits is never given back") \
	X(ROOM_RESTLESS, "what waits moves while tables are exchanged at rest") \
	X(ROOM_HEIR, "what joined a packet that is given up is not looked at again") \
	X(ROOM_PROBE, "a probe without a way waits while its flow is held") \
	X(ROOM_ASTRAY, "what new tables lead back where it came from waits in vain") \
	X(TOKEN_EARLY, "a token does not wait for those of lower rank")       \
	X(TOKEN_UNHEARD, "what comes after a token goes by the old tables")   \
	X(TOKEN_FORGOTTEN, "what waited for a token is never sent")           \
	X(BYSTAND_HELD, "where some flows are held, all are")                 \
	X(FLOW_NO_DOUBT, "a flow that gave up takes new packets at once") \
	X(FLOW_DOUBT_STAYS, "a flow that gets on again is still doubted") \
	X(NO_GIVE_UP, "a flow without progress gives up by timeouts alone") \
	X(FLOW_OLD_ECHO, "the echo of an earlier absence opens a flow") \
	X(FLOW_NOTICE_ANY, "a notice of a flit that is not under way is believed") \
	X(FLOW_REPORT_FLITS, "each flit of what is given up is reported") \
	X(FLOW_NO_PROBES, "who is unreachable is never asked again") \
	X(FLOW_FLUSH_OLD, "the answer to an earlier probe tells that a held flow is quiet") \
	X(FLOW_FLUSH_LOST, "what was lost while a flow was held is not sent again at once") \
	X(FLOW_HOLD_ANSWERS, "a quiesce refuses responses, too") \
	X(ASK_STOPPED, "a client that is stopped owes its answers for ever") \
	X(ASK_FORGOTTEN, "a response that meets backpressure is forgotten") \
	X(RESIL_STALE_ORDER, "an order of an older step is obeyed") \
	X(RESIL_REPORT_ONCE, "a report is not told again until it is confirmed") \
	X(RESIL_ACK_ANY, "a confirmation of an older report is believed") \
	X(RESIL_NO_LEASE, "who is held and hears nothing holds for ever") \
	X(RESIL_RELEASE_FIRST, "held traffic goes on before the new tables are in") \
	X(RESIL_ONE_END, "a link counts as dead only when both its ends say so") \
	X(RESIL_ORDER_ONCE, "an order that was lost is not told again") \
	X(RESIL_SILENT_DEAD, "who was silent once is never told anything again") \
	X(RESIL_CHANGE_LOST, "a change in a late phase is forgotten") \
	X(RESIL_NO_START, "ports that waited for tables never begin") \
	X(RESIL_OLD_CTL, "orders of a controller that is gone are obeyed") \
	X(RESIL_NO_LEARN, "a new controller takes all to have what it first hears of") \
	X(RESIL_TABLES_HALF, "tables are taken for installed when half have them") \
	X(RESIL_NEVER_UP, "a link that has never come up is taken to be up") \
	X(RESIL_NO_ESCALATION, "flows that do not drain are released, for new tables") \
	X(RESIL_PASS_EARLY, "tokens go before all devices are prepared")      \
	X(RESIL_STAGE_KEPT, "tables to change to are kept where that is given up") \
	X(RESIL_RESTLESS, "tables change beside who is not known to be at rest") \
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
