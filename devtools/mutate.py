#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests are worth: mutants by hand, each compiled and run against the
tests of its area.

    devtools/mutate.py                 all areas (an hour on two cores)
    devtools/mutate.py AREA...         these: devtools/mutants/AREA.mut
    devtools/mutate.py --check         only: is every mutant still in the code?
    devtools/mutate.py --only TEXT     mutants whose file or reason holds TEXT
    devtools/mutate.py --json FILE     the outcome of each, for scripts
    devtools/mutate.py --draw N --seed S [--room DIR]...
                                       N slips drawn at random instead

A mutant is a small change that breaks a promise. It is killed if a test of its
area fails or hangs. At least 90 % of an area's mutants must be killed; one that
survives for a good reason says it (`keep:`) and counts as neither. The tree is
copied to a scratch folder (--dir), built once, and then rebuilt for each mutant
only as far as its tests need. Exits with 1 where an area falls short, or where
a mutant is stale: its text is not in the file once, or it does not compile.

Form of a list:

    tests: NAME NAME...      run first; of meson
    tests: NAME...           run for what survives those, and so on

    file: PATH
    why: what breaks
    < text that stands in the file exactly once
    > what stands there instead
    keep: why it may survive           (optional)

Several `<` or `>` lines are one text of several lines. Where `>` is left out,
the text is taken away.

With --draw the slips are not written by hand, but drawn (mutate_slips.py): off
by one, swapped arguments or fields, a reset or a statement removed, a condition
negated or halved, a constant changed, an error code lost. A slip is tried with
the tests that run its line, the cheapest first; a map of lines and tests is made
once and kept in --dir (mutate_cover.py). Prints each survivor as a diff, and
`killed K of N`. devtools/mutants/judged.txt lists survivors that may survive.
"""
import argparse
import glob
import json
import os
import sys
import time

import mutate_draw
from mutate_scratch import KEPT, KILLED, ROOT, STALE, SURVIVED, Scratch

SHARE = 90  # per cent of an area that must be killed


class Mutant:
    def __init__(self, area, line):
        self.area, self.line = area, line
        self.path = self.why = self.keep = ""
        self.old, self.new = [], []
        self.outcome = self.by = ""

    def name(self):
        return "%s.mut:%d %s: %s" % (self.area, self.line, self.path, self.why)


def read_area(path):
    """@return (stages of tests, mutants)"""
    area = os.path.basename(path)[:-len(".mut")]
    stages, mutants, last = [], [], ""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, line in enumerate(lines, 1):
        key, _, rest = line.partition(": ")
        if line.startswith(("<", ">")):
            (mutants[-1].old if line[0] == "<" else
             mutants[-1].new).append(line[2:])
        elif key == "tests":
            stages.append(rest.split())
        elif key == "file":
            mutants.append(Mutant(area, number))
            mutants[-1].path = last = rest
        elif key == "why":
            if mutants and mutants[-1].why:  # another of the same file
                mutants.append(Mutant(area, number))
                mutants[-1].path = last
            mutants[-1].why = rest
        elif key == "keep":
            mutants[-1].keep = rest
        elif line.strip() and not line.startswith("#"):
            raise SystemExit("%s:%d: not understood: %s" % (path, number,
                                                            line))
    return stages, mutants


def mutated(root, m):
    """@return the file's text with the mutant in it, or None: stale"""
    try:
        with open(os.path.join(root, m.path), encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return None
    old, new = "\n".join(m.old), "\n".join(m.new)
    if not old or text.count(old) != 1:
        return None
    return text.replace(old, new)


def run_mutant(scratch, m, stages, jobs):
    text = mutated(scratch.src, m)
    if text is None:
        m.outcome, m.by = STALE, "its text is not there, or not once"
        return
    with open(os.path.join(scratch.src, m.path), encoding="utf-8") as f:
        original = f.read()
    scratch.write(m.path, text)
    try:
        for tests in stages:
            m.outcome, m.by = scratch.test(tests, jobs)
            if m.outcome != SURVIVED:
                break
    finally:
        scratch.write(m.path, original)
    if m.outcome == SURVIVED and m.keep:
        m.outcome = KEPT


def report(area, mutants, seconds):
    """@return whether the area is good enough"""
    count = {k: sum(m.outcome == k for m in mutants)
             for k in (KILLED, SURVIVED, KEPT, STALE)}
    judged = count[KILLED] + count[SURVIVED]
    good = judged > 0 and 100 * count[KILLED] >= SHARE * judged
    print("%s: %d of %d killed, %d kept for a reason, %d stale; %d s%s" % (
        area, count[KILLED], judged, count[KEPT], count[STALE], seconds,
        "" if good else ": LESS THAN %d %%" % SHARE), flush=True)
    return good and not count[STALE]


def run_area(scratch, area, stages, mutants, jobs):
    began = time.monotonic()
    unknown = scratch.unknown(sum(stages, []))
    if unknown:
        print("%s: there are no such tests: %s" % (area, " ".join(unknown)))
        return False
    outcome, by = SURVIVED, ""
    for tests in stages:
        if outcome == SURVIVED:
            outcome, by = scratch.test(tests, jobs)
    if outcome != SURVIVED:
        print("%s: its tests fail without any mutant: %s" % (area, by))
        return False
    for m in mutants:
        run_mutant(scratch, m, stages, jobs)
        print("%-8s %s%s" % (m.outcome, m.name(), " (%s)" % m.by if m.by
                             else ""), flush=True)
    return report(area, mutants, time.monotonic() - began)


def check(areas):
    bad = total = 0
    for area, (_, mutants) in areas.items():
        for m in mutants:
            total += 1
            if mutated(ROOT, m) is None:
                print("stale:", m.name())
                bad += 1
    judged = mutate_draw.read_judged()
    for slip in mutate_draw.stale_judged(ROOT, judged):
        print("stale: judged.txt: %s: %s: < %s > %s" % slip)
        bad += 1
    print("%d areas, %d mutants, %d judged, %d stale" % (
        len(areas), total, len(judged), bad))
    return 1 if bad or not total else 0


def options():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("areas", nargs="*")
    p.add_argument("--check", action="store_true")
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--dir", help="default: /var/tmp/reflit-mutate, or "
                   "/var/tmp/reflit-draw")
    p.add_argument("--json")
    p.add_argument("--verbose", action="store_true",
                   help="prints slips that were killed or judged, too")
    p.add_argument("--draw", type=int, metavar="N")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--room", action="append", metavar="DIR",
                   help="draws from these folders; default: lib app drivers")
    p.add_argument("--most", type=int, default=12, metavar="M",
                   help="tries at most M tests a slip; default: 12")
    p.add_argument("--cover-tests", action="append", metavar="PATTERN",
                   help="tries only tests of these names: 'traffic-*'")
    p.add_argument("--cover-limit", type=float, default=20, metavar="SECONDS",
                   help="tries no test that takes longer; default: 20")
    return p.parse_args()


