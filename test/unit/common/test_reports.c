/* SPDX-License-Identifier: BSD-3-Clause */

/* Recoveries and delays in reports: each value under its own name. No two
   values of a record are alike. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "delay_report.h"
#include "recovery_report.h"
#include "rl_base.h"
#include "said.h"

static struct said said;
static bool no_memory;

/* The linker leads calls of calloc() here. */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *
__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static void
expect_json(json_t *got, const char *text)
{
	char *dump = json_dumps(got, JSON_COMPACT);

	assert_string_equal(dump, text);
	free(dump);
	json_decref(got);
}

static struct rl_topo_dev dev[2] = { { .name = "s0" }, { .name = "s1" } };
static const struct rl_topo topo = { .dev = dev, .ndev = 2 };

static const struct rl_recovery recovery[] = {
	{
		.epoch = 2,
		.cause = RL_CAUSE_DEVICE,
		.what = 1,
		.what_is_dev = true,
		.changes = 3,
		.at_ns = 5001234,
		.detect_ns = 11000,
		.compute_ns = 12000,
		.prove_ns = 13000,
		.mode = RL_RESIL_TOKENS,
		.held_flows = 4,
		.quiesce_ns = 14000,
		.install_ns = 15000,
		.unquiesce_ns = 16000,
		.paused_ns = 17000,
		.silent = 5,
		.outcome = RL_OUTCOME_SUPERSEDED,
		.end_ns = 6000000,
	},
	{
		/* before the start, and without a phase */
		.epoch = 6,
		.cause = RL_CAUSE_COMMAND,
		.changes = 1,
		.at_ns = 999,
		.mode = RL_RESIL_LIVE,
		.outcome = RL_OUTCOME_DONE,
	},
};

static void
a_recovery_has_each_number_under_its_name(void **state)
{
	(void)state;
	expect_json(
		recoveries_json(recovery, 2, &topo, 1000),
		"[{\"epoch\":2,\"cause\":\"device s1 restarted (+2)\","
		"\"changes\":3,\"at_ns\":5000234,\"detect_ns\":11000,"
		"\"compute_ns\":12000,\"prove_ns\":13000,\"mode\":\"tokens\","
		"\"held_flows\":4,\"quiesce_ns\":14000,\"install_ns\":15000,"
		"\"unquiesce_ns\":16000,\"paused_ns\":17000,"
		"\"silent_devices\":5,\"outcome\":\"superseded\"},"
		"{\"epoch\":6,\"cause\":\"reroute by command\",\"changes\":1,"
		"\"at_ns\":0,\"detect_ns\":0,\"compute_ns\":0,\"prove_ns\":0,"
		"\"mode\":\"live\",\"held_flows\":0,\"quiesce_ns\":0,"
		"\"install_ns\":0,\"unquiesce_ns\":0,\"paused_ns\":0,"
		"\"silent_devices\":0,\"outcome\":\"done\"}]");
	expect_json(recoveries_json(recovery, 0, &topo, 0), "[]");
}

#define HEAD                                                                   \
	"epoch         at  recovery                   mode     outcome    "    \
	"   gathered    computed      proven    quiesced   installed      "    \
	"paused   held\n"
#define FIRST                                                                  \
	"2         5.0 ms  device s1 restarted (+2)   tokens   superseded  "   \
	"   11.0 us     12.0 us     13.0 us     14.0 us     15.0 us     "      \
	"17.0 us      4\n"
#define LATER                                                                   \
	"6         0.0 ms  reroute by command         live     done        "    \
	"         -           -           -           -           -           " \
	"-      0\n"

static void
the_last_recoveries_are_printed_below_their_heads(void **state)
{
	static const struct {
		uint32_t n, most;
		const char *text;
	} row[] = {
		{ 2, 3, HEAD FIRST LATER },
		{ 2, 2, HEAD FIRST LATER },
		{ 2, 1, HEAD LATER },
		{ 1, 1, HEAD FIRST },
		{ 2, 0, HEAD },
		{ 0, 8, HEAD },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		said_begin(&said);
		recoveries_print(recovery, row[i].n, &topo, 1000, row[i].most);
		said_end(&said);
		assert_string_equal(said.out, row[i].text);
	}
}

