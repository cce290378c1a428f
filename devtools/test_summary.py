#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the cases of meson's test logs.

The last line is "N passed, N failed". If something was skipped, the line before
it is "N skipped", and the lines above name each case skipped and why. The ten
programs that took longest come first. A program of unit tests (cmocka,
test/system/reflit_test.py, unittest) counts by its cases, any other as one. Exits with 1 where a case failed, where
none ran, and where a log is missing; with --strict also where a program was not
installed that devtools/install.sh --tests installs: for CI.
"""
import json
import re
import sys

OK = re.compile(r"^\[       OK \] (\S+)", re.M)
# names of cases may be sentences; the last lines of cmocka count and repeat
FAILED = re.compile(r"^\[  FAILED  \] (?!\d+ test)(.+)$", re.M)
SKIPPED = re.compile(r"^\[  SKIPPED \] (?!\d+ test)(.+?)(?::\s+(.*))?$", re.M)
# cmocka's skip() takes no reason: a case prints it before
CMOCKA_SKIP = re.compile(r"^\[ RUN      \] (.+)\n((?:(?!\[ RUN ).*\n)*?)"
                         r"\[  SKIPPED \] \1$", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((.*)\))?$",
                      re.M)
UNITTEST_SKIP = re.compile(r"^(\w+) \(.*\) \.\.\. skipped '?(.*?)'?$", re.M)


SLOWEST = 10
# reasons that are none where devtools/install.sh --tests has run
AVOIDABLE = re.compile(r"not installed|no clang-format")


class Count:
    def __init__(self):
        self.passed = self.failed = 0
        self.skipped = []  # (case or "", why)


def last_line(text):
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return lines[-1] if lines else "no reason given"


def by_unittest(text, count):
    """Adds what Python's unittest said; @return whether it said anything."""
    found = False
    for m in UNITTEST.finditer(text):
        found = True
        said = dict(item.split("=") for item in (m.group(2) or "").split(", ")
                    if "=" in item)
        bad = int(said.get("failures", 0)) + int(said.get("errors", 0))
        skipped = int(said.get("skipped", 0))
        named = UNITTEST_SKIP.findall(text)[:skipped]
        named += [("", "unittest names no case")] * (skipped - len(named))
        count.failed += bad
        count.skipped += named
        count.passed += int(m.group(1)) - bad - skipped
    return found


def cases(entry):
    """@return the Count of one program."""
    text = entry.get("stdout", "") + "\n" + entry.get("stderr", "")
    count = Count()
    good = entry["result"] in ("OK", "EXPECTEDFAIL")
    if entry["result"] == "SKIP":
        count.skipped.append(("", last_line(text)))
        return count
    # cmocka names what failed and what was skipped twice
    failed = set(FAILED.findall(text))
    skipped = {name: why for name, why in reversed(SKIPPED.findall(text))}
    for name, said in CMOCKA_SKIP.findall(text):
        skipped[name] = skipped[name] or (last_line(said) if said else "")
    count.passed = len(OK.findall(text))
    count.failed = len(failed)
    count.skipped = sorted(skipped.items())
    if not by_unittest(text, count) and not (count.passed or failed or
                                             skipped):
        count.passed = int(good)
    if not good and not count.failed:
        count.failed = 1
    return count


def main():
    passed = failed = 0
    failures, skipped, took = [], [], []
    strict = "--strict" in sys.argv
    for path in sys.argv[1 + strict:]:
        try:
            with open(path, encoding="utf-8") as log:
                entries = [json.loads(line) for line in log]
        except OSError as why:
            failures.append("no log: %s" % why)
            failed += 1
            continue
        for entry in entries:
            count = cases(entry)
            name = "%s (%s)" % (entry["name"], path)
            took.append((entry.get("duration", 0), name))
            passed += count.passed
            failed += count.failed
            skipped += [(name, case, why) for case, why in count.skipped]
            if count.failed:
                failures.append(name)
    for seconds, name in sorted(took, reverse=True)[:SLOWEST]:
        if seconds >= 1:
            print("slow: %.0f s: %s" % (seconds, name))
    for name, case, why in skipped:
        print("skipped: %s%s: %s" % (name, ": " + case if case else "",
                                     why or "no reason given"))
        if strict and AVOIDABLE.search(why):
            failures.append("%s: what this machine can run was skipped" % name)
            failed += 1
    for name in failures:
        print("failed:", name)
    if skipped:
        print("%d skipped" % len(skipped))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
