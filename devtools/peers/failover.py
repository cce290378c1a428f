#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One of two cables dies under traffic: reflit beside DPDK's bonding and MPTCP;
see failover.sh. BUILD names the folder of reflit's build."""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["BUILD"]
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EAL = ["--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
       "--log-level=error"]
FABRIC = """
fabric: { topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s1"; b = "e1"; } ); };
"""
HOSTS = FABRIC + """
link: { keepalive_ns = 2000000; keepalive_dead_ns = %d000000;
        phy_lost_ns = 0; replay_timer_min_ns = 2000000;
        replay_timer_max_ns = 50000000; retrain_interval_ns = 5000000;
        init_interval_ns = 5000000; flap_damping_ns = 20000000;
        watchdog_ns = 2000000000; no_path_ns = 2000000000; };
endpoint: { retry_timer_min_ns = 20000000; };
processes = ( { name = "left"; devices = ["e0", "s0"]; },
              { name = "right"; devices = ["e1", "s1"]; } );
wires = ( { link = "s0-s1#0"; a = "net_af_packet0"; b = "net_af_packet0"; },
          { link = "s0-s1#1"; a = "net_af_packet1"; b = "net_af_packet1"; } );
attach = ( { endpoint = "e0"; port = "net_af_packet2"; },
           { endpoint = "e1"; port = "net_af_packet2"; } );
"""
PORT = "--vdev=net_af_packet2,iface=port0,framecnt=8192"
SILENCE_MS = 50  # after so long reflit takes a silent cable for dead
NAMES = ("left", "right")


class Trouble(Exception):
    pass


def call(cmd, **more):
    p = subprocess.run(cmd, capture_output=True, text=True, check=False,
                       **more)
    if p.returncode != 0:
        raise Trouble("%s: %s" % (" ".join(cmd[:4]),
                                  (p.stderr + p.stdout).strip()[-300:]))
    return p.stdout


def realtime(a):
    """Nobody else gets the CPU meanwhile."""
    return ["chrt", "-f", "1"] if a.realtime else []


# --- in one process ---------------------------------------------------------

def row(who, cut, **figures):
    return dict({"who": who, "cut": cut, "sent": None, "lost": None,
                 "silence_ms": None, "retransmits": None,
                 "tcp_silence_ms": None}, **figures)


def bonding(a, work, poll_ms, told):
    exe = os.path.join(work, "bond_cut")
    if not os.path.exists(exe):
        flags = call(["pkg-config", "--cflags", "--libs", "libdpdk"]).split()
        call(["gcc", "-O2", "-rdynamic", "-o", exe,
              os.path.join(HERE, "bond_cut.c")] + flags
             + ["-lrte_net_bond", "-lrte_net_ring"])
    out = json.loads(call(
        realtime(a) + [exe, "-m", "128", "--lcores", "0@0"] + EAL
        + ["--", str(poll_ms), str(a.rate), str(a.ms), str(int(told))],
        timeout=60))
    return row("DPDK bonding, polls every %d ms" % poll_ms,
               "told" if told else "not told", sent=out["sent"],
               lost=out["sent"] - out["received"],
               silence_ms=out["silence_ns"] / 1e6,
               quiet_ms=out["quiet_silence_ns"] / 1e6)


def reflit_alone(a, work, told):
    cfg, commands = (os.path.join(work, n) for n in ("one.cfg", "commands"))
    with open(cfg, "w", encoding="ascii") as f:
        f.write(FABRIC)
    half = a.ms // 2
    cut = "link s0-s1#0 " + ("down" if told else "one-way s0")
    with open(commands, "w", encoding="ascii") as f:
        f.write("wait up\nstart\nwait %dms\n%s\nwait %dms\nstop\n"
                "wait drained\nquit\n" % (half, cut, half))
    report = os.path.join(work, "one.json")
    p = subprocess.run(
        realtime(a) + [os.path.join(BUILD, "app", "reflit"), "--",
                       "--config", cfg, "--cmdline-file", commands, "--json",
                       report, "--packet-flits", "2", "--load",
                       "%g" % (a.rate * 2 / 1e6)],
        capture_output=True, text=True, check=False, timeout=120)
    if p.returncode not in (0, 1):
        raise Trouble("reflit: " + p.stderr.strip()[-300:])
    with open(report, encoding="utf-8") as f:
        r = json.load(f)
    return row("reflit", "told" if told else "not told",
               sent=r["sent_packets"],
               lost=r["lost_packets"] + r["reported_packets"],
               out_of_order=r["reordered_packets"] + r["duplicated_packets"],
               # who was sent as the silence began has waited for all of it
               silence_ms=r["latency_ns"]["max"] / 1e6)


