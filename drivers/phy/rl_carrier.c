/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rl_carrier.h"

static bool
carries(unsigned int flags)
{
	return (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0;
}

int
rl_carrier_open(struct rl_carrier *c)
{
	const struct sockaddr_nl at = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK,
	};
	int ret;

	c->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       NETLINK_ROUTE);
	if (c->fd < 0)
		return -errno;
	if (bind(c->fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return 0;
	ret = -errno;
	rl_carrier_close(c);
	return ret;
}

enum rl_carrier_news
rl_carrier_next(struct rl_carrier *c, unsigned int *ifindex, bool *up)
{
	union {
		struct nlmsghdr h;
		char bytes[8192];
	} m;

	for (;;) {
		/* the kernel sends one message a datagram to listeners */
		const ssize_t n = recv(c->fd, &m, sizeof(m), 0);
		const struct ifinfomsg *info = NLMSG_DATA(&m.h);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == ENOBUFS ? RL_CARRIER_MISSED
						: RL_CARRIER_NONE;
		if (!NLMSG_OK(&m.h, (size_t)n) ||
		    m.h.nlmsg_len < NLMSG_LENGTH(sizeof(*info)))
			continue;
		if (m.h.nlmsg_type != RTM_NEWLINK &&
		    m.h.nlmsg_type != RTM_DELLINK)
			continue;
		*ifindex = (unsigned int)info->ifi_index;
		*up = m.h.nlmsg_type == RTM_NEWLINK &&
		      carries(info->ifi_flags);
		return RL_CARRIER_CHANGE;
	}
}

bool
rl_carrier_now(const char *iface)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };
	bool up;

	if (fd < 0)
		return true; /* nobody knows better */
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", iface);
	up = ioctl(fd, SIOCGIFFLAGS, &r) == 0 &&
	     carries((unsigned int)(unsigned short)r.ifr_flags);
	close(fd);
	return up;
}

void
rl_carrier_close(struct rl_carrier *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}
