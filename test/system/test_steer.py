#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wires over net_af_xdp between two processes [PHY-2]: flits go to the socket,
the kernel keeps the rest."""
import json
import os
import subprocess
import sys

from process_pair import CONFIG, Pair, clean, exchange, ip
from reflit_test import REFLIT, Skip, case, main

XDP_CONFIG = CONFIG.replace("packet0", "xdp0").replace("packet1", "xdp1")

# A host beside reflit, on the same cable: "serve" answers, "ask" asks it.
BESIDE = """
import socket, sys, time
s = socket.socket()
if sys.argv[1] == "serve":
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("198.51.100.2", 22))
    s.listen(1)
    s.settimeout(30)
    c = s.accept()[0]
    for _ in range(50):
        c.sendall(c.recv(100))
else:
    s.settimeout(20)
    end = time.monotonic() + 20
    while s.connect_ex(("198.51.100.2", 22)) != 0:
        assert time.monotonic() < end
        time.sleep(0.1)
        s = socket.socket()
    for i in range(50):
        s.sendall(b"%d" % i)
        assert s.recv(100) == b"%d" % i
"""


class Steered(Pair):
    """The cables by net_af_xdp. @ports: the interfaces that it opens."""

    def __init__(self, ports=("c0", "c1")):
        super().__init__(XDP_CONFIG)
        self.ports = ports
        self.cables = ["--vdev=net_af_xdp%d,iface=%s,busy_budget=0" % (i, dev)
                       for i, dev in enumerate(ports)]

    def __enter__(self):
        super().__enter__()
        if not os.path.exists("/sys/fs/bpf"):
            self.__exit__()
            raise Skip("a kernel without BPF")
        for i in (0, 1):
            # checksums that nobody computes would not survive the way
            subprocess.run(["ip", "netns", "exec", self.ns[i], "ethtool", "-K",
                            "c0", "tx", "off"], check=False,
                           capture_output=True)
        return self

    def address(self):
        for i in (0, 1):
            ip("-n", self.ns[i], "addr", "add", "198.51.100.%d/24" % (i + 1),
               "dev", self.ports[0])
            ip("-n", self.ns[i], "link", "set", self.ports[0], "arp", "on")

    def talk_beside(self):
        """TCP between the kernels, over the cable that reflit has."""
        server, client = [subprocess.Popen(
            ["ip", "netns", "exec", self.ns[i], sys.executable, "-c", BESIDE,
             role], stderr=subprocess.PIPE, text=True)
            for i, role in ((1, "serve"), (0, "ask"))]
        out = client.communicate(timeout=60)[1]
        if client.returncode != 0:
            server.kill()
        server.communicate(timeout=60)
        assert client.returncode == 0 and server.returncode == 0, out

    def shown(self):
        """What `show wires` says at the prompt of the first process."""
        self.process[0].stdin.write("show wires\n")
        self.process[0].stdin.flush()
        rows = {}
        while len(rows) < 2:
            words = self.process[0].stdout.readline().split()
            assert words, self.errors()
            if words[0].startswith("s0-s1#"):
                rows[words[0]] = dict(zip(
                    ("device", "port", "interface", "bytes", "queues", "tx",
                     "rx", "dropped", "flits", "kernel", "nobody"),
                    words[1:]))
        return rows

    def attached(self):
        """Interfaces with an XDP program: as "c0 xdp", "c0 xdpgeneric"."""
        found = []
        for ns in self.ns:
            for dev in self.ports:
                out = subprocess.run(["ip", "-n", ns, "link", "show", dev],
                                     capture_output=True, text=True,
                                     check=False).stdout
                found += [dev + " " + w for w in out.split()
                          if w.startswith("xdp")]
        return found


def steered_exchange(net):
    net.start(0)
    net.start(1)
    net.meet()
    net.address()
    exchange(net, 200)
    net.talk_beside()
    exchange(net, 200)


@case
def on_a_cable_of_reflits_ssh_goes_on():
    """[PHY-2] rl_steer in the driver: flits go to the socket, the kernel keeps
    the rest; it is gone at the end, after SIGTERM."""
    with Steered() as net:
        net.prompt = [True, False]
        steered_exchange(net)
        assert net.attached() == ["c0 xdp", "c1 xdp"] * 2, net.attached()
        shown = net.shown()
        clean(net, 800)
        assert net.attached() == [], net.attached()
        for i in (0, 1):
            with open(net.json(i), encoding="utf-8") as f:
                wires = json.load(f)["wires"]
            for w in wires:
                got = w["steered"]
                assert got["flit"] >= w["rx_frames"] > 0, w
                assert got["nobody"] < 50, w
            assert wires[0]["steered"]["kernel"] > 50, wires[0]
        row = shown["s0-s1#0"]
        assert row["device"] == "s0" and row["interface"] == "c0", shown
        # the kernel's counts were read a moment before
        assert int(row["flits"]) + 20 >= int(row["rx"]) > 0, shown
        assert int(row["kernel"]) > 50, shown


@case
def a_driver_without_xdp_steers_as_well():
    """The same in the kernel's generic hook: no macvlan has another."""
    with Steered(("m0", "m1")) as net:
        for ns in net.ns:
            for i in (0, 1):
                ip("-n", ns, "link", "add", "link", "c%d" % i, "name",
                   "m%d" % i, "type", "macvlan", "mode", "passthru")
                ip("-n", ns, "link", "set", "m%d" % i, "arp", "off",
                   "addrgenmode", "none", "up")
        steered_exchange(net)
        assert net.attached() == ["m0 xdpgeneric", "m1 xdpgeneric"] * 2, \
            net.attached()
        clean(net, 800)
        assert net.attached() == [], net.attached()


@case
def a_process_killed_leaves_a_program_that_the_next_one_takes_away():
    with Steered() as net:
        net.start(0)
        net.start(1)
        net.meet()
        net.process[1].kill()
        net.process[1].wait()
        assert len(net.attached()) == 4, net.attached()
        net.start(1)
        net.meet()
        exchange(net, 200)
        # one that lives is not pushed aside
        net.process[0], first = None, net.process[0]
        net.start(0)
        assert net.process[0].wait(60) == 2
        assert "another process of reflit's" in net.errors(), net.errors()
        net.process[0] = first
        exchange(net, 100)
        net.stop()
        assert net.attached() == [], net.attached()


@case
def a_program_that_is_attached_already_is_named():
    with Steered() as net:
        obj = os.path.join(os.path.dirname(REFLIT), "..", "drivers", "xdp",
                           "rl_fault.bpf.o")
        p = subprocess.run(["ip", "-n", net.ns[0], "link", "set", "c1", "xdp",
                            "obj", obj, "sec", "xdp"], capture_output=True,
                           text=True, check=False)
        if p.returncode != 0:
            raise Skip("ip cannot attach a program: " + p.stderr.strip())
        net.start(0)
        assert net.process[0].wait(60) == 2
        words = net.errors()
        assert "wires: net_af_xdp1: c1: the XDP program rl_fault" in words, \
            words
        assert "ip link set c1 xdp off" in words, words
        assert net.attached() == ["c1 xdp"], net.attached()


main()
