/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-view: a page to watch a fabric, and to break it by a click [APP-5]. This
 * is its command line; driver/view.py is the web server.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "opts.h"
#include "rl_base.h"
#include "say_error.h"

#define NAME "reflit-view"
#define SOCKETS_MAX 32 /* as in driver/sources.py */
#define PATH_MAX_BYTES 107u /* of a Unix socket's address */

struct options {
	char addr[INET_ADDRSTRLEN];
	const char *port;
	char *socket[SOCKETS_MAX];
	unsigned int nsockets;
	bool allow_orders, anywhere, help, version;
};

static int
listen_at(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct options *const o = to;
	const char *colon = strrchr(text, ':');
	struct in_addr in;
	char *end;

	if (colon == NULL || (size_t)(colon - text) >= sizeof(o->addr) ||
	    colon[1] < '0' || colon[1] > '9' ||
	    strtoul(colon + 1, &end, 10) > 65535 || *end != '\0')
		return -EINVAL;
	snprintf(o->addr, sizeof(o->addr), "%.*s", (int)(colon - text), text);
	o->port = colon + 1;
	return inet_pton(AF_INET, o->addr, &in) == 1 ? 0 : -EINVAL;
}

static int
add_socket(RL_UNUSED const struct opt *opt, const char *path, void *to)
{
	struct options *const o = to;
	int err = 0;

	for (unsigned int i = 0; i < o->nsockets; i++)
		if (strcmp(o->socket[i], path) == 0)
			return 0;
	if (strlen(path) > PATH_MAX_BYTES)
		err = ENAMETOOLONG;
	else if (o->nsockets == SOCKETS_MAX)
		err = E2BIG;
	if (err != 0)
		return say_error(-EBADMSG, NAME ": --socket %s: %s\n", path,
				 strerror(err));
	o->socket[o->nsockets++] = (char *)(uintptr_t)path;
	if (access(path, F_OK) != 0)
		fprintf(stderr, NAME ": --socket %s: %s; retrying "
			"until it exists\n", path, strerror(errno));
	return 0;
}

#define TO(field) offsetof(struct options, field)

static const struct opt table[] = {
	{ "listen", "ADDR:PORT", listen_at, 0, 0, 0,
	  "ADDRESS:PORT, such as 127.0.0.1:8080",
	  .help = "serve there; default 127.0.0.1:8080; port 0: any" },
	{ "socket", "PATH", add_socket, 0,
	  .help = "ask this telemetry socket; repeatable; default: all that are found" },
	{ "allow-orders", NULL, NULL, TO(allow_orders),
	  .help = "let the page cut and heal; reflit must allow it, too" },
	{ "orders-from-anywhere", NULL, NULL, TO(anywhere),
	  .help = "take orders from browsers on other machines" },
	{ .name = "help", .at = TO(help) },
	{ .name = "version", .at = TO(version) },
	{ .name = NULL },
};

static const struct opts program = {
	.program = NAME,
	.usage = "usage: reflit-view [options]\n\n"
		 "Serves a page that shows the fabrics of running reflit "
		 "programs.\n\n",
	.more = "  --help, --version\n\n"
		"Exit status: 0 ended by a signal; 2 unusable arguments, or "
		"the address is taken.\n",
	.table = table,
	.column = 27,
	.give = true,
};

/* Becomes the server, which waits for signals. @return only if that fails */
static int
serve(struct options *o)
{
	static char none[] = "none", here[] = "here", anywhere[] = "anywhere";
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t sigs;
	int n;
	char **args = driver_args(NAME, "view", VIEW_INSTALLED, "view.py",
				  SOCKETS_MAX + 3, &n);

	if (args == NULL)
		return 2;
	args[n++] = o->addr;
	args[n++] = (char *)(uintptr_t)o->port;
	args[n++] = !o->allow_orders ? none : o->anywhere ? anywhere : here;
	memcpy(args + n, o->socket, o->nsockets * sizeof(*args));
	sigemptyset(&sigs);
	for (size_t i = 0; i < RL_ARRAY_SIZE(ends); i++)
		sigaddset(&sigs, ends[i]);
	sigprocmask(SIG_BLOCK, &sigs, NULL);
	/* a thread serves a connection: no heap for each of them */
	(void)setenv("MALLOC_ARENA_MAX", "2", 0);
	execvp(args[0], args);
	driver_failed(NAME);
	free(args);
	return 2;
}

int
main(int argc, char **argv)
{
	struct options o = { .addr = "127.0.0.1", .port = "8080" };
	const int first = opts_read(&program, argc, argv, &o);

	if (first < 0)
		return 2;
	if (o.help) {
		opts_help(&program);
		return 0;
	}
	if (o.version) {
		puts(NAME " " RL_VERSION);
		return 0;
	}
	if (o.anywhere && !o.allow_orders)
		return say_error(2, NAME ": --orders-from-anywhere needs "
				 "--allow-orders, too\n");
	if (first != argc)
		return say_error(2, NAME ": %s: no argument is expected; see "
				 "--help\n", argv[first]);
	return serve(&o);
}
