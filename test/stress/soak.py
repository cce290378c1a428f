#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A long run in which nothing may grow [APP-4]: cuts, crashes, restarts, planned
changes, refused lines, captures, and clients of telemetry, of the page and of a
port that come and go, or never read what they asked for.

    soak.py REFLIT VIEW ROOT [--seconds N] [--seed N]

What happens depends on the seed alone. Memory of reflit and of reflit-view after
a sixth of the time, in which links flap until all logs have gone round once, is
compared with that at the end: 1.01 of it at most. Each is the least of three
looks: what a heap holds of what is over comes and goes. At rest descriptors and
threads are as many as then. The run itself must keep each promise. Prints a line
for each twelfth of the time.
"""
import argparse
import contextlib
import os
import random
import socket
import subprocess
import sys
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "system"))

MOST = 1.01  # memory at the end, of that after a sixth
LOG = 33000  # events of an lcore that are kept until somebody takes them
PARTS = 12   # in which memory is looked at; the first two warm up
SWITCHES, ENDPOINTS = ("s0", "s1", "s2"), ("e0", "e1", "e2", "e3")
LINKS = ("s0-s1#0", "s0-s1#1", "s1-s2", "s0-s2")
CONFIG = """
fabric: { topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; }, { name = "s2"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; }, { name = "e2"; },
                { name = "e3"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "e1"; b = "s1"; },
            { a = "e2"; b = "s2"; }, { a = "e3"; b = "s2"; },
            { a = "s0"; b = "s1"; count = 2; }, { a = "s1"; b = "s2"; },
            { a = "s0"; b = "s2"; } ); };
link: { flap_damping_ns = 1000000; flap_damping_max_ns = 20000000;
        keepalive_dead_ns = 400000000; };
controller: { answer_ns = 2000000000; quiesce_ns = 8000000000;
              install_ns = 4000000000; lease_ns = 9000000000; };
