# SPDX-License-Identifier: BSD-3-Clause
"""A QEMU guest with NICs, driven from the host: a shell in it, and QEMU's
monitor. Emulated by TCG, so that it runs anywhere; at a low priority."""
import base64
import json
import os
import re
import select
import signal
import socket
import subprocess
import time
import zlib

# How a model is given to QEMU. ",iommu_platform=on" is for a virtio device
# behind an IOMMU: without it, it would go past.
MODELS = {
    "e1000": "e1000",
    "e1000e": "e1000e",
    "vmxnet3": "vmxnet3",
    "virtio": "virtio-net-pci,disable-legacy=on",
    "virtio-packed": "virtio-net-pci,disable-legacy=on,packed=on",
    "virtio-legacy": "virtio-net-pci,disable-modern=on,disable-legacy=off",
    # QEMU 7.2 itself dies of MSI-X with vhost-user, if it emulates the CPU
    "vhost-user": "virtio-net-pci,vectors=0",
}
BOOT_S = 240
# What all cases have: the fabric, and links that train again soon.
FIGURE1 = """
fabric: {
  topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s1"; b = "e1"; } );
};
link: { flap_damping_max_ns = 50000000; };
"""


class GuestError(Exception):
    """The guest did not do what it was told."""


def connect(path, until):
    while True:
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(path)
            return s
        except OSError:
            s.close()
            if time.monotonic() > until:
                raise GuestError("QEMU does not listen at " + path) from None
            time.sleep(0.02)


class Monitor:
    """QEMU's monitor (QMP)."""

    def __init__(self, path, until):
        self.sock = connect(path, until)
        self.file = self.sock.makefile("rw")
        self.events = []
        self._line()
        self.cmd("qmp_capabilities")

    def _line(self):
        line = self.file.readline()
        if not line:
            raise GuestError("QEMU has gone")
        return json.loads(line)

    def cmd(self, command, **args):
        """One command; returns its answer."""
        self.file.write(json.dumps({"execute": command,
                                    "arguments": args}) + "\n")
        self.file.flush()
        while True:
            m = self._line()
            if "event" in m:
                self.events.append(m)
            elif "error" in m:
                raise GuestError("%s: %s" % (command, m["error"]["desc"]))
            else:
                return m["return"]

    def wait_event(self, name, timeout):
        """Whether the event came in time."""
        until = time.monotonic() + timeout
        while True:
            for e in self.events:
                if e["event"] == name:
                    self.events.remove(e)
                    return True
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                return False
            self.events.append(self._line())


class Console:
    """Lines of a character device of the guest."""

    def __init__(self, path, until):
        self.sock = connect(path, until)
        self.buf = b""
        self.log = []

    def send(self, text):
        self.sock.sendall(text.encode() + b"\n")

    def line(self, timeout):
        """The next line, or None."""
        until = time.monotonic() + timeout
        while b"\n" not in self.buf:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                return None
            d = self.sock.recv(65536)
            if not d:
                raise GuestError("the console is closed")
            self.buf += d
        text, self.buf = self.buf.split(b"\n", 1)
        return text.decode("utf-8", "replace").rstrip("\r")

    def expect(self, pattern, timeout):
        """Lines until one matches; all of them go to self.log."""
        until = time.monotonic() + timeout
        while True:
            got = self.line(max(0.0, until - time.monotonic()))
            if got is None:
                raise GuestError("no %r within %u s; last: %s" % (
                    pattern, timeout, " | ".join(self.log[-8:])))
            self.log.append(got)
            m = re.search(pattern, got)
            if m:
                return m


