/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "rl_steer.skel.h"
#pragma GCC diagnostic pop
#include "rl_xdp.h"
#include "xdp_find.h"

/* DPDK wants a file's name; the object is in this program. */
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

int
rl_xdp_steer_counts(const char *ifname, uint64_t counts[RL_STEER_COUNTS],
		    char *err)
{
	const int ncpus = libbpf_num_possible_cpus();
	char name[BPF_OBJ_NAME_LEN] = "";
	uint32_t id = 0;
	int ifindex, prog, map, rc = 0;
	uint64_t *v;

	ifindex = xdp_ifindex(ifname, err);
	if (ifindex < 0)
		return ifindex;
	rc = xdp_prog_on(ifindex, &id, err);
	if (rc < 0)
		return rc;
	prog = id != 0 ? xdp_prog_open(id, name) : -ENOENT;
	if (prog < 0)
		return xdp_refuse(err, prog, "%s: no XDP program that may be "
				  "read", ifname);
	map = xdp_map_open(prog, "rl_steer_count");
	close(prog);
	if (map < 0)
		return xdp_refuse(err, -ENOENT, "%s: its XDP program is not "
				  "rl_steer", ifname);
	v = ncpus > 0 ? calloc((size_t)ncpus, sizeof(*v)) : NULL;
	if (v == NULL) {
		close(map);
		return xdp_refuse(err, -ENOMEM, "no memory");
	}
	for (uint32_t i = 0; i < RL_STEER_COUNTS; i++) {
		counts[i] = 0;
		if (bpf_map_lookup_elem(map, &i, v) != 0)
			continue;
		for (int c = 0; c < ncpus; c++)
			counts[i] += v[c];
	}
	free(v);
	close(map);
	return 0;
}
