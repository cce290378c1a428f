/* SPDX-License-Identifier: BSD-3-Clause */

#include "alarm_kind.h"

enum severity { CRITICAL, MAJOR, MINOR };

static const struct {
	const char *word;
	enum severity severity;
	const char *condition;
} kinds[ALARM_KIND_COUNT] = {
#define KIND(name, w, s, c) [ALARM_##name] = { w, s, c },
	ALARM_KINDS(KIND)
#undef KIND
};

const char *
alarm_word(enum alarm_kind kind)
{
	return kinds[kind].word;
}

const char *
alarm_severity(enum alarm_kind kind)
{
	static const char *const words[] = { "critical", "major", "minor" };

	return words[kinds[kind].severity];
}

const char *
alarm_condition(enum alarm_kind kind)
{
	return kinds[kind].condition;
}
