#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ports over the sockets of other programs [PHY-8]: net_memif, net_vhost,
net_virtio_user. Files that a killed process left, those of a living one, frames
longer than a buffer, peers that come late or end and come again, and the end."""
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import time

from reflit_test import (Box, FIGURE1, PCAP_SAME, REFLIT, ROOT, Running, Skip,
                         case, main, need)

ONE = FIGURE1 + """
wires = ( { link = "s0-s1#0"; a = "%s"; b = "%s"%s } );
"""
MEMIF = ONE % ("net_memif0", "net_memif1", "; %s")
CLIENT = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "%s"; dst = "e1"; } );
"""
RUN = ["--packets", "500", "--load", "0.5"]
COMMANDS = "wait up 60s\nstart\nwait sent 60s\nwait drained 60s\nquit\n"


def memif(path, more=",socket-abstract=no"):
    return ["--vdev=net_memif%d,role=%s,id=0,socket=%s%s" % (i, role, path,
                                                             more)
            for i, role in enumerate(("server", "client"))]


def left_behind(path, kind):
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.bind(path)


def refused(run, *words):
    run.check(2)
    assert len(run.errors()) == 1, run.err
    for word in words:
        assert word in run.err, run.err


@case
def sockets_that_a_killed_process_left_are_no_obstacle():
    with Box() as box:
        path = box.path("m")
        left_behind(path, socket.SOCK_SEQPACKET)
        run = box.run(RUN, memif(path), MEMIF % "", COMMANDS)
        run.check_clean()
        assert not os.path.exists(path)
        left_behind(path, socket.SOCK_STREAM)
        run = box.run((), ["--vdev=net_vhost0,iface=" + path],
                      CLIENT % "net_vhost0", "quit\n")
        run.check(0)
        left_behind(path, socket.SOCK_STREAM)
        # nobody connects: it waits, says so, and can be stopped
        p = subprocess.Popen(
            [REFLIT, "--vdev=virtio_user0,server=1,path=" + path, "--",
             "--config", box.write("v.cfg", CLIENT % "virtio_user0")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert "waits for a connection" in p.stderr.readline()
            while not listens(path):
                assert p.poll() is None, p.stderr.read()
                time.sleep(0.05)
            for _ in range(100):  # it may not wait yet
                p.send_signal(signal.SIGINT)
                try:
                    p.wait(0.2)
                    break
                except subprocess.TimeoutExpired:
                    pass
            assert p.returncode == 2, p.returncode
            assert "no port virtio_user0, for it did not" in p.stderr.read()
        finally:
            p.kill()
            p.communicate()


def listens(path):
    with open("/proc/net/unix", encoding="ascii", errors="replace") as f:
        return any(line.split()[-1] == path and int(line.split()[3], 16)
                   for line in f.readlines()[1:])


@case
def the_socket_of_a_living_process_is_refused_and_left_alone():
    for kind, eal, port in (
            (socket.SOCK_STREAM, "net_vhost0,iface=%s", "net_vhost0"),
            (socket.SOCK_STREAM, "eth_vhost0,iface=%s", "eth_vhost0"),
            (socket.SOCK_STREAM, "net_virtio_user0,server=1,path=%s",
             "net_virtio_user0"),
            (socket.SOCK_SEQPACKET, "net_memif0,role=server,"
             "socket-abstract=no,socket=%s", "net_memif0")):
        with Box() as box, socket.socket(socket.AF_UNIX, kind) as s:
            path = box.path("s")
            s.bind(path)
            s.listen(1)
            s.settimeout(0)
            refused(box.run((), ["--vdev=" + eal % path], CLIENT % port,
                            "quit\n"),
                    "attach: " + port, "another process listens there")
            assert os.path.exists(path)
            try:
                s.accept()
                raise AssertionError("it was connected to")
            except BlockingIOError:
                pass


@case
def a_port_that_did_not_start_is_refused_with_its_own_reason():
    with Box() as box:
        nowhere = box.path("no/m")
        refused(box.run((), memif(nowhere), MEMIF % "", "quit\n"),
                "wires: net_memif0", nowhere + ": No such file or directory")
        box.write("plain", "")
        refused(box.run((), ["--vdev=net_vhost0,iface=" + box.path("plain")],
                        CLIENT % "net_vhost0", "quit\n"), "no socket")
        refused(box.run((), ["--vdev=net_vhost0,tso=1,iface=" + box.path("v")],
                        CLIENT % "net_vhost0", "quit\n"), "give it tso=0")
        # what ports before it said is nothing of its
        refused(box.run((), memif(box.path("m")) + [
            "--vdev=net_pcap0,rx_pcap=" + nowhere], CLIENT % "net_pcap0",
            "quit\n"), "no port net_pcap0", "No such file or directory")
        refused(box.run((), memif(box.path("m")), CLIENT % "net_memif7",
                        "quit\n"), "no port net_memif7; give it to EAL")


@case
def frames_longer_than_a_buffer_of_memif_are_refused_at_start():
    with Box() as box:
        path = box.path("m")
        refused(box.run((), memif(path), MEMIF % "mtu = 3498; ", "quit\n"),
                "2049", "mtu = 3498", "bsize=4096")
        # without an MTU of the file's, frames are as long as a buffer
        run = box.run(RUN, memif(path, ",bsize=640"), MEMIF % "", COMMANDS)
        run.check_clean()
        wires = run.report["wires"]
        assert all(w["frame_bytes"] == 640 for w in wires), wires
        assert all(w["rx_frames"] < 100000 for w in wires), wires
        run = box.run(RUN, memif(path, ",bsize=4096"),
                      MEMIF % "mtu = 3498; ", COMMANDS)
        run.check_clean()


# one that listens, and one that connects
PEERS = (("net_memif%d,role=server,id=%d,socket=%s,socket-abstract=no",
          "net_memif%d,role=client,id=%d,socket=%s,socket-abstract=no"),
         ("net_memif%d,role=server,id=%d,socket=%s",
          "net_memif%d,role=client,id=%d,socket=%s"),
         ("net_vhost%d,iface=%.0s%s", "net_virtio_user%d,path=%.0s%s"))
HALVES = FIGURE1 + """
link: { flap_damping_max_ns = 50000000; };
processes = ( { name = "left"; devices = ["e0", "s0"]; },
              { name = "right"; devices = ["e1", "s1"]; } );
wires = ( { link = "s0-s1#0"; a = "net_memif0"; b = "net_memif0"; },
          { link = "s0-s1#1"; a = "net_vhost1"; b = "net_virtio_user1"; } );
"""


def prompt(box, name, vdevs, config, *args, wrap=()):
    return Running([*wrap, REFLIT] + ["--vdev=" + v for v in vdevs] + [
        "--", "-i", "--config", box.write(name + ".cfg", config), "--json",
        box.path(name + ".json"), *args], stdin=subprocess.PIPE,
        stderr=subprocess.STDOUT)


def both_up(*halves):
    for p in halves:
        p.say("wait up 60s\nsay all-up\n")
    for p in halves:
        p.until("all-up")


def ended(half):
    status = half.p.wait(120)
    half.reader.join(60)
    said = "".join(line for line in half.lines.queue if line is not None)
    assert status == 0, "%d: %s" % (status, said)


@case
def links_wait_for_a_peer_and_train_with_the_one_that_follows_it():
    with Box() as box:
        vdevs = [[PEERS[0][i] % (0, 0, box.path("m")),
                  PEERS[2][i] % (1, 0, box.path("v"))] for i in range(2)]
        left = [box, "left", vdevs[0], HALVES, "--process", "left"]
        with prompt(box, "right", vdevs[1], HALVES, "--process",
                    "right") as right:
            right.until("waits for its peer")
            with prompt(*left) as first:
                both_up(first, right)
                first.p.kill()
                right.until("lost its peer: link s0-s1#")
                right.until("lost its peer: link s0-s1#")
            with prompt(*left) as second:
                both_up(second, right)
                for p in (right, second):
                    p.say("quit\n")
                ended(right)
                ended(second)


def until_asleep(pid, where, limit=60):
    """The first thread of a process waits in a function of the kernel's; some
    kernels do not say in which."""
    begun = time.monotonic()
    while time.monotonic() < begun + limit:
        with open("/proc/%d/wchan" % pid, encoding="ascii") as f:
            at = f.read()
        if where in at or at == "0" and time.monotonic() > begun + 5:
            return
        time.sleep(0.01)
    raise AssertionError("never in " + where)


@case
def a_link_that_trains_before_its_carrier_is_asked_for_stays_up():
    """The control thread cannot write, so that its first step comes late."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("the control thread polls, too: one CPU")
    with Box() as box:
        ours, theirs = os.pipe()
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)
        os.write(theirs, b"." * 4096)
        p = subprocess.Popen(
            [REFLIT, *memif(box.path("m")), "--", "--config",
             box.write("c.cfg", MEMIF % ""), "--cmdline-file",
             box.write("commands", "say begins\nwait up 60s\nwait 200ms\n"
                       "show events 1000\nquit\n")], cwd=ROOT,
            stdout=theirs, stderr=subprocess.PIPE, text=True)
        os.close(theirs)
        until_asleep(p.pid, "pipe_write")
        time.sleep(1)
        with open(ours, encoding="utf-8") as f:
            out = f.read()
        err = p.communicate(timeout=120)[1]
    assert p.returncode in (0, 1) and "s0-s1#0 up, epoch 1" in out, (out, err)
    assert " dead, " not in out and "epoch 2" not in out, out


@case
def peers_in_other_namespaces_are_found_and_no_living_one_is_harmed():
    """Of processes and of networks: each sees neither the number nor the socket
    of the other, only its file."""
    need("unshare")
    if os.geteuid() != 0:
        raise Skip("needs root")
    apart = ["unshare", "-p", "-f", "--kill-child", "--mount-proc", "-n"]
    with Box() as box:
        vdevs = [[PEERS[0][i] % (0, 0, box.path("m")),
                  PEERS[2][i] % (1, 0, box.path("v"))] for i in range(2)]
        half = [[box, name, vdevs[i], HALVES, "--process", name]
                for i, name in enumerate(("left", "right"))]
        with prompt(*half[0], wrap=apart) as left:
            with prompt(*half[1]) as first:
                both_up(left, first)
                # a second one finds the sockets of a living one, and leaves them
                refused(box.run(("--process", "left"),
                                ["--vdev=" + v for v in vdevs[0]], HALVES,
                                "quit\n"), "another process listens there")
                both_up(left, first)
                first.p.kill()
            with prompt(*half[1]) as second:
                both_up(left, second)
                for p in (left, second):
                    p.say("quit\n")
                for p in (left, second):
                    ended(p)


def frames_for_a_new_peer(box, serves, calls):
    """It is killed before any is sent, and all arrive at the one after it."""
    pcap, out = os.path.join(ROOT, "config", "demo.pcap"), box.path("out.pcap")
    sides = [v % (0, 0, box.path("s")) for v in (serves, calls)]
    port = [v.split(",")[0] for v in sides]
    config = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "%s"; dst = "e1"; },
           { endpoint = "e1"; port = "net_pcap0"; dst = "e0"; } );
"""
    none = box.write("none.pcap", struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0,
                                              65535, 1))
    left = [box, "left", [sides[0], "net_pcap0,rx_pcap=%s,tx_pcap=%s"
                          % (none, out)], config % port[0]]
    with prompt(box, "right", [sides[1], "net_pcap0,rx_pcap=%s,tx_pcap=%s" % (
            pcap, box.path("back.pcap"))], config % port[1]) as right:
        right.until("waits for its peer")
        with prompt(*left) as first:
            both_up(first, right)
            first.p.kill()
            # it may not have heard of that peer yet
            right.until("peer: endpoint e0 has no client")
        with prompt(*left) as second:
            second.say("wait up 60s\nstart e0\nsay begun\n")
            second.until("begun")
            right.until("%s is back, at endpoint e0" % port[1])
            right.say("rate e1 50000\nstart e1\nwait sent 60s\n"
                      "wait drained 60s\nsay written\n")
            frames = right.until("frames of its file are sent").split()[3]
            right.until("written")
            # what is not read yet goes with the memory of the two
            end, said = time.monotonic() + 60, ""
            while "written %s," % frames not in said:
                assert time.monotonic() < end, said
                second.say("show traffic\n")
                said = second.until("net_pcap0 at e1")
            for p in (right, second):
                p.say("quit\n")
                ended(p)
    same = subprocess.run([PCAP_SAME, pcap, out], capture_output=True,
                          text=True, check=False)
    assert same.returncode == 0, same.stdout + same.stderr


@case
def a_peer_that_never_connects_is_said_to_be_none():
    """A socket at which nobody speaks memif, and then one of reflit's."""
    with Box() as box:
        sides = [v % (0, 0, box.path("s")) for v in PEERS[0]]
        link = FIGURE1 + """
processes = ( { name = "left"; devices = ["e0", "s0", "e1"]; },
              { name = "right"; devices = ["s1"]; } );
wires = ( { link = "s0-s1#0"; a = "net_memif0"; b = "net_memif0"; },
          { link = "s0-s1#1"; a = "net_null1"; b = "net_null1"; },
          { link = "s1-e1"; a = "net_null2"; b = "net_null2"; } );
"""
        dumb = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        dumb.bind(box.path("s"))
        dumb.listen()
        null = ["net_null1", "net_null2"]
        half = [box, "right", [sides[1]] + null, link, "--process", "right"]
        with prompt(*half) as right:
            right.until("net_memif0 has no peer: link s0-s1#0 is dead")
            dumb.close()
            os.unlink(box.path("s"))
            with prompt(box, "left", [sides[0]] + null, link, "--process",
                        "left") as left:
                right.until("net_memif0 is back, at link s0-s1#0")
                for p in (right, left):
                    p.say("quit\n")
                    p.p.wait(60)


@case
def clients_wait_for_a_peer_and_reach_the_one_that_follows_it():
    for serves, calls in PEERS:
        with Box() as box:
            frames_for_a_new_peer(box, serves, calls)


def first_frames(pcap, n):
    """The first n frames of a capture, as a file's bytes."""
    with open(pcap, "rb") as f:
        data = f.read()
    at = 24
    for _ in range(n):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
    return data[:at]


@case
def a_run_ends_when_its_ports_have_taken_their_frames_or_will_not():
    """The reader is frozen. 32 frames fill the ring, 32 wait to be written, and
    the rest with the endpoint, which has acknowledged them."""
    with Box() as box:
        pcap = box.path("in.pcap")
        with open(pcap, "wb") as f:
            f.write(first_frames(os.path.join(ROOT, "config", "demo.pcap"), 100))
        sides = [v % (0, 0, box.path("s")) + ",rsize=5" for v in PEERS[0]]
        config = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "net_memif0"; dst = "e1"; },
           { endpoint = "e1"; port = "net_pcap0"; dst = "e0"; } );
