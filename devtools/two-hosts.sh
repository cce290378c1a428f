#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts on one machine: network namespaces left and right, four veth cables
# between them, a reflit in each; in a third namespace an etcd that both reach,
# for the controller. One reflit is killed and started again; then iperf3 speaks
# TCP from one host to the other while the cables are pulled in turn and two go
# deaf in one direction (reflit-fault). Exits with 0 only if TCP went on and
# reflit-report finds every promise kept. Takes root.
#
#   devtools/two-hosts.sh [BUILD-FOLDER [SECONDS [BITS-PER-SECOND]]]
#
# Without BITS-PER-SECOND (such as 100M) TCP goes as fast as it can.
set -eu

cd "$(dirname "$0")/.."
build=${1:-build}
seconds=${2:-16}
rate=${3:-0}
if [ "$(id -u)" -ne 0 ]; then
	echo "two-hosts: making network namespaces takes root" >&2
	exit 2
fi
for program in ip ethtool iperf3 python3 etcd etcdctl; do
	if ! command -v "$program" >/dev/null; then
		echo "two-hosts: there is no $program; apt-get install" \
			"iproute2 ethtool iperf3 python3 etcd-server etcd-client" >&2
		exit 2
	fi
done
if [ ! -x "$build/app/reflit-report" ]; then
	echo "two-hosts: there is no $build/app/reflit-report; build first" >&2
	exit 2
