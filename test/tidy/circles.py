# SPDX-License-Identifier: BSD-3-Clause
"""No file calls another of its folder that calls it, directly or round a corner:
a reader goes down, never in a circle. -t tests the test.

usage: circles.py SOURCE_ROOT [-t]
"""

import glob
import os
import re
import sys

FOLDERS = ("lib/*", "app/*", "drivers/*")


def strip(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    # neither strings nor tags, which may be a function's name as well
    text = re.sub(r'"[^"\n]*"', '""', text)
    text = re.sub(r"\b(struct|enum|union) \w+", r"\1 x", text)
    return re.sub(r"__attribute__\(\(.*?\)\)+\n? *", "", text)


def code(path):
    with open(path, encoding="utf-8") as f:
        return strip(f.read())


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
    tag = strip("void\nc_one(struct a_one *x, enum a_one y)\n{\n}\n"
                "__attribute__((format(printf, 2, 3))) static void\nd(a)\n{}")
    assert check({"a.c": a, "b.c": back, "c.c": tag}) is None
    assert "__attribute__" not in tag and "static void\nd(" in tag
    static = "static int\na_one(void)\n{\n}\n"
    assert check({"a.c": a, "b.c": back, "c.c": static}) is None


def main():
    if "-t" in sys.argv:
        self_test()
        return 0
    root, bad, n = sys.argv[1], 0, 0
    for folder in sorted(f for pattern in FOLDERS
                         for f in glob.glob(os.path.join(root, pattern))):
        name = os.path.relpath(folder, root)
        files = sorted(glob.glob(os.path.join(folder, "*.c")))
        what = check({path: code(path) for path in files})
        n += bool(files)
        if what is not None:
            print(f"{name}: a circle: {what}")
            bad += 1
    print(f"{n} folders, {bad} findings")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
