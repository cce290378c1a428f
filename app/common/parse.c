/* SPDX-License-Identifier: BSD-3-Clause */

#include "parse.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rl_base.h"

#define DIGITS "0123456789"

/*
 * How many characters of a decimal fraction @p text begins with; 0: none.
 * strtod() alone would take 0x10, nan and a sign.
 */
static size_t
decimal_len(const char *text)
{
	size_t n = strspn(text, DIGITS), digits = n, e;

	if (text[n] == '.') {
		const size_t more = strspn(text + n + 1, DIGITS);

		n += 1 + more;
		digits += more;
	}
	if (digits == 0)
		return 0;
	if (text[n] != 'e' && text[n] != 'E')
		return n;
	e = n + 1;
	e += text[e] == '+' || text[e] == '-';
	digits = strspn(text + e, DIGITS);
	return digits == 0 ? n : e + digits;
}

int
parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *v)
{
	unsigned long long n;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end != '\0')
		return -EINVAL;
	if (errno == ERANGE || n < min || n > max)
		return -ERANGE;
	*v = n;
	return 0;
}

static int
time_of(const char *text, bool plain, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} unit[] = {
		{ "ns", 1 },
		{ "us", RL_NS_PER_US },
		{ "ms", RL_NS_PER_MS },
		{ "s", RL_NS_PER_S },
		{ "", 1 },
	};
	const size_t len = decimal_len(text);
	double v;

	if (len == 0)
		return -EINVAL;
	v = strtod(text, NULL);
	for (size_t i = 0; i < RL_ARRAY_SIZE(unit) - !plain; i++) {
		if (strcmp(text + len, unit[i].name) != 0)
			continue;
		v *= (double)unit[i].ns;
		if (!(v <= 3600.0 * (double)RL_NS_PER_S))
			return -ERANGE;
		*ns = (uint64_t)(v + 0.5);
		return 0;
	}
	return -EINVAL;
}

int
parse_time(const char *text, uint64_t *ns)
{
	return time_of(text, false, ns);
}

int
parse_time_or_ns(const char *text, uint64_t *ns)
{
	return time_of(text, true, ns);
}

int
parse_rate(const char *text, double min, double max, double *v)
{
	const size_t len = decimal_len(text);

	if (len == 0 || text[len] != '\0')
		return -EINVAL;
	*v = strtod(text, NULL);
	return *v >= min && *v <= max ? 0 : -ERANGE;
}
