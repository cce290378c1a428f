# SPDX-License-Identifier: BSD-3-Clause
# Latency over time, and what was done to the links. devtools/demo.py calls it:
#   gnuplot -c demo.gp DATA STEPS OUTPUT END
# DATA: seconds, packets, p50, p99, max in us; STEPS: seconds, label
set terminal svg size 960,480 font "sans-serif,13" background "#ffffff"
set output ARG3
set datafile separator "\t"
set border 3 lc rgb "#444444"
set tics nomirror textcolor rgb "#222222"
set grid ytics lc rgb "#dddddd" lw 1
set logscale y
set format y "10^{%T}"
set xlabel "time, s"
set ylabel "latency, us"
set xrange [0:ARG4]
set key outside top center horizontal
stats ARG1 using ($2 > 0 ? $5 : 1/0) nooutput
top = STATS_max * 1000
stats ARG1 using ($2 > 0 ? $3 : 1/0) nooutput
low = STATS_min / 2
set yrange [low:top]
# a step: a line from bottom to top, its words along it
plot ARG2 using 1:(low):(0):(top - low) with vectors nohead lw 1.5 dt 2 \
		lc rgb "#d55e00" title "what was done", \
	ARG2 using 1:(top * 0.7):2 with labels left rotate by -90 \
		offset 0.7,0 font ",10" textcolor rgb "#d55e00" notitle, \
	ARG1 using 1:($2 > 0 ? $5 : 1/0) with lines lw 1 lc rgb "#999999" \
		title "slowest packet", \
	ARG1 using 1:($2 > 0 ? $4 : 1/0) with linespoints pt 6 ps 0.4 lw 1.5 \
		lc rgb "#0072b2" title "p99", \
	ARG1 using 1:($2 > 0 ? $3 : 1/0) with linespoints pt 7 ps 0.4 lw 1.5 \
		lc rgb "#009e73" title "median"
