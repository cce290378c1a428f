#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kernel interfaces that misbehave while reflit runs at them [PHY-1]: deleted,
moved to another network namespace, renamed, and changed by the thousand while
the process is stopped."""
import contextlib
import json
import signal
import subprocess
import sys

from reflit_test import Box, FIGURE1, REFLIT, Running, case, main
from spaces import LINK, Space, delete_spaces, ip, quiet_up

LINK = LINK.replace("link: {", "link: { flap_damping_max_ns = 50000000;")
WIRES = """
wires = ( { link = "s0-s1#0"; a = "%s0"; b = "%s1"; },
          { link = "s0-s1#1"; a = "%s2"; b = "%s3"; } );
"""
AWAY = "%s%d lost its interface v%d: link s0-s1#0 is dead until it is back"
BACK = "%s%d is back, at link s0-s1#0"
MTU = 1400  # of which net_af_xdp takes small buffers

HEARD = """
import socket, time
a, b = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b6))
        for _ in range(2)]
a.bind(("v1", 0x88b6))
b.bind(("v3", 0x88b6))
b.settimeout(0.05)
end = time.monotonic() + 30
while time.monotonic() < end:
    a.send(bytes(11) + b"\\1\\x88\\xb6" + bytes(60))
    try:
        b.recv(100)
        break
    except TimeoutError:
        pass
else:
    raise SystemExit("nothing comes out")
