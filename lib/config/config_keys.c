/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every key of a fabric file. Readers, `--help`, the documentation and its test
 * all use this table; a key that is not here does not exist. The ranges of
 * `link` and `endpoint` are those that their libraries check.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config_impl.h"
#include "rl_flit.h"
#include "rl_seq.h"

#define SECOND_NS RL_NS_PER_S
#define HOUR_NS (3600 * RL_NS_PER_S)
#define DAY_NS (86400 * RL_NS_PER_S)

#define IN_TORUS (1u << RL_TOPO_TORUS)
#define IN_MESH (1u << RL_TOPO_MESH)
#define IN_GRID (IN_TORUS | IN_MESH)
#define IN_BOARDS (1u << RL_TOPO_BOARDS)
#define IN_BOARD (1u << RL_TOPO_BOARD)
#define IN_ANY_BOARD (IN_BOARDS | IN_BOARD)
#define IN_CUSTOM (1u << RL_TOPO_CUSTOM)
#define IN_TREE (1u << RL_TOPO_FAT_TREE)
#define IN_FLY (1u << RL_TOPO_DRAGONFLY)
#define IN_SLIM (1u << RL_TOPO_SLIM_FLY)
#define IN_RANDOM (1u << RL_TOPO_RANDOM)
#define IN_IBNET (1u << RL_TOPO_IBNET)
#define IN_ALL CFG_IN_ALL

#define REQUIRED "required"
#define NONE "none"

#define AT(type, field)                                                        \
	.offset = offsetof(struct type, field),                                \
	.size = sizeof(((struct type *)0)->field), .kinds = IN_ALL
#define LINK(field, t, u, lo, hi, m)                                           \
	{.group = "link", .name = #field, .type = t, .unit = u, .min = lo,     \
	 .max = hi, .meaning = m, AT(rl_link_cfg, field)}
#define LINK_WORD(field, t, w, m)                                              \
	{.group = "link", .name = #field, .type = t, .unit = "", .words = w,   \
	 .meaning = m, AT(rl_link_cfg, field)}
#define EP(field, t, u, lo, hi, m)                                             \
	{.group = "endpoint", .name = #field, .type = t, .unit = u, .min = lo, \
	 .max = hi, .meaning = m, AT(rl_ep_cfg, field)}
#define EP_WORD(field, w, m)                                                   \
	{.group = "endpoint", .name = #field, .type = RL_KEY_WORD, .unit = "", \
	 .words = w, .meaning = m, AT(rl_ep_cfg, field)}
#define RESIL(field, lo, m)                                                    \
	{.group = "controller", .name = #field, .type = RL_KEY_NUMBER,         \
	 .unit = "ns", .min = lo, .max = HOUR_NS, .meaning = m,                \
	 AT(rl_resil_cfg, field)}
#define TOP(n, t, d, m)                                                        \
	{.group = "", .name = n, .type = t, .unit = "", .def = d,              \
	 .meaning = m, .kinds = IN_ALL}
/* Of the fabric: a number, and keys that config_fabric.c reads by itself. */
#define FAB(field, u, lo, hi, in, d, m)                                        \
	{.group = "fabric", .name = #field, .type = RL_KEY_NUMBER, .unit = u,  \
	 .min = lo, .max = hi, .def = d, .meaning = m,                         \
	 .offset = offsetof(struct rl_topo_spec, field),                       \
	 .size = sizeof(((struct rl_topo_spec *)0)->field), .kinds = in}
#define FABX(n, t, u, lo, hi, in, d, m)                                        \
	{.group = "fabric", .name = n, .type = t, .unit = u, .min = lo,        \
	 .max = hi, .def = d, .meaning = m, .kinds = in}
#define SUB(g, n, t, u, lo, hi, d, m)                                          \
	{.group = g, .name = n, .type = t, .unit = u, .min = lo, .max = hi,    \
	 .def = d, .meaning = m, .kinds = IN_ALL}
/* Of a structure that the reader fills entry by entry. */
#define TEXT(g, s, field, d, m)                                                \
	{.group = g, .name = #field, .type = RL_KEY_TEXT, .unit = "",          \
	 .min = 1, .max = sizeof(((struct s *)0)->field) - 1, .def = d,        \
	 .meaning = m, AT(s, field)}
