#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""House rules that a machine can check. One line a finding; exits with 1.

Limits are ratchets: they may be lowered, and an exception is a line in
EXCEPTIONS with its reason, or it is mended.
"""
import os
import re
import subprocess
import sys

FILE_LINES = 600
FUNCTION_LINES = 60  # from its name's line to its last brace
SOURCE = (".c", ".h", ".py", ".sh", ".build")
# path -> why it may be longer
LONG_FILES = {}
# (path, function) -> why it may be longer
LONG_FUNCTIONS = {}
FORBIDDEN_IN_LIB = re.compile(
    r"\b(printf|fprintf|puts|putchar|perror|abort|exit|_exit|time|rand|"
    r"srand|gettimeofday|clock_gettime)\s*\(")
# control-path libraries whose business is a file or a stream of text
MAY_WRITE = ("lib/config/", "lib/check/", "lib/route/", "lib/topo/")


def files(root):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                         cwd=root, capture_output=True, text=True)
    names = out.stdout.split("\n") if out.returncode == 0 else []
    if not names:  # not a checkout: a tarball
        for base, dirs, found in os.walk(root):
            dirs[:] = [d for d in dirs if not d.startswith((".", "build"))]
            names += [os.path.relpath(os.path.join(base, f), root)
                      for f in found]
    return sorted(n for n in names
                  if n.endswith(SOURCE) and os.path.isfile(
                      os.path.join(root, n)))


def strip_comments(text):
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    text = re.sub(r"//[^\n]*", blank, text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def functions(lines):
    """(name, first line, length) of each function definition of a C file."""
    start = name = at = None
    for i, line in enumerate(lines):
        m = re.match(r"^([a-z_][\w]*)\(", line)
        if m and i > 0 and lines[i - 1] and not lines[i - 1].startswith("#"):
            name, at = m.group(1), i
        if line == "{" and name:
            start = at
        if line == "}" and start is not None:
            yield name, start + 1, i - start + 1
            start = name = None


def check_private(path, text, report):
    """What a port or a core is made of is seen by its own files only, so that
    no other role, and so no other lcore, can touch it [LINK-1]. But for tests
    of the second time, which compare one object with another field by field, and
    those that play or watch the thread of the channel."""
    if re.match(r"test/unit/(.*second|oob/test_(refusals|view))\.c$", path):
        return
    for i, line in enumerate(text.split("\n"), 1):
        m = re.search(r'#\s*include\s*"([^"]*_priv\.h)"', line)
        home = os.path.join(os.path.dirname(path), m.group(1)) if m else None
        if home and not os.path.isfile(home):
            report(path, i, "%s is private to another folder" % m.group(1))


def check_named(path, report):
    """A test that no meson.build names never runs."""
    folder, base = os.path.split(path)
    stem = os.path.splitext(base)[0]
    try:
        with open(os.path.join(folder, "meson.build"), encoding="utf-8") as f:
            build = f.read()
    except OSError:
        build = ""
    parts = stem.split("_")
    tails = ["_".join(parts[i:]) for i in range(1, len(parts))]
    if base not in build and not any("'%s'" % t in build for t in tails):
        report(path, 1, "no meson.build beside it names this test")


def check_c(path, text, report):
    lines = text.split("\n")
    code = strip_comments(text)
    check_private(path, text, report)
    if re.search(r'#\s*include\s*["<][^">]*\.c[">]', text):
        report(path, 1, "includes a .c file")
    if path.startswith("lib/"):
        for i, line in enumerate(lines, 1):
            if re.search(r'#\s*include\s*["<](rte_|cmdline)', line):
                report(path, i, "DPDK inside lib/")
        if not path.startswith(MAY_WRITE):
            for i, line in enumerate(code.split("\n"), 1):
                m = FORBIDDEN_IN_LIB.search(line)
                if m:
                    report(path, i, "%s() inside lib/" % m.group(1))
    for name, first, length in functions(lines):
        if length > FUNCTION_LINES and (path, name) not in LONG_FUNCTIONS:
            report(path, first, "%s() has %d lines, %d are allowed"
                   % (name, length, FUNCTION_LINES))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    os.chdir(root)
    root = "."
    found = []

    def report(path, line, what):
        found.append("%s:%d: %s" % (path, line, what))

    names = files(root)
    for path in names:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        head = "\n".join(text.split("\n")[:3])
        if "SPDX-License-Identifier: BSD-3-Clause" not in head:
            report(path, 1, "no SPDX line atop")
        n = text.count("\n")
        if n > FILE_LINES and path not in LONG_FILES:
            report(path, n, "%d lines, %d are allowed" % (n, FILE_LINES))
        if re.match(r"test/(.*/)?test_[^/]*\.(c|py)$", path):
            check_named(path, report)
        if path.endswith((".c", ".h")):
            check_c(path, text, report)
    for line in found:
        print(line)
    print("%d files, %d findings" % (len(names), len(found)))
    return 1 if found or not names else 0


sys.exit(main())
