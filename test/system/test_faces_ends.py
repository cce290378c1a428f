#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What test_faces.py does for ports and flows, for ethdevs: the ends of a wire
and attached ports, whose numbers are those of plant_ends.c. Alarms, events and
lcores are what happened, in the same words and at the same times on every face
[APP-1] [APP-2] [APP-8].

usage: test_faces_ends.py REFLIT_PLANTS PCAP_SAME SOURCE_ROOT REFLIT_VIEW
"""
import json
import os
import re

import openmetrics
from reflit_test import FIGURE1, Box, case, main
from shown import Shown, fetch, listed, until

CONFIG = FIGURE1 + """
controller: { mode = "off"; };
attach = ( { endpoint = "e0"; port = "net_null0"; dst = "e1"; },
           { endpoint = "e1"; port = "net_null1"; dst = "e0"; } );
wires = ( { link = "s0-s1#1"; a = "net_null2"; b = "net_null3"; } );
"""
EAL = ["--vdev=net_null%d,no-rx=1" % i for i in range(4)]
LIVE = 1000000
WIRES, PORTS = {"net_null2": 1, "net_null3": 2}, {"net_null0": 11,
                                                  "net_null1": 12}


def planted(k, *lists):
    """{list.name: number} of the k-th end."""
    names = ["%s.%s" % (of, name) for of in lists for name in listed(
        "test/system/plant_ends.c", of + "_FACTS")]
    return {name: (7000000 + k * 1000 + n) * (LIVE if name[:3] == "PHY" else 1)
            for n, name in enumerate(names, 1)}


# the names that reports give them
WIRE_NAMES = {
    "rx_missed": "STATS.missed", "rx_errors": "STATS.rx_errors",
    "rx_no_mbuf": "STATS.no_mbuf", "tx_errors": "STATS.tx_errors",
    "rx_discarded": "STATS.discarded", "tx_frames": "PHY.tx_frames",
    "tx_backpressure": "PHY.tx_backpressure", "tx_no_mbuf": "PHY.tx_no_mbuf",
    "rx_frames": "PHY.rx_frames", "rx_bounced": "PHY.rx_bounced",
    "rx_oversize": "PHY.rx_oversize"}
NOT_SHOWN = {"PHY.tx_bytes"}  # `show rates` divides it by a time
PORT_NAMES = {
    "rx_missed": "STATS.missed", "rx_errors": "STATS.rx_errors",
    "rx_no_mbuf": "STATS.no_mbuf", "tx_errors": "STATS.tx_errors",
    "rx_discarded": "STATS.discarded",
    **{k: "CLIENT." + k for k in (
        "rx_frames", "rx_oversize", "rx_refused", "rx_stalled", "rx_cut",
        "rx_nested", "tx_frames", "tx_too_long", "tx_not_taken",
        "tx_no_mbuf")}, "rx_checksums_completed": "CLIENT.rx_completed"}
PIECE = 127  # letters of a line that telemetry has at a time
MIRRORED = 119  # letters of an event, or of a reason, that it has at all
SHOWN = ("wires", "traffic", "lcores", "alarms", "events 1000")


def joined(pieces):
    """Whole lines, none of which is as long as a piece."""
    lines = [""]
    for piece in pieces:
        lines[-1] += piece
        if len(piece) < PIECE:
            lines.append("")
    return lines[:-1]


class All:
    """What each face said of one run."""
    one = None

    def __init__(self):
        os.environ["REFLIT_PLANT"] = "ENDS"
        with Box() as box, Shown(box, CONFIG, reflit=("--allow-orders",),
                                 eal=EAL) as shown:
            ask = shown.ask
            until(lambda: ask("links")["state"].count("UP") == 3)
            until(lambda: ask("traffic")["edge_cut_frames"] > 0)
            status, answer = shown.order("link s0-s1#0 down")
            assert status == 200 and answer["result"] == 0, answer
            until(lambda: ask("failovers")["total"] == 2)
            until(lambda: len({a for a in ask("alarms")["where"]
                               if a[:10] == "link s0-s1"}) == 2)
            self.before = ask("lcores")
            self.text = {line: joined(shown.show(line)) for line in SHOWN}
            self.json = {line: json.loads("".join(shown.show(line + " json")))
                         for line in SHOWN}
            self.tel = {what: ask(what) for what in (
                "traffic", "lcores", "alarms", "events")}
            status, body, _ = fetch(shown.url + "/metrics")
            assert status == 200
            self.metrics = openmetrics.families(body.decode())
            shown.reflit.terminate()
            self.end = shown.reflit.communicate(timeout=60)[0]
            with open(box.path("report.json"), encoding="utf-8") as f:
                self.report = json.load(f)

    def metric(self, name):
        """{labels: value}, without who says so."""
        return {tuple(x for x in labels if x[0] not in (
            "fabric", "process", "socket")): n
            for (_, labels), n in self.metrics["reflit_" + name].samples
            .items()}


def whole():
    if All.one is None:
        All.one = All()
    return All.one


def rows_of(answer):
    """Telemetry's columns as rows."""
    columns = {k: v for k, v in answer.items() if isinstance(v, list)}
    return [dict(zip(columns, r)) for r in zip(*columns.values())]


