/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's channel: keys of the group `controller`. */
#include <stdio.h>
#include <string.h>

#include "config_impl.h"

#define LIFE_NS (3 * RL_NS_PER_S)

/* Text of a key, or leaves `text` alone; the length has been checked. */
static void
take_text(const config_setting_t *s, const char *key, char *text, size_t len)
{
	const config_setting_t *e = config_setting_get_member(s, key);

	if (e != NULL)
		snprintf(text, len, "%s", config_setting_get_string(e));
}

static int
take_urls(struct cfg_ctx *c, const config_setting_t *list,
	  struct rl_channel *ch)
{
	const int n = config_setting_length(list);

	if (n == 0 || n > RL_ETCD_MAX)
		return cfg_error_at(c, list,
				    "controller.etcd names %d servers; name 1 "
				    "to %d", n, RL_ETCD_MAX);
	for (int i = 0; i < n; i++) {
		const config_setting_t *e =
			config_setting_get_elem(list, (unsigned int)i);
		const char *url = config_setting_get_string(e);
		size_t len = strlen(url);

		/* check before any error could print it */
		if (strchr(url, '@') != NULL)
			return cfg_error_at(c, e,
					    "controller.etcd: server %d has a "
					    "user or a password in its address "
					    "(an @); give them as etcd_user and "
					    "etcd_password_file", i + 1);
		if ((strncmp(url, "http://", 7) != 0 &&
		     strncmp(url, "https://", 8) != 0) ||
		    url[strcspn(url, " \"\\?#")] != '\0')
			return cfg_error_at(c, e,
					    "controller.etcd: %.64s is not "
					    "the address of a server; write "
					    "http://HOST:PORT or "
					    "https://HOST:PORT", url);
		while (len > 0 && url[len - 1] == '/')
			len--;
		if (len >= sizeof(ch->url[0]))
			return cfg_error_at(c, e,
					    "controller.etcd: an address has "
					    "%zu characters; at most %zu are "
					    "possible", len,
					    sizeof(ch->url[0]) - 1);
		memcpy(ch->url[i], url, len);
		ch->url[i][len] = '\0';
	}
	ch->nurl = (uint32_t)n;
	return 0;
}

/* Keys that are useless without others. */
static int
check_channel(struct cfg_ctx *c, const config_setting_t *s,
	      const struct rl_channel *ch)
{
	static const char *const only[] = {
		"etcd", "etcd_prefix", "etcd_user", "etcd_password_file",
		"etcd_ca_file", "etcd_cert_file", "etcd_key_file", "life_ns",
	};

	for (size_t i = 0; ch->kind == RL_CHANNEL_LOCAL &&
			   i < RL_ARRAY_SIZE(only); i++)
		if (config_setting_get_member(s, only[i]) != NULL)
			return cfg_error_at(
				c, config_setting_get_member(s, only[i]),
				"controller.%s: the channel is \"local\"; set "
				"channel = \"etcd\", or leave this out",
				only[i]);
	if (ch->kind == RL_CHANNEL_LOCAL)
		return 0;
	if (ch->nurl == 0)
		return cfg_error_at(c, s,
				    "controller.channel is \"etcd\", and no "
				    "server is named; add etcd = "
				    "[\"http://127.0.0.1:2379\"]");
	if ((ch->user[0] == '\0') != (ch->password_file[0] == '\0'))
		return cfg_error_at(c, s,
				    "controller: etcd_user and "
				    "etcd_password_file go together; add %s",
				    ch->user[0] == '\0' ? "etcd_user"
							: "etcd_password_file");
	if ((ch->cert_file[0] == '\0') != (ch->key_file[0] == '\0'))
		return cfg_error_at(c, s,
				    "controller: etcd_cert_file and "
				    "etcd_key_file go together; add %s",
				    ch->cert_file[0] == '\0'
					    ? "etcd_cert_file"
					    : "etcd_key_file");
	if (ch->life_ns % RL_NS_PER_S != 0)
		return cfg_error_at(c, config_setting_get_member(s, "life_ns"),
				    "controller.life_ns: %llu is not a "
				    "whole number of seconds, which etcd "
				    "requires; use, for example, 3000000000",
				    (unsigned long long)ch->life_ns);
	if (ch->prefix[strcspn(ch->prefix, " \"\\")] != '\0' ||
	    ch->prefix[strlen(ch->prefix) - 1] == '/')
		return cfg_error_at(
			c, config_setting_get_member(s, "etcd_prefix"),
			"controller.etcd_prefix: %s has a space, a quote, a "
			"backslash, or a slash at its end; use a name like "
			"/reflit", ch->prefix);
	return 0;
}

int
cfg_channel(struct cfg_ctx *c, const config_setting_t *s,
	    struct rl_channel *ch)
{
	const config_setting_t *list, *kind, *life;
	int ret = 0;

	*ch = (struct rl_channel){ .life_ns = LIFE_NS, .prefix = "/reflit" };
	if (s == NULL)
		return 0;
	list = config_setting_get_member(s, "etcd");
	kind = config_setting_get_member(s, "channel");
	life = config_setting_get_member(s, "life_ns");
	if (kind != NULL ? strcmp(config_setting_get_string(kind), "etcd") == 0
			 : list != NULL)
		ch->kind = RL_CHANNEL_ETCD;
	if (list != NULL) {
		cfg_note(c, list, &ch->line, &ch->file);
		ret = take_urls(c, list, ch);
	}
	if (life != NULL)
		ch->life_ns = (uint64_t)config_setting_get_int64(life);
	take_text(s, "etcd_prefix", ch->prefix, sizeof(ch->prefix));
	take_text(s, "etcd_user", ch->user, sizeof(ch->user));
	take_text(s, "etcd_password_file", ch->password_file,
		  sizeof(ch->password_file));
	take_text(s, "etcd_ca_file", ch->ca_file, sizeof(ch->ca_file));
	take_text(s, "etcd_cert_file", ch->cert_file, sizeof(ch->cert_file));
	take_text(s, "etcd_key_file", ch->key_file, sizeof(ch->key_file));
	return ret == 0 ? check_channel(c, s, ch) : ret;
}
