# SPDX-License-Identifier: BSD-3-Clause
do for [form in 'svg png pdf'] {
	if (form eq 'svg') { set terminal svg size 860,520 background 'white' }
	if (form eq 'png') { set terminal pngcairo size 860,520 }
	if (form eq 'pdf') { set terminal pdfcairo size 18cm,11cm }
	set output NAME.'.'.form
	replot
}
