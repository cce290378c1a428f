/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_DETECT_H
#define PORT_DETECT_H

/**
 * @file
 * State of the detectors of a port (port_detect.c); part of port_priv.h.
 */

#include <stdbool.h>
#include <stdint.h>

/** Kinds of errors: of flits, or of frames. */
enum port_hurt {
	PORT_HURT_CORRECTED, /* FEC corrected it */
	PORT_HURT_BAD,	     /* FEC could not, or the header is corrupt */
	PORT_HURT_LOST,	     /* a gap, a NAK, or a replay after the timer */
	PORT_HURTS,
};

/** Errors beyond half of a limit, and beyond the limit. */
struct port_score {
	uint64_t half, full; /* millionths of a flit */
};

/** Silence and error rates (port_detect.c). */
struct port_detect {
	uint64_t last_tick_ns;
	uint64_t silent_ns;	/* listened without hearing anything */
	bool heard;		/* since the last tick */
	bool doubt;		/* a frame was corrupt or a stranger's */
	bool degraded;
	bool errors;		/* anything below needs a look */
	uint32_t hurt[PORT_HURTS]; /* since the scores were updated */
	uint32_t judged;	/* flits received, at that time */
	struct port_score score[PORT_HURTS];
	uint64_t ill_ns;	/* a rate was last too high */
};

#endif /* PORT_DETECT_H */
