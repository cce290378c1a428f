/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rl_base.h"
#include "rl_sockets.h"

#define FDS_MAX 4096

typedef void (*socket_fn)(int fd, void *ctx);

static int
packet_iface(int fd)
{
	struct sockaddr_ll at;
	socklen_t n = sizeof(at);

	return getsockname(fd, (struct sockaddr *)&at, &n) == 0 &&
			       at.sll_family == AF_PACKET
		       ? at.sll_ifindex
		       : 0;
}

/*
 * The kernel does not say where an AF_XDP socket is. It keeps a name without
 * effect for it, which rl_sockets_begin() gives to those that have none.
 */
static int
xdp_iface(int fd)
{
	int family = 0, ifindex = 0;
	socklen_t n = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n) != 0 ||
	    family != AF_XDP ||
	    getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &ifindex, &n) != 0)
		return -1;
	return ifindex;
}

/* Visits all at interface @p at. */
static void
each_socket(const struct rl_sockets *s, int at, socket_fn fn, void *ctx)
{
	const long most = sysconf(_SC_OPEN_MAX);

	for (int fd = 0; fd < FDS_MAX && fd < most; fd++)
		if ((s->xdp ? xdp_iface(fd) : packet_iface(fd)) == at)
			fn(fd, ctx);
}

/* PACKET_IGNORE_OUTGOING has no effect in a group of sockets (fanout). */
static void
take_no_outgoing(int fd, RL_UNUSED void *ctx)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	const struct sock_fprog prog = { RL_ARRAY_SIZE(f), f };

	(void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static void
name_it(int fd, void *ctx)
{
	(void)setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, ctx, sizeof(int));
}

void
rl_sockets_begin(const struct rl_sockets *s)
{
	int ifindex = s->ifindex;

	if (s->xdp)
		each_socket(s, 0, name_it, &ifindex);
	else if (ifindex != 0)
		each_socket(s, ifindex, take_no_outgoing, NULL);
}

static void
note_fd(int fd, void *ctx)
{
	*(int *)ctx = fd;
}

int
rl_sockets_any(const struct rl_sockets *s)
{
	int fd = -1;

	if (s->ifindex != 0)
		each_socket(s, s->ifindex, note_fd, &fd);
	return fd;
}

/* Once it has lost its interface, a socket is nowhere for good. */
bool
rl_sockets_lost(int fd)
{
	const int ifindex = packet_iface(fd);

	if (ifindex != 0)
		return ifindex < 0;
	return sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 &&
	       errno == ENXIO;
}

/* The kernel counts them from 0 again. */
static void
ask_packet(int fd, void *ctx)
{
	struct tpacket_stats st;
	socklen_t n = sizeof(st);
	uint64_t *missed = ctx;

	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &st, &n) == 0)
		*missed += st.tp_drops;
}

static void
ask_xdp(int fd, void *ctx)
{
	struct xdp_statistics st = { 0 };
	socklen_t n = sizeof(st);
	uint64_t *missed = ctx;

	if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &st, &n) == 0)
		*missed += st.rx_ring_full;
}

uint64_t
rl_sockets_missed(const struct rl_sockets *s, uint64_t before)
{
	uint64_t missed = s->xdp ? 0 : before;

	if (s->ifindex == 0)
		return before;
	each_socket(s, s->ifindex, s->xdp ? ask_xdp : ask_packet, &missed);
	return missed;
}

static void
ask_to_send(int fd, void *ctx)
{
	bool *all = ctx;

	*all &= sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0;
}

bool
rl_sockets_flush(const struct rl_sockets *s)
{
	bool all = true;

	if (s->ifindex != 0)
		each_socket(s, s->ifindex, ask_to_send, &all);
	return all;
}
