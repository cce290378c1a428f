#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Inside a fresh machine: installs the packages in /srv/packages, uses them, purges
# them, and names each file that is left or missing. package.sh runs it.
set -eu

export DEBIAN_FRONTEND=noninteractive
log=/tmp/log
quietly() {
	"$@" >"$log" 2>&1 || {
		echo "failed: $*"
		tail -n 40 "$log"
		exit 1
	}
}
# what package tools remember of any package does not count
files() {
	find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp \
		-o -path /run -o -path /srv -o -path /var/cache -o -path /var/log \
		-o -path /var/lib/apt -o -path /var/lib/dpkg \
		-o -path /etc/ld.so.cache \) -prune -o -print | sort
}

# what reflit needs of others stays, and comes before
quietly apt-get update
needs=$(dpkg-deb -f /srv/packages/reflit_*.deb Depends | tr ',' '\n' |
	sed 's/^ *//; s/[ :(].*//; /^libreflit/d')
# shellcheck disable=SC2086
quietly apt-get install -y --no-install-recommends $needs
files >/tmp/before

quietly apt-get install -y --no-install-recommends /srv/packages/*.deb
echo "== used"
cd /tmp
for program in reflit reflit-sim reflit-route reflit-bench reflit-view \
	reflit-report reflit-fault; do
	quietly "$program" --help
	quietly man --warnings -P cat "$program"
done
for page in "5 reflit.cfg" "5 reflit-faults" "1 reflit-prompt"; do
	# shellcheck disable=SC2086
	quietly man -P cat $page
done
quietly reflit-sim --config /etc/reflit/example.cfg --packets 1000
quietly reflit -- --config /etc/reflit/example.cfg \
	--duration 200ms
cp -r /usr/share/doc/reflit/examples examples
quietly make -C examples
for program in codec link route check endpoint torus; do
	quietly "./examples/$program"
done
ldd examples/torus | grep -q 'libreflit\.so\.0' || {
	echo "examples/torus does not use the shared library"
	exit 1
}

echo "== purged"
cd /
quietly apt-get purge -y reflit libreflit0 libreflit-dev reflit-doc
files >/tmp/after
diff /tmp/before /tmp/after || exit 1
echo "each file is as before"
