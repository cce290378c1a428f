/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include "resil_fixture.h"

static void
make_topo(struct rl_topo *t)
{
	struct rl_topo_ref sw[4] = { 0 }, ep[4] = { 0 }, link[8] = { 0 };
	struct rl_topo_spec spec;
	char err[RL_ERR_MAX];

	rl_topo_spec_defaults(&spec, RL_TOPO_CUSTOM);
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(sw[i].a, sizeof(sw[i].a), "s%u", i);
		snprintf(ep[i].a, sizeof(ep[i].a), "e%u", i);
		snprintf(link[i].a, sizeof(link[i].a), "s%u", i);
		snprintf(link[i].b, sizeof(link[i].b), "s%u", (i + 1) % 4);
		snprintf(link[4 + i].a, sizeof(link[i].a), "e%u", i);
		snprintf(link[4 + i].b, sizeof(link[i].b), "s%u", i);
		link[i].count = link[4 + i].count = 1;
	}
	spec.switches = sw;
	spec.endpoints = ep;
	spec.nswitches = spec.nendpoints = 4;
	spec.links = link;
	spec.nlinks = 8;
	assert_int_equal(rl_topo_build(&spec, t, err, NULL), 0);
	assert_int_equal(t->ndev, FX_DEVS);
}

static void *
get_mem(size_t bytes)
{
	void *mem = aligned_alloc(RL_CACHE_LINE, bytes);

	assert_non_null(mem);
	return mem;
}

void
fx_local_begin(struct fx *f, uint32_t dev, bool waits)
{
	const struct rl_local_params p = {
		.cfg = &f->cfg,
		.dev = dev,
		.nports = f->topo.dev[dev].nports,
		.incarnation = ++f->inc,
		.waits = waits,
		.endpoint = f->topo.dev[dev].kind == RL_DEV_ENDPOINT,
		.at_rest = f->at_rest,
	};

	f->table[dev] = 0;
	f->hold[dev] = RL_RESIL_HOLD_NONE;
	f->started[dev] = !waits;
	f->local[dev] = rl_local_init(f->local_mem[dev], &p, f->now_ns);
	for (uint16_t i = 0; i < p.nports && !waits; i++)
		rl_local_link(f->local[dev], i, RL_RESIL_LINK_UP, 0, f->now_ns);
}

void
fx_local_kill(struct fx *f, uint32_t dev)
{
	f->local[dev] = NULL;
}

void
fx_ctl_kill(struct fx *f)
{
	f->ctl = NULL;
	f->job = false;
}

void
fx_ctl_begin(struct fx *f)
{
	const struct rl_controller_params p = {
		.cfg = &f->cfg,
		.topo = &f->topo,
		.incarnation = ++f->inc,
		.at_rest = f->at_rest,
	};

	f->ctl = rl_controller_init(f->ctl_mem, &p, f->now_ns);
}

void
fx_open(struct fx *f, uint64_t seed)
{
	memset(f, 0, sizeof(*f));
	make_topo(&f->topo);
	rl_resil_cfg_defaults(&f->cfg);
	rl_prng_seed(&f->prng, seed);
	f->now_ns = 1000000;
	f->delay_ns = 5000;
	f->mode = RL_RESIL_LIVE;
	f->compute_ns = 300000;
	f->ctl_mem = get_mem(rl_controller_memsize(&f->topo));
	for (uint32_t d = 0; d < FX_DEVS; d++) {
		f->local_mem[d] =
			get_mem(rl_local_memsize(f->topo.dev[d].nports));
		fx_local_begin(f, d, false);
	}
	fx_ctl_begin(f);
}

void
fx_close(struct fx *f)
{
	free(f->ctl_mem);
	for (uint32_t d = 0; d < FX_DEVS; d++)
		free(f->local_mem[d]);
	rl_topo_free(&f->topo);
}

static void
send(struct fx *f, const struct rl_resil_msg *m, bool to_ctl)
{
	uint32_t copies = 1 + (rl_prng_below(&f->prng, 100) < f->dup_pct);

	if (rl_prng_below(&f->prng, 100) < f->loss_pct)
		return;
	while (copies-- > 0) {
		uint32_t i = 0;

		while (i < f->nflight && f->flight[i].used)
			i++;
		assert_true(i < FX_MSGS);
		f->nflight = rl_max_u32(f->nflight, i + 1);
		f->flight[i] = (struct fx_flight){
			.at_ns = f->now_ns + f->delay_ns + f->slow_ns[m->dev] +
				 rl_prng_range(&f->prng, 0, f->jitter_ns),
			.to_ctl = to_ctl,
			.used = true,
			.m = *m,
		};
	}
}

/* At an install with a hold, every live source must hold. */
/* Whether no link of a device works, so that it sends nothing. */
static bool
cut_off(const struct fx *f, uint32_t dev)
{
	const struct rl_topo_dev *d = &f->topo.dev[dev];

	for (uint16_t p = 0; p < d->nports; p++)
		if (f->ctl == NULL ||
		    rl_controller_link_ok(f->ctl, d->port[p].link))
			return false;
	return true;
}

