/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alarm_kind.h"
#include "refusal.h"
#include "watch.h"

int
watch_open(struct watch *w, struct host *h)
{
	memset(w, 0, sizeof(*w));
	w->host = h;
	w->order_ns = calloc(h->fabric.topo->nlink, sizeof(*w->order_ns));
	w->changed_ns = calloc(h->fabric.topo->nlink,
			       2 * sizeof(*w->changed_ns));
	w->degraded = calloc(h->fabric.topo->nlink, sizeof(*w->degraded));
	return w->order_ns == NULL || w->changed_ns == NULL ||
			       w->degraded == NULL
		       ? -ENOMEM
		       : 0;
}

void
watch_close(struct watch *w)
{
	absences_free(&w->absences);
	rl_failover_log_free(&w->failovers);
	free(w->order_ns);
	free(w->changed_ns);
	free(w->degraded);
	memset(w, 0, sizeof(*w));
}

static uint32_t
port_link(const struct watch *w, uint32_t dev, uint16_t port)
{
	return w->host->fabric.topo->dev[dev].port[port].link;
}

uint64_t
watch_since(uint64_t start_ns, uint64_t t_ns)
{
	if (start_ns == 0 || t_ns == 0)
		return 0;
	/* a poll's time may lie just before the command that it carried out */
	return t_ns > start_ns ? t_ns - start_ns : 1;
}

void
watch_order(struct watch *w, uint32_t link)
{
	w->order_ns[link] = host_now(w->host);
}

/* When the fault that just killed a port began; RL_NEVER: none was injected. */
static uint64_t
fault_time(struct watch *w, uint32_t link)
{
	const uint64_t cut =
		atomic_load(&w->host->fault[link].severed_ns);

	if (cut != 0)
		return host_time_of(w->host, cut);
	return w->order_ns[link] != 0 ? w->order_ns[link] : RL_NEVER;
}

/* An event after which the port is in another state for long. */
static void
note_change(struct watch *w, const struct host_rec *rec)
{
	const struct rl_topo *t = w->host->fabric.topo;
	const uint32_t link = port_link(w, rec->dev, rec->port);
	const bool second = t->link[link].dev[1] == rec->dev &&
			    t->link[link].port[1] == rec->port;

	if (rec->port_ev.type == RL_PEV_UP ||
	    rec->port_ev.type == RL_PEV_DEGRADED)
		w->degraded[link] = rec->port_ev.type == RL_PEV_DEGRADED;
	switch (rec->port_ev.type) {
	case RL_PEV_UP:
	case RL_PEV_DEAD:
	case RL_PEV_DEGRADED:
	case RL_PEV_REFUSED:
		w->changed_ns[2 * link + second] = rec->t_ns;
		break;
	default:
		break;
	}
}

static void
take_report(struct watch *w, uint64_t t_ns)
{
	/* after a longer pause it is another alarm */
	if (w->given_up++ == 0 || t_ns - w->given_up_ns > ALARM_GIVEN_UP_NS)
		w->giving_up_ns = t_ns;
	w->given_up_ns = t_ns;
}

static void
take_port_event(struct watch *w, const struct host_rec *rec)
{
	struct rl_failover *f = rl_failover_take(&w->failovers, rec->dev,
						 rec->port, &rec->port_ev);
	char line[WATCH_LINE_MAX];

	if (f != NULL)
		f->fault_ns = fault_time(w, port_link(w, rec->dev, rec->port));
	note_change(w, rec);
	/* else it is lost among the events */
	if (rec->port_ev.type == RL_PEV_REFUSED)
		fprintf(stderr, "reflit: %s\n",
			strstr(watch_event_text(w, rec, line, sizeof(line)),
			       " ms ") + 4);
}

/* Prints an event as it happens, if verbose. */
static void
say(const struct watch *w, const struct host_rec *rec)
{
	char line[WATCH_LINE_MAX];

	if (w->verbose <= WATCH_QUIET ||
	    (w->verbose == WATCH_LINKS && rec->kind != HOST_REC_PORT &&
	     rec->kind != HOST_REC_EP))
		return;
	if (w->console != NULL)
		console_begin(w->console);
	printf("%s\n", watch_event_text(w, rec, line, sizeof(line)));
	console_end();
}

