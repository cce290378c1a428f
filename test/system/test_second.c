/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The second time: an attached port and the end of a wire whose peer was killed,
 * and came back, are field by field what they are where nothing has happened
 * [PHY-8]. The peer is this program again, with ports of net_memif that serve.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include "../figure1.h"
#include "attach.h"
#include "eal_fixture.h"
#include "rl_listen.h"

#define LIMIT_NS (30 * RL_NS_PER_S)
#define FRAMES 100u
#define RATE 20000u /* of e1, frames a second */

/* All fields, and those that may differ with why. */
#define ATTACH_DEV_SAME(X)                                                     \
	X(dev)                                                                 \
	X(open) X(l2) X(file_frames) X(file_truncated) X(end_noted)            \
		X(gone_noted) X(cut_noted) X(mtu)
#define ATTACH_DEV_DIFFERS(X)                                                  \
	X(mtu_due_ns) /* a time of its own */                                  \
	X(cfg)	   /* memory of its own */                                     \
	X(port)	   /* compared by its own fields */                            \
	X(rx_pool) /* memory of its own */                                     \
	X(stats)   /* counts over all lives: told */                           \
	X(client)  /* compared by its own fields */                            \
	X(unplug)                                                              \
	X(iface) /* compared by its own fields */
#define CLIENT_DEV_SAME(X)                                                     \
	X(rx_count)                                                            \
	X(rx_next)                                                             \
	X(rx_checked) X(routed) X(one) X(tx_count) X(gather) X(taker)          \
		X(stall_ns) X(stalled_ns) X(running) X(rate_pps) X(waits_ns)   \
			X(gone) X(down) X(away) X(closed) X(finished)
#define CLIENT_DEV_DIFFERS(X)                                                  \
	X(p)	   /* compared by its own fields */                            \
	X(next_ns) /* a time, over */                                          \
	X(rx)	   /* read up to rx_count */                                   \
	X(rx_head) /* where that begins */                                     \
	X(next)	   /* read while routed */                                     \
	X(end)                                                                 \
	X(to)                                                                  \
	X(tx)	 /* read up to tx_count */                                     \
	X(spare) /* one or none */                                             \
	X(c)	 /* counts over all lives: told */
#define CLIENT_DEV_PARAMS_SAME(X)                                              \
	X(rx_queues)                                                           \
	X(check)                                                               \
	X(rx_slot) X(tx_max) X(ep_id) X(dst) X(l2) X(member) X(nmembers)       \
		X(npeers) X(total_frames) X(max_bytes)
#define CLIENT_DEV_PARAMS_DIFFERS(X)                                           \
	X(port_id) /* an ethdev that is opened again: that of the port */      \
	X(pool)	   /* memory of its own */                                     \
	X(cache)                                                               \
	X(flow)                                                                \
	X(scratch)
#define HOST_UNPLUG_SAME(X) X(state) X(calls) X(was_up) X(told) X(refused)
#define HOST_UNPLUG_DIFFERS(X)                                                 \
	X(up_ns) /* times of its own */                                        \
	X(due_ns)                                                              \
	X(rounds) /* read while it leaves */
#define RL_NETDEV_SAME(X)                                                      \
	X(kind)                                                                \
	X(queues) X(ifindex)                                                   \
	X(live) X(asks_socket) X(promiscuous) X(mtu) X(mtu_max) X(rx_bytes)    \
		X(tx_bytes) X(buffer_bytes) X(socket_missed) X(discarded)      \
			X(written_late) X(calls)
#define RL_NETDEV_DIFFERS(X)                                                   \
	X(name) /* texts: compared up to their ends */                         \
	X(iface)                                                               \
	X(driver)                                                              \
	X(vdev)                                                                \
	X(port_id) /* an ethdev that is opened again */                        \
	X(before)  /* counts of those that were let go: told */
#define RL_WIRE_DEV_SAME(X)                                                    \
	X(frame_bytes) X(mtu) X(started) X(present) X(ifindex)
#define RL_WIRE_DEV_DIFFERS(X)                                                 \
	X(dev)	/* compared by its own fields */                               \
	X(pool) /* memory of its own */                                        \
	X(unplug)                                                              \
	X(stats) /* counts over all lives: told */
#define RL_UNPLUG_SAME(X) X(watched) X(asked)
#define RL_UNPLUG_DIFFERS(X)                                                   \
	X(name) /* memory of its own; of a device that is watched */           \
	X(driver)                                                              \
	X(port_id)                                                             \
	X(fd) /* the kernel gives the number */
#define RL_PHY_ETH_SAME(X)                                                     \
	X(dark)                                                                \
	X(removed) X(data_at) X(npending) X(rx_next) X(tap) X(bounce_bytes)
