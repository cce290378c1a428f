#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What enters at a port is what came in at it, and all of that: nothing of
other interfaces, nothing that the machine sends itself [PHY-10], no queue that
nobody reads [PHY-9] (test_queues.py: those that are read)."""
import re
import socket
import struct
import subprocess
import threading
import time

from reflit_test import Box, FIGURE1, REFLIT, case, main
from veth_pairs import CONFIG, Pairs, receive, run_with, udp

STRANGE = b"\2\0\0\0\0\2\2\0\0\0\0\1\x88\xb7" + bytes(200)


class Flood:
    """Frames of the type 0x88b7 through a socket, as fast as they go."""

    def __init__(self, sock):
        self.sock, self.on, self.sent = sock, True, 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while self.on:
            self.sock.send(STRANGE)
            self.sent += 1
            if self.sent % 20 == 0:
                time.sleep(0.0005)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.on = False
        self.thread.join()


def strangers(sock):
    n = 0
    sock.settimeout(0.2)
    try:
        while True:
            n += sock.recv(4096)[12:14] == STRANGE[12:14]
    except TimeoutError:
        return n


@case
def frames_of_other_interfaces_do_not_enter_as_a_port_opens():
    """net_af_packet hears all interfaces until it is bound to its own."""
    with Pairs() as pairs, Pairs() as other:
        inside, outside, strange = pairs.raw(0), pairs.raw(2), other.raw(0)

        def send():
            inside.send(udp(bytes(100)))
            assert receive(outside, udp(b"")) == udp(bytes(100))
        with Flood(strange) as flood:
            for _ in range(3):
                run = run_with(pairs, "net_af_packet", send)
                run.check_clean()
                assert run.report["sent_packets"] == 1, run.report["attached"]
        assert strangers(outside) == 0
        # rx_discarded counts what had come before: none with drivers that
        # bind their socket at once
        assert flood.sent > 1000


def own_frames_stay_out(driver, more=""):
    with Pairs() as pairs:
        inside, outside = pairs.raw(0), pairs.raw(2)
        own = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        own.bind((pairs.names[1], 0))

        def send():
            for _ in range(50):
                own.send(STRANGE)
            inside.send(udp(bytes(100)))
            assert receive(outside, udp(b"")) == udp(bytes(100))
        run = run_with(pairs, driver, send, more)
        own.close()
        run.check_clean()
        assert run.report["sent_packets"] == 1, run.report["attached"]
        assert strangers(outside) == 0


@case
def frames_that_the_machine_sends_by_a_ports_interface_do_not_enter():
    own_frames_stay_out("net_af_packet")
    own_frames_stay_out("eth_af_packet")
    own_frames_stay_out("net_pcap")


def refused(run, *words):
    run.check(2)
    assert len(run.errors()) == 1, run.err
    for word in words:
        assert word in run.err, run.err


def one(name):
    return FIGURE1 + """
attach = ( { endpoint = "e0"; port = "%s"; dst = "e1"; } );
""" % name


@case
def every_frame_of_a_port_became_a_packet_or_stands_in_the_edge():
    """Also those that a network leaves on their side: for a station at the same
    port, for the neighbour on the cable; and one from a group."""
    def frame(dst, src):
        return bytes.fromhex(dst + src + "88b6") + bytes(50)

    a, b, far = "020000000001", "020000000002", "020000000003"
    group, cable = "ffffffffffff", "0180c200000e"
    frames = [frame(group, a), frame(group, b), frame(a, b), frame(b, a),
              frame(b, a), frame(cable, a), frame(far, a), frame(a, group)]
    pcap = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    head = len(pcap)
    for f in frames:
        pcap += struct.pack("<IIII", 0, 0, len(f), len(f)) + f
    config = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "net_pcap0"; },
           { endpoint = "e1"; port = "net_pcap1"; } );
networks = ( { name = "lan"; members = ["e0", "e1"]; } );
"""
    with Box() as box:
        eal = ["--vdev=net_pcap%d,rx_pcap=%s,tx_pcap=%s" % (
            i, box.write("in%d" % i, p), box.path("out%d" % i))
               for i, p in enumerate((pcap, pcap[:head]))]
        run = box.run(eal=eal, config=config, commands="wait up\nstart\n"
                      "wait sent 60s\nwait drained 60s\nquit\n").check(0)
    r = run.report
    assert r["edge"] == dict(refused=1, missed=0, cut=0, oversize=0,
                             filtered=4), r["edge"]
    assert r["sent_packets"] == 3 and r["delivered_packets"] == 3, r
    assert sum(p["rx_frames"] for p in r["attached"]) == (
        r["sent_packets"] + sum(r["edge"].values())), r["attached"]
    for n, why in ((3, "station at the same port"), (1, "on its cable")):
        assert re.search("net_pcap0: %d frames were for .*%s" % (n, why),
                         run.out), run.out
    assert "not taken at the edge 1: refused 1," in run.out, run.out


@case
def queues_that_nobody_would_read_are_refused():
    with Box() as box:
        # an empty capture, twice
        head = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
        two = ["rx_pcap=" + box.write(name, head) for name in ("a", "b")]
        for vdev, asked, words in (
                ("net_pcap0," + ",".join(two), 0,
                 ("one queue, not 2: each file is one; give it one rx_pcap=",)),
                ("net_pcap0," + two[0], 2, ("leave rx_queues out",)),
                ("net_ring0", 2, ("rx_queues = 2, and net_ring spreads no ",)),
                ("net_ring0", 17, ("net_ring has at most 16; ask for less",)),
                ("net_vhost0,queues=2,iface=" + box.path("s"), 3,
                 ("rx_queues = 3, and queues=2 spreads its frames over 2",))):
            name = vdev.split(",")[0]
            config = one(name)
            if asked:
                config = config.replace("dst", "rx_queues = %d; dst" % asked)
            refused(box.run((), ["--vdev=" + vdev], config),
                    "attach: %s: " % name, *words)


@case
def two_ports_at_one_interface_are_refused():
    """A frame would come twice, or by one of them as it pleases."""
    with Pairs() as pairs, Box() as box:
        for driver, iface in (("net_tap", pairs.names[0][:-2] + "t"),
                              ("net_af_packet", pairs.names[1]),
                              ("net_af_xdp", pairs.names[1])):
            eal = ["--vdev=%s%d,iface=%s" % (driver, i, iface)
                   for i in (0, 1)]
            refused(box.run((), eal, CONFIG.replace("%s", driver)),
                    "%s1: %s: %s0 has it already" % (driver, iface, driver))
        eal = ["--vdev=net_tap0,iface=%st" % pairs.names[0][:-2]]
        p = subprocess.Popen([REFLIT] + eal + [
            "--", "--config", box.write("first.cfg", one("net_tap0")), "-i"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        try:
            p.stdin.write("show traffic\n")
            p.stdin.flush()
            while "under way" not in p.stdout.readline():
                assert p.poll() is None, p.stderr.read()
            refused(box.run((), eal, one("net_tap0")),
                    "another process of reflit's has it")
        finally:
            p.communicate("quit\n", timeout=60)


main()
