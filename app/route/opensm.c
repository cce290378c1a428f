/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --check-opensm: has the checker judge the tables that OpenSM dumped of a
 * real fabric [ROUTE-8]. The files lie in one folder, under the names that
 * OpenSM gives them. Output of ibnetdiscover, dump_lfts and saquery may
 * replace them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rl_infile.h"
#include "rl_opensm.h"
#include "route_app.h"
#include "say_error.h"

#define OPENSM_BYTES_MAX (2047u << 20)
#define OPENSM_NAMES 3

/* Usual names of a file, and the consequence if it is missing. */
static const struct {
	const char *name[OPENSM_NAMES];
	const char *without; /* NULL: the file is required */
} files[RL_OPENSM_FILES] = {
	[RL_OPENSM_NET] = {{"opensm-subnet.lst", "ibnetdiscover.txt"}, NULL},
	[RL_OPENSM_LFTS] = {{"opensm-lfts.dump", "dump_lfts.txt",
			     "dump_fts.txt"}, NULL},
	[RL_OPENSM_SL2VL] = {{"opensm-sl2vl.dump"}, "VL 0 is taken for all"},
	[RL_OPENSM_PATHS] = {{"opensm-path-records.dump", "saquery.txt"},
			     "SL 0 is taken for all"},
};

struct opensm_texts {
	struct rl_opensm_text text[RL_OPENSM_FILES];
	char path[RL_OPENSM_FILES][4096];
};

/* The first of a file's names that is there. @return 0, -ENOENT, -errno */
static int
find_text(const char *dir, enum rl_opensm_file file, struct opensm_texts *t)
{
	int ret = -ENOENT;

	for (unsigned int i = 0; i < OPENSM_NAMES && ret == -ENOENT; i++) {
		char *text = NULL;

		if (files[file].name[i] == NULL)
			break;
		snprintf(t->path[file], sizeof(t->path[file]), "%.3900s/%s",
			 dir, files[file].name[i]);
		ret = rl_infile_read(t->path[file], RL_INFILE_PLAIN,
				     OPENSM_BYTES_MAX, &text,
				     &t->text[file].len);
		if (ret == 0)
			t->text[file].text = text;
	}
	return ret;
}

static int
read_texts(const char *dir, struct opensm_texts *t)
{
	for (int f = 0; f < RL_OPENSM_FILES; f++) {
		const int ret = find_text(dir, (enum rl_opensm_file)f, t);

		if (ret == 0)
			continue;
		if (ret != -ENOENT)
			return say_error(EXIT_UNUSABLE, "%s: cannot read the "
					 "file: %s\n", t->path[f],
					 rl_infile_error(ret));
		if (files[f].without == NULL)
			return say_error(EXIT_UNUSABLE, "reflit-route: "
					 "--check-opensm %s: there is no %s; "
					 "have OpenSM dump its tables (opensm "
					 "-D 0x43)\n", dir, files[f].name[0]);
		printf("no %s: %s\n", files[f].name[0], files[f].without);
	}
	return 0;
}

/* Describes the fabric, and what the tables leave out. */
static void
opensm_summary(struct route_app *app, const struct rl_opensm *osm)
{
	const struct rl_topo *t = &osm->topo;
	uint32_t isl = 0;

	for (uint32_t l = 0; l < t->nlink; l++)
		isl += t->link[l].kind == RL_LINK_ISL;
	printf("opensm: %u switches, %u links between them, %u LIDs of "
	       "endpoints; VLs", t->ndev - t->nep, isl, t->nep);
	for (unsigned int v = 0; v < osm->nvls; v++)
		if (osm->used_vls >> osm->vl[v] & 1)
			printf(" %u", osm->vl[v]);
	printf("%s\n", osm->used_vls >> RL_VCS != 0 ?
			       "; below they are numbered from 0" : "");
	if (osm->nodes_without_lid != 0)
		printf("%u ports of endpoints have no LID and are left out\n",
		       osm->nodes_without_lid);
	if (osm->missing_switches != 0)
		printf("%u switches have no forwarding table\n",
		       osm->missing_switches);
	if (osm->unknown_switches != 0)
		printf("%u tables are of switches that are not in the "
		       "fabric\n", osm->unknown_switches);
	if (osm->dropped != 0)
		printf("%llu pairs are dropped by SL2VL, the first from %s to "
		       "%s at %s\n", (unsigned long long)osm->dropped,
		       t->dev[t->ep_dev[osm->drop_src]].name,
		       t->dev[t->ep_dev[osm->drop_dst]].name,
		       t->dev[osm->drop_dev].name);
	json_object_set_new(app->report, "engine", json_string("opensm"));
	route_set(app->report, "switches", t->ndev - t->nep);
	route_set(app->report, "switch_links", isl);
	route_set(app->report, "endpoints", t->nep);
	route_set(app->report, "vls",
		  (uint64_t)__builtin_popcount(osm->used_vls));
	route_set(app->report, "dropped", osm->dropped);
	route_set(app->report, "switches_without_table", osm->missing_switches);
}

/* The checker takes a route; this one borrows its tables. */
static int
opensm_judge(struct route_app *app, struct rl_opensm *osm,
	     int (*outputs)(struct route_app *app))
{
	struct rl_route route = {
		.engine = "opensm", .ndev = osm->topo.ndev,
		.nep = osm->topo.nep, .fwd = osm->fwd, .vls = osm->nvls,
	};
	int ret;

	opensm_summary(app, osm);
	app->cfg.topo = osm->topo;
	app->route = &route;
	app->opt.verify = true;
	if (osm->dropped != 0)
		app->status = EXIT_BROKEN;
	ret = outputs(app);
	app->route = NULL;
	memset(&app->cfg.topo, 0, sizeof(app->cfg.topo));
	return ret;
}

int
route_opensm(struct route_app *app, int (*outputs)(struct route_app *app))
{
	struct opensm_texts *t = calloc(1, sizeof(*t));
	struct rl_opensm_error err;
	struct rl_opensm osm;
	int ret;

	if (t == NULL)
		return say_error(EXIT_UNUSABLE, "reflit-route: no memory\n");
	ret = read_texts(app->opt.opensm, t);
	if (ret == 0 && rl_opensm_read(t->text, &osm, &err) != 0) {
		fprintf(stderr, "%s:%d: %s\n", t->path[err.file], err.line,
			err.why);
		ret = EXIT_UNUSABLE;
	} else if (ret == 0) {
		ret = opensm_judge(app, &osm, outputs);
		rl_opensm_free(&osm);
	}
	for (int f = 0; f < RL_OPENSM_FILES; f++)
		free((void *)(uintptr_t)t->text[f].text);
	free(t);
	return ret;
}
