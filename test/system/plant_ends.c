/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * With REFLIT_PLANT=ENDS, what ethdevs of wires and attached ports counted are
 * numbers of their own: number n of the k-th end, both from 1 on, is
 *
 *     7000000 + k * 1000 + n
 *
 * n counts in the lists below, in that order. Nothing passes attached ports. An
 * end of a wire sends INIT frames all the time, so its own counters are a million
 * times as large: the rest is what was sent since. See plants.c for __wrap_X()
 * and __real_X().
 */

#include <stdlib.h>
#include <string.h>

#include "app.h"

#define STATS_FACTS(X)                                                         \
	X(missed)                                                              \
	X(rx_errors)                                                           \
	X(no_mbuf)                                                             \
	X(tx_errors)                                                           \
	X(discarded)
#define PHY_FACTS(X)                                                           \
	X(tx_frames)                                                           \
	X(tx_bytes)                                                            \
	X(tx_backpressure)                                                     \
	X(tx_no_mbuf)                                                          \
	X(rx_frames)                                                           \
	X(rx_bounced)                                                          \
	X(rx_oversize)
#define CLIENT_FACTS(X)                                                        \
	X(rx_frames)                                                           \
	X(rx_oversize)                                                         \
	X(rx_refused)                                                          \
	X(rx_stalled)                                                          \
	X(rx_cut)                                                              \
	X(rx_nested)                                                           \
	X(rx_completed)                                                        \
	X(tx_frames)                                                           \
	X(tx_too_long)                                                         \
	X(tx_not_taken)                                                        \
	X(tx_no_mbuf)

#define LIVE 1000000u

void __real_attach_note_stats(struct attach *a);
void __wrap_attach_note_stats(struct attach *a);
void __real_host_wires_note_stats(struct host *h);
void __wrap_host_wires_note_stats(struct host *h);
const uint64_t *__real_host_steer_counts(const struct host *h, uint32_t wire,
					 int end);
const uint64_t *__wrap_host_steer_counts(const struct host *h, uint32_t wire,
					 int end);

static bool
planted(void)
{
	const char *plant = getenv("REFLIT_PLANT");

	return plant != NULL && strcmp(plant, "ENDS") == 0;
}

/* Ends of wires from 1 on, attached ports from 11 on. */
static uint64_t
first_of(uint32_t k)
{
	return 7000000 + k * 1000;
}

static uint64_t
plant_stats(struct rl_netdev_stats *s, uint64_t n)
{
#define SET(name) s->name = ++n;
	STATS_FACTS(SET)
#undef SET
	return n;
}

void
__wrap_attach_note_stats(struct attach *a)
{
	__real_attach_note_stats(a);
	for (uint32_t i = 0; planted() && i < a->ndev; i++) {
		struct client_dev_counters *c = &a->dev[i].client.c;
		uint64_t n = plant_stats(&a->dev[i].stats, first_of(11 + i));

#define SET(name) c->name = ++n;
		CLIENT_FACTS(SET)
#undef SET
	}
}

void
__wrap_host_wires_note_stats(struct host *h)
{
	__real_host_wires_note_stats(h);
	for (uint32_t i = 0; planted() && i < 2 * h->p.cfg->nwire; i++) {
		struct rl_wire_dev *d = (struct rl_wire_dev *)(uintptr_t)
			host_wire_dev(h, i / 2, (int)(i % 2));
		struct rl_phy_eth_counters *c =
			&h->phy[2 * h->p.cfg->wire[i / 2].index + i % 2].c;
		uint64_t n = plant_stats(&d->stats, first_of(1 + i));

#define SET(name) c->name = ++n * LIVE;
		PHY_FACTS(SET)
#undef SET
	}
}

/* As if XDP had looked at each frame: behind the others. */
const uint64_t *
__wrap_host_steer_counts(const struct host *h, uint32_t wire, int end)
{
	static uint64_t of[20][RL_STEER_COUNTS];
	const uint32_t k = 2 * wire + (uint32_t)end;

	if (!planted())
		return __real_host_steer_counts(h, wire, end);
	for (unsigned int v = 0; v < RL_STEER_COUNTS; v++)
		of[k][v] = first_of(1 + k) + 900 + v;
	return of[k];
}