#define FIELD(g, s, field, u, lo, hi, d, m)                                    \
	{.group = g, .name = #field, .type = RL_KEY_NUMBER, .unit = u,         \
	 .min = lo, .max = hi, .def = d, .meaning = m, AT(s, field)}

/* Each list of words is in the order of its enum. */
static const char *const topologies[] = {
	"torus", "mesh", "boards", "board", "custom",
	"fat-tree", "dragonfly", "slim-fly", "random", "ibnetdiscover", NULL};
static const char *const arrangements[] = {"relative", "absolute", "circulant",
					   NULL};
static const char *const switchings[] = {"store-and-forward", "cut-through",
					 NULL};
static const char *const init_actions[] = {"block", "discard", "best-effort",
					   NULL};
static const char *const loopbacks[] = {"whole-packets", "unacked-only",
					"none", NULL};
static const char *const classes[] = {"posted", "response", "request",
				      "control", NULL};
static const char *const witnesses[] = {"off", "all", NULL};
static const char *const profiles[] = {"rxl", "rxl-compact", "cxl",
				       "cxl-sep-ack", NULL};
static const char *const crcs[] = {"crc64-ecma", "crc64-bch", "pcie6-rs", NULL};
static const char *const isns[] = {"xor10", "wide", "wide19", NULL};
static const char *const congestions[] = {"delay", "none", NULL};
static const char *const modes[] = {"auto", "live", "partial",
				    "tokens", "full", "off", NULL};
static const char *const channels[] = {"local", "etcd", NULL};
static const char *const orders[] = {"path", "endpoint", NULL};
static const char *const retries[] = {"go-back-n", "selective", NULL};
_Static_assert(RL_TOPO_CUSTOM == 4 && RL_TOPO_IBNET == 9 && RL_CLASS_RSP == 1 &&
	       RL_CUT_THROUGH == 1 && RL_RESIL_OFF == 5 && RL_ISN_WIDE19 == 2 &&
	       RL_CLASS_CTRL == 3 && RL_CRC_PCIE6_RS == 2 &&
	       RL_LOOPBACK_NONE == 2 && RL_ORDER_ENDPOINT == 1 &&
	       RL_GLOBAL_CIRCULANT == 2 && RL_INIT_BEST_EFFORT == 2 &&
	       RL_RETRY_SELECTIVE == 1 && RL_CONGESTION_NONE == 1 &&
	       RL_PROFILE_CXL_SEP_ACK == 3 && RL_CLASS_REQ_NONPOSTED == 2,
	       "the words are in the order of their enums");

