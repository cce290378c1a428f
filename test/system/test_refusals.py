#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be the end of a link, or a client's port, is refused in one line,
with nothing half open; signals leave interfaces as they were [PHY-1, APP-4]."""
import os
import signal
import subprocess
import sys
import time

from reflit_test import Box, FIGURE1, REFLIT, Skip, case, main
from spaces import Space, ip

RUN = ["--packets", "3000", "--load", "0.5"]
ONE = FIGURE1 + """
wires = (
  { link = "s0-s1#0"; a = "%s0"; b = "%s1"%s } );
"""
PACKET, XDP = (ONE.replace("%s", d, 2) for d in ("net_af_packet",
                                                 "net_af_xdp"))
CLIENT = FIGURE1 + """


attach = ( { endpoint = "e0"; port = "%s0"; dst = "e1"; } );
"""


def shown(net, dev):
    return subprocess.run(net.wrap + ["ip", "-d", "link", "show", dev],
                          check=True, capture_output=True, text=True).stdout


def refused(net, eal, config, *words, wrap=(), program=False):
    """One line with the place in the fabric file, and nothing half open: the
    interfaces are as before."""
    with Box() as box:
        run = box.run((), eal, config, "quit\n", wrap=net.wrap + list(wrap))
    run.check(2)
    assert len(run.errors()) == 1, run.err
    assert "fabric.cfg:11: " in run.err or "fabric.cfg:12: " in run.err, \
        run.err
    for word in words:
        assert word in run.err, run.err
    for dev in ("v0", "v1"):
        out = shown(net, dev)
        assert "promiscuity 0 " in out, out
        assert ("xdp" in out) == (program and dev == "v0"), out


@case
def what_cannot_be_a_wire_is_refused_in_one_line():
    with Space(cables=1) as net:
        vdevs = net.vdevs("net_af_packet")
        refused(net, vdevs[:1], PACKET % ";", "no port net_af_packet1",
                "--vdev=net_af_packet1,iface=INTERFACE")
        refused(net, vdevs, PACKET % "; mtu = 3000;", "mtu = 3000",
                "v0 has 1500; ip link set v0 mtu 3000")
        refused(net, vdevs, PACKET % "; mtu = 200;", "too small for a flit",
                "it takes 306")
        ip("-n", net.ns, "link", "set", "v1", "mtu", "1000")
        ip("-n", net.ns, "link", "set", "v0", "mtu", "9000")
        refused(net, vdevs, PACKET % "; mtu = 9000;", "mtu = 9000")
        # what the driver has against it, out of its many lines
        refused(net, net.vdevs("net_af_xdp"), XDP % ";", "net_af_xdp1",
                "Peer MTU is too large to set XDP")
        ip("-n", net.ns, "link", "set", "v0", "mtu", "200")
        for driver, config in (("packet", PACKET), ("xdp", XDP)):
            refused(net, net.vdevs("net_af_" + driver), config % ";",
                    "an MTU of 200 is too small for a flit")


@case
def an_interface_that_is_not_there_is_named_in_one_line():
    with Space(cables=1) as net:
        for driver, config in (("net_af_packet", PACKET),
                               ("net_af_xdp", XDP)):
            nowhere = ["--vdev=%s0,iface=nope" % driver,
                       "--vdev=%s1,iface=v1" % driver]
            refused(net, nowhere, config % ";", "wires: " + driver,
                    "there is no interface nope")
            refused(net, nowhere[:1], CLIENT % driver, "attach: " + driver,
                    "there is no interface nope")


@case
def what_the_driver_says_stands_in_the_one_line_and_all_of_it_on_demand():
    with Space(cables=1) as net:
        vdevs = net.vdevs("net_af_packet", ",framesz=9000")
        refused(net, vdevs, PACKET % ";", "no port net_af_packet0",
                "frame size exceeds block size")
        with Box() as box:
            run = box.run((), vdevs + ["--log-level=*:warning"], PACKET % ";",
                          "quit\n", wrap=net.wrap)
            run.check(2)
            assert len(run.errors()) > 2, run.err
            for eal, why in ((["--no-such-option"], "--no-such-option"),
                             (["--lcores", "0@x"], "--lcores"),
                             (["--vdev=net_what0"], "net_what0")):
                run = box.run((), eal, commands="quit\n").check(2)
                assert len(run.errors()) == 1, run.err
                assert run.err.startswith("reflit: EAL did not start ("), \
                    run.err
                assert why in run.err, run.err
                # and not who says it
                assert "EAL: " not in run.err and "(/" not in run.err, run.err


@case
def without_the_right_to_open_it_or_a_kernel_that_has_it_one_line_says_so():
    with Space(cables=1) as net, Box() as box:
        raw = ["setpriv", "--bounding-set", "-net_raw"]
        bpf = ["setpriv", "--bounding-set", "-bpf,-sys_admin"]
        refused(net, net.vdevs("net_af_packet"), PACKET % ";",
                "v0: this needs root, or CAP_NET_RAW\n", wrap=raw)
        for wrap in (raw, bpf):
            for config, what in ((XDP % ";", "wires"),
                                 (CLIENT % "net_af_xdp", "attach")):
                refused(net, net.vdevs("net_af_xdp"), config, what + ": ",
                        "root, or CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF",
                        wrap=wrap)
        refused(net, net.vdevs("net_af_xdp"), XDP % ";",
                "this kernel has no AF_XDP sockets; take net_af_packet",
                wrap=[sys.executable, box.write("filter.py", NO_XDP)])


# Runs a program for which socket(AF_XDP) fails with EAFNOSUPPORT.
NO_XDP = """
import ctypes, os, platform, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
call = {"x86_64": 41, "aarch64": 198}[platform.machine()]
rows = ((0x20, 0, 0, 0), (0x15, 0, 3, call), (0x20, 0, 0, 16),
        (0x15, 0, 1, 44), (6, 0, 0, 0x50000 | 97), (6, 0, 0, 0x7fff0000))
