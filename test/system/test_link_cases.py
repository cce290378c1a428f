#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cases of a link on real lcores: what its ports repair must not be repaired
by the endpoints, so these have no retry, and there is no second link to go
round by: what has no way waits for it, and no controller recovers. Only what
is exact is asserted; how long things took is not.
"""
import ctypes
import glob
import os
import subprocess
import time

from reflit_test import (Box, FIGURE1, REFLIT, ROOT, Skip, case, main)

CHAIN = """
fabric: {
  topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; },
            { a = "s1"; b = "e1"; } );
};
endpoint: { retry = false; gap_skip_ns = 86400000000000; };
controller: { mode = "off"; };
link: { watchdog_ns = 600000000000; no_path_ns = 600000000000;
        wait_flits = 16384; %s };
"""


def run(link="", before="", during="", packets=400, args=()):
    """Both endpoints send; returns the counters of ports, and the run."""
    text = ("wait up\ntraffic packets %u\n%sstart\n%swait up\nwait sent\n"
            "wait drained\nshow replay\nquit\n" % (packets, before, during))
    with Box() as box:
        r = box.run(args, commands=text, config=CHAIN % link).check_clean()
    assert r.report["sent_packets"] == 2 * packets
    return r.report["port_counters"], r


@case
def the_50th_frame_lost_is_one_nak_and_one_replay():
    """[LINK-C7]"""
    c, _ = run("flits_per_frame = 1;", "inject drop s0-s1 s0 50\n",
               args=["--packet-flits", "8"])
    assert c["rx_missing_seq"] == 1 and c["tx_nak"] == 1, c
    assert c["tx_replay_flits"] > 0 and c["rx_silent_drop"] > 0, c
    assert c["deaths"] == 0


@case
def a_frame_hurt_beyond_repair_is_one_nak():
    """[LINK-C8]"""
    c, _ = run("flits_per_frame = 1;", "inject corrupt s0-s1 s0 200\n")
    assert c["tx_nak"] == 1 and c["tx_replay_flits"] > 0, c
    assert c["rx_bad"] + c["rx_check_error"] + c["rx_version_error"] + \
        c["rx_count_error"] + c["rx_type_error"] == 1, c


@case
def a_lost_tail_is_sent_again():
    """[LINK-C11] the last of four frames, and nothing after it."""
    c, _ = run("flits_per_frame = 1;", "inject drop s0-s1 s0 4\n", packets=1,
               args=["--packet-flits", "4"])
    assert c["tx_replay_flits"] >= 1 and c["deaths"] == 0, c


@case
def acks_lost_at_random_are_covered_by_later_ones():
    """[LINK-C6] all data go one way, and half of the other way's frames."""
    text = ("wait up\ntraffic packets 2000\ninject loss s0-s1 s0 0.5\nstart\n"
            "wait sent\nlink s0-s1 up\nwait drained\nquit\n")
    with Box() as box:
        r = box.run(["--traffic", "incast"], commands=text,
                    config=CHAIN % "").check_clean().report
    assert r["sent_packets"] == 2000
    assert r["port_counters"]["deaths"] == 0
    assert r["port_counters"]["rx_ack_seq_error"] == 0


@case
def three_wraps_of_the_numbers_under_loss():
    """[LINK-C5] 240,000 flits each way, numbers of 16 bits."""
    c, r = run("", "inject loss s0-s1 s0 0.002\ninject loss s0-s1 s1 0.002\n",
               packets=30000, args=["--packet-flits", "8"])
    assert c["rx_missing_seq"] > 0 and c["deaths"] == 0, c
    row = [s.split() for s in r.out.split("\n") if s.startswith("s0/1 ")][0]
    # acknowledged, in one epoch, with what endpoints say of themselves
    assert 240000 <= int(row[3]) < 240100, row
    assert c["trainings"] == 6


@case
def every_packet_size_crosses_in_every_frame_size():
    """[LINK-C20]"""
    for n in (1, 5, 32):
        run("flits_per_frame = %u;" % n, packets=300,
            args=["--packet-flits", "1-32", "--wire-flits", "32"])


@case
def a_window_of_4_is_backpressure_and_no_loss():
    """[LINK-C18]"""
    c, _ = run("window_flits = 4; max_packet_flits = 4; credits_flits = 4;",
               packets=1000, args=["--packet-flits", "1-4"])
    assert c["tx_window_full"] > 0 and c["rx_overrun"] == 0, c


@case
def light_lost_for_less_than_the_timeout_costs_nothing():
    """[LINK-C22] and for longer, what was under way goes on afterwards."""
    dark = "wait 5ms\nlink s0-s1 down\nwait 20ms\n%slink s0-s1 up\n"
    c, r = run("phy_lost_ns = 600000000000; keepalive_dead_ns = 0;",
               during=dark % "", packets=3000)
    assert c["deaths"] == 0 and r.report["failovers"] == [], c
    c, r = run("phy_lost_ns = 1000000; keepalive_dead_ns = 0;",
               during=dark % "wait dead s0-s1\n", packets=3000)
    assert c["deaths"] == 2, c
    assert {f["detector"] for f in r.report["failovers"]} <= {"phy", "peer"}