static void
check_install(struct fx *f, uint32_t dev, uint32_t epoch)
{
	f->installs++;
	for (uint32_t d = 0; d < FX_DEVS; d++)
		if (f->topo.dev[d].kind == RL_DEV_ENDPOINT && f->started[dev] &&
		    f->hold[d] != RL_RESIL_HOLD_ALL) {
			f->restless++;
			break;
		}
	/* a device without links may have any tables; a device that missed an
	   install gets the tables of that one, whatever others hold */
	if (f->hold[dev] == RL_RESIL_HOLD_NONE || !f->order_holds[dev] ||
	    epoch < f->order_hold_epoch[dev] || !f->started[dev])
		return;
	for (uint32_t d = 0; d < FX_DEVS; d++)
		if (f->topo.dev[d].kind == RL_DEV_ENDPOINT &&
		    f->local[d] != NULL && f->started[d] &&
		    f->hold[d] == RL_RESIL_HOLD_NONE && !cut_off(f, d))
			f->bad_installs++;
}

/*
 * Tokens may only pass when all live devices are prepared for the same tables.
 */
static void
check_pass(struct fx *f, uint32_t dev)
{
	for (uint32_t d = 0; d < FX_DEVS; d++)
		if (f->local[d] != NULL && f->started[d] &&
		    f->staged[d] != f->staged[dev])
			f->bad_passes++;
}

static void
host_local(struct fx *f, uint32_t dev)
{
	struct rl_local *l = f->local[dev];
	struct rl_local_action a;
	struct rl_resil_msg m;

	rl_local_tick(l, f->now_ns);
	while (!f->late[dev] && rl_local_action(l, &a)) {
		switch (a.type) {
		case RL_LOCAL_INSTALL:
			check_install(f, dev, a.epoch);
			f->table[dev] = a.epoch;
			rl_local_installed(l, a.epoch);
			break;
		case RL_LOCAL_HOLD:
			f->hold[dev] = a.hold;
			f->holds++;
			break;
		case RL_LOCAL_RELEASE:
			f->hold[dev] = RL_RESIL_HOLD_NONE;
			break;
		case RL_LOCAL_STAGE:
			f->staged[dev] = a.epoch;
			rl_local_staged(l, a.epoch);
			break;
		case RL_LOCAL_PASS:
			check_pass(f, dev);
			f->passed[dev] = a.epoch;
			break;
		case RL_LOCAL_START:
			f->started[dev] = true;
			break;
		case RL_LOCAL_PORT:
			f->order[dev][a.port] = a.order;
			break;
		case RL_LOCAL_NO_TABLES:
			f->none[dev]++;
			break;
		}
	}
	if (!f->late[dev] && rl_local_asked(l)) {
		const struct rl_local_view v = {
			.quiet = !f->busy[dev],
			.activity = f->activity[dev],
		};

		rl_local_answer(l, &v);
	}
	while (rl_local_tx(l, &m, f->now_ns))
		send(f, &m, true);
}

static void
host_ctl(struct fx *f)
{
	struct rl_controller_job job;
	struct rl_resil_msg m;

	rl_controller_tick(f->ctl, f->now_ns);
	if (f->job && f->now_ns >= f->job_ns) {
		const struct rl_controller_result r = {
			.epoch = f->job_epoch,
			.status = f->status,
			.mode = f->job_mode == RL_RESIL_FULL ? RL_RESIL_FULL
							     : f->mode,
			.held_flows = 2,
			.tokens = f->tokens,
			.avoided = f->avoided,
			.cut = f->cut,
			.compute_ns = f->compute_ns / 2,
			.prove_ns = f->compute_ns / 2,
		};

		f->job = false;
		rl_controller_done(f->ctl, &r, f->now_ns);
	}
	if (rl_controller_job(f->ctl, &job)) {
		f->jobs++;
		f->job = !f->never;
		f->job_epoch = job.epoch;
		f->job_mode = job.mode;
		f->job_renew = job.renew;
		f->job_ns = f->now_ns + f->compute_ns;
		memcpy(f->job_link_ok, job.link_ok, f->topo.nlink);
		memcpy(f->job_silent, job.silent, FX_DEVS);
		memcpy(f->job_waits, job.waits, FX_DEVS);
		memcpy(f->job_unsure, job.unsure, FX_DEVS);
	}
	while (rl_controller_tx(f->ctl, &m, f->now_ns))
		send(f, &m, false);
}

