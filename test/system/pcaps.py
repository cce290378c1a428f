# SPDX-License-Identifier: BSD-3-Clause
"""Captures as the ports of two endpoints, e0 and e1: what comes in of them, and
what goes out to the files o0 and o1."""
import struct
import subprocess

from reflit_test import PCAP_SAME

PORTS = """
attach = ( { endpoint = "e0"; port = "net_pcap0"; dst = "e1"; },
           { endpoint = "e1"; port = "net_pcap1"; dst = "e0"; } );
"""
HEAD = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)


def record(data):
    return struct.pack("<IIII", 1, 0, len(data), len(data)) + data


def frame(i, size):
    return bytes((i + k) & 0xff for k in range(size))


def vdevs(box, in0, in1):
    return ["--vdev=net_pcap0,rx_pcap=%s,tx_pcap=%s" % (in0, box.path("o0")),
            "--vdev=net_pcap1,rx_pcap=%s,tx_pcap=%s" % (in1, box.path("o1"))]


def same(a, b):
    p = subprocess.run([PCAP_SAME, a, b], capture_output=True, text=True)
    assert p.returncode == 0, p.stdout + p.stderr
