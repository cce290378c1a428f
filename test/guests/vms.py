# SPDX-License-Identifier: BSD-3-Clause
"""Two virtual machines and the two links between them [PHY-8]: one QEMU connects
to reflit's socket, reflit connects to that of the other. Cases of bench.py."""
import os
import subprocess
import time
import xml.etree.ElementTree

from guest import FIGURE1, GuestError
from vm import Reflit, Vm, page, page_block

FABRIC = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "net_vhost0"; },
           { endpoint = "e1"; port = "net_vhost1"; } );
"""
CUTS = 10
FROZEN_S = 3
# A program, its VM or both are back by then on any machine. QEMU and DPDK try to
# connect once a second.
BACK_S = 60
CSUM, HOST_TSO4, HOST_TSO6, HOST_UFO = 0, 11, 12, 14


class Bed:
    def __init__(self, options, where):
        self.image, self.where = options.image, where
        self.path = [os.path.join(where, "v%u" % i) for i in range(2)]
        vdevs = [page_block("reflit --vdev=net_vhost0")[1][len("--vdev="):]
                 .replace("/run/reflit/vm0", self.path[0]),
                 "net_vhost1,client=1,iface=" + self.path[1]]
        self.program = os.path.abspath(options.build + "/app/reflit")
        self.reflit = Reflit(self.program, where, vdevs, FABRIC)
        self.vm, self.boots = [None, None], 0

    def boot(self, i):
        """A VM with an address; also in place of one that is dead."""
        self.boots += 1
        if self.vm[i] is not None:
            self.vm[i].close()
        self.vm[i] = Vm(os.path.join(self.where, "vm%u" % self.boots),
                        self.image, i + 1, self.path[i], i == 1)
        self.vm[i].net_up(2 - i)
        return self.vm[i]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for vm in self.vm:
            if vm is not None:
                vm.close()
        self.reflit.close()


def check_libvirt():
    """libvirt's elements say the same as QEMU's options."""
    words = page_block("qemu-system-x86_64")
    chardev, device = (
        dict(p.partition("=")[::2] for p in
             words[words.index(option) + 1].split(","))
        for option in ("-chardev", "-device"))
    root = xml.etree.ElementTree.fromstring(
        "<domain>" + page("xml", "<memoryBacking>") + "</domain>")
    said = {
        "path": root.find("devices/interface/source").get("path"),
        "reconnect": root.find("devices/interface/source/reconnect")
        .get("timeout"),
        "ufo": root.find("devices/interface/driver/host").get("ufo"),
        "share": root.find("memoryBacking/access").get("mode"),
        "memory": root.find("memoryBacking/source").get("type"),
        "connects": root.find("devices/interface/source").get("mode"),
        "is": root.find("devices/interface").get("type"),
        "model": root.find("devices/interface/model").get("type"),
    }
    want = {"path": chardev["path"], "reconnect": chardev["reconnect"],
            "ufo": device["host_ufo"],
            "share": "shared", "memory": "memfd", "connects": "client",
            "is": "vhostuser", "model": "virtio"}
    if said != want:
        raise GuestError("docs/wires.md: libvirt %s, QEMU %s" % (said, want))


def stream(vm, other):
    """Fetches a file from the other one again and again, and adds it up."""
    vm.sh("rm -f /tmp/stop; (while ! [ -e /tmp/stop ]; do wget -q -O - "
          "http://192.0.2.%u/f | md5sum; done; echo end) > /tmp/sums 2>&1 &"
          % other)


def check_stream(vm, total):
    """Lets it end, and looks at what came. Returns how many times."""
    vm.sh("touch /tmp/stop; until grep -q end /tmp/sums; do "
          "busybox usleep 50000; done", 240)
    got = [w.split()[0] for w in vm.sh("cat /tmp/sums")[1].split("\n")]
    if len(got) < 2 or set(got[:-1]) != {total}:
        raise GuestError("fetched %s, not %s" % (got, total))
    return len(got) - 1


def cut_links(reflit):
    """The links in turn: one is out, and comes up again."""
    for i in range(CUTS):
        reflit.cmd("link s0-s1#%u down" % (i % 2))
        time.sleep(0.3)
        reflit.cmd("link s0-s1#%u up" % (i % 2))
        reflit.cmd("wait up 60s")
        reflit.said("cut-%u" % i)


def grown(before, after, *names):
    return sum(after.get(n, 0) - before.get(n, 0) for n in names)


def check_report(status, report):
    """Frames for a machine that is not there are thrown away and counted."""
    ports = {p["port"]: p for p in report["attached"]}
    away = {n: p["tx_not_taken"] for n, p in ports.items()}
    bad = ["%s %u" % (k, report[k + "_packets"])
           for k in ("lost", "duplicated", "reordered", "corrupted", "reported")
           if report[k + "_packets"] != 0]
    bad += ["%s of %s: %u" % (k, n, p[k]) for n, p in ports.items()
            for k in ("rx_cut", "rx_oversize", "rx_refused", "rx_missed",
                      "tx_errors", "tx_too_long") if p[k] != 0]
    if sum(away.values()) == 0 and status != 0:
        bad.append("exit status %u" % status)
    if bad:
        raise GuestError("; ".join(bad))
    return away


def datagrams(vm, other):
    """Longer than a frame, by UDP: the guest must part them. It is told that
    nobody listens by one who has seen them whole, and their checksum."""
    _, out = vm.sh("traceroute -n -q 3 -m 1 -w 10 %s 8000" % other)
    if " %s " % other not in out.split("\n")[-1]:
        raise GuestError("datagrams of 8,000 bytes: " + out)


def cuts(options, where):
    """TCP both ways and ping while links are cut; offloads as they come."""
    check_libvirt()
    with Bed(options, where) as bed:
        vms = [bed.boot(0), bed.boot(1)]
        for vm in vms:
            has = vm.features()
            if CSUM not in has or has & {HOST_TSO4, HOST_TSO6, HOST_UFO}:
                raise GuestError("agreed on features %s" % sorted(has))
            vm.sh("dd if=/dev/urandom of=/tmp/f bs=256k count=4 2>/dev/null; "
                  "httpd -p 80 -h /tmp")
        sums = [vm.sh("md5sum /tmp/f")[1].split()[0] for vm in vms]
        datagrams(vms[0], "192.0.2.2")
        before = [vm.snmp() for vm in vms]
        stream(vms[0], 2)
        stream(vms[1], 1)
        vms[0].beat(2)
        cut_links(bed.reflit)
        vms[0].heard()
        times = [check_stream(vm, total) for vm, total in zip(vms, sums[::-1])]
        after = [vm.snmp() for vm in vms]
        status, report = bed.reflit.end()
    away = check_report(status, report)
    again, spurious, wrong = (
        sum(grown(b, a, *names) for b, a in zip(before, after))
        for names in (("TcpRetransSegs",), ("TcpExtTCPDSACKRecvSegs",),
                      ("TcpInCsumErrors", "UdpInCsumErrors",
                       "IcmpInCsumErrors", "TcpInErrs")))
    dead = [f["link"] for f in report["failovers"]]
    print("%u cuts, %u deaths; %s files of 1 MiB; %u segments sent again, of "
          "them %u had come; not taken %s" % (
              CUTS, len(dead), "+".join(map(str, times)), again, spurious,
              away))
    if wrong:
        raise GuestError("%u wrong checksums" % wrong)
    if again > spurious + sum(away.values()):
        raise GuestError("TCP sent again what nobody had dropped")
    if set(dead) != {"s0-s1#0", "s0-s1#1"}:
        raise GuestError("links that died: %s" % dead)


def back(bed, what):
    """Says how long it takes until an answer is back at the first VM."""
    print("%s: traffic after %.2f s" % (what, bed.vm[0].heard(BACK_S)),
          flush=True)


def refused_twice(bed):
    """Another reflit at the socket of a living one leaves it alone."""
    cfg = os.path.join(bed.where, "r.cfg")
    other = subprocess.run(
        [bed.program, "--vdev=net_vhost0,iface=" + bed.path[0], "--",
         "--config", cfg], capture_output=True, text=True, timeout=120,
        check=False)
    if other.returncode != 2 or "another process listens" not in other.stderr:
        raise GuestError("a second reflit: status %d, %s"
                         % (other.returncode, other.stderr))


def restarts(options, where):
    """Each of the three programs is frozen, killed and started again."""
    with Bed(options, where) as bed:
        a, b = bed.boot(0), bed.boot(1)
        a.beat(2)
        a.heard(BACK_S)
        for what, program in (("reflit", bed.reflit), ("the VM that listens",
                                                       b),
                              ("the VM that connects", a)):
            program.freeze(FROZEN_S)
            back(bed, what + " frozen for %u s" % FROZEN_S)
        refused_twice(bed)
        a.heard(BACK_S)
        for _ in range(options.kills):
            bed.reflit.kill()
            bed.reflit.start()
            back(bed, "reflit killed and started")
            bed.vm[1].kill()
            bed.boot(1)
            back(bed, "the VM that listens killed and started")
            bed.vm[0].kill()
            bed.boot(0).beat(2)
            back(bed, "the VM that connects killed and started")
        away = check_report(*bed.reflit.end())
    print("not taken in the last life: %s" % away)


CASES = {"vm/cuts": cuts, "vm/restarts": restarts}