fi
# a second run beside this one has a folder of its own
out=$build/two-hosts
exec 9>"$out.lock"
flock -n 9 || out=$out.$$
mkdir -p "$out"
rm -rf "$out"/*
L=rlh$$l
R=rlh$$r
M=rlh$$m
pids=""

# what killed processes left: links into /dev/shm
drop_ledgers()
{
	for l in "$out"/*.ledger*; do
		[ -L "$l" ] || continue
		rm -f "$(readlink "$l")" "$l"
	done
}

undo()
{
	for p in $pids; do
		kill -9 "$p" 2>/dev/null || true
	done
	drop_ledgers
	devtools/etcd.sh stop "$out/etcd" || true
	for ns in $L $R $M; do
		ip netns del "$ns" 2>/dev/null || true
	done
}
trap undo EXIT
trap 'exit 1' INT TERM HUP

drop_ledgers
for ns in $L $R; do
	ip netns add "$ns"
	ip -n "$ns" link set lo up
	ip -n "$ns" link add host0 type veth peer name port0
done
for i in 0 1 2 3; do
	ip link add "cable$i" netns "$L" type veth peer name "cable$i" \
		netns "$R"
done
n=1
for ns in $L $R; do
	for i in 0 1 2 3; do
		ip -n "$ns" link set "cable$i" mtu 3498 arp off \
			addrgenmode none up
	done
	ip -n "$ns" link set port0 arp off addrgenmode none up
	# the host sends frames as a wire carries them
	ip netns exec "$ns" ethtool -K host0 tso off gso off gro off \
		>/dev/null 2>&1 || true
	ip -n "$ns" addr add "192.0.2.$n/24" dev host0
	ip -n "$ns" link set host0 addrgenmode none up
	n=$((n + 1))
done

# management: where etcd is, a cable to each host
ip netns add "$M"
ip -n "$M" link set lo up
n=0
for ns in $L $R; do
	ip link add "mgmt$n" netns "$M" type veth peer name mgmt netns "$ns"
	ip -n "$M" addr add "198.18.0.$((4 * n + 1))/30" dev "mgmt$n"
	ip -n "$ns" addr add "198.18.0.$((4 * n + 2))/30" dev mgmt
	ip -n "$M" link set "mgmt$n" up
	ip -n "$ns" link set mgmt up
	n=$((n + 1))
done
ip netns exec "$M" devtools/etcd.sh start "$out/etcd" \
	http://198.18.0.1:2379,http://198.18.0.5:2379

# each reflit polls on a CPU of its own, where there are two
start_reflit() # NAMESPACE NAME CPUS REPORT
{
	set -- "$@" --vdev=net_af_packet4,iface=port0,framecnt=8192
	for i in 0 1 2 3; do
		set -- "$@" "--vdev=net_af_packet$i,iface=cable$i,framesz=4096,blocksz=8192"
	done
	ns=$1 name=$2 cpus=$3 report=$4
	shift 4
	ip netns exec "$ns" "$build/app/reflit" "--lcores=$cpus" "$@" -- \
		--config config/two-hosts.cfg --process "$name" \
		--json "$out/$report.json" >>"$out/$name.txt" 2>&1 &
	pids="$pids $!"
}
if [ "$(nproc)" -ge 2 ]; then
	lcpus=0@1,1@0 rcpus=0@0,1@1
else
	lcpus=0@0 rcpus=0@0
fi

# frames pass: somebody says that nobody listens there; at most 30 s
meet()
{
	ip netns exec "$L" python3 - <<'END' || {
import socket, sys, time
end = time.monotonic() + 30
while time.monotonic() < end:
    try:
        socket.create_connection(("192.0.2.2", 9), timeout=1).close()
        sys.exit(0)
    except ConnectionRefusedError:
        sys.exit(0)
    except OSError:
        time.sleep(0.05)
sys.exit(1)
END
		echo "two-hosts: nothing passes; see $out/*.txt" >&2
		exit 1
	}
}

tcp() # SECONDS NAME
{
	ip netns exec "$R" iperf3 -s -1 >/dev/null 2>&1 &
	server=$!
	pids="$pids $server"
	sleep 0.5
	ip netns exec "$L" iperf3 -c 192.0.2.2 -t "$1" -b "$rate" --json \
		>"$out/$2.json" || true
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
}

echo "starting reflit on both hosts"
start_reflit "$R" right "$rcpus" right1
right=$!
start_reflit "$L" left "$lcpus" left
left=$!
meet
echo "TCP for 2 s; then the reflit of the right host is killed (-9) and started again"
tcp 2 before
kill -9 "$right"
wait "$right" 2>/dev/null || true
start_reflit "$R" right "$rcpus" right
right=$!
meet

step=$((seconds / 7))
[ "$step" -ge 1 ] || step=0.3
echo "TCP for $seconds s; every $step s something happens to the cables"
(
	for i in 0 1 2 3; do
		sleep "$step"
		echo "  cable$i is pulled (ip link set down)"
		ip -n "$L" link set "cable$i" down
		sleep 0.5
		ip -n "$L" link set "cable$i" up
	done
	sleep "$step"
	for i in 0 1; do
		echo "  cable$i goes deaf one way for 1 s (reflit-fault)"
		ip netns exec "$R" "$build/app/reflit-fault" "cable$i" \
			--one-way --duration 1s --json "$out/fault$i.json" \
			>"$out/fault$i.txt" 2>&1 || true
	done
) &
pids="$pids $!"
events=$!
tcp "$seconds" tcp
wait "$events" || true

kill -TERM "$left" "$right"
status=0
wait "$left" || status=1
wait "$right" || status=1
echo
for f in before tcp; do
	python3 - "$out/$f.json" <<'END' || status=1
import json, sys
with open(sys.argv[1], encoding="utf-8") as f:
    end = json.load(f).get("end", {})
sent, got = end.get("sum_sent"), end.get("sum_received")
if not sent or not got or got["bytes"] == 0:
    sys.exit("TCP did not get through")
print("TCP: %.0f Mbit/s over %.0f s, %d retransmits"
      % (got["bits_per_second"] / 1e6, got["seconds"], sent["retransmits"]))
END
done
echo
set -- "$out"/*.ledger* # of the life that was killed
[ -L "$1" ] || set --
"$build/app/reflit-report" --json "$out/report.json" "$out/left.json" \
	"$out/right.json" "$@" || status=1
echo "reports: $out/"
exit "$status"
