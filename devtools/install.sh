#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs from Debian's packages what reflit needs and this machine lacks.
# Asks for root (through sudo) only where something is missing.
#
#   devtools/install.sh          installs what building and running takes
#   devtools/install.sh --tests  also what tests alone need (a browser, man, what
#                                fresh.sh makes machines with); where these
#                                are missing and root is not at hand, it
#                                says so and goes on: their tests are skipped
#   devtools/install.sh --list   prints all of them, one a line
#
# test/tidy/programs.py holds this list against every program that tests,
# scripts and docs execute.
set -eu

cd "$(dirname "$0")/.."

# to build
packages="build-essential git meson ninja-build pkg-config python3"
# libraries, and the programs that come with DPDK
packages="$packages dpdk-dev libdpdk-dev libconfig-dev libjansson-dev"
packages="$packages libpcap-dev libisal-dev libcmocka-dev libssl-dev"
# XDP programs: compiled by clang, embedded by bpftool, loaded by libbpf
packages="$packages clang bpftool libbpf-dev"
# the controller across processes speaks to an etcd
packages="$packages libcurl4-openssl-dev"
# manual pages of formats are made from docs/
packages="$packages lowdown"
# reflit-sim rxl draws pictures
packages="$packages gnuplot-nox"
# tests with network namespaces: ip, ethtool, sysctl
packages="$packages iproute2 ethtool procps"

# tests alone: how code is formatted; the page of reflit-view in a real browser;
# manual pages; reports held against docs/schema.json; captures in tshark; metrics
# in Prometheus; TCP across two-hosts.sh; OpenSM beside reflit-route; an etcd, and certificates for it; the roots that
# devtools/fresh.sh makes
tests="chromium chromium-driver man-db python3-jsonschema tshark iperf3"
tests="$tests clang-format prometheus"
tests="$tests opensm ibsim-utils libopensm-dev libibumad-dev"
tests="$tests etcd-server etcd-client openssl mmdebstrap mount"
# Open vSwitch as the other end of ports
tests="$tests openvswitch-switch-dpdk"
# devtools/package.sh
tests="$tests debhelper lintian"
# guests with emulated NICs, by devtools/guests.sh, which downloads a kernel for
# them: together 45 MB
[ "$(uname -m)" != x86_64 ] || tests="$tests qemu-system-x86 busybox-static"
# unit tests of the codec for arm64: a cross compiler and an emulator, 56 MB
[ "$(uname -m)" != x86_64 ] || tests="$tests gcc-aarch64-linux-gnu \
	libc6-dev-arm64-cross qemu-user"
# dpdk-telemetry.py: Debian 12 has it in dpdk-dev
grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release || tests="$tests dpdk"

case "$*" in
--list)
	for p in $packages $tests; do
		echo "$p"
	done
	exit 0
	;;
--tests | "") ;;
*)
	echo "usage: $0 [--tests | --list]" >&2
	exit 2
	;;
esac

# shellcheck disable=SC2086
missing=$(./devtools/need.sh --missing $packages)
optional=""
if [ "${1:-}" = --tests ]; then
	# shellcheck disable=SC2086
	optional=$(./devtools/need.sh --missing $tests)
	if [ "$(id -u)" -ne 0 ] && [ -z "$missing" ] &&
	    [ -n "$optional" ] && ! command -v sudo >/dev/null 2>&1; then
		echo "not installed, so some tests will be skipped:$optional" >&2
		exit 0
	fi
fi
# shellcheck disable=SC2086
exec ./devtools/need.sh $missing $optional
