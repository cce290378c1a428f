#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What stands beside /metrics for Prometheus and Grafana: alerts, a board, and a
real Prometheus that scrapes a living fabric [APP-8].

usage: test_metrics.py REFLIT PCAP_SAME SOURCE_ROOT REFLIT_VIEW
"""
import json
import os
import re
import subprocess
import urllib.parse

import openmetrics
from reflit_test import ROOT, Box, case, main, need
from shown import Shown, fetch, until

FILES = os.path.join(ROOT, "examples", "metrics")
RULES = os.path.join(FILES, "reflit.rules.yml")
TESTS = os.path.join(FILES, "reflit.rules.test.yml")
# a view serves it if it is given an etcd (test_view_metrics.py)
BESIDE_ETCD = {"reflit_etcd_up"}


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def queries():
    """(where, expression) of the board's panels."""
    board = json.loads(text_of(os.path.join(FILES, "reflit.dashboard.json")))
    out = [(p["title"], t["expr"]) for p in board["panels"]
           for t in p["targets"]]
    assert len(out) > 20
    return out


def alerts(text):
    return re.findall(r"- alert: (\w+)", text)


def served(found):
    """Names of series, as queries call them."""
    return {name + suffix for name, f in found.items()
            for suffix, _ in f.samples} | BESIDE_ETCD


def names_of(expr):
    return set(re.findall(r"\breflit_\w+", expr))


@case
def each_alert_fires_for_its_cause_alone():
    need("promtool")
    rules, tests = text_of(RULES), text_of(TESTS)
    out = subprocess.run(["promtool", "check", "rules", RULES], text=True,
                         capture_output=True, timeout=240, check=False)
    assert out.returncode == 0 and "SUCCESS" in out.stdout, out
    out = subprocess.run(["promtool", "test", "rules", TESTS], text=True,
                         capture_output=True, timeout=240, check=False)
    assert out.returncode == 0 and "SUCCESS" in out.stdout, out
    for name in alerts(rules):
        assert re.search(r"alertname: %s\n +eval_time: \S+\n +exp_alerts:\n"
                         % name, tests), name + " was never seen to fire"
        assert "alertname: %s, eval_time" % name in tests, name
    # a rule that is broken fails its test
    with Box() as box:
        box.write("reflit.rules.test.yml", tests)
        for was in ('alarm="link-down"', "rx_altered_total[15m]"):
            assert was in rules
            box.write("reflit.rules.yml", rules.replace(was, "x" + was[1:]))
            out = subprocess.run(
                ["promtool", "test", "rules",
                 box.path("reflit.rules.test.yml")], timeout=240, check=False,
                capture_output=True)
            assert out.returncode != 0, was


@case
def each_alarm_has_an_alert_of_its_severity():
    kinds = re.findall(r'X\(\w+, "([a-z-]+)", (\w+)', text_of(os.path.join(
        ROOT, "app", "common", "alarm_kind.h")))
    rules = text_of(RULES)
    assert len(kinds) > 10
    assert sorted(re.findall(r'alarm="([a-z-]+)"', rules)) == sorted(
        k for k, _ in kinds)
    for kind, severity in kinds:
        assert 'alarm="%s", severity="%s"' % (kind, severity.lower()) in \
            text_of(TESTS), kind


def promql(box, series, times):
    """promtool fails unless each expression is 1 at its time."""
    text = json.dumps({"rule_files": [], "evaluation_interval": "5s", "tests": [
        {"interval": "5s",
         "input_series": [{"series": k, "values": v} for k, v in series.items()],
         "promql_expr_test": [
             {"expr": expr, "eval_time": "%ds" % at,
              "exp_samples": [{"labels": "{}", "value": 1}]}
             for at, expr in times]}]})
    out = subprocess.run(["promtool", "test", "rules",
                          box.write("promql.yml", text)], text=True,
                         capture_output=True, timeout=240, check=False)
    assert out.returncode == 0 and "SUCCESS" in out.stdout, out


@case
def the_board_tells_of_packets_given_up_in_its_time_alone():
    need("promtool")
    expr = dict(queries())["Packets given up in this time"].replace(
        "$fabric", ".*").replace("$__range", "1m")
    with Box() as box:
        # six are given up, one of them arrives after all, the process restarts
        promql(box, {'reflit_traffic_reported_packets{fabric="f"}':
                     "0x12 6x40 5x20 0x20"},
               [(at, "(%s) %s" % (expr, is_so)) for at, is_so in (
                   (30, "== bool 0"), (90, ">= bool 6"), (90, "< bool 8"),
                   (200, "== bool 0"), (290, "== bool 0"),
                   (400, "== bool 0"))])


