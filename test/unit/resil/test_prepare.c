/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the controller's jobs is ready before anything fails [RES-1]. */
#include <malloc.h>
#include <stdlib.h>

#include "../route/route_fixture.h"
#include "rl_tables.h"

#define LINKS_MAX 256

static size_t
in_use(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void
memory_that_is_prepared_is_that_of_the_first_job_already(void **state)
{
	static uint8_t link_ok[LINKS_MAX], none[LINKS_MAX], all[LINKS_MAX];
	static uint32_t present[LINKS_MAX];
	const struct rl_controller_job job = {
		.epoch = 1, .mode = RL_RESIL_FULL, .link_ok = link_ok,
		.dev_ok = all, .present = present, .unsure = none,
		.silent = none, .waits = none,
	};
	struct rl_tables_params p = { .vls = 8, .levels = 1, .retry = true };
	struct rl_controller_result res;
	char err[RL_ERR_MAX];
	struct rl_route *route;
	struct rl_topo topo;
	struct rl_tables *t;
	size_t begun, prepared, done;

	(void)state;
	fix_grid(&topo, true, 4, 4, 0, 1);
	assert_true(topo.nlink <= LINKS_MAX && topo.ndev <= LINKS_MAX);
	memset(link_ok, RL_LINK_USE, sizeof(link_ok));
	memset(all, 1, sizeof(all));
	assert_int_equal(rl_route_setup(&topo, "", 8, 1, &route, err), 0);
	p.topo = &topo;
	t = rl_tables_new(&p, route);
	begun = in_use();
	rl_tables_prepare(t);
	prepared = in_use();
	rl_tables_prepare(t); /* once is enough */
	link_ok[topo.dev[0].port[1].link] = RL_LINK_NO;
	rl_tables_compute(t, &job, &res);
	assert_int_equal(res.status, 0);
	done = in_use();
	/* an allocator that counts nothing has nothing to say */
	assert_true(prepared == begun ||
		    done - prepared < (prepared - begun) / 5 * 4);
	rl_tables_free(t);
	rl_route_free(route);
	rl_topo_free(&topo);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_is_prepared_is_that_of_the_first_job_already),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
