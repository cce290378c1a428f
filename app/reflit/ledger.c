/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger.h"
#include "rl_refuse.h"
#include "say_error.h"

#define LIVES_MAX 10000

/* @return whether a process that lives has it */
static bool
is_taken(const char *link)
{
	const int fd = open(link, O_RDONLY | O_CLOEXEC);
	bool taken;

	if (fd < 0)
		return false;
	taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return taken;
}

/* Renames the ledger that an earlier life left. */
static int
keep_earlier(const char *link)
{
	char kept[PATH_MAX + 16];
	struct stat st;

	if (lstat(link, &st) != 0)
		return 0;
	for (int i = 1; i < LIVES_MAX; i++) {
		snprintf(kept, sizeof(kept), "%s.%d", link, i);
		if (lstat(kept, &st) == 0)
			continue;
		if (rename(link, kept) != 0)
			return -errno;
		return say_error(0, "reflit: a process was killed before; its "
				 "ledger is %s, give it to reflit-report\n",
				 kept);
	}
	return -EEXIST;
}

/* More of the file, mapped; NULL with errno set. */
static void *
map_more(const struct ledger *l, size_t at, size_t bytes)
{
	void *p;

	if (ftruncate(l->fd, (off_t)(at + bytes)) != 0)
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_POPULATE, l->fd, (off_t)at);
	return p == MAP_FAILED ? NULL : p;
}

/* @return whether a ledger fits beside a report there */
static bool
is_file(const char *json)
{
	struct stat st;

	return strcmp(json, "-") != 0 &&
	       (stat(json, &st) != 0 || S_ISREG(st.st_mode));
}

int
ledger_open(struct ledger *l, const char *json, const char *process,
	    uint64_t digest, char *err, size_t err_bytes)
{
	int ret;

	*l = (struct ledger){ .fd = -1 };
	if (json == NULL || !is_file(json) ||
	    (size_t)snprintf(l->link, sizeof(l->link), "%s.ledger", json) >=
		    sizeof(l->link))
		return 0;
	if (is_taken(l->link))
		return rl_refuse(err, err_bytes, -EBUSY,
				 "reflit: --json %s: a process that runs "
				 "writes its report there", json);
	snprintf(l->path, sizeof(l->path), "/dev/shm/reflit-%s-XXXXXX",
		 process);
	l->fd = mkostemp(l->path, O_CLOEXEC);
	ret = l->fd < 0 || flock(l->fd, LOCK_EX | LOCK_NB) != 0
		      ? -errno
		      : keep_earlier(l->link);
	if (ret == 0) {
		l->head = map_more(l, 0, LEDGER_PAGE);
		ret = l->head == NULL || symlink(l->path, l->link) != 0 ? -errno
									: 0;
	}
	if (ret != 0) {
		fprintf(stderr, "reflit: %s: %s; if this process is killed, "
				"what it received can't be proven\n",
			l->link, strerror(-ret));
		l->link[0] = '\0';
		ledger_close(l);
		return 0;
	}
	snprintf(l->head->process, sizeof(l->head->process), "%s", process);
	l->head->entry_bytes = LEDGER_ENTRY_BYTES;
	l->head->digest = digest;
	memcpy(l->head->magic, LEDGER_MAGIC, sizeof(l->head->magic));
	return 0;
}

struct half *
ledger_half(struct ledger *l, const char *src, const char *dst)
{
	struct ledger_entry *e;

	if (l->fd < 0)
		return NULL;
	e = map_more(l,
		     LEDGER_PAGE +
			     (size_t)l->head->entries * LEDGER_ENTRY_BYTES,
		     LEDGER_ENTRY_BYTES);
	if (e == NULL)
		return NULL;
	snprintf(e->src, sizeof(e->src), "%s", src);
	snprintf(e->dst, sizeof(e->dst), "%s", dst);
	l->head->entries++;
	return &e->half;
}

void
ledger_close(struct ledger *l)
{
	if (l->fd < 0)
		return;
	/* entries stay mapped until the process ends, which is now */
	if (l->link[0] != '\0')
		(void)unlink(l->link);
	(void)unlink(l->path);
	close(l->fd);
	l->fd = -1;
}
