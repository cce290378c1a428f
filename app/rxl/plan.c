/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "plan.h"
#include "rl_rxl_eqn.h"

#define LEVELS 4
/** A long case is cut, so that a run can be stopped and go on. */
#define CHUNK_FLITS 20000000ull

static uint64_t
scaled(const struct rxl_plan_opts *o, double flits)
{
	const double n = o->quick ? flits / 20 : flits;

	return n < 1 ? 1 : (uint64_t)n;
}

static void
begin(struct rxl_case *c, const struct rxl_plan_opts *o, enum rxl_group group,
      enum rxl_kind kind)
{
	rxl_case_defaults(c);
	c->kind = kind;
	c->group = group;
	c->crc = o->crc;
	c->isn = o->isn;
	c->seed = o->seed;
}

/** As many flits as meet an error some millions of times in all. */
static double
trial_flits(const struct rxl_case *c)
{
	const double touched = 4e6;
	const double hit = rl_rxl_fer(c->ber, 8 * RL_FLIT_BYTES);

	return touched / hit / (c->levels + 1);
}

static void
plan_fec(struct rxl_plan *plan, const struct rxl_plan_opts *o)
{
	static const double bers[] = { 1e-6, 3e-6, RXL_BER_OF_PAPER_UC,
				       1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3 };
	struct rxl_case c;

	begin(&c, o, RXL_G_FEC, RXL_TRIAL);
	for (size_t b = 0; b < RL_ARRAY_SIZE(bers); b++)
		for (c.levels = 0; c.levels <= LEVELS; c.levels++) {
			c.ber = bers[b];
			c.flits = scaled(o, trial_flits(&c));
			rxl_plan_add(plan, &c);
		}
}

/** First errors at 1e-6, and how far each runs on. */
static void
plan_burst(struct rxl_plan *plan, const struct rxl_plan_opts *o)
{
	static const double propagate[] = { 0,	  0.25, 0.5, 0.6, 0.7,
					    0.75, 0.8,	0.85, 0.9 };
	struct rxl_case c;

	begin(&c, o, RXL_G_BURST, RXL_TRIAL);
	c.ber = 1e-6;
	for (size_t i = 0; i < RL_ARRAY_SIZE(propagate); i++)
		for (c.lanes = 1; c.lanes <= 16; c.lanes *= 16) {
			c.propagate = propagate[i];
			c.flits = scaled(o, i == 0 ? 2e9 : 5e8);
			rxl_plan_add(plan, &c);
		}
}

/** A burst that an ACK after `coalesce` flits fits into. */
static uint32_t
burst_for(uint32_t coalesce)
{
	uint32_t b = coalesce < 10 ? coalesce : 10;

	while (coalesce % b != 0)
		b--;
	return b;
}

/** Flits that make some hundreds of failures at one switch. */
static double
order_flits(double ber, uint32_t coalesce)
{
	static const struct {
		double ber;
		double flits;
	} t[] = { { RXL_BER_OF_PAPER_UC, 1e8 }, { 1e-5, 6e7 }, { 3e-5, 1e7 },
		  { 1e-4, 4e6 },		{ 3e-4, 2e6 } };

	for (size_t i = 0; i < RL_ARRAY_SIZE(t); i++)
		if (t[i].ber == ber)
			return coalesce > 10 ? 4 * t[i].flits : t[i].flits;
	return 1e7;
}

static void
add_order(struct rxl_plan *plan, const struct rxl_plan_opts *o,
	  struct rxl_case *c)
{
	uint64_t left = scaled(o, c->profile == RL_PROFILE_CXL
					  ? order_flits(c->ber, c->coalesce)
					  : 4e6);

	c->burst_slots = burst_for(c->coalesce);
	for (c->seed = o->seed; left > 0; c->seed++) {
		c->flits = left < CHUNK_FLITS ? left : CHUNK_FLITS;
		left -= c->flits;
		rxl_plan_add(plan, c);
	}
}

static void
plan_order(struct rxl_plan *plan, const struct rxl_plan_opts *o)
{
	static const double bers[] = { RXL_BER_OF_PAPER_UC, 1e-5, 3e-5,
				       1e-4, 3e-4 };
	static const uint32_t coalesce[] = { 2, 4, 32, 100 };
	struct rxl_case c;

	begin(&c, o, RXL_G_ORDER, RXL_PATH);
	c.profile = RL_PROFILE_CXL;
	for (size_t b = 0; b < RL_ARRAY_SIZE(bers); b++)
		for (c.levels = 0; c.levels <= LEVELS; c.levels++) {
			/* go-back-N hardly gets on, and sends nothing new */
			if (bers[b] > 2e-4 && c.levels > 1)
				continue;
			c.ber = bers[b];
			add_order(plan, o, &c);
		}
	c.ber = 3e-5;
	for (size_t i = 0; i < RL_ARRAY_SIZE(coalesce); i++)
		for (c.levels = 1; c.levels <= LEVELS; c.levels++) {
			c.coalesce = coalesce[i];
			add_order(plan, o, &c);
		}
	c.coalesce = 10;
	for (int p = RL_PROFILE_RXL; p <= RL_PROFILE_CXL_SEP_ACK; p++)
		for (c.levels = 0; c.levels <= LEVELS; c.levels++) {
			c.profile = (enum rl_profile)p;
			if (p == RL_PROFILE_CXL)
				continue;
			c.ber = 3e-5;
			add_order(plan, o, &c);
			c.ber = 1e-4;
			add_order(plan, o, &c);
		}
}

