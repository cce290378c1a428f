#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What real interfaces reach with reflit, beside testpmd over the same ones; see
wires.sh. BUILD names the folder of reflit's build."""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

from failover import (BUILD, EAL, FABRIC, HOSTS, NAMES, Hosts, Trouble, call,
                      can_have_hosts, carry_out)

REFLIT = os.path.join(BUILD, "app", "reflit")
PORTS = 'attach = ( { endpoint = "e0"; port = "net_af_packet0"; dst = "e1"; },' \
    '\n{ endpoint = "e1"; port = "net_af_packet1"; dst = "e0"; } );\n'
WIRES = 'wires = ( { link = "s0-s1"; a = "%s0"; b = "%s1"; } );\n'
ONE_LINK = FABRIC.replace("; count = 2", "")


def spread(values):
    """Between the quartiles, as a share of the median."""
    if len(values) < 2:
        return 0.0
    q = statistics.quantiles(values, n=4, method="inclusive")
    return (q[2] - q[0]) / statistics.median(values)


def cpus():
    have = sorted(os.sched_getaffinity(0))
    return have[0], have[-1]


def cpu_s(pid):
    """Processor time that a process had: a busy machine gives less of it."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Between(Hosts):
    """Two hosts, and between them a machine with a port for each."""

    def __init__(self, work):
        super().__init__(work)
        self.ns.append(self.ns[0][:-1] + "m")

    def __enter__(self):
        for n in self.ns:
            call(["ip", "netns", "add", n])
        for i in (0, 1):
            call(["ip", "link", "add", "host0", "netns", self.ns[i], "type",
                  "veth", "peer", "name", "p%d" % i, "netns", self.ns[2]])
            # checksums are computed, and frames are those that a wire carries
            self.inside(i, "ethtool", "-K", "host0", "tx", "off", "tso",
                        "off", "gso", "off", "gro", "off")
            self.ip(2, "link", "set", "p%d" % i, "arp", "off",
                    "addrgenmode", "none", "up")
            self.ip(i, "addr", "add", "192.0.2.%d/24" % (i + 1), "dev",
                    "host0")
            self.ip(i, "link", "set", "host0", "addrgenmode", "none", "up")
        return self


def stop(process):
    process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def iperf(hosts, to, seconds):
    """(Gbit/s that arrived, segments sent again)"""
    out = {}
    for _ in range(10):
        server = hosts.start(1, ["iperf3", "-s", "-1"], "iperf-server.txt")
        time.sleep(0.5)
        p = subprocess.run(
            ["ip", "netns", "exec", hosts.ns[0], "timeout", str(seconds + 30),
             "iperf3", "-c", to, "-t", str(seconds), "--json"],
            capture_output=True, text=True, check=False)
        out = json.loads(p.stdout or "{}")
        end = out.get("end", {})
        if "sum_received" in end:
            return (end["sum_received"]["bits_per_second"] / 1e9,
                    end["sum_sent"]["retransmits"])
        server.kill()  # it had no time to listen yet
        server.wait()
    raise Trouble("iperf3: %s" % out.get("error", "says nothing"))


def forwarder(hosts, who, lcores):
    vdevs = ["--vdev=net_af_packet%d,iface=p%d,framecnt=8192" % (i, i)
             for i in (0, 1)]
    if who == "testpmd io":
        return hosts.start(
            2, ["dpdk-testpmd", "--lcores", lcores, "-m", "256"] + EAL + vdevs
            + ["--", "--forward-mode=io", "--nb-cores=1",
               "--total-num-mbufs=16384", "--auto-start", "-i"],
            "testpmd.txt", stdin=subprocess.PIPE)
    cfg = os.path.join(hosts.work, "tcp.cfg")
    with open(cfg, "w", encoding="ascii") as f:
        f.write(FABRIC + PORTS)
    return hosts.start(2, [REFLIT, "--lcores", lcores] + vdevs
                       + ["--", "--config", cfg], "reflit-tcp.txt")


def tcp(a, work):
    """Through testpmd, and through a fabric: between the same two ports."""
    low, high = cpus()
    kinds = {"testpmd io": "0@%d,1@%d" % (high, low), "reflit": "0@%d" % low}
    got = {who: [] for who in kinds}
    wall = {who: [] for who in kinds}
    again = {who: 0 for who in kinds}
    for _ in range(a.rounds):
        for who, lcores in kinds.items():
            with Between(work) as hosts:
                p = forwarder(hosts, who, lcores)
                hosts.meet("192.0.2.2")
                before = cpu_s(p.pid)
                rate, n = iperf(hosts, "192.0.2.2", a.seconds)
                # it polls all the time, before and after as well
                share = (cpu_s(p.pid) - before) / (a.seconds + 0.6)
                stop(p)
            got[who].append(rate / share)
            wall[who].append(rate)
            again[who] += n
    base = statistics.median(got["testpmd io"])
    rows = [{"who": who, "gbit_per_s": statistics.median(v),
             "wall_gbit_per_s": statistics.median(wall[who]),
             "spread": spread(v), "retransmits": again[who],
             "of_testpmd": statistics.median(v) / base,
             # each beside the testpmd of its own round
             "of_testpmd_by_round": [x / y for x, y in
                                     zip(v, got["testpmd io"])]}
            for who, v in got.items()]
    print("TCP between two hosts, one stream, by processor time of what "
          "forwards; medians of %d rounds" % a.rounds)
    print("%-12s %8s %8s %10s %11s  %s"
          % ("who", "Gbit/s", "spread", "sent again", "of testpmd",
             "on the wall"))
    for r in rows:
        print("%-12s %8.2f %6.0f %% %10d %11.2f  %.2f"
              % (r["who"], r["gbit_per_s"], 100 * r["spread"],
                 r["retransmits"], r["of_testpmd"], r["wall_gbit_per_s"]))
    print("of testpmd, round by round: %s"
          % " ".join("%.2f" % x for x in rows[1]["of_testpmd_by_round"]))
    return rows


# --- frames over a wire -------------------------------------------------------

def loop_of_testpmd(hosts, vdevs, seconds):
    """Frames a second of processor time that testpmd takes in from two ports
    that are joined, and sends out by the other one."""
    low, high = cpus()
    xdp = "xdp" in vdevs[0]
    cmd = (["ip", "netns", "exec", hosts.ns[0], "stdbuf", "-oL",
            "dpdk-testpmd", "--lcores", "0@%d,1@%d" % (high, low), "-m",
            "256"] + EAL + vdevs
           + ["--", "-i", "--forward-mode=io", "--nb-cores=1",
              "--total-num-mbufs=16384", "--txpkts=1496"]
           + (["--mbuf-size=3776"] if xdp else []))
    with subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as p:
        def say(line):
            p.stdin.write(line + "\n")
            p.stdin.flush()

        def received():
            say("show port stats all")
            n, text = 0, ""
            while text.count("############################\n") < 2:
                line = p.stdout.readline()
                if line == "":
                    raise Trouble("testpmd ended: " + text[-300:])
                text += line
                if "RX-packets:" in line:
                    n += int(line.split()[1])
            return n

        say("start tx_first 4")
        time.sleep(0.7)
        t, n = cpu_s(p.pid), received()
        time.sleep(seconds)
        n, t = received() - n, cpu_s(p.pid) - t
        say("quit")
        p.communicate(timeout=30)
    return n / t


def reflit_wire(hosts, driver, vdevs, seconds):
    """Flits a second of processor time over the same two ports, both ends and
    all roles of the fabric on one core; and the frames that carried them."""
    cfg, commands, report = (os.path.join(hosts.work, "wire." + x)
                             for x in ("cfg", "cmd", "json"))
    with open(cfg, "w", encoding="ascii") as f:
        f.write(ONE_LINK + WIRES.replace("%s", driver))
    with open(commands, "w", encoding="ascii") as f:
        f.write("wait up 60s\nshow traffic\nstart\nwait %dms\nstop\n"
                "wait drained 60s\nshow traffic\nquit\n" % (1000 * seconds))
    out = call(["ip", "netns", "exec", hosts.ns[0], REFLIT, "--lcores",
          "0@%d" % cpus()[0]] + vdevs
         + ["--", "--config", cfg, "--cmdline-file", commands, "--json",
            report, "--load", "100", "--packet-flits", "5"], timeout=120)
    with open(report, encoding="utf-8") as f:
        r = json.load(f)
    wire = [x for x in r["links"] if x["link"].startswith("s0-s1")][0]
    seconds = float(re.findall(r"([0-9.]+) s of processor time", out)[-1])
    n = sum(e["counters"].get("tx_flits", 0) for e in wire["ends"])
    frames = sum(w["rx_frames"] for w in r["wires"])
    return n / seconds, frames / seconds


def wire(a, work):
    """Frames of 1,496 bytes over a veth: testpmd, and 5 flits in each."""
    rows = []
    for driver, more in (("net_af_packet", ""),
                         ("net_af_xdp", ",busy_budget=0")):
        pmd, flits, frames = [], [], []
        for _ in range(a.rounds):
            with Hosts(work) as hosts:
                hosts.ip(0, "link", "add", "v0", "type", "veth", "peer",
                         "name", "v1")
                for v in ("v0", "v1"):
                    hosts.ip(0, "link", "set", v, "arp", "off",
                             "addrgenmode", "none", "up")
                vdevs = ["--vdev=%s%d,iface=v%d%s" % (driver, i, i, more)
                         for i in (0, 1)]
                pmd.append(loop_of_testpmd(hosts, vdevs, a.seconds))
                fl, fr = reflit_wire(hosts, driver, vdevs, a.seconds)
                flits.append(fl)
                frames.append(fr)
        m, f = statistics.median(pmd), statistics.median(flits)
        rows.append({"driver": driver, "testpmd_frames_per_s": m,
                     "flits_per_s": f,
                     "frames_per_s": statistics.median(frames),
                     "of_testpmd": f / 5 / m, "spread": spread(flits)})
    print("a wire over veth, frames of 1,496 bytes, both ends and both "
          "directions in one process, by its processor time; medians of %d "
          "rounds" % a.rounds)
    print("%-14s %15s %15s %14s %11s" % ("driver", "testpmd frame/s",
                                         "reflit frame/s", "reflit flit/s",
                                         "of testpmd"))
    for r in rows:
        print("%-14s %15.0f %15.0f %14.0f %11.2f"
              % (r["driver"], r["testpmd_frames_per_s"], r["frames_per_s"],
                 r["flits_per_s"], r["of_testpmd"]))
    return rows


# --- two hosts, a reflit in each ------------------------------------------------

class Pair(Hosts):
    """A reflit in each host; what it says of links is read as it comes."""

    def __init__(self, work, link=""):
        super().__init__(work)
        self.link, self.lives, self.said = link, [0, 0], []

    def report(self, i):
        path = os.path.join(self.work, "%s%d.json" % (NAMES[i],
                                                      self.lives[i]))
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def begin(self, i):
        cfg = os.path.join(self.work, "pair.cfg")
        with open(cfg, "w", encoding="ascii") as f:
            f.write(self.link or HOSTS % 100)
        self.lives[i] += 1
        cmd = ["ip", "netns", "exec", self.ns[i], REFLIT,
               "--lcores", "0@%d" % cpus()[i],
               "--vdev=net_af_packet0,iface=c0",
               "--vdev=net_af_packet1,iface=c1",
               "--vdev=net_af_packet2,iface=port0,framecnt=8192", "--",
               "--config", cfg, "--process", NAMES[i], "-i", "--json",
               os.path.join(self.work, "%s%d.json" % (NAMES[i],
                                                      self.lives[i]))]
        # pylint: disable=consider-using-with
        p = subprocess.Popen(cmd, stdin=subprocess.PIPE, text=True,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        self.running.append(p)
        threading.Thread(target=self.read, args=(i, p.stdout),
                         daemon=True).start()
        p.stdin.write("set verbose links\nstart\n")
        p.stdin.flush()
        return p

    def read(self, i, out):
        for line in out:
            self.said.append((time.monotonic(), i, line.strip()))

    def end(self, processes):
        for p in processes:
            p.send_signal(signal.SIGTERM)
        for p in processes:
            p.wait(60)

    def judge(self):
        files = [os.path.join(self.work, "%s%d.json"
                              % (NAMES[i], self.lives[i])) for i in (0, 1)]
        p = subprocess.run([os.path.join(BUILD, "app", "reflit-report")]
                           + files, capture_output=True, text=True,
                           check=False)
        return p.returncode, p.stdout


def cuts(a, work):
    """TCP, quiet; then cables are pulled in turn, for half a second each."""
    quiet, cut, again = [], [], [0, 0]
    for _ in range(a.rounds):
        with Pair(work) as hosts:
            hosts.up_behind_ports()
            both = [hosts.begin(i) for i in (0, 1)]
            hosts.meet("192.0.2.2")
            rate, n = iperf(hosts, "192.0.2.2", a.seconds)
            quiet.append(rate)
            again[0] += n
            over = threading.Event()

            def pull(hosts=hosts, over=over):
                k = 0
                while not over.wait(1):
                    hosts.ip(0, "link", "set", "c%d" % (k % 2), "down")
                    time.sleep(0.3)
                    hosts.ip(0, "link", "set", "c%d" % (k % 2), "up")
                    k += 1

            t = threading.Thread(target=pull)
            t.start()
            try:
                rate, n = iperf(hosts, "192.0.2.2", 2 * a.seconds)
            finally:
                over.set()
                t.join()
            cut.append(rate)
            again[1] += n
            hosts.end(both)
            status, text = hosts.judge()
            if status != 0:
                raise Trouble("reflit-report: " + text)
    q, c = statistics.median(quiet), statistics.median(cut)
    rows = {"quiet_gbit_per_s": q, "cut_gbit_per_s": c, "share": c / q,
            "quiet_retransmits": again[0], "cut_retransmits": again[1]}
    print("TCP between two hosts, a reflit in each, two cables; every 1.3 s "
          "one is pulled for 0.3 s; medians of %d rounds" % a.rounds)
    print("quiet %.2f Gbit/s, %d sent again; under cuts %.2f Gbit/s, %d sent "
          "again: %.2f of quiet" % (q, again[0], c, again[1], c / q))
    return rows


DATAGRAMS = """
import socket, sys, time
role, to, rate, seconds = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if role == "send":
    s.connect((to, 9999))
    begin, n = time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        if time.monotonic() - begin > n / rate:
            s.send(b"%012d" % n + bytes(200))
            n += 1
        else:
            time.sleep(0.2 / rate)
    print(n)
