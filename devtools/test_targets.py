#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the files that a configured build folder must make for its tests:
all but those of some suites; and for an installation, if that is said.

usage: test_targets.py [--installed] DIR [SUITE-LEFT-OUT ...]
"""
import json
import os
import subprocess
import sys


def introspect(folder, what):
    out = subprocess.run(["meson", "introspect", folder, "--" + what],
                         stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def main():
    args = sys.argv[1:]
    installed = "--installed" in args
    if installed:
        args.remove("--installed")
    folder, left_out = args[0], set(args[1:])
    needed = set()
    for test in introspect(folder, "tests"):
        suites = {s.split(":")[-1] for s in test["suite"]}
        if not suites & left_out:
            needed.update(test["depends"])
    for target in introspect(folder, "targets"):
        if target["id"] in needed or installed and target["installed"]:
            for path in target["filename"]:
                print(os.path.relpath(path, folder))


if __name__ == "__main__":
    main()
