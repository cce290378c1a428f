/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A worker is stopped while links train. Then, under full load both ways, one
 * worker is stopped for longer than any limit of link, core and endpoint, then
 * the whole process; then a program of higher priority takes CPUs away, again
 * and again. No peer failed: no link dies, none even retrains, and no packet is
 * lost or reported [LINK-5].
 *
 *   test_away LCORES
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>
#include <rte_lcore.h>

#include "../figure1.h"
#include "host_bed.h"

#define LIMIT_NS (60 * RL_NS_PER_S)
#define AWAY_S 2 /* watchdog_ns and give_up_ns are a second */
/* above keepalive_dead_ns of 20 ms, and 0.3 s in all */
#define HOG_NS (40 * RL_NS_PER_MS)
#define HOG_REST_NS (10 * RL_NS_PER_MS)
#define HOG_TIMES 5u
/* while links train: less than HOST_ALONE_NS, more than their time */
#define NAP_NS (90 * RL_NS_PER_MS)
#define NAPS 6u
#define PACKETS 200u /* that show that all goes on */
#define FLITS 4u

static const char fabric_text[] =
	FIGURE1_FABRIC
	"routing: { engine = \"updown\"; };\n";

/* Sends numbered packets as fast as it can, and checks those of the other. */
struct client {
	_Atomic uint32_t sent;
	_Atomic uint32_t received;
	_Atomic uint32_t wrong; /* not the one whose turn it was */
	_Atomic uint32_t refused; /* not for a while: for good */
	_Atomic bool stop;
	_Atomic bool known; /* thread is set */
	unsigned int naps;  /* of its lcore, as it begins */
	pthread_t thread; /* of its lcore */
	struct rl_flit_cache *cache;
	uint16_t dst;
};

struct bed {
	struct host_bed on;
	struct client client[2];
};

static struct bed bed;

static unsigned int
client_poll(void *ctx, struct rl_ep *ep, uint64_t now_ns)
{
	uint32_t data[FLITS * RL_FLIT_DATA_BYTES / sizeof(uint32_t)] = { 0 };
	const struct rl_ep_msg msg = {
		.dst = ((struct client *)ctx)->dst,
		.len_bytes = sizeof(data),
	};
	static const struct timespec nap = { .tv_nsec = NAP_NS };
	struct client *c = ctx;
	struct rl_flit *pkt = rl_ep_recv(ep);
	unsigned int work = 0;

	if (c->naps > 0) {
		c->naps--;
		nanosleep(&nap, NULL);
	}
	if (!atomic_load(&c->known)) {
		c->thread = pthread_self();
		atomic_store(&c->known, true);
	}
	if (pkt != NULL) {
		if (rl_ep_copy_out(pkt, data, sizeof(data)) != sizeof(data) ||
		    data[0] != atomic_fetch_add(&c->received, 1))
			atomic_fetch_add(&c->wrong, 1);
		rl_packet_put(c->cache, pkt);
		work++;
	}
	if (!atomic_load(&c->stop)) {
		int ret;

		data[0] = atomic_load(&c->sent);
		ret = rl_ep_send(ep, now_ns, &msg, data, NULL);
		if (ret == 0)
			atomic_fetch_add(&c->sent, 1);
		else if (ret != -EAGAIN && ret != -EBUSY && ret != -ENOBUFS)
			atomic_fetch_add(&c->refused, 1);
		work += ret == 0;
	}
	return work;
}

static void
on_stop(int sig)
{
	struct timespec rest = { .tv_sec = AWAY_S };

	(void)sig;
	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}

static int
setup(void **state)
{
	const struct sigaction sa = { .sa_handler = on_stop };

	host_bed_open(&bed.on, fabric_text, 16);
	for (uint16_t e = 0; e < 2; e++) {
		const struct rl_client client = {
			.ctx = &bed.client[e],
			.poll = client_poll,
		};

		bed.client[e].cache = host_bed_client(&bed.on, e, &client);
		bed.client[e].dst = !e;
	}
	bed.client[0].naps = NAPS;
	*state = &bed;
	assert_int_equal(sigaction(SIGUSR1, &sa, NULL), 0);
	return host_start(&bed.on.host);
}

