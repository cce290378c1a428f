# SPDX-License-Identifier: BSD-3-Clause
"""A client of DPDK's telemetry socket, for the tests."""
import json
import socket


class Client:
    """A connection to the socket, as dpdk-telemetry.py makes it."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(30)
        self.sock.connect(path)
        self.hello = json.loads(self.sock.recv(1024))

    def ask(self, cmd):
        self.sock.send(cmd.encode())
        answer = json.loads(self.sock.recv(self.hello["max_output_len"]))
        return answer[cmd.split(",")[0]]
