# SPDX-License-Identifier: BSD-3-Clause
# Draw again, as SVG, PNG and PDF: gnuplot NAME.gp
set datafile separator ','
set datafile missing ''
set grid
# Told apart by people who see few colours, too, and on white (after Okabe and
# Ito); each series has a mark of its own besides.
set linetype 1 lc rgb '#0072b2' pt 4
set linetype 2 lc rgb '#d55e00' pt 6
set linetype 3 lc rgb '#009e73' pt 8
set linetype 4 lc rgb '#cc79a7' pt 10
set linetype 5 lc rgb '#000000' pt 12
set linetype 6 lc rgb '#56b4e9' pt 5
set linetype 7 lc rgb '#e69f00' pt 7
# a column's value, also where an expression is expected
c(name) = column(name)
# drawn for nobody first, then in each form: forms.gp
set terminal dumb
set output '/dev/null'
