/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/capability.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "rl_iface.h"
#include "rl_netdev.h"
#include "rl_refuse.h"

#define CLAIMS_MAX 1024
#define CLAIM_NAME 64
/* Newer than some headers. */
#define CAP_BPF_NUMBER 39

/* Names claimed by this process, and their ports; they end with it. */
static struct {
	char name[CLAIM_NAME];
	char port[CLAIM_NAME];
	int fd;
} claimed[CLAIMS_MAX];
static unsigned int nclaimed;

bool
rl_iface_may(unsigned int cap)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &h, d) != 0 ||
	       (d[cap / 32].effective & 1u << cap % 32) != 0;
}

static int
check_rights(const char *iface, bool xdp, char *err, size_t len)
{
	if (rl_iface_may(CAP_NET_RAW) &&
	    (!xdp || (rl_iface_may(CAP_NET_ADMIN) &&
		      (rl_iface_may(CAP_SYS_ADMIN) ||
		       rl_iface_may(CAP_BPF_NUMBER)))))
		return 0;
	return rl_refuse(err, len, -EPERM, "%s: this needs root, or "
			 "CAP_NET_RAW%s", iface,
			 xdp ? ", CAP_NET_ADMIN and CAP_BPF" : "");
}

static int
check_kernel(bool xdp, char *err, size_t len)
{
	const int family = xdp ? AF_XDP : AF_PACKET;
	const int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno != EAFNOSUPPORT)
		return 0; /* the driver will report it */
	return rl_refuse(err, len, -EAFNOSUPPORT, "this kernel has no %s "
			 "sockets%s", xdp ? "AF_XDP" : "AF_PACKET",
			 xdp ? "; take net_af_packet instead" : "");
}

/* Whether the port of an entry is that of @p vdev. */
static bool
is_of(unsigned int i, const char *vdev)
{
	const size_t port = strcspn(vdev, ",");

	return strncmp(claimed[i].port, vdev, port) == 0 &&
	       claimed[i].port[port] == '\0';
}

/*
 * For a new claim; a port that has one, as its interface came back as another
 * one, has that no more.
 */
static void
take_entry(const char *name, const char *vdev, int fd)
{
	unsigned int i = 0;

	while (i < nclaimed && !is_of(i, vdev))
		i++;
	if (i < nclaimed)
		close(claimed[i].fd);
	else
		nclaimed++;
	snprintf(claimed[i].name, CLAIM_NAME, "%s", name);
	snprintf(claimed[i].port, CLAIM_NAME, "%.*s",
		 (int)strcspn(vdev, ","), vdev);
	claimed[i].fd = fd;
}

/* A name without a file: the kernel's own, per network namespace. */
static int
claim(const char *name, const char *vdev, const char *iface, char *err,
      size_t len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, ret = 0;

	for (unsigned int i = 0; i < nclaimed; i++) {
		if (strcmp(claimed[i].name, name) != 0)
			continue;
		if (is_of(i, vdev))
			return 0;
		return rl_refuse(err, len, -EBUSY, "%s: %s has it already; "
				 "take another interface", iface,
				 claimed[i].port);
	}
	if (nclaimed == CLAIMS_MAX)
		return 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&a,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     strlen(name))) != 0)
		ret = -errno;
	if (ret == 0) {
		take_entry(name, vdev, fd);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	if (ret != -EADDRINUSE)
		return 0; /* this must not keep a user from it */
	return rl_refuse(err, len, -EBUSY, "%s: another process of reflit's "
			 "has it open; stop that one, or take another "
			 "interface", iface);
}

int
rl_iface_claim(const char *vdev, char *err, size_t len)
{
	const bool xdp = rl_driver_is(vdev, "net_af_xdp");
	const bool packet = rl_driver_is(vdev, "net_af_packet");
	char iface[RL_IFNAME], queue[8] = "0", name[CLAIM_NAME];
	unsigned int ifindex;
	int ret;

	if (!rl_devarg(vdev, "iface", iface, sizeof(iface)))
		return 0;
	if (rl_driver_is(vdev, "net_tap")) {
		/* there is no interface yet, and the kernel would join two of
		   one name */
		snprintf(name, sizeof(name), "reflit/tap/%s", iface);
		return claim(name, vdev, iface, err, len);
	}
	if (!xdp && !packet)
		return 0;
	ret = check_rights(iface, xdp, err, len);
	if (ret == 0)
		ret = check_kernel(xdp, err, len);
	if (ret != 0)
		return ret;
	ifindex = if_nametoindex(iface);
	if (ifindex == 0)
		return rl_refuse(err, len, -ENODEV, "there is no interface %s; "
				 "ip link lists them", iface);
	if (xdp)
		(void)rl_devarg(vdev, "start_queue", queue, sizeof(queue));
	snprintf(name, sizeof(name), "reflit/%s/%u/%s",
		 xdp ? "af_xdp" : "af_packet", ifindex, queue);
	return claim(name, vdev, iface, err, len);
}
