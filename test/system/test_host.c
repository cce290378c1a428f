/* SPDX-License-Identifier: BSD-3-Clause */

/* Parts of the lcore host that need no lcores: placement, proof of frames. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "../figure1.h"
#include "client_gen.h"
#include "host_mem.h"
#include "host_place.h"
#include "proof.h"
#include "rl_crc32c.h"
#include "rl_route.h"

static const char fabric_text[] =
	FIGURE1_FABRIC;
/* s0 and three ports, s1 and three ports, e0 and one port, e1 and one */
#define ROLES 12u

static void
read_fabric(struct rl_config *cfg, const char *more)
{
	char text[1024], err[RL_ERR_MAX + 512];
	const int n = snprintf(text, sizeof(text), "%s%s", fabric_text, more);

	if (rl_config_read_text("text", text, (size_t)n, cfg, err,
				sizeof(err)) != 0)
		fail_msg("%s", err);
}

static void
roles_are_called_after_their_devices(void **state)
{
	struct rl_config cfg;
	char name[HOST_ROLE_NAME];

	(void)state;
	read_fabric(&cfg, "");
	assert_string_equal(host_role_name(&cfg.topo, 0, -1, name), "s0");
	assert_string_equal(host_role_name(&cfg.topo, 0, 2, name), "s0/2");
	assert_string_equal(host_role_name(&cfg.topo, 3, 0, name), "e1/0");
	rl_config_free(&cfg);
}

static void
with_lcores_enough_every_device_has_its_own(void **state)
{
	struct host_place p;
	struct rl_config cfg;
	uint16_t lcore[ROLES];
	unsigned int used[10 + ROLES] = { 0 };
	char err[RL_ERR_MAX + 512];

	(void)state;
	read_fabric(&cfg, "");
	for (uint16_t i = 0; i < ROLES; i++)
		lcore[i] = 10 + i;
	assert_int_equal(host_place(&cfg, NULL, -1, lcore, ROLES, &p, err,
				    sizeof(err)),
			 0);
	assert_int_equal(p.nroles, ROLES);
	for (uint32_t d = 0; d < cfg.topo.ndev; d++) {
		const uint16_t at = p.lcore[host_role(&p, d, -1)];

		assert_int_equal(used[at]++, 0);
		for (int i = 0; i < cfg.topo.dev[d].nports; i++)
			assert_int_equal(p.lcore[host_role(&p, d, i)], at);
	}
	host_place_free(&p);
	rl_config_free(&cfg);
}

static void
with_fewer_lcores_than_devices_a_device_stays_together(void **state)
{
	const uint16_t lcore[] = { 1, 2, 3 };
	struct host_place p;
	struct rl_config cfg;
	char err[RL_ERR_MAX + 512];

	(void)state;
	read_fabric(&cfg, "");
	for (uint32_t n = 1; n <= 3; n++) {
		unsigned int used[4] = { 0 };

		assert_int_equal(host_place(&cfg, NULL, -1, lcore, n, &p, err,
					    sizeof(err)),
				 0);
		for (uint32_t d = 0; d < cfg.topo.ndev; d++)
			for (int i = -1; i < cfg.topo.dev[d].nports; i++) {
				const uint16_t at =
					p.lcore[host_role(&p, d, i)];

				assert_int_equal(
					at, p.lcore[host_role(&p, d, -1)]);
				used[at]++;
			}
		for (uint32_t i = 1; i <= n; i++)
			assert_true(used[i] != 0);
		host_place_free(&p);
	}
	rl_config_free(&cfg);
}

/* The tables of a fabric, and its devices dealt out to @p n lcores 0, 1 ... */
static struct rl_route *
deal(const struct rl_config *cfg, int process, uint32_t n,
     struct host_place *p)
{
	uint16_t lcore[8];
	struct rl_route *route = NULL;
	char err[RL_ERR_MAX + 512];

	for (uint16_t i = 0; i < n; i++)
		lcore[i] = i;
	if (rl_route_setup(&cfg->topo, "updown", RL_VCS, 1, &route, err) != 0)
		fail_msg("%s", err);
	assert_int_equal(host_place(cfg, route->fwd, process, lcore, n, p, err,
				    sizeof(err)),
			 0);
	return route;
}

