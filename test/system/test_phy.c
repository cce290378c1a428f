/* SPDX-License-Identifier: BSD-3-Clause */

/* PHYs over ethdevs [PHY-1]: net_ring pairs, net_null, odd mbufs. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "eal_fixture.h"
#include "rl_carrier.h"
#include "rl_frame.h"
#include "rl_netdev.h"
#include "rl_unplug.h"
#include "rl_wires.h"

#define FRAME_BYTES 1088u
#define RING 64
#define POOL 2048

struct bed {
	struct rte_mempool *pool;
	struct rl_wires wires;
	struct rl_inject_link fault;
	struct rl_inject_held line[2 * 64];
	struct rl_phy_eth phy[2];
};

static struct bed bed;

static int
setup(void **state)
{
	char err[256];

	memset(&bed, 0, sizeof(bed));
	bed.pool = rl_frame_pool("frames", POOL, FRAME_BYTES, false);
	assert_non_null(bed.pool);
	rl_inject_init(&bed.fault, 1, bed.line, 64);
	if (rl_wires_open(&bed.wires, 1, NULL, RING, bed.pool, err,
			  sizeof(err)) != 0)
		fail_msg("%s", err);
	for (unsigned int e = 0; e < 2; e++) {
		const struct rl_phy_eth_params p = {
			.port_id = bed.wires.end[e].port_id,
			.queue = bed.wires.end[e].queue,
			.frame_bytes = FRAME_BYTES,
			.pool = bed.pool,
			.rx_fault = &bed.fault.dir[!e],
		};

		assert_int_equal(rl_phy_eth_open(&bed.phy[e], &p), 0);
	}
	*state = &bed;
	return 0;
}

static int
teardown(void **state)
{
	struct bed *b = *state;

	rl_phy_eth_close(&b->phy[0]);
	rl_phy_eth_close(&b->phy[1]);
	rl_wires_close(&b->wires);
	/* every frame was given back, whatever the test did */
	assert_int_equal(rte_mempool_avail_count(b->pool), POOL);
	rte_mempool_free(b->pool);
	return 0;
}

static const struct rl_phy_ops *ops = &rl_phy_eth_ops;

/* Sends n frames of len bytes, each filled with its number from first on. */
static unsigned int
transmit(struct rl_phy_eth *phy, unsigned int n, uint32_t len, uint8_t first)
{
	struct rl_phy_frame f[RL_PHY_BURST];
	const unsigned int got = ops->tx_alloc(phy, f, n, 1);

	for (unsigned int i = 0; i < got; i++) {
		memset(f[i].data, first + (int)i, len);
		f[i].len = len;
	}
	if (got != 0)
		ops->tx(phy, f, got, 1);
	return got;
}

static void
frames_cross_whole_and_in_order_on_cache_lines(void **state)
{
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];

	assert_int_equal(transmit(&b->phy[0], 8, FRAME_BYTES, 10), 8);
	assert_int_equal(ops->rx(&b->phy[0], f, RL_PHY_BURST, 1), 0);
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 1), 8);
	for (unsigned int i = 0; i < 8; i++) {
		assert_int_equal(f[i].len, FRAME_BYTES);
		assert_int_equal((uintptr_t)f[i].data % RL_CACHE_LINE, 0);
		for (unsigned int k = 0; k < FRAME_BYTES; k++)
			assert_int_equal(f[i].data[k], 10 + i);
	}
	ops->rx_free(&b->phy[1], f, 8);
	assert_int_equal(b->phy[1].c.rx_bounced, 0);
}

/* A driver sends what the buffer says, whatever it said before. */
static void
buffers_say_how_long_their_frames_are(void **state)
{
	static const uint32_t len[] = { FRAME_BYTES, 64, 320, 65 };
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];

	for (size_t k = 0; k < RL_ARRAY_SIZE(len); k++) {
		assert_int_equal(transmit(&b->phy[0], 8, len[k], 0), 8);
		assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 1), 8);
		for (unsigned int i = 0; i < 8; i++) {
			const struct rte_mbuf *m = f[i].cookie;

			assert_int_equal(m->data_len, len[k]);
			assert_int_equal(m->pkt_len, len[k]);
		}
		ops->rx_free(&b->phy[1], f, 8);
	}
}

