#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A stress run fails below a floor, and only there."""
import argparse

import stress

ARGS = argparse.Namespace(json=None)
REPORT = {"sent_packets": 2, "delivered_packets": 2, "reported_packets": 0,
          "port_counters": {}}


def broken(*figures):
    try:
        stress.finish(ARGS, "planted", REPORT, list(figures))
    except AssertionError as why:
        return str(why)
    return ""


def main():
    assert not broken(stress.Figure("no limit", 0.0))
    assert not broken(stress.Figure("aim missed", 0.6, 0.9))
    assert not broken(stress.Figure("on the floor", 0.5, 0.9, 0.5))
    good, bad = stress.Figure("good", 1.0, 0.9, 0.5), \
        stress.Figure("planted", 0.49, 0.9, 0.5)
    why = broken(good, bad, good)
    assert "planted" in why and "good" not in why, why


main()
