/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One step at a time. A step is a number and the state that every device must
 * be in; each device is told until it answers. A device that says nothing for a
 * while is silent: the step continues without it, it is asked less often, and
 * it takes part again as soon as it speaks. All of this is idempotent: an order
 * told twice is answered twice, and an answer to an older step is ignored.
 *
 * Late is not silent [RES-8]. A device that has not finished its order says
 * that it is alive, and is waited for until the phase times out. The limits of
 * silence and of phases follow the observed answer times, like a retransmission
 * timer (RFC 6298): from the slowest answer to each step come a smoothed value
 * and its mean deviation.
 */

#include "ctl_priv.h"

/* An expected answer time never exceeds this many install_ns. */
#define TRIP_INSTALLS 4
/* A late device is waited for this many install_ns if nothing is held; and slow
   answers extend no limit by more than that. */
#define LATE_INSTALLS 10
/* The limit of a step allows for this many answers. */
#define STEP_ANSWERS 4

static bool
dev_owes(const struct rl_controller *c, const struct ctl_dev *d)
{
	return d->answered != c->step && !d->silent;
}

static bool
dev_unsent(const struct ctl_dev *d)
{
	return d->sent_ns == RL_NEVER;
}

/* The only writer of what a device owes; maintains the two counts. */
static void
dev_set(struct rl_controller *c, struct ctl_dev *d, uint64_t answered,
	bool silent, uint64_t sent_ns)
{
	c->owing -= dev_owes(c, d);
	c->unsent -= dev_unsent(d);
	d->answered = answered;
	d->silent = silent;
	d->sent_ns = sent_ns;
	c->owing += dev_owes(c, d);
	c->unsent += dev_unsent(d);
}

/* A device that says nothing for this long is silent. */
static uint64_t
silence_limit(const struct rl_controller *c)
{
	return rl_max_u64(c->p.cfg->answer_ns, ctl_limit(c, 0, 1));
}

/* Start of the silence of a device that was asked. */
static uint64_t
spoke_ns(const struct ctl_dev *d)
{
	return rl_max_u64(d->asked_ns, d->heard_ns);
}

/* A switch without any link has usually crashed, unless it was removed as
   planned. */
static bool
dev_crashed(const struct rl_controller *c, uint32_t dev)
{
	return c->p.topo->dev[dev].kind == RL_DEV_SWITCH &&
	       !c->dev[dev].removed && ctl_dev_cut(c, dev);
}

static void
trip_seen(struct rl_controller *c)
{
	const uint64_t ns = c->slow_ns;
	const uint64_t off = ns > c->trip_ns ? ns - c->trip_ns
					     : c->trip_ns - ns;

	if (ns == 0)
		return; /* no device answered */
	if (c->trip_ns == 0) {
		c->trip_ns = ns;
		c->trip_dev_ns = ns / 2;
	} else {
		c->trip_dev_ns += off / 4 - c->trip_dev_ns / 4;
		c->trip_ns += ns / 8 - c->trip_ns / 8;
	}
	c->slow_ns = 0;
}

/* How long an answer may take, judged by earlier ones. */
static uint64_t
trip_limit(const struct rl_controller *c)
{
	return rl_min_u64(TRIP_INSTALLS * c->p.cfg->install_ns,
			  rl_max_u64(c->slow_ns,
				     c->trip_ns + 4 * c->trip_dev_ns));
}

uint64_t
ctl_patience(const struct rl_controller *c)
{
	const uint64_t ns = c->p.cfg->install_ns;

	return ctl_limit(c, c->hold == RL_RESIL_HOLD_NONE ? LATE_INSTALLS * ns
							  : ns, STEP_ANSWERS);
}

uint64_t
ctl_limit(const struct rl_controller *c, uint64_t ns, unsigned int answers)
{
	return ns + rl_min_u64(answers * trip_limit(c),
			       LATE_INSTALLS * c->p.cfg->install_ns);
}

