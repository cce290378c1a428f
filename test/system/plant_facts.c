/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Numbers that nothing counted. With REFLIT_PLANT=FACTS each number that reflit
 * shows of ports, cores, endpoints, flows and traffic is one of its own, so that
 * test_faces.py knows it wherever it is shown: none is 0, and no two are alike.
 * Number n of the k-th object of a kind, both from 1 on, is
 *
 *     kind * 100000 + k * 1000 + n
 *
 * n counts in the lists below, and counters in their own lists; those of VCs
 * begin at 900. Times are a thousand times as long. See plants.c for __wrap_X()
 * and __real_X().
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

#define PORT_FACTS(X)                                                          \
	X(window)                                                              \
	X(held_flits)                                                          \
	X(outstanding_flits)                                                   \
	X(queued_flits)                                                        \
	X(flits_per_frame)                                                     \
	X(srtt_ns)                                                             \
	X(replay_timer_ns)                                                     \
	X(flaps)                                                               \
	X(corrected_percent)                                                   \
	X(uncorrectable_percent)                                               \
	X(replay_percent)                                                      \
	X(replay_base)                                                         \
	X(replay_acked)                                                        \
	X(replay_next)                                                         \
	X(replay_tail)
#define FLOW_FACTS(X)                                                          \
	X(tx_acked)                                                            \
	X(tx_sent)                                                             \
	X(tx_window)                                                           \
	X(tx_resend_flits)                                                     \
	X(retries)                                                             \
	X(srtt_ns)                                                             \
	X(rto_ns)                                                              \
	X(rx_expected)                                                         \
	X(rx_held_flits)
#define TRAFFIC_FACTS(X)                                                       \
	X(sent)                                                                \
	X(sent_bytes)                                                          \
	X(delivered)                                                           \
	X(under_way)                                                           \
	X(duplicated)                                                          \
	X(reordered)                                                           \
	X(altered)                                                             \
	X(reported)                                                            \
	X(refused)                                                             \
	X(redirected)                                                          \
	X(sent_requests)                                                       \
	X(delivered_requests)                                                  \
	X(sent_responses)                                                      \
	X(delivered_responses)                                                 \
	X(edge.refused)                                                        \
	X(edge.missed)                                                         \
	X(edge.cut)                                                            \
	X(edge.oversize) X(lost) X(inexact) X(unwritten) X(delivered_flits)

enum kind { PORT = 1, CORE, EP, FLOW, TRAFFIC, GENERATOR, KINDS };

#define OBJECTS 20   /* of a kind, at most */
#define COUNTERS 200 /* of an object, at most */
#define OF_VC 900

const uint64_t *__real_rl_port_counters(const struct rl_port *port);
const uint64_t *__wrap_rl_port_counters(const struct rl_port *port);
const uint64_t *__real_rl_core_counters(const struct rl_core *core);
const uint64_t *__wrap_rl_core_counters(const struct rl_core *core);
const uint64_t *__real_rl_ep_counters(const struct rl_ep *ep);
const uint64_t *__wrap_rl_ep_counters(const struct rl_ep *ep);
void __real_rl_port_info(const struct rl_port *port, struct rl_port_info *i);
void __wrap_rl_port_info(const struct rl_port *port, struct rl_port_info *i);
void __real_rl_ep_flow_info(const struct rl_ep *ep, uint32_t i,
			    struct rl_ep_flow_info *info);
void __wrap_rl_ep_flow_info(const struct rl_ep *ep, uint32_t i,
			    struct rl_ep_flow_info *info);
void __real_app_totals(const struct app *app, struct totals *t);
void __wrap_app_totals(const struct app *app, struct totals *t);
const struct rl_delay *__real_rl_tg_delay(const struct rl_tg *tg,
					  unsigned int vc);
const struct rl_delay *__wrap_rl_tg_delay(const struct rl_tg *tg,
					  unsigned int vc);

static bool
planted(void)
{
	const char *plant = getenv("REFLIT_PLANT");

	return plant != NULL && strcmp(plant, "FACTS") == 0;
}

