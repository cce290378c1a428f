#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real frames through whole fabrics [EP-1]: of captures, also damaged ones, and
of the stacks of two hosts."""
import ctypes
import json
import os
import socket
import struct
import subprocess
import threading

from pcaps import HEAD, PORTS, frame, record, same, vdevs
from reflit_test import (FIGURE1, REFLIT, Box, Run, Running, Skip, case, main,
                         need)


@case
def a_truncated_capture_is_reported_and_the_rest_goes_on():
    with Box() as box:
        whole = HEAD + b"".join(record(frame(i, 60 + i)) for i in range(50))
        good = box.write("good.pcap", whole)
        cut = box.write("cut.pcap", whole + record(frame(9, 500))[:-300])
        run = box.run(eal=vdevs(box, cut, good), config=FIGURE1 + PORTS,
                      commands="wait up\nstart\nwait sent\nwait drained\n"
                      "quit\n").check_clean()
        assert "cut.pcap: cut off after frame 50" in run.err, run.err
        assert run.report["delivered_packets"] == 100
        assert run.report["attached"][0]["truncated"]
        assert not run.report["attached"][1]["truncated"]
        same(good, box.path("o1"))


def block(kind, body):
    body += bytes(-len(body) % 4)
    n = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + n + body + n


def interface(link, snap):
    return block(1, struct.pack("<HHI", link, 0, snap))


def packet(i, data):
    return block(6, struct.pack("<IIIII", i, 0, 0, len(data), len(data)) +
                 data)


SECTION = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))


@case
def captures_that_are_no_ethernet_or_of_two_kinds_are_refused():
    frames = [packet(0, frame(i, 60 + i)) for i in range(3)]
    ng = SECTION + interface(1, 262144) + b"".join(frames)
    late = packet(1, frame(7, 77))
    files = [("sll", HEAD[:20] + struct.pack("<I", 113), "LINUX_SLL"),
             ("raw", HEAD[:20] + struct.pack("<I", 101), "RAW"),
             ("wifi", HEAD[:20] + struct.pack("<I", 127), "802_11"),
             ("snap", ng + interface(1, 65535) + late, "beyond frame 3"),
             ("kind", ng + interface(113, 262144) + late, "beyond frame 3")]
    with Box() as box:
        good = box.write("good.pcap", HEAD + record(frame(1, 60)))
        for name, head, why in files:
            text = head if name in ("snap", "kind") else \
                head + record(frame(1, 60))
            path = box.write(name + ".cap", text)
            run = box.run(eal=vdevs(box, path, good), config=FIGURE1 + PORTS,
                          commands="quit\n")
            run.check(2)
            lines = [e for e in run.errors() if path in e]
            assert len(lines) == 1 and why in lines[0], run.err
            sim = subprocess.run(
                [os.path.join(os.path.dirname(REFLIT), "reflit-sim"), "--config", box.write("f.cfg", FIGURE1), "--traffic",
                 "pcap:" + path], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, timeout=60)
            assert sim.returncode == 2 and why in sim.stderr, sim
        # a file with one interface is read, whatever its form
        path = box.write("one.cap", ng)
        run = box.run(eal=vdevs(box, path, good), config=FIGURE1 + PORTS,
                      commands="wait up\nstart\nwait sent\nwait drained\n"
                      "quit\n").check_clean()
        assert run.report["delivered_packets"] == 4, run.report


@case
def frames_over_the_maximum_are_counted_and_skipped():
    sizes = [60, 447, 448, 449, 1514, 224, 64, 3000]
    config = FIGURE1 + "link: { max_packet_flits = 2; };\n" + PORTS
    with Box() as box:
        mixed = box.write("mixed.pcap", HEAD + b"".join(
            record(frame(i, n)) for i, n in enumerate(sizes)))
        fit = box.write("fit.pcap", HEAD + b"".join(
            record(frame(i, n)) for i, n in enumerate(sizes) if n <= 448))
        run = box.run(eal=vdevs(box, mixed, fit), config=config,
                      commands="wait up\nstart\nwait sent\nwait drained\n"
                      "quit\n").check_clean()
        assert run.report["attached"][0]["rx_oversize"] == 3
        assert "up to 3000 bytes" in run.err and "448" in run.err
        same(fit, box.path("o1"))
        same(fit, box.path("o0"))


@case
def frames_of_every_size_come_out_as_they_went_in():
    with Box() as box:
        every = box.write("every.pcap", HEAD + b"".join(
            record(frame(n, n)) for n in range(14, 1600)))
        box.run(eal=vdevs(box, every, every), config=FIGURE1 + PORTS,
                commands="wait up\nstart\nwait sent\nwait drained\nquit\n"
                ).check_clean()
        same(every, box.path("o0"))
        same(every, box.path("o1"))


@case
def a_port_may_send_to_an_endpoint_without_one():
    with Box() as box:
        few = box.write("few.pcap", HEAD + b"".join(
            record(frame(i, 700)) for i in range(500)))
        run = box.run(
            eal=["--vdev=net_pcap0,rx_pcap=%s,tx_pcap=%s"
                 % (few, box.path("o0"))],
            config=FIGURE1 + 'attach = ( { endpoint = "e0"; '
            'port = "net_pcap0"; dst = "e1"; } );\n',
            commands="wait up\nstart\nwait sent\nwait drained\nquit\n")
        run.check_clean()
        assert run.report["delivered_packets"] == 500


def in_namespace(name, fn):
    """Runs fn in a child process inside a network namespace."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            fd = os.open("/run/netns/" + name, os.O_RDONLY)
            if ctypes.CDLL(None, use_errno=True).setns(fd, 0x40000000) == 0:
                fn()
                status = 0
        finally:
            os._exit(status)
    return pid