static void
only_refused_and_late_recoveries_failed(void **state)
{
	(void)state;
	for (int o = RL_OUTCOME_OPEN; o <= RL_OUTCOME_TIMEOUT; o++)
		assert_int_equal(recovery_failed(&(struct rl_recovery){
					 .outcome = (enum rl_outcome)o }),
				 o == RL_OUTCOME_REFUSED ||
					 o == RL_OUTCOME_TIMEOUT);
}

static void
add(struct rl_hist *h, unsigned int n, uint64_t ns)
{
	while (n-- > 0)
		rl_hist_add(h, ns);
}

/* Packets by VC 0 and one more by the last VC, and what lies behind them; each
   quantile is another. */
static struct rl_delay *
delays(void)
{
	struct rl_delay *d = malloc((RL_VCS + 1) * sizeof(*d));
	struct rl_delay *const last = &d[RL_VCS - 1];

	assert_non_null(d);
	for (unsigned int vc = 0; vc <= RL_VCS; vc++)
		rl_delay_reset(&d[vc]);
	add(&d[0].latency, 500, 10); /* p50, and no more */
	add(&d[0].latency, 490, 20); /* p99 */
	add(&d[0].latency, 9, 30);   /* p99.9 */
	add(&d[0].latency, 1, 40);
	add(&d[0].jitter, 500, 1);
	add(&d[0].jitter, 490, 2);
	add(&d[0].jitter, 9, 3);
	add(&d[0].jitter, 1, 4);
	add(&last->latency, 1, 50);
	add(&d[RL_VCS].latency, 7, 60);
	return d;
}

#define OF_VC0                                                                 \
	"{\"vc\":0,\"packets\":1000,\"mean_ns\":15,\"latency_ns\":{"           \
	"\"p50\":10,\"p99\":20,\"p999\":30,\"max\":40},\"jitter_ns\":{"        \
	"\"p50\":1,\"p99\":2,\"p999\":3,\"max\":4}}"
#define OF_LAST                                                                \
	"{\"vc\":7,\"packets\":1,\"mean_ns\":50,\"latency_ns\":{"              \
	"\"p50\":50,\"p99\":50,\"p999\":50,\"max\":50},\"jitter_ns\":{"        \
	"\"p50\":0,\"p99\":0,\"p999\":0,\"max\":0}}"

static void
delays_are_reported_by_vc_and_together(void **state)
{
	struct rl_delay *d = delays(), *sum = delay_sum(d);
	json_t *report = json_object();

	(void)state;
	delay_json(report, d);
	expect_json(report,
		    "{\"latency_ns\":{\"p50\":20,\"p99\":30,\"p999\":40,"
		    "\"max\":50},\"jitter_ns\":{\"p50\":1,\"p99\":2,"
		    "\"p999\":3,\"max\":4},\"latency_by_vc\":[" OF_VC0
		    "," OF_LAST "]}");
	assert_int_equal(sum->latency.count, 1001);
	assert_int_equal(sum->latency.min, 10);
	assert_int_equal(sum->jitter.sum, 500 + 2 * 490 + 9 * 3 + 4);
	free(sum);
	free(d);
}

/* Nothing is better than half of it. */
static void
without_memory_no_delay_is_reported(void **state)
{
	struct rl_delay *d = delays();
	json_t *report = json_object();

	(void)state;
	no_memory = true;
	assert_null(delay_sum(d));
	delay_json(report, d);
	no_memory = false;
	expect_json(report, "{}");
	free(d);
}

static void
delays_are_printed_in_microseconds(void **state)
{
	struct rl_delay *d = delays();

	(void)state;
	said_begin(&said);
	delay_print(d);
	said_end(&said);
	assert_string_equal(
		said.out,
		"  VC 0: 1000 packets; p50 0.010 us, p99 0.020 us, p99.9 0.030 "
		"us, max 0.040 us; jitter p50 0.001 us, p99 0.002 us, max "
		"0.004 us\n"
		"  VC 7: 1 packets; p50 0.050 us, p99 0.050 us, p99.9 0.050 "
		"us, max 0.050 us; jitter p50 0.000 us, p99 0.000 us, max "
		"0.000 us\n");
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recovery_has_each_number_under_its_name),
		cmocka_unit_test(
			the_last_recoveries_are_printed_below_their_heads),
		cmocka_unit_test(only_refused_and_late_recoveries_failed),
		cmocka_unit_test(delays_are_reported_by_vc_and_together),
		cmocka_unit_test(without_memory_no_delay_is_reported),
		cmocka_unit_test(delays_are_printed_in_microseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
