#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the pages quote of deterministic programs is what these print.

A block of a page that begins with ```console and a line "$ COMMAND" quotes all
that COMMAND writes to standard output. Where a quoted line is "...", lines of
the output are left out. Commands are run in the root of the sources, with the
programs of the build first in PATH.

usage: quotes.py [--update] [--only WORD | --but WORD] ROOT BUILD [PAGE...]

With --only just the commands that have this word, with --but the others.
"""
import glob
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```console\n\$ (.+)\n((?:.*\n)*?)```$", re.M)


def output_of(command, root, build):
    env = dict(os.environ)
    env["PATH"] = os.path.join(build, "app") + os.pathsep + env["PATH"]
    p = subprocess.run(["sh", "-c", command], cwd=root, env=env, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=False)
    # nobody sees a blank at the end of a line
    return [line.rstrip() for line in p.stdout.rstrip("\n").split("\n")]


def fits(quoted, printed):
    """Whether a quote, with its gaps, is the output."""
    if not quoted:
        return not printed
    if quoted[0].strip() == "...":
        return any(fits(quoted[1:], printed[i:])
                   for i in range(len(printed) + 1))
    return bool(printed) and quoted[0] == printed[0] and fits(quoted[1:],
                                                              printed[1:])


def check_page(page, root, build, update, chosen):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    bad = 0

    def block(m):
        nonlocal bad
        command = m.group(1)
        if not chosen(command):
            return m.group(0)
        quoted = m.group(2).rstrip("\n").split("\n")
        printed = output_of(command, root, build)
        print("[ RUN      ] %s: %s" % (os.path.basename(page), command),
              flush=True)
        if fits(quoted, printed):
            print("[       OK ] %s" % command, flush=True)
            return m.group(0)
        if update and "..." not in [q.strip() for q in quoted]:
            print("[  UPDATED ] %s" % command, flush=True)
            return "```console\n$ %s\n%s\n```" % (command, "\n".join(printed))
        bad += 1
        print("it prints:\n" + "\n".join(printed))
        print("[  FAILED  ] %s" % command, flush=True)
        return m.group(0)
    new = BLOCK.sub(block, text)
    if new != text:
        with open(page, "w", encoding="utf-8") as f:
            f.write(new)
    return sum(chosen(m[0]) for m in BLOCK.findall(text)), bad


def main():
    args = sys.argv[1:]
    update = "--update" in args
    if update:
        args.remove("--update")

    def chosen(_):
        return True
    if args and args[0] in ("--only", "--but"):
        def chosen(command, option=args[0], word=args[1]):
            return (word in command.split()) == (option == "--only")
        del args[:2]
    if len(args) < 2 or args[0].startswith("--"):
        sys.exit(__doc__.strip())
    root, build = os.path.abspath(args[0]), os.path.abspath(args[1])
    pages = [os.path.abspath(p) for p in args[2:]] or sorted(
        glob.glob(os.path.join(root, "docs", "*.md")) +
        [os.path.join(root, "README.md")])
    n = bad = 0
    for page in pages:
        found, wrong = check_page(page, root, build, update, chosen)
        n, bad = n + found, bad + wrong
    print("%d case(s), %d failed" % (n, bad))
    sys.exit(1 if bad or n == 0 else 0)


main()
