/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers the text that libconfig will parse. By itself, libconfig 1.5
 *   - wraps a number beyond 32 bits round unless an L follows it, so that
 *     `watchdog_ns = 5000000000` would become 0.7 s;
 *   - treats a comment or an @include that isn't closed as the end of the file;
 *   - stops at a zero byte as if the file ended there;
 *   - ends the program if a directory is included;
 *   - finds a syntax error in a comment that ends with the file;
 *   - looks for included files in the working directory;
 *   - treats [1, 5000000000] as an array of mixed types.
 * libconfig 1.7 reads 017 as octal, 1.5 does not. So this file scans the text
 * once: included files are inserted (their paths are relative to the file that
 * names them), large numbers get their L, as do all numbers of such an array,
 * and a comment or string that is still open at the end is an error at the line
 * where it was opened, as is a number that begins with 0. A table remembers the
 * origin of each line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config_impl.h"
#include "rl_grow.h"
#include "rl_infile.h"
#include "rl_refuse.h"

struct walk {
	uint32_t file;
	uint32_t line;
	const char *p;
	const char *end;
};

static int text_walk(struct cfg_ctx *c, uint32_t file, const char *text,
		     size_t len);

static int
text_put(struct cfg_ctx *c, const char *s, size_t n)
{
	if (c->len + n + 1 > c->cap) {
		const size_t cap = (c->len + n + 1) * 2;
		char *text = realloc(c->text, cap);

		if (text == NULL)
			return cfg_error_mem(c);
		c->text = text;
		c->cap = cap;
	}
	memcpy(c->text + c->len, s, n);
	c->len += n;
	c->text[c->len] = '\0';
	return 0;
}

static int
text_mark(struct cfg_ctx *c, uint32_t file, uint32_t line)
{
	if (!rl_grow(&c->pos, c->npos, &c->cap_pos, sizeof(*c->pos)))
		return cfg_error_mem(c);
	c->pos[c->npos++] = (struct cfg_pos){file, line};
	return 0;
}

static int
walk_copy(struct cfg_ctx *c, struct walk *w, size_t n)
{
	int ret = text_put(c, w->p, n);

	for (size_t i = 0; i < n && ret == 0; i++)
		if (w->p[i] == '\n')
			ret = text_mark(c, w->file, ++w->line);
	w->p += n;
	return ret;
}

/*
 * Copies up to and including its terminator; a file may end before a newline.
 */
static int
walk_copy_to(struct cfg_ctx *c, struct walk *w, size_t skip, const char *until,
	     const char *what)
{
	const size_t left = (size_t)(w->end - w->p) - skip;
	const char *at = memmem(w->p + skip, left, until, strlen(until));

	if (at != NULL)
		return walk_copy(c, w, (size_t)(at - w->p) + strlen(until));
	if (what == NULL)
		return walk_copy(c, w, skip + left);
	return cfg_error(c, w->file, w->line,
			 "this %s has no end; close it with %s", what, until);
}

static int
walk_string(struct cfg_ctx *c, struct walk *w)
{
	const char *p = w->p + 1;

	while (p < w->end && *p != '"')
		p += *p == '\\' && p + 1 < w->end ? 2 : 1;
	if (p >= w->end)
		return cfg_error(c, w->file, w->line,
				 "this string has no end; close it with \"");
	return walk_copy(c, w, (size_t)(p - w->p) + 1);
}

/* Copies a number, with an L if it needs more than 32 bits. */
static int
walk_number(struct cfg_ctx *c, struct walk *w)
{
	char word[32];
	const char *p = w->p, *digits;
	bool hex, minus;
	long long v;
	int ret;

	minus = *p == '-';
	p += *p == '-' || *p == '+';
	hex = !minus && p + 2 < w->end && p[0] == '0' && (p[1] | 32) == 'x';
	p += hex ? 2 : 0;
	digits = p;
	while (p < w->end && (hex ? isxdigit((unsigned char)*p) :
				    isdigit((unsigned char)*p)))
		p++;
	if (!hex && p < w->end && (*p == '.' || *p == 'e' || *p == 'E')) {
		while (p < w->end && (isalnum((unsigned char)*p) ||
				      *p == '.' || *p == '+' || *p == '-'))
			p++;
		return walk_copy(c, w, (size_t)(p - w->p));
	}
	if (!hex && p - digits > 1 && *digits == '0')
		return cfg_error(c, w->file, w->line,
				 "the number %.*s begins with 0, which may mean "
				 "octal; write it without", (int)rl_min_u64(
				 (uint64_t)(p - w->p), sizeof(word) - 1), w->p);
	snprintf(word, sizeof(word), "%.*s", (int)rl_min_u64(
			(uint64_t)(p - w->p), sizeof(word) - 1), w->p);
	errno = 0;
	v = strtoll(word, NULL, hex ? 16 : 10);
	if (errno != 0 || (size_t)(p - w->p) >= sizeof(word))
		return cfg_error(c, w->file, w->line,
				 "the number %s... has more than 64 bits; "
				 "write a smaller one", word);
	ret = walk_copy(c, w, (size_t)(p - w->p));
	if (ret == 0 &&
	    (c->array || v > INT32_MAX || v < INT32_MIN) &&
	    (w->p == w->end || *w->p != 'L'))
		ret = text_put(c, "L", 1);
	return ret;
}