static const struct rl_config_key keys[] = {
	TOP("fabric", RL_KEY_GROUP, REQUIRED, "devices and links"),
	TOP("routing", RL_KEY_GROUP, NONE, "how routes are found"),
	TOP("link", RL_KEY_GROUP, NONE,
	    "every link: retry, credits, detectors, loopback"),
	TOP("switch", RL_KEY_GROUP, NONE,
	    "every device, beyond its links: the witness of altered flits"),
	TOP("endpoint", RL_KEY_GROUP, NONE,
	    "every endpoint: protocol, retry, buffers"),
	TOP("controller", RL_KEY_GROUP, NONE,
	    "the resiliency controller: how it recovers, and its limits"),
	TOP("attach", RL_KEY_GROUPS, NONE, "ethdevs as clients of endpoints"),
	TOP("link_settings", RL_KEY_GROUPS, NONE,
	    "links that differ from the group link, by type or by name"),
	TOP("wires", RL_KEY_GROUPS, NONE,
	    "ethdevs at the ends of links; software wires if left out"),
	TOP("processes", RL_KEY_GROUPS, "one runs all",
	    "which process runs which devices; see reflit --process"),
	TOP("networks", RL_KEY_GROUPS, NONE,
	    "attached ports that share a layer-2 network"),
	TOP("lcores", RL_KEY_GROUP, NONE, "which lcore runs which roles"),

	{.group = "fabric", .name = "topology", .type = RL_KEY_WORD,
	 .unit = "", .words = topologies, .def = REQUIRED,
	 .meaning = "kind of fabric", AT(rl_topo_spec, kind)},
	FABX("dims", RL_KEY_NUMBERS, "switches", 1, 65535, IN_GRID, REQUIRED,
	     "1 to 3 radices in routing order x, y, z; 1: unused; 2: never "
	     "wraps"),
	FABX("wrap", RL_KEY_BOOLS, "", 0, 0, IN_GRID,
	     "true in a torus, false in a mesh",
	     "per dimension: whether it closes to a ring"),
	FABX("links_per_edge", RL_KEY_NUMBERS, "links", 1, RL_PORTS_MAX,
	     IN_GRID | IN_BOARDS | IN_TREE, "1",
	     "parallel links of an edge, or between two boards: one number, or "
	     "one for each dimension of a grid or level of a fat tree"),
	FAB(hosts_per_switch, "endpoints", 1, RL_PORTS_MAX,
	    IN_GRID | IN_SLIM | IN_RANDOM, "1", "endpoints of each switch"),
	FABX("k", RL_KEY_NUMBER, "switches", 1, 65535, IN_TREE, NONE,
	     "k-ary n-tree: children and parents of a switch"),
	FABX("n", RL_KEY_NUMBER, "", 1, 65535, IN_TREE | IN_RANDOM, NONE,
	     "k-ary n-tree: levels of switches, 8 at most; random: switches"),
	FABX("m", RL_KEY_NUMBERS, "", 1, 65535, IN_TREE, NONE,
	     "children of a switch, for each level of switches from below"),
	FABX("w", RL_KEY_NUMBERS, "", 1, 65535, IN_TREE, NONE,
	     "parents of an endpoint, then of a switch of each level but the "
	     "last"),
	FAB(a, "switches", 1, 65535, IN_FLY, REQUIRED,
	    "switches of a group"),
	{.group = "fabric", .name = "p", .type = RL_KEY_NUMBER,
	 .unit = "endpoints", .min = 1, .max = RL_PORTS_MAX, .def = "1",
	 .meaning = "endpoints of each switch",
	 .offset = offsetof(struct rl_topo_spec, hosts_per_switch),
	 .size = sizeof(((struct rl_topo_spec *)0)->hosts_per_switch),
	 .kinds = IN_FLY},
	FAB(h, "links", 1, RL_PORTS_MAX, IN_FLY, REQUIRED,
	    "links of each switch to other groups"),
	FAB(groups, "groups", 2, 65535, IN_FLY, "a * h + 1",
	    "groups of switches"),
	{.group = "fabric", .name = "global_links", .type = RL_KEY_WORD,
	 .unit = "", .words = arrangements, .def = "relative",
	 .meaning = "which switch of a group is linked to which other group",
	 .offset = offsetof(struct rl_topo_spec, global_links),
	 .size = sizeof(((struct rl_topo_spec *)0)->global_links),
	 .kinds = IN_FLY},
	FAB(q, "", 3, RL_SLIM_Q_MAX, IN_SLIM, REQUIRED,
	    "a prime power, not 2 modulo 4: 2 q^2 switches"),
	FAB(degree, "links", 3, RL_PORTS_MAX, IN_RANDOM, REQUIRED,
	    "links of each switch to others"),
	FAB(seed, "", 0, INT64_MAX, IN_RANDOM, "1",
	    "another seed, another graph"),
	FAB(boards, "boards", 1, 65535, IN_BOARDS, "3", "number of boards"),
	FAB(switches_per_board, "switches", 1, 65535, IN_ANY_BOARD,
	    "2 of boards, 12 of board", "switches of each board"),
	FAB(endpoints_per_board, "endpoints", 1, 65535, IN_ANY_BOARD,
	    "4 of boards, 32 of board", "compute elements of each board"),
	FAB(switches_per_endpoint, "switches", 1, 65535, IN_ANY_BOARD,
	    "all of the board",
	    "switches of its board that a compute element is linked to"),
	FAB(intra_board_links, "links", 0, RL_PORTS_MAX, IN_ANY_BOARD,
	    "1 of boards, 0 of board",
	    "parallel links between any two switches of a board"),
	FABX("file", RL_KEY_TEXT, "", 1, 4000, IN_IBNET, REQUIRED,
	     "output of ibnetdiscover, or an opensm-subnet.lst; "
	     "relative to this file"),
	FABX("torus_conf", RL_KEY_TEXT, "", 1, 4000, IN_IBNET, NONE,
	     "a torus-2QoS.conf: the switches are the torus or mesh that it "
	     "describes"),
	FABX("switches", RL_KEY_GROUPS, "", 0, 0, IN_CUSTOM, NONE,
	     "the switches"),
	FABX("endpoints", RL_KEY_GROUPS, "", 0, 0, IN_CUSTOM, REQUIRED,
	     "the endpoints"),
	FABX("links", RL_KEY_GROUPS, "", 0, 0, IN_CUSTOM, REQUIRED,
	     "the links"),
	FABX("fail", RL_KEY_NAMES, "", 0, 0, IN_ALL, NONE,
	     "failed from the start: links A-B (all parallel ones) or A-B#k, "
	     "and switches"),
	SUB("fabric.switches", "name", RL_KEY_TEXT, "", 1, RL_NAME_MAX - 1,
	    REQUIRED, "a letter, then letters, digits, '.' and '_'"),
	SUB("fabric.endpoints", "name", RL_KEY_TEXT, "", 1, RL_NAME_MAX - 1,
	    REQUIRED, "the same"),
	TEXT("fabric.links", rl_topo_ref, a, REQUIRED, "device at one end"),
	TEXT("fabric.links", rl_topo_ref, b, REQUIRED, "device at the other"),
	FIELD("fabric.links", rl_topo_ref, count, "links", 1, RL_PORTS_MAX,
	      "1", "parallel links between the two"),

	TEXT("routing", rl_config, engine, "chosen by the program",
	     "routing engine"),
	FIELD("routing", rl_config, vls, "VLs", 1, RL_VCS, "8",
	      "virtual lanes that the engine may use"),
	{.group = "routing", .name = "adaptive", .type = RL_KEY_BOOL, .unit = "",
	 .def = "on tori, see below", .meaning = "any shortest way that has "
		 "room, the engine's if none has", AT(rl_config, adaptive)},
	FIELD("routing", rl_config, levels, "levels", 1, RL_VCS, "1",
	      "service levels with VLs of their own: 1, 2, 4 or 8; a flow's "
	      "class of service modulo this chooses"),

	LINK(retry, RL_KEY_BOOL, "", 0, 0,
	     "link-level retry; false: a hop that only checks FEC"),
	LINK_WORD(switching, RL_KEY_WORD, switchings,
		  "when the flits of a packet are forwarded"),
	LINK(window_flits, RL_KEY_NUMBER, "flits", 1, RL_LINK_WINDOW_MAX,
	     "replay buffer; below half the modulus of 65536"),
	LINK(credits_flits, RL_KEY_NUMBER, "flits", 1, 32767,
	     "input buffer of each VC"),
	LINK(queue_flits, RL_KEY_NUMBER, "flits", 1, 32767,
	     "egress queue of a port, of each VC"),
	LINK(max_packet_flits, RL_KEY_NUMBER, "flits", 1, RL_PACKET_FLITS_MAX,
	     "longest packet; it fits every window and buffer"),
	LINK(flits_per_frame, RL_KEY_NUMBER, "flits", 0, 32,
	     "flits sent at once; 0: as many as the MTU carries"),
	LINK(vcs, RL_KEY_NUMBER, "VCs", 1, RL_VCS, "virtual channels in use"),
	{.group = "link", .name = "vc_weights", .type = RL_KEY_NUMBERS,
	 .unit = "flits", .min = 1, .max = 255,
	 .def = "packets take turns",
	 .meaning = "what a VC may send in its turn: one number for each VC in "
		    "use, or one for all",
	 AT(rl_link_cfg, vc_weights)},
	SUB("link", "key_file", RL_KEY_TEXT, "", 1, 4000, "no key",
	    "file with the key of all frames on wires; see wires.md"),
	LINK(ack_coalesce_flits, RL_KEY_NUMBER, "flits", 1, RL_LINK_WINDOW_MAX,
	     "flits after which an ACK goes alone"),
	LINK(ack_delay_ns, RL_KEY_NUMBER, "ns", 0, RL_NS_PER_S,
	     "or the time after the first of these flits"),
	LINK(replay_timer_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "wait for an ACK before the peer is asked; 0: from the round "
	     "trip"),
	LINK(replay_timer_min_ns, RL_KEY_NUMBER, "ns", 1, HOUR_NS,
	     "shortest measured replay timer"),
	LINK(replay_timer_max_ns, RL_KEY_NUMBER, "ns", 1, HOUR_NS,
	     "longest measured replay timer, if two round trips are not "
	     "longer; not below the shortest"),
	LINK(replay_limit, RL_KEY_NUMBER, "replays", 1, 255,
	     "replays without progress, or asks without an answer, before "
	     "retraining; 255: no limit"),
	LINK(retrain_interval_ns, RL_KEY_NUMBER, "ns", 1, HOUR_NS,
	     "time between retrain probes, if the longest round trip is not "
	     "longer"),
	LINK(retrain_limit, RL_KEY_NUMBER, "probes", 1, 255,
	     "probes without an answer before the link is dead"),
	LINK(init_interval_ns, RL_KEY_NUMBER, "ns", 1, HOUR_NS,
	     "time between init frames"),
	LINK_WORD(init_action, RL_KEY_WORD, init_actions,
		  "how to treat new packets for a link that is not trained"),
	LINK(keepalive_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "how often an idle link shows that it lives; 0: never"),
	LINK(keepalive_dead_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "silence after which the link is dead, or twice the longest "
	     "round trip, up to eight times this; at least two keepalives; "
	     "0: never"),
	LINK(detect_phy, RL_KEY_BOOL, "", 0, 0,
	     "the PHY may declare the link dead"),
	LINK(phy_lost_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "how long the PHY may be lost before the link is dead"),
	LINK(error_window_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "time below half of the error rates after which a degraded link "
	     "is good again; 0: error rates are not watched"),
	LINK(error_corrected_max, RL_KEY_NUMBER, "flits", 0, 1000000,
	     "the link is dead if more of a million flits received were "
	     "corrected; 0: any number"),
	LINK(error_uncorrectable_max, RL_KEY_NUMBER, "flits", 0, 1000000,
	     "the same for flits that were uncorrectable"),
	LINK(error_replay_max, RL_KEY_NUMBER, "replays", 0, 1000000,
	     "the same for replays, by NAK or by the timer"),
	LINK_WORD(loopback, RL_KEY_WORD, loopbacks,
		  "which packets a dead port saves"),
	LINK_WORD(replay_isl, RL_KEY_WORDS, classes,
		  "classes that a dead ISL loops out; others are discarded"),
	LINK_WORD(replay_endpoint, RL_KEY_WORDS, classes,
		  "classes that a dead endpoint link loops out"),
	LINK(resume_delay_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "time from the end of the drain until held traffic goes on"),
	LINK(restore_delay_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "time from the end of training until traffic returns"),
	LINK(watchdog_ns, RL_KEY_NUMBER, "ns", 1, HOUR_NS,
	     "longest loopback; the rest is reported, and handed to the "
	     "controller"),
	LINK(wait_flits, RL_KEY_NUMBER, "flits", 0, RL_LINK_WAIT_MAX,
	     "flits that a device lends to packets that wait, for each of its "
	     "ports"),
	LINK(no_path_ns, RL_KEY_NUMBER, "ns", 1, HOUR_NS,
	     "time that a packet without a path waits before it is reported"),
	LINK(flap_damping_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "first wait before training again; doubles with each flap"),
	LINK(flap_damping_max_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "longest such wait; not below the first"),
	LINK(flap_forget_ns, RL_KEY_NUMBER, "ns", 0, HOUR_NS,
	     "time that a link must be up until its flaps are forgotten"),
	LINK(soft_error_check, RL_KEY_BOOL, "", 0, 0,
	     "checks FEC before transmission, too: finds corruption inside the device"),
	LINK(dup_filter, RL_KEY_BOOL, "", 0, 0,
	     "lets switches drop duplicates, not only endpoints"),
	LINK(lcrc, RL_KEY_BOOL, "", 0, 0,
	     "checks the CRC of each flit that comes in, too: what FEC "
	     "miscorrects is sent again; not with isn xor10"),

	{.group = "switch", .name = "witness", .type = RL_KEY_NUMBER,
	 .unit = "flits", .min = 1, .max = 1u << 20, .words = witnesses,
	 .def = "\"off\"",
	 .meaning = "CRCs of flits are checked as they come in and leave: of "
		    "all, or of one in so many",
	 AT(rl_link_cfg, witness)},

	EP_WORD(profile, profiles, "protocol profile"),
	EP_WORD(crc, crcs, "CRC over a flit"),
	EP_WORD(isn, isns, "how the sequence number is mixed into the CRC"),
	EP(retry, RL_KEY_BOOL, "", 0, 0, "end-to-end retry"),
	EP_WORD(retry_mode, retries, "what a NAK asks for"),
	EP_WORD(order, orders,
		"what keeps order: path, or receiver (default if adaptive)"),
	EP(window_flits, RL_KEY_NUMBER, "flits", 1, RL_E2E_WIDE_WINDOW_MAX,
	   "largest window of a flow; above 511 only with isn wide19"),
	EP_WORD(congestion, congestions,
		"what makes windows smaller: long round trips, or nothing"),
	EP(max_flows, RL_KEY_NUMBER, "flows", 1, 65536,
	   "flows of an endpoint, each way"),
	EP(tx_buffer_flits, RL_KEY_NUMBER, "flits", 1, 1u << 24,
	   "retry buffers of all flows together"),
	EP(rx_buffer_flits, RL_KEY_NUMBER, "flits", 1, 1u << 24,
	   "flits held out of order; as many more that the client has not yet "
	   "taken"),
	EP(ack_coalesce_flits, RL_KEY_NUMBER, "flits", 1, RL_E2E_WINDOW_MAX,
	   "flits after which an ACK goes alone; at most half a window"),
	EP(ack_delay_ns, RL_KEY_NUMBER, "ns", 0, DAY_NS,
	   "or the time after the first of these flits"),
	EP(nak_delay_ns, RL_KEY_NUMBER, "ns", 0, DAY_NS,
	   "how long a gap may last before a NAK, for a while after "
	   "paths changed"),
	EP(retry_timer_ns, RL_KEY_NUMBER, "ns", 0, DAY_NS,
	   "wait for an ACK before a probe; 0: from the round trip"),
	EP(retry_timer_min_ns, RL_KEY_NUMBER, "ns", 1, DAY_NS,
	   "shortest measured retry timer"),
	EP(retry_timer_max_ns, RL_KEY_NUMBER, "ns", 1, DAY_NS,
	   "longest measured retry timer, or four round trips; not "
	   "below the shortest"),
	EP(retry_limit, RL_KEY_NUMBER, "timeouts", 0, 1000000,
	   "timeouts without an answer before packets are reported; "
	   "0: none"),
	EP(give_up_ns, RL_KEY_NUMBER, "ns", 0, DAY_NS,
	   "time without an answer before packets are reported, or "
	   "eight round trips, or four of the longest; 0: none"),
	EP(probe_ns, RL_KEY_NUMBER, "ns", 1, DAY_NS,
	   "first probe of an unreachable peer; later ones are rarer"),
	EP(gap_skip_ns, RL_KEY_NUMBER, "ns", 1, DAY_NS,
	   "without retry: age at which a gap counts as a loss"),

	{.group = "controller", .name = "mode", .type = RL_KEY_WORD,
	 .unit = "", .words = modes,
	 .meaning = "how new tables are put in place", AT(rl_resil_cfg, mode)},
	{.group = "controller", .name = "channel", .type = RL_KEY_WORD,
	 .unit = "", .words = channels, .def = "\"etcd\" if servers are named",
	 .meaning = "how the controller and devices communicate: out of band",
	 .kinds = IN_ALL},
	SUB("controller", "etcd", RL_KEY_NAMES, "", 0, 0, NONE,
	    "addresses of an etcd's servers"),
	SUB("controller", "etcd_prefix", RL_KEY_TEXT, "", 1, 63, "/reflit",
	    "prefix of all keys in etcd"),
	SUB("controller", "etcd_user", RL_KEY_TEXT, "", 1, 63, NONE,
	    "user name at etcd"),
	SUB("controller", "etcd_password_file", RL_KEY_TEXT, "", 1, 255, NONE,
	    "file with the password in its first line"),
	SUB("controller", "etcd_ca_file", RL_KEY_TEXT, "", 1, 255,
	    "the machine's", "certificates of authorities for https (PEM)"),
	SUB("controller", "etcd_cert_file", RL_KEY_TEXT, "", 1, 255, NONE,
	    "our certificate, if etcd asks for one (PEM)"),
	SUB("controller", "etcd_key_file", RL_KEY_TEXT, "", 1, 255, NONE,
	    "its key (PEM)"),
	SUB("controller", "life_ns", RL_KEY_NUMBER, "ns", 2 * SECOND_NS,
	    60 * SECOND_NS, "3000000000",
	    "silence in etcd after which a process is dead: whole seconds"),
	RESIL(gather_ns, 0,
	      "time from the first report until computing begins"),
	RESIL(return_ns, 0, "time that a link must be up before it is used"),
	RESIL(train_ns, 1, "longest time that a new link may take to train"),
	RESIL(resend_ns, 1,
	      "time after which an unanswered order or report is repeated"),
	RESIL(answer_ns, 1,
	      "time without an answer after which a device is silent; at least "
	      "two resend_ns"),
	RESIL(await_ns, 0,
	      "time that packets without a path wait for new tables after a "
	      "death"),
	RESIL(compute_ns, 1, "limit of computing and proving"),
	RESIL(quiesce_ns, 1, "limit until held traffic has left the fabric"),
	RESIL(observe_ns, 0, "interval between quiescence checks"),
	RESIL(install_ns, 1, "limit until all devices have the new tables"),
	RESIL(lease_ns, 1,
	      "silence after which a held source goes on by itself; at least "
	      "four answer_ns"),
	RESIL(retry_ns, 1, "time from a failed recovery until the next"),

	TEXT("attach", rl_attach, endpoint, REQUIRED, "name of the endpoint"),
	TEXT("attach", rl_attach, port, REQUIRED, "name of the ethdev"),
	TEXT("attach", rl_attach, dst, "the other endpoint, if there are two",
	     "endpoint that frames read from the port go to"),
	FIELD("attach", rl_attach, rx_queues, "queues", 1, RL_RX_QUEUES_MAX,
	      "all that its driver fills", "receive queues of the port"),

	SUB("link_settings", "links", RL_KEY_TEXT, "", 1, 2 * RL_NAME_MAX + 7,
	    REQUIRED, "\"isl\", \"endpoint\", or the name of a link"),

	TEXT("wires", rl_wire, link, REQUIRED, "name of the link"),
	TEXT("wires", rl_wire, a, "another process's",
	     "ethdev at the end that `links` names first"),
	TEXT("wires", rl_wire, b, "another process's",
	     "ethdev at the other end"),
	FIELD("wires", rl_wire, mtu, "bytes", 68, 65535, "the interface's own",
	      "bytes of a frame behind its Ethernet header"),
	SUB("wires", "rx_queues", RL_KEY_NUMBERS, "queues", 1, RL_RX_QUEUES_MAX,
	    "all that its driver fills",
	    "receive queues of an ethdev: one number, or one for each end"),

	TEXT("processes", rl_process, name, REQUIRED, "name of the process"),
	SUB("processes", "devices", RL_KEY_NAMES, "", 0, 0, REQUIRED,
	    "switches and endpoints that it runs"),

	TEXT("networks", rl_network, name, REQUIRED, "name of the network"),
	SUB("networks", "members", RL_KEY_NAMES, "", 0, 0, REQUIRED,
	    "endpoints whose attached ports are on it"),
	SUB("networks", "stations", RL_KEY_NAMES, "", 0, 0, "none",
	    "stations that stay, \"MAC ENDPOINT\" or \"MAC/VLAN ENDPOINT\""),
	FIELD("networks", rl_network, ageing_ns, "ns", 1, DAY_NS,
	      "300000000000", "silence after which a station is forgotten"),

	SUB("lcores", "place", RL_KEY_GROUPS, "", 0, 0, "automatic",
	    "roles, and the lcores that run them"),
	{.group = "lcores", .name = "share", .type = RL_KEY_BOOL, .unit = "",
	 .def = "false",
	 .meaning = "lcores that poll may share a CPU: they take turns there",
	 AT(rl_config, share_cpus)},
	TEXT("lcores.place", rl_place, role, REQUIRED,
	     "beginning of the names of roles; the longest that fits decides"),
	FIELD("lcores.place", rl_place, lcore, "lcore", 0, 1023, REQUIRED,
	      "number of the lcore"),
};

