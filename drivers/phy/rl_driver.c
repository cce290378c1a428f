/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <string.h>

#include "rl_driver.h"

#define FRAMES 2048u
#define HARDWARE_FRAMES 4096u
/* net_af_xdp: its fill ring keeps 2,048, the socket may hold more. */
#define XDP_FRAMES 8192u

/* The last but one is for all other drivers of --vdev, the last for devices. */
static const struct rl_driver drivers[] = {
	{ .name = "net_af_packet", .alias = "eth_af_packet",
	  .more = ",iface=INTERFACE", .queues = "qpairs",
	  .single = "the kernel moves a flow to another queue if its own is "
		    "full",
	  .room = "framesz=",
	  .frames = FRAMES, .live = true, .leaks = true },
	{ .name = "net_af_xdp", .more = ",iface=INTERFACE",
	  .queues = "queue_count", .frames = XDP_FRAMES, .live = true,
	  .leaks = true },
	{ .name = "net_tap", .alias = "eth_tap", .more = ",iface=NAME",
	  .single = "the kernel moves a flow to the queue that answers it",
	  .frames = FRAMES },
	{ .name = "net_memif", .more = ",role=server,socket=PATH",
	  .room = "bsize=", .frames = FRAMES, .tells = true },
	{ .name = "net_vhost", .alias = "eth_vhost", .more = ",iface=PATH",
	  .queues = "queues", .frames = FRAMES },
	{ .name = "net_virtio_user", .alias = "virtio_user",
	  .more = ",path=PATH", .frames = FRAMES, .tells = true },
	{ .name = "net_pcap", .alias = "eth_pcap",
	  .more = ",rx_pcap=IN,tx_pcap=OUT", .queues = "rx_pcap",
	  .single = "each file is one",
	  .frames = FRAMES },
	{ .name = "net_", .alias = "eth_", .more = "", .frames = FRAMES },
	{ .name = "", .more = "", .frames = HARDWARE_FRAMES, .leaks = true,
	  .hardware = true },
};

static bool
begins(const char *name, const char *with)
{
	return with != NULL && strncmp(name, with, strlen(with)) == 0;
}

const struct rl_driver *
rl_driver_of(const char *name)
{
	const struct rl_driver *d = drivers;

	while (!begins(name, d->name) && !begins(name, d->alias))
		d++;
	return d;
}

bool
rl_driver_is(const char *name, const char *driver)
{
	return strcmp(rl_driver_of(name)->name, driver) == 0;
}

/* The value of a key, or NULL. */
static const char *
value_of(const char *args, const char *key)
{
	const size_t n = strlen(key);

	for (const char *at = args; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, n) == 0 && at[n] == '=')
			return at + n + 1;
	}
	return NULL;
}

bool
rl_devarg(const char *args, const char *key, char *buf, size_t len)
{
	const char *v = value_of(args, key);

	if (v != NULL)
		snprintf(buf, len, "%.*s", (int)strcspn(v, ","), v);
	return v != NULL;
}

bool
rl_devarg_set(char *buf, size_t len, const char *args, const char *key,
	      unsigned int value)
{
	const char *v = value_of(args, key);
	const int n = v == NULL
		? snprintf(buf, len, "%s,%s=%u", args, key, value)
		: snprintf(buf, len, "%.*s%u%s", (int)(v - args), args, value,
			   v + strcspn(v, ","));

	return n >= 0 && (size_t)n < len;
}
