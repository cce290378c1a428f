/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RL_KIND_H
#define RL_KIND_H

/**
 * @file Classes of service of clients that give each kind of packet its own:
 * with routing.levels of 4 or 8 each kind then has its own VCs, and responses
 * never wait behind requests.
 */
enum rl_kind {
	RL_KIND_POSTED,
	RL_KIND_REQUEST,	/**< one that asks for a response */
	RL_KIND_RESPONSE,
	RL_KINDS
};

#endif /* RL_KIND_H */
