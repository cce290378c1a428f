# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of reflit-sim share, whose first argument it is; the second one,
where there is one, is SOURCE_ROOT."""
import json
import os
import subprocess
import sys

SIM = sys.argv[1]
ROOT = sys.argv[2] if len(sys.argv) > 2 else ""
FIGURE1 = os.path.join(ROOT, "config", "figure1.cfg")
failed = 0


def run(*args):
    return subprocess.run([SIM, *args], capture_output=True, text=True,
                          timeout=240)


def check(name, ok, what=""):
    global failed
    print(("ok      " if ok else "FAILED  ") + name +
          ("" if ok else ": %s" % (what,)))
    failed += not ok
    if failed and os.environ.get("STOP_AT_FIRST_FAILURE"):
        sys.exit(1)


def load(path):
    with open(path) as f:
        return json.load(f)


def end():
    print("%d failed" % failed)
    sys.exit(failed != 0)
