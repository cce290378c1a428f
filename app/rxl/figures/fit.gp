# SPDX-License-Identifier: BSD-3-Clause
# Figure 8: FIT against levels of switching
f = 'fit.csv'
set logscale y
set format y '10^{%T}'
set xlabel 'levels of switching'
set xtics 1
set ylabel 'FIT of a device'
set xrange [-0.3:4.3]
set yrange [1e-19:1e18]
set key below maxcols 2 spacing 1.1
plot f using (c('level')):(c('cxl_paper')) with linespoints lc 1 dt 2 pt 4 \
		title 'CXL, the paper', \
	f using (c('level')):(c('cxl')):(c('cxl_low')):(c('cxl_high')) \
		with yerrorbars lc 1 pt 6 notitle, \
	f using (c('level')):(c('cxl')) with linespoints lc 1 pt 6 \
		title 'cxl, measured (same FER_{UC})', \
	f using (c('level')):(c('cxl_1e-6')) with linespoints lc 4 pt 8 \
		title 'cxl, extrapolated to 1e-6', \
	f using (c('level')):(c('rxl_paper')) with linespoints lc 2 dt 2 pt 4 \
		title 'RXL, the paper', \
	f using (c('level')):(c('rxl')) with linespoints lc 2 pt 6 \
		title 'rxl: altered at the CRC, 2^{-64}', \
	f using (c('level')):(c('rxl_1e-6')) with linespoints lc 3 pt 8 \
		title 'rxl at 1e-6', \
	f using (c('level')):(c('bch')) with linespoints lc 6 dt 4 pt 10 \
		title 'crc64-bch: six wrong bits', \
	f using (c('level')):(c('bch_1e-6')) with linespoints lc 7 dt 4 pt 12 \
		title 'crc64-bch at 1e-6'
