#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit-report over reports made by hand: what it adds up, what it holds
against what, and which verdict that gives [APP-4].

usage: test_report.py REFLIT_REPORT SOURCE_ROOT
"""
import json
import os
import re
import subprocess

from by_hand import (COUNTS, REPORT, digest, judge, report, sink, source,
                     verdict)
from reflit_test import Box, case, main


@case
def what_processes_counted_is_added_up():
    a = report("a", sent_packets=10, delivered_packets=8, reported_packets=2,
               elapsed_ns=9, outage_ns=4, flit_hops=100,
               failovers=[{"link": "s0-s1"}], wires=[{"link": "x"}])
    b = report("b", sent_packets=3, delivered_packets=3, outage_ns=7,
               flit_hops=11,
               failovers=[{"link": "s2-s3"}])
    m, out = judge(0, a, b)
    assert (m["sent_packets"], m["delivered_packets"],
            m["reported_packets"]) == (13, 11, 2), m
    assert m["elapsed_ns"] == 9 and m["flit_hops"] == 111, m
    assert m["outage_ns"] == 7, m
    assert m["failovers"] == [{"link": "s0-s1", "process": "a"},
                              {"link": "s2-s3", "process": "b"}], m
    assert m["wires"] == [{"link": "x", "process": "a"}], m
    assert m["program"] == "reflit-report", m
    assert "2 reports" in out and "sent 13 packets, delivered 11" in out, out


@case
def each_count_of_each_report_is_added_to_its_own_sum():
    keys = [k + "_packets" for k in COUNTS + ("refused",)]
    edges = ("refused", "missed", "cut", "oversize", "filtered")
    lists = ("failovers", "unreachable", "attached", "wires", "alarms")
    a, b = (report(name, processes=["a", "b", "c", "d"],
                   edge={k: by * (50 + i) for i, k in enumerate(edges)},
                   channel=dict(outages=by, away_ns=by * 1100000000),
                   **{k: by * (3 + i) for i, k in enumerate(keys)},
                   **{k: [{"is": k + name}] for k in lists})
            for name, by in (("a", 1), ("b", 100)))
    a["flows"] = [source((5, 10), unlisted=4),
                  dict(sink((7, 9), unlisted=5), source="e7")]
    m, out = judge(1, a, b)
    assert {k: m[k] for k in keys} == {
        k: 101 * (3 + i)
        for i, k in enumerate(keys)}, m
    assert m["edge"] == {k: 101 * (50 + i) for i, k in enumerate(edges)}, m
    for k in lists:
        assert m[k] == [{"is": k + n, "process": n} for n in "ab"], (k, m)
    assert [(c["process"], c["outages"], c["away_ns"]) for c in m["channels"]
            ] == [("a", 1, 1100000000), ("b", 100, 110000000000)], m
    assert (m["unlisted_packets"], m["unproven_packets"],
            m["unaccounted_packets"], m["missing_reports"]) == (
                9, 12, 12, 2), m
    assert sorted(out.splitlines()) == sorted("""\
