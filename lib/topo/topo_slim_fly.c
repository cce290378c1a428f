/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slim Flies [ROUTE-8], after Besta and Hoefler (2014): the graphs of McKay,
 * Miller and Siran. q = 4 w + delta is a prime power, delta -1, 0 or 1. There
 * are two subgraphs of q times q switches; with x, y, m, c in the field GF(q):
 *
 *   (0, x, y) - (0, x, y')   if y - y' is in X
 *   (1, m, c) - (1, m, c')   if c - c' is in X'
 *   (0, x, y) - (1, m, c)    if y = m x + c
 *
 * X and X' consist of powers of a primitive element. Both contain -v with every
 * v, so that links have no direction. Any two switches are at most two links
 * apart, and each has (3 q - delta) / 2 links.
 *
 * The field: an element is a number below q, its digits to the base of the
 * prime p the coefficients of a polynomial. Multiplying by the primitive
 * element is multiplying by x modulo a polynomial found by trial; if q is a
 * prime, that is a primitive root.
 */
#include <string.h>

#include "topo_impl.h"

struct field {
	unsigned int q;
	unsigned int p; /* its prime */
	unsigned int power[RL_SLIM_Q_MAX]; /* of the primitive element */
	unsigned int log[RL_SLIM_Q_MAX];   /* the inverse; not of 0 */
};

/* The prime of which q is a power, or 0. */
static unsigned int
field_prime(unsigned int q)
{
	unsigned int p = 2;

	if (q < 2)
		return 0;
	while (q % p != 0)
		p++;
	while (q % p == 0)
		q /= p;
	return q == 1 ? p : 0;
}

/* a + b, or a - b, digit by digit. */
static unsigned int
field_add(const struct field *f, unsigned int a, unsigned int b, bool minus)
{
	unsigned int sum = 0;

	for (unsigned int place = 1; place < f->q; place *= f->p) {
		const unsigned int da = a / place % f->p, db = b / place % f->p;

		sum += (da + (minus ? f->p - db : db)) % f->p * place;
	}
	return sum;
}

static unsigned int
field_mul(const struct field *f, unsigned int a, unsigned int b)
{
	return a == 0 || b == 0 ?
		       0 : f->power[(f->log[a] + f->log[b]) % (f->q - 1)];
}

/* v times x modulo x^n + poly: the digit shifted out at the top is fed back. */
static unsigned int
field_times_x(const struct field *f, unsigned int v, unsigned int poly)
{
	const unsigned int top = v / (f->q / f->p);

	v = v % (f->q / f->p) * f->p;
	for (unsigned int i = 0; i < top; i++)
		v = field_add(f, v, poly, true);
	return v;
}

/* Whether the powers of x modulo this polynomial are all nonzero elements. */
static bool
field_try(struct field *f, unsigned int poly)
{
	bool seen[RL_SLIM_Q_MAX] = {false};
	unsigned int v = 1;

	for (unsigned int i = 0; i < f->q - 1; i++) {
		if (v == 0 || seen[v])
			return false;
		seen[v] = true;
		f->power[i] = v;
		f->log[v] = i;
		v = field_times_x(f, v, poly);
	}
	return v == 1;
}

static void
field_make(struct field *f, unsigned int q)
{
	f->q = q;
	f->p = field_prime(q);
	RL_ASSERT(f->p != 0 && q <= RL_SLIM_Q_MAX);
	for (unsigned int poly = 1; poly < q; poly++)
		if (field_try(f, poly))
			return;
	RL_ASSERT(false); /* every finite field has a primitive element */
}

static int
slim_delta(unsigned int q)
{
	return q % 4 == 3 ? -1 : (int)(q % 4);
}

static uint32_t
slim_degree(unsigned int q)
{
	return (uint32_t)(3 * (int)q - slim_delta(q)) / 2;
}

int
topo_size_slim_fly(struct topo_build *b, struct topo_size *size)
{
	const struct rl_topo_spec *spec = &b->t->spec;
	const unsigned int q = spec->q;

	if (q < 3 || q > RL_SLIM_Q_MAX || q % 4 == 2 || field_prime(q) == 0)
		return topo_error(b, 0, "q is %u; use a prime power of 3 to %d "
					"(3, 4, 5, 7, 8, 9, 11, 13, 16, 17, "
					"...)", q, RL_SLIM_Q_MAX);
	if (spec->hosts_per_switch == 0)
		return topo_error(b, 0, "hosts_per_switch is 0; the least is 1");
	size->switches = 2ull * q * q;
	size->endpoints = size->switches * spec->hosts_per_switch;
	size->links = size->endpoints + size->switches * slim_degree(q) / 2;
	return 0;
}

/*
 * X of the first subgraph, X' of the second. delta 1: the even powers and the
 * odd ones; 0: the same, with 1 in both since q - 1 is odd; -1: each wraps at
 * its middle, from even to odd or back, so that -1 keeps it.
 */
static void
slim_sets(const struct field *f, bool in[2][RL_SLIM_Q_MAX])
{
	const unsigned int q = f->q, w = (q + 1) / 4;

	memset(in, 0, 2 * RL_SLIM_Q_MAX * sizeof(in[0][0]));
	if (slim_delta(q) == -1) {
		for (unsigned int i = 0; i < w; i++) {
			in[0][f->power[2 * i]] = true;
			in[0][f->power[2 * w - 1 + 2 * i]] = true;
			in[1][f->power[2 * i + 1]] = true;
			in[1][f->power[(2 * w + 2 * i) % (q - 1)]] = true;
		}
		return;
	}
	for (unsigned int i = 0; i < q / 2; i++) {
		in[0][f->power[2 * i]] = true;
		in[1][f->power[(2 * i + 1) % (q - 1)]] = true;
	}
}

static uint32_t
slim_switch(unsigned int q, unsigned int sub, unsigned int x, unsigned int y)
{
	return (sub * q + x) * q + y;
}

static void
slim_add_links(struct topo_build *b, const struct field *f)
{
	const unsigned int q = f->q;
	bool in[2][RL_SLIM_Q_MAX];

	slim_sets(f, in);
	for (unsigned int sub = 0; sub < 2; sub++)
		for (unsigned int x = 0; x < q; x++)
			for (unsigned int y = 0; y < q; y++)
				for (unsigned int z = y + 1; z < q; z++)
					if (in[sub][field_add(f, y, z, true)])
						topo_add_links(
							b,
							slim_switch(q, sub, x, y),
							slim_switch(q, sub, x, z),
							-1, 1);
	for (unsigned int x = 0; x < q; x++) {
		for (unsigned int m = 0; m < q; m++) {
			const unsigned int mx = field_mul(f, m, x);

			for (unsigned int c = 0; c < q; c++)
				topo_add_links(
					b,
					slim_switch(q, 0, x,
						    field_add(f, mx, c, false)),
					slim_switch(q, 1, m, c), -1, 1);
		}
	}
}

void
topo_fill_slim_fly(struct topo_build *b)
{
	const unsigned int q = b->t->spec.q;
	struct field f;

	field_make(&f, q);
	for (unsigned int i = 0; i < 2 * q * q; i++) {
		const unsigned int sub = i / (q * q), x = i / q % q, y = i % q;
		struct rl_topo_dev *dev = topo_add_dev(
			b, RL_DEV_SWITCH, "s%u.%u.%u", sub, x, y);

		dev->coord[0] = (uint16_t)sub;
		dev->coord[1] = (uint16_t)x;
		dev->coord[2] = (uint16_t)y;
	}
	topo_add_hosts(b);
	slim_add_links(b, &f);
}
