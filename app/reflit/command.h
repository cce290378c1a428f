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
 *   <limits>                            bad=0,corrected=1000
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

typedef int command_fn(struct app *app, const char *const arg[]);

struct command {
	const char *form;
	command_fn *run;
	const char *help;
	int with; /**< for the handler: app->with */
	const char *fault; /**< the kind of a fault file and its options */
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

/**
 * Control thread. The prompt: runs standard input as commands, until it ends or
 * `quit`. A terminal has completion (tab), history (arrows) and `?`; other input
 * runs line by line, like a command file. The fabric works meanwhile.
 */
void prompt_run(struct app *app);

/** Control thread, often. Prints the rates that --stats-period asks for. */
void rates_step(struct app *app, uint64_t now_ns);

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
/** That this process runs the device; another one has no state of it. */
int command_here(struct app *app, uint32_t dev);
int command_link_here(struct app *app, uint32_t link); /**< or one end of it */
/** Whether @p link is the one that @p name means, from @p first on: all without
    #k, and with NULL or "all". */
bool command_link_meant(const struct app *app, const char *name, uint32_t first,
			uint32_t link);
/** Whether the fabric file attaches a port to the endpoint. */
bool command_attached(const struct app *app, const char *endpoint);

/** Control thread. Reads how long to wait; @p text NULL: 30 s. @return 0 or
    -EINVAL, after an error. */
int command_wait_limit(struct app *app, const char *text, uint64_t *ns);

/* Handlers, by the module they speak to. Parameters that a form lacks are NULL. */
/* help.c */
command_fn cmd_help, cmd_help_on;
/* command_file.c */
command_fn cmd_load, cmd_quit;
/* cmd_traffic.c */
command_fn cmd_switch, cmd_rate, cmd_traffic_pattern, cmd_traffic_load,
	cmd_traffic_packets, cmd_wait_time, cmd_wait_drained, cmd_wait_sent,
	cmd_wait_link, cmd_wait_up;
/* cmd_link.c */
command_fn cmd_link_down, cmd_link_down_mid, cmd_link_down_after, cmd_link_up,
	cmd_link_one_way, cmd_link_one_way_mid, cmd_link_one_way_after,
	cmd_link_flap, cmd_link_order, cmd_inject, cmd_inject_device;
/* cmd_resil.c */
command_fn cmd_device_crash, cmd_device_restart, cmd_device_plan,
	cmd_link_plan, cmd_quiesce, cmd_reroute, cmd_unquiesce,
	cmd_controller_crash, cmd_controller_restart, cmd_wait_recovered,
	cmd_show_controller, cmd_show_recoveries;
/* cmd_show.c, cmd_show_more.c */
command_fn cmd_show_fabric, cmd_show_port, cmd_show_replay, cmd_show_flow,
	cmd_show_events_of, cmd_show_routes, cmd_show_events,
	cmd_show_histogram, cmd_show_counters, cmd_show_faults,
	cmd_show_lcores, cmd_show_traffic, cmd_set_verbose;
/* cmd_capture.c */
command_fn cmd_capture, cmd_capture_off, cmd_show_captures;
/* recorder.c */
command_fn cmd_record;
/* cmd_rates.c, cmd_path.c */
command_fn cmd_show_rates, cmd_show_errors, cmd_show_errors_over,
	cmd_clear_counters, cmd_show_path;
/* cmd_suspects.c */
command_fn cmd_show_suspects;
/* cmd_health.c */
command_fn cmd_show_link, cmd_show_alarms;
/* report_wires.c */
command_fn cmd_show_wires;

/** Draws a small grid; of other fabrics, nothing. */
void draw_fabric(const struct app *app);

#endif /* COMMAND_H */