static void
frames_not_filled_are_kept_for_the_next_time(void **state)
{
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];

	assert_int_equal(ops->tx_alloc(&b->phy[0], f, 8, 1), 8);
	f[0].len = 64;
	memset(f[0].data, 1, 64);
	for (int i = 1; i < 8; i++)
		f[i].len = 0;
	ops->tx(&b->phy[0], f, 8, 1);
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 1), 1);
	ops->rx_free(&b->phy[1], f, 1);
	assert_int_equal(transmit(&b->phy[0], 8, 64, 3), 8);
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 1), 8);
	ops->rx_free(&b->phy[1], f, 8);
}

static void
a_full_wire_pushes_back_and_loses_nothing(void **state)
{
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];
	unsigned int sent = 0, got = 0, n;

	/* 32 go out even past a full ring: they are pending then */
	while ((n = transmit(&b->phy[0], 24, 64, (uint8_t)sent)) != 0)
		sent += n;
	assert_int_equal(sent, 72);
	assert_true(b->phy[0].c.tx_backpressure > 0);
	assert_int_equal(transmit(&b->phy[0], 1, 64, 0), 0);
	while ((n = ops->rx(&b->phy[1], f, 5, 1)) != 0) {
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(f[i].data[63], got + i);
		ops->rx_free(&b->phy[1], f, n);
		got += n;
		/* pending frames follow without being asked for */
		assert_int_equal(ops->rx(&b->phy[0], f, 5, 1), 0);
	}
	assert_int_equal(got, sent);
}

static void
what_the_sender_writes_next_does_not_change_what_is_under_way(void **state)
{
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];

	assert_int_equal(transmit(&b->phy[0], 1, 256, 1), 1);
	assert_int_equal(transmit(&b->phy[0], 1, 256, 2), 1);
	assert_int_equal(ops->rx(&b->phy[1], f, 2, 1), 2);
	memset(f[0].data, 0xff, 256); /* the receiver may write, too */
	assert_int_equal(f[1].data[0], 2);
	assert_int_equal(transmit(&b->phy[0], 1, 256, 3), 1);
	assert_int_equal(f[1].data[255], 2);
	ops->rx_free(&b->phy[1], f, 2);
	assert_int_equal(ops->rx(&b->phy[1], f, 2, 1), 1);
	assert_int_equal(f[0].data[0], 3);
	ops->rx_free(&b->phy[1], f, 1);
}

/* A frame as some other driver might give it: odd start, several segments. */
static void
put_odd(struct bed *b, unsigned int start, unsigned int segments, uint32_t len,
	uint8_t first)
{
	struct rte_mbuf *head = NULL;
	uint32_t at = first;

	for (unsigned int i = 0; i < segments; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(b->pool);
		const uint32_t n = len / segments;

		assert_non_null(m);
		m->data_off = (uint16_t)(m->data_off + start);
		for (uint32_t k = 0; k < n; k++)
			rte_pktmbuf_mtod(m, uint8_t *)[k] = (uint8_t)at++;
		m->data_len = (uint16_t)n;
		m->pkt_len = n;
		if (head == NULL)
			head = m;
		else
			assert_int_equal(rte_pktmbuf_chain(head, m), 0);
	}
	assert_int_equal(rte_ring_enqueue(b->wires.ring[0], head), 0);
}

static void
odd_buffers_are_read_through_a_bounce_buffer(void **state)
{
	static const struct {
		unsigned int start, segments;
	} row[] = { { 2, 1 }, { 0, 2 }, { 14, 4 } };
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];
	const unsigned int n = RL_ARRAY_SIZE(row);

	for (unsigned int i = 0; i < n; i++)
		put_odd(b, row[i].start, row[i].segments, 640, (uint8_t)(50 * i));
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 1), n);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(f[i].len, 640);
		assert_int_equal((uintptr_t)f[i].data % RL_CACHE_LINE, 0);
		for (unsigned int k = 0; k < 640; k++)
			assert_int_equal(f[i].data[k], (uint8_t)(50 * i + k));
	}
	assert_int_equal(b->phy[1].c.rx_bounced, n);
	ops->rx_free(&b->phy[1], f, n);
	put_odd(b, 1, 2, 2 * FRAME_BYTES - 64, 0); /* larger than any frame */
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 1), 0);
	assert_int_equal(b->phy[1].c.rx_oversize, 1);
}

