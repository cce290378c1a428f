/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Who altered the flits [SW-5]: each seed draws one or two parts of a fabric that
 * alter some (inside a switch or an endpoint, before a port sends, or on a link
 * past FEC), and one run later the witness must name these and no other. And
 * LCRC [LINK-7]: a fabric without end-to-end retry loses nothing to what FEC
 * miscorrects.
 *
 *   test_sim_suspects [--first SEED] [--seeds N] [-v]
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl_route.h"
#include "rl_sim.h"
#include "rl_sim_load.h"
#include "rl_suspect.h"

#define US RL_NS_PER_US
#define STOP_NS (30 * US)
#define HEAL_NS (40 * US)
#define LIMIT_NS (100 * RL_NS_PER_MS)
#define PPB 1000000000u
#define GUILTY_MAX 2

/* Links that are ill stay, so that their errors go on. */
#define FABRIC                                                                 \
	"fabric: { topology = \"torus\"; dims = [4]; links_per_edge = 2; };\n"
#define LINK "link: { error_window_ns = 0; lcrc = %s; };\n"
#define EP "max_flows = 16; tx_buffer_flits = 512; rx_buffer_flits = 512;"

struct fabric {
	struct rl_config cfg;
	struct rl_route *route;
};

struct run {
	const struct fabric *f;
	struct rl_prng prng;
	struct rl_sim_load *load;
	struct rl_sim *sim;
	struct rl_suspect guilty[GUILTY_MAX]; /* the parts that were drawn, */
	uint32_t nguilty;
	uint32_t soft_ppb[GUILTY_MAX]; /* if its core does it, how often; */
	struct rl_sim_faults faults;   /* else how */
	struct rl_sim_load_stats st;
	char text[200];
};

static struct rl_sim_mem mem;
static bool verbose;
static uint64_t altered; /* flits, as the witness counted them */

static int
fabric_open(struct fabric *f, const char *more, const char *lcrc)
{
	char text[512], err[1024];

	memset(f, 0, sizeof(*f));
	snprintf(text, sizeof(text), FABRIC LINK "%s", lcrc, more);
	if (rl_config_read_text("fabric", text, strlen(text), &f->cfg, err,
				sizeof(err)) == 0 &&
	    rl_route_setup(&f->cfg.topo, "reflit", 8, 1, &f->route, err) == 0)
		return 0;
	printf("%s\n", err);
	return -1;
}

static void
fabric_close(struct fabric *f)
{
	rl_route_free(f->route);
	rl_config_free(&f->cfg);
}

static void
client(void *ctx, uint32_t dev, uint16_t ep, const struct rl_sim_seat *seat,
       struct rl_client *c)
{
	const struct run *r = ctx;

	(void)dev;
	rl_sim_load_client(r->load, ep, seat, c);
}

static void
report(void *ctx, const struct rl_ep_report *rep, uint64_t now_ns)
{
	const struct run *r = ctx;

	rl_sim_load_report(r->load, rep, now_ns);
}

static void
say(struct run *r, const char *how, const char *name, double rate)
{
	const size_t len = strlen(r->text);

	snprintf(r->text + len, sizeof(r->text) - len, "%s%s %s %.2f",
		 len == 0 ? "" : ", ", name, how, rate);
}

/* A device that alters what it holds. */
static void
draw_device(struct run *r, uint32_t i)
{
	const struct rl_topo *t = &r->f->cfg.topo;

	r->guilty[i].index = rl_prng_below(&r->prng, t->ndev);
	r->soft_ppb[i] = PPB / 20 + rl_prng_below(&r->prng, PPB / 4);
	say(r, "alters", t->dev[r->guilty[i].index].name,
	    r->soft_ppb[i] / 1e9);
}

/* What leaves by one direction is altered: on its link, or before its port. */
static void
draw_direction(struct run *r, uint32_t i)
{
	const struct rl_topo *t = &r->f->cfg.topo;
	const uint32_t link = rl_prng_below(&r->prng, t->nlink);
	const uint32_t end = rl_prng_below(&r->prng, 2);
	const bool inside = rl_prng_below(&r->prng, 2);
	struct rl_fault f = {
		.t_ns = 10 * US,
		.kind = RL_FAULT_NOISE,
		.link = link,
		.dirs = end == 0 ? RL_FAULT_DIR_AB : RL_FAULT_DIR_BA,
	};

	if (inside) {
		f.noise.soft_ppb = PPB / 5;
	} else {
		f.noise.corrupt_ppb = PPB / 4;
		f.noise.where = RL_FAULT_HURT_BODY;
		f.noise.burst_bytes =
			(uint16_t)(2 + rl_prng_below(&r->prng, 6));
	}
	rl_sim_fault_add(&r->faults, &f);
	r->guilty[i].is_link = !inside;
	r->guilty[i].index = inside ? t->link[link].dev[end] : link;
	say(r, inside ? "before link" : "on link",
	    t->dev[t->link[link].dev[end]].name, link);
}

