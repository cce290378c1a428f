/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec and correction [FLIT-4..8]. An input chooses codec, numbers and an
 * error; every instruction set must give the results of the reference. A
 * corrected flit is a code word again, an uncorrectable one is unchanged, and
 * an intact flit with another number is reported as a slip.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_main.h"
#include "rl_base.h"
#include "rl_codec.h"

#define HEAD 12
#define BATCH 3

const char *const fuzz_words[] = { "\x01", "\xff", "\xff\xff\xff", "\x80" };
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

static const struct {
	enum rl_crc_kind crc;
	enum rl_isn_kind isn;
	uint32_t numbers;
} kinds[] = {
	{ RL_CRC_ECMA, RL_ISN_XOR10, 1u << 10 },
	{ RL_CRC_ECMA, RL_ISN_WIDE, 1u << 10 },
	{ RL_CRC_BCH, RL_ISN_XOR10, 1u << 10 },
	{ RL_CRC_BCH, RL_ISN_WIDE, 1u << 10 },
	{ RL_CRC_BCH, RL_ISN_WIDE19, 1u << 19 },
	{ RL_CRC_PCIE6_RS, RL_ISN_XOR10, 1u << 10 },
};

static struct rl_codec *codec[RL_ARRAY_SIZE(kinds)][RL_ISA_COUNT];

size_t
fuzz_seed(unsigned int i, uint8_t *to, size_t room)
{
	const size_t n = HEAD + RL_FLIT_BYTES + i % 8;

	if (i >= 16 || room < n)
		return 0;
	memset(to, i < 8 ? 0 : 0x5a + (int)i, n);
	to[0] = (uint8_t)i;
	to[10] = (uint8_t)(31 * i);
	return n;
}

static void
make_codecs(void)
{
	for (unsigned int k = 0; k < RL_ARRAY_SIZE(kinds); k++)
		for (int isa = 0; isa < RL_ISA_COUNT; isa++) {
			struct rl_codec *c = aligned_alloc(
				64, (rl_codec_memsize() + 63) & ~(size_t)63);

			RL_ASSERT(c != NULL);
			if (rl_codec_init(c, kinds[k].crc, kinds[k].isn,
					  (enum rl_isa)isa) != 0) {
				RL_ASSERT(isa != RL_ISA_SCALAR);
				free(c);
				c = NULL;
			}
			codec[k][isa] = c;
		}
}

struct outcome {
	uint8_t flit[BATCH][RL_FLIT_BYTES];
	uint8_t hop[BATCH][RL_FLIT_BYTES];
	uint8_t fec[BATCH];
	uint64_t syndrome[BATCH];
	unsigned int bad;
	unsigned int hop_bad;
};

/* Verifies the same flits as an endpoint and as a hop. */
static void
receive(const struct rl_codec *c, const uint8_t in[BATCH][RL_FLIT_BYTES],
	const uint32_t eseq[BATCH], struct outcome *o)
{
	uint8_t *flit[BATCH], *dst[BATCH], hop[BATCH], check[BATCH];
	const uint8_t *src[BATCH];

	memset(o, 0, sizeof(*o));
	for (unsigned int i = 0; i < BATCH; i++) {
		memcpy(o->flit[i], in[i], RL_FLIT_BYTES);
		flit[i] = o->flit[i];
		src[i] = in[i];
		dst[i] = o->hop[i];
	}
	o->bad = rl_codec_rx(c, flit, eseq, BATCH, o->syndrome, o->fec);
	o->hop_bad = rl_codec_hop(c, src, dst, BATCH, hop);
	rl_codec_fec_check(c, src, BATCH, check);
	for (unsigned int i = 0; i < BATCH; i++) {
		RL_ASSERT(hop[i] == o->fec[i]);
		RL_ASSERT((check[i] == RL_FEC_CLEAN) ==
			  (hop[i] == RL_FEC_CLEAN));
		RL_ASSERT(memcmp(o->hop[i], o->flit[i], RL_FLIT_BYTES) == 0);
		if (o->fec[i] == RL_FEC_BAD)
			o->syndrome[i] = 0; /* unspecified */
	}
}

/*
 * Number of bytes in which two flits differ; *@p span: from the first to the
 * last.
 */
static unsigned int
differ(const uint8_t *a, const uint8_t *b, unsigned int *span)
{
	unsigned int n = 0, first = 0, last = 0;

	for (unsigned int i = 0; i < RL_FLIT_BYTES; i++)
		if (a[i] != b[i]) {
			first = n++ == 0 ? i : first;
			last = i;
		}
	*span = n == 0 ? 0 : last - first + 1;
	return n;
}

