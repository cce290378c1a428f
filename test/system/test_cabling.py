#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cables in wrong sockets [LINK-8, PHY-6], many parallel ones [DRL-2], and
cables pulled at once: figure 1 whose links between s0 and s1 are veths."""
import json
import subprocess
import time

from reflit_test import Box, FIGURE1, REFLIT, ROOT, case, main
from spaces import LINK, Space, ip

PATIENCE_S = 60
WIRES = """
wires = ( { link = "s0-s1#0"; a = "%s0"; b = "%s1"; },
          { link = "s0-s1#1"; a = "%s2"; b = "%s3"; } );
"""
CROSSED = """
wires = ( { link = "s0-s1#0"; a = "%s0"; b = "%s3"; },
          { link = "s0-s1#1"; a = "%s2"; b = "%s1"; } );
"""
AF = "net_af_packet"


class Live:
    """A reflit with a prompt, which is told what to do as things happen."""

    def __init__(self, box, config, vdevs, wrap=(), more=()):
        self.box = box
        self.out = open(box.path("out"), "w+", encoding="utf-8")
        self.err = open(box.path("err"), "w+", encoding="utf-8")
        self.p = subprocess.Popen(
            [*wrap, REFLIT, *vdevs, "--", "-i", "--config",
             box.write("fabric.cfg", config), "--json", box.path("r.json"),
             *more], stdin=subprocess.PIPE, stdout=self.out, stderr=self.err,
            text=True, cwd=ROOT)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        self.out.close()
        self.err.close()

    def say(self, *lines):
        self.p.stdin.write("".join(s + "\n" for s in lines))
        self.p.stdin.flush()

    def text(self):
        got = []
        for f in (self.out, self.err):
            with open(f.name, encoding="utf-8") as g:
                got.append(g.read())
        return got

    def until(self, ok, what):
        end = time.monotonic() + PATIENCE_S
        while not ok(*self.text()):
            assert self.p.poll() is None, (what, self.text())
            assert time.monotonic() < end, (what, self.text())
            time.sleep(0.02)

    def quit(self):
        self.say("quit")
        status = self.p.wait(timeout=PATIENCE_S)
        with open(self.box.path("r.json"), encoding="utf-8") as f:
            return status, json.load(f)


def refused(box, config, vdevs, wants, wrap=()):
    """Runs until each of these lines was said once; returns what followed."""
    with Live(box, config, vdevs, wrap) as live:
        live.until(lambda out, err: all(w in err for w in wants),
                   "not said: %s" % (wants,))
        live.say("show fabric", "show port all", "start", "show events")
        live.until(lambda out, err: all(out.count(w) >= 2 for w in wants),
                   "not shown")
        status, report = live.quit()
        out, err = live.text()
    for w in wants:
        assert err.count(w) == 1, err
    return status, report, out


@case
def crossed_cables_stay_down_and_both_ends_say_who_is_there():
    wants = ["s0/%d: here is s1/%d of link s0-s1#%d, link s0-s1#%d belongs "
             "here" % (1 + i, 2 - i, 1 - i, i) for i in (0, 1)] + [
                 "s1/%d: here is s0/%d of link s0-s1#%d, link s0-s1#%d "
                 "belongs here" % (1 + i, 2 - i, 1 - i, i) for i in (0, 1)]
    with Space() as net, Box() as box:
        status, report, out = refused(
            box, FIGURE1 + LINK + CROSSED.replace("%s", AF), net.vdevs(AF),
            wants, net.wrap)
    assert status == 1, out
    assert report["delivered_packets"] == 0, report["delivered_packets"]
    said = [w["refused"] for w in report["wires"]]
    assert sorted(said) == sorted(w[6:] for w in wants), said
    assert " UP" not in "".join(s for s in out.split("\n")
                                if s.startswith("  s0-s1#")), out


# What need not be there while cables are laid.
NOT_YET = """
attach = ( { endpoint = "e0"; port = "net_af_packet9"; } );
controller: { etcd = ["http://127.0.0.1:1"]; };
"""


@case
def check_cabling_names_crossed_cables_and_is_content_with_straight_ones():
    with Space() as net, Box() as box:
        run = box.run(("--check-cabling",), net.vdevs(AF), FIGURE1 + LINK +
                      WIRES.replace("%s", AF) + NOT_YET, wrap=net.wrap,
                      json_report=False).check(0)
        assert run.out == "cabling ok\n", run.out
        run = box.run(("--check-cabling",), net.vdevs(AF), FIGURE1 + LINK +
                      CROSSED.replace("%s", AF), wrap=net.wrap,
                      json_report=False).check(1)
    lines = run.out.split("\n")[:-1]
    assert len(lines) == 2, run.out
    for i, line in enumerate(lines):
        assert line.startswith("link s0-s1#%d: " % i), run.out
        assert "s0/%d(v%d): here is s1/%d of link s0-s1#%d, link s0-s1#%d " \
            "belongs here" % (1 + i, 2 * i, 2 - i, 1 - i, i) in line, run.out


@case
def a_ring_that_leads_back_to_its_own_port_is_no_link():
    """What DPDK users try first: two plain net_ring devices."""
    wants = ["s%d/1: here is s%d/1 itself, link s0-s1#0 to s%d belongs here"
             % (i, i, 1 - i) for i in (0, 1)]
    config = FIGURE1 + """
