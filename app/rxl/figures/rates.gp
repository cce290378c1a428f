# SPDX-License-Identifier: BSD-3-Clause
# What FEC makes of independent bit errors
f = 'fec.csv'
array O[5] = ['erroneous (eq. 1)', 'corrected', 'uncorrectable', \
	'  detected: dropped', '  miscorrected']
W = 'erroneous corrected uncorrectable detected miscorrected'
is(i) = strcol('outcome') eq O[i]
set logscale xy
set format xy '10^{%T}'
set xlabel 'bit error rate'
set ylabel 'share of flits'
set key bottom right
plot for [i=1:words(W)] f using (is(i) ? c('ber') : NaN):(c('computed')) \
		smooth unique with lines lc i lw 1.5 notitle, \
	for [i=1:words(W)] f using (is(i) ? c('ber') : NaN):(c('measured')) \
		:(c('low')):(c('high')) with yerrorbars lt i title word(W, i), \
	3e-5 lc 'gray' dt 2 title 'PCIe 6.0 bound (the paper, eq. 2)'
