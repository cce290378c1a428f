#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts on a layer-2 network over a fabric [EP-1] [PHY-5]: three namespaces, an
endpoint each; the kernels find each other by ARP and IPv6 neighbour discovery."""
import json
import os
import subprocess
import sys
import time

from reflit_test import Box, REFLIT, Skip, case, main
from spaces import ip, need_spaces

CONFIG = """
fabric: {
  topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; }, { name = "e2"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "e1"; b = "s0"; },
            { a = "s0"; b = "s1"; count = 2; }, { a = "s1"; b = "e2"; } );
};
attach = ( { endpoint = "e0"; port = "net_af_packet0"; },
           { endpoint = "e1"; port = "net_af_packet1"; },
           { endpoint = "e2"; port = "net_af_packet2"; } );
networks = ( { name = "lan"; members = ["e0", "e1", "e2"]; } );
"""
# A TCP connection to a port that nobody listens at: the answer is an answer.
KNOCK = """
import socket, sys, time
end = time.monotonic() + 30
for where in sys.argv[1:]:
    while True:
        try:
            socket.create_connection((where, 9), timeout=1)
        except ConnectionRefusedError:
            break
        except OSError as e:
            if time.monotonic() > end:
                sys.exit("%s: %s" % (where, e))
            time.sleep(0.05)
"""


class Lan:
    """Three hosts, h0 to h2; the other ends of their cables are p0 to p2 in a
    namespace with reflit."""
    made = 0

    def __init__(self, hosts=3):
        need_spaces()
        Lan.made += 1
        base = "rll%d%c" % (os.getpid() % 100000, 96 + Lan.made)
        self.host = [base + str(i) for i in range(hosts)]
        self.middle = base + "m"
        self.box, self.run = Box(), None

    def __enter__(self):
        try:
            ip("netns", "add", self.middle)
            for i, ns in enumerate(self.host):
                ip("netns", "add", ns)
                ip("link", "add", "eth0", "netns", ns, "type", "veth", "peer",
                   "name", "p%d" % i, "netns", self.middle)
                ip("-n", self.middle, "link", "set", "p%d" % i, "arp", "off",
                   "addrgenmode", "none", "up")
                ip("-n", ns, "addr", "add", "192.0.2.%d/24" % (i + 1), "dev",
                   "eth0")
                ip("-n", ns, "addr", "add", "2001:db8::%d/64" % (i + 1),
                   "dev", "eth0", "nodad")
                ip("-n", ns, "link", "set", "eth0", "up")
        except Skip:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        if self.run is not None and self.run.poll() is None:
            self.run.kill()
            self.run.wait()
        for ns in self.host + [self.middle]:
            subprocess.run(["ip", "netns", "del", ns], check=False,
                           capture_output=True)
        self.box.__exit__()

    def start(self, config=CONFIG, *more):
        cmd = ["ip", "netns", "exec", self.middle, REFLIT]
        cmd += ["--vdev=net_af_packet%d,iface=p%d" % (i, i)
                for i in range(len(self.host))]
        cmd += more
        cmd += ["--", "--config", self.box.write("c", config), "--json",
                self.box.path("r")]
        with open(self.box.path("out"), "w", encoding="utf-8") as out:
            self.run = subprocess.Popen(cmd, stdout=out,
                                        stderr=subprocess.STDOUT)

    def knock(self, i, *where):
        p = subprocess.run(["ip", "netns", "exec", self.host[i],
                            sys.executable, "-c", KNOCK, *where],
                           capture_output=True, text=True, check=False)
        assert p.returncode == 0, (i, p.stderr, self.output())

    def forget(self, i):
        """Host i knows no other any more: it has to ask."""
        subprocess.run(["ip", "-n", self.host[i], "neigh", "flush", "all"],
                       check=True)

    def output(self):
        with open(self.box.path("out"), encoding="utf-8") as f:
            return f.read()

    def stop(self):
        self.run.terminate()
        status = self.run.wait(60)
        with open(self.box.path("r"), encoding="utf-8") as f:
            return status, json.load(f)


def four(i):
    return "192.0.2.%d" % (i + 1)


def six(i):
    return "2001:db8::%d" % (i + 1)


@case
def three_hosts_find_each_other_by_arp_and_neighbour_discovery():
    with Lan() as lan:
        lan.start()
        for i in range(3):
            others = [k for k in range(3) if k != i]
            lan.forget(i)  # who has been asked by all others knows them
            lan.knock(i, *[four(k) for k in others])
            lan.knock(i, *[six(k) for k in others])
        status, report = lan.stop()
        assert status == 0, lan.output()
        assert report["lost_packets"] == report["duplicated_packets"] == 0
        for port in report["attached"]:
            net = port["network"]
            assert net["stations_learned"] >= 3, port
            assert net["frames_to_all"] >= 1, port
            assert port["rx_refused"] == 0, port


@case
def frames_for_a_known_station_go_to_it_alone():
    with Lan() as lan:
        lan.start()
        lan.knock(0, four(1), four(2))
        lan.knock(1, four(2))

        def arrived(i):
            out = subprocess.run(
                ["ip", "-n", lan.host[i], "-s", "-j", "link", "show", "eth0"],
                capture_output=True, text=True, check=True).stdout
            return json.loads(out)[0]["stats64"]["rx"]["packets"]

        before = arrived(2)
        for _ in range(50):
            lan.knock(0, four(1))
        # a few of the kernels' own multicasts may come
        assert arrived(2) - before < 40, (before, arrived(2))
        status, _ = lan.stop()
        assert status == 0, lan.output()


@case
def a_station_that_moves_is_found_where_it_is():
    with Lan() as lan:
        lan.start()
        lan.knock(0, four(2))
        # host 1 takes over address and MAC of host 2
        out = subprocess.run(["ip", "-n", lan.host[2], "-j", "link", "show",
                              "eth0"], capture_output=True, text=True,
                             check=True).stdout
        mac = json.loads(out)[0]["address"]
        ip("-n", lan.host[2], "link", "set", "eth0", "down")
        ip("-n", lan.host[1], "link", "set", "eth0", "address", mac)
        ip("-n", lan.host[1], "addr", "add", four(2) + "/24", "dev", "eth0")
        lan.knock(1, four(0))  # it speaks
        time.sleep(0.2)
        lan.knock(0, four(2))
        _, report = lan.stop()
        assert sum(p["network"]["stations_moved"]
                   for p in report["attached"]) >= 1, report["attached"]


# So many frames to everybody, as ARP for absent hosts or mDNS are; paced, so that
# the sender's own queue takes them.
SHOUT = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
for i in range(int(sys.argv[1])):
    s.sendto(b"x" * 200, ("192.0.2.255", 9999))
    if i % 16 == 0:
        time.sleep(0.002)
"""
# More than an endpoint's room for a client that takes nothing, and a window.
MANY = 6000


