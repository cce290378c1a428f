/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A controller's job [RES-6]: tables that stay as long as a device reads them,
 * and a way to install them that is proven with all tables in use.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rl_tables.h"

#define DEVS 32
#define LINKS 64

/* A torus of 4 by 4, and what a job says of it. */
struct world {
	struct rl_topo topo;
	struct rl_route *first;
	struct rl_tables *t;
	struct rl_controller_job job;
	struct rl_controller_result res;
	uint8_t link_ok[LINKS];
	uint8_t dev_ok[DEVS], unsure[DEVS], silent[DEVS], waits[DEVS];
	uint32_t present[DEVS];
};

static struct world w;

static void
open_tables(const char *engine, bool retry, bool link_retry)
{
	const struct rl_tables_params p = {
		.topo = &w.topo, .engine = engine, .vls = 8, .levels = 1,
		.retry = retry, .link_retry = link_retry,
	};

	rl_tables_free(w.t);
	w.t = rl_tables_new(&p, w.first);
	assert_non_null(w.t);
	memset(w.link_ok, RL_LINK_USE, sizeof(w.link_ok));
	memset(w.dev_ok, 1, sizeof(w.dev_ok));
	memset(w.unsure, 0, sizeof(w.unsure));
	memset(w.silent, 0, sizeof(w.silent));
	memset(w.waits, 0, sizeof(w.waits));
	memset(w.present, 0, sizeof(w.present));
	w.job = (struct rl_controller_job){
		.mode = RL_RESIL_AUTO, .link_ok = w.link_ok,
		.dev_ok = w.dev_ok, .present = w.present,
		.unsure = w.unsure, .silent = w.silent, .waits = w.waits,
	};
}

static int
open_world(void **state)
{
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	(void)state;
	memset(&w, 0, sizeof(w));
	rl_topo_spec_defaults(&spec, RL_TOPO_TORUS);
	spec.ndims = 2;
	spec.dims[0] = spec.dims[1] = 4;
	if (rl_topo_build(&spec, &w.topo, err, NULL) != 0 ||
	    w.topo.ndev > DEVS || w.topo.nlink > LINKS ||
	    rl_route_setup(&w.topo, NULL, 8, 1, &w.first, err) != 0)
		return -1;
	open_tables(NULL, true, false);
	return 0;
}

static int
close_world(void **state)
{
	(void)state;
	rl_tables_free(w.t);
	rl_route_free(w.first);
	rl_topo_free(&w.topo);
	return 0;
}

static uint32_t
link_of(const char *name)
{
	const int64_t l = rl_topo_find_link(&w.topo, name, NULL);

	assert_true(l >= 0);
	return (uint32_t)l;
}

static uint32_t
dev_of(const char *name)
{
	const int32_t d = rl_topo_find_dev(&w.topo, name);

	assert_true(d >= 0);
	return (uint32_t)d;
}

static int
compute(void)
{
	w.job.epoch++;
	rl_tables_compute(w.t, &w.job, &w.res);
	assert_int_equal(w.res.epoch, w.job.epoch);
	return w.res.status;
}

/* All devices, but for @p but, have what was computed last. */
static void
install(uint32_t but)
{
	for (uint32_t d = 0; d < w.topo.ndev; d++) {
		if (d == but)
			continue;
		w.present[d] = w.job.epoch;
		rl_tables_installed(w.t, d, w.job.epoch);
	}
}

/* Whether a path of the newest tables crosses a link. */
static bool
crosses(uint32_t src, uint32_t dst, uint32_t link)
{
	uint32_t dev = w.topo.ep_dev[src];
	const struct rl_fwd *f = rl_tables_fwd(w.t, rl_tables_newest(w.t), dev);
	const uint8_t sl = f->path_sl[dst];
	uint16_t in = f->nports;
	uint8_t vl = 0;

	for (unsigned int hops = 0; dev != w.topo.ep_dev[dst]; hops++) {
		const struct rl_topo_port *tp;
		struct rl_fwd_hop h;

		assert_true(hops < 64);
		f = rl_tables_fwd(w.t, rl_tables_newest(w.t), dev);
		h = rl_fwd_lookup(f, in == f->nports ? f->inject_plane[sl]
						     : f->plane_of[vl][sl],
				  (uint16_t)dst).hop[0];
		assert_true(h.port < f->nports);
		tp = &w.topo.dev[dev].port[h.port];
		if (tp->link == link)
			return true;
		vl = rl_fwd_vl(f, h.plane, in, h.port, sl);
		in = tp->peer_port;
		dev = tp->peer_dev;
	}
	return false;
}