"""


class Live(Running):
    """reflit at its prompt, whose fabric sends by two cables."""

    def __init__(self, net, box, driver, config=None, vdevs=None):
        self.net, self.driver, self.report = net, driver, box.path("r.json")
        config = config or FIGURE1 + LINK + WIRES
        more = ",busy_budget=0" if driver == "net_af_xdp" else ""
        super().__init__(
            net.wrap + [REFLIT] + (vdevs or net.vdevs(driver, more))
            + ["--file-prefix=" + net.ns, "--", "-i", "--config",
               box.write("fabric.cfg", config.replace("%s", driver)),
               "--load", "0.02", "--json", self.report],
            stdin=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.ask("wait up 60s", "start")

    def ask(self, *lines):
        """What it says to these commands."""
        self.say("".join(line + "\n" for line in lines) + "say answered\n")
        said, line = "", ""
        while "answered" not in line:
            line = self.line()
            said += line
        return said

    def links(self):
        for line in self.ask("show link json").split("\n"):
            if line.startswith("{"):
                return {l["link"]: l for l in json.loads(line)["links"]}
        raise AssertionError("no links")

    def until_heard(self):
        """Sends frames into v1 until some come out of v3."""
        p = subprocess.run(self.net.wrap + [sys.executable, "-c", HEARD],
                           capture_output=True, text=True, check=False,
                           timeout=60)
        assert p.returncode == 0, p.stderr

    def send(self, size, count=1):
        """Frames into v1."""
        subprocess.run(self.net.wrap + [
            sys.executable, "-c", "import socket, sys\n"
            "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n"
            "s.bind(('v1', 0))\n"
            "for _ in range(%d):\n"
            "    s.send(bytes(11) + b'\\1\\x88\\xb6' + bytes(%d))\n"
            % (count, size)], check=True, timeout=60)

    def end(self, lost=0):
        """All is up and no more was lost; the report."""
        self.say("wait up 60s\nstop\nwait drained 60s\nquit\n")
        status = self.p.wait(90)
        self.reader.join(60)
        said = "".join(x for x in self.lines.queue if x is not None)
        assert status == (lost != 0), "%d: %s" % (status, said)
        with open(self.report, encoding="utf-8") as f:
            r = json.load(f)
        for key in ("duplicated", "reordered", "corrupted", "reported"):
            assert r[key + "_packets"] == 0, (key, said)
        assert r["lost_packets"] == lost, said
        assert r["sent_packets"] == r["delivered_packets"] + lost, r
        assert r["delivered_packets"] > 0, r
        return r


@contextlib.contextmanager
def at_wires(driver, cables=2, config=None):
    with Space(MTU, cables) as net, Box() as box, Live(
            net, box, driver, config) as live:
        yield live


def lay(net, i):
    """A cable between v0 and v1, or v2 and v3."""
    ip("-n", net.ns, "link", "add", "v%d" % i, "type", "veth", "peer", "name",
       "v%d" % (i + 1))
    for dev in ("v%d" % i, "v%d" % (i + 1)):
        quiet_up(dev, net.ns, MTU)


def dead_by(report, link="s0-s1#0"):
    assert all(f["link"] == link for f in report["failovers"]), \
        report["failovers"]
    return {f["detector"] for f in report["failovers"]}


def deleted(driver):
    with at_wires(driver) as live:
        for _ in range(2):  # the second time as the first one
            ip("-n", live.net.ns, "link", "del", "v0")
            for i in (0, 1):  # in either order
                live.until("lost its interface")
            said = live.ask("wait dead s0-s1#0 20s", "wait 100ms")
            assert "is back" not in said, said
            link = live.links()["s0-s1#0"]
            assert link["oper"] == "down" and (
                "s0/1(v0): its device was removed" in link["reason"]), link
            lay(live.net, 0)
            for i in (0, 1):
                live.until("is back, at link s0-s1#0")
            live.ask("wait up 60s")
        assert "removed" in dead_by(live.end())


@case
def a_wire_whose_interface_is_deleted_comes_back_with_it_af_packet():
    deleted("net_af_packet")


@case
def a_wire_whose_interface_is_deleted_comes_back_with_it_af_xdp():
    deleted("net_af_xdp")


def moved(driver):
    with at_wires(driver) as live:
        ns = live.net.ns
        ip("netns", "add", ns + "x")
        try:
            ip("-n", ns, "link", "set", "v0", "netns", ns + "x")
            live.until(AWAY % (driver, 0, 0))
            live.ask("wait dead s0-s1#0 20s")
            ip("-n", ns + "x", "link", "set", "v0", "netns", ns)
            live.ask("wait 500ms")  # it is down: no reason to open it
            quiet_up("v0", ns)
            live.until(BACK % (driver, 0))
            live.ask("wait up 60s")
            # there and back, unseen: as up as before, with a deaf socket
            live.p.send_signal(signal.SIGSTOP)
            ip("-n", ns, "link", "set", "v0", "netns", ns + "x")
            ip("-n", ns + "x", "link", "set", "v0", "netns", ns)
            quiet_up("v0", ns)
            live.p.send_signal(signal.SIGCONT)
            live.until(AWAY % (driver, 0, 0))
            live.until(BACK % (driver, 0))
            assert "removed" in dead_by(live.end())
        finally:
            delete_spaces([ns + "x"])


@case
def a_wire_whose_interface_leaves_the_namespace_comes_back_with_it_af_packet():
    moved("net_af_packet")


@case
def a_wire_whose_interface_leaves_the_namespace_comes_back_with_it_af_xdp():
    moved("net_af_xdp")


@case
def an_interface_that_is_renamed_stays_the_wire():
    """The kernel asks for it to be down: so much dies, by its carrier."""
    with at_wires("net_af_packet") as live:
        ns = live.net.ns
        for new, old in (("w0", "v0"), ("v0", "w0")):
            ip("-n", ns, "link", "set", old, "down")
            live.ask("wait dead s0-s1#0 20s")
            ip("-n", ns, "link", "set", old, "name", new)
            quiet_up(new, ns)
            said = live.ask("wait up 60s")
            assert "lost its interface" not in said, said
        assert "removed" not in dead_by(live.end())


@case
def one_that_came_back_otherwise_is_refused_until_it_is_right():
    with at_wires("net_af_packet") as live:
        ns = live.net.ns
        ip("-n", ns, "link", "del", "v0")
        for _ in (0, 1):
            live.until("lost its interface")
        ip("-n", ns, "link", "add", "v0", "mtu", "1300", "type", "veth", "peer",
           "name", "v1")
        ip("-n", ns, "link", "set", "v0", "up")
        live.until("net_af_packet0 is back, but cannot be opened for link "
                   "s0-s1#0: v0 has an MTU of 1300, and its frames have 1414 "
                   "bytes; ip link set v0 mtu 1400")
        assert "cannot be opened" not in live.ask("wait 700ms")  # said once
        quiet_up("v0", ns, MTU)
        quiet_up("v1", ns, MTU)
        for i in (0, 1):
            live.until("is back, at link s0-s1#0")
        live.end()


@case
def carriers_are_known_though_the_kernel_told_of_too_many_changes():
    """While the process is stopped, more changes than any queue holds: it asks
    for what is, and needs none of them."""
    with at_wires("net_af_packet") as live:
        ns = live.net.ns
        live.p.send_signal(signal.SIGSTOP)
        lines = []
        for i in range(40):
            lines += ["link add f%d type veth peer name g%d" % (i, i)]
        for _ in range(4):
            lines += ["link set v%d %s" % (dev, to) for to in ("down", "up")
                      for dev in (0, 2) for _ in range(2)]
            for i in range(40):
                lines += ["link set f%d up" % i, "link set f%d down" % i]
        lines += ["link del f%d" % i for i in range(40)]
        lines += ["link set v0 down", "link set v2 up"]
        subprocess.run(["ip", "-n", ns, "-batch", "-"], text=True, check=True,
                       input="\n".join(lines) + "\n")
        live.p.send_signal(signal.SIGCONT)
        live.ask("wait dead s0-s1#0 20s", "wait 500ms")
        links = live.links()
        assert links["s0-s1#0"]["oper"] == "down", links
        assert "v0) has no carrier" in links["s0-s1#0"]["reason"], links
        live.ask("link s0-s1#0 disable", "wait up 60s")  # all but that one
        assert live.links()["s0-s1#1"]["oper"] == "up"
        ip("-n", ns, "link", "set", "v0", "up")
        live.ask("link s0-s1#0 enable")
        live.end()


CLIENTS = """
attach = ( { endpoint = "e0"; port = "%s0"; dst = "e1"; },
           { endpoint = "e1"; port = "%s2"; dst = "e0"; } );
