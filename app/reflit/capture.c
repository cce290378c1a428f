/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture.h"
#include "clock_ns.h"

/* An lcore may have to wait for its CPU on a busy machine. */
#define RELEASE_LIMIT_NS (10 * RL_NS_PER_S)
/* Limit of one step, so that the prompt stays responsive. */
#define STEP_FRAMES 20000

static void
free_capture(struct capture *c)
{
	for (uint32_t i = 0; i < RTE_DIM(c->dir); i++) {
		free(c->dir[i].ring);
		free(c->dir[i].frame);
	}
	free(c);
}

static struct capture *
new_capture(const uint32_t link[], unsigned int n)
{
	struct capture *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	for (unsigned int i = 0; i < 2 * n; i++) {
		struct capture_dir *d = &c->dir[i];

		d->link = link[i / 2];
		d->to = 1 - i % 2;
		d->ring = malloc(CAPTURE_RING_BYTES);
		d->frame = malloc(RL_FRAME_BYTES_MAX);
		if (d->ring == NULL || d->frame == NULL) {
			free_capture(c);
			return NULL;
		}
		/* pages are touched here, not by an lcore */
		memset(d->ring, 0, CAPTURE_RING_BYTES);
		rl_tap_init(&d->tap, d->ring, CAPTURE_RING_BYTES);
	}
	c->ndirs = 2 * n;
	return c;
}

/* An interface for each direction: "s0-s1#0 from s0". */
static int
put_interfaces(struct capture *c, const struct rl_topo *t)
{
	int ret = 0;

	for (uint32_t i = 0; i < c->ndirs && ret == 0; i++) {
		const struct rl_topo_link *l = &t->link[c->dir[i].link];
		const uint32_t to = c->dir[i].to;
		char link[2 * RL_NAME_MAX + 8], name[3 * RL_NAME_MAX + 16];
		char what[4 * RL_NAME_MAX + 64];

		rl_topo_link_name(t, c->dir[i].link, link, sizeof(link));
		snprintf(name, sizeof(name), "%s from %s", link,
			 t->dev[l->dev[1 - to]].name);
		snprintf(what, sizeof(what),
			 "from %s/%u to %s/%u, as they arrive there",
			 t->dev[l->dev[1 - to]].name, l->port[1 - to],
			 t->dev[l->dev[to]].name, l->port[to]);
		ret = pcapng_interface(&c->file, name, what);
	}
	return ret;
}

static void
set_taps(const struct captures *cs, struct capture *c, bool on)
{
	for (uint32_t i = 0; i < c->ndirs; i++)
		rl_phy_eth_tap(&cs->host->phy[2 * c->dir[i].link +
					      c->dir[i].to],
			       on ? &c->dir[i].tap : NULL);
}

int
capture_start(struct captures *cs, const uint32_t link[], unsigned int n,
	      const char *path, uint64_t max_bytes, const char *comment)
{
	struct capture *c;
	unsigned int at = 0;
	int ret;

	for (unsigned int i = 0; i < n; i++)
		if (capture_of(cs, link[i]) != NULL)
			return -EBUSY;
	while (at < CAPTURES_MAX && cs->c[at] != NULL)
		at++;
	if (at == CAPTURES_MAX || n > CAPTURE_LINKS_MAX)
		return -ENOSPC;
	c = new_capture(link, n);
	if (c == NULL)
		return -ENOMEM;
	ret = pcapng_create(&c->file, path, "reflit " RL_VERSION, comment);
	if (ret == 0)
		ret = put_interfaces(c, cs->host->fabric.topo);
	if (ret != 0) {
		pcapng_close(&c->file);
		free_capture(c);
		return ret;
	}
	snprintf(c->path, sizeof(c->path), "%s", path);
	c->max_bytes = max_bytes;
	c->host = cs->host;
	c->epoch_ns = clock_ns(CLOCK_REALTIME) - host_now(cs->host);
	cs->c[at] = c;
	set_taps(cs, c, true);
	return 0;
}

struct capture *
capture_of(const struct captures *cs, uint32_t link)
{
	for (unsigned int k = 0; k < CAPTURES_MAX; k++)
		for (uint32_t i = 0; cs->c[k] != NULL && i < cs->c[k]->ndirs;
		     i++)
			if (cs->c[k]->dir[i].link == link)
				return cs->c[k];
	return NULL;
}

