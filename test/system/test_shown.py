#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each number that the prompt shows [APP-1], in text and as JSON, is what
something else counted: tables, counters, flows and the report tell one story."""
import json
import re

from reflit_test import Box, FIGURE1, carrier, case, main

CONFIG = FIGURE1 + ("routing: { levels = 4; };\n"
                    "link: { window_flits = 3001; };\n")
ARGS = ["--classes", "2", "--packet-flits", "3"]  # classes 0 and 1: VCs 0 and 2
# directions of links: link, where it leaves, the port there, and the other one
DIRS = (("e0-s0", "e0", "e0/0", "s0/0"), ("e0-s0", "s0", "s0/0", "e0/0"),
        ("s0-s1#0", "s0", "s0/1", "s1/1"), ("s0-s1#0", "s1", "s1/1", "s0/1"),
        ("s0-s1#1", "s0", "s0/2", "s1/2"), ("s0-s1#1", "s1", "s1/2", "s0/2"),
        ("s1-e1", "s1", "s1/0", "e1/0"), ("s1-e1", "e1", "e1/0", "s1/0"))
TRAFFIC = "traffic packets 300\nstart\nwait sent\nwait drained\n"


SAID, READ = {}, {}  # by command: facts in its JSON, and those looked at


class Facts(dict):
    """An object of a command's JSON that knows which of its facts are read."""
    said = None

    @classmethod
    def of(cls, command, value):
        """Each object of a JSON value, whose facts are that command's."""
        if isinstance(value, list):
            return [cls.of(command, v) for v in value]
        if not isinstance(value, dict):
            return value
        facts = cls((k, cls.of(command, v)) for k, v in value.items())
        facts.said = command
        SAID.setdefault(command, set()).update(value)
        return facts

    def look(self, keys):
        READ.setdefault(self.said, set()).update(keys)

    def __getitem__(self, key):
        self.look([key])
        return dict.__getitem__(self, key)

    def __eq__(self, other):
        if not isinstance(other, Facts):  # which would be the same story
            self.look(self)
        return dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other


class Told:
    """A run, and what each of its commands printed."""

    def __init__(self, before, shows, config=CONFIG, status=0):
        text = before + "".join("say <%d>\n%s\n" % (i, s) for i, s in
                                enumerate(shows)) + "say <end>\nquit\n"
        with Box() as box:
            self.run = box.run(ARGS, config=config, commands=text)
        self.run.check(status)
        self.said = re.split(r"^.*<\w+>\n", self.run.out, flags=re.M)[1:]
        assert len(self.said) == len(shows) + 1, self.run.out
        self.text, self.json = {}, {}
        for show, said in zip(shows, self.said):
            into, key = (self.json, show[:-5]) if show.endswith(" json") else (
                self.text, show)
            what = " ".join(show.split()[:2])
            into.setdefault(key, []).append(Facts.of(what, json.loads(said))
                                            if into is self.json else said)
        self.end = self.said[-1]

    def counters(self):
        """Of ports, cores and endpoints, by their names; what is 0 is not
        there."""
        table = self.json["show counters all"][0]
        return {o["name"]: o for of in table.values() for o in of}


def n(counters, name, key):
    return counters[name].get(key, 0)


