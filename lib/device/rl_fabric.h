/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_FABRIC_H
#define RL_FABRIC_H

/**
 * @file
 * A whole fabric: every device of a topology with its core, its ports, its
 * endpoint, and the pipes between them, made from one configuration. The host
 * (lcores, a unit test, the simulator) supplies memory, caches, pipes and
 * wires, and then polls the roles.
 */

#include "rl_config.h"
#include "rl_device.h"
#include "rl_topo.h"

/** Sizes of the pipes of one port, in pointers. */
struct rl_pipe_sizes {
	uint32_t rx;
	uint32_t loop;
	uint32_t tx;
};

/**
 * What a host supplies. It must outlive the fabric: ports and roles keep
 * pointers into it. alloc, cache, pipe, phy and auth are called by
 * rl_fabric_build() only, the others while roles run, on their lcores.
 */
struct rl_fabric_host {
	void *ctx;
	/** Zeroed memory, 64-byte aligned, the host's; NULL where none. */
	void *(*alloc)(void *ctx, size_t bytes);
	/** Cache of the lcore that will run a role; port -1 is the core. */
	struct rl_flit_cache *(*cache)(void *ctx, uint32_t dev, int port);
	/** The same of what endpoints keep to send again; NULL: as `cache`. */
	struct rl_flit_cache *(*keep)(void *ctx, uint32_t dev);
	/** A pipe of at least @p size pointers. @return 0 or -errno */
	int (*pipe)(void *ctx, uint32_t size, struct rl_pipe *pipe);
	/** The wire of a port and its frame size. @return 0 or -errno */
	int (*phy)(void *ctx, uint32_t dev, uint16_t port, struct rl_phy *phy,
		   uint32_t *frame_bytes);
	/** The keyed check of an end of a link, which outlives the fabric; NULL,
	    or NULL returned: none */
	const struct rl_link_auth *(*auth)(void *ctx, uint32_t link,
					   unsigned int end);
	/** Whether the host runs a device; NULL: all. Others are built, lie
	    still, and are never polled: another process has them. */
	bool (*runs)(void *ctx, uint32_t dev);
	bool whole; /**< of each device one thread runs all roles */
	rl_drop_fn drop;
	rl_ep_report_fn report;
	/** what these two are called with for a device; NULL: with ctx */
	void *(*drop_ctx)(void *ctx, uint32_t dev);
	struct rl_role_sink sink;
	uint64_t seed;
	/** endpoints may be made again: they say which life they are [EP-7];
	    always so where the process has an incarnation */
	bool lives;
	uint64_t incarnation; /**< of the process, see rl_port.h; 0: none */
	uint64_t digest;      /**< of the configuration, the same */
	/** a codec of the configuration's CRC and ISN, for hosts that build
	    many fabrics; NULL: rl_fabric_build() makes one */
	struct rl_codec *codec;
};

struct rl_fabric {
	const struct rl_config *cfg;
	const struct rl_topo *topo;
	struct rl_codec *codec;
	struct rl_device *dev; /**< topo->ndev */
	uint32_t ndev;
};

/**
 * Control thread. Builds all devices; ports stay OFF until rl_fabric_start().
 *
 * @param fwd  one table a device, by device index; outlives the fabric
 * @param isa  instruction set of the codec
 * @param err  RL_ERR_MAX bytes
 * @return 0; -ENOMEM; -EINVAL where a PHY's frames cannot carry a flit; or
 *   what a host's function returned
 */
int rl_fabric_build(struct rl_fabric *f, const struct rl_config *cfg,
		    const struct rl_fwd *const fwd[], enum rl_isa isa,
		    const struct rl_fabric_host *host, char *err);

/** The owner of all roles, before they run: links begin to train. */
void rl_fabric_start(struct rl_fabric *f, uint64_t now_ns);

/** The owner of all roles, after they ran: gives back every flit. */
void rl_fabric_flush(struct rl_fabric *f);

/** The owner of a device's roles: gives back every flit that it holds. */
void rl_fabric_dev_flush(struct rl_fabric *f, uint32_t dev);

/**
 * The owner of a device's roles, after rl_fabric_dev_flush(), its pipes empty:
 * the device is made again, all state lost, with tables @p fwd. Its ports are
 * OFF. The roles stay where they are.
 */
void rl_fabric_dev_restart(struct rl_fabric *f, uint32_t dev,
			   const struct rl_fwd *fwd);

/**
 * The thread that has the local controllers. Builds the one of a device in
 * @p mem, rl_local_memsize() bytes; returns it (== mem). The device is no longer
 * alone: rl_device_alone().
 *
 * @param incarnation  higher than any that the device had
 * @param waits  its ports do not train until the controller has given it tables
 */
struct rl_local *rl_fabric_local(struct rl_fabric *f, uint32_t dev, void *mem,
				 uint64_t incarnation, bool waits,
				 uint64_t now_ns);

/** Flits held anywhere in devices (not in pipes and wires). */
uint64_t rl_fabric_flits(const struct rl_fabric *f);

/**
 * Flits that can be in use at once at one port: replay buffer, egress queues
 * and input buffers of the VLs in use, and its share of what its device lends
 * to packets that wait. What a pool must hold.
 */
uint32_t rl_fabric_port_flits(const struct rl_link_cfg *cfg, unsigned int nvls);

/**
 * Flits of one endpoint: the windows of its flows, both ways, capped.
 * @p nflows: peers times classes of service in use
 */
uint32_t rl_fabric_ep_flits(const struct rl_ep_cfg *cfg, uint32_t nflows);

#endif /* RL_FABRIC_H */
