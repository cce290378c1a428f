/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_PRIV_H
#define FAKE_PRIV_H

/* Shared by the files of the small etcd: fake_etcd.c has connections and the
   control by tests, fake_answer.c the answers. The lock protects everything. */

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fake_etcd.h"

#define KEYS_MAX 256
#define CONNS_MAX 64
#define PAST_MAX 8192
#define LEASES_MAX 8192

struct fake_kv {
	char *key; /* NULL: none */
	char *value;
	uint64_t created;
	uint64_t lease;
};

struct fake_conn {
	struct fake_etcd *f;
	pthread_t thread;
	int fd;
	bool on;
	bool watches;
	bool mute;
};

/* Event of a revision. */
struct fake_past {
	uint64_t revision;
	char *line;
};

struct fake_etcd {
	pthread_mutex_t lock;
	pthread_t thread;
	int fd;
	char url[64];
	enum fake_mood mood;
	enum fake_refusal refusal;
	unsigned int token; /* the valid one */
	uint64_t revision;
	uint64_t leases;
	bool dead[LEASES_MAX]; /* leases that have ended */
	const char *refused;   /* a path whose requests fail, or NULL */
	const char *lost;      /* one whose requests have no answer, or NULL */
	unsigned int requests;
	struct fake_kv kv[KEYS_MAX];
	struct fake_past past[PAST_MAX];
	unsigned int npast;
	struct fake_conn conn[CONNS_MAX];
};

/* Answers one request. @return whether to keep the connection */
bool fake_answer(struct fake_conn *c, const char *path, const char *head,
		 const char *body);

/* Sends one line to all watches; takes over the events. */
void fake_tell(struct fake_etcd *f, json_t *events);
void fake_set(struct fake_etcd *f, const char *key, const char *value,
	      uint64_t lease, json_t *events);
void fake_drop(struct fake_etcd *f, int i, json_t *events);
void fake_end_lease(struct fake_etcd *f, uint64_t lease);
/* Whether a key equals @p from, or is in the range from @p from up to @p to. */
bool fake_within(const char *key, const char *from, const char *to);

#endif /* FAKE_PRIV_H */
