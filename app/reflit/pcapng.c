/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Blocks of pcapng, in the byte order of this machine, as the format allows: a
 * type, the length, the body, the length once more; all in words of 4 bytes.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pcapng.h"

#define BLOCK_SECTION 0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_STATISTICS 5u
#define BLOCK_PACKET 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINK_ETHERNET 1u

enum {
	OPT_END = 0,
	OPT_COMMENT = 1,
	OPT_SECTION_PROGRAM = 4,
	OPT_IF_NAME = 2,
	OPT_IF_WHAT = 3,
	OPT_IF_RESOLUTION = 9,
	OPT_PACKET_FLAGS = 2,
	OPT_PACKET_MISSED = 4,
	OPT_STAT_RECEIVED = 4,
	OPT_STAT_DROPPED = 5,
};

#define PACKET_INBOUND 1u
#define NANOSECONDS 9u /* 10^-9 */

static uint32_t
padded(size_t len)
{
	return ((uint32_t)len + 3) & ~3u;
}

static void
put(struct pcapng *p, const void *data, size_t len)
{
	errno = 0;
	if (fwrite(data, 1, len, p->f) != len && p->err == 0)
		p->err = errno == 0 ? -EIO : -errno;
	p->bytes += len;
}

static void
put32(struct pcapng *p, uint32_t v)
{
	put(p, &v, sizeof(v));
}

/* Seconds and the like go with their upper half first. */
static void
put_time(struct pcapng *p, uint64_t t)
{
	put32(p, (uint32_t)(t >> 32));
	put32(p, (uint32_t)t);
}

static void
put_padded(struct pcapng *p, const void *data, size_t len)
{
	static const uint8_t zero[4];

	put(p, data, len);
	put(p, zero, padded(len) - len);
}

static uint32_t
option_bytes(size_t len)
{
	return 4 + padded(len);
}

static void
option(struct pcapng *p, uint16_t code, const void *data, size_t len)
{
	const uint16_t head[2] = { code, (uint16_t)len };

	put(p, head, sizeof(head));
	put_padded(p, data, len);
}

static void
option_text(struct pcapng *p, uint16_t code, const char *text)
{
	option(p, code, text, strlen(text));
}

/* The end of the options and of a block of @p bytes. */
static int
end_block(struct pcapng *p, uint32_t bytes)
{
	put32(p, OPT_END);
	put32(p, bytes);
	return p->err;
}

static int
put_section(struct pcapng *p, const char *program, const char *comment)
{
	const uint32_t bytes = 28 + option_bytes(strlen(program)) +
			       option_bytes(strlen(comment)) + 4;
	const uint16_t version[2] = { 1, 0 };
	const int64_t unknown = -1; /* length of the section */

	put32(p, BLOCK_SECTION);
	put32(p, bytes);
	put32(p, BYTE_ORDER_MAGIC);
	put(p, version, sizeof(version));
	put(p, &unknown, sizeof(unknown));
	option_text(p, OPT_SECTION_PROGRAM, program);
	option_text(p, OPT_COMMENT, comment);
	return end_block(p, bytes);
}

int
pcapng_create(struct pcapng *p, const char *path, const char *program,
	      const char *comment)
{
	struct stat st;
	int fd, ret = 0;

	*p = (struct pcapng){ 0 };
	/* do not block on a FIFO without a reader, or on a device */
	fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == ENXIO ? -EISDIR : -errno;
	if (fstat(fd, &st) != 0)
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EISDIR;
	else if (ftruncate(fd, 0) != 0)
		ret = -errno;
	if (ret == 0) {
		p->f = fdopen(fd, "wb");
		ret = p->f == NULL ? -errno : 0;
	}
	if (ret != 0) {
		close(fd);
		return ret;
	}
	return put_section(p, program, comment);
}

int
pcapng_interface(struct pcapng *p, const char *name, const char *what)
{
	const uint8_t resolution = NANOSECONDS;
	const uint16_t type[2] = { LINK_ETHERNET, 0 };
	const uint32_t bytes = 20 + option_bytes(strlen(name)) +
			       option_bytes(strlen(what)) +
			       option_bytes(sizeof(resolution)) + 4;

	put32(p, BLOCK_INTERFACE);
	put32(p, bytes);
	put(p, type, sizeof(type));
	put32(p, 0); /* no limit */
	option_text(p, OPT_IF_NAME, name);
	option_text(p, OPT_IF_WHAT, what);
	option(p, OPT_IF_RESOLUTION, &resolution, sizeof(resolution));
	return end_block(p, bytes);
}

uint64_t
pcapng_packet_bytes(const struct pcapng_packet *pkt)
{
	return 32 + padded(pkt->captured) + option_bytes(4) +
	       (pkt->missed != 0 ? option_bytes(8) : 0) +
	       (pkt->comment != NULL ? option_bytes(strlen(pkt->comment))
				     : 0) + 4;
}

int
pcapng_packet(struct pcapng *p, const struct pcapng_packet *pkt)
{
	const uint32_t bytes = (uint32_t)pcapng_packet_bytes(pkt);
	const uint32_t flags = PACKET_INBOUND;

	put32(p, BLOCK_PACKET);
	put32(p, bytes);
	put32(p, pkt->interface);
	put_time(p, pkt->t_ns);
	put32(p, pkt->captured);
	put32(p, pkt->len);
	put_padded(p, pkt->data, pkt->captured);
	option(p, OPT_PACKET_FLAGS, &flags, sizeof(flags));
	if (pkt->missed != 0)
		option(p, OPT_PACKET_MISSED, &pkt->missed,
		       sizeof(pkt->missed));
	if (pkt->comment != NULL)
		option_text(p, OPT_COMMENT, pkt->comment);
	return end_block(p, bytes);
}

int
pcapng_statistics(struct pcapng *p, uint32_t interface, uint64_t t_ns,
		  uint64_t received, uint64_t dropped)
{
	const uint32_t bytes = 24 + 2 * option_bytes(8) + 4;

	put32(p, BLOCK_STATISTICS);
	put32(p, bytes);
	put32(p, interface);
	put_time(p, t_ns);
	option(p, OPT_STAT_RECEIVED, &received, sizeof(received));
	option(p, OPT_STAT_DROPPED, &dropped, sizeof(dropped));
	return end_block(p, bytes);
}

int
pcapng_close(struct pcapng *p)
{
	int ret = p->err;

	if (p->f != NULL && fclose(p->f) != 0 && ret == 0)
		ret = -errno;
	p->f = NULL;
	return ret;
}