static void
lost_stalled_and_delayed_frames_are_accounted_for(void **state)
{
	static const struct {
		struct rl_fault f;
		unsigned int at_once, later;
	} row[] = {
		{ { .kind = RL_FAULT_CUT, .silent = true }, 0, 0 },
		{ { .kind = RL_FAULT_STALL, .for_ns = 1000 }, 0, 8 },
		{ { .kind = RL_FAULT_NOISE, .noise.delay_ns = 1000 }, 0, 8 },
		{ { .kind = RL_FAULT_NOISE, .noise.dup_ppb = RL_PPB }, 16, 0 },
		{ { .kind = RL_FAULT_NOISE, .noise.jitter_ppb = RL_PPB,
		    .noise.jitter_ns = 1000 }, 0, 8 },
	};
	const struct rl_fault none = { .kind = RL_FAULT_HEAL };
	const struct rl_fault late_twice = { .kind = RL_FAULT_NOISE,
		.noise = { .delay_ns = 1000, .dup_ppb = RL_PPB } };
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];
	unsigned int sent = 0, got = 0, n;
	uint64_t now_ns = 10;

	for (unsigned int i = 0; i < RL_ARRAY_SIZE(row); i++, now_ns += 10000) {
		assert_int_equal(rl_inject_order(&b->fault, 0, &row[i].f), 0);
		assert_int_equal(transmit(&b->phy[0], 8, 64, 0), 8);
		n = ops->rx(&b->phy[1], f, RL_PHY_BURST, now_ns);
		assert_int_equal(n, row[i].at_once);
		ops->rx_free(&b->phy[1], f, n);
		n = ops->rx(&b->phy[1], f, RL_PHY_BURST, now_ns + 1000);
		assert_int_equal(n, row[i].later);
		ops->rx_free(&b->phy[1], f, n);
		assert_int_equal(rl_inject_order(&b->fault, 0, &none), 0);
	}
	/* all that fit when each comes twice; a cut frees what is late */
	assert_int_equal(rl_inject_order(&b->fault, 0, &late_twice), 0);
	for (unsigned int i = 0; i < 10; i++) {
		sent += transmit(&b->phy[0], 8, 64, 0);
		assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, now_ns),
				 0);
	}
	for (unsigned int i = 0; i < 20; i++, now_ns += 1000) {
		n = ops->rx(&b->phy[1], f, RL_PHY_BURST, now_ns + 1000);
		ops->rx_free(&b->phy[1], f, n);
		got += n;
	}
	assert_int_equal(got, 2 * sent);
	assert_int_equal(transmit(&b->phy[0], 8, 64, 0), 8);
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, now_ns), 0);
	assert_int_equal(rl_inject_order(&b->fault, 0, &row[0].f), 0);
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 2 * now_ns), 0);
	assert_int_equal(rl_inject_order(&b->fault, 0, &none), 0);
	/* frames that still wait in the delay line are freed at the end */
	assert_int_equal(rl_inject_order(&b->fault, 0, &row[2].f), 0);
	assert_int_equal(transmit(&b->phy[0], 8, 64, 0), 8);
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, now_ns), 0);
}

static void
the_status_is_that_of_the_carrier_and_of_the_fault(void **state)
{
	struct bed *b = *state;

	assert_int_equal(ops->status(&b->phy[0]), RL_PHY_UP);
	rl_inject_down(&b->fault, 5);
	assert_int_equal(ops->status(&b->phy[0]), RL_PHY_DOWN);
	assert_int_equal(ops->status(&b->phy[1]), RL_PHY_DOWN);
	rl_inject_light_up(&b->fault);
	assert_int_equal(ops->status(&b->phy[0]), RL_PHY_UP);
	rl_phy_eth_carrier(&b->phy[0], false);
	assert_int_equal(ops->status(&b->phy[0]), RL_PHY_DOWN);
	assert_int_equal(ops->status(&b->phy[1]), RL_PHY_UP);
	rl_phy_eth_carrier(&b->phy[0], true);
	assert_int_equal(ops->status(&b->phy[0]), RL_PHY_UP);
}

