#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What pages link to is there: files, and headings of pages.

    links.py ROOT        exits with 1 where a link leads nowhere
    links.py ROOT -t     plants such links, which must be found
"""
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")


def pages(root):
    return subprocess.run(["git", "ls-files", "-co", "--exclude-standard",
                           "*.md"], cwd=root, capture_output=True, text=True,
                          check=True).stdout.split()


def anchors(text):
    """As GitHub makes them of headings."""
    seen, fenced = {}, False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        heading = re.match(r"#+ (.*)", line)
        if fenced or not heading:
            continue
        name = LINK.sub("", heading.group(1)).replace("[", "").strip().lower()
        name = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        yield name if seen[name] == 0 else "%s-%d" % (name, seen[name])


def dead(root, page, text):
    """Links of a page that lead nowhere."""
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(root, os.path.dirname(page),
                                             name)) if name else None
        if path is not None and not os.path.exists(path):
            yield link
        elif anchor and (path is None or path.endswith(".md")):
            if path is not None:
                with open(path, encoding="utf-8") as f:
                    there = f.read()
            if anchor not in anchors(text if path is None else there):
                yield link


def main():
    root, bad, n = os.path.abspath(sys.argv[1]), 0, 0
    if sys.argv[2:] == ["-t"]:
        planted = ("[a](no.md) [b](docs/wires.md#nothing) [c](#nowhere)\n"
                   "[d](docs/wires.md#a-key) [e](https://x.y/z) [f](#here)\n"
                   "# Here\n")
        found = list(dead(root, "README.md", planted))
        print("found", found)
        return found != ["no.md", "docs/wires.md#nothing", "#nowhere"]
    for page in pages(root):
        with open(os.path.join(root, page), encoding="utf-8") as f:
            text = f.read()
        n += len(LINK.findall(text))
        for link in dead(root, page, text):
            print("%s: %s leads nowhere" % (page, link))
            bad += 1
    print("%d links, %d dead" % (n, bad))
    return bad != 0 or n < 100


sys.exit(main())
