/* SPDX-License-Identifier: BSD-3-Clause */

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "rl_base.h"
#include "rl_unplug.h"

#define DEVICES "/sys/bus/pci/devices/"

bool
rl_unplug_driver(const char *name, char driver[RL_UNPLUG_DRIVER])
{
	char path[128], to[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), DEVICES "%s/driver", name);
	n = readlink(path, to, sizeof(to) - 1);
	to[n < 0 ? 0 : n] = '\0';
	snprintf(driver, RL_UNPLUG_DRIVER, "%s", n < 0 ? "" : basename(to));
	snprintf(path, sizeof(path), DEVICES "%s", name);
	return access(path, F_OK) == 0;
}

static void
on_device(RL_UNUSED const char *name, enum rte_dev_event_type type, void *arg)
{
	struct rl_unplug *u = arg;

	/* relaxed: no other data depends on it, here and below */
	if (type == RTE_DEV_EVENT_REMOVE)
		atomic_store_explicit(&u->asked, true, memory_order_relaxed);
}

static int
on_removal(RL_UNUSED uint16_t port, RL_UNUSED enum rte_eth_event_type type,
	   void *arg, RL_UNUSED void *ret)
{
	struct rl_unplug *u = arg;

	atomic_store_explicit(&u->asked, true, memory_order_relaxed);
	return 0;
}

void
rl_unplug_watch(struct rl_unplug *u, const char *name, uint16_t port_id)
{
	memset(u, 0, sizeof(*u));
	u->name = name;
	u->port_id = port_id;
	if (!rl_unplug_driver(name, u->driver))
		return;
	u->watched = true;
	(void)rte_dev_hotplug_handle_enable();
	(void)rte_dev_event_callback_register(name, on_device, u);
	(void)rte_eth_dev_callback_register(port_id, RTE_ETH_EVENT_INTR_RMV,
					    on_removal, u);
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
	char driver[RL_UNPLUG_DRIVER];

	return rl_unplug_driver(u->name, driver) &&
	       strcmp(driver, u->driver) == 0 && !rl_unplug_gone(u);
}

void
rl_unplug_forget(struct rl_unplug *u)
{
	if (!u->watched)
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
