#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""[PHY-8] testpmd at attached ports, with the lines of docs/wires.md: it sends
each frame back, is killed and started again, and frames come back again."""
import os
import re
import subprocess
import time

from reflit_test import Box, FIGURE1, REFLIT, ROOT, Running, case, main, need

CONFIG = FIGURE1 + """
attach = ( { endpoint = "e0"; port = "%s"; dst = "e1"; },
           { endpoint = "e1"; port = "net_pcap0"; dst = "e0"; } );
"""
TESTPMD = ["dpdk-testpmd", "--no-huge", "-m", "128", "--no-pci", "--no-shconf"]
FORWARD = ["--", "--forward-mode=macswap", "--auto-start", "-i",
           "--total-num-mbufs=4096", "--no-mlockall"]
# reflit's port, testpmd's, and whether testpmd listens
PAIRS = (("net_virtio_user0,path=%s", "net_vhost0,iface=%s", True),
         ("net_memif0,role=client,id=0,socket=%s,socket-abstract=no",
          "net_memif0,role=server,id=0,socket=%s,socket-abstract=no", True),
         ("net_vhost0,iface=%s", "net_virtio_user0,path=%s", False))
BACK = 200  # frames that say that traffic goes on


class Testpmd:
    """The other end; it gets its socket's file removed, as the page says."""

    def __init__(self, box, vdev, listens):
        if listens and os.path.exists(box.path("s")):
            os.remove(box.path("s"))
        with open(box.path("testpmd.log"), "ab") as log:
            self.p = subprocess.Popen(
                TESTPMD + ["--file-prefix=tp%d" % os.getpid(),
                           "--vdev=" + vdev % box.path("s")] + FORWARD,
                stdin=subprocess.PIPE, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.p.kill()
        self.p.communicate()


def came_back(run):
    """Frames that left the fabric at e1."""
    run.say("show traffic\n")
    line = run.until("net_pcap0 at e1: ")
    return int(re.search(r"written (\d+)", line).group(1))


def goes_on(box, run, testpmd):
    """More frames come back than were under way."""
    end, first = time.monotonic() + 60, came_back(run)
    while came_back(run) < first + BACK:
        with open(box.path("testpmd.log"), encoding="utf-8") as log:
            assert testpmd.p.poll() is None, log.read()
        assert time.monotonic() < end, first
        time.sleep(0.1)


def killed_and_started_again(ours, its, listens):
    pcap = os.path.join(ROOT, "config", "demo.pcap")
    with Box() as box:
        port = ours.split(",", maxsplit=1)[0]
        eal = ["--vdev=" + ours % box.path("s"), "--vdev=net_pcap0,rx_pcap=%s,"
               "tx_pcap=%s,infinite_rx=1" % (pcap, box.path("out"))]
        with Running([REFLIT] + eal + [
                "--", "-i", "--config", box.write("c", CONFIG % port),
                "--json", box.path("r")], stdin=subprocess.PIPE,
                     stderr=subprocess.STDOUT) as run:
            if listens:
                run.until("waits for its peer")
            run.say("wait up 60s\nrate e1 2000\nstart\nsay begun\n")
            if not listens:
                run.until("begun")
            with Testpmd(box, its, listens) as first:
                goes_on(box, run, first)
            if listens:
                run.until("%s lost its peer" % port)
            with Testpmd(box, its, listens) as second:
                if listens:
                    run.until("%s is back, at endpoint e0" % port)
                goes_on(box, run, second)
                run.say("stop\nwait drained 60s\nshow traffic\nquit\n")
                out = run.until("lost 0, duplicated 0, reordered 0, altered 0")
                assert "reported 0" in out, out


@case
def testpmd_at_a_port_that_calls_by_virtio_user():
    need("dpdk-testpmd")
    killed_and_started_again(*PAIRS[0])


@case
def testpmd_at_a_port_that_calls_by_memif():
    need("dpdk-testpmd")
    killed_and_started_again(*PAIRS[1])


@case
def testpmd_at_a_port_that_listens_for_vhost_user():
    need("dpdk-testpmd")
    killed_and_started_again(*PAIRS[2])


main()
