#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The web server of reflit-view: the page, what it asks for, and its orders.

usage: view.py PROGRAM ADDRESS PORT ORDERS SOCKET...

ORDERS: none, here (from this machine), anywhere.

| request                 | answer                                           |
|-------------------------|--------------------------------------------------|
| GET /                   | the page; also /view.js, /view.css, ...          |
| GET /api/sources        | processes that answer, and their fabrics         |
| GET /api/ask?s=I&c=CMD  | telemetry of source I; CMD begins with /reflit/  |
|                         | and is not an order                              |
| GET /api/list?s=I&c=CMD | the same, of a list: all its pages as one        |
| GET /metrics            | all sources in the OpenMetrics text form         |
| POST /api/order?s=I     | the body is a line of the prompt; only with      |
|                         | orders allowed, and from loopback                |

A browser sends other sites' requests here, too. So an order must have the header
X-Reflit-Order, which no foreign page can send, and every request needs a Host
that is an address or localhost.
"""
import http.server
import json
import os
import re
import signal
import socket
import socketserver
import sys
import threading
import urllib.parse

import metrics
from sources import COMMAND_BYTES, MOST, NoAnswer, ORDER_S, Sources

ORDER_BYTES, HEAD_BYTES = 255, 32768  # of an order, of a request: at most
PIECE_BYTES = 65536
# One address may have half of them. A connection that is idle for so long is
# closed.
CONNECTIONS, IDLE_S = 256, 4
PAGE = ("index.html", "view.css", "view.js", "draw.js", "layout.js",
        "charts.js", "events.js", "feed.js", "story.js", "zoom.js")
KINDS = {".js": "text/javascript", ".css": "text/css",
         ".html": "text/html; charset=utf-8"}
HEADERS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; "
     "connect-src 'self'; img-src 'self' data:"))


class Refused(Exception):
    """A request that is not answered, with the status that says so."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


def as_json(value):
    try:
        return ("application/json", json.dumps(
            value, allow_nan=False, separators=(",", ":")).encode())
    except (ValueError, RecursionError):
        raise NoAnswer from None


class Head:
    """What a client sends. The lines of the head of a request are limited
    together: one too many is as long as http.server refuses it."""

    def __init__(self, file):
        self.file, self.left = file, HEAD_BYTES
        self.read, self.close = file.read, file.close

    def readline(self, most):
        line = self.file.readline(min(most, self.left)) if self.left else b""
        self.left -= len(line)
        return line if self.left or line.endswith(b"\n") else b" " * most


