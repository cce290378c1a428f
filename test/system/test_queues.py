#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""[PHY-9] All queues of a port are served, and a flow stays in order: flows
that an interface of four queues spreads over them, each frame numbered in its
flow. The kernel counts by queue what the interface receives."""
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from reflit_test import Box, FIGURE1, REFLIT, Run, case, main, need
from spaces import LINK, delete_spaces, ip, need_spaces, quiet_up
from veth_pairs import udp

# A veth says "rx" and "tx" of its queues; with this it says "combined".
COMBINED = {"LD_PRELOAD": os.path.abspath(sys.argv[4])}
QUEUES = 4
FLOWS = 64  # so that each queue has some
ATTACH = """
attach = ( { endpoint = "e0"; port = "%s"; dst = "e1"; %s },
           { endpoint = "e1"; port = "net_af_packet9"; dst = "e0"; } );
"""


def frame(flow, number):
    """A datagram of a flow, which a hash tells by its port."""
    f = bytearray(udp(struct.pack("!II", flow, number) + bytes(120)))
    f[34:36] = struct.pack("!H", 1000 + flow)
    return bytes(f)


def many(n=QUEUES):
    return ("numrxqueues", str(n), "numtxqueues", str(n))


def by_queue(wrap, iface):
    """Frames that XDP saw in each queue, as the kernel says."""
    out = subprocess.run(wrap + ["ethtool", "-S", iface], check=True,
                         capture_output=True, text=True).stdout
    return [int(n) for n in re.findall(r"rx_queue_\d+_xdp_packets: (\d+)",
                                       out)]


class Wide:
    """A namespace with q, an interface of four queues, and o; their other ends
    are here."""
    made = 0

    def __init__(self):
        need_spaces()
        need("ethtool")
        Wide.made += 1
        self.ns = "rlq%d%c" % (os.getpid() % 100000, 96 + Wide.made)
        self.wrap = ["ip", "netns", "exec", self.ns]
        self.sock = []

    def __enter__(self):
        ip("netns", "add", self.ns)
        try:
            for name, more in (("q", many()), ("o", ())):
                ip("link", "add", self.ns + name, *more, "type", "veth",
                   "peer", "name", name, *more, "netns", self.ns)
                quiet_up(name, self.ns)
                quiet_up(self.ns + name)
                s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
                s.bind((self.ns + name, 0x0800))
                s.settimeout(0.1)
                self.sock.append(s)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        for s in self.sock:
            s.close()
        delete_spaces([self.ns])

    def send(self, each, pause_s):
        """So many frames of each flow, in turn."""
        for number in range(each):
            for flow in range(FLOWS):
                self.sock[0].send(frame(flow, number))
            time.sleep(pause_s)

    def receive(self, enough, quiet_s=10):
        """Numbers of each flow as they leave at o, until there are enough, or
        nothing comes any more."""
        got, n = [[] for _ in range(FLOWS)], 0
        end = time.monotonic() + quiet_s
        while n < enough and time.monotonic() < end:
            try:
                data, at = self.sock[1].recvfrom(4096)
            except TimeoutError:
                continue
            if at[2] == 4:  # our own
                continue
            flow, number = struct.unpack("!II", data[42:50])
            got[flow].append(number)
            n += 1
            end = time.monotonic() + quiet_s
        return got


def pass_flows(wide, p, each, pause_s, cuts, begin):
    """Meanwhile the links between the switches are cut in turn. @begin: said
    once all are sent, so that the port begins to read."""
    got = []
    if begin:
        wide.send(each, pause_s)
        p.stdin.write(begin)
        p.stdin.flush()
        return wide.receive(each * FLOWS)
    threads = [threading.Thread(target=wide.send, args=(each, pause_s)),
               threading.Thread(target=lambda: got.extend(
                   wide.receive(each * FLOWS)))]
    for t in reversed(threads):
        t.start()
    for i in range(cuts):
        p.stdin.write("link s0-s1#%d down\nwait 20ms\nlink s0-s1#%d up\n"
                      "wait up\n" % (i % 2, i % 2))
        p.stdin.flush()
        time.sleep(0.05)
    for t in threads:
        t.join()
    return got


def run(wide, vdev, keys="", each=0, pause_s=0.01, cuts=0, env=None,
        begin=""):
    """reflit from q to o, and the flows that came out."""
    got, out = [], ""
    with Box() as box:
        config = FIGURE1 + ATTACH % (vdev.split(",", maxsplit=1)[0], keys)
        cmd = wide.wrap + [REFLIT, "--vdev=" + vdev,
                           "--vdev=net_af_packet9,iface=o", "--", "--config",
                           box.write("c", config), "-i", "--json",
                           box.path("r")]
        with subprocess.Popen(cmd, stdin=subprocess.PIPE, text=True,
                              stdout=subprocess.PIPE,
                              stderr=open(box.path("err"), "wb"),
                              env=dict(os.environ, **(env or {}))) as p:
            try:
                p.stdin.write("wait up\n" + ("" if begin else "start\n")
                              + "show traffic\n")
                p.stdin.flush()
                while "under way" not in out and p.poll() is None:
                    out += p.stdout.readline()
                if p.poll() is None:
                    got = pass_flows(wide, p, each, pause_s, cuts, begin)
                    p.stdin.write("stop\nwait drained 60s\nshow traffic\n"
                                  "quit\n")
                out += p.communicate(timeout=120)[0]
            except BrokenPipeError:
                out += p.communicate(timeout=120)[0]
            finally:
                p.kill()
        report = None
        if os.path.exists(box.path("r")):
            with open(box.path("r"), encoding="utf-8") as f:
                report = json.load(f)
        with open(box.path("err"), encoding="utf-8") as f:
            return Run(p.returncode, out, f.read(), report), got


def all_in_order(r, got, each):
    r.check_clean()
    assert r.report["sent_packets"] == each * FLOWS, r.report["edge"]
    for flow, numbers in enumerate(got):
        assert numbers == list(range(each)), (flow, numbers)


def refused(r, *words):
    r.check(2)
    assert len(r.errors()) == 1, r.err
    for word in words:
        assert word in r.err, r.err


@case
def flows_over_all_queues_arrive_in_order_while_links_are_cut():
    with Wide() as wide:
        r, got = run(wide, "net_af_xdp0,iface=q", each=60, cuts=6,
                     env=COMBINED)
        all_in_order(r, got, 60)
        assert len(r.report["failovers"]) >= 6, r.report["failovers"]
        queues = by_queue(wide.wrap, "q")
        assert len(queues) == QUEUES and min(queues) > 0, queues
        assert sum(queues) == 60 * FLOWS, queues
        port = r.report["attached"][0]
        assert port["rx_queues"] == QUEUES, port
        assert "read %d by 4 queues" % (60 * FLOWS) in r.out, r.out


@case
def frames_that_a_full_queue_did_not_take_stand_in_the_edge():
    """Of any queue: the kernel had what was read, and what was missed."""
    with Wide() as wide:
        r, got = run(wide, "net_af_xdp0,iface=q", each=250, pause_s=0,
                     env=COMBINED, begin="start\n")
        r.check(0)
        edge, port = r.report["edge"], r.report["attached"][0]
        queues = by_queue(wide.wrap, "q")
        assert sum(queues) == 250 * FLOWS, queues
        assert edge["missed"] > 0, edge
        assert port["rx_frames"] + edge["missed"] == 250 * FLOWS, (
            edge, port, r.out)
        for numbers in got:
            assert numbers == sorted(numbers), numbers


@case
def a_port_reads_no_less_than_its_interface_has():
    with Wide() as wide:
        vdev = "net_af_xdp0,iface=q"
        for more, keys, words in (
                ("", "rx_queues = 2;", ("over 4 queues, and its driver reads 2",
                                        "ethtool -L q combined 2")),
                (",queue_count=1", "", ("reads 1", "give it queue_count=4")),
                (",queue_count=4", "rx_queues = 3;",
                 ("queue_count=4 spreads its frames over 4",)),
                ("", "rx_queues = 5;", ("rx_queues = 5, and ethtool -l q has "
                                        "4 combined; ask for less",))):
            r, _ = run(wide, vdev + more, keys, env=COMBINED)
            refused(r, "attach: net_af_xdp0: ", *words)
        # a veth as it is: the line says what helps
        r, _ = run(wide, vdev)
        refused(r, "4 queues, and its driver reads 1; ethtool -L q rx 1 tx 1 "
                "(veth: at both ends)")
        one = ("rx", "1", "tx", "1")
        subprocess.run([*wide.wrap, "ethtool", "-L", "q", *one], check=True)
        subprocess.run(["ethtool", "-L", wide.ns + "q", *one], check=True)
        r, got = run(wide, vdev, "rx_queues = 1;", each=5)
        all_in_order(r, got, 5)


@case
def net_af_packet_has_one_queue_with_all_frames():
    """Of several, the kernel fills another one if its own is full: flows would
    lose their order."""
    with Wide() as wide:
        # a queue for all frames, however late the port reads them
        r, got = run(wide, "net_af_packet0,iface=q,qpairs=4,framecnt=8192",
                     each=60, cuts=6)
        all_in_order(r, got, 60)
        assert "qpairs=1, not 4: it has all frames" in r.err, r.err
        assert r.report["attached"][0]["rx_queues"] == 1
        r, _ = run(wide, "net_af_packet0,iface=q", "rx_queues = 2;")
        refused(r, "attach: net_af_packet0: it can have one queue, not 2")


@case
def a_link_takes_its_frames_from_whatever_queue_they_come_by():
    need_spaces()
    need("ethtool")
    ns = "rlq%dw" % (os.getpid() % 100000)
    wrap = ["ip", "netns", "exec", ns]
    config = FIGURE1 + LINK + """