def close(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


@case
def traffic_flows_ports_and_rates_tell_of_the_same_flits():
    t = Told("wait up\n" + TRAFFIC, (
        "show traffic json", "show traffic", "show traffic json",
        "show rates all json", "show counters all json", "show rates json",
        "show flow json", "show flow", "show flow e1 json",
        "show flow e1 e0 json", "show replay json", "show histogram json",
        "show histogram 0 json", "show histogram 2 json",
        "show histogram 3 json"))
    first, later = t.json["show traffic"]
    flows = t.json["show flow"][0]["flows"]
    assert sorted((f["endpoint"], f["peer"], f["cos"]) for f in flows) == [
        (a, b, c) for a, b in (("e0", "e1"), ("e1", "e0")) for c in (0, 1)]
    sent = {(f["endpoint"], f["cos"]): f["sent_flits"] for f in flows}
    for f in flows:
        assert f["state"] == "open" and f["acked_flits"] == f["sent_flits"], f
        assert f["expected"] == sent[f["peer"], f["cos"]], flows
        assert f["resent_flits"] == f["retries"] == f["held_flits"] == 0, f
    assert t.json["show flow e1"][0]["flows"] == t.json["show flow e1 e0"][
        0]["flows"] == [f for f in flows if f["endpoint"] == "e1"]
    rows = [r.split() for r in t.text["show flow"][0].splitlines()[1:]]
    for f, row in zip(flows, rows):
        assert row == [str(f[k]) for k in (
            "endpoint", "peer", "cos", "state", "sent_flits", "acked_flits",
            "window_flits", "resent_flits", "retries")] + [
                "%.1f" % (f[k] / 1e3) for k in ("rtt_ns", "rto_ns",
                                                "silent_ns")] + [
                str(f["expected"]), str(f["held_flits"])], (f, row)
    # traffic: since the last time, and by VC
    assert (first["sent_packets"], first["delivered_packets"]) == (600, 600)
    assert first["last_flits"] == 1800 and later["last_flits"] == 0
    by_vc = {0: sent["e0", 0] + sent["e1", 0], 2: sent["e0", 1] + sent["e1", 1]}
    assert sum(by_vc.values()) == 1800
    assert {v["vc"]: v["last_flits"] for v in first["vcs"]} == by_vc, first
    assert later["last_ns"] < first["last_ns"], (first, later)
    assert 0 < later["processor_ns"] < first["processor_ns"], (first, later)
    assert [first[k] for k in (
        "reported_packets", "under_way_packets", "duplicated_packets",
        "reordered_packets", "corrupted_packets", "refused_packets",
        "attached")] == 6 * [0] + [[]], first
    for o in (first, *first["vcs"]):
        assert close(o["flits_per_us"],
                     o["last_flits"] / first["last_ns"] * 1e3), first
    assert re.fullmatch(
        r"last \d\.\d{6} s, \d\.\d{6} s of processor time: delivered 0 flits, "
        r"0\.000 flits/us\n"
        r"  VC 0: 0 flits, 0\.000 flits/us\n  VC 2: 0 flits, 0\.000 flits/us\n"
        r"sent 600  delivered 600  reported 0  under way or lost 0\n"
        r"duplicated 0  reordered 0  altered 0; not sent: refused 0\n",
        t.text["show traffic"][0]), t.text["show traffic"]
    check_rates(t)
    # replay buffers: all was sent, and acknowledged
    c = t.counters()
    replay = {p["port"]: p for p in t.json["show replay"][0]["ports"]}
    assert len(replay) == 8
    for name, p in replay.items():
        tx = n(c, name, "tx_flits")
        assert [p[k] for k in ("base", "acked", "next", "tail")] == [tx] * 4, p
        assert p["held_flits"] == 0 and p["state"] == "UP", p
        assert p["window_flits"] == 3001, p
    check_histograms(t, by_vc)
    r = t.run.report
    assert r["flit_hops"] == sum(n(c, d[2], "tx_flits") for d in DIRS)
    for key, of in (("tx_packets", 600), ("rx_packets", 600),
                    ("tx_flits", 1800), ("rx_ok", 1800)):
        assert sum(n(c, e, key) for e in ("e0", "e1")) == of, (key, c)
    assert t.end.startswith("sent 600 packets, %d bytes; delivered 600 in "
                            % r["sent_bytes"]), t.end


def check_rates(t):
    """Rates are what was counted, in that time; the sum is that of the rows."""
    whole, c = t.json["show rates all"][0], t.counters()
    seconds = whole["period_s"]
    keys = ("flits_per_s", "frames_per_s", "mbit_per_s", "replayed_flits_per_s")
    for key in keys:
        assert close(whole[key], sum(r[key] for r in whole["rates"])), key
    by = {(r["link"], r["from"]): r for r in whole["rates"]}
    assert [r["flits_per_s"] for r in whole["rates"]] == sorted(
        (r["flits_per_s"] for r in whole["rates"]), reverse=True)
    for link, at, port, _ in DIRS:
        r = by[link, at]
        assert round(r["flits_per_s"] * seconds) == n(c, port, "tx_flits"), r
        assert round(r["frames_per_s"] * seconds) in range(
            n(c, port, "tx_frames") - 2, n(c, port, "tx_frames") + 1), r
        octets = r["mbit_per_s"] * seconds * 1e6 / 8
        head = octets - 256 * n(c, port, "tx_flits")
        frames = r["frames_per_s"] * seconds
        # headers, and what trains the link with frames of full length
        assert 64 * frames <= head <= 128 * frames + 6 * 4224, (r, head)
        assert r["replayed_flits_per_s"] == 0 and r["state"] == "", r
    assert whole["left_out"] == 0
    still = t.json["show rates"][0]
    assert still["period_s"] < seconds and still["flits_per_s"] == 0, still
    assert [(r["link"], r["from"]) for r in still["rates"]] == [
        d[:2] for d in DIRS], still


def check_histograms(t, by_vc):
    whole = t.json["show histogram"][0]
    assert whole["packets"] == sum(r["packets"] for r in whole["rows"]) == 600
    tops = [r["to_ns"] for r in whole["rows"]]
    assert tops == sorted(tops) and all(k & (k + 1) == 0 for k in tops), tops
    assert tops[-1] >= whole["max_ns"] > tops[-1] // 2, whole
    assert (whole["p50_ns"] <= whole["p99_ns"] <= whole["p999_ns"] <=
            whole["max_ns"]), whole
    for name, key in (("latency_ns", "%s_ns"), ("jitter_ns", "jitter_%s_ns")):
        for q in ("p50", "p99", "max"):
            assert whole[name][q] == whole[key % q], (name, q, whole)
    by = {v["vc"]: v for v in whole["latency_by_vc"]}
    assert {vc: 3 * v["packets"] for vc, v in by.items()} == by_vc, whole
    for vc in (0, 2):
        one = t.json["show histogram %d" % vc][0]
        assert one["packets"] == by[vc]["packets"] == sum(
            r["packets"] for r in one["rows"]), one
        for q in ("p50", "p99", "p999", "max"):
            assert one[q + "_ns"] == by[vc]["latency_ns"][q], (vc, q)
    assert t.json["show histogram 3"][0]["packets"] == 0
    report = t.run.report
    assert report["latency_ns"] == whole["latency_ns"]
    assert report["jitter_ns"] == whole["jitter_ns"]
    assert report["latency_by_vc"] == whole["latency_by_vc"]


@case
def errors_and_faults_are_those_of_the_direction_that_had_them():
    lane = carrier(CONFIG)
    there, back = "s0-s1#%d" % lane, "s0-s1#%d" % (1 - lane)
    t = Told("wait up\nshow traffic\ninject corrupt %s s0 40\n"
             "inject drop %s s0 3\n" % (there, there) + TRAFFIC +
             "inject corrupt %s s0 1\ninject loss %s s1 1\n" % (there, back) +
             "traffic packets 20\nstart\nwait 60ms\nlink %s up\nwait drained\n"
             "wait up\n" % back,
             ("show errors all json", "show counters all json",
              "show errors all", "show errors json", "show errors " + there +
              " json", "show faults json", "show faults",
              "show errors over gaps=0 json", "clear counters",
              "show errors all json", "show counters all json"))
    whole, cleared = t.json["show errors all"]
    assert t.run.report["date"][:19] <= whole["since_utc"][:19] <= cleared[
        "since_utc"][:19], (whole, cleared)
    assert whole["left_out"] == cleared["left_out"] == 0
    c = t.counters()
    by = {(r["link"], r["from"]): r for r in whole["errors"]}
    rx = {"corrected": "rx_corrected", "bad": "rx_bad",
          "gaps": "rx_missing_seq", "duplicates": "rx_duplicate_seq",
          "naks": "tx_nak"}
    heads = ("rx_check_error", "rx_truncated", "rx_count_error",
             "rx_type_error", "rx_version_error")
    for link, at, port, to in DIRS:
        r = by[link, at]
        want = {k: n(c, to, counter) for k, counter in rx.items()}
        want.update(headers=sum(n(c, to, k) for k in heads),
                    replays=n(c, port, "tx_replays"),
                    deaths=n(c, port, "deaths"))
        assert {k: r[k] for k in want} == want, (r, want)
        assert r["state"] == "", r
        flits = n(c, to, "rx_ok") + n(c, to, "rx_bad")
        assert close(r["errors_per_flit"], (r["corrected"] + r["bad"]) /
                     flits if flits else 0), r
    hurt = by[there, "s0"]
    assert hurt["bad"] + hurt["headers"] + hurt["gaps"] >= 2, hurt
    assert hurt["naks"] >= 1 and hurt["replays"] >= 1, hurt
    assert [r["link"] for r in t.json["show errors " + there][0]["errors"]
            ] == [there] * 2
    some = t.json["show errors"][0]["errors"]
    assert some and all(sum(r[k] for k in (*rx, "headers", "replays",
                                           "deaths")) for r in some), some
    rows = [s.split() for s in t.text["show errors all"][0].splitlines()[1:]]
    for r, row in zip(whole["errors"], rows):
        assert row[:10] == [str(r[k]) for k in (
            "link", "from", "corrected", "bad", "headers", "gaps",
            "duplicates", "naks", "replays", "deaths")], (r, row)
        assert row[10] == "%.1e" % r["errors_per_flit"], (r, row)
    assert t.json["show errors over gaps=0"][0]["errors"] == [
        r for r in whole["errors"] if r["gaps"] > 0]
    assert all(not any(r[k] for k in (*rx, "headers", "replays", "deaths"))
               for r in cleared["errors"]), cleared
    after = t.json["show counters all"][1]
    assert not any("tx_flits" in p for p in after["ports"]), after
    check_faults(t, there, back)


def check_faults(t, there, back):
    faults = t.json["show faults"][0]["faults"]
    assert [(f["link"], f["from"]) for f in faults] == [d[:2] for d in DIRS]
    by = {(f["link"], f["from"]): f for f in faults}
    keys = ("lost_frames", "lost_flits", "corrupted_frames", "flipped_bits",
            "duplicated_frames", "delayed_frames")
    for d in DIRS:
        f = by[d[:2]]
        if d[:2] == (there, "s0"):
            assert f["lost_frames"] == 1 and f["corrupted_frames"] == 2, f
            assert f["flipped_bits"] == 0, f  # of a bit error rate alone
        elif d[:2] == (back, "s1"):
            assert f["corrupted_frames"] == f["flipped_bits"] == 0, f
        else:
            assert not any(f[k] for k in keys), f
        assert f["fault"] == "" and f["delayed_frames"] == 0, f
    rows = [s.split() for s in t.text["show faults"][0].splitlines()[1:]]
    for f, row in zip(faults, rows):
        assert row == [f["link"], f["from"]] + [str(f[k]) for k in (
            "lost_frames", "lost_flits", "corrupted_frames", "flipped_bits")]


def end_of(port, state="UP", egress="alive"):
    return {"port": port, "state": state, "degraded": False, "egress": egress}


@case
def links_paths_and_faults_are_called_what_they_are():
    fabric = {"devices": 4, "endpoints": 2, "link_count": 4,
              "engine": "reflit", "vls": 1, "detour_vls": 1,
              "adaptive": False, "links": [
                  {"link": link, "a": end_of(a), "b": end_of(b), "fault": "",
                   "a_refuses": "", "b_refuses": ""}
                  for link, _, a, b in DIRS[::2]]}
    lane = carrier(CONFIG)
    names = ["s0-s1#%d" % lane, "s0-s1#%d" % (1 - lane)]
    t = Told("wait up\n", (
        "show fabric json", "show fabric", "show path e0 e1 json",
        "show path e0 e1", "show routes s0 json", "show routes s0",
        "show routes e1 json", "show wires json", "show wires",
        "inject loss s0-s1#0 s0 0.25", "inject delay s0-s1#1 s1 7us",
        "inject ber s1-e1 e1 1e-5 propagate 0.8 lanes 4",
        "inject ber e0-s0 e0 1e-9", "inject block e1 2", "inject block e0 7",
        "inject soft s1 0.5", "inject poison s1 0.25", "show faults json", "show faults",
        "inject unblock e1 2", "inject unblock e0 7", "inject soft s1 0", "inject poison s1 0",
        "link e0-s0 up", "link s1-e1 up", "link s0-s1 up",
        "link s0-s1#0 disable", "wait dead s0-s1#0", "wait 20ms",  # resume_delay_ns
        "show fabric json",
        "show fabric", "show rates s0-s1#0 json", "show path e0 e1 json"),
        config=CONFIG + 'controller: { mode = "off"; };\n')
    before, after = t.json["show fabric"]
    assert before == fabric, before
    assert t.text["show fabric"][0] == (
        "4 devices, 2 endpoints, 4 links; engine reflit, 1 VLs and 1 for "
        "detours\n" + "".join("  %-20s  %s UP, alive  %s UP, alive  \n" % (
            link, a, b) for link, _, a, b in DIRS[::2])), t.text["show fabric"]
    off = fabric["links"][1]
    off.update(a=end_of("s0/1", "OFF", "dead"), b=end_of("s1/1", "OFF", "dead"),
               fault="disabled")
    assert after == fabric, after
    assert ("  s0-s1#0               s0/1 OFF, dead  s1/1 OFF, dead  disabled\n"
            in t.text["show fabric"][1])
    rates = t.json["show rates s0-s1#0"][0]["rates"]
    assert [(r["link"], r["from"], r["state"]) for r in rates] == [
        ("s0-s1#0", s, "OFF") for s in ("s0", "s1")], rates
    path, path_off = t.json["show path e0 e1"]
    hops = [{"device": d, "link": k, "vl": 0, "better_dead": 0,
             "egress": "alive"} for d, k in (("e0", "e0-s0"), ("s0", names[0]),
                                             ("s1", "s1-e1"))]
    assert path == {"from": "e0", "to": "e1", "sl": 0, "adaptive": False, "hops": hops,
                    "last": "e1", "links": 3, "arrives": True}, path
    assert t.text["show path e0 e1"][0] == "e0 to e1, SL 0\n" + "".join(
        "  %-10s by %-20s VL 0\n" % (h["device"], h["link"]) for h in hops
        ) + "  e1         after 3 links\n", t.text["show path e0 e1"]
    if lane == 0:
        hops[1].update(link=names[1], better_dead=1)
    assert path_off["hops"] == hops, path_off
    lanes = ["s0/%d" % (lane + 1), "s0/%d" % (2 - lane)]
    assert t.json["show routes s0"][0] == {"routes": [
        {"plane": p, "to": e, "hops": hops} for p in (0, 1)
        for e, hops in (("e0", ["s0/0"]), ("e1", lanes))]}
    assert t.text["show routes s0"][0] == "".join(
        "plane %d to e0: s0/0\nplane %d to e1: %s\n" % (p, p, " ".join(lanes))
        for p in (0, 1))
    assert t.json["show routes e1"][0] == {"routes": [
        {"plane": p, "to": e, "hops": [] if p else ["e1/0"]}
        for p in (0, 1) for e in ("e0", "e1")]}
    assert t.json["show wires"][0] == {"wires": []}
    assert t.text["show wires"][0] == "all links are software wires\n"
    check_words_of_faults(t)


def check_words_of_faults(t):
    told = t.json["show faults"][0]
    assert {(f["link"], f["from"]): f["fault"] for f in told["faults"]
            if f["fault"]} == {
                ("e0-s0", "e0"): "ber=1e-09", ("s0-s1#0", "s0"): "loss=0.25",
                ("s0-s1#1", "s1"): "delay=7000ns",
                ("s1-e1", "e1"): "ber=1e-05 propagate=0.8 lanes=4"}, told
    assert told["blocked"] == [{"endpoint": "e0", "vc": 7},
                               {"endpoint": "e1", "vc": 2}], told
    assert told["altering"] == [{
        "device": "s1", "altered_packets_rate": 0.5,
        "poisoned_packets_rate": 0.25}], told
    text = t.text["show faults"][0]
    for line in ("e0 takes nothing of VC 7\ne1 takes nothing of VC 2\n",
                 "s0-s1#1              delay=7000ns             s1   "):
        assert line in text, text


@case
def a_port_that_is_attached_is_started_and_stopped_by_its_endpoint():
    port = 'attach = ( { endpoint = "e0"; port = "net_null0"; } );\n'
    with Box() as box:
        run = box.run(eal=["--vdev=net_null0,no-rx=1"], config=FIGURE1 + port,
                      commands="wait up\nstop e0\nstart e0\nrate e0 500\n"
                      "show traffic json\nshow traffic\nstart e1\nstop\nquit\n")
    run.check(2)
    assert run.errors() == [box.path("commands") + ":7: e1 only receives"], \
        run.err
    told, rest = run.out.split("\n", 1)
    keys = ("rx_frames", "rx_oversize", "rx_cut", "rx_refused", "rx_missed",
            "tx_frames", "tx_failed")
    assert json.loads(told)["attached"] == [dict(
        {"port": "net_null0", "endpoint": "e0", "rx_queues": 1},
        **dict.fromkeys(keys, 0))], told
    assert ("  net_null0 at e0: read 0, not taken: too long 0, cut short 0, "
            "refused 0, missed 0; written 0, not written 0\n") in rest, rest


@case
def a_fact_that_nothing_else_counts_is_not_shown():
    """Each that these commands show was looked at by a case above."""
    assert len(SAID) >= 10, sorted(SAID)
    # of counters there are hundreds
    left = {command: said - READ.get(command, set())
            for command, said in SAID.items() if command != "show counters"}
    assert not any(left.values()), left


main()
