#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""C code is formatted as .clang-format says, but for some places.

    format.py ROOT            the check; exits with 1 if too many differ
    format.py ROOT -l         also lists the files, those with most places last
    format.py ROOT -i FILE... formats files in place
    format.py ROOT -t         checks that badly formatted lines are found

The tree is older than the file. New and changed code follows it, and the number
only falls: PER_MILLE is a ratchet. Versions of clang-format differ in details, so
other versions than that of Debian 12 are skipped by name.
"""
import os
import re
import subprocess
import sys
import tempfile

VERSION = "14"
PER_MILLE = 56  # lowered as the tree gets closer
SKIP = 77


def clang_format():
    """The program of the right version, or the reason why there is none."""
    for name in ("clang-format-" + VERSION, "clang-format"):
        try:
            out = subprocess.run([name, "--version"], capture_output=True,
                                 text=True, check=False).stdout
        except FileNotFoundError:
            continue
        if re.search(r"version %s\." % VERSION, out):
            return name, None
    return None, "no clang-format of version " + VERSION


def sources(root):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard",
                          "*.c", "*.h"], cwd=root, capture_output=True,
                         text=True, check=False)
    return [n for n in out.stdout.split() if
            os.path.isfile(os.path.join(root, n))]


def differing(tool, root, names):
    """How many places of each file the tool would change; lines in all."""
    found, total = {}, 0
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as f:
            total += f.read().count("\n")
    for at in range(0, len(names), 40):
        p = subprocess.run([tool, "--dry-run", *names[at:at + 40]], cwd=root,
                           capture_output=True, text=True, check=True)
        for name in re.findall(r"^([^ :]+):\d+:\d+: warning: code should be",
                               p.stderr, re.M):
            found[name] = found.get(name, 0) + 1
    return found, total


def self_test(tool, root):
    with open(os.path.join(root, ".clang-format"), encoding="utf-8") as f:
        style = f.read()
    with tempfile.TemporaryDirectory() as top:
        for name, text in ((".clang-format", style),
                           ("good.c", "int\ng(int a)\n{\n\treturn a;\n}\n"),
                           ("bad.c", "int\ng(int a) {\n\treturn a ;\n}\n")):
            with open(os.path.join(top, name), "w", encoding="utf-8") as f:
                f.write(text)
        found, total = differing(tool, top, ["good.c", "bad.c"])
    print(found, total)
    return 0 if found == {"bad.c": 2} and total == 9 else 1


def main():
    root = sys.argv[1]
    tool, why = clang_format()
    if tool is None:
        print("SKIP:", why)
        return SKIP
    if "-t" in sys.argv:
        return self_test(tool, root)
    if "-i" in sys.argv:
        return subprocess.run([tool, "-i", *sys.argv[3:]],
                              check=False).returncode
    names = sources(root)
    if not names:
        print("SKIP: not a checkout")
        return SKIP
    found, total = differing(tool, root, names)
    places = sum(found.values())
    if "-l" in sys.argv:
        for name in sorted(found, key=found.get):
            print("%5d %s" % (found[name], name))
    print("%d files, %d places in %d lines differ from .clang-format, %d in "
          "1,000 may" % (len(names), places, total, PER_MILLE))
    return 1 if 1000 * places > PER_MILLE * total else 0


sys.exit(main())
