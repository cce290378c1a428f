/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFUSAL_H
#define REFUSAL_H

/**
 * @file
 * Why a port does not train with the peer at the other end of its cable
 * [LINK-8]: for events, the prompt, telemetry and reports.
 */

#include "host.h"

#define REFUSAL_TEXT_MAX 224

/**
 * Control thread, or any that may read the fabric. @return buf; empty if no
 * peer was refused
 */
const char *refusal_text(const struct host *h, uint32_t dev, uint16_t port,
			 const struct rl_refused *r,
			 char buf[REFUSAL_TEXT_MAX]);

/** The same for a port as it is now: empty if its link is up, or off. */
const char *refusal_now(const struct host *h, uint32_t dev, uint16_t port,
			char buf[REFUSAL_TEXT_MAX]);

/** Whether a port of this process is in a wrong socket. */
bool refusal_miscabled(const struct host *h);

#endif /* REFUSAL_H */