# --- between two hosts --------------------------------------------------------

class Hosts:
    """Two namespaces, two cables c0 and c1 between them."""

    def __init__(self, work):
        self.work = work
        self.ns = ["rlf%d%s" % (os.getpid(), s) for s in "lr"]
        self.running = []

    def __enter__(self):
        for n in self.ns:
            call(["ip", "netns", "add", n])
        for c in ("c0", "c1"):
            call(["ip", "link", "add", c, "netns", self.ns[0], "type", "veth",
                  "peer", "name", c, "netns", self.ns[1]])
        return self

    def __exit__(self, *exc):
        for p in reversed(self.running):
            if p.poll() is None:
                p.kill()
            p.wait()
        for n in self.ns:
            subprocess.run(["ip", "netns", "del", n], check=False,
                           capture_output=True)

    def ip(self, i, *args):
        call(["ip", "-n", self.ns[i]] + list(args))

    def up_addressed(self):
        """The cables are the hosts' own: two subnets, MPTCP may use both."""
        for i in (0, 1):
            for c in (0, 1):
                self.ip(i, "addr", "add", "198.51.%d.%d/24" % (c, i + 1),
                        "dev", "c%d" % c)
                self.ip(i, "link", "set", "c%d" % c, "up")
            self.inside(i, "ip", "mptcp", "limits", "set", "subflow", "2",
                        "add_addr_accepted", "2")
        self.inside(0, "ip", "mptcp", "endpoint", "add", "198.51.1.1", "dev",
                    "c1", "subflow")
        return "198.51.0.1", "198.51.0.2"

    def up_behind_ports(self):
        """Each host has an interface whose other end is a port."""
        for i in (0, 1):
            self.ip(i, "link", "add", "host0", "type", "veth", "peer", "name",
                    "port0")
            for c in ("c0", "c1", "port0"):
                self.ip(i, "link", "set", c, "arp", "off", "addrgenmode",
                        "none", "up")
            self.inside(i, "ethtool", "-K", "host0", "tx", "off", "tso",
                        "off", "gso", "off", "gro", "off")
            self.ip(i, "addr", "add", "192.0.2.%d/24" % (i + 1), "dev",
                    "host0")
            self.ip(i, "link", "set", "host0", "up")
        return "192.0.2.1", "192.0.2.2"

    def inside(self, i, *cmd):
        return call(["ip", "netns", "exec", self.ns[i]] + list(cmd))

    def start(self, i, cmd, log, stdin=None):
        # pylint: disable=consider-using-with
        out = open(os.path.join(self.work, log), "w", encoding="utf-8")
        p = subprocess.Popen(["ip", "netns", "exec", self.ns[i]] + cmd,
                             stdin=stdin, stdout=out, stderr=out, text=True)
        out.close()
        self.running.append(p)
        return p

    def start_reflit(self):
        cfg = os.path.join(self.work, "hosts.cfg")
        with open(cfg, "w", encoding="ascii") as f:
            f.write(HOSTS % SILENCE_MS)
        for i in (0, 1):
            self.start(i, [os.path.join(BUILD, "app", "reflit"),
                           "--vdev=net_af_packet0,iface=c0",
                           "--vdev=net_af_packet1,iface=c1",
                           PORT, "--",
                           "--config", cfg, "--process", NAMES[i], "--json",
                           os.path.join(self.work, NAMES[i] + ".json")],
                       "reflit%d.txt" % i)

    def start_bonding(self, poll_ms):
        for i in (0, 1):
            p = self.start(
                i, ["dpdk-testpmd", "--lcores", "0@0,1@%d"
                    % (max(os.sched_getaffinity(0)) if i else 0), "-m", "128"]
                + EAL + ["--vdev=net_af_packet0,iface=c0",
                         "--vdev=net_af_packet1,iface=c1",
                         PORT,
                         "--vdev=net_bonding0,mode=1,slave=net_af_packet0,"
                         "slave=net_af_packet1", "--", "-i", "--portmask=0xc",
                         "--nb-cores=1", "--total-num-mbufs=8192"],
                "testpmd%d.txt" % i, stdin=subprocess.PIPE)
            p.stdin.write("set bonding mon_period 3 %d\nstart\n" % poll_ms)
            p.stdin.flush()

    def meet(self, address):
        end = time.monotonic() + 30
        while True:
            p = subprocess.run(
                ["ip", "netns", "exec", self.ns[0], sys.executable, "-c",
                 "import socket,sys\ntry: socket.create_connection((sys.argv"
                 "[1], 9), timeout=1)\nexcept ConnectionRefusedError: pass",
                 address], capture_output=True, check=False)
            if p.returncode == 0:
                return
            if time.monotonic() > end:
                raise Trouble("nothing passes between the hosts")

    def busy_cable(self):
        """The one that carries what the left host sends now."""
        def sent():
            return [int(self.inside(
                0, "cat", "/sys/class/net/c%d/statistics/tx_bytes" % c))
                for c in (0, 1)]
        before = sent()
        time.sleep(0.3)
        more = [b - a for a, b in zip(before, sent())]
        return "c%d" % more.index(max(more))

    def cut(self, cable, told):
        if told:
            self.ip(0, "link", "set", cable, "down")
            return
        for i in (0, 1):
            self.start(i, [os.path.join(BUILD, "app", "reflit-fault"), cable,
                           "--one-way", "--duration", "60s"],
                       "fault%d.txt" % i)

    def retransmits(self):
        """Segments sent again, by either host."""
        n = 0
        for i in (0, 1):
            rows = [s.split() for s in self.inside(
                i, "cat", "/proc/net/snmp").splitlines()
                if s.startswith("Tcp:")]
            n += int(rows[1][rows[0].index("RetransSegs")])
        return n