code = b"".join(struct.pack("HBBI", *r) for r in rows)
class Prog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("code", ctypes.c_char_p)]
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Prog(len(rows), code))) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""

# Holds queue 0 of v0 by a socket, until its input ends.
HOLD = """
import ctypes, errno, mmap, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
m = mmap.mmap(-1, 4096)
at = ctypes.addressof(ctypes.c_char.from_buffer(m))
s = socket.socket(44, socket.SOCK_RAW)
s.setsockopt(283, 4, struct.pack("QQIIII", at, 4096, 4096, 0, 0, 0))
for ring in (5, 6, 2):
    s.setsockopt(283, ring, 64)
a = struct.pack("HHIII", 44, 2, socket.if_nametoindex("v0"), 0, 0)
for i in range(100): # the kernel takes its time over a socket that is closed
    if libc.bind(s.fileno(), a, 16) == 0:
        break
    assert ctypes.get_errno() == errno.EBUSY and i < 99, ctypes.get_errno()
    time.sleep(0.1)
print("holds", flush=True)
sys.stdin.read()
"""


@case
def an_interface_that_another_process_has_is_refused_and_left_to_it():
    """Its XDP program, too: the driver would take it away as it fails."""
    with Space(cables=1) as net, Box() as box:
        for driver, config in (("net_af_packet", PACKET),
                               ("net_af_xdp", XDP)):
            p = subprocess.Popen(
                net.wrap + [REFLIT] + net.vdevs(driver)
                + ["--", "--config", box.write("first.cfg", config % ";"),
                   "--cmdline-file", box.write("first.cmd", "wait up 60s\n"
                                               "start\n"), "-i"]
                + RUN, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
            end = time.monotonic() + 60
            while "promiscuity 1 " not in shown(net, "v1"):
                assert time.monotonic() < end and p.poll() is None
                time.sleep(0.1)
            for text in (config % ";", CLIENT % driver):
                with Box() as other:
                    run = other.run((), net.vdevs(driver), text, "quit\n",
                                    wrap=net.wrap)
                run.check(2)
                assert len(run.errors()) == 1, run.err
                assert "v0: another process of reflit's has it" in run.err, \
                    run.err
                assert ("xdp" in shown(net, "v0")) == ("xdp" in driver)
            out, err = p.communicate("wait sent 60s\nwait drained 60s\n"
                                     "quit\n", timeout=120)
            assert p.returncode == 0 and "lost 0," in out, out + err
        # one that is none of reflit's
        with subprocess.Popen(net.wrap + [sys.executable, "-c", HOLD],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as p:
            assert p.stdout.readline() == "holds\n"
            refused(net, net.vdevs("net_af_xdp"), CLIENT % "net_af_xdp",
                    "v0: another process has an AF_XDP socket at its queue 0")
            p.stdin.close()
        obj = os.path.join(os.path.dirname(REFLIT), "..", "drivers", "xdp",
                           "rl_fault.bpf.o")
        p = subprocess.run(["ip", "-n", net.ns, "link", "set", "v0", "xdp",
                            "obj", obj, "sec", "xdp"], capture_output=True,
                           text=True, check=False)
        if p.returncode != 0:
            raise Skip("ip cannot attach a program: " + p.stderr.strip())
        for config in (XDP % ";", CLIENT % "net_af_xdp"):
            refused(net, net.vdevs("net_af_xdp"), config,
                    "v0: the XDP program rl_fault", "ip link set v0 xdp off",
                    program=True)


@case
def signals_end_it_and_the_interfaces_are_as_before():
    with Space(cables=1) as net, Box() as box:
        for driver, config in (("net_af_packet", PACKET),
                               ("net_af_xdp", XDP)):
            for sig in (signal.SIGTERM, signal.SIGINT):
                p = subprocess.Popen(
                    net.wrap + [REFLIT] + net.vdevs(driver)
                    + ["--", "--config", box.write("x.cfg", config % ";")],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                end = time.monotonic() + 60
                while "promiscuity 1 " not in shown(net, "v1"):
                    assert time.monotonic() < end and p.poll() is None
                    time.sleep(0.1)
                time.sleep(0.5)
                assert ("xdp" in shown(net, "v1")) == ("xdp" in driver)
                p.send_signal(sig)
                out, err = p.communicate(timeout=60)
                assert p.returncode == 0 and "lost 0," in out, out + err
                assert err.count("\n") == 1, err  # that there is no key
                for dev in ("v0", "v1"):
                    out = shown(net, dev)
                    assert "promiscuity 0 " in out and "xdp" not in out, out


main()
