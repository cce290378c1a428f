// SPDX-License-Identifier: BSD-3-Clause

/*
 * Steering: flit frames go to the AF_XDP socket of the queue they came by, all
 * others to the kernel, so that ssh on the same interface keeps working
 * [PHY-2]. DPDK's af_xdp driver loads this object by `xdp_prog=`; it looks for
 * a map called xsks_map, and takes the first program.
 */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "rl_xdp_maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, RL_XDP_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RL_STEER_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} rl_steer_count SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rl_steer_owner);
} rl_steer_owner SEC(".maps");

/* Slot 0: a program that sees every frame first (reflit-fault). */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} rl_chain SEC(".maps");

static __always_inline void
count(__u32 what)
{
	__u64 *v = bpf_map_lookup_elem(&rl_steer_count, &what);

	if (v != NULL)
		(*v)++;
}

SEC("xdp")
int
rl_steer(struct xdp_md *ctx)
{
	const void *end = (void *)(long)ctx->data_end;
	const struct ethhdr *eth = (void *)(long)ctx->data;
	__u32 queue = ctx->rx_queue_index;

	bpf_tail_call(ctx, &rl_chain, 0);
	if ((const void *)(eth + 1) > end ||
	    eth->h_proto != bpf_htons(RL_XDP_ETHERTYPE)) {
		count(RL_STEER_KERNEL);
		return XDP_PASS;
	}
	if (bpf_map_lookup_elem(&xsks_map, &queue) == NULL) {
		__u32 zero = 0;

		/* has no effect: the program can only be found by a map that it
		 * uses */
		(void)bpf_map_lookup_elem(&rl_steer_owner, &zero);
		count(RL_STEER_NOBODY);
		return XDP_PASS;
	}
	count(RL_STEER_FLIT);
	return bpf_redirect_map(&xsks_map, queue, XDP_PASS);
}

/* map-in-kernel helpers of XDP sockets need a GPL-compatible licence */
char _license[] SEC("license") = "Dual BSD/GPL";