static void
an_endpoint_is_dealt_out_with_the_switch_it_hangs_from(void **state)
{
	struct host_place p;
	struct rl_config cfg;
	struct rl_route *route;

	(void)state;
	read_fabric(&cfg, "");
	route = deal(&cfg, -1, 2, &p);
	/* s0, s1, e0, e1: only the two links between the switches cross */
	assert_int_equal(p.lcore[host_role(&p, 0, -1)],
			 p.lcore[host_role(&p, 2, -1)]);
	assert_int_equal(p.lcore[host_role(&p, 1, -1)],
			 p.lcore[host_role(&p, 3, -1)]);
	assert_int_not_equal(p.lcore[host_role(&p, 0, -1)],
			     p.lcore[host_role(&p, 1, -1)]);
	host_place_free(&p);
	rl_route_free(route);
	rl_config_free(&cfg);
}

static const char star_text[] =
	"fabric: {\n"
	"  topology = \"custom\";\n"
	"  switches = ( { name = \"s0\"; } );\n"
	"  endpoints = ( { name = \"e0\"; }, { name = \"e1\"; },\n"
	"                { name = \"e2\"; }, { name = \"e3\"; } );\n"
	"  links = ( { a = \"e0\"; b = \"s0\"; }, { a = \"e1\"; b = \"s0\"; },\n"
	"            { a = \"e2\"; b = \"s0\"; }, { a = \"e3\"; b = \"s0\"; } );\n"
	"};\n";

static void
a_packet_costs_its_devices_the_ports_it_passes_and_its_ends_more(void **state)
{
	struct rl_config cfg;
	struct rl_route *route;
	struct host_place p;
	uint64_t load[5];
	char err[RL_ERR_MAX + 512];

	(void)state;
	assert_int_equal(rl_config_read_text("star", star_text,
					     sizeof(star_text) - 1, &cfg, err,
					     sizeof(err)),
			 0);
	route = deal(&cfg, -1, 2, &p);
	host_load(&cfg.topo, route->fwd, load);
	/* 12 packets pass two ports of s0; six have an end at e0: 1 + 2 each */
	assert_int_equal(load[0], 4 + 1 + 12 * 2);
	for (unsigned int e = 1; e < 5; e++)
		assert_int_equal(load[e], 1 + 1 + 6 * 3);
	host_load(&cfg.topo, NULL, load);
	assert_int_equal(load[0], 5);
	assert_int_equal(load[1], 2);
	host_place_free(&p);
	rl_route_free(route);
	rl_config_free(&cfg);
}

static void
no_lcore_gets_much_more_than_its_share(void **state)
{
	static const char text[] =
		"fabric: { topology = \"torus\"; dims = [4, 4]; };\n";
	struct rl_config cfg;
	char err[RL_ERR_MAX + 512];

	(void)state;
	assert_int_equal(rl_config_read_text("torus", text, sizeof(text) - 1,
					     &cfg, err, sizeof(err)),
			 0);
	for (uint32_t n = 1; n <= 8; n++) {
		uint64_t load[32], taken[8] = { 0 }, all = 0, most = 0;
		struct host_place p;
		struct rl_route *route = deal(&cfg, -1, n, &p);

		assert_int_equal(cfg.topo.ndev, 32);
		host_load(&cfg.topo, route->fwd, load);
		for (uint32_t d = 0; d < cfg.topo.ndev; d++) {
			all += load[d];
			taken[p.lcore[host_role(&p, d, -1)]] += load[d];
		}
		for (uint32_t i = 0; i < n; i++)
			most = taken[i] > most ? taken[i] : most;
		assert_true(most * n * 4 <= all * 5); /* a quarter more */
		host_place_free(&p);
		rl_route_free(route);
	}
	rl_config_free(&cfg);
}

static void
the_longest_beginning_of_a_name_places_a_role(void **state)
{
	const uint16_t lcore[] = { 1, 2, 3 };
	struct host_place p;
	struct rl_config cfg;
	char err[RL_ERR_MAX + 512];

	(void)state;
	read_fabric(&cfg, "lcores: { place = ( { role = \"s0/1\"; lcore = 3; },"
			  " { role = \"s\"; lcore = 2; },"
			  " { role = \"e\"; lcore = 1; } ); };\n");
	assert_int_equal(host_place(&cfg, NULL, -1, lcore, 3, &p, err, sizeof(err)), 0);
	assert_int_equal(p.lcore[host_role(&p, 0, -1)], 2);
	assert_int_equal(p.lcore[host_role(&p, 0, 0)], 2);
	assert_int_equal(p.lcore[host_role(&p, 0, 1)], 3);
	assert_int_equal(p.lcore[host_role(&p, 1, 1)], 2);
	assert_int_equal(p.lcore[host_role(&p, 2, 0)], 1);
	host_place_free(&p);
	rl_config_free(&cfg);
}

