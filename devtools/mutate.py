#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests are worth: mutants by hand, each compiled and run against the
tests of its area.

    devtools/mutate.py                 all areas (an hour on two cores)
    devtools/mutate.py AREA...         these: devtools/mutants/AREA.mut
    devtools/mutate.py --check         only: is every mutant still in the code?
    devtools/mutate.py --only TEXT     mutants whose file or reason holds TEXT
    devtools/mutate.py --json FILE     the outcome of each, for scripts

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
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
SHARE = 90  # per cent of an area that must be killed
KILLED, SURVIVED, KEPT, STALE = "killed", "survived", "kept", "stale"


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


class Scratch:
    """A copy of the tree, and a build of it."""

    def __init__(self, where):
        self.src = os.path.join(where, "src")
        self.build = os.path.join(where, "build")
        os.makedirs(self.src, exist_ok=True)
        out = subprocess.run(["git", "-C", ROOT, "ls-files", "-co",
                              "--exclude-standard"], capture_output=True,
                             text=True, check=True)
        wanted = set(out.stdout.split("\n")) - {""}
        for name in wanted:
            self.put(name)
        for base, _, names in os.walk(self.src):
            for n in names:
                name = os.path.relpath(os.path.join(base, n), self.src)
                if name not in wanted:
                    os.remove(os.path.join(base, n))
        env = dict(os.environ)
        if shutil.which("ccache"):
            env.setdefault("CC", "ccache gcc")
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            p = subprocess.run(["meson", "setup", self.build, self.src,
                                "-Doptimization=1", "-Dwerror=false",
                                "-Dc_args=-DRL_DEBUG"],
                               capture_output=True, text=True, env=env,
                               check=False)
            if p.returncode:
                raise SystemExit(p.stdout + p.stderr)

    def put(self, name):
        """Copies a file where it differs: what is the same is not rebuilt."""
        source, to = os.path.join(ROOT, name), os.path.join(self.src, name)
        if not os.path.isfile(source):
            return
        with open(source, "rb") as f:
            content = f.read()
        if os.path.isfile(to):
            with open(to, "rb") as f:
                if f.read() == content:
                    return
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "wb") as f:
            f.write(content)
        shutil.copymode(source, to)

    def write(self, name, text):
        with open(os.path.join(self.src, name), "w", encoding="utf-8") as f:
            f.write(text)

    def unknown(self, tests):
        """@return those that meson knows nothing of: it would pass them over"""
        p = subprocess.run(["meson", "test", "-C", self.build, "--list"],
                           capture_output=True, text=True, check=True)
        known = {line.split(" / ")[-1].strip() for line in
                 p.stdout.split("\n")}
        return sorted(set(tests) - known)

    def test(self, tests, jobs):
        """@return (outcome, which test failed)"""
        # of a test of many cases the first that fails is enough
        env = dict(os.environ, STOP_AT_FIRST_FAILURE="1")
        p = subprocess.run(["meson", "test", "-C", self.build, "--maxfail",
                            "1", "--num-processes", str(jobs)] + tests,
                           capture_output=True, text=True, check=False,
                           env=env)
        if p.returncode == 0:
            return SURVIVED, ""
        bad = [line.split()[1:] for line in p.stdout.split("\n")
               if " FAIL " in line or " TIMEOUT " in line or
               " ERROR " in line]
        if not bad:
            return STALE, "does not compile:\n" + "\n".join(
                (p.stdout + p.stderr).split("\n")[-15:])
        return KILLED, " ".join(w for w in bad[0] if w not in
                                ("reflit", "/")).split("  ")[0]


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
    print("%d areas, %d mutants, %d stale" % (len(areas), total, bad))
    return 1 if bad or not total else 0


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("areas", nargs="*")
    p.add_argument("--check", action="store_true")
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--dir", default="/var/tmp/reflit-mutate")
    p.add_argument("--json")
    args = p.parse_args()
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
    scratch = Scratch(args.dir)
    good, done = True, []
    for area, (stages, mutants) in areas.items():
        mutants = [m for m in mutants if args.only in m.path + m.why]
        if mutants:
            good &= run_area(scratch, area, stages, mutants, args.jobs)
            done += mutants
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump([vars(m) for m in done], f, indent=1)
    for m in done:
        if m.outcome in (SURVIVED, STALE):
            print("%s: %s" % (m.outcome, m.name()))
    return 0 if good and done else 1


sys.exit(main())
