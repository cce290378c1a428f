/* SPDX-License-Identifier: BSD-3-Clause */
#include "linear.h"

#include <string.h>

bool
basis_add(struct basis *b, uint64_t x)
{
	while (x != 0) {
		const int top = 63 - __builtin_clzll(x);

		if (b->v[top] == 0) {
			b->v[top] = x;
			b->rank++;
			return true;
		}
		x ^= b->v[top];
	}
	return false;
}

uint64_t
basis_reduce(const struct basis *b, uint64_t x)
{
	for (int i = 63; i >= 0; i--)
		if (b->v[i] != 0 && (x >> i & 1))
			x ^= b->v[i];
	return x;
}

void
bit_syndromes(enum rl_crc_kind crc, uint64_t syn[CODE_BITS])
{
	uint8_t flit[RL_FLIT_BYTES] = { 0 };
	const uint64_t zero = rl_ref_crc(crc, flit);

	for (int b = 0; b < CODE_BITS; b++) {
		flit[b / 8] = (uint8_t)(1 << b % 8);
		syn[b] = rl_ref_crc(crc, flit) ^ zero ^
			 rl_get64(flit + RL_FLIT_CRC_OFF);
		flit[b / 8] = 0;
	}
}

void
number_basis(enum rl_crc_kind crc, enum rl_isn_kind isn, struct basis *b)
{
	static const uint8_t zeros[RL_FLIT_BYTES];

	memset(b, 0, sizeof(*b));
	for (unsigned int i = 0; i < rl_ref_isn_bits(isn); i++)
		assert_true(basis_add(
			b, rl_ref_crc_isn(crc, isn, zeros, 1u << i) ^
				   rl_ref_crc_isn(crc, isn, zeros, 0)));
}

#define PAIRS (CODE_BITS * (CODE_BITS - 1) / 2)
#define SUMS (1 + CODE_BITS + PAIRS)

static void
sort_by_digit(const uint64_t *from, uint64_t *to, size_t n, int shift)
{
	static size_t start[65537];

	memset(start, 0, sizeof(start));
	for (size_t i = 0; i < n; i++)
		start[(from[i] >> shift & 0xffff) + 1]++;
	for (int i = 0; i < 65536; i++)
		start[i + 1] += start[i];
	for (size_t i = 0; i < n; i++)
		to[start[from[i] >> shift & 0xffff]++] = from[i];
}

bool
pairs_differ(const uint64_t syn[CODE_BITS])
{
	uint64_t *a = malloc(SUMS * sizeof(*a)), *b = malloc(SUMS * sizeof(*b));
	bool differ = true;
	size_t n = 0;

	assert_non_null(a);
	assert_non_null(b);
	a[n++] = 0;
	for (int i = 0; i < CODE_BITS; i++) {
		a[n++] = syn[i];
		for (int j = i + 1; j < CODE_BITS; j++)
			a[n++] = syn[i] ^ syn[j];
	}
	sort_by_digit(a, b, n, 0);
	sort_by_digit(b, a, n, 16);
	sort_by_digit(a, b, n, 32);
	sort_by_digit(b, a, n, 48);
	for (size_t i = 1; i < n; i++)
		differ &= a[i] != a[i - 1];
	free(a);
	free(b);
	return differ;
}

/*
 * The triples, in rounds by the low six bits of their sum. A round sorts its 21
 * million into buckets by the next six bits, and each bucket goes through a
 * hash table that fits the cache. Candidates for the third vector are indexed
 * by their low six bits, so that a round makes only its own sums.
 */
#define ROUNDS 64
#define BUCKETS 64
#define BUCKET_MAX (1u << 20)
#define PAIR_BUCKET_MAX (1u << 12)
#define HASH_BITS 20
#define HASH_SIZE (1u << HASH_BITS)

struct triples {
	uint64_t by_class[ROUNDS][CODE_BITS]; /**< vectors of a class, in order */
	uint16_t rank[ROUNDS][CODE_BITS + 1]; /**< number of them below index
						   j */
	uint16_t count[ROUNDS];
	uint64_t *bucket[BUCKETS]; /**< sums of three, of this round */
	uint32_t used[BUCKETS];
	uint64_t *pair_bucket[BUCKETS]; /**< sums of two */
	uint32_t pair_used[BUCKETS];
	uint64_t hash[HASH_SIZE]; /**< 0: free; a zero sum is counted
				       separately */
	const uint64_t *syn;
};

