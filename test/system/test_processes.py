#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One fabric in two processes [PHY-3]: figure 1 cut between s0 and s1, two
veth cables between the halves, frames in at e0 and e1. What both report is
judged by reflit-report."""
import json
import os
import random
import subprocess
import sys
import threading
import time

from process_pair import (CONFIG, Pair, REPORT, clean, exchange,  # noqa: E402
                          ip, killed_and_back, met)
from reflit_test import (Box, FIGURE1, FULL, ROOT, Skip,  # noqa: E402
                         case, main, need)


@case
def two_processes_carry_frames_and_their_reports_agree():
    with Pair() as net:
        net.start(0)
        net.start(1)
        net.meet()
        exchange(net)
        clean(net, 4000)


@case
def either_may_start_first():
    for first in (0, 1):
        with Pair() as net:
            net.start(first)
            end = time.monotonic() + 30
            while net.state(first, "s0-s1#0") is None:  # not built yet
                assert time.monotonic() < end, net.errors()
                time.sleep(0.05)
            net.start(1 - first)
            net.meet()
            exchange(net, 200)
            clean(net, 400)


@case
def a_cable_cut_under_load_loses_nothing():
    with Pair() as net:
        net.start(0)
        net.start(1)
        net.meet()
        got = [[], []]
        for k in range(0, 3000, 50):
            if k in (500, 1500):
                ip("-n", net.ns[0], "link", "set",
                   "c%d" % (k // 1000), "down")
            if k in (1000, 2500):
                ip("-n", net.ns[0], "link", "set",
                   "c%d" % (k // 2000), "up")
                net.until_up("s0-s1#%d" % (k // 2000))
            for frm in (0, 1):
                net.send(frm, k, 50)
            for to in (0, 1):
                got[to] += net.receive(to, 50, 10)
        for to in (0, 1):
            assert got[to] == list(range(3000)), (to, len(got[to]))
        clean(net, 6000)


@case
def a_process_that_is_killed_comes_back_and_is_known_as_another():
    with Pair() as net:
        met(net, 200)
        killed_and_back(net, 200)
        net.stop()
        status, out, merged = net.judge()
        # what the life that was killed had got, nobody can prove
        assert merged["unproven_packets"] > 100, merged
        # to it: arrived and not acknowledged, or proven by nobody; from it:
        # no source
        assert (merged["unproven_packets"] + merged["reported_packets"]
                >= 400), merged
        for key in ("lost", "duplicated", "reordered", "corrupted"):
            assert merged[key + "_packets"] == 0, (key, merged)
        assert status == 1 and "unaccounted for" in out, out
        # but its ledger does; nothing was on its way as it was killed
        ledger = os.path.join(net.box.dir, "right1.json.ledger")
        status, out, merged = net.judge(net.json(0), net.json(1), ledger)
        assert status == 0 and "process right was killed" in out, out
        assert merged["sent_packets"] >= 800, merged
        assert (merged["delivered_packets"] + merged["reported_packets"]
                == merged["sent_packets"]), merged
        for key in ("lost", "duplicated", "reordered", "corrupted",
                    "unproven"):
            assert merged[key + "_packets"] == 0, (key, merged)
        # who ended by himself has left none
        for n in (net.json(0), net.json(1)):
            assert not os.path.lexists(n + ".ledger"), n


@case
def who_would_write_over_the_report_of_a_process_that_runs_is_refused():
    with Pair() as net:
        net.start(0)
        own, other = net.json, net.json(0)
        while not os.path.exists(other + ".ledger"):
            assert net.process[0].poll() is None, net.errors()
            time.sleep(0.05)
        net.json = lambda i: other
        net.start(1)
        assert net.process[1].wait(60) == 2, net.errors()
        with open(net.err[-1].name, encoding="utf-8") as f:
            lines = f.read().splitlines()
        assert lines == ["reflit: --json %s: a process that runs writes its "
                         "report there" % other], lines
        net.json = own
        assert os.path.exists(other + ".ledger")
        assert not os.path.lexists(other + ".ledger.1")
        net.start(1)
        net.meet()
        net.stop()
        status, out, merged = net.judge(net.json(0), net.json(1))
        assert status == 0 and merged["lost_packets"] == 0, out


@case
def what_was_on_its_way_as_a_process_was_killed_is_all_that_is_unproven():
    with Pair() as net:
        net.start(0)
        net.start(1)
        net.meet()
        net.send(0, 0, 300)
        net.send(1, 0, 300)
        net.process[1].kill()
        net.process[1].wait()
        ledger = net.json(1) + ".ledger"
        # a life under the same name keeps it
        net.lives[1] -= 1
        net.start(1)
        net.meet()
        net.stop()
        assert os.path.lexists(ledger + ".1"), os.listdir(net.box.dir)
        status, out, merged = net.judge(net.json(0), net.json(1),
                                        ledger + ".1")
        for key in ("lost", "duplicated", "reordered", "corrupted"):
            assert merged[key + "_packets"] == 0, (key, merged)
        assert (merged["delivered_packets"] + merged["unproven_packets"]
                + merged["reported_packets"] == merged["sent_packets"]), merged
        assert status == 0, out
        # one of another version, and one that was cut short, are refused
        with open(os.path.realpath(ledger + ".1"), "r+b") as f:
            for text in (b"reflit ledger 0", b"reflit ledger 1"):
                f.seek(0)
                f.write(text)
                f.flush()
                f.truncate(5000)
                name = "/proc/self/fd/%d" % f.fileno()
                p = subprocess.run([REPORT, net.json(0), name],
                                   capture_output=True, text=True,
                                   check=False, pass_fds=(f.fileno(),))
                assert p.returncode == 2, p.stdout + p.stderr
                assert len(p.stderr.splitlines()) == 1, p.stderr


class Flood(threading.Thread):
    """Frames in at both ends, without a pause, until it is told to end."""

    def __init__(self, net):
        super().__init__(daemon=True)
        self.net, self.over = net, threading.Event()
        self.start()

    def run(self):
        k = 0
        while not self.over.is_set():
            for frm in (0, 1):
                try:
                    self.net.send(frm, k, 20)
                except OSError:
                    pass  # its ring is full
            k = (k + 20) % 2**31

    def end(self):
        self.over.set()
        self.join()


@case
def a_process_killed_at_any_moment_under_load_loses_nothing_unsaid():
    """The ledgers prove all but what was on its way."""
    times = 3 if FULL else 1
    rng = random.Random(5)
    with Pair() as net:
        for i in (0, 1):
            net.start(i)
        net.meet()
        ledgers, flood = [], Flood(net)
        for _ in range(times):
            time.sleep(0.3 + rng.random())
            net.kill(1)
            ledgers.append(net.json(1) + ".ledger")
            net.receive(1, 1 << 30, rng.random() / 2)  # of the life before
            net.start(1)
            end = time.monotonic() + 30
            # what comes may be of the life before, which was late
            while not net.receive(1, 1, 0.1) or not os.path.exists(
                    net.json(1) + ".ledger"):
                assert time.monotonic() < end, net.errors()
        time.sleep(0.5)
        flood.end()
        assert net.stop() == [0, 0], net.errors()
        status, out, merged = net.judge(net.json(0), net.json(1), *ledgers)
        assert status == 0, out
        assert merged["killed"] == ["right"] * times, merged["killed"]
        for key in ("lost", "duplicated", "reordered", "corrupted",
                    "unlisted"):
            assert merged[key + "_packets"] == 0, (key, out)
        sent, there, told, open_ = [merged[k + "_packets"] for k in (
            "sent", "delivered", "reported", "unproven")]
        assert sent > 1600 * times and sent == there + told + open_, out
        # windows of two flows, frames not yet in a packet, each time
        assert open_ < times * 2 * 2500, out
        # nothing but the ledgers can tell
        assert net.judge(net.json(0), net.json(1))[2]["unproven_packets"] > \
            open_, out


@case
def processes_of_two_fabrics_do_not_train_and_say_what_differs():
    with Pair() as net:
        net.config[1] = CONFIG.replace("link: {", "link: { window_flits = 77;")
        net.start(0)
        net.start(1)
        end = time.monotonic() + 30
        want = "the fabric file of the other end differs in link or endpoint"
        while net.errors().count(want) < 4 and time.monotonic() < end:
            time.sleep(0.2)
        assert net.errors().count(want) == 4, net.errors()
        assert net.stop() == [0, 0]
        status, out, _ = net.judge()
        assert status == 2 and "another fabric" in out, out


KEYED = CONFIG.replace("link: {", 'link: { key_file = "key"; ')


def key(box, text="k" * 40, mode=0o600):
    os.chmod(box.write("key", text), mode)


# Sends what passed on c0 into it again, from the namespace that it runs in.
MEDDLE = """
import socket, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("c0", 0x88b5))
s.settimeout(0.2)
seen, end = [], time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    try:
        seen.append(s.recvfrom(4096)[0])
    except TimeoutError:
        continue
    again = seen[len(seen) * 7 % 97 % len(seen)]
    for f in (again, again[:200] + bytes([again[200] ^ 1]) + again[201:]
              if len(again) > 201 else again):
        try:
            s.send(f)
        except OSError:
            pass
    # each hears what the other sends, too: without a rest they fill the wire,
    # and who fills it can stop it, key or not
    time.sleep(0.002)
    del seen[:-500]
