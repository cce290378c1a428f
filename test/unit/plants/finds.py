#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A planted bug is found: one of the programs given fails with it, and all
pass without.  finds.py BUG PROGRAM..."""
import os
import subprocess
import sys


def failed(program, plant):
    env = {k: v for k, v in os.environ.items() if k != "RL_PLANT_NAME"}
    if plant:
        env["RL_PLANT_NAME"] = plant
    return subprocess.run([program], env=env, timeout=100,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0


def main():
    plant, programs = sys.argv[1], sys.argv[2:]
    if any(failed(p, None) for p in programs):
        print("fails without a bug")
        return 1
    by = [os.path.basename(p) for p in programs if failed(p, plant)]
    print("%s: %s" % (plant, "found by " + ", ".join(by) if by else "NOT found"))
    return 0 if by else 1


sys.exit(main())
