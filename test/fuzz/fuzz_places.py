#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Roles anywhere, while devices crash and tables change [APP-4, RES-2, RES-3].

    fuzz_places.py REFLIT [--seed N] [--runs N] [--seconds N] [--steps N]
                          [--small] [-v]

A seed draws a fabric, how many lcores there are, which of them runs each core
and each port, and what is ordered: crashes, restarts, cuts, planned changes,
steps of the controller by hand, another controller, slow clients, and pauses of
the whole process. At the end all is healed. Nothing may be lost, twice, out of
order or altered unsaid, no flit may leak, nothing may stay wrong. What is
ordered depends on the seed alone; a failure prints it, and all that was said.
--small: less of it, for ThreadSanitizer. --seconds: no run begins later.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PATIENT = """
link: { keepalive_dead_ns = %d000000; flap_damping_ns = 1000000; };
endpoint: { give_up_ns = 20000000000; };
controller: { mode = "%s"; answer_ns = 500000000; quiesce_ns = 4000000000;
              install_ns = 2000000000; lease_ns = 6000000000;
              train_ns = 500000000; };
lcores: { share = true;
          place = ( %s ); };
"""
# names of devices, and their links: pairs, in the order of their ports
FABRICS = (
    (("s0", "s1"), ("e0", "e1"),
     (("e0", "s0", 1), ("s0", "s1", 2), ("s1", "e1", 1))),
    (("s0", "s1", "s2"), ("e0", "e1", "e2"),
     (("e0", "s0", 1), ("e1", "s1", 1), ("e2", "s2", 1), ("s0", "s1", 1),
      ("s1", "s2", 1), ("s0", "s2", 1))),
    (("s0", "s1", "s2", "s3"), ("e0", "e1", "e2"),
     (("e0", "s0", 1), ("e1", "s2", 1), ("e2", "s3", 1), ("s0", "s1", 2),
      ("s1", "s2", 1), ("s2", "s3", 1), ("s0", "s3", 1))),
)
EXACT = ("lost_packets", "duplicated_packets", "reordered_packets",
         "corrupted_packets", "leaked_flits", "inexact_packets",
         "lost_drop_notices")


