#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One fabric in three processes [PHY-3]: a triangle of switches, a host at each,
a cable between each two, three network namespaces. Who is cut off from one
neighbour reaches it by the other; one that is killed stops nobody else."""
import os
import subprocess
import sys
import time

REPORT = os.path.abspath(sys.argv.pop(4))
from reflit_test import REFLIT, case, main  # noqa: E402
from spaces import LINK, Processes, TYPE, ip  # noqa: E402

NAMES = ("one", "two", "three")
CABLES = ((0, 1), (1, 2), (2, 0))
CONFIG = """
fabric: {
  topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; }, { name = "s2"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; }, { name = "e2"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "e1"; b = "s1"; },
            { a = "e2"; b = "s2"; }, { a = "s0"; b = "s1"; },
            { a = "s1"; b = "s2"; }, { a = "s2"; b = "s0"; } );
};
processes = ( { name = "one"; devices = ["e0", "s0"]; },
              { name = "two"; devices = ["e1", "s1"]; },
              { name = "three"; devices = ["e2", "s2"]; } );
wires = ( { link = "s0-s1"; a = "net_af_packet0"; b = "net_af_packet1"; },
          { link = "s1-s2"; a = "net_af_packet0"; b = "net_af_packet1"; },
          { link = "s2-s0"; a = "net_af_packet0"; b = "net_af_packet1"; } );
attach = ( { endpoint = "e0"; port = "net_af_packet2"; },
           { endpoint = "e1"; port = "net_af_packet2"; },
           { endpoint = "e2"; port = "net_af_packet2"; } );
networks = ( { name = "lan"; members = ["e0", "e1", "e2"];
               stations = ["02:00:00:00:00:00 e0", "02:00:00:00:00:01 e1",
                           "02:00:00:00:00:02 e2"]; } );
""" + LINK.replace("phy_lost_ns = 400000000", "phy_lost_ns = 0")


def station(i):
    return b"\2\0\0\0\0" + bytes([i])


class Triangle(Processes):
    """Process i has "next" on the cable to i + 1, "last" on that to i - 1, and
    a port whose other end, .sock[i], is the test's."""

    def __init__(self):
        super().__init__("t", 3, ("next", "last"))
        self.reports = []

    def lay(self):
        for a, b in CABLES:
            ip("link", "add", "next", "netns", self.ns[a], "type", "veth",
               "peer", "name", "last", "netns", self.ns[b])

    def start(self, i):
        self.lives[i] += 1
        report = self.box.path("%s%d.json" % (NAMES[i], self.lives[i]))
        self.reports.append(report)
        with open(self.box.path("err%d" % i), "a", encoding="utf-8") as err:
            self.process[i] = subprocess.Popen(
                ["ip", "netns", "exec", self.ns[i], REFLIT,
                 "--file-prefix=" + self.prefix(i),
                 "--vdev=net_af_packet0,iface=next",
                 "--vdev=net_af_packet1,iface=last",
                 "--vdev=net_af_packet2,iface=p", "--", "--config",
                 self.box.write(NAMES[i] + ".cfg", CONFIG), "--process",
                 NAMES[i], "--json", report], stdout=subprocess.DEVNULL,
                stderr=err)

    def errors(self):
        text = ""
        for i in range(3):
            with open(self.box.path("err%d" % i), encoding="utf-8") as f:
                text += f.read()
        return text

    def send(self, frm, to, first, n):
        for k in range(first, first + n):
            self.sock[frm].send(station(to) + station(frm) + TYPE
                                + k.to_bytes(4, "big") + bytes(400))

    def receive(self, frm, to, enough, seconds):
        """Numbers of frames of one host that reach another, in order."""
        return self.receive_of(to, station(frm) + TYPE, enough, seconds)

    def meet(self, pairs):
        """Until frames pass from each of these to the other."""
        end = time.monotonic() + 60
        for i in {i for pair in pairs for i in pair}:
            while not self.is_linked(i):
                assert time.monotonic() < end, (i, self.errors())
                time.sleep(0.05)
        for frm, to in pairs:
            while not self.receive(frm, to, 1, 0.1):
                self.send(frm, to, 0, 1)
                assert time.monotonic() < end, (frm, to, self.errors())
        time.sleep(0.5)
        for i in range(3):
            self.receive(9, i, 1, 0.3)

    def exchange(self, pairs, first, n):
        """Each gets all, in order, though all send at once."""
        for frm, to in pairs:
            self.send(frm, to, first, n)
        for frm, to in pairs:
            got = self.receive(frm, to, n, 40)
            assert got == list(range(first, first + n)), (
                frm, to, len(got), got[:3], self.errors())

    def judge(self):
        """Whatever reports there are."""
        p = subprocess.run([REPORT] + [r for r in self.reports
                                       if os.path.exists(r)],
                           capture_output=True, text=True, check=False)
        return p.returncode, p.stdout + p.stderr


# each of a pair in turn: nobody waits for two at one socket
RING = ((0, 1), (1, 2), (2, 0))
BACK = ((1, 0), (2, 1), (0, 2))


@case
def three_processes_carry_frames_between_each_two_and_round_a_cut_cable():
    with Triangle() as net:
        for i in (1, 0, 2):
            net.start(i)
        net.meet(RING + BACK)
        for pairs in (RING, BACK):
            net.exchange(pairs, 100, 300)
        # from the first to the second only by the third now
        ip("-n", net.ns[0], "link", "set", "next", "down")
        for pairs in (RING, BACK):
            net.exchange(pairs, 1000, 300)
        ip("-n", net.ns[0], "link", "set", "next", "up")
        time.sleep(1)
        for pairs in (RING, BACK):
            net.exchange(pairs, 2000, 300)
        assert net.stop() == [0] * 3, net.errors()
        status, out = net.judge()
        assert status == 0 and "3 reports, 6 flows" in out, out
        assert "lost 0, duplicated 0, reordered 0, altered 0, reported 0" \
            in out, out


@case
def one_of_three_is_killed_and_the_two_others_go_on():
    with Triangle() as net:
        for i in range(3):
            net.start(i)
        net.meet(RING + BACK)
        net.exchange(RING, 100, 100)
        net.kill(2)
        for k in range(1000, 3000, 100):
            net.exchange(((0, 1),), k, 100)
            net.exchange(((1, 0),), k, 100)
        net.start(2)
        net.meet(((0, 2), (2, 0), (1, 2), (2, 1)))
        for pairs in (RING, BACK):
            net.exchange(pairs, 5000, 200)
        assert net.stop() == [0] * 3, net.errors()
        status, out = net.judge()
        # the one that was killed left no ledger here
        assert status == 1 and "unaccounted for" in out, out
        assert "lost 0, duplicated 0, reordered 0, altered 0" in out, out


main()
