#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs those of the named Debian packages that this machine lacks. Asks for
# root (through sudo) only where one is missing. What it says goes to standard
# error. Exits with 1 where neither root nor sudo is at hand.
#
#   devtools/need.sh PACKAGE...
#   devtools/need.sh --missing PACKAGE...   only prints those that are missing
#
# A package that apt does not know stops only what needs it: it is named, and
# the others are installed. Where there is no dpkg or no apt-get, what is
# missing is told by the programs and libraries that the packages would bring;
# it is named as Debian, Ubuntu and Fedora do, and nothing is installed.
set -eu

only_print=no
if [ "${1:-}" = --missing ]; then
	only_print=yes
	shift
fi

have() {
	command -v "$1" >/dev/null 2>&1
}

# for_c NAME: does a C compiler find this library?
for_c() {
	have pkg-config && pkg-config --exists "$1"
}

# here PACKAGE: is there what it brings, wherever it came from?
here() {
	case $1 in
	build-essential) have cc ;;
	ninja-build) have ninja ;;
	libconfig-dev | libpcap-dev | libisal-dev | libbpf-dev | libdpdk-dev | \
	libcmocka-dev | libjansson-dev | libssl-dev)
		name=${1#lib}
		name=${name%-dev}
		for_c "lib$name" || for_c "$name"
		;;
	libcurl4-openssl-dev) for_c libcurl ;;
	dpdk | dpdk-dev) have dpdk-testpmd ;;
	libopensm-dev) [ -d /usr/include/infiniband/opensm ] ;;
	libibumad-dev) [ -f /usr/include/infiniband/umad.h ] ;;
	gnuplot-nox) have gnuplot ;;
	iproute2) have ip ;;
	procps) have sysctl ;;
	chromium-driver) have chromedriver ;;
	man-db) have man ;;
	python3-jsonschema) python3 -c "import jsonschema" 2>/dev/null ;;
	ibsim-utils) have ibsim ;;
	etcd-server) have etcd ;;
	etcd-client) have etcdctl ;;
	qemu-system-x86) have qemu-system-x86_64 ;;
	busybox-static) have busybox ;;
	gcc-aarch64-linux-gnu) have aarch64-linux-gnu-gcc ;;
	libc6-dev-arm64-cross) [ -d /usr/aarch64-linux-gnu/include ] ;;
	qemu-user) have qemu-aarch64 ;;
	debhelper) have dh ;;
	*) have "$1" ;;
	esac
}

# ubuntu PACKAGE, fedora PACKAGE: what it is called there
ubuntu() {
	case $1 in
	bpftool) echo linux-tools-generic ;;
	chromium) echo chromium-browser ;;
	chromium-driver) echo chromium-chromedriver ;;
	*) echo "$1" ;;
	esac
}

fedora() {
	case $1 in
	build-essential) echo gcc gcc-c++ make ;;
	pkg-config) echo pkgconf-pkg-config ;;
	dpdk-dev) echo dpdk-tools ;;
	libisal-dev) echo isa-l-devel ;;
	libssl-dev) echo openssl-devel ;;
	libcurl4-openssl-dev) echo libcurl-devel ;;
	libibumad-dev) echo rdma-core-devel ;;
	libdpdk-dev | libjansson-dev | libopensm-dev)
		name=${1#lib}
		echo "${name%-dev}-devel"
		;;
	lib*-dev) echo "${1}el" ;;
	gnuplot-nox) echo gnuplot-minimal ;;
	iproute2) echo iproute ;;
	procps) echo procps-ng ;;
	chromium-driver) echo chromedriver ;;
	tshark) echo wireshark-cli ;;
	clang-format) echo clang-tools-extra ;;
	ibsim-utils) echo ibsim ;;
	etcd-server | etcd-client) echo etcd ;;
	prometheus) echo golang-github-prometheus ;;
	mount) echo util-linux ;;
	busybox-static) echo busybox ;;
	*) echo "$1" ;;
	esac
}

# names SYSTEM PACKAGE...: each once
names() {
	system=$1 said=""
	shift
	for p in "$@"; do
		for name in $("$system" "$p"); do
			case " $said " in *" $name "*) ;; *) said="$said $name" ;; esac
		done
	done
	echo "$said"
}

missing=""
if have dpkg-query && have apt-get; then
	# what is installed, and what that provides (gnuplot-qt is a
	# gnuplot-nox, too)
	present=$(dpkg-query -W -f='${Status}|${Package}, ${Provides}\n' \
		2>/dev/null | sed -n 's/^install ok installed|//p' |
		tr ',' '\n' | sed 's/^ *//; s/ .*//')
	for p in "$@"; do
		echo "$present" | grep -qxF "$p" || missing="$missing $p"
	done
else
	for p in "$@"; do
		here "$p" || missing="$missing $p"
	done
fi
if [ "$only_print" = yes ]; then
	echo "$missing"
	exit 0
fi
[ -n "$missing" ] || exit 0

if ! have dpkg-query || ! have apt-get; then
	echo "no apt-get here, so nothing is installed; what is missing is called" >&2
	echo "  Debian:$missing" >&2
	# shellcheck disable=SC2086
	echo "  Ubuntu:$(names ubuntu $missing)" >&2
	# shellcheck disable=SC2086
	echo "  Fedora:$(names fedora $missing)" >&2
	exit 0
fi
if [ "$(id -u)" -eq 0 ]; then
	as_root=""
elif have sudo; then
	as_root="sudo"
else
	echo "these packages are missing and neither root nor sudo is at hand:" >&2
	echo "  apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
known="" unknown=""
for p in $missing; do
	if LC_ALL=C apt-cache policy "$p" | grep -q "Candidate: [^(]"; then
		known="$known $p"
	else
		unknown="$unknown $p"
	fi
done
[ -z "$unknown" ] || echo "apt knows no package of these names, and what needs" \
	"them will not work:$unknown" >&2
[ -n "$known" ] || exit 0
echo "installing:$known" >&2
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $known >&2
