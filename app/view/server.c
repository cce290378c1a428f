/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "embedded.h"
#include "metrics.h"
#include "rl_base.h"
#include "server.h"

/* page/, see meson.build */
extern const struct embedded view_page[];

#define ORDER_MAX 256
#define CMD_MAX TEL_CMD_MAX
/**
 * One address may have half of them. A connection that is idle for this long
 * is closed.
 */
#define CONNECTIONS_MAX 256u
#define IDLE_S 4u

struct request {
	size_t len;
	char body[ORDER_MAX];
};

static enum MHD_Result
answer(struct MHD_Connection *c, unsigned int status, const char *type,
       const void *data, size_t len, enum MHD_ResponseMemoryMode mode)
{
	/* the library takes a writable pointer, but does not write */
	union { const void *in; void *out; } p = { .in = data };
	struct MHD_Response *r = MHD_create_response_from_buffer(len, p.out,
								 mode);
	enum MHD_Result ret;

	if (r == NULL)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", type);
	MHD_add_response_header(r, "Cache-Control", "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "X-Frame-Options", "DENY");
	MHD_add_response_header(r, "Content-Security-Policy",
				"default-src 'none'; script-src 'self'; "
				"style-src 'self'; connect-src 'self'; "
				"img-src 'self' data:");
	ret = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result
answer_json(struct MHD_Connection *c, unsigned int status, json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY);

	json_decref(o);
	if (text == NULL)
		return MHD_NO;
	return answer(c, status, "application/json", text, strlen(text),
		      MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result
refuse(struct MHD_Connection *c, unsigned int status, const char *why)
{
	return answer_json(c, status, json_pack("{s:s}", "error", why));
}

/* The source that a request names; 0 if it names none. */
static unsigned int
source(struct MHD_Connection *c)
{
	const char *text = MHD_lookup_connection_value(c,
						       MHD_GET_ARGUMENT_KIND,
						       "s");
	const unsigned long i = text != NULL ? strtoul(text, NULL, 10) : 0;

	return i < TEL_SOURCES_MAX ? (unsigned int)i : TEL_SOURCES_MAX;
}

/* The command that a request names, if it is allowed. */
static const char *
command(struct MHD_Connection *c)
{
	const char *cmd = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND,
						      "c");

	if (cmd == NULL || strlen(cmd) >= CMD_MAX ||
	    strncmp(cmd, "/reflit/", 8) != 0 ||
	    strncmp(cmd, "/reflit/order", 13) == 0)
		return NULL;
	return cmd;
}

static enum MHD_Result
get_sources(struct server *s, struct MHD_Connection *c)
{
	json_t *list = json_array();
	char path[TEL_PATH_MAX];

	tel_find(&s->tel);
	for (unsigned int i = 0; i < TEL_SOURCES_MAX; i++) {
		json_t *fabric = tel_ask(&s->tel, i, "/reflit/fabric",
					 TEL_ASK_S, NULL);

		if (json_is_object(fabric) && tel_path(&s->tel, i, path))
			json_array_append_new(list,
				json_pack("{s:i, s:s, s:O, s:b}", "source",
					  (int)i, "path", path, "fabric",
					  fabric, "orders",
					  (int)s->allow_orders));
		json_decref(fabric);
	}
	return answer_json(c, MHD_HTTP_OK, list);
}

static enum MHD_Result
get_ask(struct server *s, struct MHD_Connection *c)
{
	const char *cmd = command(c);
	json_t *v;

	if (cmd == NULL)
		return refuse(c, MHD_HTTP_BAD_REQUEST,
			      "c: a command of /reflit/, but not an order");
	v = tel_ask(&s->tel, source(c), cmd, TEL_ASK_S, NULL);
	if (v == NULL)
		return refuse(c, MHD_HTTP_BAD_GATEWAY, "no answer");
	return answer_json(c, MHD_HTTP_OK, v);
}

static enum MHD_Result
get_list(struct server *s, struct MHD_Connection *c)
{
	const char *cmd = command(c);
	char path[TEL_PATH_MAX];

	if (cmd == NULL || strchr(cmd, ',') != NULL)
		return refuse(c, MHD_HTTP_BAD_REQUEST,
			      "c: a list of /reflit/, without a number");
	if (!tel_path(&s->tel, source(c), path))
		return refuse(c, MHD_HTTP_BAD_GATEWAY, "no answer");
	return answer_json(c, MHD_HTTP_OK, tel_list(&s->tel, source(c), cmd));
}

static enum MHD_Result
get_metrics(struct server *s, struct MHD_Connection *c)
{
	size_t len = 0;
	char *text = metrics_text(&s->tel, &len);

	if (text == NULL)
		return refuse(c, MHD_HTTP_INTERNAL_SERVER_ERROR,
			      "out of memory");
	return answer(c, MHD_HTTP_OK, METRICS_TYPE, text, len,
		      MHD_RESPMEM_MUST_FREE);
}

static bool
from_loopback(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i = MHD_get_connection_info(
		c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr_in *a =
		i != NULL ? (const void *)i->client_addr : NULL;

	return a != NULL && a->sin_family == AF_INET &&
	       ntohl(a->sin_addr.s_addr) >> 24 == 127;
}

static enum MHD_Result
post_order(struct server *s, struct MHD_Connection *c, struct request *r)
{
	char cmd[ORDER_MAX + 24];
	json_t *v;

	if (!s->allow_orders)
		return refuse(c, MHD_HTTP_FORBIDDEN,
			      "orders are not allowed: start reflit-view with "
			      "--allow-orders");
	if (!s->orders_from_anywhere && !from_loopback(c))
		return refuse(c, MHD_HTTP_FORBIDDEN,
			      "orders are taken from this machine only");
	if (MHD_lookup_connection_value(c, MHD_HEADER_KIND,
					"X-Reflit-Order") == NULL)
		return refuse(c, MHD_HTTP_FORBIDDEN, "not from the page");
	if (r->len == 0 || r->len >= ORDER_MAX ||
	    memchr(r->body, '\n', r->len) != NULL ||
	    memchr(r->body, '\0', r->len) != NULL)
		return refuse(c, MHD_HTTP_BAD_REQUEST,
			      "an order is one line of the prompt");
	snprintf(cmd, sizeof(cmd), "/reflit/order,%.*s", (int)r->len, r->body);
	v = tel_ask(&s->tel, source(c), cmd, TEL_ORDER_S, NULL);
	if (v == NULL)
		return refuse(c, MHD_HTTP_BAD_GATEWAY, "no answer");
	return answer_json(c, MHD_HTTP_OK, v);
}

/* Protects against DNS rebinding: Host must be an address or localhost. */
static bool
host_is_ours(struct MHD_Connection *c)
{
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND,
						       "Host");

	if (host == NULL)
		return true;
	if (strncmp(host, "localhost", 9) == 0)
		return host[9] == '\0' || host[9] == ':';
	return host[0] == '[' || strspn(host, "0123456789.:") == strlen(host);
}

static const char *
type_of(const char *name)
{
	const char *end = strrchr(name, '.');

	return strcmp(end, ".js") == 0	  ? "text/javascript"
	       : strcmp(end, ".css") == 0 ? "text/css"
					  : "text/html; charset=utf-8";
}

static enum MHD_Result
get(struct server *s, struct MHD_Connection *c, const char *url)
{
	const struct embedded *file;

	if (strcmp(url, "/api/sources") == 0)
		return get_sources(s, c);
	if (strcmp(url, "/api/ask") == 0)
		return get_ask(s, c);
	if (strcmp(url, "/api/list") == 0)
		return get_list(s, c);
	if (strcmp(url, "/metrics") == 0)
		return get_metrics(s, c);
	file = embedded_find(view_page, url[1] == '\0' ? "index.html" : url + 1);
	if (file != NULL)
		return answer(c, MHD_HTTP_OK, type_of(file->name), file->text,
			      file->len, MHD_RESPMEM_PERSISTENT);
	return refuse(c, MHD_HTTP_NOT_FOUND, "no such page");
}

static enum MHD_Result
on_request(void *cls, struct MHD_Connection *c, const char *url,
	   const char *method, RL_UNUSED const char *version,
	   const char *upload, size_t *upload_len, void **state)
{
	struct request *r = *state;

	if (r == NULL) {
		*state = calloc(1, sizeof(*r));
		return *state != NULL ? MHD_YES : MHD_NO;
	}
	if (*upload_len != 0) {
		for (size_t i = 0; i < *upload_len; i++, r->len++) {
			if (r->len < ORDER_MAX)
				r->body[r->len] = upload[i];
		}
		*upload_len = 0;
		return MHD_YES;
	}
	if (!host_is_ours(c))
		return refuse(c, MHD_HTTP_FORBIDDEN,
			      "call this page by address or as localhost");
	if (strcmp(method, "GET") == 0)
		return get(cls, c, url);
	if (strcmp(method, "POST") == 0 && strcmp(url, "/api/order") == 0)
		return post_order(cls, c, r);
	return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, or POST an order");
}

static void
on_end(RL_UNUSED void *cls, RL_UNUSED struct MHD_Connection *c, void **state,
       RL_UNUSED enum MHD_RequestTerminationCode why)
{
	free(*state);
	*state = NULL;
}

int
server_start(struct server *s, const struct sockaddr_in *addr)
{
	const union MHD_DaemonInfo *info;

	errno = 0;
	s->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_THREAD_PER_CONNECTION,
		0, NULL, NULL,
		on_request, s, MHD_OPTION_SOCK_ADDR, addr,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS_MAX / 2,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
		MHD_OPTION_END);
	if (s->daemon == NULL)
		return errno != 0 ? -errno : -EADDRINUSE;
	info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
	return info != NULL ? info->port : ntohs(addr->sin_port);
}

void
server_stop(struct server *s)
{
	MHD_stop_daemon(s->daemon);
	tel_close(&s->tel);
}
