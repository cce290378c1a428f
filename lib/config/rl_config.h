/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CONFIG_H
#define RL_CONFIG_H

/**
 * @file A fabric file, read and checked as a whole: a file with an error in any
 * key is refused. Control path only. docs/configuration.md describes the
 * format.
 */

#include <stdint.h>

#include "rl_base.h"
#include "rl_channel.h"
#include "rl_ep_cfg.h"
#include "rl_link_cfg.h"
#include "rl_resil_cfg.h"
#include "rl_topo.h"

#define RL_ENGINE_MAX 32
#define RL_ATTACH_MAX 64
#define RL_PLACE_MAX 1024
#define RL_WIRES_MAX 256
#define RL_PROCESSES_MAX 64
#define RL_NETWORKS_MAX 64
#define RL_STATIONS_MAX 256
#define RL_RX_QUEUES_MAX 64

/**
 * An ethdev as the client of an endpoint. `file` and `line` are its place in
 * the configuration, for errors when its port is opened; the configuration owns
 * `file`.
 */
struct rl_attach {
	char endpoint[RL_NAME_MAX];
	char port[64];		/**< ethdev name */
	char dst[RL_NAME_MAX];	/**< where its frames go; empty: no input */
	uint16_t rx_queues;	/**< 0: as many as its frames are spread over */
	uint32_t line;
	const char *file;
};

/**
 * Placement: roles whose name begins with `role` run on `lcore`. If several
 * match, the longest decides.
 */
struct rl_place {
	char role[RL_NAME_MAX + 8];
	uint16_t lcore;
	uint32_t line;
	const char *file;
};

/**
 * Ethdevs at the ends of a link: a is at the device that the fabric's `links`
 * name first. One is empty if only another process needs it.
 */
struct rl_wire {
	char link[2 * RL_NAME_MAX + 8];
	char a[64];
	char b[64];
	uint32_t mtu;	/**< 0: the interface's own */
	uint16_t rx_queues[2]; /**< of a, of b; as in struct rl_attach */
	uint32_t index; /**< of the link */
	uint32_t line;
	const char *file;
};

/** A part of the fabric run by one process; see rl_config_process(). */
struct rl_process {
	char name[RL_NAME_MAX];
	uint32_t line;
	const char *file;
};

/** Attached ports that share a layer-2 network. */
struct rl_network {
	char name[RL_NAME_MAX];
	uint64_t ageing_ns; /**< silence until a station is forgotten */
	uint32_t line;
	const char *file;
};

/** A station that is permanently behind an endpoint of a network. */
struct rl_station {
	uint8_t mac[6];
	uint16_t vlan; /**< 0: none */
	uint16_t ep;   /**< endpoint's number */
	uint8_t network;
	uint32_t line;
	const char *file;
};

struct rl_config {
	bool share_cpus; /**< lcores may share a CPU, and take turns there */
	char file[256];
	char engine[RL_ENGINE_MAX]; /**< "" if the file names none */
	uint32_t engine_line;
	const char *engine_file;
	uint16_t vls;		    /**< VLs the engine may use, default 8 */
	uint16_t levels;	    /**< service levels, default 1 */
	bool adaptive;		    /**< an adaptive plane (rl_fwd.h) */
	bool adaptive_given;	    /**< the file says so, or that there is none */
	bool order_given;	    /**< the file says endpoint.order */
	struct rl_link_cfg link;
	char *key_file; /**< of `link`; NULL: wires have no key */
	uint32_t key_file_line;
	const char *key_file_file;
	struct rl_ep_cfg endpoint;
	struct rl_resil_cfg controller;
	struct rl_channel channel;  /**< of the controller */
	struct rl_topo topo;
	struct rl_attach attach[RL_ATTACH_MAX];
	uint32_t nattach;
	struct rl_place place[RL_PLACE_MAX];
	uint32_t nplace;
	struct rl_wire wire[RL_WIRES_MAX];
	uint32_t nwire;
	struct rl_process process[RL_PROCESSES_MAX];
	uint32_t nprocess;
	struct rl_network network[RL_NETWORKS_MAX];
	uint32_t nnetwork;
	struct rl_station station[RL_STATIONS_MAX];
	uint32_t nstation;
	uint8_t *dev_process; /**< [ndev] its process; NULL: only one */
	uint8_t *ep_network;  /**< [nep] RL_NO_NETWORK: none; NULL: all none */
	struct rl_link_cfg *link_own; /**< [nlink] settings by link; NULL: all
					 have those of `link` */
	struct rl_link_cfg *link_wire; /**< [nlink] the same, with longer timers
					    if the kernel carries frames; NULL:
					    it carries none */
	char **files; /**< names of the files read, including the first */
	uint32_t nfiles;
};

/**
 * Control thread. Reads @p path, checks every key and builds the topology. The
 * intact fabric must be connected; failed marks may partition it.
 *
 * @param err  RL_ERR_MAX + 512 bytes: one line "FILE:LINE: reason; what to do"
 *   (without LINE if the file cannot be read)
 * @return 0; -EINVAL (bad content), -EHOSTUNREACH (an endpoint can't reach
 *   another), -ENOENT or another -errno (no file), -ENOMEM; on failure @p cfg
 *   holds nothing to free
 */
int rl_config_read(const char *path, struct rl_config *cfg, char *err,
		   size_t errlen);

