# SPDX-License-Identifier: BSD-3-Clause
"""reflit-fault at both ends of a veth pair between two namespaces [PHY-2].

Frames are sent and received by raw sockets of this file: what reflit-fault
says it did is compared with what arrived.
"""
import json
import os
import select
import signal
import subprocess
import sys
import time

sys.argv[1:4], FAULT, STEER, COUNTS = sys.argv[1:4], *sys.argv[4:7]
from reflit_test import Box, Skip, case, main  # noqa: E402
from spaces import delete_spaces, ip, need_spaces, quiet_up  # noqa: E402

ETHERTYPE = 0x88B5
FRAME = 200
LEASE = 2.0  # seconds, RL_XDP_LEASE_MS

# In a namespace: sends COUNT frames of a type, each with its number in it. A
# veth holds 256 frames and drops what is more: where the machine has no time to
# take them out, the sender waits for it. What has come in at the other end, the
# process PID there sees.
SEND = """
import socket, struct, sys, time
dev, peer, pid, count, kind, size = sys.argv[1:4] + [int(a) for a in
                                                     sys.argv[4:]]
def came_in():
    with open("/proc/%s/net/dev" % pid) as f:
        return [int(x.split(":")[1].split()[1]) for x in f
                if x.split(":")[0].strip() == peer][0]
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((dev, 0))
before, end = came_in(), time.monotonic() + 40
for i in range(count):
    s.send(bytes(6) + bytes(5) + b"\\1" + struct.pack("!H", kind)
           + struct.pack("!I", i) + bytes(size - 18))
    while (i % 64 == 63 or i + 1 == count) and came_in() - before <= i:
        if time.monotonic() > end:
            sys.exit("%d frames sent, %d came in" % (i + 1,
                                                     came_in() - before))
        time.sleep(0.0005)
"""
# In a namespace, for as long as it takes: a frame now and then.
KNOCK = """
import socket, struct, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
for i in range(2000):
    s.send(bytes(11) + b"\\1" + struct.pack("!HI", 0x88b5, i) + bytes(42))
    time.sleep(0.01)
"""
# In the other one: prints a line, then hex of what arrives until it is told.
RECEIVE = """
import socket, sys, select
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
s.bind((sys.argv[1], 3))
print("ready", flush=True)
while True:
    r = select.select([s, sys.stdin], [], [], 30)[0]
    if s in r:
        d, a = s.recvfrom(4096)
        if a[2] != 4 and d[12:14] == bytes.fromhex(sys.argv[2]):
            print(d.hex(), flush=True)
    else:
        break
"""


