/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints over links and switches in virtual time: what each profile keeps
 * and what it loses, and that the measured rates are those that follow from
 * one link [EVAL-1, EP-2, EP-3, LCB-4, RXL-4].
 */
#include <math.h>
#include <string.h>

#include "path_bench.h"
#include "rl_rxl_expect.h"

#define COALESCE 10

static int
open_fx(void **state)
{
	struct fx *fx = path_open();
	struct rl_ep_cfg *c = &fx->cfg.ep;

	c->retry_mode = RL_RETRY_GBN;
	c->ack_coalesce_flits = COALESCE;
	c->nak_delay_ns = 0;
	fx->cfg.burst_slots = 8;
	fx->cfg.sends[0] = fx->cfg.sends[1] = true;
	*state = fx;
	return 0;
}

/** Everything arrives after all, and no flit is lost in memory. */
static void
finish(struct fx *fx)
{
	assert_true(rl_rxl_path_drain(fx->path, 100000));
	rl_rxl_path_run(fx->path, 2 * LATENCY + 16);
	assert_true(rl_rxl_path_missing(fx->path, 0) == 0);
	assert_true(rl_rxl_path_missing(fx->path, 1) == 0);
	assert_true(rl_rxl_path_close(fx->path));
}

/** Both directions together. */
static struct rl_rxl_dir_tally
both(struct fx *fx)
{
	struct rl_rxl_dir_tally sum = *rl_rxl_path_tally(fx->path, 0);

	rl_rxl_dir_add(&sum, rl_rxl_path_tally(fx->path, 1));
	return sum;
}

static struct rl_rxl_dir_tally
measure(struct fx *fx, uint64_t slots)
{
	start(fx);
	rl_rxl_path_run(fx->path, 4000);
	rl_rxl_path_reset(fx->path);
	rl_rxl_path_run(fx->path, slots);
	return both(fx);
}

static void
assert_flawless(const struct rl_rxl_dir_tally *t)
{
	assert_true(t->order_failures == 0);
	assert_true(t->late == 0);
	assert_true(t->duplicates == 0);
	assert_true(t->altered == 0);
}

static void
a_clean_path_is_full_of_data_both_ways(void **state)
{
	struct fx *fx = *state;

	for (int p = RL_PROFILE_RXL; p <= RL_PROFILE_CXL_SEP_ACK; p++) {
		struct rl_rxl_dir_tally t;
		double share, alone;

		fx->cfg.ep.profile = (enum rl_profile)p;
		fx->cfg.burst_slots = 1;
		t = measure(fx, 50000);
		assert_flawless(&t);
		assert_true(t.slots == 100000 && t.again == 0);
		assert_true(t.fresh + t.control == t.slots);
		share = (double)t.with_ack / (double)t.fresh;
		alone = (double)t.control / (double)t.fresh;
		if (p == RL_PROFILE_RXL) {
			assert_true(share == 1 && alone == 0);
		} else if (p == RL_PROFILE_CXL) {
			assert_true(fabs(share - 1.0 / COALESCE) < 0.002);
			assert_true(alone == 0);
		} else {
			/* one ACK for ten flits, or a little later */
			assert_true(share == 0);
			assert_true(alone > 0.08 && alone <= 0.1);
		}
		finish(fx);
	}
}

static void
what_shows_its_number_loses_no_order_at_any_level(void **state)
{
	static const enum rl_profile sound[] = { RL_PROFILE_RXL,
						 RL_PROFILE_RXL_COMPACT,
						 RL_PROFILE_CXL_SEP_ACK };
	struct fx *fx = *state;

	fx->cfg.way.wire.bit_rate = 1e-4;
	fx->cfg.way.wire.drop_rate = 1e-4;
	fx->cfg.way.inside.burst_rate = 1e-4;
	fx->cfg.way.inside.burst_max_bytes = 30;
	for (size_t i = 0; i < RL_ARRAY_SIZE(sound); i++)
		for (int mode = 0; mode < 2; mode++)
			for (unsigned int k = 0; k <= 4; k += 2) {
				struct rl_rxl_dir_tally t;

				fx->cfg.ep.profile = sound[i];
				fx->cfg.ep.retry_mode = (enum rl_e2e_retry)mode;
				fx->cfg.way.levels = k;
				t = measure(fx, 30000);
				assert_flawless(&t);
				assert_true(t.again > 100 && t.wrong > 100);
				assert_true(t.dropped > 100 || k == 0);
				assert_true(t.lost > 0);
				finish(fx);
			}
}

