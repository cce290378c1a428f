/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOPO_IMPL_H
#define TOPO_IMPL_H

/**
 * @file Shared by the files of this folder. Each kind of fabric has a pair of
 * functions: one counts devices and links, so that the memory is allocated once
 * and every limit is checked first; the other adds them in order.
 */

#include <errno.h>

#include "rl_refuse.h"
#include "rl_topo.h"

/** Size of a fabric. 64 bits: a description may ask for anything. */
struct topo_size {
	uint64_t switches;
	uint64_t endpoints;
	uint64_t links;
};

/** A fabric that is being built. */
struct topo_build {
	const struct rl_topo_spec *spec;
	struct rl_topo *t;
	uint32_t cap_dev;
	uint32_t cap_link;
	char *err;
	uint32_t line;
};

/** Writes the one line of an error, which is at line @p at; -EINVAL. */
#define topo_error(b, at, ...)                                                 \
	((b)->line = (at),                                                     \
	 rl_refuse((b)->err, RL_ERR_MAX, -EINVAL, __VA_ARGS__))

/** Adds a device; returns it. All switches are added before all endpoints. */
struct rl_topo_dev *topo_add_dev(struct topo_build *b, enum rl_dev_kind kind,
				 const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Adds @p count links. dim: that of a grid link whose end 1 lies in +. */
void topo_add_links(struct topo_build *b, uint32_t dev0, uint32_t dev1,
		    int dim, unsigned int count);

/** Makes t->by_name; @return 0, or the error of two devices of one name. */
int topo_index_names(struct topo_build *b);

/**
 * Adds hosts_per_switch endpoints to each switch, named "e" and the rest of its
 * name, with ".k" if there are several, and links them; with the switch's
 * coordinates.
 */
void topo_add_hosts(struct topo_build *b);

int topo_size_grid(struct topo_build *b, struct topo_size *size);
void topo_fill_grid(struct topo_build *b);
int topo_size_boards(struct topo_build *b, struct topo_size *size);
void topo_fill_boards(struct topo_build *b);
int topo_size_tree(struct topo_build *b, struct topo_size *size);
void topo_fill_tree(struct topo_build *b);
int topo_size_dragonfly(struct topo_build *b, struct topo_size *size);
void topo_fill_dragonfly(struct topo_build *b);
int topo_size_slim_fly(struct topo_build *b, struct topo_size *size);
void topo_fill_slim_fly(struct topo_build *b);
int topo_size_random(struct topo_build *b, struct topo_size *size);
/** @return 0, -EINVAL (no connected graph), -ENOMEM, with the reason */
int topo_fill_random(struct topo_build *b);
int topo_size_custom(struct topo_build *b, struct topo_size *size);
int topo_fill_custom_devs(struct topo_build *b);
int topo_fill_custom_links(struct topo_build *b);

#endif /* TOPO_IMPL_H */
