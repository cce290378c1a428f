# SPDX-License-Identifier: BSD-3-Clause
"""Virtual machines at attached ports of a reflit of this machine [PHY-8]: a Linux
in QEMU by vhost-user, with the options that docs/wires.md gives."""
import json
import os
import re
import shlex
import signal
import subprocess
import time

from guest import Guest, GuestError

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MEM = 192
TOLD = "192.0.2.%u"


def page(kind, begins):
    """The block of docs/wires.md that begins so."""
    with open(os.path.join(ROOT, "docs", "wires.md"), encoding="utf-8") as f:
        for block in re.findall(r"^```%s\n(.*?)^```" % kind, f.read(),
                                re.S | re.M):
            if block.startswith(begins):
                return block
    raise GuestError("docs/wires.md shows no " + begins)


def page_block(begins):
    """The same as words of a shell."""
    return shlex.split(page("", begins).replace("\\\n", " "))


class Victim:
    """A process, self.proc, that ends or stands still without a word."""

    def kill(self):
        self.proc.kill()
        self.proc.wait()

    def freeze(self, seconds):
        self.proc.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.proc.send_signal(signal.SIGCONT)


class Reflit(Victim):
    """A reflit with a prompt. What it prints goes to a file."""

    def __init__(self, program, where, vdevs, config, name="r"):
        self.log = os.path.join(where, name + ".log")
        self.json = os.path.join(where, name + ".json")
        cfg = os.path.join(where, name + ".cfg")
        with open(cfg, "w", encoding="utf-8") as f:
            f.write(config)
        self.cmd_line = ["nice", program] + ["--vdev=" + v for v in vdevs] + [
            "--", "--config", cfg, "-i", "--json", self.json]
        self.where, self.proc, self.lives = where, None, 0
        self.start()

    def start(self):
        """Also again, once it has gone."""
        self.lives += 1
        with open(self.log, "a", encoding="utf-8") as out:
            self.proc = subprocess.Popen(self.cmd_line, stdin=subprocess.PIPE,
                                         stdout=out, stderr=out, text=True,
                                         cwd=self.where, bufsize=1)
        self.cmd("wait up 60s")
        self.cmd("start")
        self.said("on-%u" % self.lives)

    def cmd(self, line):
        try:
            self.proc.stdin.write(line + "\n")
            self.proc.stdin.flush()
        except BrokenPipeError:
            raise GuestError("reflit ended: " + self.text()[-1000:]) from None

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def expect(self, pattern, timeout=60, times=1):
        until = time.monotonic() + timeout
        while len(re.findall(pattern, self.text(), re.M)) < times:
            if self.proc.poll() is not None:
                raise GuestError("reflit ended with status %s: %s" % (
                    self.proc.returncode, self.text()[-1000:]))
            if time.monotonic() > until:
                raise GuestError("reflit did not say %r within %u s: %s" % (
                    pattern, timeout, self.text()[-1000:]))
            time.sleep(0.02)

    def said(self, word, timeout=90):
        """Waits until the prompt has come so far."""
        self.cmd("say " + word)
        self.expect(r"\s%s$" % word, timeout)

    def end(self):
        """Returns (exit status, report)."""
        for line in ("stop", "wait drained 30s", "quit"):
            self.cmd(line)
        try:
            status = self.proc.wait(90)
        except subprocess.TimeoutExpired:
            self.kill()
            raise GuestError("reflit does not end: "
                             + self.text()[-1000:]) from None
        with open(self.json, encoding="utf-8") as f:
            return status, json.load(f)

    def close(self):
        if self.proc.poll() is None:
            self.kill()
        self.proc.stdin.close()


class Vm(Victim, Guest):
    """A Linux with one interface, whose address ends in n. listens: QEMU makes
    the socket, and reflit connects to it."""

    def __init__(self, where, image, n, socket, listens=False):
        words = page_block("qemu-system-x86_64")
        more = []
        for option, value in zip(words, words[1:]):
            if option in ("-object", "-machine", "-chardev"):
                more += [option, value.replace("4G", "%uM" % MEM)]
        at = more.index("-chardev") + 1
        more[at] = more[at].replace("/run/reflit/vm0", socket)
        if listens:
            more[at] = more[at].replace("reconnect=1", "server=on,wait=off")
        net = words[words.index("-netdev") + 1]
        self.n, self.told = n, words[words.index("-device") + 1].split(",")
        super().__init__(where, image, [("n0", "vhost-user", "net0")], [net],
                         iommu=False, mem=MEM, cpus=1, more=more,
                         initramfs="initramfs.vm")

    def _nic(self, nid, model, net, i):
        nic = super()._nic(nid, model, net, i)
        nic.update(p.split("=") for p in self.told[1:])
        nic["mac"] = "52:54:00:13:00:%02x" % self.n
        return nic

    def net_up(self, other):
        """Gives the interface an address, and the other one's: ARP has timers
        of its own, of a second."""
        self.sh("load virtio_net; until [ -e /sys/class/net/eth0 ]; do "
                "busybox usleep 20000; done; ifconfig eth0 %s up; "
                "arp -s %s 52:54:00:13:00:%02x"
                % (TOLD % self.n, TOLD % other, other))

    def snmp(self):
        """Counters of the guest's kernel by name, as TcpRetransSegs."""
        _, text = self.sh("cat /proc/net/snmp /proc/net/netstat")
        rows = [line.split() for line in text.split("\n") if line]
        return {names[0][:-1] + k: int(v)
                for names, values in zip(rows[::2], rows[1::2])
                for k, v in zip(names[1:], values[1:])}

    def features(self):
        """Bits that the guest's driver and its device agreed on."""
        _, text = self.sh("cat /sys/class/net/eth0/device/features")
        return {i for i, bit in enumerate(text.strip()) if bit == "1"}

    def beat(self, other):
        """From now on, each answer of the other is a line of con[1]."""
        self.sh("stty -F /dev/hvc1 raw -echo; ping -i 0.05 %s > /dev/hvc1 2>&1 &"
                % (TOLD % other))

    def heard(self, timeout=30):
        """Seconds until an answer comes that was not there when this began."""
        while self.con[1].line(0) is not None:
            pass
        began = time.monotonic()
        self.con[1].expect("bytes from", timeout)
        return time.monotonic() - began
