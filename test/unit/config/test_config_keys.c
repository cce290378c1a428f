/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys against the structures and the checks it stands for. */
#include <inttypes.h>

#include "config_test.h"

/* The structure of a group, as bytes. */
union group {
	struct rl_link_cfg link;
	struct rl_ep_cfg ep;
	char byte[sizeof(struct rl_link_cfg) + sizeof(struct rl_ep_cfg)];
};

static int
check(const char *group, const union group *g, char *err, size_t len,
      const char **key)
{
	return strcmp(group, "link") == 0 ?
		       rl_link_cfg_check(&g->link, err, len, key) :
		       rl_ep_cfg_check(&g->ep, err, len, key);
}

static void
defaults(const char *group, union group *g)
{
	memset(g, 0, sizeof(*g));
	if (strcmp(group, "link") == 0)
		rl_link_cfg_defaults(&g->link);
	else
		rl_ep_cfg_defaults(&g->ep);
}

/* Sets a field and asks its library whether it is out of range. */
static bool
in_range(const struct rl_config_key *key, uint64_t v)
{
	const char *at = "";
	char err[200] = "";
	union group g;

	defaults(key->group, &g);
	memcpy(g.byte + key->offset, &v, key->size);
	return check(key->group, &g, err, sizeof(err), &at) == 0 ||
	       strcmp(at, key->name) != 0 || strstr(err, "out of range") == NULL;
}

static void
the_ranges_of_the_table_are_those_that_are_checked(void **state)
{
	const struct rl_config_key *key;
	unsigned int checked = 0;
	size_t n;

	(void)state;
	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		const uint64_t most = key[i].size >= 8 ?
					      UINT64_MAX :
					      (1ull << 8 * key[i].size) - 1;

		if ((strcmp(key[i].group, "link") != 0 &&
		     strcmp(key[i].group, "endpoint") != 0) ||
		    key[i].type != RL_KEY_NUMBER)
			continue;
		checked++;
		assert_true(key[i].max <= most);
		/* one that must agree with another key is open at one end */
		if (key[i].min > 0 && in_range(&key[i], key[i].min - 1))
			fail_msg("%s.%s may be below its least", key[i].group,
				 key[i].name);
		if (key[i].max < most && in_range(&key[i], key[i].max + 1))
			fail_msg("%s.%s may be above its most", key[i].group,
				 key[i].name);
		if (!in_range(&key[i], key[i].max))
			fail_msg("%s.%s may not be its most", key[i].group,
				 key[i].name);
		if (!in_range(&key[i], key[i].min) &&
		    strstr(key[i].meaning, "not below the") == NULL)
			fail_msg("%s.%s may not be its least", key[i].group,
				 key[i].name);
	}
	assert_true(checked > 30);
}

/*
 * Every field has its key: between two keys, in the order of their offsets,
 * there is no room for another field but padding.
 */
static void
check_covered(const char *group, size_t size, size_t unset, size_t unset_size)
{
	union group covered;
	const struct rl_config_key *key;
	size_t n, gap = 0;

	memset(&covered, 0, sizeof(covered));
	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(key[i].group, group) == 0 ||
		    (strcmp(key[i].group, "switch") == 0 &&
		     strcmp(group, "link") == 0)) /* it is there, too */
			memset(covered.byte + key[i].offset, 1, key[i].size);
	memset(covered.byte + unset, 1, unset_size);
	for (size_t i = 0; i < size; i++) {
		gap = covered.byte[i] ? 0 : gap + 1;
		/* padding is shorter than the alignment of what follows it */
		if (gap >= sizeof(uint64_t))
			fail_msg("%s: the field at offset %zu has no key",
				 group, i - gap + 1);
		if (gap >= sizeof(uint32_t) && i + 1 < size && i % 8 == 3)
			fail_msg("%s: the field at offset %zu has no key",
				 group, i - gap + 1);
	}
}

static void
every_field_of_the_structures_is_a_key(void **state)
{
	(void)state;
	check_covered("link", sizeof(struct rl_link_cfg), 0, 0);
	/* the longest packet of an endpoint is set from the links */
	check_covered("endpoint", sizeof(struct rl_ep_cfg),
		      offsetof(struct rl_ep_cfg, max_packet_flits),
		      sizeof(((struct rl_ep_cfg *)0)->max_packet_flits));
}

/* The rest is how the keys are named: their units stand last. */
static void
a_key_with_a_unit_of_time_or_size_ends_in_it(void **state)
{
	const struct rl_config_key *key;
	size_t n;

	(void)state;
	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		const char *name = key[i].name;
		const size_t len = strlen(name);
		const bool ns = len > 3 && strcmp(name + len - 3, "_ns") == 0;

		assert_int_equal(ns, strcmp(key[i].unit, "ns") == 0);
		if (len > 6 && strcmp(name + len - 6, "_flits") == 0)
			assert_string_equal(key[i].unit, "flits");
		assert_true(key[i].meaning[0] != '\0');
		assert_true(key[i].def != NULL ||
			    strcmp(key[i].group, "link") == 0 ||
			    strcmp(key[i].group, "endpoint") == 0 ||
			    strcmp(key[i].group, "controller") == 0);
	}
}

