/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What each flit met, as text. A line tells when, where, what, and which
 * flits: SOURCE>DESTINATION:CLASS PACKET.FLIT, or PACKET.FIRST-LAST.
 */

#include "flit_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report_file.h"

/* Of a port, told whenever they have grown: what became of frames that came. */
static const enum rl_port_counter shown[] = {
	RL_PC_rx_corrected,	  RL_PC_rx_bad,
	RL_PC_rx_lcrc_bad,	  RL_PC_rx_check_error,
	RL_PC_rx_truncated,	  RL_PC_rx_missing_seq,
	RL_PC_rx_duplicate_seq, RL_PC_rx_silent_drop,
	RL_PC_rx_poisoned,	  RL_PC_rx_nak,
	RL_PC_rx_stale,	  RL_PC_rx_no_buffer,
};

#define NSHOWN RL_ARRAY_SIZE(shown)

/* How far a flow has got, to tell what is sent again. */
struct far {
	uint32_t tag;
	uint16_t pos; /* of the flit after the last one */
	bool any;
};

struct flit_trace {
	FILE *f;
	int why; /* errno of the first write that failed; 0: none did */
	const struct rl_topo *topo;
	uint32_t *first_port;	  /* [ndev] */
	uint64_t (*was)[NSHOWN];  /* [ports of all devices] */
	struct far *far;	  /* [nep][nep][RL_SLS]; NULL: no memory */
	struct rl_sim_tap tap;
};

__attribute__((format(printf, 3, 4))) static void
line(struct flit_trace *t, uint64_t now_ns, const char *format, ...)
{
	va_list ap;

	if (t->why != 0)
		return;
	va_start(ap, format);
	fprintf(t->f, "%12" PRIu64 " ns  ", now_ns);
	vfprintf(t->f, format, ap);
	va_end(ap);
	if (fputc('\n', t->f) == EOF || ferror(t->f))
		t->why = errno == 0 ? EIO : errno;
}

static const char *
ep_name(const struct flit_trace *t, uint16_t ep)
{
	return ep < t->topo->nep ? t->topo->dev[t->topo->ep_dev[ep]].name : "?";
}

#define FLITS_TEXT (2 * RL_NAME_MAX + 64)

/* @p n flits of a packet, from this one on. */
static const char *
flits_text(const struct flit_trace *t, const uint8_t *wire, uint32_t n,
	   char buf[FLITS_TEXT])
{
	struct rl_txn txn;
	int at;

	rl_txn_get(wire, &txn);
	at = snprintf(buf, FLITS_TEXT, "%s>%s:%u", ep_name(t, txn.src),
		      ep_name(t, txn.dst), txn.cos);
	if (txn.class == RL_CLASS_CTRL)
		snprintf(buf + at, FLITS_TEXT - (size_t)at, " control");
	else if (n < 2)
		snprintf(buf + at, FLITS_TEXT - (size_t)at, " %u.%u", txn.tag,
			 txn.pos);
	else
		snprintf(buf + at, FLITS_TEXT - (size_t)at, " %u.%u-%u",
			 txn.tag, txn.pos, txn.pos + n - 1);
	return buf;
}

#define PORT_TEXT (3 * RL_NAME_MAX + 24)

/* "s0 s0-s1#0": a port by its device and its link. */
static const char *
port_text(const struct flit_trace *t, uint32_t dev, uint16_t port,
	  char buf[PORT_TEXT])
{
	const struct rl_topo_dev *d = &t->topo->dev[dev];
	const int at = snprintf(buf, PORT_TEXT, "%s ", d->name);

	rl_topo_link_name(t->topo, d->port[port].link, buf + at,
			  PORT_TEXT - (size_t)at);
	return buf;
}

static void
on_frame(void *ctx, uint32_t dev, uint16_t port, const uint8_t *data,
	 uint32_t len, enum rl_sim_fate fate, uint64_t now_ns)
{
	static const char *const words[] = {
#define FATE_WORD(name, word) word,
		RL_SIM_FATES(FATE_WORD)
#undef FATE_WORD
	};
	struct flit_trace *t = ctx;
	uint32_t n, header;
	char where[PORT_TEXT], which[FLITS_TEXT];

	if (len < RL_FRAME_HEADER_SHORT)
		return;
	n = data[15];
	header = rl_frame_header_bytes(n);
	if (n == 0 || header + n * RL_FLIT_BYTES > len)
		return; /* no flits, or not all of them */
	port_text(t, dev, port, where);
	for (uint32_t i = 0; i < n; i++)
		line(t, now_ns, "%s: %s%s %s, number %u", where, words[fate],
		     fate == RL_SIM_FATE_SENT && data[16] & RL_FRF_RETRY
			     ? " again"
			     : "",
		     flits_text(t, data + header + i * RL_FLIT_BYTES, 1, which),
		     (rl_get16(data + 20) + i) & 0xffff);
}

static void
on_heard(void *ctx, uint32_t dev, uint16_t port, const struct rl_port *state,
	 uint64_t now_ns)
{
	struct flit_trace *t = ctx;
	uint64_t *was = t->was[t->first_port[dev] + port];
	const uint64_t *c = rl_port_counters(state);
	char where[PORT_TEXT];

	for (size_t i = 0; i < NSHOWN; i++) {
		const uint64_t now = c[shown[i]];

		if (now > was[i])
			line(t, now_ns, "%s: %s %" PRIu64,
			     port_text(t, dev, port, where),
			     rl_port_counter_name(shown[i]), now - was[i]);
		was[i] = now; /* less: its device has restarted */
	}
}

