#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, and runs the demonstration: really captured
# traffic crosses a fabric whose links are cut and healed meanwhile. Then it
# tells what happened (devtools/demo.py). Exits with 0 only if every frame came
# out once, in order, byte for byte.
#
#   devtools/run.sh --view   instead: a torus under traffic, and a page that
#                            shows it, where a click cuts a link; until Ctrl-C
set -eu

cd "$(dirname "$0")/.."
case "$*" in
"" | --view) ;;
*)
	echo "usage: $0 [--view]" >&2
	exit 2
	;;
esac
./devtools/install.sh
echo "building into build/ ..."
./devtools/build.sh build
if [ "${1:-}" = --view ]; then
	exec ./devtools/view.sh
fi
demo=build/demo
in=config/demo.pcap
mkdir -p "$demo"
rm -f "$demo"/*

echo "two switches, two links between them; the frames of $in cross in both"
echo "directions, beside traffic that fills both links, while config/demo.cmd"
echo "injects faults into the links"
echo
status=0
./build/app/reflit \
	--vdev="net_pcap0,rx_pcap=$in,tx_pcap=$demo/out-e0.pcap" \
	--vdev="net_pcap1,rx_pcap=$in,tx_pcap=$demo/out-e1.pcap" \
	-- --config config/demo.cfg --cmdline-file config/demo.cmd \
	--timeline 20ms --json "$demo/report.json" || status=$?
echo
if [ -s "$demo/report.json" ]; then
	python3 devtools/demo.py build config/demo.cfg "$demo/report.json" ||
		status=1
fi
for out in "$demo/out-e0.pcap" "$demo/out-e1.pcap"; do
	./build/test/system/pcap_same "$in" "$out" || status=1
done
echo "report: $demo/report.json"
exit "$status"