/* Which object of its kind it is, by the order in which they are first seen. */
static unsigned int
number_of(enum kind kind, const void *object, uint32_t part)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct seen {
		const void *object;
		uint32_t part;
	} seen[KINDS][OBJECTS];
	unsigned int k = 0;

	pthread_mutex_lock(&lock);
	while (k + 1 < OBJECTS && seen[kind][k].object != NULL &&
	       (seen[kind][k].object != object || seen[kind][k].part != part))
		k++;
	seen[kind][k] = (struct seen){ object, part };
	pthread_mutex_unlock(&lock);
	return k + 1;
}

static uint32_t
first_of(enum kind kind, const void *object, uint32_t part)
{
	return kind * 100000u + number_of(kind, object, part) * 1000u;
}

static const uint64_t *
counters(enum kind kind, const void *object)
{
	static uint64_t of[KINDS][OBJECTS][COUNTERS];
	const unsigned int k = number_of(kind, object, 0);
	uint64_t *c = of[kind][k - 1];

	for (unsigned int n = 0; n < COUNTERS; n++)
		c[n] = kind * 100000u + k * 1000u + n + 1;
	return c;
}

const uint64_t *
__wrap_rl_port_counters(const struct rl_port *port)
{
	return planted() ? counters(PORT, port) : __real_rl_port_counters(port);
}

const uint64_t *
__wrap_rl_core_counters(const struct rl_core *core)
{
	return planted() ? counters(CORE, core) : __real_rl_core_counters(core);
}

const uint64_t *
__wrap_rl_ep_counters(const struct rl_ep *ep)
{
	return planted() ? counters(EP, ep) : __real_rl_ep_counters(ep);
}

/* Behind those of counters. */
void
__wrap_rl_port_info(const struct rl_port *port, struct rl_port_info *i)
{
	uint32_t n = first_of(PORT, port, 0) + COUNTERS;

	__real_rl_port_info(port, i);
	if (!planted())
		return;
#define SET(name) i->name = ++n;
	PORT_FACTS(SET)
#undef SET
	i->srtt_ns *= 1000;
	i->replay_timer_ns *= 1000;
	i->tx_epoch = (uint8_t)(40 + number_of(PORT, port, 0));
	i->rx_epoch = (uint8_t)(80 + number_of(PORT, port, 0));
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		i->credits[vc] = first_of(PORT, port, 0) + OF_VC + vc;
}

void
__wrap_rl_ep_flow_info(const struct rl_ep *ep, uint32_t i,
		       struct rl_ep_flow_info *info)
{
	uint32_t n = first_of(FLOW, ep, i);

	__real_rl_ep_flow_info(ep, i, info);
	if (!planted())
		return;
#define SET(name) info->name = ++n;
	FLOW_FACTS(SET)
#undef SET
	info->srtt_ns *= 1000;
	info->rto_ns *= 1000;
	info->waits_ns = 0;
}

void
__wrap_app_totals(const struct app *app, struct totals *t)
{
	uint32_t n = first_of(TRAFFIC, "", 0);

	__real_app_totals(app, t);
	if (!planted())
		return;
#define SET(name) t->name = ++n;
	TRAFFIC_FACTS(SET)
#undef SET
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		t->vc_flits[vc] = first_of(TRAFFIC, "", 0) + OF_VC + vc;
}

static struct rl_delay delay[RL_VCS], no_delay;

static void
add(struct rl_hist *h, unsigned int n, uint64_t ns)
{
	while (n-- > 0)
		rl_hist_add(h, ns);
}

/* Each quantile is another; the ends of buckets are exact. */
static void
fill_delays(void)
{
	rl_delay_reset(&no_delay);
	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		rl_delay_reset(&delay[vc]);
	for (unsigned int i = 0; i < 4; i++) {
		static const unsigned int n[] = { 500, 490, 9, 1 };

		add(&delay[0].latency, n[i], (1152u << i) - 1);
		add(&delay[0].jitter, n[i], 101 + i);
		add(&delay[3].latency, 2 * n[i], (1280u << i) - 1);
		add(&delay[3].jitter, 2 * n[i], 111 + i);
	}
}

/* The first generator received packets by VC 0 and 3, and the others none. */
const struct rl_delay *
__wrap_rl_tg_delay(const struct rl_tg *tg, unsigned int vc)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!planted())
		return __real_rl_tg_delay(tg, vc);
	pthread_once(&once, fill_delays);
	return number_of(GENERATOR, tg, 0) == 1 ? &delay[vc] : &no_delay;
}
