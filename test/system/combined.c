/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * For LD_PRELOAD: lets a veth say what NICs say of their queues. A veth has
 * queues that receive and queues that send, and DPDK's driver of AF_XDP opens
 * those only that do both (ethtool -l: combined).
 */

#include <dlfcn.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>

#include "rl_base.h"

RL_PUBLIC_BEGIN
int ioctl(int fd, unsigned long request, ...);

int
ioctl(int fd, unsigned long request, ...)
{
	int (*const real)(int, unsigned long, void *) =
		(int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	struct ethtool_channels *c;
	va_list more;
	void *arg;
	int ret;

	va_start(more, request);
	arg = va_arg(more, void *);
	va_end(more);
	ret = real(fd, request, arg);
	if (ret != 0 || request != SIOCETHTOOL)
		return ret;
	c = (struct ethtool_channels *)((struct ifreq *)arg)->ifr_data;
	if (c->cmd == ETHTOOL_GCHANNELS && c->max_combined == 0) {
		c->max_combined = c->max_rx;
		c->combined_count = c->rx_count;
		c->max_rx = c->max_tx = c->rx_count = c->tx_count = 0;
	}
	return 0;
}
RL_PUBLIC_END
