/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pcap_same A B: whether two captures hold the same frames, byte for byte and
 * in the same order. Time stamps are not compared. Exit status 0: the same;
 * 1: not, with the first difference on standard output; 2: cannot be read.
 */

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

static pcap_t *
open_file(const char *path)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(path, err);

	if (p == NULL)
		fprintf(stderr, "%s: %s\n", path, err);
	return p;
}

int
main(int argc, char **argv)
{
	struct pcap_pkthdr *ha, *hb;
	const u_char *da, *db;
	uint64_t n = 0;
	pcap_t *a, *b;

	if (argc != 3) {
		fprintf(stderr, "usage: pcap_same A B\n");
		return 2;
	}
	a = open_file(argv[1]);
	b = open_file(argv[2]);
	if (a == NULL || b == NULL)
		return 2;
	for (;; n++) {
		const int ra = pcap_next_ex(a, &ha, &da);
		const int rb = pcap_next_ex(b, &hb, &db);

		if (ra == 1 && rb == 1 && ha->caplen == hb->caplen &&
		    memcmp(da, db, ha->caplen) == 0)
			continue;
		if (ra != 1 && rb != 1)
			break;
		printf("%s and %s differ at frame %" PRIu64 "%s\n", argv[1],
		       argv[2], n + 1,
		       ra == 1 && rb == 1 ? "" : ": one ends there");
		return 1;
	}
	printf("%s: %" PRIu64 " frames, as in %s\n", argv[2], n, argv[1]);
	pcap_close(a);
	pcap_close(b);
	return 0;
}
