// SPDX-License-Identifier: BSD-3-Clause

/*
 * Faults at a kernel interface: drops, cuts one direction, corrupts and
 * duplicates received frames, according to the map rl_fault_set [PHY-2]. The
 * map may change at any moment. The fate of frame n depends only on the seed
 * and on n, so a run can be repeated.
 *
 * Faults apply to a frame in this order: one-way, every n-th, rate, corrupt,
 * duplicate. XDP cannot copy a frame: a frame to be duplicated also goes to
 * user space, which injects the copy by rl_inject.
 */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "rl_xdp_maps.h"

#define CORRUPT_MAX 8
#define OFFSET_MASK 0x3fff

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rl_fault_set);
} rl_fault_set SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rl_fault_count);
} rl_fault_count SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} rl_fault_until SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} rl_fault_copy SEC(".maps");

/* Slot 0: the next program for frames that pass; empty: the kernel. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} rl_next SEC(".maps");

/* Several CPUs may see frames at once: counts are exact nevertheless. */
#define ADD(field) __sync_fetch_and_add(&c->field, 1)

/* splitmix64: a draw that depends only on its arguments */
static __always_inline __u64
draw(__u64 seed, __u64 n, __u64 what)
{
	__u64 z = seed + (n * 4 + what + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Changes bytes behind the Ethernet header; each gets another value. */
static __always_inline int
corrupt(struct xdp_md *ctx, const struct rl_fault_set *set, __u64 n)
{
	__u64 r = draw(set->seed, n, 1);
	int done = 0;

	for (int i = 0; i < CORRUPT_MAX; i++) {
		__u8 *data = (void *)(long)ctx->data;
		const __u8 *end = (void *)(long)ctx->data_end;
		__u32 len = (__u32)(end - data), off;

		if (i >= set->corrupt_bytes || len <= ETH_HLEN)
			break;
		off = (ETH_HLEN + (__u32)(r >> 32) % (len - ETH_HLEN)) &
		      OFFSET_MASK;
		if (data + off + 1 > end)
			break;
		data[off] ^= (__u8)(r % 255 + 1);
		r = draw(r, n, 2);
		done = 1;
	}
	return done;
}

static __always_inline void
copy_out(struct xdp_md *ctx, struct rl_fault_count *c)
{
	__u32 len = (__u32)(ctx->data_end - ctx->data);
	struct rl_fault_copy *copy;

	/* clang 19 would compare the two pointers instead of their distance,
	   and the verifier could not know that it is not 0 */
	asm volatile("" : "+r"(len));
	if (len == 0 || len > RL_XDP_COPY_BYTES) {
		ADD(duplicate_lost);
		return;
	}
	copy = bpf_ringbuf_reserve(&rl_fault_copy, sizeof(*copy), 0);
	if (copy == NULL) {
		ADD(duplicate_lost);
		return;
	}
	copy->len = len;
	copy->queue = ctx->rx_queue_index;
	if (bpf_xdp_load_bytes(ctx, 0, copy->data, len) != 0) {
		bpf_ringbuf_discard(copy, 0);
		ADD(duplicate_lost);
		return;
	}
	ADD(duplicate_asked);
	bpf_ringbuf_submit(copy, 0);
}

/* Whether faults apply to this frame; it is counted in either case. */
static __always_inline int
concerned(struct xdp_md *ctx, const struct rl_fault_set *set,
	  struct rl_fault_count *c)
{
	const void *end = (void *)(long)ctx->data_end;
	const struct ethhdr *eth = (void *)(long)ctx->data;

	if (set->ethertype == 0)
		return 1;
	if ((const void *)(eth + 1) <= end &&
	    eth->h_proto == bpf_htons((__u16)set->ethertype))
		return 1;
	ADD(other);
	return 0;
}

static __always_inline int
judge(struct xdp_md *ctx, const struct rl_fault_set *set,
      struct rl_fault_count *c)
{
	__u64 n = ADD(frames);

	if (set->one_way != 0) {
		ADD(cut);
		return XDP_DROP;
	}
	if (set->drop_nth != 0 && (n + 1) % set->drop_nth == 0) {
		ADD(dropped_nth);
		return XDP_DROP;
	}
	if (set->drop_below > (draw(set->seed, n, 0) >> 32)) {
		ADD(dropped_rate);
		return XDP_DROP;
	}
	if (set->corrupt_nth != 0 && (n + 1) % set->corrupt_nth == 0 &&
	    corrupt(ctx, set, n))
		ADD(corrupted);
	if (set->duplicate_below > (draw(set->seed, n, 3) >> 32))
		copy_out(ctx, c);
	ADD(passed);
	return XDP_PASS;
}

SEC("xdp")
int
rl_fault(struct xdp_md *ctx)
{
	__u32 zero = 0;
	const struct rl_fault_set *set =
		bpf_map_lookup_elem(&rl_fault_set, &zero);
	struct rl_fault_count *c = bpf_map_lookup_elem(&rl_fault_count, &zero);
	const __u64 *until = bpf_map_lookup_elem(&rl_fault_until, &zero);

	if (set != NULL && c != NULL && until != NULL &&
	    bpf_ktime_get_ns() < *until &&
	    concerned(ctx, set, c) && judge(ctx, set, c) == XDP_DROP)
		return XDP_DROP;
	bpf_tail_call(ctx, &rl_next, 0);
	return XDP_PASS;
}

/* Run by user space on a copied frame: skips the faults. */
SEC("xdp")
int
rl_inject(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &rl_next, 0);
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