"""


@case
def with_a_key_strangers_on_the_wire_change_nothing():
    """[PHY-3] Frames seen on a cable come again, whole and changed, from both
    ends of it: what one end sent comes back to it, too."""
    # no link ends for want of time: strangers would be the only reason
    with Pair(KEYED.replace("keepalive_dead_ns = 4",
                            "keepalive_dead_ns = 40")) as net:
        key(net.box)
        net.start(0)
        net.start(1)
        net.meet()
        meddlers = [subprocess.Popen(
            ["ip", "netns", "exec", ns, sys.executable, "-c", MEDDLE, "4"])
            for ns in net.ns]
        exchange(net, 1000)
        for m in meddlers:
            assert m.wait(30) == 0
        exchange(net, 200)
        clean(net, 2400)
        assert "no key" not in net.errors(), net.errors()
        for i in (0, 1):
            with open(net.json(i), encoding="utf-8") as f:
                report = json.load(f)
            # nor did any of it end a link
            assert report["failovers"] == [], report["failovers"]
            bad = [w for w in report["wires"] if w["rx_auth_errors"] > 0]
            assert len(bad) == 1, report["wires"]


@case
def a_process_killed_and_started_again_is_believed_by_its_key():
    with Pair(KEYED) as net:
        key(net.box)
        met(net, 100)
        killed_and_back(net, 200)
        net.stop()
        status, out, merged = net.judge()
        # the first life left no ledger here
        assert status == 1 and "unaccounted for" in out, out
        assert merged["lost_packets"] == 0, merged


@case
def processes_whose_keys_differ_do_not_train_and_say_so():
    want = {"none": ("the other end has no key", "the other end has a key"),
            "other": ("the other end has another key",) * 2}
    for how, words in want.items():
        with Pair(KEYED) as net:
            key(net.box)
            os.chmod(net.box.write("other", "o" * 40), 0o600)
            net.config[1] = CONFIG if how == "none" else KEYED.replace(
                '"key"', '"other"')
            net.start(0)
            net.start(1)
            end = time.monotonic() + 30
            while time.monotonic() < end and sum(
                    net.errors().count(w) for w in set(words)) < 4:
                time.sleep(0.2)
            time.sleep(0.5)
            for w in set(words):
                assert net.errors().count(w) == 4 / len(set(words)), \
                    net.errors()
            if how == "other":  # it takes five seconds
                assert net.stop() == [0, 0]


@case
def a_key_that_is_none_is_refused_with_its_line():
    for text, mode, why in (("k" * 31, 0o600, "holds 31 bytes"),
                            ("k" * 32, 0o640, "chmod 600"),
                            (None, 0, "No such file")):
        with Box() as box:
            if text is not None:
                key(box, text, mode)
            run = box.run(("--process", "left"), config=KEYED,
                          commands="quit\n")
            run.check(2)
            assert len(run.errors()) == 1, run.err
            line = KEYED[:KEYED.index("key_file")].count("\n") + 1
            assert ":%d: link.key_file: " % line in run.err, run.err
            assert why in run.err, run.err


@case
def tcp_goes_on_between_two_hosts_whose_cables_are_pulled():
    """The second demonstration: devtools/two-hosts.sh."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    need("ip", "iperf3", "ethtool")
    build = os.path.dirname(os.path.dirname(REPORT))
    # as fast as TCP can, both CPUs would be busy for all that time
    p = subprocess.run([os.path.join(ROOT, "devtools", "two-hosts.sh"), build,
                        *(("7",) if FULL else ("5", "100M"))],
                       capture_output=True, text=True, check=False,
                       timeout=240)
    assert p.returncode == 0, p.stdout + p.stderr
    with open(os.path.join(build, "two-hosts", "report.json"),
              encoding="utf-8") as f:
        merged = json.load(f)
    assert merged["sent_packets"] > 1000, merged
    for key in ("lost", "duplicated", "reordered", "corrupted"):
        assert merged[key + "_packets"] == 0, (key, merged)
    assert len(merged["failovers"]) >= 4, merged["failovers"]