static void
an_lcore_that_is_not_there_is_an_error(void **state)
{
	const uint16_t lcore[] = { 1, 2 };
	struct host_place p;
	struct rl_config cfg;
	char err[RL_ERR_MAX + 512];

	(void)state;
	read_fabric(&cfg, "lcores: { place = "
			  "( { role = \"s0\"; lcore = 9; } ); };\n");
	assert_int_equal(host_place(&cfg, NULL, -1, lcore, 2, &p, err, sizeof(err)),
			 -EINVAL);
	assert_non_null(strstr(err, "text:7: "));
	assert_non_null(strstr(err, "1,2"));
	rl_config_free(&cfg);
}

static struct proof proof;

static int
empty_proof(void **state)
{
	memset(&proof, 0, sizeof(proof));
	proof_init(&proof, 0, 1);
	*state = &proof;
	return 0;
}

static void
sent(struct proof *p, uint32_t tag)
{
	proof_sent(p, tag, &tag, sizeof(tag), 100);
}

static void
got(struct proof *p, uint32_t tag)
{
	proof_got(p, tag, &tag, sizeof(tag), 3, 350);
}

static void
packets_in_order_are_just_delivered(void **state)
{
	struct proof *p = *state;

	/* far enough to wrap around the proof, and the tag around 2^32 */
	for (uint32_t i = 0; i < 3 * PROOF_ENTRIES; i++) {
		const uint32_t tag = i - 2 * PROOF_ENTRIES;

		if (i == 0)
			p->next_tag = tag;
		sent(p, tag);
		got(p, tag);
	}
	assert_int_equal(p->sent_packets, 3 * PROOF_ENTRIES);
	assert_int_equal(p->delivered_packets, 3 * PROOF_ENTRIES);
	assert_int_equal(p->reordered_packets + p->duplicated_packets +
				 p->altered_packets,
			 0);
	assert_int_equal(p->delay[3].latency.count, 3 * PROOF_ENTRIES);
	assert_int_equal(p->delay[3].latency.max, 250);
	assert_int_equal(p->delay[0].latency.count, 0);
}

static void
copies_late_ones_and_altered_ones_are_told_apart(void **state)
{
	struct proof *p = *state;
	uint32_t wrong;

	for (uint32_t i = 0; i < 6; i++)
		sent(p, i);
	got(p, 0);
	got(p, 2);
	got(p, 1); /* late */
	got(p, 2); /* once more */
	wrong = 77;
	proof_got(p, 3, &wrong, sizeof(wrong), 3, 1);
	proof_got(p, 4, &(uint32_t){ 4 }, 3, 3, 1); /* cut short */
	got(p, 9);				 /* never sent */
	assert_int_equal(p->delivered_packets, 6);
	assert_int_equal(p->duplicated_packets, 1);
	assert_int_equal(p->reordered_packets, 1);
	assert_int_equal(p->altered_packets, 3);
}

/* The register of the digest is 0 behind the 1, and stays so while zeros come. */
static void
a_frame_of_another_length_is_altered_though_its_digest_is_the_same(
	void **state)
{
	static const uint8_t frame[8] = { 1 };
	struct proof *p = *state;

	assert_int_equal(rl_crc32c_lanes(frame, 4, p->hw_crc),
			 rl_crc32c_lanes(frame, 8, p->hw_crc));
	proof_sent(p, 0, frame, 8, 100);
	proof_sent(p, 1, frame, 4, 100);
	proof_sent(p, 2, frame, 8, 100);
	proof_got(p, 0, frame, 4, 3, 350); /* cut short */
	assert_int_equal(p->altered_packets, 1);
	proof_got(p, 1, frame, 8, 3, 350); /* with more behind it */
	assert_int_equal(p->altered_packets, 2);
	proof_got(p, 2, frame, 8, 3, 350);
	assert_int_equal(p->altered_packets, 2);
	assert_int_equal(p->delay[3].latency.count, 1);
}

static void
a_frame_that_nobody_sent_is_altered_though_an_older_one_is_the_same(
	void **state)
{
	static const uint8_t frame[60] = { 7 };
	struct proof *p = *state;

	proof_sent(p, 5, frame, sizeof(frame), 100);
	proof_got(p, 5, frame, sizeof(frame), 3, 350);
	assert_int_equal(p->altered_packets, 0);
	proof_got(p, 5 + PROOF_ENTRIES, frame, sizeof(frame), 3, 350);
	assert_int_equal(p->altered_packets, 1);
	assert_int_equal(p->duplicated_packets, 0);
	assert_int_equal(p->delay[3].latency.count, 1);
}

