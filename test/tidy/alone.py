#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What runs with nothing beside it is of suite `alone`, and nothing else is:
devtools/test.sh runs that suite when nothing is built any more.

usage: alone.py BUILD_FOLDER
"""
import json
import os
import sys

# runs of their own, which begin when all others have ended
APART = {"long", "tsan"}


def wrong(tests):
    """Names of tests whose suites do not say how they run."""
    bad = []
    for t in tests:
        suites = {s.split(":")[-1] for s in t["suite"]}
        if ("alone" in suites) == t["is_parallel"] and not suites & APART:
            bad.append(t["name"])
    return bad


def main():
    with open(os.path.join(sys.argv[1], "meson-info", "intro-tests.json"),
              encoding="utf-8") as f:
        tests = json.load(f)
    assert sum("reflit:alone" in t["suite"] for t in tests) > 10, len(tests)
    bad = wrong(tests)
    assert not bad, "is_parallel and suite alone contradict: %s" % bad
    for t in tests:  # and each that were wrong would be found
        if not set(t["suite"]) & {"reflit:" + s for s in APART}:
            assert wrong([dict(t, is_parallel=not t["is_parallel"])]), t


main()
