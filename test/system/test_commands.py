#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The prompt and command files [APP-1, APP-4]: what a command does, and that
a wrong one is one line of error and changes nothing."""
import json
import os
import re
import shutil
import signal
import subprocess

from cases import runtime_folders
from reflit_test import Box, FIGURE1, REFLIT, Skip, carrier, case, main

LINKS = ("e0-s0", "s0-s1#0", "s0-s1#1", "s1-e1")


# (line, words of its error): what can be told before anything starts
WRONG = (
    ("link s0-s9 down", "no link s0-s9"),
    ("link s0-s1#2 down", "no link s0-s1#2"),
    ("link s0-s9 up", "no link s0-s9"),
    ("link s0-s9 drain", "no link s0-s9"),
    ("link s0-s1#0 one-way e0", "no end of s0-s1#0"),
    ("link s0-s1#0 one-way e0 mid-packet", "no end of s0-s1#0"),
    ("link s0-s1#0 down after 99999999999 from s0", "out of range"),
    ("link s0-s1#0 down after 9 from s3", "no end of s0-s1#0"),
    ("link s0-s1#0 flap 0 20ms", "1 to 1000000"),
    ("link s0-s1#0 flap 2 1ns", "out of range"),
    ("link s0-s1#0 flap 2 9999s", "out of range"),
    ("link s0-s1#0 flap 2 0x10ms", "out of range"),
    ("inject drop s0-s1#0 s0 0", "frame: bad value 0"),
    ("inject corrupt s0-s1#0 s0 257", "bytes: bad value 257"),
    ("inject corrupt s0-s1#0 s7 1", "no end"),
    ("inject ber s0-s1#0 s0 1.1", "ber: bad value 1.1"),
    ("inject ber s0-s1#0 s0 1e", "ber: bad value 1e"),
    ("inject ber s0-s1#0 s0 1e-5 propagate 1", "propagate: bad value 1"),
    ("inject ber s0-s1#0 s0 1e-5 propagate 0.5 lanes 3", "1, 2, 4, 8 or 16"),
    ("inject ber s0-s1#0 s0 1e-5 propagate 0.5 lanes 32", "1, 2, 4, 8 or 16"),
    ("inject loss s0-s1#0 s0 2", "rates are 0 to 1"),
    ("inject loss s0-s1#0 s0 1e-10", "loss: bad value 1e-10"),
    ("inject stall s0-s1#0 s0 0us", "how long"),
    ("inject stall s0-s1#0 s0 5", "out of range"),
    ("inject block s0 0", "s0 is no endpoint"),
    ("inject block e0 8", "vc: bad value 8"),
    ("start e9", "no endpoint e9"),
    ("start s0", "no endpoint s0"),
    ("rate e0 5", "no port is attached"),
    ("traffic pattern brownian", "tornado, hotspot, incast, transpose or"),
    ("traffic pattern pairs", "no pattern"),
    ("traffic pattern transpose", "it needs a grid whose dims are equal"),
    ("traffic load 1e9", "out of range"),
    ("show port s0/9", "no port s0/9"),
    ("show counters x", "no port x"),
    ("show routes x", "no device x"),
    ("show events 0", "out of range"),
    ("show histogram 8", "no VC 8"),
    ("show rates s0-s9", "no link s0-s9"),
    ("show errors s0-s9", "no link s0-s9"),
    ("show path e0 s1", "no endpoint s1"),
    ("show path e0 e0", "give two"),
    ("show flow s0", "no endpoint s0"),
    ("show flow e0 e9", "no endpoint e9"),
    ("show events s0-s9", "no link s0-s9"),
    ("help me", "no section me"),
    ("load /nowhere", "/nowhere: No such file"),
    ("load /", "/: it is not a plain file"),
    ("wait 5", "is not a time"),
    ("wait up 5", "is not a time"),
    ("wait sent 5", "is not a time"),
    ("wait drained 99h", "is not a time"),
    ("wait dead s0-s9", "no link"),
    ("wait cut s0-s1 9", "is not a time"),
)
# what only the running fabric knows
WRONG_NOW = (
    ("link s0-s1#0 up", "s0-s1#0 is not down"),
    ("link s0-s1#0 enable", "enabled already"),
    ("inject unblock e0 0", "VC 0 of e0 is not blocked"),
)
# one of every form, all of them fine
RIGHT = """help
help link
help all
start
start e0
stop
stop e0
traffic pattern uniform
traffic load 0.5
traffic packets 7
wait 1ms
wait drained 1s
wait sent 1s
wait cut s0-s1#0 1s
wait dead s0-s1#0 1s
wait dead s0-s1#0
wait up 1s
link s0-s1 down
link s0-s1#0 down mid-packet
link s1-s0#0 down after 5 from s0
link s0-s1#0 one-way s1
link s0-s1#0 one-way s1 after 4
link s0-s1#0 one-way s1 mid-packet
link s0-s1#0 up
link s0-s1#0 flap 3 20ms
link s0-s1#0 disable
link s0-s1#0 drain
link s0-s1#0 enable
inject drop s0-s1#0 s0 3
inject corrupt s0-s1#0 s0 3
inject ber s0-s1#0 s0 1e-5
inject ber s0-s1#0 s0 1e-5 propagate 0.8
inject ber s0-s1#0 s0 1e-5 propagate 0.8 lanes 16
inject loss s0-s1#0 s0 0.02
inject stall s0-s1#0 s0 1ms
inject delay s0-s1#0 s0 1ms
inject block e0 0
inject unblock e0 0
show fabric
show port all
show port s0/1
show replay
show flow
show routes s0
show events
show events 7
show histogram
show histogram 3
show counters s0
show faults
show lcores
show traffic
show wires
show rates
show rates all
show rates s0-s1
show errors
show errors all
show errors s0-s1#0
show path e0 e1
show flow e0
show flow e0 e1
show events s0-s1#0
clear counters
set verbose links
set verbose all
set verbose off
"""


def check_errors(run, rows, first, head):
    errors = [e for e in run.errors() if e.startswith(head)]
    assert len(errors) == len(rows), run.err
    for i, (line, word) in enumerate(rows):
        at = "%s:%d: " % (head, i + first)
        assert at in errors[i] and word in errors[i], (line, errors[i])


def links_are_whole(run):
    """Every link is up at both ends, and none is marked."""
    for link in LINKS:
        shown = [s for s in run.out.split("\n") if s.strip()
                 .startswith(link + " ")]
        assert shown[0].count("UP, alive") == 2, shown
        assert shown[0].rstrip().endswith("alive"), shown


@case
def a_command_file_is_checked_as_a_whole_before_anything_starts():
    with Box() as box:
        text = RIGHT + "".join(r[0] + "\n" for r in WRONG) + "quit\n"
        run = box.run(commands=text)
        run.check(2)
        errors = run.errors()
        assert len(errors) == len(WRONG), run.err
        lines = text.split("\n")
        for (line, word), error in zip(WRONG, errors):
            at = "commands:%d: " % (lines.index(line) + 1)
            assert at in error and word in error, (line, error)
        assert run.out == "" and run.report is None, "something was started"
        run = box.run(commands="traffic pattern tornado\n", config=FIGURE1 +
                      'attach = ( { endpoint = "e0"; port = "p"; } );\n')
        run.check(2)
        assert "commands:1: only uniform goes where" in run.err, run.err


@case
def a_file_that_is_no_command_file_is_not_poured_over_the_terminal():
    with Box() as box:
        for lines in (100, 150):
            errors = box.run(commands="link \x1b[2J\x07\x7f down\n" *
                             lines).check(2).errors()
            assert errors[:100] == [
                "%s:%d: there is no link ?[2J??; see show fabric" %
                (box.path("commands"), i + 1) for i in range(100)], errors
            assert errors[100:] == (
                [] if lines == 100 else
                ["%s:100: 100 mistakes; what follows is not checked" %
                 box.path("commands")]), errors


@case
def wrong_commands_change_nothing():
    with Box() as box:
        tail = "show fabric\nstart\nwait 20ms\nstop\nwait drained\nquit\n"
        # a file: what only the running fabric can tell
        run = box.run(commands="wait up\n" +
                      "".join(r[0] + "\n" for r in WRONG_NOW) + tail)
        run.check(2)
        check_errors(run, WRONG_NOW, 2, box.path("commands"))
        assert run.report["failed_commands"] == len(WRONG_NOW)
        links_are_whole(run)
        # lines of a pipe: all of it
        rows = WRONG + WRONG_NOW
        run = box.run(["-i"], stdin="wait up\n" +
                      "".join(r[0] + "\n" for r in rows) + tail)
        run.check(2)
        check_errors(run, rows, 2, "stdin")
        assert run.report["failed_commands"] == len(rows)
        assert run.report["lost_packets"] == 0
        assert run.report["failovers"] == []
        links_are_whole(run)


@case
def a_command_file_may_be_a_pipe_and_is_read_once():
    with Box() as box:
        config = box.write("fabric.cfg", FIGURE1)
        p = subprocess.run(
            ["bash", "-c", "%s -- --config %s --cmdline-file <(sleep 0.2; "
             "printf 'wait up\\nshow fabric\\nquit\\n')" % (REFLIT, config)],
            capture_output=True, text=True, timeout=60)
        assert p.returncode == 0, p
        assert "4 devices, 2 endpoints" in p.stdout, p.stdout
        os.mkfifo(box.path("fifo"))
        for path, why in ((box.dir, "not a plain file"),
                          (box.path("fifo"), "has no writer"),
                          ("", "without a name")):
            run = box.run(["--cmdline-file", path])
            run.check(2)
            assert why in run.err and run.err.count("\n") == 1, run.err
            assert run.report is None


@case
def links_have_the_settings_of_their_type_and_name():
    with Box() as box:
        run = box.run(config=FIGURE1 + """link_settings = (
  { links = "isl"; window_flits = 64; error_corrected_max = 77; },
  { links = "s0-s1#1"; flits_per_frame = 2; } );
