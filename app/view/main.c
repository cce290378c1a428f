/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-view: a page to watch a fabric, and to break it by a click [APP-5]. A
 * small web server that gets all data from telemetry sockets.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opts.h"
#include "rl_base.h"
#include "say_error.h"
#include "server.h"

#define NAME "reflit-view"

struct options {
	struct server *server;
	struct sockaddr_in *addr;
	bool allow_orders, anywhere, help, version;
};

static int
listen_at(RL_UNUSED const struct opt *opt, const char *text, void *to)
{
	struct sockaddr_in *const a = ((struct options *)to)->addr;
	const char *colon = strrchr(text, ':');
	char addr[INET_ADDRSTRLEN] = "", *end = NULL;
	unsigned long port;

	if (colon != NULL && colon - text < (long)sizeof(addr)) {
		memcpy(addr, text, (size_t)(colon - text));
		port = strtoul(colon + 1, &end, 10);
		if (colon[1] >= '0' && colon[1] <= '9' && *end == '\0' &&
		    port <= 65535 && inet_pton(AF_INET, addr, &a->sin_addr) ==
		    1) {
			a->sin_port = htons((uint16_t)port);
			return 0;
		}
	}
	return -EINVAL;
}

static int
add_socket(RL_UNUSED const struct opt *opt, const char *path, void *to)
{
	struct server *const s = ((struct options *)to)->server;
	const int rc = tel_add(&s->tel, path);

	s->tel.search = false;
	if (rc != 0)
		fprintf(stderr, NAME ": --socket %s: %s\n", path,
			strerror(-rc));
	else if (access(path, F_OK) != 0)
		fprintf(stderr, NAME ": --socket %s: %s; retrying "
			"until it exists\n", path, strerror(errno));
	return rc != 0 ? -EBADMSG : 0;
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

/* @return -1: go on; else the exit status */
static int
options(struct server *s, struct sockaddr_in *a, int argc, char **argv)
{
	struct options o = { .server = s, .addr = a };
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
	s->allow_orders = o.allow_orders;
	s->orders_from_anywhere = o.anywhere;
	if (s->orders_from_anywhere && !s->allow_orders)
		return say_error(2, NAME ": --orders-from-anywhere needs "
				 "--allow-orders, too\n");
	if (first != argc)
		return say_error(2, NAME ": %s: no argument is expected; see "
				 "--help\n", argv[first]);
	return -1;
}

int
main(int argc, char **argv)
{
	struct server s = { .tel = { .search = true } };
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(8080) };
	char addr[INET_ADDRSTRLEN];
	sigset_t sigs;
	int rc, sig;

	/* a thread serves a connection: no heap for each of them */
	(void)mallopt(M_ARENA_MAX, 2);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tel_open(&s.tel);
	rc = options(&s, &a, argc, argv);
	if (rc >= 0)
		return rc;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&sigs);
	sigaddset(&sigs, SIGINT);
	sigaddset(&sigs, SIGTERM);
	sigaddset(&sigs, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &sigs, NULL); /* also of the threads to come */
	rc = server_start(&s, &a);
	inet_ntop(AF_INET, &a.sin_addr, addr, sizeof(addr));
	if (rc < 0)
		return say_error(2, NAME ": cannot listen at %s:%u: %s\n", addr,
				 ntohs(a.sin_port), strerror(-rc));
	printf("http://%s:%d/%s\n", addr, rc,
	       s.allow_orders ? " (orders are allowed)" : "");
	fflush(stdout);
	sigwait(&sigs, &sig);
	server_stop(&s);
	return 0;
}