MUTE = "wait 5ms\nlink s0-s1 one-way s1\n%slink s0-s1 up\n"
DEAF = "detect_phy = false; keepalive_dead_ns = 0;"


@case
def frozen_acks_end_in_replays_retrains_and_death():
    """[LINK-C13] frames of s1 vanish; s0 must find out by itself."""
    c, r = run(DEAF + "replay_limit = 2; retrain_limit = 2;",
               during=MUTE % "wait dead s0-s1\n", packets=50000,
               args=["--load", "1"])
    assert c["tx_ask"] >= 2 and c["retrains"] >= 1, c
    assert any(f["device"] == "s0" and f["detector"] == "retrain"
               for f in r.report["failovers"]), r.report["failovers"]


@case
def an_unlimited_replay_count_never_retrains():
    """[LINK-C14] and what has come is asked for, not sent again [LINK-C16]."""
    c, _ = run(DEAF + "replay_limit = 255; replay_timer_ns = 100000;",
               during=MUTE % "wait 200ms\n",  # under way for a second
               packets=10000, args=["--load", "0.05"])
    assert c["retrains"] == 0 and c["deaths"] == 0, c
    assert c["tx_ask"] >= 2 and c["rx_duplicate_seq"] == 0, c


@case
def a_link_that_flaps_leaks_nothing_into_its_new_epochs():
    """[LINK-C23]"""
    c, _ = run(during="wait 5ms\nlink s0-s1 flap 5 10ms\n", packets=3000,
               args=["--load", "0.05"])
    assert c["deaths"] >= 2 and c["trainings"] > 6, c


def ptrace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.ptrace(request, thread, None, None)


@case
def a_link_flaps_to_its_end_though_a_worker_is_away():
    """The last of the flaps heals. A port that does not answer for ten
    seconds, as on a machine that has no time for its lcore, is asked again."""
    with Box() as box:
        p = subprocess.Popen(
            [REFLIT, "--lcores=0@0,1@0", "--", "--config",
             box.write("fabric.cfg", FIGURE1), "-i"], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        print("wait up\nshow fabric", file=p.stdin, flush=True)
        p.stdout.readline()
        worker = [int(path.split("/")[4])
                  for path in glob.glob("/proc/%d/task/*/comm" % p.pid)
                  if "worker" in open(path, encoding="utf-8").read()]
        if len(worker) != 1 or ptrace(0x4206, worker[0]) != 0:  # SEIZE
            p.communicate("quit\n", timeout=60)
            raise Skip("threads of other processes cannot be stopped here")
        ptrace(0x4207, worker[0])  # INTERRUPT
        os.waitpid(worker[0], 0x40000000)  # __WALL
        print("link s0-s1#0 flap 1 2ms", file=p.stdin, flush=True)
        time.sleep(11)
        ptrace(17, worker[0])  # DETACH
        out, _ = p.communicate("wait up 60s\nlink s0-s1#0 down\n"
                               "link s0-s1#0 up\nwait up 60s\nquit\n",
                               timeout=120)
    assert "already" not in out and p.returncode == 0, out


@case
def parallel_links_are_all_meant_where_none_is_named():
    """Figure 1 has two links between s0 and s1: docs/prompt.md, Commands."""
    with Box() as box:
        r = box.run(commands="wait up\nlink s0-s1#0 down\nwait dead s0-s1#0\n"
                    "wait dead s0-s1 20ms\nwait cut s1-s0 20ms\n"
                    "link s0-s1#1 down\nwait cut s0-s1\nwait dead s0-s1\n"
                    "show events s1-s0\nsay of one\nshow events s0-s1#0\n"
                    "quit\n", args=[]).check(2)
        errors = r.errors()
        assert len(errors) == 2, r.err
        assert "s0-s1#1 is not dead after 0.020 s" in errors[0], errors
        assert "s0-s1#1 is not cut after 0.020 s" in errors[1], errors
        both, one = r.out.split("  of one\n")
        one = one.split("\nlink ")[0]  # the report begins
        for k in (0, 1):
            assert "s0-s1#%d dead, detector" % k in both, both
        assert "s0-s1#0 dead" in one and "s0-s1#1 dead" not in one, one


@case
def a_link_that_flaps_takes_no_other_cut():
    """The flap would heal it: the operator's cut would not last."""
    with Box() as box:
        r = box.run(commands="wait up\nlink s0-s1#0 flap 3 400ms\nwait 250ms\n"
                    "link s0-s1#0 down\nlink s0-s1#0 one-way s0\n"
                    "link s0-s1 flap 1 20ms\nlink s0-s1#0 up\nwait up 2s\n"
                    "link s0-s1#0 down\nwait 500ms\nshow link s0-s1#0\n"
                    "quit\n", args=[]).check(2)
        assert len(r.errors()) == 3, r.err
        for error in r.errors():
            assert "s0-s1#0 flaps already" in error, error
        assert "cut by command, until link s0-s1#0 up" in r.out, r.out


main()
