/* SPDX-License-Identifier: BSD-3-Clause */
/* What processes put into the store, there and back [RES-1]. */
#include "oob_test.h"

#define CTL 7
#define LOCAL 9

static struct rl_config *cfg;

static int
setup(void **state)
{
	(void)state;
	cfg = oob_config("");
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	oob_config_drop(cfg);
	return 0;
}

static int
read_text(const char *text, struct rl_resil_msg *m)
{
	return rl_oob_msgs_read(&cfg->topo, text, strlen(text), m);
}

static void
every_message_comes_back_as_it_was(void **state)
{
	static const struct rl_resil_msg sent[] = {
		{.type = RL_RESIL_HELLO, .dev = 1, .local_inc = LOCAL,
		 .table_epoch = UINT32_MAX, .hold = RL_RESIL_HOLD_ALL,
		 .hold_epoch = 3, .flags = RL_RESIL_WAITS},
		{.type = RL_RESIL_LINK, .dev = 1, .ctl_inc = INT64_MAX,
		 .local_inc = INT64_MAX, .port = 2, .ver = UINT32_MAX,
		 .link = RL_RESIL_LINK_DEGRADED, .t_ns = INT64_MAX,
		 .detector = UINT8_MAX},
		{.type = RL_RESIL_STATUS, .dev = 2, .seq = INT64_MAX,
		 .activity = INT64_MAX, .flags = RL_RESIL_QUIET},
		{.type = RL_RESIL_GAVE_UP, .dev = 1, .port = 3, .ver = 4,
		 .t_ns = 7},
		{.type = RL_RESIL_PORT_DONE, .dev = 1, .port = 1, .ver = 4},
		{.type = RL_RESIL_CALL, .dev = 3, .ctl_inc = CTL},
		{.type = RL_RESIL_LINK_ACK, .dev = 0, .ver = 4,
		 .flags = RL_RESIL_IDLE},
		{.type = RL_RESIL_ORDER, .dev = 0, .seq = 12, .table_epoch = 5,
		 .hold = RL_RESIL_HOLD_FLOWS, .hold_epoch = 6,
		 .flags = RL_RESIL_START},
		{.type = RL_RESIL_ORDER, .dev = 0, .seq = 13, .table_epoch = 5,
		 .hold_epoch = 6, .flags = RL_RESIL_STAGE | RL_RESIL_PASS},
		{.type = RL_RESIL_PORT, .dev = 0, .ver = 1,
		 .link = RL_LOCAL_PORT_DRAIN},
	};
	const uint32_t n = RL_ARRAY_SIZE(sent);
	struct rl_resil_msg *got = calloc(RL_OOB_MSGS_MAX, sizeof(*got));
	char *text = rl_oob_msgs_text(&cfg->topo, sent, n);

	(void)state;
	assert_non_null(got);
	assert_non_null(text);
	assert_int_equal(read_text(text, got), n);
	for (uint32_t i = 0; i < n; i++) {
		struct rl_resil_msg m = sent[i];

		m.version = RL_RESIL_VERSION;
		assert_memory_equal(&m, &got[i], sizeof(m));
	}
	free(text);
	text = rl_oob_msgs_text(&cfg->topo, NULL, 0);
	assert_int_equal(read_text(text, got), 0);
	free(text);
	free(got);
}

#define MSG(m) "{\"version\": 1, \"messages\": [" m "]}"
#define HELLO "\"type\": \"hello\", \"device\": \"s0\""

