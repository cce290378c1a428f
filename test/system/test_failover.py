#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""devtools/peers/failover.sh [EVAL-3]: how it counts, and a short run of it:
whoever loses packets elsewhere, reflit loses none."""
import importlib.util
import json
import os
import subprocess
import sys

sys.argv[1:4], BUILD = sys.argv[1:4], os.path.abspath(sys.argv[4])
from reflit_test import Box, ROOT, case, main, need  # noqa: E402

os.environ["BUILD"] = BUILD
LONG = "--long" in sys.argv
SPEC = importlib.util.spec_from_file_location(
    "failover", os.path.join(ROOT, "devtools", "peers", "failover.py"))
failover = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(failover)


@case
def what_arrived_is_judged_by_numbers_and_times():
    good = [(n, n / 100) for n in range(400)]
    for got, want in (
            (good, {"lost": 0, "out_of_order": 0, "silence_ms": 10}),
            # nothing for half a second after the cut
            ([g for g in good if not 200 <= g[0] < 250],
             {"lost": 50, "out_of_order": 0, "silence_ms": 510}),
            # late, and not lost
            ([(n, t + 0.2 * (n >= 200)) for n, t in good],
             {"lost": 0, "out_of_order": 0, "silence_ms": 210}),
            # never again
            (good[:200], {"lost": 200, "out_of_order": 0,
                          "silence_ms": 2000}),
            # one twice, two the wrong way round
            (good[:10] + good[9:], {"lost": 0, "out_of_order": 1,
                                    "silence_ms": 10}),
            ([], {"lost": 400, "out_of_order": 0, "silence_ms": 2000})):
        found = failover.judge(got, 400, 0.0, 2.0, 4.0)
        for key, value in want.items():
            assert abs(found[key] - value) < 11, (key, found, want)


def a_short_run_has_a_row_for_each_and_reflit_loses_nothing():
    need("dpdk-testpmd", "gcc", "pkg-config", "ip", "ethtool")
    with Box() as box:
        out = box.path("failover.json")
        p = subprocess.run(
            [os.path.join(ROOT, "devtools", "peers", "failover.sh"),
             "--quick", "--rate", "20000", "--json", out],
            capture_output=True, text=True, check=False, timeout=400)
        assert p.returncode == 0, p.stdout + p.stderr
        with open(out, encoding="utf-8") as f:
            found = json.load(f)
        rows = found["one_process"] + found["hosts"]
        for r in rows:
            if r["who"] == "reflit":
                assert r["lost"] == 0 and r["out_of_order"] == 0, r
                assert r.get("tcp_lost", 0) == 0, r
                assert r.get("verdict", 0) == 0, r
        told = {r["cut"]: r for r in found["one_process"]
                if r["who"] != "reflit"}
        # a bond that is not told sends half of all into the dead cable
        sent = told["not told"]["sent"]
        assert told["not told"]["lost"] > sent / 4, told
        assert told["told"]["lost"] < told["not told"]["lost"], told
        if not found["hosts"]:
            assert "not measured: " in p.stdout, p.stdout
            return
        who = [r["who"] for r in found["hosts"]]
        assert who == ["DPDK bonding"] * 2 + ["MPTCP"] * 2 + ["reflit"] * 2
        for r in found["hosts"]:
            assert r["retransmits"] is not None, r


if LONG:  # a minute in which nothing else may run
    case(a_short_run_has_a_row_for_each_and_reflit_loses_nothing)


main()