static int
teardown(void **state)
{
	struct bed *b = *state;

	host_bed_close(&b->on);
	return 0;
}

/* Lets the fabric work until both have got so many packets more. */
static void
go_on(struct bed *b)
{
	const uint64_t end_ns = host_now(&b->on.host) + LIMIT_NS;
	uint32_t want[2];

	for (unsigned int e = 0; e < 2; e++)
		want[e] = atomic_load(&b->client[e].received) + PACKETS;
	while ((int32_t)(atomic_load(&b->client[0].received) - want[0]) < 0 ||
	       (int32_t)(atomic_load(&b->client[1].received) - want[1]) < 0) {
		if (host_now(&b->on.host) > end_ns)
			fail_msg("nothing arrives any more");
		host_run(&b->on.host, 20 * RL_NS_PER_US);
	}
}

/* No peer was blamed. */
static void
check(struct bed *b)
{
	for (uint32_t d = 0; d < b->on.cfg.topo.ndev; d++) {
		const struct rl_device *dev = &b->on.host.fabric.dev[d];
		const uint64_t *c;

		for (uint16_t p = 0; p < dev->nports; p++) {
			c = rl_port_counters(dev->port[p].port);
			assert_int_equal(c[RL_PC_deaths], 0);
			assert_int_equal(c[RL_PC_retrains], 0);
		}
		if (dev->core.ep == NULL)
			continue;
		c = rl_ep_counters(dev->core.ep);
		assert_int_equal(c[RL_EPC_reported_packets], 0);
		assert_int_equal(c[RL_EPC_flow_failures], 0);
		assert_int_equal(c[RL_EPC_unreachables], 0);
	}
	for (unsigned int e = 0; e < 2; e++) {
		assert_int_equal(atomic_load(&b->client[e].wrong), 0);
		assert_int_equal(atomic_load(&b->client[e].refused), 0);
	}
}

/* Links that train meanwhile are not dead: no recovery begins. */
static void
a_worker_that_is_stopped_as_links_train_makes_none_dead(void **state)
{
	struct bed *b = *state;
	struct host *h = &b->on.host;
	const uint64_t end_ns = host_now(h) + 2 * NAPS * NAP_NS;
	struct host_rec rec;

	assert_true(h->resil.on);
	while (host_now(h) < end_ns ||
	       atomic_load(&b->client[0].received) < PACKETS) {
		host_run(h, 20 * RL_NS_PER_US);
		while (host_next_record(h, &rec))
			host_resil_take(h, &rec);
		host_resil_step(h);
		assert_true(host_now(h) < end_ns + LIMIT_NS);
	}
	assert_int_equal(h->resil.log.n, 0);
	check(b);
}

static void
a_worker_that_is_stopped_under_load_costs_no_link_and_no_packet(void **state)
{
	struct bed *b = *state;

	for (unsigned int e = 0; e < 2; e++) {
		go_on(b);
		assert_true(atomic_load(&b->client[e].known));
		assert_int_equal(pthread_kill(b->client[e].thread, SIGUSR1),
				 0);
		host_run(&b->on.host, AWAY_S * RL_NS_PER_S);
		go_on(b);
		check(b);
	}
	assert_true(host_time_left_out(&b->on.host.time) >
		    2 * (AWAY_S - 1) * RL_NS_PER_S);
}