/* The thread that asks kernels for carriers asks all other drivers, too. */
static void
a_link_that_its_driver_calls_down_has_no_carrier(void **state)
{
	struct bed *b = *state;
	const struct rl_carrier_wire wire = { .port_id = b->phy[1].p.port_id,
					      .phy = &b->phy[1] };
	struct rl_carrier c;
	int tries = 5000;

	assert_int_equal(rte_eth_dev_set_link_down(wire.port_id), 0);
	assert_int_equal(rl_carrier_start(&c, &wire, 1), 0);
	while (ops->status(&b->phy[1]) != RL_PHY_DOWN && tries-- > 0)
		usleep(1000);
	assert_int_equal(ops->status(&b->phy[1]), RL_PHY_DOWN);
	assert_int_equal(rte_eth_dev_set_link_up(wire.port_id), 0);
	while (ops->status(&b->phy[1]) != RL_PHY_UP && tries-- > 0)
		usleep(1000);
	assert_int_equal(ops->status(&b->phy[1]), RL_PHY_UP);
	rl_carrier_stop(&c);
}

/* [PHY-7] Pulled out while frames pend; the same ethdev then stands for a new one. */
static void
a_removed_device_is_left_alone_until_another_takes_its_place(void **state)
{
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];
	const uint16_t port = b->phy[0].p.port_id;

	assert_int_equal(transmit(&b->phy[1], 4, 64, 0), 4);
	rl_phy_eth_remove(&b->phy[0]);
	b->phy[0].p.port_id = RTE_MAX_ETHPORTS; /* any use of it would fail */
	assert_int_equal(ops->status(&b->phy[0]), RL_PHY_REMOVED);
	assert_int_equal(ops->rx(&b->phy[0], f, RL_PHY_BURST, 0), 0);
	assert_int_equal(ops->tx_alloc(&b->phy[0], f, 1, 0), 0);
	rl_phy_eth_replace(&b->phy[0], port);
	assert_int_equal(ops->status(&b->phy[0]), RL_PHY_UP);
	assert_int_equal(ops->rx(&b->phy[0], f, RL_PHY_BURST, 0), 4);
	ops->rx_free(&b->phy[0], f, 4);
	assert_int_equal(transmit(&b->phy[0], 8, 64, 0), 8);
	assert_int_equal(ops->rx(&b->phy[1], f, RL_PHY_BURST, 0), 8);
	ops->rx_free(&b->phy[1], f, 8);
}

/* [PHY-7] A NIC fetches frames by addresses of its own, or of the IOMMU. */
static void
frames_of_devices_have_addresses_that_devices_know(void **state)
{
	struct rte_mempool *pool = rl_frame_pool("dma", 64, FRAME_BYTES, true);
	struct rte_mbuf *m;

	(void)state;
	assert_non_null(pool);
	m = rte_pktmbuf_alloc(pool);
	assert_non_null(m);
	assert_int_not_equal(rte_mempool_virt2iova(m), RTE_BAD_IOVA);
	assert_int_equal(rte_mbuf_data_iova(m) - rte_mempool_virt2iova(m),
			 rte_pktmbuf_mtod(m, char *) - (char *)m);
	rte_pktmbuf_free(m);
	rte_mempool_free(pool);
}

