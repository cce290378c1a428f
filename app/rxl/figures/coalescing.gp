# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth loss by stand-alone ACKs
f = 'loss.csv'
P = 'rxl rxl-compact cxl cxl-sep-ack'
is(p) = strcol('profile') eq p && strcol('retry') eq 'go-back-n' && \
	c('level') == 1 && c('ber') < 8e-6 && c('ber') > 5e-6
# side by side, so that none hides another
beside(i) = 1.06**(i - 2.5)
set logscale xy
set format y '10^{%T}'
set xlabel 'flits acknowledged at once'
set ylabel 'bandwidth loss'
set xrange [0.8:130]
set yrange [1e-3:1.3]
set xtics (1, 2, 4, 10, 32, 64, 100)
set key below maxcols 3 spacing 1.1
plot [0.8:130] 1 / x lc 'gray' dt 2 title 'eq. 13: p', \
	1 / (1 + x) lc 'gray' title 'p/(1 + p)', \
	for [i=1:words(P)] f using \
		(is(word(P, i)) ? beside(i) * c('coalesce') : NaN) \
		:(c('measured')):(c('low')):(c('high')) with yerrorbars lt i \
		title word(P, i)
