#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 1 over four NICs of a guest, two by two joined by cables [PHY-7]; and
virtual machines at its ends, vm/... (vms.py) [PHY-8]; and reflit-bench at two NICs,
wire/... (wires.py) [PHY-4].

In each case packets pass between generators while a cable is pulled again and
again, and while the NIC at one end of a link is taken out of the machine and put
back. The report of reflit in the guest is the judge: nothing is lost, doubled,
reordered or altered, each removal is a death by removed, and pulled cables are
seen.

    bench.py BUILD IMAGE [--all] [--vm] [--flaps N] [--unplugs N] [--kills N]
             [--list] [CASE...]

IMAGE: a folder made by image.py. A case is MODEL/BINDING: see CASES. --all runs
all of them, --vm those of vms.py, otherwise four run. Prints what each case measured.
Exits with 77 where there is no QEMU.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile
import time

import vms
import wires
from guest import FIGURE1, Guest, GuestError

# binding -> (the kernel's driver, MiB of hugepages, virtual IOMMU)
BINDINGS = {
    "vfio": ("vfio-pci", 0, True),
    "vfio-huge": ("vfio-pci", 256, True),
    "uio": ("uio_pci_generic", 256, False),
}
SHORT = ["virtio/vfio", "e1000/uio"] + list(vms.CASES)
# After `set_link off` and `on`, a transmit ring of this model stays full, and its
# link down (QEMU 7.2, DPDK 22.11; docs/drivers.md): its cables stay where they are.
NO_FLAPS = ("virtio-packed",)
CASES = ["%s/%s" % (m, b)
         for m in ("virtio", "virtio-packed", "e1000", "e1000e", "vmxnet3")
         for b in BINDINGS] + ["virtio-legacy/uio"] + list(vms.CASES) \
    + list(wires.CASES)
FABRIC = FIGURE1 + """
wires = ( { link = "s0-s1#0"; a = "%s"; b = "%s"; },
          { link = "s0-s1#1"; a = "%s"; b = "%s"; } );
"""
FAULTLESS = ("lost", "duplicated", "reordered", "corrupted")


class Run:
    """reflit with a prompt in the guest; what it prints comes by a console."""

    def __init__(self, guest, pci, huge):
        self.guest, self.con = guest, guest.con[1]
        guest.put("/tmp/f.cfg", FABRIC % tuple(pci))
        eal = " ".join("-a " + p for p in pci)
        if huge:
            eal += " --in-memory -m %u" % (huge - 2)
        guest.sh("stty -F /dev/hvc1 raw -echo; mkfifo /tmp/in; "
                 "reflit %s -- --config /tmp/f.cfg -i --load 0.001 "
                 "--json /tmp/r.json < /tmp/in > /dev/hvc1 2>&1 & "
                 "echo $! > /tmp/pid; exec 9> /tmp/in" % eal)

    def cmd(self, line):
        self.guest.sh("echo '%s' >&9" % line)

    def said(self, text, timeout=120):
        """Waits until the prompt has come so far."""
        self.cmd("say " + text)
        self.con.expect(text, timeout)

    def up(self):
        self.cmd("wait up 60s")
        self.said("all-up")

    def end(self):
        """Returns (exit status, report)."""
        for line in ("stop", "wait drained 60s", "quit"):
            self.cmd(line)
        rc, _ = self.guest.sh("exec 9>&-; wait $(cat /tmp/pid)", 240, False)
        return rc, json.loads(self.guest.get("/tmp/r.json") or "{}")


def flap(guest, run, n):
    """A cable is out, and back, before its link has come up again, or after."""
    for i in range(n):
        guest.link(("n0", "n1"), False)
        time.sleep(0.05 + 0.05 * (i % 4))
        guest.link(("n0", "n1"), True)
        time.sleep(0.1 + 0.1 * (i % 5))
        if i % 4 == 3:
            run.up()
    run.up()


def unplug(guest, run, address, driver):
    """One NIC leaves and returns. Returns seconds until QEMU had let it go."""
    began = time.monotonic()
    guest.monitor.cmd("device_del", id="n1")
    run.con.expect("%s was removed" % address, 60)
    if not guest.monitor.wait_event("DEVICE_DELETED", 60):
        raise GuestError("the NIC cannot leave")
    took = time.monotonic() - began
    time.sleep(0.5)
    guest.monitor.cmd("device_add", **guest.model["n1"])
    guest.sh("until [ -e /sys/bus/pci/devices/%s ]; do busybox usleep 50000; done"
             % address)
    guest.bind(driver, [address])
    run.con.expect("%s is back" % address, 60)
    run.up()
    return took


