#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links over ethdevs of all kinds [PHY-1]: figure 1 whose two cables between
s0 and s1 are interfaces; packets of generators are proven one by one."""
import json
import math
import os
import subprocess

from reflit_test import Box, FIGURE1, REFLIT, Skip, case, main
from spaces import LINK, Space, ip

WIRES = """
wires = ( { link = "s0-s1#0"; a = "%s0"; b = "%s1"; },
          { link = "s0-s1#1"; a = "%s2"; b = "%s3"; } );
"""
RUN = ["--packets", "3000", "--load", "0.5"]
COMMANDS = "wait up 60s\nstart\nwait sent 60s\nwait drained 60s\nquit\n"


def check(run, driver, flits):
    run.check_clean()
    assert "wires have no key" in run.err, run.err
    assert run.report["sent_packets"] == 6000, run.out
    wires = run.report["wires"]
    assert len(wires) == 4, wires
    for w in wires:
        assert w["rx_frames"] > 0 and w["tx_frames"] > 0, wires
        assert w["driver"] == driver and w["rx_oversize"] == 0, wires
        assert (w["frame_bytes"] - 64) // 256 >= flits, wires


def over(driver, name=None, mtu=1500, more="", flits=5, wires=WIRES):
    with Space(mtu) as net, Box() as box:
        check(box.run(RUN, net.vdevs(driver, more), FIGURE1 + LINK
                      + wires.replace("%s", driver), COMMANDS, wrap=net.wrap),
              name or driver, flits)


@case
def links_over_af_packet_lose_nothing():
    over("net_af_packet")


@case
def larger_frames_carry_more_flits_where_slots_have_room():
    over("net_af_packet", mtu=3498, more=",framesz=4096,blocksz=8192",
         flits=13)


@case
def frames_stay_within_the_slots_of_a_driver():
    """An MTU of 9000 over slots of 2,048 bytes: 7 flits, none cut short."""
    with Space(9000) as net, Box() as box:
        run = box.run(RUN, net.vdevs("net_af_packet"), FIGURE1 + LINK
                      + WIRES.replace("%s", "net_af_packet"), COMMANDS,
                      wrap=net.wrap)
    check(run, "net_af_packet", 7)
    assert all(w["frame_bytes"] < 2048 for w in run.report["wires"])


@case
def links_over_af_xdp_lose_nothing():
    over("net_af_xdp", mtu=3498, more=",busy_budget=0", flits=13)


@case
def an_mtu_asked_for_is_kept_to():
    over("net_af_packet", wires=WIRES.replace("; }", "; mtu = 600; }"),
         flits=2)


@case
def small_frames_over_af_xdp_have_buffers_that_the_kernel_takes():
    over("net_af_xdp", mtu=1300, more=",busy_budget=0", flits=4)


@case
def links_over_tap_lose_nothing():
    """Two interfaces of the driver's own, joined by a bridge."""
    if not os.path.exists("/dev/net/tun"):
        raise Skip("no /dev/net/tun")
    taps = ["--vdev=net_tap%d,iface=t%d" % (i, i) for i in range(4)]
    script = """
for i in 0 1 2 3; do
  while ! ip link show t$i >/dev/null 2>&1; do sleep 0.05; done
done
for b in 0 1; do
  ip link add br$b type bridge mcast_snooping 0 && ip link set br$b up
  for t in $((2 * b)) $((2 * b + 1)); do
    ip link set t$t master br$b up
  done
done
"""
    with Space(cables=0) as net, Box() as box:
        probe = subprocess.run(
            net.wrap + ["sh", "-c", "ip link add b9 type bridge && "
                        "ip link del b9"], capture_output=True, check=False)
        if probe.returncode:
            raise Skip("the kernel has no bridges")
        p = subprocess.Popen(net.wrap + ["sh", "-c", script])
        try:
            run = box.run(RUN, taps, FIGURE1 + LINK
                          + WIRES.replace("%s", "net_tap"), COMMANDS,
                          wrap=net.wrap)
        finally:
            p.kill()
            p.wait()
    check(run, "net_tap", 5)


