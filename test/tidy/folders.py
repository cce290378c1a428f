# SPDX-License-Identifier: BSD-3-Clause
"""docs/architecture.md says on which folders each folder of lib/ stands; so do
the build files, and they decide. -t tests the test.

usage: folders.py SOURCE_ROOT [-t]
"""

import glob
import os
import re
import sys

PAGE = "docs/architecture.md"
BELOW_ALL = "base"


def built(texts):
    """{folder: folders that its meson.build declares}"""
    home = {}
    for folder, text in texts.items():
        for dep in re.findall(r"^(dep_\w+) = declare", text, re.M):
            home[dep] = folder
    return {folder: {home[d] for d in re.findall(r"\bdep_\w+", text)
                     if d in home} - {folder, BELOW_ALL}
            for folder, text in texts.items()}


def told(page):
    """{folder: folders that the page names}"""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]*) ?\| [^|]+ \|$", page,
                      re.M)
    return {folder: set(re.findall(r"`(\w+)`", on)) for folder, on in rows}


def check(texts, page):
    want, have = built(texts), told(page)
    return ["%s: %s stands on %s; the page says %s" % (
        PAGE, folder, " ".join(sorted(want.get(folder, ["nothing known"]))),
        " ".join(sorted(have[folder])) if folder in have else "nothing")
        for folder in sorted(set(want) | set(have))
        if want.get(folder) != have.get(folder)]


def self_test():
    texts = {"base": "dep_base = declare_dependency()\n",
             "flit": "dep_flit = declare_dependency(\n  dep_base)\n",
             "link": "x(dep_base, dep_flit)\ndep_link = declare_x(dep_m)\n"}
    row = "| `%s` | what | %s| `a.h` |\n"
    page = (row % ("base", "") + row % ("flit", "") +
            row % ("link", "`flit` "))
    assert not check(texts, page), check(texts, page)
    assert len(check(texts, page.replace("t | `flit` |", "t | `base` |"))) == 1
    assert len(check(texts, page.replace("t | `flit` |", "t | |"))) == 1
    assert len(check(texts, page.replace(row % ("flit", ""), ""))) == 1
    assert len(check(texts, page + row % ("gone", ""))) == 1


def main():
    if "-t" in sys.argv:
        self_test()
        return 0
    texts, root = {}, sys.argv[1]
    for path in glob.glob(os.path.join(root, "lib", "*", "meson.build")):
        with open(path, encoding="utf-8") as f:
            texts[os.path.basename(os.path.dirname(path))] = f.read()
    assert texts
    with open(os.path.join(root, PAGE), encoding="utf-8") as f:
        found = check(texts, f.read())
    for line in found:
        print(line)
    print("%d folders, %d findings" % (len(texts), len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
