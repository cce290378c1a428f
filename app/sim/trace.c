/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Captured frames as traffic. Each endpoint sends the frames of the file, in
 * order, to its partner; what arrives must be the same bytes. Frames that no
 * packet can hold are left out and counted, as on real ports.
 */

#include <errno.h>
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap_kind.h"
#include "rl_infile.h"
#include "rl_refuse.h"
#include "sim_app.h"

#define TRACE_MAX_BYTES (1u << 30)

/* Grows an array to hold @p need elements of @p size bytes. */
static int
grow(void **array, uint64_t *cap, uint64_t need, size_t size)
{
	uint64_t n = *cap == 0 ? 1024 : *cap;
	void *more;

	if (need <= *cap)
		return 0;
	while (n < need)
		n *= 2;
	more = realloc(*array, n * size);
	if (more == NULL)
		return -ENOMEM;
	*array = more;
	*cap = n;
	return 0;
}

static int
read_frames(struct setup *s, pcap_t *pcap, uint32_t max_bytes)
{
	uint64_t cap_bytes = 0, cap_off = 0, bytes = 0;
	struct pcap_pkthdr *h;
	const u_char *data;
	int ret;

	while ((ret = pcap_next_ex(pcap, &h, &data)) == 1) {
		if (h->caplen > max_bytes) {
			s->oversize++;
			continue;
		}
		if (bytes + h->caplen > TRACE_MAX_BYTES)
			return -EFBIG;
		if (grow((void **)&s->trace_bytes, &cap_bytes,
			 bytes + h->caplen + 1, 1) != 0 ||
		    grow((void **)&s->trace_off, &cap_off, s->trace.n + 2,
			 sizeof(*s->trace_off)) != 0)
			return -ENOMEM;
		memcpy(s->trace_bytes + bytes, data, h->caplen);
		s->trace_off[s->trace.n++] = bytes;
		bytes += h->caplen;
		s->trace_off[s->trace.n] = bytes;
	}
	if (ret == PCAP_ERROR && !pcap_is_cut_off(pcap))
		return -EPROTO;
	s->truncated = ret == PCAP_ERROR;
	s->trace.data = s->trace_bytes;
	s->trace.off = s->trace_off;
	return s->trace.n == 0 ? -ENODATA : 0;
}

int
trace_read(struct setup *s, const char *path, char *err, size_t errlen)
{
	char why[PCAP_ERRBUF_SIZE];
	char *text = NULL;
	pcap_t *pcap;
	size_t len;
	FILE *f;
	int ret = rl_infile_read(path, RL_INFILE_ANY, TRACE_MAX_BYTES, &text,
				 &len);

	if (ret != 0)
		return rl_refuse(err, errlen, -EINVAL, "%s: %s", path,
				 ret == -EFBIG ? "more than 1 GiB"
					       : rl_infile_error(ret));
	f = fmemopen(text, len, "r");
	pcap = f == NULL ? NULL : pcap_fopen_offline(f, why);
	if (pcap == NULL) {
		if (f != NULL)
			fclose(f);
		free(text);
		return rl_refuse(err, errlen, -EINVAL, "%s: %s", path, why);
	}
	if (!pcap_is_ethernet(pcap, why, sizeof(why)))
		ret = -EPROTO;
	else
		ret = read_frames(s, pcap,
				  rl_ep_max_bytes(&s->plan.cfg.endpoint));
	if (ret == -EPROTO && pcap_datalink(pcap) == DLT_EN10MB)
		snprintf(why, sizeof(why), "it cannot be read beyond frame %u: "
			 "%.120s", s->trace.n, pcap_geterr(pcap));
	pcap_close(pcap);
	free(text);
	switch (ret) {
	case -ENODATA:
		if (s->oversize == 0)
			snprintf(err, errlen, "%s: holds no whole frame%s",
				 path, s->truncated ? ", it is cut off" : "");
		else
			snprintf(err, errlen,
				 "%s: no frame that fits a packet of %u "
				 "bytes; raise link.max_packet_flits", path,
				 rl_ep_max_bytes(&s->plan.cfg.endpoint));
		break;
	case -EPROTO:
		snprintf(err, errlen, "%s: %s", path, why);
		break;
	case -EFBIG:
		snprintf(err, errlen, "%s: more than 1 GiB of frames", path);
		break;
	case -ENOMEM:
		snprintf(err, errlen, "%s: out of memory", path);
		break;
	default:
		break;
	}
	return ret;
}
