# SPDX-License-Identifier: BSD-3-Clause
# Bandwidth loss by retries
f = 'loss.csv'
array L[4] = [0, 1, 2, 4]
is(r, k) = strcol('profile') eq 'rxl' && strcol('retry') eq r && \
	strcol('reports') eq 'no' && c('level') == k && c('coalesce') == 10
set logscale xy
set format xy '10^{%T}'
set xlabel 'bit error rate'
set ylabel 'bandwidth loss'
set xrange [5e-6:1.3e-4]
set yrange [2e-5:1]
set xtics add ('6.6{/Symbol \264}10^{-6}' 6.6e-6, '3{/Symbol \264}10^{-5}' 3e-5)
set key below maxcols 3 spacing 1.1
plot NaN dt 2 lc 'black' title 'go-back-n, eq. 11', \
	for [i=1:4] f using (is('go-back-n', L[i]) ? c('ber') : NaN) \
		:(c('equation')) smooth unique with lines lc i dt 2 notitle, \
	for [i=1:4] f using (is('go-back-n', L[i]) ? c('ber') : NaN) \
		:(c('measured')):(c('low')):(c('high')) with yerrorbars lt i \
		title sprintf('go-back-n, level %d', L[i]), \
	NaN dt 3 lc 'black' title 'selective, computed', \
	for [i=1:4] f using (is('selective', L[i]) ? c('ber') : NaN) \
		:(c('computed')) smooth unique with lines lc i dt 3 notitle, \
	for [i=1:4] f using (is('selective', L[i]) ? c('ber') : NaN) \
		:(c('measured')):(c('low')):(c('high')) with yerrorbars lc i pt 4+2*i-1 \
		title sprintf('selective, level %d', L[i])
