/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The second time: a controller whose fabric has failed in each way, and is
 * whole again, is, field by field, what one is to which nothing has happened.
 */

#include "ctl_priv.h"
#include "resil_fixture.h"

#define MS RL_NS_PER_MS

#define RL_CONTROLLER_SAME(X)                                                  \
	X(phase)                                                               \
	X(retry_ns) X(fails) X(restarts) X(hold) X(stage) X(pass) X(start)     \
		X(owing) X(unsent) X(passed) X(port_owed) X(links_ns)          \
			X(changed) X(manual) X(rescue) X(escalate) X(renewed)  \
				X(renew) X(late) X(avoid) X(cut) X(tokens)     \
					X(job_owed) X(pause_ns) X(recording)   \
						X(ack_mask)
#define RL_CONTROLLER_DIFFERS(X)                                               \
	X(p)	    /* the same parameters, another incarnation */             \
	X(phase_ns) /* times of its own */                                     \
	X(due_ns)                                                              \
	X(look_ns)                                                             \
	X(renew_ns)                                                            \
	X(resend_ns)                                                           \
	X(port_ns)                                                             \
	X(hold_ns)                                                             \
	X(slow_ns) /* answers as slow as they were */                          \
	X(trip_ns)                                                             \
	X(trip_dev_ns)                                                         \
	X(epoch) /* counts over all of its life */                             \
	X(made)                                                                \
	X(table_epoch)                                                         \
	X(hold_epoch)                                                          \
	X(step)                                                                \
	X(port_ver)                                                            \
	X(ack_head)                                                            \
	X(ack_tail)                                                            \
	X(nrecord)                                                             \
	X(cursor) /* where a search goes on */                                 \
	X(ack)	  /* memory of its own */                                      \
	X(why)	  /* of a change: read while there is one */                   \
	X(what)                                                                \
	X(why_ns)                                                              \
	X(changes)                                                             \
	X(cur) /* records of what was: told */                                 \
	X(record)                                                              \
	X(link) /* compared by their own fields */                             \
	X(end)                                                                 \
	X(dev)                                                                 \
	X(job_link_ok) /* memory of its own; of the newest job */              \
	X(job_dev_ok)                                                          \
	X(job_present)                                                         \
	X(job_unsure)                                                          \
	X(job_silent)                                                          \
	X(job_waits)
#define CTL_LINK_SAME(X) X(ok) X(removed) X(avoided) X(down) X(left) X(train_ns)
#define CTL_LINK_DIFFERS(X) X(ok_ns) /* a time, over */
#define CTL_END_SAME(X) X(order_ver) X(ack_owed)
#define CTL_END_DIFFERS(X)                                                     \
	X(ver)	 /* reports so far */                                          \
	X(state) /* unknown until the first one, which is up */                \
	X(order) /* read while order_ver is not 0 */                           \
	X(order_sent)
#define CTL_DEV_SAME(X)                                                        \
	X(hold)                                                                \
	X(waits) X(silent) X(removed) X(ack_owed) X(unsure) X(starts)          \
		X(stage_epoch)
#define CTL_DEV_DIFFERS(X)                                                     \
	X(local_inc) /* which life of the device it is */                      \
	X(answered)  /* counts and times of its own */                         \
	X(sent_ns)                                                             \
	X(asked_ns)                                                            \
	X(heard_ns)                                                            \
	X(activity)                                                            \
	X(gave_up) /* reports so far, in this life of the device */            \
	X(table_epoch)                                                         \
	X(hold_epoch)                                                          \
	X(quiet) /* as last asked; each look asks anew */                      \
	X(still)

static unsigned int others;

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		others += (print_error("%s is another one (%s %u)\n", #field,  \
				       what, i),                               \
			   1);

static void
check_links(const struct rl_controller *used, const struct rl_controller *fresh)
{
	const char *what = "link";

	for (uint32_t i = 0; i < used->p.topo->nlink; i++) {
		const struct ctl_link *a = &used->link[i], *b = &fresh->link[i];

		CTL_LINK_SAME(CHECK)
	}
	what = "end";
	for (uint32_t i = 0; i < 2 * used->p.topo->nlink; i++) {
		const struct ctl_end *a = &used->end[i], *b = &fresh->end[i];

		CTL_END_SAME(CHECK)
		assert_true(a->state != RL_RESIL_LINK_DEAD);
	}
}