/* [PHY-7] Any PCI device of this machine that no driver for users has. */
static void
a_device_of_the_kernel_is_named_with_its_driver(void **state)
{
	char buf[512], driver[RL_BINDING_DRIVER] = "vfio";
	const struct dirent *e = NULL;
	DIR *d = opendir("/sys/bus/pci/devices");

	(void)state;
	while (d != NULL && (e = readdir(d)) != NULL &&
	       (e->d_name[0] == '.' || !rl_binding_driver("", e->d_name, driver) ||
		strncmp(driver, "vfio", 4) == 0 ||
		strstr(driver, "uio") != NULL || driver[0] == '\0'))
		;
	if (e != NULL) {
		rl_netdev_missing(e->d_name, buf, sizeof(buf));
		assert_non_null(strstr(buf, driver));
		assert_non_null(strstr(buf, "dpdk-devbind.py -b "));
	}
	if (d != NULL)
		closedir(d);
	rl_netdev_missing("ffff:ff:1f.7", buf, sizeof(buf));
	assert_non_null(strstr(buf, "there is no port ffff:ff:1f.7: there is "
				    "no such device"));
	if (e == NULL) {
		print_message("no PCI device with a driver here\n");
		skip();
	}
}

static void
a_pool_whose_buffers_do_not_fit_is_refused(void **state)
{
	struct bed *b = *state;
	struct rl_phy_eth_params p = b->phy[0].p;
	struct rl_phy_eth phy;

	p.frame_bytes = FRAME_BYTES + 64;
	assert_int_equal(rl_phy_eth_open(&phy, &p), -EINVAL);
}