def write_json(path, outcomes):
    if path:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(outcomes, f, indent=1)


def draw(args):
    scratch = Scratch(args.dir or "/var/tmp/reflit-draw", "-Dwerror=true")
    done = mutate_draw.draw(scratch, args)
    write_json(args.json, done)
    return 0 if len(done) == args.draw else 1


def main():
    args = options()
    if args.draw is not None:
        return draw(args)
    lists = sorted(glob.glob(os.path.join(ROOT, "devtools", "mutants",
                                          "*.mut")))
    areas = {os.path.basename(n)[:-len(".mut")]: read_area(n) for n in lists}
    unknown = set(args.areas) - set(areas)
    if unknown:
        raise SystemExit("no such area: %s; there are %s" % (
            ", ".join(sorted(unknown)), ", ".join(areas)))
    areas = {a: v for a, v in areas.items() if not args.areas or
             a in args.areas}
    if args.check:
        return check(areas)
    scratch = Scratch(args.dir or "/var/tmp/reflit-mutate")
    good, done = True, []
    for area, (stages, mutants) in areas.items():
        mutants = [m for m in mutants if args.only in m.path + m.why]
        if mutants:
            good &= run_area(scratch, area, stages, mutants, args.jobs)
            done += mutants
    write_json(args.json, [vars(m) for m in done])
    for m in done:
        if m.outcome in (SURVIVED, STALE):
            print("%s: %s" % (m.outcome, m.name()))
    return 0 if good and done else 1


sys.exit(main())
