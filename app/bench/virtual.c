/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Suites `load` and `recovery` are runs of reflit-sim, which a program in Python
 * (driver/) starts and sums up. It prints its tables itself, and answers with the
 * figures.
 */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "driver.h"
#include "rl_config.h"
#include "say_error.h"
#include "stop_signal.h"

#define WHO "reflit-bench"
#define LOAD_FLITS 8u /* of a packet, or as many as the fabric file allows */

/* What the driver is told of the fabric file of --config. */
struct fabric {
	uint32_t packet_flits;
	uint32_t group; /* endpoints of a group, which follow each other; or 0 */
};

/* A signal for this process ends the driver after its next run. */
static int
wait_for(pid_t child)
{
	int status = 0, ret = 0;

	stop_interrupts(true);
	while (waitpid(child, &status, 0) < 0 && ret == 0) {
		if (errno != EINTR)
			ret = -errno;
		else
			kill(child, SIGTERM);
	}
	stop_interrupts(false);
	if (ret != 0)
		return ret;
	switch (WIFEXITED(status) ? WEXITSTATUS(status) : -1) {
	case 0:
		return 0;
	case 1:
		return -EBADMSG;
	case 2:
		return -EINVAL;
	case 3:
		return -EHOSTUNREACH;
	default:
		return -EIO;
	}
}

static int
start(char **args)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0)
		return wait_for(child);
	/* Ctrl-C reaches it through this process, once */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	execvp(args[0], args);
	driver_failed(WHO);
	_exit(2);
}

static int
run(const char *suite, const struct bench_opts *o, const struct fabric *f,
    json_t *out)
{
	const int fd = memfd_create("figures", 0);
	json_t *numbers = json_pack(
		"{s:I,s:i,s:b,s:i,s:i}", "seed", (json_int_t)o->seed, "reps",
		(int)o->reps, "quick", o->quick, "packet_flits",
		(int)f->packet_flits, "group", (int)f->group);
	char *text = json_dumps(numbers, JSON_COMPACT);
	char path[32];
	int n, ret = -EINVAL;
	char **args = driver_args(WHO, "bench", BENCH_INSTALLED, "suite.py", 5,
				  &n);
	json_t *figures;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (args != NULL && fd >= 0 && text != NULL) {
		const char *const words[] = {
			suite, path, o->config == NULL ? "" : o->config,
			o->row == NULL ? "" : o->row, text,
		};

		memcpy(args + n, words, sizeof(words));
		ret = start(args);
		figures = json_loadfd(fd, 0, NULL);
		if (figures != NULL)
			json_object_update(out, figures);
		json_decref(figures);
	}
	if (fd >= 0)
		close(fd);
	free(args);
	free(text);
	json_decref(numbers);
	return ret;
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
