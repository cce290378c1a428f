/* SPDX-License-Identifier: BSD-3-Clause */

#include "revision.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report_file.h"
#include "say_error.h"

#define MAGIC "{\"reflit_store\":1,"
#define SEEDS_DEFAULT 10000
#define BLOCK_DEFAULT 100
#define SEEDS_MOST (UINT64_C(1) << 40) /* so that sums cannot overflow */

static int
bad(const struct store *s, uint64_t line, const char *why)
{
	if (line == 0)
		fprintf(stderr, "reflit-sim: %s: %s\n", s->path, why);
	else
		fprintf(stderr, "reflit-sim: %s:%" PRIu64 ": %s\n", s->path,
			line, why);
	return -EINVAL;
}

static int
set_blocks(struct store *s)
{
	s->blocks = s->of.seeds / s->block + (s->of.seeds % s->block != 0);
	s->line = calloc(s->blocks, sizeof(*s->line));
	return s->line == NULL ? bad(s, 0, strerror(ENOMEM)) : 0;
}

static int
head_text(const struct store *s, char *buf, size_t len)
{
	return snprintf(buf, len, MAGIC "\"version\":\"" RL_VERSION "\","
			"\"revision\":\"" REVISION "\",\"first_seed\":%" PRIu64
			",\"seeds\":%" PRIu64 ",\"block\":%" PRIu64
			",\"settings\":\"%016" PRIx64 "\"}\n",
			s->of.first_seed, s->of.seeds, s->block,
			s->of.settings);
}

/* A seed is the same run only for the same sources. */
static int
check_sources(const struct store *s, const char *version, const char *revision)
{
	if (strcmp(version, RL_VERSION) == 0 &&
	    strcmp(revision, REVISION) == 0)
		return 0;
	return say_error(-EINVAL, "reflit-sim: %s:1: of reflit-sim %s, "
			 "revision %s; this is %s, revision %s\n", s->path,
			 version, revision, RL_VERSION, REVISION);
}

static int
read_head(struct store *s, const char *text)
{
	const char *settings, *version, *revision = "unknown";
	json_int_t first, seeds, block;
	json_t *o = json_loads(text, 0, NULL);
	int ret = 0;

	if (json_unpack(o, "{s:s, s?s, s:I, s:I, s:I, s:s}", "version",
			&version, "revision", &revision, "first_seed", &first,
			"seeds", &seeds, "block", &block, "settings",
			&settings) != 0 ||
	    seeds < 1 || (uint64_t)seeds > SEEDS_MOST || block < 1)
		ret = bad(s, 1, "the head of a store is corrupt");
	else
		ret = check_sources(s, version, revision);
	if (ret == 0) {
		s->of = (struct tally_of){ (uint64_t)first, (uint64_t)seeds,
					   strtoull(settings, NULL, 16) };
		s->block = (uint64_t)block;
		ret = set_blocks(s);
	}
	json_decref(o);
	return ret;
}

/* The sums of a block's line. @return as tally_read() */
static int
read_sums(const char *text, struct tally *t, char *why)
{
	json_t *o = json_loads(text, 0, NULL);
	int ret = -EINVAL;

	if (o != NULL)
		ret = tally_read(t, json_object_get(o, "result"), why);
	else
		snprintf(why, RL_ERR_MAX, "no result of a block");
	json_decref(o);
	return ret;
}

static int
read_block(struct store *s, const char *text, uint64_t line)
{
	char why[RL_ERR_MAX];
	struct tally t;
	uint64_t block;
	int used = 0;

	if (sscanf(text, "{\"block\":%" SCNu64 ",%n", &block, &used) != 1 ||
	    used == 0 || block >= s->blocks || text[strlen(text) - 1] != '}')
		return bad(s, line, "no result of a block");
	if (s->line[block] != NULL)
		return strcmp(s->line[block], text) == 0
			       ? 0
			       : bad(s, line, "another result of the same "
					      "seeds: one of them is corrupt");
	if (read_sums(text, &t, why) != 0)
		return bad(s, line, why);
	tally_free(&t);
	s->line[block] = strdup(text);
	s->done += s->line[block] != NULL;
	return s->line[block] == NULL ? bad(s, 0, strerror(ENOMEM)) : 0;
}

