/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * See plants.h. The linker redirects calls of X() to __wrap_X(), and __real_X()
 * is the original. One lcore only, because the bugs have one state.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plants.h"
#include "rl_endpoint.h"
#include "rl_flit_cache.h"
#include "rl_route.h"
#include "rl_tg.h"

struct rl_flit *__real_rl_ep_recv(struct rl_ep *ep);
struct rl_flit *__wrap_rl_ep_recv(struct rl_ep *ep);
struct rl_tg *__real_rl_tg_init(void *mem, const struct rl_tg_cfg *cfg,
				struct rl_flit_cache *cache);
struct rl_tg *__wrap_rl_tg_init(void *mem, const struct rl_tg_cfg *cfg,
				struct rl_flit_cache *cache);
int __real_rl_route_setup(const struct rl_topo *topo, const char *engine,
			  unsigned int max_vls, unsigned int levels,
			  struct rl_route **out, char *err);
int __wrap_rl_route_setup(const struct rl_topo *topo, const char *engine,
			  unsigned int max_vls, unsigned int levels,
			  struct rl_route **out, char *err);

static struct rl_flit_cache *cache; /* of the one lcore */
static struct rl_ep *victim;
static struct rl_flit *kept;
static bool release; /* the kept packet is next */
static struct rl_tg *tg;
static unsigned int seen;

static bool
planted(const char *name)
{
	const char *plant = getenv("REFLIT_PLANT");

	return plant != NULL && strcmp(plant, name) == 0;
}

unsigned int
plant_log_records(void)
{
	return planted("LOG") ? 3 : 16384;
}

unsigned int
plant_notices(void)
{
	return planted("NOTICES") ? 1 : 131072;
}

struct rl_tg *
__wrap_rl_tg_init(void *mem, const struct rl_tg_cfg *cfg,
		  struct rl_flit_cache *c)
{
	cache = c;
	tg = __real_rl_tg_init(mem, cfg, c);
	return tg;
}

int
__wrap_rl_route_setup(const struct rl_topo *topo, const char *engine,
		      unsigned int max_vls, unsigned int levels,
		      struct rl_route **out, char *err)
{
	const int ret = __real_rl_route_setup(topo, engine, max_vls, levels,
					      out, err);

	if (ret == 0 && (planted("LIE") || planted("UNPROVEN")))
		(*out)->accepted = planted("LIE");
	for (uint32_t d = 0; ret == 0 && planted("LIE") && d < topo->ndev; d++)
		if (topo->dev[d].kind == RL_DEV_SWITCH) {
			/* all traffic takes the first port, to one endpoint */
			struct rl_fwd *f = &(*out)->fwd[d];

			for (uint16_t p = 0; p < f->nplanes; p++)
				for (uint16_t i = 0; i < f->ndst; i++) {
					struct rl_fwd_hop *h =
						rl_fwd_at(f, p, i, 0);

					for (int k = 0; k < 1 << f->room[p]; k++)
						h[k].port = RL_FWD_PORT_NONE;
					h[0].port = 1;
				}
		}
	return ret;
}

static struct rl_flit *
copy_of(const struct rl_flit *pkt)
{
	struct rl_flit *head = NULL, **at = &head, *f = NULL;

	for (; pkt != NULL; pkt = pkt->next) {
		f = rl_flit_get(cache);
		*f = *pkt;
		f->next = NULL;
		*at = f;
		at = &f->next;
	}
	head->last = f;
	return head;
}

/* Applies the bug to a packet. */
static struct rl_flit *
spoil(struct rl_ep *ep, struct rl_flit *pkt)
{
	if (planted("DUPLICATE")) {
		kept = copy_of(pkt);
		release = true;
	} else if (planted("REORDER")) {
		kept = pkt;
		return NULL;
	} else if (planted("ALTER")) {
		pkt->wire[120] ^= 0x10;
	} else if (planted("LOSE")) {
		rl_packet_put(cache, pkt);
		return __real_rl_ep_recv(ep);
	} else if (planted("LEAK")) {
		(void)rl_flit_get(cache);
	} else if (planted("INEXACT")) {
		rl_tg_report(tg, &(struct rl_ep_report){ .tag = 12345 });
	}
	return pkt;
}

struct rl_flit *
__wrap_rl_ep_recv(struct rl_ep *ep)
{
	struct rl_flit *pkt;

	if (victim == NULL)
		victim = ep;
	if (ep != victim)
		return __real_rl_ep_recv(ep);
	if (planted("STUCK") && seen >= PLANT_OF)
		return NULL;
	if (kept != NULL && release) {
		pkt = kept;
		kept = NULL;
		return pkt;
	}
	pkt = __real_rl_ep_recv(ep);
	if (pkt == NULL)
		return NULL;
	release = kept != NULL; /* another packet has overtaken it */
	return ++seen == PLANT_OF ? spoil(ep, pkt) : pkt;
}