const struct rl_config_key *
rl_config_keys(size_t *n)
{
	*n = RL_ARRAY_SIZE(keys);
	return keys;
}

const struct rl_config_key *
cfg_key_find(const char *group, const char *name)
{
	for (size_t i = 0; i < RL_ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i].group, group) == 0 &&
		    strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static uint64_t
key_value(const struct rl_config_key *key, const void *base)
{
	uint64_t v = 0;

	RL_ASSERT(key->size <= sizeof(v));
	memcpy(&v, (const char *)base + key->offset, key->size);
	return v;
}

static void
mask_words(const struct rl_config_key *key, uint64_t mask, char *buf,
	   size_t len)
{
	const char *sep = "[";
	size_t n = 0;

	for (unsigned int i = 0; key->words[i] != NULL && n < len; i++) {
		if ((mask >> i & 1) == 0)
			continue;
		n += (size_t)snprintf(buf + n, len - n, "%s\"%s\"", sep,
				      key->words[i]);
		sep = ", ";
	}
	if (n < len)
		snprintf(buf + n, len - n, "%s", n == 0 ? "[]" : "]");
}

char *
rl_config_key_text(const struct rl_config_key *key, const void *base, char *buf,
		   size_t len)
{
	const uint64_t v = key_value(key, base);

	if (key->type == RL_KEY_BOOL)
		snprintf(buf, len, "%s", v != 0 ? "true" : "false");
	else if (key->type == RL_KEY_WORD)
		snprintf(buf, len, "\"%s\"", key->words[v]);
	else if (key->type == RL_KEY_WORDS)
		mask_words(key, v, buf, len);
	else
		snprintf(buf, len, "%" PRIu64, v);
	return buf;
}

