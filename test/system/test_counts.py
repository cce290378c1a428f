#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Errors since a date, kept over restarts of the process, and limits for them
[APP-9]."""
import json
import os
import re
import subprocess

from reflit_test import FIGURE1, REFLIT, ROOT, Box, case, main

TRAFFIC = "wait up\ntraffic packets 300\nstart\nwait sent\nwait drained\n"
# ten flits that FEC cannot correct, and ten frames that are lost
HURT = "wait up\n" + "inject corrupt s0-s1#0 s0 40\ninject drop s0-s1#1 s0 5\n" \
    + "traffic packets 300\nstart\nwait sent\nwait drained\n"


def shown(run, key):
    """Objects of `show ... json` with this key, in order."""
    found = [json.loads(line) for line in run.out.split("\n")
             if line.startswith("{")]
    return [o for o in found if key in o]


def sums(table):
    """Of all directions: how often each error was counted."""
    out = {}
    for row in table["errors"]:
        for key, n in row.items():
            if isinstance(n, int):
                out[key] = out.get(key, 0) + n
    return out


class Kept:
    """Runs of one service: all of them keep counts in one file."""

    def __init__(self, box):
        self.box, self.path = box, box.path("counts.json")

    def run(self, commands, config=FIGURE1, args=(), status=0):
        run = self.box.run(["--load", "0.05", "--counts", self.path, *args],
                           config=config, commands=commands).check(status)
        assert not os.path.exists(self.path + ".new")
        return run

    def file(self):
        with open(self.path, encoding="utf-8") as f:
            return json.load(f)


@case
def counts_go_on_over_restarts_of_the_process():
    with Box() as box:
        kept = Kept(box)
        first = kept.run(HURT + "show errors json\nshow errors\nquit\n")
        one = shown(first, "errors")[0]
        assert sums(one)["gaps"] >= 1 and sums(one)["replays"] >= 1, one
        assert one["since_utc"] == first.report["start_utc"]
        assert "since " + one["since_utc"] in first.out
        # the next one begins where this ended, and adds
        second = kept.run("show errors json\n" + HURT +
                          "show errors json\nshow counters all json\nquit\n")
        two, three = shown(second, "errors")
        assert sums(two) == sums(one)
        for key in ("gaps", "replays"):
            assert sums(three)[key] > sums(two)[key], key
        assert two["since_utc"] == three["since_utc"] == one["since_utc"]
        # a report is of one run; ports, cores and endpoints are kept
        file = kept.file()
        sent = [r.report["endpoint_counters"]["tx_packets"]
                for r in (first, second)]
        assert sum(e["tx_packets"] for e in file["endpoints"].values()) == \
            sum(sent) and min(sent) > 0
        assert set(file["ports"]) == {"e0/0", "s0/0", "s0/1", "s0/2", "s1/0",
                                      "s1/1", "s1/2", "e1/0"}
        assert set(file["cores"]) == {"e0", "s0", "s1", "e1"}
        # without the option nothing of it is known
        run = box.run(commands="wait up\nshow errors json\nquit\n").check(0)
        assert sums(shown(run, "errors")[0]).get("gaps", 0) == 0


@case
def counting_begins_again_where_the_prompt_says_so():
    with Box() as box:
        kept = Kept(box)
        kept.run(HURT + "quit\n")
        old = kept.file()["since_utc"]
        run = kept.run("wait up\nclear counters\nshow errors json\nquit\n")
        table = shown(run, "errors")[0]
        assert sums(table).get("gaps", 0) == 0, table
        assert table["since_utc"] > old
        assert kept.file()["since_utc"] == table["since_utc"]
        run = kept.run("show errors json\nquit\n")
        assert shown(run, "errors")[0]["since_utc"] == table["since_utc"]


@case
def a_device_that_restarts_loses_no_count():
    with Box() as box:
        run = Kept(box).run(HURT + "show errors json\ndevice s1 crash\n"
                            "device s1 restart\nwait up\nshow errors json\n"
                            "quit\n")
        before, after = (sums(t) for t in shown(run, "errors"))
        for key in ("gaps", "naks", "replays"):
            assert after[key] >= before[key], (key, before, after)


@case
def a_killed_process_leaves_the_file_whole():
    with Box() as box:
        kept = Kept(box)
        kept.run(HURT + "quit\n")
        was = kept.file()
        p = subprocess.Popen(
            [REFLIT, "--", "--config", box.path("fabric.cfg"), "--load", "0.05",
             "--counts", kept.path, "-i"], cwd=ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdin.write("wait up\nsay here\n")
        p.stdin.flush()
        while "here" not in p.stdout.readline():
            pass
        p.kill()
        p.communicate()
        assert kept.file()["ports"] == was["ports"]
        run = kept.run("show errors json\nquit\n")
        assert shown(run, "errors")[0]["since_utc"] == was["since_utc"]


@case
def what_the_fabric_no_longer_has_stays_in_the_file():
    with Box() as box:
        kept = Kept(box)
        kept.run(TRAFFIC + "quit\n")
        gone = kept.file()["ports"]
        kept.run("wait up\nquit\n", config=FIGURE1.replace('"e1"', '"e9"'))
        now = kept.file()["ports"]
        assert now["e1/0"] == gone["e1/0"] and "e9/0" in now


@case
def only_what_is_over_its_limit_is_shown():
    with Box() as box:
        run = Kept(box).run(
            HURT + "show errors json\nshow errors over gaps=0 json\n"
            "show errors over gaps=1000000,deaths=0 json\n"
            "show errors over replays=0,gaps=1000000 json\n"
            "show errors over gaps=1000000\nquit\n")
        whole, gaps, none, replays = shown(run, "errors")
        assert [r["from"] for r in gaps["errors"]] and all(
            r["gaps"] > 0 for r in gaps["errors"]), gaps
        assert none["errors"] == []
        assert all(r["replays"] > 0 for r in replays["errors"]) and \
            replays["errors"]
        assert len(whole["errors"]) >= len(gaps["errors"])
        assert "no errors" in run.out
        for bad in ("gaps", "gap=1", "gaps=x", "gaps=-1", "gaps=1,,", "=1"):
            run = box.run(commands="show errors over %s\nquit\n" % bad)
            run.check(2)
            assert len(run.errors()) == 1 and "commands:1" in run.err, run.err


@case
def a_file_that_holds_no_counts_is_refused_and_stays_as_it_is():
    with Box() as box:
        good = Kept(box)
        good.run("wait up\nquit\n")
        text = json.dumps(good.file())
        for bad, why in (
                ("", "counts.json:"), ("{", "counts.json:1:"),
                ("[]", "no file of counts"), ("{}", "no file of counts"),
                (text.replace("since_utc", "since"), "no file of counts"),
                (text.replace('"cores"', '"core"'), "no file of counts"),
                (re.sub(r'"e0/0": {', '"e0/0": {"rx_bad": -1, ', text, 1),
                 "no file of counts"),
                (re.sub(r'"e0/0": {', '"e0/0": 3, "x": {', text, 1),
                 "no file of counts")):
            path = box.write("counts.json", bad)
            run = box.run(["--counts", path], commands="quit\n").check(2)
            assert len(run.errors()) == 1 and why in run.err, run.err
            with open(path, encoding="utf-8") as f:
                assert f.read() == bad
        for path in ("-", "/dev/null", box.dir, box.path("none/x")):
            run = box.run(["--counts", path], commands="quit\n").check(2)
            assert len(run.errors()) == 1, (path, run.err)
        cfg = box.path("fabric.cfg")
        assert box.run(["--counts", cfg], commands="quit\n").status == 2
        with open(cfg, encoding="utf-8") as f:
            assert "topology" in f.read()


main()