class Plan:
    """What a seed draws."""

    def __init__(self, seed, steps, small):
        rng = self.rng = random.Random(seed)
        self.switches, self.endpoints, pairs = rng.choice(
            FABRICS[:2] if small else FABRICS)
        self.links = ["%s-%s%s" % (a, b, "#%d" % i if n > 1 else "")
                      for a, b, n in pairs for i in range(n)]
        self.between = [l for l in self.links if l[0] == "s"]
        self.lcores = rng.randint(1, 2 if small else 4)
        self.mode = rng.choice(("auto", "auto", "full", "partial", "tokens",
                                "live"))
        # these two may leave tables as they are, and devices without any
        self.lives = self.mode not in ("live", "partial")
        self.config = self.fabric(pairs) + PATIENT % (
            2000 if small else 400, self.mode, self.places(pairs))
        self.args = ["--load", "0.002" if small else "0.02", "--classes",
                     str(rng.randint(1, 3)), "--packet-flits",
                     rng.choice(("1-8", "1", "3-20")),
                     "--requests", rng.choice(("0", "0.5"))]
        if rng.random() < 0.5:
            self.args += ["--idle-sleep", rng.choice(("0us", "200us"))]
        self.down, self.dead, self.gone = set(), set(), set()
        self.blocked, self.quiet, self.led = set(), False, True
        self.lines = ["wait up 60s", "start", "wait 5ms"]
        while len(self.lines) < steps + 3:
            self.lines += self.step()
        self.lines += self.heal()

    def fabric(self, pairs):
        return ('fabric: { topology = "custom"; switches = ( %s ); '
                'endpoints = ( %s ); links = ( %s ); };\n' % (
                    ", ".join('{ name = "%s"; }' % s for s in self.switches),
                    ", ".join('{ name = "%s"; }' % e for e in self.endpoints),
                    ", ".join('{ a = "%s"; b = "%s"; count = %d; }' % p
                              for p in pairs)))

    def places(self, pairs):
        """Each core and each port by itself, or left to the beginning of its
        name: the device, or its kind."""
        rng, places = self.rng, {}
        for kind in "se":
            places[kind] = rng.randint(1, self.lcores)
        ports = {}
        for a, b, n in pairs:
            for d in (a, b):
                ports[d] = ports.get(d, 0) + n
        for dev, n in ports.items():
            if rng.random() < 0.8:
                places[dev] = rng.randint(1, self.lcores)
            for i in range(n):
                if rng.random() < 0.6:
                    places["%s/%d" % (dev, i)] = rng.randint(1, self.lcores)
        return ", ".join('{ role = "%s"; lcore = %d; }' % p
                         for p in places.items())

    def step(self):
        """A line or two; the state of the fabric says which may be given."""
        kind = self.rng.choice(("cut", "cut", "crash", "crash", "plan", "hand",
                                "leader", "client", "fault", "pause", "look",
                                "traffic"))
        return getattr(self, kind)() + [
            "wait %s" % self.rng.choice(("100us", "1ms", "4ms", "15ms"))]

    def cut(self):
        link = self.rng.choice(self.links)
        if link in self.down:
            self.down.remove(link)
            return ["link %s enable" % link, "link %s up" % link]
        self.down.add(link)
        return ["link %s %s" % (link, self.rng.choice(
            ("down", "down mid-packet", "disable", "drain", "flap 2 2ms",
             "one-way %s" % link.split("-")[0])))]

    def crash(self):
        dev = self.rng.choice(self.switches + self.endpoints)
        if dev in self.gone:
            return []
        if dev in self.dead:
            self.dead.remove(dev)
            return ["device %s restart" % dev]
        self.dead.add(dev)
        lines = ["device %s crash" % dev]
        if self.rng.random() < 0.4:  # and again, behind itself
            lines += ["device %s restart" % dev, "wait %s" % self.rng.choice(
                ("0us", "300us", "3ms")), "device %s crash" % dev]
        return lines

    def plan(self):
        """A change as planned, which nothing waits for."""
        if not self.led:
            return []
        what = self.rng.choice(["link " + l for l in self.between] +
                               ["device " + s for s in self.switches])
        if what in self.gone:
            self.gone.remove(what)
            return [what + " add"]
        if what.split()[1] in self.dead:
            return []
        self.gone.add(what)
        return [what + " remove"]

    def hand(self):
        if not self.led:
            return []
        self.quiet = not self.quiet
        if not self.quiet:
            return ["unquiesce"]
        return ["quiesce", "wait 2ms"] + self.rng.choice(([], ["reroute"]))

    def leader(self):
        self.led = not self.led
        self.quiet = self.quiet and not self.led
        return ["controller %s" % ("restart" if self.led else "crash")]

    def client(self):
        """Who takes nothing more holds what is on its way to it."""
        one = "%s %d" % (self.rng.choice(self.endpoints), self.rng.choice(
            (0, 2)))
        if one in self.blocked:
            self.blocked.remove(one)
            return ["inject unblock " + one]
        self.blocked.add(one)
        return ["inject block " + one]

    def fault(self):
        link = self.rng.choice(self.links)
        dev = self.rng.choice(link.split("#")[0].split("-"))
        return ["inject %s %s %s %s" % (kind, link, dev, rate)
                for kind, rate in [self.rng.choice((
                    ("loss", "0.02"), ("loss", "0"), ("duplicate", "0.1"),
                    ("drop", "3"), ("corrupt", "40"), ("stall", "3ms"),
                    ("jitter", "0.1 200us"), ("delay", "300us"),
                    ("delay", "0us")))]]

    def pause(self):
        return ["say pause %d" % self.rng.choice((1, 5, 30))]

    def look(self):
        return ["show %s" % self.rng.choice(
            ("port all", "flow", "replay", "controller", "link", "lcores"))]

    def traffic(self):
        return self.rng.choice((
            ["stop", "wait 2ms", "start"], ["stop", "start"],
            ["traffic load 0.005", "stop", "start"],
            ["traffic pattern permutation", "stop", "start"]))

    def heal(self):
        long = "100s" if self.lives else "2s"
        lines = [] if self.led else ["controller restart"]
        lines += ["wait 50ms", "unquiesce"]  # once a reroute has ended
        lines += ["inject unblock " + b for b in sorted(self.blocked)]
        for link in self.links:
            lines += ["link %s enable" % link, "link %s up" % link]
        lines += ["device %s restart" % d for d in sorted(self.dead)]
        lines += ["wait recovered " + long]
        for what in sorted(self.gone):
            lines += [what + " add"]
        return lines + ["wait recovered " + long, "wait up " + long,
                        "wait recovered " + long, "wait 20ms", "stop",
                        "wait drained " + long, "show flow",
                        "show events 400", "show link json",
                        "show alarms json", "quit"]