class Request(http.server.BaseHTTPRequestHandler):
    """A connection, and the request that is answered."""
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    wbufsize = -1  # head and body together; each send() has IDLE_S
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.rfile = Head(self.rfile)

    def handle_one_request(self):
        self.rfile.left = HEAD_BYTES
        super().handle_one_request()

    def log_message(self, *_args):
        pass

    def send_error(self, code, *_args, **_more):
        """Of what is no request."""
        self.close_connection = True
        self.request_version = self.protocol_version
        self.reply(code, *as_json({"error": http.HTTPStatus(code).phrase}))

    def handle_expect_100(self):
        ret = super().handle_expect_100()
        self.wfile.flush()
        return ret

    def source(self):
        """The source that a request names; 0 if it names none."""
        sign, digits = re.match(r"\s*([+-]?)([0-9]*)",
                                self.words.get("s", [""])[0]).groups()
        i = int(digits[:9] or 0)
        return MOST if sign == "-" and i else min(i, MOST)

    def question(self, of="command of /reflit/, but not an order", but="\0"):
        """The command that a request names, if it is allowed."""
        c = self.words.get("c", [""])[0]
        if (not c.startswith("/reflit/") or c.startswith("/reflit/order") or
                "\0" in c or but in c or
                len(c.encode(errors="surrogateescape")) > COMMAND_BYTES):
            raise Refused(400, "c: a " + of)
        return c

    def body(self):
        """All of it is read, and its beginning kept."""
        kept, chunked = b"", "Transfer-Encoding" in self.headers
        while True:
            text = (self.chunk_length() if chunked
                    else self.headers.get("Content-Length", "0"))
            if not re.fullmatch("[0-9]{1,18}", text):
                self.close_connection = True
                raise Refused(400, "a body needs its length")
            left = int(text)
            while left > 0:
                part = self.rfile.read(min(left, PIECE_BYTES))
                if not part:
                    raise ConnectionResetError
                left -= len(part)
                kept += part[:ORDER_BYTES + 1 - len(kept)]
            if not chunked or text == "0":
                return kept

    def chunk_length(self):
        """In digits; "": there is none. The last one is 0."""
        line = self.head_line() or self.head_line()  # behind another's end
        digits = re.match(b"[0-9A-Fa-f]{1,15}", line)
        n = int(digits[0], 16) if digits else -1
        while n == 0 and self.head_line():
            pass
        return str(n) if n >= 0 else ""

    def head_line(self):
        if not self.rfile.left:
            raise ConnectionResetError
        return self.rfile.readline(HEAD_BYTES).rstrip(b"\r\n")

    def check_host(self):
        """Protects against DNS rebinding."""
        host = self.headers.get("Host", "localhost")
        if not re.fullmatch(r"localhost(:.*)?|\[.*|[0-9.:]*", host):
            raise Refused(403, "call this page by address or as localhost")

    def get_sources(self):
        sources, found = self.server.sources, []
        sources.find()
        for i, fabric in sources.ask_all("/reflit/fabric").items():
            if isinstance(fabric, dict) and fabric and sources.path(i):
                found.append({"source": i, "path": sources.path(i),
                              "fabric": fabric,
                              "orders": self.server.orders != "none"})
        return as_json(found)

    def get_ask(self):
        c = self.question()
        return as_json(self.server.sources.ask(self.source(), c))

    def get_list(self):
        c = self.question("list of /reflit/, without a number", ",")
        if not self.server.sources.path(self.source()):
            raise NoAnswer
        return as_json(self.server.sources.list(self.source(), c))

    def get_metrics(self):
        return metrics.TYPE, metrics.metrics_text(self.server.sources).encode(
            errors="replace")

    def order(self, line):
        if self.server.orders == "none":
            raise Refused(403, "orders are not allowed: start reflit-view with "
                          "--allow-orders")
        if (self.server.orders != "anywhere" and
                not self.client_address[0].startswith("127.")):
            raise Refused(403, "orders are taken from this machine only")
        if "X-Reflit-Order" not in self.headers:
            raise Refused(403, "not from the page")
        if (not 0 < len(line) <= ORDER_BYTES or b"\n" in line or
                b"\0" in line):
            raise Refused(400, "an order is one line of the prompt")
        return as_json(self.server.sources.ask(
            self.source(), "/reflit/order," + line.decode(
                errors="surrogateescape"), ORDER_S))

    def get(self, path):
        made = {"/api/sources": self.get_sources, "/api/ask": self.get_ask,
                "/api/list": self.get_list, "/metrics": self.get_metrics}
        if path in made:
            return made[path]()
        name = path[1:] or "index.html"
        if name not in self.server.page:
            raise Refused(404, "no such page")
        return KINDS[os.path.splitext(name)[1]], self.server.page[name]

    def found(self):
        """@return status, type and text of the answer"""
        try:
            line = self.body()
            self.check_host()
            path, _, query = self.path.partition("?")
            path = urllib.parse.unquote(path)
            self.words = urllib.parse.parse_qs(
                query, keep_blank_values=True, errors="surrogateescape")
            if self.command == "GET":
                return 200, *self.get(path)
            if self.command == "POST" and path == "/api/order":
                return 200, *self.order(line)
            raise Refused(405, "GET, or POST an order")
        except Refused as e:
            return e.status, *as_json({"error": str(e)})
        except NoAnswer:
            return 502, *as_json({"error": "no answer"})

    def answer(self):
        self.reply(*self.found())

    def __getattr__(self, name):
        """http.server asks for do_METHOD, and whatever the method is is told
        which there are."""
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def reply(self, status, kind, text):
        self.send_response_only(status)
        for name, value in (("Date", self.date_time_string()),
                            ("Content-Type", kind), *HEADERS,
                            ("Content-Length", str(len(text)))):
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A thread for each connection."""
    allow_reuse_address = True  # of one that ended; a living one keeps it
    request_queue_size = CONNECTIONS

    def __init__(self, address, orders, paths):
        self.orders, self.sources = orders, Sources(paths)
        self.lock, self.open = threading.Lock(), {}  # sockets: their peers
        here = os.path.dirname(os.path.abspath(__file__))
        self.page = {}
        for name in PAGE:
            with open(os.path.join(here, name), "rb") as f:
                self.page[name] = f.read()
        super().__init__(address, Request)

    def verify_request(self, request, client_address):
        peer = client_address[0]
        with self.lock:
            peers = list(self.open.values())
            if (len(peers) >= CONNECTIONS or
                    peers.count(peer) >= CONNECTIONS // 2):
                return False
            self.open[request] = peer
        return True

    def shutdown_request(self, request):
        with self.lock:
            self.open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """A peer that went away is none."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def end(self):
        """Requests under way are answered, as far as their clients read that."""
        self.shutdown()
        self.end_connections(socket.SHUT_RD)
        last = threading.Timer(ORDER_S, self.end_connections,
                               (socket.SHUT_RDWR,))
        last.start()
        self.server_close()
        last.cancel()

    def end_connections(self, how):
        with self.lock:
            for s in self.open:
                try:
                    s.shutdown(how)
                except OSError:
                    pass


def main():
    address, port, orders, *paths = sys.argv[2:]
    with open("/proc/self/comm", "w", encoding="ascii") as f:
        f.write("reflit-view")  # as ps shows it
    try:
        server = Server((address, int(port)), orders, paths)
    except OSError as e:
        sys.stderr.write("reflit-view: cannot listen at %s:%d: %s\n" %
                         (address, int(port), os.strerror(e.errno)))
        return 2
    try:
        os.write(1, b"http://%s:%d/%s\n" % (
            address.encode(), server.server_address[1],
            b" (orders are allowed)" if orders != "none" else b""))
    except OSError:
        pass  # it serves all the same
    # a signal ends it within so many seconds
    threading.Thread(target=server.serve_forever, args=(0.1,)).start()
    # reflit-view has blocked them
    signal.sigwait({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    server.end()
    return 0


sys.exit(main())
