/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a libFuzzer entry point without libFuzzer, so that each run of the tests
 * includes a bounded, seeded part of the fuzzing, with any compiler:
 *
 *   fuzz_X COUNT SEED [FILE...]        COUNT mutations of the files, and of the
 *                                      initial inputs of the harness
 *   fuzz_X COUNT SEED [FILE...] -i N   the N-th of them alone
 *
 * Input N depends on SEED and N only. A crash prints both. With clang, link the
 * harness with -fsanitize=fuzzer instead of this file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_main.h"
#include "fuzz_seeds.h"
#include "rl_base.h"
#include "rl_prng.h"

#define INPUT_MAX 65536
#define CORPUS_MAX 64

struct input {
	uint8_t *byte;
	size_t len;
};

/* for harnesses without initial inputs */
__attribute__((weak)) size_t
fuzz_seed(unsigned int i, uint8_t *to, size_t room)
{
	(void)i;
	(void)to;
	(void)room;
	return 0;
}

static int
load(const char *path, struct input *in)
{
	FILE *f = fopen(path, "rb");

	if (f == NULL) {
		perror(path);
		return -1;
	}
	in->byte = malloc(INPUT_MAX);
	in->len = in->byte != NULL ? fread(in->byte, 1, INPUT_MAX, f) : 0;
	fclose(f);
	return in->byte != NULL ? 0 : -1;
}

/* Adds the initial inputs of the harness. @return number of inputs */
static unsigned int
load_seeds(struct input *corpus, unsigned int n)
{
	for (unsigned int i = 0; n < CORPUS_MAX; i++, n++) {
		struct input *in = &corpus[n];

		in->byte = malloc(INPUT_MAX);
		if (in->byte == NULL)
			break;
		in->len = fuzz_seed(i, in->byte, INPUT_MAX);
		if (in->len == 0) {
			free(in->byte);
			break;
		}
	}
	return n;
}

/* Replaces `cut` bytes at `at` by n bytes. */
static void
splice(struct input *in, size_t at, size_t cut, const uint8_t *byte, size_t n)
{
	if (in->len - cut + n > INPUT_MAX)
		return;
	memmove(in->byte + at + n, in->byte + at + cut, in->len - at - cut);
	memcpy(in->byte + at, byte, n);
	in->len += n - cut;
}

static void
mutate(struct input *in, struct rl_prng *p, const struct input *other)
{
	const size_t at = rl_prng_below(p, (uint32_t)in->len + 1);
	const size_t left = in->len - at;
	const size_t cut = rl_prng_range(p, 0, rl_min_u64(left, 16));
	uint8_t some[64];
	const char *word;
	size_t from, n;

	switch (rl_prng_below(p, 7)) {
	case 0: /* flip a bit */
		if (left > 0)
			in->byte[at] ^= (uint8_t)(1u << rl_prng_below(p, 8));
		break;
	case 1: /* change a byte */
		some[0] = (uint8_t)rl_prng_u64(p);
		splice(in, at, left > 0, some, 1);
		break;
	case 2: /* delete */
		splice(in, at, cut, some, 0);
		break;
	case 3: /* copy a part */
		from = rl_prng_below(p, (uint32_t)in->len + 1);
		n = rl_min_u64(in->len - from, 1 + rl_prng_below(p, 63));
		memcpy(some, in->byte + from, n);
		splice(in, at, 0, some, n);
		break;
	case 4: /* insert a word of the format */
	case 5:
		word = fuzz_words[rl_prng_below(p, (uint32_t)fuzz_nwords)];
		splice(in, at, rl_prng_below(p, 2) ? cut : 0,
		       (const uint8_t *)word, strlen(word));
		break;
	default: /* append the end of another input */
		from = rl_prng_below(p, (uint32_t)other->len + 1);
		n = other->len - from;
		splice(in, at, left, other->byte + from, n);
		break;
	}
}

static void
run(unsigned long long seed, unsigned long long number,
    const struct input *corpus, unsigned int ncorpus)
{
	const uint8_t *exact;
	struct rl_prng p;
	struct input in;
	uint8_t *copy;

	fuzz_last_words("\nfuzz: input %llu of seed %llu\n", number, seed);
	rl_prng_seed(&p, seed * 0x9e3779b97f4a7c15ull + number);
	in = corpus[rl_prng_below(&p, ncorpus)];
	copy = malloc(INPUT_MAX);
	if (copy == NULL)
		exit(2);
	memcpy(copy, in.byte, in.len);
	in.byte = copy;
	for (uint64_t n = rl_prng_range(&p, 0, 6); n > 0; n--)
		mutate(&in, &p, &corpus[rl_prng_below(&p, ncorpus)]);
	/* an exact copy, so that a sanitizer sees reads beyond its end */
	exact = realloc(copy, in.len + (in.len == 0));
	LLVMFuzzerTestOneInput(exact != NULL ? exact : copy, in.len);
	free(exact != NULL ? (void *)(uintptr_t)exact : copy);
}

int
main(int argc, char **argv)
{
	static struct input corpus[CORPUS_MAX];
	unsigned long long count, seed, only = 0;
	unsigned int n = 0;
	bool one = false;

	if (argc < 3) {
		fprintf(stderr, "usage: %s COUNT SEED [FILE...] [-i N]\n",
			argv[0]);
		return 2;
	}
	count = strtoull(argv[1], NULL, 0);
	seed = strtoull(argv[2], NULL, 0);
	for (int i = 3; i < argc; i++) {
		if (strcmp(argv[i], "-i") == 0 && i + 1 < argc) {
			only = strtoull(argv[++i], NULL, 0);
			one = true;
		} else if (n == CORPUS_MAX || load(argv[i], &corpus[n++]) != 0) {
			return 2;
		}
	}
	n = load_seeds(corpus, n);
	if (n == 0) {
		fprintf(stderr, "%s: no input to begin with\n", argv[0]);
		return 2;
	}
	fuzz_catch();
	for (unsigned long long i = one ? only : 0;
	     i < (one ? only + 1 : count); i++)
		run(seed, i, corpus, n);
	printf("%llu inputs of seed %llu\n", one ? 1 : count, seed);
	for (unsigned int i = 0; i < n; i++)
		free(corpus[i].byte);
	return 0;
}
