/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "rl_memtxn.h"
#include "rl_seq.h"

void
rl_memtxn_init(struct rl_memtxn *m, const struct rl_memtxn_cfg *cfg)
{
	memset(m, 0, sizeof(*m));
	m->cfg = *cfg;
	if (m->cfg.pack == 0)
		m->cfg.pack = 1;
}

static uint32_t
waiting(const struct rl_memtxn *m)
{
	return m->head - m->tail;
}

static struct rl_memtxn_msg *
enqueue(struct rl_memtxn *m)
{
	RL_ASSERT(waiting(m) < RL_MEMTXN_QUEUE);
	return &m->queue[m->head++ & (RL_MEMTXN_QUEUE - 1)];
}

int
rl_memtxn_issue(struct rl_memtxn *m, enum rl_memtxn_op op, uint16_t cqid,
		uint64_t addr, const uint8_t *line, uint32_t *tag)
{
	struct rl_memtxn_open *t =
		&m->open[m->next_tag & (RL_MEMTXN_OPEN_MAX - 1)];
	struct rl_memtxn_msg *msg;

	if ((op != RL_MEMTXN_READ && op != RL_MEMTXN_WRITE) ||
	    (op == RL_MEMTXN_WRITE) != (line != NULL) ||
	    cqid >= RL_MEMTXN_CQIDS || addr % RL_MEMTXN_LINE != 0)
		return -EINVAL;
	/* replies need room, too: requests take at most half the queue */
	if (t->open || waiting(m) >= RL_MEMTXN_QUEUE / 2)
		return -EAGAIN;
	*t = (struct rl_memtxn_open){
		.open = true,
		.op = (uint8_t)op,
		.cqid = cqid,
		.tag = m->next_tag,
	};
	if (op == RL_MEMTXN_READ)
		t->turn = m->issue_turn[cqid]++;
	m->nopen++;
	msg = enqueue(m);
	*msg = (struct rl_memtxn_msg){
		.op = (uint8_t)op,
		.cqid = cqid,
		.tag = m->next_tag,
		.addr = addr,
	};
	if (line != NULL) {
		msg->data_bytes = RL_MEMTXN_LINE;
		memcpy(msg->data, line, RL_MEMTXN_LINE);
	}
	if (tag != NULL)
		*tag = m->next_tag;
	m->next_tag++;
	m->ctr.issued++;
	return 0;
}

static void
tell(struct rl_memtxn *m, enum rl_memtxn_event event,
     const struct rl_memtxn_msg *msg, uint64_t now_ns)
{
	m->ctr.event[event]++;
	if (m->cfg.event != NULL)
		m->cfg.event(m->cfg.event_ctx, event, msg, now_ns);
}

/** Notes that request @p tag is executed. @return whether it already was */
static bool
executed_before(struct rl_memtxn *m, uint32_t tag)
{
	uint64_t *word = &m->done[tag / 64 % RL_ARRAY_SIZE(m->done)];
	const uint64_t bit = 1ull << (tag & 63);
	bool was;

	/* tags that come into range have not been executed */
	for (; rl_seq_before_eq(m->done_high, tag); m->done_high++)
		m->done[m->done_high / 64 % RL_ARRAY_SIZE(m->done)] &=
			~(1ull << (m->done_high & 63));
	was = *word & bit;
	*word |= bit;
	return was;
}

/** Whether a tag is near enough to others to come from a correct peer. */
static bool
tag_sane(const struct rl_memtxn *m, uint32_t tag)
{
	const int32_t d = rl_seq_diff(tag, m->done_high);

	return d < RL_MEMTXN_PAST / 2 && d > -RL_MEMTXN_PAST / 2;
}

static void
execute(struct rl_memtxn *m, const struct rl_memtxn_msg *msg, uint64_t now_ns)
{
	const bool inside = msg->addr % RL_MEMTXN_LINE == 0 &&
			    msg->addr < m->cfg.mem_bytes &&
			    m->cfg.mem_bytes - msg->addr >= RL_MEMTXN_LINE;
	struct rl_memtxn_msg *reply;

	if (!tag_sane(m, msg->tag)) {
		m->ctr.malformed++;
		return;
	}
	tell(m, executed_before(m, msg->tag) ? RL_MEMTXN_EXECUTED_AGAIN
					     : RL_MEMTXN_EXECUTED,
	     msg, now_ns);
	m->ctr.bad_addr += !inside;
	if (inside && msg->op == RL_MEMTXN_WRITE)
		memcpy(m->cfg.mem + msg->addr, msg->data, RL_MEMTXN_LINE);
	reply = enqueue(m);
	*reply = *msg;
	reply->op = RL_MEMTXN_RSP;
	reply->data_bytes = 0;
	if (msg->op != RL_MEMTXN_READ)
		return;
	reply = enqueue(m);
	*reply = *msg;
	reply->op = RL_MEMTXN_DATA;
	reply->data_bytes = RL_MEMTXN_LINE;
	memset(reply->data, 0, RL_MEMTXN_LINE);
	if (inside)
		memcpy(reply->data, m->cfg.mem + msg->addr, RL_MEMTXN_LINE);
}