def talk():
    """Stacks on both sides of the fabric: UDP of many sizes, TCP both ways."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.settimeout(5)
    for n in range(1, 1400, 7):
        udp.sendto(bytes(n), ("192.0.2.2", 7))
        assert len(udp.recv(2048)) == n
    tcp = socket.create_connection(("192.0.2.2", 7), timeout=20)
    data = bytes(range(256)) * 4000
    threading.Thread(target=tcp.sendall, args=(data,), daemon=True).start()
    got = b""
    while len(got) < len(data):
        got += tcp.recv(65536)
    assert got == data


def answer():
    """Sends back whatever comes."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("192.0.2.2", 7))
    tcp = socket.create_server(("192.0.2.2", 7))

    def stream():
        peer = tcp.accept()[0]
        while True:
            data = peer.recv(65536)
            if not data:
                return
            peer.sendall(data)
    threading.Thread(target=stream, daemon=True).start()
    while True:
        data, peer = udp.recvfrom(2048)
        udp.sendto(data, peer)


@case
def live_stacks_talk_across_a_fabric_whose_links_die():
    if os.geteuid() != 0:
        raise Skip("needs root")
    need("ip", "ethtool")
    names = ("rlt%da" % os.getpid(), "rlt%db" % os.getpid())
    # DPDK makes the number of a fanout group from those of process and
    # interface: beside other processes it may be taken
    own = "rlt%dr" % os.getpid()

    def ip(*args):
        if subprocess.run(("ip",) + args, capture_output=True).returncode:
            raise Skip("no network namespaces here: ip " + " ".join(args))
    pids = []
    try:
        ip("netns", "add", own)
        for i, n in enumerate(names):
            ip("netns", "add", n)
            ip("link", "add", n, "netns", own, "type", "veth", "peer", "name",
               "eth0", "netns", n)
            # the host's own stack hears these frames, too: it may not answer
            ip("-n", own, "link", "set", n, "arp", "off", "up")
            ip("-n", n, "addr", "add", "192.0.2.%d/24" % (i + 1), "dev",
               "eth0")
            ip("-n", n, "link", "set", "eth0", "up")
            # checksums must be in the frames, and no frame over the MTU
            ip("netns", "exec", n, "ethtool", "-K", "eth0", "tx", "off",
               "tso", "off", "gso", "off")
        pids.append(in_namespace(names[1], answer))
        config = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "net_af_packet0"; dst = "e1"; },
           { endpoint = "e1"; port = "net_af_packet1"; dst = "e0"; } );
"""
        with Box() as box:
            with Running(
                    ["ip", "netns", "exec", own, REFLIT] +
                    ["--vdev=net_af_packet%d,iface=%s" % (i, n)
                     for i, n in enumerate(names)] +
                    ["--", "-i", "--config", box.write("f.cfg", config),
                     "--json", box.path("report.json")],
                    stdin=subprocess.PIPE) as run:
                run.say("wait up\nstart\nwait 200ms\nshow link\n")
                run.until("s0-s1#1")
                talker = in_namespace(names[0], talk)
                run.say("link s0-s1#0 flap 5 40ms\nwait up\n"
                        "link s0-s1#1 one-way s1\nwait dead s0-s1#1\n"
                        "wait 100ms\nlink s0-s1#1 up\n" * 2)
                assert os.waitpid(talker, 0)[1] == 0, \
                    "the stacks did not agree"
                run.say("wait up\nstop\nwait drained\nquit\n")
                status = run.p.wait(60)
            with open(box.path("report.json"), encoding="utf-8") as f:
                report = json.load(f)
            Run(status, "", "", report).check_clean()
            assert report["sent_packets"] > 400
            assert len(report["failovers"]) >= 4
    finally:
        for p in pids:
            os.kill(p, 9)
            os.waitpid(p, 0)
        for n in names + (own,):
            subprocess.run(("ip", "netns", "del", n), capture_output=True,
                           check=False)


main()