static bool
used(uint32_t link)
{
	for (uint32_t src = 0; src < w.topo.nep; src++)
		for (uint32_t dst = 0; dst < w.topo.nep; dst++)
			if (src != dst && crosses(src, dst, link))
				return true;
	return false;
}

static void
tables_stay_as_long_as_one_device_reads_them(void **state)
{
	const uint32_t s0 = dev_of("s0.0");
	struct rl_fwd_hop *was;
	const struct rl_fwd *old;
	size_t bytes;

	(void)state;
	w.link_ok[link_of("s0.0-s0.1")] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	install(UINT32_MAX);
	old = rl_tables_fwd(w.t, 1, s0);
	/* its first plane */
	bytes = old->ndst * sizeof(*was) << old->room[0];
	was = malloc(bytes);
	memcpy(was, old->list[0], bytes);
	for (uint32_t i = 0; i < 12; i++) {
		w.link_ok[link_of("s2.0-s2.1")] =
			i % 2 == 0 ? RL_LINK_NO : RL_LINK_USE;
		w.link_ok[link_of("s0.0-s0.1")] =
			i % 3 == 0 ? RL_LINK_NO : RL_LINK_USE;
		w.job.mode = RL_RESIL_FULL;
		assert_int_equal(compute(), 0);
		install(s0);
		assert_ptr_equal(rl_tables_fwd(w.t, 1, s0), old);
		assert_memory_equal(old->list[0], was, bytes);
		assert_int_equal(rl_tables_newest(w.t), w.job.epoch);
	}
	free(was);
}

static void
what_all_have_and_is_right_is_not_computed_again(void **state)
{
	(void)state;
	assert_int_equal(compute(), -EALREADY);
	w.link_ok[link_of("s0.0-s0.1")] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	install(UINT32_MAX);
	assert_int_equal(compute(), -EALREADY);
	w.job.mode = RL_RESIL_FULL; /* asked for by hand */
	assert_int_equal(compute(), 0);
	w.job.mode = RL_RESIL_AUTO;
	w.waits[dev_of("s0.0")] = 1;
	assert_int_equal(compute(), 0);
}

/* [RES-7] */
static void
a_link_to_be_avoided_is_used_only_if_there_is_no_other_way(void **state)
{
	const uint32_t isl = link_of("s0.0-s0.1"), own = link_of("e0.0-s0.0");

	(void)state;
	w.job.mode = RL_RESIL_FULL;
	w.link_ok[isl] = RL_LINK_AVOID;
	assert_int_equal(compute(), 0);
	assert_true(w.res.avoided);
	assert_false(used(isl));
	w.link_ok[isl] = RL_LINK_USE;
	w.link_ok[own] = RL_LINK_AVOID;
	assert_int_equal(compute(), 0);
	assert_false(w.res.avoided);
	assert_true(used(own) && used(isl));
	/* back, and it degrades: better than nothing */
	w.link_ok[own] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	install(UINT32_MAX);
	w.link_ok[own] = RL_LINK_AVOID;
	assert_int_equal(compute(), 0);
	assert_false(w.res.avoided);
	assert_true(used(own));
}

/* Whether the newest tables of an endpoint's switch lead to another at all. */
static bool
leads(const char *from, const char *to)
{
	const struct rl_topo_dev *ep = &w.topo.dev[dev_of(from)];
	const struct rl_fwd *f = rl_tables_fwd(w.t, rl_tables_newest(w.t),
					       ep->port[0].peer_dev);

	return rl_fwd_lookup(f, f->plane_of[0][0],
			     w.topo.dev[dev_of(to)].ep_id)
		       .hop[0].port != RL_FWD_PORT_NONE;
}

