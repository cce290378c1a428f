/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench of one link: two ends, two wires, one clock. */
#include "bench.h"

void
bench_cfg(struct rl_link_cfg *cfg)
{
	rl_link_cfg_defaults(cfg);
	cfg->flits_per_frame = 1;
	cfg->window_flits = 128;
	cfg->credits_flits = 256;
	cfg->queue_flits = 128;
	cfg->ack_coalesce_flits = 4;
	cfg->ack_delay_ns = 5 * RL_NS_PER_US;
	cfg->replay_timer_ns = 100 * RL_NS_PER_US;
	cfg->error_window_ns = 0; /* losses do not kill a link */
	cfg->flap_damping_ns = 100 * RL_NS_PER_US;
	cfg->flap_damping_max_ns = 10 * RL_NS_PER_MS;
	cfg->flap_forget_ns = 20 * RL_NS_PER_MS;
}

void
bench_open(struct bench *b, const struct rl_link_cfg *cfg)
{
	char err[160];
	const char *key;

	if (cfg != NULL)
		b->cfg = *cfg;
	else
		bench_cfg(&b->cfg);
	if (rl_link_cfg_check(&b->cfg, err, sizeof(err), &key) != 0)
		fail_msg("bench: %s", err);
	b->now_ns = 1000;
	b->step_ns = 1000;
	b->frame_bytes = rl_frame_bytes(b->cfg.flits_per_frame) +
			 (b->auth[0] != NULL || b->auth[1] != NULL
				  ? RL_AUTH_TAG_BYTES : 0);
	bench_pool_open(&b->pool, b->pool_flits != 0 ? b->pool_flits : 2048);
	for (unsigned int i = 0; i < 2; i++)
		bench_wire_open(&b->wire[i], b->frame_bytes);
	for (unsigned int i = 0; i < 2; i++) {
		const struct bench_end_params p = {
			.cfg = &b->cfg, .pool = &b->pool,
			.in = &b->wire[1 - i], .out = &b->wire[i],
			.uid = i + 1, .index = (uint16_t)(i + 3),
			.kind = b->kind, .auth = b->auth[i],
		};

		bench_end_open(&b->end[i], &p);
	}
}

void
bench_poll(struct bench *b)
{
	for (unsigned int i = 0; i < 2; i++) {
		bench_end_port(&b->end[i], b->now_ns);
		bench_end_core(&b->end[i], b->now_ns);
	}
}

void
bench_run(struct bench *b, uint64_t ns)
{
	const uint64_t end_ns = b->now_ns + ns;

	while (b->now_ns < end_ns) {
		bench_poll(b);
		b->now_ns += b->step_ns;
	}
}

void
bench_start(struct bench *b)
{
	const uint64_t end_ns = b->now_ns + 100 * RL_NS_PER_MS;

	for (unsigned int i = 0; i < 2; i++)
		rl_port_start(b->end[i].port, b->now_ns);
	while (bench_state(&b->end[0]) != RL_LINK_UP ||
	       bench_state(&b->end[1]) != RL_LINK_UP ||
	       bench_info(&b->end[0]).credits[0] == 0 ||
	       bench_info(&b->end[1]).credits[0] == 0) {
		bench_run(b, b->step_ns);
		assert_true(b->now_ns < end_ns);
	}
}

void
bench_open_up(struct bench *b, const struct rl_link_cfg *cfg)
{
	memset(b, 0, sizeof(*b));
	bench_open(b, cfg);
	b->wire[0].delay_ns = b->wire[1].delay_ns = 2 * RL_NS_PER_US;
	b->wire[0].slot_ns = b->wire[1].slot_ns = RL_NS_PER_US;
	bench_start(b);
	bench_run(b, 50 * RL_NS_PER_US);
}

static bool
bench_idle(const struct bench *b)
{
	for (unsigned int i = 0; i < 2; i++)
		if (!rl_port_idle(b->end[i].port) ||
		    bench_wire_due(&b->wire[i]) != RL_NEVER)
			return false;
	return true;
}

void
bench_settle(struct bench *b, uint64_t max_ns)
{
	const uint64_t end_ns = b->now_ns + max_ns;

	bench_poll(b);
	while (!bench_idle(b)) {
		b->now_ns += b->step_ns;
		bench_poll(b);
		if (b->now_ns > end_ns)
			fail_msg("not idle after %llu ns: %u and %u flits",
				 (unsigned long long)max_ns,
				 rl_port_flits(b->end[0].port),
				 rl_port_flits(b->end[1].port));
	}
}

/* Time at which due frames fit on the wire. */
static uint64_t
end_deadline(const struct bench *b, unsigned int i)
{
	const uint64_t free_ns = rl_max_u64(b->now_ns, b->wire[i].busy_ns);
	const uint64_t t = rl_port_deadline(b->end[i].port, b->now_ns);

	if (t <= b->now_ns)
		return free_ns;
	if (rl_port_tx_ready(b->end[i].port, b->now_ns))
		return rl_min_u64(t, free_ns);
	return t;
}

void
bench_settle_by_deadlines(struct bench *b, uint64_t max_ns)
{
	const uint64_t end_ns = b->now_ns + max_ns;
	unsigned int same = 0;

	bench_poll(b);
	while (!bench_idle(b)) {
		uint64_t next = RL_NEVER;

		for (unsigned int i = 0; i < 2; i++) {
			next = rl_min_u64(next, bench_wire_due(&b->wire[i]));
			next = rl_min_u64(next, end_deadline(b, i));
		}
		if (next == RL_NEVER || next > end_ns)
			fail_msg("not idle, and nothing to wait for");
		same = next > b->now_ns ? 0 : same + 1;
		if (same > 100)
			fail_msg("a deadline does not move on: at %llu, %llu "
				 "%llu",
				 (unsigned long long)b->now_ns,
				 (unsigned long long)rl_port_deadline(
					 b->end[0].port, b->now_ns),
				 (unsigned long long)rl_port_deadline(
					 b->end[1].port, b->now_ns));
		b->now_ns = rl_max_u64(b->now_ns, next);
		bench_poll(b);
	}
}

void
bench_send(struct bench *b, unsigned int end, unsigned int vc,
	   unsigned int flits, unsigned int packets)
{
	struct bench_end *e = &b->end[end];

	for (unsigned int i = 0; i < packets; i++) {
		const struct bench_packet k = {
			.src = 1, .dst = 2, .sl = (uint8_t)vc,
			.vc = (uint8_t)vc, .flits = (uint16_t)flits,
			.tag = e->next_tag[vc]++,
		};

		rl_port_submit(e->port, bench_make(&b->pool, &k), b->now_ns);
	}
}

void
bench_cut(struct bench *b, bool cut)
{
	for (unsigned int i = 0; i < 2; i++) {
		b->wire[i].cut = cut;
		if (cut)
			bench_wire_clear(&b->wire[i]);
	}
}

void
bench_check_delivered(struct bench *b)
{
	const struct bench_end *from = &b->end[0];
	const struct bench_sink *s = &b->end[1].sink;

	for (unsigned int vc = 0; vc < RL_VCS; vc++)
		assert_int_equal(s->next_tag[vc], from->next_tag[vc]);
	assert_int_equal(s->duplicates, 0);
	assert_int_equal(s->disorder, 0);
	assert_int_equal(s->corrupt, 0);
}

void
bench_close(struct bench *b)
{
	for (unsigned int i = 0; i < 2; i++) {
		bench_end_close(&b->end[i]);
		bench_wire_close(&b->wire[i]);
	}
	bench_pool_check(&b->pool);
	bench_pool_close(&b->pool);
}