wires = ( { link = "s0-s1#0"; a = "net_af_packet0"; b = "net_af_xdp0"; %s } );
"""
    eal = ["--vdev=net_af_packet0,iface=w0", "--vdev=net_af_xdp0,iface=w1"]
    ip("netns", "add", ns)
    try:
        ip("-n", ns, "link", "add", "w0", *many(), "type", "veth", "peer",
           "name", "w1", *many())
        for name in ("w0", "w1"):
            quiet_up(name, ns)
        # every CPU sends by queue 2
        subprocess.run(wrap + ["sh", "-c", "echo %x > /sys/class/net/w0/queues"
                               "/tx-2/xps_cpus"
                               % ((1 << os.cpu_count()) - 1)], check=True)
        for keys in ("", "rx_queues = [1, 4];"):
            before = by_queue(wrap, "w1")
            with Box() as box:
                r = box.run(("--packets", "500"), eal, config % keys,
                            "wait up\nstart\nwait sent 60s\n"
                            "wait drained 60s\nshow wires\nquit\n",
                            wrap=wrap, env=dict(os.environ, **COMBINED))
            r.check_clean()
            wires = r.report["wires"]
            assert [w["rx_queues"] for w in wires] == [1, QUEUES], wires
            assert wires[1]["steered"]["nobody"] == 0, wires[1]
            now = by_queue(wrap, "w1")
            assert now[0] == now[1] == now[3] == 0, now
            assert 0 < wires[1]["rx_frames"] <= now[2] - before[2], now
        with Box() as box:
            r = box.run((), eal, config % "rx_queues = [2, 4];", wrap=wrap,
                        env=dict(os.environ, **COMBINED))
            refused(r, "wires: net_af_packet0: it can have one queue, not 2")
    finally:
        delete_spaces([ns])


@case
def a_port_of_a_virtual_machine_has_the_queues_that_it_is_given():
    """By its arguments or by the fabric file, and without a machine."""
    with Box() as box:
        for more, key, queues in ((",queues=2", "", 2), ("", "rx_queues = 3;",
                                                         3), ("", "", 1)):
            r = box.run((), ["--vdev=net_vhost0,iface=" + box.path("s") + more],
                        FIGURE1 + 'attach = ( { endpoint = "e0"; port = '
                        '"net_vhost0"; %s } );' % key,
                        "wait up\nquit\n").check(0)
            assert r.report["attached"][0]["rx_queues"] == queues, more


main()
