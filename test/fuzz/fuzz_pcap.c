/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures of any bytes as traffic [APP-4]: complete frames are kept unchanged,
 * frames that are too long are counted, a truncated file is reported, and other
 * files are refused with one line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_main.h"
#include "sim_app.h"

const char *const fuzz_words[] = {
	"\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1",
	"\x0a\x0d\x0d\x0a", "\x1a\x2b\x3c\x4d", "\x02", "\x04", "\x01",
	"\xff\xff\xff\xff", "\xff\xff", "\x40", "\x3c",
};
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

static void
put32(uint8_t *to, uint32_t v)
{
	memcpy(to, &v, sizeof(v));
}

/* A capture of i + 1 frames; the last is truncated if i is odd. */
size_t
fuzz_seed(unsigned int i, uint8_t *to, size_t room)
{
	size_t at = 24;

	if (i >= 6 || room < 4096)
		return 0;
	memset(to, 0, at);
	put32(to, i == 5 ? 0xa1b23c4d : 0xa1b2c3d4);
	to[4] = 2;
	to[6] = 4;
	put32(to + 16, 65535);
	to[20] = 1;
	for (unsigned int k = 0; k <= i; k++) {
		const uint32_t len = 60 + 97 * k;

		memset(to + at, 0, 16);
		put32(to + at + 8, len);
		put32(to + at + 12, len);
		memset(to + at + 16, (int)k, len);
		at += 16 + len;
	}
	return i % 2 == 1 ? at - 30 : at;
}

static void
check_frames(const struct setup *s, size_t size)
{
	const uint32_t max = rl_ep_max_bytes(&s->plan.cfg.endpoint);

	RL_ASSERT(s->trace.n > 0 && s->trace.off[0] == 0);
	for (uint32_t i = 0; i < s->trace.n; i++) {
		RL_ASSERT(s->trace.off[i] <= s->trace.off[i + 1]);
		RL_ASSERT(s->trace.off[i + 1] - s->trace.off[i] <= max);
	}
	RL_ASSERT(s->trace.off[s->trace.n] <= size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = "fabric: { topology = \"torus\"; "
				   "dims = [2]; };\n";
	static struct setup s;
	char path[32], err[RL_ERR_MAX + 512];
	int fd = memfd_create("fuzz", 0), ret;

	RL_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	memset(&s, 0, sizeof(s));
	if (rl_config_read_text("text", text, sizeof(text) - 1, &s.plan.cfg,
				err, sizeof(err)) != 0)
		RL_ASSERT(!"the fabric is not taken");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memset(err, 0xff, sizeof(err));
	ret = trace_read(&s, path, err, sizeof(err));
	if (ret == 0) {
		check_frames(&s, size);
	} else {
		RL_ASSERT(memchr(err, '\0', sizeof(err)) != NULL);
		RL_ASSERT(strncmp(err, path, strlen(path)) == 0);
		for (const char *p = err; *p != '\0'; p++)
			RL_ASSERT((unsigned char)*p >= ' ');
	}
	free(s.trace_bytes);
	free(s.trace_off);
	rl_config_free(&s.plan.cfg);
	close(fd);
	return 0;
}
