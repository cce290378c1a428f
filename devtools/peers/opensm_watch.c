/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin of OpenSM's: says when it does what, and writes the SLs of all
 * paths. devtools/peers/opensm.py compiles it and has OpenSM load it.
 *
 * Into $OPENSM_WATCH_DIR go
 *   events.txt                 one line an event: CLOCK_MONOTONIC in ns, name
 *   opensm-path-records.dump   the SLs, where $OPENSM_WATCH_PATHS is set; in
 *                              the form of OpenSM's own plugin, LIDs and SLs
 *                              alone
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <complib/cl_qmap.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

struct watch {
	osm_opensm_t *osm;
	FILE *events;
	char dir[3000];
};

static void
say(struct watch *w, const char *what)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	fprintf(w->events, "%lld %s\n",
		(long long)t.tv_sec * 1000000000ll + t.tv_nsec, what);
	fflush(w->events);
}

static int
is_end_port(const osm_port_t *p)
{
	return p->p_node->node_info.node_type != IB_NODE_TYPE_SWITCH;
}

static void
paths_from(struct watch *w, FILE *f, const osm_port_t *src)
{
	const struct osm_routing_engine *e = w->osm->routing_engine_used;
	const cl_qmap_t *ports = &w->osm->subn.port_guid_tbl;
	const ib_net16_t slid = osm_port_get_base_lid(src);

	fprintf(f, "Channel Adapter 0x%016llx, base LID %u, \"%s\", port %u\n"
		"# LID  : SL\n",
		(unsigned long long)cl_ntoh64(osm_port_get_guid(src)),
		cl_ntoh16(slid), src->p_node->print_desc,
		src->p_physp->port_num);
	for (const cl_map_item_t *i = cl_qmap_head(ports);
	     i != cl_qmap_end(ports); i = cl_qmap_next(i)) {
		const osm_port_t *dst = (const osm_port_t *)i;
		uint16_t from, to;

		if (!is_end_port(dst))
			continue;
		osm_port_get_lid_range_ho(dst, &from, &to);
		for (unsigned int lid = from; lid != 0 && lid <= to; lid++)
			fprintf(f, "0x%04X : %u\n", lid,
				e != NULL && e->path_sl != NULL ?
					e->path_sl(e->context, 0, slid,
						   cl_hton16((uint16_t)lid)) :
					0);
	}
	fputc('\n', f);
}

static void
write_paths(struct watch *w)
{
	const cl_qmap_t *ports = &w->osm->subn.port_guid_tbl;
	char path[sizeof(w->dir) + 64], tmp[sizeof(w->dir) + 64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/opensm-path-records.dump", w->dir);
	snprintf(tmp, sizeof(tmp), "%s/paths.tmp", w->dir);
	f = fopen(tmp, "w");
	if (f == NULL)
		return;
	for (const cl_map_item_t *i = cl_qmap_head(ports);
	     i != cl_qmap_end(ports); i = cl_qmap_next(i))
		if (is_end_port((const osm_port_t *)i))
			paths_from(w, f, (const osm_port_t *)i);
	if (fclose(f) == 0)
		rename(tmp, path);
}

static void *
watch_create(struct osm_opensm *osm)
{
	struct watch *w = calloc(1, sizeof(*w));
	const char *dir = getenv("OPENSM_WATCH_DIR");
	char path[sizeof(w->dir) + 64];

	if (w == NULL || dir == NULL || strlen(dir) >= sizeof(w->dir)) {
		free(w);
		return NULL;
	}
	w->osm = osm;
	strcpy(w->dir, dir);
	snprintf(path, sizeof(path), "%s/events.txt", dir);
	w->events = fopen(path, "a");
	if (w->events == NULL) {
		free(w);
		return NULL;
	}
	say(w, "start");
	return w;
}

static void
watch_delete(void *data)
{
	struct watch *w = data;

	fclose(w->events);
	free(w);
}

static void
watch_report(void *data, osm_epi_event_id_t id, void *event)
{
	struct watch *w = data;

	(void)event;
	switch (id) {
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		say(w, "heavy-sweep-start");
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
		say(w, "heavy-sweep-done"); /* discovered; routing comes next */
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
		say(w, w->osm->routing_engine_used != NULL ?
			       w->osm->routing_engine_used->name :
			       "no-engine");
		say(w, "routing-done");
		if (getenv("OPENSM_WATCH_PATHS") != NULL)
			write_paths(w);
		break;
	case OSM_EVENT_ID_SUBNET_UP:
		say(w, "subnet-up");
		break;
	default:
		break;
	}
}

osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = watch_create,
	.delete = watch_delete,
	.report = watch_report,
};