static void
close_txn(struct rl_memtxn *m, struct rl_memtxn_open *t)
{
	t->open = false;
	m->nopen--;
}

static void
complete(struct rl_memtxn *m, const struct rl_memtxn_msg *msg, uint64_t now_ns)
{
	struct rl_memtxn_open *t =
		&m->open[msg->tag & (RL_MEMTXN_OPEN_MAX - 1)];
	const bool data = msg->op == RL_MEMTXN_DATA;

	if (!t->open || t->tag != msg->tag || t->cqid != msg->cqid ||
	    (data && t->op != RL_MEMTXN_READ) || (!data && t->responded)) {
		tell(m, RL_MEMTXN_UNEXPECTED, msg, now_ns);
		return;
	}
	if (!data) {
		t->responded = true;
		if (t->op == RL_MEMTXN_WRITE)
			close_txn(m, t);
		tell(m, RL_MEMTXN_COMPLETED, msg, now_ns);
		return;
	}
	/* the queue's stream goes on with these data, whatever was expected */
	tell(m, t->turn == m->data_turn[t->cqid] ? RL_MEMTXN_COMPLETED
						 : RL_MEMTXN_OUT_OF_ORDER,
	     msg, now_ns);
	m->data_turn[t->cqid]++;
	close_txn(m, t);
}

static bool
can_take(const struct rl_memtxn *m)
{
	return RL_MEMTXN_QUEUE - waiting(m) >=
	       2 * (RL_FLIT_DATA_BYTES / RL_MEMTXN_HEADER);
}

static void
take(struct rl_memtxn *m, const struct rl_flit *pkt, uint64_t now_ns)
{
	uint8_t buf[RL_FLIT_DATA_BYTES];
	const uint32_t len = rl_ep_len_bytes(pkt);
	struct rl_memtxn_msg msg;
	uint32_t at = 0;

	if (len > sizeof(buf) || len == 0) {
		m->ctr.malformed++;
		return;
	}
	rl_ep_copy_out(pkt, buf, sizeof(buf));
	while (at < len) {
		const uint32_t n = rl_memtxn_get(&msg, buf + at, len - at);

		if (n == 0) {
			m->ctr.malformed++;
			return;
		}
		at += n;
		if (msg.op == RL_MEMTXN_READ || msg.op == RL_MEMTXN_WRITE)
			execute(m, &msg, now_ns);
		else
			complete(m, &msg, now_ns);
	}
}

static bool
is_request(const struct rl_memtxn_msg *msg)
{
	return msg->op == RL_MEMTXN_READ || msg->op == RL_MEMTXN_WRITE;
}

/** Sends the next messages of one kind as one packet; false if it can't. */
static bool
send_flit(struct rl_memtxn *m, struct rl_ep *ep, uint64_t now_ns)
{
	uint8_t buf[RL_FLIT_DATA_BYTES];
	const struct rl_memtxn_msg *first =
		&m->queue[m->tail & (RL_MEMTXN_QUEUE - 1)];
	struct rl_ep_msg msg = {
		.dst = m->cfg.peer,
		.cos = m->cfg.cos,
		.class = RL_CLASS_RSP,
	};
	uint32_t n = 0;

	if (waiting(m) == 0)
		return false;
	if (is_request(first))
		msg.class = RL_CLASS_REQ_NONPOSTED;
	while (n < m->cfg.pack && n < waiting(m)) {
		const struct rl_memtxn_msg *next =
			&m->queue[(m->tail + n) & (RL_MEMTXN_QUEUE - 1)];
		uint32_t bytes;

		if (is_request(next) != is_request(first))
			break;
		bytes = rl_memtxn_put(next, buf + msg.len_bytes,
				      (uint32_t)sizeof(buf) - msg.len_bytes);
		if (bytes == 0)
			break;
		msg.len_bytes += bytes;
		n++;
	}
	if (rl_ep_send(ep, now_ns, &msg, buf, NULL) != 0)
		return false;
	m->tail += n;
	m->ctr.flits_sent++;
	m->ctr.messages_sent += n;
	return true;
}

void
rl_memtxn_poll(struct rl_memtxn *m, struct rl_ep *ep, uint64_t now_ns)
{
	struct rl_flit *pkt;

	while (can_take(m) && (pkt = rl_ep_recv(ep)) != NULL) {
		take(m, pkt, now_ns);
		rl_packet_put(m->cfg.cache, pkt);
	}
	while (send_flit(m, ep, now_ns))
		;
}

bool
rl_memtxn_idle(const struct rl_memtxn *m)
{
	return m->nopen == 0 && waiting(m) == 0;
}