void
ctl_step(struct rl_controller *c, uint64_t now_ns)
{
	const uint64_t before = c->step++;

	trip_seen(c);
	c->owing = c->unsent = 0;
	c->renew_ns = rl_deadline(now_ns, c->p.cfg->lease_ns / 8);
	c->resend_ns = rl_deadline(now_ns, c->p.cfg->resend_ns);
	for (uint32_t i = 0; i < c->p.topo->ndev; i++) {
		struct ctl_dev *d = &c->dev[i];

		/* a crashed device does not get new time with each step */
		if (d->answered == before ||
		    !(d->silent || dev_crashed(c, i)))
			d->asked_ns = now_ns;
		c->owing += dev_owes(c, d);
		if (RL_PLANTED(RESIL_SILENT_DEAD) && d->silent) {
			d->sent_ns = 0;
			continue;
		}
		d->sent_ns = RL_NEVER;
		c->unsent++;
	}
}

void
ctl_tell(struct rl_controller *c, uint32_t dev, uint64_t now_ns)
{
	struct ctl_dev *d = &c->dev[dev];

	if (d->answered == c->step)
		d->asked_ns = now_ns;
	dev_set(c, d, 0, d->silent, RL_NEVER);
	c->resend_ns = rl_min_u64(c->resend_ns,
				  rl_deadline(now_ns, c->p.cfg->resend_ns));
}

void
ctl_ask_crashed(struct rl_controller *c, uint64_t now_ns)
{
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		if (!c->dev[i].silent && dev_crashed(c, i))
			ctl_tell(c, i, now_ns);
}

/*
 * A silent device that speaks again without a restart was late: its silence
 * counts as an answer time, up to twice the limit, so that one pause does not
 * raise the limit to minutes.
 */
void
ctl_dev_heard(struct rl_controller *c, uint32_t dev, bool restarted,
	      uint64_t now_ns)
{
	struct ctl_dev *d = &c->dev[dev];

	d->heard_ns = now_ns;
	if (!d->silent)
		return;
	if (!restarted)
		c->slow_ns = rl_max_u64(c->slow_ns,
					rl_min_u64(now_ns - d->asked_ns,
						   2 * silence_limit(c)));
	d->asked_ns = now_ns;
	if (c->late && c->retry_ns != RL_NEVER)
		c->retry_ns = now_ns; /* it can take part now */
	dev_set(c, d, d->answered, false, d->sent_ns);
	if (c->port_owed != 0)
		c->port_ns = 0; /* orders to its ports are due */
}

void
ctl_dev_answered(struct rl_controller *c, uint32_t dev, uint64_t seq,
		 uint64_t now_ns)
{
	struct ctl_dev *d = &c->dev[dev];

	if (seq != c->step)
		return;
	c->slow_ns = rl_max_u64(c->slow_ns, now_ns - d->asked_ns);
	dev_set(c, d, seq, false, dev_unsent(d) ? 0 : d->sent_ns);
}

void
ctl_msg(const struct rl_controller *c, uint32_t dev,
	enum rl_resil_msg_type type, struct rl_resil_msg *m)
{
	*m = (struct rl_resil_msg){
		.version = RL_RESIL_VERSION,
		.type = (uint8_t)type,
		.dev = dev,
		.ctl_inc = c->p.incarnation,
		.local_inc = c->dev[dev].local_inc,
	};
}

/* If tables change only at rest, only an order to install names tables newer
   than those of a device. A device that restarts has no packets to wait for. */
static uint32_t
order_tables(const struct rl_controller *c, const struct ctl_dev *d)
{
	if (!c->p.at_rest || d->waits || c->phase == RL_CONTROLLER_INSTALL ||
	    RL_PLANTED(RESIL_RESTLESS))
		return c->table_epoch;
	return rl_min_u32(c->table_epoch, d->table_epoch);
}

