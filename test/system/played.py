# SPDX-License-Identifier: BSD-3-Clause
"""A telemetry socket that a test plays, and fabrics of figures."""
import json
import os
import socket
import threading
import time


class Telemetry:
    """A socket as DPDK's: it greets, and answers each command by its name."""

    def __init__(self, path, answers, hello=None, most=16384):
        self.path, self.answers, self.asked = path, answers, []
        self.hello = hello or json.dumps(
            {"version": "DPDK", "pid": 1, "max_output_len": most}).encode()
        self.most = most
        self.peers = []
        self.listen()

    def listen(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.bind(self.path)
        self.sock.listen()
        self.thread = threading.Thread(target=self.serve, args=(self.sock,),
                                       daemon=True)
        self.thread.start()

    def serve(self, sock):
        while True:
            try:
                peer, _ = sock.accept()
            except OSError:
                return
            self.peers.append(peer)
            try:
                peer.send(self.hello)
            except OSError:
                continue  # it was closed at once
            threading.Thread(target=self.talk, args=(peer,),
                             daemon=True).start()

    def talk(self, peer):
        while True:
            try:
                cmd = peer.recv(1024).decode(errors="surrogateescape")
            except OSError:
                return
            if not cmd:
                return
            self.asked.append(cmd)
            name, _, arg = cmd.partition(",")
            value = self.answers.get(name)
            if callable(value):
                value = value(arg)
            if not isinstance(value, bytes):
                value = json.dumps({name: value}).encode()
            try:
                peer.send(value[:self.most])
            except OSError:
                return

    def stop(self):
        self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(20)  # it listens as long as that accepts
        self.sock.close()
        for peer in self.peers:
            peer.close()
        self.peers = []
        os.unlink(self.path)


# figure 1; the ends of each link by device number
NAMES = ["e0", "s0", "s1", "e1"]
LINKS = {"e0-s0": (0, 1), "s0-s1#0": (1, 2), "s0-s1#1": (1, 2), "s1-e1": (2, 3)}
PER_ENDS = ("tx_flits", "tx_frames", "tx_replay_flits", "rx_corrected",
            "rx_bad", "deaths", "looped_flits")


class Played:
    """A process that has some devices of figure 1: what the page asks of it."""

    def __init__(self, path, pid, process="", own=NAMES, config="figure1.cfg"):
        self.pid, self.process, self.own = pid, process, own
        self.config = config
        self.rates = dict.fromkeys(LINKS, 1000)  # flits a second
        self.down, self.events = {}, []  # link -> state; texts
        self.begin = time.monotonic()
        self.start_utc = "2026-11-28T10:00:00.%06dZ" % pid
        self.tel = Telemetry(path, {
            "/reflit/fabric": lambda _: self.fabric(),
            "/reflit/devices": lambda _: listed(
                name=NAMES, kind=["endpoint", "switch", "switch", "endpoint"],
                x=[0] * 4, y=[0] * 4, z=[0] * 4),
            "/reflit/links": lambda _: self.links(),
            "/reflit/traffic": lambda _: dict.fromkeys(
                ("sent_packets", "delivered_packets", "under_way_packets",
                 "reported_packets", "refused_packets"),
                int(self.seconds() * 100)),
            "/reflit/histogram": listed(upper_ns=[1000], count_n=[5]),
            "/reflit/events": self.events_from,
            "/reflit/failovers": {c: [] for c in (
                "link", "device", "detector", "left_by", "at_ns")},
            "/reflit/recoveries": {"cause": [], "at_ns": []},
            "/reflit/order": {"result": 0, "error": ""}})

    def seconds(self):
        return time.monotonic() - self.begin

    def fabric(self):
        return {"config": self.config, "process": self.process,
                "pid": self.pid, "start_utc": self.start_utc, "dims": [],
                "topology": "custom", "links": len(LINKS), "orders": 1,
                "now_ns": int(self.seconds() * 1e9)}

    def links(self):
        state, flits = [], []
        for name, ends in LINKS.items():
            here = [NAMES[d] in self.own for d in ends]
            state.append(self.down.get(name, "UP") if any(here) else "remote")
            flits += [int(self.seconds() * self.rates[name]) if h else 0
                      for h in here]
        some = {c: [0] * len(flits) for c in PER_ENDS}
        return {"start": 0, "count": len(LINKS), "total": len(LINKS),
                "name": list(LINKS), "state": state,
                "a": [a for a, _ in LINKS.values()],
                "b": [b for _, b in LINKS.values()],
                **some, "tx_flits": flits}

    def events_from(self, arg):
        at = min(int(arg or 0), len(self.events))
        return {"start": at, "next": len(self.events),
                "total": len(self.events), "text": self.events[at:],
                "t_ns": [i * 10 ** 6 for i in range(at, len(self.events))]}

    def asked(self, word):
        return [c for c in self.tel.asked if c.startswith("/reflit/" + word)]


def listed(**columns):
    n = len(next(iter(columns.values())))
    return {"start": 0, "count": n, "total": n, **columns}


# Of fabrics: topology, dimensions, coordinates of switches and of endpoints,
# links by device number.

def torus_3d(n):
    """Devices and links of a torus of n * n * n, an endpoint at each switch."""
    at = [(x, y, z) for x in range(n) for y in range(n) for z in range(n)]
    number = {p: i for i, p in enumerate(at)}
    links = [(i, len(at) + i) for i in range(len(at))]
    for p in at:
        for d in range(3):
            q = tuple((v + (k == d)) % n for k, v in enumerate(p))
            links.append((number[p], number[q]))
    return "torus", [n] * 3, at, at, links


def tree(wide):
    """Two levels of switches, four endpoints at each of the lower ones."""
    at = [(1, k, 0) for k in range(wide)] + [(2, k, 0) for k in range(wide)]
    ends = [(0, k, 0) for k in range(4 * wide)]
    return "fat-tree", [], at, ends, [
        (a, wide + b) for a in range(wide) for b in range(wide)] + [
        (k // 4, 2 * wide + k) for k in range(4 * wide)]


def boards(n):
    """Boards of two switches and four chips, each of these at both."""
    at = [(b, s, 0) for b in range(n) for s in range(2)]
    ends = [(b, c, 0) for b in range(n) for c in range(4)]
    return "boards", [], at, ends, [
        (2 * b + s, len(at) + 4 * b + c)
        for b in range(n) for s in range(2) for c in range(4)] + [
        (s, 2 + s) for s in range(2)]


def is_across(where, a, b):
    """Whether the straight way of a to b runs across another."""
    (x, y), (u, v) = where[a], where[b]
    for i, (p, q) in enumerate(where):
        t = ((p - x) * (u - x) + (q - y) * (v - y)) / (
            (u - x) ** 2 + (v - y) ** 2)
        if i not in (a, b) and 0 < t < 1 and abs(
                x + t * (u - x) - p) + abs(y + t * (v - y) - q) < 15:
            return True
    return False