static void
check_fec(const struct rl_codec *c, const uint8_t *sent, const uint8_t *in,
	  const uint8_t *out, uint8_t fec)
{
	uint8_t again[RL_FLIT_BYTES];
	unsigned int span, n = differ(in, out, &span);

	RL_ASSERT(fec == RL_FEC_CORRECTED ? n >= 1 && n <= 3 : n == 0);
	if (fec != RL_FEC_BAD) {
		memcpy(again, out, sizeof(again));
		rl_codec_fec_encode(c, again);
		RL_ASSERT(memcmp(again, out, sizeof(again)) == 0);
	}
	/* a burst of at most three bytes is always corrected [FLIT-4] */
	differ(sent, in, &span);
	if (span <= 3)
		RL_ASSERT(memcmp(sent, out, RL_FLIT_BYTES) == 0);
}

static void
check_isn(const struct rl_codec *c, uint32_t numbers, uint32_t seq,
	  uint32_t eseq, uint64_t syndrome)
{
	const struct rl_isn_result r = rl_isn_decode(c, syndrome, eseq);
	const uint32_t slip = (seq - eseq) & (numbers - 1);

	if (slip == 0)
		RL_ASSERT(r.verdict == RL_ISN_OK && r.slip == 0);
	else if (slip < numbers / 2)
		RL_ASSERT(r.verdict == RL_ISN_AHEAD && r.slip == (int)slip);
	else if (slip > numbers / 2)
		RL_ASSERT(r.verdict == RL_ISN_BEHIND &&
			  r.slip == (int)slip - (int)numbers);
}

/* Three flits of the input, numbered, encoded and corrupted as it says. */
struct scene {
	uint8_t sent[BATCH][RL_FLIT_BYTES];
	uint8_t hurt[BATCH][RL_FLIT_BYTES];
	uint32_t seq[BATCH];
	uint32_t eseq[BATCH];
};

static void
make_scene(struct scene *s, const struct rl_codec *c, uint32_t numbers,
	   const uint8_t *data, size_t size)
{
	uint8_t *flit[BATCH];
	size_t at;

	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < BATCH; i++) {
		size_t n = rl_min_u64(size - HEAD, RL_FLIT_BYTES);

		memcpy(s->sent[i], data + HEAD, n);
		s->sent[i][i] ^= (uint8_t)i;
		s->seq[i] = (data[1] | data[2] << 8 | data[3] << 16) + i;
		s->eseq[i] = s->seq[i] + (uint32_t)((int8_t)data[4] * (int)i);
		if (data[5] & 1)
			s->eseq[i] += data[6] | data[7] << 8 | data[8] << 16;
		s->seq[i] &= numbers - 1;
		s->eseq[i] &= numbers - 1;
		flit[i] = s->sent[i];
	}
	rl_codec_tx(c, flit, s->seq, BATCH);
	memcpy(s->hurt, s->sent, sizeof(s->hurt));
	if (data[9] == 0)
		return;
	/* a burst of any position and length, as the rest of the input says */
	at = HEAD + (size - HEAD > RL_FLIT_BYTES ? RL_FLIT_BYTES : 0);
	for (unsigned int k = 0; k < 1 + data[9] % 8u; k++) {
		const unsigned int place = (data[10] + k) % RL_FLIT_BYTES;

		s->hurt[1][place] ^= data[at + k < size ? at + k : 11];
		s->hurt[2][data[(9 + k) % HEAD]] ^= data[10];
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome ref, o;
	struct scene s;
	unsigned int k;

	if (size < HEAD + 1)
		return 0;
	k = data[0] % RL_ARRAY_SIZE(kinds);
	if (codec[k][RL_ISA_SCALAR] == NULL)
		make_codecs();
	make_scene(&s, codec[k][RL_ISA_SCALAR], kinds[k].numbers, data, size);
	receive(codec[k][RL_ISA_SCALAR], s.hurt, s.eseq, &ref);
	for (unsigned int i = 0; i < BATCH; i++) {
		check_fec(codec[k][RL_ISA_SCALAR], s.sent[i], s.hurt[i],
			  ref.flit[i], ref.fec[i]);
		if (memcmp(s.sent[i], ref.flit[i], RL_FLIT_BYTES) == 0)
			check_isn(codec[k][RL_ISA_SCALAR], kinds[k].numbers,
				  s.seq[i], s.eseq[i], ref.syndrome[i]);
	}
	for (int isa = 1; isa < RL_ISA_COUNT; isa++) {
		struct scene t;

		if (codec[k][isa] == NULL)
			continue;
		make_scene(&t, codec[k][isa], kinds[k].numbers, data, size);
		RL_ASSERT(memcmp(&t, &s, sizeof(t)) == 0);
		receive(codec[k][isa], s.hurt, s.eseq, &o);
		RL_ASSERT(memcmp(&o, &ref, sizeof(o)) == 0);
	}
	return 0;
}