static void
begin(struct run *r, const struct fabric *f, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	r->f = f;
	rl_prng_seed(&r->prng, seed ^ 0x5059ec75ull);
}

static void
soft(const struct run *r, bool on)
{
	for (uint32_t i = 0; i < r->nguilty; i++)
		if (r->soft_ppb[i] != 0)
			rl_role_core_soft(&rl_sim_fabric(r->sim)
						   ->dev[r->guilty[i].index]
						   .core,
					  on ? r->soft_ppb[i] : 0);
}

/* @return 0, when all is at rest; r->sim is there still */
static int
run(struct run *r, uint64_t seed)
{
	const struct rl_topo *t = &r->f->cfg.topo;
	const struct rl_sim_load_cfg load = {
		.pattern = { .kind = RL_PATTERN_UNIFORM },
		.load = 0.02, .slot_ps = 2000, .min_flits = 1, .max_flits = 6,
		.cos = 1, .start_ns = 5 * US, .stop_ns = STOP_NS, .seed = seed,
		.nep = (uint16_t)t->nep,
	};
	struct rl_sim_params p = {
		.mem = &mem, .cfg = &r->f->cfg, .fwd = r->f->route->fwd,
		.isa = rl_codec_best_isa(512), .seed = seed, .turns = true,
		.doze = true, .soft = rl_sim_faults_soft(&r->faults),
		.notice_ns = 1000, .report = report, .client = client,
		.ctx = r,
	};
	char err[1024] = "";

	rl_sim_wire_defaults(&p.wire);
	r->load = rl_sim_load_new(&load);
	if (r->load == NULL || rl_sim_create(&p, &r->sim, err) != 0 ||
	    rl_sim_schedule(r->sim, &r->faults) != 0) {
		printf("%s\n", err);
		return -1;
	}
	soft(r, true);
	rl_sim_run(r->sim, HEAL_NS);
	rl_sim_heal_all(r->sim);
	soft(r, false);
	while (rl_sim_now(r->sim) < LIMIT_NS &&
	       !(rl_sim_load_done(r->load) &&
		 rl_sim_settled(r->sim, RL_SIM_PARTS_OK, err)))
		rl_sim_run(r->sim, rl_sim_now(r->sim) + 20 * US);
	rl_sim_load_stats(r->load, &r->st);
	if (rl_sim_now(r->sim) < LIMIT_NS)
		return 0;
	printf("seed %llu: %s: not at rest: %s\n", (unsigned long long)seed,
	       r->text, err);
	return -1;
}

static void
end(struct run *r)
{
	if (r->sim != NULL)
		rl_sim_destroy(r->sim, NULL);
	rl_sim_load_free(r->load);
	rl_sim_faults_free(&r->faults);
}

static bool
is_guilty(const struct run *r, const struct rl_suspect *s)
{
	for (uint32_t i = 0; i < r->nguilty; i++)
		if (s->is_link == r->guilty[i].is_link &&
		    s->index == r->guilty[i].index)
			return true;
	return false;
}

/* @return -1: another part is named; 0: none; 1: guilty ones alone */
static int
judge(const struct run *r, uint64_t seed)
{
	const struct rl_topo *t = &r->f->cfg.topo;
	struct rl_suspect s[64];
	const uint32_t n = rl_suspects_of(s, rl_sim_fabric(r->sim));
	uint32_t innocent = 0;
	char name[64];

	for (uint32_t i = 0; i < n; i++) {
		altered += s[i].altered;
		innocent += !is_guilty(r, &s[i]);
	}
	for (uint32_t i = 0; i < n && (verbose || innocent != 0); i++)
		printf("seed %llu: %s: %s altered %llu of %llu\n",
		       (unsigned long long)seed, r->text,
		       rl_suspect_name(&s[i], t, name, sizeof(name)),
		       (unsigned long long)s[i].altered,
		       (unsigned long long)s[i].looked);
	return innocent != 0 ? -1 : n != 0;
}

