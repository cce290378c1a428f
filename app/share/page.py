#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual page of a file format or a prompt from a page of docs/, so
that there is one text to keep right. lowdown makes the roff of it.

usage: page.py LOWDOWN VERSION NAME.SECTION WHAT FILE [HEADING]

WHAT says in a few words what NAME is. HEADING: only this section of FILE.
"""
import re
import subprocess
import sys

SEE_ALSO = """

# SEE ALSO

**reflit**(1), **reflit-sim**(1). All pages lie in share/doc/reflit/docs of the
prefix.
"""


def section(lines, heading):
    """What stands below a heading (None: the first), and how deep that is."""
    depth, found, code = 0, [], False
    for line in lines:
        code ^= line.startswith("```")
        m = None if code else re.match(r"(#+) (.*)", line)
        if m and depth and len(m.group(1)) <= depth:
            break
        if depth:
            found.append((line, code))
        elif m and heading in (None, m.group(2)):
            depth = len(m.group(1))
    return found, depth


def cells(row):
    return [c.strip().replace("\\|", "|")
            for c in re.split(r"(?<!\\)\|", row.strip())[1:-1]]


def entry(heads, row):
    """A row of a table as an entry of a list: tables do not fit a terminal."""
    text = ["%s %s" % (h, c) if h != "meaning" else c
            for h, c in zip(heads[1:], row[1:]) if c]
    return ["%s" % row[0], ": " + "; ".join(text), ""]


def page(lines, heading):
    out, heads = [], None
    found, depth = section(lines, heading)
    for line, code in found:
        if code or not line.startswith("|"):
            heads = None
            if not code:  # headings of manual pages are two deep
                line = re.sub(r"^#{%d}(#+ )" % depth, r"\1", line)
                # and links lead nowhere
                line = re.sub(r"\[([^]\[]*)\]\([^()]*\)", r"\1", line)
            out.append(line)
        elif heads is None:
            heads = cells(line)
        elif not re.match(r"\|[-:| ]+\|$", line):
            line = re.sub(r"\[([^]\[]*)\]\([^()]*\)", r"\1", line)
            out += entry(heads, cells(line))
    return "\n".join(out).strip()


def main():
    lowdown, version, name, what, path, *heading = sys.argv[1:]
    name, number = name.rsplit(".", 1)
    with open(path, encoding="utf-8") as f:
        text = page(f.read().split("\n"), heading[0] if heading else None)
    p = subprocess.run(
        [lowdown, "-s", "-Tman", "-M", "title=" + name.upper(), "-M",
         "section=" + number, "-M", "source=reflit " + version, "-M",
         "volume=reflit"],
        input="# NAME\n\n%s - %s\n\n# DESCRIPTION\n\n%s%s" % (
            name, what, text, SEE_ALSO),
        capture_output=True, text=True, check=True)
    sys.stdout.write(p.stdout)


if __name__ == "__main__":
    main()
