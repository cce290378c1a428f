/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * reflit-view: a page to watch a fabric, and to break it by a click [APP-5]. A
 * small web server that gets all data from telemetry sockets.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option_next.h"
#include "server.h"

#define NAME "reflit-view"

enum { OPT_LISTEN = 256, OPT_SOCKET, OPT_ORDERS, OPT_ANYWHERE, OPT_HELP,
       OPT_VERSION };

static const struct option longs[] = {
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "allow-orders", no_argument, NULL, OPT_ORDERS },
	{ "orders-from-anywhere", no_argument, NULL, OPT_ANYWHERE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static void
help(void)
{
	fputs("usage: reflit-view [options]\n\n"
	      "Serves a page that shows the fabrics of running reflit "
	      "programs.\n\n"
	      "  --listen ADDR:PORT       serve there; default 127.0.0.1:8080; port 0: any\n"
	      "  --socket PATH            ask this telemetry socket; repeatable; "
	      "default: all that are found\n"
	      "  --allow-orders           let the page cut and heal; reflit "
	      "must allow it, too\n"
	      "  --orders-from-anywhere   take orders from browsers on other machines\n"
	      "  --help, --version\n\n"
	      "Exit status: 0 ended by a signal; 2 unusable arguments, or the "
	      "address is taken.\n", stdout);
}

static int
listen_at(const char *text, struct sockaddr_in *a)
{
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
	fprintf(stderr, NAME ": --listen %s: give ADDRESS:PORT, such as "
		"127.0.0.1:8080\n", text);
	return -EINVAL;
}

static int
add_socket(struct server *s, const char *path)
{
	const int rc = tel_add(&s->tel, path);

	s->tel.search = false;
	if (rc != 0)
		fprintf(stderr, NAME ": --socket %s: %s\n", path,
			strerror(-rc));
	else if (access(path, F_OK) != 0)
		fprintf(stderr, NAME ": --socket %s: %s; looked for again "
			"until it is there\n", path, strerror(errno));
	return rc;
}

/* @return -1: go on; else the exit status */
static int
options(struct server *s, struct sockaddr_in *a, int argc, char **argv)
{
	int c;

	while ((c = option_next(NAME, argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case OPT_LISTEN:
			if (listen_at(optarg, a) != 0)
				return 2;
			break;
		case OPT_SOCKET:
			if (add_socket(s, optarg) != 0)
				return 2;
			break;
		case OPT_ORDERS:
			s->allow_orders = true;
			break;
		case OPT_ANYWHERE:
			s->orders_from_anywhere = true;
			break;
		case OPT_HELP:
			help();
			return 0;
		case OPT_VERSION:
			puts(NAME " " RL_VERSION);
			return 0;
		default:
			return 2;
		}
	}
	if (s->orders_from_anywhere && !s->allow_orders) {
		fprintf(stderr, NAME ": --orders-from-anywhere says whose "
			"orders are taken; give --allow-orders too\n");
		return 2;
	}
	if (optind != argc) {
		fprintf(stderr, NAME ": %s: no argument is expected; see "
			"--help\n", argv[optind]);
		return 2;
	}
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
	if (rc < 0) {
		fprintf(stderr, NAME ": cannot listen at %s:%u: %s\n", addr,
			ntohs(a.sin_port), strerror(-rc));
		return 2;
	}
	printf("http://%s:%d/%s\n", addr, rc,
	       s.allow_orders ? " (orders are allowed)" : "");
	fflush(stdout);
	sigwait(&sigs, &sig);
	server_stop(&s);
	return 0;
}