attach = ( { endpoint = "e3"; port = "net_memif0"; dst = "e0"; } );
"""
CALLER = """
fabric: { topology = "custom"; switches = ( { name = "s0"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "e1"; } ); };
attach = ( { endpoint = "e0"; port = "net_memif0"; dst = "e1"; } );
"""
REFUSED = ("nosuch", "show nosuch", "load /nonexistent/x", "record /",
           "link nosuch down", "device nosuch crash", "inject ber s1-s2 s0 1",
           "capture s1-s2 /", "show port nosuch", "traffic load -1",
           "wait cut s1-s2 1us", "show errors over bad", "x" * 300)
SHOWN = ("port all", "flow", "link json", "events 1000", "recoveries",
         "histogram", "routes s0", "replay", "alarms", "counters s1", "path e0 e2",
         "rates", "errors", "lcores", "traffic", "captures", "controller")
ASKED = ("links", "ports", "flows", "events", "failovers", "recoveries",
         "histogram", "alarms", "nosuch", "port,nosuch", "order,nosuch")


class Soak:
    """reflit at its prompt, reflit-view beside it."""

    def __init__(self, args, box, stack):
        from reflit_test import Running  # its arguments stand by now
        self.args, self.box, self.rng = args, box, random.Random(args.seed)
        self.prefix, self.told, self.unread = "rlsoak%d" % os.getpid(), 0, []
        env = dict(os.environ, XDG_RUNTIME_DIR=box.dir)
        run = "/var/run" if os.geteuid() == 0 else box.dir
        self.tel = "%s/dpdk/%s/dpdk_telemetry.v2" % (run, self.prefix)
        self.port = box.path("memif")
        self.live = stack.enter_context(Running(
            [args.reflit, "--file-prefix=" + self.prefix, self.vdev("server"),
             "--", "-i", "--config", box.write("c.cfg", CONFIG), "--json",
             box.path("r.json"), "--allow-orders", "--load", "0.005",
             "--requests", "0.5"], stdin=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=env))
        self.tell(["wait up 60s", "start", "wait 1s"])
        self.view = stack.enter_context(Running(
            [args.view, "--listen", "127.0.0.1:0", "--socket", self.tel],
            stderr=subprocess.STDOUT))
        url = self.view.line().split()[0]
        self.http = ("127.0.0.1", urllib.parse.urlparse(url).port)

    def vdev(self, role):
        return "--vdev=net_memif0,role=%s,id=0,socket=%s,socket-abstract=no" % (
            role, self.port)

    def tell(self, lines):
        self.told += 1
        word = "told-%d" % self.told
        self.live.say("".join(s + "\n" for s in lines) + "say %s\n" % word)
        self.live.until(word, 120)

    # what may happen in a round

    def cut(self):
        link = self.rng.choice(LINKS)
        return ["link %s %s" % (link, self.rng.choice(
            ("down", "down mid-packet", "disable", "drain", "flap 3 2ms"))),
                "wait 20ms", "link %s enable" % link, "link %s up" % link]

    def crash(self):
        dev = self.rng.choice(SWITCHES + ENDPOINTS[:3])
        return ["device %s crash" % dev, "wait 30ms", "device %s restart" % dev]

    def change(self):
        what = self.rng.choice(["link " + l for l in LINKS] + ["device s1"])
        return ["wait recovered 60s", what + " remove", "wait recovered 60s",
                what + " add", "wait recovered 60s"]

    def controller(self):
        return ["controller crash", "wait 20ms", "controller restart"]

    def noise(self):
        link = self.rng.choice(LINKS[2:])
        on, off = self.rng.choice((("loss %s 0.05", "loss %s 0"),
                                   ("duplicate %s 0.1", "duplicate %s 0"),
                                   ("delay %s 200us", "delay %s 0us")))
        name = "%s %s" % (link, link[:2])
        return ["inject " + on % name, "wait 30ms", "inject " + off % name]

    def refused(self):
        return [self.rng.choice(REFUSED) for _ in range(100)]

    def files(self):
        link = self.rng.choice(LINKS)
        return ["capture %s %s 1" % (link, self.box.path("cap")), "wait 20ms",
                "capture %s off" % link, "record " + self.box.path("rec")]

    def shown(self):
        return ["show " + s for s in SHOWN] + ["show fabric json"]

    def paused(self):
        return ["stop", "wait drained 60s", "start"]

    def askers(self):
        """Clients of telemetry; some leave without their answer."""
        for _ in range(20):
            with contextlib.suppress(OSError), socket.socket(
                    socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                s.settimeout(20)
                s.connect(self.tel)
                s.recv(1024)
                s.send(b"/reflit/" + self.rng.choice(ASKED).encode())
                if self.rng.random() < 0.7:
                    s.recv(1 << 20)
        return []

    def pages(self):
        """Clients of the page, whole and half ones."""
        for path in ("/", "/metrics", "/api/sources", "/api/ask?s=0&c=nosuch",
                     "/api/list?s=0&c=/reflit/links", "/nosuch", "/api/order"):
            self.get(path, *self.rng.choice(((10, True), (None, True),
                                             (None, False))))
        return []

    def get(self, path, sent=None, read=True):
        """As much of a request as that, and its answer if somebody reads."""
        ask = b"GET %s HTTP/1.1\r\nHost: localhost\r\n" \
              b"Connection: close\r\n\r\n" % path.encode()
        with contextlib.suppress(OSError), socket.create_connection(
                self.http, 20) as s:
            s.sendall(ask[:sent])
            while read and s.recv(1 << 16):
                pass

    def deaf(self):
        """Clients that ask for much, and never read it; they go later."""
        for s in self.unread:
            s.close()
        self.unread = []
        for i in range(4):
            with contextlib.suppress(OSError):
                if i % 2:
                    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    s.connect(self.tel)
                    ask = b"/reflit/flows"
                else:
                    s = socket.create_connection(self.http, 20)
                    ask = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
                self.unread.append(s)
                s.setblocking(False)
                for _ in range(200):
                    s.send(ask)
        return []

    def caller(self):
        """A process that calls at the port of an endpoint, and is killed."""
        cmd = [self.args.reflit, "--file-prefix=%sc" % self.prefix,
               self.vdev("client"), "--", "--config",
               self.box.write("caller.cfg", CALLER)]
        with subprocess.Popen(cmd, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as p:
            time.sleep(1)
            p.kill()
        return []

    def fill(self):
        """Events, until the logs of all of them have gone round once."""
        from grown import Telemetry
        with Telemetry(self.tel) as t:
            if t.ask("/reflit/events")["total"] > LOG:
                return []
        return ["link %s flap 40 20ms" % link for link in LINKS] + [
            "wait 850ms"]

    KINDS = ("cut", "crash", "change", "controller", "noise", "refused",
             "files", "shown", "paused", "askers", "pages", "deaf") * 3 + (
                 "caller",)

    def part(self, seconds, pause):
        """Rounds for so long; then at rest. @return what both hold"""
        from grown import held
        end, rounds = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            self.tell(getattr(self, self.rng.choice(self.KINDS))())
            if pause == 0:
                self.tell(self.fill())
            rounds += 1
            time.sleep(pause)
        for s in self.unread:
            s.close()
        self.unread = []
        self.tell(["wait recovered 60s", "wait up 60s", "stop",
                   "wait drained 60s"])
        time.sleep(6)  # connections of the page that say nothing end
        self.get("/metrics")  # with whom it stays connected
        got = {"reflit": held(self.live.p.pid), "view": held(self.view.p.pid)}
        self.tell(["start"])
        return got, rounds


def grown(parts):
    """What has grown since a sixth of the time, in words."""
    bad = []
    for name in parts[0]:
        kb = [p[name]["kb"] + p[name]["shm_kb"] for p in parts]
        early, late = min(kb[1:4]), min(kb[-3:])
        print("%s: %d KB after a sixth, %d KB at the end: %.4f of it" % (
            name, early, late, late / early))
        if late / early > MOST:
            bad.append("memory of " + name)
        for what in ("fds", "threads"):
            if parts[1][name][what] != parts[-1][name][what]:
                bad.append("%s of %s: %s, then %s" % (
                    what, name, parts[1][name][what], parts[-1][name][what]))
    return bad


def ended(soak):
    """What the run itself says of its promises."""
    import json
    soak.live.say("wait recovered 60s\nwait up 60s\nstop\nwait drained 60s\n"
                  "quit\n")
    soak.live.p.wait(180)
    with open(soak.box.path("r.json"), encoding="utf-8") as f:
        r = json.load(f)
    print("%d packets, %d failovers, %d recoveries" % (
        r["sent_packets"], len(r["failovers"]), len(r["recoveries"])))
    return ["%s: %d" % (k, r[k]) for k in (
        "lost_packets", "duplicated_packets", "reordered_packets",
        "corrupted_packets", "leaked_flits") if r[k] != 0]


def main():
    p = argparse.ArgumentParser(description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("reflit")
    p.add_argument("view")
    p.add_argument("root")
    p.add_argument("--seconds", type=float,
                   default=float(os.environ.get("RL_SOAK", "3600")))
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    args.reflit, args.view = map(os.path.abspath, (args.reflit, args.view))
    sys.argv[1:4] = [args.reflit, "-", args.root]
    from reflit_test import Box
    parts = []
    with Box() as box, contextlib.ExitStack() as stack:
        soak = Soak(args, box, stack)
        for i in range(PARTS):
            got, rounds = soak.part(args.seconds / PARTS, 0 if i < 2 else 0.2)
            parts.append(got)
            print("%2d/%d: %d rounds; %s" % (i + 1, PARTS, rounds, ", ".join(
                "%s %d KB, %d KB, %d fds, %d threads" % (
                    n, h["kb"], h["shm_kb"], sum(h["fds"].values()),
                    h["threads"]) for n, h in got.items())), flush=True)
        bad = grown(parts) + ended(soak)
    for line in bad:
        print("GROWN:", line)
    sys.exit(bool(bad))


main()