static uint64_t
reported(const struct proof *p)
{
	struct proof_look look;

	proof_look(p, &look);
	assert_int_equal(look.sent,
			 look.delivered + look.reported + look.open);
	return look.reported;
}

/* [DRL-7] given up and never there: reported, however long ago. */
static void
what_was_given_up_is_reported_unless_it_arrived(void **state)
{
	struct proof *p = *state;

	for (uint32_t i = 0; i < 10; i++)
		sent(p, i);
	for (uint32_t i = 0; i < 5; i++)
		got(p, i);
	proof_reported(p, 2); /* had arrived */
	proof_reported(p, 5);
	proof_reported(p, 5); /* said twice */
	proof_reported(p, 6);
	assert_int_equal(reported(p), 2);
	got(p, 6); /* arrives after all */
	assert_int_equal(reported(p), 1);
	proof_reported(p, PROOF_ENTRIES + 7); /* never sent */
	assert_int_equal(reported(p), 1);
	/* the proof wraps around: what is forgotten stays counted */
	for (uint32_t i = 10; i < 2 * PROOF_ENTRIES; i++)
		sent(p, i);
	assert_int_equal(reported(p), 1);
	proof_reported(p, 2 * PROOF_ENTRIES - 1);
	assert_int_equal(reported(p), 2);
}

/* [PHY-3] */
static void
a_sink_writes_down_runs_and_what_is_missing_in_them(void **state)
{
	static struct half h;
	const struct half_run *r = h.run;

	(void)state;
	half_init(&h, true);
	for (uint32_t t = UINT32_MAX - 5; t != 10; t++)
		if (t != UINT32_MAX && t != 3 && t != 4)
			assert_false(half_got(&h, t, t));
	assert_int_equal(h.nruns, 1);
	assert_int_equal(r->first, UINT32_MAX - 5);
	assert_int_equal(r->first + r->seen.next, 10);
	assert_int_equal(r->packets, 13);
	assert_int_equal(r->seen.missing.count, 3);
	assert_true(half_got(&h, 3, 3)); /* late: it is missing no more */
	assert_int_equal(r->seen.missing.count, 2);
	/* another life of the sender begins anywhere else */
	assert_false(half_got(&h, 5000000, 1));
	assert_false(half_got(&h, 5000001, 1));
	assert_int_equal(h.nruns, 2);
	assert_int_equal(h.run[1].first, 5000000);
	assert_int_equal(h.run[1].digest, 2);
	assert_int_equal(h.unlisted, 0);
	for (uint32_t i = 2; i < HALF_RUNS + 3; i++)
		half_got(&h, i * 10000000, 1);
	assert_int_equal(h.nruns, HALF_RUNS);
	assert_int_equal(h.unlisted, 3);
}

/* [PHY-3] What a kill leaves in the middle of a change. */
static void
a_packet_that_was_being_counted_at_a_kill_has_not_come(void **state)
{
	static struct half h;

	(void)state;
	half_init(&h, true);
	for (uint32_t t = 7; t < 10; t++)
		(void)half_got(&h, t, 100);
	assert_true(half_mend(&h));
	assert_int_equal(h.run[0].packets, 3);
	atomic_store(&h.writing, HALF_COUNTS);
	assert_true(half_mend(&h));
	assert_int_equal(h.run[0].first + h.run[0].seen.next, 9);
	assert_int_equal(h.run[0].packets, 2);
	assert_int_equal(h.run[0].digest, 200);
	assert_int_equal(h.writing, HALF_AT_REST);
	(void)half_got(&h, 20, 1); /* a gap is more than a count */
	atomic_store(&h.writing, HALF_CHANGES);
	assert_false(half_mend(&h));
	half_init(&h, false);
	half_sent(&h, 7, 100);
	half_sent(&h, 8, 100);
	atomic_store(&h.writing, HALF_COUNTS);
	assert_true(half_mend(&h));
	assert_int_equal(h.span[0].packets, 1);
	assert_int_equal(h.span[0].digest, 100);
}

