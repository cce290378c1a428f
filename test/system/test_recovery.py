#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The resiliency controller on lcores: lasting failures, crashes, planned
changes, steps by hand [RES-1..4, DRL-11, EP-6]."""
import json
import os

from reflit_test import FIGURE1, ROOT, Box, case, main

with open(os.path.join(ROOT, "config/recovery.cfg"), encoding="utf-8") as f:
    TORUS = f.read()
# what waits may be: any machine, however busy, gets there
LONG = "60s"


def script(*lines):
    return "\n".join(["wait up", "traffic load 0.001", "start", "wait 50ms",
                      *lines, "stop", "wait drained 60s", "quit", ""])


def recover(box, *lines, config=TORUS, eal=(), status=0):
    run = box.run(config=config, commands=script(*lines), eal=eal,
                  timeout=280)
    run.check(status)
    r = run.report
    for key in ("lost", "duplicated", "reordered", "corrupted"):
        assert r[key + "_packets"] == 0, (key, run.out)
    assert r["sent_packets"] == (r["delivered_packets"]
                                 + r["reported_packets"])
    assert r["delivered_packets"] > 0
    return run


def done(report, *causes):
    found = [r for r in report["recoveries"] if r["outcome"] == "done"
             and any(c in r["cause"] for c in causes)]
    assert found, json.dumps(report["recoveries"], indent=1)
    return found[-1]


@case
def the_story_of_the_demonstration_loses_nothing():
    with Box() as box:
        with open(os.path.join(ROOT, "config/recovery.cmd"),
                  encoding="utf-8") as cmds:
            text = cmds.read().replace("wait recovered\n",
                                       "wait recovered %s\n" % LONG)
        run = box.run(config=TORUS, commands=text, timeout=280)
        run.check(0)
        r = run.report
        for key in ("lost", "duplicated", "reordered", "corrupted"):
            assert r[key + "_packets"] == 0, key
        assert r["recoveries"], run.out
        for key in ("epoch", "cause", "at_ns", "detect_ns", "compute_ns",
                    "prove_ns", "mode", "held_flows", "quiesce_ns",
                    "install_ns", "unquiesce_ns", "paused_ns", "outcome"):
            assert all(key in rec for rec in r["recoveries"]), key
        assert "e2.2" in [u["endpoint"] for u in r["unreachable"]]


@case
def a_link_that_fails_for_good_costs_nobody_anything():
    with Box() as box:
        run = recover(box, "link s0.0-s0.1 down", "wait recovered " + LONG,
                      "wait 100ms")
        assert run.report["reported_packets"] == 0
        assert run.report["unreachable"] == []
        rec = done(run.report, "s0.0-s0.1")
        assert rec["compute_ns"] > 0 and rec["prove_ns"] > 0
        assert rec["install_ns"] > 0


@case
def one_lcore_recovers_as_two_do():
    with Box() as box:
        run = recover(box, "link s0.0-s0.1 down", "wait recovered " + LONG,
                      "wait 50ms", eal=("-l", "0"))
        done(run.report, "s0.0-s0.1")


@case
def a_switch_that_crashes_is_routed_around_and_comes_back():
    with Box() as box:
        run = recover(box, "device s1.1 crash", "wait recovered " + LONG,
                      "wait 100ms", "device s1.1 restart",
                      "wait recovered " + LONG, "wait up", "wait 200ms")
        names = [u["endpoint"] for u in run.report["unreachable"]]
        assert names and set(names) == {"e1.1"}, names


@case
def packets_that_a_watchdog_gives_up_are_handed_to_the_controller():
    # [DRL-7]: tables are refused, and detours do not reach everybody; to rest
    # takes as long as packets to whom they do not reach are tried
    soon = TORUS.replace("give_up_ns = 20", "give_up_ns = 3")
    assert soon != TORUS
    with Box() as box:
        run = recover(box, "link s0.0-s0.1 down", "wait recovered " + LONG,
                      "device s1.1 crash", "wait recovered " + LONG,
                      "wait 500ms", "wait recovered " + LONG,
                      config=soon + 'routing: { engine = "torus-2qos"; };\n')
        found = [r["cause"] for r in run.report["recoveries"]]
        assert any("gave up packets" in c for c in found), found


@case
def an_endpoint_that_crashes_is_named_and_comes_back():
    with Box() as box:
        run = recover(box, "device e2.1 crash", "wait recovered " + LONG,
                      "wait 100ms", "link e2.1-s2.1 up",
                      "device e2.1 restart", "wait recovered " + LONG,
                      "wait up 60s", "wait 1s")
        gone = run.report["unreachable"]
        assert {u["endpoint"] for u in gone} == {"e2.1"}, gone
        assert all(u["until_ns"] > u["since_ns"] for u in gone), gone


@case
def links_and_switches_are_taken_out_as_planned_without_a_loss():
    with Box() as box:
        run = recover(box, "link s1.0-s1.1 remove", "wait recovered " + LONG,
                      "wait 50ms", "show port s1.0", "link s1.0-s1.1 add",
                      "wait up 60s", "wait 500ms", "wait recovered " + LONG)
        assert run.report["reported_packets"] == 0
        assert run.report["unreachable"] == []
        done(run.report, "removed")
        # its ports come up first, and may be what is heard first
        done(run.report, "added", "back")


@case
def a_link_that_was_removed_is_not_enabled_but_added():
    with Box() as box:
        run = recover(box, "link s1.0-s1.1 remove", "wait recovered " + LONG,
                      "link s1.0-s1.1 disable", "link s1.0-s1.1 enable",
                      "wait recovered 20s", "show link s1.0-s1.1 json",
                      "link s1.0-s1.1 add", "wait up " + LONG,
                      "show link s1.0-s1.1 json")
        shown = [json.loads(l)["links"][0] for l in run.out.split("\n")
                 if l.startswith("{")]
        assert [(l["admin"], l["oper"]) for l in shown] == [
            ("removed", "down"), ("up", "up")], shown
        assert "bring it back by link s1.0-s1.1 add" in run.out, run.out


@case
def a_link_that_degrades_begins_a_recovery():
    config = TORUS + """