""", commands="wait up\nshow port s0/0\nshow port s0/1\nshow port s0/2\n"
             "start\nwait 20ms\nstop\nwait drained\nquit\n")
        run.check(0)
        ports = re.split(r"^s0/", run.out, flags=re.M)[1:]
        assert len(ports) == 3, run.out
        for text, window, frame in zip(ports, (512, 64, 64), (16, 16, 2)):
            assert "window %d " % window in text, text
            assert " %d flits a frame" % frame in text, text
        run = box.run(config=FIGURE1 + "link_settings = "
                      '( { links = "isl"; vcs = 2; } );\n', commands="quit\n")
        run.check(2)
        assert "link_settings.vcs: all links share it" in run.err, run.err
        two = FIGURE1 + "link: { vcs = 2; };\n"
        run = box.run(config=two, commands="wait up\ninject block e1 1\n"
                      "inject block e1 1\nquit\n").check(2)
        assert "VC 1 of e1 is blocked already" in run.err, run.err
        run = box.run(config=two, commands="inject block e1 2\n").check(2)
        assert "VC 2: links have 2" in run.err, run.err


@case
def lines_may_be_long_and_zero_bytes_are_refused():
    long = "# " + "a comment; " * 500 + "quit\n"
    with Box() as box:
        # and so may a comment behind a command, of more words than any has
        run = box.run(commands=long + "wait up # until all links of the "
                      "fabric are up and trained, then end\nquit # now\n")
        run.check(0)
        run = box.run(["-i"], stdin=long + "foo" * 300 + "\nwait\0 up\n" +
                      "show traffic\nquit")
        run.check(2)
        errors = run.errors()
        assert len(errors) == 2, run.err
        assert "stdin:2: a line of 900 characters" in errors[0], errors
        assert "stdin:3: a zero byte" in errors[1], errors
        assert run.out.count("last ") == 1, run.out  # line 4 was run
        # lines of another system: the text of say, too
        run = box.run(commands=b"wait up\r\nsay here\r\nquit\r\n").check(0)
        assert [s["text"] for s in run.report["steps"]] == ["here"]
        run = box.run(commands="wait up\nwait\0 1ms\nquit\n")
        run.check(2)
        assert "commands:2: a zero byte" in run.err, run.err
        assert run.report is None


@case
def every_show_command_shows_something():
    shows = ("fabric", "port all", "port s0", "port s0/1", "replay", "flow",
             "routes s0", "events", "events 5", "histogram", "histogram 0",
             "counters all",
             "counters e0", "faults", "lcores", "traffic", "rates",
             "rates all", "errors", "errors all", "path e0 e1",
             "flow e0", "flow e0 e1", "events s0-s1#0")
    with Box() as box:
        run = box.run(commands="wait up\ntraffic packets 100\nstart\n"
                      "wait sent\nwait drained\n" + "".join(
                          "say <%s>\nshow %s\n" % (s, s) for s in shows) +
                      "say <end>\nquit\n").check_clean()
    for s, then in zip(shows, shows[1:] + ("end",)):
        shown = run.out.split("<%s>\n" % s)[1].split("<%s>\n" % then)[0]
        assert len(shown) > 20, (s, shown)


@case
def progress_is_a_line_a_second():
    with Box() as box:
        run = box.run(["--progress", "--load", "0.01", "--duration", "2.5s"])
    run.check_clean()
    lines = [s for s in run.errors() if "under way" in s]
    assert 2 <= len(lines) <= 4, run.err


@case
def help_lists_every_command_with_its_words():
    with Box() as box:
        run = box.run(commands="help all\nquit\n").check(0)
    for word in ("link <link> down", "wait drained", "inject ber",
                 "show replay", "quit"):
        assert word in run.out, word


def failovers(run, link):
    return [f for f in run.report["failovers"] if f["link"] == link]


def cut(commands, config=FIGURE1, args=()):
    """Traffic both ways, a fault in its middle, healed; all must arrive."""
    text = ("wait up\ntraffic load 0.1\nstart\nwait 30ms\n" + commands +
            "wait 30ms\nstop\nwait up\nwait drained\nquit\n")
    with Box() as box:
        return box.run(args, commands=text, config=config).check_clean()


@case
def a_link_that_goes_dark_is_detected_by_its_phy_at_both_ends():
    run = cut("link s0-s1#0 down\nwait dead s0-s1#0\nlink s0-s1#0 up\n")
    found = failovers(run, "s0-s1#0")
    assert sorted(f["device"] for f in found) == ["s0", "s1"]
    for f in found:
        assert f["detector"] == "phy"
        assert 0 < f["detect_ns"] and 0 < f["drained_ns"]


@case
def a_cut_of_one_direction_is_found_by_retrain_or_keepalive():
    for dev in ("s0", "s1"):
        run = cut("link s0-s1#1 one-way %s\nwait dead s0-s1#1\n"
                  "link s0-s1#1 up\n" % dev)
        found = failovers(run, "s0-s1#1")
        assert found, "no failover"
        for f in found:
            assert f["detector"] in ("retrain", "keepalive", "peer"), f
            assert f["detect_ns"] > 0


@case
def a_cut_after_so_many_flits_loops_back_what_was_acknowledged():
    config = FIGURE1 + "link: { flits_per_frame = 1; };\n"
    run = cut("link s0-s1 one-way s0 after 40\nwait dead s0-s1#%d\n"
              "link s0-s1 up\n" % carrier(config),
              config=config, args=("--packet-flits", "8"))
    assert sum(f["looped_packets"] for f in run.report["failovers"]) > 0


@case
def a_link_that_flaps_comes_back():
    run = cut("link s0-s1#0 flap 5 10ms\nwait 80ms\n")
    assert len(failovers(run, "s0-s1#0")) >= 2


@case
def a_link_goes_down_and_up_by_order():
    run = cut("link s0-s1#0 disable\nwait dead s0-s1#0\n"
              "link s0-s1#0 enable\n")
    for f in failovers(run, "s0-s1#0"):
        assert f["detector"] in ("command", "peer"), f


@case
def frames_lost_hurt_stalled_and_late_are_made_good_by_the_link():
    run = cut("inject drop s0-s1#0 s0 1\ninject drop s0-s1#1 s0 1\n"
              "inject drop s0-s1#0 s1 2\ninject drop s0-s1#1 s1 2\n"
              "inject corrupt s0-s1#0 s0 1\ninject corrupt s0-s1#1 s0 100\n"
              "inject stall s0-s1#1 s1 3ms\ninject delay s0-s1#0 s1 100us\n"
              "wait 20ms\ninject delay s0-s1#0 s1 0us\n"
              "inject ber s0-s1#1 s0 1e-5\nwait 30ms\nlink s0-s1#1 up\n")
    assert run.report["port_counters"]["tx_replay_flits"] > 0
    assert run.report["port_counters"]["tx_nak"] > 0


@case
def every_frame_may_be_lost_by_chance():
    run = cut("inject loss s0-s1 s0 0.2\ninject loss s0-s1 s1 0.2\n"
              "wait 500ms\nshow faults\nlink s0-s1 up\n")
    assert run.report["port_counters"]["tx_replay_flits"] > 0
    lost = [int(s.split()[4]) for s in run.out.split("\n")
            if s.startswith("s0-s1#") and " loss=0.2 " in s]
    assert len(lost) == 4 and sum(lost) > 0, run.out


@case
def a_receiver_that_takes_nothing_of_a_vc_gets_it_all_later():
    config = FIGURE1 + "routing: { levels = 8; };\n"
    run = cut("inject block e1 3\nwait 200ms\nshow traffic\nwait 400ms\n"
              "show traffic\nshow faults\ninject unblock e1 3\n",
              config=config, args=("--classes", "8", "--load", "0.1"))
    last = run.out.split("last ")[2].split("\nsent")[0]
    flits = {int(s.split()[1][0]): int(s.split()[2])
             for s in last.split("\n")[1:]}
    # e0 sends to e1 and e1 to e0: of VC 3 what comes to e0 still comes, until
    # ACKs are missing that wait at e1
    assert flits[2] > 0 and flits.get(3, 0) < flits[2], run.out
    assert run.out.count("e1 takes nothing of VC 3\n") == 1, run.out
    assert len(run.report["latency_by_vc"]) == 8


@case
def cuts_of_endpoint_links_hold_traffic_until_they_heal():
    run = cut("link e0-s0 down\nwait dead e0-s0\nlink e0-s0 up\n")
    assert failovers(run, "e0-s0")


@case
def without_a_terminal_the_prompt_reads_lines():
    with Box() as box:
        run = box.run(["-i"], stdin="wait up\ntraffic packets 50\nstart\n"
                      "wait sent\nwait drained\nshow traffic\nfoo\nquit\n")
        run.check(2)
        assert "stdin:7: no such command: foo" in run.err
        assert run.report["delivered_packets"] == 100


@case
def the_end_of_input_ends_the_run():
    with Box() as box:
        box.run(["-i"], stdin="wait up\n").check(0)


@case
def a_signal_ends_the_run_with_a_report():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        with Box() as box:
            config = box.write("fabric.cfg", FIGURE1)
            p = subprocess.Popen([REFLIT, "--", "--config", config, "--load",
                                  "0.01", "--progress", "--json",
                                  box.path("r")], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
            while True:  # until something is sent
                line = p.stderr.readline()
                assert "under way" in line, line
                if "  sent 0 " not in line:
                    break
            p.send_signal(sig)
            out = p.stdout.read()
            p.wait(30)
            assert p.returncode == 0, (sig, out + p.stderr.read())
            assert "lost 0, duplicated 0" in out
            with open(box.path("r"), encoding="utf-8") as f:
                assert json.load(f)["sent_packets"] > 0


@case
def a_reader_that_goes_away_ends_the_run_and_the_report_is_written():
    with Box() as box:
        config = box.write("fabric.cfg", FIGURE1)
        # some packets are sent before the first line, or the run is a failure
        commands = box.write("commands", "wait up\nstart\nwait 200ms\n" +
                             "show traffic\nwait 10ms\n" * 1000)
        p = subprocess.Popen([REFLIT, "--", "--config", config, "--load",
                              "0.01", "--cmdline-file", commands, "--json",
                              box.path("r")], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        p.stdout.readline()
        p.stdout.close()
        err = p.stderr.read()
        assert p.wait(60) == 2, err
        assert "standard output could not be written" in err, err
        with open(box.path("r"), encoding="utf-8") as f:
            r = json.load(f)
        assert r["sent_packets"] == r["delivered_packets"] > 0
        assert r["elapsed_ns"] < 8e9, "it went on without a reader"


USER = 65532  # an ordinary one


@case
def an_ordinary_users_runtime_folder_is_removed_whatever_ends_the_run():
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("needs root and setpriv")
    env = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    # the common folder is somebody else's: each run makes its own
    ours = not os.path.exists("/tmp/dpdk")
    if ours:
        os.mkdir("/tmp/dpdk", 0o700)
    try:
        runtime_folders_go(env)
    finally:
        if ours:
            os.rmdir("/tmp/dpdk")


def runtime_folders_go(env):
    for sig in (signal.SIGHUP, signal.SIGTERM):
        with Box() as box:
            config = box.write("fabric.cfg", FIGURE1)
            before = runtime_folders(USER)
            p = subprocess.Popen(
                ["setpriv", "--reuid=%d" % USER, "--regid=%d" % USER,
                 "--clear-groups", REFLIT, "--", "--config", config, "--load",
                 "0.01", "--progress"], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, env=env)
            line = p.stderr.readline()
            if "Permission denied" in line:
                raise Skip("an ordinary user cannot run it")
            assert "under way" in line, line
            mine = runtime_folders(USER) - before
            assert mine
            p.send_signal(sig)
            said = p.stderr.read()
            assert p.wait(60) == 0, said
            assert not mine & runtime_folders(USER), mine


@case
def the_report_can_go_to_standard_output():
    with Box() as box:
        p = subprocess.run(
            [REFLIT, "--", "--config", box.write("fabric.cfg", FIGURE1),
             "--cmdline-file", box.write("c", "wait up\nshow fabric\nquit\n"),
             "--json", "-"], capture_output=True, text=True, timeout=60,
            cwd=box.dir)
        assert p.returncode == 0, p
        r = json.loads(p.stdout)
        assert r["program"] == "reflit" and "--json" in r["arguments"]
        assert "4 devices, 2 endpoints" in p.stderr and "lost 0" in p.stderr
        assert not os.path.exists(box.path("-"))


@case
def a_link_with_many_errors_is_degraded_and_then_dead_and_both_are_shown():
    """[LINK-5] errors that FEC mends, in both directions of one link."""
    config = FIGURE1 + """
