/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_OOB_TEXT_H
#define RL_OOB_TEXT_H

/**
 * @file The contents of the store, as JSON: messages of the controllers,
 * recipes of tables, members. One writer and one reader for each; the reader
 * refuses texts with an error in any field, as another version, or another
 * program, may have written them.
 *
 * Devices and links go by their names. Texts are the caller's, to free().
 * Any thread; allocates.
 */

#include "rl_resil_msg.h"
#include "rl_tables.h"
#include "rl_topo.h"

/** In each text; a reader refuses any other. */
#define RL_OOB_VERSION 1

/** Messages that one text may hold. */
#define RL_OOB_MSGS_MAX 1024

/**
 * Writes @p n messages. For RL_RESIL_LINK, t_ns is how long ago the port found
 * out: clocks of two processes are unrelated. @return NULL: no memory
 */
char *rl_oob_msgs_text(const struct rl_topo *topo, const struct rl_resil_msg *m,
		       uint32_t n);

/**
 * Reads them. @param m  RL_OOB_MSGS_MAX
 * @return how many; -EINVAL: invalid, and takes nothing; -ENOMEM
 */
int rl_oob_msgs_read(const struct rl_topo *topo, const char *text, size_t len,
		     struct rl_resil_msg *m);

/** NULL: no memory. */
char *rl_oob_recipe_text(const struct rl_topo *topo,
			 const struct rl_tables_recipe *r);

/** A recipe that was read; it owns its arrays. */
struct rl_oob_recipe {
	struct rl_tables_recipe r;
	uint8_t *link_out;
	uint8_t *dev_out;
	struct rl_flows flows;
};

/** @return 0; -EINVAL; -ENOMEM; nothing to free on failure */
int rl_oob_recipe_read(const struct rl_topo *topo, const char *text, size_t len,
		       struct rl_oob_recipe *out);

/** A zeroed one is valid. */
void rl_oob_recipe_free(struct rl_oob_recipe *r);

/** A process that is present. */
struct rl_oob_member {
	uint64_t digest;  /**< of its fabric file */
	uint64_t floor;	  /**< highest incarnation that it has heard of */
	char host[64];
	char boot[96];	  /**< boot and pid namespace: scope of its pid */
	uint32_t pid;
	uint64_t start;	  /**< the kernel's start time of the process */
};

char *rl_oob_member_text(const struct rl_oob_member *m);
int rl_oob_member_read(const char *text, size_t len, struct rl_oob_member *m);

/** The process of the controller, by the revision that made it a member. */
struct rl_oob_office {
	char process[RL_NAME_MAX];
	uint64_t member;
};

char *rl_oob_office_text(const struct rl_oob_office *o);
int rl_oob_office_read(const char *text, size_t len, struct rl_oob_office *o);

#endif /* RL_OOB_TEXT_H */
