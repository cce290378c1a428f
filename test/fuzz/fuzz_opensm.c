/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenSM dumps with any bytes [APP-4]: replaces each file of a valid dump by
 * the input in turn. The dump is refused with one line, or gives tables that
 * the checker can walk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_main.h"
#include "rl_check.h"
#include "rl_opensm.h"

#define DIR "test/unit/opensm/ring/"

const char *const fuzz_words[] = {
	"Unicast lids [0-8] of switch Lid 2 guid 0x0000000000200000 ('S0'):\n",
	"0x0001 003 # Channel Adapter portguid 0x0000000000100001: 'H0'\n",
	"0xbfff", "0xc000", " 255", " 256", "portguid 0x0000000000100003",
	"Switch 0x0000000000200000, base LID 2, \"S0\"\n",
	"3   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  15\n",
	"255 255 :", " 15", " 16", ":", "#",
	"Channel Adapter 0x0000000000100001, base LID 1, \"H0\", port 1\n",
	"0x0005 : 15 :", "0x0005 : UNREACHABLE", "PathRecord dump:\n",
	"\t\tdlid....................5\n", "\t\tslid....................1\n",
	"\t\tsl......................0xf\n", "LID:0005", "PN:FF", "\n",
};
const size_t fuzz_nwords = RL_ARRAY_SIZE(fuzz_words);

static struct rl_opensm_text good[RL_OPENSM_FILES];

static void
load(enum rl_opensm_file file, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = malloc(1 << 16);

	if (f == NULL || text == NULL) {
		fprintf(stderr, "run this from the top of the tree\n");
		exit(1);
	}
	good[file].len = fread(text, 1, 1 << 16, f);
	good[file].text = text;
	fclose(f);
}

static void
load_good(void)
{
	if (good[RL_OPENSM_NET].text != NULL)
		return;
	load(RL_OPENSM_NET, DIR "opensm-subnet.lst");
	load(RL_OPENSM_LFTS, DIR "opensm-lfts.dump");
	load(RL_OPENSM_SL2VL, DIR "opensm-sl2vl.dump");
	load(RL_OPENSM_PATHS, DIR "opensm-path-records.dump");
}

static void
try_file(enum rl_opensm_file file, const struct rl_opensm_text *input)
{
	struct rl_opensm_text texts[RL_OPENSM_FILES];
	struct rl_opensm_error err;
	struct rl_check_report rep;
	struct rl_opensm osm;

	memcpy(texts, good, sizeof(texts));
	texts[file] = *input;
	if (rl_opensm_read(texts, &osm, &err) != 0) {
		RL_ASSERT(err.why[0] != '\0' && err.line >= 0);
		RL_ASSERT(strchr(err.why, '\n') == NULL);
		RL_ASSERT(osm.fwd == NULL && osm.priv == NULL);
		return;
	}
	RL_ASSERT(osm.nvls <= RL_VCS && osm.topo.nep >= 2);
	if (osm.topo.nep < 64) {
		const struct rl_check_in in = {.topo = &osm.topo,
					       .fwd = osm.fwd};

		rl_check(&in, &rep);
		RL_ASSERT(rep.reachable <= rep.pairs);
	}
	rl_opensm_free(&osm);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rl_opensm_text input = {(const char *)data, size};

	load_good();
	for (int f = 0; f < RL_OPENSM_FILES; f++)
		try_file((enum rl_opensm_file)f, &input);
	return 0;
}