static void
net_null_takes_all_and_its_frames_belong_to_no_link(void **state)
{
	struct bed *b = *state;
	struct rl_phy_eth_params p = b->phy[0].p;
	struct rl_phy_frame f[RL_PHY_BURST];
	struct rl_frame_hdr h;
	struct rl_phy_eth phy;
	const char *what;

	assert_int_equal(rte_vdev_init("net_null0", "size=256"), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_null0", &p.port_id),
			 0);
	p.queue = 0;
	p.rx_fault = NULL;
	assert_int_equal(rl_ethdev_start(p.port_id, 1, b->pool, 0, &what), 0);
	assert_true(rl_ethdev_frame_bytes(p.port_id) >= 1514);
	assert_int_equal(rl_phy_eth_open(&phy, &p), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(transmit(&phy, RL_PHY_BURST, FRAME_BYTES, 1),
				 RL_PHY_BURST);
	assert_int_equal(phy.c.tx_frames, 100 * RL_PHY_BURST);
	assert_int_equal(ops->rx(&phy, f, RL_PHY_BURST, 1), RL_PHY_BURST);
	for (unsigned int i = 0; i < RL_PHY_BURST; i++)
		assert_int_not_equal(rl_frame_open(f[i].data, f[i].len, &h,
						   false),
				     RL_FRAME_OK);
	ops->rx_free(&phy, f, RL_PHY_BURST);
	rl_phy_eth_close(&phy);
	rte_eth_dev_stop(p.port_id);
	assert_int_equal(rte_vdev_uninit("net_null0"), 0);
}

/* More ends than DPDK has ethdev numbers: they share ethdevs, by queue. */
static void
big_fabrics_put_several_links_on_one_ethdev(void **state)
{
	struct bed *b = *state;
	struct rl_wires w;
	struct rte_mbuf *m, *got;
	char err[256];

	assert_int_equal(rl_wires_open(&w, 100, NULL, 16, b->pool, err,
				       sizeof(err)),
			 0); /* beside the test's own, under other names */
	rl_wires_close(&w);
	rl_wires_close(&b->wires);
	assert_int_equal(rl_wires_open(&w, 100, NULL, 16, b->pool, err,
				       sizeof(err)),
			 0);
	for (unsigned int i = 0; i < 200; i++) {
		const struct rl_wire_end *a = &w.end[i], *z = &w.end[i ^ 1];

		m = rte_pktmbuf_alloc(b->pool);
		assert_non_null(m);
		assert_int_equal(rte_eth_tx_burst(a->port_id, a->queue, &m, 1),
				 1);
		assert_int_equal(rte_ring_count(w.ring[i]), 1);
		assert_int_equal(rte_eth_rx_burst(z->port_id, z->queue, &got,
						  1),
				 1);
		assert_ptr_equal(got, m);
		rte_pktmbuf_free(got);
	}
	rl_wires_close(&w);
}

/* A wire takes none of DPDK's memory zones: 2,560 by default. */
static void
wires_are_as_many_as_memory_has_room_for(void **state)
{
	struct bed *b = *state;
	const uint32_t links = 2560;
	struct rl_wires w;
	char err[256];

	rl_wires_close(&b->wires);
	assert_int_equal(rl_wires_open(&w, links, NULL, 16, b->pool, err,
				       sizeof(err)),
			 0);
	assert_non_null(w.end[2 * links - 1].rx_ring);
	rl_wires_close(&w);
	/* 16 GB of rings; what was made of them is gone again */
	assert_int_equal(rl_wires_open(&w, 1000, NULL, 1 << 20, b->pool, err,
				       sizeof(err)),
			 -ENOMEM);
	assert_string_equal(err, "no memory for 1000 wires; raise -m");
	assert_int_equal(rl_wires_open(&w, links, NULL, 16, b->pool, err,
				       sizeof(err)),
			 0);
	rl_wires_close(&w);
}

/* And more than all their queues: these have the rings alone. */
static void
bigger_fabrics_have_bare_rings_for_the_rest(void **state)
{
	struct bed *b = *state;
	struct rl_phy_frame f[RL_PHY_BURST];
	struct rl_phy_eth phy[2];
	struct rl_wires w;
	char err[256];
	uint32_t links;

	rl_wires_close(&b->wires);
	links = (RTE_MAX_ETHPORTS - rte_eth_dev_count_total()) *
			RTE_PMD_RING_MAX_RX_RINGS / 2 +
		10;
	assert_int_equal(rl_wires_open(&w, links, NULL, 16, b->pool, err,
				       sizeof(err)),
			 0);
	for (unsigned int i = 0; i < links; i += links - 1) {
		for (unsigned int e = 0; e < 2; e++) {
			const struct rl_wire_end *end = &w.end[2 * i + e];
			const struct rl_phy_eth_params p = {
				.port_id = end->port_id,
				.queue = end->queue,
				.rx_ring = end->rx_ring,
				.tx_ring = end->tx_ring,
				.frame_bytes = FRAME_BYTES,
				.pool = b->pool,
			};

			assert_int_equal(end->rx_ring != NULL, i != 0);
			assert_int_equal(rl_phy_eth_open(&phy[e], &p), 0);
		}
		assert_int_equal(transmit(&phy[1], 8, 256, 5), 8);
		assert_int_equal(rte_ring_count(w.ring[2 * i + 1]), 8);
		assert_int_equal(ops->rx(&phy[0], f, RL_PHY_BURST,
					 i * 10 * RL_NS_PER_MS),
				 8);
		assert_int_equal(f[7].data[255], 12);
		assert_int_equal(ops->status(&phy[0]), RL_PHY_UP);
		ops->rx_free(&phy[0], f, 8);
		rl_phy_eth_close(&phy[0]);
		rl_phy_eth_close(&phy[1]);
	}
	rl_wires_close(&w);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(frames_cross_whole_and_in_order_on_cache_lines),
		T(frames_not_filled_are_kept_for_the_next_time),
		T(a_full_wire_pushes_back_and_loses_nothing),
		T(what_the_sender_writes_next_does_not_change_what_is_under_way),
		T(buffers_say_how_long_their_frames_are),
		T(odd_buffers_are_read_through_a_bounce_buffer),
		T(lost_stalled_and_delayed_frames_are_accounted_for),
		T(the_status_is_that_of_the_carrier_and_of_the_fault),
		T(a_link_that_its_driver_calls_down_has_no_carrier),
		T(a_removed_device_is_left_alone_until_another_takes_its_place),
		T(frames_of_devices_have_addresses_that_devices_know),
		T(a_device_of_the_kernel_is_named_with_its_driver),
		T(a_pool_whose_buffers_do_not_fit_is_refused),
		T(net_null_takes_all_and_its_frames_belong_to_no_link),
		T(big_fabrics_put_several_links_on_one_ethdev),
		T(bigger_fabrics_have_bare_rings_for_the_rest),
		T(wires_are_as_many_as_memory_has_room_for),
	};
#undef T

	eal_fixture_start("0");
	return cmocka_run_group_tests_name("phy", tests, NULL, NULL);
}
