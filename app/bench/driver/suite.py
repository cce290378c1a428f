#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The suites of reflit-bench that are runs of reflit-sim.

usage: suite.py PROGRAM SUITE FILE CONFIG ROW NUMBERS

PROGRAM is reflit-bench; reflit-sim and reflit-route lie beside it. CONFIG and ROW
are the options of that name, or empty; NUMBERS (JSON) are others, and what
reflit-bench knows of CONFIG. Tables go to standard output, the figures to FILE.
"""
import argparse
import json
import sys
import tempfile

import virtual


def main():
    program, name, path, config, row, numbers = sys.argv[1:]
    o = argparse.Namespace(config=config or None, row=row, **json.loads(numbers))
    # a suite is the module of its name
    suite = __import__(name)
    out, status = {}, 0
    with tempfile.TemporaryDirectory(prefix="reflit-bench-") as folder:
        try:
            suite.measure(virtual.Rig(program, folder, o), out)
        except virtual.Ended as e:
            status = e.status
            if str(e):
                sys.stderr.write("reflit-bench: %s\n" % e)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(out, f)
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
