/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "rl_codec_ref.h"
#include "rl_rxl_fec.h"

#define FEC_POLY 0x11d
#define SYNDROMES 65536
/** Exponent of the first column; the last has 1 in the longest sub-block. */
#define TOP_COLUMN 84
#define FLIT_BITS (8 * RL_FLIT_BYTES)

/** The three sub-blocks: data columns, and how many there are of such. */
static const struct {
	unsigned int columns;
	unsigned int blocks;
} block[] = { { 84, 1 }, { 83, 2 } };

double
rl_rxl_two_bytes_wrong(double ber, unsigned int bytes)
{
	const double log_ok = 8 * log1p(-ber); /* of one byte */
	const double wrong = -expm1(log_ok);
	double term, sum = 0;

	/* terms of the binomial from 2 on: nothing cancels */
	term = 0.5 * bytes * (bytes - 1.0) * wrong * wrong *
	       exp((bytes - 2.0) * log_ok);
	for (unsigned int k = 2; k <= bytes && term > 0; k++) {
		sum += term;
		term *= (double)(bytes - k) / (k + 1) * wrong / exp(log_ok);
	}
	return sum;
}

static unsigned int
parity(unsigned int x)
{
	return (unsigned int)__builtin_parity(x);
}

/**
 * t[v]: the mask with parity(t[v] & e) == parity(v & (factor * e)) for all e:
 * what a character of C sees of a byte weighted with @p factor.
 */
static void
seen_through(uint8_t factor, uint8_t t[256])
{
	uint8_t product[8];

	for (unsigned int i = 0; i < 8; i++)
		product[i] = rl_ref_gf_mul(FEC_POLY, factor,
					   (uint8_t)(1u << i));
	for (unsigned int v = 0; v < 256; v++) {
		t[v] = 0;
		for (unsigned int i = 0; i < 8; i++)
			t[v] |= (uint8_t)(parity(v & product[i]) << i);
	}
}

/** In place; divides by the size, so that it inverts. */
static void
walsh_hadamard(double *a)
{
	for (unsigned int h = 1; h < SYNDROMES; h *= 2)
		for (unsigned int i = 0; i < SYNDROMES; i += 2 * h)
			for (unsigned int j = i; j < i + h; j++) {
				const double x = a[j], y = a[j + h];

				a[j] = x + y;
				a[j + h] = x - y;
			}
	for (unsigned int i = 0; i < SYNDROMES; i++)
		a[i] /= SYNDROMES;
}

/** p[P | C << 8]: probability of that syndrome of a block. */
static void
syndromes(double ber, unsigned int columns, double *p)
{
	const double log_char = log1p(-2 * ber);
	uint8_t t[256];

	for (unsigned int i = 0; i < SYNDROMES; i++)
		p[i] = __builtin_popcount(i); /* the check bytes themselves */
	for (unsigned int k = 0; k < columns; k++) {
		seen_through(rl_ref_gf_pow(FEC_POLY, 2, (int)(TOP_COLUMN - k)),
			     t);
		for (unsigned int i = 0; i < SYNDROMES; i++)
			p[i] += __builtin_popcount((i & 255) ^ t[i >> 8]);
	}
	for (unsigned int i = 0; i < SYNDROMES; i++)
		p[i] = ber < 0.5 ? exp(log_char * p[i]) : p[i] == 0;
	walsh_hadamard(p);
}

/** The decoder's view: no error, or one byte that is there. */
static bool
content(unsigned int columns, uint8_t par, uint8_t check, const uint8_t *log)
{
	int exponent;

	if (par == 0 || check == 0)
		return true; /* nothing, or a check byte alone */
	exponent = log[check] - log[par];
	if (exponent < 0)
		exponent += 255;
	return exponent <= TOP_COLUMN && exponent > TOP_COLUMN - (int)columns;
}

static double
detected(double ber, unsigned int columns, const uint8_t *log, double *scratch)
{
	double sum = 0;

	syndromes(ber, columns, scratch);
	for (unsigned int i = 0; i < SYNDROMES; i++)
		if (!content(columns, (uint8_t)i, (uint8_t)(i >> 8), log))
			sum += scratch[i];
	return sum > 0 ? sum : 0;
}

void
rl_rxl_fec_model(double ber, double *scratch, struct rl_rxl_fec_model *m)
{
	double log_right = 0, log_silent = 0;
	double wrong;
	uint8_t log[256] = { 0 };

	for (unsigned int e = 0; e < 255; e++)
		log[rl_ref_gf_pow(FEC_POLY, 2, (int)e)] = (uint8_t)e;
	for (size_t b = 0; b < RL_ARRAY_SIZE(block); b++) {
		const unsigned int n = block[b].columns;

		log_right += block[b].blocks *
			     log1p(-rl_rxl_two_bytes_wrong(ber, n + 2));
		log_silent += block[b].blocks *
			      log1p(-detected(ber, n, log, scratch));
	}
	wrong = -expm1(log_right);
	m->clean = exp(FLIT_BITS * log1p(-ber));
	m->detected = -expm1(log_silent);
	/* of both the small ones are the exact ones */
	m->missed = wrong > m->detected ? wrong - m->detected : 0;
	m->corrected = -expm1(FLIT_BITS * log1p(-ber)) - wrong;
	if (m->corrected < 0)
		m->corrected = 0;
}
