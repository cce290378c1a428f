#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""[APP-2] [APP-3] What being watched costs: a star of nine endpoints under full
load; a client of telemetry that asks for all there is ten times a second; a
link whose frames are captured.

Rates are flits per microsecond of processor time of the whole program, the
threads that answer and write included.
"""
import json
import os
import shutil
import socket
import tempfile
import time

import stress

ASKED = ("/reflit/fabric", "/reflit/ports", "/reflit/flows", "/reflit/classes",
         "/reflit/events", "/reflit/recoveries", "/reflit/latency",
         "/reflit/lcores", "/reflit/port,s0/0")
EVERY = 0.1  # seconds between two looks


class Watcher:
    """Asks while the phase is one of those that are watched."""

    def __init__(self, path):
        self.path, self.sock, self.most, self.rounds = path, None, 0, 0

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(30)
        self.sock.connect(self.path)
        self.most = json.loads(self.sock.recv(1024))["max_output_len"]

    def __call__(self, phase):
        if phase == "watched":
            if self.sock is None:
                self.connect()
            for cmd in ASKED:
                self.sock.send(cmd.encode())
                answer = json.loads(self.sock.recv(self.most))
                assert answer[cmd.split(",")[0]] is not None, (cmd, answer)
            self.rounds += 1
        time.sleep(EVERY)


def main():
    args = stress.arguments(__doc__)
    seconds = min(1.0, args.seconds)
    box = tempfile.mkdtemp(prefix="reflit-watched-")
    file = os.path.join(box, "link.pcapng")
    cycles = [[stress.Phase("plain", seconds),
               stress.Phase("watched", seconds),
               stress.Phase("captured", seconds,
                            ["capture e0-s0 %s.%d" % (file, i)]),
               stress.Phase("again", seconds, ["capture e0-s0 off"])]
              for i in range(max(1, round(args.seconds / seconds)))]
    prefix = "rlwatch%d" % os.getpid()
    args.eal.append("--file-prefix=" + prefix)
    run = "/var/run" if os.geteuid() == 0 else box
    os.environ["XDG_RUNTIME_DIR"] = box
    watcher = Watcher(os.path.join(run, "dpdk", prefix, "dpdk_telemetry.v2"))
    try:
        cycle, report, _ = stress.run(args, stress.star(args), cycles,
                                      ["--traffic", "uniform"],
                                      beside=watcher)
        captured = os.path.getsize(file + ".0")
    finally:
        shutil.rmtree(box, ignore_errors=True)
        shutil.rmtree("/var/run/dpdk/" + prefix, ignore_errors=True)
    assert watcher.rounds > 0, "nobody watched"
    assert captured > 1000, "nothing was captured"

    def cost(phase):
        return stress.median(
            w[phase].rate() / ((w["plain"].rate() + w["again"].rate()) / 2)
            for w in cycle)

    stress.finish(args, "watched", report, [
        stress.Figure("flits/us, nobody watches",
                      stress.median(w["plain"].rate() for w in cycle)),
        stress.Figure("nobody watches, later / before",
                      stress.median(w["again"].rate() / w["plain"].rate()
                                    for w in cycle)),
        stress.Figure("telemetry read ten times a second / nobody",
                      cost("watched"), 0.99, 0.5),
        stress.Figure("one link of nine captured / nobody",
                      cost("captured"), None, 0.2),
    ])


if __name__ == "__main__":
    main()
