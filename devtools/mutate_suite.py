# SPDX-License-Identifier: BSD-3-Clause
"""The tests of a build, run one at a time and without meson: which it is that
fails, how long it takes, and whether it was the compiler that refused."""
import fnmatch
import json
import os
import signal
import subprocess
import time

PASSED, FAILED, HUNG, SKIPPED = "passed", "failed", "hung", "skipped"
SKIP = 77
# kinds of tests that slips are tried with, in this order
SUITES = ("unit", "sim", "system")
# tests that pass because something fails: they notice nothing else
PLANTS = "*-finds-*"


def introspect(build, what):
    p = subprocess.run(["meson", "introspect", "--" + what, build],
                       capture_output=True, text=True, check=True)
    return json.loads(p.stdout)


class Suite:
    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.output = {t["id"]: t["filename"] for t in introspect(build,
                                                                  "targets")}
        self.tests = {t["name"]: t for t in introspect(build, "tests")}

    def names(self, patterns):
        """@return tests of SUITES that a pattern fits, but for long ones and
        those of planted bugs"""
        found = []
        for want in SUITES:
            for name, t in self.tests.items():
                suites = {s.split(":")[-1] for s in t["suite"]}
                if want not in suites or "long" in suites or \
                        fnmatch.fnmatchcase(name, PLANTS):
                    continue
                if any(fnmatch.fnmatchcase(name, p) for p in patterns):
                    found.append(name)
        return found

    def targets(self, names):
        """@return what ninja must build for these tests"""
        files = set()
        for name in names:
            t = self.tests[name]
            files |= {w for w in t["cmd"] if w.startswith(self.build + "/")}
            for d in t["depends"]:
                files |= set(self.output.get(d, ()))
        made = {f for out in self.output.values() for f in out}
        return sorted(os.path.relpath(f, self.build) for f in files & made)

    def make(self, targets, jobs):
        """@return "" or why it does not compile"""
        p = subprocess.run(["ninja", "-C", self.build, "-j", str(jobs)] +
                           list(targets), capture_output=True, text=True,
                           check=False)
        return p.stdout[-2000:] + p.stderr if p.returncode else ""

    def scripts(self, name):
        """@return files of the tree that this test executes"""
        return [w for w in self.tests[name]["cmd"] if os.path.isfile(w) and
                not w.startswith(self.build + "/")]

    def run(self, name, limit_s, **env):
        """@return (outcome, seconds)"""
        t = self.tests[name]
        began = time.monotonic()
        p = subprocess.Popen(
            t["cmd"], cwd=t["workdir"] or self.build, start_new_session=True,
            env=dict(os.environ, **t["env"], **env, STOP_AT_FIRST_FAILURE="1"),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            status = p.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            return HUNG, limit_s
        seconds = round(time.monotonic() - began, 2)
        if status == SKIP:
            return SKIPPED, seconds
        return FAILED if status else PASSED, seconds
