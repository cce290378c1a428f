#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The flight recorder [APP-6]: what lcores lived through is played again in
virtual time, and asked what another policy would have lost."""
import json
import math
import re
import subprocess
import sys

from reflit_test import Box, FIGURE1, Skip, carrier, case, main

SIM = sys.argv[4]

# three cuts in the middle of traffic that fills a link
FAULTS = """fault 100000 cut s0-s1#0
fault 250000 heal s0-s1#0
fault 400000 cut s0>s1#1 silent
fault 700000 heal s0-s1#1
note 700100 inject delay s0>s1#1 5000 ns
fault 800000 noise s0>s1#0 loss=0.010000000 corrupt=0.010000000 bytes=1
fault 900000 heal s0-s1#0
"""


def recording(faults=FAULTS, fabric=FIGURE1, traffic="uniform 1-8 1 120.0"):
    return ("reflit-recording 1\nversion 0.1.0\ndate 2026-01-01T00:00:00Z\n"
            "config somewhere.cfg\nseed 7\n" +
            "".join("|" + s + "\n" for s in fabric.split("\n")) +
            "duration 1000000\nround-trip 400\ntraffic " + traffic + "\n"
            "outcome sent 100\noutcome delivered 99\noutcome lost 1\n"
            "faults-before 0\n" + faults +
            "events-before 0\nevent 100500 s0: s0-s1#0 dead, detector phy\n"
            "end\n")


def sim(box, text, *args, name="rec"):
    report = box.path("sim.json")
    p = subprocess.run([SIM, "--replay", box.write(name, text), "--json",
                        report] + list(args), capture_output=True, text=True,
                       timeout=250)
    parsed = None
    if p.returncode in (0, 1):
        with open(report, encoding="utf-8") as f:
            parsed = json.load(f)
    return p, parsed


@case
def another_policy_would_have_lost_what_loopback_saved():
    with Box() as box:
        p, r = sim(box, recording(), "--what-if", "loopback=none,e2e=off",
                   "--what-if", "loopback=none", "--seed", "7")
        assert p.returncode == 0, p
        again, r2 = sim(box, recording(), "--what-if",
                        "loopback=none,e2e=off", "--what-if",
                        "loopback=none", "--seed", "7")
    assert r["what_if"] == r2["what_if"], "the same is not the same"
    ours, alone, mended = r["what_if"]
    assert [x["policy"] for x in r["what_if"]] == [
        "replayed", "loopback=none,e2e=off", "loopback=none"]
    assert ours["lost_packets"] == 0 and ours["dropped_packets"] == 0
    assert ours["sent_packets"] == ours["delivered_packets"] > 100
    assert alone["lost_packets"] > 0 and alone["dropped_packets"] > 0, alone
    # end to end the endpoints mend it, at a price
    assert mended["lost_packets"] == 0 and mended["dropped_packets"] > 0
    assert mended["resent_flits"] > 0, mended
    # what happened stands beside it
    assert r["recorded"]["sent"] == 100 and r["recorded"]["lost"] == 1
    assert r["recorded"]["faults"] == 6
    assert r["recorded"]["faults_not_played"] == 1
    assert r["recorded"]["events"] == 1
    assert r["lost_packets"] == 0 and len(r["failovers"]) >= 2
    assert "1 more that the simulator does not know" in p.stdout
    assert re.search(r"as recorded +100 +99 +1 ", p.stdout), p.stdout


@case
def a_run_on_lcores_is_recorded_and_plays_again():
    lane = carrier(FIGURE1)
    link = "s0-s1#%d" % lane
    other = "s0-s1#%d" % (1 - lane)
    text = ("wait up\nstart\nwait 20ms\nlink %s down mid-packet\n"
            "wait cut %s\nwait dead %s\nwait 20ms\nlink %s up\nwait up\n"
            "link %s one-way s0\nwait dead %s\nlink %s up\nwait up\n"
            "link %s flap 1 20ms\nwait 50ms\nwait up\n"
            "link %s disable\nwait dead %s\nlink %s enable\nwait up\n"
            "inject drop %s s0 2\ninject stall %s s0 1ms\n"
            "inject loss %s s0 0.01\n"
            "inject ber %s s0 1e-6 propagate 0.8 lanes 16\n"
            "wait 20ms\nlink %s up\nwait up\nrecord %s\nstop\n"
            "wait drained\nquit\n")
    with Box() as box:
        mid = box.path("mid.rec")
        rec = box.path("a.rec")
        run = box.run(["--load", "0.05", "--record", rec], commands=text % (
            (link,) * 4 + (other,) * 4 + (link,) * 8 + (mid,)))
        run.check_clean()
        with open(rec, encoding="utf-8") as f:
            lines = f.read().split("\n")
        with open(mid, encoding="utf-8") as f:
            assert f.read().endswith("end\n")
        p, r = sim(box, "\n".join(lines), "--what-if", "loopback=none")
    faults = [s.split(" ", 2)[2] for s in lines if s.startswith("fault ")]
    k = link[5:]
    assert [f.split()[0] for f in faults] == [
        "cut", "heal", "cut", "heal", "cut", "heal", "down", "up", "drop",
        "stall", "noise", "noise", "heal"], faults
    assert faults[0] == "cut " + link and faults[1] == "heal " + link
    assert faults[2] == "cut s0>s1#%d silent" % (1 - lane)
    assert faults[8] == "drop s0>s1%s frame=2" % k
    assert faults[9] == "stall s0>s1%s for=1000000ns" % k
    assert faults[10] == "noise s0>s1%s loss=0.01" % k
    assert faults[11] == ("noise s0>s1%s loss=0.01 ber=1e-06 propagate=0.8 "
                          "lanes=16" % k), faults
    times = [int(s.split()[1]) for s in lines if s.startswith("fault ")]
    assert times == sorted(times) and times[0] > 0
    assert sum(s.startswith("event ") for s in lines) > 10
    assert "|" + FIGURE1.split("\n")[1] in lines, "not its fabric"
    # and it plays: as many packets, about, and none lost
    assert p.returncode == 0, p
    assert r["recorded"]["sent"] == run.report["sent_packets"]
    assert 0.7 < r["sent_packets"] / run.report["sent_packets"] < 1.4, r
    assert len(r["failovers"]) >= 6
    assert r["what_if"][0]["lost_packets"] == 0


def recorded(box, commands, load="0.05", config=FIGURE1):
    """A run on lcores, its faults as lines, its replay, and what both did."""
    rec = box.path("b.rec")
    run = box.run(["--load", load, "--record", rec], commands=commands,
                  config=config).check_clean()
    with open(rec, encoding="utf-8") as f:
        text = f.read()
    p, r = sim(box, text)
    assert p.returncode == 0, p
    # nothing is lost by any of it, there and here
    assert r["lost_packets"] == 0 == run.report["lost_packets"], r
    assert r["corrupted_packets"] == 0 == run.report["corrupted_packets"], r
    did = {k: (r["recorded"]["frames_" + k], r["wires"][w]) for k, w in (
        ("lost", "lost"), ("hurt", "hurt"), ("repeated", "repeated"),
        ("delayed", "delayed"))}
    return run, [s.split(" ", 2)[2] for s in text.split("\n")
                 if s.startswith("fault ")], text, r, did


def sent(c):
    """Frames that a port sent by its counters, and their bits."""
    return c["tx_frames"], 8 * (50 * c["tx_frames"] + 256 * (
        c.get("tx_flits", 0) + c.get("tx_replay_flits", 0)))


def near(n, want, more=0.02):
    """As far from what is expected as chance may be, and a share more."""
    return 0 < n and abs(n - want) < 5 * math.sqrt(want) + more * want


@case
def what_happens_once_is_recorded_and_happens_as_often():
    """Drops and altered bytes meet as many frames here as there; a wire that
    stands still for long, or is cut in one direction, dies as often."""
    link = "s0-s1#%d" % carrier(FIGURE1)
    way = "s0>s1" + link[5:]
    rows = ((["drop %s frame=3" % way, "drop %s frame=5" % way,
              "corrupt %s frame=1 bytes=16" % way], (2, 1, 0),
             "inject drop LINK s0 3\ninject drop LINK s0 5\n"
             "inject corrupt LINK s0 16\nstart\nwait 300ms\n"),
            (["stall %s for=300000000ns" % way], (0, 0, 2),
             "start\nwait 20ms\ninject stall LINK s0 300ms\n"
             "wait dead LINK\nwait up\n"),
            (["cut %s silent" % way, "heal " + link], (None, 0, 2),
             "start\nwait 20ms\nlink LINK one-way s0\nwait dead LINK\n"
             "link LINK up\nwait up\n"))
    for want, (lost, hurt, failovers), commands in rows:
        with Box() as box:
            run, faults, _, r, did = recorded(
                box, "wait up\n" + commands.replace("LINK", link) +
                "wait 20ms\nstop\nwait drained\nquit\n")
        assert faults == want, faults
        if lost is not None:  # by a cut, all that is sent until it is healed
            assert did["lost"] == (lost, lost), did
        assert did["hurt"] == (hurt, hurt), did
        assert did["repeated"] == did["delayed"] == (0, 0), did
        for x in (run.report, r):
            assert len(x["failovers"]) == failovers, (want, x["failovers"])


@case
def a_receiver_that_blocks_a_vc_is_recorded_and_blocks_again():
    """What it does not take arrives late, there and here."""
    with Box() as box:
        run, faults, text, r, _ = recorded(
            box, "wait recovered\nquiesce\nunquiesce\n"
            "inject block e1 0\nstart\nwait 300ms\n"
            "inject unblock e1 0\nstop\nwait drained\nquit\n",
            config=FIGURE1 + "endpoint: { give_up_ns = 0; };\n")
        _, free = sim(box, re.sub("\nfault .* block .*", "", text))
    assert faults == ["block e1 vc=0", "unblock e1 vc=0"], faults
    assert "\nnote " in text and "faults_not_played" in r["recorded"]
    worst = [x["latency_ns"]["max"] for x in (run.report, r, free)]
    assert worst[0] > 1e8 and worst[1] > 1e8 + worst[2], worst


@case
def every_rate_of_a_wire_is_recorded_and_played_again():
    """It meets as many frames as the rate says, there and here."""
    lane = carrier(FIGURE1)
    link, way = "s0-s1#%d" % lane, "s0>s1#%d" % lane
    port = "s0/%d" % (1 + lane)
    # bit errors hurt as many frames as their lengths let them
    rows = ((["loss LINK s0 0.05"], ["loss=0.05"], {"lost": 0.05}),
            (["duplicate LINK s0 0.1", "delay LINK s0 5us"],
             ["dup=0.1", "dup=0.1 delay=5000ns"],
             {"repeated": 0.1, "delayed": 1.1}),
            (["jitter LINK s0 0.1 20us"], ["jitter=0.1 within=20000ns"],
             {"delayed": 0.1}),
            (["ber LINK s0 1e-5 propagate 0.5 lanes 4"],
             ["ber=1e-05 propagate=0.5 lanes=4"], {"hurt": None}))
    for commands, words, rates in rows:
        with Box() as box:
            run, faults, _, r, did = recorded(
                box, ("wait up\nclear counters\n" + "".join(
                    "inject %s\n" % c for c in commands) + "start\n"
                    "wait 300ms\nstop\nwait drained\n"
                    "show counters PORT json\nquit\n"
                    ).replace("LINK", link).replace("PORT", port))
        there = json.loads(re.search("^{.*", run.out, re.M)[0])["ports"][0]
        row = next(x for x in r["links"] if x["link"] == link)
        here = next(e["counters"] for e in row["ends"] if e["device"] == "s0")
        assert faults == ["noise %s %s" % (way, w) for w in words], faults
        if len(rates) == 2:  # all frames are late, and so is each copy
            late = did["delayed"][1] - did["repeated"][1]
            assert abs(late - here["tx_frames"]) < 20, (did, here)
        for what, rate in rates.items():
            for n, c in zip(did.pop(what), (there, here)):
                frames, bits = sent(c)
                if rate is not None:
                    assert near(n, rate * frames), (commands, n, frames)
                else:  # frames are not all as long as their mean
                    want = frames * (1 - math.exp(-1e-5 * bits / frames))
                    assert near(n, want, 0.1), (n, want)
        assert set(did.values()) == {(0, 0)}, (commands, did)


def counted(report, device, counter, there):
    """The sum of a counter over the links of a device: there, or at the other
    ends."""
    return sum(e["counters"].get(counter, 0) for x in report["links"]
               if device in (e["device"] for e in x["ends"])
               for e in x["ends"] if (e["device"] == device) == there)


@case
def soft_errors_and_poison_are_recorded_and_played_again():
    """Of all packets that cross the device, the same shares leave it altered
    (if more bytes than FEC mends) and marked."""
    with Box() as box:
        run, faults, _, r, did = recorded(
            box, "wait up\ninject soft s0 0.02\ninject poison s0 1\n"
            "inject poison s0 0.03\nstart\nwait 300ms\nstop\n"
            "wait drained\nquit\n", "0.1")
    assert faults == ["soft s0 rate=0.02", "poison s0 rate=1",
                      "poison s0 rate=0.03"], faults
    assert set(did.values()) == {(0, 0)}, did
    for x in (run.report, r):
        crossed = counted(x, "s0", "rx_packets", True)
        soft = counted(x, "s0", "tx_altered", True)
        assert near(soft, 0.0115 * crossed, 0.1), (soft, crossed)
        assert near(counted(x, "s0", "rx_poisoned", False) - soft,
                    0.03 * crossed), (soft, crossed, x)


@case
def kinds_and_requests_are_recorded_and_play_again():
    """[EP-5] each kind of packet in its class, and as many that ask."""
    fabric = FIGURE1 + "routing: { levels = 4; };"
    with Box() as box:
        rec = box.path("a.rec")
        run = box.run(["--load", "0.05", "--packet-flits", "4", "--classes",
                       "kind", "--requests", "0.25", "--record", rec],
                      commands="wait up\nstart\nwait 300ms\nstop\n"
                      "wait drained\nquit\n", config=fabric).check_clean()
        with open(rec, encoding="utf-8") as f:
            text = f.read()
        p, r = sim(box, text)
        q, plain = sim(box, re.sub(r"\nrequests .*", "", text))
    assert re.search(r"\ntraffic uniform 4-4 kind 0\.", text), text
    # as it was sent: where one kind had to wait, the other had its turns
    share = float(re.search(r"\nrequests (0\.\d{6})\n", text).group(1))
    asked = run.report["sent_requests"]
    all_made = run.report["sent_packets"] - asked
    assert abs(share - asked / all_made) < 0.001, (share, run.report)
    assert p.returncode == q.returncode == 0, (p, q)
    want, got = run.report, r
    for key in ("sent_packets", "sent_requests", "sent_responses"):
        assert 0.7 < got[key] / want[key] < 1.4, (key, got[key], want[key])
    assert got["sent_requests"] == got["delivered_responses"], got
    assert len(got["latency_by_vc"]) == len(want["latency_by_vc"]) == 3, got
    assert plain["sent_requests"] == 0, plain


@case
def devices_and_planned_changes_are_recorded_by_their_words():
    commands = (("device s1 crash", "crash s1"),
                ("device s1 restart", "restart s1"),
                ("link s0-s1#0 remove", "remove s0-s1#0"),
                ("link s0-s1#0 add", "add s0-s1#0"),
                ("controller crash # with a reason", "controller crash"),
                ("controller restart\t#", "controller restart"))
    with Box() as box:
        if "device <device> crash" not in box.run(
                commands="help all\nquit\n").out:
            raise Skip("this build has no commands for devices")
        rec = box.path("a.rec")
        text = "wait up\nstart\nwait 20ms\nstop\n"
        box.run(["--record", rec, "--load", "0.01"], commands=text + "".join(
            c + "\nwait 50ms\n" for c, _ in commands) + "quit\n")
        with open(rec, encoding="utf-8") as f:
            got = [s.split(" ", 2)[2] for s in f.read().split("\n")
                   if s.startswith("fault ")]
    # a device that begins anew finds its links healed
    got = [g for g in got if not g.startswith("heal ")]
    assert got == [fault for _, fault in commands], got


@case
def a_recording_may_have_been_edited_elsewhere():
    with Box() as box:
        p, r = sim(box, recording())
        q, same = sim(box, recording().replace("\n", "\r\n").encode())
        assert p.returncode == q.returncode == 0, q
        assert r["what_if"] == same["what_if"]
        assert r["recorded"] == same["recorded"]


@case
def a_bad_recording_is_one_line_of_error_with_its_place():
    good = recording()
    at = {s: i + 1 for i, s in enumerate(good.split("\n"))}
    cut = at["fault 100000 cut s0-s1#0"]
    rows = (
        (good.replace("recording 1", "recording 2", 1), 1, "no recording"),
        ("", 0, "it is cut short"),
        (good.replace("end\n", ""), len(good.split("\n")) - 2, "cut short"),
        (good + "more\n", len(good.split("\n")), "behind the end"),
        (good.replace("cut s0-s1#0", "cut s0-s9"), cut, "no link or device"),
        (good.replace("100000 cut", "100000 break"), cut, "break"),
        (good.replace("fault 100000", "fault x"), cut, "fault NANOSECONDS"),
        (good.replace("uniform 1-8", "brownian 1-8"),
         at["traffic uniform 1-8 1 120.0"], "pattern"),
        (good.replace("1-8 1", "8-1 1"), at["traffic uniform 1-8 1 120.0"],
         "MIN-MAX"),
        (good.replace("1 120.0", "1 fast"), at["traffic uniform 1-8 1 120.0"],
         "rate"),
        (good.replace("duration 1000000", "duration 0"),
         len(good.split("\n")) - 1, "nothing was sent"),
        (good.replace("seed 7", "seed -7"), at["seed 7"], "whole number"),
        (good.replace("outcome lost", "outcome gone"), at["outcome lost 1"],
         "outcome"),
        (good.replace("seed 7", "speed 7"), at["seed 7"], "begins so"),
        (good.replace('topology = "custom"', 'topology = "cloth"'),
         at['|  topology = "custom";'], "cloth"),
        (good.replace("seed 7", "seed\0 7"), 0, "zero byte"),
    )
    with Box() as box:
        for text, line, why in rows:
            p, _ = sim(box, text)
            assert p.returncode == 2, (why, p)
            assert p.stderr.count("\n") == 1, p.stderr
            assert "rec:%d: " % line in p.stderr and why in p.stderr, (
                line, why, p.stderr)
        p = subprocess.run([SIM, "--replay", "/nowhere"], text=True,
                           capture_output=True, check=False)
        assert p.returncode == 2 and p.stderr.startswith("/nowhere: ")


@case
def options_that_do_not_go_with_a_replay_are_refused():
    with Box() as box:
        path = box.write("rec", recording())
        for args, why in (
                (["--replay", path, "--config", "x"], "of its own"),
                (["--replay", path, "--load", "1"], "of its own"),
                (2 * ["--what-if", "loopback=none"], "several with --replay"),
                (["--replay", path, "--what-if", "loopback=some"],
                 "not understood"),
                (["--replay", path, "--what-if", "e2e"], "not understood"),
                (["--replay", path, "--what-if", ""], "not understood")):
            p = subprocess.run([SIM] + args, capture_output=True, text=True,
                               check=False)
            assert p.returncode == 2 and why in p.stderr, (args, p)
        run = box.run(["--record", "/nowhere/x"], commands="quit\n")
        run.check(2)
        assert "/nowhere" in run.err and run.report is None
        run = box.run(["-i"], stdin="wait up\nrecord /nowhere/x\nquit\n")
        run.check(2)
        assert "/nowhere/x was not written" in run.err


main()
