/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/if_xdp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "rl_xdp.h"
#include "xdp_find.h"

#define PROBE_BYTES 4096u
#define PROBE_RING 64

/* Programs that libxdp attaches for DPDK's driver, for any sockets. */
static bool
is_librarys(const char *name)
{
	return strcmp(name, "xsk_def_prog") == 0 ||
	       strcmp(name, "xdp_dispatcher") == 0;
}

static int
probe(int fd, void *umem, int ifindex, uint32_t queue)
{
	const struct xdp_umem_reg reg = {
		.addr = (uint64_t)(uintptr_t)umem,
		.len = PROBE_BYTES,
		.chunk_size = PROBE_BYTES,
	};
	const struct sockaddr_xdp to = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_COPY,
		.sxdp_ifindex = (uint32_t)ifindex,
		.sxdp_queue_id = queue,
	};
	const int n = PROBE_RING;

	if (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof(reg)) != 0 ||
	    setsockopt(fd, SOL_XDP, XDP_UMEM_FILL_RING, &n, sizeof(n)) != 0 ||
	    setsockopt(fd, SOL_XDP, XDP_UMEM_COMPLETION_RING, &n,
		       sizeof(n)) != 0 ||
	    setsockopt(fd, SOL_XDP, XDP_RX_RING, &n, sizeof(n)) != 0)
		return -errno;
	return bind(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 ? 0
								       : -errno;
}

/* Tries to add a socket to the queue, and removes it: fails if it has one. */
static bool
is_taken(int ifindex, uint32_t queue)
{
	const int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	void *umem = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const bool taken = fd >= 0 && umem != MAP_FAILED &&
			   probe(fd, umem, ifindex, queue) == -EBUSY;

	if (fd >= 0)
		close(fd);
	if (umem != MAP_FAILED)
		munmap(umem, PROBE_BYTES);
	return taken;
}

int
rl_xdp_port_check(const char *ifname, uint32_t queue, char *err)
{
	char name[BPF_OBJ_NAME_LEN] = "";
	const int ifindex = xdp_ifindex(ifname, err);
	uint32_t id = 0;
	int rc = ifindex < 0 ? ifindex : xdp_prog_on(ifindex, &id, err);
	int prog;

	if (rc < 0)
		return rc;
	if (id != 0) {
		prog = xdp_prog_open(id, name);
		if (prog >= 0)
			close(prog);
		if (!is_librarys(name))
			return xdp_taken(err, ifname, name, id);
	}
	if (is_taken(ifindex, queue))
		return xdp_refuse(err, -EBUSY, "%s: another process has an "
				  "AF_XDP socket at its queue %u; stop that "
				  "one, or take another interface", ifname,
				  queue);
	return 0;
}
