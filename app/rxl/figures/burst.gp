# SPDX-License-Identifier: BSD-3-Clause
# Error bursts and the bound of PCIe 6.0
f = 'burst.csv'
array L[2] = [1, 16]
set logscale y
set format y '10^{%T}'
set xlabel 'probability that an error runs on to the next bit'
set ylabel 'uncorrectable flits'
set key top left
plot for [i=1:2] f using (c('lanes') == L[i] ? c('propagate') : NaN) \
		:(c('uncorrectable')):(c('low')):(c('high')) with yerrorbars lt i \
		title (L[i] == 1 ? 'one lane' : '16 lanes'), \
	3e-5 lc 'gray' dt 2 title 'PCIe 6.0 bound (the paper, eq. 2)'
