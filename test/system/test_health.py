#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong, where and since when: `show link`, `show alarms`, the report's
alarms, and each `show` as JSON [APP-9]; `--check-cabling` [PHY-6]."""
import contextlib
import json
import os
import re
import socket
import subprocess

from reflit_test import (FIGURE1, REFLIT, ROOT, Box, Running, Skip, case,
                         main)

LOOPED = FIGURE1 + """
wires = ( { link = "s0-s1#0"; a = "net_ring0"; b = "net_ring1"; } );
"""
RINGS = ("--vdev=net_ring0", "--vdev=net_ring1")
ITSELF = ("s0/1(net_ring0): here is s0/1 itself, link s0-s1#0 to s1 belongs "
          "here")


def answers(run):
    """The JSON lines that a run printed."""
    return [json.loads(s) for s in run.out.split("\n") if s.startswith("{")]


def ask(box, *lines, status=0, **more):
    run = box.run(commands="\n".join(lines + ("quit", "")), **more)
    return run.check(status), answers(run)


def link(answer, name):
    return [x for x in answer["links"] if x["link"] == name][0]


def forms():
    """Each `show` of the table, with names of this fabric."""
    path = os.path.join(ROOT, "app/reflit/command_table.c")
    with open(path, encoding="utf-8") as f:
        shown = re.findall(r'^\t\{ "(show [^"]+)", cmd_', f.read(), re.M)
    names = iter(["e0", "e1"] * len(shown))
    words = {"<link>": lambda: "s0-s1", "<links>": lambda: "all",
             "<port>": lambda: "all", "<device>": lambda: "s0",
             "<limits>": lambda: "bad=0",
             "<n>": lambda: "1", "<endpoint>": lambda: next(names)}
    return [re.sub("<[^>]+>", lambda m: words[m[0]](), form) for form in shown]


@case
def every_show_answers_in_json_on_one_line():
    shown = forms()
    assert len(shown) > 25, shown
    lines = [s for form in shown for s in (form, form + " json")]
    with Box() as box:
        run, got = ask(box, "wait up", "inject soft s0 1e-9",
                       "link s0-s1#0 down", "start",
                       "wait dead s0-s1#0", "stop", "wait drained", *lines)
    assert len(got) == len(shown), run.out
    for form, answer in zip(shown, got):
        assert answer, form
        # a row is an object, and no fact has a unit in its text
        for rows in answer.values():
            if isinstance(rows, list) and rows and form != "show histogram":
                assert all(rows), (form, rows)
    assert run.err == "", run.err
    # and nothing beside it
    assert run.out.count("s0 alters a flit of 1e-09 of its packets") == 1
    faults = got[shown.index("show faults")]
    assert [x["device"] for x in faults["altering"]] == ["s0"], faults


@case
def json_says_what_the_text_says():
    with Box() as box:
        run, got = ask(box, "wait up", "link s0-s1#1 disable",
                       "wait dead s0-s1#1", "show link", "show link json",
                       "show replay json", "show replay",
                       "show replay json")
    for x in got[0]["links"]:
        assert re.search(r"^%s +%s %s +%s +%s +\d\d:\d\d:\d\d %s" % tuple(
            re.escape(x[k]) for k in ("link", "a", "b", "admin", "oper",
                                      "reason")), run.out, re.M), (x, run.out)
    # of two answers around the text, what changed in between is no claim
    same = [x for x in got[1]["ports"] if x in got[2]["ports"]]
    assert len(same) >= 6, got
    for x in same:
        assert re.search(r"^%s +%s +%d +%d +%d +%d +%d +%d$" % (
            x["port"], x["state"], x["base"], x["acked"], x["next"], x["tail"],
            x["held_flits"], x["window_flits"]), run.out, re.M), (x, run.out)


@case
def the_window_of_a_flow_is_shown():
    """[EP-9]"""
    with Box() as box:
        run = box.run(["--packets", "20"], commands="wait up\nstart\n"
                      "wait drained\nshow flow\nshow flow json\n"
                      "quit\n").check(0)
    flows = [x for x in answers(run)[0]["flows"] if x["sent_flits"] > 0]
    assert len(flows) == 2, run.out
    for x in flows:
        assert 16 <= x["window_flits"] <= 511, x
        assert re.search(r"^%s +%s +%d +%s +%d +%d +%d " % (
            x["endpoint"], x["peer"], x["cos"], x["state"], x["sent_flits"],
            x["acked_flits"], x["window_flits"]), run.out, re.M), (x, run.out)


@case
def a_silence_is_shown_while_it_lasts():
    """e1 takes nothing, and its peer gives nothing up: the silence ends with
    the run, or when e1 goes on."""
    config = FIGURE1 + "endpoint: { give_up_ns = 0; };\n"
    held = "wait up\ninject block e1 0\nstart\nwait 200ms\nshow flow e0 e1 json\n"
    with Box() as box:
        run = box.run(["--load", "0.01"], config=config, commands=held +
                      "inject unblock e1 0\nstop\nwait drained\n"
                      "show flow json\nquit\n").check(0)
        then, now = (x["flows"] for x in answers(run))
        assert len(then) == 1 and then[0]["silent_ns"] > 1000000, then
        assert {x["silent_ns"] for x in now} == {0}, now
        assert run.report["outage_ns"] >= then[0]["silent_ns"], run.report
        with Running(
                [REFLIT, "--", "--config", box.write("fabric.cfg", config),
                 "--load", "0.01", "--cmdline-file",
                 box.write("commands", held + "wait 100s\n"), "--json",
                 box.path("r")], stderr=subprocess.DEVNULL) as run:
            then = json.loads(run.line())["flows"]
            run.interrupt()
        with open(box.path("r"), encoding="utf-8") as f:
            report = json.load(f)
        assert report["outage_ns"] >= then[0]["silent_ns"] > 0, report


@case
def json_is_no_name_and_stands_behind_show_alone():
    with Box() as box:
        run = box.run(commands="show flow json\nshow events json\n"
                      "show flow e0 json\nquit\n").check(0)
        assert len(answers(run)) == 3, run.out
        for wrong in ("start json", "clear counters json", "show link x json",
                      "show json", "json", "show link json json"):
            run = box.run(commands=wrong + "\nquit\n").check(2)
            assert len(run.errors()) == 1 and run.out == "", (wrong, run.err)


def of_links(answer):
    """Alarms about links; a recovery may be late on a busy machine."""
    return [a for a in answer["alarms"] if a["where"].startswith("link ")]


def no_links(answer):
    return of_links(answer) == []


@case
def a_link_says_what_was_ordered_what_it_does_and_why():
    with Box() as box:
        _, got = ask(box, "wait up", "show link json",
                     "link s0-s1#0 disable", "wait dead s0-s1#0",
                     "show link json", "show alarms json",
                     "link s0-s1#0 enable", "wait up", "link s0-s1#0 drain",
                     "wait dead s0-s1#0", "show link s0-s1#0 json",
                     "show alarms json", "link s0-s1#0 enable", "wait up",
                     "show link json")
    for answer in (got[0], got[-1]):
        for x in answer["links"]:
            assert (x["admin"], x["oper"], x["reason"]) == ("up", "up", ""), x
    down, drained = (link(got[i], "s0-s1#0") for i in (1, 3))
    assert (down["admin"], down["oper"]) == ("down", "down"), down
    assert "link s0-s1#0 enable" in down["reason"], down
    assert (drained["admin"], drained["oper"]) == ("drained", "down"), drained
    # later states begin later
    since = [link(got[i], "s0-s1#0")["since_ns"] for i in (0, 1, 3, -1)]
    assert since == sorted(since), since
    # what was ordered is no alarm
    for i in (2, 4):
        assert no_links(got[i]), got[i]


@case
def a_link_that_was_removed_as_planned_looks_planned():
    with Box() as box:
        _, got = ask(box, "wait up", "link s0-s1#0 remove",
                     "wait dead s0-s1#0", "wait recovered 60s",
                     "show link json", "show alarms json", "link s0-s1#0 add",
                     "wait recovered 60s", "wait up", "show link json")
    removed, back = link(got[0], "s0-s1#0"), link(got[2], "s0-s1#0")
    assert (removed["admin"], removed["oper"]) == ("removed", "down"), removed
    assert (back["admin"], back["oper"]) == ("up", "up"), back
    assert no_links(got[1]), got[1]


@case
def a_fault_is_an_alarm_until_it_is_over_and_both_are_events():
    with Box() as box:
        run, got = ask(box, "wait up", "show alarms json",
                       "link s0-s1#0 down", "wait dead s0-s1#0",
                       "wait 20ms",  # until its lcore has said so, too
                       "show alarms json", "link s0-s1#0 up", "wait up",
                       "show alarms json", "link s0-s1#1 down",
                       "wait dead s0-s1#1", "start", "wait 20ms")
    assert no_links(got[0]) and no_links(got[2]), got
    for alarms, name in ((of_links(got[1]), "link s0-s1#0"),
                         (of_links(run.report), "link s0-s1#1")):
        assert [(a["alarm"], a["severity"], a["where"]) for a in alarms] == [
            ("link-down", "major", name)], alarms
        assert "cut by command" in alarms[0]["why"], alarms
    deaths = [e["at_ns"] for e in run.report["events"]
              if "s0-s1#0 dead" in e["text"]]
    since = of_links(got[1])[0]["since_ns"]
    # a poll's time may lie before the start, which is 1
    assert since in deaths or since == 1, (got[1], deaths)
    told = [e["text"] for e in run.report["events"]
            if re.match("alarm (raised|over): link ", e["text"])]
    assert [t.split(": ")[:2] for t in told] == [
        ["alarm raised", "link s0-s1#0"], ["alarm over", "link s0-s1#0"],
        ["alarm raised", "link s0-s1#1"]], told


@case
def crashed_devices_and_controllers_are_alarms_and_not_their_links():
    with Box() as box:
        _, got = ask(box, "wait up", "controller crash", "device e1 crash",
                       "show alarms json", "show link json",
                       "controller restart", "device e1 restart",
                       "wait up", "wait recovered 60s", "show alarms json")
    kinds = {a["alarm"]: a for a in got[0]["alarms"]}
    assert {"device-absent", "no-controller"} <= set(kinds), kinds
    assert "link-down" not in kinds, kinds
    assert kinds["device-absent"]["where"] == "device e1"
    assert "e1 has crashed" in link(got[1], "s1-e1")["reason"], got[1]
    assert {"device-absent", "no-controller", "link-down"}.isdisjoint(
        a["alarm"] for a in got[2]["alarms"]), got[2]


@case
def an_endpoint_without_a_way_is_an_alarm_with_its_name():
    config = FIGURE1 + 'controller: { mode = "off"; };\n'
    with Box() as box:
        run, got = ask(box, "wait up", "start", "wait 20ms", "link s1-e1 down",
                       "wait 1500ms", "show alarms json", config=config,
                       args=("--load", "0.1"))
    # a slow machine may have had nothing under way when the link was cut
    given_up = run.report["reported_packets"] > 0
    for alarms in (got[0]["alarms"], run.report["alarms"]):
        seen = {(a["alarm"], a["where"]): a["since_ns"] for a in alarms}
        assert ("link-down", "link s1-e1") in seen, seen
        assert (("giving-up", "traffic") in seen) == given_up, seen
        # the worst come first
        assert alarms[0]["alarm"] == "unreachable", alarms
        for u in run.report["unreachable"]:
            assert seen["unreachable", "endpoint " + u["endpoint"]] == \
                u["since_ns"], (seen, u)


@case
def an_endpoint_that_was_removed_is_no_alarm():
    with Box() as box:
        run, got = ask(box, "wait up", "start", "device e1 remove",
                       "wait recovered 60s", "wait 1500ms", "show alarms json",
                       args=("--load", "0.01"))
    for alarms in (got[0]["alarms"], run.report["alarms"]):
        assert "unreachable" not in [a["alarm"] for a in alarms], alarms


@case
def what_an_endpoint_claimed_ends_when_it_crashes():
    with Box() as box:
        run = box.run(config=FIGURE1, args=("--load", "0.01"), commands="\n".join((
            "wait up", "start", "wait 20ms", "link e0-s0 down", "wait 1500ms",
            "device e1 crash", "link e0-s0 up", "wait 100ms",
            "device e1 restart", "wait up 60s", "wait recovered 60s",
            "wait 500ms", "show alarms json", "quit", "")))
    away = [u for u in run.report["unreachable"] if u["endpoint"] == "e0"]
    assert away and all(u["until_ns"] != 0 for u in away), away
    assert "unreachable" not in [a["alarm"] for a in answers(run)[0]["alarms"]]


@case
def a_wrong_cable_is_named_with_what_is_there_and_what_belongs_there():
    with Box() as box:
        run = box.run(commands="wait 1500ms\nshow link json\n"
                      "show alarms json\nquit\n", config=LOOPED,
                      eal=RINGS).check(1)
    links, alarms = answers(run)
    one = link(links, "s0-s1#0")
    assert (one["admin"], one["oper"]) == ("up", "refused"), one
    assert one["a"] == "s0/1(net_ring0)" and ITSELF in one["reason"], one
    for found in (alarms["alarms"], run.report["alarms"]):
        assert [(a["alarm"], a["severity"], a["where"]) for a in found] == [
            ("miscabled", "critical", "link s0-s1#0")], found
        assert ITSELF in found[0]["why"], found


def check_cabling(box, *args, **more):
    return box.run(args=("--check-cabling", *args), json_report=False, **more)


@case
def check_cabling_names_each_wrong_wire_and_ends_with_a_status():
    with Box() as box:
        run = check_cabling(box).check(0)
        assert run.out == "cabling ok\n", run.out
        run = check_cabling(box, config=LOOPED, eal=RINGS).check(1)
        lines = run.out.split("\n")
        assert len(lines) == 2 and lines[0].startswith("link s0-s1#0: "), lines
        assert ITSELF in lines[0] and "s1/1(net_ring1): " in lines[0], lines
        for wrong in ("-i", "--json=" + box.path("r")):
            run = check_cabling(box, wrong).check(2)
            assert "--check-cabling" in run.err and run.out == "", run.err


@case
def check_cabling_names_what_belongs_to_a_wire_that_nothing_answers():
    config = FIGURE1 + """
