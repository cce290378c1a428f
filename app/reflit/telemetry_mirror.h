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

#include "counter_report.h"
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

#define MIRROR_COLUMNS 24

/** Columns of an answer, filled row by row. */
struct mirror_table {
	const char *const *name;
	unsigned int texts; /**< the first columns; the others are numbers */
	unsigned int n;
	unsigned int at; /**< the column that is filled next */
	struct rte_tel_data *col[MIRROR_COLUMNS]; /**< NULL: no memory */
};

/** Empty columns, @p texts of texts and behind them @p numbers of numbers. */
void mirror_table(struct mirror_table *t, const char *const name[],
		  unsigned int texts, unsigned int numbers);
/** A row, or a field of it. */
void mirror_row(struct mirror_table *t, const char *const text[],
		const uint64_t number[]);
void mirror_text(struct mirror_table *t, const char *text);
void mirror_number(struct mirror_table *t, uint64_t v);

/** Adds all columns to @p d. */
void mirror_table_end(struct mirror_table *t, struct rte_tel_data *d);

/** Adds all counters of an object to @p d. */
void mirror_counters(struct rte_tel_data *d, const struct counter_kind *kind,
		     const uint64_t *c);

/** Adds a text to @p d: with '?' for letters that telemetry cannot carry. */
void mirror_string(struct rte_tel_data *d, const char *name, const char *text);

/** A dict that says what is wrong with a request. @return 0 */
int mirror_error(struct rte_tel_data *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Whether another process runs a device, and so has the answer: says so. */
bool mirror_elsewhere(const struct app *app, uint32_t dev,
		      struct rte_tel_data *d);

/**
 * Answers with an object, on a client's thread with the lock held.
 * @return 0; -EINVAL: @p params are wrong
 */
typedef int telemetry_dict_fn(const struct app *app, const char *params,
			      struct rte_tel_data *d);

/** Answers with a page of a list; functions are called as above. */
struct telemetry_list {
	const char *const *name; /**< of its columns: texts, then numbers */
	unsigned int texts;
	unsigned int numbers;
	uint32_t most; /**< rows of a page */
	bool last;     /**< without a parameter it is the last page */
	uint32_t (*total)(const struct app *app);
	/** Adds the rows from @p from up to @p to. */
	void (*rows)(const struct app *app, uint32_t from, uint32_t to,
		     struct mirror_table *t);
};

/* telemetry_order.c: it waits for the control thread, without the lock */
int telemetry_order(const char *cmd, const char *params,
		    struct rte_tel_data *d);
void telemetry_take_order(struct app *app);
/* telemetry_fabric.c */
telemetry_dict_fn telemetry_fabric, telemetry_port;
extern const struct telemetry_list telemetry_devices, telemetry_links,
	telemetry_ports;
/* channel.c */
telemetry_dict_fn telemetry_channel;
/* telemetry_flow.c */
telemetry_dict_fn telemetry_endpoint, telemetry_switch, telemetry_traffic,
	telemetry_latency, telemetry_recoveries, telemetry_lcores;
extern const struct telemetry_list telemetry_flows, telemetry_classes,
	telemetry_histogram;

#endif /* TELEMETRY_MIRROR_H */
