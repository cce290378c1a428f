#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Who alters flits [SW-5], on lcores: a device that does so is named at the
prompt and in the report, and LCRC [LINK-7] delivers what a cable alters."""
import re

from reflit_test import Box, FIGURE1, case, main

WITNESS = FIGURE1 + "switch: { witness = %s; };\n"


def suspects(text):
    """Tables of `show suspects`: [[(part, kind, altered)]]."""
    tables = []
    for line in text.split("\n"):
        words = line.split()
        if words[:2] == ["part", "kind"]:
            tables.append([])
        elif line == "no part has altered a flit":
            tables.append([])
        elif tables and len(words) == 7 and words[1] in ("device", "link"):
            tables[-1].append((words[0], words[1], int(words[2])))
    return tables


def altering(part, rate):
    """A run in which a part alters flits for a while."""
    return ("wait up\nshow suspects\ninject soft %s %s\nshow faults\n"
            "traffic packets 3000\nstart\nwait sent\n"
            "inject soft %s 0\nwait drained\n"
            "show suspects\nquit\n" % (part, rate, part))


@case
def a_switch_that_alters_flits_is_named_and_nothing_is_lost():
    with Box() as box:
        run = box.run(["--load", "0.05"], config=WITNESS % '"all"',
                      commands=altering("s1", "0.05").replace(
                          "quit", "clear counters\nshow suspects\nquit")
                      ).check_clean()
    before, after, cleared = suspects(run.out)
    assert before == cleared == [], run.out
    assert [s[:2] for s in after] == [("s1", "device")], run.out
    assert "s1 alters a flit of 0.05 of its packets" in run.out
    named = run.report["suspects"]
    assert [(s["part"], s["kind"]) for s in named] == [("s1", "device")], named
    assert named[0]["count"] == after[0][2] >= 1
    assert named[0]["looked_flits"] > named[0]["count"]
    assert named[0]["confidence_percent"] >= 66


@case
def so_is_an_endpoint_by_a_witness_of_one_flit_in_four():
    with Box() as box:
        run = box.run(["--load", "0.05"], config=WITNESS % "4",
                      commands=altering("e0", "0.05")).check_clean()
        assert [s[:2] for s in suspects(run.out)[1]] == [("e0", "device")]


@case
def without_a_witness_the_prompt_says_that_it_is_off():
    with Box() as box:
        run = box.run(["--load", "0.01"], commands="wait up\nshow suspects\n"
                      "quit\n").check(0)
        assert "no part has altered a flit" in run.out
        assert "the witness is off; set switch.witness" in run.out
        assert run.report["suspects"] == []


@case
def a_device_or_a_rate_that_is_none_is_refused():
    with Box() as box:
        for line, why in (("inject soft s9 0.1", "there is no device s9"),
                          ("inject soft s0 1.5", "rate: bad value 1.5"),
                          ("inject soft s0", "")):
            run = box.run(commands=line + "\nquit\n").check(2)
            assert why in run.err, run.err


@case
def what_a_cable_alters_past_fec_is_sent_again_with_lcrc():
    """Bit errors in bursts, and no end-to-end retry."""
    config = FIGURE1 + ("endpoint: { retry = false; };\n"
                        "link: { lcrc = true; error_window_ns = 0; };\n")
    text = ("wait up\n" + "".join(
        "inject ber e0-s0 %s 3e-5 propagate 0.9\n" % d for d in ("e0", "s0")) +
        "traffic packets 8000\nstart\nwait sent\nlink e0-s0 up\n"
        "wait drained\nquit\n")
    with Box() as box:
        run = box.run(["--load", "0.1"], config=config,
                      commands=text).check_clean()
        refused = run.report["port_counters"]["rx_lcrc_bad"]
        bad = run.report["port_counters"]["rx_bad"]
        assert refused > 0 and bad > 0, (refused, bad)


main()
