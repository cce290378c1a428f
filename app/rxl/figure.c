/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded.h"
#include "figure.h"

/* figures/, see meson.build */
extern const struct embedded rxl_scripts[];

const struct rxl_figure_spec rxl_figures[RXL_FIGURES] = {
	{ "rates", "", "fec" },	   { "order", "", "order" },
	{ "fit", "8", "fit" },	   { "loss", "", "loss" },
	{ "coalescing", "", "loss" }, { "burst", "", "burst" },
};

const struct rxl_figure_spec *
rxl_figure_find(const char *name)
{
	for (size_t i = 0; i < RXL_FIGURES; i++)
		if (strcmp(name, rxl_figures[i].name) == 0 ||
		    (name[0] != '\0' &&
		     strcmp(name, rxl_figures[i].number) == 0))
			return &rxl_figures[i];
	return NULL;
}

static const char *
script_of(const char *name)
{
	char file[64];
	const struct embedded *e;

	snprintf(file, sizeof(file), "%s.gp", name);
	e = embedded_find(rxl_scripts, file);
	return e == NULL ? NULL : e->text;
}

static int
write_script(const char *name, const char *script, const char *path)
{
	FILE *out = fopen(path, "w");
	int ret = 0;

	if (out == NULL)
		return -errno;
	fprintf(out, "NAME = '%s'\n%s%s%s", name, script_of("style"), script,
		script_of("forms"));
	if (ferror(out))
		ret = -EIO;
	if (fclose(out) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

/** gnuplot in @p dir; its exit status, 127 where it is not there. */
static int
run_gnuplot(const char *dir, const char *script)
{
	const pid_t pid = fork();
	int status;

	if (pid < 0)
		return 126;
	if (pid == 0) {
		const int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
		    dup2(null, STDERR_FILENO) < 0 || chdir(dir) != 0)
			_exit(126);
		execlp("gnuplot", "gnuplot", script, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

int
rxl_figure_draw(const char *name, const char *script, const char *dir)
{
	char path[1024], file[64];
	int ret;

	if (script == NULL)
		script = script_of(name);
	if (script == NULL)
		return -ENOENT;
	snprintf(file, sizeof(file), "%s.gp", name);
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	ret = write_script(name, script, path);
	if (ret != 0)
		return ret;
	ret = run_gnuplot(dir, file);
	if (ret == 127)
		return 1;
	return ret == 0 ? 0 : -EIO;
}
