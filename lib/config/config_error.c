/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of a configuration: one line each, with file and line. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "config_impl.h"

struct cfg_pos
cfg_where(const struct cfg_ctx *c, uint32_t text_line)
{
	if (text_line == 0 || c->npos == 0)
		return (struct cfg_pos){0, 0};
	/* an error at the end of the text is in its last line */
	return c->pos[rl_min_u32(text_line, c->npos) - 1];
}

void
cfg_note(const struct cfg_ctx *c, const config_setting_t *s, uint32_t *line,
	 const char **file)
{
	const struct cfg_pos at = cfg_where(c, config_setting_source_line(s));

	*line = at.line;
	*file = c->file[at.file];
}

static int cfg_verror(struct cfg_ctx *c, struct cfg_pos at, const char *fmt,
		      va_list ap) __attribute__((format(printf, 3, 0)));

/* A file may contain anything; an error stays one line. */
static int
cfg_verror(struct cfg_ctx *c, struct cfg_pos at, const char *fmt, va_list ap)
{
	int n = snprintf(c->err, c->errlen, "%.400s:%u: ",
			 at.file < c->nfile ? c->file[at.file] : "?", at.line);

	if (n >= 0 && (size_t)n < c->errlen)
		vsnprintf(c->err + n, c->errlen - (size_t)n, fmt, ap);
	for (char *p = c->err; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return -EINVAL;
}

int
cfg_error(struct cfg_ctx *c, uint32_t file, uint32_t line, const char *fmt, ...)
{
	const struct cfg_pos at = {file, line};
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = cfg_verror(c, at, fmt, ap);
	va_end(ap);
	return ret;
}

int
cfg_error_line(struct cfg_ctx *c, uint32_t text_line, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = cfg_verror(c, cfg_where(c, text_line), fmt, ap);
	va_end(ap);
	return ret;
}

int
cfg_error_at(struct cfg_ctx *c, const config_setting_t *s, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = cfg_verror(c, cfg_where(c, config_setting_source_line(s)), fmt,
			 ap);
	va_end(ap);
	return ret;
}

int
cfg_error_mem(struct cfg_ctx *c)
{
	cfg_error(c, 0, 0, "no memory to read it; make it smaller");
	return -ENOMEM;
}
