#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""testpmd's forwarding over net_ring beside reflit's hop, in turn; see
testpmd.sh. BENCH names reflit-bench, TESTPMD another dpdk-testpmd."""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BENCH = os.environ["BENCH"]
TESTPMD = os.environ.get("TESTPMD", "dpdk-testpmd")
DATA_BYTES = 224  # of a flit
SIZES = (64, 256, 1344)
NOISY = 0.2


class Testpmd:
    """One process on a ring that loops, its prompt on a pipe."""

    def __init__(self, engine, size):
        self.size = size
        cpus = sorted(os.sched_getaffinity(0))
        # the prompt waits on one CPU, the worker forwards on the other
        lcores = "0@%d,1@%d" % (cpus[0], cpus[-1])
        # pylint: disable=consider-using-with
        self.run = subprocess.Popen(
            # line by line, or its answers wait in a buffer
            ["stdbuf", "-oL", TESTPMD, "--lcores", lcores, "--main-lcore", "0", "-m", "256",
             "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
             "--log-level=error", "--vdev", "net_ring0", "--",
             "-i", "--forward-mode=" + engine, "--port-topology=loop",
             "--total-num-mbufs=4096", "--no-lsc-interrupt",
             "--txpkts=%d" % size],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def read_until(self, pattern):
        """What it prints, up to a match; prompt and echo come in any order."""
        text = ""
        while True:
            m = re.search(pattern, text)
            if m:
                return m
            line = self.run.stdout.readline()
            if line == "":
                raise ValueError("testpmd ended: %s" % text.strip()[-300:])
            text += line

    def say(self, command, pattern):
        self.run.stdin.write(command + "\n")
        self.run.stdin.flush()
        return self.read_until(pattern)

    def packets(self):
        return int(self.say("show port stats 0",
                            r"RX-packets:\s*(\d+)[^#]*###").group(1))

    def cpu_ns(self):
        """Of each thread."""
        tasks = "/proc/%d/task" % self.run.pid
        ns = {}
        for tid in os.listdir(tasks):
            with open("%s/%s/schedstat" % (tasks, tid),
                      encoding="ascii") as f:
                ns[tid] = int(f.read().split()[0])
        return ns

    def measure(self, seconds):
        """ns a packet"""
        self.say("start tx_first 8", r"nb forwarding cores=1")
        time.sleep(seconds / 4)
        n, before = self.packets(), self.cpu_ns()
        time.sleep(seconds)
        n, after = self.packets() - n, self.cpu_ns()
        # the forwarding thread is the one that runs all the time
        t = max(after[tid] - before.get(tid, 0) for tid in after)
        self.say("stop", r"Accumulated forward")
        if n <= 0:
            raise ValueError("testpmd forwarded nothing")
        return t / n

    def close(self):
        try:
            self.run.stdin.write("quit\n")
            self.run.stdin.close()
            self.run.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.run.kill()
            self.run.wait()


def too_long(*_):
    raise ValueError("testpmd does not answer")


def testpmd(engine, size, seconds):
    signal.signal(signal.SIGALRM, too_long)
    t = Testpmd(engine, size)
    signal.alarm(60 + int(2 * seconds))
    try:
        return t.measure(seconds)
    finally:
        signal.alarm(0)
        t.close()


def hops():
    """ns a packet of each size, of one run, and the bare work of a flit"""
    flits = [(size + DATA_BYTES - 1) // DATA_BYTES for size in SIZES]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        p = subprocess.run(
            [BENCH, "--reps", "3", "--json", out.name, "--case",
             ",".join("%d/5" % n for n in flits), "hop"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)
        if p.returncode != 0:
            raise ValueError("reflit-bench: " + p.stderr.strip())
        with open(out.name, encoding="utf-8") as f:
            report = json.load(f)
    of = {r["packet_flits"]: r["modes"][0]["ns_per_hop"]
          for r in report["hop"]["runs"]}
    return {size: n * of[n] for size, n in zip(SIZES, flits)}, report


def spread(values):
    if len(values) < 2:
        return 0.0
    q = statistics.quantiles(values, n=4, method="inclusive")
    return (q[2] - q[0]) / statistics.median(values)


def main():
    p = argparse.ArgumentParser(prog="testpmd.sh")
    p.add_argument("--rounds", type=int, default=5, help="of all, in turn")
    p.add_argument("--seconds", type=float, default=1,
                   help="of each run of testpmd")
    p.add_argument("--json")
    a = p.parse_args()
    if a.rounds < 1 or not 0 < a.seconds <= 60:
        p.error("--rounds from 1, --seconds above 0, at most 60")
    ns = {(who, size): [] for size in SIZES
          for who in ("testpmd io", "testpmd mac", "reflit hop")}
    report = {}
    try:
        for _ in range(a.rounds):
            of, report = hops()
            for size in SIZES:
                ns["reflit hop", size].append(of[size])
                for engine in ("io", "mac"):
                    ns["testpmd " + engine, size].append(
                        testpmd(engine, size, a.seconds))
    except (OSError, ValueError) as e:
        print("testpmd.sh: %s" % e, file=sys.stderr)
        return 1
    rows = []
    print("%s; codec %s; %d rounds in turn; ?: too busy a machine to say"
          % (report["machine"]["cpu"], report["machine"]["codec"], a.rounds))
    print("%6s  %-12s %10s %8s %8s %7s"
          % ("bytes", "forwarder", "ns/packet", "Mpps", "Gbit/s", "spread"))
    for (who, size), v in ns.items():
        m, s = statistics.median(v), spread(v)
        rows.append({"bytes": size, "forwarder": who, "ns_per_packet": m,
                     "mpps": 1e3 / m, "gbit_per_s": size * 8 / m,
                     "spread": s, "noisy": s > NOISY})
        print("%6d  %-12s %10.1f %8.2f %8.1f %5.0f %%%s"
              % (size, who, m, 1e3 / m, size * 8 / m, 100 * s,
                 "?" if s > NOISY else ""))
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump({"machine": report["machine"], "rows": rows}, f,
                      indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
