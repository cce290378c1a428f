/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rl_carrier.h"

/* glibc's <net/if.h> has none, and <linux/if.h> does not go with it */
#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP (1u << 16)
#endif

/* One message of the kernel's, as large as those of an interface become. */
union message {
	struct nlmsghdr h;
	char bytes[16384];
};

/*
 * IFF_LOWER_UP is the carrier. IFF_RUNNING is the operational state, which is
 * more: the kernel derives it up to a second later, and where somebody has to
 * log in first (802.1X) it waits for that. Frames pass meanwhile.
 */
static bool
carries(const struct ifinfomsg *info)
{
	return (info->ifi_flags & IFF_UP) != 0 &&
	       (info->ifi_flags & IFF_LOWER_UP) != 0;
}

static int
open_socket(int flags)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags,
		      NETLINK_ROUTE);
}

int
rl_carrier_open(struct rl_carrier *c)
{
	const struct sockaddr_nl at = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK,
	};
	int ret;

	c->fd = open_socket(SOCK_NONBLOCK);
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
	union message m;

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
		      carries(info);
		return RL_CARRIER_CHANGE;
	}
}

/* Asks for one interface. @return the length of the answer; -1: none */
static ssize_t
ask(int fd, unsigned int ifindex, union message *m)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg info;
	} q = {
		.h = { .nlmsg_len = sizeof(q),
		       .nlmsg_type = RTM_GETLINK,
		       .nlmsg_flags = NLM_F_REQUEST },
		.info = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex },
	};
	ssize_t n;

	if (send(fd, &q, sizeof(q), 0) != (ssize_t)sizeof(q))
		return -1;
	/* the answer is there already: the kernel gives it within send() */
	do
		n = recv(fd, m, sizeof(*m), 0);
	while (n < 0 && errno == EINTR);
	return n;
}

bool
rl_carrier_now(unsigned int ifindex)
{
	const int fd = open_socket(0);
	union message m;
	const struct ifinfomsg *info = NLMSG_DATA(&m.h);
	bool up = true; /* where nobody knows better */
	ssize_t n;

	if (fd < 0)
		return up;
	n = ask(fd, ifindex, &m);
	if (n >= 0 && NLMSG_OK(&m.h, (size_t)n))
		up = m.h.nlmsg_type == RTM_NEWLINK &&
		     m.h.nlmsg_len >= NLMSG_LENGTH(sizeof(*info)) &&
		     carries(info);
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
