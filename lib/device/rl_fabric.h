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
 * pointers into it. Only rl_fabric_build() calls alloc, cache, pipe, phy and
 * auth; the others are called while roles run, on their lcores.
 */
struct rl_fabric_host {
	void *ctx;
	/** Zeroed memory, 64-byte aligned, owned by the host; NULL: no
	    memory. */
	void *(*alloc)(void *ctx, size_t bytes);
	/** Cache of the lcore that will run a role; port -1 is the core. */
	struct rl_flit_cache *(*cache)(void *ctx, uint32_t dev, int port);
	/** The same for packets that endpoints keep to retransmit; NULL: as
	    `cache`. */
	struct rl_flit_cache *(*keep)(void *ctx, uint32_t dev);
	/** A pipe of at least @p size pointers. @return 0 or -errno */
	int (*pipe)(void *ctx, uint32_t size, struct rl_pipe *pipe);
	/** The wire of a port and its frame size. @return 0 or -errno */
	int (*phy)(void *ctx, uint32_t dev, uint16_t port, struct rl_phy *phy,
		   uint32_t *frame_bytes);
	/** The keyed check of an end of a link; must outlive the fabric. No
	    callback, or NULL returned: none. */
	const struct rl_link_auth *(*auth)(void *ctx, uint32_t link,
					   unsigned int end);
	/** Whether the host runs a device; NULL: all. Devices of other
	    processes are built, but never polled. */
	bool (*runs)(void *ctx, uint32_t dev);
	bool whole; /**< one thread runs all roles of a device */
	rl_drop_fn drop;
	rl_ep_report_fn report;
	/** context of these two for a device; NULL: ctx */
	void *(*drop_ctx)(void *ctx, uint32_t dev);
	struct rl_role_sink sink;
	uint64_t seed;
	uint64_t jitter_ns; /**< see rl_ep_params */
	/** endpoints may restart, so each says which life it is [EP-7]; always
	    so if the process has an incarnation */
	bool lives;
	uint64_t incarnation; /**< of the process, see rl_port.h; 0: none */
	uint64_t digest;      /**< of the configuration, see rl_port.h */
	/** a codec for the CRC and ISN of the configuration, for hosts that
	    build many fabrics; NULL: rl_fabric_build() makes one */
	struct rl_codec *codec;
};

struct rl_fabric {
	const struct rl_config *cfg;
	const struct rl_topo *topo;
	struct rl_codec *codec;
	struct rl_device *dev; /**< [topo->ndev] */
	uint32_t ndev;
};

/**
 * Control thread. Builds all devices; ports stay OFF until rl_fabric_start().
 *
 * @param fwd [ndev] a table for each device; must outlive the fabric
 * @param isa instruction set of the codec
 * @param err RL_ERR_MAX bytes
 * @return 0; -ENOMEM; -EINVAL if the frames of a PHY cannot carry a flit; or
 *   the error of a host function
 */
int rl_fabric_build(struct rl_fabric *f, const struct rl_config *cfg,
		    const struct rl_fwd *const fwd[], enum rl_isa isa,
		    const struct rl_fabric_host *host, char *err);

/** The owner of all roles, before they run. Links begin to train. */
void rl_fabric_start(struct rl_fabric *f, uint64_t now_ns);

/** The owner of all roles, after they ran. Frees every flit. */
void rl_fabric_flush(struct rl_fabric *f);

/** The owner of the roles of a device. Frees every flit that it holds. */
void rl_fabric_dev_flush(struct rl_fabric *f, uint32_t dev);

/**
 * The owner of the roles of a device, after rl_fabric_dev_flush() and with its
 * pipes empty. Restarts the device with tables @p fwd; all state is lost. Its
 * ports are OFF. The roles keep their addresses.
 */
void rl_fabric_dev_restart(struct rl_fabric *f, uint32_t dev,
			   const struct rl_fwd *fwd);

/**
 * The thread that owns the local controllers. Builds that of a device in @p
 * mem, rl_local_memsize() bytes, and returns it (== mem). The device is no
 * longer alone, see rl_device_alone().
 *
 * @param incarnation higher than any earlier one of the device
 * @param waits its ports do not train until the controller has given it tables
 */
struct rl_local *rl_fabric_local(struct rl_fabric *f, uint32_t dev, void *mem,
				 uint64_t incarnation, bool waits,
				 uint64_t now_ns);

/** @return flits held in devices (not in pipes and wires) */
uint64_t rl_fabric_flits(const struct rl_fabric *f);

/**
 * @return flits that one port can use at once: replay buffer, egress queues and
 *   input buffers of the VLs in use, and its share of the room for waiting
 *   packets. Pools are sized by it.
 */
uint32_t rl_fabric_port_flits(const struct rl_link_cfg *cfg, unsigned int nvls);

/**
 * @return flits of one endpoint: the windows of its flows, both directions,
 *   capped
 * @param nflows peers times classes of service in use
 */
uint32_t rl_fabric_ep_flits(const struct rl_ep_cfg *cfg, uint32_t nflows);

#endif /* RL_FABRIC_H */
