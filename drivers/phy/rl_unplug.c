/* SPDX-License-Identifier: BSD-3-Clause */

#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "rl_base.h"
#include "rl_binding.h"
#include "rl_sockets.h"
#include "rl_unplug.h"

#define DEVICES "/sys/bus/pci/devices/"

void
rl_unplug_ask(struct rl_unplug *u)
{
	/* relaxed: no other data depends on it, here and below */
	atomic_store_explicit(&u->asked, true, memory_order_relaxed);
}

static void
on_device(RL_UNUSED const char *name, enum rte_dev_event_type type, void *arg)
{
	if (type == RTE_DEV_EVENT_REMOVE)
		rl_unplug_ask(arg);
}

static int
on_removal(RL_UNUSED uint16_t port, RL_UNUSED enum rte_eth_event_type type,
	   void *arg, RL_UNUSED void *ret)
{
	rl_unplug_ask(arg);
	return 0;
}

void
rl_unplug_watch(struct rl_unplug *u, const char *name, uint16_t port_id)
{
	memset(u, 0, sizeof(*u));
	u->name = name;
	u->port_id = port_id;
	if (!rl_binding_driver("", name, u->driver))
		return;
	u->watched = true;
	(void)rte_dev_hotplug_handle_enable();
	(void)rte_dev_event_callback_register(name, on_device, u);
	(void)rte_eth_dev_callback_register(port_id, RTE_ETH_EVENT_INTR_RMV,
					    on_removal, u);
}

void
rl_unplug_watch_iface(struct rl_unplug *u, const char *iface, bool xdp)
{
	const struct rl_sockets s = { .ifindex = (int)if_nametoindex(iface),
				      .xdp = xdp };

	memset(u, 0, sizeof(*u));
	u->name = iface;
	u->fd = rl_sockets_any(&s);
	u->watched = u->fd > 0;
}

static bool
is_up(const char *iface)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { 0 };
	bool up;

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", iface);
	up = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &r) == 0 &&
	     (r.ifr_flags & IFF_UP) != 0;
	if (fd >= 0)
		close(fd);
	return up;
}

bool
rl_unplug_asked(const struct rl_unplug *u)
{
	return atomic_load_explicit(&u->asked, memory_order_relaxed);
}

bool
rl_unplug_gone(const struct rl_unplug *u)
{
	/* vendor, device, command, status: the first two of a virtual function
	   are all ones while it is there, the others never are */
	uint64_t head = UINT64_MAX;
	char path[128];
	int fd;

	if (!u->watched)
		return false;
	if (u->fd != 0)
		return rl_sockets_lost(u->fd);
	snprintf(path, sizeof(path), DEVICES "%s/config", u->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return access(path, F_OK) != 0; /* or it may not be read */
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		head = UINT64_MAX;
	close(fd);
	return head == UINT64_MAX;
}

bool
rl_unplug_back(const struct rl_unplug *u)
{
	char driver[RL_BINDING_DRIVER];

	if (u->fd != 0)
		return is_up(u->name);
	return rl_binding_driver("", u->name, driver) &&
	       strcmp(driver, u->driver) == 0 && !rl_unplug_gone(u);
}

void
rl_unplug_forget(struct rl_unplug *u)
{
	if (!u->watched || u->fd != 0)
		return;
	/* EAL's thread may be in one of them */
	while (rte_dev_event_callback_unregister(u->name, on_device, u) ==
	       -EAGAIN)
		usleep(100);
	while (rte_eth_dev_callback_unregister(u->port_id,
					       RTE_ETH_EVENT_INTR_RMV,
					       on_removal, u) == -EAGAIN)
		usleep(100);
	atomic_store_explicit(&u->asked, false, memory_order_relaxed);
}
