# SPDX-License-Identifier: BSD-3-Clause
"""Which tests run which line. Made once of a build that counts, each test run
alone, and kept in DIR/cover.json.gz:

    tests   {name: [outcome, seconds]}
    texts   {name: {path: hash}}               files as this test ran them
    ran     {name: {path: [[first, last]...]}} lines of them that it ran
    code    {path: [[first, last]...]}         lines that have code at all
    files   {path: hash}                       of which text `code` is

A test is run again if it is new, or if a file that it ran (or its script) has
changed since; lines of that file are then known as they are now.
"""
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tempfile

from mutate_suite import HUNG, PASSED, Suite

GCOV_FILES = 100  # of one call of gcov
KEEP = 20  # tests after which the map is written


def ranges(lines):
    out = []
    for n in sorted(lines):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return out


def spread(pairs):
    return {n for a, b in pairs for n in range(a, b + 1)}


def hash_of(path):
    try:
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()[:16]
    except OSError:
        return ""


def found(root, ending):
    return [os.path.join(base, n) for base, _, names in os.walk(root)
            for n in names if n.endswith(ending)]


class Cover:
    def __init__(self, scratch):
        self.src = os.path.abspath(scratch.src)
        self.build = os.path.abspath(os.path.join(scratch.where, "cover"))
        self.path = os.path.join(scratch.where, "cover.json.gz")
        scratch.setup(self.build, "-Db_coverage=true", "-Dwerror=false")
        self.suite = Suite(self.build)
        self.map = {"tests": {}, "texts": {}, "ran": {}, "code": {},
                    "files": {}}
        if os.path.exists(self.path):
            with gzip.open(self.path, "rt") as f:
                self.map = json.load(f)
        self.by_line = {}

    def stale(self, name):
        """@return whether the test must be run (again)"""
        if name not in self.map["tests"]:
            return True
        return any(was != self.hash(path) for path, was in
                   self.map["texts"][name].items())

    def hash(self, path):
        return hash_of(os.path.join(self.src, path))

    def renew(self, patterns, limit_s, jobs, say):
        """Brings the map up to date for the tests that a pattern fits."""
        names = self.suite.names(patterns)
        todo = [n for n in names if self.stale(n)]
        if todo:
            say("coverage: %d of %d tests to run" % (len(todo), len(names)))
            why = self.suite.make(self.suite.targets(todo), jobs)
            if why:
                raise SystemExit("the tests do not compile:\n" + why)
            unseen = set(found(self.build, ".gcno"))
            for n, name in enumerate(todo, 1):
                unseen -= self.measure(name, limit_s, say)
                if n % KEEP == 0:
                    self.keep()
            self.read(sorted(unseen))
            self.keep()
        for name in names:
            self.index(name)

    def measure(self, name, limit_s, say):
        """Runs a test. @return the .gcno files of what it ran"""
        with tempfile.TemporaryDirectory(dir="/var/tmp") as box:
            outcome, seconds = self.suite.run(name, limit_s, GCOV_PREFIX=box)
            counts = found(box, ".gcda")
            notes = set()
            for path in counts:
                note = "/" + os.path.relpath(path, box)[:-len("da")] + "no"
                if os.path.exists(note):
                    os.symlink(note, path[:-len("da")] + "no")
                    notes.add(note)
            ran = self.read(counts)
        for script in self.suite.scripts(name):
            path = os.path.relpath(script, self.src)
            if not path.startswith(".."):
                ran[path] = set()
        self.map["texts"][name] = {path: self.hash(path) for path in ran}
        self.map["tests"][name] = [outcome, seconds]
        self.map["ran"][name] = {p: ranges(n) for p, n in ran.items()}
        if outcome != PASSED:
            say("coverage: %s %s: no slip is tried with it" % (
                name, "takes longer than %g s" % limit_s if outcome == HUNG
                else outcome))
        return notes

    def read(self, paths):
        """Reads counts or notes. @return {file: lines that were run}"""
        ran, code = {}, {}
        for at in range(0, len(paths), GCOV_FILES):
            p = subprocess.run(["gcov", "--json-format", "--stdout"] +
                               paths[at:at + GCOV_FILES], cwd=self.build,
                               capture_output=True, check=False)
            for one in p.stdout.splitlines():
                if one.startswith(b"{"):
                    self.collect(json.loads(one), ran, code)
        for path, lines in code.items():
            now = self.hash(path)
            if self.map["files"].get(path) != now:
                self.map["code"][path] = []
                self.map["files"][path] = now
            self.map["code"][path] = ranges(
                spread(self.map["code"].get(path, ())) | lines)
        return ran

    def collect(self, told, ran, code):
        base = told["current_working_directory"]
        for f in told["files"]:
            path = os.path.relpath(os.path.normpath(os.path.join(
                base, f["file"])), self.src)
            if path.startswith(".."):
                continue
            code.setdefault(path, set()).update(
                x["line_number"] for x in f["lines"])
            lines = {x["line_number"] for x in f["lines"] if x["count"]}
            if lines:
                ran.setdefault(path, set()).update(lines)

    def keep(self):
        half = self.path + ".new"
        with gzip.open(half, "wt") as f:
            json.dump(self.map, f)
        shutil.move(half, self.path)

    def index(self, name):
        """Of a test that passes: the lines that it runs."""
        if self.map["tests"][name][0] != PASSED:
            return
        for path, pairs in self.map["ran"][name].items():
            for line in spread(pairs):
                self.by_line.setdefault((path, line), []).append(name)

    def has_code(self, slip):
        lines = spread(self.map["code"].get(slip.path, ()))
        return any(n in lines for n in range(slip.first, slip.last + 1))

    def tests(self, slip):
        """@return tests that run the slip's line, or else its statement; the
        cheapest first"""
        names = set(self.by_line.get((slip.path, slip.line), ()))
        if not names:
            for n in range(slip.first, slip.last + 1):
                names |= set(self.by_line.get((slip.path, n), ()))
        return sorted(names, key=lambda n: (self.map["tests"][n][1], n))
