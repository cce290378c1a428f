/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suites `load` and `recovery` are runs of reflit-sim, which a program in Python
 * (driver/) starts and sums up. It prints its tables itself, and answers with the
 * figures.
 */

#include <errno.h>

#include "bench.h"
#include "driver.h"
#include "rl_config.h"
#include "say_error.h"

#define WHO "reflit-bench"
#define LOAD_FLITS 8u /* of a packet, or as many as the fabric file allows */

/* What the driver is told of the fabric file of --config. */
struct fabric {
	uint32_t packet_flits;
	uint32_t group; /* endpoints of a group, which follow each other; or 0 */
};

static int
run(const char *suite, const struct bench_opts *o, const struct fabric *f,
    json_t *out)
{
	/* by the exit status of the driver */
	static const int errors[] = { 0, -EBADMSG, -EINVAL, -EHOSTUNREACH };
	json_t *figures, *question = json_pack(
		"{s:s,s:s?,s:s,s:I,s:i,s:b,s:i,s:i}", "suite", suite, "config",
		o->config, "row", o->row == NULL ? "" : o->row, "seed",
		(json_int_t)o->seed, "reps", (int)o->reps, "quick", o->quick,
		"packet_flits", (int)f->packet_flits, "group", (int)f->group);
	const int status = driver_ask(WHO, "bench", BENCH_INSTALLED, "suite.py",
				      NULL, 0, question, &figures);

	json_object_update(out, figures);
	json_decref(figures);
	json_decref(question);
	return status >= 0 && status < (int)RL_ARRAY_SIZE(errors)
		       ? errors[status]
		       : -EIO;
}

/* Two endpoints are to send to one, and two beside them. */
static int
read_fabric(const char *path, struct fabric *f)
{
	char err[RL_ERR_MAX + 512];
	struct rl_config cfg;
	const struct rl_topo_spec *spec = &cfg.topo.spec;
	int ret = 0;

	if (rl_config_read(path, &cfg, err, sizeof(err)) != 0)
		return say_error(-EINVAL, WHO ": %s\n", err);
	f->packet_flits =
		rl_min_u32(f->packet_flits, cfg.link.max_packet_flits);
	if (spec->kind == RL_TOPO_DRAGONFLY)
		f->group = (uint32_t)spec->a * spec->hosts_per_switch;
	if (cfg.topo.nep < 5) {
		fprintf(stderr, WHO ": load: %s has less than five endpoints\n",
			path);
		ret = -EINVAL;
	}
	rl_config_free(&cfg);
	return ret;
}

int
bench_load(const struct bench_opts *o, json_t *out, RL_UNUSED FILE *human)
{
	struct fabric f = { .packet_flits = LOAD_FLITS };
	const int ret = o->config == NULL ? 0 : read_fabric(o->config, &f);

	return ret != 0 ? ret : run("load", o, &f, out);
}

int
bench_recovery(const struct bench_opts *o, json_t *out, RL_UNUSED FILE *human)
{
	return run("recovery", o, &(struct fabric){ 0 }, out);
}
