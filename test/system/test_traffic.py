#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traffic through whole fabrics that want both CPUs [EP-1, SW-3]: the
demonstration, as root and as anybody, placements, hundreds of cuts, and what
the policies of the related art lose."""
import json
import os
import shutil
import subprocess
import xml.etree.ElementTree

from pcaps import HEAD, PORTS, frame, record, same, vdevs
from reflit_test import (Box, FIGURE1, FULL, PCAP_SAME, REFLIT, ROOT, Skip,
                         carrier, case, main, need)

# a CPU may be taken from an lcore for long: a second without an answer is none
PATIENT = """link: { flits_per_frame = 4; keepalive_dead_ns = 1000000000;
        retrain_interval_ns = 5000000; retrain_limit = 200; };
"""
TWO_CUTS = """wait up
rate e0 2500
rate e1 2500
start
wait 50ms
link s0-s1#0 down mid-packet
wait dead s0-s1#0
wait 20ms
link s0-s1#0 up
wait up
link s0-s1#1 down mid-packet
wait dead s0-s1#1
wait 20ms
link s0-s1#1 up
wait up
wait sent 120s
wait drained
quit
"""


@case
def every_vc_has_its_latency_and_jitter_in_the_report():
    config = FIGURE1 + "routing: { levels = 8; };"
    with Box() as box:
        run = box.run(["--classes", "8", "--load", "0.2"],
                      commands="wait up\ntraffic packets 400\nstart\n"
                      "wait sent\nwait drained\nshow histogram\n"
                      "show histogram 7\nquit\n", config=config)
    r = run.check_clean().report
    by_vc = r["latency_by_vc"]
    assert [v["vc"] for v in by_vc] == list(range(8)), by_vc
    assert sum(v["packets"] for v in by_vc) == 800
    assert sorted(r["jitter_ns"]) == ["max", "p50", "p99", "p999"]
    for v in by_vc:
        assert v["latency_ns"]["p50"] <= v["latency_ns"]["max"]
        assert "VC %u: %u packets" % (v["vc"], v["packets"]) in run.out
    for key in ("latency_ns", "jitter_ns"):
        assert r[key]["max"] == max(v[key]["max"] for v in by_vc), key
    # and once more, of the last alone
    assert "\n%u packets; p50" % by_vc[7]["packets"] in run.out


@case
def requests_are_answered_and_both_are_counted():
    """[EP-5] half of the packets ask for a response."""
    with Box() as box:
        run = box.run(["--requests", "0.5", "--packets", "400"],
                      commands="wait up\nstart\nwait sent\nwait drained\nquit\n",
                      config=FIGURE1)
    r = run.check_clean().report
    asked = r["sent_requests"]
    assert 250 < asked < 550, asked
    assert r["delivered_requests"] == asked
    assert r["sent_responses"] == r["delivered_responses"] == asked
    assert r["sent_packets"] == r["delivered_packets"] == 800 + asked


@case
def packets_for_an_untrained_link_wait_or_are_dropped_as_set():
    """[LINK-C3] the only link of an endpoint is down when traffic begins."""
    for action in ("block", "discard", "best-effort"):
        config = FIGURE1 + 'link: { init_action = "%s"; };' % action
        with Box() as box:
            run = box.run(commands="wait up\ntraffic packets 200\n"
                          "link e0-s0 disable\nwait dead e0-s0\n"
                          "wait 10ms\nstart\nwait 200ms\n"
                          "link e0-s0 enable\nwait up\nwait sent\n"
                          "wait drained\nshow counters all\nquit\n",
                          config=config)
        r = run.check_clean().report
        dropped = r["drops"]["init"]
        assert (dropped > 0) == (action == "discard"), (action, dropped)
        # a retry timer that backs off, no storm
        assert dropped < 5000, dropped
        assert ("stranded_packets" in run.out) == (action != "discard")
        assert ("drop_init" in run.out) == (action == "discard")


def demo(box, wrap=(), env=None, eal=()):
    pcap = os.path.join(ROOT, "config", "demo.pcap")
    run = box.run(["--config", os.path.join(ROOT, "config", "demo.cfg"),
                   "--cmdline-file",
                   os.path.join(ROOT, "config", "demo.cmd"),
                   "--timeline", "20ms"],
                  eal=vdevs(box, pcap, pcap) + list(eal), config=None,
                  wrap=wrap, env=env, timeout=240)
    run.check_clean()
    same(pcap, box.path("o0"))
    same(pcap, box.path("o1"))
    return run


def story(box):
    """What devtools/demo.py makes of the report that lies in the box."""
    build = os.path.dirname(os.path.dirname(REFLIT))
    p = subprocess.run(
        ["python3", os.path.join(ROOT, "devtools", "demo.py"), build,
         os.path.join(ROOT, "config", "demo.cfg"), box.path("report.json")],
        capture_output=True, text=True, timeout=240, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    for words in ("1. the link s0-s1#0 goes dark", "2. s0-s1#1 is cut",
                  "went the other way", "corrected by FEC",
                  '"whole-packets": lost     0 of'):
        assert words in p.stdout, (words, p.stdout)
    with open(box.path("what-if-none.json"), encoding="utf-8") as f:
        assert json.load(f)["lost_packets"] > 0, p.stdout
    if shutil.which("gnuplot") is None:
        raise Skip("gnuplot is not installed: no picture")
    svg = xml.etree.ElementTree.parse(box.path("latency.svg"))
    text = "".join(svg.getroot().itertext())
    assert "7. frames of s1" in text and "median" in text, text


@case
def the_demonstration_loses_nothing_and_its_report_is_whole():
    with Box() as box:
        r = demo(box).report
        if FULL:
            story(box)
    for key in ("sent_packets", "delivered_packets", "lost_packets",
                "duplicated_packets", "reordered_packets",
                "corrupted_packets", "reported_packets", "flit_hops",
                "elapsed_ns"):
        assert isinstance(r[key], int), key
    assert sorted(r["latency_ns"]) == ["max", "p50", "p99", "p999"]
    assert 0 < r["latency_ns"]["p50"] <= r["latency_ns"]["max"]
    assert all(rec["cause"].startswith("link ") or rec["cause"] == "tried again"
               for rec in r["recoveries"]), r["recoveries"]
    cuts = {}
    last = next(s["at_ns"] for s in r["steps"] if s["text"][0] == "8")
    # a link that is removed as planned has not failed
    assert [f for f in r["failovers"] if f["at_ns"] >= last] == []
    assert any("removed" in rec["cause"] for rec in r["recoveries"])
    for f in r["failovers"]:
        for key in ("link", "detector", "detect_ns", "first_rerouted_ns",
                    "drained_ns", "looped_packets", "looped_flits",
                    "looped_acked_flits"):
            assert key in f, key
        assert f["detect_ns"] > 0 and f["drained_ns"] > 0, f
        # what looped left by the link beside it [APP-10]
        assert f["left_by"] in ("-", "s0-s1#1" if f["link"] == "s0-s1#0"
                                else "s0-s1#0"), f
        assert (f["left_by"] == "-") == (f["first_rerouted_ns"] == 0), f
        cuts.setdefault(f["link"], []).append(f)
    assert len(cuts["s0-s1#0"]) >= 4 and len(cuts["s0-s1#1"]) >= 2
    # cut in the middle of a packet: whole packets looped back, and of the
    # one-way cut, whose ACKs came back, acknowledged flits among them
    assert any(f["looped_flits"] > 0 for f in cuts["s0-s1#0"])
    assert any(f["looped_acked_flits"] > 0 for f in cuts["s0-s1#1"])
    # both links carry traffic both ways: every port that died held some
    assert {f["device"] for f in r["failovers"] if f["looped_flits"] > 0} == {
        "s0", "s1"}
    assert [s["text"][0] for s in r["steps"] if s["text"][1] == "."] == list(
        "12345678"), r["steps"]
    assert sum(row["packets"] for row in r["timeline"]) > 0
    assert r["codec"] in ("scalar", "sse42", "avx2", "avx512", "neon"), r["codec"]


@case
def an_ordinary_user_runs_it_too():
    if os.geteuid() != 0:
        raise Skip("already an ordinary user")
    need("setpriv")
    for name in (PCAP_SAME, os.path.join(ROOT, "config", "demo.pcap")):
        p = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534",
                            "--clear-groups", "test", "-r", name])
        if p.returncode != 0:
            raise Skip("an ordinary user cannot read " + name)
    env = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    with Box() as box:
        demo(box, ("setpriv", "--reuid=65534", "--regid=65534",
                   "--clear-groups"), env)


@case
def one_lcore_runs_everything_between_commands():
    with Box() as box:
        demo(box, eal=["--lcores=0@0"])


@case
def two_lcores_share_the_roles():
    if os.cpu_count() < 2:
        raise Skip("one CPU")
    config = FIGURE1 + PORTS + PATIENT
    pcap = os.path.join(ROOT, "config", "demo.pcap")
    with Box() as box:
        run = box.run(eal=vdevs(box, pcap, pcap) + ["--lcores=0@0,1@0,2@1"],
                      config=config, commands=TWO_CUTS)
        run.check_clean()
        assert len(run.report["failovers"]) >= 4, run.report["failovers"]
        same(pcap, box.path("o0"))
        same(pcap, box.path("o1"))


@case
def lcores_that_share_a_cpu_do_not_both_poll():
    if os.cpu_count() < 2:
        raise Skip("one CPU")
    with Box() as box:
        run = box.run(["--packets", "1000"],
                      eal=["--lcores=0@0,1@1,2@1,3@(0-1)"],
                      commands="wait up\nstart\nwait sent\nwait drained\n"
                      "show lcores\nquit\n").check_clean()
    assert "2 lcores share CPUs" in run.err, run.err
    assert "lcore 1: 8 ports, 4 cores" in run.out, run.out
    assert "lcore 2" not in run.out


@case
def roles_are_placed_by_the_file():
    if os.cpu_count() < 2:
        raise Skip("one CPU")
    config = FIGURE1 + PATIENT + ('lcores: { place = ( { role = "s"; lcore = 1; }, '
                        '{ role = "s0/1"; lcore = 2; }, '
                        '{ role = "e"; lcore = 2; } ); };\n')
    with Box() as box:
        run = box.run(["--packets", "2000"], config=config,
                      eal=["--lcores=0@0,1@0,2@1"],
                      commands="wait up\nstart\nwait sent\nwait drained\n"
                      "show lcores\nquit\n").check_clean()
    # s0 and s1 have three ports each; one of them moved
    assert "lcore 1: 5 ports, 2 cores" in run.out, run.out
    assert "lcore 2: 3 ports, 2 cores" in run.out, run.out


@case
def an_lcore_shares_the_flits_that_come_to_it_and_never_go_back():
    if os.cpu_count() < 2:
        raise Skip("one CPU")
    # all that e1 sends comes in by lcore 1, and ends on lcore 2: several times
    # as many flits as there are
    config = FIGURE1 + ('lcores: { place = ( { role = "s"; lcore = 2; }, '
                        '{ role = "s1/0"; lcore = 1; }, '
                        '{ role = "e"; lcore = 2; } ); };\n')
    with Box() as box:
        run = box.run(["--packets", "10000", "--packet-flits", "32",
                       "--traffic", "incast"], config=config,
                      eal=["--lcores=0@0,1@0,2@1"],
                      commands="wait up\nstart\nwait sent 60s\n"
                      "wait drained 30s\nshow lcores\nquit\n").check_clean()
    assert "lcore 1: 1 ports, 0 cores" in run.out, run.out
    crossed = [end["counters"] for link in run.report["links"]
               if link["link"] == "s1-e1" for end in link["ends"]
               if end["device"] == "s1"][0]
    assert crossed["rx_ok"] >= 32 * 10000, crossed


@case
def a_capture_that_is_read_without_end_spans_many_cuts():
    with Box() as box:
        few = box.write("few.pcap", HEAD + b"".join(
            record(frame(i, 60 + 10 * i)) for i in range(100)))
        eal = [v.replace("tx_pcap", "infinite_rx=1,tx_pcap")
               for v in vdevs(box, few, few)]
        run = box.run(eal=eal, config=FIGURE1 + PORTS,
                      commands="wait up\nrate e0 20000\nrate e1 20000\nstart\n"
                      "link s0-s1#0 flap 4 20ms\nwait 120ms\nwait up\nstop\n"
                      "wait drained\nquit\n").check_clean()
        assert run.report["sent_packets"] > 200  # both files, and again


@case
def a_torus_keeps_its_promises_while_links_are_cut():
    with open(os.path.join(ROOT, "config", "torus-4x4.cfg"),
              encoding="utf-8") as f:
        config = f.read()
    with Box() as box:
        run = box.run(["--load", "0.02"], config=config,
                      commands="wait up\nstart\nwait 50ms\n"
                      "link s0.0-s0.1 down\nwait dead s0.0-s0.1\n"
                      "link s1.0-s2.0 down\nwait dead s1.0-s2.0\n"
                      "wait 50ms\nlink s0.0-s0.1 up\nlink s1.0-s2.0 up\n"
                      "wait up\nwait 50ms\nstop\nwait drained\nquit\n")
        run.check_clean()
        assert len(run.report["failovers"]) >= 4


def many_cuts(lcores):
    """First by the clock, whether anybody has seen the last cut or not, then
    each when the one before is over: a busy machine sleeps through the first."""
    config = FIGURE1 + "link: { flap_damping_ns = 0; };\n"
    cuts = "".join("link s0-s1#%d down\nwait dead s0-s1#%d\n"
                   "link s0-s1#%d up\nwait up\n" % (i, i, i)
                   for i in [0, 1] * 40)
    with Box() as box:
        run = box.run(config=config, eal=["--lcores=" + lcores],
                      commands="wait up\nstart\n"
                      "link s0-s1#0 flap 100 5ms\nwait up\n"
                      "link s0-s1#1 flap 100 5ms\nwait up\n" + cuts +
                      "stop\nwait drained\nquit\n").check_clean()
    assert len(run.report["failovers"]) > 100
    assert sum(f["looped_packets"] for f in run.report["failovers"]) > 100


@case
def hundreds_of_cuts_under_full_load_lose_nothing():
    two = ["0@0,1@0,2@1"] + ["0@0,1@1"] * FULL
    for lcores in ["0@0"] + two * (os.cpu_count() > 1):
        many_cuts(lcores)


def lost_with(policy):
    """Packets lost of the same cuts, without end-to-end retry: the ablation
    of [EVAL-2] in small, by the policies of [DRL-9]. Each cut waits for the
    flow to be on that link: no controller leads it elsewhere for good."""
    config = FIGURE1 + ('link: { loopback = "%s"; flits_per_frame = 1; };\n'
                        "endpoint: { retry = false; };\n"
                        'controller: { mode = "off"; };\n' % policy)
    cut = ("wait 10ms\nlink s0-s1#%d one-way s0 mid-packet\n"
           "wait dead s0-s1#%d\nlink s0-s1#%d up\nwait up\n").replace(
               "%d", str(carrier(config)))
    commands = "wait up\nstart\n" + 10 * cut
    with Box() as box:
        run = box.run(["--load", "0.2", "--packet-flits", "8"], config=config,
                      commands=commands + "stop\nwait drained\nquit\n")
    r = run.report
    assert r["failovers"], "no cut happened"
    assert r["sent_packets"] == (r["delivered_packets"] + r["lost_packets"] +
                                 r["reported_packets"])
    assert run.status == (1 if r["lost_packets"] else 0)
    return r["lost_packets"]


@case
def the_related_art_loses_packets_where_whole_packets_do_not():
    lost = {p: lost_with(p) for p in ("none", "unacked-only",
                                      "whole-packets")}
    print("    lost of the same ten cuts, without end-to-end retry:", lost)
    assert lost["none"] > 0 and lost["unacked-only"] > 0
    assert lost["whole-packets"] == 0


main()
