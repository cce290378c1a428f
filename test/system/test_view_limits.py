#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What clients of reflit-view may take: connections, time, memory; and what
becomes of those that are slow, silent, or speak no HTTP [APP-5].

usage: test_view_limits.py REFLIT_VIEW SOURCE_ROOT
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from viewed import ORDER, VIEW, View  # first: it takes the arguments
from reflit_test import Box, case, main

PAGE, PAGES = 180000, 100  # more than buffers of sockets hold
LONG = {"/reflit/long": lambda arg: {
    "count": 1, "total": PAGES, "name": ["x" * PAGE]}}
MOST = 128  # connections of one address


def connection(v, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", v.port), 30, (source, 0))


def answer(c, request):
    """@return status and text of one answer"""
    c.sendall(request)
    r = http.client.HTTPResponse(c)
    r.begin()
    return r.status, r.read()


GET = b"GET /view.css HTTP/1.1\r\nHost: localhost\r\n\r\n"


def is_served(c):
    try:
        return answer(c, GET)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


@case
def the_source_of_a_request_is_the_number_that_it_begins_with():
    with View() as v:
        for text, want in (("0", 200), ("", 200), ("x", 200), ("%200", 200),
                           ("0x1", 200), ("-0", 200), ("%2b0", 200),
                           ("1", 502), ("7abc", 502), ("-1", 502), ("31", 502),
                           ("32", 502), ("4294967296", 502),
                           ("99999999999999999999", 502)):
            assert v.ask("/api/ask?s=%s&c=/reflit/fabric" % text)[0] == want, \
                text


@case
def a_head_has_room_for_what_browsers_send_and_no_more():
    with View() as v:
        for name, n, want in (("X-Long", 20000, 200), ("X-Long", 40000, 431)):
            assert v.ask("/", headers={name: "x" * n})[0] == want, n
        some = {"X-Some%d" % i: "x" * 300 for i in range(60)}
        assert v.ask("/", headers=some)[0] == 200
        more = {"X-Some%d" % i: "x" * 900 for i in range(60)}
        status, headers, said = v.ask("/", headers=more)
        assert status == 431 and "error" in said, said
        assert headers["Connection"] == "close"
        assert headers["X-Frame-Options"] == "DENY"
        assert v.ask("/?" + "x" * 20000)[0] == 200
        assert v.ask("/?" + "x" * 40000)[0] == 414
        # each request of a connection has that room
        with connection(v) as c:
            for _ in range(4):
                assert answer(c, GET.replace(b"\r\n\r\n", b"\r\nX: %s\r\n\r\n"
                                             % (b"x" * 20000)))[0] == 200
        for what, want in ((b"hello\r\n\r\n", 400), (b"GET / X\r\n\r\n", 400),
                           (b"GET / HTTP/3.0\r\n\r\n", 505)):
            with connection(v) as c:
                c.sendall(what)
                assert c.recv(65536).startswith(b"HTTP/1.1 %d " % want), what
        for method in ("FOO", "PATCH", "OPTIONS", "TRACE"):
            assert v.ask("/", method)[0] == 405, method
        with connection(v) as c:
            c.sendall(GET.replace(b"GET", b"HEAD"))
            r = http.client.HTTPResponse(c, method="HEAD")
            r.begin()
            assert r.status == 405 and is_served(c)


@case
def orders_come_in_pieces_too():
    head = (b"POST /api/order?s=0 HTTP/1.1\r\nHost: localhost\r\n"
            b"X-Reflit-Order: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
    with View("--allow-orders") as v:
        for body, want, order in (
                (b"4\r\nquit\r\n0\r\n\r\n", 200, "quit"),
                (b"2;a=b\r\nqu\r\n2\r\nit\r\n0\r\nT: x\r\n\r\n", 200, "quit"),
                (b"FF\r\n" + b"x" * 255 + b"\r\n0\r\n\r\n", 200, "x" * 255),
                (b"ff\r\n" + b"x" * 255 + b"\r\n1\r\nx\r\n0\r\n\r\n", 400, None),
                (b"0\r\n\r\n", 400, None), (b"x\r\n", 400, None),
                (b"-4\r\nquit", 400, None)):
            asked = len(v.tel.asked)
            with connection(v) as c:
                assert answer(c, head + body)[0] == want, body
                # what follows on the connection is the next request
                assert want == 400 or is_served(c), body
            assert [a.split(",")[1] for a in v.tel.asked[asked:]] == (
                [order] if order else []), v.tel.asked
        # heads of pieces have no end
        with connection(v) as c:
            try:
                c.sendall(head + b"0\r\n" + b"T: x\r\n" * 30000)
                assert c.recv(1000) == b""
            except ConnectionError:
                pass
        # a body that is announced and does not come whole orders nothing
        asked = len(v.tel.asked)
        for length in (b"5", b"-1", b"x", b"1" * 30):
            with connection(v) as c:
                c.sendall(b"POST /api/order?s=0 HTTP/1.1\r\nX-Reflit-Order: 1"
                          b"\r\nContent-Length: %s\r\n\r\nquit" % length)
                c.shutdown(socket.SHUT_WR)
                assert b" 200 " not in c.recv(1000), length
        assert len(v.tel.asked) == asked, v.tel.asked
        # a client that first asks whether it may send it
        with connection(v) as c:
            c.sendall(b"POST /api/order?s=0 HTTP/1.1\r\nX-Reflit-Order: 1\r\n"
                      b"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")
            assert b" 100 " in c.recv(1000)
            assert answer(c, b"quit")[0] == 200
        # bytes reach the program as they came
        assert v.order(b"q\xe4", ORDER)[0] == 200
        assert v.tel.asked[-1] == "/reflit/order,q\udce4"


@case
def one_address_may_have_half_of_the_connections():
    with View() as v:
        mine = []
        for _ in range(MOST):
            mine.append(connection(v))
            assert is_served(mine[-1])
        with connection(v) as c:
            assert not is_served(c)
        others = []
        for _ in range(MOST):
            others.append(connection(v, "127.0.0.2"))
            assert is_served(others[-1])
        for source in ("127.0.0.2", "127.0.0.3"):
            with connection(v, source) as c:
                assert not is_served(c)
        others.pop().close()
        limit = time.monotonic() + 30
        while True:
            with connection(v, "127.0.0.3") as c:
                if is_served(c):
                    break
            assert time.monotonic() < limit
        for c in mine + others:
            c.close()


@case
def what_says_nothing_for_seconds_is_closed():
    with View() as v:
        mute = [connection(v) for _ in range(3)]
        mute[1].sendall(GET[:20])
        mute[2].sendall(b"POST /api/order HTTP/1.1\r\nContent-Length: 9\r\n\r\n"
                        b"quit")
        with connection(v) as c:  # a byte now and then is something
            for at in range(0, len(GET), 6):
                c.sendall(GET[at:at + 6])
                time.sleep(0.7)
            r = http.client.HTTPResponse(c)
            r.begin()
            assert r.status == 200
        for c in mute:
            assert c.recv(1000) == b""
            c.close()


def long_answer(v):
    """A client that has asked for 18 MB, and reads nothing yet."""
    c = connection(v)
    c.sendall(b"GET /api/list?s=0&c=/reflit/long HTTP/1.1\r\n\r\n")
    return c


@case
def a_client_that_reads_slowly_gets_it_all_and_one_that_stops_is_let_go():
    with View(answers=LONG, most=200000) as v:
        stopped = long_answer(v)
        with long_answer(v) as c:
            got = bytearray()
            while len(got) < PAGE * PAGES:  # more than 4 s
                part = c.recv(1500000, socket.MSG_WAITALL)
                assert part
                got += part
                time.sleep(0.4)
            text = bytes(got).split(b"\r\n\r\n")[1]
            assert len(json.loads(text)["name"]) == PAGES
        # what was on its way is all that came
        with stopped:
            n = len(stopped.recv(65536))
            try:
                while True:
                    part = stopped.recv(65536)
                    n += len(part)
                    if not part:
                        break
            except ConnectionError:
                pass
            assert n < PAGE * PAGES, n


@case
def a_signal_ends_it_whatever_clients_do():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with View(answers=LONG, most=200000) as v:
            idle = connection(v)
            # once, because that takes seconds
            slow = (long_answer if sig == signal.SIGTERM else connection)(v)
            ends = threading.Event()

            def reads(c=slow, over=ends):
                try:
                    while not over.is_set() and c.recv(1000):
                        time.sleep(0.1)
                except OSError:
                    pass

            t = threading.Thread(target=reads)
            t.start()
            assert is_served(idle)
            v.view.send_signal(sig)
            assert v.view.wait(40) == 0
            assert v.view.stderr.read() == ""
            ends.set()
            t.join()
            slow.close()
            idle.close()


@case
def a_signal_while_it_begins_is_no_error():
    for i in range(6):
        with Box() as box:
            p = subprocess.Popen([VIEW, "--listen", "127.0.0.1:0", "--socket",
                                  box.write("x", "")], stderr=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, text=True)
            time.sleep(i * 0.04)
            p.send_signal(signal.SIGINT)
            assert p.wait(60) in (0, -signal.SIGINT), p.returncode
            assert p.stderr.read() == ""
            p.stderr.close()


@case
def it_is_called_by_its_name_and_serves_where_nothing_can_be_said():
    with View() as v:
        with open("/proc/%d/comm" % v.view.pid, encoding="ascii") as f:
            assert f.read() == "reflit-view\n"
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open("/dev/full", "w", encoding="ascii") as full:
        p = subprocess.Popen([VIEW, "--listen", "127.0.0.1:0%d" % port],
                             stdout=full, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while True:
        try:
            c = socket.create_connection(("127.0.0.1", port))
            break
        except ConnectionRefusedError:
            assert time.monotonic() < limit and p.poll() is None
            time.sleep(0.02)
    assert is_served(c)
    c.close()
    p.terminate()
    assert p.wait(60) == 0 and p.stderr.read() == ""
    p.stderr.close()


@case
def files_of_the_page_that_are_not_there_are_said():
    with Box() as box:
        program = box.path("reflit-view")
        shutil.copy(VIEW, program)
        p = subprocess.run([program, "--listen", "127.0.0.1:0"], timeout=60,
                           capture_output=True, text=True, check=False)
        assert p.returncode == 2 and p.stdout == "", p
        assert "reflit-view: there is no view.py in " in p.stderr, p.stderr


main()