link: { error_window_ns = 300000000000; error_corrected_max = 40;
        error_uncorrectable_max = 1000000; };
"""
    with Box() as box:
        run = recover(box, "inject ber s0.0-s0.1 s0.0 4e-5",
                      "wait dead s0.0-s0.1 60s", "wait recovered " + LONG,
                      "inject ber s0.0-s0.1 s0.0 0", "show controller",
                      config=config)
        assert run.report["reported_packets"] == 0
        assert any("s0.0-s0.1 degraded" in r["cause"]
                   for r in run.report["recoveries"]), run.out


@case
def the_steps_go_by_hand():
    with Box() as box:
        run = recover(box, "quiesce", "wait recovered 5s", "show controller",
                      "reroute", "wait recovered 5s", "unquiesce",
                      "wait recovered " + LONG, "wait 50ms")
        assert run.report["reported_packets"] == 0


@case
def what_is_ordered_in_a_quiesced_fabric_is_waited_for():
    waits = "not recovered after 0.300 s: the controller is quiet, and what"
    for order, names, text in (
            ("link s0.0-s0.1 remove", ["s0.0-s0.1"], "removed"),
            ("device s2.2 remove", ["s1.2-s2.2", "s2.1-s2.2"], "removed")):
        with Box() as box:
            run = box.run(["--load", "0.002"], config=TORUS, commands="\n".join((
                "wait up", "start" if order.startswith("link") else "",
                "wait recovered 20s", "quiesce",
                "wait recovered 20s", order,
                "wait recovered 300ms", "reroute", "wait recovered 300ms",
                "unquiesce", "wait recovered " + LONG, "show link json",
                "quit", ""))).check(2)
        assert [e.split(": ", 1)[1][:len(waits)] for e in run.errors()
                if "commands:" in e] == [waits] * 2, run.err
        links = {l["link"]: l for l in json.loads(
            [l for l in run.out.split("\n") if l.startswith("{")][0])["links"]}
        for name in names:
            l = links.get(name) or links["-".join(name.split("-")[::-1])]
            assert l["admin"] == text and l["oper"] == "down", l
        if order.startswith("link"):
            assert run.report["reported_packets"] == 0, run.out


@case
def what_is_added_is_in_use_after_the_wait():
    with Box() as box:
        run = recover(box, *(line for what in ("link s1.0-s1.1", "device s3.1")
                             for line in (what + " remove",
                                          "wait recovered " + LONG,
                                          what + " add",
                                          "wait recovered " + LONG,
                                          "show link json")))
        for text in run.out.split("\n"):
            if text.startswith('{"links"'):
                for l in json.loads(text)["links"]:
                    assert (l["admin"], l["oper"]) == ("up", "up"), l
        # of each order one that ended before the next was given
        causes = [r["cause"] for r in run.report["recoveries"]
                  if r["outcome"] == "done"]
        for what in ("link s1.0-s1.1", "device s3.1"):
            assert any(what + " removed" in c for c in causes), causes
        assert len(causes) >= 4, causes


@case
def while_requests_stop_responses_go_on():
    """[RES-1] Every packet asks for a response; each kind has its own VCs. The
    run ends quiesced: what was asked has been answered all the same."""
    config = FIGURE1 + """routing: { levels = 4; };
