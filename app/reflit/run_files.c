/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "report_file.h"
#include "rl_driver.h"
#include "run_files.h"

#define NAME_MAX_BYTES 512

struct names {
	const char **name;
	unsigned int n;
};

struct run_files {
	struct names in;
	struct names out;
	char (*made)[NAME_MAX_BYTES]; /* names that are made here */
	unsigned int nmade;
};

static void
put(struct names *s, const char *name)
{
	if (name != NULL && name[0] != '\0')
		s->name[s->n++] = name;
}

/* Files of net_pcap; several ports may read one. */
static void
put_port(struct run_files *f, struct names *s, const char *args,
	 const char *key)
{
	char *path = f->made[f->nmade];

	if (!rl_devarg(args, key, path, NAME_MAX_BYTES))
		return;
	f->nmade++;
	put(s, path);
}

/* A file that is being written, by whatever name. */
static void
put_open(struct run_files *f, FILE *file)
{
	char *path = f->made[f->nmade++];

	snprintf(path, NAME_MAX_BYTES, "/proc/self/fd/%d", fileno(file));
	put(&f->out, path);
}

static void
put_all(struct run_files *f, const struct app *app)
{
	const struct rl_config *cfg = &app->cfg;
	const struct rl_channel *ch = &cfg->channel;

	put(&f->in, app->opt.config);
	for (uint32_t i = 0; i < cfg->nfiles; i++)
		put(&f->in, cfg->files[i]);
	put(&f->in, app->opt.cmdline_file);
	put(&f->in, app->script);
	put(&f->in, cfg->key_file);
	put(&f->in, ch->password_file);
	put(&f->in, ch->ca_file);
	put(&f->in, ch->cert_file);
	put(&f->in, ch->key_file);
	put(&f->out, app->opt.json);
	put(&f->out, app->opt.record);
	put(&f->out, app->opt.counts);
	for (int i = 1; i < app->opt.eal_argc; i++) {
		put_port(f, &f->in, app->opt.eal_argv[i], "rx_pcap");
		put_port(f, &f->out, app->opt.eal_argv[i], "tx_pcap");
	}
	for (unsigned int k = 0; k < CAPTURES_MAX; k++)
		if (app->captures.c[k] != NULL)
			put_open(f, app->captures.c[k]->file.f);
}

static void
forget(struct run_files *f)
{
	free(f->in.name);
	free(f->out.name);
	free(f->made);
}

static int
gather(struct run_files *f, const struct app *app)
{
	const size_t most = 16 + CAPTURES_MAX + app->cfg.nfiles +
			    (size_t)app->opt.eal_argc;

	*f = (struct run_files){
		.in.name = calloc(most, sizeof(*f->in.name)),
		.out.name = calloc(most, sizeof(*f->out.name)),
		.made = calloc(2 * most, sizeof(*f->made)),
	};
	if (f->in.name == NULL || f->out.name == NULL || f->made == NULL) {
		forget(f);
		return -ENOMEM;
	}
	put_all(f, app);
	return 0;
}

int
run_files_check(const struct app *app)
{
	struct run_files f;
	int ret = gather(&f, app);

	if (ret != 0)
		return ret;
	ret = report_apart("reflit", f.out.name, f.out.n, f.in.name, f.in.n);
	forget(&f);
	return ret;
}

int
run_files_may_write(struct app *app, const char *path)
{
	const char *why;
	struct run_files f;
	const int ret = gather(&f, app);

	if (ret != 0)
		return ret;
	why = report_clash(path, f.out.name, f.out.n, f.in.name, f.in.n);
	forget(&f);
	return why == NULL ? 0
			   : app_error(app, "cannot write %s: %s", path, why);
}