void
watch_note(struct watch *w, const struct host_rec *rec)
{
	w->event[w->nevents++ % WATCH_EVENTS] = *rec;
	say(w, rec);
}

void
watch_say(struct watch *w, const char *text, bool print)
{
	const struct host_rec rec = {
		.t_ns = host_now(w->host),
		.kind = HOST_REC_NOTE,
		.note = w->nnotes,
	};

	snprintf(w->note[w->nnotes++ % WATCH_NOTES], WATCH_NOTE_MAX, "%s",
		 text);
	watch_note(w, &rec);
	if (!print)
		return;
	if (w->console != NULL)
		console_begin(w->console);
	console_end();
	fprintf(stderr, "reflit: %s\n", text);
}

void
watch_pump(struct watch *w)
{
	struct host_rec rec;

	while (host_next_record(w->host, &rec)) {
		host_resil_take(w->host, &rec);
		if (rec.kind == HOST_REC_PORT)
			take_port_event(w, &rec);
		else if (rec.kind == HOST_REC_EP)
			absences_add(&w->absences, &rec.ep_ev);
		else if (rec.kind == HOST_REC_REPORT)
			take_report(w, rec.t_ns);
		watch_note(w, &rec);
	}
}

static int
port_event_text(const struct watch *w, const struct host_rec *rec, char *buf,
		size_t len)
{
	const struct rl_port_event *ev = &rec->port_ev;
	char link[2 * RL_NAME_MAX + 8], why[REFUSAL_TEXT_MAX];

	rl_topo_link_name(w->host->fabric.topo,
			  port_link(w, rec->dev, rec->port), link,
			  sizeof(link));
	switch (ev->type) {
	case RL_PEV_UP:
		return snprintf(buf, len, "%s up, epoch %u", link, ev->epoch);
	case RL_PEV_DEAD:
		return snprintf(buf, len,
				ev->planned ? "%s down, empty, as planned (%s)"
					    : "%s dead, detector %s",
				link, rl_detector_name(ev->detector));
	case RL_PEV_DRAINED:
		return snprintf(buf, len,
				"%s drained: looped %u packets, %u flits, %u "
				"of them acknowledged",
				link, ev->looped_packets, ev->looped_flits,
				ev->looped_acked_flits);
	case RL_PEV_REROUTED:
		return snprintf(buf, len, "%s carries what looped back (%u)",
				link, ev->loop_id);
	case RL_PEV_RETRAIN:
		return snprintf(buf, len, "%s retrains", link);
	case RL_PEV_DEGRADED:
		return snprintf(buf, len, "%s degraded", link);
	case RL_PEV_EMPTY:
		return snprintf(buf, len, "%s has run empty", link);
	case RL_PEV_REFUSED:
		refusal_text(w->host, rec->dev, rec->port, &ev->refused, why);
		/*
		 * the peer's name says more than that the link does not train
		 */
		return strncmp(why, "here is", 7) == 0
			       ? snprintf(buf, len, "%s", why)
			       : snprintf(buf, len, "%s does not train: %s",
					  link, why);
	}
	return 0;
}

static int
core_event_text(const struct host_rec *rec, char *buf, size_t len)
{
	const struct rl_core_event *ev = &rec->core_ev;

	switch (ev->type) {
	case RL_CEV_HOLD:
		return snprintf(buf, len, "port %u: holds, %u packets queued",
				ev->port, ev->packets);
	case RL_CEV_RESUME:
		return snprintf(buf, len, "port %u: %u held packets go round",
				ev->port, ev->packets);
	case RL_CEV_RESTORE:
		return snprintf(buf, len,
				"port %u: traffic is back, %u packets held",
				ev->port, ev->packets);
	case RL_CEV_WATCHDOG:
		return snprintf(buf, len, "watchdog gave up %u packets",
				ev->packets);
	}
	return 0;
}

