#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A reader of dumps that knows their published form and nothing of reflit
[ROUTE-5]: every item is of that form, paths join their ends over links that
work, no packet waits in a circle, and --verify counts the same.

usage: test_dump.py REFLIT_ROUTE SOURCE_ROOT
"""
import os
import re
import subprocess
import sys
import tempfile
from graphlib import CycleError, TopologicalSorter

ROUTE, ROOT = (os.path.abspath(p) for p in sys.argv[1:3])
HOP = re.compile(r"^([^:#]+):([^:#]+)#(\d+):([0-7])$")
NEXT = re.compile(r"^([^:#]+)#(\d+)$")


class Dump:
    def __init__(self, path):
        self.switches, self.links = set(), set()
        self.paths, self.backups = {}, {}
        read = {"switch": self.switch, "link": self.link, "path": self.path,
                "backup": self.backup}
        with open(path, encoding="utf-8") as f:
            for line in f:
                kind, *words = line.split()
                read[kind](*words)

    def switch(self, name):
        assert name not in self.switches, name
        self.switches.add(name)

    def link(self, a, b, k):
        assert (a, b, int(k)) not in self.links, (a, b, k)
        self.links |= {(a, b, int(k)), (b, a, int(k))}

    def path(self, src, dst, sl, *hops):
        assert src != dst and (src, dst) not in self.paths, (src, dst)
        assert 0 <= int(sl) <= 15, sl
        at, way = src, []
        for h in hops:
            a, b, k, vl = HOP.match(h).groups()
            assert a == at and (a, b, int(k)) in self.links, (src, dst, h)
            assert at == src or at in self.switches, (src, dst, h)
            way.append((a, b, int(k), int(vl)))
            at = b
        assert at == dst, (src, dst, at)
        self.paths[src, dst] = way

    def backup(self, switch, dst, hop):
        to, k = NEXT.match(hop).groups()
        assert switch in self.switches, switch
        assert (switch, to, int(k)) in self.links, (switch, dst, hop)
        assert (switch, dst) not in self.backups, (switch, dst)
        self.backups[switch, dst] = (to, int(k))

    def has_loop(self):
        waits = {}
        for way in self.paths.values():
            for held, wanted in zip(way, way[1:]):
                waits.setdefault(held, set()).add(wanted)
        try:
            TopologicalSorter(waits).prepare()
        except CycleError:
            return True
        return False


def check(config, *args, status=0):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "dump")
        p = subprocess.run([ROUTE, "--config", config, "--verify", "--dump",
                            path, *args], capture_output=True, text=True,
                           timeout=120, check=False)
        assert p.returncode == status, (config, args, p)
        dump = Dump(path)
    said = dict(line.split(" ", 1) for line in p.stdout.split("\n")[-5:-1])
    hops = [len(way) for way in dump.paths.values()]
    assert list(said) == ["pairs", "max-hops", "mean-hops", "credit-loops"]
    assert said["pairs"] == "%d/%d" % (len(hops), len(hops)), said
    assert said["max-hops"] == str(max(hops)), said
    assert abs(float(said["mean-hops"]) - sum(hops) / len(hops)) < 1e-3, said
    assert dump.has_loop() == (said["credit-loops"] != "0"), said
    print("ok", os.path.basename(config), *args, "pairs", said["pairs"])
    return dump


def failed(*names):
    return [x for n in names for x in ("--fail", n)]


def main():
    def of(name):
        return os.path.join(ROOT, "config", name + ".cfg")

    for name in ("figure1", "chain-3", "incast-8", "mesh-8x8", "torus-5x5x5",
                 "boards-figure2", "board-figure3"):
        check(of(name))
    for engine in ("reflit", "torus-2qos", "updown"):
        check(of("torus-6x6"), "--engine", engine, *failed("s3.1", "s3.2"))
        check(of("torus-6x6"), "--engine", engine, *failed("s0.1-s0.0"))
    # a torus by shortest ways alone: the proof must fail, and say so
    check(of("torus-6x6"), "--engine", "minhop", status=1)

    whole, cut = check(of("figure1")), check(of("figure1"),
                                             *failed("s1-s0#1"))
    assert ("s0", "s1", 1) in whole.links and ("s0", "s1", 1) not in cut.links
    primary = [h[1:3] for h in whole.paths["e0", "e1"] if h[0] == "s0"]
    assert primary != [whole.backups["s0", "e1"]], "a backup like the primary"


main()
