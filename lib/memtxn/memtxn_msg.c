/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "rl_memtxn.h"

static bool
carries(uint8_t op)
{
	return op == RL_MEMTXN_WRITE || op == RL_MEMTXN_DATA;
}

uint32_t
rl_memtxn_put(const struct rl_memtxn_msg *msg, uint8_t *buf, uint32_t room)
{
	const uint32_t bytes = RL_MEMTXN_HEADER + msg->data_bytes;

	RL_ASSERT(msg->data_bytes == (carries(msg->op) ? RL_MEMTXN_LINE : 0));
	if (bytes > room)
		return 0;
	buf[0] = msg->op;
	buf[1] = msg->data_bytes;
	rl_put16(buf + 2, msg->cqid);
	rl_put32(buf + 4, msg->tag);
	rl_put64(buf + 8, msg->addr);
	memcpy(buf + RL_MEMTXN_HEADER, msg->data, msg->data_bytes);
	return bytes;
}

uint32_t
rl_memtxn_get(struct rl_memtxn_msg *msg, const uint8_t *buf, uint32_t len)
{
	if (len < RL_MEMTXN_HEADER)
		return 0;
	msg->op = buf[0];
	msg->data_bytes = buf[1];
	msg->cqid = rl_get16(buf + 2);
	msg->tag = rl_get32(buf + 4);
	msg->addr = rl_get64(buf + 8);
	if (msg->op < RL_MEMTXN_READ || msg->op > RL_MEMTXN_DATA ||
	    msg->data_bytes != (carries(msg->op) ? RL_MEMTXN_LINE : 0) ||
	    msg->cqid >= RL_MEMTXN_CQIDS ||
	    len < RL_MEMTXN_HEADER + (uint32_t)msg->data_bytes)
		return 0;
	memcpy(msg->data, buf + RL_MEMTXN_HEADER, msg->data_bytes);
	return RL_MEMTXN_HEADER + msg->data_bytes;
}