class Pair:
    """Two namespaces and a veth pair between them: a sends, b has faults."""

    def __init__(self):
        self.a = "rlfa%d" % os.getpid()
        self.b = "rlfb%d" % os.getpid()
        self.box = Box()
        self.running = []

    def __enter__(self):
        need_spaces()
        try:
            ip("netns", "add", self.a)
            ip("netns", "add", self.b)
            ip("link", "add", "va", "netns", self.a, "type", "veth", "peer",
               "name", "vb", "netns", self.b)
            for ns, dev in ((self.a, "va"), (self.b, "vb")):
                quiet_up(dev, ns)
            self.settle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        for p in self.running:
            if p.poll() is None:
                p.kill()
            p.wait()
        delete_spaces((self.a, self.b))
        self.box.__exit__()

    def steer(self):
        """Puts rl_steer at b, for faults to stand before."""
        ip("-n", self.b, "link", "set", "vb", "xdp", "obj", STEER, "sec",
           "xdp")
        self.settle()

    def in_ns(self, ns, *cmd, **kw):
        p = subprocess.Popen(["ip", "netns", "exec", ns, *cmd],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             stdin=subprocess.PIPE, text=True, **kw)
        self.running.append(p)
        return p

    def call(self, *args, dev="vb"):
        p = self.in_ns(self.b, FAULT, dev, *args)
        out, err = p.communicate(timeout=60)
        return p.returncode, out, err

    def start(self, *args):
        """reflit-fault in the background, its program in place. What the
        kernel sends by itself (IPv6 neighbours) is none of its business."""
        if "--ethertype" not in args:
            args += ("--ethertype", "88b5")
        p = self.in_ns(self.b, FAULT, "vb", "--json", self.box.path("f.json"),
                       *args)
        line = p.stderr.readline()
        assert line.startswith("vb: "), line + p.stderr.read()
        return p

    def end(self, p, sig=signal.SIGTERM, status=0):
        p.send_signal(sig)
        out, err = p.communicate(timeout=60)
        assert p.returncode == status, (p.returncode, out, err)
        with open(self.box.path("f.json"), encoding="utf-8") as f:
            return json.load(f)

    def listen(self, kind=ETHERTYPE, back=False):
        """Somebody who hears frames of a type at b (or at a)."""
        ns, dev = (self.a, "va") if back else (self.b, "vb")
        rx = self.in_ns(ns, sys.executable, "-c", RECEIVE, dev, "%04x" % kind)
        assert rx.stdout.readline() == "ready\n", rx.stderr.read()
        return rx

    def send(self, rx, count, kind=ETHERTYPE, size=FRAME, back=False):
        """From a to b, where rx listens (or back). Has come in on return."""
        ns, dev, peer = (self.b, "vb", "va") if back else (self.a, "va", "vb")
        tx = self.in_ns(ns, sys.executable, "-c", SEND, dev, peer,
                        str(rx.pid), str(count), str(kind), str(size))
        _, err = tx.communicate(timeout=60)
        assert tx.returncode == 0, err

    @staticmethod
    def heard(rx):
        """What has come in where rx listens, in order."""
        out, err = rx.communicate("\n", timeout=60)
        assert rx.returncode == 0, err
        return [bytes.fromhex(x) for x in out.split()]

    def transfer(self, count, kind=ETHERTYPE, size=FRAME, back=False):
        """Sends frames from a to b (or back); what arrived, in order."""
        rx = self.listen(kind, back)
        self.send(rx, count, kind, size, back)
        return self.heard(rx)

    def settle(self):
        """Waits until frames pass: a cable's ends are joined by a worker of
        the kernel's, and a driver may lose some as a program is put there."""
        rx = self.listen()
        knock = self.in_ns(self.a, sys.executable, "-c", KNOCK, "va")
        assert select.select([rx.stdout], [], [], 30)[0], "no frame passes"
        knock.kill()
        knock.communicate()
        self.heard(rx)

    def steered(self):
        """What rl_steer on vb has counted: flits, other frames, and flits
        that nobody waits for."""
        p = self.in_ns(self.b, COUNTS, "vb")
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0, err
        return [int(n) for n in out.split()]

    def xdp_is_on(self):
        out = subprocess.run(["ip", "-n", self.b, "link", "show", "vb"],
                             capture_output=True, text=True,
                             check=True).stdout
        return "xdp" in out


def numbers(frames):
    return [int.from_bytes(f[14:18], "big") for f in frames]


@case
def every_nth_frame_is_dropped_and_counted():
    with Pair() as net:
        p = net.start("--drop-nth", "10")
        got = numbers(net.transfer(5000))
        report = net.end(p)
        assert got == [i for i in range(5000) if (i + 1) % 10 != 0]
        assert report["frames"] == 5000 and report["dropped_nth"] == 500
        assert report["passed"] == 4500 and report["set"]["drop_nth"] == 10


@case
def a_rate_drops_its_share_and_the_same_frames_for_the_same_seed():
    got = []
    for seed in ("7", "7", "8"):
        with Pair() as net:
            p = net.start("--drop-rate", "0.1", "--seed", seed)
            got.append(numbers(net.transfer(5000)))
            report = net.end(p)
            assert report["dropped_rate"] == 5000 - len(got[-1])
            assert 400 < report["dropped_rate"] < 600
    assert got[0] == got[1] and got[0] != got[2]