/* Writes all words of a key, if it has any. @return their length in @p buf */
static size_t
list_words(const struct rl_config_key *key, char *buf, size_t len)
{
	size_t n = 0;

	for (unsigned int i = 0; key->words != NULL && key->words[i] != NULL &&
				 n < len;
	     i++)
		n += (size_t)snprintf(buf + n, len - n, "%s\"%s\"",
				      i == 0 ? "" : ", ", key->words[i]);
	return n < len ? n : len;
}

char *
rl_config_key_default(const struct rl_config_key *key, char *buf, size_t len)
{
	struct rl_link_cfg link;
	struct rl_resil_cfg resil;
	struct rl_ep_cfg ep;

	if (key->def != NULL) {
		snprintf(buf, len, "%s", key->def);
		return buf;
	}
	rl_link_cfg_defaults(&link);
	rl_ep_cfg_defaults(&ep);
	rl_resil_cfg_defaults(&resil);
	return rl_config_key_text(key,
				  strcmp(key->group, "link") == 0 ? &link
				  : strcmp(key->group, "endpoint") == 0
					  ? (const void *)&ep
					  : &resil,
				  buf, len);
}

char *
rl_config_key_range(const struct rl_config_key *key, char *buf, size_t len)
{
	size_t n;

	switch (key->type) {
	case RL_KEY_BOOL:
	case RL_KEY_BOOLS:
		snprintf(buf, len, "true, false");
		break;
	case RL_KEY_NUMBER:
	case RL_KEY_NUMBERS:
		n = list_words(key, buf, len);
		snprintf(buf + n, len - n, "%s%" PRIu64 " to %" PRIu64,
			 n == 0 ? "" : ", ", key->min, key->max);
		break;
	case RL_KEY_WORD:
	case RL_KEY_WORDS:
		list_words(key, buf, len);
		break;
	case RL_KEY_TEXT:
		snprintf(buf, len, "1 to %" PRIu64 " characters", key->max);
		break;
	case RL_KEY_NAMES:
		snprintf(buf, len, "names");
		break;
	case RL_KEY_GROUP:
		snprintf(buf, len, "{ ... }");
		break;
	case RL_KEY_GROUPS:
		snprintf(buf, len, "( { ... }, ... )");
		break;
	}
	return buf;
}