/**
 * Control thread. Like rl_config_read(), but also accepts an intact fabric in
 * several parts, such as rails, for tools that route each part by itself.
 */
int rl_config_read_parts(const char *path, struct rl_config *cfg, char *err,
			 size_t errlen);

/**
 * Control thread. The same from memory: @p len bytes at @p text, which need not
 * end in a zero. @p name is the file's name in errors, and paths of included
 * files are relative to it.
 */
int rl_config_read_text(const char *name, const char *text, size_t len,
			struct rl_config *cfg, char *err, size_t errlen);

#define RL_NO_NETWORK UINT8_MAX

/** Any thread. Whether process @p p (-1: the only one) runs a device. */
static inline bool
rl_config_runs(const struct rl_config *cfg, int p, uint32_t dev)
{
	return p < 0 || cfg->dev_process == NULL || cfg->dev_process[dev] == p;
}

/** Any thread. The settings of a link. */
static inline const struct rl_link_cfg *
rl_config_link(const struct rl_config *cfg, uint32_t link)
{
	if (cfg->link_wire != NULL)
		return &cfg->link_wire[link];
	return cfg->link_own == NULL ? &cfg->link : &cfg->link_own[link];
}

/** Any thread. Index of the process with this name; -1: there is none. */
int rl_config_process(const struct rl_config *cfg, const char *name);

/** Parts of a digest, in the order of its 16-bit pieces. */
enum rl_digest_part {
	RL_DIGEST_FABRIC,    /**< devices and links */
	RL_DIGEST_ROUTING,
	RL_DIGEST_LINK,	     /**< groups `link` and `endpoint` */
	RL_DIGEST_PROCESSES,
	RL_DIGEST_PARTS
};

/**
 * Any thread. A digest of all that two processes of one fabric must agree on:
 * four pieces of 16 bits, so that another digest shows what differs. Ports,
 * wires and lcores are each process's own. Never 0.
 */
uint64_t rl_config_digest(const struct rl_config *cfg);

/** Any thread. Names the parts in which two digests differ. Returns buf. */
char *rl_config_digest_diff(uint64_t a, uint64_t b, char *buf, size_t len);

/** Control thread. Frees what rl_config_read() made; @p cfg may be zeroed. */
void rl_config_free(struct rl_config *cfg);

/** Type of a key's value. */
enum rl_key_type {
	RL_KEY_BOOL,	/**< true or false */
	/** a whole number of min to max; words, if any, stand for 0, 1, ... */
	RL_KEY_NUMBER,
	RL_KEY_WORD,	/**< a string: one of `words` */
	RL_KEY_WORDS,	/**< a list of words, kept as one bit each */
	RL_KEY_TEXT,	/**< a string of at most max characters */
	RL_KEY_NUMBERS, /**< numbers in brackets, or one number */
	RL_KEY_BOOLS,	/**< bools in brackets */
	RL_KEY_NAMES,	/**< strings in brackets */
	RL_KEY_GROUP,	/**< a group with keys of its own: { } */
	RL_KEY_GROUPS,	/**< a list of groups: ( { }, { } ) */
};

/** One key of a fabric file. The whole table is static and never changes. */
struct rl_config_key {
	const char *group; /**< "link", "fabric.links"; "" for the file itself */
	const char *name;
	enum rl_key_type type;
	const char *unit; /**< "ns", "flits", ...; "" for none */
	uint64_t min;
	uint64_t max;
	const char *const *words; /**< ended by NULL */
	const char *def; /**< default, in words; NULL: the library's, see below */
	const char *meaning;
	uint16_t kinds;	 /**< topologies that have it, bit per rl_topo_kind */
	uint8_t size;	 /**< where its value is stored: bytes and offset */
	uint16_t offset; /**< in the structure of its group */
};

/** Any thread. The word for a topology in fabric files. */
const char *rl_config_topology_name(enum rl_topo_kind kind);

/** Any thread. The table of all keys, in the order of the documentation. */
const struct rl_config_key *rl_config_keys(size_t *n);

/**
 * Any thread. Writes the default of @p key into @p buf, in the syntax of a file
 * (or in words: "required"). Returns buf.
 */
char *rl_config_key_default(const struct rl_config_key *key, char *buf,
			    size_t len);

/**
 * Any thread. Writes the value that @p key has in @p base, the structure of its
 * group, in the syntax of a file: a bool, number, word or words. Returns buf.
 */
char *rl_config_key_text(const struct rl_config_key *key, const void *base,
			 char *buf, size_t len);

/** Any thread. Writes the range of @p key: "1 to 511", or its words. */
char *rl_config_key_range(const struct rl_config_key *key, char *buf,
			  size_t len);

/**
 * Any thread. Chooses routing.adaptive and endpoint.order where the file leaves
 * them out. Readers have called it; whoever then changes the engine or the
 * endpoints of @p cfg calls it again.
 */
void rl_config_choose_paths(struct rl_config *cfg);

/** Any thread. The service levels of rl_route_setup(), or, for one and an
    adaptive plane, RL_ROUTE_ADAPTIVE if the file asks for it, else
    RL_ROUTE_MAY_ADAPT. */
static inline unsigned int
rl_config_levels(const struct rl_config *cfg)
{
	return !cfg->adaptive ? cfg->levels : cfg->adaptive_given ? 0 : 16;
}

#endif /* RL_CONFIG_H */
