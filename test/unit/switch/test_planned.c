/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planned changes under load, on real ports and cores: a link is drained and
 * comes back [LINK-5, RES-3]; traffic is quiesced, routes change, links return
 * [LINK-C33]. Nothing loops that need not, nothing is lost, and every flow keeps
 * its order.
 */
#include "../../few.h"
#include "duo.h"
#include "parts.h"

#define US RL_NS_PER_US
#define MS RL_NS_PER_MS

struct load {
	struct rl_flit *pkt[DUO_FLOWS]; /* cut-through: what is still to come */
	struct rl_prng prng;
};

static void
prepare(struct duo *d, struct load *l, enum rl_switching switching)
{
	memset(l, 0, sizeof(*l));
	rl_prng_seed(&l->prng, 3);
	duo_cfg(d, 3);
	d->pool_flits = 768;
	d->cfg.switching = switching;
	duo_open(d);
}

static void
one_flit(struct duo *d, struct load *l, unsigned int f)
{
	if (l->pkt[f] != NULL)
		duo_give(d, parts_cut(&l->pkt[f], 1));
}

/* Something of every flow, all the time; parts where packets come in parts. */
static void
traffic(struct duo *d, struct load *l, unsigned int us)
{
	for (unsigned int t = 0; t < us; t++) {
		const unsigned int f = rl_prng_below(&l->prng, DUO_FLOWS);
		const unsigned int n = 1 + rl_prng_below(&l->prng, 8);

		if (d->cfg.switching == RL_CUT_THROUGH) {
			if (l->pkt[f] == NULL && d->pool.cache.count > 256)
				l->pkt[f] = duo_make(d, f, n);
			for (unsigned int i = 0; i < DUO_FLOWS; i++)
				one_flit(d, l, i);
		} else if (t % 4 == 0 && d->pool.cache.count > 256) {
			duo_send(d, f, n);
		}
		duo_run(d, US);
	}
}

/* No new packets; those that have begun end. */
static void
quiesce(struct duo *d, struct load *l)
{
	for (unsigned int i = 0; i < 8 * DUO_FLOWS; i++)
		one_flit(d, l, i % DUO_FLOWS);
	duo_settle(d, 5 * MS);
}

static uint64_t
looped(const struct duo *d)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < d->links; i++)
		n += COUNTER(&d->a.end[i], looped_packets) +
		     COUNTER(&d->b.end[i], looped_packets);
	return n;
}

static void
a_link_drained_under_load_loops_nothing(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < 2; mode++)
		for (unsigned int step = 0; step < 60; step += FEW(3)) {
			struct load l;
			struct duo d;

			prepare(&d, &l, mode == 0 ? RL_STORE_AND_FORWARD
						  : RL_CUT_THROUGH);
			traffic(&d, &l, 60 + step);
			/* by one end or the other, or both */
			if (step % 3 != 0)
				rl_port_drain_down(d.a.end[0].port, d.now_ns);
			if (step % 3 != 1)
				rl_port_drain_down(d.b.end[0].port, d.now_ns);
			traffic(&d, &l, 300);
			assert_int_not_equal(bench_state(&d.a.end[0]),
					     RL_LINK_UP);
			assert_int_equal(looped(&d), 0);
			rl_port_up(d.a.end[0].port, d.now_ns);
			rl_port_up(d.b.end[0].port, d.now_ns);
			traffic(&d, &l, 600);
			assert_int_equal(bench_state(&d.a.end[0]),
					 RL_LINK_UP);
			assert_int_equal(rl_core_egress_state(d.a.core, 1),
					 RL_EGRESS_ALIVE);
			quiesce(&d, &l);
			assert_int_equal(looped(&d), 0);
			assert_int_equal(d.again_flits, 0);
			duo_check(&d);
			duo_close(&d);
		}
}

/* The link that takes over dies, at every step of a drain; or the drained. */
static void
a_link_may_die_at_every_step_of_a_drain(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < 2; mode++)
		for (unsigned int step = 0; step < 80; step += FEW(3)) {
			uint64_t n = 0, few = 0;
			struct load l;
			struct duo d;

			prepare(&d, &l, mode == 0 ? RL_STORE_AND_FORWARD
						  : RL_CUT_THROUGH);
			traffic(&d, &l, 60);
			rl_port_drain_down(d.a.end[0].port, d.now_ns);
			traffic(&d, &l, step / 2);
			duo_kill(&d, step % 2);
			traffic(&d, &l, 200);
			duo_heal(&d, step % 2);
			rl_port_up(d.a.end[0].port, d.now_ns);
			traffic(&d, &l, 400);
			quiesce(&d, &l);
			duo_check(&d);
			/* a drain is none unless it dies with packets */
			for (unsigned int i = 0; i < 2; i++) {
				n += COUNTER(&d.a.end[i], deaths);
				few += COUNTER(&d.a.end[i], looped_packets) > 0;
			}
			assert_in_range(DUO_COUNTER(&d.a, failovers), few, n);
			duo_close(&d);
		}
}

/* A table in which every flow begins one link later. */
static void
other_routes(struct duo *d, struct rl_fwd *fwd, struct rl_fwd_entry *entry)
{
	const unsigned int n = DUO_FLOWS * d->a.fwd.ndst;

	*fwd = d->a.fwd;
	fwd->epoch++;
	rl_fwd_entries(fwd, entry);
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < RL_FWD_ALTS; k++) {
			struct rl_fwd_hop h = d->a.entry[i].hop[k];

			if (h.port != RL_FWD_PORT_NONE)
				h.port = (uint16_t)(1 + h.port % d->links) &
					 0x1fff;
			entry[i].hop[k] = h;
		}
}

/*
 * A link dies under load; traffic is quiesced at any moment after that, new
 * routes are installed, traffic goes on; the link returns, the same again.
 */
static void
quiesce_new_routes_and_a_link_added_again_under_load(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < 2; mode++)
		for (unsigned int step = 0; step < 60; step += 2 * FEW(3)) {
			struct rl_fwd_entry entry[DUO_FLOWS * (DUO_EP + 1)];
			struct rl_fwd fwd;
			struct load l;
			struct duo d;

			prepare(&d, &l, mode == 0 ? RL_STORE_AND_FORWARD
						  : RL_CUT_THROUGH);
			other_routes(&d, &fwd, entry);
			traffic(&d, &l, 60);
			duo_kill(&d, 0);
			traffic(&d, &l, step);
			quiesce(&d, &l);
			rl_core_set_fwd(d.a.core, &fwd);
			traffic(&d, &l, 100);
			duo_heal(&d, 0);
			traffic(&d, &l, step);
			quiesce(&d, &l);
			rl_core_set_fwd(d.a.core, &d.a.fwd);
			traffic(&d, &l, 400);
			quiesce(&d, &l);
			assert_int_equal(rl_core_egress_state(d.a.core, 1),
					 RL_EGRESS_ALIVE);
			duo_check(&d);
			duo_close(&d);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE("a link drained under load loops nothing [LINK-5, RES-3]",
		     a_link_drained_under_load_loops_nothing),
		CASE("a link may die at every step of a drain [LINK-C30]",
		     a_link_may_die_at_every_step_of_a_drain),
		CASE("LINK-C33 quiesce, new routes, and a link added again, "
		     "under load",
		     quiesce_new_routes_and_a_link_added_again_under_load),
	};

	return cmocka_run_group_tests_name("planned changes", tests, NULL,
					   NULL);
}
