# SPDX-License-Identifier: BSD-3-Clause
"""reflit-bench wire at NICs of a guest, by their addresses [PHY-4]: what it says
while they are not bound as they must be, then a link between two of them, and one
that sends alone. Emulated: the rates say nothing."""
import json

from guest import Guest, GuestError

BENCH = "reflit-bench --quick --reps 3 --json /tmp/b.json "


def refused(guest, pci, words):
    rc, out = guest.sh(BENCH + "--port %s wire" % pci, check=False)
    if rc != 2 or words not in out:
        raise GuestError("status %u, not %r: %s" % (rc, words, out))
    if out.count("reflit-bench:") != 1:
        raise GuestError("more than one line: " + out)


def measured(guest, ports):
    """The figures, for the reader as well."""
    _, out = guest.sh(BENCH + "".join("--port %s " % p for p in ports)
                      + "wire", 300)
    print(out)
    return json.loads(guest.get("/tmp/b.json"))["wire"]


def measure(guest, pci, model):
    pair = measured(guest, pci)
    for way in ("a_to_b", "b_to_a"):
        if not pair[way]["mflits_per_s"] > 0:
            raise GuestError("nothing came: %s" % pair)
    if model.startswith("virtio"):
        # QEMU holds frames for a virtio NIC that no driver has
        refused(guest, pci[0], "nobody reads them")
        return
    one = measured(guest, pci[:1])
    if not (one["replay_frames_per_s"] > 0 and one["cpu_ns_per_flit"] > 0):
        raise GuestError("nothing was sent: %s" % one)
    if one["link_mbps"] and not one["share_of_line"] > 0:
        raise GuestError("no share of the line: %s" % one)


def wire(model, iommu):
    nets = ["hubport,hubid=1,id=h%u" % k for k in range(2)]
    nics = [("n%u" % k, model, "h%u" % k) for k in range(2)]

    def run(options, where):
        with Guest(where, options.image, nics, nets, iommu) as guest:
            pci = guest.sh("nics")[1].split()
            _, state = guest.sh("basename $(readlink /sys/bus/pci/devices/%s"
                                "/driver) 2>/dev/null" % pci[0], check=False)
            refused(guest, pci[0],
                    "the kernel has it, with the driver " + state if state
                    else "it is bound to no driver")
            if iommu:
                guest.bind("vfio-pci", pci)
                guest.sh("mv /dev/vfio /dev/hidden")
                refused(guest, pci[0], "cannot open /dev/vfio/")
                guest.sh("mv /dev/hidden /dev/vfio")
            else:
                refused(guest, pci[0], "it is in no IOMMU group")
                guest.bind("uio_pci_generic", pci)
                refused(guest, pci[0], "it needs hugepages")
                guest.sh("huge 320")
            measure(guest, pci, model)

    return run


CASES = {"wire/virtio-packed-vfio": wire("virtio-packed", True),
         "wire/e1000-uio": wire("e1000", False)}
