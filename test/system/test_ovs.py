#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""[PHY-8] Open vSwitch with DPDK as the other end of reflit's ports, with the
lines of docs/wires.md: it calls one port and is called by the other, is killed
and started again, and traffic is back by itself. As root, without hugepages."""
import os
import shutil
import signal
import subprocess
import time

from reflit_test import Box, FIGURE1, REFLIT, Running, Skip, case, main, need
from spaces import LINK, Space

VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
# a poll that finds nothing sleeps: it shares CPUs with all else
OTHER = ("dpdk-init=true", "dpdk-extra=--no-huge --legacy-mem --no-pci -m 256",
         "per-port-memory=true", "pmd-maxsleep=200")
CONFIG = FIGURE1 + LINK + """
wires = ( { link = "s0-s1#0"; a = "net_virtio_user0"; b = "net_virtio_user1"; } );
"""


class Ovs:
    """A bridge of two ports; its database outlives the switch."""

    def __init__(self, box, wrap):
        self.box, self.wrap, self.switch = box, wrap, None
        self.env = dict(os.environ, OVS_RUNDIR=box.dir, OVS_LOGDIR=box.dir,
                        OVS_DBDIR=box.dir)
        self.db = "unix:" + box.path("db.sock")
        subprocess.run(["ovsdb-tool", "create", box.path("conf.db"), SCHEMA],
                       check=True, env=self.env, timeout=60)
        self.server = subprocess.Popen(
            ["ovsdb-server", box.path("conf.db"),
             "--remote=p" + self.db, "--unixctl=" + box.path("ctl")],
            env=self.env, stderr=subprocess.DEVNULL)
        self.vsctl("--no-wait", "init", "--", "set", "Open_vSwitch", ".",
                   *("other_config:%s=\"%s\"" % tuple(o.split("=", 1))
                     for o in OTHER))

    def vsctl(self, *args):
        end = time.monotonic() + 60
        while not os.path.exists(self.box.path("db.sock")):
            assert time.monotonic() < end
            time.sleep(0.05)
        subprocess.run(["ovs-vsctl", "--timeout=120", "--db=" + self.db]
                       + list(args), check=True, env=self.env)

    def start(self):
        if os.path.exists(self.box.path("vu0")):
            os.remove(self.box.path("vu0"))  # of its former life
        with open(self.box.path("log"), "ab") as log:
            self.switch = subprocess.Popen(
                [*self.wrap, VSWITCHD, self.db,
                 "--unixctl=" + self.box.path("ctl%f" % time.monotonic())],
                env=self.env, stdout=log, stderr=log)

    def kill(self):
        self.switch.send_signal(signal.SIGKILL)
        self.switch.wait(60)

    def end(self):
        for p in (self.switch, self.server):
            if p is not None:
                p.kill()
                p.wait(60)

    def bridge(self):
        self.vsctl(
            "add-br", "br0", "--", "set", "bridge", "br0",
            "datapath_type=netdev", "--", "add-port", "br0", "vu0", "--", "set",
            "Interface", "vu0", "type=dpdkvhostuser", "--", "add-port", "br0",
            "vc0", "--", "set", "Interface", "vc0", "type=dpdkvhostuserclient",
            "options:vhost-server-path=" + self.box.path("vc0"))


def said(ovs):
    with open(ovs.box.path("log"), encoding="utf-8", errors="replace") as f:
        return f.read()[-2000:]


def killed_and_started_again(box, ovs):
    """The link through the bridge dies and trains again; nothing is lost."""
    eal = ["--vdev=net_virtio_user0,path=" + box.path("vu0"),
           "--vdev=net_virtio_user1,server=1,path=" + box.path("vc0")]
    with Running([REFLIT] + eal + [
            "--", "-i", "--config", box.write("c", CONFIG), "--load", "0.001"],
                 stdin=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        run.say("wait up 120s\nstart\nsay begun\n")
        run.until("begun", 150)
        for _ in range(2):
            ovs.kill()
            run.until("net_virtio_user0 lost its peer")
            run.say("wait 1s\nsay alone\n")
            run.until("alone")
            ovs.start()
            run.until("net_virtio_user0 is back, at link s0-s1#0", 120)
            run.say("wait up 120s\nshow link s0-s1#0\nsay again\n")
            while "again" not in (line := run.line(150)):
                assert "is not up" not in line, line
        run.say("wait 1s\nstop\nwait drained 60s\nquit\n")
        run.until("lost 0, duplicated 0, reordered 0, altered 0", 120)


@case
def open_vswitch_between_the_ends_of_a_link_is_killed_and_started_again():
    need("ovsdb-tool", "ovsdb-server", "ovs-vsctl")
    if shutil.which(VSWITCHD) is None:
        raise Skip("openvswitch-switch-dpdk is not installed")
    with Space(cables=1) as net, Box() as box:
        ovs = Ovs(box, net.wrap)
        try:
            ovs.start()
            ovs.bridge()
            killed_and_started_again(box, ovs)
        except Exception:
            print(said(ovs))
            raise
        finally:
            ovs.end()


main()