def shout(lan, i):
    subprocess.run(["ip", "netns", "exec", lan.host[i], sys.executable, "-c",
                    SHOUT, str(MANY)], check=True)


def said(lan, text, seconds=30):
    end = time.monotonic() + seconds
    while text not in lan.output() and time.monotonic() < end:
        time.sleep(0.05)
    assert text in lan.output(), lan.output()


def not_taken(lan):
    """The others' network goes on; what the port did not take is named."""
    shout(lan, 0)
    lan.forget(0)
    lan.knock(0, four(1))
    lan.knock(1, four(0))


@case
def an_interface_that_is_down_stops_no_other_host():
    """[DRL-11] And comes back by itself."""
    with Lan() as lan:
        lan.start()
        lan.knock(0, four(1), four(2))
        ip("-n", lan.middle, "link", "set", "p2", "down")
        not_taken(lan)
        said(lan, "net_af_packet2 of e2 has taken no frames since ")
        ip("-n", lan.middle, "link", "set", "p2", "up")
        lan.knock(2, four(0))
        said(lan, "net_af_packet2 of e2 takes frames again")
        status, report = lan.stop()
        assert status == 1, lan.output()
        assert report["lost_packets"] == 0, lan.output()
        assert report["attached"][2]["tx_not_taken"] > MANY / 2, report
        for port in report["attached"][:2]:
            assert port["tx_not_taken"] == 0, port
        assert "net_af_packet2: %d frames were not taken by it" \
            % report["attached"][2]["tx_not_taken"] in lan.output()


@case
def a_virtual_machine_that_is_not_there_stops_no_other_host():
    """[DRL-11, PHY-8] A vhost socket that no guest has opened."""
    with Lan(hosts=2) as lan:
        lan.start(CONFIG.replace("net_af_packet2", "net_vhost0"),
                  "--vdev=net_vhost0,iface=" + lan.box.path("guest"))
        lan.knock(0, four(1))
        not_taken(lan)
        said(lan, "net_vhost0 of e2 has taken no frames since ")
        assert "it has no link; its frames are" in lan.output(), lan.output()
        status, report = lan.stop()
        assert status == 1, lan.output()
        assert report["lost_packets"] == 0, lan.output()
        assert report["attached"][2]["tx_not_taken"] > MANY / 2, report


FIXED = CONFIG.replace('"e2"]; }', '"e2"]; stations = '
                       '["02:00:00:00:00:07 e1"]; }')
# Datagrams for a station that never answers.
CALL = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(100):
    s.sendto(b"x", (sys.argv[1], 9))
