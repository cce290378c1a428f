#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The server of reflit-view before a telemetry socket that this file plays:
what goes there and what must not, and what becomes of the answers [APP-5]; metrics [APP-8].

usage: test_view_server.py REFLIT_VIEW SOURCE_ROOT
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

VIEW = os.path.abspath(sys.argv[1])
sys.argv[1:] = ["-", "-", sys.argv[2]]  # reflit itself has no part in this
import openmetrics  # noqa: E402
from played import Telemetry, listed  # noqa: E402
from reflit_test import Box, Skip, case, first_line, main  # noqa: E402

ORDER = {"X-Reflit-Order": "1"}


class View:
    """reflit-view beside a telemetry socket."""

    def __init__(self, *args, answers=None, listen="127.0.0.1", **telemetry):
        self.box = Box()
        path = self.box.path("dpdk_telemetry.v2")
        self.tel = Telemetry(path, {"/reflit/fabric": {"links": 3},
                                    "/reflit/order": {"result": 0},
                                    **(answers or {})}, **telemetry)
        self.view = subprocess.Popen(
            [VIEW, "--listen", listen + ":0", "--socket", path, *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = first_line(self.view).split()[0]
        self.port = int(self.url.rsplit(":", 1)[1].rstrip("/"))

    def __enter__(self):
        return self

    def __exit__(self, kind, *exc):
        self.view.send_signal(signal.SIGTERM)
        status = self.view.wait(60)
        self.view.stdout.close()
        self.view.stderr.close()
        self.tel.stop()
        self.box.__exit__()
        assert kind is not None or status == 0, status

    def ask(self, path, method="GET", body=None, headers=None,
            host="127.0.0.1"):
        """@return (status, headers, what the body says)"""
        c = http.client.HTTPConnection(host, self.port, timeout=30)
        c.request(method, path, body=body, headers=headers or {})
        r = c.getresponse()
        text = r.read()
        c.close()
        kind = r.headers["Content-Type"]
        return r.status, r.headers, (json.loads(text) if "json" in kind
                                     else text)

    def order(self, line, headers=None, **more):
        return self.ask("/api/order?s=0", "POST", line,
                        ORDER if headers is None else headers, **more)


def orders(view):
    return [c for c in view.tel.asked if c.startswith("/reflit/order")]


@case
def an_order_reaches_the_program_as_it_was_given():
    with View("--allow-orders") as v:
        status, _, answer = v.order(b"link s0-s1#0 down, now")
        assert status == 200 and answer == {"result": 0}, (status, answer)
        assert orders(v) == ["/reflit/order,link s0-s1#0 down, now"], \
            v.tel.asked
        longest = b"x" * 255
        assert v.order(longest)[0] == 200
        assert orders(v)[1] == "/reflit/order," + "x" * 255, orders(v)


@case
def an_order_that_may_not_be_given_reaches_nobody():
    with View() as v:
        status, _, answer = v.order(b"quit")
        assert status == 403 and "--allow-orders" in answer["error"], answer
        assert orders(v) == []
    with View("--allow-orders") as v:
        for body, headers, want in (
                (b"quit", {}, 403),            # another site's page
                (b"", None, 400), (b"a\nb", None, 400), (b"a\0b", None, 400),
                (b"x" * 256, None, 400), (b"x" * 100000, None, 400)):
            status, _, answer = v.order(body, headers)
            assert status == want and "error" in answer, (body[:9], answer)
        assert v.ask("/api/order?s=0", "PUT", b"quit", ORDER)[0] == 405
        assert v.ask("/api/other?s=0", "POST", b"quit", ORDER)[0] == 405
        assert v.ask("/api/order?s=7", "POST", b"quit", ORDER)[0] == 502
        for path in ("/api/ask?s=0&c=/reflit/order,quit",
                     "/api/list?s=0&c=/reflit/order",
                     "/api/list?s=0&c=/reflit/order,quit"):
            assert v.ask(path)[0] == 400, path
        assert orders(v) == [], v.tel.asked


def own_address():
    """An address of this machine that is not of its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # nothing is sent
            addr = s.getsockname()[0]
        except OSError:
            addr = "127.0.0.1"
    if addr.startswith("127."):
        raise Skip("this machine has only its loopback")
    return addr


@case
def orders_from_other_machines_are_taken_only_where_that_is_asked_for():
    addr = own_address()
    with View("--allow-orders", listen="0.0.0.0") as v:
        status, _, answer = v.order(b"quit", host=addr)
        assert status == 403 and "this machine only" in answer["error"]
        assert orders(v) == []
        assert v.order(b"quit")[0] == 200
    with View("--allow-orders", "--orders-from-anywhere",
              listen="0.0.0.0") as v:
        assert v.order(b"quit", host=addr)[0] == 200
        assert orders(v) == ["/reflit/order,quit"]


@case
def questions_reach_the_program_and_nothing_else_of_its_socket():
    with View(answers={"/reflit/port": {"state": "UP"}}) as v:
        assert v.ask("/api/ask?s=0&c=/reflit/port,s0/1")[2] == {"state": "UP"}
        assert v.tel.asked[-1] == "/reflit/port,s0/1", v.tel.asked
        asked = len(v.tel.asked)
        for c in ("", "/", "/ethdev/list", "/info", "reflit/fabric",
                  "/reflit/" + "x" * 192):
            status, _, answer = v.ask("/api/ask?s=0&c=" + c)
            assert status == 400 and "error" in answer, (c, answer)
        assert v.ask("/api/ask?s=0")[0] == 400
        assert len(v.tel.asked) == asked, v.tel.asked
        assert v.ask("/api/ask?s=1&c=/reflit/fabric")[0] == 502


def paged(total, at_once):
    def page(arg):
        at = int(arg or 0)
        n = max(0, min(at_once, total - at))
        return {"count": n, "total": total,
                "name": ["l%d" % i for i in range(at, at + n)],
                "up": [i % 2 == 0 for i in range(at, at + n)]}
    return page


@case
def a_list_of_many_pages_is_one():
    with View(answers={"/reflit/links": paged(10, 4),
                       "/reflit/none": paged(0, 4),
                       "/reflit/stuck": lambda arg: {
                           "count": 0, "total": 9, "name": []}}) as v:
        got = v.ask("/api/list?s=0&c=/reflit/links")[2]
        assert got == {"name": ["l%d" % i for i in range(10)],
                       "up": [i % 2 == 0 for i in range(10)],
                       "total": 10}, got
        assert [c for c in v.tel.asked if "links" in c] == [
            "/reflit/links,0", "/reflit/links,4", "/reflit/links,8"]
        assert v.ask("/api/list?s=0&c=/reflit/none")[2]["total"] == 0
        # a program that says less than it has ends the list
        assert v.ask("/api/list?s=0&c=/reflit/stuck")[2]["total"] == 0
        assert v.ask("/api/list?s=0&c=/reflit/links,4")[0] == 400


@case
def sources_say_who_they_are_and_whether_they_take_orders():
    for args, may in (((), False), (("--allow-orders",), True)):
        with View(*args) as v:
            got = v.ask("/api/sources")[2]
            assert got == [{"source": 0, "path": v.tel.path,
                            "fabric": {"links": 3}, "orders": may}], got
    # another DPDK program's socket is none of ours
    with View(answers={"/reflit/fabric": None}) as v:
        assert v.ask("/api/sources")[2] == []


@case
def a_program_that_begins_anew_is_found_again():
    with View() as v:
        assert len(v.ask("/api/sources")[2]) == 1
        v.tel.stop()
        assert v.ask("/api/ask?s=0&c=/reflit/fabric")[0] == 502
        assert v.ask("/api/sources")[2] == []
        v.tel.listen()
        assert len(v.ask("/api/sources")[2]) == 1


@case
def strange_answers_end_nothing():
    with View(answers={"/reflit/big": "x" * 50000}, most=60000) as v:
        assert v.ask("/api/ask?s=0&c=/reflit/big")[2] == "x" * 50000
    with View(answers={"/reflit/two": b'{"a": 1, "b": 2}',
                       "/reflit/none": b"{}", "/reflit/list": b"[1]",
                       "/reflit/text": b"what?"}) as v:
        for name in ("two", "none", "list", "text"):
            assert v.ask("/api/ask?s=0&c=/reflit/" + name)[0] == 502, name
    with View(answers={"/reflit/big": "x" * 50000}) as v:
        # longer than the socket says it may be: cut off, so no JSON
        assert v.ask("/api/ask?s=0&c=/reflit/big")[0] == 502
        assert len(v.ask("/api/sources")[2]) == 1
    for hello in (b"hello", b"\xff\xfe"):
        with View(hello=hello) as v:
            assert v.ask("/api/sources")[2] == []


@case
def only_a_page_that_calls_us_by_our_name_is_answered():
    with View() as v:
        for host, want in (("evil.example", 403), ("127.0.0.1.evil", 403),
                           ("localhost.evil.example", 403),
                           ("localhostess.example:80", 403),
                           ("127.0.0.1:%d" % v.port, 200), ("[::1]", 200),
                           ("localhost", 200),
                           ("localhost:%d" % v.port, 200)):
            status, headers, _ = v.ask("/", headers={"Host": host})
            assert status == want, (host, status)
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-store"
            csp = headers["Content-Security-Policy"]
            assert "default-src 'none'" in csp and "script-src 'self'" in csp
        for path, kind in (("/", "text/html"), ("/view.js", "javascript"),
                           ("/view.css", "text/css")):
            status, headers, body = v.ask(path)
            assert status == 200 and kind in headers["Content-Type"], path
            assert len(body) > 500, path
        for path in ("/nothing", "/../etc/passwd", "/api"):
            assert v.ask(path)[0] == 404, path
        assert v.ask("/", "DELETE")[0] == 405


FABRIC = {"config": 'a "b"\\c\n.cfg', "process": "left", "version": "0.2.0",
          "now_ns": 2500000000, "failovers": 3, "events": 7}


ANSWERS = {
    "/reflit/fabric": FABRIC,
    "/reflit/traffic": {"sent_packets": 2 ** 53 + 1, "under_way_packets": 5,
                        "reported_packets": 6, "refused_packets": 7},
    "/reflit/channel": {"kind": "etcd", "answers": 0},
    "/reflit/alarms": listed(alarm=["link-down", "miscabled"],
                             severity=["major", "critical"],
                             where=["link s0-s1#0", "link s0-s1#1"],
                             why=["x", "y"], since_ns=[1, 2]),
    "/reflit/links": listed(name=["s0-s1#0", "s0-s1#1", "s2-s3"],
                            admin=["up", "drained", "remote"],
                            oper=["down", "degraded", "remote"]),
    "/reflit/ports": listed(name=["s0/0", "s0/1"]),
    "/reflit/port": lambda name: {
        "link": "s0-s1#" + name[-1], "state": "UP", "held_flits": 4,
        "round_trip_ns": 1500, "tx_flits": 10 + int(name[-1]), "rx_bad": 0},
    "/reflit/devices": listed(name=["s0", "e0"], kind=["switch", "endpoint"]),
    "/reflit/switch": lambda name: {"rx_packets": len(name)},
    "/reflit/endpoint": lambda name: {"rx_ok": 9},
    "/reflit/classes": listed(cos=[0, 15], flows=[3, 2],
                              outstanding_flits=[40, 41], resend_flits=[5, 6],
                              held_flits=[7, 8]),
    "/reflit/histogram": listed(upper_ns=[900, 2047, 5000, 10 ** 11],
                                count_n=[1, 2, 3, 4], vc0_n=[0, 0, 0, 0],
                                vc1_n=[0, 0, 0, 0], vc7_n=[1, 2, 3, 4]),
}


def metrics(view):
    status, headers, body = view.ask("/metrics")
    assert status == 200, status
    assert headers["Content-Type"] == openmetrics.CONTENT_TYPE
    return openmetrics.families(body.decode())


@case
def metrics_are_what_telemetry_says_in_the_form_of_openmetrics():
    with View(answers=ANSWERS) as v:
        found = metrics(v)

        def value(name, **labels):
            return openmetrics.value(found, "reflit_" + name, **labels)

        base = {"fabric": FABRIC["config"], "process": "left",
                "socket": v.tel.path}
        assert value("uptime_seconds", **base) == 2.5
        assert value("etcd_up") == 0 and value("failovers") == 3
        assert value("port_tx_flits", device="s0", port="1",
                     link="s0-s1#1") == 11
        assert found["reflit_port_tx_flits"].unit == "flits"
        assert "SAI_PORT_STAT_LLR_TX_OK" in found["reflit_port_tx_flits"].help
        assert found["reflit_port_held_flits"].kind == "gauge"
        # what may fall is no counter: packets arrive after they were given up
        for name, n in (("under_way", 5), ("reported", 6)):
            name = "traffic_%s_packets" % name
            assert found["reflit_" + name].kind == "gauge", name
            assert value(name) == n
        assert found["reflit_traffic_refused_packets"].kind == "counter"
        assert value("port_round_trip_seconds", port="0") == 1.5e-6
        assert value("core_rx_packets", device="s0") == 2
        assert value("endpoint_rx_ok", endpoint="e0") == 9
        assert value("link_up", link="s0-s1#0") == 0
        assert value("link_up", link="s0-s1#1") == 1
        assert value("link_admin_up", link="s0-s1#1") == 0
        # another process tells of a link that is wholly there
        assert len(found["reflit_link_up"].samples) == 2
        assert value("alarm", alarm="miscabled", severity="critical",
                     where="link s0-s1#1") == 1
        assert [value("alarms", severity=s) for s in (
            "critical", "major", "minor")] == [1, 1, 0]
        for le, n in (("1.023e-06", 1), ("2.047e-06", 3), ("8.191e-06", 6),
                      ("+Inf", 10)):
            assert value("latency_seconds", vc="7", le=le) == n, le
            assert value("latency_seconds", vc="0", le=le) == 0, le
        assert {dict(labels)["vc"] for _, labels in
                found["reflit_latency_seconds"].samples} == {"0", "7"}
        for name, n in (("flows", 2), ("outstanding_flits", 41),
                        ("resend_flits", 6), ("held_flits", 8)):
            name = "class_" + name
            assert found["reflit_" + name].kind == "gauge", name
            assert value(name, **{"class": "15"}) == n, name
        # no digit of a large number is lost
        body = v.ask("/metrics")[2].decode()
        assert " %d\n" % (2 ** 53 + 1) in body


@case
def metrics_of_a_program_that_is_gone_say_so_and_nothing_else():
    with View(answers=ANSWERS) as v:
        v.tel.stop()
        found = metrics(v)
        assert openmetrics.value(found, "reflit_source_up",
                                 socket=v.tel.path) == 0
        assert list(found) == ["reflit_source_up"], list(found)
        v.tel.listen()
        assert openmetrics.value(metrics(v), "reflit_source_up") == 1
    # another DPDK program's socket is none of ours
    with View(answers={"/reflit/fabric": None}) as v:
        assert metrics(v) == {}
    # answers that are no objects, and lists without columns
    with View(answers={name: [1, "x"] for name in ANSWERS
                       if name != "/reflit/fabric"}) as v:
        assert "reflit_uptime_seconds" in metrics(v)


@case
def several_pages_ask_at_once():
    def slow(arg):
        time.sleep(0.02)
        return {"n": int(arg)}

    with View(answers={"/reflit/slow": slow}) as v:
        got = [None] * 12

        def one(i):
            got[i] = v.ask("/api/ask?s=0&c=/reflit/slow,%d" % i)[2]

        threads = [threading.Thread(target=one, args=(i,)) for i in range(12)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert got == [{"n": i} for i in range(12)], got


@case
def a_silent_program_holds_up_nothing_but_itself():
    silent = threading.Event()

    def stopped(arg):
        silent.wait(60)
        return {}

    with View(answers={"/reflit/stuck": stopped}) as v:
        asks = [threading.Thread(
            target=v.ask, args=("/api/ask?s=0&c=/reflit/stuck",))
            for _ in range(6)]
        for t in asks:
            t.start()
        begin = time.monotonic()
        while "/reflit/stuck" not in v.tel.asked:
            assert time.monotonic() < begin + 30
            time.sleep(0.01)
        # files of the page wait for nobody; once it is known to be silent,
        # questions do not, either
        assert v.ask("/view.js")[0] == 200
        assert all(t.is_alive() for t in asks[:1]), "it was not waited for"
        for t in asks:
            t.join(30)
            assert not t.is_alive()
        asked = len(v.tel.asked)
        assert v.ask("/api/ask?s=0&c=/reflit/stuck")[0] == 502
        assert len(v.tel.asked) == asked, v.tel.asked
        silent.set()


@case
def a_list_without_an_end_ends():
    def endless(arg):
        return {"count": 1, "total": 10 ** 15, "name": ["x" * 16000]}

    with View(answers={"/reflit/links": endless}, most=60000) as v:
        got = v.ask("/api/list?s=0&c=/reflit/links")[2]
        assert 1000 < got["total"] < 3000, got["total"]


@case
def connections_that_say_nothing_leave_room_for_others():
    with View() as v:
        mute = []
        for _ in range(100):
            c = socket.create_connection(("127.0.0.1", v.port), 10)
            c.sendall(b"GET / HTTP/1.1\r\nHost: ")
            mute.append(c)
        assert v.ask("/api/sources")[0] == 200
        for c in mute:
            c.close()


@case
def sockets_that_others_could_have_made_are_not_asked():
    if os.geteuid() != 0:
        raise Skip("another user's socket takes root to make")
    nobody = 65534
    with Box() as box:
        top = box.path("run")
        where = os.path.join(top, "dpdk", "x")
        os.makedirs(where)
        for path in (box.path("."), top, os.path.dirname(where), where):
            os.chmod(path, 0o755)
        tel = Telemetry(os.path.join(where, "dpdk_telemetry.v2"),
                        {"/reflit/fabric": {"links": 3}})
        os.chmod(tel.path, 0o777)

        def found():
            view = subprocess.Popen(
                [VIEW, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                text=True, user=nobody, group=nobody, extra_groups=[],
                env=dict(os.environ, XDG_RUNTIME_DIR=top))
            port = int(first_line(view).rsplit(":", 1)[1].split("/")[0])
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            c.request("GET", "/api/sources")
            got = json.loads(c.getresponse().read())
            c.close()
            view.terminate()
            assert view.wait(60) == 0
            view.stdout.close()
            return len(got)

        assert found() == 1  # root's, in folders of root
        os.chmod(where, 0o777)
        assert found() == 0
        os.chmod(where, 0o755)
        os.chmod(os.path.dirname(where), 0o777)
        assert found() == 0
        os.chmod(os.path.dirname(where), 0o755)
        os.chown(where, 12345, 12345)
        assert found() == 0
        tel.stop()


main()