static void
each_part_has_its_tables_and_leads_nowhere_else(void **state)
{
	(void)state;
	for (uint32_t y = 0; y < 4; y++) { /* between columns 0 and 1, 2 and 3 */
		char name[16];

		snprintf(name, sizeof(name), "s0.%u-s1.%u", y, y);
		w.link_ok[link_of(name)] = RL_LINK_NO;
		snprintf(name, sizeof(name), "s3.%u-s2.%u", y, y);
		w.link_ok[link_of(name)] = RL_LINK_NO;
	}
	assert_int_equal(compute(), 0);
	assert_true(leads("e0.0", "e3.2") && leads("e1.1", "e2.3"));
	assert_false(leads("e0.0", "e1.0") || leads("e2.2", "e3.2"));
	w.link_ok[link_of("s0.0-s1.0")] = RL_LINK_USE;
	assert_int_equal(compute(), 0);
	assert_true(leads("e2.2", "e3.2"));
}

/* [RES-6]: packets without a way by the old tables wait in a switch, and
 * prevent no partial hold. */
static void
flows_that_wait_for_new_tables_are_held_alone(void **state)
{
	(void)state;
	/* s1.1 has one link left, which no detour knows */
	w.link_ok[link_of("s1.1-s1.2")] = RL_LINK_NO;
	w.link_ok[link_of("s1.1-s1.0")] = RL_LINK_NO;
	w.link_ok[link_of("s1.1-s0.1")] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_PARTIAL);
	assert_true(w.res.held_flows > 0 && w.res.held_flows < 240 / 2);
}

static void
crash(uint32_t dev)
{
	for (uint16_t p = 0; p < w.topo.dev[dev].nports; p++)
		w.link_ok[w.topo.dev[dev].port[p].link] = RL_LINK_NO;
}

/* It keeps the tables that it had, for ever perhaps. */
static void
a_crashed_device_makes_no_other_stop(void **state)
{
	const uint32_t dead = dev_of("s1.1");

	(void)state;
	crash(dead);
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_PARTIAL);
	install(dead);
	w.link_ok[link_of("s3.2-s3.3")] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	assert_int_not_equal(w.res.mode, RL_RESIL_FULL);
	install(dead);
	/* one of its links works: it may do anything */
	w.link_ok[link_of("s1.1-s1.2")] = RL_LINK_USE;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_FULL);
}

/*
 * [RES-5]: tokens hold no flow; partial mode would, until all know of the
 * crashed switch.
 */
static void
after_a_crash_no_flow_is_held_if_tokens_arrive(void **state)
{
	const uint32_t dead = dev_of("s1.1");

	(void)state;
	open_tables(NULL, true, true);
	crash(dead);
	w.silent[0] = 1; /* a silent device passes none on */
	assert_int_equal(compute(), 0);
	assert_int_not_equal(w.res.mode, RL_RESIL_TOKENS);
	w.silent[0] = 0;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_TOKENS);
	assert_non_null(rl_tables_pass(w.t, w.job.epoch, 0));
	install(dead);
	/* the next failure is unrelated */
	w.link_ok[link_of("s3.2-s3.3")] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	assert_true(w.res.mode == RL_RESIL_LIVE ||
		    w.res.mode == RL_RESIL_TOKENS);
}

/* A digest of the newest tables. */
static uint64_t
sum_of_tables(void)
{
	uint64_t sum = 0;

	for (uint32_t d = 0; d < w.topo.ndev; d++) {
		const struct rl_fwd *f =
			rl_tables_fwd(w.t, rl_tables_newest(w.t), d);

		for (uint16_t e = 0; e < f->ndst; e++)
			sum = sum * 31 +
			      rl_fwd_word(f, f->plane_of[0][0], e) +
			      (f->path_sl != NULL ? f->path_sl[e] : 0);
	}
	return sum;
}

static void
what_is_prepared_changes_nothing_but_time(void **state)
{
	uint64_t sum[2][4];
	uint32_t held[2][4];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		open_tables(NULL, true, false);
		for (unsigned int n = 0; n < 4; n++) {
			if (i == 1)
				rl_tables_prepare(w.t);
			w.link_ok[40 + n] = RL_LINK_NO;
			assert_int_equal(compute(), 0);
			install(UINT32_MAX);
			sum[i][n] = sum_of_tables();
			held[i][n] = w.res.held_flows + 1000 * w.res.mode;
		}
	}
	assert_memory_equal(sum[0], sum[1], sizeof(sum[0]));
	assert_memory_equal(held[0], held[1], sizeof(held[0]));
}

