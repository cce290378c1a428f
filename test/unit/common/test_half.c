/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Records of halves of flows at their limits, and what reflit-report reads in the
 * ledger of a process that was killed [PHY-3]: each number is another.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger_file.h"
#include "ledger_json.h"

static struct half h;

static void
each_life_of_a_peer_is_a_span_until_there_is_no_room(void **state)
{
	(void)state;
	half_init(&h, false);
	half_peer_restarted(&h, 7, 0, 0); /* nothing was sent to the old one */
	assert_false(h.other_life);
	half_peer_restarted(&h, 7, 3, 9);
	assert_int_equal(h.nspans, 0);
	for (uint32_t i = 0; i < HALF_SPANS; i++) {
		half_sent(&h, 100 * i, 10 + i);
		half_sent(&h, 100 * i + 1, 1000);
		assert_int_equal(h.nspans, i + 1);
		assert_int_equal(h.span[i].first, 100 * i);
		assert_int_equal(h.span[i].packets, 2);
		assert_int_equal(h.span[i].digest, 1010 + i);
		assert_int_equal(h.writing, HALF_AT_REST);
		half_peer_restarted(&h, 0, 2, 0); /* all of it waits */
		assert_int_equal(h.nspans, i + 1);
		assert_int_equal(h.span[i].packets, 2);
		if (i + 1 < HALF_SPANS)
			half_peer_restarted(&h, 0, 0, 0);
	}
	assert_int_equal(h.unlisted, 0);
	half_peer_restarted(&h, 5, 1, 1000); /* one waits: no room for it */
	assert_int_equal(h.unlisted, 1);
	assert_int_equal(h.span[HALF_SPANS - 1].packets, 2);
	half_peer_restarted(&h, 0, 0, 0);
	half_sent(&h, 5, 1);
	half_sent(&h, 6, 1);
	assert_int_equal(h.unlisted, 3);
	assert_int_equal(h.nspans, HALF_SPANS);
	assert_int_equal(h.span[HALF_SPANS - 1].packets, 2);
}

static void
what_waits_at_a_restart_moves_to_the_next_span(void **state)
{
	(void)state;
	half_init(&h, false);
	for (uint32_t t = 40; t < 45; t++)
		half_sent(&h, t, t);
	half_peer_restarted(&h, 43, 2, 43 + 44);
	assert_int_equal(h.nspans, 2);
	assert_int_equal(h.span[0].packets, 3);
	assert_int_equal(h.span[0].digest, 40 + 41 + 42);
	assert_int_equal(h.span[1].first, 43);
	assert_int_equal(h.span[1].packets, 2);
	assert_int_equal(h.span[1].digest, 43 + 44);
	half_sent(&h, 45, 45);
	assert_int_equal(h.span[1].packets, 3);
	assert_int_equal(h.writing, HALF_AT_REST);
}

static void
reports_and_runs_beyond_the_room_are_counted(void **state)
{
	(void)state;
	half_init(&h, false);
	for (uint32_t i = 0; i < HALF_REPORTS + 2; i++)
		half_reported(&h, i, 2 * i);
	assert_int_equal(h.nreports, HALF_REPORTS);
	assert_int_equal(h.unlisted, 2);
	assert_int_equal(h.report[HALF_REPORTS - 1].tag, HALF_REPORTS - 1);
	assert_int_equal(h.report[HALF_REPORTS - 1].digest,
			 2 * (HALF_REPORTS - 1));
	assert_int_equal(h.writing, HALF_AT_REST);
}

/* How far apart numbers are of one life of the sender. */
static void
a_run_goes_on_only_near_its_end(void **state)
{
	static const struct {
		uint32_t tag;
		uint32_t runs;
		bool late;
	} row[] = {
		{ 100, 1, false },
		{ 101 + HALF_NEAR - 1, 1, false },
		{ 101 + 2 * HALF_NEAR, 2, false }, /* one too far on */
		{ 101 + 2 * HALF_NEAR, 2, true },
		{ 100 + 2 * HALF_NEAR, 3, false }, /* before its first */
		{ 101 + 2 * HALF_NEAR, 3, false },
		{ 101 + 2 * HALF_NEAR + HALF_NEAR, 3, false },
		{ 102 + 2 * HALF_NEAR, 3, true },
		{ 101 + 2 * HALF_NEAR, 4, false }, /* one too far back */
	};
	uint32_t late = 0;

	(void)state;
	half_init(&h, true);
	for (size_t i = 0; i < RL_ARRAY_SIZE(row); i++) {
		assert_int_equal(half_got(&h, row[i].tag, 1), row[i].late);
		assert_int_equal(h.nruns, row[i].runs);
		late += row[i].late;
		assert_int_equal(h.late, late);
		assert_int_equal(h.writing, HALF_AT_REST);
	}
	assert_int_equal(h.run[1].packets, 2);
	assert_int_equal(h.run[2].packets, 4);
}