static void
no_other_text_is_a_message(void **state)
{
	static const char *const bad[] = {
		"", "{", "[]", "{}", "{\"version\": 1}",
		"{\"version\": 2, \"messages\": []}",
		"{\"version\": 1, \"messages\": 1}",
		MSG("1"), MSG("{}"), MSG("{\"type\": \"hello\"}"),
		MSG("{\"device\": \"s0\"}"),
		MSG("{\"type\": \"hello\", \"device\": \"s9\"}"),
		MSG("{\"type\": \"hullo\", \"device\": \"s0\"}"),
		MSG("{\"type\": 1, \"device\": \"s0\"}"),
		MSG("{" HELLO ", \"hold\": 3}"),
		MSG("{" HELLO ", \"hold\": -1}"),
		MSG("{" HELLO ", \"hold\": \"1\"}"),
		MSG("{" HELLO ", \"hold\": 1.5}"),
		MSG("{" HELLO ", \"flags\": 64}"),
		MSG("{" HELLO ", \"link\": 4}"),
		MSG("{" HELLO ", \"port\": 3}"),
		MSG("{" HELLO ", \"port\": 65536}"),
		MSG("{" HELLO ", \"detector\": 256}"),
		MSG("{" HELLO ", \"tables\": 4294967296}"),
		MSG("{" HELLO ", \"seq\": 9223372036854775808}"),
		MSG("{" HELLO ", \"colour\": 1}"),
		MSG("{" HELLO ", \"seq\": 1, \"seq\": 2}"),
		MSG("{" HELLO "}") " x",
		/* one that is wrong spoils all */
		MSG("{" HELLO "}, {" HELLO ", \"hold\": 9}"),
	};
	struct rl_resil_msg *m = calloc(RL_OOB_MSGS_MAX, sizeof(*m));

	(void)state;
	assert_non_null(m);
	assert_int_equal(read_text(MSG("{" HELLO "}"), m), 1);
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		if (read_text(bad[i], m) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	free(m);
}

static void
more_messages_than_a_text_may_hold_are_refused(void **state)
{
	struct rl_resil_msg *m = calloc(RL_OOB_MSGS_MAX + 1, sizeof(*m));
	char *text;

	(void)state;
	assert_non_null(m);
	for (uint32_t i = 0; i <= RL_OOB_MSGS_MAX; i++)
		m[i] = (struct rl_resil_msg){ .type = RL_RESIL_CALL };
	text = rl_oob_msgs_text(&cfg->topo, m, RL_OOB_MSGS_MAX);
	assert_int_equal(read_text(text, m), RL_OOB_MSGS_MAX);
	free(text);
	text = rl_oob_msgs_text(&cfg->topo, m, RL_OOB_MSGS_MAX + 1);
	assert_int_equal(read_text(text, m), -EINVAL);
	free(text);
	free(m);
}

static void
a_recipe_comes_back_as_it_was(void **state)
{
	const uint8_t link_out[4] = { 0, 1, 0, 1 };
	const uint8_t dev_out[4] = { 0, 0, 1, 0 };
	struct rl_flows flows;
	struct rl_tables_recipe r = { .epoch = UINT32_MAX,
				      .link_out = link_out,
				      .dev_out = dev_out,
				      .digest = 0xfedcba9876543210,
				      .from = UINT32_MAX - 1,
				      .ranks = 0x123456789abcdef0 };
	struct rl_oob_recipe got;
	char *text;

	(void)state;
	assert_int_equal(cfg->topo.nlink, 4);
	assert_int_equal(cfg->topo.ndev, 4);
	assert_int_equal(rl_flows_init(&flows, 2), 0);
	rl_flows_add(&flows, 1, 0);
	for (int with = 0; with < 2; with++) {
		r.flows = with ? &flows : NULL;
		r.tokens = with;
		text = rl_oob_recipe_text(&cfg->topo, &r);
		assert_non_null(text);
		assert_int_equal(rl_oob_recipe_read(&cfg->topo, text,
						    strlen(text), &got), 0);
		assert_int_equal(got.r.epoch, r.epoch);
		assert_true(got.r.digest == r.digest);
		assert_memory_equal(got.r.link_out, link_out, 4);
		assert_memory_equal(got.r.dev_out, dev_out, 4);
		assert_int_equal(got.r.flows != NULL, with);
		assert_int_equal(got.r.tokens, with);
		assert_int_equal(got.r.from, with ? r.from : 0);
		assert_true(got.r.ranks == (with ? r.ranks : 0));
		if (with) {
			assert_int_equal(got.flows.count, 1);
			assert_true(rl_flows_has(got.r.flows, 1, 0));
		}
		rl_oob_recipe_free(&got);
		free(text);
	}
	rl_flows_free(&flows);
}

#define RECIPE(epoch, digest, links, devices, flows)                           \
	"{\"version\": 1, \"epoch\": " epoch ", \"digest\": \"" digest         \
	"\", \"links\": " links ", \"devices\": " devices ", \"flows\": "     \
	flows "}"
#define D "0123456789abcdef"
#define TOKENS(t) RECIPE("1", D, "[]", "[]", "{}, \"tokens\": " t)

static void
no_other_text_is_a_recipe(void **state)
{
	static const char *const bad[] = {
		"{}", "{\"version\": 1}",
		RECIPE("0", D, "[]", "[]", "{}"),
		RECIPE("4294967296", D, "[]", "[]", "{}"),
		RECIPE("-1", D, "[]", "[]", "{}"),
		RECIPE("1", "0123456789ABCDEF", "[]", "[]", "{}"),
		RECIPE("1", "012345678", "[]", "[]", "{}"),
		RECIPE("1", D, "{}", "[]", "{}"),
		RECIPE("1", D, "[\"s0-s7\"]", "[]", "{}"),
		RECIPE("1", D, "[\"s0-s1\"]", "[]", "{}"), /* which? */
		RECIPE("1", D, "[1]", "[]", "{}"),
		RECIPE("1", D, "[]", "{}", "{}"),
		RECIPE("1", D, "[]", "[\"s9\"]", "{}"),
		RECIPE("1", D, "[]", "[null]", "{}"),
		RECIPE("1", D, "[]", "[]", "[]"),
		RECIPE("1", D, "[]", "[]", "{\"s0\": []}"),
		RECIPE("1", D, "[]", "[]", "{\"e0\": 1}"),
		RECIPE("1", D, "[]", "[]", "{\"e0\": [\"s1\"]}"),
		RECIPE("1", D, "[]", "[]", "{\"e0\": [\"e1\"], \"e7\": []}"),
		TOKENS("1"), TOKENS("{}"), TOKENS("{\"from\": 1}"),
		TOKENS("{\"ranks\": \"" D "\"}"),
		TOKENS("{\"from\": 4294967296, \"ranks\": \"" D "\"}"),
		TOKENS("{\"from\": 1, \"ranks\": 1}"),
	};
	const char *good = RECIPE("1", D, "[\"s0-s1#1\"]", "[\"e1\"]",
				  "{\"e0\": [\"e1\", \"e1\"]}");
	struct rl_oob_recipe r;

	(void)state;
	assert_int_equal(rl_oob_recipe_read(&cfg->topo, good, strlen(good),
					    &r), 0);
	assert_int_equal(r.flows.count, 1);
	rl_oob_recipe_free(&r);
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		if (rl_oob_recipe_read(&cfg->topo, bad[i], strlen(bad[i]),
				       &r) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
}

static void
members_and_the_office_come_back_as_they_were(void **state)
{
	const struct rl_oob_member m = { .digest = UINT64_MAX,
					 .floor = INT64_MAX,
					 .host = "a \"host\"",
					 .boot = "b",
					 .pid = INT32_MAX,
					 .start = 12 };
	const struct rl_oob_office o = { .process = "left", .member = 17 };
	struct rl_oob_member gm;
	struct rl_oob_office go;
	char *text = rl_oob_member_text(&m);

	(void)state;
	assert_int_equal(rl_oob_member_read(text, strlen(text), &gm), 0);
	assert_true(gm.digest == m.digest && gm.floor == m.floor &&
		    gm.pid == m.pid && gm.start == m.start);
	assert_string_equal(gm.host, m.host);
	assert_string_equal(gm.boot, m.boot);
	assert_int_equal(rl_oob_office_read(text, strlen(text), &go), -EINVAL);
	free(text);
	text = rl_oob_office_text(&o);
	assert_int_equal(rl_oob_office_read(text, strlen(text), &go), 0);
	assert_string_equal(go.process, "left");
	assert_int_equal(go.member, 17);
	assert_int_equal(rl_oob_member_read(text, strlen(text), &gm), -EINVAL);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_comes_back_as_it_was),
		cmocka_unit_test(no_other_text_is_a_message),
		cmocka_unit_test(more_messages_than_a_text_may_hold_are_refused),
		cmocka_unit_test(a_recipe_comes_back_as_it_was),
		cmocka_unit_test(no_other_text_is_a_recipe),
		cmocka_unit_test(members_and_the_office_come_back_as_they_were),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
