/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TELEMETRY_MIRROR_H
#define TELEMETRY_MIRROR_H

/**
 * @file
 * Internals of telemetry*.c: the mirror that clients' threads read, and
 * helpers for their answers.
 */

#include <pthread.h>

#include <rte_telemetry.h>
#include <rte_version.h>

#include "telemetry.h"

/* DPDK before 23.03 has these under other names, which 25.11 lacks */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define RTE_TEL_UINT_VAL RTE_TEL_U64_VAL
#define rte_tel_data_add_array_uint rte_tel_data_add_array_u64
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

#define MIRROR_EVENTS 1024 /* power of two */
#define MIRROR_TEXT 120	   /* a string of telemetry's has 128 at most */
#define MIRROR_FAILOVERS 256
#define MIRROR_RECOVERIES 64
#define MIRROR_ALARMS 256
#define ORDER_MAX 256
#define ORDER_TEXT (12u << 10) /* an answer has 16 KiB */

struct mirror_event {
	uint64_t t_ns;
	char text[MIRROR_TEXT];
};

/** Everything but `lock` is read and written with the lock held. */
struct mirror {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct app *app; /**< NULL: nothing is open */
	uint64_t nevents; /**< ever; the last MIRROR_EVENTS are kept */
	struct mirror_event event[MIRROR_EVENTS];
	uint32_t nrecoveries; /**< ever; the last MIRROR_RECOVERIES are kept */
	struct rl_recovery recovery[MIRROR_RECOVERIES];
	uint32_t nfailovers; /**< ever; the last MIRROR_FAILOVERS are kept */
	struct rl_failover failover[MIRROR_FAILOVERS];
	uint32_t nalarms; /**< now; the worst MIRROR_ALARMS are kept */
	struct alarm alarm[MIRROR_ALARMS];
	/* one order at a time */
	bool order_given;
	bool order_taken; /* being carried out, though its client may be gone */
	bool order_done;
	int order_result;
	char order[ORDER_MAX];
	char order_error[RTE_TEL_MAX_STRING_LEN]; /* empty: none */
	uint64_t order_left;	     /* lines that did not fit */
	char order_text[ORDER_TEXT]; /* what the prompt would print */
};

extern struct mirror telemetry_mirror;

/**
 * A client's thread. Takes the lock. @return the program, or NULL if nothing
 * is open (the lock is held in both cases)
 */
struct app *mirror_enter(void);
void mirror_leave(void);

/**
 * The page that @p params asks for, of @p total elements in pages of
 * @p most: sets start, count, total in @p d. @return 0, -EINVAL
 */
int mirror_page(struct rte_tel_data *d, const char *params, uint32_t total,
		uint32_t most, uint32_t *start, uint32_t *count);

#define MIRROR_COLUMNS 24

/** Columns of an answer, filled row by row. */
struct mirror_table {
	const char *const *name;
	unsigned int n;
	unsigned int at; /**< the column that is filled next */
	struct rte_tel_data *col[MIRROR_COLUMNS]; /**< NULL: no memory */
};

/** Empty columns, @p texts of texts and behind them @p numbers of numbers. */
void mirror_table(struct mirror_table *t, const char *const name[],
		  unsigned int texts, unsigned int numbers);
void mirror_text(struct mirror_table *t, const char *text);
void mirror_number(struct mirror_table *t, uint64_t v);

/** Adds all columns to @p d. */
void mirror_table_end(struct mirror_table *t, struct rte_tel_data *d);

/** A dict that says what is wrong with a request. @return 0 */
int mirror_error(struct rte_tel_data *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* telemetry_order.c */
int telemetry_order(const char *cmd, const char *params,
		    struct rte_tel_data *d);
void telemetry_take_order(struct app *app);
/* telemetry_fabric.c */
int telemetry_fabric(const char *cmd, const char *params,
		     struct rte_tel_data *d);
int telemetry_devices(const char *cmd, const char *params,
		      struct rte_tel_data *d);
int telemetry_links(const char *cmd, const char *params,
		    struct rte_tel_data *d);
int telemetry_ports(const char *cmd, const char *params,
		    struct rte_tel_data *d);
int telemetry_port(const char *cmd, const char *params,
		   struct rte_tel_data *d);
/* channel.c */
int telemetry_channel(const char *cmd, const char *params,
		      struct rte_tel_data *d);
/* telemetry_flow.c */
int telemetry_flows(const char *cmd, const char *params,
		    struct rte_tel_data *d);
int telemetry_endpoint(const char *cmd, const char *params,
		       struct rte_tel_data *d);
int telemetry_switch(const char *cmd, const char *params,
		     struct rte_tel_data *d);
int telemetry_traffic(const char *cmd, const char *params,
		      struct rte_tel_data *d);
int telemetry_latency(const char *cmd, const char *params,
		      struct rte_tel_data *d);
int telemetry_histogram(const char *cmd, const char *params,
			struct rte_tel_data *d);
int telemetry_recoveries(const char *cmd, const char *params,
			 struct rte_tel_data *d);
int telemetry_lcores(const char *cmd, const char *params,
		     struct rte_tel_data *d);

#endif /* TELEMETRY_MIRROR_H */
