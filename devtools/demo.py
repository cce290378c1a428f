#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tells what the demonstration did, from its report: step by step what looped
back, what each fault left in the counters, what would have been lost without
loopback (the same cuts in the simulator), and a picture of latency over time.

usage: demo.py BUILD CONFIG REPORT
Exit status: 0; 1 where the simulator, with loopback, lost something.
"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# one-way latency of the simulated wires: three links make the median
HOPS = 3
# a second, so that the simulation takes seconds on any machine
MOST_FLITS = 1e6


def steps_of(report):
    """[(from, to, words)] of the steps that are numbered."""
    said = report.get("steps", [])
    ends = [s["at_ns"] for s in said[1:]] + [report["elapsed_ns"]]
    return [(s["at_ns"], end, s["text"]) for s, end in zip(said, ends)]


def story(report):
    print("what looped back, step by step:")
    for start, end, words in steps_of(report):
        mine = [f for f in report["failovers"]
                if start <= f.get("at_ns", 0) < end]
        if not mine:
            continue
        flits = sum(f["looped_flits"] for f in mine)
        acked = sum(f["looped_acked_flits"] for f in mine)
        print("  %s" % words)
        if flits == 0:
            print("     %d ports went down, empty" % len(mine))
            continue
        print("     %d ports died; %d packets (%d flits, %d of them "
              "acknowledged before) went the other way, drained in %.0f us "
              "at most" % (len(mine), sum(f["looped_packets"] for f in mine),
                           flits, acked,
                           max(f["drained_ns"] for f in mine) / 1e3))


COUNTERS = (
    ("rx_corrected", "flits corrupted, and corrected by FEC"),
    ("rx_bad", "flits corrupted beyond FEC"),
    ("rx_missing_seq", "gaps, each followed by a replay"),
    ("tx_replay_flits", "flits that links replayed"),
    ("looped_flits", "flits that looped back out of dead ports"),
)


def counters(report):
    print("what the faults left in the counters:")
    for key, words in COUNTERS:
        print("  %7d  %s" % (report["port_counters"][key], words))
    print("  %7d  packets that arrived, of %d sent: none lost, "
          "duplicated, reordered or altered" % (report["delivered_packets"],
                                report["sent_packets"])
          if report["sent_packets"] == report["delivered_packets"] else
          "  %7d  packets did not arrive" % report["lost_packets"])
    print()


def cuts_of(report):
    """[(seconds, link, whether it is dark)] as the ports told it; what was
    taken out as planned was empty, and is no cut."""
    found, planned = {}, set()
    for f in report["failovers"]:
        found.setdefault(f["link"], []).append(f["at_ns"])
        if f["detector"] == "command":
            planned.add((f["link"], f["at_ns"]))
    out = []
    for link, times in found.items():
        ups = sorted(e["at_ns"] for e in report["events"]
                     if e.get("link") == link and " up, epoch" in e["text"])
        free = 0
        for at in sorted(times):
            if at < free:  # the other end of the same death
                continue
            up = next((u for u in ups if u > at), report["elapsed_ns"])
            free = up
            if not any(l == link and at <= t < up for l, t in planned):
                out += [(at, link, True), (up, link, False)]
    return sorted(out)


def what_if(build, config, report, folder):
    """The same cuts at the same times, with and without loopback."""
    cuts = cuts_of(report)
    if not cuts:
        return 0
    faults = os.path.join(folder, "cuts.flt")
    with open(faults, "w", encoding="utf-8") as f:
        for at, link, dark in cuts:
            f.write("%dns %s %s\n" % (at, "cut" if dark else "heal", link))
    with open(config, encoding="utf-8") as f:
        # attached ports and the rest stay as they are; traffic is generated
        fabric = re.sub(r"(?ms)^(link|attach)\b.*?[;)]\s*;?\s*$", "", f.read())
    lost, rate = {}, rate_of(report)
    load = "%.9f" % max(rate * 2e-9 / len(report["endpoints"]), 1e-6)
    wire = min(max(report["latency_ns"]["p50"] // HOPS, 20000), 1000000)
    runs = {}
    for mode in ("none", "whole-packets"):
        path = os.path.join(folder, "what-if-%s.cfg" % mode)
        with open(path, "w", encoding="utf-8") as f:
            f.write(fabric + '\nlink: { flits_per_frame = 4; loopback = "%s"; '
                    '};\nendpoint: { retry = false; };\n' % mode)
        out = os.path.join(folder, "what-if-%s.json" % mode)
        runs[mode] = out, subprocess.Popen(
            [os.path.join(build, "app", "reflit-sim"), "--config", path,
             "--faults", faults, "--load", load, "--duration",
             "%dns" % (cuts[-1][0] + 100000000), "--latency", "%dns" % wire,
             "--json", out], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
    for mode, (out, p) in runs.items():
        said = p.communicate(timeout=300)[0]
        if p.returncode not in (0, 1):
            print("the simulator: %s" % said)
            return 1
        with open(out, encoding="utf-8") as f:
            lost[mode] = json.load(f)
    print("the same cuts at the same times in the simulator, %d k flits a "
          "second, wires of %d us,\nand endpoints without retry:"
          % (rate // 1000, wire // 1000))
    for mode, r in lost.items():
        print("  loopback = %-16s lost %5d of %d packets; slowest %.1f ms" %
              ('"%s":' % mode, r["lost_packets"], r["sent_packets"],
               r["latency_ns"]["max"] / 1e6))
    print()
    return 0 if lost["whole-packets"]["lost_packets"] == 0 else 1


def rate_of(report):
    """Flits a second that this run sent on average, as far as the simulator
    need follow it."""
    flits = report["endpoint_counters"]["tx_flits"]
    return min(flits / max(report["elapsed_ns"], 1) * 1e9, MOST_FLITS)


def picture(report, folder):
    if shutil.which("gnuplot") is None or not report.get("timeline"):
        print("no picture: gnuplot is not installed")
        return
    data = os.path.join(folder, "latency.tsv")
    marks = os.path.join(folder, "steps.tsv")
    svg = os.path.join(folder, "latency.svg")
    with open(data, "w", encoding="utf-8") as f:
        for row in report["timeline"]:
            lat = row["latency_ns"]
            f.write("%.6f\t%d\t%.3f\t%.3f\t%.3f\n" % (
                row["at_ns"] / 1e9, row["packets"], lat["p50"] / 1e3,
                lat["p99"] / 1e3, lat["max"] / 1e3))
    said = steps_of(report)
    with open(marks, "w", encoding="utf-8") as f:
        for start, _, words in said:
            short = re.split(r"[:;,]", words)[0].replace("\t", " ")
            f.write("%.6f\t%s\n" % (start / 1e9, short))
    end = (said[-2][1] if len(said) > 1 else report["elapsed_ns"]) / 1e9
    end = min(end, (said[-2][0] / 1e9 + 0.5) if len(said) > 1 else end)
    p = subprocess.run(["gnuplot", "-c", os.path.join(HERE, "demo.gp"), data,
                        marks, svg, "%.3f" % end], capture_output=True,
                       text=True, timeout=60, check=False)
    if p.returncode != 0:
        print("no picture: %s" % p.stderr.strip())
        return
    print("picture: %s (latency over time, steps marked)" % svg)


def main():
    build, config, path = sys.argv[1:4]
    with open(path, encoding="utf-8") as f:
        report = json.load(f)
    folder = os.path.dirname(path)
    story(report)
    counters(report)
    status = what_if(build, config, report, folder)
    picture(report, folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