/* Shortest ways round a torus wait for each other in a circle. */
static void
tables_that_the_checker_refuses_are_not_handed_out(void **state)
{
	(void)state;
	open_tables("minhop", true, true);
	w.job.mode = RL_RESIL_FULL;
	w.link_ok[link_of("s0.0-s0.1")] = RL_LINK_NO;
	assert_int_not_equal(compute(), 0);
	assert_int_equal(rl_tables_newest(w.t), 0);
	assert_null(rl_tables_fwd(w.t, w.job.epoch, 0));
	assert_true(rl_tables_why(w.t)[0] != '\0');
}

/* Of a mix of three generations nothing is proven: all come to rest. */
static void
if_devices_have_different_tables_all_is_held(void **state)
{
	(void)state;
	w.link_ok[link_of("s0.0-s0.1")] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	assert_true(w.res.mode == RL_RESIL_LIVE ||
		    w.res.mode == RL_RESIL_PARTIAL);
	for (uint32_t d = 0; d < w.topo.ndev; d += 2)
		w.present[d] = 1;
	w.link_ok[link_of("s2.0-s2.1")] = RL_LINK_NO;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_FULL);
	/* also where they may have */
	for (uint32_t d = 0; d < w.topo.ndev; d++)
		w.present[d] = 1;
	w.unsure[3] = 1;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_FULL);
}

/* The first link whose death asks for some flows to be held. */
static const struct rl_flows *
find_partial(uint32_t *link)
{
	for (*link = 0; *link < w.topo.nlink; ++*link) {
		if (w.topo.link[*link].kind != RL_LINK_ISL)
			continue;
		w.link_ok[*link] = RL_LINK_NO;
		if (compute() == 0 && w.res.mode == RL_RESIL_PARTIAL)
			return rl_tables_flows(w.t, w.job.epoch);
		w.link_ok[*link] = RL_LINK_USE;
	}
	fail_msg("each link may die and nobody is held");
	return NULL;
}

static void
with_a_flow_that_is_held_its_acknowledgments_are(void **state)
{
	const struct rl_flows *f;
	uint32_t link, n = 0;

	(void)state;
	f = find_partial(&link);
	for (uint32_t s = 0; s < f->nep; s++)
		for (uint32_t d = 0; d < f->nep; d++) {
			n += rl_flows_has(f, s, d);
			assert_int_equal(rl_flows_has(f, s, d),
					 rl_flows_has(f, d, s));
		}
	assert_int_equal(n, w.res.held_flows);
	assert_true(n > 0 && n < f->nep * (f->nep - 1) / 2);
}

static void
a_source_that_does_not_answer_is_not_asked_to_hold(void **state)
{
	const struct rl_flows *f;
	uint32_t link, src = 0;

	(void)state;
	f = find_partial(&link);
	while (f->bit[(size_t)src * f->words] == 0)
		src++;
	w.silent[w.topo.ep_dev[src]] = 1;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_FULL);
	w.job.mode = RL_RESIL_PARTIAL;
	/* [RES-8]: that is no fault of the tables; when it answers they may do */
	assert_int_equal(compute(), -ETIME);
	assert_non_null(strstr(rl_tables_why(w.t), "does not answer"));
}

static void
flows_of_an_endpoint_that_is_removed_come_to_an_end_first(void **state)
{
	const uint32_t dev = dev_of("e1.1"), ep = w.topo.dev[dev].ep_id;
	const struct rl_flows *f;

	(void)state;
	w.dev_ok[dev] = 0;
	w.link_ok[link_of("e1.1-s1.1")] = RL_LINK_LEAVE;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_PARTIAL);
	f = rl_tables_flows(w.t, w.job.epoch);
	for (uint32_t e = 0; e < f->nep; e++) {
		if (e == ep)
			continue;
		assert_true(rl_flows_has(f, e, ep));
		assert_true(rl_flows_has(f, ep, e));
	}
}

