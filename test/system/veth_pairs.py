# SPDX-License-Identifier: BSD-3-Clause
"""reflit between two veth pairs, for the tests of kernel interfaces as ports of
endpoints."""
import json
import os
import socket
import struct
import subprocess
import time

from reflit_test import Box, FIGURE1, REFLIT, Run
from spaces import ip, need_spaces

CONFIG = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "%s0"; dst = "e1"; },
           { endpoint = "e1"; port = "%s1"; dst = "e0"; } );
"""


class Pairs:
    """Two veth pairs, a0-a1 and b0-b1: reflit has a1 and b1."""
    made = 0

    def __init__(self, mtu=1500):
        need_spaces()
        Pairs.made += 1  # names of a namespace that goes linger
        n = "rl%d%c" % (os.getpid() % 100000, 96 + Pairs.made)
        self.names = [n + x for x in ("a0", "a1", "b0", "b1")]
        self.mtu = mtu

    def __enter__(self):
        for i in (0, 2):
            ip("link", "add", self.names[i], "type", "veth", "peer", "name",
               self.names[i + 1])
            for n in self.names[i:i + 2]:
                # no chatter of its own, from the first moment on
                path = "/proc/sys/net/ipv6/conf/%s/disable_ipv6" % n
                if os.path.exists(path):
                    with open(path, "w", encoding="ascii") as f:
                        f.write("1")
                ip("link", "set", n, "mtu", str(self.mtu), "arp", "off", "up")
        time.sleep(0.2)
        return self

    def __exit__(self, *exc):
        for i in (0, 2):
            subprocess.run(("ip", "link", "del", self.names[i]),
                           capture_output=True, check=False)

    def vdevs(self, driver, more=""):
        return ["--vdev=%s%d,iface=%s%s" % (driver, i, self.names[2 * i + 1],
                                            more) for i in (0, 1)]

    def raw(self, i, timeout=5):
        # until it is bound, one of a protocol hears all interfaces
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        s.bind((self.names[i], 0x0003))
        s.settimeout(timeout)
        return s


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return s


def udp(payload, partial=False):
    """A frame; with a partial checksum as a kernel's offload leaves it."""
    src, dst = socket.inet_aton("192.0.2.1"), socket.inet_aton("192.0.2.2")
    n = 8 + len(payload)
    pseudo = checksum(src + dst + struct.pack("!HH", 17, n))
    body = struct.pack("!HHHH", 7, 7, n, 0) + payload
    full = checksum(struct.pack("!H", pseudo) + body) ^ 0xffff
    body = body[:6] + struct.pack("!H", pseudo if partial else full or 0xffff
                                  ) + body[8:]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + n, 1, 0, 64, 17, 0)
    head += src + dst
    head = head[:10] + struct.pack("!H", checksum(head) ^ 0xffff) + head[12:]
    return b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0" + head + body


def run_with(pairs, driver, send, more="", config=CONFIG, first="start\n"):
    """reflit between the pairs: once it reads, send() is called."""
    with Box() as box:
        cmd = [REFLIT] + pairs.vdevs(driver, more) + [
            "--", "--config", box.write("c", config.replace("%s", driver)),
            "-i", "--json", box.path("r")]
        with open(box.path("err"), "w+", encoding="utf-8") as err:
            p = subprocess.Popen(cmd, stdin=subprocess.PIPE, text=True,
                                 stdout=subprocess.PIPE, stderr=err)
            out = ""
            try:
                p.stdin.write("wait up\n" + first + "show traffic\n")
                p.stdin.flush()
                while "under way" not in out:
                    line = p.stdout.readline()
                    out += line
                    if line == "":
                        break
                if "under way" in out:
                    send()
                p.stdin.write("start\nwait 300ms\nstop\nwait drained\n"
                              "show traffic\nquit\n")
                p.stdin.close()
            except BrokenPipeError:
                pass  # it has ended: its exit status tells
            finally:
                if p.poll() is None and (not p.stdin.closed or
                                         "under way" not in out):
                    p.terminate()  # it would wait for more
                out += p.stdout.read()
                status = p.wait(60)
            err.seek(0)
            report = None
            if os.path.exists(box.path("r")):
                with open(box.path("r"), encoding="utf-8") as f:
                    report = json.load(f)
            return Run(status, out, err.read(), report)


def port(run, i=0):
    return run.report["attached"][i]


def receive(sock, want):
    """The next frame that is one of ours."""
    end = time.time() + 10
    while time.time() < end:
        got = sock.recv(65536)
        if got[12:14] == want[12:14]:
            return got
    raise AssertionError("nothing came")