@case
def one_way_cuts_one_direction_and_not_the_other():
    with Pair() as net:
        p = net.start("--one-way")
        assert net.transfer(100) == []
        assert len(net.transfer(100, back=True)) == 100
        assert net.end(p)["cut"] == 100


@case
def corrupt_changes_bytes_of_every_nth_frame_behind_the_header():
    with Pair() as net:
        p = net.start("--corrupt", "5:1")
        got = net.transfer(1000)
        report = net.end(p)
        hurt = []
        for i, f in enumerate(got):
            good = (bytes(11) + b"\1" + ETHERTYPE.to_bytes(2, "big")
                    + i.to_bytes(4, "big") + bytes(FRAME - 18))
            wrong = [k for k in range(FRAME) if f[k] != good[k]]
            if wrong:
                assert len(wrong) == 1 and wrong[0] >= 14
                hurt.append(i)
        assert hurt == list(range(4, 1000, 5)), (hurt, report)
        assert report["corrupted"] == 200 and report["passed"] == 1000


@case
def duplicates_come_in_twice():
    with Pair() as net:
        p = net.start("--duplicate", "0.2")
        # there is room for 340 copies, where a machine has no time for them
        rx = net.listen()
        net.send(rx, 1000)
        report = net.end(p)  # and with it the copies
        got = numbers(net.heard(rx))
        assert set(got) == set(range(1000))
        assert len(got) == 1000 + report["duplicated"]
        assert 140 < report["duplicated"] < 260
        assert report["duplicate_failed"] == 0


@case
def a_frame_too_long_to_be_copied_is_said_and_ends_in_1():
    with Pair() as net:
        for ns, dev in ((net.a, "va"), (net.b, "vb")):
            ip("-n", ns, "link", "set", dev, "mtu", "3400")
        p = net.start("--duplicate", "1")
        got = net.transfer(10, size=3200)
        report = net.end(p, status=1)
        assert len(got) == 10 and report["duplicate_failed"] == 10


@case
def faults_are_changed_and_cleared_while_it_runs():
    with Pair() as net:
        p = net.start()
        assert len(net.transfer(100)) == 100
        assert net.call("--drop-nth", "2")[0] == 0
        # a call that changes it can report, too
        again = net.box.path("again.json")
        assert net.call("--corrupt", "3", "--json", again)[0] == 0
        with open(again, encoding="utf-8") as f:
            seen = json.load(f)
        assert seen["frames"] == 100 and seen["set"]["corrupt_nth"] == 3, seen
        status, out, _ = net.call("--show")
        assert status == 0 and "drop-nth 2" in out and "corrupt 3:1" in out
        assert "100 frames" in out, out
        assert out.count("drop-nth 2") == 1, out  # shown, and that is all
        assert len(net.transfer(100)) == 50
        status, out, _ = net.call("--clear")
        assert status == 0 and "no faults" in out
        assert len(net.transfer(100)) == 100
        report = net.end(p)
        assert report["frames"] == 300 and report["dropped_nth"] == 50


@case
def only_the_frames_named_are_concerned():
    with Pair() as net:
        p = net.start("--one-way", "--ethertype", "88b5")
        assert net.transfer(50) == []
        assert len(net.transfer(50, kind=0x88B6)) == 50
        report = net.end(p)
        assert report["cut"] == 50 and report["other_frames"] >= 50


@case
def it_leaves_nothing_behind_however_it_ends():
    for sig in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        with Pair() as net:
            p = net.start("--one-way")
            assert net.xdp_is_on()
            net.end(p, sig)
            assert not net.xdp_is_on()
    with Pair() as net:
        p = net.start("--one-way")
        p.kill()
        p.wait()
        end = time.monotonic() + 20
        while net.xdp_is_on():
            assert time.monotonic() < end
            time.sleep(0.05)
        net.settle()
        assert len(net.transfer(10)) == 10


