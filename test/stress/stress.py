# SPDX-License-Identifier: BSD-3-Clause
"""What the stress runs share: reflit under full load on real lcores, in phases
that alternate within one run.

A run is a command file made of cycles; each cycle has a phase of every kind
(such as "plain" and "lossy"), and `show traffic` stands between phases. Rates
are in flits per microsecond of processor time, compared within a cycle, and
the median of all cycles is printed: what else the machine does meanwhile slows
neighbours alike. An lcore under load polls all the time, so a link that waits
costs processor time, too.

What is asserted is exact: nothing lost, twice, out of order or altered, no
buffer leaked, everything came to rest, and each phase moved flits where it
should. How fast is printed beside what is aimed at, and written as JSON. An aim
that is missed is only said, because a timed test tells more about the machine
than about the program. A ratio of two phases of the same run also has a floor,
far below its aim: under it the run fails, since no machine explains that.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

SETTLE = 0.1  # seconds from the commands of a phase to its measure
EXACT = ("lost_packets", "duplicated_packets", "reordered_packets",
         "corrupted_packets", "inexact_packets", "leaked_flits",
         "failed_commands")


def arguments(doc):
    p = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("reflit", help="the program")
    p.add_argument("root", help="the source tree, for config/")
    p.add_argument("--seconds", type=float, default=2.0,
                   help="time under stress, all cycles together; default 2")
    p.add_argument("--json", help="write the figures there")
    p.add_argument("--eal", action="append", default=[],
                   help="an option of EAL, such as --eal=--lcores=0@0,1@1")
    args = p.parse_args()
    args.reflit = os.path.abspath(args.reflit)
    return args


class Phase:
    """A stretch of time under one condition; `show` is run at both ends."""

    def __init__(self, name, seconds, commands=(), show=()):
        self.name, self.seconds = name, seconds
        self.commands, self.show = list(commands), list(show)


class Window:
    """What `show traffic` said of a phase."""

    def __init__(self, name, seconds, flits):
        self.name, self.seconds, self.flits = name, seconds, flits
        self.vc = {}

    def rate(self):
        return self.flits / self.seconds / 1e6

    def vc_rate(self, vc):
        return self.vc.get(vc, 0) / self.seconds / 1e6


def script(cycles):
    """Commands of all phases; each is measured after SETTLE seconds."""
    out = ["wait up", "start", "wait %dms" % (1000 * SETTLE)]
    for cycle in cycles:
        for phase in cycle:
            look = phase.show + ["show traffic"]
            out += phase.commands + ["wait %dms" % (1000 * SETTLE)] + look
            out += ["wait %dms" % (1000 * phase.seconds)] + look
    return out


def windows(text, cycles):
    """Every second `show traffic` closes a phase."""
    found, vcs = [], []
    for line in text.split("\n"):
        m = re.match(r"last [\d.]+ s, ([\d.]+) s of processor time: "
                     r"delivered (\d+) flits", line)
        if m:
            found.append((float(m.group(1)), int(m.group(2)), {}))
        m = re.match(r"  VC (\d): (\d+) flits, [\d.]+ flits/us$", line)
        if m:
            found[-1][2][int(m.group(1))] = int(m.group(2))
    names = [phase.name for cycle in cycles for phase in cycle]
    assert len(found) >= 2 * len(names), "%d of %d phases were shown\n%s" % (
        len(found) // 2, len(names), text)
    for i, name in enumerate(names):
        seconds, flits, vc = found[2 * i + 1]
        w = Window(name, seconds, flits)
        w.vc = vc
        vcs.append(w)
    size = len(cycles[0])
    return [{w.name: w for w in vcs[i:i + size]}
            for i in range(0, len(vcs), size)]


def phase_of(text, cycles):
    """The phase that is measured now, by what was printed so far; else None."""
    shown = len(re.findall(r"^last [\d.]+ s, ", text, re.M))
    names = [phase.name for cycle in cycles for phase in cycle]
    return names[shown // 2] if shown % 2 and shown < 2 * len(names) else None


def run(args, config, cycles, options, after=(), beside=None):
    """@param beside  called again and again while it runs, with the phase that
    is measured (or None)
    @return one {phase: Window} a cycle, the report, and what was printed"""
    with tempfile.TemporaryDirectory(prefix="reflit-stress-") as box:
        def path(name, text=None):
            name = os.path.join(box, name)
            if text is not None:
                with open(name, "w", encoding="utf-8") as f:
                    f.write(text)
            return name

        lines = script(cycles) + list(after) + [
            "stop", "wait drained 120s", "quit"]
        cmd = [args.reflit] + args.eal + [
            "--", "--config", path("fabric.cfg", config),
            "--cmdline-file", path("commands", "\n".join(lines) + "\n"),
            "--json", path("report.json")] + list(options)
        with open(path("out"), "w+", encoding="utf-8") as out:
            p = subprocess.Popen(cmd, stdout=out, stderr=subprocess.STDOUT,
                                 cwd=args.root)
            while beside is not None and p.poll() is None:
                with open(path("out"), encoding="utf-8") as f:
                    beside(phase_of(f.read(), cycles))
            p.wait()
            out.seek(0)
            text = out.read()
        assert p.returncode in (0, 1), "exit status %d\n%s" % (
            p.returncode, text)
        with open(path("report.json"), encoding="utf-8") as f:
            report = json.load(f)
    exact(report, text)
    return windows(text, cycles), report, text


def exact(report, text):
    for key in EXACT:
        assert report[key] == 0, "%s: %d\n%s" % (key, report[key],
                                                 text[-2000:])
    assert report["drained"], "the fabric did not come to rest\n" + text
    assert report["sent_packets"] > 0
    assert report["sent_packets"] == (report["delivered_packets"] +
                                      report["reported_packets"])


def star(args):
    """Nine endpoints on one switch. An lcore may be kept from its CPU for
    longer than keepalives are patient: that is not what is tested here."""
    with open(os.path.join(args.root, "config", "incast-8.cfg"),
              encoding="utf-8") as f:
        return f.read() + "link: { keepalive_dead_ns = 2000000000; };\n"


def median(values):
    return statistics.median(list(values))


class Figure:
    """A number of the run; `aim` is hoped for, `floor` is asked for."""

    def __init__(self, name, value, aim=None, floor=None):
        self.name, self.value, self.aim, self.floor = name, value, aim, floor

    def holds(self):
        return self.floor is None or self.value >= self.floor

    def line(self):
        note = ""
        if self.aim is not None:
            note += "   aim %.3f: %s" % (
                self.aim, "met" if self.value >= self.aim else "missed")
        if self.floor is not None:
            note += "   floor %.3f%s" % (
                self.floor, "" if self.holds() else ": BROKEN")
        return "  %-52s %8.3f%s" % (self.name, self.value, note)


def finish(args, title, report, figures):
    """Prints and writes the figures; a broken floor fails the run."""
    for f in figures:
        print(f.line())
    print("%s: sent %d packets, delivered %d, reported %d; 0 lost, 0 twice, "
          "0 out of order, 0 altered" % (
              title, report["sent_packets"], report["delivered_packets"],
              report["reported_packets"]))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"title": title, "figures": {f.name: f.value for f in figures},
                       "sent_packets": report["sent_packets"],
                       "delivered_packets": report["delivered_packets"],
                       "reported_packets": report["reported_packets"],
                       "port_counters": report["port_counters"]}, f, indent=2)
    sys.stdout.flush()
    broken = [f.line() for f in figures if not f.holds()]
    assert not broken, "below the floor:\n" + "\n".join(broken)
