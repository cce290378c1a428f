/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PCAP_KIND_H
#define PCAP_KIND_H

/**
 * @file
 * Captures as traffic: their packets must be Ethernet frames, all of one kind.
 * Any thread.
 */

#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/**
 * Whether the packets of an open capture are Ethernet frames.
 * @param why  @p len bytes: on failure one line, printed after the file's name
 */
static inline bool
pcap_is_ethernet(pcap_t *p, char *why, size_t len)
{
	const int link = pcap_datalink(p);
	const char *name = pcap_datalink_val_to_name(link);

	if (link == DLT_EN10MB)
		return true;
	snprintf(why, len, "its packets are of link type %s (%d), not of "
			   "Ethernet; capture on an Ethernet interface, or "
			   "rewrite the file first",
		 name != NULL ? name : "unknown", link);
	return false;
}

/**
 * Whether reading stopped with an error because the file ends in the middle of
 * a packet. libpcap says so by its text alone. All other errors concern files
 * that continue: interfaces that differ, blocks that contradict each other.
 */
static inline bool
pcap_is_cut_off(pcap_t *p)
{
	return strstr(pcap_geterr(p), "truncated") != NULL;
}

#endif /* PCAP_KIND_H */
