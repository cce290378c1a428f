#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a suite of two programs in turn and compares their figures.

Each round runs both, the one that begins changes from round to round. A figure
of one is divided by the same figure of the other in the same round; the median
of these ratios is printed, and their spread (the middle half of them, as a part
of the median). A figure whose ratios spread by more than a fifth is marked.

In place of a suite, `aims` runs those of which the project says what they are to
reach against its revision 87a685d, and prints that table.

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
ROW = ("mode", "packet_flits", "flits_per_frame", "isa", "crc",
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


class Aim:
    """A figure, the part of the other's time that it may take at most, and how
    many times the bare work."""

    def __init__(self, label, suite, figure, of_other, rate=False, bare=None,
                 bare_aim=None):
        self.label, self.suite, self.figure = label, suite, figure
        self.of_other, self.rate = of_other, rate
        self.bare, self.bare_aim = bare, bare_aim

    def time(self, figures):
        value = figures[self.figure]
        return 1e3 / value if self.rate else value

    def row(self, rounds):
        ratios = [self.time(a) / self.time(b) for a, b in rounds]
        row = {"name": self.label, "suite": self.suite,
               "this": statistics.median(self.time(a) for a, _ in rounds),
               "other": statistics.median(self.time(b) for _, b in rounds),
               "ratio": statistics.median(ratios), "spread": spread(ratios),
               "aim": self.of_other}
        row["met"] = row["ratio"] <= self.of_other
        if self.bare:
            row["bare"] = statistics.median(a[self.bare] for a, _ in rounds)
            row["bare_aim"] = self.bare_aim
            row["bare_met"] = row["bare"] <= self.bare_aim
        return row


def hop_aim(packet, frame, of_other, bare_aim):
    row = ("runs/packet_flits=%d flits_per_frame=%d/modes/"
           "mode=store-and-forward/" % (packet, frame))
    return Aim("hop, %d / %d, ns" % (packet, frame), "hop",
               row + "ns_per_hop", of_other, bare=row + "ratio_vs_bare",
               bare_aim=bare_aim)


AIMS = (
    hop_aim(16, 5, 0.55, 5), hop_aim(16, 16, 0.55, 3.5),
    hop_aim(1, 5, 0.45, 8), hop_aim(1, 1, 0.45, 20),
    Aim("failover, first rerouted, ns", "failover", "first_rerouted_ns/p50",
        0.4),
    Aim("simulator, 8x8, ns a flit-hop", "sim",
        "runs/case=torus 8x8, uniform/mflit_hops_per_s", 0.5, rate=True),
)


def in_turn(a, suite):
    rounds = []
    for i in range(a.rounds):
        order = (a.this, a.other) if i % 2 == 0 else (a.other, a.this)
        got = [run(os.path.abspath(program), suite, a.reps)
               for program in order]
        rounds.append(tuple(got) if i % 2 == 0 else tuple(got[::-1]))
    return rounds


def aims(a):
    rows = []
    for suite in dict.fromkeys(aim.suite for aim in AIMS):
        rounds = in_turn(a, suite)
        rows += [aim.row(rounds) for aim in AIMS if aim.suite == suite]
    return rows


def print_aims(rows):
    def judged(row, value, aim, met):
        return ("%7.2f %5.2f %s" % (row[value], row[aim], "met" if row[met]
                                    else "NOT") if value in row else "")

    print("%-30s %8s %8s %7s %5s %3s %8s %7s %5s"
          % ("", "this", "other", "of it", "aim", "", "spread", "bare",
             "aim"))
    for r in rows:
        print("%-30s %8.2f %8.2f %s %5.0f %%%s %s"
              % (r["name"], r["this"], r["other"],
                 judged(r, "ratio", "aim", "met"), 100 * r["spread"],
                 "?" if r["spread"] > NOISY else " ",
                 judged(r, "bare", "bare_aim", "bare_met")))


def save(a, figures):
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump({"suite": a.suite, "rounds": a.rounds,
                       "figures": figures}, f, indent=1)


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
    try:
        if a.suite == "aims":
            rows = aims(a)
            print_aims(rows)
            save(a, rows)
            return 0
        rounds = in_turn(a, a.suite)
    except KeyError as e:
        print("bench-against: no figure %s" % e, file=sys.stderr)
        return 2
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
    save(a, [{"name": n, "this": t, "other": o, "ratio": r, "spread": s,
              "noisy": s > NOISY} for n, t, o, r, s in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
