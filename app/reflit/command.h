/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_H
#define COMMAND_H

/**
 * @file
 * Prompt commands: one table (command_table.c), so that the prompt and command
 * files take the same words.
 *
 * A command is one line of the table: its form, a handler, a line of help.
 * Words in <> are parameters; the name within tells what completion offers and
 * what the parser takes:
 *
 *   <link> <device> <endpoint> <port>   names, completed
 *   <links>                             a link, or all
 *   <file>                              completed; not "off"
 *   <time> <n> <rate>                   begin with a digit
 *
 * A handler gets the parameters in order. It checks all of them before it
 * changes anything, reports errors by app_error(), and talks to lcores only
 * through atomics and rings.
 *
 * While app->checking, before anything runs, it checks only what the command
 * line and the fabric file determine (names, numbers, ranges) and returns: no
 * host, port or client exists yet.
 */

#include "app.h"

/** Files that `load` one another, one inside the other. */
#define COMMAND_FILES_MAX 8
#define COMMAND_WORDS 10
#define COMMAND_LINE_MAX 512
#define COMMAND_WORD 128 /**< characters that a parameter may have, with its end */

typedef int (*command_fn)(struct app *app, const char *const arg[]);

struct command {
	const char *form;
	command_fn run;
	const char *help;
	int with; /**< for the handler: app->with */
};

/** A line by words; the last may be empty, or not be whole yet. */
struct command_words {
	char text[COMMAND_LINE_MAX];
	const char *word[COMMAND_WORDS + 1];
	unsigned int n; /**< before the last */
};

/** @return whether a command may have as many words as @p line */
bool command_split(const char *line, struct command_words *w);

/** What rows of planned changes have for their handler. */
enum command_plan { COMMAND_REMOVE, COMMAND_ADD };

/** The table, ended by a form of NULL. */
extern const struct command command_table[];

/** Any thread. Whether it only shows something: `json` may stand behind it. */
bool command_shows(const struct command *c);

/**
 * Control thread. Runs one line, or only checks it with @p check. Prints
 * errors. Empty lines and comments (#) are fine.
 * @return 0; -EINVAL
 */
int command_line(struct app *app, const char *line, bool check);

/** Control thread. Reads and checks the --cmdline-file, if any. As above. */
int command_file_check(struct app *app);

/** Control thread. Runs it: all lines, also after one fails. */
void command_file_run(struct app *app);

/** Control thread. A line of standard input, without its end; counted. */
void command_stdin_line(struct app *app, const char *line, size_t len);

/** Control thread, often. Prints the rates that --stats-period asks for. */
void rates_step(struct app *app, uint64_t now_ns);

/** Control thread. Reads how long to wait; @p text NULL: 30 s. @return 0 or
    -EINVAL, after an error. */
int command_wait_limit(struct app *app, const char *text, uint64_t *ns);

/* Handlers, by the module they speak to. Parameters that a form lacks are NULL. */
/* help.c */
int cmd_help(struct app *app, const char *const arg[]);
/*
 * Control thread. What a word of a command names, or an error.
 * @return 0 or -EINVAL
 */
/** @p n: how many parallel links it names, or NULL. */
int command_find_link(struct app *app, const char *name, uint32_t *first,
		      unsigned int *n);
/** All of them, at most @p most, in @p link. */
int command_find_links(struct app *app, const char *name, uint32_t link[],
		       unsigned int most, unsigned int *n);
int command_find_device(struct app *app, const char *name, uint32_t *dev);
int command_find_endpoint(struct app *app, const char *name, uint32_t *dev);
/** Whether the fabric file attaches a port to the endpoint. */
bool command_attached(const struct app *app, const char *endpoint);