static void
a_process_that_is_stopped_under_load_loses_no_link_and_no_packet(void **state)
{
	struct bed *b = *state;
	uint64_t left_out;
	pid_t child;

	go_on(b);
	left_out = host_time_left_out(&b->on.host.time);
	child = fork();
	if (child == 0) {
		const struct timespec away = { .tv_sec = AWAY_S };
		const pid_t parent = getppid();

		kill(parent, SIGSTOP);
		nanosleep(&away, NULL);
		kill(parent, SIGCONT);
		_exit(0);
	}
	assert_true(child > 0);
	while (waitpid(child, NULL, WNOHANG) == 0)
		host_run(&b->on.host, 20 * RL_NS_PER_US);
	go_on(b);
	check(b);
	assert_true(host_time_left_out(&b->on.host.time) - left_out >
		    (AWAY_S - 1) * RL_NS_PER_S);
}

/* A program of higher priority on a CPU: often, and not for long. */
struct hog {
	unsigned int cpu;
	pthread_t thread;
};

static void *
hog_main(void *arg)
{
	const struct hog *h = arg;
	const struct sched_param first = { .sched_priority = 1 };
	const struct timespec rest = { .tv_nsec = HOG_REST_NS };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(h->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	/* an ordinary user's takes its turns with the worker */
	(void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	for (unsigned int i = 0; i < HOG_TIMES; i++) {
		const uint64_t end_ns = host_now(&bed.on.host) + HOG_NS;

		while (host_now(&bed.on.host) < end_ns)
			;
		nanosleep(&rest, NULL);
	}
	return NULL;
}

/* First the one CPU, then the other, then both. */
static void
a_cpu_that_is_taken_away_often_costs_no_link_and_no_packet(void **state)
{
	struct bed *b = *state;
	struct hog hog[2] = { { .cpu = 0 }, { .cpu = 1 } };

	for (unsigned int which = 1; which <= 3; which++) {
		go_on(b);
		for (unsigned int i = 0; i < 2; i++)
			if (which & 1u << i)
				assert_int_equal(
					pthread_create(&hog[i].thread, NULL,
						       hog_main, &hog[i]),
					0);
		for (unsigned int i = 0; i < 2; i++)
			if (which & 1u << i)
				pthread_join(hog[i].thread, NULL);
		go_on(b);
		check(b);
	}
}

static void
at_the_end_all_that_was_sent_has_arrived(void **state)
{
	struct bed *b = *state;
	const uint64_t end_ns = host_now(&b->on.host) + LIMIT_NS;

	for (unsigned int e = 0; e < 2; e++)
		atomic_store(&b->client[e].stop, true);
	while (!host_drained(&b->on.host) ||
	       atomic_load(&b->client[0].sent) !=
		       atomic_load(&b->client[1].received) ||
	       atomic_load(&b->client[1].sent) !=
		       atomic_load(&b->client[0].received)) {
		if (host_now(&b->on.host) > end_ns)
			fail_msg("not all has arrived");
		host_run(&b->on.host, 20 * RL_NS_PER_US);
	}
	check(b);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest worker_tests[] = {
		cmocka_unit_test(
			a_worker_that_is_stopped_as_links_train_makes_none_dead),
		cmocka_unit_test(
			a_worker_that_is_stopped_under_load_costs_no_link_and_no_packet),
		cmocka_unit_test(
			a_process_that_is_stopped_under_load_loses_no_link_and_no_packet),
		cmocka_unit_test(
			a_cpu_that_is_taken_away_often_costs_no_link_and_no_packet),
		cmocka_unit_test(at_the_end_all_that_was_sent_has_arrived),
	};
	/* the only lcore is the thread that tests: it cannot stop itself */
	const struct CMUnitTest alone_tests[] = {
		cmocka_unit_test(
			a_process_that_is_stopped_under_load_loses_no_link_and_no_packet),
		cmocka_unit_test(at_the_end_all_that_was_sent_has_arrived),
	};

	eal_fixture_start(argc > 1 ? argv[1] : "0");
	if (rte_lcore_count() == 1)
		return cmocka_run_group_tests_name("away", alone_tests, setup,
						   teardown);
	return cmocka_run_group_tests_name("away", worker_tests, setup,
					   teardown);
}
