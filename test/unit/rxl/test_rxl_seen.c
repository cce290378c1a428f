/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults that a path must show: the time that a notice takes, data that were
 * never sent, flits that were not given back [RXL-4].
 */
#include "path_bench.h"

static int
open_fx(void **state)
{
	struct fx *fx = path_open();

	fx->cfg.way.levels = 1;
	fx->cfg.burst_slots = 1;
	*state = fx;
	return 0;
}

/** When what was dropped is sent again. */
struct repeats {
	uint32_t tag;
	uint64_t dropped_at[1 << 16]; /* by tag; 0: it was not */
	uint64_t least, n;
};

static void
watch(void *ctx, unsigned int from, enum rl_rxl_step step,
      const struct rl_flit *f, uint64_t slot)
{
	struct repeats *r = ctx;
	uint64_t *at;

	if (from != 0 || f->class == RL_CLASS_CTRL)
		return;
	if (step == RL_RXL_SENT)
		r->tag = rl_flit_tag(f->wire); /* not damaged yet */
	at = &r->dropped_at[r->tag & 0xffff];
	if (step == RL_RXL_DROPPED) {
		*at = slot;
	} else if (step == RL_RXL_SENT && *at != 0) {
		r->least = rl_min_u64(r->least, slot - *at);
		r->n++;
		*at = 0;
	}
}

/* From the switch in the middle: half the way there, and back. */
static void
a_drop_report_takes_the_time_of_its_way_back(void **state)
{
	static struct repeats r;
	struct fx *fx = *state;

	r = (struct repeats){ .least = UINT64_MAX };
	fx->cfg.sends[0] = true;
	fx->cfg.way.wire.bit_rate = 1e-4;
	fx->cfg.drop_reports = true;
	fx->cfg.script = (struct rl_rxl_script){ &r, watch, NULL };
	start(fx);
	rl_rxl_path_run(fx->path, 30000);
	assert_true(r.n > 50);
	assert_in_range(r.least, LATENCY, LATENCY + 2);
	assert_true(rl_rxl_path_close(fx->path));
}

/** Packets with the meter's numbers and other bytes. */
static void
forge(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	const struct rl_ep_msg msg = { .dst = 1,
				       .class = RL_CLASS_REQ_POSTED,
				       .len_bytes = RL_FLIT_DATA_BYTES };
	uint8_t data[RL_FLIT_DATA_BYTES] = { 0 };
	uint64_t *n = ctx;

	rl_put64(data, *n);
	if (*n < 20 && rl_ep_send(ep, now_ns, &msg, data, NULL) == 0)
		++*n;
}

static void
a_meter_sees_data_that_no_meter_sent(void **state)
{
	struct fx *fx = *state;
	uint64_t n = 0;

	fx->cfg.client[0] = (struct rl_rxl_client){ &n, forge };
	start(fx);
	rl_rxl_path_run(fx->path, 2000);
	assert_int_equal(n, 20);
	assert_int_equal(rl_rxl_path_tally(fx->path, 0)->delivered, 20);
	assert_int_equal(rl_rxl_path_tally(fx->path, 0)->altered, 20);
	assert_true(rl_rxl_path_close(fx->path));
}

static void
a_flit_that_was_not_given_back_is_missed_at_the_end(void **state)
{
	struct fx *fx = *state;
	struct rl_flit *kept;

	fx->cfg.sends[0] = true;
	start(fx);
	rl_rxl_path_run(fx->path, 500);
	kept = rl_flit_get(rl_rxl_path_cache(fx->path));
	assert_non_null(kept);
	assert_false(rl_rxl_path_close(fx->path));
	rl_flit_put(rl_rxl_path_cache(fx->path), kept);
	assert_true(rl_rxl_path_close(fx->path));
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_fx, close_fx)
	const struct CMUnitTest tests[] = {
		T(a_drop_report_takes_the_time_of_its_way_back),
		T(a_meter_sees_data_that_no_meter_sent),
		T(a_flit_that_was_not_given_back_is_missed_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
