/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "rl_steer.skel.h"
#pragma GCC diagnostic pop
#include "rl_xdp.h"
#include "xdp_find.h"

/* DPDK needs a file name; the object is in this program. */
int
rl_xdp_steer_path(char *path, size_t len, char *err)
{
	size_t size = 0, off = 0;
	const uint8_t *bytes = rl_steer_bpf__elf_bytes(&size);
	int fd = memfd_create("rl_steer.bpf.o", MFD_CLOEXEC);

	if (fd < 0)
		return xdp_refuse(err, -errno, "memfd_create: %s",
				  strerror(errno));
	while (off < size) {
		const ssize_t n = write(fd, bytes + off, size - off);

		if (n <= 0) {
			const int rc = n < 0 ? -errno : -EIO;

			close(fd);
			return xdp_refuse(err, rc, "writing rl_steer: %s",
					  strerror(-rc));
		}
		off += (size_t)n;
	}
	snprintf(path, len, "/proc/self/fd/%d", fd);
	return 0;
}

static uint64_t
pid_space(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* Whether an owner but this process may live: by its lease, or its process. */
static bool
may_live(const struct rl_steer_owner *o)
{
	if (o->pid_space == pid_space() && o->pid != 0 &&
	    ((pid_t)o->pid == getpid() ||
	     (kill((pid_t)o->pid, 0) != 0 && errno == ESRCH)))
		return false;
	return xdp_clock_ns() < o->until_ns;
}

/* Waits until it is gone, or has no owner. @return whether it has no owner */
static bool
left_behind(int owner_fd)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	const uint64_t end_ns =
		xdp_clock_ns() + (RL_XDP_STEER_LEASE_MS + 200) * 1000000ull;
	const uint32_t zero = 0;
	struct rl_steer_owner o = { 0 };

	while (bpf_map_lookup_elem(owner_fd, &zero, &o) == 0) {
		if (!may_live(&o))
			return true;
		if (xdp_clock_ns() > end_ns)
			return false;
		nanosleep(&nap, NULL);
	}
	return false;
}

int
rl_xdp_steer_clear(const char *ifname, char *err)
{
	char name[BPF_OBJ_NAME_LEN] = "";
	const int ifindex = xdp_ifindex(ifname, err);
	uint32_t id = 0;
	int rc = ifindex < 0 ? ifindex : xdp_prog_on(ifindex, &id, err);
	int prog, owner;

	if (rc < 0 || id == 0)
		return rc;
	prog = xdp_prog_open(id, name);
	if (prog < 0)
		return xdp_refuse(err, prog, "%s: reading its XDP program: %s",
				  ifname, strerror(-prog));
	owner = xdp_map_open(prog, "rl_steer_owner");
	close(prog);
	if (owner < 0)
		return xdp_taken(err, ifname, name, id);
	if (!left_behind(owner))
		rc = xdp_refuse(err, -EBUSY, "%s: another process of reflit's "
				"has its links there", ifname);
	else
		rc = bpf_xdp_detach(ifindex, 0, NULL);
	close(owner);
	return rc;
}

int
rl_xdp_steer_own(struct rl_xdp_steer *s, const char *ifname, char *err)
{
	char name[BPF_OBJ_NAME_LEN] = "";
	const int ifindex = xdp_ifindex(ifname, err);
	uint32_t id = 0;
	int rc = ifindex < 0 ? ifindex : xdp_prog_on(ifindex, &id, err);
	int prog;

	memset(s, 0, sizeof(*s));
	if (rc < 0)
		return rc;
	prog = id != 0 ? xdp_prog_open(id, name) : -ENOENT;
	if (prog < 0)
		return xdp_refuse(err, prog, "%s: no XDP program that may be "
				  "read", ifname);
	s->count_fd = xdp_map_open(prog, "rl_steer_count");
	s->owner_fd = xdp_map_open(prog, "rl_steer_owner");
	close(prog);
	if (s->count_fd < 0 || s->owner_fd < 0) {
		rl_xdp_steer_close(s);
		return xdp_refuse(err, -ENOENT, "%s: its XDP program is not "
				  "rl_steer", ifname);
	}
	rl_xdp_steer_renew(s);
	return 0;
}

void
rl_xdp_steer_renew(const struct rl_xdp_steer *s)
{
	const struct rl_steer_owner o = {
		.until_ns = xdp_clock_ns() + RL_XDP_STEER_LEASE_MS * 1000000ull,
		.pid = (uint64_t)getpid(),
		.pid_space = pid_space(),
	};
	const uint32_t zero = 0;

	if (s->owner_fd > 0)
		(void)bpf_map_update_elem(s->owner_fd, &zero, &o, BPF_ANY);
}

int
rl_xdp_steer_counts(const struct rl_xdp_steer *s,
		    uint64_t counts[RL_STEER_COUNTS])
{
	const int ncpus = libbpf_num_possible_cpus();
	uint64_t *v;

	if (s->count_fd <= 0)
		return -ENOENT;
	v = ncpus > 0 ? calloc((size_t)ncpus, sizeof(*v)) : NULL;
	if (v == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < RL_STEER_COUNTS; i++) {
		counts[i] = 0;
		if (bpf_map_lookup_elem(s->count_fd, &i, v) != 0)
			continue;
		for (int c = 0; c < ncpus; c++)
			counts[i] += v[c];
	}
	free(v);
	return 0;
}

void
rl_xdp_steer_close(struct rl_xdp_steer *s)
{
	if (s->count_fd > 0)
		close(s->count_fd);
	if (s->owner_fd > 0)
		close(s->owner_fd);
	memset(s, 0, sizeof(*s));
}
