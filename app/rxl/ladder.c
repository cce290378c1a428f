/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "ep_ctrl.h"
#include "ladder.h"

static struct rxl_rung *
add(struct rxl_ladder *l, uint64_t t_ns, unsigned int side)
{
	struct rxl_rung *r;

	if (l->n == RXL_LADDER_LINES) {
		l->full = true;
		return NULL;
	}
	r = &l->rung[l->n++];
	memset(r, 0, sizeof(*r));
	r->t_ns = t_ns;
	r->from = side;
	return r;
}

/** Describes a stand-alone flit. */
static void
describe_control(char *to, size_t size, const struct rl_flit *f)
{
	const uint32_t n = rl_get32(f->wire + EP_CTRL_SEQ_OFF);

	switch ((enum rl_replay_cmd)f->wire[EP_CTRL_CMD_OFF]) {
	case RL_CMD_SEQ:
		snprintf(to, size, "SYNC %" PRIu32, n);
		return;
	case RL_CMD_ACK:
		snprintf(to, size, "ACK %" PRIu32, n);
		return;
	case RL_CMD_NAK_GBN:
		snprintf(to, size, "NAK: all from %" PRIu32, n + 1);
		return;
	case RL_CMD_NAK_ONE:
		snprintf(to, size, "NAK: what is missing from %" PRIu32, n + 1);
		return;
	}
}

/** Describes a data flit: name, true number, and what the wire shows of it. */
static void
describe_data(char *to, size_t size, const struct rl_flit *f,
	      enum rl_profile profile, const char *name)
{
	const uint32_t number = rl_flit_tag(f->wire);
	const bool isn = profile == RL_PROFILE_RXL ||
			 profile == RL_PROFILE_RXL_COMPACT;
	char ack[24] = "";
	char seq[24] = "";

	if (rl_flit_cmd(f->wire) == RL_CMD_ACK)
		snprintf(ack, sizeof(ack), "ack %u", rl_flit_fsn(f->wire));
	if (isn)
		snprintf(seq, sizeof(seq), "crc(%" PRIu32 ")", number & 1023);
	else if (ack[0] == '\0')
		snprintf(seq, sizeof(seq), "seq %u", rl_flit_fsn(f->wire));
	snprintf(to, size, "#%" PRIu32 " %s [%s%s%s]", number, name, seq,
		 seq[0] != '\0' && ack[0] != '\0' ? ", " : "", ack);
}

void
rxl_ladder_flit(struct rxl_ladder *l, uint64_t t_ns, unsigned int from,
		enum rl_rxl_step step, const struct rl_flit *f,
		enum rl_profile profile, const char *name)
{
	struct rxl_rung *r = l->n > 0 ? &l->rung[l->n - 1] : NULL;

	/* sent and dropped: one arrow */
	if (step == RL_RXL_DROPPED && r != NULL && !r->remark &&
	    r->step == RL_RXL_SENT && r->from == from && r->t_ns == t_ns) {
		r->step = step;
		return;
	}
	r = add(l, t_ns, from);
	if (r == NULL)
		return;
	r->step = step;
	if (f->class == RL_CLASS_CTRL)
		describe_control(r->text, sizeof(r->text), f);
	else
		describe_data(r->text, sizeof(r->text), f, profile, name);
}

void
rxl_ladder_remark(struct rxl_ladder *l, uint64_t t_ns, unsigned int side,
		  const char *fmt, ...)
{
	struct rxl_rung *r = add(l, t_ns, side);
	va_list ap;

	if (r == NULL)
		return;
	r->remark = true;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

/** The wire between the two: "---->", "<----" or "--X". */
static const char *
wire(const struct rxl_rung *r)
{
	static const char *const art[RL_RXL_SIDES][3] = {
		{ "o------->        ", "o---X dropped    ",
		  "        -------->" },
		{ "        <-------o", "    dropped X---o",
		  "<--------        " },
	};

	return r->remark ? "                 " : art[r->from][r->step];
}

/** Whether the text is on the left, next to the flit. */
static bool
on_left(const struct rxl_rung *r)
{
	if (r->remark)
		return r->from == 0;
	return r->from == (r->step == RL_RXL_ARRIVED ? 1 : 0);
}

void
rxl_ladder_print(const struct rxl_ladder *l, FILE *out)
{
	fprintf(out, "%6s  %34s |%17s| %s\n", "ns", l->left, "", l->right);
	for (unsigned int i = 0; i < l->n; i++) {
		const struct rxl_rung *r = &l->rung[i];
		char text[RXL_LADDER_TEXT + 4];

		snprintf(text, sizeof(text), r->remark ? "** %s" : "%s",
			 r->text);
		fprintf(out, "%6" PRIu64 "  %34s |%s| %s\n", r->t_ns,
			on_left(r) ? text : "", wire(r),
			on_left(r) ? "" : text);
	}
	if (l->full)
		fprintf(out, "(more is not shown)\n");
}