wires = ( { link = "s0-s1#0"; a = "net_ring0"; b = "net_ring1"; } );
"""
    with Box() as box:
        status, report, out = refused(
            box, config, ["--vdev=net_ring0", "--vdev=net_ring1"], wants)
    assert status == 1, out
    assert len([w for w in report["wires"] if "itself" in w["refused"]]) == 2


@case
def a_cable_moved_while_it_runs_ends_its_link_and_names_the_stranger():
    """Bridges stand between; then their far ports change places."""
    with Space(cables=4) as net, Box() as box:
        def cables(*pairs):
            for b, ports in pairs:
                for v in ports:
                    ip("-n", net.ns, "link", "set", "v%d" % v, "master",
                       "br%d" % b)

        for b in (0, 1):
            ip("-n", net.ns, "link", "add", "br%d" % b, "type", "bridge",
               "mcast_snooping", "0")
            ip("-n", net.ns, "link", "set", "br%d" % b, "up")
        cables((0, (1, 3)), (1, (5, 7)))
        vdevs = ["--vdev=%s%d,iface=v%d" % (AF, i, 2 * i) for i in range(4)]
        with Live(box, FIGURE1 + LINK + WIRES.replace("%s", AF), vdevs,
                  net.wrap) as live:
            live.say("wait up 60s", "show fabric")
            live.until(lambda out, err: "engine" in out, "not up")
            assert " UP" in live.text()[0], live.text()
            cables((0, (1, 7)), (1, (5, 3)))
            live.until(lambda out, err: err.count("belongs here") == 4,
                       "strangers unnamed")
            cables((0, (1, 3)), (1, (5, 7)))
            live.say("wait up 60s", "show port all", "quit")
            status = live.p.wait(timeout=PATIENCE_S)
            out, err = live.text()
    assert status == 0, (out, err)
    assert "does not train" not in out, out


MANY = FIGURE1.replace("count = 2", "count = 6") + LINK.replace(
    "phy_lost_ns = 400000000", "phy_lost_ns = 0") + (
        "wires = (" + ", ".join(
            '{ link = "s0-s1#%d"; a = "%s%d"; b = "%s%d"; }'
            % (i, AF, 2 * i, AF, 2 * i + 1) for i in range(6)) + ");\n")
OFF = 'controller: { mode = "off"; };\n'


@case
def of_six_cables_any_one_that_lives_carries_all():
    for living, more in ((0, OFF), (5, OFF), (3, OFF), (4, "")):
        with Space(cables=6) as net, Box() as box:
            with Live(box, MANY + more, net.vdevs(AF), net.wrap,
                      ("--packets", "500", "--load", "0.2")) as live:
                live.say("wait up 60s", "show fabric")
                live.until(lambda out, err: "engine" in out, "not up")
                for i in range(6):
                    if i == living:
                        continue
                    ip("-n", net.ns, "link", "set", "v%d" % (2 * i), "down")
                    live.say("wait dead s0-s1#%d 30s" % i)
                live.say("start", "wait sent 60s", "wait drained 60s")
                status, report = live.quit()
                out, err = live.text()
        assert status == 0, (living, out, err)
        assert report["sent_packets"] == report["delivered_packets"] == 1000, \
            (living, out)
        assert report["refused_packets"] == 0, (living, out)


@case
def two_cables_pulled_at_once_are_both_known_by_their_carrier():
    """The kernel announces the second up to a second later; silence would be
    heard before."""
    link = LINK.replace("phy_lost_ns = 400000000", "phy_lost_ns = 0").replace(
        "keepalive_dead_ns = 400000000", "keepalive_dead_ns = 700000000")
    with Space() as net, Box() as box:
        with Live(box, FIGURE1 + link + WIRES.replace("%s", AF),
                  net.vdevs(AF), net.wrap) as live:
            live.say("wait up 60s", "show fabric")
            live.until(lambda out, err: "engine" in out, "not up")
            for v in ("v0", "v2"):
                ip("-n", net.ns, "link", "set", v, "down")
            for i in (0, 1):
                live.say("wait dead s0-s1#%d 30s" % i)
            status, report = live.quit()
            out, err = live.text()
    dead = [(f["link"], f["detector"]) for f in report["failovers"]]
    assert set(dead) == {("s0-s1#0", "phy"), ("s0-s1#1", "phy")}, (dead, out)


main()