/* One part is guilty, or two. @return as judge(), and -1 if anything was lost */
static int
one(const struct fabric *f, uint64_t seed)
{
	struct run r;
	int ret = -1;

	begin(&r, f, seed);
	r.nguilty = 1 + rl_prng_below(&r.prng, GUILTY_MAX);
	for (uint32_t i = 0; i < r.nguilty; i++)
		if (rl_prng_below(&r.prng, 2) == 0)
			draw_device(&r, i);
		else
			draw_direction(&r, i);
	if (run(&r, seed) == 0)
		ret = judge(&r, seed);
	if (r.st.lost + r.st.corrupted + r.st.reordered + r.st.duplicated != 0) {
		printf("seed %llu: %s: %s\n", (unsigned long long)seed, r.text,
		       r.st.first_error);
		ret = -1;
	}
	end(&r);
	return ret;
}

/* @return how many seeds failed */
static int
name_the_guilty(const char *witness, uint64_t first, uint64_t seeds,
		uint64_t least)
{
	struct fabric f;
	uint64_t named = 0;
	char more[256];
	int bad = 0;

	altered = 0;
	snprintf(more, sizeof(more), "switch: { witness = %s; };\n"
				     "endpoint: { " EP " };\n", witness);
	if (fabric_open(&f, more, "false") != 0)
		return 1;
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		const int got = one(&f, seed);

		bad += got < 0;
		named += got > 0;
	}
	fabric_close(&f);
	printf("witness %s: %llu runs with one or two guilty parts, %llu flits "
	       "seen altered; guilty parts alone named in %llu, others in %d\n",
	       witness, (unsigned long long)seeds, (unsigned long long)altered,
	       (unsigned long long)named, bad);
	if (named < least)
		printf("the witness saw too little\n");
	return bad + (named < least);
}

/* Bit errors in bursts on each link, no end-to-end retry: @return packets lost
   or altered; *refused: flits that LCRC refused */
static uint64_t
lost_without_retry(const char *lcrc, uint64_t seeds, uint64_t *refused)
{
	struct fabric f;
	uint64_t lost = 0;

	*refused = 0;
	if (fabric_open(&f, "endpoint: { retry = false; " EP " };\n", lcrc) != 0)
		return UINT64_MAX;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct run r;

		begin(&r, &f, seed);
		for (uint32_t l = 0; l < f.cfg.topo.nlink; l++)
			rl_sim_fault_add(&r.faults, &(struct rl_fault){
				.t_ns = 10 * US, .kind = RL_FAULT_NOISE,
				.link = l, .dirs = RL_FAULT_DIR_BOTH,
				.noise = { .bit_rate = 1e-5,
					   .propagate = 0.9 } });
		if (run(&r, seed) != 0)
			lost++;
		lost += r.st.lost + r.st.corrupted + r.st.duplicated +
			r.st.reordered + r.st.reported;
		for (uint32_t d = 0; d < f.cfg.topo.ndev; d++) {
			const struct rl_device *dev =
				&rl_sim_fabric(r.sim)->dev[d];

			for (uint16_t p = 0; p < dev->nports; p++)
				*refused += rl_port_counters(
					dev->port[p].port)[RL_PC_rx_lcrc_bad];
		}
		end(&r);
	}
	fabric_close(&f);
	return lost;
}

static int
lose_nothing_to_miscorrection(uint64_t seeds)
{
	uint64_t refused, none;
	const uint64_t with = lost_without_retry("true", seeds, &refused);
	const uint64_t without = lost_without_retry("false", seeds, &none);

	printf("without end-to-end retry, %llu runs with bursts of bit errors: "
	       "%llu packets lost, with LCRC %llu (%llu flits refused)\n",
	       (unsigned long long)seeds, (unsigned long long)without,
	       (unsigned long long)with, (unsigned long long)refused);
	return with != 0 || without == 0 || refused == 0 || none != 0;
}

int
main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "first", required_argument, NULL, 'f' },
		{ "seeds", required_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t first = 1, seeds = 400;
	int opt, bad;

	while ((opt = getopt_long(argc, argv, "v", options, NULL)) != -1)
		if (opt == 'f')
			first = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			seeds = strtoull(optarg, NULL, 0);
		else if (opt == 'v')
			verbose = true;
		else
			return 2;
	if (rl_sim_mem_init(&mem) != 0)
		return 2;
	bad = name_the_guilty("\"all\"", first, seeds, seeds / 2);
	bad += name_the_guilty("16", first, seeds, seeds / 3);
	bad += lose_nothing_to_miscorrection(seeds / 10);
	rl_sim_mem_free(&mem);
	return bad != 0;
}
