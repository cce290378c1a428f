#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The server of reflit-view before a telemetry socket that this file plays:
what goes there and what must not, and what becomes of the answers [APP-5].

usage: test_view_server.py REFLIT_VIEW SOURCE_ROOT
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time

from viewed import ORDER, VIEW, View  # first: it takes the arguments
from played import Telemetry
from reflit_test import Box, Skip, case, first_line, main


def orders(view):
    return [c for c in view.tel.asked if c.startswith("/reflit/order")]


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
def sources_are_asked_at_once():
    """Each answers when both have been asked."""
    both = threading.Barrier(2)

    def answer(_arg):
        both.wait(60)
        return {"links": 3}

    with Box() as box:
        other = Telemetry(box.path("t"), {"/reflit/fabric": answer})
        with View("--socket", other.path,
                  answers={"/reflit/fabric": answer}) as v:
            assert len(v.ask("/api/sources")[2]) == 2
        other.stop()


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
def each_socket_is_a_source_once_and_what_is_wrong_with_one_is_said():
    def begin(*args):
        view = subprocess.Popen([VIEW, "--listen", "127.0.0.1:0", *args],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
        return view, first_line(view)

    with Box() as box:
        tels = [Telemetry(box.path("t%d" % i), {"/reflit/fabric": {"n": i}})
                for i in range(3)]
        names = [t.path for t in tels] + [tels[0].path, box.path("none")]
        view, said = begin(*(w for n in names for w in ("--socket", n)))
        assert said.endswith("/\n") and " " not in said, said
        port = int(said.rsplit(":", 1)[1].rstrip("/\n"))
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        c.request("GET", "/api/sources")
        got = json.loads(c.getresponse().read())
        c.close()
        assert [(g["source"], g["path"], g["fabric"]["n"]) for g in got] == [
            (i, t.path, i) for i, t in enumerate(tels)], got
        view.send_signal(signal.SIGHUP)
        assert view.wait(60) == 0
        assert view.stderr.read() == (
            "reflit-view: --socket %s: No such file or directory; retrying "
            "until it exists\n" % names[-1])
        view.stdout.close()
        view.stderr.close()
        for t in tels:
            t.stop()
        view, said = begin("--allow-orders")
        assert said.endswith("/ (orders are allowed)\n"), said
        port = said.split("/")[2]
        for args, words in (
                (("--socket", "x" * 108), "--socket %s: File name too long"
                 % ("x" * 108)),
                (sum((("--socket", "t%d" % i) for i in range(33)), ()),
                 "--socket t32: Argument list too long"),
                (("--listen", port), "cannot listen at 127.0.0.1:%s: Address "
                 "already in use" % port.split(":")[1]),
                (("--orders-from-anywhere",), "--orders-from-anywhere needs "
                 "--allow-orders, too"),
                (("now",), "now: no argument is expected; see --help"),
                *((("--listen", at), "ADDRESS:PORT, such as 127.0.0.1:8080")
                  for at in ("127.0.0.1", "x:1", "127.0.0.1:", "127.0.0.1:x",
                             "127.0.0.1:65536", "127.0.0.1:80x", ":80",
                             "127.000.000.0001:80", "localhost:80"))):
            p = subprocess.run([VIEW, *args], capture_output=True, text=True,
                               timeout=60, check=False)
            assert p.returncode == 2 and p.stdout == "", (args, p)
            assert words in p.stderr.splitlines()[-1], (args, p.stderr)
        view.terminate()
        assert view.wait(60) == 0
        view.stdout.close()
        view.stderr.close()


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
        # once: looking for sockets takes none of a program's ten connections
        assert len(tel.peers) == 1
        os.chmod(where, 0o777)
        assert found() == 0
        os.chmod(where, 0o755)
        os.chmod(os.path.dirname(where), 0o777)
        assert found() == 0
        os.chmod(os.path.dirname(where), 0o755)
        os.chown(where, 12345, 12345)
        assert found() == 0
        assert len(tel.peers) == 1
        tel.stop()


main()
