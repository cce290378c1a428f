/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "xdp_find.h"

#define MAPS_MAX 16

int
xdp_taken(char *err, const char *ifname, const char *name, uint32_t id)
{
	return xdp_refuse(err, -EBUSY, "%s: the XDP program %s (id %u) is "
			  "attached already; ip link set %s xdp off removes it",
			  ifname, name, id, ifname);
}

uint64_t
xdp_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

int
xdp_ifindex(const char *ifname, char *err)
{
	const unsigned int i = if_nametoindex(ifname);

	if (i == 0)
		return xdp_refuse(err, -ENODEV, "%s: no such interface",
				  ifname);
	return (int)i;
}

int
xdp_prog_on(int ifindex, uint32_t *id, char *err)
{
	int rc = bpf_xdp_query_id(ifindex, 0, id);

	if (rc < 0)
		return xdp_refuse(err, rc, "asking for the XDP program: %s",
				  strerror(-rc));
	return 0;
}

int
xdp_prog_open(uint32_t id, char *name)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0)
		return -errno;
	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(fd, &info, &len) != 0) {
		const int rc = -errno;

		close(fd);
		return rc;
	}
	memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	return fd;
}

int
xdp_map_open(int prog_fd, const char *map)
{
	uint32_t ids[MAPS_MAX], len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info;

	memset(&info, 0, sizeof(info));
	info.nr_map_ids = MAPS_MAX;
	info.map_ids = (uint64_t)(uintptr_t)ids;
	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len) != 0)
		return -errno;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++) {
		struct bpf_map_info m;
		uint32_t mlen = sizeof(m);
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd < 0)
			return -errno;
		memset(&m, 0, sizeof(m));
		if (bpf_obj_get_info_by_fd(fd, &m, &mlen) == 0 &&
		    strncmp(m.name, map, BPF_OBJ_NAME_LEN - 1) == 0)
			return fd;
		close(fd);
	}
	return -ENOENT;
}
