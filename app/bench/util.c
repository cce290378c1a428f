/* SPDX-License-Identifier: BSD-3-Clause */

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "clock_ns.h"
#include "rl_codec.h"

uint64_t
bench_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t
bench_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t
bench_process_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static cpu_set_t begun; /* CPUs that the process began with */

void
bench_cpus_note(void)
{
	if (sched_getaffinity(0, sizeof(begun), &begun) != 0)
		CPU_ZERO(&begun);
}

void
bench_cpus_all(void)
{
	if (CPU_COUNT(&begun) != 0)
		(void)sched_setaffinity(0, sizeof(begun), &begun);
}

static int
cmp_double(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
bench_sort(double v[], unsigned int n)
{
	qsort(v, n, sizeof(v[0]), cmp_double);
}

double
bench_quantile(const double v[], unsigned int n, double q)
{
	unsigned int i = (unsigned int)(q * n);

	if (n == 0)
		return 0;
	return v[i >= n ? n - 1 : i];
}

double
bench_median(double v[], unsigned int n)
{
	bench_sort(v, n);
	return bench_quantile(v, n, 0.5);
}

/* Their spread: the middle half of them, as a part of the median. */
static double
bench_spread(double v[], unsigned int n)
{
	const double median = bench_median(v, n);

	if (n < 2 || median == 0)
		return 0;
	return (bench_quantile(v, n, 0.75) - bench_quantile(v, n, 0.25)) /
	       (median < 0 ? -median : median);
}

void
bench_stat(double v[], unsigned int n, struct bench_stat *s)
{
	s->spread = bench_spread(v, n);
	s->median = bench_quantile(v, n, 0.5);
	s->noisy = s->spread > BENCH_NOISY || s->median <= 0;
}

#define HUGE_BYTES (2u << 20)

void *
bench_alloc(size_t bytes)
{
	const size_t n = (bytes + HUGE_BYTES - 1) & ~(size_t)(HUGE_BYTES - 1);
	void *p = aligned_alloc(HUGE_BYTES, n == 0 ? HUGE_BYTES : n);

	if (p == NULL)
		return NULL;
	(void)madvise(p, n, MADV_HUGEPAGE);
	memset(p, 0, n);
	return p;
}

static void
cpu_name(char *name, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];
	const char *colon;

	snprintf(name, len, "unknown CPU");
	if (f == NULL)
		return;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "model name", 10) != 0)
			continue;
		colon = strchr(line, ':');
		line[strcspn(line, "\n")] = '\0';
		if (colon != NULL && colon[1] != '\0')
			snprintf(name, len, "%s", colon + 2);
		break;
	}
	fclose(f);
}

json_t *
bench_machine(FILE *human)
{
	const char *isa = rl_isa_name(rl_codec_best_isa(512));
	char name[200];

	cpu_name(name, sizeof(name));
	fprintf(human, "%s; codec %s\n", name, isa);
	return json_pack("{s:s,s:s,s:i}", "cpu", name, "codec", isa, "cpus",
			 (int)sysconf(_SC_NPROCESSORS_ONLN));
}