@case
def what_does_not_fit_together_is_refused():
    with Box() as box:
        def refused(config, args, *words):
            run = box.run(args, config=config, commands="quit\n")
            run.check(2)
            assert len(run.errors()) == 1, run.err
            for word in words:
                assert word in run.err, run.err

        refused(CONFIG, (), "several run this fabric", "left, right")
        refused(CONFIG, ("--process", "middle"), "none called middle",
                "left, right")
        refused(FIGURE1, ("--process", "left"), "names no processes")
        refused(CONFIG.replace('["e1", "s1"]', '["e1", "s1", "s0"]'),
                ("--process", "left"), "s0", "one process runs it")
        refused(CONFIG.replace('["e1", "s1"]', '["s1"]'),
                ("--process", "left"), "no process runs e1")
        for asked in (("--packets", "5"), ("--load", "0.5"),
                      ("--packet-flits", "1-8"), ("--traffic", "tornado"),
                      ("--classes", "2"), ("--classes", "kind"),
                      ("--requests", "0.5")):
            refused(CONFIG, ("--process", "left", *asked),
                    "generators stay within one process", asked[0])
        refused(CONFIG.split("attach")[0].replace(
            'a = "net_af_packet0"; ', ""),
                ("--process", "left"), "this process runs end a of s0-s1#0")


