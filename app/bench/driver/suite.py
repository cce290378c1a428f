#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is many runs of reflit-sim: suites of reflit-bench, and the ablation.

usage: suite.py PROGRAM QUESTION FILE [OPTION...]

PROGRAM is reflit-bench or reflit-sim, and reflit-route lies beside it. QUESTION
(JSON) names the suite, options, and what reflit-bench knows of the fabric file.
Each OPTION is one of reflit-sim's. Tables go to standard output, the figures to FILE.
"""
import argparse
import json
import os
import sys
import tempfile

import virtual


def main():
    program, question, path, *given = sys.argv[1:]
    with open(question, "rb") as f:
        o = argparse.Namespace(given=given, **json.load(f))
    # a suite is the module of its name
    suite = __import__(o.suite)
    out, status = {}, 0
    with tempfile.TemporaryDirectory(prefix="reflit-bench-") as folder:
        try:
            suite.measure(virtual.Rig(program, folder, o), out)
        except virtual.Ended as e:
            status = e.status
            if str(e):
                sys.stderr.write("reflit-bench: %s\n" % e)
        except OSError as e:
            status = 2
            sys.stderr.write("%s: %s\n" % (os.path.basename(program), e))
    with open(path, "w", encoding="utf-8") as f:
        json.dump(out, f)
    return status


if __name__ == "__main__":
    sys.exit(main())
