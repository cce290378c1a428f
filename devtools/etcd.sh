#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One etcd for a laptop: what a fabric in several processes needs for its
# controller. It listens on the loopback alone, keeps its data in a folder of
# its own, and ends by itself after a day.
#
#   devtools/etcd.sh start [FOLDER [URL[,URL]...]]
#   devtools/etcd.sh stop [FOLDER]       ends it, and removes what it kept
#   devtools/etcd.sh status [FOLDER]     exit status 0: it answers
#
# FOLDER is build/etcd, URL http://127.0.0.1:2379 where left out.
set -eu

cd "$(dirname "$0")/.."
what=${1:-}
dir=${2:-build/etcd}
urls=${3:-http://127.0.0.1:2379}
day=86400

answers()
{
	[ -f "$dir/url" ] && ETCDCTL_API=3 etcdctl --endpoints "$(cat "$dir/url")" \
		--command-timeout 2s get / >/dev/null 2>&1
}

# whether the process that we started is there still
runs()
{
	[ -f "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2>/dev/null
}

start()
{
	for program in etcd etcdctl; do
		if ! command -v "$program" >/dev/null; then
			echo "etcd.sh: there is no $program; apt-get install" \
				"etcd-server etcd-client" >&2
			exit 2
		fi
	done
	if runs; then
		echo "etcd.sh: one runs in $dir already" >&2
		exit 1
	fi
	rm -rf "$dir"
	mkdir -p "$dir"
	echo "${urls%%,*}" >"$dir/url"
	# its port for other servers stays unused: there are none
	timeout "$day" etcd --data-dir "$dir/data" --listen-client-urls "$urls" \
		--advertise-client-urls "$urls" \
		--listen-peer-urls http://127.0.0.1:0 \
		--quota-backend-bytes 268435456 \
		--auto-compaction-mode periodic --auto-compaction-retention 5m \
		>"$dir/log" 2>&1 </dev/null &
	echo $! >"$dir/pid"
	tries=0
	until answers; do
		tries=$((tries + 1))
		if [ "$tries" -ge 100 ] || ! runs; then
			echo "etcd.sh: it does not start; see $dir/log" >&2
			exit 1
		fi
		sleep 0.1
	done
	echo "etcd answers at $urls; devtools/etcd.sh stop $dir ends it"
}

stop()
{
	if runs; then
		pid=$(cat "$dir/pid")
		kill "$pid"
		tries=0
		while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 50 ]; do
			sleep 0.1
			tries=$((tries + 1))
		done
		kill -9 "$pid" 2>/dev/null || true
	fi
	rm -rf "$dir"
}

case "$what" in
start) start ;;
stop) stop ;;
status)
	if ! answers; then
		echo "etcd.sh: none answers for $dir" >&2
		exit 1
	fi
	;;
*)
	echo "usage: $0 start [FOLDER [URL[,URL]...]] | stop [FOLDER] |" \
		"status [FOLDER]" >&2
	exit 2
	;;
esac
