# SPDX-License-Identifier: BSD-3-Clause
"""An etcd in a namespace of its own, and the pair of processes that speak
through it, each at its prompt."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from process_pair import CONFIG, NAMES, Pair, ip
from reflit_test import REFLIT, need

URLS = ["http://198.18.0.1:2379", "http://198.18.0.5:2379"]
CONTROLLER = ("controller: { etcd = %s; life_ns = 2000000000L; %%s };\n"
              % json.dumps(URLS))
# Settings for who counts recoveries: no answer is late because the machine was
# taken away for a second.
PATIENT = ("answer_ns = 5000000000L; install_ns = 20000000000L; "
           "quiesce_ns = 80000000000L; lease_ns = 40000000000L; ")


def memory_dir():
    """A folder for what an etcd keeps. In memory, where there is such a file
    system: etcd waits for the disk at each write, and a busy disk takes longer
    than a recovery may."""
    memory = "/dev/shm"
    return tempfile.mkdtemp(
        prefix="reflit-etcd-",
        dir=memory if os.access(memory, os.W_OK) else None)


class Etcd:
    """One etcd in a namespace; a veth to each of the pair's."""

    def __init__(self, net):
        need("etcd", "etcdctl")
        self.net, self.process = net, None
        self.ns = net.ns[0][:-1] + "m"
        self.dir = memory_dir()

    def __enter__(self):
        try:
            self.cable()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def cable(self):
        ip("netns", "add", self.ns)
        ip("-n", self.ns, "link", "set", "lo", "up")
        for i in (0, 1):
            ip("link", "add", "m%d" % i, "netns", self.ns, "type", "veth",
               "peer", "name", "mgmt", "netns", self.net.ns[i])
            for ns, dev, low in ((self.ns, "m%d" % i, 1),
                                 (self.net.ns[i], "mgmt", 2)):
                ip("-n", ns, "addr", "add", "198.18.0.%d/30" % (4 * i + low),
                   "dev", dev)
                ip("-n", ns, "link", "set", dev, "up")

    def __exit__(self, *exc):
        self.kill()
        subprocess.run(["ip", "netns", "del", self.ns], check=False,
                       capture_output=True)
        shutil.rmtree(self.dir, ignore_errors=True)

    def start(self):
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.ns, "etcd", "--data-dir", self.dir,
             "--listen-client-urls", ",".join(URLS),
             "--advertise-client-urls", URLS[0],
             "--listen-peer-urls", "http://127.0.0.1:2380",
             "--initial-advertise-peer-urls", "http://127.0.0.1:2380",
             "--initial-cluster", "default=http://127.0.0.1:2380"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while self.ctl("endpoint", "health").returncode:
            assert time.monotonic() < end, "etcd does not start"
            time.sleep(0.1)

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def pause(self, on):
        self.process.send_signal(signal.SIGSTOP if on else signal.SIGCONT)

    def ctl(self, *args):
        return subprocess.run(
            ["ip", "netns", "exec", self.ns, "etcdctl", "--endpoints", URLS[0],
             "--command-timeout", "2s"] + list(args), capture_output=True,
            text=True, check=False, env=dict(os.environ, ETCDCTL_API="3"))

    def keys(self):
        out = self.ctl("get", "--prefix", "", "--keys-only")
        return [k for k in out.stdout.split() if k]


class Pump(threading.Thread):
    """Reads what a prompt prints, all the while."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream, self.text = stream, ""
        self.start()

    def run(self):
        for line in self.stream:
            self.text += line


class Both(Pair):
    """The pair at its prompts."""

    def __init__(self, extra="", config=None):
        super().__init__((config or CONFIG) + CONTROLLER % extra)
        self.pump = [None, None]

    def start(self, i):
        self.lives[i] += 1
        cmd = ["ip", "netns", "exec", self.ns[i], REFLIT,
               "--file-prefix=" + self.prefix(i),
               "--vdev=net_af_packet0,iface=c0",
               "--vdev=net_af_packet1,iface=c1",
               "--vdev=net_af_packet2,iface=p", "--", "-i", "--config",
               self.box.write(NAMES[i] + ".cfg", self.config[i]),
               "--process", NAMES[i], "--json", self.json(i)]
        self.err.append(open(self.box.path("err%d%d" % (i, self.lives[i])),
                             "w+", encoding="utf-8"))
        self.process[i] = subprocess.Popen(
            cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.err[-1], text=True)
        self.pump[i] = Pump(self.process[i].stdout)
        self.tell(i, "start")

    def tell(self, i, command):
        self.process[i].stdin.write(command + "\n")
        self.process[i].stdin.flush()

    def hear(self, text, times, seconds=20):
        """What both have said on their standard errors, so many times: what
        the prompt shows may be seen before that is written."""
        end = time.monotonic() + seconds
        while self.errors().count(text) < times:
            assert time.monotonic() < end, (text, self.errors())
            time.sleep(0.02)
        assert self.errors().count(text) == times, (text, self.errors())

    def show(self, i, seconds=20):
        """What `show controller` says now."""
        at = len(self.pump[i].text)
        self.tell(i, "show controller")
        end = time.monotonic() + seconds
        while "local controllers" not in self.pump[i].text[at:]:
            assert time.monotonic() < end, self.pump[i].text + self.errors()
            time.sleep(0.02)
        return self.pump[i].text[at:]

    def until(self, i, *patterns, seconds=30):
        """Until `show controller` of process i has all of these."""
        end = time.monotonic() + seconds
        while True:
            text = self.show(i)
            if all(re.search(p, text) for p in patterns):
                return text
            assert time.monotonic() < end, (patterns, text, self.errors())
            time.sleep(0.05)

    def newer(self, have, seconds=30):
        """Until both have the same tables, newer than these; their epoch."""
        end = time.monotonic() + seconds
        while True:
            got = [re.search(r"tables here are of epoch (\d+) to (\d+)\n",
                             self.show(i)).groups() for i in (0, 1)]
            if len(set(sum(got, ()))) == 1 and int(got[0][0]) > have:
                return int(got[0][0])
            assert time.monotonic() < end, (have, got, self.show(0),
                                            self.show(1), self.errors())
            time.sleep(0.05)

    def meet_both(self):
        """Until frames pass; where they never do, how both stand is told."""
        try:
            self.meet()
        except AssertionError:
            for i in (0, 1):
                for what in ("fabric", "recoveries", "port all", "events"):
                    self.tell(i, "show " + what)
                self.show(i)
                print(NAMES[i] + ":\n" + self.pump[i].text[-6000:])
            raise

    def settle(self, *patterns, seconds=40):
        """Until one of them has a controller that is idle; which."""
        end = time.monotonic() + seconds
        want = (r"\(this one\)", "phase idle") + patterns
        while True:
            for i in (0, 1):
                text = self.show(i)
                if all(re.search(p, text) for p in want):
                    return i
            assert time.monotonic() < end, (want, self.show(0), self.show(1),
                                            self.errors())
            time.sleep(0.05)

    def begin(self):
        self.start(0)
        self.start(1)
        self.meet_both()
        for i in (0, 1):
            self.until(i, "left:there right:there", "controller in process")
        return self.settle()
