/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ablation [EVAL-2]: the same fabric, traffic and cuts, with all settings
 * of loopback and end-to-end retry, or of duplicate filters. Each row is a run of
 * this program, which app/bench/driver/ablation.py starts and prints.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "report_file.h"
#include "say_error.h"
#include "sim_app.h"
#include "stop_signal.h"

#define CUTS 200 /* unless told otherwise */

static int
write_csv(const char *path, const char *text)
{
	FILE *f = report_open(path);

	if (f == NULL)
		return say_error(-EIO, "reflit-sim: %s: %s\n", path,
				 strerror(errno));
	fputs(text, f);
	if (report_close(f) == 0)
		return 0;
	return say_error(-EIO, "reflit-sim: cannot write %s\n", path);
}

/* What the driver found. @return 0 or -EIO, which it says */
static int
write_files(const struct options *o, json_t *found)
{
	const char *csv = json_string_value(json_object_get(found, "csv"));
	int ret = 0;

	if (o->csv != NULL && csv != NULL)
		ret = write_csv(o->csv, csv);
	if (ret == 0 && o->json != NULL && json_object_size(found) != 0) {
		json_object_del(found, "csv");
		ret = report_write(json_incref(found), o->json);
	}
	return ret;
}

int
ablation(int argc, char **argv)
{
	struct options o;
	json_t *question, *found;
	int status = options_parse(argc, argv, 0, &o);

	if (status >= 0)
		return status;
	if (o.seeds != 0 || o.shards > 1)
		return say_error(EXIT_UNUSABLE, "reflit-sim: the ablation has "
				 "one seed for all of its rows: give it as "
				 "--seed\n");
	if (options_check(&o, OF_ABLATION) != 0)
		return EXIT_UNUSABLE;
	if (o.cuts != 0 && o.faults != NULL)
		return say_error(EXIT_UNUSABLE, "reflit-sim: --faults says "
				 "what fails: leave --cuts out\n");
	question = json_pack("{s:s, s:I, s:I, s:b, s:s?, s:s?}", "suite",
			     "ablation", "seed", (json_int_t)o.seed, "cuts",
			     (json_int_t)(o.cuts != 0 ? o.cuts : CUTS),
			     "dup_filter", (int)o.dup_filter, "config",
			     o.config, "faults", o.faults);
	stop_catch(STOP_AGAIN_KILLS);
	status = driver_ask("reflit-sim", "bench", BENCH_INSTALLED, "suite.py",
			    argv + 1, argc - 1, question, &found);
	if (write_files(&o, found) != 0 || status < 0)
		status = EXIT_UNUSABLE;
	json_decref(found);
	json_decref(question);
	return status;
}