"""


@case
def frames_for_a_fixed_station_go_to_it_alone_though_it_never_spoke():
    """[EP-1]"""
    assert FIXED != CONFIG
    with Lan() as lan:
        lan.start(FIXED)
        lan.knock(0, four(1), four(2))
        ip("-n", lan.host[0], "neigh", "add", four(76), "lladdr",
           "02:00:00:00:00:07", "dev", "eth0")

        def arrived(i):
            out = subprocess.run(
                ["ip", "-n", lan.host[i], "-s", "-j", "link", "show", "eth0"],
                capture_output=True, text=True, check=True).stdout
            return json.loads(out)[0]["stats64"]["rx"]["packets"]

        before = arrived(1), arrived(2)
        subprocess.run(["ip", "netns", "exec", lan.host[0], sys.executable,
                        "-c", CALL, four(76)], check=True)
        end = time.monotonic() + 20
        while arrived(1) - before[0] < 100 and time.monotonic() < end:
            time.sleep(0.05)
        assert arrived(1) - before[0] >= 100, lan.output()
        assert arrived(2) - before[1] < 40, (before, arrived(2))
        status, report = lan.stop()
        assert status == 0, lan.output()
        assert all(p["network"]["frames_elsewhere"] == 0
                   for p in report["attached"]), report["attached"]


# A DHCP client without an address, as RFC 2131 has it: by frames of its own.
# "broadcast" asks for answers to all, "unicast" for answers to its station.
DHCP_CLIENT = """
import os, socket, struct, sys, time
flag = 0x8000 if sys.argv[1] == "broadcast" else 0
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
s.bind(("eth0", 0x0800))
s.settimeout(0.2)
mac = s.getsockname()[4]
xid = os.urandom(4)

def total(b):
    n = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while n >> 16:
        n = (n & 0xffff) + (n >> 16)
    return n ^ 0xffff

def frame(options):
    bootp = (b"\\1\\1\\6\\0" + xid + struct.pack("!HH", 0, flag) + bytes(16)
             + mac.ljust(16, b"\\0") + bytes(192) + bytes.fromhex("63825363")
             + options + b"\\xff").ljust(300, b"\\0")
    udp = struct.pack("!HHHH", 68, 67, 8 + len(bootp), 0) + bootp
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17,
                       0, bytes(4), b"\\xff" * 4)
    head = head[:10] + struct.pack("!H", total(head)) + head[12:]
    return b"\\xff" * 6 + mac + b"\\x08\\0" + head + udp

def ask(options, want):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        s.send(frame(options))
        try:
            while True:
                f, where = s.recvfrom(2000)
                if where[2] == 4 or f[23] != 17 or f[36:38] != b"\\0D" or \\
                        f[46:50] != xid or f[284] != want:
                    continue
                # whole, and sent to whom it was asked for
                pseudo = f[26:34] + bytes((0, 17)) + f[38:40]
                if f[40:42] != b"\\0\\0":
                    assert total(pseudo + f[34:] + bytes(len(f) % 2)) == 0
                assert f[:6] == (b"\\xff" * 6 if flag else mac), f[:6].hex()
                return f[58:62]
        except TimeoutError:
            continue
    sys.exit("no answer of type %d" % want)

mine = ask(b"5\\1\\1", 2)
again = ask(b"5\\1\\3" + b"2\\4" + mine, 5)
assert again == mine
print(socket.inet_ntoa(mine))
"""
# One that leases 192.0.2.100, to all or to the station that asks.
DHCP_SERVER = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
s.bind(("0.0.0.0", 67))
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
print("ready", flush=True)
lease = socket.inet_aton("192.0.2.100")
while True:
    m = s.recv(2000)
    if m[240:242] != b"5\\1":
        continue
    kind = {1: 2, 3: 5}[m[242]]
    a = (b"\\2" + m[1:16] + lease + m[20:240]
         + bytes((53, 1, kind)) + b"\\xff").ljust(300, b"\\0")
    if struct.unpack("!H", m[10:12])[0] & 0x8000:
        s.sendto(a, ("255.255.255.255", 68))
        continue
    udp = struct.pack("!HHHH", 67, 68, 8 + len(a), 0) + a
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17,
                       0, socket.inet_aton("192.0.2.3"), lease)
    n = sum(struct.unpack("!10H", head))
    n = (n & 0xffff) + (n >> 16)
    n = (n & 0xffff) + (n >> 16) ^ 0xffff
    raw.send(m[28:34] + raw.getsockname()[4] + b"\\x08\\0" + head[:10]
             + struct.pack("!H", n) + head[12:] + udp)
"""


@case
def a_host_without_an_address_gets_one_by_dhcp():
    """[PHY-5] Broadcast from 0.0.0.0, answers to all and to one station."""
    with Lan() as lan:
        lan.start()
        lan.knock(2, four(1))
        ip("-n", lan.host[0], "addr", "flush", "dev", "eth0")
        with subprocess.Popen(
                ["ip", "netns", "exec", lan.host[2], sys.executable, "-c",
                 DHCP_SERVER], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout.readline() == "ready\n"
                for how in ("broadcast", "unicast"):
                    p = subprocess.run(
                        ["ip", "netns", "exec", lan.host[0], sys.executable,
                         "-c", DHCP_CLIENT, how], capture_output=True,
                        text=True, check=False, timeout=90)
                    assert p.returncode == 0, (how, p.stderr, lan.output())
                    assert p.stdout == "192.0.2.100\n", p.stdout
            finally:
                server.kill()
        ip("-n", lan.host[0], "addr", "add", "192.0.2.100/24", "dev", "eth0")
        lan.knock(0, four(1), four(2))
        status, report = lan.stop()
        assert status == 0, lan.output()
        assert report["lost_packets"] == report["duplicated_packets"] == 0
        # what is for all went once to each of the two others
        first = [p for p in report["attached"] if p["endpoint"] == "e0"][0]
        assert first["network"]["frames_to_all"] >= 4, first


main()