def arrivals(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as f:
        return [(int(n), float(t)) for n, t in map(str.split, f)]


def silence_ms(got, frm, to):
    """The longest between two arrivals, or none until the end."""
    t = [frm] + [x for _, x in got if frm < x < to] + [to]
    return 1e3 * max(b - a for a, b in zip(t, t[1:]))


def judge(got, total, begin, cut, end):
    numbers = [n for n, _ in got]
    return {"lost": total - len(set(numbers)),
            "out_of_order": sum(b <= a for a, b in zip(numbers, numbers[1:])),
            "quiet_ms": silence_ms(got, begin, cut - 0.01),
            "silence_ms": silence_ms(got, cut, end)}


def traffic(a, hosts, to, kinds, told):
    """Sends from left to right and cuts the cable in use half way."""
    script = os.path.join(HERE, "failover_traffic.py")
    path = {k: os.path.join(hosts.work, k + ".txt") for k in kinds}
    before = hosts.retransmits()
    ends = []
    for role, i in (("receive", 1), ("send", 0)):
        for k in kinds:
            if os.path.exists(path[k]) and role == "receive":
                os.remove(path[k])
            ends.append(hosts.start(
                i, [sys.executable, script, role, to, k, str(a.host_rate),
                    str(a.seconds), path[k]], "%s-%s.txt" % (role, k)))
        time.sleep(0.5)
    begin = time.time()
    cable = hosts.busy_cable()
    time.sleep(max(0.0, begin + a.seconds / 2 - time.time()))
    cut = time.time()
    hosts.cut(cable, told)
    for p in ends:
        p.wait(a.seconds + 40)
    total = a.host_rate * a.seconds
    found = {}
    for k in kinds:
        with open(os.path.join(hosts.work, "send-%s.txt" % k),
                  encoding="utf-8") as f:
            first, last = map(float, f.read().split())
        found[k] = judge(arrivals(path[k]), total, first + 0.1, cut, last)
    stream = [k for k in kinds if k != "udp"][0]
    got = arrivals(path[stream])
    figures = {"retransmits": hosts.retransmits() - before,
               "tcp_silence_ms": found[stream]["silence_ms"],
               "tcp_quiet_ms": found[stream]["quiet_ms"],
               "tcp_lost": total - (got[-1][0] if got else 0)}
    if "udp" in found:
        figures.update(found["udp"], sent=total)
    return figures


def between_hosts(a, work, who, told, poll_ms=0):
    with Hosts(work) as hosts:
        if who == "MPTCP":
            _, to = hosts.up_addressed()
            kinds = ("mptcp",)
        else:
            _, to = hosts.up_behind_ports()
            kinds = ("udp", "tcp")
            if who == "reflit":
                hosts.start_reflit()
            else:
                hosts.start_bonding(poll_ms)
        hosts.meet(to)
        figures = traffic(a, hosts, to, kinds, told)
        if who == "reflit":
            for p in hosts.running[:2]:
                p.send_signal(signal.SIGTERM)
            for p in hosts.running[:2]:
                p.wait(30)
            p = subprocess.run(
                [os.path.join(BUILD, "app", "reflit-report")]
                + [os.path.join(work, n + ".json") for n in NAMES],
                capture_output=True, text=True, check=False)
            figures["verdict"] = p.returncode
    return row(who, "carrier" if told else "silent", **figures)


# --- the table ------------------------------------------------------------------

def number(v, form="%d"):
    return "-" if v is None else form % v


def table(title, rows):
    print(title)
    print("%-34s %-9s %9s %9s %12s %12s %12s"
          % ("who", "cut", "sent", "lost", "silence ms", "TCP again",
             "TCP silent ms"))
    for r in rows:
        print("%-34s %-9s %9s %9s %12s %12s %12s"
              % (r["who"], r["cut"], number(r["sent"]), number(r["lost"]),
                 number(r["silence_ms"], "%.1f"), number(r["retransmits"]),
                 number(r["tcp_silence_ms"], "%.0f")))
    quiet = [q for r in rows for q in (r.get("quiet_ms"),
                                       r.get("tcp_quiet_ms")) if q is not None]
    if quiet:
        print("before the cut the longest silence was %.1f ms in the median, "
              "%.1f at most" % (sorted(quiet)[len(quiet) // 2], max(quiet)))


def can_have_hosts():
    if os.geteuid() != 0:
        return "takes root"
    for program in ("ip", "ethtool"):
        if shutil.which(program) is None:
            return "there is no " + program
    p = subprocess.run(["ip", "netns", "add", "rlf%d" % os.getpid()],
                       capture_output=True, text=True, check=False)
    if p.returncode != 0:
        return re.sub(r"\s+", " ", p.stderr.strip())
    subprocess.run(["ip", "netns", "del", "rlf%d" % os.getpid()], check=False)
    return ""


def measure(a, work):
    one = [bonding(a, work, poll, True) for poll in a.polls]
    one.append(bonding(a, work, a.polls[0], False))
    one += [reflit_alone(a, work, told) for told in (True, False)]
    table("in one process, %d packets a second of 270 bytes, one of two "
          "cables cut" % a.rate, one)
    print()
    why = can_have_hosts()
    if why:
        print("between two hosts: not measured: " + why)
        return {"one_process": one, "hosts": []}
    hosts = []
    for who, told, poll in (("DPDK bonding", True, 10),
                            ("DPDK bonding", False, 10),
                            ("MPTCP", True, 0), ("MPTCP", False, 0),
                            ("reflit", True, 0), ("reflit", False, 0)):
        hosts.append(between_hosts(a, work, who, told, poll))
    table("between two hosts over veth, %d messages a second by UDP and by "
          "TCP" % a.host_rate, hosts)
    return {"one_process": one, "hosts": hosts}


def carry_out(name, path, rows_of):
    """Runs rows_of(folder), and writes its rows to a file where one is named.
    @return the exit status"""
    # what is begun is undone, also after SIGTERM
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix=name + "-") as work:
        try:
            rows = rows_of(work)
        except (Trouble, OSError, ValueError,
                subprocess.TimeoutExpired) as e:
            print("%s.sh: %s" % (name, e), file=sys.stderr)
            return 1
        finally:
            # of processes that were killed: links into /dev/shm
            for link in glob.glob(os.path.join(work, "*.ledger*")):
                os.remove(os.path.realpath(link))
    if path:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    return 0


def main():
    p = argparse.ArgumentParser(prog="failover.sh", description=__doc__)
    p.add_argument("--rate", type=int, default=200000,
                   help="packets a second in one process")
    p.add_argument("--quick", action="store_true",
                   help="a smoke test, not a measurement")
    p.add_argument("--realtime", action="store_true",
                   help="in one process: nobody else gets the CPU (chrt -f)")
    p.add_argument("--json")
    a = p.parse_args()
    if not 1000 <= a.rate <= 10000000:
        p.error("--rate from 1000 to 10000000")
    a.ms, a.seconds = (200, 3) if a.quick else (2000, 6)
    if a.realtime:
        a.ms = min(a.ms, 500)  # the kernel takes the CPU back after 950 ms
    a.polls = (10,) if a.quick else (1, 10, 100)
    a.host_rate = 500 if a.quick else 2000
    return carry_out("failover", a.json, lambda work: measure(a, work))


if __name__ == "__main__":
    sys.exit(main())