static void
plan_loss(struct rxl_plan *plan, const struct rxl_plan_opts *o)
{
	static const double bers[] = { RXL_BER_OF_PAPER_UC, 1e-5, 3e-5, 1e-4 };
	static const uint32_t coalesce[] = { 1, 2, 4, 10, 32, 64, 100 };
	static const struct {
		enum rl_profile profile;
		enum rl_e2e_retry retry;
	} series[] = { { RL_PROFILE_RXL, RL_RETRY_GBN },
		       { RL_PROFILE_RXL, RL_RETRY_SELECTIVE },
		       { RL_PROFILE_CXL, RL_RETRY_GBN } };
	struct rxl_case c;

	begin(&c, o, RXL_G_LOSS, RXL_PATH);
	for (size_t s = 0; s < RL_ARRAY_SIZE(series); s++)
		for (c.levels = 0; c.levels <= LEVELS;
		     c.levels += c.levels < 2 ? 1 : 2)
			for (size_t b = 0; b < RL_ARRAY_SIZE(bers); b++) {
				c.profile = series[s].profile;
				c.retry = series[s].retry;
				c.ber = bers[b];
				c.flits = scaled(o, c.ber < 2e-5 ? 1e7 : 2e6);
				rxl_plan_add(plan, &c);
			}
	/* the switch's report comes before the NAK, and both are answered */
	c.profile = RL_PROFILE_RXL;
	c.retry = RL_RETRY_SELECTIVE;
	c.reports = true;
	c.ber = 3e-5;
	c.flits = scaled(o, 2e6);
	for (c.levels = 1; c.levels <= LEVELS; c.levels *= 2)
		rxl_plan_add(plan, &c);
	c.reports = false;
	c.levels = 1;
	c.retry = RL_RETRY_GBN;
	for (int p = RL_PROFILE_RXL; p <= RL_PROFILE_CXL_SEP_ACK; p++)
		for (size_t i = 0; i < RL_ARRAY_SIZE(coalesce); i++) {
			c.profile = (enum rl_profile)p;
			c.coalesce = coalesce[i];
			c.ber = RXL_BER_OF_PAPER_UC;
			c.flits = scaled(o, 2e6);
			rxl_plan_add(plan, &c);
		}
}

const struct rxl_weather rxl_weathers[RXL_WEATHERS] = {
	{ "independent bits, 1e-5", 1e-5, 0, 1, 0, 0, 0 },
	{ "independent bits, 1e-4", 1e-4, 0, 1, 0, 0, 0 },
	{ "DFE bursts on 16 lanes, 3e-6", 3e-6, 0.85, 16, 0, 0, 0 },
	{ "byte bursts, lost flits", 0, 0, 1, 1e-3, 1e-4, 0 },
	{ "corruption inside switches", 1e-5, 0, 1, 0, 0, 1e-3 },
};

static void
plan_long(struct rxl_plan *plan, const struct rxl_plan_opts *o)
{
	/* all errors at all levels in both ways of retry, at least once */
	const uint64_t round = 2ull * RXL_WEATHERS * (LEVELS + 1);
	const uint64_t flits = o->quick ? o->long_flits / 20 : o->long_flits;
	const uint64_t rounds = (flits / round + CHUNK_FLITS - 1) / CHUNK_FLITS;
	const uint64_t chunks = round * (rounds > 0 ? rounds : 1);
	struct rxl_case c;

	begin(&c, o, RXL_G_LONG, RXL_PATH);
	c.burst_slots = 8;
	for (uint64_t i = 0; i < chunks; i++) {
		const struct rxl_weather *w = &rxl_weathers[i % RXL_WEATHERS];

		c.levels = (uint32_t)(i / RXL_WEATHERS % (LEVELS + 1));
		c.retry = (enum rl_e2e_retry)(i / RXL_WEATHERS /
					      (LEVELS + 1) % 2);
		c.seed = o->seed + i;
		c.ber = w->ber;
		c.propagate = w->propagate;
		c.lanes = w->lanes;
		c.byte_bursts = w->byte_bursts;
		c.lost = w->lost;
		c.inside = w->inside;
		c.flits = flits / chunks + 1;
		rxl_plan_add(plan, &c);
	}
}

void
rxl_plan_make(struct rxl_plan *plan, const struct rxl_plan_opts *o)
{
	if (o->groups & RXL_G_FEC)
		plan_fec(plan, o);
	if (o->groups & RXL_G_BURST)
		plan_burst(plan, o);
	if (o->groups & RXL_G_ORDER)
		plan_order(plan, o);
	if (o->groups & RXL_G_LOSS)
		plan_loss(plan, o);
	if (o->groups & RXL_G_LONG)
		plan_long(plan, o);
}