@case
def one_that_gets_no_time_goes_on_as_it_was_told():
    """The kernel takes its program away with it, and not before."""
    with Pair() as net:
        p = net.start("--drop-nth", "2")
        p.send_signal(signal.SIGSTOP)
        time.sleep(LEASE + 0.5)
        assert len(net.transfer(100)) == 50
        p.send_signal(signal.SIGCONT)
        assert net.end(p)["dropped_nth"] == 50


@case
def before_rl_steer_it_renews_its_lease():
    with Pair() as net:
        net.steer()
        p = net.start("--drop-nth", "4")
        time.sleep(LEASE + 0.5)
        assert len(net.transfer(100)) == 75
        net.end(p)


@case
def before_rl_steer_it_gives_faults_and_goes_when_it_ends():
    with Pair() as net:
        net.steer()
        p = net.start("--drop-nth", "4")
        got = numbers(net.transfer(100))
        report = net.end(p)
        assert len(got) == 75, (got, report)
        assert report["dropped_nth"] == 25, report
        # it has left the slot: nobody has to wait for its lease to end
        assert net.call("--show")[0] == 2
        assert net.xdp_is_on()
        assert len(net.transfer(100)) == 100
        # killed, its program stays in the slot, and does nothing any more
        p = net.start("--one-way")
        p.kill()
        p.wait()
        net.settle()
        status, _, err = net.call("--show")
        assert status == 2 and "no reflit-fault runs there" in err, err


@case
def what_it_lets_pass_goes_on_to_rl_steer_twice_where_it_is_sent_in_twice():
    with Pair() as net:
        net.steer()
        p = net.start("--drop-nth", "4")
        before = net.steered()
        assert len(net.transfer(100)) == 75
        after = net.steered()
        # no socket is there: to the kernel, and counted
        assert after[0] == before[0] and after[2] - before[2] == 75, \
            (before, after)
        assert net.call("--clear", "--duplicate", "1")[0] == 0
        rx = net.listen()
        net.send(rx, 50)
        assert net.end(p)["duplicated"] == 50
        assert len(net.heard(rx)) == 100
        assert net.steered()[2] - after[2] == 100, (after, net.steered())


@case
def what_cannot_be_done_is_said_in_one_line():
    with Pair() as net:
        def refused(*args, dev="vb"):
            status, out, err = net.call(*args, dev=dev)
            assert status == 2 and out == "" and err.count("\n") == 1, err
            return err

        assert "no such interface" in refused(dev="nosuch")
        # its driver runs no programs
        assert "attaching an XDP program" in refused("--native", dev="lo")
        assert "no reflit-fault runs there" in refused("--show")
        assert "no reflit-fault runs there" in refused("--clear")
        assert "--show changes nothing" in refused("--show", "--one-way")
        for args in (("--drop-nth", "-1"), ("--drop-nth", "x"),
                     ("--drop-rate", "1.5"), ("--drop-rate", "0x1"),
                     ("--corrupt", "5:9"), ("--corrupt", ":1"),
                     ("--duplicate", ""), ("--ethertype", "10"),
                     ("--one-way=maybe",), ("--duration", "0s"),
                     ("second",)):
            refused(*args)
        foreign = os.path.join(os.path.dirname(STEER), "rl_fault.bpf.o")
        ip("-n", net.b, "link", "set", "vb", "xdp", "obj", foreign, "sec",
           "xdp")
        # ours by its code, but nobody renews its lease: not running
        assert "attached already" in refused("--one-way")


@case
def an_ordinary_user_is_told_what_it_takes():
    if os.geteuid() == 0:
        cmd = ["setpriv", "--reuid=65534", "--clear-groups", FAULT, "lo"]
        if subprocess.run(["setpriv", "--reuid=65534", "--clear-groups",
                           "test", "-x", FAULT], check=False).returncode:
            raise Skip("an ordinary user cannot reach the programs here")
    else:
        cmd = [FAULT, "lo"]
    p = subprocess.run(cmd, capture_output=True, text=True, check=False)
    assert p.returncode == 2 and "root" in p.stderr, p.stderr


main()
