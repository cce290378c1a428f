/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PCAPNG_H
#define PCAPNG_H

/**
 * @file
 * Writes pcapng files: one section, Ethernet interfaces with names, packets
 * with nanoseconds, comments and counts of what was missed.
 *
 * DPDK has a library of this name. That of DPDK 22.11 gives packets no
 * comments, and knows ethdevs as interfaces only, where a fabric has links
 * that are bare rings.
 *
 * One thread. Write errors are kept: pcapng_close() returns them, too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pcapng {
	FILE *f;
	uint64_t bytes; /**< written so far */
	int err; /**< 0, or why a write failed */
};

struct pcapng_packet {
	uint32_t interface;
	uint64_t t_ns;	   /**< since 1970 */
	uint32_t len;	   /**< of the frame */
	uint32_t captured; /**< bytes of @p data, at most len */
	const uint8_t *data;
	uint64_t missed;     /**< since the last one of this interface */
	const char *comment; /**< or NULL */
};

/**
 * Creates or truncates a file; takes only plain files.
 * @param comment  of the whole capture
 * @return 0 or -errno; -EISDIR: it exists and is not a plain file
 */
int pcapng_create(struct pcapng *p, const char *path, const char *program,
		  const char *comment);

/** The next interface, numbered from 0. @return 0 or -errno */
int pcapng_interface(struct pcapng *p, const char *name, const char *what);

/** @return 0 or -errno */
int pcapng_packet(struct pcapng *p, const struct pcapng_packet *pkt);

/** What an interface has seen, for the end. @return 0 or -errno */
int pcapng_statistics(struct pcapng *p, uint32_t interface, uint64_t t_ns,
		      uint64_t received, uint64_t dropped);

/** Bytes that a packet takes in the file. */
uint64_t pcapng_packet_bytes(const struct pcapng_packet *pkt);

/** @return 0, or -errno if not all of it could be written */
int pcapng_close(struct pcapng *p);

#endif /* PCAPNG_H */
