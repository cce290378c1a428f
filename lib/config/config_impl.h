/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_IMPL_H
#define CONFIG_IMPL_H

/**
 * @file Shared by the files of this folder. A file is read in three steps: the
 * text is gathered with all included files (config_text.c); libconfig parses
 * it; each group is read key by key by the table (config_keys.c,
 * config_group.c). The first error ends it.
 */

#include <libconfig.h>

#include "rl_config.h"

/** Largest text of a configuration, including its files. */
#define CFG_TEXT_MAX (16u << 20)
/** Largest file in another format that a configuration names. */
#define CFG_OTHER_MAX (64u << 20)
#define CFG_INCLUDES_MAX 256
#define CFG_DEPTH_MAX 10
/** Mask of a key that every topology has. */
#define CFG_IN_ALL 0xffff
/** Longest line of an error. */
#define CFG_ERR_MAX (RL_ERR_MAX + 512)

/** Origin of a line of the gathered text. */
struct cfg_pos {
	uint32_t file; /**< index into cfg_ctx.file */
	uint32_t line;
};

/** State while a configuration is read. */
struct cfg_ctx {
	char *text; /**< gathered, ended by a zero */
	size_t len;
	size_t cap;
	struct cfg_pos *pos; /**< of each line of the text */
	uint32_t npos;
	uint32_t cap_pos;
	char **file;
	uint32_t nfile;
	unsigned int depth;
	bool array; /**< between [ and ] */
	bool parts; /**< the fabric may consist of several parts */
	char *err;
	size_t errlen;
};

/** Writes "FILE:LINE: ..." as one line. @return -EINVAL */
int cfg_error(struct cfg_ctx *c, uint32_t file, uint32_t line, const char *fmt,
	      ...) __attribute__((format(printf, 4, 5)));

/** The same at a setting. @return -EINVAL */
int cfg_error_at(struct cfg_ctx *c, const config_setting_t *s, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));

/** The same at a line of the gathered text, from 1. @return -EINVAL */
int cfg_error_line(struct cfg_ctx *c, uint32_t text_line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** The same for lack of memory. @return -ENOMEM */
int cfg_error_mem(struct cfg_ctx *c);

/** The origin of a line of the gathered text. */
struct cfg_pos cfg_where(const struct cfg_ctx *c, uint32_t text_line);

/** Where a setting stands, to be kept with its value. */
void cfg_note(const struct cfg_ctx *c, const config_setting_t *s,
	      uint32_t *line, const char **file);

/** Gathers the text of a file, or of memory. @return 0 or -errno */
int cfg_text_file(struct cfg_ctx *c, const char *path);
int cfg_text_memory(struct cfg_ctx *c, const char *name, const char *text,
		    size_t len);
/**
 * The path of a file that another file names: relative to the latter.
 * @return whether it fits
 */
bool cfg_path_beside(const char *parent, const char *name, size_t len,
		     char path[4096]);
/**
 * Reads a plain file that setting @p s names, relative to the file of the
 * setting; it counts as a file of the configuration, number @p file. The caller
 * must free() the text.
 * @return 0 or -errno
 */
int cfg_text_other(struct cfg_ctx *c, const config_setting_t *s, char **text,
		   size_t *len, uint32_t *file);
/** Frees the text, but not the names of the files. */
void cfg_text_free(struct cfg_ctx *c);

/** The key of a group, or NULL. */
const struct rl_config_key *cfg_key_find(const char *group, const char *name);

/**
 * Reads every member of group @p s: all must be in the table, and all required
 * ones must be present. Bools, numbers, words and texts go to @p base as the
 * table says; others are only checked for their type.
 */
int cfg_group(struct cfg_ctx *c, const config_setting_t *s, const char *group,
	      void *base);

/**
 * Reports that there is no such key, and which one may be meant. @return
 * -EINVAL
 */
int cfg_unknown_key(struct cfg_ctx *c, const config_setting_t *s,
		    const char *group);

/** Checks one setting of key @p key, and stores it in @p base. */
int cfg_take(struct cfg_ctx *c, const config_setting_t *s,
	     const struct rl_config_key *key, void *base);

/** Reads entry @p i of a list. @return 0 or -errno */
typedef int (*cfg_entry_fn)(struct cfg_ctx *c, const config_setting_t *e,
			    uint32_t i, struct rl_config *cfg);

/**
 * Reads the entries of list @p s (NULL: left out) up to the first error, and
 * sets @p n to how many there are. @return 0; -EINVAL: more than @p most, too
 */
int cfg_entries(struct cfg_ctx *c, const config_setting_t *s, const char *name,
		uint32_t most, cfg_entry_fn fn, struct rl_config *cfg,
		uint32_t *n);

/** A whole number within the range of its key. */
int cfg_number(struct cfg_ctx *c, const config_setting_t *s,
	       const struct rl_config_key *key, uint64_t *v);

/** How many numbers a setting of numbers has: one, or those in brackets. */
int cfg_length(const config_setting_t *s);

/** Its i-th number, after cfg_group() has checked all; one alone is any. */
uint64_t cfg_element(const config_setting_t *s, unsigned int i);

/** Reads group `fabric`, builds the fabric, and checks that it is connected. */
int cfg_fabric(struct cfg_ctx *c, const config_setting_t *fabric,
	       struct rl_topo *topo);

/** Reads `link_settings`, after `link`; NULL: left out. */
int cfg_links(struct cfg_ctx *c, const config_setting_t *s,
	      struct rl_config *cfg);

/** Lengthens timers of links whose frames a kernel carries; after `wires`. */
int cfg_patience(struct cfg_ctx *c, struct rl_config *cfg);

/**
 * The channel's keys of the group `controller`, after their types were checked;
 * NULL: left out.
 */
int cfg_channel(struct cfg_ctx *c, const config_setting_t *s,
		struct rl_channel *ch);

/** Reads `processes`; NULL: left out. */
int cfg_processes(struct cfg_ctx *c, const config_setting_t *s,
		  struct rl_config *cfg);

/** Reads `wires` and `networks` of @p root, after `attach`. */
int cfg_parts(struct cfg_ctx *c, const config_setting_t *root,
	      struct rl_config *cfg);

/** Reads `attach` and `lcores`; both may be NULL. */
int cfg_attach(struct cfg_ctx *c, const config_setting_t *s,
	       struct rl_config *cfg);
int cfg_lcores(struct cfg_ctx *c, const config_setting_t *s,
	       struct rl_config *cfg);

#endif /* CONFIG_IMPL_H */
