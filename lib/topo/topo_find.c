/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of devices and links, and marks that are set by name. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo_impl.h"

bool
rl_topo_name_ok(const char *name)
{
	const size_t len = strnlen(name, RL_NAME_MAX);

	if (len == 0 || len == RL_NAME_MAX || !isalpha((unsigned char)name[0]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '.' &&
		    name[i] != '_')
			return false;
	return true;
}

static int
name_compare(const void *va, const void *vb, void *arg)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct rl_topo_dev *dev = ((const struct rl_topo *)arg)->dev;
	const int c = strcmp(dev[a].name, dev[b].name);

	return c != 0 ? c : a < b ? -1 : a > b;
}

int
topo_index_names(struct topo_build *b)
{
	struct rl_topo *t = b->t;
	const struct rl_topo_ref *ref;
	uint32_t again = UINT32_MAX;

	for (uint32_t i = 0; i < t->ndev; i++)
		t->by_name[i] = i;
	qsort_r(t->by_name, t->ndev, sizeof(*t->by_name), name_compare, t);
	for (uint32_t i = 1; i < t->ndev; i++)
		if (strcmp(t->dev[t->by_name[i - 1]].name,
			   t->dev[t->by_name[i]].name) == 0)
			again = rl_min_u32(again, t->by_name[i]);
	if (again == UINT32_MAX)
		return 0;
	RL_ASSERT(b->spec->kind == RL_TOPO_CUSTOM ||
		  b->spec->kind == RL_TOPO_IBNET);
	ref = again < b->spec->nswitches ?
		      &b->spec->switches[again] :
		      &b->spec->endpoints[again - b->spec->nswitches];
	return topo_error(b, ref->line,
			  "a second device is called '%s'; names must differ",
			  ref->a);
}

