#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics as text [APP-8]: which line each sample becomes, where it stands, what
has room, and what of a source is told.

usage: test_view_families.py FOLDER_OF_METRICS SOURCE_ROOT
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.abspath(sys.argv[1]))
sys.argv[1:] = ["-", "-", sys.argv[2]]  # no program has a part in this
from played import listed  # noqa: E402
from reflit_test import case, main  # noqa: E402
import metrics  # noqa: E402
import sources  # noqa: E402

MOST = metrics.LABELS_BYTES
ALL = """\
# TYPE tx_flits counter
# UNIT tx_flits flits
# HELP tx_flits Flits.
tx_flits_total{p="0"} 18446744073709551615
tx_flits_total{p="0"} 18446744073709551614
# TYPE rtt_seconds gauge
# UNIT rtt_seconds seconds
# HELP rtt_seconds Time.
rtt_seconds{p="0"} 0.5
rtt_seconds{p="0"} 1.5
# TYPE up gauge
# HELP up Whether.
up{p="0"} 0
up{p="0"} 1
# TYPE x_y counter
# HELP x_y X.
x_y_total{p="0"} 1e+09
x_y_total{p="0"} 1e+09
# TYPE late_bits histogram
# UNIT late_bits bits
# HELP late_bits Late.
late_bits_bucket{p="0"} 7
late_bits_bucket{p="0"} 8
# TYPE is_flitsy info
# HELP is_flitsy What.
is_flitsy_info{p="0"} 1
is_flitsy_info{p="0"} 1
# EOF
"""


@case
def a_label_is_escaped_and_follows_others_behind_a_comma():
    for value, text in (("", 'a=""'), ("x", 'a="x"'), ("\\", 'a="\\\\"'),
                        ('"q"', 'a="\\"q\\""'), ("1\n2", 'a="1\\n2"')):
        assert metrics.labelled("", a=value) == text
        assert metrics.labelled('b="y"', a=value) == 'b="y",' + text


@case
def a_label_without_room_is_left_out_whole():
    for n in range(MOST - 8, MOST + 4):
        value = "v" * n
        fits = metrics.labelled("", a=value)
        assert fits == ('a="%s"' % value if n <= MOST - 4 else ""), n
        # the same room for a long name; and what was there stays
        assert metrics.labelled("", **{value: ""}) == (
            value + '=""' if n <= MOST - 3 else ""), n
        assert metrics.labelled('b="y"', a=value, c="z") == 'b="y",c="z"', n
    # room is bytes
    assert metrics.labelled("", a="\u00e4" * 509) != ""
    assert metrics.labelled("", a="\u00e4" * 510) == ""


@case
def samples_of_a_family_stand_together_below_its_head():
    m = metrics.Families()
    for i in range(2):
        m.add("counter", "tx_flits", "Flits.", 'p="0"', 2**64 - 1 - i)
        m.add("gauge", "rtt_seconds", "Time.", 'p="0"', 0.5 + i)
        m.add("gauge", "up", "Whether.", 'p="0"', i)
        m.add("counter", "x_y", "X.", 'p="0"', 1e9)
        m.add("histogram", "late_bits", "Late.", 'p="0"', 7 + i, "_bucket")
        m.add("info", "is_flitsy", "What.", 'p="0"', 1)
        # of another type: it would not stand there rightly
        m.add("gauge", "x_y", "X.", 'p="0"', 3)
    assert m.text() == ALL, m.text()
    assert metrics.Families().text() == "# EOF\n"