def judge(status, report, flaps, unplugs):
    """What is wrong with it, or an empty list."""
    bad = [] if status == 0 else ["exit status %u" % status]
    for key in FAULTLESS:
        if report.get(key + "_packets", 1) != 0:
            bad.append("%s %s" % (key, report.get(key + "_packets")))
    if report.get("delivered_packets", 0) < 100:
        bad.append("delivered %s" % report.get("delivered_packets"))
    dead = [(f["link"], f["detector"]) for f in report.get("failovers", ())]
    removed = dead.count(("s0-s1#0", "removed"))
    if removed != unplugs:
        bad.append("died by removed %u times, not %u" % (removed, unplugs))
    if flaps and ("s0-s1#0", "phy") not in dead:
        bad.append("no pulled cable was seen: %s" % dead)
    wires = report.get("wires", ())
    if len(wires) != 4:
        bad.append("%u wires in the report, not 4" % len(wires))
    for w in wires:
        if w["rx_frames"] == 0 or w["tx_frames"] == 0:
            bad.append("%s carried nothing" % w["port"])
    return bad


def run_case(name, options, where):
    other = {**vms.CASES, **wires.CASES}.get(name)
    if other:
        other(options, where)
        return
    model, binding = name.split("/")
    driver, huge, iommu = BINDINGS[binding]
    flaps = 0 if model in NO_FLAPS else options.flaps
    nets = ["hubport,hubid=%u,id=h%u" % (k // 2 + 1, k) for k in range(4)]
    nics = [("n%u" % k, model, "h%u" % k) for k in range(4)]
    began = time.monotonic()
    with Guest(where, options.image, nics, nets, iommu) as guest:
        boot = time.monotonic() - began
        if huge:
            guest.sh("huge %u" % huge)
        pci = guest.bind(driver)
        run = Run(guest, pci, huge)
        run.up()
        run.cmd("start")
        time.sleep(1)
        flap(guest, run, flaps)
        took = [unplug(guest, run, pci[1], driver)
                for _ in range(options.unplugs)]
        status, report = run.end()
        bad = judge(status, report, flaps, options.unplugs)
        dead = {}
        for f in report.get("failovers", ()):
            dead[f["detector"]] = dead.get(f["detector"], 0) + 1
        print("%s: boot %.0f s, all %.0f s; sent %s, delivered %s, reported "
              "%s; deaths %s; let go after %s s" % (
                  name, boot, time.monotonic() - began,
                  *(report.get(k + "_packets")
                    for k in ("sent", "delivered", "reported")),
                  dead, ", ".join("%.1f" % t for t in took) or "-"))
        if bad:
            raise GuestError("\n".join(
                ["; ".join(bad)] + run.con.log[-20:]
                + [str(w) for w in report.get("wires", ())]
                + [guest.said(), guest.sh("dmesg | tail -5",
                                          check=False)[1]]))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("build")
    a.add_argument("image")
    a.add_argument("--vm", action="store_true")
    a.add_argument("--all", action="store_true")
    a.add_argument("--list", action="store_true")
    a.add_argument("--flaps", type=int, default=10)
    a.add_argument("--unplugs", type=int, default=1)
    a.add_argument("--kills", type=int, default=1)
    a.add_argument("case", nargs="*")
    o = a.parse_intermixed_args()  # a case may stand behind options
    if o.list:
        print("\n".join(CASES))
        return 0
    if shutil.which("qemu-system-x86_64") is None:
        print("no qemu-system-x86_64 (apt install qemu-system-x86)")
        return 77
    failed = 0
    for name in o.case or (CASES if o.all else list(vms.CASES) if o.vm
                           else SHORT):
        # as cmocka prints it, so that one summary counts all
        where = tempfile.mkdtemp(prefix="reflit-guest-")
        print("[ RUN      ] %s" % name, flush=True)
        try:
            run_case(name, o, where)
            print("[       OK ] %s" % name, flush=True)
        except (GuestError, OSError, KeyError, ValueError) as e:
            failed += 1
            print("%s\n[  FAILED  ] %s" % (e, name), flush=True)
        shutil.rmtree(where, ignore_errors=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