int32_t
rl_topo_find_dev(const struct rl_topo *t, const char *name)
{
	uint32_t lo = 0, hi = t->ndev;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;
		const int c = strcmp(name, t->dev[t->by_name[mid]].name);

		if (c == 0)
			return (int32_t)t->by_name[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return -1;
}

/* Whether link l is before (-1), at (0) or after (1) the pair lo, hi. */
static int
pair_side(const struct rl_topo_link *l, uint32_t lo, uint32_t hi)
{
	const uint32_t llo = rl_min_u32(l->dev[0], l->dev[1]);
	const uint32_t lhi = l->dev[0] ^ l->dev[1] ^ llo;

	if (llo != lo)
		return llo < lo ? -1 : 1;
	return lhi < hi ? -1 : lhi > hi;
}

/* The first place in by_pair that is not before the pair lo, hi. */
static uint32_t
pair_lower(const struct rl_topo *t, uint32_t lo, uint32_t hi)
{
	uint32_t first = 0, end = t->nlink;

	while (first < end) {
		const uint32_t mid = first + (end - first) / 2;

		if (pair_side(&t->link[t->by_pair[mid]], lo, hi) < 0)
			first = mid + 1;
		else
			end = mid;
	}
	return first;
}

/* Start of the links of a pair in by_pair, and their number. */
static uint32_t
pair_find(const struct rl_topo *t, uint32_t a, uint32_t b, unsigned int *n)
{
	const uint32_t lo = rl_min_u32(a, b), hi = a ^ b ^ lo;
	const uint32_t first = pair_lower(t, lo, hi);

	*n = pair_lower(t, lo, hi + 1) - first;
	return first;
}

int64_t
rl_topo_link_between(const struct rl_topo *t, uint32_t dev_a, uint32_t dev_b,
		     unsigned int k)
{
	unsigned int n;
	const uint32_t first = pair_find(t, dev_a, dev_b, &n);

	return k < n ? (int64_t)t->by_pair[first + k] : -1;
}

unsigned int
rl_topo_parallel(const struct rl_topo *t, uint32_t link)
{
	unsigned int n;

	RL_ASSERT(link < t->nlink);
	pair_find(t, t->link[link].dev[0], t->link[link].dev[1], &n);
	return n;
}

/* The number after '#': digits only, at most RL_LINKS_MAX; -1 otherwise. */
static int32_t
parse_k(const char *p)
{
	uint32_t v = 0;

	if (*p == '\0')
		return -1;
	for (; *p != '\0'; p++) {
		if (!isdigit((unsigned char)*p))
			return -1;
		v = v * 10 + (uint32_t)(*p - '0');
		if (v > RL_LINKS_MAX)
			return -1;
	}
	return (int32_t)v;
}

static bool
parse_dev(char dst[RL_NAME_MAX], const char *src, size_t len)
{
	if (len == 0 || len >= RL_NAME_MAX)
		return false;
	memcpy(dst, src, len);
	dst[len] = '\0';
	return true;
}

int
rl_topo_ref_parse(const char *name, struct rl_topo_ref *ref)
{
	const char *dash = strchr(name, '-');
	const char *hash = strchr(name, '#');

	ref->b[0] = '\0';
	ref->k = -1;
	if (dash == NULL)
		return hash == NULL && parse_dev(ref->a, name, strlen(name)) ?
			       0 :
			       -EINVAL;
	if (!parse_dev(ref->a, name, (size_t)(dash - name)) ||
	    !parse_dev(ref->b, dash + 1, strcspn(dash + 1, "#")))
		return -EINVAL;
	if (hash == NULL)
		return 0;
	ref->k = hash > dash ? parse_k(hash + 1) : -1;
	return ref->k >= 0 ? 0 : -EINVAL;
}

int64_t
rl_topo_find_link(const struct rl_topo *t, const char *name,
		  unsigned int *nlinks)
{
	struct rl_topo_ref ref;
	int32_t a, b;
	int64_t l;

	if (rl_topo_ref_parse(name, &ref) != 0 || ref.b[0] == '\0')
		return -1;
	a = rl_topo_find_dev(t, ref.a);
	b = rl_topo_find_dev(t, ref.b);
	if (a < 0 || b < 0)
		return -1;
	l = rl_topo_link_between(t, (uint32_t)a, (uint32_t)b,
				 ref.k < 0 ? 0 : (unsigned int)ref.k);
	if (l < 0)
		return -1;
	if (nlinks != NULL)
		*nlinks = ref.k < 0 ? rl_topo_parallel(t, (uint32_t)l) : 1;
	return l;
}

char *
rl_topo_link_name(const struct rl_topo *t, uint32_t link, char *buf, size_t len)
{
	const struct rl_topo_link *l;

	RL_ASSERT(link < t->nlink);
	l = &t->link[link];
	if (rl_topo_parallel(t, link) > 1)
		snprintf(buf, len, "%s-%s#%u", t->dev[l->dev[0]].name,
			 t->dev[l->dev[1]].name, l->k);
	else
		snprintf(buf, len, "%s-%s", t->dev[l->dev[0]].name,
			 t->dev[l->dev[1]].name);
	return buf;
}

/* @p err may be NULL. */
#define mark_error(err, ret, ...)                                              \
	rl_refuse(err, (err) == NULL ? 0 : RL_ERR_MAX, ret, __VA_ARGS__)

static int
no_link_error(const struct rl_topo *t, const struct rl_topo_ref *ref, char *err)
{
	const int32_t a = rl_topo_find_dev(t, ref->a);
	const int32_t b = rl_topo_find_dev(t, ref->b);
	unsigned int n;

	if (a < 0 || b < 0)
		return mark_error(err, -ENOENT,
				  "there is no link %s-%s: no device is called "
				  "'%s'; correct the name",
				  ref->a, ref->b, a < 0 ? ref->a : ref->b);
	pair_find(t, (uint32_t)a, (uint32_t)b, &n);
	if (n == 0)
		return mark_error(err, -ENOENT,
				  "there is no link %s-%s; name two devices "
				  "that are joined", ref->a, ref->b);
	return mark_error(err, -ENOENT,
			  "there is no link %s-%s#%d; #0 to #%u exist", ref->a,
			  ref->b, ref->k, n - 1);
}

static int
mark_switch(struct rl_topo *t, const char *name, bool failed, char *err)
{
	const int32_t dev = rl_topo_find_dev(t, name);

	if (dev < 0)
		return mark_error(err, -ENOENT,
				  "there is no switch %s; correct the name",
				  name);
	if (t->dev[dev].kind != RL_DEV_SWITCH)
		return mark_error(err, -EINVAL,
				  "%s is an endpoint; name a switch, or one of "
				  "the links of %s", name, name);
	t->dev[dev].failed = failed;
	return 0;
}

static int
topo_mark(struct rl_topo *t, const char *name, bool failed, char *err)
{
	struct rl_topo_ref ref;
	unsigned int n;
	int64_t l;

	if (rl_topo_ref_parse(name, &ref) != 0)
		return mark_error(err, -ENOENT,
				  "'%.80s' is not a link or switch; "
				  "write A-B, A-B#k or A", name);
	if (ref.b[0] == '\0')
		return mark_switch(t, ref.a, failed, err);
	l = rl_topo_find_link(t, name, &n);
	if (l < 0)
		return no_link_error(t, &ref, err);
	for (unsigned int i = 0; i < n; i++) {
		const uint32_t *dev = t->link[l].dev;
		const int64_t one = rl_topo_link_between(
			t, dev[0], dev[1],
			ref.k < 0 ? i : (unsigned int)ref.k);

		RL_ASSERT(one >= 0);
		t->link[one].failed = failed;
	}
	return 0;
}

int
rl_topo_fail(struct rl_topo *t, const char *name, char *err)
{
	return topo_mark(t, name, true, err);
}

int
rl_topo_heal(struct rl_topo *t, const char *name, char *err)
{
	return topo_mark(t, name, false, err);
}
