#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A planted bug is found: one of the programs given fails with it, and passes
without.  finds.py BUG PROGRAM..."""
import os
import subprocess
import sys


def failed(program, plant):
    env = {k: v for k, v in os.environ.items() if k != "RL_PLANT_NAME"}
    if plant:
        env["RL_PLANT_NAME"] = plant
    try:
        return subprocess.run([program], env=env, timeout=40,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode != 0
    except subprocess.TimeoutExpired:
        return True  # a bug that makes it wait for ever is found, too


def main():
    plant, programs = sys.argv[1], sys.argv[2:]
    by = next((p for p in programs if failed(p, plant)), None)
    if by is not None and failed(by, None):
        print("%s fails without a bug" % os.path.basename(by))
        return 1
    print("%s: %s" % (plant, "found by " + os.path.basename(by) if by
                      else "NOT found"))
    return 0 if by else 1


sys.exit(main())