/* The paper, section 7.1.1: nothing is dropped between the ends. */
static void
cxl_keeps_the_order_over_a_direct_link(void **state)
{
	struct fx *fx = *state;

	fx->cfg.ep.profile = RL_PROFILE_CXL;
	fx->cfg.way.wire.bit_rate = 1e-4;
	for (int mode = 0; mode < 2; mode++) {
		struct rl_rxl_dir_tally t;

		fx->cfg.ep.retry_mode = (enum rl_e2e_retry)mode;
		t = measure(fx, 150000);
		assert_flawless(&t);
		assert_true(t.wrong > 1000 && t.with_ack > 1000);
		finish(fx);
	}
}

static void
expected(const struct fx *fx, const struct rl_rxl_dir_tally *t,
	 struct rl_rxl_expect *out)
{
	static double scratch[RL_RXL_FEC_SCRATCH];
	struct rl_rxl_expect_in in = {
		.levels = fx->cfg.way.levels,
		.retry = fx->cfg.ep.retry_mode,
		.ack_share = (double)t->with_ack / (double)t->fresh,
		.latency_slots = LATENCY,
		.retry_slots = 50,
		.timer_slots = 50,
	};

	if (fx->cfg.ep.profile == RL_PROFILE_RXL_COMPACT ||
	    fx->cfg.ep.profile == RL_PROFILE_CXL_SEP_ACK)
		in.ack_alone = (double)t->control / (double)t->delivered;
	rl_rxl_fec_model(fx->cfg.way.wire.bit_rate, scratch, &in.link);
	rl_rxl_expect(&in, out);
}

/*
 * Equation 7 at each level, by what happened: five standard deviations each,
 * and four of all together, which is less than a tenth.
 */
static void
cxl_loses_order_as_equation_7_says(void **state)
{
	struct fx *fx = *state;
	double all = 0, all_expected = 0;

	fx->cfg.ep.profile = RL_PROFILE_CXL;
	fx->cfg.ep.ack_coalesce_flits = 2; /* the more chances to fail */
	fx->cfg.burst_slots = 2;
	fx->cfg.way.wire.bit_rate = 4e-5;
	for (unsigned int k = 1; k <= 4; k++) {
		struct rl_rxl_dir_tally t;
		struct rl_rxl_expect e;
		double n;

		fx->cfg.way.levels = k;
		t = measure(fx, 500000);
		expected(fx, &t, &e);
		n = (double)t.chances * e.order;
		all += (double)t.order_failures;
		all_expected += n;
		if (fabs((double)t.order_failures - n) > 5 * sqrt(n))
			fail_msg("level %u: %g failures, expected %g", k,
				 (double)t.order_failures, n);
		n = (double)t.chances * e.dropped;
		assert_true(fabs((double)t.drops - n) < 5 * sqrt(n));
		/* and what hid its number is executed twice */
		assert_true(t.duplicates >= t.order_failures);
		assert_true(t.altered == 0);
	}
	if (all_expected < 1200)
		fail_msg("only %g expected", all_expected);
	if (fabs(all - all_expected) > 4 * sqrt(all_expected))
		fail_msg("%g failures, expected %g", all, all_expected);
}

/* Equations 11, 12 and 14: 100 ns for each flit that must come again. */
static void
retries_cost_the_bandwidth_that_the_equations_say(void **state)
{
	struct fx *fx = *state;

	fx->cfg.burst_slots = 1;
	fx->cfg.way.wire.bit_rate = 3e-5;
	for (int mode = 0; mode < 2; mode++)
		for (unsigned int k = 0; k <= 2; k++) {
			struct rl_rxl_dir_tally t;
			struct rl_rxl_expect e;
			double loss, failures;

			fx->cfg.ep.retry_mode = (enum rl_e2e_retry)mode;
			fx->cfg.way.levels = k;
			t = measure(fx, 300000);
			expected(fx, &t, &e);
			loss = 1 - (double)t.delivered / (double)t.slots;
			failures = (double)t.slots * e.retry;
			if (fabs(loss - e.loss) > 5 * e.loss / sqrt(failures))
				fail_msg("mode %d level %u: %g, expected %g",
					 mode, k, loss, e.loss);
			/* the paper leaves out what is of second order */
			if (mode == RL_RETRY_GBN)
				assert_true(fabs(e.loss - e.loss_paper) <
					    0.05 * e.loss);
		}
}