else:
    s.bind((to, 9999))
    s.settimeout(2)
    end, got = time.monotonic() + seconds, []
    while time.monotonic() < end:
        try:
            n = int(s.recv(2000)[:12])
        except TimeoutError:
            continue
        got.append((n, time.monotonic()))
    for n, t in got:
        print(n, "%.6f" % t)
"""


def datagrams(hosts, rate, seconds):
    """1,000s of them from left to right; [(number, time of arrival)]"""
    rx = hosts.start(1, [sys.executable, "-c", DATAGRAMS, "receive",
                         "192.0.2.2", str(rate), str(seconds + 2)], "rx.txt")
    time.sleep(0.5)
    tx = hosts.start(0, [sys.executable, "-c", DATAGRAMS, "send",
                         "192.0.2.2", str(rate), str(seconds)], "tx.txt")
    return tx, rx


def arrived(hosts):
    with open(os.path.join(hosts.work, "rx.txt"), encoding="ascii") as f:
        return [(int(n), float(t)) for n, t in map(str.split, f)]


def spurious(a, work):
    """What is sent again over cables that lose nothing, with default timers."""
    plain = FABRIC + HOSTS[HOSTS.index("processes"):]
    with Pair(work, plain) as hosts:
        hosts.up_behind_ports()
        both = [hosts.begin(i) for i in (0, 1)]
        hosts.meet("192.0.2.2")
        tx, rx = datagrams(hosts, 2000, a.quiet_seconds)
        tx.wait(a.quiet_seconds + 60)
        rx.wait(60)
        hosts.end(both)
        r = [hosts.report(i) for i in (0, 1)]
    count = {k: sum(x["port_counters"].get(k, 0) for x in r)
             for k in ("tx_replays", "tx_replay_timeout", "tx_replay_flits",
                       "tx_flits", "deaths", "retrains")}
    count["resent_flits"] = sum(x["endpoint_counters"].get("tx_resend", 0)
                                for x in r)
    print("cables that lose nothing, %d s, 2,000 datagrams a second, timers "
          "as they are by default:" % a.quiet_seconds)
    print("  " + ", ".join("%s %d" % kv for kv in count.items()))
    return count


def restart(a, work):
    """The right reflit is killed and begun anew under traffic."""
    waits, outages, quiet = [], [], []
    for _ in range(a.rounds):
        with Pair(work) as hosts:
            hosts.up_behind_ports()
            both = [hosts.begin(i) for i in (0, 1)]
            hosts.meet("192.0.2.2")
            tx, rx = datagrams(hosts, 2000, 14)
            time.sleep(3)
            both[1].kill()
            both[1].wait()
            killed = time.monotonic()
            both[1] = hosts.begin(1)
            tx.wait(60)
            rx.wait(60)
            hosts.end(both)
            up = [t for t, i, line in hosts.said
                  if i == 1 and t > killed and re.search(
                      r"s0-s1#\d up, epoch", line)]
            times = [t for _, t in arrived(hosts)]
            before = [t for t in times if t < killed - 0.1]
            got = [t for t in times if t > killed]
        if not up or not got:
            raise Trouble("nothing came back: %s" % hosts.said[-5:])
        waits.append(1e3 * (got[0] - up[0]))
        outages.append(1e3 * (got[0] - killed))
        quiet.append(max(1e3 * (y - x)
                         for x, y in zip(before, before[1:])))
    print("a process killed (-9) and started again under 2,000 datagrams a "
          "second; %d times" % a.rounds)
    print("from the training of its first link to the first datagram: %s ms; "
          "from the kill: %s ms" % (", ".join("%.1f" % w for w in waits),
                                   ", ".join("%.0f" % o for o in outages)))
    print("longest silence before any kill: %s ms"
          % ", ".join("%.1f" % q for q in quiet))
    return {"from_training_ms": waits, "from_kill_ms": outages,
            "longest_silence_before_ms": quiet}


MEASURES = {"tcp": tcp, "wire": wire, "cuts": cuts, "spurious": spurious,
            "restart": restart}


def main():
    p = argparse.ArgumentParser(prog="wires.sh", description=__doc__)
    p.add_argument("--only", default=",".join(MEASURES),
                   help="of " + ",".join(MEASURES))
    p.add_argument("--rounds", type=int, default=3, help="of all, in turn")
    p.add_argument("--seconds", type=int, default=4, help="of each run")
    p.add_argument("--quiet-seconds", type=int, default=60,
                   help="of the one that counts replays")
    p.add_argument("--json")
    a = p.parse_args()
    names = a.only.split(",")
    if a.rounds < 1 or a.seconds < 1 or set(names) - set(MEASURES):
        p.error("--rounds and --seconds from 1; --only of "
                + ",".join(MEASURES))
    why = can_have_hosts()
    if why:
        print("wires.sh: " + why, file=sys.stderr)
        return 2

    def measure(work):
        rows = {}
        for name in names:
            rows[name] = MEASURES[name](a, work)
            print(flush=True)
        return rows

    return carry_out("wires", a.json, measure)


if __name__ == "__main__":
    sys.exit(main())