"""


@case
def a_client_whose_interface_is_deleted_comes_back_with_it():
    for driver in ("net_af_packet", "net_af_xdp"):
        with Space(MTU) as net, Box() as box, Live(
                net, box, driver, FIGURE1 + CLIENTS,
                net.vdevs(driver)[::2]) as live:
            live.until_heard()
            ip("-n", net.ns, "link", "del", "v0")
            live.until("%s0 lost its interface v0: endpoint e0 has no client "
                       "until it is back" % driver)
            lay(net, 0)
            live.until("%s0 is back, at endpoint e0" % driver)
            live.until_heard()
            live.end()


@case
def a_client_is_followed_to_another_name_and_to_another_mtu():
    """The kernel throws frames away that are longer than an MTU, and tells
    nobody. What it keeps while the interface is down, it sends later."""
    with Space(MTU) as net, Box() as box, Live(
            net, box, "net_af_packet", FIGURE1 + CLIENTS,
            net.vdevs("net_af_packet")[::2]) as live:
        ip("-n", net.ns, "link", "set", "v2", "down")
        ip("-n", net.ns, "link", "set", "v2", "name", "w2")
        quiet_up("w2", net.ns, MTU)
        live.until_heard()
        ip("-n", net.ns, "link", "set", "w2", "down")
        live.send(60, 5)
        live.ask("wait drained 20s")
        ip("-n", net.ns, "link", "set", "w2", "up")
        live.until_heard()
        for mtu, size in ((600, 1000), (1000, 600), (MTU, 1200)):
            for dev in ("w2", "v3"):
                ip("-n", net.ns, "link", "set", dev, "mtu", str(mtu))
            live.until("net_af_packet2: the MTU of v2 is %d now" % mtu)
            live.send(size)
        ip("-n", net.ns, "link", "set", "w2", "mtu", "9000")
        live.until("net_af_packet2: frames of v2 (MTU 9000) may have 9018 "
                   "bytes, and the driver hands out 1982 of them; give it "
                   "larger slots, as in framesz=16384,blocksz=32768")
        r = live.end(lost=1)
        port = [a for a in r["attached"] if a["port"] == "net_af_packet2"][0]
        assert port["tx_too_long"] == 1 and port["tx_errors"] == 0, port
        p = subprocess.run(["ip", "-n", net.ns, "link", "show", "w2"],
                           capture_output=True, text=True, check=True)
        assert "PROMISC" not in p.stdout, p.stdout


main()
