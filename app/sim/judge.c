/* SPDX-License-Identifier: BSD-3-Clause */

/* Runs in processes of their own, and what their verdicts have in common. */

#include "judge.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stop_signal.h"

/* CPU time of a run; one that takes longer is taken for one that never ends. */
#define JUDGE_S 120

/*
 * Numbers become N, and names of devices D: "port 1 of s0.1 (UP) holds 3
 * flits" and "port 0 of e2 (UP) holds 1 flits" are one finding.
 */
void
judge_shape(const char *why, char *shape, size_t len)
{
	size_t n = 0;

	while (*why != '\0' && n + 1 < len) {
		const size_t word = strspn(why, "abcdefghijklmnopqrstuvwxyz"
						"ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
						"0123456789.");
		const size_t letters = strcspn(why, "0123456789");

		if (word == 0 || letters >= word) { /* not a digit in it */
			const size_t take = word == 0 ? 1 : word;

			for (size_t i = 0; i < take && n + 1 < len; i++)
				shape[n++] = why[i];
			why += take;
			continue;
		}
		shape[n++] = letters == 0 ? 'N' : 'D';
		why += word;
	}
	shape[n] = '\0';
}

/* Reads all of it; less where the writer died. */
static size_t
read_all(int fd, void *to, size_t len)
{
	size_t have = 0;

	while (have < len) {
		const ssize_t n = read(fd, (char *)to + have, len - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

static void
in_child(int fd, int (*work)(void *ctx, void *result), void *ctx, void *result,
	 size_t len, uint64_t runs)
{
	const struct rlimit most = { JUDGE_S * runs, JUDGE_S * runs + 1 };
	int ret;

	/* the parent decides when to stop: a run that a signal cuts short
	   proves nothing. If the parent dies, so does this process */
	stop_forget();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CPU, &most);
	ret = work(ctx, result);
	if (ret == 0 && write(fd, result, len) != (ssize_t)len)
		ret = -EIO;
	_exit(-ret);
}

int
judge_apart(int (*work)(void *ctx, void *result), void *ctx, void *result,
	    size_t len, uint64_t runs, int *sig)
{
	int fd[2], status = 0;
	size_t have;
	pid_t pid;

	*sig = 0;
	fflush(stdout);
	if (pipe(fd) != 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		in_child(fd[1], work, ctx, result, len, runs);
	}
	close(fd[1]);
	have = pid < 0 ? 0 : read_all(fd[0], result, len);
	close(fd[0]);
	if (pid < 0)
		return -EAGAIN;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		*sig = WTERMSIG(status);
		return -EINTR;
	}
	if (WEXITSTATUS(status) != 0)
		return -WEXITSTATUS(status);
	return have == len ? 0 : -EIO;
}

static void
outcome_why(const struct outcome *out, char *why, size_t len)
{
	const struct rl_sim_load_stats *l = &out->v.load;

	if (!out->v.ok)
		snprintf(why, len, "%s", out->v.why);
	else if (l->corrupted != 0 || l->duplicated != 0 || l->reordered != 0)
		snprintf(why, len, "%" PRIu64 " packets altered, %" PRIu64
			 " duplicated, %" PRIu64 " out of order",
			 l->corrupted, l->duplicated, l->reordered);
	else if (!out->at_rest)
		snprintf(why, len, "not at rest: %.400s", out->v.why);
	else if (l->lost != 0)
		snprintf(why, len, "%" PRIu64 " of %" PRIu64 " packets lost",
			 l->lost, l->sent);
	else
		snprintf(why, len, "nothing was sent");
}

static int
run_plain(const struct rl_swarm_plan *plan, struct rl_sim_mem *mem,
	  struct judged *j)
{
	const struct setup s = { .plan = *plan, .threads = 1 };
	const struct options o = { .drain_ns = plan->limit_ns };
	struct outcome out;
	const int ret = run_once(&s, &o, mem, false, &out);

	if (ret == 0) {
		j->ok = outcome_kept(&out);
		j->sent = out.v.load.sent;
		if (!j->ok)
			outcome_why(&out, j->why, sizeof(j->why));
	}
	outcome_free(&out);
	return ret;
}

static int
run_judged(void *ctx, void *result)
{
	const struct rl_swarm_plan *plan = ctx;
	struct judged *j = result;
	struct rl_sim_mem mem;
	struct rl_swarm_verdict v;
	int ret = rl_sim_mem_init(&mem);

	if (ret == 0 && plan->heal_ns == 0)
		return run_plain(plan, &mem, j);
	if (ret == 0)
		ret = rl_swarm_plan_run(plan, &mem, &v);
	if (ret != 0)
		return ret;
	j->ok = v.ok;
	j->sent = v.load.sent;
	j->hash = v.hash;
	snprintf(j->why, sizeof(j->why), "%s", v.why);
	return 0; /* the process ends, and its memory with it */
}

bool
judge_finding(int sig)
{
	return sig == SIGABRT || sig == SIGILL || sig == SIGTRAP ||
	       sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE ||
	       sig == SIGXCPU;
}

void
judge_died(int sig, char *why, size_t len)
{
	snprintf(why, len, sig == SIGXCPU ? "it does not end (signal %d)"
					  : "broken invariant (signal %d)",
		 sig);
}

int
judge_plan(const struct rl_swarm_plan *plan, struct judged *j)
{
	struct rl_swarm_plan copy = *plan; /* the same arrays */
	int sig, ret;

	memset(j, 0, sizeof(*j));
	ret = judge_apart(run_judged, &copy, j, sizeof(*j), 1, &sig);
	if (ret == -EINTR && judge_finding(sig)) {
		memset(j, 0, sizeof(*j));
		judge_died(sig, j->why, sizeof(j->why));
		ret = 0;
	}
	judge_shape(j->why, j->shape, sizeof(j->shape));
	return ret;
}

int
judge_read(struct setup *s, const char *fabric, const char *faults)
{
	struct rl_swarm_plan *plan = &s->plan;
	struct rl_config *cfg = &plan->cfg;
	char err[RL_ERR_MAX + 1024];
	bool run = false;

	memset(s, 0, sizeof(*s));
	if (rl_config_read_text("fabric", fabric, strlen(fabric), cfg, err,
				sizeof(err)) != 0)
		return -EINVAL;
	if (rl_swarm_case_text("faults", faults, strlen(faults), plan, &run,
			       err, sizeof(err)) != 0 ||
	    !run ||
	    rl_route_setup(&cfg->topo, cfg->engine,
			   rl_min_u32(cfg->vls, cfg->link.vcs),
			   rl_config_levels(cfg), &plan->route, err) != 0) {
		setup_close(s);
		return -EINVAL;
	}
	plan->load.nep = (uint16_t)cfg->topo.nep;
	s->threads = 1;
	return 0;
}
