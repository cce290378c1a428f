#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit-view: what its server answers and refuses, and its page in a real
headless Chromium, driven by WebDriver [APP-5]; metrics of a living fabric [APP-8]."""
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import urllib.request

import openmetrics

from reflit_test import Box, Skip, case, main
from shown import VIEW, Shown, fetch, until

TORUS = 'fabric: { topology = "torus"; dims = [4, 4]; };\n'
LARGE = 'fabric: { topology = "torus"; dims = [6, 6, 6]; };\n'


class Browser:
    """Headless Chromium behind chromedriver: WebDriver by hand."""

    def __init__(self):
        driver = shutil.which("chromedriver")
        chromium = shutil.which("chromium")
        if driver is None or chromium is None:
            raise Skip("chromium and chromedriver are not installed")
        self.dir = tempfile.mkdtemp(prefix="reflit-chromium-")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.base = "http://127.0.0.1:%d" % port
        self.session = None
        self.driver = subprocess.Popen(
            [driver, "--port=%d" % port], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.dir))
        until(lambda: self.call("GET", "/status")["ready"])
        # by pipes: the driver finds no port where no file names localhost
        args = ["--remote-debugging-pipe", "--headless", "--no-sandbox",
                "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-sync",
                "--disable-component-update", "--window-size=1500,1000",
                "--user-data-dir=" + os.path.join(self.dir, "profile")]
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args, "binary": chromium}}}})
        self.session = "/session/" + made["sessionId"]

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        req = urllib.request.Request(
            self.base + path, data=data, method=method,
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(req, timeout=90) as r:
            return json.loads(r.read())["value"]

    def go(self, url):
        self.call("POST", self.session + "/url", {"url": url})

    def script(self, text, *args):
        return self.call("POST", self.session + "/execute/sync",
                         {"script": text, "args": list(args)})

    def click(self, css):
        """A real click, where the element is."""
        found = self.call("POST", self.session + "/element",
                          {"using": "css selector", "value": css})
        element = list(found.values())[0]
        self.call("POST", "%s/element/%s/click" % (self.session, element))

    def keys(self, text):
        self.call("POST", self.session + "/actions", {"actions": [{
            "type": "key", "id": "k", "actions": [
                {"type": t, "value": c} for c in text
                for t in ("keyDown", "keyUp")]}]})

    def text(self, css):
        return self.script("return document.querySelector(arguments[0])"
                           "?.textContent", css)

    def errors(self):
        log = self.call("POST", self.session + "/se/log", {"type": "browser"})
        return [e["message"] for e in log if e["level"] == "SEVERE"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.session:
            try:
                self.call("DELETE", self.session)
            except OSError:
                pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def link_state(page, name):
    return page.script("return document.querySelector(arguments[0])"
                       ".dataset.state", '[data-link="%s"]' % name)


@case
def the_server_answers_with_telemetry_and_with_the_page():
    with Box() as box, Shown(box, TORUS) as show:
        sources = show.get("/api/sources")
        assert len(sources) == 1 and sources[0]["fabric"]["links"] == 48
        assert show.get("/api/ask?s=0&c=/reflit/port,s0.0/1")["state"]
        links = show.get("/api/list?s=0&c=/reflit/links")
        assert links["total"] == 48 == len(links["name"])
        for path, kind in (("/", "text/html"), ("/view.js", "javascript"),
                           ("/view.css", "text/css")):
            status, body, headers = fetch(show.url + path)
            assert status == 200 and kind in headers["Content-Type"]
            assert b"http://" not in body.replace(b"http://www.w3.org", b"")
            assert "default-src 'none'" in headers["Content-Security-Policy"]
        show.end()


@case
def metrics_agree_with_telemetry_and_name_an_alarm():
    with Box() as box, Shown(box) as shown:
        def read():
            status, body, headers = fetch(shown.url + "/metrics")
            assert status == 200
            assert headers["Content-Type"] == openmetrics.CONTENT_TYPE
            return openmetrics.families(body.decode())

        def value(name, **labels):
            return openmetrics.value(found, "reflit_" + name, **labels)

        until(lambda: openmetrics.value(read(), "reflit_link_up",
                                        link="s0-s1#0") == 1)
        assert shown.order("link s0-s1#0 down")[1]["result"] == 0
        assert shown.order("stop")[1]["result"] == 0
        until(lambda: openmetrics.value(
            read(), "reflit_alarm", alarm="link-down", severity="major",
            where="link s0-s1#0") == 1)
        until(lambda: shown.get("/api/ask?s=0&c=/reflit/traffic")
              ["under_way_packets"] == 0)
        found = read()
        traffic = shown.get("/api/ask?s=0&c=/reflit/traffic")
        for key in ("sent_packets", "delivered_packets", "flit_hops"):
            assert 0 < value("traffic_" + key) <= traffic[key], key
        assert value("link_up", link="s0-s1#0") == 0
        assert value("link_admin_up", link="s0-s1#0") == 1
        assert value("link_up", link="s0-s1#1") == 1
        assert value("alarms", severity="major") >= 1
        assert len(found["reflit_port_tx_flits"].samples) == 8

        def one_sum():
            now = read()  # an acknowledgment may cross while it is made
            return sum(now["reflit_port_tx_flits"].samples.values()) == \
                openmetrics.value(now, "reflit_traffic_flit_hops")

        until(one_sum)
        assert value("port_deaths", device="s0", port="1") == 1
        shown.end()


@case
def orders_need_permission_the_page_and_one_line():
    with Box() as box, Shown(box, view=()) as show:
        status, answer = show.order("link s0-s1#0 down")
        assert status == 403 and "--allow-orders" in answer["error"]
        assert show.end()["failovers"] == []
    with Box() as box, Shown(box, reflit=()) as show:
        status, answer = show.order("link s0-s1#0 down")
        assert status == 200 and answer["result"] < 0
        assert show.end()["failovers"] == []
    with Box() as box, Shown(box) as show:
        assert show.order("link s0-s1#0 down", headers=())[0] == 403
        for line in ("", "a\nb", "x" * 300):
            assert show.order(line)[0] == 400, line
        status, answer = show.order("link s0-s9 down")
        assert status == 200 and "no link s0-s9" in answer["error"]
        assert show.end()["failovers"] == []


@case
def what_the_server_does_not_know_it_refuses():
    with Box() as box, Shown(box) as show:
        for path, want in (("/nothing", 404), ("/../etc/passwd", 404),
                           ("/api/ask?s=0", 400),
                           ("/api/ask?s=0&c=/ethdev/list", 400),
                           ("/api/ask?s=0&c=/reflit/order,quit", 400),
                           ("/api/list?s=0&c=/reflit/order", 400),
                           ("/api/list?s=0&c=/reflit/links,1", 400),
                           ("/api/ask?s=7&c=/reflit/fabric", 502)):
            status, body, _ = fetch(show.url + path)
            assert status == want and "error" in json.loads(body), path
        assert fetch(show.url + "/", method="DELETE")[0] == 405
        assert fetch(show.url + "/", headers={"Host": "evil.example"})[0] == \
            403
        assert show.get("/api/ask?s=0&c=/reflit/nonsense") is None
        show.end()


@case
def wrong_arguments_are_one_line():
    for args in (("--listen", "8080"), ("--listen", "localhost:80"),
                 ("--listen", "127.0.0.1:99999"), ("--nonsense",), ("x",),
                 ("--socket", "/" + "x" * 200)):
        p = subprocess.run([VIEW, *args], capture_output=True, text=True,
                           timeout=30, check=False)
        assert p.returncode == 2 and p.stdout == "", args
        assert p.stderr.count("\n") == 1, p.stderr
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        p = subprocess.run([VIEW, "--listen", "127.0.0.1:%d"
                            % s.getsockname()[1]], capture_output=True,
                           text=True, timeout=30, check=False)
        assert p.returncode == 2 and "cannot listen" in p.stderr


@case
def a_cut_by_click_is_seen_on_the_page_and_in_the_report():
    with Browser() as page, Box() as box, Shown(box, TORUS) as show:
        page.go(show.url)
        name = "s0.0-s0.1"
        until(lambda: link_state(page, name) == "UP")
        assert page.script("return document.querySelectorAll("
                           "'.node').length") == 32
        page.click('[data-device="s1.1"]')
        until(lambda: "switch" in page.text("#facts"))
        # a link by the keyboard: where its curve runs is the layout's affair
        page.script("document.querySelector(arguments[0]).focus()",
                    '[data-link="%s"]' % name)
        page.keys("\ue007")
        until(lambda: name in page.text("#selection h2"))
        page.click('[data-order="cut"]')
        until(lambda: link_state(page, name) != "UP")
        until(lambda: name in page.text("#failovers"))
        # the failover as it happened, in words and on a scale of time [APP-10]
        words = until(lambda: (lambda w: w if w.startswith(
            name + " died at ") and "Tables were renewed" in w else None)(
                page.text("#story-words")))
        assert "s0.0 found it by phy after " in words and \
            "s0.1 found it by phy after " in words, words
        # in the order of their detection
        assert page.script("return [...document.querySelectorAll("
                           "'#story .row')].map(e => e.textContent)") == \
            re.findall(r"(s0\.[01]) found", words) + ["recovery"]
        assert page.script("return document.querySelectorAll("
                           "'#story .step.detected').length") == 2
        # the end that was reported first may have died last
        assert page.script("""
            const n = (...v) => v, f = { link: n("x", "x"), at_ns: n(50, 40),
              detect_ns: n(20, 10), device: n("b", "a"), left_by: n("-", "-"),
              first_rerouted_ns: n(0, 0), drained_ns: n(0, 0),
              detector: n("phy", "phy"), looped_flits: n(0, 0),
              looped_acked_flits: n(0, 0) };
            return import("/story.js").then((m) => m.story(f, null).ends.map(
              (e) => e.device + e.steps[0][1]))""") == ["a10", "b20"]
        until(lambda: "dead" in page.text("#events"))
        page.keys("h")
        until(lambda: link_state(page, name) == "UP")
        assert page.errors() == []
        report = show.end()
        assert {f["link"] for f in report["failovers"]} == {name}
        assert report["lost_packets"] == 0


@case
def large_fabrics_are_drawn_by_groups():
    with Browser() as page, Box() as box, Shown(box, LARGE) as show:
        page.go(show.url)
        until(lambda: page.script("return document.querySelectorAll("
                                  "'.node').length") == 6)
        page.click('[data-device="z = 2"]')
        until(lambda: page.script("return document.querySelectorAll("
                                  "'[data-device]').length") == 72)
        page.keys("\ue00c")
        until(lambda: page.script("return document.querySelectorAll("
                                  "'.node').length") == 6)
        assert page.errors() == []
        show.end()


@case
def without_orders_the_buttons_are_off_and_say_why():
    with Browser() as page, Box() as box, Shown(box, view=()) as show:
        page.go(show.url)
        until(lambda: link_state(page, "s0-s1#0") == "UP")
        assert "--allow-orders" in page.text("#selection")
        page.click('[data-device="s0"]')
        until(lambda: page.script("return [...document.querySelectorAll("
                                  "'[data-order]')].every(b => b.disabled)"
                                  " && document.querySelectorAll("
                                  "'[data-order]').length > 0"))
        show.end()


main()
