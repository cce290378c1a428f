/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For builds without XDP (meson -Dxdp=disabled): refuses an AF_XDP port with
 * the reason, and attaches no program.
 */
#include <errno.h>
#include <stdio.h>

#include "rl_xdp.h"

static int
none(char *err)
{
	snprintf(err, RL_XDP_ERR_MAX, "built without XDP (-Dxdp=disabled)");
	return -ENOTSUP;
}

int
rl_xdp_port_check(const char *ifname, uint32_t queue, char *err)
{
	(void)ifname;
	(void)queue;
	return none(err);
}

int
rl_xdp_steer_path(char *path, size_t len, char *err)
{
	(void)path;
	(void)len;
	return none(err);
}

int
rl_xdp_steer_clear(const char *ifname, char *err)
{
	(void)ifname;
	return none(err);
}

int
rl_xdp_steer_own(struct rl_xdp_steer *s, const char *ifname, char *err)
{
	(void)s;
	(void)ifname;
	return none(err);
}

void
rl_xdp_steer_renew(const struct rl_xdp_steer *s)
{
	(void)s;
}

int
rl_xdp_steer_counts(const struct rl_xdp_steer *s,
		    uint64_t counts[RL_STEER_COUNTS])
{
	(void)s;
	(void)counts;
	return -ENOENT;
}

void
rl_xdp_steer_close(struct rl_xdp_steer *s)
{
	(void)s;
}
