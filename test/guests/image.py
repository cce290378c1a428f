#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a guest for QEMU: a kernel of Debian's, which is downloaded once and
unpacked, not installed, and an initramfs with busybox, reflit, and those of
DPDK's drivers that QEMU has devices for. Needs no root.

    image.py BUILD OUT    BUILD: reflit's build folder; OUT: what is made

OUT gets vmlinuz and initramfs, initramfs.vm, which has busybox alone, and keeps
the kernel's package. Exits with 77,
and says why, where something that it takes is missing.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

SKIP = 77
# for clouds: a third of the size, and no driver of a NIC that is in the way
KERNEL = "linux-image-cloud-amd64"
PMDS = ("bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_vmxnet3",
        "net_virtio", "net_ring", "net_pcap")
MODULES = ("virtio_pci", "virtio_console", "vfio_pci", "vfio_iommu_type1",
           "uio_pci_generic", "virtio_net")
PROGRAMS = ("app/reflit", "app/reflit-bench")
HERE = os.path.dirname(os.path.abspath(__file__))


def skip(why):
    print(why)
    sys.exit(SKIP)


def out_of(*cmd):
    return subprocess.run(cmd, capture_output=True, text=True,
                          check=True).stdout


def kernel(where):
    """The unpacked package; returns (its vmlinuz, its folder of modules)."""
    root = os.path.join(where, "kernel")
    if not glob.glob(root + "/boot/vmlinuz-*"):
        for tool in ("apt-get", "apt-cache", "dpkg"):
            if shutil.which(tool) is None:
                skip("no %s to get a kernel for guests with" % tool)
        names = re.findall(r"Depends: (linux-image-\S+)",
                           out_of("apt-cache", "depends", KERNEL))
        if not names:
            skip("apt knows no package %s" % KERNEL)
        got = subprocess.run(["apt-get", "download", "-qq", names[0]],
                             cwd=where, capture_output=True, text=True,
                             check=False)
        debs = glob.glob("%s/%s_*.deb" % (where, names[0]))
        if got.returncode or not debs:
            skip("cannot download %s: %s"
                 % (names[0], got.stderr.strip().split("\n")[-1]))
        subprocess.run(["dpkg", "-x", debs[0], root + ".new"], check=True)
        os.rename(root + ".new", root)
        os.unlink(debs[0])
    return (glob.glob(root + "/boot/vmlinuz-*")[0],
            glob.glob(root + "/lib/modules/*")[0])


def modules(folder, wanted):
    """[(wanted, file)], what each needs before itself."""
    files = {os.path.basename(f)[:-3].replace("-", "_"): f
             for f in glob.glob(folder + "/**/*.ko", recursive=True)}
    order = []

    def add(name, top):
        if name not in files:
            return  # built in
        with open(files[name], "rb") as f:
            needs = re.search(rb"\0depends=([^\0]*)\0", f.read())
        for n in needs.group(1).decode().split(",") if needs else ():
            add(n.replace("-", "_"), top)
        if (top, files[name]) not in order:
            order.append((top, files[name]))

    for w in wanted:
        add(w, w)
    return order


def libraries(files):
    """Every shared library that one of these files loads, by all its names."""
    found = {}
    for f in files:
        for line in out_of("ldd", f).split("\n"):
            m = re.match(r"\s*(?:\S+ => )?(/\S+) \(", line)
            if m:
                found[m.group(1)] = os.path.realpath(m.group(1))
    return found


class Cpio:
    """An archive in the kernel's own format (newc)."""

    def __init__(self, path):
        self.out = open(path, "wb")
        self.seen = set()

    def _entry(self, name, mode, data=b""):
        head = "070701" + "".join("%08X" % v for v in (
            len(self.seen) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
            len(name) + 1, 0))
        self._put(head.encode() + name.encode() + b"\0")
        self._put(data)

    def _put(self, data):
        self.out.write(data + bytes(-len(data) % 4))

    def folder(self, name):
        if name and name not in self.seen:
            self.folder(os.path.dirname(name))
            self.seen.add(name)
            self._entry(name, 0o040755)

    def add(self, name, data, mode=0o100755):
        """Once: EAL would load a library twice that is there twice."""
        name = name.lstrip("/")
        self.folder(os.path.dirname(name))
        if name not in self.seen:
            self.seen.add(name)
            self._entry(name, mode, data)

    def copy(self, name, path):
        with open(path, "rb") as f:
            self.add(name, f.read())

    def link(self, name, to):
        self.add(name, to.encode(), 0o120777)

    def close(self):
        self._entry("TRAILER!!!", 0)
        self.out.close()


def pmds():
    """Paths of DPDK's drivers."""
    lib = out_of("pkg-config", "--variable=libdir", "libdpdk").strip()
    folder = (glob.glob(lib + "/dpdk/pmds-*") or [lib])[0]
    return [os.path.join(folder, "librte_%s.so" % d) for d in PMDS]


def initramfs(mods, path, programs, drivers):
    cpio = Cpio(path + ".new")
    for folder in ("proc", "sys", "dev", "tmp", "run", "etc"):
        cpio.folder(folder)
    for name in ("lib", "lib64"):
        cpio.link(name, "usr/" + name)
    cpio.folder("usr/lib")
    cpio.folder("usr/lib64")
    cpio.copy("bin/busybox", shutil.which("busybox"))
    cpio.copy("init", os.path.join(HERE, "init"))
    for p in programs:
        cpio.copy("bin/" + os.path.basename(p), p)
    for p in drivers:
        cpio.copy(os.path.realpath(p), p)
        if os.path.realpath(p) != p:
            cpio.link(p, os.path.realpath(p))
    for name, real in libraries(programs + drivers).items():
        usr = name if name.startswith("/usr") else "/usr" + name
        real = real if real.startswith("/usr") else "/usr" + real
        cpio.copy(real, real)
        if real != usr:
            cpio.link(usr, real)
    order = modules(mods, MODULES)
    for _, f in order:
        cpio.copy("modules/" + os.path.basename(f), f)
    cpio.add("modules/order", "".join(
        "%s %s\n" % (m, os.path.basename(f)) for m, f in order).encode())
    cpio.close()
    os.rename(path + ".new", path)


def main():
    build, out = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if os.uname().machine != "x86_64":
        skip("guests are of x86-64, and so must this machine be")
    for tool, package in (("qemu-system-x86_64", "qemu-system-x86"),
                          ("busybox", "busybox-static")):
        if shutil.which(tool) is None:
            skip("no %s (apt install %s)" % (tool, package))
    os.makedirs(out, exist_ok=True)
    vmlinuz, mods = kernel(out)
    shutil.copyfile(vmlinuz, os.path.join(out, "vmlinuz"))
    initramfs(mods, os.path.join(out, "initramfs"),
              [os.path.join(build, p) for p in PROGRAMS], pmds())
    initramfs(mods, os.path.join(out, "initramfs.vm"), [], [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
