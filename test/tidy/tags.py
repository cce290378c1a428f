#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds docs/testing.md against the tests.

Every row of its tables names requirements in brackets and the test files that
prove them. Each of these files must exist and must name each of the row's tags
by itself: a file that names one does not cover for its neighbour. A requirement
stands in one row. Exits with 1 where a row is not true.

    tags.py ROOT       the check
    tags.py ROOT -t    plants wrong rows, which must be found
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


def names(text, tag):
    """A text that names a span of tags names all between."""
    if re.search(r"\b%s\b" % re.escape(tag), text):
        return True
    spans = re.findall(r"\b[A-Z]+-C?\d+\.\.[A-Z]*-?C?\d+\b", text)
    return any(tag in expand(span) for span in spans)


def check_row(line, read, seen):
    """@return complaints; `seen` holds the tags of the rows before."""
    tags = [t for m in TAG.findall(line.split("|")[1]) for t in expand(m)]
    tests = re.findall(r"`(test/[^`]+)`", line)
    bad = ["%s stands in another row, too" % t for t in tags if t in seen]
    seen.update(tags)
    if not tests:
        bad.append("no test proves %s" % ", ".join(tags))
    for name in tests:
        text = read(name)
        if text is None:
            bad.append("no such test: %s" % name)
            continue
        bad += ["%s does not name %s" % (name, tag) for tag in tags
                if not names(text, tag)]
    return bad


def self_test():
    files = {"test/a.c": "[DRL-2] [DRL-4..6]", "test/b.c": "DRL-20, DRL-3"}
    rows = [  # row, complaints that it must draw
        ("| [DRL-2] | x | `test/a.c` |", 0),
        ("| [DRL-4..6] | x | `test/a.c` |", 0),
        ("| [DRL-5] | x | `test/a.c` |", 1),  # twice
        ("| [DRL-3] | x | `test/a.c`, `test/b.c` |", 1),
        ("| [DRL-20] [DRL-21] | x | `test/b.c` |", 1),
        ("| [DRL-7] | x | `test/none.c` |", 1),
        ("| [DRL-8] | x | |", 1),
    ]
    seen, bad = set(), 0
    for row, wanted in rows:
        found = check_row(row, files.get, seen)
        if len(found) != wanted:
            print("%s: %d complaints, not %d: %s" % (row, len(found), wanted,
                                                     found))
            bad += 1
    print("%d rows planted, %d findings" % (len(rows), bad))
    return 1 if bad else 0


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    if "-t" in sys.argv:
        return self_test()

    def read(name):
        full = os.path.join(root, name)
        if not os.path.isfile(full):
            return None
        with open(full, encoding="utf-8") as f:
            return f.read()

    bad = rows = 0
    seen = set()
    for number, line in enumerate(read("docs/testing.md").split("\n"), 1):
        if line.startswith("| ["):
            rows += 1
            for complaint in check_row(line, read, seen):
                print("docs/testing.md:%d: %s" % (number, complaint))
                bad += 1
    print("%d rows, %d findings" % (rows, bad))
    return 1 if bad or not rows else 0


sys.exit(main())
