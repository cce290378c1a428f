#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a suite of two programs in turn and compares their figures.

Each round runs both, the one that begins changes from round to round. A figure
of one is divided by the same figure of the other in the same round; the median
of these ratios is printed, and their spread (the middle half of them, as a part
of the median). A figure whose ratios spread by more than a fifth is marked.

usage: bench_against.py [--rounds N] [--reps N] [--json FILE] THIS OTHER SUITE
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

NOISY = 0.2
# numbers that say which row it is, not what it cost
ROW = ("mode", "packet_flits", "flits_per_frame", "workers", "isa", "crc",
       "isn", "op", "set", "burst_flits", "name", "fabric", "engine", "case",
       "ports", "flits")
# figures that are no measurement, or one of the spread
OTHER = ("spread", "noisy", "reps", "met", "limit", "packets", "cuts", "cpus",
         "threads")


def figures(value, path=""):
    """(name, number) of each figure of a report; rows are called by what
    stands in them."""
    if isinstance(value, dict):
        label = " ".join("%s=%s" % (k, value[k]) for k in ROW
                         if isinstance(value.get(k), (str, int)))
        here = (path + "/" + label).strip("/") if label else path
        for key in value:
            if key not in ROW and key not in OTHER:
                yield from figures(value[key], (here + "/" + key).strip("/"))
    elif isinstance(value, list):
        for item in value:
            yield from figures(item, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, float(value)


def run(program, suite, reps):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        p = subprocess.run([program, "--reps", str(reps), "--json", out.name,
                            suite], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, check=False)
        if p.returncode != 0:
            raise ValueError("%s %s: exit status %d: %s"
                             % (program, suite, p.returncode,
                                p.stderr.strip()))
        try:
            with open(out.name, encoding="utf-8") as f:
                report = json.load(f)
        except ValueError as e:
            raise ValueError("%s: its report is no JSON: %s"
                             % (program, e)) from e
    return dict(figures(report.get(suite, {})))


def spread(values):
    if len(values) < 2:
        return 0.0
    q = statistics.quantiles(values, n=4, method="inclusive")
    return (q[2] - q[0]) / abs(statistics.median(values))


def compare(rounds):
    """Rows of (name, median of this, median of other, ratio, spread)."""
    rows = []
    for name in rounds[0][0]:
        pairs = [(a[name], b[name]) for a, b in rounds
                 if name in a and b.get(name, 0) != 0]
        ratios = [a / b for a, b in pairs]
        if len(pairs) < len(rounds) or statistics.median(ratios) == 0:
            continue
        rows.append((name, statistics.median(a for a, _ in pairs),
                     statistics.median(b for _, b in pairs),
                     statistics.median(ratios), spread(ratios)))
    return rows


def arguments():
    def count(text):
        n = int(text)
        if not 1 <= n <= 1000:
            raise ValueError
        return n

    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=count, default=7)
    p.add_argument("--reps", type=count, default=1)
    p.add_argument("--json")
    p.add_argument("this")
    p.add_argument("other")
    p.add_argument("suite")
    return p.parse_args()


def main():
    a = arguments()
    rounds = []
    try:
        for i in range(a.rounds):
            order = (a.this, a.other) if i % 2 == 0 else (a.other, a.this)
            got = [run(os.path.abspath(program), a.suite, a.reps)
                   for program in order]
            rounds.append(tuple(got) if i % 2 == 0 else tuple(got[::-1]))
    except (OSError, ValueError) as e:
        print("bench-against: %s" % e, file=sys.stderr)
        return 2
    rows = compare(rounds)
    if not rows:
        print("bench-against: the two have no figure of suite %s in common"
              % a.suite, file=sys.stderr)
        return 2
    print("%10s %10s %8s %7s" % ("this", "other", "ratio", "spread"))
    for name, this, other, ratio, part in rows:
        print("%10.2f %10.2f %8.3f %5.0f %%%s %s"
              % (this, other, ratio, 100 * part,
                 "?" if part > NOISY else " ", name))
    print("%d rounds of each in turn; ?: too busy a machine to say"
          % a.rounds)
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump({"suite": a.suite, "rounds": a.rounds, "figures": [
                {"name": n, "this": t, "other": o, "ratio": r, "spread": s,
                 "noisy": s > NOISY} for n, t, o, r, s in rows]}, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
