#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One fabric in two processes, for the tests of several: figure 1 cut between
s0 and s1, in two network namespaces, two veth cables between the halves. The
fourth argument of a test that uses it is reflit-report."""
import json
import os
import socket
import subprocess
import sys
import time

REPORT = os.path.abspath(sys.argv.pop(4))
from reflit_test import FIGURE1, REFLIT  # noqa: E402
from spaces import LINK, Processes, TYPE, ip  # noqa: E402

PARTS = """
processes = ( { name = "left"; devices = ["e0", "s0"]; },
              { name = "right"; devices = ["e1", "s1"]; } );
wires = ( { link = "s0-s1#0"; a = "net_af_packet0"; b = "net_af_packet0"; },
          { link = "s0-s1#1"; a = "net_af_packet1"; b = "net_af_packet1"; } );
attach = ( { endpoint = "e0"; port = "net_af_packet2"; },
           { endpoint = "e1"; port = "net_af_packet2"; } );
"""
CONFIG = FIGURE1 + LINK + PARTS
NAMES = ("left", "right")


class Pair(Processes):
    """Two namespaces, left and right, each with the ends of two cables (c0,
    c1) and of a veth to the test itself, which is in: a frame sent to
    .sock[0] enters at e0."""

    def __init__(self, config=CONFIG):
        super().__init__("p", 2, ("c0", "c1"))
        self.config = [config, config]
        self.err = []
        self.prompt = [False, False]  # whether a process has one
        # how each process opens its cables
        self.cables = ["--vdev=net_af_packet%d,iface=c%d" % (i, i)
                       for i in (0, 1)]

    def lay(self):
        for c in ("c0", "c1"):
            ip("link", "add", c, "netns", self.ns[0], "type", "veth", "peer",
               "name", c, "netns", self.ns[1])

    def json(self, i):
        return self.box.path("%s%d.json" % (NAMES[i], self.lives[i]))

    def report(self, i):
        with open(self.json(i), encoding="utf-8") as f:
            return json.load(f)

    def start(self, i):
        """Starts process i; it carries traffic as soon as it can."""
        self.lives[i] += 1
        cmd = ["ip", "netns", "exec", self.ns[i], REFLIT,
               "--file-prefix=" + self.prefix(i),
               *self.cables, "--vdev=net_af_packet2,iface=p", "--", "--config",
               self.box.write(NAMES[i] + ".cfg", self.config[i]),
               "--process", NAMES[i], "--json", self.json(i)]
        self.err.append(open(self.box.path("err%d%d" % (i, self.lives[i])),
                             "w+", encoding="utf-8"))
        self.process[i] = subprocess.Popen(
            cmd + ["-i"] * self.prompt[i], stdout=subprocess.PIPE,
            stdin=subprocess.PIPE if self.prompt[i] else None,
            stderr=self.err[-1], text=True)
        if self.prompt[i]:
            self.process[i].stdin.write("start\n")
            self.process[i].stdin.flush()

    def errors(self):
        text = ""
        for f in self.err:
            f.flush()
            with open(f.name, encoding="utf-8") as g:
                text += g.read()
        return text

    def send(self, frm, first, n, size=400):
        for k in range(first, first + n):
            self.sock[frm].send(bytes(6) + b"\2\0\0\0\0\1" + TYPE
                                + k.to_bytes(4, "big") + bytes(size))

    def receive(self, to, enough, seconds=30):
        """Numbers of frames that leave at e0 (0) or e1 (1), in order."""
        return self.receive_of(to, TYPE, enough, seconds)

    def meet(self, seconds=60):
        """Until frames pass both ways."""
        end = time.monotonic() + seconds
        while not (self.is_linked(0) and self.is_linked(1)):
            assert time.monotonic() < end, self.errors()
            for p in self.process:
                assert p.poll() is None, self.errors()
            time.sleep(0.05)
        for frm in (0, 1):
            while not self.receive(1 - frm, 1, 0.1):
                self.send(frm, 0, 1)
                assert time.monotonic() < end, self.errors()
                for p in self.process:
                    assert p.poll() is None, self.errors()
            self.clear(frm, end)

    def clear(self, frm, end):
        """Until all that was sent before has left: frames keep their order."""
        last, got = 1 << 30, []
        while last not in got:
            assert time.monotonic() < end, self.errors()
            last, got = last + 1, []
            self.send(frm, last, 1)
            until = time.monotonic() + 2
            while last not in got and time.monotonic() < until:
                got += self.receive(1 - frm, 1, 0.1)

    def until_up(self, name, seconds=60):
        """Until the link of this name is up at both ends."""
        end = time.monotonic() + seconds
        for i in (0, 1):
            while self.state(i, name) != "UP":
                assert time.monotonic() < end, (name, self.errors())
                time.sleep(0.05)

    def judge(self, *files):
        out = self.box.path("merged.json")
        p = subprocess.run([REPORT, "--json", out] + list(
            files or (self.json(0), self.json(1))),
            capture_output=True, text=True, check=False)
        merged = None
        if os.path.exists(out):
            with open(out, encoding="utf-8") as f:
                merged = json.load(f)
        return p.returncode, p.stdout + p.stderr, merged


def exchange(net, n=2000):
    for k in range(0, n, 50):
        for frm in (0, 1):
            net.send(frm, 100 + k, 50)
        for to in (0, 1):
            got = net.receive(to, 50)
            assert got == list(range(100 + k, 150 + k)), (to, k, got)


def met(net, n):
    """Both have begun, found each other, and exchanged so many."""
    for i in (0, 1):
        net.start(i)
    net.meet()
    exchange(net, n)


def killed_and_back(net, n):
    """The right one is killed, comes back, and exchanges so many."""
    net.kill(1)
    net.start(1)
    net.meet()
    exchange(net, n)


def clean(net, least):
    assert net.stop() == [0, 0], net.errors()
    status, out, merged = net.judge()
    assert status == 0, out
    assert merged["flows_between_processes"] == 2, merged
    assert merged["sent_packets"] >= least, merged
    assert merged["sent_packets"] == merged["delivered_packets"], merged
    for key in ("lost", "duplicated", "reordered", "corrupted", "reported",
                "unproven"):
        assert merged[key + "_packets"] == 0, (key, merged)
