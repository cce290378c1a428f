#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What reflit-report reads and writes, and what it refuses to judge [APP-4].

usage: test_report_files.py REFLIT_REPORT SOURCE_ROOT
"""
import json
import os
import re
import subprocess
import sys

from by_hand import COUNTS, REPORT, judge, report, sink, source
from reflit_test import Box, case, main

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(REPORT), "report"))
import sound  # noqa: E402


@case
def what_is_no_report_of_this_fabric_is_refused():
    def refused(words, *reports):
        m, out = judge(2, *reports)
        assert m is None and words in out and out.count("\n") == 1, out

    _, out = judge(2, report("a"), report("b", digest="beef"))
    names = re.fullmatch("reflit-report: (.*)/r1.json: is of another fabric "
                         "than (.*)/r0.json; give the reports of one\n", out)
    assert names and names[1] == names[2], out
    refused("r0.json: is no report of reflit's", {"a": 1})
    refused("r1.json: is no report of reflit's", report("a"),
            {**report("b"), "flows": None})
    refused("r1.json: is no report of reflit's", report("a"),
            report("b", digest=None))
    with Box() as box:
        good = box.write("good", json.dumps(report("a", processes=["a"])))
        for args, words in ((("/nowhere/x",),
                             "report: /nowhere/x: No such file"),
                            ((good, box.dir), box.dir + ": Is a directory\n"),
                            ((good, box.write("none", "")), "none: is empty\n"),
                            ((box.write("log", "reflit"),),
                             "log: is no report of reflit's"),
                            ((box.write("two", json.dumps(report("a"))[:-1] +
                                        ', "lost_packets": 0}'),),
                             "two:1: duplicate object key near"),
                            ((box.write("text", "{\n sent 3"),), "text:2: "),
                            ((), "reflit-report: give 1 to 256 reports of "
                             "reflit's; see --help\n"),
                            ((good,) * 257, "give 1 to 256 reports"),
                            ((good,) * 256, "is the same report as"),
                            (("--nonsense",), "nonsense"),
                            (("--json", box.dir, good), "Is a directory"),
                            (("--json", "/dev/full", good), "No space left")):
            p = subprocess.run([REPORT, *args], capture_output=True,
                               text=True, timeout=60, check=False)
            assert p.returncode == 2 and words in p.stderr, (args, p)
        with open("/dev/full", "w", encoding="utf-8") as full:
            p = subprocess.run([REPORT, "--json", box.path("out"), good],
                               stdout=full, stderr=subprocess.PIPE, text=True,
                               timeout=60, check=False)
        assert p.returncode == 2 and "could not be written" in p.stderr, p


@case
def a_report_may_come_through_a_pipe():
    with Box() as box:
        names = [box.write(n, json.dumps(report(n, sent_packets=k)))
                 for k, n in ((2, "a"), (3, "b"))]
        p = subprocess.run(["bash", "-c", "cat $1 | $0 /dev/stdin <(cat $2)",
                            REPORT, *names], capture_output=True, text=True,
                           timeout=60, check=False)
    assert p.returncode == 0 and "sent 5 packets" in p.stdout, p


@case
def what_is_no_count_is_refused_with_file_and_key():
    def refused(key, bad, **more):
        _, out = judge(2, report("a"), report("b", **more))
        assert "r1.json: " + key + ": " in out and out.count("\n") == 1, out
        assert bad in out, out

    for wrong in ("many", -5, 1.5, None, [3], True):
        for key in ("sent_packets", "leaked_flits", "outage_ns"):
            refused(key, "0 or more", **{key: wrong})
        refused("edge.missed", "0 or more", edge=dict(missed=wrong))
    refused("edge", "an object", edge=3)
    refused("recoveries.epoch", "0 or more", recoveries=[dict(epoch="x")])
    span, run = source((5, 3))["spans"][0], sink((5, 8))["runs"][0]
    refused("flows.spans.packets", "0 or more", flows=[
        dict(source(), spans=[dict(span, packets="3")])])

    def refused(key, words, **more):  # as the same program says it, without it
        why = sound.why_unsound(report("b", **more))
        assert why.startswith(key + ": ") and words in why, why

    for wrong in (-3, 1.5, True, None):
        refused("flows.spans.packets", "0 or more", flows=[
            dict(source(), spans=[dict(span, packets=wrong)])])
    for wrong in (7, "", "x", "-1", "0x1", " 1", "1" * 17, None):
        refused("flows.runs.digest", "a digest", flows=[
            dict(sink(), runs=[dict(run, digest=wrong)])])
    for wrong in ([[1]], [[1, "x"]], [[1, -1]], [[2, 2]], [[2, 1]], [3],
                  [[0, 2], [1, 3]], [[2, 3], [0, 1]], [[1, 2**32]], 3, None):
        refused("flows.runs.missing", "pairs of numbers that grow", flows=[
            dict(sink(), runs=[dict(run, missing=wrong)])])
    for wrong in ([["x", "1"]], [[1, "x"]], [[1, 1]], [[2**32, "1"]], [[1]], 3):
        refused("flows.reported", "pairs", flows=[
            dict(source((5, 3)), reported=wrong)])
    for wrong in (2**32, -1, "5", 5.0):
        refused("flows.runs.next", "below 2^32", flows=[
            dict(sink(), runs=[dict(run, next=wrong)])])
    refused("processes", "a list", processes="b")
    refused("drained", "true or false", drained=1)
    refused("killed", "true or false", killed="no")
    assert sound.why_unsound(report("b", [source((5, 3)), sink((5, 8))])) == ""
    for wrong in (3, dict(source((5, 3)), end=7), dict(source(), end="sorce"),
                  dict(source(), end="sink"), dict(sink(), end="source"),
                  dict(sink((5, 8)), end="snk"), {"end": None, "torn": True},
                  {"end": "source", "torn": False}):
        refused("flows", "halves of flows", flows=[wrong])


@case
def what_lacks_a_key_proves_nothing():
    """One that was renamed, say, is no count of 0."""
    def without(o, *keys):
        return {k: v for k, v in o.items() if k not in keys}

    def refused(key, r):
        assert sound.why_unsound(r).startswith(key + ": "), (key, r)

    _, out = judge(2, report("a"), without(report("b"), "lost_packets"))
    assert "r1.json: lost_packets: " in out and out.count("\n") == 1, out
    for key in (*(k + "_packets" for k in COUNTS), "drained", "process",
                "processes"):
        refused(key, without(report("b"), key))
    for flow, part in ((source((5, 3)), "spans"), (sink((5, 8)), "runs")):
        for key in ("source", "destination"):
            refused("flows." + key, report("b", [without(flow, key)]))
        refused("flows", report("b", [without(flow, part)]))
        for key in flow[part][0]:
            refused("flows.%s.%s" % (part, key), report("b", [
                dict(flow, **{part: [without(flow[part][0], key)]})]))
    # a ledger has fewer
    dead = without(report("b"), "processes", "drained", "lost_packets")
    judge(0, report("a"), dict(dead, killed=True))


@case
def a_report_on_standard_output_is_alone_there():
    for args, words in ((["--version"], r"reflit-report \d+\.\d+\.\d+\n"),
                        (["--help"], r"(?s)usage: reflit-report .*FILE.*"),
                        (["-h"], r"(?s)usage: reflit-report .*or files\.\n")):
        p = subprocess.run([REPORT, *args], capture_output=True, text=True,
                           timeout=60, check=False)
        assert p.returncode == 0 and p.stderr == "", p
        assert re.fullmatch(words, p.stdout), p.stdout
    with Box() as box:
        files = [box.write(n, json.dumps(report(n))) for n in ("a", "b")]
        p = subprocess.run([REPORT, "--json", "-", *files],
                           capture_output=True, text=True, timeout=60,
                           check=False)
        assert p.returncode == 0, p
        assert json.loads(p.stdout)["missing_reports"] == 0, p
        assert "2 reports" in p.stderr, p


@case
def what_is_nested_as_deep_as_files_may_be_is_merged():
    def nested(depth):
        v = []
        for _ in range(depth):
            v = [v]
        return v

    sys.setrecursionlimit(9000)
    m, _ = judge(0, report("a", processes=["a"], alarms=[nested(2000)]))
    assert m["alarms"] == [nested(2000)]
    _, out = judge(2, report("a", processes=["a"], alarms=[nested(2100)]))
    assert "r0.json:" in out and "maximum parsing depth" in out, out


main()
