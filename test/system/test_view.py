#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit-view: what its server answers and refuses, and its page in a real
headless Chromium, driven by WebDriver [APP-5]; metrics of a living fabric [APP-8]."""
import contextlib
import json
import os
import re
import subprocess

import openmetrics

from browser import Browser
from played import LINKS, Played, boards, is_across, torus_3d, tree
from reflit_test import FULL, Box, case, first_line, main
from shown import VIEW, Shown, fetch, until

TORUS = 'fabric: { topology = "torus"; dims = [4, 4]; };\n'
LARGE = 'fabric: { topology = "torus"; dims = [4, 4, 10]; };\n'


# where the pictures are left that the last case takes
PICTURES = os.path.join(os.path.dirname(VIEW), "..", "view-pictures")


def link_state(page, name):
    return page.script("return document.querySelector(arguments[0])"
                       ".dataset.state", '[data-link="%s"]' % name)


# one browser for all cases: to start it takes seconds of both CPUs
SHARED = contextlib.ExitStack()
BROWSERS = []


def browser():
    if not BROWSERS:
        BROWSERS.append(SHARED.enter_context(Browser()))
    return BROWSERS[0]


def fresh():
    """The browser, at no page, and with nothing told of those before."""
    page = browser()
    page.go("about:blank")
    page.errors()
    return page


@contextlib.contextmanager
def shown_processes(box, *processes):
    """Played processes and a page of them, open at its first entry."""
    args = [a for p in processes for a in ("--socket", p.tel.path)]
    view = subprocess.Popen([VIEW, "--listen", "127.0.0.1:0", "--allow-orders",
                             *args], stdout=subprocess.PIPE, text=True)
    try:
        page = browser()
        page.go(first_line(view).split()[0])
        until(lambda: page.count(".node") > 0)
        yield page
    finally:
        view.terminate()
        view.wait()
        view.stdout.close()


def choose(page, css, text):
    """Chooses an option by a part of its text, as a person does."""
    assert page.script("""
        const e = document.querySelector(arguments[0]);
        const o = [...e.options].find((v) => v.text.includes(arguments[1]));
        if (!o)
          return false;
        e.value = o.value;
        e.dispatchEvent(new Event("change"));
        return true;""", css, text), (css, text)


def events(page):
    return page.script("return [...document.querySelectorAll('#events li')]"
                       ".map(e => e.textContent.replace(/.* ms /, ''))")


def points(page):
    """How many points the chart of delivered packets has."""
    return (page.script("return document.querySelector("
                        "'#chart-rate .series')?.getAttribute('d')")
            or "").count("L")


def is_grey(page):
    return page.script("return getComputedStyle(document.querySelector("
                       "'#fabric')).filter") != "none"


def view_box(page):
    return [float(v) for v in page.script(
        "return document.querySelector('#fabric').getAttribute('viewBox')"
    ).split()]


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
        until(lambda: shown.get("/api/ask?s=0&c=/reflit/traffic")
              ["delivered_packets"] > 0)
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
    with Box() as box, Shown(box, reflit=("--load", "0.001")) as show:
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
def a_cut_by_click_is_seen_on_the_page_and_in_the_report():
    page = fresh()
    with Box() as box, Shown(box, TORUS) as show:
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
        told = page.errors()
        assert told == [], told
        report = show.end()
        assert {f["link"] for f in report["failovers"]} == {name}
        assert report["lost_packets"] == 0


@case
def large_fabrics_are_drawn_by_groups():
    page = fresh()
    with Box() as box, Shown(box, LARGE) as show:
        page.go(show.url)
        until(lambda: page.script("return document.querySelectorAll("
                                  "'.node').length") == 10)
        page.click('[data-device="z = 2"]')
        until(lambda: page.script("return document.querySelectorAll("
                                  "'[data-device]').length") == 32)
        page.keys("\ue00c")
        until(lambda: page.script("return document.querySelectorAll("
                                  "'.node').length") == 10)
        told = page.errors()
        assert told == [], told
        show.end()


@case
def without_orders_the_buttons_are_off_and_say_why():
    page = fresh()
    with Box() as box, Shown(box, view=()) as show:
        page.go(show.url)
        until(lambda: link_state(page, "s0-s1#0") == "UP")
        assert "--allow-orders" in page.text("#selection")
        page.click('[data-device="s0"]')
        until(lambda: page.script("return [...document.querySelectorAll("
                                  "'[data-order]')].every(b => b.disabled)"
                                  " && document.querySelectorAll("
                                  "'[data-order]').length > 0"))
        show.end()


@case
def a_silent_process_is_grey_until_it_answers_and_another_is_opened_anew():
    with Box() as box:
        one = Played(box.path("a"), 11)
        one.events = ["1.0 ms s0: s0-s1#0 up, epoch 1"]
        with shown_processes(box, one) as page:
            until(lambda: points(page) > 1 and not is_grey(page))
            one.tel.stop()
            until(lambda: is_grey(page))
            words = page.text("#summary")
            assert re.match(r"silent since \d\d:\d\d:\d\d UTC, last word: "
                            r"[\d.]+ s, sent .*; links 4 of 4 up$", words), words
            assert page.text("#news") in words
            assert "--allow-orders" not in page.text("#selection")
            page.click('[data-device="s0"]')
            assert page.script("return [...document.querySelectorAll("
                               "'[data-order]')].every(b => b.disabled)")
            before = points(page)
            one.tel.listen()
            until(lambda: not is_grey(page) and points(page) > before)
            assert page.text("#news") == ""
            assert page.text("#selection h2") == "device s0"
            # the same socket, but another process
            one.tel.stop()
            until(lambda: is_grey(page))
            one.pid, one.events = 12, ["1.0 ms s1: s1-e1 up, epoch 1"]
            one.tel.listen()
            until(lambda: not is_grey(page) and events(page) == [
                "s1: s1-e1 up, epoch 1"])
            assert page.count("#source option") == 1
            assert "(12)" in page.text("#source")
        one.tel.stop()


@case
def events_are_filtered_by_severity_and_by_place():
    with Box() as box:
        one = Played(box.path("a"), 11)
        one.events = ["%d.5 ms %s" % (i, t) for i, t in enumerate((
            "s0: s0-s1#0 up, epoch 1", "s0: port 1: holds, 3 packets queued",
            "s0: s0-s1#0 dead, detector phy", "s1: s1-e1 dead, detector fec",
            "alarm raised: endpoint e1: unreachable: no way",
            "alarm over: link s0-s1#0: link-down",
            "gave up packet 5 of e0 to e1: retries"))]
        texts = [e.split(" ms ")[1] for e in one.events]
        with shown_processes(box, one) as page:
            until(lambda: len(events(page)) == 7)
            for least, want in (("critical", [4]), ("major", [2, 3, 4, 6]),
                                ("minor", [1, 2, 3, 4, 6])):
                choose(page, "#severity", least)
                assert events(page) == [texts[i] for i in want[::-1]], least
            choose(page, "#place", "e1")
            assert events(page) == [texts[i] for i in (6, 4, 3)]
            choose(page, "#severity", "any")
            choose(page, "#place", "selected")
            assert len(events(page)) == 7
            page.script("document.querySelector(arguments[0]).focus()",
                        '[data-link="s0-s1#0"]')
            page.keys("\ue007")
            until(lambda: events(page) == [texts[i] for i in (5, 2, 0)])
            page.click('[data-device="s1"]')
            # a link of it tells of it, too
            until(lambda: events(page) == [texts[i] for i in (5, 3, 2, 0)])
            one.events.append("9.5 ms s1: s1-e1 up, epoch 2")
            until(lambda: events(page)[0] == "s1: s1-e1 up, epoch 2")
            # nothing is asked for again
            asked = [int(c.split(",")[1]) for c in one.asked("events")]
            assert asked == sorted(asked) and asked[-1] >= 7, asked
            assert asked.count(0) <= 3, asked
        one.tel.stop()


@case
def the_picture_is_zoomed_by_keys_buttons_wheel_and_drag():
    with Box() as box:
        one = Played(box.path("a"), 11)
        with shown_processes(box, one) as page:
            full = view_box(page)
            page.keys("+")
            near = view_box(page)
            assert near[2] < full[2] and near[3] < full[3], near
            page.keys("-")
            assert view_box(page) == full
            page.keys("-")
            assert view_box(page) == full  # there is no more
            page.click('#zoom [data-key="+"]')
            assert view_box(page) == near
            page.keys("\ue014")
            assert view_box(page)[0] > near[0]
            page.keys("0")
            assert view_box(page) == full
            # the place under the wheel stays: the left one, at the left
            left = page.place('[data-device="e0"]')
            page.wheel(left, -240)
            assert view_box(page)[2] < full[2]
            now = page.place('[data-device="e0"]')
            assert abs(now[0] - left[0]) < 4 and abs(now[1] - left[1]) < 4
            # by dragging, which selects nothing
            page.drag(now, (now[0] - 60, now[1]))
            moved = page.place('[data-device="e0"]')
            assert abs(moved[0] - (now[0] - 60)) < 4, (now, moved)
            assert page.count(".selected") == 0
            page.click('[data-device="s0"]')
            assert page.text("#selection h2") == "device s0"
        one.tel.stop()


@case
def several_processes_of_a_fabric_are_one_picture():
    with Box() as box:
        left = Played(box.path("l"), 11, "left", ["e0", "s0"])
        right = Played(box.path("r"), 12, "right", ["s1", "e1"])
        other = Played(box.path("o"), 13, config="other.cfg")
        right.down["s1-e1"] = "DEAD"
        left.events = ["1.0 ms s0: e0-s0 up, epoch 1"]
        right.events = ["2.0 ms s1: s1-e1 dead, detector phy"]
        with shown_processes(box, left, right, other) as page:
            options = page.script("return [...document.querySelectorAll("
                                  "'#source option')].map(o => o.text)")
            assert options == [
                "all of figure1.cfg: left, right", "figure1.cfg left (11)",
                "figure1.cfg right (12)", "other.cfg (13)"], options

            def states():
                return [link_state(page, n) for n in LINKS]

            until(lambda: states() == ["UP", "UP", "UP", "DEAD"])
            until(lambda: "links 3 of 4 up" in page.text("#summary"))
            until(lambda: len(events(page)) == 2)
            # an order goes to who has the device
            page.click('[data-device="s1"]')
            page.click('[data-order="crash"]')
            until(lambda: right.asked("order") == [
                "/reflit/order,device s1 crash"])
            assert left.asked("order") == []
            # one that is silent: what only it knows is grey, the rest goes on
            right.tel.stop()
            until(lambda: states() == ["UP", "UP", "UP", "silent"])
            assert not is_grey(page)
            assert page.text("#summary").startswith("right silent since ")
            assert page.script("return [...document.querySelectorAll("
                               "'.node.away')].map(e => e.dataset.device)"
                               ) == ["e1"]
            # begun anew, it is of the same picture
            right.pid, right.down = 22, {}
            right.tel.listen()
            until(lambda: states() == ["UP"] * 4)
            assert len(events(page)) >= 2
            choose(page, "#source", "left (11)")
            until(lambda: states() == ["UP", "UP", "UP", "remote"])
        for p in (left, right, other):
            p.tel.stop()


@case
def what_was_seen_of_a_process_is_kept_while_another_is_shown():
    with Box() as box:
        one, two = Played(box.path("a"), 11), Played(box.path("b"), 12)
        one.events = ["1.0 ms s0: s0-s1#0 up, epoch 1"]
        with shown_processes(box, one, two) as page:
            until(lambda: points(page) >= 4 and len(events(page)) == 1)
            before = points(page)
            choose(page, "#source", "(12)")
            until(lambda: events(page) == [] and 0 < points(page) < before)
            one.events.append("2.0 ms s0: s0-s1#0 retrains")
            choose(page, "#source", "(11)")
            assert points(page) >= before and len(events(page)) >= 1
            until(lambda: len(events(page)) == 2)
            # of one that is silent, too
            one.tel.stop()
            until(lambda: is_grey(page))
            choose(page, "#source", "(12)")
            until(lambda: events(page) == [] and not is_grey(page))
            choose(page, "#source", "(11)")
            assert points(page) >= before and len(events(page)) == 2
            until(lambda: page.text("#summary").startswith("silent since "))
        two.tel.stop()


@case
def loads_are_seen_as_colour_and_as_width():
    with Box() as box:
        one = Played(box.path("a"), 11)
        one.rates = dict(zip(LINKS, (0, 2000, 6000, 10000)))
        with shown_processes(box, one) as page:
            def look(what):
                return page.script(
                    "return [...document.querySelectorAll('.link .wire')].map("
                    "e => getComputedStyle(e)[arguments[0]])", what)

            until(lambda: len(set(look("stroke"))) == 4)
            widths = [float(w[:-2]) for w in look("strokeWidth")]
            assert widths == sorted(set(widths)), widths
            key = page.script("""return [...document.querySelectorAll(
                '#legend .idle, #legend .load1, #legend .load3, #legend .load4'
                )].map(e => getComputedStyle(e, '::before').borderTopColor)""")
            assert key == look("stroke"), (key, look("stroke"))
            assert page.text("#busiest").endswith("k flits a second")
        one.tel.stop()


@case
def devices_stand_apart_in_every_layout():
    with Box() as box:
        one = Played(box.path("a"), 11)
        with shown_processes(box, one) as page:
            for topology, dims, at, ends, links in (
                    torus_3d(4), tree(16), boards(3)):
                near = [[] for _ in at + ends]
                for a, b in links:
                    near[a].append(b)
                    near[b].append(a)
                where = page.script(
                    "return import('/layout.js').then((m) => {"
                    "  const v = m.layout(arguments[0]);"
                    "  return v.x.map((x, i) => [x, v.y[i]]); })",
                    {"topology": topology, "dims": dims, "neighbours": near,
                     "name": ["d%d" % i for i in range(len(at + ends))],
                     "kind": ["switch"] * len(at) + ["endpoint"] * len(ends),
                     **{c: [p[k] for p in at + ends]
                        for k, c in enumerate("xyz")}})
                for i, (x, y) in enumerate(where):
                    for j, (u, v) in enumerate(where[:i]):
                        # half of their widths and heights, of both
                        w = 19 + (19 if i < len(at) else 11)
                        h = 15 + (15 if i < len(at) else 11)
                        if j >= len(at):
                            w = h = 22
                        assert abs(x - u) >= w or abs(y - v) >= h, (
                            topology, i, j, x, y, u, v)
                if topology == "torus":
                    # only what wraps around runs across other switches
                    assert sum(is_across(where[:len(at)], a, b)
                               for a, b in links if b < len(at)) == 48
            # and that bends
            assert page.script("""
                return import("/draw.js").then(({ Picture }) => {
                  const s = document.createElementNS(
                    "http://www.w3.org/2000/svg", "svg");
                  new Picture(s, [0, 1, 2].map((id) => ({ id, label: "n" + id,
                    x: 100 * id, y: 0 })), [[0, 1], [0, 2]].map(([a, b], id) =>
                    ({ id, label: "l" + id, a, b, k: 0, n: 1 })), {});
                  return [...s.querySelectorAll(".wire")].map((e) => Math.abs(
                    /Q\\S+ (\\S+)/.exec(e.getAttribute("d"))[1]) > 5); })"""
                               ) == [False, True]
            # figure 1 lies flat
            until(lambda: page.count(".node") == 4)
            all_ = view_box(page)
            assert all_[2] > 2 * all_[3], all_
        one.tel.stop()


@case
def nothing_that_goes_on_is_told_aloud():
    with Box() as box:
        one = Played(box.path("a"), 11)
        with shown_processes(box, one) as page:
            page.click('[data-device="s0"]')
            page.script("""
                const all = "[aria-live], [role=status], [role=alert], [role=log]";
                window.told = 0;
                for (const e of document.querySelectorAll(all))
                  new MutationObserver(() => window.told++).observe(e,
                    { childList: true, characterData: true, subtree: true });""")
            words, was = page.text("#summary"), points(page)
            until(lambda: page.text("#summary") != words
                  and points(page) > was + 2)
            assert page.script("return window.told") == 0
            one.tel.stop()
            until(lambda: page.script("return window.told") > 0)
            told = page.script("return window.told")
            until(lambda: len(one.tel.peers) == 0)
            assert page.script("return window.told") == told


@case
def the_page_fits_and_is_seen_from_480_to_2560_pixels():
    def fits(page, name, width):
        page.size(width)
        until(lambda: page.script("return innerWidth") == width)
        # a chart has the width of its place
        until(lambda: page.script("""
            return [...document.querySelectorAll('.chart > svg')].every((e) =>
              e.clientWidth === 0 || !e.hasAttribute('viewBox') ||
              Math.abs(e.viewBox.baseVal.width - e.clientWidth) < 2)"""))
        assert page.script("return document.documentElement.scrollWidth"
                           ) <= width, (name, width)
        charts = page.script("return [...document.querySelectorAll('.chart')]"
                             ".map(e => e.clientWidth)")
        assert min(charts) >= 200 and max(charts) <= width, charts
        return page.picture(os.path.join(PICTURES, "%s-%d.png" % (name, width)),
                            "#fabric")

    with Box() as box, Shown(box, TORUS) as show:
        page = browser()
        page.go(show.url)
        for state in ("healthy", "failed-over", "silent"):
            until(lambda: points(page) > 3)
            if state == "failed-over":
                assert show.order("link s1.1-s1.2 down")[1]["result"] == 0
                until(lambda: page.text("#story-words").startswith("s1.1-s1.2"))
            elif state == "silent":
                show.reflit.kill()
                until(lambda: is_grey(page))
            for width in (480, 1024, 1280, 2560) if FULL else (480, 2560):
                colours, bright = fits(page, state, width)
                assert colours > 100 and (bright > 1000) == (
                    state != "silent"), (state, width, colours, bright)
        page.keys("t")
        assert fits(page, "silent-dark", 1280)[1] < 1000


with SHARED:
    main()
