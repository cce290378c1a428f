/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Drivers by their names, and what follows for frames of the ends of links
 * [PHY-1]: with drivers that need neither an interface nor a peer.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <sys/resource.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mempool.h>

#include "eal_fixture.h"
#include "rl_carrier.h"
#include "rl_frame.h"
#include "rl_iface.h"
#include "rl_listen.h"
#include "rl_wire_dev.h"

static void
a_port_is_known_by_how_its_name_begins(void **state)
{
	static const struct {
		const char *port, *name, *queues, *room;
		uint32_t frames;
		bool live, leaks, tells, hardware;
	} row[] = {
		{ "net_af_packet3", "net_af_packet", "qpairs", "framesz=",
		  2048, true, true, false, false },
		{ "eth_af_packet3", "net_af_packet", "qpairs", "framesz=",
		  2048, true, true, false, false },
		{ "net_af_xdp0", "net_af_xdp", "queue_count", NULL, 8192,
		  true, true, false, false },
		{ "net_tap0", "net_tap", NULL, NULL, 2048, false, false, false,
		  false },
		{ "eth_tap9", "net_tap", NULL, NULL, 2048, false, false, false,
		  false },
		{ "net_memif1", "net_memif", NULL, "bsize=", 2048, false, false,
		  true, false },
		{ "eth_vhost1", "net_vhost", "queues", NULL, 2048, false,
		  false, false, false },
		{ "virtio_user0", "net_virtio_user", NULL, NULL, 2048, false,
		  false, true, false },
		{ "eth_pcap0", "net_pcap", "rx_pcap", NULL, 2048, false,
		  false, false, false },
		{ "net_ring0", "net_", NULL, NULL, 2048, false, false, false,
		  false },
		{ "eth_ring0", "net_", NULL, NULL, 2048, false, false, false,
		  false },
		{ "0000:01:00.0", "", NULL, NULL, 4096, false, true, false,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		const struct rl_driver *d = rl_driver_of(row[i].port);

		assert_string_equal(d->name, row[i].name);
		if (row[i].queues == NULL)
			assert_null(d->queues);
		else
			assert_string_equal(d->queues, row[i].queues);
		if (row[i].room == NULL)
			assert_null(d->room);
		else
			assert_string_equal(d->room, row[i].room);
		assert_int_equal(rl_netdev_frames(row[i].port, 0), row[i].frames);
		assert_int_equal(d->live, row[i].live);
		assert_int_equal(d->leaks, row[i].leaks);
		assert_int_equal(d->tells, row[i].tells);
		assert_int_equal(d->hardware, row[i].hardware);
		for (size_t k = 0; k < RL_ARRAY_SIZE(row); k++)
			assert_int_equal(
				rl_driver_is(row[i].port, row[k].name),
				strcmp(row[i].name, row[k].name) == 0);
	}
}

static void
an_argument_is_found_by_its_whole_key(void **state)
{
	static const struct {
		const char *args, *key, *value; /* NULL: not there */
	} row[] = {
		{ "net_tap0,iface=a", "iface", "a" },
		{ "iface=a,b=c", "iface", "a" },
		{ "iface=a,b=c", "b", "c" },
		{ "iface=,b=c", "iface", "" },
		{ "x,iface=1234567,y", "iface", "1234567" },
		{ "x,iface=12345678", "iface", "1234567" }, /* cut off */
		{ "rx_iface=a", "iface", NULL },
		{ "x,ifaces=a,iface=b", "iface", "b" },
		{ "x,iface", "iface", NULL },
		{ "x,ifac=a", "iface", NULL },
		{ "", "iface", NULL },
		{ ",,a=b", "a", "b" },
	};

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		char buf[8] = "before";
		const bool there = rl_devarg(row[i].args, row[i].key, buf,
					     sizeof(buf));

		assert_int_equal(there, row[i].value != NULL);
		assert_string_equal(buf, there ? row[i].value : "before");
	}
}

static void
buffers_fit_their_driver_and_limits_of_frames_are_exact(void **state)
{
	struct rl_netdev d = { .rx_bytes = 1982, .tx_bytes = 2016,
			       .asks_socket = true };

	(void)state;
	assert_int_equal(rl_netdev_bytes("net_af_xdp0", 100), 2048);
	assert_int_equal(rl_netdev_bytes("net_af_xdp0", 1792), 2048);
	assert_int_equal(rl_netdev_bytes("net_af_xdp0", 1793), 2049);
	assert_int_equal(rl_netdev_bytes("net_af_xdp0", 3392), 3648);
	assert_int_equal(rl_netdev_bytes("net_af_xdp0", 9000), 3648);
	assert_int_equal(rl_netdev_bytes("net_ring0", 2049), 2049);
	assert_true(rl_netdev_fits(&d, 1981));
	assert_false(rl_netdev_fits(&d, 1982));
	d.rx_bytes = UINT32_MAX;
	assert_true(rl_netdev_fits(&d, 2016));
	assert_false(rl_netdev_fits(&d, 2017));
	assert_int_equal(rl_netdev_slot(&d, 2048 - 66), 2048);
	assert_int_equal(rl_netdev_slot(&d, 2048 - 65), 4096);
	d.asks_socket = false;
	assert_int_equal(rl_netdev_slot(&d, 2048), 2048);
	assert_int_equal(rl_netdev_slot(&d, 2049), 4096);
}

