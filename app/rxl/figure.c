/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figure.h"

/* A column's value, also where gnuplot expects a whole expression. */
#define C(name) "(column('" name "'))"

static const char rates[] =
	"set logscale xy\n"
	"set format xy '10^{%T}'\n"
	"set xlabel 'bit error rate'\n"
	"set ylabel 'share of flits'\n"
	"set key bottom right\n"
	"rows(w) = (strcol('outcome') eq w)\n"
	"f = 'fec.csv'\n"
	"plot for [i=1:words(W)] f using (rows(O[i]) ? " C("ber")
	" : NaN):" C("computed")
	" smooth unique with lines lc i lw 1.5 notitle, \\\n"
	"  for [i=1:words(W)] f using (rows(O[i]) ? " C("ber")
	" : NaN):" C("measured") ":" C("low") ":" C("high")
	" with yerrorbars lt i title word(W, i), \\\n"
	"  3e-5 lc 'gray' dt 2 title 'PCIe 6.0 bound (the paper, eq. 2)'\n";

static const char rates_pre[] =
	"array O[5] = ['erroneous (eq. 1)', 'corrected', 'uncorrectable', "
	"'  detected: dropped', '  miscorrected']\n"
	"W = 'erroneous corrected uncorrectable detected miscorrected'\n";

static const char order[] =
	"set logscale y\n"
	"set format y '10^{%T}'\n"
	"set xlabel 'levels of switching'\n"
	"set xtics 1\n"
	"set ylabel 'order failures per flit (cxl, ACK share 0.1)'\n"
	"set xrange [0.5:4.5]\n"
	"set key below maxcols 2 spacing 1.1\n"
	"array B[4] = [6.6e-6, 1e-5, 3e-5, 1e-4]\n"
	"is(i) = (strcol('profile') eq 'cxl' && " C("coalesce")
	" == 10 && abs(" C("ber") "/B[i] - 1) < 0.01 && "
	C("level") " > 0)\n"
	"f = 'order.csv'\n"
	"plot for [i=1:4] f using (is(i) ? " C("level")
	" : NaN):" C("eq7")
	" smooth unique with lines lc i dt 2 title sprintf('eq. 7, BER %.1e', B[i]), \\\n"
	"  for [i=1:4] f using (is(i) ? " C("level")
	" : NaN):" C("computed")
	" smooth unique with lines lc i notitle, \\\n"
	"  for [i=1:4] f using (is(i) ? " C("level")
	" : NaN):" C("measured") ":" C("low") ":" C("high")
	" with yerrorbars lt i title "
	"sprintf('measured, BER %.1e', B[i])\n";

static const char fit[] =
	"set logscale y\n"
	"set format y '10^{%T}'\n"
	"set xlabel 'levels of switching'\n"
	"set xtics 1\n"
	"set ylabel 'FIT of a device'\n"
	"set xrange [-0.3:4.3]\n"
	"set yrange [1e-19:1e18]\n"
	"set key below maxcols 2 spacing 1.1\n"
	"f = 'fit.csv'\n"
	"plot f using " C("level") ":" C("cxl_paper")
	" with linespoints lc 1 dt 2 pt 4 title 'CXL, the paper', \\\n"
	"  f using " C("level") ":" C("cxl") ":" C("cxl_low") ":" C("cxl_high")
	" with yerrorbars lc 1 pt 6 notitle, \\\n"
	"  f using " C("level") ":" C("cxl")
	" with linespoints lc 1 pt 6 title 'cxl, measured (same FER_{UC})', \\\n"
	"  f using " C("level") ":" C("cxl_1e-6")
	" with linespoints lc 4 pt 8 title 'cxl, extrapolated to 1e-6', \\\n"
	"  f using " C("level") ":" C("rxl_paper")
	" with linespoints lc 2 dt 2 pt 4 title 'RXL, the paper', \\\n"
	"  f using " C("level") ":" C("rxl")
	" with linespoints lc 2 pt 6 title 'rxl: altered at the CRC, 2^{-64}', \\\n"
	"  f using " C("level") ":" C("rxl_1e-6")
	" with linespoints lc 3 pt 8 title 'rxl at 1e-6', \\\n"
	"  f using " C("level") ":" C("bch")
	" with linespoints lc 6 dt 4 pt 10 title 'crc64-bch: six wrong bits', \\\n"
	"  f using " C("level") ":" C("bch_1e-6")
	" with linespoints lc 7 dt 4 pt 12 title 'crc64-bch at 1e-6'\n";

static const char loss[] =
	"set logscale xy\n"
	"set format xy '10^{%T}'\n"
	"set xlabel 'bit error rate'\n"
	"set ylabel 'bandwidth loss'\n"
	"set key top left\n"
	"is(r, k) = (strcol('profile') eq 'rxl' && strcol('retry') eq r && "
	"strcol('reports') eq 'no' && "
	C("level") " == k && " C("coalesce") " == 10)\n"
	"array L[4] = [0, 1, 2, 4]\n"
	"f = 'loss.csv'\n"
	"plot for [i=1:4] f using (is('go-back-n', L[i]) ? " C("ber")
	" : NaN):" C("equation")
	" smooth unique with lines lc i dt 2 notitle, \\\n"
	"  for [i=1:4] f using (is('go-back-n', L[i]) ? " C("ber")
	" : NaN):" C("measured") ":" C("low") ":" C("high")
	" with yerrorbars lt i title sprintf('go-back-n, level %d', L[i])"
	", \\\n"
	"  for [i=1:4] f using (is('selective', L[i]) ? " C("ber")
	" : NaN):" C("computed")
	" smooth unique with lines lc i dt 3 notitle, \\\n"
	"  for [i=1:4] f using (is('selective', L[i]) ? " C("ber")
	" : NaN):" C("measured")
	" with points lt i title sprintf('selective, level %d', L[i])\n";

