/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's channel in a fabric file [RES-1]. */
#include "config_test.h"

#define ETCD "etcd = [\"http://127.0.0.1:2379\"];"
#define CTL(keys) FIGURE_1 "controller: {\n" keys "\n};"

static void
one_process_needs_no_channel(void **state)
{
	struct rl_config *cfg = config_take(FIGURE_1);

	(void)state;
	assert_int_equal(cfg->channel.kind, RL_CHANNEL_LOCAL);
	assert_int_equal(cfg->controller.resend_ns, 200 * RL_NS_PER_US);
	config_drop(cfg);
	cfg = config_take(CTL("channel = \"local\";"));
	assert_int_equal(cfg->channel.kind, RL_CHANNEL_LOCAL);
	config_drop(cfg);
}

static void
servers_make_it_etcd_with_longer_times(void **state)
{
	struct rl_config *cfg = config_take(
		CTL("etcd = [\"http://a:1/\", \"https://b:2\"]; answer_ns = "
		    "700000000; etcd_user = \"u\"; etcd_password_file = \"p\";"
		    "etcd_cert_file = \"c\"; etcd_key_file = \"k\";"
		    "etcd_ca_file = \"a\"; life_ns = 5000000000L;"
		    "etcd_prefix = \"/mine/f\";"));
	struct rl_resil_cfg store;

	(void)state;
	assert_int_equal(cfg->channel.kind, RL_CHANNEL_ETCD);
	assert_int_equal(cfg->channel.nurl, 2);
	assert_string_equal(cfg->channel.url[0], "http://a:1");
	assert_string_equal(cfg->channel.url[1], "https://b:2");
	assert_string_equal(cfg->channel.prefix, "/mine/f");
	assert_string_equal(cfg->channel.user, "u");
	assert_string_equal(cfg->channel.password_file, "p");
	assert_string_equal(cfg->channel.ca_file, "a");
	assert_string_equal(cfg->channel.cert_file, "c");
	assert_string_equal(cfg->channel.key_file, "k");
	assert_int_equal(cfg->channel.life_ns, 5 * RL_NS_PER_S);
	assert_int_equal(cfg->channel.line, 8);
	rl_resil_cfg_defaults_store(&store);
	assert_int_equal(cfg->controller.answer_ns, 700 * RL_NS_PER_MS);
	assert_int_equal(cfg->controller.resend_ns, store.resend_ns);
	config_drop(cfg);
	cfg = config_take(CTL(ETCD));
	assert_int_equal(cfg->channel.kind, RL_CHANNEL_ETCD);
	assert_int_equal(cfg->channel.life_ns, 3 * RL_NS_PER_S);
	assert_string_equal(cfg->channel.prefix, "/reflit");
	config_drop(cfg);
}

static void
the_defaults_of_both_channels_pass_their_own_check(void **state)
{
	struct rl_resil_cfg c;
	const char *key = NULL;
	char err[RL_ERR_MAX];

	(void)state;
	rl_resil_cfg_defaults(&c);
	assert_int_equal(rl_resil_cfg_check(&c, err, sizeof(err), &key), 0);
	rl_resil_cfg_defaults_store(&c);
	assert_int_equal(rl_resil_cfg_check(&c, err, sizeof(err), &key), 0);
}

static void
the_channel_is_no_part_of_what_processes_must_agree_on(void **state)
{
	struct rl_config *a = config_take(FIGURE_1);
	struct rl_config *b = config_take(CTL(ETCD));

	(void)state;
	assert_true(rl_config_digest(a) == rl_config_digest(b));
	config_drop(a);
	config_drop(b);
}

static void
what_cannot_be_is_refused_at_its_line(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *why;
	} bad[] = {
		{CTL("channel = \"zookeeper\";"), 8, "there is no \"zookeeper\""},
		{CTL("channel = \"etcd\";"), 7, "no server is named"},
		{CTL("channel = \"local\";\n" ETCD), 9,
		 "controller.etcd: the channel is \"local\""},
		{CTL("life_ns = 3000000000L;"), 8,
		 "controller.life_ns: the channel is \"local\""},
		{CTL("etcd = [];"), 8, "names 0 servers"},
		{CTL("etcd = [\"127.0.0.1:2379\"];"), 8, "not the address"},
		{CTL("etcd = [\"http://a b\"];"), 8, "not the address"},
		{CTL("etcd = [\"http://a:1/?key=hush\"];"), 8, "not the address"},
		{CTL("etcd = [\"http://u:hush@a:1\"];"), 8,
		 "server 1 has a user or a password in its address"},
		{CTL("etcd = [\"http://a:1\", \"u:hush@a:1\"];"), 8,
		 "server 2 has a user or a password in its address"},
		{CTL("etcd = \"http://a:1\";"), 8, "a list in brackets"},
		{CTL("etcd = [1];"), 8, "a list in brackets"},
		{CTL("etdc = [\"http://a:1\"];"), 8, "did you mean etcd?"},
		{CTL(ETCD "etcd_user = \"u\";"), 7, "add etcd_password_file"},
		{CTL(ETCD "etcd_password_file = \"u\";"), 7, "add etcd_user"},
		{CTL(ETCD "etcd_cert_file = \"u\";"), 7, "add etcd_key_file"},
		{CTL(ETCD "etcd_key_file = \"u\";"), 7, "add etcd_cert_file"},
		{CTL(ETCD "\nlife_ns = 2500000000L;"), 9, "not a whole number"},
		{CTL(ETCD "\nlife_ns = 1000;"), 9, "out of range"},
		{CTL(ETCD "\netcd_prefix = \"/a/\";"), 9, "a slash at its end"},
		{CTL(ETCD "\netcd_prefix = \"\";"), 9, "0 characters"},
		{CTL(ETCD "\nresend_ns = 400000000;"), 9,
		 "less than two resend_ns"},
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++)
		config_refuse(bad[i].text, strlen(bad[i].text), -EINVAL,
			      bad[i].line, bad[i].why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process_needs_no_channel),
		cmocka_unit_test(servers_make_it_etcd_with_longer_times),
		cmocka_unit_test(the_defaults_of_both_channels_pass_their_own_check),
		cmocka_unit_test(the_channel_is_no_part_of_what_processes_must_agree_on),
		cmocka_unit_test(what_cannot_be_is_refused_at_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