static void
ep_event_text(const struct watch *w, const struct host_rec *rec, char *buf,
	      size_t len)
{
	const struct rl_ep_event *ev = &rec->ep_ev;
	const struct rl_topo *t = w->host->fabric.topo;
	const char *peer = ev->peer == RL_EP_ALL
				   ? "all"
				   : t->dev[t->ep_dev[ev->peer]].name;

	snprintf(buf, len, "%s: %s %s", t->dev[rec->dev].name, peer,
		 rl_ep_event_name(ev->kind));
}

static void
channel_event_text(const struct watch *w, const struct host_rec *rec,
		   char *buf, size_t len)
{
	const struct rl_config *cfg = w->host->p.cfg;
	const char *who = rec->channel.process < cfg->nprocess
				  ? cfg->process[rec->channel.process].name
				  : "all";

	switch ((enum host_channel_news)rec->channel.news) {
	case HOST_CHANNEL_AWAY:
		snprintf(buf, len, "etcd does not answer");
		break;
	case HOST_CHANNEL_BACK:
		snprintf(buf, len, "etcd answers again");
		break;
	case HOST_CHANNEL_OFFICE:
		snprintf(buf, len, "process %s has the controller", who);
		break;
	case HOST_CHANNEL_NOBODY:
		snprintf(buf, len, "no process has the controller");
		break;
	case HOST_CHANNEL_JOINED:
		snprintf(buf, len, "process %s is there", who);
		break;
	case HOST_CHANNEL_GONE:
		snprintf(buf, len, "process %s is gone", who);
		break;
	}
}

static const char *
ep_name(const struct watch *w, uint16_t ep)
{
	const struct rl_topo *t = w->host->fabric.topo;

	return ep < t->nep ? t->dev[t->ep_dev[ep]].name : "?";
}

char *
watch_event_text(const struct watch *w, const struct host_rec *rec, char *buf,
		 size_t len)
{
	const struct host_rec_packet *p = &rec->packet;
	const uint64_t t = rec->t_ns - rl_min_u64(w->start_ns, rec->t_ns);
	char role[HOST_ROLE_NAME];
	int at = snprintf(buf, len, "%5" PRIu64 ".%06" PRIu64 " ms ",
			  (uint64_t)(t / RL_NS_PER_MS),
			  (uint64_t)(t % RL_NS_PER_MS));

	if (rec->kind == HOST_REC_PORT &&
	    rec->port_ev.type == RL_PEV_REFUSED)
		at += snprintf(buf + at, len - (size_t)at, "%s: ",
			       host_role_name(w->host->fabric.topo, rec->dev,
					      rec->port, role));
	else if (rec->kind == HOST_REC_PORT || rec->kind == HOST_REC_CORE)
		at += snprintf(buf + at, len - (size_t)at, "%s: ",
			       w->host->fabric.topo->dev[rec->dev].name);
	buf += at;
	len -= (size_t)at;
	switch ((enum host_rec_kind)rec->kind) {
	case HOST_REC_PORT:
		port_event_text(w, rec, buf, len);
		break;
	case HOST_REC_CORE:
		core_event_text(rec, buf, len);
		break;
	case HOST_REC_DROP:
		snprintf(buf, len,
			 "dropped packet %u of %s to %s (%u flits): %s", p->tag,
			 ep_name(w, p->src), ep_name(w, p->dst), p->flits,
			 rl_drop_reason_name((enum rl_drop_reason)p->why));
		break;
	case HOST_REC_REPORT:
		snprintf(buf, len, "gave up packet %u of %s to %s: %s", p->tag,
			 ep_name(w, p->src), ep_name(w, p->dst),
			 rl_ep_reason_name((enum rl_ep_reason)p->why));
		break;
	case HOST_REC_EP:
		ep_event_text(w, rec, buf, len);
		break;
	case HOST_REC_CHANNEL:
		channel_event_text(w, rec, buf, len);
		break;
	case HOST_REC_NOTE:
		snprintf(buf, len, "%s",
			 w->nnotes - rec->note > WATCH_NOTES
				 ? "(its text is not kept any more)"
				 : w->note[rec->note % WATCH_NOTES]);
		break;
	}
	return buf - at;
}