def run(reflit, plan, box):
    """The program, which is stopped for a while where the plan says so."""
    paths = [os.path.join(box, f) for f in ("fabric.cfg", "commands",
                                            "report.json", "errors")]
    for path, text in zip(paths, (plan.config, "\n".join(plan.lines) + "\n")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    out = []
    with open(paths[3], "w", encoding="utf-8") as err, subprocess.Popen(
            [reflit, "--", "--config", paths[0], "--cmdline-file", paths[1],
             "--json", paths[2], *plan.args],
            stdout=subprocess.PIPE, stderr=err, text=True) as p:
        limit = signal.signal(signal.SIGALRM, lambda *_: p.kill())
        signal.alarm(300)
        for line in p.stdout:
            out.append(line)
            if "pause " in line and line.split()[-2] == "pause":
                p.send_signal(signal.SIGSTOP)
                time.sleep(int(line.split()[-1]) / 1000)
                p.send_signal(signal.SIGCONT)
        status = p.wait()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, limit)
    with open(paths[3], encoding="utf-8") as f:
        errors = f.read()
    report = None
    if os.path.exists(paths[2]):
        with open(paths[2], encoding="utf-8") as f:
            report = json.load(f)
    return status, "".join(out), errors, report


def wrong(plan, status, out, errors, r):
    """What is wrong with a run, or nothing."""
    if "Sanitizer" in errors or "runtime error" in errors:
        return "a sanitizer spoke"
    if status not in ((0, 2) if plan.lives else (0, 1, 2)) or r is None:
        return "exit status %d" % status
    bad = ["%s: %d" % (k, r[k]) for k in EXACT if r[k] != 0 and
           (k != "lost_packets" or plan.lives or r["drained"])]
    if not plan.lives:
        return "; ".join(bad)
    if r["sent_packets"] != r["delivered_packets"] + r["reported_packets"]:
        bad.append("packets are not accounted for")
    if r["sent_packets"] == 0 or not r["drained"]:
        bad.append("sent %d, drained: %s" % (r["sent_packets"], r["drained"]))
    bad += [e for e in errors.splitlines() if " after 100.000 s" in e]
    shown = {}
    for line in out.splitlines():
        if line.startswith("{"):
            shown.update(json.loads(line))
    if any((l["admin"], l["oper"]) != ("up", "up") for l in shown["links"]):
        bad.append("a link is not back")
    bad += ["alarm %(alarm)s at %(where)s" % a for a in shown["alarms"]
            if a["alarm"] != "giving-up" and  # it stands for 10 s
            not a["why"].startswith("quiesce by command")]
    return "; ".join(bad)


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("reflit")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--runs", type=int, default=6)
    args.add_argument("--seconds", type=float, default=1e9)
    args.add_argument("--steps", type=int, default=40)
    args.add_argument("--small", action="store_true")
    args.add_argument("-v", "--verbose", action="store_true")
    args = args.parse_args()
    failed, begun = 0, time.monotonic()
    for seed in range(args.seed, args.seed + args.runs):
        if time.monotonic() - begun > args.seconds:
            break
        plan = Plan(seed, args.steps, args.small)
        with tempfile.TemporaryDirectory(prefix="reflit-places-") as box:
            t0 = time.monotonic()
            status, out, errors, report = run(args.reflit, plan, box)
        why = wrong(plan, status, out, errors, report)
        print("seed %d: %d switches, %d lcores, %s, %d lines, %.1f s: %s" % (
            seed, len(plan.switches), plan.lcores, plan.mode, len(plan.lines),
            time.monotonic() - t0, why or "%d packets, %d reported" % (
                report["sent_packets"], report["reported_packets"])))
        if why or args.verbose:
            print(plan.config, *plan.args, "\n" + "\n".join(plan.lines))
            print(out[-200000:], errors[-6000:], sep="\n")
        failed += bool(why)
        sys.stdout.flush()
    sys.exit(failed != 0)


main()