static struct triples *
triples_open(const uint64_t syn[CODE_BITS])
{
	struct triples *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->syn = syn;
	for (int j = 0; j <= CODE_BITS; j++) {
		for (int k = 0; k < ROUNDS; k++)
			t->rank[k][j] = t->count[k];
		if (j < CODE_BITS) {
			const unsigned int k = syn[j] % ROUNDS;

			t->by_class[k][t->count[k]++] = syn[j];
		}
	}
	for (int i = 0; i < BUCKETS; i++) {
		t->bucket[i] = malloc(BUCKET_MAX * sizeof(uint64_t));
		t->pair_bucket[i] = malloc(PAIR_BUCKET_MAX * sizeof(uint64_t));
		assert_non_null(t->bucket[i]);
		assert_non_null(t->pair_bucket[i]);
	}
	return t;
}

static void
triples_close(struct triples *t)
{
	for (int i = 0; i < BUCKETS; i++) {
		free(t->bucket[i]);
		free(t->pair_bucket[i]);
	}
	free(t);
}

/** Makes all sums of two and of three with the low six bits @p round. */
static void
make_sums(struct triples *t, unsigned int round)
{
	memset(t->used, 0, sizeof(t->used));
	memset(t->pair_used, 0, sizeof(t->pair_used));
	for (int i = 0; i < CODE_BITS; i++)
		for (int j = i + 1; j < CODE_BITS; j++) {
			const uint64_t two = t->syn[i] ^ t->syn[j];
			const unsigned int k = (two ^ round) % ROUNDS;

			if (k == 0) {
				const unsigned int b = two / ROUNDS % BUCKETS;

				assert_true(t->pair_used[b] < PAIR_BUCKET_MAX);
				t->pair_bucket[b][t->pair_used[b]++] = two;
			}
			for (unsigned int m = t->rank[k][j + 1];
			     m < t->count[k]; m++) {
				const uint64_t sum = two ^ t->by_class[k][m];
				const unsigned int b = sum / ROUNDS % BUCKETS;

				assert_true(t->used[b] < BUCKET_MAX);
				t->bucket[b][t->used[b]++] = sum;
			}
		}
}

/** @return the slot of @p sum in the hash table, or a free one for it */
static uint64_t *
find_slot(struct triples *t, uint64_t sum)
{
	uint32_t h = (uint32_t)(sum * 0x9e3779b97f4a7c15ull >>
				(64 - HASH_BITS));

	while (t->hash[h] != 0 && t->hash[h] != sum)
		h = (h + 1) % HASH_SIZE;
	return &t->hash[h];
}

static void
compare_bucket(struct triples *t, unsigned int b, uint64_t extra,
	       struct collisions *found)
{
	memset(t->hash, 0, sizeof(t->hash));
	for (uint32_t i = 0; i < t->used[b]; i++) {
		uint64_t *slot = find_slot(t, t->bucket[b][i]);

		if (*slot == t->bucket[b][i]) /* including a sum of 0 */
			found->six++;
		*slot = t->bucket[b][i];
	}
	for (uint32_t i = 0; extra != 0 && i < t->used[b]; i++) {
		const uint64_t other = t->bucket[b][i] ^ extra;

		found->seven += *find_slot(t, other) == other;
	}
	for (uint32_t i = 0; i < t->pair_used[b]; i++) {
		const uint64_t two = t->pair_bucket[b][i];

		found->five += *find_slot(t, two) == two;
	}
}

struct collisions
triples_collide(const uint64_t syn[CODE_BITS], uint64_t extra)
{
	struct triples *t = triples_open(syn);
	struct collisions found = { 0, 0, 0 };

	/* partner and triple must meet in the same round and bucket */
	assert_true(extra % (ROUNDS * BUCKETS) == 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		make_sums(t, round);
		for (unsigned int b = 0; b < BUCKETS; b++)
			compare_bucket(t, b, extra, &found);
	}
	triples_close(t);
	return found;
}
