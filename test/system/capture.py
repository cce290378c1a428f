#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Captures the traffic of the demonstration: config/demo.pcap.

    sudo test/system/capture.py config/demo.pcap

Two network namespaces joined by a veth pair; in them the kernel's own stacks
talk: HTTP over TCP (a server, parallel clients, files of many sizes), requests
and answers over UDP, ICMP echoes of growing size. What crosses the wire is
recorded frame by frame with the kernel's time stamps. Addresses are those for
documentation, contents are generated: nothing private can get in.

The file is part of the repository; this is how it came to be. Needs root.
"""
import ctypes
import http.server
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
A, B = "192.0.2.1", "192.0.2.2"
NAMES = ("reflit-cap-a", "reflit-cap-b")
LIMIT_BYTES = 960 * 1024


def sh(*cmd):
    subprocess.run(cmd, check=True)


def enter(name):
    """Moves this process into a namespace."""
    fd = os.open("/run/netns/" + name, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(fd)


def build():
    for n in NAMES:
        sh("ip", "netns", "add", n)
    sh("ip", "link", "add", "cap0", "netns", NAMES[0], "address",
       "02:00:00:00:00:01", "type", "veth", "peer", "name", "cap1",
       "netns", NAMES[1], "address", "02:00:00:00:00:02")
    for n, dev, addr in ((NAMES[0], "cap0", A), (NAMES[1], "cap1", B)):
        ns = ("ip", "netns", "exec", n)
        # no segmentation offload: what is captured is what a wire carries
        sh(*ns, "ethtool", "-K", dev, "tso", "off", "gso", "off",
           "gro", "off", "tx", "off")
        sh(*ns, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        sh(*ns, "ip", "addr", "add", addr + "/24", "dev", dev)
        sh(*ns, "ip", "link", "set", dev, "up")
        sh(*ns, "ip", "link", "set", "lo", "up")


def clean():
    for n in NAMES:
        subprocess.run(["ip", "netns", "del", n], check=False,
                       stderr=subprocess.DEVNULL)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        size = int(self.path.strip("/"))
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(random.Random(size).randbytes(size))

    def log_message(self, *args):
        pass


def serve():
    """In namespace B: HTTP on 80, a UDP answerer on 53."""
    enter(NAMES[1])
    http.server.ThreadingHTTPServer.request_queue_size = 64
    web = http.server.ThreadingHTTPServer((B, 80), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((B, 53))
    while True:
        data, peer = udp.recvfrom(2048)
        udp.sendto(data * 3, peer)


def fetch(seed):
    rng = random.Random(seed)
    for _ in range(14):
        size = int(rng.choice((200, 700, 1500, 4000, 9000)) *
                   rng.uniform(0.5, 1.5))
        with urllib.request.urlopen("http://%s/%d" % (B, size)) as r:
            r.read()


def ask(seed):
    rng = random.Random(seed)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.settimeout(1)
    for _ in range(120):
        udp.sendto(rng.randbytes(rng.randint(1, 200)), (B, 53))
        udp.recv(2048)
        time.sleep(0.001)


def echo():
    icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    for i in range(120):
        body = random.Random(i).randbytes(i * 11)
        head = struct.pack("!BBHHH", 8, 0, 0, 7, i)
        words = head + body + b"\0" * (len(body) % 2)
        s = sum(struct.unpack("!%dH" % (len(words) // 2), words))
        s = (s >> 16) + (s & 0xffff)
        s = ~(s + (s >> 16)) & 0xffff
        icmp.sendto(struct.pack("!BBHHH", 8, 0, s, 7, i) + body, (B, 0))
        time.sleep(0.001)


def record(path, stop):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETH_P_ALL))
    sock.bind(("cap0", 0))
    sock.settimeout(0.2)
    frames = total = 0
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        while total < LIMIT_BYTES:
            try:
                data = sock.recv(65535)
            except socket.timeout:
                if stop.is_set():
                    break
                continue
            t = time.time_ns() // 1000
            f.write(struct.pack("<IIII", t // 1000000, t % 1000000,
                                len(data), len(data)) + data)
            frames += 1
            total += len(data) + 16
    print("%d frames, %d bytes" % (frames, total))


def main():
    path = os.path.abspath(sys.argv[1])
    clean()
    build()
    server = os.fork()
    if server == 0:
        serve()
    try:
        enter(NAMES[0])
        time.sleep(0.5)
        stop = threading.Event()
        rec = threading.Thread(target=record, args=(path, stop))
        rec.start()
        work = [threading.Thread(target=fetch, args=(i,)) for i in range(8)]
        work += [threading.Thread(target=ask, args=(i,)) for i in range(3)]
        work.append(threading.Thread(target=echo))
        for t in work:
            t.start()
        for t in work:
            t.join()
        stop.set()
        rec.join()
    finally:
        os.kill(server, 9)
        clean()


main()