/* A default, written as a file would, is taken and changes nothing. */
static void
every_default_can_be_written_in_a_file(void **state)
{
	struct rl_config *plain = config_take(FIGURE_1);
	const struct rl_config_key *key;
	size_t n;

	(void)state;
	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		char text[900], def[200], shown[20];
		struct rl_config *cfg;

		if (key[i].def != NULL)
			continue;
		rl_config_key_default(&key[i], def, sizeof(def));
		snprintf(text, sizeof(text), FIGURE_1 "%s: { %s = %s; };",
			 key[i].group, key[i].name, def);
		cfg = config_take(text);
		check_same("link", &cfg->link, &plain->link);
		check_same("endpoint", &cfg->endpoint, &plain->endpoint);
		config_drop(cfg);
		/* a short buffer gets what fits, and an end */
		rl_config_key_default(&key[i], shown, sizeof(shown));
		assert_true(strlen(shown) < sizeof(shown));
		rl_config_key_range(&key[i], shown, sizeof(shown));
		assert_true(strlen(shown) < sizeof(shown));
	}
	config_drop(plain);
}

/* Whether a file with this number is refused because of its range. */
static bool
refused(const struct rl_config_key *key, bool list, uint64_t v)
{
	struct rl_config cfg;
	char text[1024], err[RL_ERR_MAX + 512] = "";
	const int n = snprintf(text, sizeof(text),
			       "%s%s = %s{ %s = %" PRIu64 "; }%s;", FIGURE_1,
			       key->group, list ? "( " : "", key->name, v,
			       list ? " )" : "");

	if (rl_config_read_text("text", text, (size_t)n, &cfg, err,
				sizeof(err)) == 0) {
		rl_config_free(&cfg);
		return false;
	}
	return strstr(err, key->name) != NULL &&
	       strstr(err, "is out of range") != NULL;
}

static void
check_limits(const struct rl_config_key *key, bool list)
{
	const char *group = key->group, *name = key->name;

	if (key->min > 0 && !refused(key, list, key->min - 1))
		fail_msg("%s.%s may be below its least", group, name);
	/* one that must agree with another key is open at one end */
	if (refused(key, list, key->min) &&
	    strstr(key->meaning, "not below the") == NULL)
		fail_msg("%s.%s may not be its least", group, name);
	if (refused(key, list, key->max))
		fail_msg("%s.%s may not be its most", group, name);
	if (key->max < INT64_MAX && !refused(key, list, key->max + 1))
		fail_msg("%s.%s may be above its most", group, name);
}

/* In files, of all groups but the fabric's, whose keys its topology has. */
static void
a_number_is_taken_at_its_limits_and_refused_beyond_them(void **state)
{
	const struct rl_config_key *key;
	unsigned int tried = 0;
	size_t n;

	(void)state;
	key = rl_config_keys(&n);
	for (size_t i = 0; i < n; i++) {
		const struct rl_config_key *top = key;

		if (key[i].type != RL_KEY_NUMBER ||
		    strcmp(key[i].group, "fabric") == 0)
			continue;
		while (top < key + n && (top->group[0] != '\0' ||
					 strcmp(top->name, key[i].group) != 0))
			top++;
		if (top == key + n) /* a group in another one */
			continue;
		tried++;
		check_limits(&key[i], top->type == RL_KEY_GROUPS);
	}
	assert_true(tried > 60);
}

/* Versions of libconfig differ in what they read. */
static void
a_number_is_read_in_one_way_or_refused(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *why;
	} bad[] = {
		{"link: {\nwatchdog_ns = 017; };", 8,
		 "the number 017 begins with 0, which may mean octal; write it"},
		{"link: {\nreplay_limit = 08; };", 8, "08 begins with 0"},
		{"link: {\nvc_weights = [1,\n-00L]; };", 9, "-00 begins with 0"},
		{"link: {\nreplay_limit = 1.5; };", 8,
		 "replay_limit is a number with a fraction; it takes a whole"},
		{"link: {\nreplay_limit = 1e2; };", 8, "with a fraction"},
		{"link: {\nreplay_limit = 01.0; };", 8, "with a fraction"},
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "%s%s", FIGURE_1, bad[i].text);
		config_refuse(text, strlen(text), -EINVAL, bad[i].line,
			      bad[i].why);
	}
	config_drop(config_take(FIGURE_1 "link: { replay_limit = 0x0a; };"));
	config_drop(config_take(FIGURE_1 "link: { flap_damping_ns = 0L; };"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ranges_of_the_table_are_those_that_are_checked),
		cmocka_unit_test(every_field_of_the_structures_is_a_key),
		cmocka_unit_test(a_key_with_a_unit_of_time_or_size_ends_in_it),
		cmocka_unit_test(every_default_can_be_written_in_a_file),
		cmocka_unit_test(
			a_number_is_taken_at_its_limits_and_refused_beyond_them),
		cmocka_unit_test(a_number_is_read_in_one_way_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