/* [FLIT-6] lets the receiver ask for what is missing, and for nothing else. */
static void
selective_retry_without_numbers_costs_a_flit_for_a_flit(void **state)
{
	struct fx *fx = *state;
	struct rl_rxl_dir_tally t;

	fx->cfg.ep.retry_mode = RL_RETRY_SELECTIVE;
	fx->cfg.way.levels = 2;
	fx->cfg.way.wire.bit_rate = 3e-5;
	t = measure(fx, 500000);
	assert_flawless(&t);
	assert_true(t.dropped + t.wrong > 1000);
	assert_true(t.again < (t.dropped + t.wrong) * 105 / 100);
	finish(fx);
}

static void
corruption_inside_switches_never_reaches_the_client(void **state)
{
	struct fx *fx = *state;
	struct rl_rxl_dir_tally t;

	fx->cfg.way.levels = 3;
	fx->cfg.way.inside.burst_rate = 1e-3;
	fx->cfg.way.inside.burst_max_bytes = 8;
	t = measure(fx, 100000);
	assert_flawless(&t);
	assert_true(t.hurt_inside > 300);
	assert_true(t.wrong > t.hurt_inside * 95 / 100);
	assert_true(t.dropped == 0);
	finish(fx);
}

static uint64_t
rejected(const struct fx *fx, unsigned int side)
{
	const uint64_t *ctr = rl_ep_counters(rl_rxl_path_ep(fx->path, side));

	return ctr[RL_EPC_rx_corrupt] + ctr[RL_EPC_rx_uncorrectable];
}

/*
 * The endpoint rejects exactly the flits that the path counts as wrong on
 * arrival.
 */
static void
endpoints_reject_exactly_what_arrives_wrong(void **state)
{
	struct fx *fx = *state;

	fx->cfg.way.levels = 3;
	fx->cfg.way.wire.bit_rate = 2e-4;
	fx->cfg.way.inside.burst_rate = 1e-2;
	fx->cfg.way.inside.burst_max_bytes = 8;
	fx->cfg.ep.retry_mode = RL_RETRY_SELECTIVE;
	start(fx);
	rl_rxl_path_run(fx->path, 40000);
	assert_true(rl_rxl_path_drain(fx->path, 100000));
	rl_rxl_path_run(fx->path, 2 * LATENCY + 16);
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t wrong = rl_rxl_path_tally(fx->path, i)->wrong;

		assert_true(wrong > 1000);
		assert_true(rejected(fx, 1 - i) == wrong);
	}
	assert_true(rl_rxl_path_close(fx->path));
}

/*
 * [RXL-4]: the switch reports the drop; the receiver sees the gap at once and
 * asks, too.
 */
static void
a_drop_report_reaches_the_source_and_nothing_is_lost(void **state)
{
	struct fx *fx = *state;

	fx->cfg.ep.retry_mode = RL_RETRY_SELECTIVE;
	fx->cfg.ep.nak_delay_ns = 400;
	fx->cfg.way.levels = 4;
	fx->cfg.way.wire.bit_rate = 3e-5;
	for (int on = 0; on < 2; on++) {
		struct rl_rxl_dir_tally t;

		fx->cfg.drop_reports = on;
		t = measure(fx, 300000);
		assert_flawless(&t);
		assert_true(t.dropped > 500);
		assert_true(on ? t.reports > t.dropped * 9 / 10
			       : t.reports == 0);
		finish(fx);
	}
}

