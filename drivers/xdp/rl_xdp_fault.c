/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A fault program and its maps. A kernel link attaches it, which ends with this
 * process in any case. Before rl_steer it is in a slot of that program, which
 * stays when we are killed: so it acts only as long as its lease is renewed.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "rl_fault.skel.h"
#include "rl_steer.skel.h"
#pragma GCC diagnostic pop
#include "rl_xdp.h"
#include "xdp_find.h"

#ifndef BPF_F_TEST_XDP_LIVE_FRAMES
#define BPF_F_TEST_XDP_LIVE_FRAMES (1U << 1)
#endif

/* How long to watch a slot before it counts as stable. */
#define SETTLE_LOOKS 30
#define SETTLE_US 10000

struct rl_xdp_fault {
	int ifindex;
	int set_fd;   /* map rl_fault_set */
	int count_fd; /* map rl_fault_count */
	int until_fd; /* map rl_fault_until */
	int chain_fd; /* slot of rl_steer that holds us; -1: attached */
	bool found;   /* another process's: only its maps are open */
	struct rl_fault_bpf *skel;
	struct rl_steer_bpf *rest; /* rl_steer's copy, behind us */
	int link_fd; /* the attachment; -1: before rl_steer */
	struct ring_buffer *copies;
	struct rl_xdp_copies done;
};

static int
quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

/* If attached, it ends with this process: no lease is needed. */
static int
renew(struct rl_xdp_fault *f)
{
	const uint64_t until_ns =
		f->chain_fd < 0 ? UINT64_MAX
				: xdp_clock_ns() + RL_XDP_LEASE_MS * 1000000ull;
	const uint32_t zero = 0;

	if (bpf_map_update_elem(f->until_fd, &zero, &until_ns, BPF_ANY) != 0)
		return -errno;
	return 0;
}

static int
send_in(void *ctx, void *data, size_t size)
{
	struct rl_xdp_fault *f = ctx;
	struct rl_fault_copy *copy = data;
	struct xdp_md md;
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = copy->data,
		    .data_size_in = copy->len, .ctx_in = &md,
		    .ctx_size_in = sizeof(md), .repeat = 1,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	if (size < sizeof(*copy))
		return 0;
	memset(&md, 0, sizeof(md));
	md.data_end = copy->len;
	md.ingress_ifindex = (uint32_t)f->ifindex;
	md.rx_queue_index = copy->queue;
	if (bpf_prog_test_run_opts(bpf_program__fd(f->skel->progs.rl_inject),
				   &o) == 0)
		f->done.sent++;
	else
		f->done.failed++;
	return 0;
}

/*
 * Puts the program into rl_steer's slot, if it is not there. The kernel empties
 * an array of programs some time after the last process that had it open closes
 * it: if the process that attached rl_steer has just ended, that may still
 * follow.
 */
static int
slot_take(struct rl_xdp_fault *f)
{
	const uint32_t zero = 0;
	const int self = bpf_program__fd(f->skel->progs.rl_fault);
	uint32_t in_slot = 0;

	if (bpf_map_lookup_elem(f->chain_fd, &zero, &in_slot) == 0)
		return 0;
	if (bpf_map_update_elem(f->chain_fd, &zero, &self, BPF_ANY) != 0)
		return -errno;
	return 0;
}

/* Waits until that can no longer happen. */
static int
slot_settle(struct rl_xdp_fault *f)
{
	int rc = slot_take(f);

	for (unsigned int i = 0; i < SETTLE_LOOKS && rc == 0; i++) {
		usleep(SETTLE_US);
		rc = slot_take(f);
	}
	return rc;
}

/* Puts the program into rl_steer's slot, and a copy of rl_steer behind it. */
static int
chain(struct rl_xdp_fault *f, int steer_fd, const char *ifname, char *err)
{
	const uint32_t zero = 0;
	int socks = xdp_map_open(steer_fd, "xsks_map");
	int count = xdp_map_open(steer_fd, "rl_steer_count");
	int rc = -EINVAL, rest;

	f->rest = rl_steer_bpf__open();
	if (socks < 0 || count < 0 || f->rest == NULL ||
	    bpf_map__reuse_fd(f->rest->maps.xsks_map, socks) != 0 ||
	    bpf_map__reuse_fd(f->rest->maps.rl_steer_count, count) != 0)
		goto out;
	rc = rl_steer_bpf__load(f->rest);
	if (rc != 0)
		goto out;
	rest = bpf_program__fd(f->rest->progs.rl_steer);
	rc = bpf_map__update_elem(f->skel->maps.rl_next, &zero, sizeof(zero),
				  &rest, sizeof(rest), BPF_ANY);
	if (rc == 0)
		rc = renew(f);
	if (rc == 0)
		rc = slot_settle(f);
out:
	if (socks >= 0)
		close(socks);
	if (count >= 0)
		close(count);
	if (rc != 0) {
		close(f->chain_fd);
		f->chain_fd = -1;
		return xdp_refuse(err, rc, "%s: cannot stand before its "
				  "rl_steer: %s", ifname, strerror(-rc));
	}
	return 0;
}