/* @return where the last whole line ends; -EINVAL */
static off_t
read_lines(struct store *s, FILE *f)
{
	char *text = NULL;
	size_t cap = 0;
	uint64_t line = 0;
	off_t end = 0;
	ssize_t n = 0;
	int ret = 0;

	while (ret == 0 && (n = getline(&text, &cap, f)) > 0) {
		if (text[n - 1] != '\n') { /* its writer was killed */
			if (line == 0 &&
			    strncmp(text, MAGIC, strnlen(text, sizeof(MAGIC) -
								    1)) != 0)
				ret = bad(s, 0, "not the store of a campaign");
			break;
		}
		end += n;
		text[n - 1] = '\0';
		line++;
		if (line == 1 && strncmp(text, MAGIC, sizeof(MAGIC) - 1) != 0)
			ret = bad(s, 0, "not the store of a campaign");
		else
			ret = line == 1 ? read_head(s, text)
					: read_block(s, text, line);
	}
	/* what could not be read must not be cut off */
	if (ret == 0 && n < 0 && !feof(f))
		ret = bad(s, 0, strerror(errno));
	free(text);
	return ret != 0 ? ret : end;
}

int
store_read(struct store *s, const char *path)
{
	FILE *f = fopen(path, "r");
	off_t end;

	*s = (struct store){ .path = path, .fd = -1 };
	if (f == NULL)
		return bad(s, 0, strerror(errno));
	end = read_lines(s, f);
	fclose(f);
	if (end > 0)
		return 0;
	if (end == 0)
		bad(s, 0, "an empty store");
	store_close(s);
	return -EINVAL;
}

/* Only one writer. The lock ends with the process, whatever ends it. */
static int
lock(struct store *s)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	s->fd = open(s->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (s->fd < 0)
		return bad(s, 0, strerror(errno));
	if (fcntl(s->fd, F_SETLK, &all) == 0)
		return 0;
	return bad(s, 0, errno == EAGAIN || errno == EACCES
			 ? "another campaign writes to it; give each a store "
			   "of its own, and merge them"
			 : strerror(errno));
}

static int
begin(struct store *s, const struct tally_of *of, uint64_t block)
{
	char text[512];
	int n;

	s->of = *of;
	s->block = block == 0 ? BLOCK_DEFAULT : block;
	n = head_text(s, text, sizeof(text));
	if (of->seeds > SEEDS_MOST)
		return bad(s, 0, "too many seeds");
	if (of->first_seed > INT64_MAX - (of->seeds - 1))
		return bad(s, 0, "--seeds: that is beyond the last seed");
	if (ftruncate(s->fd, 0) != 0 || write(s->fd, text, (size_t)n) != n)
		return bad(s, 0, strerror(errno));
	return set_blocks(s);
}

static int
go_on(struct store *s, const struct tally_of *of, uint64_t block, off_t end)
{
	if (s->of.settings != of->settings)
		return bad(s, 0, "of a campaign with other settings, or other "
				 "content in the fabric file or fault file");
	if (s->of.first_seed != of->first_seed ||
	    (of->seeds != 0 && of->seeds != s->of.seeds))
		return bad(s, 0, "of a campaign with other seeds");
	if (block != 0 && block != s->block)
		return bad(s, 0, "of a campaign with other blocks");
	return ftruncate(s->fd, end) == 0 ? 0 : bad(s, 0, strerror(errno));
}