/* Whole KiB, with room for what a device adds. */
static void
buffers_of_devices_hold_more_than_a_frame(void **state)
{
	static const uint32_t frame[] = { 64, 1514, 2048, 3512, 9014 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(frame); i++) {
		const uint32_t n = rl_netdev_bytes("0000:01:00.0", frame[i]);

		assert_int_equal(n % 1024, 0);
		assert_true(n >= frame[i] + 64 && n >= 2048);
		assert_int_equal(rl_netdev_bytes("net_tap0", frame[i]),
				 RTE_MAX(frame[i], 2048u));
	}
}

static void
a_port_that_is_not_there_is_asked_for_as_EAL_takes_it(void **state)
{
	static const struct {
		const char *port, *why;
	} row[] = {
		{ "net_tap7", "there is no port net_tap7; give it to EAL, as in "
			      "--vdev=net_tap7,iface=NAME" },
		{ "net_memif7",
		  "there is no port net_memif7; give it to EAL, as in "
		  "--vdev=net_memif7,role=server,socket=PATH" },
		{ "net_ring7", "there is no port net_ring7; give it to EAL, as "
			       "in --vdev=net_ring7" },
	};
	struct rl_wire_dev w;
	char err[256];

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		assert_int_equal(rl_wire_dev_open(&w, row[i].port, 0, 0, err,
						  sizeof(err)),
				 -ENODEV);
		assert_string_equal(err, row[i].why);
		rl_wire_dev_close(&w);
	}
}

static const struct {
	const char *port, *args;
	uint32_t mtu;
	uint32_t frame_bytes; /* 0: refused */
	const char *why;
} size[] = {
	{ "net_null5", "size=64", 0, 1514, NULL },
	{ "net_null5", "size=64", 1400, 1414, NULL },
	{ "net_null5", "size=64", 9000, 8320, NULL }, /* the longest */
	{ "net_null5", "size=64", 305, 0,
	  "net_null5: an MTU of 305 is too small for a flit; it takes "
	  "306, and 1486 for five" },
	{ "net_null5", "size=64", 306, 320, NULL },
	{ "net_null5", "size=64", 65536, 0,
	  "net_null5: mtu = 65536, and its driver, net_null, takes at "
	  "most 65535" },
	{ "net_memif5", "role=server,socket=@test-netdev-a,bsize=1024", 0,
	  1024, NULL },
	{ "net_memif5", "role=server,socket=@test-netdev-b,bsize=1024",
	  1010, 1024, NULL },
	{ "net_memif5", "role=server,socket=@tn-c,bsize=1024",
	  1011, 0,
	  "net_memif5: its driver takes frames of less than 1025 bytes, "
	  "mtu = 1011 asks for 1025; give it bsize=2048" },
	{ "net_memif5", "role=server,socket=@test-netdev-d", 0, 1514,
	  NULL },
};

/* Of a driver that writes what its buffer holds, and one that tells nothing. */
static void
a_frame_is_as_long_as_mtu_and_driver_allow(void **state)
{
	static const struct rl_wire_dev none;

	(void)state;
	for (size_t i = 0; i < RL_ARRAY_SIZE(size); i++) {
		struct rl_wire_dev w;
		char err[256] = "";
		int ret;

		assert_int_equal(rte_vdev_init(size[i].port, size[i].args), 0);
		ret = rl_wire_dev_open(&w, size[i].port, size[i].mtu, 0, err,
				       sizeof(err));
		if (size[i].frame_bytes == 0) {
			assert_int_equal(ret, -EMSGSIZE);
			assert_string_equal(err, size[i].why);
			assert_false(w.started || w.present);
		} else {
			if (ret != 0)
				fail_msg("%zu: %s", i, err);
			assert_int_equal(w.frame_bytes, size[i].frame_bytes);
			assert_int_equal(w.mtu, size[i].mtu);
			assert_true(w.started && w.present);
			assert_int_equal(w.ifindex, 0);
			assert_string_equal(w.dev.iface, "");
			assert_int_equal(strcspn(w.dev.vdev, ","),
					 strlen(size[i].port));
			assert_string_equal(w.dev.vdev + strlen(size[i].port) + 1,
					    size[i].args);
			assert_true(rte_pktmbuf_data_room_size(w.pool) >=
				    w.frame_bytes + RTE_PKTMBUF_HEADROOM);
			assert_int_equal(w.pool->size, 2048);
		}
		rl_wire_dev_close(&w);
		assert_memory_equal(&w, &none, sizeof(w));
		(void)rte_vdev_uninit(size[i].port);
		assert_int_equal(rte_eth_dev_get_port_by_name(
					 size[i].port, &(uint16_t){ 0 }),
				 -ENODEV);
	}
}

