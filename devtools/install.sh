#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs from Debian's packages what reflit needs and this machine lacks.
# Asks for root (through sudo) only where something is missing.
set -eu

packages="
build-essential git meson ninja-build pkg-config python3
dpdk-dev libdpdk-dev libconfig-dev libjansson-dev libpcap-dev libcmocka-dev
libisal-dev
"

missing=""
for p in $packages; do
	if ! dpkg-query -W -f='${Status}' "$p" 2>/dev/null |
	    grep -q 'install ok installed'; then
		missing="$missing $p"
	fi
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
if [ "$(id -u)" -eq 0 ]; then
	as_root=""
elif command -v sudo >/dev/null 2>&1; then
	as_root="sudo"
else
	echo "these packages are missing and neither root nor sudo is at hand:" >&2
	echo "  apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing
