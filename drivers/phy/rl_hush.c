/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rl_hush.h"

static bool is_off;
static bool has_first;
static char first[16384];

void
rl_hush_off(void)
{
	is_off = true;
}

/* Output is kept in memory: a writer never waits for a reader. */
void
rl_hush_begin(struct rl_hush *h)
{
	*h = (struct rl_hush){ -1, -1 };
	if (is_off)
		return;
	fflush(stderr);
	h->keep = memfd_create("said", MFD_CLOEXEC);
	if (h->keep < 0)
		return;
	h->save = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (h->save >= 0)
		(void)dup2(h->keep, STDERR_FILENO);
}

/* Skips "EAL: ", "libbpf: ", "function(): ", a program's path. */
static const char *
behind_speaker(const char *s, size_t *len)
{
	static const char *const speaker[] = {
		"EAL: ",    "FATAL: ", "libbpf: ",
		"libxdp: ", "Kernel error message: ",
	};

	for (size_t i = 0; i < sizeof(speaker) / sizeof(speaker[0]); i++) {
		const size_t n = strlen(speaker[i]);

		if (*len > n && strncmp(s, speaker[i], n) == 0) {
			s += n;
			*len -= n;
		}
	}
	for (size_t i = 0; i + 2 < *len; i++) {
		if (s[i] == ':' && s[i + 1] == ' ' &&
		    (s[0] == '/' || s[0] == '.' ||
		     (i > 1 && s[i - 1] == ')'))) {
			s += i + 2;
			*len -= i + 2;
			break;
		}
		if (isspace((unsigned char)s[i]))
			break;
	}
	return s;
}

/* Messages of a library about itself. */
static bool
says_nothing(const char *s, size_t len)
{
	static const char *const of[] = { "libbpf: elf: ", "EAL: Detected" };
	/* of ports that start anyway */
	static const char *const harmless[] = { "mp action callback",
						"tap_nl_dump_ext_ack", "qdisc",
						"Disabling rte flow" };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (len >= strlen(of[i]) &&
		    strncmp(s, of[i], strlen(of[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (memmem(s, len, harmless[i], strlen(harmless[i])) != NULL)
			return true;
	return len == 0;
}

static void
first_line(const char *text, char *line)
{
	for (const char *s = text; *s != '\0';) {
		size_t len = strcspn(s, "\n");
		const char *next = s + len + (s[len] == '\n');

		if (!says_nothing(s, len)) {
			s = behind_speaker(s, &len);
			while (len > 0 && (s[len - 1] == '.' ||
					   s[len - 1] == '!'))
				len--;
			snprintf(line, RL_HUSH_LINE, " (%.*s)",
				 (int)(len < RL_HUSH_LINE - 4
					       ? len
					       : RL_HUSH_LINE - 4),
				 s);
			return;
		}
		s = next;
	}
}

const char *
rl_hush_end(struct rl_hush *h, char *line)
{
	char text[sizeof(first)];
	ssize_t n;

	line[0] = text[0] = '\0';
	if (h->save >= 0) {
		fflush(stderr);
		(void)dup2(h->save, STDERR_FILENO);
		close(h->save);
		n = pread(h->keep, text, sizeof(text) - 1, 0);
		text[n < 0 ? 0 : n] = '\0';
		first_line(text, line);
	}
	if (h->keep >= 0)
		close(h->keep);
	if (!has_first)
		memcpy(first, text, sizeof(first));
	has_first = true;
	return line;
}

/*
 * The bus names a port after its driver's messages, and after those of earlier
 * ports.
 */
char *
rl_hush_why(const char *port, char *line)
{
	static const char fails[] = "failed to initialize ";
	const char *from = first, *at;
	char text[sizeof(first)], of[128];

	line[0] = '\0';
	snprintf(of, sizeof(of), "%s%s device", fails, port);
	at = strstr(first, of);
	if (at == NULL)
		return line;
	for (const char *s = first; (s = strstr(s, fails)) != NULL && s < at;)
		from = s += strcspn(s, "\n");
	snprintf(text, sizeof(text), "%.*s", (int)(at - from), from);
	first_line(text, line);
	return line;
}
