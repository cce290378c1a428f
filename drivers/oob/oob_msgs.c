/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the controllers as JSON. Fields that are 0 are left out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "oob_text_priv.h"
#include "rl_local.h"

static const char *const types[] = {
	[RL_RESIL_HELLO] = "hello",
	[RL_RESIL_LINK] = "link",
	[RL_RESIL_STATUS] = "status",
	[RL_RESIL_GAVE_UP] = "gave-up",
	[RL_RESIL_PORT_DONE] = "port-done",
	[RL_RESIL_CALL] = "call",
	[RL_RESIL_LINK_ACK] = "link-ack",
	[RL_RESIL_ORDER] = "order",
	[RL_RESIL_PORT] = "port",
};

/* Numbers of a message: their offsets and limits. */
static const struct field {
	const char *key;
	size_t offset;
	size_t size;
	uint64_t max;
} fields[] = {
#define FIELD(k, f, m)                                                         \
	{k, offsetof(struct rl_resil_msg, f),                                  \
	 sizeof(((struct rl_resil_msg *)0)->f), m}
	FIELD("hold", hold, RL_RESIL_HOLD_ALL),
	FIELD("flags", flags,
	      RL_RESIL_START | RL_RESIL_WAITS | RL_RESIL_QUIET |
		      RL_RESIL_STAGE | RL_RESIL_PASS | RL_RESIL_IDLE),
	FIELD("controller", ctl_inc, INT64_MAX),
	FIELD("local", local_inc, INT64_MAX),
	FIELD("seq", seq, INT64_MAX),
	FIELD("tables", table_epoch, UINT32_MAX),
	FIELD("held", hold_epoch, UINT32_MAX),
	FIELD("activity", activity, INT64_MAX),
	FIELD("age_ns", t_ns, INT64_MAX),
	FIELD("ver", ver, UINT32_MAX),
	FIELD("port", port, UINT16_MAX),
	FIELD("link", link, RL_LOCAL_PORT_DRAIN),
	FIELD("detector", detector, UINT8_MAX),
#undef FIELD
};

static json_t *
msg_json(const struct rl_topo *topo, const struct rl_resil_msg *m)
{
	json_t *j = json_pack("{s:s, s:s}", "type", types[m->type], "device",
			      topo->dev[m->dev].name);

	for (size_t i = 0; j != NULL && i < RL_ARRAY_SIZE(fields); i++) {
		uint64_t v = 0;

		/* little-endian, as rl_flit.h requires */
		memcpy(&v, (const char *)m + fields[i].offset, fields[i].size);
		if (v != 0)
			json_object_set_new(j, fields[i].key,
					    json_integer((json_int_t)v));
	}
	return j;
}

char *
rl_oob_msgs_text(const struct rl_topo *topo, const struct rl_resil_msg *m,
		 uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		if (json_array_append_new(list, msg_json(topo, &m[i])) != 0) {
			json_decref(list);
			return NULL;
		}
	return oob_text_dump(json_pack("{s:i, s:o}", "version", RL_OOB_VERSION,
				       "messages", list));
}

static int
type_of(const char *word)
{
	for (size_t i = 1; word != NULL && i < RL_ARRAY_SIZE(types); i++)
		if (strcmp(word, types[i]) == 0)
			return (int)i;
	return -1;
}

/*
 * Whether a device has that port; reports of its core use the number after the
 * last.
 */
static bool
port_is_there(const struct rl_topo_dev *d, const struct rl_resil_msg *m)
{
	const bool core = m->type == RL_RESIL_GAVE_UP ||
			  m->type == RL_RESIL_LINK_ACK;

	return m->port == 0 || m->port < d->nports + core;
}

static int
read_msg(const struct rl_topo *topo, const json_t *j, struct rl_resil_msg *m)
{
	const char *name = json_string_value(json_object_get(j, "device"));
	const int type = type_of(json_string_value(json_object_get(j, "type")));
	const int32_t dev = name == NULL ? -1 : rl_topo_find_dev(topo, name);
	size_t known = 2;

	if (type < 0 || dev < 0)
		return -EINVAL;
	*m = (struct rl_resil_msg){
		.version = RL_RESIL_VERSION,
		.type = (uint8_t)type,
		.dev = (uint32_t)dev,
	};
	for (size_t i = 0; i < RL_ARRAY_SIZE(fields); i++) {
		uint64_t v;

		if (oob_text_number(j, fields[i].key, fields[i].max, &v) != 0)
			return -EINVAL;
		known += json_object_get(j, fields[i].key) != NULL;
		memcpy((char *)m + fields[i].offset, &v, fields[i].size);
	}
	return known == json_object_size(j) &&
			       port_is_there(&topo->dev[dev], m)
		       ? 0
		       : -EINVAL;
}

int
rl_oob_msgs_read(const struct rl_topo *topo, const char *text, size_t len,
		 struct rl_resil_msg *m)
{
	json_t *j = oob_text_load(text, len);
	const json_t *list = json_object_get(j, "messages");
	int n = -EINVAL;

	if (json_is_array(list) && json_array_size(list) <= RL_OOB_MSGS_MAX) {
		n = (int)json_array_size(list);
		for (int i = 0; i < n; i++)
			if (read_msg(topo, json_array_get(list, (size_t)i),
				     &m[i]) != 0)
				n = -EINVAL;
	}
	json_decref(j);
	return n;
}
