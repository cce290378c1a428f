# SPDX-License-Identifier: BSD-3-Clause
# Order failures of cxl behind switches
f = 'order.csv'
array B[4] = [6.6e-6, 1e-5, 3e-5, 1e-4]
is(i) = strcol('profile') eq 'cxl' && c('coalesce') == 10 && \
	abs(c('ber') / B[i] - 1) < 0.01 && c('level') > 0
set logscale y
set format y '10^{%T}'
set xlabel 'levels of switching'
set xtics 1
set ylabel 'order failures per flit (cxl, ACK share 0.1)'
set xrange [0.5:4.5]
set key below maxcols 2 spacing 1.1
plot for [i=1:4] f using (is(i) ? c('level') : NaN):(c('eq7')) \
		smooth unique with lines lc i dt 2 \
		title sprintf('eq. 7, BER %.1e', B[i]), \
	for [i=1:4] f using (is(i) ? c('level') : NaN):(c('computed')) \
		smooth unique with lines lc i notitle, \
	for [i=1:4] f using (is(i) ? c('level') : NaN):(c('measured')) \
		:(c('low')):(c('high')) with yerrorbars lt i \
		title sprintf('measured, BER %.1e', B[i])
