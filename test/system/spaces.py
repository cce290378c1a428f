# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces and cables between them, for tests that run as root."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from reflit_test import Box, Skip

# Interfaces of a busy machine answer late: patience, not speed.
LINK = """
link: { keepalive_dead_ns = 400000000; phy_lost_ns = 400000000;
        retrain_interval_ns = 20000000; init_interval_ns = 5000000;
        replay_timer_min_ns = 2000000; replay_timer_max_ns = 200000000;
        watchdog_ns = 4000000000; no_path_ns = 4000000000; };
endpoint: { retry_timer_min_ns = 50000000; };
"""
# of frames that tests send
TYPE = b"\x88\xb6"


def ip(*args):
    p = subprocess.run(("ip",) + args, capture_output=True, text=True,
                       check=False)
    if p.returncode:
        raise Skip("no network interfaces here: ip %s: %s"
                   % (" ".join(args), p.stderr.strip()))


def need_spaces():
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise Skip("needs root and iproute2")


def delete_spaces(names):
    for n in names:
        subprocess.run(["ip", "netns", "del", n], check=False,
                       capture_output=True)


def quiet_up(dev, ns=None, mtu=None):
    """Up, and nobody sends by it but who is told to."""
    ip(*(("-n", ns) if ns else ()), "link", "set", dev,
       *(("mtu", str(mtu)) if mtu else ()), "arp", "off", "addrgenmode", "none",
       "up")


class Processes:
    """Namespaces with a process of one fabric each. The namespace of process i
    has devices of its own (.cables) and p, whose other end is .sock[i]."""
    made = 0

    def __init__(self, letter, n, devices):
        need_spaces()
        Processes.made += 1
        base = "rl%s%d%c" % (letter, os.getpid() % 100000,
                             96 + Processes.made)
        self.ns = [base + c for c in "abc"[:n]]
        self.out = [base + c for c in "xyz"[:n]]
        self.devices = devices
        self.box = Box()
        self.process, self.lives = [None] * n, [0] * n
        self.sock = []

    def lay(self):
        """Lays the cables between the namespaces."""
        raise NotImplementedError

    def __enter__(self):
        try:
            for n in self.ns:
                ip("netns", "add", n)
            self.lay()
            for i in range(len(self.ns)):
                self.port(i)
        except Skip:
            self.__exit__()
            raise
        return self

    def port(self, i):
        ip("link", "add", self.out[i], "type", "veth", "peer", "name", "p",
           "netns", self.ns[i])
        for dev in (*self.devices, "p"):
            quiet_up(dev, self.ns[i])
        quiet_up(self.out[i])
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
        s.bind((self.out[i], 0x88b6))
        s.settimeout(0.1)
        self.sock.append(s)

    def prefix(self, i):
        """The file prefix of process i in this life."""
        return "%s.%d" % (self.ns[i], self.lives[i])

    def telemetry(self, i, command):
        """What telemetry of process i answers."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(30)
            s.connect("/var/run/dpdk/%s/dpdk_telemetry.v2" % self.prefix(i))
            s.recv(1024)
            s.send(command.encode())
            return json.loads(s.recv(16384))[command]

    def is_linked(self, i):
        """Whether process i has a link to each of its neighbours: packets that
        are sent before may be given up, openly."""
        try:
            links = self.telemetry(i, "/reflit/links")
        except OSError:
            return False
        if links is None:  # before the fabric is built
            return False
        up = {}
        for name, state in zip(links["name"], links["state"]):
            pair = name.split("#")[0]
            up[pair] = up.get(pair, False) or state in ("UP", "remote")
        return all(up.values())

    def state(self, i, link):
        """The state of a link in process i; None before its fabric is built."""
        try:
            links = self.telemetry(i, "/reflit/links")
        except OSError:
            return None
        return links and dict(zip(links["name"], links["state"])).get(link)

    def __exit__(self, *exc):
        for p in self.process:
            if p is not None and p.poll() is None:
                p.kill()
                p.wait()
        for s in self.sock:
            s.close()
        for dev in self.out:
            subprocess.run(["ip", "link", "del", dev], check=False,
                           capture_output=True)
        delete_spaces(self.ns)
        self.box.__exit__()

    def receive_of(self, to, tail, enough, seconds):
        """Numbers of the test's frames that leave at process `to`, in order:
        of those whose source and type end in `tail`."""
        got, end = [], time.monotonic() + seconds
        while len(got) < enough and time.monotonic() < end:
            try:
                data, at = self.sock[to].recvfrom(4096)
            except TimeoutError:
                continue
            if at[2] != 4 and data[6:14].endswith(tail):
                got.append(int.from_bytes(data[14:18], "big"))
        return got

    def kill(self, i):
        self.process[i].kill()
        self.process[i].wait()

    def stop(self):
        """All at once, as one would; their exit statuses."""
        for p in self.process:
            p.send_signal(signal.SIGTERM)
        return [p.wait(60) for p in self.process]


class Space:
    """A network namespace of its own, with two veth cables in it: v0-v1 and
    v2-v3. All goes with it."""
    made = 0

    def __init__(self, mtu=1500, cables=2):
        need_spaces()
        Space.made += 1
        self.ns = "rlw%d.%d" % (os.getpid(), Space.made)
        self.mtu, self.cables = mtu, cables
        self.wrap = ["ip", "netns", "exec", self.ns]

    def __enter__(self):
        ip("netns", "add", self.ns)
        try:
            for i in range(0, 2 * self.cables, 2):
                ip("-n", self.ns, "link", "add", "v%d" % i, "type", "veth",
                   "peer", "name", "v%d" % (i + 1))
            for i in range(2 * self.cables):
                quiet_up("v%d" % i, self.ns, self.mtu)
        except Skip:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        delete_spaces([self.ns])

    def vdevs(self, driver, more=""):
        return ["--vdev=%s%d,iface=v%d%s" % (driver, i, i, more)
                for i in range(2 * self.cables)]
