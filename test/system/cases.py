# SPDX-License-Identifier: BSD-3-Clause
"""Cases of a test, one after the other."""
import glob
import os
import sys
import time
import traceback


# devtools/test.sh --full: all of what is much alike
FULL = "RL_FULL" in os.environ


class Skip(Exception):
    """This machine can't run a case; the message says why."""


def cpu_seconds():
    """Of this process and of all that it has waited for."""
    return sum(os.times()[:4])


def runtime_folders(uid):
    """Those of the programs' own making, and DPDK's, that are this user's. Each
    test that looks has a user of its own: others run beside it."""
    found = set()
    for path in glob.glob("/tmp/reflit-*") + glob.glob("/tmp/dpdk/*"):
        try:
            if os.stat(path).st_uid == uid:
                found.add(path)
        except FileNotFoundError:
            pass  # another run has ended meanwhile
    return found


def share(cases):
    """Those of this run: RL_PART=2/3 is the second share of three."""
    part, _, of = os.environ.get("RL_PART", "1/1").partition("/")
    return list(cases)[int(part) - 1::int(of)]


def run_cases(cases):
    """@return the exit status: 1 where one failed"""
    bad = 0
    cases = share(cases)
    for fn in cases:
        print("[ RUN      ]", fn.__name__, flush=True)
        begin, cpu = time.monotonic(), cpu_seconds()
        try:
            fn()
            print("[       OK ] %s (%.1f s, CPU %.1f s)" % (
                fn.__name__, time.monotonic() - begin, cpu_seconds() - cpu),
                  flush=True)
        except Skip as why:
            print("[  SKIPPED ]", fn.__name__ + ":", why, flush=True)
        except Exception:  # whatever it is, the case failed
            traceback.print_exc(file=sys.stdout)
            print("[  FAILED  ]", fn.__name__, flush=True)
            bad += 1
            if os.environ.get("STOP_AT_FIRST_FAILURE"):
                break
    print("%d case(s), %d failed" % (len(cases), bad))
    return 1 if bad else 0