class Prometheus:
    """One that scrapes a page each second, and holds our rules."""

    def __init__(self, box, target):
        need("prometheus")
        conf = text_of(os.path.join(FILES, "prometheus.yml"))
        for was, now in (("127.0.0.1:8080", target),
                         ("scrape_interval: 5s", "scrape_interval: 1s"),
                         ("evaluation_interval: 5s", "evaluation_interval: 1s"),
                         ("[reflit", "[" + FILES + "/reflit")):
            assert conf.count(was) == 1, was
            conf = conf.replace(was, now)
        self.log = open(box.path("prometheus.log"), "w+", encoding="utf-8")
        self.program = subprocess.Popen(
            ["prometheus", "--config.file=" + box.write("p.yml", conf),
             "--storage.tsdb.path=" + box.path("tsdb"),
             "--web.listen-address=127.0.0.1:0", "--log.level=info"],
            stdout=self.log, stderr=subprocess.STDOUT)
        try:
            self.url = "http://" + until(self.address)
            until(lambda: fetch(self.url + "/-/ready")[0] == 200)
        except BaseException:
            self.__exit__()
            raise

    def address(self):
        self.log.seek(0)
        text = self.log.read()
        assert self.program.poll() is None, text
        found = re.findall(r'msg="Listening on" address=(\S+)', text)
        return found and found[0]

    def ask(self, what, **args):
        status, body, _ = fetch(self.url + "/api/v1/" + what + "?" +
                                urllib.parse.urlencode(args))
        answer = json.loads(body)
        assert status == 200 and answer["status"] == "success", answer
        return answer["data"]

    def query(self, expr):
        return self.ask("query", query=expr)["result"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.program.terminate()
        try:
            self.program.wait(60)
        finally:
            self.program.kill()
            self.program.wait()
            self.log.close()


@case
def prometheus_scrapes_a_fabric_draws_its_board_and_raises_its_alarms():
    need("prometheus")
    with Box() as box, Shown(box) as shown:
        with Prometheus(box, shown.url.split("//")[1]) as p:
            until(lambda: p.query('reflit_link_up{link="s0-s1#0"} == 1'))
            targets = p.ask("targets")["activeTargets"]
            assert [t["health"] for t in targets] == ["up"], targets
            assert shown.order("link s0-s1#0 down")[1]["result"] == 0

            def firing():
                return {(a["labels"]["alertname"], a["labels"].get("where"),
                         a["labels"].get("severity"))
                        for a in p.ask("alerts")["alerts"]
                        if a["state"] == "firing"}

            until(lambda: ("ReflitLinkDown", "link s0-s1#0", "major")
                  in firing())
            for where, expr in queries():
                expr = expr.replace("$fabric", ".*").replace(
                    "$__rate_interval", "15s").replace("$__range", "15s")
                assert "$" not in expr, (where, expr)
                until(lambda e=expr: p.query(e))
            # it keeps what was served
            status, body, _ = fetch(shown.url + "/metrics")
            assert status == 200
            names = served(openmetrics.families(body.decode()))
            kept = {s["__name__"] for s in p.ask(
                "series", **{"match[]": '{__name__=~"reflit_.+"}'})}
            assert kept == names - BESIDE_ETCD, kept ^ names
        shown.end()


@case
def queries_of_board_alerts_and_page_name_what_is_served():
    with Box() as box, Shown(box) as shown:
        assert shown.order("link s0-s1#0 down")[1]["result"] == 0
        found = until(lambda: (lambda f: "reflit_alarm" in f and f)(
            openmetrics.families(fetch(shown.url + "/metrics")[1].decode())))
        names = served(found)
        for where, expr in queries() + [("rules", text_of(RULES).split(
                "groups:")[1])]:
            assert names_of(expr) <= names, (where, names_of(expr) - names)
        # SAI's names, of which none is left out
        said = " ".join(f.help for f in found.values())
        for name in SAI:
            assert re.search(r"\b(SAI_PORT_STAT_LLR_)?%s\b" % name, said), name
        shown.end()


SAI = """TX_INIT_CTL_OS TX_INIT_ECHO_CTL_OS TX_ACK_CTL_OS TX_NACK_CTL_OS
TX_DISCARD TX_OK TX_POISONED TX_REPLAY RX_INIT_CTL_OS RX_INIT_ECHO_CTL_OS
RX_ACK_CTL_OS RX_NACK_CTL_OS RX_ACK_NACK_SEQ_ERROR RX_OK RX_POISONED RX_BAD
RX_EXPECTED_SEQ_GOOD RX_EXPECTED_SEQ_POISONED RX_EXPECTED_SEQ_BAD
RX_MISSING_SEQ RX_DUPLICATE_SEQ RX_REPLAY""".split()

main()
