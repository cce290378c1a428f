#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each number has one value under its own name, whatever shows it: the prompt as
text and as JSON, telemetry, metrics, the report [APP-1] [APP-2] [APP-8]. The
numbers are those of plant_facts.c: none is 0, and no two are alike. Answers are
compared whole: a fact that is new needs a row here.

usage: test_faces.py REFLIT_PLANTS PCAP_SAME SOURCE_ROOT REFLIT_VIEW
"""
import json
import os
import re

import openmetrics
from reflit_test import Box, case, main
from shown import Shown, fetch, listed, until

PORT, CORE, EP, FLOW, TRAFFIC = range(1, 6)
VCS = range(8)


COUNTERS = {PORT: listed("lib/link/rl_port_counters.h", "RL_PORT_COUNTERS"),
            CORE: listed("lib/switch/rl_core.h", "RL_CORE_COUNTERS"),
            EP: listed("lib/endpoint/rl_ep_counters.h", "RL_EP_COUNTERS")}
OTHERS = {kind: listed("test/system/plant_facts.c", name + "_FACTS")
          for kind, name in ((PORT, "PORT"), (FLOW, "FLOW"),
                             (TRAFFIC, "TRAFFIC"))}
LINKS = {"e0-s0": ("e0/0", "s0/0"), "s0-s1#0": ("s0/1", "s1/1"),
         "s0-s1#1": ("s0/2", "s1/2"), "s1-e1": ("s1/0", "e1/0")}
PORTS = {p: link for link, ends in LINKS.items() for p in ends}
DEVICES = ("s0", "s1", "e0", "e1")
ENDPOINTS = ("e0", "e1")
# latencies of packets by VC, and jitter: how often each, in rising order
LATENCY = {vc: [(n * of, (first << i) - 1) for i, n in enumerate(
    (500, 490, 9, 1))] for vc, of, first in ((0, 1, 1152), (3, 2, 1280))}
JITTER = {vc: [(n * of, first + i) for i, n in enumerate((500, 490, 9, 1))]
          for vc, of, first in ((0, 1, 101), (3, 2, 111))}
LATENCY["all"] = sorted(LATENCY[0] + LATENCY[3], key=lambda x: x[1])
JITTER["all"] = sorted(JITTER[0] + JITTER[3], key=lambda x: x[1])


def quantiles(rows):
    out, seen, total = {}, 0, sum(n for n, _ in rows)
    for n, v in rows:
        seen += n
        for q, parts in (("p50", 50000), ("p99", 99000), ("p999", 99900)):
            if q not in out and seen * 100000 >= total * parts:
                out[q] = v
    return dict(out, max=rows[-1][1])


class All:
    """What each face said of one run."""
    one = None

    def __init__(self):
        os.environ["REFLIT_PLANT"] = "FACTS"
        self.tel, self.text, self.json = {}, {}, {}
        with Box() as box, Shown(box) as shown:
            until(lambda: shown.ask("links")["state"] == ["UP"] * 4)
            until(lambda: shown.ask("flows")["total"] == 2)
            for what in ("links", "flows", "classes", "traffic", "latency",
                         "latency,0", "latency,3", "histogram",
                         *("port," + p for p in PORTS),
                         *("switch," + d for d in DEVICES),
                         *("endpoint," + e for e in ENDPOINTS)):
                self.tel[what] = shown.ask(what)
            for line in ("traffic", "flow", "replay", "histogram",
                         "histogram 3", "errors all",
                         *("port " + p for p in PORTS),
                         *("counters " + p for p in PORTS),
                         *("counters " + d for d in DEVICES)):
                self.text[line] = shown.show(line)
                self.json[line] = json.loads("".join(shown.show(line +
                                                                " json")))
            status, body, _ = fetch(shown.url + "/metrics")
            assert status == 200
            self.metrics = openmetrics.families(body.decode())
            shown.reflit.terminate()
            shown.reflit.communicate(timeout=60)
            with open(box.path("report.json"), encoding="utf-8") as f:
                self.report = json.load(f)
        # which of its kind an object is: of all that are asked, each is another
        self.number = {PORT: {p: self.tel["port," + p]["tx_epoch"] - 40
                              for p in PORTS},
                       CORE: {d: self.tel["switch," + d]["rx_packets"] // 1000
                              % 100 for d in DEVICES},
                       EP: {e: self.tel["endpoint," + e]["tx_packets"] // 1000
                            % 100 for e in ENDPOINTS},
                       FLOW: {e: n // 1000 % 100 for e, n in zip(
                           self.tel["flows"]["src"],
                           self.tel["flows"]["tx_acked"])}}
        for of in self.number.values():
            assert sorted(of.values()) == list(range(1, len(of) + 1)), of

    def counters(self, kind, name):
        first = kind * 100000 + self.number[kind][name] * 1000
        return {c: first + n for n, c in enumerate(COUNTERS[kind], 1)}

    def facts(self, kind, name=None):
        """The other numbers, under the names of plant_facts.c."""
        first = kind * 100000 + (1000 if name is None else
                                 self.number[kind][name] * 1000)
        out = {c: first + n + (200 if kind == PORT else 0)
               for n, c in enumerate(OTHERS[kind], 1)}
        out = {c: n * 1000 if c.endswith("_ns") else n
               for c, n in out.items()}
        return dict(out, vcs=[first + 900 + vc for vc in VCS])


def whole():
    if All.one is None:
        All.one = All()
    return All.one


def row(form, facts):
    """Words, some of them in braces: names of facts."""
    return re.sub(r"\{(\w+)\}", lambda m: str(facts[m[1]]), form)


@case
def a_port_is_the_same_on_every_face():
    t = whole()
    for name, link in PORTS.items():
        f, c = t.facts(PORT, name), t.counters(PORT, name)
        k = t.number[PORT][name]
        said = {"link": link, "state": "UP", "reason": "", "egress": "alive",
                "last_death": "none", "window_flits": f["window"],
                "held_flits": f["held_flits"],
                "outstanding_flits": f["outstanding_flits"],
                "queued_flits": f["queued_flits"],
                "round_trip_ns": f["srtt_ns"],
                "replay_timer_ns": f["replay_timer_ns"], "flaps": f["flaps"],
                "tx_epoch": 40 + k, "rx_epoch": 80 + k}
        assert t.tel["port," + name] == dict(said, **c), name
        rate = ("good; corrected %(corrected_percent)d %%, uncorrectable "
                "%(uncorrectable_percent)d %%, replays %(replay_percent)d %% of "
                "what ends the link" % f)
        shown, = t.json["port " + name]["ports"]
        of_wire = {key: shown[key] for key in (
            "ethdev", "queue", "tx_frames", "tx_backpressure", "rx_frames",
            "rx_bounced")}
        assert shown == dict(
            said, port=name, frame_flits=f["flits_per_frame"],
            credit_flits=f["vcs"], error_rate=rate, **of_wire,
            **{key: c[key] for key in ("rx_corrected", "rx_bad",
                                       "rx_poisoned")}), name
        text = "".join(t.text["port " + name])
        want = (name + "  link {link}  state UP  egress alive  last death none"
                "  epochs tx {tx_epoch} rx {rx_epoch}  flaps {flaps}  "
                "{frame_flits} flits a frame  round trip "
                + "%.1f us  replay timer %.1f us" % (
                    f["srtt_ns"] / 1e3, f["replay_timer_ns"] / 1e3) +
                "  window {window_flits}  held {held_flits}  not acknowledged "
                "{outstanding_flits}  queued {queued_flits}  credits "
                + " ".join(map(str, f["vcs"])) +
                "  flits corrected {rx_corrected}, uncorrectable {rx_bad}, "
                "marked {rx_poisoned}; error rate: {error_rate}"
                "  ethdev {ethdev} queue {queue}  tx ")
        assert text.startswith(row(want, shown)), (text, row(want, shown))
        replay, = (p for p in t.json["replay"]["ports"] if p["port"] == name)
        assert replay == {
            "port": name, "state": "UP", "base": f["replay_base"],
            "acked": f["replay_acked"], "next": f["replay_next"],
            "tail": f["replay_tail"], "held_flits": f["held_flits"],
            "window_flits": f["window"]}, replay
        assert [line.split() for line in t.text["replay"]
                if line.startswith(name + " ")] == [[str(replay[key]) for key in (
                    "port", "state", "base", "acked", "next", "tail",
                    "held_flits", "window_flits")]], t.text["replay"]


@case
def counters_are_the_same_on_every_face():
    t = whole()

    def text(name, what, counters):
        return [name + what] + ["  %-22s %14d" % c for c in counters.items()]

    for name in PORTS:
        c = t.counters(PORT, name)
        assert t.json["counters " + name] == {"ports": [dict(c, name=name)]}
        assert t.text["counters " + name] == text(name, "", c)
    for d in DEVICES:
        c = t.counters(CORE, d)
        ports = [p for p in sorted(PORTS) if p.startswith(d)]
        want = {"ports": [dict(t.counters(PORT, p), name=p) for p in ports],
                "cores": [dict(c, name=d)]}
        lines = sum((text(p, "", t.counters(PORT, p)) for p in ports), [])
        lines += text(d, " core", c)
        assert t.tel["switch," + d] == c, d
        if d in ENDPOINTS:
            e = t.counters(EP, d)
            want["endpoints"] = [dict(e, name=d)]
            lines += text(d, " endpoint", e)
            assert t.tel["endpoint," + d] == e, d
        assert t.json["counters " + d] == want, d
        assert t.text["counters " + d] == lines, d
    ends = {key: [t.counters(PORT, p)[key] for of in LINKS.values()
                  for p in of]
            for key in ("tx_flits", "tx_frames", "tx_replay_flits",
                        "rx_corrected", "rx_bad", "deaths", "looped_flits")}
    links = t.tel["links"]
    assert links == dict(
        ends, start=0, count=4, total=4, name=list(LINKS), state=["UP"] * 4,
        admin=["up"] * 4, oper=["up"] * 4, a=[2, 0, 0, 1],
        b=[0, 1, 1, 3]), links
    check_report(t)


def check_report(t):
    r = t.report
    assert r["links"] == [{"link": link, "ends": [
        {"device": p.split("/")[0], "port": int(p.split("/")[1]),
         "state": "UP", "counters": t.counters(PORT, p)} for p in ends]}
        for link, ends in LINKS.items()], r["links"]
    assert r["switches"] == [{"switch": d, "counters": t.counters(CORE, d)}
                             for d in DEVICES[:2]], r["switches"]
    assert r["endpoints"] == [
        {"endpoint": e, "counters": t.counters(EP, e),
         "core_counters": t.counters(CORE, e)} for e in ENDPOINTS]
    for key, kind in (("port", PORT), ("core", CORE), ("endpoint", EP)):
        of = [t.counters(kind, name) for name in t.number[kind]]
        assert r[key + "_counters"] == {
            c: sum(o[c] for o in of) for c in COUNTERS[kind]}, key


@case
def errors_are_counters_of_the_end_that_saw_them():
    t = whole()
    want = {}
    for link, ends in LINKS.items():
        for at, to in (ends, ends[::-1]):
            rx, tx = t.counters(PORT, to), t.counters(PORT, at)
            want[link, at.split("/")[0]] = {
                "corrected": rx["rx_corrected"], "bad": rx["rx_bad"],
                "headers": sum(rx["rx_" + k] for k in (
                    "check_error", "truncated", "count_error", "type_error",
                    "version_error")),
                "gaps": rx["rx_missing_seq"],
                "duplicates": rx["rx_duplicate_seq"], "naks": rx["tx_nak"],
                "replays": tx["tx_replays"], "deaths": tx["deaths"],
                "errors_per_flit": (rx["rx_corrected"] + rx["rx_bad"]) /
                                   (rx["rx_ok"] + rx["rx_bad"]), "state": ""}
    rows = t.json["errors all"]["errors"]
    assert len(rows) == len(want) == 8
    for r, line in zip(rows, t.text["errors all"][1:]):
        of = want[r["link"], r["from"]]
        assert r == dict(of, link=r["link"], **{"from": r["from"]}), r
        assert line.split() == [r["link"], r["from"]] + [
            str(of[k]) for k in ("corrected", "bad", "headers", "gaps",
                                 "duplicates", "naks", "replays", "deaths")
        ] + ["%.1e" % of["errors_per_flit"]], line


@case
def a_flow_is_the_same_on_every_face():
    t = whole()
    flows = {k: v for k, v in t.tel["flows"].items() if isinstance(v, list)}
    for i, (src, dst) in enumerate((("e0", "e1"), ("e1", "e0"))):
        f = t.facts(FLOW, src)
        state = flows["state"][i]
        assert {k: v[i] for k, v in flows.items()} == {
            "src": src, "dst": dst, "state": state, "cos": 0,
            "rtt_ns": f["srtt_ns"],
            **{k: f[k] for k in ("tx_sent", "tx_acked", "tx_window",
                                 "tx_resend_flits", "retries",
                                 "rx_held_flits")}}, flows
        said = t.json["flow"]["flows"][i]
        want = {"endpoint": src, "peer": dst, "cos": 0, "state": said["state"],
                "sent_flits": f["tx_sent"], "acked_flits": f["tx_acked"],
                "window_flits": f["tx_window"],
                "resent_flits": f["tx_resend_flits"], "retries": f["retries"],
                "rtt_ns": f["srtt_ns"], "rto_ns": f["rto_ns"],
                "silent_ns": 0, "expected": f["rx_expected"],
                "held_flits": f["rx_held_flits"]}
        assert said == want, said
        assert [w for w in t.text["flow"][1 + i].split()
                if w not in ("new", "open")] == [
            src, dst, "0", *(str(want[k]) for k in (
                "sent_flits", "acked_flits", "window_flits", "resent_flits",
                "retries")), *("%.1f" % (want[k] / 1e3) for k in (
                    "rtt_ns", "rto_ns", "silent_ns")),
            str(want["expected"]), str(want["held_flits"])], t.text["flow"]
    assert t.tel["classes"] == dict(classes(t), start=0, count=1, total=1)


def classes(t):
    """The sums of both flows, which are of one class."""
    of = [t.facts(FLOW, e) for e in ENDPOINTS]
    return {"cos": [0], "flows": [2],
            "outstanding_flits": [sum(f["tx_sent"] - f["tx_acked"]
                                      for f in of)],
            "resend_flits": [sum(f["tx_resend_flits"] for f in of)],
            "held_flits": [sum(f["rx_held_flits"] for f in of)]}


# of plant_facts.c: in telemetry and metrics; what else is in the report alone
TRAFFIC_NAMES = {
    "sent": "sent_packets", "sent_bytes": "sent_bytes",
    "delivered": "delivered_packets", "under_way": "under_way_packets",
    "duplicated": "duplicated_packets", "reordered": "reordered_packets",
    "altered": "corrupted_packets", "reported": "reported_packets",
    "refused": "refused_packets", "redirected": "redirected_packets",
    "edge.refused": "edge_refused_frames", "edge.missed": "edge_missed_frames",
    "edge.cut": "edge_cut_frames", "edge.oversize": "edge_oversize_frames"}
REPORT_NAMES = {
    **{k: v for k, v in TRAFFIC_NAMES.items() if k[:4] != "edge" and
       k != "under_way"}, "lost": "lost_packets", "inexact": "inexact_packets",
    "unwritten": "unwritten_frames", "sent_requests": "sent_requests",
    "delivered_requests": "delivered_requests",
    "sent_responses": "sent_responses",
    "delivered_responses": "delivered_responses"}


def flit_hops(t):
    return sum(t.counters(PORT, p)["tx_flits"] for p in PORTS)


@case
def traffic_is_the_same_on_every_face():
    t = whole()
    f = t.facts(TRAFFIC)
    assert set(f) == {*TRAFFIC_NAMES, *REPORT_NAMES, "delivered_flits", "vcs"}
    assert t.tel["traffic"] == dict(
        {name: f[k] for k, name in TRAFFIC_NAMES.items()},
        edge_filtered_frames=0, flit_hops=flit_hops(t))
    said = t.json["traffic"]
    for key in ("last_ns", "processor_ns", "flits_per_us"):
        said.pop(key)
    # text asked first: since then nothing has come
    assert said == dict(
        {TRAFFIC_NAMES[k]: f[k] for k in (
            "sent", "delivered", "reported", "under_way", "duplicated",
            "reordered", "altered", "refused")}, last_flits=0, attached=[],
        vcs=[{"vc": vc, "last_flits": 0, "flits_per_us": 0.0} for vc in VCS])
    lines = t.text["traffic"]
    assert ("delivered %d flits, " % f["delivered_flits"]) in lines[0], lines
    for vc in VCS:
        assert lines[1 + vc].startswith("  VC %d: %d flits, " % (
            vc, f["vcs"][vc])), lines
    assert lines[9:] == [
        "sent {sent}  delivered {delivered}  reported {reported}  under way or "
        "lost {under_way}".format(**f),
        "duplicated {duplicated}  reordered {reordered}  altered {altered}; not "
        "sent: refused {refused}".format(**f)], lines
    r = t.report
    assert {name: r[name] for name in REPORT_NAMES.values()} == {
        name: f[k] for k, name in REPORT_NAMES.items()}
    assert r["edge"] == {**{k[5:]: n for k, n in f.items() if k[:5] == "edge."},
                         "filtered": 0}, r["edge"]
    assert r["flit_hops"] == flit_hops(t)


@case
def latencies_are_the_same_on_every_face():
    t = whole()
    for what, vc in (("latency", "all"), ("latency,0", 0), ("latency,3", 3)):
        latency, jitter = quantiles(LATENCY[vc]), quantiles(JITTER[vc])
        assert t.tel[what] == dict(
            latency, packets=sum(n for n, _ in LATENCY[vc]),
            **{"jitter_" + q: v for q, v in jitter.items()}), what
    every = LATENCY["all"]
    counts = {vc: dict((v, n) for n, v in LATENCY[vc]) for vc in (0, 3)}
    assert t.tel["histogram"] == dict(
        {"vc%d_n" % vc: [counts.get(vc, {}).get(v, 0) for _, v in every]
         for vc in VCS}, start=0, count=8, total=8,
        upper_ns=[v for _, v in every], count_n=[n for n, _ in every])
    by_vc = [{"vc": vc, "packets": sum(n for n, _ in LATENCY[vc]),
              "mean_ns": sum(n * v for n, v in LATENCY[vc]) //
                         sum(n for n, _ in LATENCY[vc]),
              "latency_ns": quantiles(LATENCY[vc]),
              "jitter_ns": quantiles(JITTER[vc])} for vc in (0, 3)]
    of_all = {"latency_ns": quantiles(every),
              "jitter_ns": quantiles(JITTER["all"]), "latency_by_vc": by_vc}
    assert {k: t.report[k] for k in of_all} == of_all
    for what, vc in (("histogram", "all"), ("histogram 3", 3)):
        latency, jitter = quantiles(LATENCY[vc]), quantiles(JITTER[vc])
        rows = {}
        for n, v in LATENCY[vc]:
            top = (1 << v.bit_length()) - 1
            rows[top] = rows.get(top, 0) + n
        total = sum(rows.values())
        want = {"packets": total,
                **{q + "_ns": v for q, v in latency.items()},
                **{"jitter_%s_ns" % q: v for q, v in jitter.items()
                   if q != "p999"},
                "rows": [{"to_ns": k, "packets": n}
                         for k, n in rows.items()],
                **(of_all if vc == "all" else {})}
        assert t.json[what] == want, (t.json[what], want)
        us = {k: "%.1f" % (v / 1e3) for k, v in want.items()
              if k[-3:] == "_ns" and not isinstance(v, dict)}
        text = "".join(t.text[what])
        assert text.startswith(
            "%d packets; p50 {p50_ns} us, p99 {p99_ns} us, p99.9 {p999_ns} us, "
            "max {max_ns} us; jitter p50 {jitter_p50_ns} us, p99 {jitter_p99_ns}"
            " us, max {jitter_max_ns} us".format(**us) % total), text
        for k, n in rows.items():
            assert "  to %12.3f us %12d " % (k / 1e3, n) in text, text
        if vc != "all":
            continue
        for of in by_vc:
            assert (
                "  VC %d: %d packets; p50 %.3f us, p99 %.3f us, p99.9 %.3f us, "
                "max %.3f us; jitter p50 %.3f us, p99 %.3f us, max %.3f us" % (
                    of["vc"], of["packets"], *(
                        v / 1e3 for v in of["latency_ns"].values()),
                    *(of["jitter_ns"][q] / 1e3 for q in ("p50", "p99", "max")))
            ) in text, text


def metrics_of(t):
    """{(name, labels...): value}, without who says so."""
    out = {}

    def add(name, value, **labels):
        out[(name, *sorted(labels.items()))] = value

    f = t.facts(TRAFFIC)
    for k, name in TRAFFIC_NAMES.items():
        add("traffic_" + name, f[k])
    add("traffic_edge_filtered_frames", 0)
    add("traffic_flit_hops", flit_hops(t))
    for name, link in PORTS.items():
        device, port = name.split("/")
        of = dict(device=device, port=port, link=link)
        info = t.facts(PORT, name)
        for k in ("held_flits", "outstanding_flits", "queued_flits", "flaps"):
            add("port_" + k, info[k], **of)
        add("port_window_flits", info["window"], **of)
        add("port_round_trip_seconds", info["srtt_ns"] / 1e9, **of)
        for k, n in t.counters(PORT, name).items():
            add("port_" + k, n, **of)
    for d in DEVICES:
        for k, n in t.counters(CORE, d).items():
            add("core_" + k, n, device=d)
    for e in ENDPOINTS:
        for k, n in t.counters(EP, e).items():
            add("endpoint_" + k, n, endpoint=e)
    for k, n in classes(t).items():
        if k != "cos":
            add("class_" + k, n[0], **{"class": "0"})
    for link in LINKS:
        add("link_up", 1, link=link)
        add("link_admin_up", 1, link=link)
    for vc in (0, 3):
        for b in range(10, 34):
            add("latency_seconds",
                sum(n for n, v in LATENCY[vc] if v < 1 << b), vc=str(vc),
                le="%.10g" % (((1 << b) - 1) / 1e9))
        add("latency_seconds", sum(n for n, _ in LATENCY[vc]), vc=str(vc),
            le="+Inf")
    return out


# not planted: test_view_metrics.py plays them
ELSEWHERE = {"source_up", "process", "uptime_seconds", "failovers", "events",
             "alarm", "alarms"}


@case
def metrics_are_the_same_numbers():
    t = whole()
    got = {(name[7:], *(x for x in labels if x[0] not in (
        "fabric", "process", "socket"))): n
           for name, family in t.metrics.items() if name[7:] not in ELSEWHERE
           for (_, labels), n in family.samples.items()}
    want = metrics_of(t)
    differ = {k for k in {*got, *want} if got.get(k) != want.get(k) and not (
        k in got and k in want and abs(got[k] - want[k]) < 1e-12)}
    assert not differ, {k: (got.get(k), want.get(k)) for k in differ}


NOT_ASKED = {"failovers": set(), "recoveries": {"changes", "silent_devices"}}


@case
def failovers_and_recoveries_are_the_same_on_every_face():
    os.environ.pop("REFLIT_PLANT", None)
    with Box() as box, Shown(box) as shown:
        ask = shown.ask
        until(lambda: ask("links")["state"] == ["UP"] * 4)
        status, answer = shown.order("link s0-s1#0 down")
        assert status == 200 and answer["result"] == 0, answer
        until(lambda: ask("failovers")["total"] == 2)
        until(lambda: {"open"} & set(ask("recoveries")["outcome"]) == set()
              and ask("recoveries")["total"] > 0)
        prompt = json.loads("".join(shown.show("recoveries json")))["recoveries"]
        asked = {what: ask(what) for what in ("failovers", "recoveries")}
        report = shown.end()
    assert prompt == report["recoveries"][:len(prompt)], prompt
    for what in asked:
        columns = {k: v for k, v in asked[what].items() if isinstance(v, list)}
        rows = [dict(zip(columns, r)) for r in zip(*columns.values())]
        assert rows and len(rows) == asked[what]["total"], asked[what]
        for r, of in zip(rows, report[what]):
            missing = set(of) - set(r)
            assert missing == NOT_ASKED[what], (what, missing)
            assert {k: of[k] for k in r} == r, (r, of)


main()