class Guest:
    """nics: [(id, model, netdev)]; netdevs: values of QEMU's -netdev; more:
    options of QEMU's that stand before them."""

    def __init__(self, where, image, nics, netdevs, iommu=True, mem=768,
                 cpus=2, more=(), initramfs="initramfs"):
        self.dir, self.iommu, self.model = where, iommu, {}
        self.err = None
        os.makedirs(where, exist_ok=True)
        cmd = self._machine(os.path.join(image, "vmlinuz"),
                            os.path.join(image, initramfs), iommu, mem, cpus)
        cmd += more
        for n in netdevs:
            cmd += ["-netdev", n]
        for i, (nid, model, net) in enumerate(nics):
            # a slot of its own each, that a NIC can be pulled out of
            cmd += ["-device", "pcie-root-port,id=rp%u,chassis=%u,slot=%u"
                    % (i, i + 1, i + 1)]
            self.model[nid] = self._nic(nid, model, net, i)
            cmd += ["-device", ",".join("%s=%s" % kv if kv[0] != "driver"
                                        else kv[1]
                                        for kv in self.model[nid].items())]
        self._start(cmd)

    def path(self, name):
        return os.path.join(self.dir, name)

    def _machine(self, kernel, initramfs, iommu, mem, cpus):
        cmd = ["nice", "qemu-system-x86_64", "-nodefaults", "-display",
               "none", "-no-reboot", "-m", str(mem), "-smp", str(cpus),
               "-accel", "tcg,thread=multi", "-cpu", "max", "-M", "q35",
               "-kernel", kernel, "-initrd", initramfs, "-append",
               "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check "
               "tsc=reliable" + (" intel_iommu=on" if iommu else ""),
               "-serial", "file:" + self.path("serial"),
               "-qmp", "unix:%s,server=on,wait=off" % self.path("qmp"),
               "-device", "virtio-serial-pci"]
        if iommu:
            cmd += ["-device", "intel-iommu,intremap=on,caching-mode=on"]
        for i in range(2):
            cmd += ["-chardev", "socket,id=c%u,path=%s,server=on,wait=off"
                    % (i, self.path("con%u" % i)),
                    "-device", "virtconsole,chardev=c%u" % i]
        return cmd

    def _nic(self, nid, model, net, i):
        """Its properties, in QEMU's order: the driver first."""
        driver, *more = MODELS[model].split(",")
        nic = {"driver": driver, "id": nid, "netdev": net, "romfile": "",
               "mac": "52:54:00:12:00:%02x" % i, "bus": "rp%u" % i}
        nic.update(p.split("=") for p in more)
        if driver == "virtio-net-pci" and self.iommu:
            nic["iommu_platform"] = "on"
        return nic

    def _start(self, cmd):
        self.err = open(self.path("qemu.err"), "w", encoding="utf-8")
        self.proc = subprocess.Popen(cmd, stdin=subprocess.DEVNULL,
                                     stdout=self.err, stderr=self.err)
        until = time.monotonic() + 60
        try:
            self.monitor = Monitor(self.path("qmp"), until)
            self.con = [Console(self.path("con%u" % i), until)
                        for i in range(2)]
            self.con[0].expect("^ready$", BOOT_S)
        except GuestError as e:
            self.close()
            raise GuestError("%s\n%s" % (e, self.said())) from None

    def said(self):
        """What QEMU and the kernel said of late."""
        text = ""
        for name in ("qemu.err", "serial"):
            with open(self.path(name), errors="replace",
                      encoding="utf-8") as f:
                text += f.read()[-2000:]
        return text

    def sh(self, line, timeout=120, check=True):
        """One line of shell. Returns (exit status, output)."""
        c = self.con[0]
        c.log = []
        c.send(line)
        m = c.expect(r"^=rc (\d+)$", timeout)
        rc, out = int(m.group(1)), "\n".join(c.log[:-1])
        if check and rc != 0:
            raise GuestError("%s: status %u\n%s" % (line, rc, out))
        return rc, out

    def put(self, path, text):
        """Writes a file in the guest."""
        data = base64.b64encode(text.encode()).decode()
        self.sh("rm -f %s.64" % path)
        for i in range(0, len(data), 2000):
            self.sh("echo %s >> %s.64" % (data[i:i + 2000], path))
        self.sh("base64 -d %s.64 > %s" % (path, path))

    def get(self, path):
        """Reads a file of the guest; None: there is none."""
        rc, out = self.sh("[ -s %s ] && gzip -c %s | base64" % (path, path),
                          check=False)
        if rc != 0 or not out:
            return None
        return zlib.decompress(base64.b64decode(out), 31).decode()

    def bind(self, driver, nics=None):
        """Gives NICs to a driver of the kernel's. Returns their addresses."""
        if nics is None:
            _, out = self.sh("nics")
            nics = out.split()
        _, out = self.sh("bind %s %s" % (driver, " ".join(nics)), check=False)
        for line in out.split("\n"):
            if not line.endswith(": " + driver):
                raise GuestError("not bound to %s: %s" % (driver, out))
        return nics

    def link(self, ids, up):
        """Plugs cables in, or pulls them."""
        for i in ids:
            self.monitor.cmd("set_link", name=i, up=up)

    def close(self):
        if self.proc.poll() is None:
            try:
                self.monitor.cmd("quit")
                self.proc.wait(10)
            except (AttributeError, GuestError, OSError,
                    subprocess.TimeoutExpired):
                self.proc.send_signal(signal.SIGKILL)
                self.proc.wait()
        self.err.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *exc):
        if kind is not None and self.proc.poll() is not None:
            print("QEMU ended with status %d: %s"
                  % (self.proc.returncode, self.said()))
        self.close()