/* A ledger of two sources, one that sent nothing, and a sink. */
struct ledger {
	char path[64];
	struct ledger_head head;
	char *entry[4];
};

static struct half *
half_at(struct ledger *l, unsigned int i)
{
	return &((struct ledger_entry *)(void *)l->entry[i])->half;
}

static void
open_ledger(struct ledger *l)
{
	static const char *const end[] = { "e3", "e4" };

	memset(l, 0, sizeof(*l));
	snprintf(l->path, sizeof(l->path), "/tmp/test_half.%d", getpid());
	memcpy(l->head.magic, LEDGER_MAGIC, sizeof(LEDGER_MAGIC));
	l->head.entry_bytes = LEDGER_ENTRY_BYTES;
	l->head.entries = RL_ARRAY_SIZE(l->entry);
	l->head.digest = 0xf00d;
	strcpy(l->head.process, "left");
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(l->entry); i++) {
		struct ledger_entry *e = calloc(1, LEDGER_ENTRY_BYTES);

		assert_non_null(e);
		l->entry[i] = (char *)e;
		strcpy(e->src, end[i % 2]);
		strcpy(e->dst, end[1 - i % 2]);
		half_init(&e->half, i == 3);
	}
	for (uint32_t t = 0; t < 10; t++)
		half_sent(half_at(l, 0), 20 + t, t);
	half_reported(half_at(l, 0), 25, 0xab);
	half_peer_restarted(half_at(l, 0), 30, 0, 0);
	half_sent(half_at(l, 0), 30, 0xcd);
	half_sent(half_at(l, 1), 500, 0xef);
	half_got(half_at(l, 3), 700, 1);
	half_got(half_at(l, 3), 705, 1);
	half_got(half_at(l, 3), 702, 1);
	half_got(half_at(l, 3), 9000000, 0x10);
	half_at(l, 3)->unlisted = 4;
	half_at(l, 3)->pool.lost = 5;
}

static void
write_ledger(struct ledger *l)
{
	FILE *f = fopen(l->path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(&l->head, sizeof(l->head), 1, f), 1);
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(l->entry); i++) {
		assert_int_equal(fseek(f, (long)(LEDGER_PAGE +
						 i * LEDGER_ENTRY_BYTES),
				       SEEK_SET), 0);
		assert_int_equal(fwrite(l->entry[i], LEDGER_ENTRY_BYTES, 1, f),
				 1);
	}
	assert_int_equal(fclose(f), 0);
}

static json_t *
read_ledger(struct ledger *l, int *is_one, char *err, size_t len)
{
	json_t *o;
	FILE *f;

	write_ledger(l);
	f = fopen(l->path, "rb");
	assert_non_null(f);
	o = ledger_json(f, l->path, is_one, err, len);
	fclose(f);
	remove(l->path);
	return o;
}

static void
close_ledger(struct ledger *l)
{
	for (unsigned int i = 0; i < RL_ARRAY_SIZE(l->entry); i++)
		free(l->entry[i]);
}

static void
a_ledger_says_what_the_process_would_have_reported(void **state)
{
	static const char want[] =
		"{'flows': ["
		"{'source': 'e3', 'destination': 'e4', 'end': 'source',"
		" 'unlisted': 0, 'spans': ["
		"{'first': 20, 'packets': 10, 'digest': '000000000000002d'},"
		"{'first': 30, 'packets': 1, 'digest': '00000000000000cd'}],"
		" 'reported': [[25, '00000000000000ab']]},"
		"{'source': 'e4', 'destination': 'e3', 'end': 'source',"
		" 'unlisted': 0, 'spans': ["
		"{'first': 500, 'packets': 1, 'digest': '00000000000000ef'}],"
		" 'reported': []},"
		"{'source': 'e4', 'destination': 'e3', 'end': 'sink',"
		" 'unlisted': 9, 'runs': ["
		"{'first': 700, 'next': 706, 'packets': 3,"
		" 'digest': '0000000000000003', 'missing': [[1, 2], [3, 5]]},"
		"{'first': 9000000, 'next': 9000001, 'packets': 1,"
		" 'digest': '0000000000000010', 'missing': []}]}],"
		" 'process': 'left', 'digest': '000000000000f00d',"
		" 'killed': true, 'sent_packets': 12, 'delivered_packets': 4,"
		" 'reordered_packets': 1}";
	char text[sizeof(want)], err[256] = "";
	struct ledger l;
	json_t *o, *is;
	int is_one = 0;

	(void)state;
	open_ledger(&l);
	o = read_ledger(&l, &is_one, err, sizeof(err));
	for (size_t i = 0; i < sizeof(want); i++)
		text[i] = want[i] == '\'' ? '"' : want[i];
	is = json_loads(text, 0, NULL);
	assert_non_null(is);
	assert_true(is_one);
	if (!json_equal(o, is))
		fail_msg("%s", json_dumps(o, 0));
	json_decref(is);
	json_decref(o);
	/* what was being written proves nothing; the others stay */
	atomic_store(&half_at(&l, 1)->writing, HALF_CHANGES);
	o = read_ledger(&l, &is_one, err, sizeof(err));
	is = json_array_get(json_object_get(o, "flows"), 1);
	assert_int_equal(json_object_size(is), 4);
	assert_true(json_is_true(json_object_get(is, "torn")));
	assert_string_equal(json_string_value(json_object_get(is, "end")),
			    "source");
	assert_string_equal(json_string_value(json_object_get(is, "source")),
			    "e4");
	assert_string_equal(
		json_string_value(json_object_get(is, "destination")), "e3");
	assert_int_equal(json_integer_value(json_object_get(o, "sent_packets")),
			 11);
	assert_int_equal(json_array_size(json_object_get(o, "flows")), 3);
	json_decref(o);
	close_ledger(&l);
}