@case
def each_of_many_families_has_its_own_samples_in_either_order():
    m = metrics.Families()
    for i in range(120):
        m.add("gauge", "f%d" % (79 - i if i // 40 == 1 else i % 40), "F.", "",
              i)
    text = m.text()
    for k in range(40):
        assert "f%d F.\nf%d{} %d\nf%d{} %d\nf%d{} %d\n#" % (
            k, k, k, k, 79 - k, k, 80 + k) in text, k


class Said:
    """Sources of which one answers, by command; else none."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def find(self):
        pass

    def path(self, i):
        return "" if i else "/s"

    def ask(self, _i, command, _limit_s=0):
        self.asked.append(command)
        name, _, arg = command.partition(",")
        if name[8:] not in self.answers:
            raise sources.NoAnswer
        v = self.answers[name[8:]]
        return v(arg) if callable(v) else v

    def ask_all(self, command):
        try:
            return {0: self.ask(0, command)}
        except sources.NoAnswer:
            return {0: {}}

    def list(self, i, command):
        try:
            said = self.ask(i, command)
        except sources.NoAnswer:
            said = {"total": 0}
        return {k: v for k, v in said.items()
                if k == "total" or isinstance(v, list)}


def told(**answers):
    """The samples of a source that is up, without their labels of it."""
    said = Said({"fabric": {"config": "c"}, **answers})
    text = metrics.metrics_text(said)
    base = 'fabric="c",process="",socket="/s"'
    return [line.replace(base + ",", "").replace(base, "")
            for line in text.splitlines() if not line.startswith("#")], said


@case
def what_is_no_source_is_not_told_and_one_that_is_silent_is_down():
    def text(answers):
        return metrics.metrics_text(Said(answers))

    assert text({"fabric": None}) == "# EOF\n"
    for fabric in ({}, [], 5, "x"):
        assert 'reflit_source_up{socket="/s"} 0\n# EOF\n' in text(
            {"fabric": fabric}), fabric
    assert 'reflit_source_up{socket="/s"} 0\n# EOF\n' in text({})
    assert 'reflit_source_up{socket="/s"} 1\n' in text({"fabric": {"x": 1}})


@case
def each_whole_number_is_a_counter_and_nothing_else():
    lines, _ = told(devices=listed(name=["s0", "e0"], kind=["switch",
                                                            "endpoint"]),
                    switch={"a": 2**63 - 1, "b": -5, "c": True, "d": 1.5,
                            "e": "7", "f": None, "g": [1], "a b": 2,
                            "h\ni": 3, "": 4, "\u00e4": 5},
                    endpoint=lambda name: {"h": 1, "name": name})
    got = [x for x in lines if "_core_" in x or "_endpoint_" in x]
    assert got == [
        'reflit_core_a_total{device="s0"} %d' % (2**63 - 1),
        'reflit_core_a_total{device="e0"} %d' % (2**63 - 1),
        'reflit_core_b_total{device="s0"} 0',
        'reflit_core_b_total{device="e0"} 0',
        'reflit_endpoint_h_total{endpoint="e0"} 1'], got


@case
def what_is_larger_than_a_counter_is_none():
    """Prometheus would drop a whole scrape for one number."""
    for n, want in ((2**64 - 1, 2**64 - 1), (2**64, 0), (10**400, 0)):
        lines, _ = told(fabric={"config": "c", "now_ns": n, "events": n},
                        ports=listed(name=["s0/1"]), port={
                            "rx_ok": n, "held_flits": n, "round_trip_ns": n})
        got = {x.split("{")[0]: x.split()[-1] for x in lines}
        for name in ("reflit_events_total", "reflit_port_rx_ok_total",
                     "reflit_port_held_flits"):
            assert got[name] == str(want), (n, got)
        for name in ("reflit_uptime_seconds",
                     "reflit_port_round_trip_seconds"):
            assert float(got[name]) == float("%.9g" % (want / 1e9)), got


@case
def numbers_of_a_port_that_are_no_counters_are_gauges_or_left_out():
    keys = (*metrics.PORT_GAUGES, *metrics.PORT_OTHERS, "rx_ok")
    port = {k: i for i, k in enumerate(keys)}
    lines, said = told(ports=listed(name=["s0/1", "odd"]),
                       port={**port, "link": "l"})
    got = [x for x in lines if x.startswith("reflit_port_")]
    labels = '{device="s0",port="1",link="l"}'
    assert got == [
        *("reflit_port_%s%s %d" % (k, labels, i)
          for i, k in enumerate(metrics.PORT_GAUGES)),
        "reflit_port_round_trip_seconds%s 5e-09" % labels,
        "reflit_port_rx_ok_total%s 9" % labels], got
    assert [c for c in said.asked if c.startswith("/reflit/port,")] == [
        "/reflit/port,s0/1"]
    # a question has room for 199 bytes
    _, said = told(ports=listed(name=["x/" + "y" * 999]), port={})
    assert max(map(len, said.asked)) == 199


@case
def rows_are_as_many_as_there_are_names_whatever_a_source_counts():
    some = {"count": 10 ** 15, "total": 10 ** 15}
    lines, _ = told(links={**some, "name": ["a", "b"], "oper": ["up"],
                           "admin": ["up", "up", "up"]},
                    alarms={**some, "severity": ["major"]},
                    classes={**some, "cos": [3], "flows": [8]},
                    histogram=some)
    assert 'reflit_link_up{link="a"} 1' in lines
    assert 'reflit_link_up{link="b"} 0' in lines
    assert 'reflit_link_admin_up{link="b"} 1' in lines
    assert 'reflit_alarms{severity="major"} 0' in lines
    assert 'reflit_class_flows{class="3"} 8' in lines
    assert 'reflit_class_held_flits{class="3"} 0' in lines


@case
def latencies_are_counted_below_each_bound():
    upper = [500, 1023, 1500, 2047, 2 ** 33 - 1, 2 ** 33]
    lines, _ = told(histogram=listed(
        upper_ns=upper, vc0_n=[1, 2, 4, 8, 16, 32], vc1_n=[0] * 6,
        vc3_n=[0, 0, 0, 0, 0, 5]))
    got = {}
    for line in lines:
        if line.startswith("reflit_latency"):
            name, n = line.rsplit(" ", 1)
            got[name.split("{")[1].rstrip("}")] = int(n)
    assert len(got) == 2 * 25, got
    for le, n in (("1.023e-06", 3), ("2.047e-06", 15), ("4.095e-06", 15),
                  ("4.294967295", 15), ("8.589934591", 31), ("+Inf", 63)):
        assert got['vc="0",le="%s"' % le] == n, (le, got)
    assert got['vc="3",le="8.589934591"'] == 0 and got[
        'vc="3",le="+Inf"'] == 5
    # VC 0 is told even where nothing was delivered
    lines, _ = told()
    assert 'reflit_latency_seconds_bucket{vc="0",le="+Inf"} 0' in lines


main()
