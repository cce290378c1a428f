# SPDX-License-Identifier: BSD-3-Clause
"""What a process holds: descriptors, threads, memory."""
import collections
import json
import os
import re
import socket


def held(pid):
    """Descriptors by what they are, threads, and KB of memory."""
    fds = collections.Counter()
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            fds[re.sub(r"\d+", "N", os.readlink("/proc/%d/fd/%s" % (pid, fd)))
                ] += 1
        except FileNotFoundError:
            pass
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        kb = dict(re.findall(r"^(\w+): +(\d+) kB$", f.read(), re.M))
    return {"fds": dict(fds), "threads": len(os.listdir("/proc/%d/task" % pid)),
            "kb": int(kb["Pss_Anon"]), "shm_kb": int(kb["Pss_Shmem"])}


class Telemetry:
    """A connection to DPDK's telemetry socket."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(60)
        self.sock.connect(path)
        self.most = json.loads(self.sock.recv(1024))["max_output_len"]

    def ask(self, command):
        self.sock.send(command.encode())
        return json.loads(self.sock.recv(self.most))[command.split(",")[0]]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sock.close()