/* Whether p is at an "@include" at the start of a line. */
static bool
walk_at_include(const struct walk *w, const char *begin)
{
	static const char word[] = "@include";
	const char *p = w->p;

	if ((size_t)(w->end - p) < sizeof(word) - 1 ||
	    memcmp(p, word, sizeof(word) - 1) != 0)
		return false;
	while (p > begin && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	return p == begin || p[-1] == '\n';
}

static const char *
why_unreadable(int err)
{
	return err == -EFBIG ? "it is longer than 16 MiB" :
			       rl_infile_error(err);
}

/* Adds the name of a file; the context owns the copy. */
static int
add_file(struct cfg_ctx *c, const char *name)
{
	char **file = realloc(c->file, (c->nfile + 1) * sizeof(*file));

	if (file == NULL)
		return cfg_error_mem(c);
	c->file = file;
	file[c->nfile] = strdup(name);
	if (file[c->nfile] == NULL)
		return cfg_error_mem(c);
	c->nfile++;
	return 0;
}

static int
include_file(struct cfg_ctx *c, const struct walk *w, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	int ret;

	if (c->depth == CFG_DEPTH_MAX)
		return cfg_error(c, w->file, w->line,
				 "files include each other more than %d deep; "
				 "does one include itself?", CFG_DEPTH_MAX);
	if (c->nfile > CFG_INCLUDES_MAX)
		return cfg_error(c, w->file, w->line,
				 "more than %d files are included; put some "
				 "of them together", CFG_INCLUDES_MAX);
	ret = rl_infile_read(path, RL_INFILE_PLAIN, CFG_TEXT_MAX, &text, &len);
	if (ret != 0)
		return cfg_error(c, w->file, w->line,
				 "cannot include %s: %s; names are relative to "
				 "the file that includes", path,
				 why_unreadable(ret));
	ret = add_file(c, path);
	if (ret == 0) {
		c->pos[c->npos - 1] = (struct cfg_pos){c->nfile - 1, 1};
		c->depth++;
		ret = text_walk(c, c->nfile - 1, text, len);
		c->depth--;
	}
	free(text);
	if (ret == 0 && c->len > 0 && c->text[c->len - 1] != '\n') {
		ret = text_put(c, "\n", 1);
		if (ret == 0)
			ret = text_mark(c, w->file, w->line);
	}
	if (ret == 0)
		c->pos[c->npos - 1] = (struct cfg_pos){w->file, w->line};
	return ret;
}

bool
cfg_path_beside(const char *parent, const char *name, size_t len, char path[4096])
{
	const char *slash = strrchr(parent, '/');
	const int n = *name == '/' || slash == NULL ?
			      snprintf(path, 4096, "%.*s", (int)len, name) :
			      snprintf(path, 4096, "%.*s/%.*s",
				       (int)(slash - parent), parent, (int)len,
				       name);

	return n < 4096;
}

static int
walk_include(struct cfg_ctx *c, struct walk *w)
{
	const char *p = w->p + strlen("@include");
	const char *name, *close_;
	char path[4096];

	while (p < w->end && (*p == ' ' || *p == '\t'))
		p++;
	name = p + 1;
	close_ = p < w->end && *p == '"' ?
			 memchr(name, '"', (size_t)(w->end - name)) :
			 NULL;
	if (close_ == NULL || memchr(name, '\n', (size_t)(close_ - name)))
		return cfg_error(c, w->file, w->line,
				 "@include names no file; write @include "
				 "\"FILE\"");
	if (!cfg_path_beside(c->file[w->file], name, (size_t)(close_ - name), path))
		return cfg_error(c, w->file, w->line,
				 "the name after @include is too long; use a "
				 "shorter one");
	w->p = close_ + 1;
	return include_file(c, w, path);
}

static int
walk_name(struct cfg_ctx *c, struct walk *w)
{
	const char *p = w->p;

	while (p < w->end && (isalnum((unsigned char)*p) || *p == '-' ||
			      *p == '_' || *p == '*'))
		p++;
	return walk_copy(c, w, (size_t)(p - w->p));
}

static int
walk_step(struct cfg_ctx *c, struct walk *w, const char *begin)
{
	const char a = w->p[0];
	const char b = w->p + 1 < w->end ? w->p[1] : '\0';

	if (a == '\0')
		return cfg_error(c, w->file, w->line,
				 "a zero byte; a fabric file is plain text");
	if (a == '#' || (a == '/' && b == '/'))
		return walk_copy_to(c, w, 1, "\n", NULL);
	if (a == '/' && b == '*')
		return walk_copy_to(c, w, 2, "*/", "comment");
	if (a == '"')
		return walk_string(c, w);
	if (a == '[' || a == ']')
		c->array = a == '[';
	if (a == '@' && walk_at_include(w, begin))
		return walk_include(c, w);
	if (isalpha((unsigned char)a) || a == '*')
		return walk_name(c, w);
	if (isdigit((unsigned char)a) ||
	    ((a == '-' || a == '+') && isdigit((unsigned char)b)))
		return walk_number(c, w);
	if (a == '.') { /* its digits are not a whole number */
		size_t n = 1;

		while (w->p + n < w->end && isdigit((unsigned char)w->p[n]))
			n++;
		return walk_copy(c, w, n);
	}
	return walk_copy(c, w, 1);
}

static int
text_walk(struct cfg_ctx *c, uint32_t file, const char *text, size_t len)
{
	struct walk w = {file, 1, text, text + len};
	int ret = 0;

	while (w.p < w.end && ret == 0) {
		ret = walk_step(c, &w, text);
		if (ret == 0 && c->len > CFG_TEXT_MAX)
			ret = cfg_error(c, w.file, w.line,
					"the text is longer than 16 MiB; make "
					"it shorter");
	}
	return ret;
}

int
cfg_text_memory(struct cfg_ctx *c, const char *name, const char *text,
		size_t len)
{
	int ret = add_file(c, name);

	if (ret == 0)
		ret = text_mark(c, 0, 1);
	if (ret == 0)
		ret = text_walk(c, 0, text, len);
	/* libconfig requires a newline after a comment */
	if (ret == 0 && (c->len == 0 || c->text[c->len - 1] != '\n'))
		ret = text_put(c, "\n", 1);
	return ret;
}

int
cfg_text_file(struct cfg_ctx *c, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	int ret;

	if (path[0] == '\0')
		return rl_refuse(c->err, c->errlen, -ENOENT,
				 "the name of the fabric file is empty; give "
				 "one");
	ret = rl_infile_read(path, RL_INFILE_ANY, CFG_TEXT_MAX, &text, &len);
	if (ret != 0)
		return rl_refuse(c->err, c->errlen, ret, "%.400s: cannot read "
				 "the file: %s; check its name", path,
				 why_unreadable(ret));
	ret = cfg_text_memory(c, path, text, len);
	free(text);
	return ret;
}

int
cfg_text_other(struct cfg_ctx *c, const config_setting_t *s, char **text,
	       size_t *len, uint32_t *file)
{
	const char *name = config_setting_get_string(s);
	const struct cfg_pos at = cfg_where(c, config_setting_source_line(s));
	char path[4096];
	int ret;

	if (!cfg_path_beside(c->file[at.file], name, strlen(name), path))
		return cfg_error_at(c, s, "the name of this file is too long; "
					  "use a shorter one");
	ret = rl_infile_read(path, RL_INFILE_PLAIN, CFG_OTHER_MAX, text, len);
	if (ret != 0) {
		cfg_error_at(c, s, "cannot read %s: %s; names are relative to "
			     "the file that holds them", path,
			     why_unreadable(ret));
		return -EINVAL;
	}
	*file = c->nfile;
	ret = add_file(c, path);
	if (ret != 0)
		free(*text);
	return ret;
}

void
cfg_text_free(struct cfg_ctx *c)
{
	free(c->pos);
	free(c->text);
	c->pos = NULL;
	c->text = NULL;
}