/* Without retry nothing but the way keeps the order of what is on it. */
static void
without_retry_no_way_changes_while_anything_moves(void **state)
{
	(void)state;
	open_tables(NULL, false, false);
	w.link_ok[link_of("s0.0-s0.1")] = RL_LINK_NO;
	w.job.renew = true;
	assert_int_equal(compute(), 0);
	assert_int_equal(w.res.mode, RL_RESIL_FULL);
	w.job.mode = RL_RESIL_LIVE;
	assert_int_equal(compute(), -EHOSTUNREACH);
	assert_non_null(strstr(rl_tables_why(w.t), "the mode forbids it"));
	w.job.mode = RL_RESIL_PARTIAL;
	assert_int_equal(compute(), -EHOSTUNREACH);
	/* packets looped out of a link that dies now may be overtaken */
	open_tables(NULL, false, true);
	w.link_ok[link_of("s0.0-s0.1")] = RL_LINK_NO;
	w.job.renew = true;
	assert_int_equal(compute() == 0 ? w.res.mode : 0, RL_RESIL_FULL);
	w.job.mode = RL_RESIL_TOKENS; /* by order */
	assert_int_equal(compute() == 0 ? w.res.mode : 0, RL_RESIL_TOKENS);
}

static void
live_is_a_bound_and_not_a_wish(void **state)
{
	uint32_t link;

	(void)state;
	(void)find_partial(&link);
	w.job.mode = RL_RESIL_LIVE;
	assert_int_equal(compute(), -EHOSTUNREACH);
	assert_non_null(strstr(rl_tables_why(w.t), "not proven"));
}

/* Two of its links die, and it goes on by its old tables and their detours. */
static int
refused_for(const struct rl_topo_dev *d, uint32_t dev, unsigned int a,
	    unsigned int b)
{
	int ret;

	w.link_ok[d->port[a].link] = w.link_ok[d->port[b].link] = RL_LINK_NO;
	ret = compute();
	if (ret == 0) {
		w.silent[dev] = 1;
		ret = compute() == 0 ? 0 : 1;
		w.silent[dev] = 0;
	}
	w.link_ok[d->port[a].link] = w.link_ok[d->port[b].link] = RL_LINK_USE;
	return ret;
}

static void
tables_that_do_not_mix_with_a_silent_device_are_refused(void **state)
{
	unsigned int fits = 0, refused = 0;

	(void)state;
	w.job.mode = RL_RESIL_FULL;
	for (uint32_t dev = 0; dev < w.topo.ndev; dev++) {
		const struct rl_topo_dev *d = &w.topo.dev[dev];

		/* port 0 is its endpoint's */
		for (unsigned int a = 1; a < d->nports; a++)
			for (unsigned int b = 1; b < a; b++) {
				const int ret = refused_for(d, dev, a, b);

				assert_true(ret >= 0);
				fits += ret == 0;
				refused += ret == 1;
				if (ret == 1)
					assert_non_null(
						strstr(rl_tables_why(w.t),
						       "does not answer"));
			}
	}
	assert_true(fits > 0 && refused > 0);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
	const struct CMUnitTest tests[] = {
		T(tables_stay_as_long_as_one_device_reads_them),
		T(what_all_have_and_is_right_is_not_computed_again),
		T(a_link_to_be_avoided_is_used_only_if_there_is_no_other_way),
		T(each_part_has_its_tables_and_leads_nowhere_else),
		T(flows_that_wait_for_new_tables_are_held_alone),
		T(a_crashed_device_makes_no_other_stop),
		T(after_a_crash_no_flow_is_held_if_tokens_arrive),
		T(what_is_prepared_changes_nothing_but_time),
		T(tables_that_the_checker_refuses_are_not_handed_out),
		T(if_devices_have_different_tables_all_is_held),
		T(with_a_flow_that_is_held_its_acknowledgments_are),
		T(a_source_that_does_not_answer_is_not_asked_to_hold),
		T(flows_of_an_endpoint_that_is_removed_come_to_an_end_first),
		T(without_retry_no_way_changes_while_anything_moves),
		T(live_is_a_bound_and_not_a_wish),
		T(tables_that_do_not_mix_with_a_silent_device_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
