/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_FIGURE_H
#define RXL_FIGURE_H

/**
 * @file
 * Pictures of the tables, drawn by gnuplot from their CSV files. What each shows
 * stands in figures/NAME.gp, between style.gp and forms.gp; the script is kept
 * beside the picture, so that it can be changed and drawn again.
 */

#include <stddef.h>
#include <stdint.h>

struct rxl_figure_spec {
	const char *name;   /**< of its files: NAME.gp, NAME.svg, NAME.png */
	const char *number; /**< in the RXL paper; "" where it has none */
	const char *report; /**< whose CSV it draws */
};

#define RXL_FIGURES 6
extern const struct rxl_figure_spec rxl_figures[RXL_FIGURES];

/** Main thread. By name or number; NULL where there is no such. */
const struct rxl_figure_spec *rxl_figure_find(const char *name);

/**
 * Main thread. Writes the script of figure @p name into @p dir, and has gnuplot
 * draw it there as SVG, PNG and PDF. @p script is what stands between style and
 * forms; NULL: that of figures/.
 *
 * @return 0; 1 where gnuplot is not there; -ENOENT: there is no such figure;
 *   -errno where the script can't be written; -EIO where gnuplot fails
 */
int rxl_figure_draw(const char *name, const char *script, const char *dir);

#endif /* RXL_FIGURE_H */
