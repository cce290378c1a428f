/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_CHANNEL_H
#define RL_CHANNEL_H

/**
 * @file The out-of-band channel of a fabric's controllers [RES-1], from the
 * group `controller` of a fabric file: within the process, or through etcd.
 * Each process has its own settings; they are not in the fabric's digest.
 */

#include "rl_base.h"

#define RL_ETCD_MAX 8

enum rl_channel_kind {
	RL_CHANNEL_LOCAL, /**< one process: nothing is needed */
	RL_CHANNEL_ETCD,
};

struct rl_channel {
	enum rl_channel_kind kind;
	char url[RL_ETCD_MAX][128]; /**< of servers, without a slash at the end */
	uint32_t nurl;
	char prefix[64];	 /**< all keys begin with it and a slash */
	char user[64];		 /**< "": none */
	char password_file[256]; /**< its first line is the password */
	char ca_file[256];	 /**< PEM; "": the machine's authorities */
	char cert_file[256];	 /**< PEM; "": the server asks for none */
	char key_file[256];
	/** a process without a sign of life for this long is dead to the
	    others: they elect another controller. Whole seconds */
	uint64_t life_ns;
	uint32_t line; /**< of `etcd` */
	const char *file;
};

#endif /* RL_CHANNEL_H */
