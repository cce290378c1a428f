/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "rl_carrier.h"

/* glibc's <net/if.h> has none, and <linux/if.h> conflicts with it */
#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP (1u << 16)
#endif

/* Pause between rounds. It grows with the length of a round, within limits, so
   that polling takes a fiftieth of a CPU. */
#define ROUND_NS_MIN (2 * RL_NS_PER_MS)
#define ROUND_NS_MAX (5 * RL_NS_PER_MS)
#define ROUND_SHARE 50

/* One message from the kernel, large enough for an interface's. */
union message {
	struct nlmsghdr h;
	char bytes[16384];
};

/*
 * IFF_LOWER_UP is the carrier. IFF_RUNNING is the operational state, which is
 * more: the kernel derives it up to a second later, and with a login (802.1X)
 * it waits for that. Frames pass meanwhile.
 */
static bool
carries(const struct ifinfomsg *info)
{
	return (info->ifi_flags & IFF_UP) != 0 &&
	       (info->ifi_flags & IFF_LOWER_UP) != 0;
}

/* Asks for one interface. @return the length of the answer; -1: none */
static ssize_t
ask_kernel(int fd, unsigned int ifindex, union message *m)
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
	/* the answer is already there: the kernel queues it within send() */
	do
		n = recv(fd, m, sizeof(*m), 0);
	while (n < 0 && errno == EINTR);
	return n;
}

/* An interface that is gone has no carrier. True if it is unknown. */
static bool
has_carrier(int fd, unsigned int ifindex)
{
	union message m;
	const struct ifinfomsg *info = NLMSG_DATA(&m.h);
	const ssize_t n = ask_kernel(fd, ifindex, &m);

	if (n < 0 || !NLMSG_OK(&m.h, (size_t)n))
		return true;
	return m.h.nlmsg_type == RTM_NEWLINK &&
	       m.h.nlmsg_len >= NLMSG_LENGTH(sizeof(*info)) && carries(info);
}

/* True if it is unknown. A NIC may read its PHY, half a millisecond long. */
static bool
is_up(uint16_t port_id)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(port_id, &link) != 0 ||
	       link.link_status == RTE_ETH_LINK_UP;
}

static uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * RL_NS_PER_S + (uint64_t)t.tv_nsec;
}

/*
 * A device that was pulled out reads as down, too. That is no lost carrier but a
 * removal, which the control thread is told of: until then the carrier stays as
 * it was. The status comes first, so that a device that has gone since is
 * found.
 */
static void
ask(const struct rl_carrier *c, const struct rl_carrier_wire *w)
{
	const bool up = w->ifindex == 0 ? is_up(w->port_id)
					: has_carrier(c->fd, w->ifindex);

	if (!up && w->unplug != NULL && rl_unplug_gone(w->unplug))
		rl_unplug_ask(w->unplug);
	else
		rl_phy_eth_carrier(w->phy, up);
}

static void
ask_all(struct rl_carrier *c)
{
	for (unsigned int i = 0; i < c->nwire; i++)
		ask(c, &c->wire[i]);
}

static void *
carrier_main(void *arg)
{
	struct rl_carrier *c = arg;
	struct timespec nap = { 0 };
	uint64_t from;

	/* relaxed: the join that follows orders all else */
	while (!atomic_load_explicit(&c->stop, memory_order_relaxed)) {
		from = clock_ns();
		ask_all(c);
		nap.tv_nsec = (long)rl_min_u64(
			rl_max_u64((clock_ns() - from) * ROUND_SHARE,
				   ROUND_NS_MIN),
			ROUND_NS_MAX);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

/* Signals of the process go to the control thread. */
static int
start_thread(struct rl_carrier *c)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	/* raised by registers of a device that is gone: EAL handles it */
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ret = -pthread_create(&c->thread, NULL, carrier_main, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

int
rl_carrier_start(struct rl_carrier *c, const struct rl_carrier_wire wire[],
		 unsigned int n)
{
	int ret = -ENOMEM;

	memset(c, 0, sizeof(*c));
	c->wire = calloc(n, sizeof(*wire));
	if (c->wire == NULL)
		return ret;
	memcpy(c->wire, wire, n * sizeof(*wire));
	c->nwire = n;
	c->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ret = c->fd < 0 ? -errno : start_thread(c);
	if (ret == 0)
		return 0;
	if (c->fd >= 0)
		close(c->fd);
	free(c->wire);
	c->wire = NULL;
	return ret;
}

void
rl_carrier_stop(struct rl_carrier *c)
{
	if (c->wire == NULL)
		return;
	atomic_store_explicit(&c->stop, true, memory_order_relaxed);
	pthread_join(c->thread, NULL);
	close(c->fd);
	free(c->wire);
	c->wire = NULL;
}
