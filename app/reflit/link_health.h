/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINK_HEALTH_H
#define LINK_HEALTH_H

/**
 * @file
 * How a link is: what was ordered, what it does, why, and since when. It is
 * worked out whenever somebody asks, so it is true at that moment.
 *
 * Control thread, or a thread of telemetry's between mirror_enter() and
 * mirror_leave().
 */

#include "app.h"

/** What was ordered of a link. X(name, word). */
#define LINK_ADMINS(X)                                                         \
	X(UP, "up")                                                            \
	X(DOWN, "down")	      /* disabled by command, or by the controller */  \
	X(DRAINED, "drained")                                                  \
	X(REMOVED, "removed") /* it, or a device at its ends */                \
	X(LEFT, "left")	      /* the controller left it, because it is ill */  \
	X(FAILED, "failed")   /* `fail` of the fabric file */                  \
	X(REMOTE, "remote")   /* both ends are in other processes */

enum link_admin {
#define LINK_ADMIN_ENUM(name, word) LINK_ADMIN_##name,
	LINK_ADMINS(LINK_ADMIN_ENUM)
#undef LINK_ADMIN_ENUM
};

/** What it does. X(name, word). */
#define LINK_OPERS(X)                                                          \
	X(UP, "up")                                                            \
	X(DEGRADED, "degraded") /* up, and its error rate is high */           \
	X(TRAINING, "training") /* also: no peer answers */                    \
	X(REFUSED, "refused")	/* what is plugged in does not belong there */ \
	X(DOWN, "down")                                                        \
	X(REMOTE, "remote")

enum link_oper {
#define LINK_OPER_ENUM(name, word) LINK_OPER_##name,
	LINK_OPERS(LINK_OPER_ENUM)
#undef LINK_OPER_ENUM
};

#define LINK_WHY_MAX 512
#define LINK_END_MAX 80

struct link_health {
	enum link_admin admin;
	enum link_oper oper;
	bool crashed;	   /**< a device at its ends has crashed */
	bool miscabled;	   /**< REFUSED: the cable, not the key or release */
	bool fresh;	   /**< no port of it has done anything yet */
	uint64_t since_ns; /**< of `oper`; host_now()'s time */
	char why[LINK_WHY_MAX]; /**< "": it is up, and was asked to be */
};

void link_health(const struct app *app, uint32_t link, struct link_health *h);

/**
 * Whether nothing can be wrong with it, by a glance: link_health() would say up
 * and up. Cheap.
 */
bool link_is_well(const struct app *app, uint32_t link);

/** "s0/1", or "s0/1(veth0)" where an ethdev is at that end. @return buf */
const char *link_end_name(const struct app *app, uint32_t link, int end,
			  char buf[LINK_END_MAX]);

const char *link_admin_name(enum link_admin a);
const char *link_oper_name(enum link_oper o);

#endif /* LINK_HEALTH_H */