2 reports, 1 flows between processes
sent 303 packets, delivered 404
lost 505, duplicated 606, reordered 707, altered 808, reported 909
refused 1010: not sent, because there was no path
not taken at the edge 20806: refused 5050, missed 5151, cut 5252, oversize 5353
unproven 12: on their way to or from a process that was killed, or has left no \
ledger
unaccounted for 12 of these: a half of their flow is in no file given; give \
the reports and ledgers of all
9 events were not written down: there is no proof
process a: etcd did not answer 1 times, 1.1 s in all
process b: etcd did not answer 100 times, 110.0 s in all
this run is no success: most of what was sent was given up
reflit-report: process c has left no report
reflit-report: process d has left no report
""".splitlines()), out


@case
def what_the_edge_did_not_take_is_said_and_added_up():
    edge = dict(refused=5, missed=7, cut=0, oversize=1, filtered=3)
    none = dict.fromkeys(edge, 0)
    m, out = judge(0, report("a", edge=edge, refused_packets=4,
                             sent_packets=9, delivered_packets=9),
                   report("b", edge=dict(none, cut=2)))
    assert m["edge"] == dict(refused=5, missed=7, cut=2, oversize=1,
                             filtered=3), m
    assert m["refused_packets"] == 4, m
    assert ("not taken at the edge 15: refused 5, missed 7, cut 2, oversize 1"
            in out), out
    assert "refused 4: not sent" in out, out
    # ports that took all say so; without a port there is nothing to say
    _, out = judge(0, report("a", edge=none, attached=[{"port": "x"}]),
                   report("b"))
    assert "not taken at the edge 0: " in out, out
    _, out = judge(0, report("a"), report("b"))
    assert "edge" not in out and "refused" not in out, out


@case
def a_run_that_gave_up_most_of_what_it_sent_is_no_success():
    m, out = judge(0, report("a", sent_packets=11, delivered_packets=5,
                             reported_packets=6), report("b"))
    assert m["lost_packets"] == 0, m
    assert out.strip().endswith("most of what was sent was given up"), out
    _, out = judge(0, report("a", sent_packets=10, delivered_packets=5,
                             reported_packets=5), report("b"))
    assert "no success" not in out, out


@case
def the_same_report_given_twice_is_refused():
    a, b = report("a", sent_packets=3, delivered_packets=3), report("b")
    for twice in ((a, a, b), (a, b, b), (b, a, b), (a, a)):
        _, out = judge(2, *twice)
        at = [(i, k) for i, r in enumerate(twice) for k in range(i)
              if r is twice[k]]
        assert re.search(r"^reflit-report: \S*/r%d\.json: is the same report "
                         r"as \S*/r%d\.json; give each report once$" % at[0],
                         out, re.M), out
    # by other names, and as another program writes JSON
    with Box() as box:
        one = box.write("one.json", json.dumps(report("a", processes=["a"])))
        files = [box.write("copy", json.dumps(report("a", processes=["a"]),
                                              indent=7)), "two.json"]
        os.symlink(one, box.path("two.json"))
        for other in files:
            p = subprocess.run([REPORT, one, box.path(other)], text=True,
                               capture_output=True, timeout=60, check=False)
            assert p.returncode == 2 and p.stdout == "", p
            assert p.stderr.count("\n") == 1, p.stderr
    # two lives of a process are two reports
    judge(0, a, report("a", sent_packets=3, delivered_packets=3,
                       elapsed_ns=6), b)


@case
def what_one_process_broke_by_itself_breaks_the_whole():
    for key in ("lost", "duplicated", "reordered", "corrupted"):
        m, _ = judge(1, report("a", **{key + "_packets": 3}), report("b"))
        assert m[key + "_packets"] == 3, (key, m)
    for key in ("inexact_packets", "unwritten_frames", "leaked_flits",
                "unrecorded_events", "lost_drop_notices"):
        m, out = judge(1, report("a"), report("b", **{key: 1}))
        assert m["unclean_reports"] == 1, (key, m)
        assert "1 reports are of runs that are unclean" in out, out
        assert "process b: %s: 1\n" % key in out, out
    m, out = judge(1, report("a", drained=False, unwritten_frames=2),
                   report("b"))
    assert m["unclean_reports"] == 1, m
    assert "process a: unwritten_frames: 2, did not come to rest\n" in out, out


@case
def packets_between_processes_are_held_against_each_other():
    verdict(0, source((5, 10)), sink((5, 15)))
    # in pieces, of which one knows of a gap that the other fills
    verdict(0, source((5, 10)), sink((5, 12, (2, 4)), (7, 9), (12, 15)))
    # numbers go round
    verdict(0, source((2**32 - 3, 10)), sink((2**32 - 3, 2**32 + 7)))
    verdict(0, source((2**32 - 3, 10)),
            sink((2**32 - 3, 2**32 + 1), (2**32 + 1, 2**32 + 7)))
    # a later span, which began anew
    verdict(0, source((5, 10), (100, 3)), sink((5, 15), (100, 103)))


@case
def what_no_sink_has_is_lost():
    verdict(1, source((5, 10)), lost=10)
    verdict(1, source((5, 10)), sink((5, 14)), lost=1)
    verdict(1, source((5, 10)), sink((5, 15, (3, 5))), lost=2)
    verdict(1, source((5, 10)), sink((5, 15, (0, 1), (3, 5), (9, 10))), lost=4)
    # another flow's packets do not make it good
    for other in (dict(destination="e2"), dict(source="e2")):
        verdict(1, source((5, 10)), dict(sink((5, 15)), **other), lost=10,
                unproven=10)
    # a run of numbers that were never sent
    verdict(1, source((5, 10)), sink((5, 15), (15, 17)), unproven=2)


@case
def what_was_given_up_openly_is_reported_and_not_lost():
    verdict(0, source((5, 10), reported=(8, 9)), sink((5, 15, (3, 5))),
            reported=2)
    # reported, and yet it came: it was delivered
    verdict(0, source((5, 10), reported=(8,)), sink((5, 15)))
    # one too few
    verdict(1, source((5, 10), reported=(8,)), sink((5, 15, (3, 5))),
            reported=1, lost=1)


@case
def a_packet_that_is_reported_twice_was_given_up_once():
    verdict(0, source((5, 10), reported=(8, 8)), sink((5, 15, (3, 4))),
            reported=1)
    # it makes up for no other flow's loss
    lossy = [dict(f, source="e3") for f in (source((5, 10)), sink((5, 14)))]
    m, _ = judge(1, report("a", [source((5, 10), reported=(8, 8)), lossy[0]]),
                 report("b", [sink((5, 15, (3, 4))), lossy[1]]))
    assert m["lost_packets"] == 1 and m["reported_packets"] == 1, m
    # nor for what died with a process
    dead = dict(report("b", [sink()]), killed=True)
    m, _ = judge(0, report("a", [source((5, 1), reported=(5, 5))]), dead)
    assert m["unproven_packets"] == 0 and m["reported_packets"] == 1, m


@case
def numbers_go_round_more_than_once():
    """A sink begins a run where the numbers of one have grown by 2^31."""
    half, rounds = 2**31, 5
    many = source((5, 0))
    many["spans"][0].update(packets=rounds * half + 9, digest=digest(12))
    runs = sink(*((5, 5),) * (rounds + 1))
    for i, run in enumerate(runs["runs"]):
        first = 5 + i * half
        n = half if i < rounds else 9
        run.update(first=first % 2**32, next=(first + n) % 2**32, packets=n,
                   digest=digest(2))
    # what each of them has not got is missing
    for i in (0, 3, rounds):
        gap = json.loads(json.dumps(runs))
        gap["runs"][i]["missing"] = [[3, 5]]
        verdict(1, many, gap, lost=2)
        # and may be given up: the number alone does not say in which round
        gap["runs"][i]["digest"] = digest(0)
        given_up = 5 + i * half + 3
        verdict(0, dict(many, reported=[[given_up % 2**32, digest(1)],
                                        [given_up % 2**32 + 1, digest(1)]]),
                gap, reported=2)
    # a run that begins late, before the end of the one before
    late = json.loads(json.dumps(runs))
    late["runs"][3]["first"] -= 7
    late["runs"][2]["next"] = (late["runs"][2]["next"] - 7) % 2**32
    verdict(0, many, late)


@case
def what_two_sinks_have_came_twice():
    verdict(1, source((5, 10)), sink((5, 15), (7, 9)), duplicated=2,
            corrupted=1)
    verdict(1, source((5, 10)), sink((5, 12), (9, 15)), duplicated=3,
            corrupted=1)


@case
def another_content_is_seen_by_the_sum_of_digests():
    wrong = sink((5, 15))
    wrong["runs"][0]["digest"] = digest(1)
    verdict(1, source((5, 10)), wrong, corrupted=1)


@case
def nobody_can_tell_what_a_process_took_with_it():
    # the sink began anew after the first span: its run is gone
    verdict(1, source((5, 10), (100, 3)), sink((100, 103)), unproven=10)
    # and a source that left no report
    m, out = judge(1, report("a"), report("b", [sink((5, 15))]))
    assert m["unproven_packets"] == 10 and "unproven 10" in out, (m, out)
    assert m["unaccounted_packets"] == 10, m
    assert "unaccounted for 10 of these: a half of their flow" in out, out


@case
def what_died_with_a_process_is_accounted_for_if_all_its_ledgers_are_there():
    a = report("a", [source((5, 10), (100, 3), (200, 4))])
    b = report("b", [sink((200, 204))])
    lives = [dict(report("b", [f] if f else []), killed=True, flit_hops=i)
             for i, f in enumerate((sink((5, 9)), None))]
    for given, status in (((), 1), (lives[:1], 1), (lives[1:], 1), (lives, 0)):
        m, out = judge(status, a, *given, b)
        assert m["unproven_packets"] == 13 - 4 * (lives[0] in given), (m, out)
        assert (m["unaccounted_packets"] != 0) == status, m
        assert m["lost_packets"] == 0, m
    # of a source that was killed, only what was on its way
    dead = dict(report("a", [source((5, 10))]), killed=True)
    m, _ = judge(0, dead, report("b", [sink((5, 12))]))
    assert m["unproven_packets"] == 3 and m["unaccounted_packets"] == 0, m
    # which is not known if its sink is in no file: a ledger names no others
    ledger = {k: v for k, v in dead.items() if k != "processes"}
    m, _ = judge(1, ledger)
    assert m["unaccounted_packets"] == 10 and m["missing_reports"] == 0, m
    m, _ = judge(0, ledger, dict(report("b"), killed=True))
    assert m["unproven_packets"] == 10 and m["unaccounted_packets"] == 0, m
    # of a sink that was killed, too: what is behind all that it received,
    # in whatever order its runs stand
    a = report("a", [source((5, 20))])
    for runs, lost in ((((12, 16), (5, 12)), 0), (((5, 12), (12, 16)), 0),
                       (((5, 12), (13, 16)), 1)):
        dead = dict(report("b", [sink(*runs)]), killed=True)
        m, _ = judge(int(lost != 0), a, dead)
        assert (m["unproven_packets"], m["lost_packets"]) == (9, lost), m
        assert m["killed"] == ["b"], m
    # a sink that was killed before anything came, and one that came back
    a = report("a", [source((5, 10), reported=(14,))])
    dead = dict(report("b", [sink()]), killed=True)
    m, _ = judge(0, a, dead)
    assert m["unproven_packets"] == 9 and m["lost_packets"] == 0, m
    m, _ = judge(1, a, dead, report("b", [sink()], flit_hops=1))
    assert m["unproven_packets"] == 0 and m["lost_packets"] == 9, m


@case
def what_waited_while_a_peer_began_anew_went_to_the_new_one():
    # 5 to 11 to the one that died; the rest to its successor, over two spans
    verdict(1, source((5, 10), (15, 5)), sink((12, 20)), unproven=7)
    verdict(1, source((5, 10), (15, 5)), sink((12, 19)), unproven=7, lost=1)
    verdict(1, source((5, 10), (15, 5), reported=(6, 19)), sink((12, 19)),
            unproven=6, reported=2)
    # what another flow's sink got says nothing of it
    verdict(1, source((5, 10), (15, 5)), dict(sink((9, 20)), destination="e2"),
            sink((12, 20)), unproven=7 + 11)
    # the numbers of the second do not go on from those of the first
    verdict(1, source((5, 10), (100, 3)), sink((12, 15), (100, 103)),
            unproven=7)


@case
def events_that_were_not_written_down_are_no_proof():
    verdict(1, source((5, 10), unlisted=2), sink((5, 15)), unlisted=2)
    verdict(1, source((5, 10)), sink((5, 15), unlisted=3), unlisted=3)


@case
def a_process_without_a_report_is_named():
    m, out = judge(1, report("a"))
    assert m["missing_reports"] == 1, m
    assert "process b has left no report" in out, out
    # what it got nobody knows: it is not known to be lost
    m, out = judge(1, report("a", [source((5, 10))]))
    assert m["unproven_packets"] == 10 and m["lost_packets"] == 0, m
    assert m["killed"] == [] and m["torn_flows"] == 0, m


@case
def half_a_flow_that_was_being_written_proves_nothing():
    torn = {"source": "e0", "destination": "e1", "end": "sink", "torn": True}
    dead = dict(report("b", [torn]), killed=True)
    m, out = judge(1, report("a", [source((5, 10), reported=(14,))]), dead)
    assert m["unproven_packets"] == 9 and m["reported_packets"] == 1, m
    assert m["torn_flows"] == 1 and m["killed"] == ["b"], m
    assert "1 halves of flows prove nothing" in out, out
    # it is no excuse for what its next life has not got
    m, out = judge(1, report("a", [source((5, 10), (100, 4))]), dead,
                   report("b", [sink((100, 103))]))
    assert m["unproven_packets"] == 10 and m["lost_packets"] == 1, m
    # a source that proves nothing
    dead = dict(report("a", [dict(torn, end="source")]), killed=True)
    m, out = judge(1, dead, report("b", [sink((5, 15))]))
    assert m["unproven_packets"] == 10, m


@case
def a_gap_is_no_longer_than_its_run():
    verdict(1, source((5, 10)), sink((5, 7, (20, 30))), lost=8)


@case
def a_link_that_two_processes_blame_is_one_suspect():
    def suspect(part, kind, count, looked):
        return dict(part=part, kind=kind, count=count, looked_flits=looked,
                    confidence_percent=50)

    m, _ = judge(0, report("a", suspects=[suspect("s0", "device", 5, 50),
                                          suspect("s0-s1", "link", 4, 40)]),
                 report("b", suspects=[suspect("s0-s1", "link", 3, 30)]))
    assert m["suspects"] == [
        dict(suspect("s0-s1", "link", 7, 70), confidence_percent=57),
        dict(suspect("s0", "device", 5, 50), confidence_percent=42)], m
    # who is blamed by one alone stays, in its place, and the same name of
    # another kind is another
    m, _ = judge(0, report("a", suspects=[suspect("x", "link", 1, 5)]),
                 report("b", suspects=[suspect("x", "device", 6, 60),
                                       suspect("y", "link", 4, 2)]),
                 report("b", suspects=[suspect("y", "link", 9, 3)]))
    assert [(s["part"], s["kind"], s["count"], s["looked_flits"],
             s["confidence_percent"]) for s in m["suspects"]] == [
                 ("y", "link", 13, 5, 63), ("x", "device", 6, 60, 31),
                 ("x", "link", 1, 5, 9)], m
    # of two that are as bad the one that was named first comes first
    for names in ("yx", "xy", "xyzw"):
        m, _ = judge(0, report("a", suspects=[suspect(n, "link", 4, 5)
                                              for n in names]), report("b"))
        assert "".join(s["part"] for s in m["suspects"]) == names, m
    assert judge(0, report("a"), report("b"))[0]["suspects"] == []


@case
def recoveries_stand_in_the_order_of_their_epochs_and_outages_are_said():
    """One controller after the other, and clocks of each process."""
    def rec(*epochs):
        return [{"epoch": e, "at_ns": 1000 - e} for e in epochs]

    m, out = judge(0, report("a", recoveries=rec(1, 2, 7)),
                   report("b", recoveries=rec(3, 5),
                          channel=dict(outages=2, away_ns=1500000000)))
    assert [(r["epoch"], r["process"]) for r in m["recoveries"]] == [
        (1, "a"), (2, "a"), (3, "b"), (5, "b"), (7, "a")], m["recoveries"]
    assert {c["process"]: c["outages"] for c in m["channels"]} == \
        {"a": 0, "b": 2}, m["channels"]
    assert "process b: etcd did not answer 2 times, 1.5 s in all" in out, out
    assert "process a: etcd" not in out, out


@case
def counts_beyond_what_a_report_holds_are_its_largest():
    most = 2**63 - 1
    big = dict(flit_hops=most, sent_packets=most, edge=dict(cut=most),
               suspects=[dict(part="x", kind="link", count=most)])
    m, _ = judge(0, report("a", **big), report("b", **big))
    assert m["flit_hops"] == m["sent_packets"] == m["edge"]["cut"] == most
    assert m["suspects"][0]["count"] == most, m


main()