static void
deliver(struct fx *f)
{
	for (uint32_t i = 0; i < f->nflight; i++) {
		struct fx_flight *fl = &f->flight[i];

		if (!fl->used || fl->at_ns > f->now_ns)
			continue;
		fl->used = false;
		if (fl->to_ctl && f->ctl != NULL)
			rl_controller_rx(f->ctl, &fl->m, f->now_ns);
		if (fl->to_ctl || f->local[fl->m.dev] == NULL)
			continue;
		if (fl->m.type == RL_RESIL_ORDER) {
			f->order_holds[fl->m.dev] =
				fl->m.hold != RL_RESIL_HOLD_NONE;
			f->order_hold_epoch[fl->m.dev] = fl->m.hold_epoch;
		}
		rl_local_rx(f->local[fl->m.dev], &fl->m, f->now_ns);
	}
}

static uint64_t
next_ns(const struct fx *f)
{
	uint64_t t = RL_NEVER;

	for (uint32_t i = 0; i < f->nflight; i++)
		if (f->flight[i].used)
			t = rl_min_u64(t, f->flight[i].at_ns);
	if (f->job)
		t = rl_min_u64(t, f->job_ns);
	if (f->ctl != NULL)
		t = rl_min_u64(t, rl_controller_deadline(f->ctl));
	for (uint32_t d = 0; d < FX_DEVS; d++)
		if (f->local[d] != NULL)
			t = rl_min_u64(t, rl_local_deadline(f->local[d]));
	return t;
}

static void
poll_all(struct fx *f)
{
	for (uint32_t d = 0; d < FX_DEVS; d++)
		if (f->local[d] != NULL)
			host_local(f, d);
	if (f->ctl != NULL)
		host_ctl(f);
}

void
fx_run(struct fx *f, uint64_t ns)
{
	const uint64_t until = f->now_ns + ns;
	uint64_t idle = 0;

	poll_all(f);
	for (;;) {
		const uint64_t t = next_ns(f);

		if (t >= until)
			break;
		/* a deadline that is due but does nothing would loop forever */
		idle = t <= f->now_ns ? idle + 1 : 0;
		assert_true(idle < 1000);
		f->now_ns = rl_max_u64(t, f->now_ns);
		deliver(f);
		poll_all(f);
	}
	f->now_ns = until;
	poll_all(f);
}

bool
fx_settle(struct fx *f, uint64_t ns)
{
	const uint64_t until = f->now_ns + ns;

	do
		fx_run(f, 100000);
	while (f->now_ns < until && !rl_controller_idle(f->ctl));
	return rl_controller_idle(f->ctl);
}

void
fx_until(struct fx *f, enum rl_controller_phase p)
{
	const uint64_t until = f->now_ns + RL_NS_PER_S;

	while (f->now_ns < until && rl_controller_phase(f->ctl) != p)
		fx_run(f, 1000);
	assert_int_equal(rl_controller_phase(f->ctl), p);
}

void
fx_end(struct fx *f, uint32_t link, unsigned int end, enum rl_resil_link state)
{
	const struct rl_topo_link *l = &f->topo.link[link];

	if (f->local[l->dev[end]] != NULL)
		rl_local_link(f->local[l->dev[end]], l->port[end], state, 1,
			      f->now_ns);
}

void
fx_link(struct fx *f, uint32_t link, enum rl_resil_link state)
{
	fx_end(f, link, 0, state);
	fx_end(f, link, 1, state);
}

const struct rl_recovery *
fx_last(const struct fx *f)
{
	const uint32_t n = rl_controller_recoveries(f->ctl);

	assert_true(n > 0);
	return rl_controller_recovery(f->ctl, n - 1);
}

uint32_t
fx_dev(const struct fx *f, const char *name)
{
	const int32_t d = rl_topo_find_dev(&f->topo, name);

	assert_true(d >= 0);
	return (uint32_t)d;
}

uint32_t
fx_link_of(const struct fx *f, const char *name)
{
	const int64_t l = rl_topo_find_link(&f->topo, name, NULL);

	assert_true(l >= 0);
	return (uint32_t)l;
}

int
fx_setup(void **state)
{
	struct fx *f = calloc(1, sizeof(*f));

	fx_open(f, 1);
	assert_true(fx_settle(f, 10 * RL_NS_PER_MS));
	assert_int_equal(f->jobs, 0); /* no failure was found */
	*state = f;
	return 0;
}

int
fx_setup_at_rest(void **state)
{
	struct fx *f = calloc(1, sizeof(*f));

	fx_open(f, 1);
	f->at_rest = true;
	for (uint32_t d = 0; d < FX_DEVS; d++)
		fx_local_begin(f, d, false);
	fx_ctl_begin(f);
	f->mode = RL_RESIL_FULL;
	assert_true(fx_settle(f, 10 * RL_NS_PER_MS));
	assert_int_equal(f->jobs, 0);
	*state = f;
	return 0;
}

int
fx_teardown(void **state)
{
	fx_close(*state);
	free(*state);
	return 0;
}

void
fx_all_have(const struct fx *f, uint32_t epoch)
{
	for (uint32_t d = 0; d < FX_DEVS; d++)
		if (f->local[d] != NULL) {
			assert_int_equal(f->table[d], epoch);
			assert_int_equal(f->hold[d], RL_RESIL_HOLD_NONE);
		}
}
