# SPDX-License-Identifier: BSD-3-Clause
"""No file of lib/endpoint or lib/link calls another that calls it, directly or
round a corner: a reader goes down, never in a circle. -t tests the test.

usage: circles.py SOURCE_ROOT [-t]
"""

import glob
import os
import re
import sys

FOLDERS = ["lib/endpoint", "lib/link"]


def code(path):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return re.sub(r'"[^"\n]*"', '""', text)


def uses(texts):
    """Which file uses which: {file: {other: name}}."""
    home = {}
    for path, text in texts.items():
        for m in re.finditer(r"^([a-z_0-9]+)\(", text, re.M):
            before = text[:m.start()].rstrip("\n").rsplit("\n", 1)[-1]
            if not before.startswith(("static", "_Static")):
                home.setdefault(m.group(1), path)
    found = {path: {} for path in texts}
    for path, text in texts.items():
        for name in set(re.findall(r"\b[a-z_0-9]+\b", text)):
            there = home.get(name, path)
            if there != path:
                found[path][there] = name
    return found


def circle(graph):
    """The files of a circle in their order, or None."""
    state = {}
    way = []

    def visit(at):
        state[at] = 1
        way.append(at)
        for to in sorted(graph[at]):
            if state.get(to) == 1:
                return way[way.index(to):] + [to]
            if to not in state:
                found = visit(to)
                if found:
                    return found
        way.pop()
        state[at] = 2
        return None

    for start in sorted(graph):
        if start not in state:
            found = visit(start)
            if found:
                return found
    return None


def check(texts):
    graph = uses(texts)
    found = circle(graph)
    if found is None:
        return None
    return ", ".join(f"{os.path.basename(a)} calls {graph[a][b]}() of "
                     f"{os.path.basename(b)}"
                     for a, b in zip(found, found[1:]))


def self_test():
    a = "int\na_one(void)\n{\n\tb_one();\n}\n"
    b = "int\nb_one(void)\n{\n}\n"
    assert check({"a.c": a, "b.c": b}) is None
    back = b.replace("{\n}", "{\n\tc_one();\n}")
    c = "void\nc_one(void)\n{\n\ta_one();\n}\n"
    assert check({"a.c": a, "b.c": back, "c.c": c}) == \
        "a.c calls b_one() of b.c, b.c calls c_one() of c.c, " \
        "c.c calls a_one() of a.c"
    static = "static int\na_one(void)\n{\n}\n"
    assert check({"a.c": a, "b.c": back, "c.c": static}) is None


def main():
    if "-t" in sys.argv:
        self_test()
        return 0
    bad = 0
    for folder in FOLDERS:
        files = sorted(glob.glob(os.path.join(sys.argv[1], folder, "*.c")))
        assert files, folder
        what = check({path: code(path) for path in files})
        if what is not None:
            print(f"{folder}: a circle: {what}")
            bad += 1
    print(f"{len(FOLDERS)} folders, {bad} circles")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
