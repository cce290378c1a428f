/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "parse.h"
#include "run_files.h"

#define MIB_MAX 65536u

int
cmd_capture(struct app *app, const char *const arg[])
{
	const char *name = arg[0], *path = arg[1];
	uint64_t mib = CAPTURE_MIB_DEFAULT;
	uint32_t link[CAPTURE_LINKS_MAX];
	char comment[256];
	unsigned int n;
	int ret;

	if (arg[2] != NULL && parse_number(arg[2], 1, MIB_MAX, &mib) != 0)
		return app_error(app, "%s is out of range; use 1 to %u MiB",
				 arg[2], MIB_MAX);
	if (command_find_links(app, name, link, CAPTURE_LINKS_MAX, &n) != 0 ||
	    command_link_here(app, link[0]) != 0 ||
	    run_files_may_write(app, path) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	snprintf(comment, sizeof(comment), "link %s of %s; endpoint.profile, "
		 "crc and isn are those of that file", name, app->opt.config);
	ret = capture_start(&app->captures, link, n, path, mib << 20, comment);
	if (ret == -EBUSY)
		return app_error(app, "%s is being captured already", name);
	if (ret == -ENOSPC)
		return app_error(app, "there are %u captures; end one first",
				 CAPTURES_MAX);
	if (ret == -EISDIR)
		return app_error(app, "%s: it is not a plain file", path);
	if (ret != 0)
		return app_error(app, "%s: %s", path, strerror(-ret));
	return 0;
}

int
cmd_capture_off(struct app *app, const char *const arg[])
{
	uint32_t link[CAPTURE_LINKS_MAX];
	bool any = false;
	unsigned int n;
	int ret = 0;

	if (command_find_links(app, arg[0], link, CAPTURE_LINKS_MAX, &n) != 0)
		return -EINVAL;
	if (app->checking)
		return 0;
	for (unsigned int i = 0; i < n; i++) { /* in one file, or in several */
		struct capture *c = capture_of(&app->captures, link[i]);
		const int one = c == NULL ? 0 : capture_stop(&app->captures, c);

		any |= c != NULL;
		ret = ret == 0 ? one : ret;
	}
	if (!any)
		return app_error(app, "%s is not being captured", arg[0]);
	return ret == 0 ? 0 : app_error(app, "the capture of %s could not be "
					     "written: %s",
					arg[0], strerror(-ret));
}

int
cmd_show_captures(struct app *app, RL_UNUSED const char *const arg[])
{
	bool any = false;

	facts_list(&app->facts, "captures");
	for (unsigned int k = 0; k < CAPTURES_MAX; k++) {
		const struct capture *c = app->captures.c[k];
		uint64_t frames, dropped;
		json_t *links;

		if (c == NULL)
			continue;
		any = true;
		links = json_array();
		capture_counts(c, &frames, &dropped);
		for (uint32_t i = 0; i < c->ndirs; i += 2)
			json_array_append_new(
				links,
				json_string(APP_LINK(app, c->dir[i].link)));
		facts_row(&app->facts,
			  "{file}: links {links}; {frames} frames, "
			  "{left_out_frames} left out, {file_bytes} of "
			  "{most_bytes} bytes{end}\n",
			  FACTS(FACT_T("file", c->path), FACT_L("links", links),
				FACT_N("frames", frames),
				FACT_N("left_out_frames", dropped),
				FACT_N("file_bytes", c->file.bytes),
				FACT_N("most_bytes", c->max_bytes),
				FACT_S("end", c->ended ? ", ended" : ""),
				FACT_B("ended", c->ended)));
	}
	if (!any && facts_text(&app->facts))
		printf("nothing is being captured\n");
	return 0;
}