@case
def links_over_memif_lose_nothing():
    with Box() as box:
        sock = box.path("memif")
        devs = []
        for i in range(4):
            devs.append("--vdev=net_memif%d,role=%s,id=%d,socket=%s,"
                        "socket-abstract=no" % (
                            i, "client" if i % 2 else "server", i // 2, sock))
        run = box.run(RUN, devs, FIGURE1 + LINK
                      + WIRES.replace("%s", "net_memif"), COMMANDS)
    check(run, "net_memif", 5)


@case
def a_link_to_nobody_does_not_train_and_the_other_carries_all():
    """net_null gives frames without end that are not ours, or none."""
    for args in (",no-rx=1", ""):
        with Space(cables=1) as net, Box() as box:
            run = box.run(
                RUN, net.vdevs("net_af_packet")
                + ["--vdev=net_null%d%s" % (i, args) for i in (2, 3)],
                FIGURE1 + LINK.replace("};\nend", "init_action = "
                                       "\"best-effort\"; };\nend") + """
wires = ( { link = "s0-s1#0"; a = "net_af_packet0"; b = "net_af_packet1"; },
          { link = "s0-s1#1"; a = "net_null2"; b = "net_null3"; } );
""", "wait 2s\nstart\nwait sent 60s\nwait drained 60s\nshow fabric\nquit\n",
                wrap=net.wrap)
        run.check_clean()
        assert run.report["sent_packets"] == 6000
        line = [s for s in run.out.split("\n") if "s0-s1#1" in s][0]
        assert "UP" not in line and "INIT" in line, run.out


@case
def a_cable_shorter_of_mtu_than_its_ends_never_trains():
    """A bridge between that drops what is longer: no black hole [LINK-C5]."""
    with Space() as net, Box() as box:
        # the middle of one cable carries 600 bytes, both ends think 1500
        for cmd in (("link", "add", "br0", "type", "bridge"),
                    ("link", "add", "w0", "type", "veth", "peer", "name",
                     "w1"),
                    ("link", "add", "w2", "type", "veth", "peer", "name",
                     "w3"),
                    ("link", "set", "w1", "mtu", "600"),
                    ("link", "set", "w1", "master", "br0"),
                    ("link", "set", "w3", "master", "br0")):
            ip("-n", net.ns, *cmd)
        for dev in ("br0", "w0", "w1", "w2", "w3"):
            ip("-n", net.ns, "link", "set", dev, "up")
        run = box.run(
            RUN, net.vdevs("net_af_packet")[:2]
            + ["--vdev=net_af_packet2,iface=w0",
               "--vdev=net_af_packet3,iface=w2"],
            FIGURE1 + LINK.replace("};\nend", "init_action = "
                                   "\"best-effort\"; };\nend")
            + WIRES.replace("%s", "net_af_packet"),
            "wait 2s\nshow fabric\nstart\nwait sent 60s\nwait drained 60s\n"
            "quit\n", wrap=net.wrap)
        run.check_clean()
        assert run.report["failovers"] == [], run.report["failovers"]
        line = [s for s in run.out.split("\n") if "s0-s1#1" in s][0]
        assert "UP" not in line, run.out


@case
def a_cable_that_is_out_is_known_at_once_by_its_carrier():
    """Silence would be heard of after 60 s; the kernel tells of it."""
    patient = LINK.replace("keepalive_dead_ns = 400000000",
                           "keepalive_dead_ns = 60000000000")
    patient = patient.replace("phy_lost_ns = 400000000", "phy_lost_ns = 0")
    with Space() as net, Box() as box:
        marks = [box.path(x) for x in ("a", "b")]
        script = """
until [ -e %s ]; do sleep 0.05; done
ip link set v0 down
""" % marks[0]
        p = subprocess.Popen(net.wrap + ["sh", "-c", script])
        q = subprocess.Popen(
            ["sh", "-c", "sleep 5; touch " + marks[0]])
        try:
            run = box.run((), net.vdevs("net_af_packet"), FIGURE1 + patient
                          + WIRES.replace("%s", "net_af_packet"),
                          "wait up 60s\nwait dead s0-s1#0 50s\n"
                          "show fabric\nquit\n", wrap=net.wrap)
        finally:
            for x in (p, q):
                x.kill()
                x.wait()
    run.check(0)
    dead = {(f["link"], f["detector"]) for f in run.report["failovers"]}
    assert ("s0-s1#0", "phy") in dead, run.report["failovers"]
    assert not [x for x in dead if x[0] != "s0-s1#0"], dead


@case
def an_interface_that_waits_to_be_operational_has_a_carrier():
    """The kernel calls an interface running up to a second after it carries
    frames, and one in mode dormant never."""
    with Space() as net, Box() as box:
        for i in range(2 * net.cables):
            for what in (("down",), ("mode", "dormant"), ("up",)):
                ip("-n", net.ns, "link", "set", "v%d" % i, *what)
        text = subprocess.run(net.wrap + ["ip", "link", "show", "v0"],
                              capture_output=True, text=True,
                              check=True).stdout
        assert "LOWER_UP" in text and "state DORMANT" in text, text
        # longer than phy_lost_ns
        run = box.run(RUN, net.vdevs("net_af_packet"), FIGURE1 + LINK
                      + WIRES.replace("%s", "net_af_packet"),
                      "wait 1s\n" + COMMANDS, wrap=net.wrap)
    check(run, "net_af_packet", 5)
    assert run.report["failovers"] == [], run.report["failovers"]


@case
def a_replay_through_a_wire_is_measured_beside_bare_frames():
    """reflit-bench wire [PHY-4]."""
    bench = os.path.join(os.path.dirname(REFLIT), "reflit-bench")
    with Space(cables=1) as net, Box() as box:
        for port, flits in (("net_null0", 5), ("net_af_packet0,iface=v0", 5)):
            p = subprocess.run(
                net.wrap + [bench, "--quick", "--reps", "1", "--port", port,
                            "--json", box.path("b.json"), "wire"],
                capture_output=True, text=True, check=False, timeout=120)
            assert p.returncode == 0, p.stderr
            with open(box.path("b.json"), encoding="utf-8") as f:
                wire = json.load(f)["wire"]
            assert wire["flits_per_frame"] == flits, wire
            assert wire["replay_frames_per_s"] > 0, wire
            assert 0 < wire["share_of_bare"], wire
            # a frame carries its flits, each time
            per = wire["mflits_per_s"] * 1e6 / wire["replay_frames_per_s"]
            assert flits - 1 < per <= flits, wire
            line = wire["link_mbps"] * 1e6 / 8 / (wire["frame_bytes"] + 24)
            assert line == 0 or math.isclose(
                wire["share_of_line"],
                wire["mflits_per_s"] * 1e6 / flits / line), wire
            assert math.isclose(wire["mflits_per_core_s"],
                                1e3 / wire["cpu_ns_per_flit"]), wire
        for port in ("net_nosuch0", "net_af_packet0,iface=nope",
                     "net_af_packet0,iface=v0,framesz=9000"):
            p = subprocess.run(net.wrap + [bench, "--port", port, "wire"],
                               capture_output=True, text=True, check=False)
            assert p.returncode == 2, p.stderr
            assert p.stderr.startswith("reflit-bench: --port " + port), \
                p.stderr
            assert p.stderr.count("\n") == 1, p.stderr


def bench_wire(box, ports, wrap=()):
    """reflit-bench wire at these ports; returns (process, its figures)."""
    bench = os.path.join(os.path.dirname(REFLIT), "reflit-bench")
    report = box.path("b.json")
    p = subprocess.run(
        [*wrap, bench, "--quick", "--reps", "1", "--json", report]
        + ["--port=" + port for port in ports] + ["wire"],
        capture_output=True, text=True, check=False, timeout=120)
    if p.returncode != 0:
        return p, None
    with open(report, encoding="utf-8") as f:
        return p, json.load(f)["wire"]


@case
def a_port_that_leads_back_hears_what_it_sends():
    """reflit-bench wire [PHY-4]: net_ring holds less than is sent."""
    with Box() as box:
        p, wire = bench_wire(box, ["net_ring0"])
    assert wire is not None, p.stderr
    sent, heard = wire["replay_frames_per_s"], wire["received_frames_per_s"]
    assert 0.9 < heard / sent < 1.1, wire


@case
def a_link_between_two_ports_is_full_in_both_directions():
    """reflit-bench wire [PHY-4]."""
    with Space(cables=1) as net, Box() as box:
        p, wire = bench_wire(box, ["net_af_packet%u,iface=v%u" % (i, i)
                                   for i in range(2)], net.wrap)
        assert wire is not None, p.stderr
        assert wire["flits_per_frame"] == 5, wire
        for way in ("a_to_b", "b_to_a"):
            assert wire[way]["mflits_per_s"] > 0, wire
            line = wire[way]["link_mbps"] * 1e6 / 8 / (
                wire["frame_bytes"] + 24) * 5
            assert line == 0 or math.isclose(
                wire[way]["share_of_line"],
                wire[way]["mflits_per_s"] * 1e6 / line), wire
        # a server, which has a peer only when the other one is there
        p, wire = bench_wire(box, [
            "net_memif%u,role=%s,socket=%s,socket-abstract=no"
            % (i, role, box.path("m"))
            for i, role in enumerate(("server", "client"))])
        assert p.returncode == 0, p.stderr
        assert wire["a_to_b"]["mflits_per_s"] > 0, wire


@case
def ports_that_are_not_joined_or_not_there_are_refused_in_one_line():
    with Box() as box:
        for ports, words in (
                (["net_ring0", "net_ring1"], "no link to net_ring1 comes up"),
                (["ffff:ff:1f.7"], "there is no such device"),
                (["net_ring0", "ffff:ff:1f.7"], "there is no such device"),
                (["net_ring0", "net_ring1", "net_ring2"],
                 "one port, or two that are joined")):
            p, _ = bench_wire(box, ports)
            assert p.returncode == 2 and words in p.stderr, p.stderr
            assert p.stderr.count("\n") == 1, p.stderr


main()