/* [PHY-3] */
static void
a_source_writes_down_spans_and_what_it_gave_up(void **state)
{
	static struct half h;
	struct proof *p = *state;
	uint64_t sum;

	half_init(&h, false);
	p->half = &h;
	proof_peer_restarted(p, 0); /* nothing was sent to that life */
	for (uint32_t i = 0; i < 10; i++)
		sent(p, i);
	proof_reported(p, 8);
	proof_reported(p, 8);
	proof_reported(p, 9);
	proof_peer_restarted(p, 10);
	proof_peer_restarted(p, 10);
	sent(p, 10);
	assert_int_equal(h.nspans, 2);
	assert_int_equal(h.span[0].packets, 10);
	assert_int_equal(h.span[1].first, 10);
	assert_int_equal(h.span[1].packets, 1);
	assert_int_equal(h.nreports, 2);
	assert_int_equal(h.report[1].tag, 9);
	assert_true(h.span[0].digest != h.span[1].digest);
	/* 12 and 13 wait when it restarts: they go to the new life */
	for (uint32_t i = 11; i < 14; i++)
		sent(p, i);
	sum = h.span[1].digest;
	proof_peer_restarted(p, 12);
	sent(p, 14);
	assert_int_equal(h.nspans, 3);
	assert_int_equal(h.span[1].packets, 2);
	assert_int_equal(h.span[2].first, 12);
	assert_int_equal(h.span[2].packets, 3);
	assert_true(h.span[1].digest != 0 && h.span[1].digest != sum);
	/* and all of a span that nothing has left of */
	proof_peer_restarted(p, 12);
	assert_int_equal(h.nspans, 3);
	assert_int_equal(h.span[2].packets, 3);
	assert_true(half_digest(1, 4, 7) != half_digest(1, 5, 7));
	assert_true(half_digest(1, 4, 7) != half_digest(2, 4, 7));
}

static void
memory_is_aligned_zeroed_and_given_back(void **state)
{
	static const size_t size[] = { 1, 63, 64, 65, 4096, 1 << 20, 5 << 20 };
	struct host_mem *m = calloc(1, sizeof(*m));
	char *last = NULL;

	(void)state;
	assert_non_null(m);
	for (unsigned int i = 0; i < 200; i++) {
		const size_t n = size[i % RL_ARRAY_SIZE(size)];
		char *p = host_mem_alloc(m, n);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % RL_CACHE_LINE, 0);
		assert_ptr_not_equal(p, last);
		assert_int_equal(p[0] | p[n - 1], 0);
		memset(p, 0xff, n); /* a sanitizer sees what overlaps */
		last = p;
	}
	host_mem_free(m);
	assert_int_equal(m->nchunks, 0);
	free(m);
}

static void
an_order_waits_for_the_one_before_unless_nobody_takes_it(void **state)
{
	const struct client_gen_load load = { .packets = 5 };
	struct client_gen g;

	(void)state;
	client_gen_init(&g, NULL);
	assert_true(client_gen_done(&g));
	assert_int_equal(client_gen_order(&g, &load, false), 0);
	assert_false(client_gen_done(&g));
	assert_int_equal(client_gen_order(&g, NULL, false), -EAGAIN);
	assert_int_equal(client_gen_order(&g, NULL, true), 0);
	assert_int_equal(g.ordered.packets, 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_are_called_after_their_devices),
		cmocka_unit_test(with_lcores_enough_every_device_has_its_own),
		cmocka_unit_test(
			with_fewer_lcores_than_devices_a_device_stays_together),
		cmocka_unit_test(
			an_endpoint_is_dealt_out_with_the_switch_it_hangs_from),
		cmocka_unit_test(
			a_packet_costs_its_devices_the_ports_it_passes_and_its_ends_more),
		cmocka_unit_test(no_lcore_gets_much_more_than_its_share),
		cmocka_unit_test(the_longest_beginning_of_a_name_places_a_role),
		cmocka_unit_test(
			an_lcore_that_is_not_there_is_an_error),
		cmocka_unit_test_setup(packets_in_order_are_just_delivered,
				       empty_proof),
		cmocka_unit_test_setup(
			copies_late_ones_and_altered_ones_are_told_apart,
			empty_proof),
		cmocka_unit_test_setup(
			a_frame_of_another_length_is_altered_though_its_digest_is_the_same,
			empty_proof),
		cmocka_unit_test_setup(
			a_frame_that_nobody_sent_is_altered_though_an_older_one_is_the_same,
			empty_proof),
		cmocka_unit_test_setup(
			what_was_given_up_is_reported_unless_it_arrived,
			empty_proof),
		cmocka_unit_test(
			a_sink_writes_down_runs_and_what_is_missing_in_them),
		cmocka_unit_test(
			a_packet_that_was_being_counted_at_a_kill_has_not_come),
		cmocka_unit_test_setup(
			a_source_writes_down_spans_and_what_it_gave_up,
			empty_proof),
		cmocka_unit_test(memory_is_aligned_zeroed_and_given_back),
		cmocka_unit_test(
			an_order_waits_for_the_one_before_unless_nobody_takes_it),
	};

	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