/* A capture of no frame, called c. */
static void
write_capture(const char *dir)
{
	static const uint32_t head[] = { 0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535,
					 1 };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/c", dir);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(head, sizeof(head), 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

static void
remove_all(const char *dir)
{
	static const char *const name[] = { "/c", "/x", "/y", "" };
	char path[64];

	for (size_t i = 0; i < RL_ARRAY_SIZE(name); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, name[i]);
		(void)remove(path);
	}
}

/* All its frames must be read, and none may be longer than a packet. */
static void
a_port_that_is_not_wholly_read_is_refused(void **state)
{
	struct rl_netdev d = { .name = "net_vhost0" };
	struct rl_wire_dev w;
	char dir[] = "/tmp/test-netdev-XXXXXX", args[256], err[256] = "";

	(void)state;
	assert_non_null(mkdtemp(dir));
	d.kind = rl_driver_of(d.name);
	strcpy(d.vdev, "net_vhost0,iface=x,tso=1");
	assert_int_equal(rl_netdev_check_queues(&d, 0, err, sizeof(err)), -ENOTSUP);
	assert_string_equal(err, "net_vhost0: tso=1 has a machine send frames "
			    "longer than any packet; give it tso=0");
	strcpy(d.vdev, "net_vhost0,iface=x,tso=0");
	d.port_id = RTE_MAX_ETHPORTS - 1; /* not there: nothing is known */
	assert_int_equal(rl_netdev_check_queues(&d, 0, err, sizeof(err)), 0);
	write_capture(dir);
	snprintf(args, sizeof(args), "rx_pcap=%s/c,rx_pcap=%s/c,tx_pcap=%s/x,"
		 "tx_pcap=%s/y", dir, dir, dir, dir);
	assert_int_equal(rte_vdev_init("net_pcap5", args), 0);
	assert_int_equal(rl_wire_dev_open(&w, "net_pcap5", 0, 0, err,
					  sizeof(err)),
			 -ENOTSUP);
	assert_string_equal(err, "net_pcap5: it can have one queue, not 2: each "
			    "file is one; give it one rx_pcap=");
	rl_wire_dev_close(&w);
	(void)rte_vdev_uninit("net_pcap5");
	remove_all(dir);
}

/* Let go while its peer is away, and taken back: what it counted stays. */
static void
an_end_that_is_taken_back_is_as_it_was(void **state)
{
	struct rl_wire_dev w;
	char err[256] = "";
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(rte_vdev_init("net_null6", "size=64"), 0);
	assert_int_equal(rl_wire_dev_open(&w, "net_null6", 1400, 0, err,
					  sizeof(err)), 0);
	rl_wire_dev_note_stats(&w);
	assert_int_equal(w.stats.tx_errors, 0);
	w.dev.discarded = 5;
	for (unsigned int i = 1; i <= 2; i++) {
		rl_wire_dev_let_go(&w);
		assert_false(w.present);
		assert_true(w.started);
		assert_int_equal(w.stats.discarded, 5);
		rl_wire_dev_note_stats(&w); /* of nothing: they stay */
		assert_int_equal(w.stats.discarded, 5);
		assert_int_equal(rte_eth_dev_get_port_by_name(
					 "net_null6", &(uint16_t){ 0 }),
				 -ENODEV);
		if (rl_wire_dev_take_back(&w, err, sizeof(err)) != 0)
			fail_msg("%s", err);
		assert_true(w.present);
		assert_int_equal(w.frame_bytes, 1414);
		rl_wire_dev_note_stats(&w);
		assert_int_equal(w.stats.discarded, 5);
		assert_int_equal(rte_eth_rx_burst(w.dev.port_id, 0, &m, 1), 1);
		rte_pktmbuf_free(m);
	}
	rl_wire_dev_close(&w);
}