controller: { answer_ns = 500000000L; quiesce_ns = 8000000000L;
  lease_ns = 6000000000L; };
"""
    with Box() as box:
        run = box.run(["--classes", "kind", "--requests", "0.8", "--load",
                       "2", "--packet-flits", "4"], config=config,
                      commands="wait up\nstart\nwait 100ms\nquiesce\n"
                      "wait recovered 30s\nshow flow\nwait 100ms\n"
                      "show flow\nshow controller\nstop\nquit\n").check(0)
    r = run.report
    tables = [[f.split()[:5] for f in part.split("\n")]
              for part in run.out.split("endpoint ")[1:]]
    assert len(tables) == 2 and "phase quiet" in run.out, run.out
    assert [f for f in tables[0] if f and f[0] in ("e0", "e1")] == [
        f for f in tables[1] if f and f[0] in ("e0", "e1")], run.out
    asked = r["sent_requests"]
    assert asked > 0 and r["delivered_requests"] == asked, r
    assert r["sent_responses"] == r["delivered_responses"] == asked, r
    assert [v["packets"] for v in r["latency_by_vc"]] == [
        r["sent_packets"] - 2 * asked, asked, asked], r["latency_by_vc"]


@case
def a_controller_that_crashed_learns_how_things_stand():
    with Box() as box:
        run = recover(box, "controller crash", "link s0.0-s0.1 down",
                      "wait dead s0.0-s0.1", "wait 50ms",
                      "controller restart", "wait recovered " + LONG,
                      "wait 50ms")
        assert run.report["reported_packets"] == 0
        assert run.report["recoveries"]


@case
def without_a_controller_detours_serve():
    config = TORUS.replace("controller: {", 'controller: {\n\tmode = "off";')
    with Box() as box:
        run = recover(box, "link s0.0-s0.1 down", "wait recovered",
                      "wait 100ms", "show controller", config=config)
        assert run.report["recoveries"] == []
        assert run.report["reported_packets"] == 0


@case
def an_order_that_fails_later_is_told_where_it_was_given():
    # tables are refused: a ring is cut already
    config = TORUS + 'routing: { engine = "torus-2qos"; };\n'
    def run(box, *orders):
        return box.run(config=config, timeout=120, commands="\n".join((
            "wait up", "link s0.0-s0.1 down", "wait recovered " + LONG,
            *(line for o in orders for line in (o, "wait recovered " + LONG)),
            "show events 100", "quit", "")))

    orders = ("device s0.2 remove", "link s0.2-s0.3 remove")
    with Box() as box:
        refused = run(box, *orders).check(2)
        for error, order in zip(refused.errors(), orders):
            # by `wait recovered`, with its line, and among the events
            text = order + ": refused: "
            assert ":%d: %s" % (5 + 2 * orders.index(order), text) in error, \
                refused.err
            assert text in refused.out, refused.out
            assert "stays in use" in error, error
        assert refused.report["failed_commands"] == 2, refused.err
        assert "reroute" not in run(box, "reroute").err


@case
def an_order_to_a_controller_that_dies_is_told_to_be_lost():
    with Box() as box:
        run = box.run(config=TORUS, timeout=120, commands="\n".join((
            "wait up", "link s1.1-s1.2 remove", "controller crash", "wait 1ms",
            "quit", "")))
        run.check(0)
        assert "link s1.1-s1.2 remove: not done: the controller" in run.err
        # a successor that comes at once does not know of it, either
        run = box.run(config=TORUS, timeout=120, commands="\n".join((
            "wait up", "link s1.1-s1.2 remove", "controller crash",
            "controller restart", "wait recovered " + LONG, "quit", "")))
        run.check(2)
        assert "link s1.1-s1.2 remove: not done: the controller" in run.err


@case
def wrong_orders_say_what_is_wrong():
    rows = (("device s0.0 restart", "has not crashed"),
            ("device s0.0 add", "is not removed"),
            ("link s0.0-s0.1 add", "is not removed"),
            ("controller restart", "has not crashed"),
            ("unquiesce", "not quiesced"))
    with Box() as box:
        # a controller takes an order for what it has not heard of yet
        run = box.run(config=TORUS, commands="wait up\nwait recovered 60s\n" +
                      "".join(line + "\n" for line, _ in rows) + "quit\n")
        run.check(2)
        assert len(run.errors()) == len(rows), run.err
        for (line, text), error in zip(rows, run.errors()):
            assert text in error, (line, error)
        # these are known to be wrong before anything starts
        errors = box.run(config=TORUS, commands="device s9.9 crash\n"
                         "wait recovered 5\n").check(2).errors()
        assert len(errors) == 2 and "time" in errors[1], errors
        assert "no device s9.9" in errors[0], errors


main()
