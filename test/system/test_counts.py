#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Errors since a date, kept over restarts of the process, and limits for them
[APP-9]."""
import json
import os
import re
import shutil
import stat
import subprocess
import time

from reflit_test import FIGURE1, REFLIT, Box, Running, case, main

TRAFFIC = "wait up\ntraffic packets 300\nstart\nwait sent\nwait drained\n"
# 40 damaged bytes, more than FEC corrects, and a frame that is lost
HURT = "wait up\n" + "inject corrupt s0-s1#0 s0 40\ninject drop s0-s1#1 s0 5\n" \
    + "traffic packets 300\nstart\nwait sent\nwait drained\n"
LISTS = {"ports": "port_counters", "cores": "core_counters",
         "endpoints": "endpoint_counters"}
PORTS = {"e0-s0 e0", "e0-s0 s0", "s0-s1#0 s0", "s0-s1#0 s1", "s0-s1#1 s0",
         "s0-s1#1 s1", "s1-e1 s1", "s1-e1 e1"}


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


def sum_of(parts):
    """Of all parts of a list in the file."""
    out = {}
    for part in parts.values():
        for key, n in part.items():
            out[key] = out.get(key, 0) + n
    return out


def hold(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Kept:
    """Runs of one service: all of them keep counts in one file."""

    def __init__(self, box):
        self.box, self.path = box, box.path("counts.json")

    def run(self, commands, config=FIGURE1, args=(), status=0, **more):
        run = self.box.run(["--load", "0.05", "--counts", self.path, *args],
                           config=config, commands=commands, **more)
        run.check(status)
        self.check_alone()
        return run

    def check_alone(self):
        """Nothing that was written on the way is left."""
        assert [n for n in os.listdir(self.box.dir)
                if n.startswith("counts.json.")] == []

    def file(self):
        return json.loads(hold(self.path))

    def living(self, *args):
        return Running([REFLIT, "--", "--config",
                        self.box.write("fabric.cfg", FIGURE1), "--load", "0.05",
                        "--counts", self.path, "-i", *args],
                       stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)


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
        counted = second.report["port_counters"]
        for key, counter in (("gaps", "rx_missing_seq"),
                             ("replays", "tx_replays")):
            assert sums(three)[key] > sums(two)[key], key
            assert sums(three)[key] - sums(two)[key] <= counted[counter], key
        assert two["since_utc"] == three["since_utc"] == one["since_utc"]
        # a report is of one run; the file has the sum of both, and no more
        file = kept.file()
        for parts, counters in LISTS.items():
            both = {}
            for key in first.report[counters]:
                n = sum(r.report[counters][key] for r in (first, second))
                both.update({key: n} if n != 0 else {})
            assert sum_of(file[parts]) == both, parts
        assert both["tx_packets"] > 0
        assert set(file["ports"]) == PORTS
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


def wait_for(kept, is_so, seconds=60):
    """The file, once it is so; at any moment it is a whole one."""
    end = time.monotonic() + seconds
    file = kept.file()
    while not is_so(file):
        assert time.monotonic() < end, file
        time.sleep(0.01)
        file = kept.file()
    return file


@case
def a_process_that_is_killed_loses_no_more_than_a_period():
    with Box() as box:
        kept = Kept(box)
        kept.run(HURT + "quit\n")
        was = kept.file()

        def grew(file, key="rx_missing_seq"):
            return sum_of(file["ports"])[key] > sum_of(was["ports"])[key]

        with kept.living("--counts-period", "100ms") as p:
            p.say(HURT + "show errors json\n")
            table = json.loads(p.until('{"errors"'))
            written = wait_for(kept, grew)
            p.p.kill()
        last = kept.file()
        assert last["since_utc"] == was["since_utc"]
        gaps = [sum_of(f["ports"])["rx_missing_seq"] for f in (written, last)]
        assert gaps[0] <= gaps[1] <= sums(table)["gaps"], (gaps, table)
        # what was being written when it was killed is no file of counts
        for name in os.listdir(box.dir):
            if name.startswith("counts.json."):
                os.remove(box.path(name))
        run = kept.run("show errors json\nquit\n")
        table = shown(run, "errors")[0]
        assert table["since_utc"] == was["since_utc"]
        assert sums(table)["gaps"] == gaps[1], table


@case
def counts_are_written_at_the_start_at_a_clear_and_once_a_period():
    with Box() as box:
        kept = Kept(box)
        with kept.living("--counts-period", "3600s") as p:
            p.say("wait up\n" + TRAFFIC + "say here\n")
            p.until("here")
            # traffic has passed since it was written
            start = kept.file()
            assert set(start["ports"]) == PORTS, start
            assert sum_of(start["endpoints"]) == {}, start
            p.say("clear counters\n")
            clear = wait_for(
                kept, lambda f: f["since_utc"] > start["since_utc"])
            assert sum_of(clear["endpoints"]).get("tx_packets", 0) == 0
            p.say(TRAFFIC + "show counters all json\nsay there\n")
            p.until("there")
            assert kept.file() == clear
            p.say("quit\n")
            assert p.p.wait(60) == 0
        assert sum_of(kept.file()["endpoints"])["tx_packets"] > 0
        for bad in ("0s", "99ms", "3601s", "1"):
            run = kept.run("quit\n", args=("--counts-period", bad), status=2)
            assert "--counts-period" in run.err, run.err


@case
def what_the_fabric_no_longer_has_stays_in_the_file():
    with Box() as box:
        kept = Kept(box)
        kept.run(TRAFFIC + "quit\n")
        gone = kept.file()["ports"]
        kept.run("wait up\nquit\n", config=FIGURE1.replace('"e1"', '"e9"'))
        now = kept.file()["ports"]
        assert now["s1-e1 e1"] == gone["s1-e1 e1"] and "s1-e9 e9" in now


@case
def a_link_keeps_its_counts_where_the_fabric_file_numbers_ports_anew():
    with Box() as box:
        kept = Kept(box)
        run = kept.run(HURT + "show errors json\nquit\n")
        was = shown(run, "errors")[0]
        config = FIGURE1.replace("links = ( ", 'links = ( { a = "s1"; b = "s2"; '
                                 '}, { a = "s0"; b = "s2"; }, ').replace(
            '{ name = "s1"; }', '{ name = "s1"; }, { name = "s2"; }')
        run = kept.run("show errors json\nquit\n", config=config)
        now = shown(run, "errors")[0]

        def by_link(table):
            return {(r["link"], r["from"]): {
                k: n for k, n in r.items() if isinstance(n, int)}
                for r in table["errors"]}

        assert any(r["gaps"] > 0 for r in by_link(was).values()), was
        assert by_link(now) == by_link(was)


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
        for bad, word in (("gaps", "gaps"), ("gap=1", "gap=1"),
                          ("gaps=x", "gaps=x"), ("gaps=-1", "gaps=-1"),
                          ("gaps=1,,", ""), ("=1", "=1")):
            run = box.run(commands="show errors over %s\nquit\n" % bad)
            run.check(2)
            assert len(run.errors()) == 1 and "commands:1" in run.err, run.err
            assert ("bad limit '%s': write NAME=N; names: corrected, bad, "
                    "headers, gaps, duplicates, naks, replays, deaths\n"
                    % word) in run.err, run.err


@case
def a_file_that_holds_no_counts_is_refused_and_stays_as_it_is():
    with Box() as box:
        good = Kept(box)
        good.run("wait up\nquit\n")
        text = json.dumps(good.file())
        part = "ports: 'e0-s0 e0'"
        for bad, why in (
                ("", "line 1: "), ("{\n", "line 2: "),
                ("[]", "no date 'since_utc'"), ("{}", "no date 'since_utc'"),
                (text.replace("since_utc", "since"), "no date 'since_utc'"),
                (text.replace('"cores"', '"core"'), "no object 'cores'"),
                (re.sub(r'"e0-s0 e0": {', r'\g<0>"rx_bad": -1, ', text, 1),
                 part + ": 'rx_bad' is no count"),
                (re.sub(r'"e0-s0 e0": {', '"e0-s0 e0": 3, "x": {', text, 1),
                 part + " is no object")):
            path = box.write("counts.json", bad)
            run = box.run(["--counts", path], commands="quit\n").check(2)
            assert len(run.errors()) == 1, run.err
            assert "--counts %s: not a file of counts: %s" % (
                path, why) in run.err, run.err
            assert hold(path) == bad
            good.check_alone()
        for path in ("-", "/dev/null", box.dir, box.path("none/x")):
            run = box.run(["--counts", path], commands="quit\n").check(2)
            assert len(run.errors()) == 1, (path, run.err)
        cfg = box.path("fabric.cfg")
        assert box.run(["--counts", cfg], commands="quit\n").status == 2
        assert "topology" in hold(cfg)


@case
def links_and_permissions_of_the_file_stay():
    with Box() as box:
        kept = Kept(box)
        os.mkdir(box.path("disk"))
        real = box.path("disk/c")
        os.symlink("disk/c", kept.path)  # to nothing yet
        kept.run("quit\n", wrap=["sh", "-c", 'umask 027; exec "$@"', "sh"])
        assert stat.S_IMODE(os.stat(real).st_mode) == 0o640
        os.chmod(real, 0o604)
        kept.run(TRAFFIC + "quit\n")
        assert os.readlink(kept.path) == "disk/c"
        assert os.listdir(box.path("disk")) == ["c"]
        assert stat.S_IMODE(os.stat(real).st_mode) == 0o604


@case
def a_place_that_cannot_be_written_is_an_error_at_the_start():
    with Box() as box:
        kept = Kept(box)
        kept.run(TRAFFIC + "quit\n")
        text = hold(kept.path)
        # a full disk, as far as this file is concerned
        run = kept.run("say here\nquit\n", status=2, wrap=[
            "sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"])
        assert "cannot write " + kept.path in run.err, run.err
        assert len(run.errors()) == 1 and "here" not in run.out, run.out
        assert hold(kept.path) == text
        # no name beside it is short enough
        kept.path = box.path("c" * 255)
        with open(kept.path, "w", encoding="utf-8") as f:
            f.write(text)
        run = kept.run("say here\nquit\n", status=2)
        assert "cannot write " + kept.path in run.err, run.err
        assert hold(kept.path) == text and "here" not in run.out


@case
def counts_that_cannot_be_written_at_the_end_take_nothing_along():
    with Box() as box:
        kept = Kept(box)
        os.mkdir(box.path("disk"))
        kept.path = box.path("disk/counts.json")
        with kept.living("--counts-period", "3600s", "--json", box.path("r"),
                         "--record", box.path("recording")) as p:
            p.say(TRAFFIC + "say here\n")
            p.until("here")
            shutil.rmtree(box.path("disk"))
            p.say("clear counters\nquit\n")
            # of a bad command, not of the file
            assert p.p.wait(60) == 2
        assert json.loads(hold(box.path("r")))["sent_packets"] > 0
        assert "fabric" in hold(box.path("recording"))
        os.mkdir(box.path("disk"))
        with kept.living("--json", box.path("r")) as p:
            p.say(TRAFFIC + "say here\n")
            p.until("here")
            shutil.rmtree(box.path("disk"))
            p.say("quit\n")
            assert p.p.wait(60) == 0


main()
