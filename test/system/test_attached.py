#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kernel interfaces as ports of endpoints [EP-1, APP-4]: what their drivers
cut short, leave half done, drop or refuse is mended, refused or reported, and
never passed on as good."""
import ctypes
import os
import socket
import struct
import subprocess

from reflit_test import Box, FIGURE1, Skip, case, main
from spaces import ip
from veth_pairs import CONFIG, Pairs, port, receive, run_with, udp

def partial_checksums(driver):
    with Pairs() as pairs:
        inside, outside = pairs.raw(0), pairs.raw(2)

        def send():
            for n in (1, 64, 999, 1400):
                for partial in (True, False):
                    inside.send(udp(bytes(n), partial))
                    assert receive(outside, udp(b"")) == udp(bytes(n)), n
        run = run_with(pairs, driver, send)
    run.check_clean()
    assert port(run)["rx_checksums_completed"] == 4, port(run)
    assert "4 frames came with a partial checksum" in run.out, run.out


@case
def partial_checksums_are_completed():
    partial_checksums("net_af_packet")


def in_ip(frame, levels):
    """A frame of IPv4 in so many more headers of IPv4."""
    packet = frame[14:]
    for _ in range(levels):
        packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(packet), 0, 0,
                             64, 4, 0, bytes(4), bytes(4)) + packet
    return frame[:14] + packet


@case
def frames_nested_too_deep_are_refused_and_in_the_verdict():
    with Pairs() as pairs:
        inside, outside = pairs.raw(0), pairs.raw(2)

        def send():
            for levels in (3, 4, 9):
                inside.send(in_ip(udp(b"deep"), levels))
            want = in_ip(udp(b"deep"), 3)
            assert receive(outside, want) == want
        run = run_with(pairs, "net_af_packet", send)
    run.check_clean()
    assert port(run)["rx_nested"] == 2, port(run)
    assert run.report["edge"]["refused"] == 2, run.report["edge"]
    assert "not taken at the edge 2: refused 2" in run.out, run.out


@case
def a_driver_by_its_other_name_is_the_same_driver():
    partial_checksums("eth_af_packet")
    with Pairs(3000) as pairs:
        run = run_with(pairs, "eth_af_packet", lambda: None)
    run.check(2)
    assert "MTU 3000" in run.err and "framesz=4096" in run.err, run.err


@case
def stacks_with_the_kernels_own_defaults_agree():
    """No ethtool: checksum offload and segmentation as they come."""
    with Pairs() as pairs:
        names = ["rlx%d%s" % (os.getpid() % 10000, x) for x in "ab"]
        pids = []
        try:
            for i, n in enumerate(names):
                ip("netns", "add", n)
                ip("link", "set", pairs.names[2 * i], "netns", n)
                ip("-n", n, "link", "set", pairs.names[2 * i], "arp", "on",
                   "up")
                ip("-n", n, "addr", "add", "192.0.2.%d/24" % (i + 1), "dev",
                   pairs.names[2 * i])

            def enter(name):
                fd = os.open("/run/netns/" + name, os.O_RDONLY)
                libc = ctypes.CDLL(None, use_errno=True)
                assert libc.setns(fd, 0x40000000) == 0
            pids.append(os.fork())
            if pids[0] == 0:
                try:
                    enter(names[1])
                    server = socket.create_server(("192.0.2.2", 7))
                    while True:
                        peer = server.accept()[0]
                        data = b""
                        while len(data) < 1000:
                            data += peer.recv(65536)
                        peer.sendall(data)
                finally:
                    os._exit(1)

            def talk():
                pids.append(os.fork())
                if pids[1] != 0:
                    assert os.waitpid(pids.pop(), 0)[1] == 0, "no TCP"
                    return
                status = 1
                try:
                    enter(names[0])
                    for _ in range(20):
                        with socket.create_connection(("192.0.2.2", 7),
                                                      timeout=30) as s:
                            s.sendall(bytes(1000))
                            got = b""
                            while len(got) < 1000:
                                got += s.recv(65536)
                    status = 0
                finally:
                    os._exit(status)
            run = run_with(pairs, "net_af_packet", talk)
        finally:
            for p in pids:
                os.kill(p, 9)
                os.waitpid(p, 0)
            for n in names:
                subprocess.run(("ip", "netns", "del", n),
                               capture_output=True, check=False)
    run.check_clean()
    assert port(run, 0)["rx_checksums_completed"] > 40, port(run, 0)


@case
def frames_that_a_slot_cuts_short_are_not_sent_on():
    """An MTU that grew after the start."""
    with Pairs() as pairs:
        inside, outside = pairs.raw(0), pairs.raw(2)

        def send():
            for n in pairs.names:
                ip("link", "set", n, "mtu", "3000")
            inside.send(udp(bytes(2400)))  # cut, and IP tells
            inside.send(b"\2\0\0\0\0\2\2\0\0\0\0\1\x88\xb5" + bytes(2400))
            inside.send(udp(bytes(900)))
            got = receive(outside, udp(b""))
            assert got == udp(bytes(900)), got.hex()
        run = run_with(pairs, "net_af_packet", send)
    run.check_clean()
    assert port(run)["rx_cut"] == 2 and port(run)["rx_frames"] == 3
    assert run.report["sent_packets"] == 1
    assert "2 frames came cut short" in run.out, run.out


@case
def an_mtu_beyond_the_slot_is_refused_and_larger_slots_help():
    big = "link: { max_packet_flits = 32; };\n"
    with Pairs(3000) as pairs:
        run = run_with(pairs, "net_af_packet", lambda: None)
        run.check(2)
        assert "MTU 3000" in run.err and "framesz=4096" in run.err, run.err
        assert run.err.count("\n") == 1, run.err
        inside, outside = pairs.raw(0), pairs.raw(2)

        def send():
            inside.send(udp(bytes(2900)))
            assert receive(outside, udp(b"")) == udp(bytes(2900))
        run = run_with(pairs, "net_af_packet", send,
                       ",framesz=4096,blocksz=8192", CONFIG + big)
    run.check_clean()
    assert port(run)["rx_cut"] == 0


@case
def what_the_kernels_queue_drops_is_in_the_report():
    with Pairs() as pairs:
        inside = pairs.raw(0)

        def flood():
            for _ in range(20000):
                inside.send(udp(bytes(1000)))
        # it reads nothing before start: a ring of 8 slots is full soon
        run = run_with(pairs, "net_af_packet", flood,
                       ",blocksz=4096,framecnt=8", first="")
    run.check_clean()
    missed = port(run)["rx_missed"]
    assert missed + port(run)["rx_frames"] == 20000, port(run)
    assert missed > 10000
    assert "%d frames were missed before they were read" % missed in run.out
    assert "missed %d," % missed in run.out, run.out


@case
def frames_that_a_driver_cannot_write_break_the_promise():
    with Pairs() as pairs:
        inside = pairs.raw(0)

        def send():
            ip("link", "set", pairs.names[3], "down")
            for _ in range(10):
                inside.send(udp(bytes(500)))
        run = run_with(pairs, "net_af_packet", send)
    run.check(1)
    unwritten = run.report["unwritten_frames"]
    assert unwritten > 0 and unwritten == port(run, 1)["tx_errors"], run.report
    assert "%d frames could not be written" % unwritten in run.out, run.out


@case
def packets_longer_than_a_port_can_write_are_lost_and_said():
    with Pairs(3000) as pairs:
        inside = pairs.raw(0)
        ip("link", "set", pairs.names[2], "mtu", "1500")
        ip("link", "set", pairs.names[3], "mtu", "1500")

        def send():
            inside.send(udp(bytes(2000)))
            inside.send(udp(bytes(1000)))
        run = run_with(pairs, "net_af_packet", send,
                       ",framesz=4096,blocksz=8192")
    run.check(1)
    assert run.report["lost_packets"] == 1, run.report
    assert run.report["delivered_packets"] == 1
    assert port(run, 1)["tx_too_long"] == 1
    assert "1 frames arrived that are too long for it to write" in run.out


@case
def af_xdp_ports_receive_with_pools_of_their_own():
    with Pairs() as pairs:
        inside, outside = pairs.raw(0), pairs.raw(2)

        def send():
            for i in range(200):
                n = 1 + 7 * i
                inside.send(udp(bytes(n), i % 2 == 1))
                assert receive(outside, udp(b"")) == udp(bytes(n)), n
        run = run_with(pairs, "net_af_xdp", send)
    if run.status == 2 and "start" in run.err:
        raise Skip("no AF_XDP here: " + run.err.strip().split("\n")[0])
    run.check_clean()
    assert run.report["sent_packets"] >= 200, run.report["sent_packets"]
    assert port(run)["rx_checksums_completed"] == 100


@case
def an_interface_that_is_not_there_is_said_in_its_drivers_words():
    with Box() as box:
        for driver, word in (("net_af_packet", "iface=INTERFACE"),
                             ("net_tap", "iface=NAME"),
                             ("net_pcap", "rx_pcap=IN")):
            run = box.run(config=FIGURE1 + 'attach = ( { endpoint = "e0"; '
                          'port = "%s0"; } );\n' % driver, commands="quit\n")
            run.check(2)
            assert "there is no port %s0" % driver in run.err, run.err
            assert "--vdev=%s0,%s" % (driver, word) in run.err, run.err
        os.mkfifo(box.path("fifo"))
        run = box.run(eal=["--vdev=net_pcap0,rx_pcap=" + box.path("fifo")],
                      config=FIGURE1 + 'attach = ( { endpoint = "e0"; '
                      'port = "net_pcap0"; } );\n', commands="quit\n")
        run.check(2)
        assert "a pipe; net_pcap reads plain files" in run.err, run.err


main()