/* Breaks one thing of a ledger; 0: no ledger any more. */
static int
break_ledger(struct ledger *l, unsigned int what)
{
	struct half *sink = half_at(l, 3);

	switch (what) {
	case 0:
		l->head.magic[14]++;
		return 0;
	case 1:
		l->head.entry_bytes++;
		break;
	case 2:
		memset(l->head.process, 'x', sizeof(l->head.process));
		break;
	case 3:
		l->head.entries++; /* the file ends before it */
		break;
	case 4:
		memset(l->entry[3], 'x', RL_NAME_MAX);
		break;
	case 5:
		memset(l->entry[3] + RL_NAME_MAX, 'x', RL_NAME_MAX);
		break;
	case 6:
		memset(&sink->sink, 2, 1);
		break;
	case 7:
		memset(&sink->other_life, 2, 1);
		break;
	case 8:
		sink->nspans = HALF_SPANS + 1;
		break;
	case 9:
		sink->nruns = HALF_RUNS + 1;
		break;
	case 10:
		sink->nreports = HALF_REPORTS + 1;
		break;
	case 11:
		sink->run[0].seen.missing.head = HALF_NODES;
		break;
	default:
		sink->node[sink->run[0].seen.missing.head].next =
			sink->run[0].seen.missing.head; /* without an end */
		break;
	}
	return 1;
}

static void
a_ledger_that_is_hurt_is_refused_by_name(void **state)
{
	char err[256], want[256];
	struct ledger l;
	int is_one;

	(void)state;
	for (unsigned int what = 0; what <= 12; what++) {
		int still;

		open_ledger(&l);
		still = break_ledger(&l, what);
		err[0] = '\0';
		assert_null(read_ledger(&l, &is_one, err, sizeof(err)));
		assert_int_equal(is_one, still);
		snprintf(want, sizeof(want),
			 "%s: is corrupt, or from another build of reflit",
			 l.path);
		assert_string_equal(err, still ? want : "");
		close_ledger(&l);
	}
	/* limits themselves are no hurt */
	open_ledger(&l);
	half_at(&l, 3)->nspans = HALF_SPANS;
	half_at(&l, 3)->nreports = HALF_REPORTS;
	json_decref(read_ledger(&l, &is_one, err, sizeof(err)));
	assert_true(is_one);
	close_ledger(&l);
}

static void
a_ledger_whose_process_runs_is_refused(void **state)
{
	char err[256], want[256];
	struct ledger l;
	json_t *o;
	int is_one;
	FILE *f, *process;

	(void)state;
	open_ledger(&l);
	write_ledger(&l);
	process = fopen(l.path, "rb");
	f = fopen(l.path, "rb");
	assert_int_equal(flock(fileno(process), LOCK_EX), 0);
	assert_null(ledger_json(f, l.path, &is_one, err, sizeof(err)));
	assert_true(is_one);
	snprintf(want, sizeof(want),
		 "%s: its process runs; give its report when it has ended",
		 l.path);
	assert_string_equal(err, want);
	fclose(process);
	rewind(f);
	o = ledger_json(f, l.path, &is_one, err, sizeof(err));
	assert_non_null(o);
	json_decref(o);
	/* the name may be used again while it is read */
	process = fopen(l.path, "rb");
	assert_int_equal(flock(fileno(process), LOCK_EX | LOCK_NB), 0);
	fclose(process);
	fclose(f);
	remove(l.path);
	close_ledger(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_life_of_a_peer_is_a_span_until_there_is_no_room),
		cmocka_unit_test(what_waits_at_a_restart_moves_to_the_next_span),
		cmocka_unit_test(reports_and_runs_beyond_the_room_are_counted),
		cmocka_unit_test(a_run_goes_on_only_near_its_end),
		cmocka_unit_test(
			a_ledger_says_what_the_process_would_have_reported),
		cmocka_unit_test(a_ledger_that_is_hurt_is_refused_by_name),
		cmocka_unit_test(a_ledger_whose_process_runs_is_refused),
	};

	return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
