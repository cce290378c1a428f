/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVER_H
#define SERVER_H

/**
 * @file
 * The web server of reflit-view: the page, what it asks for, and its orders.
 *
 * | request                  | answer                                     |
 * |--------------------------|--------------------------------------------|
 * | GET /                    | the page; also /view.js, /view.css, ...    |
 * | GET /api/sources         | processes that answer, and their fabrics   |
 * | GET /api/ask?s=I&c=CMD   | telemetry of source I; CMD begins with     |
 * |                          | /reflit/ and is not an order               |
 * | GET /api/list?s=I&c=CMD  | the same, of a list: all its pages as one  |
 * | GET /metrics             | all sources in the OpenMetrics text form   |
 * | POST /api/order?s=I      | the body is a line of the prompt; only with|
 * |                          | orders allowed, and from loopback          |
 *
 * A browser sends other sites' requests here, too. So an order must have the
 * header X-Reflit-Order, which no foreign page can send, and every request
 * needs a Host that is an address or localhost.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "tel_client.h"

struct MHD_Daemon;

struct server {
	struct tel tel;
	bool allow_orders;
	bool orders_from_anywhere;
	struct MHD_Daemon *daemon;
};

/**
 * Starts to answer at @p addr, with threads of the library's.
 * @return the port listened to (of a port 0: the one chosen), or -errno
 */
int server_start(struct server *s, const struct sockaddr_in *addr);

/** Ends it; requests under way are answered. */
void server_stop(struct server *s);

#endif /* SERVER_H */
