/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "half_json.h"
#include "ledger_file.h"
#include "ledger_json.h"

/* Another process wrote the entry: read nothing beyond its arrays. */
static bool
is_sound(const struct ledger_entry *e)
{
	const struct half *h = &e->half;
	uint8_t flag[2]; /* a bool holds nothing but 0 and 1 */

	memcpy(&flag[0], &h->sink, 1);
	memcpy(&flag[1], &h->other_life, 1);
	if (flag[0] > 1 || flag[1] > 1)
		return false;
	if (memchr(e->src, '\0', sizeof(e->src)) == NULL ||
	    memchr(e->dst, '\0', sizeof(e->dst)) == NULL ||
	    h->nspans > HALF_SPANS || h->nruns > HALF_RUNS ||
	    h->nreports > HALF_REPORTS)
		return false;
	for (uint32_t i = 0; i < h->nruns; i++) {
		uint32_t n = 0;

		for (uint32_t k = h->run[i].seen.missing.head; k != RL_RANGE_END;
		     k = h->node[k].next)
			if (k >= HALF_NODES || ++n > HALF_NODES)
				return false;
	}
	return true;
}

/* A half that was being changed proves nothing about its flow. */
static json_t *
torn_json(const struct ledger_entry *e)
{
	json_t *o = json_object();

	fprintf(stderr, "reflit-report: %s to %s: the process was killed while "
			"it updated this record, which proves nothing\n",
		e->src, e->dst);
	json_object_set_new(o, "source", json_string(e->src));
	json_object_set_new(o, "destination", json_string(e->dst));
	json_object_set_new(o, "end", json_string(e->half.sink ? "sink"
							       : "source"));
	json_object_set_new(o, "torn", json_true());
	return o;
}

static void
add_entry(json_t *flows, struct ledger_entry *e, uint64_t *sent, uint64_t *got,
	  uint64_t *late)
{
	struct half *h = &e->half;

	if (!half_mend(h)) {
		json_array_append_new(flows, torn_json(e));
		return;
	}
	/* a sink that received nothing says so */
	if (h->nspans + h->nruns == 0 && !h->sink)
		return;
	json_array_append_new(flows, half_json(h, e->src, e->dst));
	for (uint32_t i = 0; i < h->nspans; i++)
		*sent += h->span[i].packets;
	for (uint32_t i = 0; i < h->nruns; i++)
		*got += h->run[i].packets;
	*late += h->late;
}

static json_t *
entries_json(FILE *f, const struct ledger_head *head)
{
	struct ledger_entry *e = malloc(LEDGER_ENTRY_BYTES);
	json_t *o = json_object(), *flows = json_array();
	uint64_t sent = 0, got = 0, late = 0;
	char rest[LEDGER_PAGE - sizeof(*head)];
	bool ok = e != NULL && fread(rest, sizeof(rest), 1, f) == 1;

	for (uint32_t i = 0; i < head->entries && ok; i++) {
		ok = fread(e, LEDGER_ENTRY_BYTES, 1, f) == 1 && is_sound(e);
		if (ok)
			add_entry(flows, e, &sent, &got, &late);
	}
	free(e);
	json_object_set_new(o, "flows", flows);
	json_object_set_new(o, "process", json_string(head->process));
	json_object_set_new(o, "digest", half_hex(head->digest));
	json_object_set_new(o, "killed", json_true());
	json_object_set_new(o, "sent_packets", json_integer((json_int_t)sent));
	json_object_set_new(o, "delivered_packets",
			    json_integer((json_int_t)got));
	json_object_set_new(o, "reordered_packets",
			    json_integer((json_int_t)late));
	if (ok)
		return o;
	json_decref(o);
	return NULL;
}

/* A process holds a lock on its ledger as long as it lives. */
static bool
is_in_use(FILE *f)
{
	const bool used = flock(fileno(f), LOCK_SH | LOCK_NB) != 0 &&
			  errno == EWOULDBLOCK;

	if (!used)
		(void)flock(fileno(f), LOCK_UN);
	return used;
}

json_t *
ledger_json(FILE *f, const char *path, int *is_one, char *err, size_t len)
{
	struct ledger_head head;
	json_t *o = NULL;

	*is_one = fread(&head, sizeof(head), 1, f) == 1 &&
		  memcmp(head.magic, LEDGER_MAGIC, sizeof(head.magic)) == 0;
	if (*is_one && is_in_use(f)) {
		snprintf(err, len, "%s: its process runs; give its report when "
			 "it has ended", path);
		return NULL;
	}
	if (*is_one && head.entry_bytes == LEDGER_ENTRY_BYTES &&
	    memchr(head.process, '\0', sizeof(head.process)) != NULL)
		o = entries_json(f, &head);
	if (*is_one && o == NULL)
		snprintf(err, len, "%s: is corrupt, or from another build "
			 "of reflit", path);
	return o;
}