static void
dev_order(const struct rl_controller *c, uint32_t dev, struct rl_resil_msg *m)
{
	const struct ctl_dev *d = &c->dev[dev];

	/* a device that has not introduced itself is asked to */
	ctl_msg(c, dev, d->local_inc == 0 ? RL_RESIL_CALL : RL_RESIL_ORDER, m);
	m->seq = c->step;
	m->table_epoch = order_tables(c, d);
	m->hold = (uint8_t)c->hold;
	m->hold_epoch = c->hold_epoch;
	if (c->phase == RL_CONTROLLER_LEARN) {
		m->hold = d->hold; /* unchanged */
		m->hold_epoch = d->hold_epoch;
	}
	if (c->stage != 0 ||
	    (c->phase == RL_CONTROLLER_LEARN && d->stage_epoch != 0)) {
		m->flags |= RL_RESIL_STAGE;
		m->hold_epoch = c->stage != 0 ? c->stage : d->stage_epoch;
	}
	if (c->pass)
		m->flags |= RL_RESIL_PASS;
	if (c->start && d->starts && !RL_PLANTED(RESIL_NO_START))
		m->flags |= RL_RESIL_START;
}

bool
ctl_step_tx(struct rl_controller *c, struct rl_resil_msg *m, uint64_t now_ns)
{
	const uint32_t ndev = c->p.topo->ndev;

	if (c->unsent == 0)
		return false;
	while (!dev_unsent(&c->dev[c->cursor % ndev]))
		c->cursor++;
	dev_order(c, c->cursor % ndev, m);
	dev_set(c, &c->dev[c->cursor % ndev], c->dev[c->cursor % ndev].answered,
		c->dev[c->cursor % ndev].silent, now_ns);
	return true;
}

/* How long a device may be silent. */
static uint64_t
answer_limit(const struct rl_controller *c, uint32_t dev)
{
	/* the tables of a cut-off device do not matter, but traffic held by an
	   endpoint does, as it may come back */
	if (dev_crashed(c, dev) ||
	    (c->hold == RL_RESIL_HOLD_NONE && ctl_dev_cut(c, dev)))
		return 2 * c->p.cfg->resend_ns;
	/* do not keep traffic held during an install for longer than this */
	if (c->phase == RL_CONTROLLER_INSTALL && c->hold != RL_RESIL_HOLD_NONE)
		return c->p.cfg->install_ns;
	return silence_limit(c);
}

static void
dev_silent(struct rl_controller *c, struct ctl_dev *d)
{
	dev_set(c, d, d->answered, true, d->sent_ns);
	d->unsure = d->unsure || d->table_epoch != c->table_epoch;
}

void
ctl_give_up_late(struct rl_controller *c)
{
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		if (dev_owes(c, &c->dev[i]))
			dev_silent(c, &c->dev[i]);
}

void
ctl_renew(struct rl_controller *c, uint64_t now_ns)
{
	c->renew_ns = rl_deadline(now_ns, c->p.cfg->lease_ns / 8);
	for (uint32_t i = 0; i < c->p.topo->ndev; i++) {
		struct ctl_dev *d = &c->dev[i];

		if (d->answered == c->step)
			dev_set(c, d, d->answered, d->silent, RL_NEVER);
	}
}

bool
ctl_step_tick(struct rl_controller *c, uint64_t now_ns)
{
	bool fell_silent = false, more = false;

	if (now_ns < c->resend_ns)
		return false;
	for (uint32_t i = 0; i < c->p.topo->ndev; i++) {
		struct ctl_dev *d = &c->dev[i];
		uint64_t wait = c->p.cfg->resend_ns;

		if (d->answered == c->step)
			continue;
		if (!d->silent &&
		    now_ns - spoke_ns(d) >= answer_limit(c, i)) {
			dev_silent(c, d);
			fell_silent = true;
		}
		if (d->silent)
			wait = c->p.cfg->answer_ns;
		if (RL_PLANTED(RESIL_ORDER_ONCE) ||
		    (RL_PLANTED(RESIL_SILENT_DEAD) && d->silent))
			continue;
		if (!dev_unsent(d) && now_ns - d->sent_ns >= wait)
			dev_set(c, d, d->answered, d->silent, RL_NEVER);
		more = true;
	}
	c->resend_ns = more ? now_ns + c->p.cfg->resend_ns : RL_NEVER;
	return fell_silent;
}

bool
ctl_all_still(const struct rl_controller *c)
{
	for (uint32_t i = 0; i < c->p.topo->ndev; i++)
		if (!c->dev[i].still && !c->dev[i].silent)
			return false;
	return true;
}
