#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Numbered messages at a steady rate between two hosts, by UDP and by TCP or
MPTCP, and the times at which they came; failover.py runs one on each host.

usage: failover_traffic.py send|receive ADDRESS udp|tcp|mptcp RATE SECONDS FILE

The receiver writes lines "NUMBER TIME": for UDP of each datagram, by the
kernel's clock; for a stream the number of whole messages there so far. The
sender prints when it began and when it ended."""
import socket
import struct
import sys
import time

PORT = {"udp": 7001, "tcp": 7002, "mptcp": 7002}
BYTES = 200
SO_TIMESTAMPNS = 35
PATIENCE = 6  # seconds that a receiver waits at most beyond the traffic


def new_socket(kind):
    if kind == "udp":
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM,
                      262 if kind == "mptcp" else 0)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return s


def send(address, kind, rate, seconds):
    s = new_socket(kind)
    end = time.monotonic() + 20
    while kind != "udp":
        try:
            s.connect((address, PORT[kind]))
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            s.settimeout(PATIENCE)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            s.close()
            time.sleep(0.1)
            s = new_socket(kind)
            s.settimeout(2)
    begin, n, clock = time.monotonic(), 0, time.time()
    while n < rate * seconds:
        due = min(int((time.monotonic() - begin) * rate), rate * seconds)
        while n < due:
            data = struct.pack("!Q", n).ljust(BYTES, b".")
            try:
                if kind == "udp":
                    s.sendto(data, (address, PORT[kind]))
                else:
                    s.sendall(data)
            except OSError:
                if kind != "udp":  # nothing passes any more
                    n = rate * seconds
                # a datagram is lost, like all others
            n += 1
        time.sleep(0.0005)
    print("%.9f %.9f" % (clock, clock + seconds), flush=True)
    if kind != "udp":
        try:
            s.shutdown(socket.SHUT_WR)
            s.recv(1)  # until the other end has all
        except OSError:
            pass


def receive_udp(s, total, end):
    s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
    got = []
    while time.monotonic() < end and len(got) < total:
        try:
            data, more, _, _ = s.recvmsg(2048, 256)
        except TimeoutError:
            continue
        sec, ns = struct.unpack("@qq", more[0][2])
        got.append((struct.unpack_from("!Q", data)[0], sec + ns / 1e9))
    return got


def receive_stream(s, total, end):
    s.listen(1)
    c, bytes_, got = None, 0, []
    while time.monotonic() < end and bytes_ < total * BYTES:
        try:
            if c is None:
                c = s.accept()[0]
                c.settimeout(0.2)
            data = c.recv(1 << 16)
        except TimeoutError:
            continue
        if not data:
            break
        bytes_ += len(data)
        got.append((bytes_ // BYTES, time.time()))
    return got


def main():
    role, address, kind, rate, seconds, path = sys.argv[1:7]
    rate, seconds = int(rate), int(seconds)
    if role == "send":
        send(address, kind, rate, seconds)
        return
    s = new_socket(kind)
    s.bind((address, PORT[kind]))
    s.settimeout(0.2)
    end = time.monotonic() + seconds + PATIENCE
    take = receive_udp if kind == "udp" else receive_stream
    got = take(s, rate * seconds, end)
    with open(path, "w", encoding="ascii") as f:
        f.writelines("%d %.9f\n" % g for g in got)


main()
