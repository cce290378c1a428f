/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "client_gen.h"

void
client_gen_init(struct client_gen *g, struct rl_tg *tg)
{
	memset(g, 0, sizeof(*g));
	g->tg = tg;
	atomic_store(&g->done, 1);
}

static void
post(struct client_gen *g, enum client_gen_order order)
{
	/* release: pairs with the acquire in take_order() */
	atomic_store_explicit(&g->order, order, memory_order_release);
}

static bool
pending(const struct client_gen *g)
{
	/* acquire: pairs with the release in take_order() */
	return atomic_load_explicit(&g->order, memory_order_acquire) !=
	       GEN_ORDER_NONE;
}

int
client_gen_order(struct client_gen *g, const struct client_gen_load *load,
		 bool dead)
{
	if (!dead && pending(g))
		return -EAGAIN;
	if (load != NULL)
		g->ordered = *load;
	post(g, load != NULL ? GEN_ORDER_START : GEN_ORDER_STOP);
	return 0;
}

bool
client_gen_done(const struct client_gen *g)
{
	return !pending(g) &&
	       atomic_load_explicit(&g->done, memory_order_relaxed) != 0;
}

static void
take_order(struct client_gen *g, uint64_t now_ns)
{
	/* acquire: pairs with the release in post() */
	const uint32_t order =
		atomic_load_explicit(&g->order, memory_order_acquire);

	if (rl_likely(order == GEN_ORDER_NONE))
		return;
	if (order == GEN_ORDER_START) {
		/*
		 * here, because a poll that started before the order may set it
		 */
		atomic_store_explicit(&g->done, 0, memory_order_relaxed);
		rl_tg_set(g->tg, g->ordered.pattern, g->ordered.load,
			  g->ordered.packets, g->ordered.duration_ns);
		rl_tg_start(g->tg, now_ns);
	} else {
		rl_tg_stop(g->tg);
	}
	/* release: pairs with the acquire in pending() */
	atomic_store_explicit(&g->order, GEN_ORDER_NONE, memory_order_release);
}

unsigned int
client_gen_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	struct client_gen *g = ctx;
	unsigned int n;

	take_order(g, now_ns);
	n = rl_tg_poll(g->tg, ep, now_ns);
	if (n == 0)
		atomic_store_explicit(&g->done,
				      rl_tg_done(g->tg) &&
					      rl_tg_owed(g->tg) == 0,
				      memory_order_relaxed);
	return n;
}

uint64_t
client_gen_deadline(void *ctx)
{
	return rl_tg_deadline(((struct client_gen *)ctx)->tg);
}