static void
check_same(const struct rl_controller *used, const struct rl_controller *fresh)
{
	const struct rl_controller *a = used, *b = fresh;
	const char *what = "controller";
	uint32_t i = 0;

	others = 0;
	RL_CONTROLLER_SAME(CHECK)
	check_links(used, fresh);
	what = "device";
	for (; i < used->p.topo->ndev; i++) {
		const struct ctl_dev *d = &used->dev[i], *e = &fresh->dev[i];
#define CHECK_DEV(field)                                                       \
	if (memcmp(&d->field, &e->field, sizeof(d->field)) != 0)               \
		others += (print_error("%s is another one (%s %u)\n", #field,  \
				       what, i),                               \
			   1);
		CTL_DEV_SAME(CHECK_DEV)
	}
	assert_int_equal(used->ack_head, used->ack_tail);
	assert_int_equal(others, 0);
}

/* Dies and comes back; degrades, dies of it and is repaired; is removed. */
static void
links_fail(struct fx *f, uint32_t link)
{
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 50 * MS));
	fx_end(f, link, 0, RL_RESIL_LINK_DEGRADED);
	fx_run(f, 2 * f->delay_ns + f->jitter_ns + 1000);
	fx_link(f, link, RL_RESIL_LINK_DEAD); /* before it was left */
	assert_true(fx_settle(f, 50 * MS));
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 50 * MS));
	assert_false(f->ctl->link[link].avoided);
	fx_end(f, link, 0, RL_RESIL_LINK_DEGRADED);
	assert_true(fx_settle(f, 50 * MS));
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_true(fx_settle(f, 50 * MS));
	(void)rl_controller_add_link(f->ctl, link, f->now_ns);
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 50 * MS));
	assert_int_equal(rl_controller_remove_link(f->ctl, link, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	assert_int_equal(rl_controller_add_link(f->ctl, link, f->now_ns), 0);
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 50 * MS));
}

/* Falls silent under an install, answers late; then crashes and restarts. */
static void
a_device_fails(struct fx *f, uint32_t dev, uint32_t link)
{
	f->late[dev] = true;
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	fx_run(f, 4 * f->cfg.answer_ns);
	f->late[dev] = false;
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 500 * MS));
	fx_local_kill(f, dev);
	fx_run(f, 2 * f->cfg.answer_ns);
	fx_local_begin(f, dev, true);
	fx_run(f, 5 * MS);
	for (uint16_t p = 0; p < f->topo.dev[dev].nports; p++)
		rl_local_link(f->local[dev], p, RL_RESIL_LINK_UP, 0, f->now_ns);
	assert_true(fx_settle(f, 200 * MS));
}

/* Tables that are refused, by hand, and with a quiesce that takes too long. */
static void
recoveries_fail(struct fx *f, uint32_t link)
{
	const uint32_t s1 = fx_dev(f, "s1");

	f->status = -EINVAL;
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	fx_run(f, 3 * f->cfg.retry_ns);
	f->status = 0;
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 500 * MS));
	f->busy[s1] = true;
	f->mode = RL_RESIL_PARTIAL;
	fx_link(f, link, RL_RESIL_LINK_DEAD);
	fx_run(f, 2 * f->cfg.quiesce_ns);
	f->busy[s1] = false;
	fx_link(f, link, RL_RESIL_LINK_UP);
	assert_true(fx_settle(f, 500 * MS));
	assert_int_equal(rl_controller_quiesce(f->ctl, f->now_ns), 0);
	fx_until(f, RL_CONTROLLER_QUIET);
	assert_int_equal(rl_controller_unquiesce(f->ctl, f->now_ns), 0);
	assert_true(fx_settle(f, 50 * MS));
}

static void
a_controller_of_a_fabric_that_is_whole_again_is_as_a_new_one(void **state)
{
	static struct fx used, fresh;
	uint32_t link;

	(void)state;
	fx_open(&used, 3);
	fx_open(&fresh, 3);
	link = fx_link_of(&used, "s0-s1");
	assert_true(fx_settle(&used, 50 * MS));
	assert_true(fx_settle(&fresh, 50 * MS));
	for (unsigned int i = 0; i < 2; i++) {
		links_fail(&used, link);
		a_device_fails(&used, fx_dev(&used, "s2"), link);
		recoveries_fail(&used, link);
		check_same(used.ctl, fresh.ctl);
	}
	fx_close(&used);
	fx_close(&fresh);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_controller_of_a_fabric_that_is_whole_again_is_as_a_new_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