static void
checking_intact_flits_at_every_hop_changes_nothing(void **state)
{
	struct fx *fx = *state;
	struct rl_rxl_dir_tally t[2];

	fx->cfg.way.levels = 3;
	fx->cfg.way.wire.bit_rate = 1e-4;
	for (int on = 0; on < 2; on++) {
		fx->cfg.every_hop = on;
		t[on] = measure(fx, 20000);
	}
	assert_memory_equal(&t[0], &t[1], sizeof(t[0]));
}

static void
the_same_seed_is_the_same_run_and_another_is_not(void **state)
{
	struct fx *fx = *state;
	struct rl_rxl_dir_tally a, b;

	fx->cfg.way.levels = 1;
	fx->cfg.way.wire.bit_rate = 1e-4;
	a = measure(fx, 30000);
	b = measure(fx, 30000);
	assert_memory_equal(&a, &b, sizeof(a));
	fx->cfg.way.seed = 2;
	b = measure(fx, 30000);
	assert_memory_not_equal(&a, &b, sizeof(a));
}

/* Or failures of both ways would come together, and count as one. */
static void
no_two_links_meet_the_same_errors(void **state)
{
	struct rl_rxl_link_tally link[2 * 5];
	struct fx *fx = *state;
	unsigned int n = 0;

	fx->cfg.way.levels = 4;
	fx->cfg.way.wire.bit_rate = 1e-4;
	fx->cfg.ep.retry_mode = RL_RETRY_SELECTIVE;
	measure(fx, 100000);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k <= 4; k++)
			link[n++] = rl_rxl_path_tally(fx->path, i)->link[k];
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < i; k++)
			assert_true(link[i].hit != link[k].hit ||
				    link[i].detected != link[k].detected ||
				    link[i].missed != link[k].missed);
}

/** Drops the third data flit of side 0, and counts what it sees. */
struct watcher {
	unsigned int sent, arrived, dropped;
	uint64_t last_slot;
};

static void
watch(void *ctx, unsigned int from, enum rl_rxl_step step,
      const struct rl_flit *f, uint64_t slot)
{
	struct watcher *w = ctx;

	if (from != 0 || f->class == RL_CLASS_CTRL)
		return;
	w->sent += step == RL_RXL_SENT;
	w->arrived += step == RL_RXL_ARRIVED;
	w->dropped += step == RL_RXL_DROPPED;
	if (step == RL_RXL_SENT)
		w->last_slot = slot;
}

static bool
drop_third(void *ctx, unsigned int from, const struct rl_flit *f, uint64_t slot)
{
	const struct watcher *w = ctx;

	(void)slot;
	return from == 0 && f->class != RL_CLASS_CTRL && w->sent == 3;
}

static void
a_script_sees_every_flit_and_may_drop_one(void **state)
{
	struct watcher w = { 0 };
	struct fx *fx = *state;
	struct rl_rxl_dir_tally t;

	fx->cfg.burst_slots = 1;
	fx->cfg.sends[1] = false;
	fx->cfg.script = (struct rl_rxl_script){ &w, watch, drop_third };
	start(fx);
	rl_rxl_path_run(fx->path, 1000);
	t = *rl_rxl_path_tally(fx->path, 0);
	assert_true(w.dropped == 1 && t.lost == 1);
	assert_true(w.sent == t.fresh + t.again);
	assert_true(t.again == 51); /* a round trip, and one that told */
	assert_true(w.last_slot == 999);
	assert_true(w.sent - w.arrived - 1 == LATENCY);
	finish(fx);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_fx, close_fx)
	const struct CMUnitTest tests[] = {
		T(a_clean_path_is_full_of_data_both_ways),
		T(what_shows_its_number_loses_no_order_at_any_level),
		T(cxl_keeps_the_order_over_a_direct_link),
		T(cxl_loses_order_as_equation_7_says),
		T(retries_cost_the_bandwidth_that_the_equations_say),
		T(selective_retry_without_numbers_costs_a_flit_for_a_flit),
		T(corruption_inside_switches_never_reaches_the_client),
		T(endpoints_reject_exactly_what_arrives_wrong),
		T(a_drop_report_reaches_the_source_and_nothing_is_lost),
		T(checking_intact_flits_at_every_hop_changes_nothing),
		T(the_same_seed_is_the_same_run_and_another_is_not),
		T(no_two_links_meet_the_same_errors),
		T(a_script_sees_every_flit_and_may_drop_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
