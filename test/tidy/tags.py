#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds docs/testing.md against the tests.

Every row of its table names requirements in brackets and the test files that
prove them; each file must exist and must name each of these tags. Exits with 1
where a row is not true.
"""
import os
import re
import sys

TAG = re.compile(r"\[([A-Z]+-(?:C?\d+)(?:\.\.[A-Z]*-?C?\d+)?)\]")


def expand(tag):
    """LINK-1..5 and LINK-C1..C33 stand for all between."""
    m = re.match(r"^([A-Z]+)-(C?)(\d+)\.\.(?:[A-Z]+-)?C?(\d+)$", tag)
    if not m:
        return [tag]
    return ["%s-%s%d" % (m.group(1), m.group(2), i)
            for i in range(int(m.group(3)), int(m.group(4)) + 1)]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    bad = rows = 0
    path = os.path.join(root, "docs", "testing.md")
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, line in enumerate(lines, 1):
        if not line.startswith("| ["):
            continue
        rows += 1
        tags = [t for m in TAG.findall(line.split("|")[1]) for t in expand(m)]
        tests = re.findall(r"`(test/[^`]+)`", line)
        text = ""
        for name in tests:
            full = os.path.join(root, name)
            if not os.path.isfile(full):
                print("docs/testing.md:%d: no such test: %s" % (number, name))
                bad += 1
                continue
            with open(full, encoding="utf-8") as f:
                text += f.read()
        for tag in tags:
            if not re.search(r"\b%s\b" % re.escape(tag), text):
                print("docs/testing.md:%d: %s is not named by %s"
                      % (number, tag, ", ".join(tests) or "any test"))
                bad += 1
    print("%d rows, %d findings" % (rows, bad))
    return 1 if bad or not rows else 0


sys.exit(main())
