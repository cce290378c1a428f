/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALARM_KIND_H
#define ALARM_KIND_H

/**
 * @file
 * The kinds of alarms, their words and how severe they are: the same in reflit
 * and in reflit-sim. Any thread.
 */

/** X(name, word, severity, condition): the only list of them. */
#define ALARM_KINDS(X)                                                         \
	X(MISCABLED, "miscabled", CRITICAL, "a cable is in the wrong socket")  \
	X(UNREACHABLE, "unreachable", CRITICAL, "no way leads to an endpoint") \
	X(DEVICE, "device-absent", CRITICAL, "a device has crashed")           \
	X(PROCESS, "process-absent", CRITICAL,                                 \
	  "another process of the fabric is not there")                        \
	X(LINK_DOWN, "link-down", MAJOR,                                       \
	  "a link does not carry traffic, and nobody ordered that")            \
	X(LINK_REFUSED, "link-refused", MAJOR,                                 \
	  "the peer has another key or release")                               \
	X(LINK_LEFT, "link-left", MAJOR,                                       \
	  "a link was ill, and is kept out until it is added")                 \
	X(CONTROLLER, "no-controller", MAJOR, "there is no controller")        \
	X(CHANNEL, "channel-lost", MAJOR, "etcd does not answer")              \
	X(RECOVERY, "recovery-failed", MAJOR,                                  \
	  "the last recovery was refused or took too long")                    \
	X(GIVEN_UP, "giving-up", MAJOR,                                        \
	  "packets were given up in the last 10 s")                            \
	X(LINK_DEGRADED, "link-degraded", MINOR,                               \
	  "a link is up, but its error rate is high")

enum alarm_kind {
#define ALARM_ENUM(name, word, severity, condition) ALARM_##name,
	ALARM_KINDS(ALARM_ENUM)
#undef ALARM_ENUM
	ALARM_KIND_COUNT
};

/** For how long packets that were given up are an alarm. */
#define ALARM_GIVEN_UP_NS (10000000000ull)

/** Of UNREACHABLE and DEVICE, the reason: there is no other. */
#define ALARM_WHY_UNREACHABLE "no way leads to it"
#define ALARM_WHY_DEVICE "it has crashed, until it is restarted"

const char *alarm_word(enum alarm_kind kind);
/** "critical", "major", "minor" */
const char *alarm_severity(enum alarm_kind kind);
const char *alarm_condition(enum alarm_kind kind);

#endif /* ALARM_KIND_H */
