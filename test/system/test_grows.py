#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing grows [APP-4]: each kind of error a thousand times, and the process has
as many descriptors and threads as before, and no more memory; clients that ask
for much and never read hold up nobody else."""
import contextlib
import http.client
import os
import signal
import socket
import subprocess
import time

from grown import Telemetry, held
from reflit_test import Box, FIGURE1, REFLIT, Running, case, main

TIMES = 1000
# What a heap may take once more; a leak of some words an error is more. Threads
# for clients have heaps of their own, one of which they find again.
KB, THREADS_KB = 64, 256

# Lines of the prompt that are refused, each in its own way.
LINES = (
    "nosuch", "show", "show nosuch", "help nosuch", "load /nonexistent/x",
    "load %(dir)s", "load %(bad)s", "load %(itself)s",
    "start nosuch", "rate e0 x", "rate s0 1", "traffic pattern nosuch",
    "traffic load -1", "wait never", "wait cut nosuch", "link nosuch down",
    "link s0-s1#0 sideways", "link s0-s1#0 down after 0 from e1",
    "link s0-s1#0 one-way e0", "link s0-s1#0 flap 0 1ms",
    "device nosuch crash", "device s0 restart", "unquiesce now",
    "inject drop s0-s1#0 e0 1", "inject ber s0-s1#0 s0 2",
    "inject block s0 1", "inject block e0 99", "record /nonexistent/x",
    "record %(dir)s", "capture s0-s1#0 %(report)s", "capture s0-s1#0 off",
    "capture nosuch x", "show port nosuch", "show flow e0 nosuch",
    "show events nosuch", "show histogram 99", "show routes nosuch",
    "show errors over bad", "show path e0 s0", "show path e0 nosuch",
    "set verbose nosuch", "x" * 300, "a'\"\\b",
)
# Those that take time by what they try.
SLOW = ("wait dead s0-s1#0 1us", "capture s0-s1#0 /nonexistent/x",
        "capture s0-s1#0 %(dir)s")
# Of telemetry: refused, unknown, too long.
ASKED = ("/reflit/port,nosuch", "/reflit/links,x", "/reflit/links,-1",
         "/reflit/order,link nosuch down", "/reflit/order,", "/reflit/nosuch",
         "/reflit/latency,99", "nosuch", "/reflit/switch," + "x" * 900,
         "/reflit/events,99999999999999999999")
# Of the page: method, path, headers, body, and what it may answer: a program that
# gets no time does not.
ORDER = {"X-Reflit-Order": "1"}
PAGES = (("GET", "/nosuch", {}, None, [404]),
         ("GET", "/api/ask", {}, None, [400]),
         ("GET", "/api/ask?s=0&c=/reflit/nosuch", {}, None, [200, 502]),
         ("GET", "/api/ask?s=99&c=/reflit/links", {}, None, [502]),
         ("GET", "/api/list?c=/reflit/links,3", {}, None, [400]),
         ("GET", "/", {"Host": "elsewhere.example"}, None, [403]),
         ("PUT", "/", {}, "x", [405]),
         ("POST", "/api/order", {}, "y" * 999, [403]),
         ("POST", "/api/order", ORDER, "a\nb", [400]),
         ("POST", "/api/order", ORDER, "nosuch", [200, 502]))


class Live(Running):
    """reflit at its prompt; its traffic has come to rest."""

    def __init__(self, box, *args):
        self.prefix, self.told = "rlgrow%d" % os.getpid(), 0
        super().__init__(
            [REFLIT, "--file-prefix=" + self.prefix, "--", "-i", "--config",
             box.write("fabric.cfg", FIGURE1), "--json",
             box.path("report.json"), "--allow-orders", *args],
            stdin=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, XDG_RUNTIME_DIR=box.dir))
        self.path = "%s/dpdk/%s/dpdk_telemetry.v2" % (
            "/var/run" if os.geteuid() == 0 else box.dir, self.prefix)
        self.tell(["wait up 60s", "start", "wait 50ms", "stop",
                   "wait drained 60s"])

    def tell(self, lines):
        """@return the lines that it answers with"""
        self.told += 1
        word = "told-%d\n" % self.told
        self.say("".join(s + "\n" for s in lines) + "say " + word)
        said = []
        while not said or not said[-1].endswith(word):
            said.append(self.line())
        return said[:-1]

    def end(self):
        """A refused line fails the run, and nothing else may."""
        self.say("quit\n")
        self.p.wait(60)
        self.reader.join(60)
        said = "".join(x for x in self.lines.queue if x is not None)
        assert "lost 0, duplicated 0, reordered 0" in said, said
        assert "flits leaked" not in said, said


def settled(what, pid, base):
    """What it holds, once threads for clients and what they had have gone."""
    end = time.monotonic() + 20
    now = held(pid)
    while any(now[k] != base[k] for k in ("fds", "threads")):
        assert time.monotonic() < end, "%s: %s, then %s" % (what, base, now)
        time.sleep(0.05)
        now = held(pid)
    return now


def alone(pid, threads):
    """Waits until its threads for clients have ended."""
    end = time.monotonic() + 20
    while len(os.listdir("/proc/%d/task" % pid)) > threads:
        assert time.monotonic() < end
        time.sleep(0.002)


def repeated(what, pid, some, times=TIMES, warm=0.1, most=KB):
    """some(n) does it n times; a part of them first, to warm up. What is kept for
    good is kept each time: once, it may be threads that were there at once."""
    if most != KB:
        time.sleep(0.3)  # threads for clients that have gone end
    base = held(pid)
    some(int(times * warm))
    before, grown = settled(what, pid, base), []
    while len(grown) < 3:
        some(times)
        after = settled(what, pid, base)
        grown.append(max(after[k] - before[k] for k in ("kb", "shm_kb")))
        if grown[-1] <= most:
            return
        before = after
    raise AssertionError("%s: %s KB more" % (what, grown))


@case
def lines_of_the_prompt_that_are_refused_cost_nothing():
    with Box() as box, Live(box) as live:
        names = {"dir": box.dir, "bad": box.write("bad", "start\nnosuch\n"),
                 "itself": box.path("itself"),
                 "report": box.path("report.json")}
        box.write("itself", "load %s\n" % names["itself"])
        for lines, times in ((LINES, TIMES), (SLOW, 5)):
            for line in lines:
                def some(n, line=line % names):
                    assert len(live.tell([line] * n)) >= n, line
                repeated(line, live.p.pid, some, times,
                         1 if lines is SLOW else 0.1)
        live.end()


@case
def questions_of_telemetry_that_are_refused_cost_nothing():
    with Box() as box, Live(box) as live:
        with Telemetry(live.path) as t:
            for ask in ASKED:
                def some(n, ask=ask):
                    for _ in range(n):
                        t.sock.send(ask.encode())
                        t.sock.recv(t.most)
                repeated(ask, live.p.pid, some)

        def come_and_go(n):
            for i in range(n):
                with contextlib.suppress(OSError), socket.socket(
                        socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                    s.connect(live.path)
                    if i % 3:
                        s.send(b"/reflit/links")
                    if i % 3 > 1:
                        s.recv(1 << 16)
        repeated("clients that go", live.p.pid, come_and_go, TIMES // 2, 1,
                 THREADS_KB)
        live.end()


def unread(connect, ask, n):
    """Clients that ask as long as somebody takes it, and never read."""
    socks = [connect() for _ in range(n)]
    for s in socks:
        s.setblocking(False)
        with contextlib.suppress(OSError):
            for _ in range(10000):
                s.send(ask)
    return socks


def telemetry_socket(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    return s


@case
def clients_of_telemetry_that_never_read_hold_up_nobody():
    with Box() as box, Live(box) as live:
        threads = held(live.p.pid)["threads"]

        def deaf(n):
            for _ in range(n):
                alone(live.p.pid, threads)  # DPDK admits ten clients
                socks = unread(lambda: telemetry_socket(live.path),
                               b"/reflit/ports", 8)
                with Telemetry(live.path) as t:
                    assert t.ask("/reflit/links")["name"]
                    assert t.ask("/reflit/order,link s0-s1#0 down")[
                        "result"] == 0
                    said = live.tell(["wait dead s0-s1#0 10s"])
                    # that is DPDK's, of those that have gone
                    assert all("writing to socket" in x for x in said), said
                    t.ask("/reflit/order,link s0-s1#0 up")
                    live.tell(["wait up 20s"])
                for s in socks:
                    s.close()
        repeated("clients that never read", live.p.pid, deaf, 5, 1,
                 THREADS_KB)
        live.end()


class Page(Running):
    """reflit-view beside it."""

    def __init__(self, live):
        super().__init__([os.path.join(os.path.dirname(REFLIT), "reflit-view"),
                          "--listen", "127.0.0.1:0", "--socket", live.path,
                          "--allow-orders"], stderr=subprocess.STDOUT)
        self.port = int(self.line().split()[0].rsplit(":", 1)[1].strip("/"))

    def ask(self, method, path, headers, body=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request(method, path, body=body, headers=headers)
        answer = c.getresponse()
        answer.read()
        c.close()
        return answer.status


@case
def requests_of_the_page_that_are_refused_cost_nothing():
    with Box() as box, Live(box) as live, Page(live) as page:
        page.ask("GET", "/metrics", {})  # it stays connected

        def some(n):
            for _ in range(n // len(PAGES)):
                for ask in PAGES:
                    got = page.ask(*ask[:4])
                    assert got in ask[4], (got, ask)
        repeated("requests", page.p.pid, some, TIMES, 0.2, THREADS_KB)

        def halves(n):
            for i in range(n):
                with socket.create_connection(("127.0.0.1", page.port)) as s:
                    s.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"[
                        :i % 50])
                alone(page.p.pid, 2)  # each has a stack, which is kept
        repeated("halves of requests", page.p.pid, halves, TIMES // 2, 1,
                 THREADS_KB)
        page.p.send_signal(signal.SIGTERM)
        assert page.p.wait(60) == 0
        live.end()


@case
def clients_of_the_page_that_never_read_hold_up_nobody():
    with Box() as box, Live(box) as live, Page(live) as page:
        ask = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"

        def deaf(n):
            for _ in range(n):
                socks = unread(lambda: socket.create_connection(
                    ("127.0.0.1", page.port)), ask, 12)
                assert page.ask("GET", "/metrics", {}) == 200
                assert held(page.p.pid)["kb"] < 32 << 10
                for s in socks:
                    s.close()
        page.ask("GET", "/metrics", {})
        repeated("clients that never read", page.p.pid, deaf, 3, 1, 1024)
        live.end()


main()
