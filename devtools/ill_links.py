#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What an ill link costs the flows that a healthy parallel link could carry
[LINK-5]: two links between s0 and s1 serve the flows of e0 and e1. Bits are wrong,
both ways, on the link that they go by. For each rate of errors, each load, in the
simulator and on lcores, without and with a key: their rate from 200 ms after the
errors began, as a share of that before.

usage: ill_links.py [--build FOLDER] [--json FILE] [--only sim|lcores]
                    [--key no|yes] [--ber R,...] [--load R,...] [--tries N]

Loads are shares of a link of 10 Gbit/s in the simulator, and flits per us on
lcores. Lcores run two more flows between two other switches, and rates are relative
to those: a busy machine slows all of them, and errors are then found later. So of N
tries (3) the best counts. There a load of 1 is more than a laptop carries.
Prints a table in Markdown. Exit status 1: a rate below 0.95, or a packet that was
lost, refused or given up."""
import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# bit-complement: e0 and e1 send to each other, and so do e2 and e3
FABRIC = """
fabric: {
  topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; }, { name = "s2"; }, { name = "s3"; } );
  endpoints = ( { name = "e0"; }, { name = "e2"; }, { name = "e3"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "e1"; b = "s1"; }, { a = "e2"; b = "s2"; },
            { a = "e3"; b = "s3"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s2"; b = "s3"; count = 2; }, { a = "s1"; b = "s2"; } );
};
"""
BERS = "1e-6,1e-5,1e-4,1e-3,1e-2"
LOADS = "0.01,0.1,1"
FLIT_PS = 200000
# of the simulator: errors begin, measuring begins, measuring ends
MS = 1000000
BEGIN, FROM, UNTIL = 20 * MS, 220 * MS, 320 * MS
BAD = ("lost", "reported", "refused", "duplicated", "reordered", "corrupted")
LIMIT = 0.95


def run(cmd, report, timeout=600):
    p = subprocess.run(cmd, capture_output=True, text=True, cwd=ROOT,
                       timeout=timeout, check=False)
    if not os.path.exists(report):
        sys.exit("ill_links.py: %s: %s" % (" ".join(cmd), p.stderr))
    with open(report, encoding="utf-8") as f:
        out = json.load(f)
    os.remove(report)
    out["stdout"], out["status"] = p.stdout, p.returncode
    return out


def wrong(report):
    """What a run did not keep, as text."""
    found = ["%d %s" % (report[k + "_packets"], k) for k in BAD
             if report.get(k + "_packets")]
    if report["status"] != 0 and not found:
        found = ["exit status %d" % report["status"]]
    return ", ".join(found)


class Sim:
    def __init__(self, opt, tmp):
        self.program = os.path.join(opt.build, "app", "reflit-sim")
        self.tmp, self.config = tmp, os.path.join(ROOT, "config", "figure1.cfg")

    def run(self, load, keyed, stop, noise=()):
        faults = os.path.join(self.tmp, "faults")
        with open(faults, "w", encoding="utf-8") as f:
            f.write("run load=%s keyed=%d flit_ps=%d stop_ns=%d controller=1 "
                    "limit_ns=%d\n%s" % (load, keyed, FLIT_PS, stop,
                                         stop + 2000 * MS, "".join(noise)))
        report = os.path.join(self.tmp, "sim.json")
        return run([self.program, "--config", self.config, "--faults", faults,
                    "--json", report], report)

    def cells(self, load, keyed, bers):
        """(rate, what was wrong) of each rate of errors."""
        well = [self.run(load, keyed, at) for at in (FROM, UNTIL)]
        before = well[1]["delivered_packets"] - well[0]["delivered_packets"]
        ends = {l["link"]: sum(e["counters"].get("tx_flits", 0)
                               for e in l["ends"] if e["device"] == "s0")
                for l in well[0]["links"]}
        link = max((l for l in ends if l.startswith("s0-s1#")), key=ends.get)
        for ber in bers:
            noise = "%dns noise %s ber=%s\n" % (BEGIN, link, ber)
            ill = [self.run(load, keyed, at, noise) for at in (FROM, UNTIL)]
            now = ill[1]["delivered_packets"] - ill[0]["delivered_packets"]
            yield now / before, wrong(ill[0]) or wrong(ill[1])


class Lcores:
    def __init__(self, opt, tmp):
        self.program = os.path.join(opt.build, "app", "reflit")
        self.tmp, self.tries = tmp, opt.tries

    def run(self, load, keyed, commands):
        """With a key the links between switches are wires, over memif."""
        text, vdevs = FABRIC, []
        if keyed:
            with open(os.path.join(self.tmp, "key"), "w",
                      encoding="utf-8") as f:
                os.chmod(f.name, 0o600)
                f.write(secrets.token_hex(32))
            text += ('link: { key_file = "key"; };\nwires = ( %s );\n' % ", ".join(
                '{ link = "s0-s1#%d"; a = "net_memif%d"; b = "net_memif%d"; }'
                % (i, 2 * i, 2 * i + 1) for i in range(2)))
            vdevs = ["--vdev=net_memif%d,role=%s,id=%d,socket=%s,"
                     "socket-abstract=no"
                     % (i, "client" if i % 2 else "server", i // 2,
                        os.path.join(self.tmp, "memif")) for i in range(4)]
        for name, what in (("cfg", text), ("commands", commands)):
            with open(os.path.join(self.tmp, name), "w",
                      encoding="utf-8") as f:
                f.write(what)
        report = os.path.join(self.tmp, "lcores.json")
        return run([self.program, *vdevs, "--", "--config",
                    os.path.join(self.tmp, "cfg"), "--load", str(load),
                    "--traffic", "bit-complement",
                    "--cmdline-file", os.path.join(self.tmp, "commands"),
                    "--json", report], report)

    def carrier(self):
        out = self.run(0, 0, "wait up\nshow path e0 e1\nquit\n")["stdout"]
        return [w for w in out.split() if w.startswith("s0-s1#")][0]

    def cells(self, load, keyed, bers):
        link = self.carrier()
        for ber in bers:
            rate, bad = 0.0, ""
            for _ in range(self.tries):
                again, found = self.cell(load, keyed, link, ber)
                rate, bad = max(rate, again), bad or found
                if rate >= LIMIT:
                    break
            yield rate, bad

    def cell(self, load, keyed, link, ber):
        ask = "clear counters\nwait 1s\n" + "".join(
            "show counters e%d json\n" % e for e in range(4))
        out = self.run(load, keyed, "wait up 30s\nstart\nwait 300ms\n" + ask +
                       "inject ber {0} s0 {1}\ninject ber {0} s1 {1}\n"
                       "wait 200ms\n".format(link, ber) + ask +
                       "stop\nwait drained 60s\nquit\n")
        rx = [json.loads(l)["endpoints"][0].get("rx_packets", 0)
              for l in out["stdout"].split("\n") if l.startswith("{")]
        before, now = ((rx[i] + rx[i + 1]) / (rx[i + 2] + rx[i + 3])
                       for i in (0, 4))
        return now / before if before else 0.0, wrong(out)


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1]
                                .split("\n\n")[0])
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    p.add_argument("--json")
    p.add_argument("--only", choices=("sim", "lcores"))
    p.add_argument("--key", choices=("no", "yes"))
    p.add_argument("--tries", type=int, default=3)
    p.add_argument("--ber", default=BERS)
    p.add_argument("--load", default=LOADS)
    opt = p.parse_args()
    bers, rows, bad = opt.ber.split(","), [], 0
    print("| on | key | load | BER " + " | ".join(bers) + " |")
    print("|---" * (3 + len(bers)) + "|", flush=True)
    with tempfile.TemporaryDirectory(prefix="reflit-ill-") as tmp:
        for name, kind in (("sim", Sim), ("lcores", Lcores)):
            for keyed, key in enumerate(("no", "yes")):
                if opt.only not in (None, name) or opt.key not in (None, key):
                    continue
                for load in opt.load.split(","):
                    cells = list(kind(opt, tmp).cells(load, keyed, bers))
                    rows += [{"on": name, "keyed": keyed, "load": float(load),
                              "ber": float(b), "rate": r, "wrong": w}
                             for b, (r, w) in zip(bers, cells)]
                    bad += sum(r < LIMIT or w != "" for r, w in cells)
                    print("| %s | %s | %s | %s |" % (
                        name, key, load, " | ".join(
                            "%.2f%s" % (r, w and " (%s)" % w)
                            for r, w in cells)), flush=True)
    if opt.json:
        with open(opt.json, "w", encoding="utf-8") as f:
            json.dump({"cells": rows}, f, indent=2)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