@case
def the_end_of_a_wire_is_the_same_on_every_face():
    t = whole()
    rows = {r["port"]: r for r in t.json["wires"]["wires"]}
    said = {r["port"]: r for r in t.report["wires"]}
    assert set(rows) == set(said) == set(WIRES)
    lines = {line.split()[2]: line.split() for line in t.text["wires"][1:]}
    for name, k in WIRES.items():
        of = planted(k, "STATS", "PHY")
        assert {*WIRE_NAMES.values(), *NOT_SHOWN} == set(of)
        steered = [7000900 + 1000 * k + v for v in range(3)]
        dropped = sum(of["STATS." + n] for n in ("missed", "rx_errors",
                                                 "no_mbuf"))
        want = {
            "link": "s0-s1#1", "device": "s%d" % (k - 1), "port": name,
            "interface": "", "driver": "net_null", "rx_queues": 1,
            "keyed": False, "rx_auth_errors": 0, "rx_dropped": dropped,
            "steered": dict(zip(("flit", "kernel", "nobody"), steered))}
        for row in (rows[name], said[name]):
            row = dict(row)
            assert 1000 < row.pop("frame_bytes") < 10000, row
            row.pop("refused", None)
            for key, of_it in WIRE_NAMES.items():
                n = row.pop(key)
                live = LIVE - 1 if of_it[:3] == "PHY" else 0
                assert of[of_it] <= n <= of[of_it] + live, (name, key, n)
            assert row == want, row
        # what was sent since is not in it
        said_in_text = [str(int(w) // LIVE * LIVE) if len(w) > 9 else w
                        for w in lines[name]]
        assert said_in_text == [
            "s0-s1#1", want["device"], name, "-", said_in_text[4], "1",
            *map(str, (of["PHY.tx_frames"], of["PHY.rx_frames"], dropped,
                       *steered))], lines[name]
        for n, what in ((dropped, "its driver dropped %d frames"),
                        (of["STATS.tx_errors"],
                         "%d frames could not be written"),
                        (steered[0], "%d frames of flits;"),
                        (steered[1], "the kernel kept %d others"),
                        (steered[2], "%d frames of flits came by a queue")):
            assert re.search(r"^%s: .*%s" % (name, what % n), t.end,
                             re.MULTILINE), (name, what % n)


@case
def an_attached_port_is_the_same_on_every_face():
    t = whole()
    rows = {r["port"]: r for r in t.json["traffic"]["attached"]}
    said = {r["port"]: r for r in t.report["attached"]}
    assert set(rows) == set(said) == set(PORTS)
    for name, k in PORTS.items():
        of = planted(k, "STATS", "CLIENT")
        assert set(PORT_NAMES.values()) == set(of)
        end = "e%d" % (k - 11)
        assert said[name] == {
            "port": name, "endpoint": end, "driver": "net_null",
            "rx_queues": 1, "truncated": False,
            **{key: of[o] for key, o in PORT_NAMES.items()}}, said[name]
        missed = sum(of["STATS." + n] for n in ("missed", "rx_errors",
                                                "no_mbuf"))
        want = {"port": name, "endpoint": end, "rx_queues": 1,
                "rx_missed": missed, **{key: of["CLIENT." + key] for key in (
                    "rx_frames", "rx_oversize", "rx_cut", "rx_refused",
                    "tx_frames")},
                "tx_failed": sum(of[o] for o in (
                    "STATS.tx_errors", "CLIENT.tx_too_long",
                    "CLIENT.tx_not_taken"))}
        assert rows[name] == want, rows[name]
        assert ("  {port} at {endpoint}: read {rx_frames}, not taken: too long "
                "{rx_oversize}, cut short {rx_cut}, refused {rx_refused}, "
                "missed {rx_missed}; written {tx_frames}, not written "
                "{tx_failed}".format(**want)) in t.text["traffic"], \
            t.text["traffic"]
        for o in ("STATS.missed", "STATS.rx_errors", "STATS.no_mbuf",
                  "STATS.tx_errors", "CLIENT.rx_cut", "CLIENT.rx_nested",
                  "CLIENT.rx_oversize", "CLIENT.rx_refused",
                  "CLIENT.rx_stalled", "CLIENT.rx_completed",
                  "CLIENT.tx_too_long", "CLIENT.tx_not_taken"):
            assert re.search(r"^%s: %d (frames|or copies)" % (name, of[o]),
                             t.end, re.MULTILINE), (name, o, t.end)


@case
def what_the_edge_did_not_take_is_a_sum_of_all_ports():
    t = whole()
    ends = [planted(k, "STATS", "CLIENT") for k in PORTS.values()]
    parts = {"refused": ("CLIENT.rx_refused", "CLIENT.rx_nested",
                         "CLIENT.rx_stalled"),
             "missed": ("STATS.missed", "STATS.rx_errors", "STATS.no_mbuf"),
             "cut": ("CLIENT.rx_cut",), "oversize": ("CLIENT.rx_oversize",)}
    want = {key: sum(of[o] for of in ends for o in names)
            for key, names in parts.items()}
    assert t.report["edge"] == dict(want, filtered=0), t.report["edge"]
    for key, n in want.items():
        name = "edge_%s_frames" % key
        assert t.tel["traffic"][name] == n, name
        assert t.metric("traffic_" + name) == {(): n}, name
    assert t.report["unwritten_frames"] == sum(
        of["STATS.tx_errors"] + of["CLIENT.tx_not_taken"] for of in ends)
    assert ("not taken at the edge %d: refused {refused}, missed {missed}, cut "
            .format(**want) % sum(want.values())) in t.end, t.end


@case
def an_lcore_is_the_same_on_every_face():
    t = whole()
    before, after = rows_of(t.before), rows_of(t.tel["lcores"])
    shown = t.json["lcores"]["lcores"]
    assert len(before) == len(after) == len(shown) == 1
    a, b, s = before[0], after[0], shown[0]
    # of Figure 1: eight ports, four cores
    assert (a["lcore"], a["ports"], a["cores"]) == (s["lcore"], 8, 4), a
    assert {k: s[k] for k in ("lcore", "ports", "cores")} == \
        {k: b[k] for k in ("lcore", "ports", "cores")}, (s, b)
    assert 0 < a["rounds"] < s["rounds"] < b["rounds"], (a, s, b)
    assert 0 < a["busy_rounds"] <= s["busy_percent"] / 100 * s["rounds"] + 1 \
        and s["busy_percent"] / 100 * s["rounds"] <= b["busy_rounds"] + 1
    m = re.match(r"lcore (\d+).*: 8 ports, 4 cores; (\d+) rounds, ([\d.]+) % "
                 r"of them with work; (\d+) free flits", t.text["lcores"][0])
    assert m and int(m[1]) == a["lcore"], t.text["lcores"]
    assert a["rounds"] < int(m[2]) < s["rounds"], (a, m, s)
    assert int(m[4]) > 0 and s["free_flits"] > 0
    assert t.json["lcores"]["absences"] == int(re.search(
        r"in (\d+) absences", t.text["lcores"][1])[1])


@case
def an_alarm_is_the_same_on_every_face():
    t = whole()
    said = t.json["alarms"]["alarms"]
    assert any(a["where"] == "link s0-s1#1" for a in said), said
    assert rows_of(t.tel["alarms"]) == [
        dict({k: a[k] for k in ("alarm", "severity", "where", "since_ns")},
             why=a["why"][:MIRRORED]) for a in said], (t.tel["alarms"], said)
    assert t.text["alarms"] == [
        "%-8s %s: %s since %s: %s" % tuple(a[k] for k in (
            "severity", "where", "alarm", "since_utc", "why"))
        for a in said], t.text["alarms"]
    assert t.metric("alarm") == {tuple(sorted(
        (k, a[k]) for k in ("alarm", "severity", "where"))): 1
        for a in said}, t.metric("alarm")
    of = {(a["alarm"], a["where"]): a for a in t.report["alarms"]}
    for a in said:
        assert of[a["alarm"], a["where"]] == a, (a, t.report["alarms"])


@case
def an_event_is_the_same_on_every_face():
    t = whole()
    said = t.json["events 1000"]["events"]
    assert len(said) > 4 and said == t.report["events"][:len(said)], said
    assert len(t.text["events 1000"]) == 1 + len(said), t.text
    for e, line in zip(said, t.text["events 1000"][1:]):
        assert line.endswith(e["text"]) and line.split()[:2] == [
            "%.6f" % (e["at_ns"] / 1e6), "ms"], (e, line)
    rows = rows_of(t.tel["events"])
    assert t.tel["events"]["total"] == len(rows) >= len(said)
    for e, row in zip(said, rows):
        line = "%12.6f ms %s" % (e["at_ns"] / 1e6, e["text"])
        assert row == {"t_ns": e["at_ns"], "text": line[:MIRRORED]}, (row, e)
    assert t.metric("events")[()] >= len(said)


main()
