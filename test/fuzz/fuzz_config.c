/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabric files of any bytes [APP-4]: each is either accepted as a whole and
 * then consistent, or refused with one line, leaving nothing allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_main.h"
#include "rl_config.h"

#define NAME "fuzz/input.cfg"

const char *const fuzz_words[] = {
	"{", "}", "(", ")", "[", "]", ";", ",", "=", ":", "\"", "\\", "#", "//",
	"/*", "*/", "\n", "@include \"", "\n@include \"none\"\n", "0", "-1",
	"1", "2", "8", "511", "512", "32768", "65535", "65536", "2147483648",
	"4294967296", "9223372036854775807", "9223372036854775808", "0x",
	"0xffffffffffffffff", "1e9", "2.5", "L", "true", "false", "fabric: { ",
	"topology = ", "\"torus\";", "\"mesh\";", "\"boards\";", "\"board\";",
	"\"custom\";", "dims = [", "4, ", "wrap = [true, false];",
	"links_per_edge = ", "hosts_per_switch = ", "fail = [\"s0-s1\"];",
	"fail = [\"", "s0", "s1", "e0", "e1", "s0.0", "s0-s1#1", "#0", "-",
	"boards = ", "switches_per_board = ", "endpoints_per_board = ",
	"switches_per_endpoint = ", "intra_board_links = ",
	"switches = ( ", "endpoints = ( ", "links = ( ", "{ name = \"",
	"{ a = \"s0\"; b = \"s1\"; ", "count = ", "link: { ", "endpoint: { ",
	"routing: { engine = \"", "vls = ", "window_flits = ", "retry = ",
	"max_packet_flits = ", "replay_isl = [\"", "posted\"];",
	"watchdog_ns = ", "profile = \"cxl\";", "crc = \"pcie6-rs\";",
	"attach = ( { endpoint = \"e0\"; port = \"p\"; } );", "dst = \"",
	"lcores: { place = ( { role = \"s\"; lcore = 1; } ); };",
};
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

/* One line "FILE:LINE: reason", within the length limit. */
static void
check_error(const char *err, size_t errlen)
{
	const char *p = err;

	RL_ASSERT(memchr(err, '\0', errlen) != NULL);
	do {
		p = strchr(p, ':');
		RL_ASSERT(p != NULL);
		p++;
	} while (strspn(p, "0123456789") == 0 ||
		 strncmp(p + strspn(p, "0123456789"), ": ", 2) != 0);
	for (p = err; *p != '\0'; p++)
		RL_ASSERT((unsigned char)*p >= ' ');
}

static void
check_topo(const struct rl_topo *t)
{
	char err[RL_ERR_MAX], name[80];

	RL_ASSERT(t->nep >= 2 && t->ndev <= RL_DEVICES_MAX);
	RL_ASSERT(t->nlink >= 1 && t->nlink <= RL_LINKS_MAX);
	RL_ASSERT(rl_topo_reach(t, RL_REACH_PRISTINE, err) == 0);
	for (uint32_t u = 0; u < t->ndev; u++) {
		const struct rl_topo_dev *dev = &t->dev[u];

		RL_ASSERT(rl_topo_name_ok(dev->name));
		RL_ASSERT(rl_topo_find_dev(t, dev->name) == (int32_t)u);
		for (unsigned int p = 0; p < dev->nports; p++) {
			const struct rl_topo_port *q = &dev->port[p];

			RL_ASSERT(t->dev[q->peer_dev]
					  .port[q->peer_port].peer_dev == u);
		}
	}
	for (uint32_t l = 0; l < t->nlink; l += 1 + t->nlink / 1000) {
		rl_topo_link_name(t, l, name, sizeof(name));
		RL_ASSERT(rl_topo_find_link(t, name, NULL) == l);
	}
}

static void
check_config(const struct rl_config *cfg)
{
	const char *key;
	char err[200];

	RL_ASSERT(rl_link_cfg_check(&cfg->link, err, sizeof(err), &key) == 0);
	RL_ASSERT(rl_ep_cfg_check(&cfg->endpoint, err, sizeof(err), &key) == 0);
	RL_ASSERT(cfg->endpoint.max_packet_flits == cfg->link.max_packet_flits);
	RL_ASSERT(cfg->vls >= 1 && cfg->vls <= RL_VCS);
	RL_ASSERT(cfg->nattach <= RL_ATTACH_MAX && cfg->nplace <= RL_PLACE_MAX);
	for (uint32_t i = 0; i < cfg->nattach; i++)
		RL_ASSERT(rl_topo_find_dev(&cfg->topo,
					   cfg->attach[i].endpoint) >= 0);
	check_topo(&cfg->topo);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rl_config nothing;
	struct rl_config *cfg = malloc(sizeof(*cfg));
	char err[RL_ERR_MAX + 512];
	int ret;

	RL_ASSERT(cfg != NULL);
	memset(err, 0xff, sizeof(err));
	ret = rl_config_read_text(NAME, (const char *)data, size, cfg, err,
				  sizeof(err));
	if (ret == 0) {
		check_config(cfg);
		rl_config_free(cfg);
	} else {
		RL_ASSERT(ret == -EINVAL || ret == -EHOSTUNREACH ||
			  ret == -ENOMEM);
		check_error(err, sizeof(err));
	}
	RL_ASSERT(memcmp(cfg, &nothing, sizeof(nothing)) == 0);
	free(cfg);
	return 0;
}
