/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CAPTURE_H
#define CAPTURE_H

/**
 * @file
 * Captures: the frames of a link, or of parallel ones, both ways, in a pcapng
 * file [APP-3]. Frames are captured where they arrive, after injected faults.
 * A frame that a fault dropped is in the file, too, with a comment.
 *
 * The lcores copy frames into rings (rl_tap.h), the control thread writes
 * them. If it falls behind, frames are left out and counted: in the file
 * (`epb_dropcount`), at the end, and by `show captures`.
 *
 * Control thread.
 */

#include "host.h"
#include "pcapng.h"
#include "rl_tap.h"

#define CAPTURES_MAX 8
#define CAPTURE_LINKS_MAX 8
#define CAPTURE_RING_BYTES (4u << 20) /* of a direction */
#define CAPTURE_MIB_DEFAULT 256u

/** One direction of a link. */
struct capture_dir {
	uint32_t link;
	uint32_t to; /**< end where frames arrive */
	struct rl_tap tap;
	uint8_t *ring;
	struct rl_tap_rec rec; /**< taken out of the ring, not yet written */
	uint8_t *frame;	       /**< RL_FRAME_BYTES_MAX */
	bool full;	       /**< rec and frame hold one */
	uint64_t frames;       /**< written */
};

struct capture {
	const struct host *host;
	char path[128];
	struct pcapng file;
	uint64_t max_bytes;
	uint64_t epoch_ns; /**< host's clock 0, since 1970 */
	struct capture_dir dir[2 * CAPTURE_LINKS_MAX];
	uint32_t ndirs;	 /**< 0: this place is free */
	bool ended;	 /**< full, or an error: nothing more is written */
	int error;
};

struct captures {
	struct host *host;
	struct capture *c[CAPTURES_MAX];
};

/**
 * Begins one of @p n links.
 * @return 0; -EBUSY: one of them is being captured; -ENOSPC: too many
 *   captures; -ENOMEM; or -errno of the file
 */
int capture_start(struct captures *cs, const uint32_t link[], unsigned int n,
		  const char *path, uint64_t max_bytes, const char *comment);

/** The capture that a link belongs to; NULL: none. */
struct capture *capture_of(const struct captures *cs, uint32_t link);

/**
 * Ends a capture: prints what it holds, and closes the file.
 * @return 0 or -errno of the file
 */
int capture_stop(struct captures *cs, struct capture *c);

/** Often. Writes what lcores have put into the rings. */
void captures_step(struct captures *cs);

/**
 * After all lcores have stopped. Ends all captures. @return 0, or the first
 * -errno
 */
int captures_close(struct captures *cs);

/** Frames written, and frames left out because there was no room. */
void capture_counts(const struct capture *c, uint64_t *frames,
		    uint64_t *dropped);

#endif /* CAPTURE_H */