wires = ( { link = "s0-s1#1"; a = "net_ring0"; b = "net_null1"; } );
processes = ( { name = "left"; devices = ["e0", "s0"]; },
              { name = "right"; devices = ["e1", "s1"]; } );
"""
    config = config.replace('wires = ( ', 'wires = ( { link = "s0-s1#0"; '
                            'a = "net_null0"; b = "net_null2"; }, ').replace(
                                "net_ring0", "net_null3")
    with Box() as box:
        run = check_cabling(box, "--process", "left", "--duration", "200ms",
                            config=config,
                            eal=("--vdev=net_null0", "--vdev=net_null3"))
    run.check(1)
    for i, dev in ((0, "net_null0"), (1, "net_null3")):
        assert "s0/%d(%s): nothing answers, s1/%d belongs here" % (
            1 + i, dev, 1 + i) in run.out, run.out


@case
def alarms_of_a_unit_go_to_the_journal_with_fields():
    with Box() as box:
        os.mkdir(box.path("journal"))
        journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        journal.bind(box.path("journal/socket"))
        journal.setblocking(False)
        # a /run of its own, with this journal
        there = ("unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c",
                 "mount -t tmpfs none /run && "
                 "mkdir -p /run/systemd/journal && "
                 "mount --bind %s /run/systemd/journal && "
                 "exec \"$@\"" % box.path("journal"), "sh")
        unit = ("sh", "-c", "JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2) "
                "exec \"$@\"", "sh")
        if subprocess.run(there + ("true",), capture_output=True,
                          check=False).returncode:
            raise Skip("no mount namespaces here")
        lines = ("wait up", "link s0-s1#0 down", "wait dead s0-s1#0",
                 "show alarms", "link s0-s1#0 up", "wait up", "show alarms")
        run, _ = ask(box, *lines, wrap=there)
        try: # no unit started it
            raise AssertionError(journal.recv(8192))
        except BlockingIOError:
            pass
        run, _ = ask(box, *lines, wrap=there + unit)
        got = []
        with contextlib.suppress(BlockingIOError):
            while True:
                got.append(dict(f.split("=", 1) for f in
                                journal.recv(8192).decode().split("\n") if f))
        journal.close()
    # a machine that stands still may kill the other link as well
    got = [e for e in got if e["REFLIT_WHERE"] == "link s0-s1#0"]
    assert len(got) >= 2, (got, run.out)
    assert [e["REFLIT_STATE"] for e in got] == ["raised", "over"] * (
        len(got) // 2), got
    # healed, it may be looked at before it is up: then that is why
    cut = "cut by command"
    for entry, state, priority, whys in (
            (got[0], "raised", "3", cut),
            (got[1], "over", "5", cut + r"|s[01]/\d: died by [a-z-]+, ")):
        since = entry.pop("REFLIT_SINCE")
        assert "since " + since in run.out, (since, run.out)
        why = entry["REFLIT_WHY"]
        assert re.match(whys, why), got
        assert entry.pop("MESSAGE") == \
            "alarm %s: link s0-s1#0: link-down: %s" % (state, why), got
        assert entry == {
            "PRIORITY": priority, "SYSLOG_IDENTIFIER": "reflit",
            "MESSAGE_ID": "8b1f4a7c2d0e4f6f9a53c1e07d92b648",
            "REFLIT_ALARM": "link-down", "REFLIT_SEVERITY": "major",
            "REFLIT_STATE": state, "REFLIT_WHERE": "link s0-s1#0",
            "REFLIT_WHY": why,
            "REFLIT_CONFIG": box.path("fabric.cfg"),
            "REFLIT_PROCESS": ""}, entry


main()