static void
carriers_that_cannot_be_asked_for_leave_nothing_behind(void **state)
{
	struct rl_carrier_wire wire = { 0 };
	struct rl_carrier c;
	struct rlimit was, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(rl_carrier_start(&c, &wire, 1), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_null(c.wire);
	rl_carrier_stop(&c);
	assert_int_equal(rl_carrier_start(&c, &wire, 0), 0);
	rl_carrier_stop(&c);
}

/* What this process has taken: descriptors, and memory of both kinds. */
struct taken {
	size_t fds, heap, huge;
};

static struct taken
taken_now(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct rte_malloc_socket_stats st;
	struct taken t = { 0 };

	assert_non_null(d);
	while (readdir(d) != NULL)
		t.fds++;
	closedir(d);
	assert_int_equal(rte_malloc_get_socket_stats(0, &st), 0);
	t.heap = mallinfo2().uordblks;
	t.huge = st.heap_allocsz_bytes;
	return t;
}

/* Each way to refuse a port once. */
static void
refuse_all(const char *plain)
{
	static const char *const vdev[] = {
		"net_af_packet7,iface=no-such", "net_af_xdp7,iface=no-such",
		"net_tap7,iface=test-netdev-b",
	};
	char err[256], path[96];
	struct rl_wire_dev w;

	for (size_t i = 0; i < RL_ARRAY_SIZE(vdev); i++)
		assert_true(rl_iface_claim(vdev[i], err, sizeof(err)) < 0);
	snprintf(path, sizeof(path), "net_vhost7,iface=%s", plain);
	assert_int_equal(rl_listen_clear(path, err, sizeof(err)), -EEXIST);
	assert_int_equal(rl_wire_dev_open(&w, "net_tap7", 0, 0, err,
					  sizeof(err)),
			 -ENODEV);
	rl_wire_dev_close(&w);
	assert_int_equal(rte_vdev_init("net_null7", "size=64"), 0);
	assert_int_equal(rl_wire_dev_open(&w, "net_null7", 305, 0, err,
					  sizeof(err)),
			 -EMSGSIZE);
	rl_wire_dev_close(&w);
	assert_int_equal(rte_vdev_uninit("net_null7"), 0);
}

static void
ports_refused_a_thousand_times_leave_nothing_behind(void **state)
{
	char plain[] = "/tmp/test-netdev-XXXXXX", err[256];
	struct taken before, after;
	const int fd = mkstemp(plain);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(rl_iface_claim("net_tap6,iface=test-netdev-b", err,
					sizeof(err)), 0);
	refuse_all(plain);
	before = taken_now();
	for (unsigned int i = 0; i < 1000; i++)
		refuse_all(plain);
	after = taken_now();
	(void)remove(plain);
	assert_int_equal(after.fds, before.fds);
	assert_int_equal(after.heap, before.heap);
	assert_int_equal(after.huge, before.huge);
}

/* Another interface for a port: it has but one. */
static void
a_claim_takes_the_place_of_the_one_before(void **state)
{
	struct taken before;
	char err[256], vdev[64];

	(void)state;
	assert_int_equal(rl_iface_claim("net_tap5,iface=tn-c", err,
					sizeof(err)), 0);
	before = taken_now();
	for (int i = 0; i < 2000; i++) {
		snprintf(vdev, sizeof(vdev), "net_tap5,iface=tn-c%d",
			 i);
		assert_int_equal(rl_iface_claim(vdev, err, sizeof(err)), 0);
	}
	assert_int_equal(taken_now().fds, before.fds);
	/* the name of before is free, the last one is not */
	assert_int_equal(rl_iface_claim("net_tap8,iface=tn-c", err,
					sizeof(err)), 0);
	assert_int_equal(rl_iface_claim("net_tap9,iface=tn-c1999", err,
					sizeof(err)), -EBUSY);
	assert_string_equal(err, "tn-c1999: net_tap5 has it already; "
			    "take another interface");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_known_by_how_its_name_begins),
		cmocka_unit_test(an_argument_is_found_by_its_whole_key),
		cmocka_unit_test(
			buffers_fit_their_driver_and_limits_of_frames_are_exact),
		cmocka_unit_test(buffers_of_devices_hold_more_than_a_frame),
		cmocka_unit_test(
			a_port_that_is_not_there_is_asked_for_as_EAL_takes_it),
		cmocka_unit_test(a_frame_is_as_long_as_mtu_and_driver_allow),
		cmocka_unit_test(a_port_that_is_not_wholly_read_is_refused),
		cmocka_unit_test(an_end_that_is_taken_back_is_as_it_was),
		cmocka_unit_test(
			carriers_that_cannot_be_asked_for_leave_nothing_behind),
		cmocka_unit_test(
			ports_refused_a_thousand_times_leave_nothing_behind),
		cmocka_unit_test(a_claim_takes_the_place_of_the_one_before),
	};

	eal_fixture_start("0");
	return cmocka_run_group_tests_name("netdev", tests, NULL, NULL);
}