@case
def reports_that_do_not_fit_are_refused_and_a_missing_one_is_said():
    with Pair() as net:
        met(net, 100)
        assert net.stop() == [0, 0], net.errors()
        status, out, merged = net.judge(net.json(0))
        assert status == 1 and "process right has left no report" in out, out
        # a sink that has not got the last packets, and one that got others
        with open(net.json(1), encoding="utf-8") as f:
            right = json.load(f)
        sink = [x for x in right["flows"] if x["end"] == "sink"][0]
        for change, key in (({"next": sink["runs"][0]["next"] - 3}, "lost"),
                            ({"digest": "0123456789abcdef"}, "corrupted")):
            sink["runs"][0].update(change)
            name = net.box.write("bent.json", json.dumps(right))
            status, out, merged = net.judge(net.json(0), name)
            assert status == 1 and merged[key + "_packets"] > 0, (key, merged)
            sink["runs"][0]["next"] += 3 if key == "lost" else 0
        # of one who was killed only the tail is excused, not a gap before it
        right["killed"] = True
        sink["runs"][0]["next"] -= 3
        for gap, lost in ([], 0), ([[5, 7]], 2):
            sink["runs"][0]["missing"] = gap
            status, out, merged = net.judge(
                net.json(0), net.box.write("bent.json", json.dumps(right)))
            assert merged["unproven_packets"] == 3, merged
            assert merged["lost_packets"] == lost, merged
            assert status == (lost != 0), out
        status, out, _ = net.judge(net.box.write("x.json", "{}"))
        assert status == 2 and "no report of reflit's" in out, out
        status, out, _ = net.judge(net.box.write("y.json", "{"))
        assert status == 2 and "y.json:1:" in out, out


@case
def what_waited_while_a_peer_began_anew_is_judged_with_what_came_after():
    with Pair() as net:
        met(net, 100)
        assert net.stop() == [0, 0], net.errors()
        files = []
        for i in (0, 1):
            with open(net.json(i), encoding="utf-8") as f:
                files.append(json.load(f))
        span = [x for x in files[0]["flows"] if x["end"] == "source"][0]
        run = [x for x in files[1]["flows"] if x["end"] == "sink"][0]["runs"]
        # the peer died when 20 were on their way, of which 5 waited
        first, n = span["spans"][0]["first"], span["spans"][0]["packets"]
        assert len(span["spans"]) == 1 and len(run) == 1 and n > 60
        span["spans"] = [{"first": first, "packets": 20, "digest": "0" * 16},
                         {"first": (first + 20) % 2**32, "packets": n - 20,
                          "digest": "0" * 16}]
        span["reported"] = [[(first + 3) % 2**32, "0" * 16]]
        run[0]["first"] = (first + 15) % 2**32
        run[0]["packets"] -= 15
        names = [net.box.write("%d.json" % i, json.dumps(files[i]))
                 for i in (0, 1)]
        status, out, merged = net.judge(*names)
        assert status == 1 and "unaccounted for 14" in out, out
        assert merged["unproven_packets"] == 14, merged
        assert merged["lost_packets"] == 0, merged
        # one that is missing in the new life is lost all the same
        run[0]["missing"] = [[7, 8]]
        names[1] = net.box.write("1.json", json.dumps(files[1]))
        status, out, merged = net.judge(*names)
        assert status == 1 and merged["lost_packets"] == 1, out


main()