int cmd_help_on(struct app *app, const char *const arg[]);
/* command_file.c */
int cmd_load(struct app *app, const char *const arg[]);
int cmd_quit(struct app *app, const char *const arg[]);
/* cmd_traffic.c */
int cmd_switch(struct app *app, const char *const arg[]);
int cmd_rate(struct app *app, const char *const arg[]);
int cmd_traffic_pattern(struct app *app, const char *const arg[]);
int cmd_traffic_load(struct app *app, const char *const arg[]);
int cmd_traffic_packets(struct app *app, const char *const arg[]);
int cmd_wait_time(struct app *app, const char *const arg[]);
int cmd_wait_drained(struct app *app, const char *const arg[]);
int cmd_wait_sent(struct app *app, const char *const arg[]);
int cmd_wait_link(struct app *app, const char *const arg[]);
int cmd_wait_up(struct app *app, const char *const arg[]);
/* cmd_link.c */
int cmd_link_down(struct app *app, const char *const arg[]);
int cmd_link_down_mid(struct app *app, const char *const arg[]);
int cmd_link_down_after(struct app *app, const char *const arg[]);
int cmd_link_up(struct app *app, const char *const arg[]);
int cmd_link_one_way(struct app *app, const char *const arg[]);
int cmd_link_one_way_mid(struct app *app, const char *const arg[]);
int cmd_link_one_way_after(struct app *app, const char *const arg[]);
int cmd_link_flap(struct app *app, const char *const arg[]);
int cmd_link_order(struct app *app, const char *const arg[]);
int cmd_inject_number(struct app *app, const char *const arg[]);
int cmd_inject_ber(struct app *app, const char *const arg[]);
int cmd_inject_rate(struct app *app, const char *const arg[]);
int cmd_inject_time(struct app *app, const char *const arg[]);
int cmd_inject_block(struct app *app, const char *const arg[]);
/* cmd_resil.c */
int cmd_device_crash(struct app *app, const char *const arg[]);
int cmd_device_restart(struct app *app, const char *const arg[]);
int cmd_device_plan(struct app *app, const char *const arg[]);
int cmd_link_plan(struct app *app, const char *const arg[]);
int cmd_quiesce(struct app *app, const char *const arg[]);
int cmd_reroute(struct app *app, const char *const arg[]);
int cmd_unquiesce(struct app *app, const char *const arg[]);
int cmd_controller_crash(struct app *app, const char *const arg[]);
int cmd_controller_restart(struct app *app, const char *const arg[]);
int cmd_wait_recovered(struct app *app, const char *const arg[]);
int cmd_show_controller(struct app *app, const char *const arg[]);
int cmd_show_recoveries(struct app *app, const char *const arg[]);
/* cmd_show.c, cmd_show_more.c */
/** Draws a small grid; of other fabrics, nothing. */
void draw_fabric(const struct app *app);

int cmd_show_fabric(struct app *app, const char *const arg[]);
int cmd_show_port(struct app *app, const char *const arg[]);
int cmd_show_replay(struct app *app, const char *const arg[]);
int cmd_show_flow(struct app *app, const char *const arg[]);
int cmd_show_events_of(struct app *app, const char *const arg[]);
int cmd_show_routes(struct app *app, const char *const arg[]);
int cmd_show_events(struct app *app, const char *const arg[]);
int cmd_show_histogram(struct app *app, const char *const arg[]);
int cmd_show_counters(struct app *app, const char *const arg[]);
int cmd_show_faults(struct app *app, const char *const arg[]);
int cmd_show_lcores(struct app *app, const char *const arg[]);
int cmd_show_traffic(struct app *app, const char *const arg[]);
int cmd_set_verbose(struct app *app, const char *const arg[]);
/* cmd_capture.c */
int cmd_capture(struct app *app, const char *const arg[]);
int cmd_capture_off(struct app *app, const char *const arg[]);
int cmd_show_captures(struct app *app, const char *const arg[]);
/* recorder.c */
int cmd_record(struct app *app, const char *const arg[]);
/* cmd_rates.c, cmd_path.c */
int cmd_show_rates(struct app *app, const char *const arg[]);
int cmd_show_errors(struct app *app, const char *const arg[]);
int cmd_clear_counters(struct app *app, const char *const arg[]);
int cmd_show_path(struct app *app, const char *const arg[]);
/* cmd_suspects.c */
int cmd_inject_device(struct app *app, const char *const arg[]);
int cmd_show_suspects(struct app *app, const char *const arg[]);
/* cmd_health.c */
int cmd_show_link(struct app *app, const char *const arg[]);
int cmd_show_alarms(struct app *app, const char *const arg[]);
/* cmd_wires.c */
int cmd_show_wires(struct app *app, const char *const arg[]);

#endif /* COMMAND_H */
