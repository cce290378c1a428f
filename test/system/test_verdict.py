#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What reflit says of a run is true: every number of its report and every way
to an exit status that is not 0 is seen here in a run where it is not 0. Most
of these runs are of reflit-plants, see plants.h [DRL-7, RXL-4, ROUTE-4]."""
import os
import re
import sys

from reflit_test import Box, FIGURE1, FULL, REFLIT, case, main
import reflit_test

PLANTS = os.path.abspath(sys.argv[4])
# a drop is final, so that it has to be reported
NO_RETRY = (FIGURE1 + "endpoint: { retry = false; };\n" +
            'controller: { mode = "off"; };\n')
SEND = "wait up\ntraffic packets %d\nstart\nwait sent\nwait drained\nquit\n"


def planted(plant, config=FIGURE1, commands=SEND % 50, args=()):
    """A run of reflit with a bug; None: without one."""
    env = {k: v for k, v in os.environ.items() if k != "REFLIT_PLANT"}
    if plant is not None:
        env["REFLIT_PLANT"] = plant
    reflit_test.REFLIT = PLANTS
    try:
        with Box() as box:
            return box.run(args, eal=["--lcores=0@0"], config=config,
                           commands=commands, env=env)
    finally:
        reflit_test.REFLIT = REFLIT


def numbers(run):
    return {k: run.report[k + "_packets"]
            for k in ("lost", "duplicated", "reordered", "corrupted",
                      "reported", "inexact")}


def only(run, status, **want):
    """These numbers, and nothing else, are not 0; people read the same."""
    run.check(status)
    all_of = dict(lost=0, duplicated=0, reordered=0, corrupted=0, reported=0,
                  inexact=0)
    all_of.update(want)
    assert numbers(run) == all_of, (numbers(run), run.out)
    line = ("lost %(lost)d, duplicated %(duplicated)d, reordered "
            "%(reordered)d, altered %(corrupted)d, reported %(reported)d\n"
            % all_of)
    assert line in run.out, run.out
    assert run.report["sent_packets"] == 100, run.report


@case
def without_a_bug_everything_is_kept():
    run = planted(None)
    only(run, 0)
    assert run.report["leaked_flits"] == 0 and run.report["drained"]
    for key in ("unrecorded_events", "unrecorded_packets",
                "lost_drop_notices", "unwritten_frames"):
        assert run.report[key] == 0, key


@case
def a_packet_that_a_client_is_given_twice_is_duplicated():
    only(planted("DUPLICATE"), 1, duplicated=1)


@case
def a_packet_that_another_one_overtook_is_reordered():
    only(planted("REORDER"), 1, reordered=1)


@case
def a_packet_that_has_changed_is_altered():
    only(planted("ALTER", args=["--packet-flits", "4"]), 1, corrupted=1)


@case
def a_packet_that_vanishes_is_lost():
    run = planted("LOSE")
    only(run, 1, lost=1)
    assert run.report["delivered_packets"] == 99


@case
def a_report_that_fits_no_packet_is_unaccounted_for():
    run = planted("INEXACT")
    only(run, 1, inexact=1)
    assert "1 packets contradict the counts" in run.out, run.out


@case
def a_flit_that_nobody_gives_back_is_a_leak():
    run = planted("LEAK")
    only(run, 1)
    assert run.report["leaked_flits"] == 1
    assert "1 flit buffers were not given back" in run.out, run.out


@case
def a_fabric_that_does_not_come_to_rest_is_stuck():
    with Box() as box:
        run = box.run(commands="wait up\ninject block e1 0\n"
                      "traffic packets 50\nstart\nwait 50ms\n"
                      "wait drained 1s\nquit\n").check(1)
    assert run.report["drained"] is False
    assert run.report["failed_commands"] == 1
    assert re.search(r"not drained after 1.000 s: \S+ is busy", run.err)
    assert re.search(r"reflit: \S+ is still busy", run.err), run.err
    assert "the fabric did not come to rest" in run.out


@case
def what_an_endpoint_keeps_from_its_client_is_lost():
    run = planted("STUCK")
    run.check(1)
    r = run.report
    assert r["lost_packets"] > 0 and r["drained"], r
    assert r["lost_packets"] + r["delivered_packets"] == 100, r


@case
def tables_that_nobody_has_proven_are_not_installed():
    run = planted("UNPROVEN")
    run.check(2)
    assert "the tables have not passed the checker" in run.err, run.err
    assert run.report is None


@case
def tables_that_lie_deliver_nothing_and_nobody_says_they_did():
    run = planted("LIE", config=NO_RETRY)
    run.check(0)  # all of it is dropped, and reported
    # the last ones may come when it is known that there is no way
    given = {k: run.report[k + "_packets"]
             for k in ("delivered", "reported", "sent", "refused")}
    assert given["delivered"] == 0 < given["sent"], given
    assert given["reported"] == given["sent"], given
    assert given["sent"] + given["refused"] == 100, given
    # a flow begins with its sync alone, which never comes through [EP-7]
    assert sum(run.report["drops"].values()) > 0, run.report["drops"]


def drops_are_reported(lcores, config, clients):
    """What init_action drops is told to its source [RXL-4, DRL-7]."""
    with Box() as box:
        return box.run(eal=["--lcores=" + lcores] + clients(box),
                       config=config + 'link: { init_action = "discard"; };\n',
                       commands="wait up\ntraffic packets 50\n"
                       "link s1-e1 disable\nwait dead s1-e1\nwait 50ms\n"
                       "start\nwait sent\nwait drained\nshow events 5\n"
                       "quit\n")


@case
def a_drop_on_an_lcore_is_told_to_its_source_and_reported():
    placements = ["0@0"]
    if os.cpu_count() > 1:
        placements += ["0@0,1@0,2@1"] + ["0@0,1@1"] * FULL
    for lcores in placements:
        run = drops_are_reported(lcores, NO_RETRY, lambda box: [])
        run.check(0)
        r = run.report
        # e0's packets end at s1; those of e1 do not leave it
        assert r["reported_packets"] > 0 and r["lost_packets"] == 0, r
        assert r["reported_packets"] + r["delivered_packets"] == 100
        # a flow begins with its sync alone, which never comes through [EP-7]
        assert sum(r["drops"].values()) > 0, r
        # and the events say so, by name
        drops = [e for e in r["events"] if e["kind"] == "drop"]
        assert any(e["source"] == "e0" and e["destination"] == "e1" and
                   e["why"] == "init" for e in drops), drops[:3]
        reports = [e for e in r["events"] if e["kind"] == "report"]
        assert len(reports) >= r["reported_packets"], reports[:3]
        assert any("gave up packet" in e["text"] and " of e0 to e1" in
                   e["text"] for e in reports), reports[:3]


@case
def what_is_reported_is_what_was_dropped_packet_by_packet():
    # flows are open before the link goes, and nothing comes through behind
    # what is dropped: only the notices tell
    config = NO_RETRY + 'link: { init_action = "discard"; };\n'
    commands = ("wait up\ntraffic packets 50\nstart\nwait sent\n"
                "wait drained\nlink s1-e1 disable\n"
                "wait dead s1-e1\nwait 50ms\ntraffic packets 100\nstart\n"
                "wait sent\nwait drained\nquit\n")
    run = planted(None, config, commands)
    run.check(0)
    assert numbers(run) == dict(lost=0, duplicated=0, reordered=0,
                                corrupted=0, reported=200, inexact=0)
    assert run.report["delivered_packets"] == 100, run.report
    named = {kind: sorted((e["source"], e["destination"], e["tag"])
                          for e in run.report["events"] if e["kind"] == kind)
             for kind in ("drop", "report")}
    assert len(named["drop"]) == 200, len(named["drop"])
    # each once, though each of its flits brings a notice
    assert named["report"] == named["drop"], (
        len(named["report"]), set(named["report"]) ^ set(named["drop"]))


@case
def drops_of_frames_are_reported_too():
    attach = ('attach = ( { endpoint = "e0"; port = "net_pcap0"; '
              'dst = "e1"; } );\n')
    pcap = os.path.join(reflit_test.ROOT, "config", "demo.pcap")
    run = drops_are_reported("0@0", NO_RETRY + attach, lambda box: [
        "--vdev=net_pcap0,rx_pcap=%s,tx_pcap=%s" % (pcap, box.path("o"))])
    run.check(0)
    r = run.report
    assert r["reported_packets"] == r["sent_packets"] > 0, r
    assert r["lost_packets"] == r["delivered_packets"] == 0, r


@case
def a_log_that_overflows_is_said_and_no_report_becomes_a_loss():
    config = NO_RETRY + 'link: { init_action = "discard"; };\n'
    commands = ("wait up\ntraffic packets 50\nlink s1-e1 disable\n"
                "wait dead s1-e1\nwait 50ms\nstart\nwait sent\n"
                "wait drained\nlink s1-e1 enable\nwait up\nquit\n")
    run = planted("LOG", config, commands)
    run.check(1)
    r = run.report
    assert r["reported_packets"] > 0 and r["lost_packets"] == 0, r
    assert r["unrecorded_events"] > 0 and r["unrecorded_packets"] > 0, r
    assert "events were not recorded" in run.out, run.out


@case
def a_source_that_is_not_told_of_a_drop_is_said():
    config = NO_RETRY + 'link: { init_action = "discard"; };\n'
    # flows are open before the link goes: a packet has a flit a notice
    commands = ("wait up\ntraffic packets 50\nstart\nwait sent\n"
                "wait drained\nlink s1-e1 disable\n"
                "wait dead s1-e1\nwait 50ms\ntraffic packets 100\nstart\n"
                "wait sent\nwait drained\nquit\n")
    run = planted("NOTICES", config, commands, args=["--packet-flits", "8"])
    run.check(1)
    r = run.report
    assert r["lost_drop_notices"] > 0, r
    assert "not reported to their senders" in run.out, run.out


@case
def times_and_hops_are_those_of_the_run():
    commands = ("wait up\nstart\nwait 100ms\nlink s0-s1#%d one-way s0 "
                "mid-packet\nwait dead s0-s1#%d\nwait 50ms\nlink s0-s1#%d "
                "up\nwait up\nstop\nwait drained\nquit\n")
    config = FIGURE1 + "link: { flits_per_frame = 1; };\n"
    k = reflit_test.carrier(config)
    with Box() as box:
        run = box.run(["--load", "0.2", "--packet-flits", "8"], config=config,
                      commands=commands % (k, k, k)).check_clean()
    r = run.report
    # a packet of 8 flits crosses three links
    assert r["flit_hops"] >= 24 * r["delivered_packets"], r["flit_hops"]
    assert 150e6 < r["elapsed_ns"] < 120e9, r["elapsed_ns"]
    assert "in %.3f s" % (r["elapsed_ns"] / 1e9) in run.out
    f = [f for f in r["failovers"] if f["looped_packets"] > 0]
    assert f, r["failovers"]
    for x in f:
        assert 100e6 < x["at_ns"] < r["elapsed_ns"], x
        assert 0 < x["detect_ns"] and 0 < x["first_rerouted_ns"], x
        assert 0 < x["drained_ns"], x
        assert x["looped_flits"] >= x["looped_packets"], x
    # by link and by endpoint, and what happened
    ends = [e for link in r["links"] for e in link["ends"]]
    assert sorted(link["link"] for link in r["links"]) == [
        "e0-s0", "s0-s1#0", "s0-s1#1", "s1-e1"]
    for key, total in r["port_counters"].items():
        assert total == sum(e["counters"].get(key, 0) for e in ends), key
    assert all(e["state"] == "UP" for e in ends)
    assert [e["endpoint"] for e in r["endpoints"]] == ["e0", "e1"]
    assert [s["switch"] for s in r["switches"]] == ["s0", "s1"]
    for key, total in r["endpoint_counters"].items():
        assert total == sum(e["counters"].get(key, 0)
                            for e in r["endpoints"]), key
    dead = [e for e in r["events"] if e["kind"] == "link" and
            "dead" in e["text"]]
    assert {e["device"] for e in dead} == {"s0", "s1"}, dead
    assert all(e["link"] == "s0-s1#%d" % k for e in dead), dead
    assert [e["at_ns"] for e in dead] == sorted(e["at_ns"] for e in dead)


@case
def a_run_that_delivers_nothing_is_no_success():
    """Both ways are cut: what was sent is given up, the rest refused."""
    commands = ("wait up\nlink s0-s1#0 down\nlink s0-s1#1 down\n"
                "wait dead s0-s1#0\nwait dead s0-s1#1\n"
                "start\nwait 2s\nshow traffic\nstop\nwait drained\nquit\n")
    with Box() as box:
        run = box.run(commands=commands).check(0)
    r = run.report
    assert r["delivered_packets"] == r["lost_packets"] == 0, run.out
    assert r["sent_packets"] == r["reported_packets"], run.out
    assert r["refused_packets"] > 0, run.out
    assert run.out.strip().split("\n")[-1].startswith(
        "this run is no success: "), run.out
    # the same while it ran
    seen = re.search(r"^sent (\d+)  delivered 0  reported (\d+)  under way or "
                     r"lost (\d+)\n.*not sent: refused (\d+)$", run.out, re.M)
    assert seen, run.out
    sent, reported, rest, refused = (int(n) for n in seen.groups())
    assert sent == reported + rest and refused > 0, run.out


@case
def a_duration_starts_traffic_also_after_a_command_file():
    with Box() as box:
        run = box.run(["--duration", "200ms", "--load", "0.1"],
                      commands="wait up\n").check_clean()
        assert 200e6 <= run.report["elapsed_ns"], run.report
        # a file that has started traffic is not overruled
        run = box.run(["--duration", "300ms"], commands="wait up\ntraffic "
                      "packets 10\nstart\nwait sent\nstop\n").check_clean()
        assert run.report["sent_packets"] == 20, run.report
        # nor one that quits; nobody asked for traffic
        run = box.run(["--duration", "300ms"],
                      commands="wait up\nquit\n").check(0)
        assert run.report["sent_packets"] == 0, run.report


@case
def an_order_to_a_crashed_endpoint_waits_and_keeps_nobody_waiting():
    commands = ("wait up\ntraffic load 0.05\n%s\nwait 300ms\nshow traffic\n"
                "stop\nwait drained\ndevice e0 restart\nwait up\nwait 100ms\n"
                "quit\n")
    with Box() as box:
        for order in ("start\nwait 20ms\ndevice e0 crash\nstop\nstart",
                      "device e0 crash\nstart\nstop\nstart",
                      "device e0 crash\nstart e0\nstop e0\nstart e1"):
            run = box.run(commands=commands % order)
            assert "does not answer" not in run.err, run.err
            r = run.report
            assert r["drained"] and r["failed_commands"] == 0, run.err
            assert r["lost_packets"] == 0, run.out
            # the last order was to stop
            assert r["endpoints"][0]["endpoint"] == "e0"
            # e1 was told to send, and did
            assert r["sent_packets"] + r["refused_packets"] > 0, run.out


@case
def wait_sent_returns_when_all_is_sent_and_not_before():
    rounds = 120
    commands = ("wait up\ntraffic packets 500\n" +
                "start e0\nwait sent\nshow traffic\n" * rounds +
                "wait drained\nquit\n")
    with Box() as box:
        run = box.run(["--idle-sleep", "0us"], commands=commands)
    run.check_clean()
    sent = [int(n) for n in re.findall(r"^sent (\d+) ", run.out, re.M)]
    assert sent[:rounds] == [500 * (i + 1) for i in range(rounds)], sent


@case
def ports_say_what_they_did_not_take():
    with Box() as box:
        run = box.run(eal=["--lcores=0@0", "--vdev=net_null0,no-rx=1"],
                      config=FIGURE1 + 'attach = ( { endpoint = "e0"; '
                      'port = "net_null0"; dst = "e1"; } );\n',
                      commands="start\nwait 50ms\nquit\n").check(0)
    # an idle port is no failure: nobody gave it anything to send
    assert run.report["edge"] == dict(refused=0, missed=0, cut=0, oversize=0,
                                      filtered=0)
    assert "not taken at the edge 0: refused 0, missed 0" in run.out, run.out


main()
