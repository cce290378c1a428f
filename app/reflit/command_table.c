/* SPDX-License-Identifier: BSD-3-Clause */

/* Every command of the prompt, one a line. docs/prompt.md explains them. */

#include "command.h"

const struct command command_table[] = {
	{ "help", cmd_help, "this list" },
	{ "quit", cmd_quit, "stops traffic, waits until drained, reports" },

	{ "start", cmd_start, "all clients begin to send" },
	{ "start <endpoint>", cmd_start_one, "its client begins to send" },
	{ "stop", cmd_stop, "no client sends; all receive" },
	{ "stop <endpoint>", cmd_stop_one, "its client does not send" },
	{ "rate <endpoint> <n>", cmd_rate,
	  "packets a second its client sends; 0: no limit" },

	{ "traffic pattern <name>", cmd_traffic_pattern,
	  "of generators, from the next start: uniform, permutation, ..." },
	{ "traffic load <rate>", cmd_traffic_load,
	  "flits per us of each generator, from the next start; 0: no limit" },
	{ "traffic packets <n>", cmd_traffic_packets,
	  "that each generator sends, from the next start; 0: no limit" },

	{ "wait <time>", cmd_wait_time, "50ms, 2s, 10us" },
	{ "wait drained", cmd_wait_drained, "until nothing is in flight" },
	{ "wait drained <time>", cmd_wait_drained_for, "at most so long" },
	{ "wait sent", cmd_wait_sent, "until all attached files are through" },
	{ "wait sent <time>", cmd_wait_sent_for, "at most so long" },
	{ "wait up", cmd_wait_up, "until every healthy link carries traffic" },

	{ "link <link> down", cmd_link_down, "cuts it: dark at both ends" },
	{ "link <link> down mid-packet", cmd_link_down_mid,
	  "cuts it as soon as a frame ends inside a packet" },
	{ "link <link> down after <n> from <device>", cmd_link_down_after,
	  "cuts it once n more flits of the device are through" },
	{ "link <link> one-way <device>", cmd_link_one_way,
	  "frames of the device vanish, in silence" },
	{ "link <link> one-way <device> after <n>", cmd_link_one_way_after,
	  "the same once n more of its flits are through" },
	{ "link <link> up", cmd_link_up, "heals it of everything injected" },
	{ "link <link> flap <n> <time>", cmd_link_flap,
	  "down and up n times, with that period" },
	{ "link <link> disable", cmd_link_disable, "down by order to its ports" },
	{ "link <link> enable", cmd_link_enable, "undoes that" },

	{ "inject drop <link> <device> <n>", cmd_inject_drop,
	  "the n-th data frame of the device from now on is lost" },
	{ "inject corrupt <link> <device> <n>", cmd_inject_corrupt,
	  "n bytes in a row of its next data frame change" },
	{ "inject ber <link> <device> <rate>", cmd_inject_ber,
	  "bit errors at that rate, such as 1e-5; 0: no more" },
	{ "inject stall <link> <device> <time>", cmd_inject_stall,
	  "its frames are kept so long, then delivered" },
	{ "inject delay <link> <device> <time>", cmd_inject_delay,
	  "each of its frames takes so much longer; 0us: no more" },

	{ "show fabric", cmd_show_fabric, "links and where they stand" },
	{ "show port <port>", cmd_show_port, "DEVICE/NUMBER, DEVICE, or all" },
	{ "show replay", cmd_show_replay, "replay buffers and their pointers" },
	{ "show flow", cmd_show_flow, "flows of every endpoint" },
	{ "show routes <device>", cmd_show_routes, "its forwarding table" },
	{ "show events", cmd_show_events, "the last 20" },
	{ "show events <n>", cmd_show_events_n, "the last n" },
	{ "show histogram", cmd_show_histogram, "latency of packets" },
	{ "show counters <port>", cmd_show_counters, "as show port; not zero" },
	{ "show faults", cmd_show_faults, "what is injected, and what it did" },
	{ "show lcores", cmd_show_lcores, "roles and load" },
	{ "show traffic", cmd_show_traffic, "packets sent and delivered" },
	{ NULL, NULL, NULL },
};
