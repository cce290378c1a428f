/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_PRIV_H
#define FAKE_PRIV_H

/* Between the files of the small etcd: fake_etcd.c has connections and what
 * tests order, fake_answer.c what it answers. All under its lock. */

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fake_etcd.h"

#define KEYS_MAX 256
#define CONNS_MAX 64
#define PAST_MAX 8192

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

/* What was told of a revision. */
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
	unsigned int token; /* the one that is valid */
	uint64_t revision;
	uint64_t leases;
	bool dead[1024]; /* leases that have ended */
	unsigned int requests;
	struct fake_kv kv[KEYS_MAX];
	struct fake_past past[PAST_MAX];
	unsigned int npast;
	struct fake_conn conn[CONNS_MAX];
};

/* Answers one request. @return whether the connection stays */
bool fake_answer(struct fake_conn *c, const char *path, const char *head,
		 const char *body);

/* Sends one line to all watches; takes the events. */
void fake_tell(struct fake_etcd *f, json_t *events);
void fake_set(struct fake_etcd *f, const char *key, const char *value,
	      uint64_t lease, json_t *events);
void fake_drop(struct fake_etcd *f, int i, json_t *events);
void fake_end_lease(struct fake_etcd *f, uint64_t lease);
/* Whether a key is @p from, or from there on before @p to. */
bool fake_within(const char *key, const char *from, const char *to);

#endif /* FAKE_PRIV_H */