static int
attach(struct rl_xdp_fault *f, const char *ifname, enum rl_xdp_mode mode,
       char *err)
{
	LIBBPF_OPTS(bpf_link_create_opts, o);
	const int prog = bpf_program__fd(f->skel->progs.rl_fault);
	int fd = -1;

	if (mode != RL_XDP_GENERIC) {
		o.flags = XDP_FLAGS_DRV_MODE;
		fd = bpf_link_create(prog, f->ifindex, BPF_XDP, &o);
	}
	if (fd < 0 && mode != RL_XDP_NATIVE) {
		o.flags = XDP_FLAGS_SKB_MODE;
		fd = bpf_link_create(prog, f->ifindex, BPF_XDP, &o);
	}
	if (fd < 0)
		return xdp_refuse(err, -errno, "%s: attaching an XDP program: "
				  "%s%s", ifname, strerror(errno),
				  errno == EBUSY || errno == EEXIST ?
				  " (one is attached already)" : "");
	f->link_fd = fd;
	return 0;
}

/*
 * Finds what is attached to the interface. Keeps the slot of rl_steer open, in
 * chain_fd: closing it would empty it a moment later.
 * @return a descriptor of rl_steer; -ENOENT: nothing; -EBUSY: something else
 */
static int
look(struct rl_xdp_fault *f, const char *ifname, char *err)
{
	char name[BPF_OBJ_NAME_LEN] = "";
	uint32_t id = 0, in_slot = 0;
	const uint32_t zero = 0;
	int fd, slot, rc = xdp_prog_on(f->ifindex, &id, err);

	if (rc < 0)
		return rc;
	if (id == 0)
		return -ENOENT;
	fd = xdp_prog_open(id, name);
	if (fd < 0)
		return xdp_refuse(err, fd, "%s: reading its XDP program: %s",
				  ifname, strerror(-fd));
	slot = xdp_map_open(fd, "rl_chain");
	if (slot < 0) {
		close(fd);
		return xdp_taken(err, ifname, name, id);
	}
	if (bpf_map_lookup_elem(slot, &zero, &in_slot) == 0) {
		close(slot);
		close(fd);
		return xdp_refuse(err, -EBUSY, "%s: a fault program stands "
				  "before its rl_steer already", ifname);
	}
	f->chain_fd = slot;
	return fd;
}

static int
fault_start(struct rl_xdp_fault *f, const char *ifname, enum rl_xdp_mode mode,
	    const struct rl_fault_set *set, char *err)
{
	int steer, rc;

	f->skel = rl_fault_bpf__open_and_load();
	if (f->skel == NULL) {
		rc = errno != 0 ? -errno : -EINVAL;
		return xdp_refuse(err, rc, "loading the fault program: %s%s",
				  strerror(-rc), rc == -EPERM ?
				  " (this needs root, or CAP_BPF and "
				  "CAP_NET_ADMIN)" : "");
	}
	f->set_fd = bpf_map__fd(f->skel->maps.rl_fault_set);
	f->count_fd = bpf_map__fd(f->skel->maps.rl_fault_count);
	f->until_fd = bpf_map__fd(f->skel->maps.rl_fault_until);
	rc = rl_xdp_fault_set(f, set);
	if (rc == 0)
		rc = renew(f); /* like one that is attached */
	if (rc != 0)
		return xdp_refuse(err, rc, "writing its map: %s",
				  strerror(-rc));
	f->copies = ring_buffer__new(bpf_map__fd(f->skel->maps.rl_fault_copy),
				     send_in, f, NULL);
	if (f->copies == NULL)
		return xdp_refuse(err, -errno, "reading its ring: %s",
				  strerror(errno));
	steer = look(f, ifname, err);
	if (steer == -ENOENT)
		return attach(f, ifname, mode, err);
	if (steer < 0)
		return steer;
	rc = chain(f, steer, ifname, err);
	close(steer);
	return rc;
}

static struct rl_xdp_fault *
fault_new(void)
{
	struct rl_xdp_fault *f = calloc(1, sizeof(*f));

	if (f != NULL) {
		f->set_fd = f->count_fd = f->until_fd = -1;
		f->chain_fd = f->link_fd = -1;
	}
	libbpf_set_print(quiet);
	return f;
}