#define RL_PHY_ETH_DIFFERS(X)                                                  \
	X(p)	   /* compared by its own fields */                            \
	X(nspare)  /* frames that were lent, and not used */                   \
	X(c)	   /* counts over all lives: told */                           \
	X(bounce)  /* memory of its own */                                     \
	X(pending) /* read up to npending */                                   \
	X(spare)
#define RL_PHY_ETH_PARAMS_SAME(X)                                              \
	X(queue) X(rx_queues) X(rx_ring) X(tx_ring) X(frame_bytes)
#define RL_PHY_ETH_PARAMS_DIFFERS(X)                                           \
	X(port_id) /* an ethdev that is opened again: that of the wire */      \
	X(pool)	   /* memory of its own */                                     \
	X(rx_fault)

/* Of a process's side of the channel: what making tables leaves. */
#define HOST_OOB_SAME(X)                                                       \
	X(oob) X(making) X(epoch) X(office) X(crashed) X(incarnation) X(storing)
#define HOST_OOB_DIFFERS(X)                                                    \
	X(recipe) /* kept, those that could not be made, too */                \
	X(newest) /* grows with each */                                        \
	X(why)	  /* a text: empty in both */

#define CHECK(field)                                                           \
	if (memcmp(&a->field, &b->field, sizeof(a->field)) != 0)               \
		others += (print_error("%s is another one\n", #field), 1);
#define PART(type, used, fresh, LIST)                                          \
	do {                                                                   \
		const struct type *a = (used), *b = (fresh);                   \
                                                                               \
		LIST(CHECK)                                                    \
	} while (0)

/*
 * One end of a wire is the port that calls, the other leads to nothing; e1 has a
 * port that always has frames for e0.
 */
static const char fabric_text[] = FIGURE1_FABRIC
	"routing: { engine = \"updown\"; };\n"
	"attach = ( { endpoint = \"e0\"; port = \"net_memif0\"; },\n"
	"  { endpoint = \"e1\"; port = \"net_null2\"; } );\n"
	"wires = ( { link = \"s0-s1#0\"; a = \"net_memif1\"; "
	"b = \"net_null1\"; } );\n";

struct bed {
	struct rl_config cfg;
	struct rl_route *route;
	struct host host;
	struct attach attach;
	pid_t peer;
};

/* What is compared, as it was. */
struct seen {
	struct attach_dev port;
	struct host_unplug unplug;
	struct rl_wire_dev wire;
	struct rl_phy_eth phy;
};

static void
add_vdev(const char *name, const char *role, int of, unsigned int i)
{
	char args[120];

	snprintf(args, sizeof(args), "role=%s,id=0,socket=reflit-test-%d-%u",
		 role, of, i);
	if (rte_vdev_init(name, args) != 0) {
		fprintf(stderr, "no %s with %s\n", name, args);
		exit(1);
	}
}

/* Reads what comes, and sends a frame now and then, until it is killed. */
static int
peer_main(int of)
{
	static const char *const name[] = { "net_memif8", "net_memif9" };
	struct rl_netdev dev[2];
	struct rte_mempool *pool;
	struct rte_mbuf *m[32];
	char err[HOST_ERR_MAX];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pool = rl_frame_pool("peer", 4096, 2048, false);
	for (unsigned int i = 0; i < 2; i++) {
		add_vdev(name[i], "server", of, i);
		if (pool == NULL || rl_netdev_find(&dev[i], name[i]) != 0 ||
		    rl_netdev_start(&dev[i], pool, 0, err, sizeof(err)) != 0)
			return 1;
	}
	while (getppid() == of) {
		usleep(200);
		rte_pktmbuf_free_bulk(
			m, rte_eth_rx_burst(dev[0].port_id, 0, m, 32));
		m[0] = rte_pktmbuf_alloc(pool);
		if (m[0] == NULL)
			continue;
		memset(rte_pktmbuf_append(m[0], 200), 1, 200);
		if (rte_eth_tx_burst(dev[0].port_id, 0, m, 1) == 0)
			rte_pktmbuf_free(m[0]);
	}
	return 0;
}

static pid_t
peer_start(void)
{
	const int of = (int)getpid();
	const pid_t pid = fork();
	char name[16];

	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	snprintf(name, sizeof(name), "%d", of);
	execl("/proc/self/exe", "peer", name, (char *)NULL);
	_exit(1);
}

static void
peer_wait(unsigned int i)
{
	char vdev[120];

	snprintf(vdev, sizeof(vdev), "net_memif0,socket=reflit-test-%d-%u",
		 (int)getpid(), i);
	for (unsigned int k = 0; k < 2000 && !rl_listen_answers(vdev); k++)
		usleep(10000);
}

static void
peer_kill(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
bed_open(struct bed *b)
{
	struct host_params hp = { .cfg = &b->cfg,
				  .seed = 1,
				  .ring_frames = 256,
				  .frame_bytes = rl_frame_bytes(4) };
	char err[HOST_ERR_MAX] = "";

	memset(b, 0, sizeof(*b));
	b->peer = peer_start();
	for (unsigned int i = 0; i < 2; i++) {
		add_vdev(i == 0 ? "net_memif0" : "net_memif1", "client",
			 (int)getpid(), i);
		peer_wait(i);
	}
	assert_int_equal(rte_vdev_init("net_null1", "size=64,no-rx=1"), 0);
	assert_int_equal(rte_vdev_init("net_null2", "size=64"), 0);
	if (rl_config_read_text("bed", fabric_text, strlen(fabric_text),
				&b->cfg, err, sizeof(err)) != 0 ||
	    rl_route_setup(&b->cfg.topo, b->cfg.engine, RL_VCS, 1, &b->route,
			   err) != 0)
		fail_msg("%s", err);
	hp.route = b->route;
	if (attach_open(&b->attach, &b->cfg, 0, err) != 0 ||
	    host_open(&b->host, &hp, err) != 0 ||
	    attach_connect(&b->attach, &b->host, err) != 0)
		fail_msg("%s", err);
	client_dev_rate(&b->attach.dev[1].client, RATE);
	assert_int_equal(host_start(&b->host), 0);
}

static void
bed_close(struct bed *b)
{
	host_stop(&b->host);
	attach_close(&b->attach);
	host_close(&b->host);
	peer_kill(b->peer);
	rl_route_free(b->route);
	rl_config_free(&b->cfg);
	(void)rte_vdev_uninit("net_memif0");
	(void)rte_vdev_uninit("net_memif1");
	(void)rte_vdev_uninit("net_null1");
	(void)rte_vdev_uninit("net_null2");
}

/* A turn of the control thread and of all roles. */
static void
turn(struct bed *b)
{
	host_run(&b->host, 100 * RL_NS_PER_US);
	attach_peers(&b->attach, &b->host);
	attach_note_takers(&b->attach, 0);
	host_unplug_step(&b->host);
	host_wires_carriers(&b->host);
}

static const struct host_unplug *
wire_unplug(const struct bed *b)
{
	return &b->host.unplug[0];
}

static bool
is_here(const struct host_unplug *u)
{
	return u->state == HOST_UNPLUG_HERE && u->was_up && !u->told;
}

/* Until both have their peers. */
static void
until(struct bed *b)
{
	const uint64_t end_ns = host_now(&b->host) + LIMIT_NS;

	do {
		turn(b);
		if (host_now(&b->host) > end_ns)
			fail_msg("the peer does not come");
	} while (!is_here(&b->attach.dev[0].unplug) ||
		 !is_here(wire_unplug(b)));
}

/* So many frames through the attached port, both ways, and none is left. */
static void
carry(struct bed *b)
{
	const uint64_t end_ns = host_now(&b->host) + LIMIT_NS;
	struct client_dev *c = &b->attach.dev[0].client;
	struct client_dev *other = &b->attach.dev[1].client;
	const uint64_t rx = c->c.rx_frames + FRAMES;
	const uint64_t tx = c->c.tx_frames + FRAMES;

	client_dev_run(c, true);
	client_dev_run(other, true);
	while (c->running || other->running || c->tx_count != 0 ||
	       !host_drained(&b->host)) {
		turn(b);
		if (c->c.rx_frames >= rx && c->rx_count == 0)
			client_dev_run(c, false);
		if (c->c.tx_frames >= tx)
			client_dev_run(other, false);
		if (host_now(&b->host) > end_ns)
			fail_msg("%u frames read, %u written",
				 (unsigned int)c->c.rx_frames,
				 (unsigned int)c->c.tx_frames);
	}
	for (unsigned int i = 0; i < 50; i++)
		turn(b);
}

static void
see(struct bed *b, struct seen *s)
{
	s->port = b->attach.dev[0];
	s->unplug = *wire_unplug(b);
	s->wire = b->host.wire_dev[0];
	s->phy = *host_wires_phy(&b->host, 0);
	assert_int_equal(s->port.client.p.port_id, s->port.port.port_id);
	assert_int_equal(s->phy.p.port_id, s->wire.dev.port_id);
}

/* The peer is killed under load, and comes back. */
static void
lose_peer(struct bed *b)
{
	const uint64_t end_ns = host_now(&b->host) + LIMIT_NS;
	struct attach_dev *d = &b->attach.dev[0];

	client_dev_run(&d->client, true);
	client_dev_run(&b->attach.dev[1].client, true);
	peer_kill(b->peer);
	/* frames wait for a port that takes none, and are thrown away */
	while (d->unplug.state != HOST_UNPLUG_AWAY || !d->gone_noted ||
	       wire_unplug(b)->state != HOST_UNPLUG_AWAY) {
		turn(b);
		if (host_now(&b->host) > end_ns)
			fail_msg("the peer was not missed");
	}
	assert_false(d->open);
	assert_int_equal(d->client.down, 1);
	b->peer = peer_start();
	until(b);
	/* frames may be taken between two looks of the control thread */
	d->client.down = 1;
}

static void
check_netdev(const struct rl_netdev *used, const struct rl_netdev *fresh)
{
	unsigned int others = 0;

	PART(rl_netdev, used, fresh, RL_NETDEV_SAME);
	assert_int_equal(others, 0);
	assert_string_equal(used->name, fresh->name);
	assert_string_equal(used->iface, fresh->iface);
	assert_string_equal(used->driver, fresh->driver);
	assert_string_equal(used->vdev, fresh->vdev);
}

static void
check_port(const struct attach_dev *used, const struct attach_dev *fresh)
{
	unsigned int others = 0;

	PART(attach_dev, used, fresh, ATTACH_DEV_SAME);
	PART(client_dev, &used->client, &fresh->client, CLIENT_DEV_SAME);
	PART(client_dev_params, &used->client.p, &fresh->client.p,
	     CLIENT_DEV_PARAMS_SAME);
	PART(host_unplug, &used->unplug, &fresh->unplug, HOST_UNPLUG_SAME);
	PART(rl_unplug, &used->iface, &fresh->iface, RL_UNPLUG_SAME);
	assert_int_equal(others, 0);
	check_netdev(&used->port, &fresh->port);
}

static void
check_wire(const struct seen *used, const struct seen *fresh)
{
	unsigned int others = 0;

	PART(rl_wire_dev, &used->wire, &fresh->wire, RL_WIRE_DEV_SAME);
	PART(rl_unplug, &used->wire.unplug, &fresh->wire.unplug,
	     RL_UNPLUG_SAME);
	PART(rl_phy_eth, &used->phy, &fresh->phy, RL_PHY_ETH_SAME);
	PART(rl_phy_eth_params, &used->phy.p, &fresh->phy.p,
	     RL_PHY_ETH_PARAMS_SAME);
	PART(host_unplug, &used->unplug, &fresh->unplug, HOST_UNPLUG_SAME);
	assert_int_equal(others, 0);
	check_netdev(&used->wire.dev, &fresh->wire.dev);
}

static struct bed bed;
static struct seen fresh, used;

static void
a_port_and_a_wire_whose_peers_are_back_are_as_new_ones(void **state)
{
	(void)state;
	bed_open(&bed);
	until(&bed);
	carry(&bed);
	see(&bed, &fresh);
	for (unsigned int i = 0; i < 2; i++) {
		lose_peer(&bed);
		carry(&bed);
		see(&bed, &used);
		check_port(&used.port, &fresh.port);
		check_wire(&used, &fresh);
	}
	bed_close(&bed);
}

static void
make(struct host *h, struct rl_oob_recipe *r, int status)
{
	struct host_oob *x = &h->resil.oob;

	x->recipe[r->r.epoch % HOST_RECIPES].recipe = r;
	x->making = r;
	host_oob_made(h, status, "tables of epoch differ");
}

/* Tables that could not be made are news the second time, too. */
static void
after_tables_that_failed_others_are_made_as_the_first(void **state)
{
	static struct host a_host, b_host;
	struct host_oob *x = &a_host.resil.oob, *y = &b_host.resil.oob;
	struct rl_oob_recipe r[4] = { { .r.epoch = 1 },
				      { .r.epoch = 2 },
				      { .r.epoch = 3 },
				      { .r.epoch = 4 } };
	unsigned int others = 0;

	(void)state;
	make(&b_host, &r[1], 0);
	for (unsigned int i = 0; i < 4; i += 2) {
		make(&a_host, &r[i], -EPROTO);
		assert_true(x->recipe[r[i].r.epoch].bad);
		assert_string_equal(x->why, "tables of epoch differ");
		make(&a_host, &r[i + 1], 0);
		PART(host_oob, x, y, HOST_OOB_SAME);
		assert_int_equal(others, 0);
		assert_string_equal(x->why, "");
		assert_string_equal(y->why, "");
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_port_and_a_wire_whose_peers_are_back_are_as_new_ones),
		cmocka_unit_test(
			after_tables_that_failed_others_are_made_as_the_first),
	};

	eal_fixture_start("0@0");
	if (argc > 1 && strcmp(argv[1], "made") != 0)
		return peer_main(atoi(argv[1]));
	if (argc > 1)
		cmocka_set_test_filter("after_tables*");
	return cmocka_run_group_tests_name("second", tests, NULL, NULL);
}