/* The comment of a frame; NULL: none. */
static const char *
comment_of(const struct rl_tap_rec *r, char *buf, size_t len)
{
	static const char *const fates[] = {
		[RL_TAP_ARRIVED] = "",
		[RL_TAP_DARK] = "lost: the link is down",
		[RL_TAP_CUT] = "lost: this direction is cut",
		[RL_TAP_LOST] = "lost: injected drop, loss or cut",
	};
	int at = snprintf(buf, len, "%s", fates[r->fate]);

	if (r->corrupted)
		at += snprintf(buf + at, len - (size_t)at, "%s",
			       "corrupted by an injected fault");
	if (r->delay_ns != 0)
		at += snprintf(buf + at, len - (size_t)at,
			       "%sdelayed by %" PRIu64 " ns",
			       at == 0 ? "" : "; ", r->delay_ns);
	return at == 0 ? NULL : buf;
}

static void
write_frame(struct capture *c, uint32_t i)
{
	struct capture_dir *d = &c->dir[i];
	char text[128];
	const struct pcapng_packet p = {
		.interface = i,
		.t_ns = c->epoch_ns + host_time_of(c->host, d->rec.t_ns),
		.len = d->rec.len,
		.captured = rl_min_u32(d->rec.len, RL_FRAME_BYTES_MAX),
		.data = d->frame,
		.missed = d->rec.missed,
		.comment = comment_of(&d->rec, text, sizeof(text)),
	};

	d->full = false;
	if (c->file.bytes + pcapng_packet_bytes(&p) > c->max_bytes) {
		c->ended = true;
		return;
	}
	c->error = pcapng_packet(&c->file, &p);
	c->ended = c->error != 0;
	d->frames += c->error == 0;
}

/* The oldest frame of all directions. @return its number; -1: none */
static int
next_dir(struct capture *c)
{
	int best = -1;

	for (uint32_t i = 0; i < c->ndirs; i++) {
		struct capture_dir *d = &c->dir[i];

		if (!d->full)
			d->full = rl_tap_get(&d->tap, &d->rec, d->frame,
					     RL_FRAME_BYTES_MAX);
		if (d->full &&
		    (best < 0 || d->rec.t_ns < c->dir[best].rec.t_ns))
			best = (int)i;
	}
	return best;
}

static void
write_frames(const struct captures *cs, struct capture *c, uint32_t most)
{
	while (!c->ended && most-- != 0) {
		const int i = next_dir(c);

		if (i < 0)
			return;
		write_frame(c, (uint32_t)i);
		if (!c->ended)
			continue;
		set_taps(cs, c, false);
		if (c->error == 0)
			printf("capture: %s is full (%" PRIu64 " MiB)\n",
			       c->path, c->max_bytes >> 20);
		else
			fprintf(stderr, "reflit: %s: %s\n", c->path,
				strerror(-c->error));
	}
}

void
captures_step(struct captures *cs)
{
	for (unsigned int k = 0; k < CAPTURES_MAX; k++)
		if (cs->c[k] != NULL)
			write_frames(cs, cs->c[k], STEP_FRAMES);
}

void
capture_counts(const struct capture *c, uint64_t *frames, uint64_t *dropped)
{
	*frames = *dropped = 0;
	for (uint32_t i = 0; i < c->ndirs; i++) {
		*frames += c->dir[i].frames;
		*dropped += atomic_load(&c->dir[i].tap.dropped);
	}
}

/* Removes the taps. @return whether no lcore can still use them */
static bool
release(const struct captures *cs, struct capture *c)
{
	set_taps(cs, c, false);
	return host_wait_round(cs->host, RELEASE_LIMIT_NS);
}

int
capture_stop(struct captures *cs, struct capture *c)
{
	const bool free_now = release(cs, c);
	uint64_t frames, dropped;
	int ret;

	write_frames(cs, c, UINT32_MAX);
	capture_counts(c, &frames, &dropped);
	for (uint32_t i = 0; i < c->ndirs && c->error == 0; i++) {
		const uint64_t missed = atomic_load(&c->dir[i].tap.dropped);

		c->error = pcapng_statistics(
			&c->file, i, c->epoch_ns + host_now(cs->host),
			c->dir[i].frames + missed, missed);
	}
	ret = pcapng_close(&c->file);
	printf("capture: %" PRIu64 " frames in %s, %" PRIu64 " left out\n",
	       frames, c->path, dropped);
	for (unsigned int k = 0; k < CAPTURES_MAX; k++)
		if (cs->c[k] == c)
			cs->c[k] = NULL;
	if (free_now)
		free_capture(c); /* else an lcore may still write there */
	return ret;
}

int
captures_close(struct captures *cs)
{
	int ret = 0;

	for (unsigned int k = 0; k < CAPTURES_MAX; k++)
		if (cs->c[k] != NULL) {
			const int r = capture_stop(cs, cs->c[k]);

			ret = ret == 0 ? r : ret;
		}
	return ret;
}