int
store_open(struct store *s, const char *path, const struct tally_of *of,
	   uint64_t block)
{
	struct tally_of all = *of;
	off_t end = -1;
	FILE *f = NULL;
	int ret;

	*s = (struct store){ .path = path, .fd = -1 };
	ret = lock(s);
	/* through the same file: to close another one would end the lock */
	if (ret == 0 && (f = fdopen(dup(s->fd), "r")) == NULL)
		ret = bad(s, 0, strerror(errno));
	if (ret == 0)
		end = read_lines(s, f);
	if (end == 0) {
		all.seeds = all.seeds == 0 ? SEEDS_DEFAULT : all.seeds;
		ret = begin(s, &all, block);
	} else if (end > 0) {
		ret = go_on(s, &all, block, end);
	}
	s->copy = f;
	if (ret == 0 && end >= 0)
		return 0;
	store_close(s);
	return -EINVAL;
}

int
store_add(struct store *s, uint64_t block, const struct tally *t, uint64_t hash)
{
	json_t *result = tally_json(t);
	char *text = json_dumps(result, JSON_COMPACT);
	char *line = NULL;
	ssize_t put;
	int n = -1, ret;

	json_decref(result);
	if (text != NULL)
		n = asprintf(&line, "{\"block\":%" PRIu64 ",\"hash\":\"%016"
			     PRIx64 "\",\"result\":%s}\n", block, hash, text);
	free(text);
	if (n < 0)
		return -ENOMEM;
	put = write(s->fd, line, (size_t)n);
	if (put != n) { /* the next writer takes a part of it away */
		ret = put < 0 ? -errno : -ENOSPC;
		free(line);
		return ret;
	}
	line[n - 1] = '\0';
	s->line[block] = line;
	s->done++;
	return 0;
}

int
store_merge(struct store *to, const struct store *from)
{
	if (from->of.settings != to->of.settings ||
	    from->of.first_seed != to->of.first_seed ||
	    from->of.seeds != to->of.seeds || from->block != to->block)
		return bad(from, 0, "of another campaign than the first file");
	for (uint64_t b = 0; b < from->blocks; b++) {
		if (from->line[b] == NULL)
			continue;
		if (to->line[b] != NULL &&
		    strcmp(to->line[b], from->line[b]) != 0)
			return bad(from, 0, "another result of the same seeds "
					    "than an earlier file: one of them "
					    "is corrupt");
		if (to->line[b] == NULL) {
			to->line[b] = strdup(from->line[b]);
			to->done++;
		}
		if (to->line[b] == NULL)
			return bad(from, 0, strerror(ENOMEM));
	}
	return 0;
}

int
store_sum(const struct store *s, struct tally *t)
{
	char why[RL_ERR_MAX];
	int ret = 0;

	tally_init(t, &s->of);
	for (uint64_t b = 0; b < s->blocks && ret == 0; b++) {
		struct tally part;

		if (s->line[b] == NULL)
			continue;
		ret = read_sums(s->line[b], &part, why);
		if (ret != 0) {
			bad(s, 0, why);
			break;
		}
		tally_merge(t, &part);
		tally_free(&part);
	}
	if (ret != 0)
		tally_free(t);
	return ret;
}

int
store_write(const struct store *s, const char *path)
{
	FILE *f = report_open(path);
	char head[512];

	if (f != NULL) {
		head_text(s, head, sizeof(head));
		fputs(head, f);
		for (uint64_t b = 0; b < s->blocks; b++)
			if (s->line[b] != NULL)
				fprintf(f, "%s\n", s->line[b]);
		if (report_close(f) == 0)
			return 0;
	}
	return say_error(-EIO, "reflit-sim: %s: %s\n", path, strerror(errno));
}

void
store_close(struct store *s)
{
	for (uint64_t b = 0; s->line != NULL && b < s->blocks; b++)
		free(s->line[b]);
	free(s->line);
	if (s->copy != NULL)
		fclose(s->copy);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct store){ .fd = -1 };
}