link: { error_window_ns = 300000000000; error_corrected_max = 60;
        error_uncorrectable_max = 1000000; };
# a controller would leave the link before it dies
controller: { mode = "off"; };
"""
    text = ("wait up\nshow port s0/1\nstart\n"
            "inject ber s0-s1#0 s0 1e-6\ninject ber s0-s1#0 s1 1e-6\n"
            "wait dead s0-s1#0\nstop\nlink s0-s1#0 up\nwait up\n"
            "wait drained\nshow events 1000\nshow port s0/1\n"
            "show counters all\nquit\n")
    with Box() as box:
        run = box.run(["--load", "0.5"], commands=text,
                      config=config).check_clean()
    assert "error rate: good; corrected 0 %" in run.out
    degraded = [s for s in run.out.split("\n") if "s0-s1#0 degraded" in s]
    dead = [s for s in run.out.split("\n")
            if "s0-s1#0 dead, detector error-rate" in s]
    assert degraded and dead, run.out
    assert run.out.index(degraded[0]) < run.out.index(dead[0])
    assert "last death error-rate" in run.out or \
        "last death peer" in run.out
    assert "  rx_corrected " in run.out and "  degraded " in run.out
    counters = run.report["port_counters"]
    assert counters["degraded"] >= 1 and counters["rx_corrected"] > 60
    assert any(f["detector"] == "error-rate"
               for f in failovers(run, "s0-s1#0"))
    for key in ("core_counters", "endpoint_counters"):
        assert any(v > 0 for v in run.report[key].values()), key


main()
