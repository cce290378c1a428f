#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two workers and the control thread under ThreadSanitizer: traffic, faults,
everything that `show` looks at, and the end of a run. Any race that
test/system/tsan.supp does not explain ends the program with status 66."""
import os

from reflit_test import Box, FIGURE1, Skip, case, main

WORKERS = ["--lcores=0@0,1@0,2@1"]
PATIENT = ("link: { keepalive_dead_ns = 5000000000; "
           "flap_damping_ns = 1000000; };\n")
SHOW = "".join("show %s\n" % what for what in (
    "fabric", "port all", "replay", "flow", "routes s0", "events",
    "histogram", "counters all", "faults", "lcores", "traffic"))


def raced(run):
    """What the sanitizer said, as short as can be."""
    return [s for s in run.err.split("\n") if "ThreadSanitizer" in s or
            s.startswith("    #")][:12]


def run_two(commands, args=(), env=None):
    if os.cpu_count() < 2:
        raise Skip("one CPU")
    with Box() as box:
        return box.run(list(args), eal=WORKERS, config=FIGURE1 + PATIENT,
                       commands=commands, timeout=280, env=env)


def two_workers(commands, args=()):
    run = run_two(commands, args)
    assert run.status == 0 and not raced(run), "exit status %d\n%s" % (
        run.status, "\n".join(raced(run)) or run.err[-2000:])
    assert run.report["delivered_packets"] > 0


@case
def traffic_starts_and_stops_while_the_control_thread_looks_on():
    two_workers("wait up\n" + SHOW + "start\n" + SHOW + "wait 200ms\n" + SHOW +
                "stop\nwait drained 120s\n" + SHOW + "quit\n",
                ["--load", "0.02", "--classes", "2"])


@case
def without_its_exceptions_the_sanitizer_sees_show_look_on():
    """It is at work: what tsan.supp explains is a race without it."""
    env = dict(os.environ, TSAN_OPTIONS="exitcode=66")
    run = run_two("wait up\nstart\nwait 50ms\n" + 5 * SHOW +
                  "stop\nwait drained 120s\nquit\n", env=env)
    assert run.status == 66 and raced(run), run.status


@case
def links_die_and_return_by_order_and_by_fault():
    two_workers("wait up\nstart\nwait 50ms\nlink s0-s1#0 down\n"
                "wait dead s0-s1#0\nlink s0-s1#0 up\nwait up\n"
                "link s0-s1#1 disable\nwait dead s0-s1#1\n"
                "link s0-s1#1 enable\nwait up\nlink s0-s1#0 drain\n"
                "wait dead s0-s1#0\nlink s0-s1#0 enable\nwait up\n"
                "inject loss s0-s1#0 s0 0.02\nwait 50ms\n"
                "inject loss s0-s1#0 s0 0\n" + SHOW +
                "stop\nwait drained 120s\nquit\n", ["--load", "0.02"])


@case
def generators_run_until_they_are_through():
    two_workers("wait up\ntraffic packets 300\nstart\nwait sent 120s\n"
                "wait drained 120s\ntraffic pattern permutation\nstart\n"
                "wait sent 120s\nwait drained 120s\nquit\n")


main()