static const char coalescing[] =
	"set logscale x\n"
	"set xlabel 'flits acknowledged at once'\n"
	"set ylabel 'bandwidth loss'\n"
	"set yrange [0:1.05]\n"
	"is(p) = (strcol('profile') eq p && strcol('retry') eq 'go-back-n' && "
	C("level") " == 1 && " C("ber") " < 8e-6 && " C("ber") " > 5e-6)\n"
	"f = 'loss.csv'\n"
	"P = 'rxl rxl-compact cxl cxl-sep-ack'\n"
	"plot [1:128] 1/x lc 'gray' dt 2 title 'eq. 13: p', 1/(1+x) lc 'gray' "
	"title 'p/(1 + p)', \\\n"
	"  for [i=1:words(P)] f using (is(word(P, i)) ? " C("coalesce")
	" : NaN):" C("measured") " with points lc i pt 4+i title word(P, i)\n";

static const char burst[] =
	"set logscale y\n"
	"set format y '10^{%T}'\n"
	"set xlabel 'probability that an error runs on to the next bit'\n"
	"set ylabel 'uncorrectable flits'\n"
	"set key top left\n"
	"f = 'burst.csv'\n"
	"array L[2] = [1, 16]\n"
	"plot for [i=1:2] f using (" C("lanes") " == L[i] ? " C("propagate")
	" : NaN):" C("uncorrectable") ":" C("low") ":" C("high")
	" with yerrorbars lt i title (L[i] == 1 ? 'one lane' : '16 lanes'), \\\n"
	"  3e-5 lc 'gray' dt 2 title 'PCIe 6.0 bound (the paper, eq. 2)'\n";

const struct rxl_figure_spec rxl_figures[RXL_FIGURES] = {
	{ "rates", "", "What FEC makes of independent bit errors", "fec",
	  rates },
	{ "order", "", "Order failures of cxl behind switches", "order",
	  order },
	{ "fit", "8", "Figure 8: FIT against levels of switching", "fit",
	  fit },
	{ "loss", "", "Bandwidth loss by retries", "loss", loss },
	{ "coalescing", "", "Bandwidth loss by stand-alone ACKs", "loss",
	  coalescing },
	{ "burst", "", "Error bursts and the bound of PCIe 6.0", "burst",
	  burst },
};

const struct rxl_figure_spec *
rxl_figure_find(const char *name)
{
	for (size_t i = 0; i < RXL_FIGURES; i++)
		if (strcmp(name, rxl_figures[i].name) == 0 ||
		    (name[0] != '\0' &&
		     strcmp(name, rxl_figures[i].number) == 0))
			return &rxl_figures[i];
	return NULL;
}

/* Told apart by people who see few colours, too, and on white (after Okabe and
   Ito); each series has a mark of its own besides. */
static const char colours[] =
	"set linetype 1 lc rgb '#0072b2' pt 4\n"
	"set linetype 2 lc rgb '#d55e00' pt 6\n"
	"set linetype 3 lc rgb '#009e73' pt 8\n"
	"set linetype 4 lc rgb '#cc79a7' pt 10\n"
	"set linetype 5 lc rgb '#000000' pt 12\n"
	"set linetype 6 lc rgb '#56b4e9' pt 5\n"
	"set linetype 7 lc rgb '#e69f00' pt 7\n";

static int
write_script(const struct rxl_figure_spec *f, const char *path)
{
	FILE *out = fopen(path, "w");
	int ret = 0;

	if (out == NULL)
		return -errno;
	fprintf(out,
		"# %s\n# draw again with: gnuplot %s.gp\n"
		"set datafile separator ','\n"
		"set datafile missing ''\n"
		"set grid\n%s"
		"do for [t in 'svg png pdf'] {\n"
		"if (t eq 'svg') { set terminal svg size 860,520 background "
		"'white' }\n"
		"if (t eq 'png') { set terminal pngcairo size 860,520 }\n"
		"if (t eq 'pdf') { set terminal pdfcairo size 18cm,11cm }\n"
		"set output '%s.'.t\n%s%s}\n",
		f->title, f->name, colours, f->name,
		f->script == rates ? rates_pre : "", f->script);
	if (ferror(out))
		ret = -EIO;
	if (fclose(out) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

/** gnuplot in @p dir; its exit status, 127 where it is not there. */
static int
run_gnuplot(const char *dir, const char *script)
{
	const pid_t pid = fork();
	int status;

	if (pid < 0)
		return 126;
	if (pid == 0) {
		const int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
		    dup2(null, STDERR_FILENO) < 0 || chdir(dir) != 0)
			_exit(126);
		execlp("gnuplot", "gnuplot", script, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

int
rxl_figure_draw(const struct rxl_figure_spec *f, const char *dir)
{
	char path[1024], script[64];
	int ret;

	snprintf(script, sizeof(script), "%s.gp", f->name);
	snprintf(path, sizeof(path), "%s/%s", dir, script);
	ret = write_script(f, path);
	if (ret != 0)
		return ret;
	ret = run_gnuplot(dir, script);
	if (ret == 127)
		return 1;
	return ret == 0 ? 0 : -EIO;
}