/* Whether an endpoint has sent these flits before. */
static bool
sent_before(struct flit_trace *t, const struct rl_flit *pkt)
{
	struct rl_txn txn;
	struct far *far;
	int32_t step;

	rl_txn_get(pkt->wire, &txn);
	if (t->far == NULL || txn.class == RL_CLASS_CTRL ||
	    txn.src >= t->topo->nep || txn.dst >= t->topo->nep)
		return false;
	far = &t->far[((size_t)txn.src * t->topo->nep + txn.dst) * RL_SLS +
		      txn.cos];
	step = (int32_t)(txn.tag - far->tag);
	if (far->any && (step < 0 || (step == 0 && txn.pos < far->pos)))
		return true;
	*far = (struct far){ txn.tag, (uint16_t)(txn.pos + pkt->pkt_flits),
			     true };
	return false;
}

static void
on_packet(void *ctx, uint32_t dev, uint16_t port, enum rl_sim_pass way,
	  const struct rl_flit *pkt, uint64_t now_ns)
{
	struct flit_trace *t = ctx;
	const bool source = t->topo->dev[dev].kind == RL_DEV_ENDPOINT;
	char where[PORT_TEXT], which[FLITS_TEXT];
	const char *what = way == RL_SIM_PASS_IN     ? "received"
			   : way == RL_SIM_PASS_LOOP ? "looped back"
			   : !source		     ? "forwarded"
			   : sent_before(t, pkt)     ? "given again"
						     : "given";

	if (rl_is_token(pkt))
		return;
	line(t, now_ns, "%s: %s %s%s", port_text(t, dev, port, where), what,
	     flits_text(t, pkt->wire, pkt->pkt_flits, which),
	     pkt->flags & RL_FF_LOOPED && way != RL_SIM_PASS_LOOP ? ", looped"
								   : "");
}

static void
on_drop(void *ctx, const struct rl_flit *pkt, enum rl_drop_reason why,
	uint64_t now_ns)
{
	struct flit_trace *t = ctx;
	char which[FLITS_TEXT];

	line(t, now_ns, "dropped %s: %s",
	     flits_text(t, pkt->wire, pkt->pkt_flits, which),
	     rl_drop_reason_name(why));
}

static void
on_report(void *ctx, const struct rl_ep_report *r, uint64_t now_ns)
{
	struct flit_trace *t = ctx;

	line(t, now_ns, "%s: gave up %s>%s:%u %u: %s", ep_name(t, r->src),
	     ep_name(t, r->src), ep_name(t, r->dst), r->cos, r->tag,
	     rl_ep_reason_name(r->reason));
}

static void
on_fault(void *ctx, const struct rl_fault *f, uint64_t now_ns)
{
	struct flit_trace *t = ctx;
	char text[256];

	line(t, now_ns, "fault: %s",
	     rl_fault_text(f, t->topo, text, sizeof(text)));
	/* a source numbers its packets from the start */
	if ((f->kind == RL_FAULT_CRASH || f->kind == RL_FAULT_RESTART) &&
	    t->far != NULL && t->topo->dev[f->dev].kind == RL_DEV_ENDPOINT)
		memset(&t->far[(size_t)t->topo->dev[f->dev].ep_id *
			       t->topo->nep * RL_SLS],
		       0, sizeof(*t->far) * t->topo->nep * RL_SLS);
}

void
flit_trace_taken(void *ctx, uint16_t at, const struct rl_flit *pkt,
		 uint64_t now_ns)
{
	struct flit_trace *t = ctx;
	char which[FLITS_TEXT];

	line(t, now_ns, "%s: delivered %s", ep_name(t, at),
	     flits_text(t, pkt->wire, pkt->pkt_flits, which));
}

void
flit_trace_event(struct flit_trace *t, uint64_t t_ns, const char *text)
{
	line(t, t_ns, "%s", text);
}

const struct rl_sim_tap *
flit_trace_tap(const struct flit_trace *t)
{
	return &t->tap;
}

struct flit_trace *
flit_trace_open(const char *path, const struct rl_topo *topo)
{
	struct flit_trace *t = calloc(1, sizeof(*t));
	uint32_t nports = 0;

	if (t == NULL)
		return NULL;
	t->topo = topo;
	t->tap = (struct rl_sim_tap){ t,       on_frame, on_heard, on_packet,
				      on_drop, on_report, on_fault };
	t->first_port = calloc(topo->ndev, sizeof(*t->first_port));
	for (uint32_t d = 0; t->first_port != NULL && d < topo->ndev; d++) {
		t->first_port[d] = nports;
		nports += topo->dev[d].nports;
	}
	t->was = calloc(nports + 1u, sizeof(*t->was));
	t->far = calloc((size_t)topo->nep * topo->nep * RL_SLS, sizeof(*t->far));
	if (t->first_port != NULL && t->was != NULL)
		t->f = report_open(path);
	if (t->f != NULL)
		return t;
	flit_trace_close(t);
	return NULL;
}

int
flit_trace_close(struct flit_trace *t)
{
	int ret = 0;

	if (t->f != NULL)
		ret = report_close(t->f);
	if (ret != 0 && t->why != 0)
		errno = t->why;
	free(t->first_port);
	free(t->was);
	free(t->far);
	free(t);
	return ret;
}