"""
        rx = "net_pcap0,rx_pcap=%s,tx_pcap=%s"
        with prompt(box, "left", [sides[0], rx % (pcap, box.path("l.pcap"))],
                    config) as left, \
             prompt(box, "right", [sides[1], rx % (pcap, box.path("r.pcap"))],
                    config) as right:
            both_up(left, right)
            os.kill(left.p.pid, signal.SIGSTOP)
            right.say("start e1\nwait sent 60s\nwait drained 60s\nquit\n")
            right.p.wait(120)
            left.p.kill()
        with open(box.path("right.json"), encoding="utf-8") as f:
            r = json.load(f)
        assert (r["sent_packets"], r["delivered_packets"], r["lost_packets"],
                r["drained"]) == (100, 100, 0, True), r
        assert r["attached"][0]["tx_not_taken"] > 0, r["attached"]


@case
def what_waits_for_a_peer_can_be_stopped():
    with Box() as box, prompt(
            box, "r", [PEERS[2][1] % (0, 0, box.path("v"))],
            CLIENT % "net_virtio_user0") as run:
        run.until("waits for its peer")
        run.interrupt()
        assert run.p.returncode == 2, run.p.returncode


@case
def the_end_of_two_ends_of_memif_is_one_end():
    """A thread of DPDK's hears that the other end has gone."""
    with Box() as box:
        for _ in range(3):
            box.run((), memif(box.path("m"), ""), MEMIF % "",
                    "wait up 60s\nquit\n").check(0)
            run = box.run((), memif(box.path("m"), ""), FIGURE1 + """
attach = ( { endpoint = "e0"; port = "net_memif0"; dst = "e1"; },
           { endpoint = "e1"; port = "net_memif1"; dst = "e0"; } );
""", "wait 50ms\nquit\n")
            run.check(0)


main()