int
rl_xdp_fault_open(struct rl_xdp_fault **out, const char *ifname,
		  enum rl_xdp_mode mode, const struct rl_fault_set *set,
		  char *err)
{
	struct rl_xdp_fault *f = fault_new();
	int rc;

	if (f == NULL)
		return xdp_refuse(err, -ENOMEM, "no memory");
	rc = f->ifindex = xdp_ifindex(ifname, err);
	if (rc > 0)
		rc = fault_start(f, ifname, mode, set, err);
	if (rc < 0) {
		rl_xdp_fault_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

/*
 * Finds the maps of the fault program that program @p prog is, or has in its
 * slot.
 */
static int
find_maps(struct rl_xdp_fault *f, int prog)
{
	const uint32_t zero = 0;
	const int slot = xdp_map_open(prog, "rl_chain");
	char name[BPF_OBJ_NAME_LEN];
	uint32_t id = 0;
	int inner = prog;

	if (slot >= 0) {
		if (bpf_map_lookup_elem(slot, &zero, &id) == 0)
			inner = xdp_prog_open(id, name);
		close(slot);
		if (id == 0 || inner < 0)
			return -ENOENT;
	}
	f->set_fd = xdp_map_open(inner, "rl_fault_set");
	f->count_fd = xdp_map_open(inner, "rl_fault_count");
	f->until_fd = xdp_map_open(inner, "rl_fault_until");
	if (inner != prog)
		close(inner);
	return f->set_fd < 0 || f->count_fd < 0 || f->until_fd < 0 ? -ENOENT :
								     0;
}

/*
 * A killed process leaves its program before rl_steer, with an expired lease.
 */
static bool
lives(const struct rl_xdp_fault *f)
{
	const uint32_t zero = 0;
	uint64_t until_ns;

	return bpf_map_lookup_elem(f->until_fd, &zero, &until_ns) == 0 &&
	       until_ns > xdp_clock_ns();
}

int
rl_xdp_fault_find(struct rl_xdp_fault **out, const char *ifname, char *err)
{
	struct rl_xdp_fault *f = fault_new();
	char name[BPF_OBJ_NAME_LEN];
	uint32_t id = 0;
	int rc, prog;

	if (f == NULL)
		return xdp_refuse(err, -ENOMEM, "no memory");
	f->found = true;
	rc = f->ifindex = xdp_ifindex(ifname, err);
	if (rc > 0)
		rc = xdp_prog_on(f->ifindex, &id, err);
	if (rc < 0)
		goto out;
	rc = prog = id != 0 ? xdp_prog_open(id, name) : -ENOENT;
	if (prog >= 0) {
		rc = find_maps(f, prog);
		close(prog);
	}
	if (rc == 0 && !lives(f))
		rc = -ENOENT;
	if (rc < 0)
		xdp_refuse(err, rc, rc == -EPERM ?
			   "%s: reading its XDP program needs root" :
			   "%s: no reflit-fault runs there", ifname);
out:
	if (rc < 0) {
		rl_xdp_fault_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

void
rl_xdp_fault_close(struct rl_xdp_fault *f)
{
	const uint32_t zero = 0;

	if (f == NULL)
		return;
	if (f->chain_fd >= 0) {
		bpf_map_delete_elem(f->chain_fd, &zero);
		close(f->chain_fd);
	}
	if (f->link_fd >= 0)
		close(f->link_fd);
	ring_buffer__free(f->copies);
	if (f->found) {
		const int fds[] = { f->set_fd, f->count_fd, f->until_fd };

		for (unsigned int i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
	}
	rl_steer_bpf__destroy(f->rest);
	rl_fault_bpf__destroy(f->skel);
	free(f);
}

int
rl_xdp_fault_get(const struct rl_xdp_fault *f, struct rl_fault_set *set)
{
	const uint32_t zero = 0;

	return bpf_map_lookup_elem(f->set_fd, &zero, set) != 0 ? -errno : 0;
}

int
rl_xdp_fault_set(struct rl_xdp_fault *f, const struct rl_fault_set *set)
{
	const uint32_t zero = 0;

	return bpf_map_update_elem(f->set_fd, &zero, set, BPF_ANY) != 0 ?
		       -errno :
		       0;
}

int
rl_xdp_fault_counts(const struct rl_xdp_fault *f,
		    struct rl_fault_count *counts)
{
	const uint32_t zero = 0;

	return bpf_map_lookup_elem(f->count_fd, &zero, counts) != 0 ? -errno :
								      0;
}

int
rl_xdp_fault_poll(struct rl_xdp_fault *f, int timeout_ms,
		  struct rl_xdp_copies *copies)
{
	int rc = ring_buffer__poll(f->copies, timeout_ms);

	*copies = f->done;
	if (rc < 0 && rc != -EINTR)
		return rc;
	rc = f->chain_fd >= 0 ? slot_take(f) : 0;
	return rc == 0 ? renew(f) : rc;
}
