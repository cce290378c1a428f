#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the cases of meson's test logs; last line "N passed, N failed".

A program of unit tests counts by its cases, any other as one. Exits with 1
where a case failed or none ran.
"""
import json
import re
import sys


def cases(entry):
    """(passed, failed) of one program."""
    text = entry.get("stdout", "") + entry.get("stderr", "")
    ok = len(re.findall(r"^\[       OK \]", text, re.M))
    bad = len(re.findall(r"^\[  FAILED  \] \w+$", text, re.M))
    good = entry["result"] in ("OK", "EXPECTEDFAIL")
    if entry["result"] == "SKIP":
        return 0, 0
    if ok + bad == 0:
        return (1, 0) if good else (0, 1)
    if not good and bad == 0:
        bad = 1
    return ok, bad


def main():
    passed = failed = skipped = 0
    names = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                ok, bad = cases(entry)
                passed += ok
                failed += bad
                skipped += entry["result"] == "SKIP"
                if bad:
                    names.append("%s (%s)" % (entry["name"], path))
    for name in names:
        print("failed:", name)
    if skipped:
        print("skipped programs:", skipped)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


sys.exit(main())
