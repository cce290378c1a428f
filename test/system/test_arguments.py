#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bad input fails well, and before anything starts [APP-4]: exit status 2 (or
3 for a fabric that can't be routed), and one line that says where and what to
do."""
import json
import os
import re
import subprocess

from reflit_test import Box, FIGURE1, REFLIT, ROOT, case, main


def one_line(run, status, *words):
    """Exit status, and a single line that holds every word."""
    run.check(status)
    lines = run.errors() or run.out.strip().split("\n")
    assert len(lines) == 1, "not one line:\n" + "\n".join(lines)
    for w in words:
        assert re.search(w, lines[0]), "no %s in: %s" % (w, lines[0])
    assert run.report is None, "something was started"


def bare(*args):
    return subprocess.run([REFLIT] + list(args), capture_output=True,
                          text=True, timeout=60)


@case
def help_and_version_succeed():
    for args in (("--help",), ("--", "--help"), ("-l", "0", "--", "--help")):
        p = bare(*args)
        assert p.returncode == 0 and "--cmdline-file" in p.stdout, args
    for args in (("--version",), ("--", "--version")):
        p = bare(*args)
        assert p.returncode == 0 and p.stdout.startswith("reflit "), args


@case
def unusable_arguments_exit_with_2():
    rows = (((), "--config"), (("--",), "--config"),
            (("--", "--what"), "--what"),
            (("--file-prefix", "--version"), "no -- in"),
            (("--file-prefix", "--help"), "no -- in"),
            (("--", "--config", "x", "y"), "what is 'y'"),
            (("--", "--config", "x", "--seed", "-1"), "--seed"),
            (("--", "--config", "x", "--seed", "1x"), "--seed"),
            (("--", "--config", "x", "--duration", "5"), "--duration"),
            (("--", "--config", "x", "--duration", "99h"), "--duration"),
            (("--", "--config", "x", "--duration", "0ms"), "--duration 0ms"),
            (("--", "--config", "x", "--duration", "0x10ms"), "--duration"),
            (("--", "--config", "x", "--timeline", "10us"), "1ms to 3600s"),
            (("--", "--config", "x", "--wire-flits", "33"), "1 to 32"),
            (("--", "--config", "x", "--ring-frames", "0"), "16 to 65536"),
            (("--", "--config", "x", "--traffic", "nobody"), "--help lists"),
            (("--", "--config", "x", "--packet-flits", "5-2"), "MIN-MAX"),
            (("--", "--config", "x", "-i", "--duration", "1s"),
             "with -i quit does"),
            (("--", "--config", "x", "--load", "-3"), "flits per us"))
    for args, word in rows:
        p = bare(*args)
        assert p.returncode == 2, (args, p.returncode)
        assert word in p.stderr, (args, p.stderr)


@case
def a_missing_fabric_file_is_named():
    with Box() as box:
        one_line(box.run(["--config", "/nowhere/x.cfg"], config=None), 2,
                 "/nowhere/x.cfg", "No such file")


@case
def bad_fabric_files_are_named_with_file_and_line():
    rows = (
        ("fabric: {", "", r":\d+: "),  # a syntax error: where it is noticed
        ("links = (", "linsk = (", r":6: .*linsk.*links"),
        ('b = "s0"; }', 'b = "s9"; }', r":6: .*s9"),
        ('{ name = "s1"; }', '{ name = "s0"; }', r":4: .*s0"),
        ("};\n", "};\nlink: { window_flits = 32768; };\n",
         r":9: .*window_flits.*32767"),
        ("};\n", "};\nendpoint: { window_flits = 8192; };\n",
         r":9: .*window_flits.*8191"),
        ("};\n", "};\nlink: { window_flits = 16; max_packet_flits = 17; };\n",
         r":9: .*(window_flits|max_packet_flits)"),
        ("};\n", '};\nrouting: { engine = "magic"; };\n', r":9: .*magic"),
        ("};\n", '};\nattach = ( { endpoint = "e7"; port = "p"; } );\n',
         r":9: .*e7"),
        ("};\n", '};\nattach = ( { endpoint = "e0"; port = "net_x"; } );\n',
         r":9: .*net_x.*--vdev"),
        ("};\n", '};\nlcores: { place = ( { role = "s0"; lcore = 77; } ); };\n',
         r":9: .*77.*-l"),
        ("};\n", '};\nlcores: { place = ( { role = "q"; lcore = 0; } ); };\n',
         r":9: .*begins with q"),
    )
    with Box() as box:
        for old, new, want in rows:
            text = FIGURE1.replace(old, new, 1)
            assert text != FIGURE1
            one_line(box.run(config=text), 2, "fabric.cfg" + want)


@case
def endpoints_that_cannot_reach_each_other_exit_with_2():
    text = FIGURE1.replace(
        '{ a = "s0"; b = "s1"; count = 2; },\n', "")
    with Box() as box:
        one_line(box.run(config=text), 2, "fabric.cfg", "e0", "e1")


@case
def a_fabric_that_cannot_be_routed_is_refused_with_3():
    text = FIGURE1.replace("};\n", '  fail = ["s0-s1"];\n};\n')
    with Box() as box:
        run = box.run(config=text)
        run.check(3)
        assert run.out.startswith("refused: "), run.out
        assert run.report is None


@case
def a_command_file_is_parsed_before_anything_starts():
    with Box() as box:
        one_line(box.run(["--cmdline-file", "/nowhere/x.cmd"]), 2,
                 "/nowhere/x.cmd", "No such file")
        for line, word in (("jump", "no such command"),
                           ("link s0-s1#0 sideways", "link <link> down"),
                           ("wait", "wait <time>"),
                           ("wait soon", "wait <time>"),
                           ("show", "show fabric"),
                           ("quit now", "quit"),
                           ("inject drop s0-s1#0 s0", "inject drop"),
                           ("x" * 600, "too long")):
            one_line(box.run(commands="# fine\n\nwait 1ms\n%s\n" % line), 2,
                     "commands:4: ", re.escape(word))


@case
def a_list_of_forms_for_which_there_is_no_room_ends_with_a_whole_one():
    with Box() as box:
        run = box.run(commands="show json\nquit\n")
        one_line(run, 2, "commands:1: cannot read 'show json'; it is ",
                 r" \| \.\.\.; see help all$")
        forms = run.err.split("it is ")[1].split(" | ")[:-1]
        known = box.run(["-i"], stdin="help all\nquit\n").out
        for form in forms:
            assert re.search("^ *" + re.escape(form) + "($|  )", known,
                             re.M), form


@case
def a_report_does_not_replace_a_file_that_is_read():
    with Box() as box:
        config = box.write("my.cfg", FIGURE1)
        commands = box.write("my.cmd", "quit\n")
        os.link(config, box.path("other-name"))
        for args, word in ((("--record", config), "it is read, too"),
                           (("--record", box.path("other-name")),
                            "it is read, too"),
                           (("--record", commands), "it is read, too"),
                           (("--record", box.path("report.json")),
                            "another document goes there")):
            one_line(box.run(["--config", config, "--cmdline-file", commands,
                              *args], config=None), 2, "cannot write", word)
        with open(config, encoding="utf-8") as f:
            assert f.read() == FIGURE1
        box.run(["--record", "/dev/null"], commands="quit\n").check(0)


@case
def nothing_that_a_run_reads_or_writes_is_written_over():
    """Included files, a key, files of net_pcap, and what commands write."""
    with Box() as box:
        key = box.write("my.key", "k" * 64)
        os.chmod(key, 0o600)
        box.write("inner.cfg", FIGURE1)
        config = ('@include "inner.cfg"\nlink: { key_file = "my.key"; };\n'
                  'attach = ( { endpoint = "e0"; port = "net_pcap0"; } );\n')
        box.write("in.pcap", "frames")
        os.symlink("in.pcap", box.path("link.pcap"))
        vdev = ["--vdev=net_pcap0,rx_pcap=%s,tx_pcap=%s"
                % (box.path("in.pcap"), box.path("out.pcap"))]
        read, taken = "it is read, too", "another document goes there"
        for name, why in (("inner.cfg", read), ("my.key", read),
                          ("in.pcap", read), ("link.pcap", read),
                          ("out.pcap", taken),
                          ("../%s/out.pcap" % os.path.basename(box.dir),
                           taken)):
            run = box.run(["--json", box.path(name)], eal=vdev, config=config,
                          json_report=False)
            one_line(run, 2, "cannot write", why)
            for command in ("capture s0-s1#0", "record"):
                run = box.run(eal=vdev, config=config, json_report=False,
                              commands="%s %s\nquit\n"
                              % (command, box.path(name)))
                one_line(run, 2, "commands:1: ", "cannot write", why)
        for name, content in (("inner.cfg", FIGURE1), ("my.key", "k" * 64),
                              ("in.pcap", "frames")):
            with open(box.path(name), encoding="utf-8") as f:
                assert f.read() == content, name
        assert not os.path.exists(box.path("out.pcap"))


@case
def an_unwritable_report_is_an_error():
    with Box() as box:
        run = box.run(["--json", "/nowhere/r.json"], commands="quit\n")
        run.check(2)
        assert run.err == ("reflit: cannot write /nowhere/r.json: No such file "
                           "or directory\n"), run.err
        assert run.out == "", "something was started"
        run = box.run(["--json", "/dev/full"], commands="quit\n")
        run.check(2)
        assert "/dev/full: No space left" in run.err, run.err


@case
def a_document_that_cannot_be_written_leaves_the_others():
    with Box() as box:
        rec, counts = box.path("rec"), box.path("counts")
        run = box.run(["--json", "/dev/full", "--record", rec, "--counts",
                       counts], json_report=False,
                      commands="wait up\nstart\nwait 10ms\nquit\n").check(2)
        assert "/dev/full: No space left" in run.err, run.err
        with open(rec, encoding="utf-8") as f:
            assert f.read().endswith("\nend\n")
        with open(counts, encoding="utf-8") as f:
            assert json.load(f)["endpoints"]["e0"]["tx_flits"] > 0


@case
def eal_that_does_not_start_exits_with_2():
    with Box() as box:
        run = box.run(eal=["--no-such-option"], commands="quit\n").check(2)
        assert "--no-such-option" in run.err, run.err
        assert len(run.errors()) == 1, run.err
        assert run.out == "", "EAL's list of options hides what is wrong"
        # a port whose file is missing is not there for its endpoint
        run = box.run(eal=["--vdev=net_pcap0,rx_pcap=/nowhere/x.pcap"],
                      config=FIGURE1 + 'attach = ( { endpoint = "e0"; '
                      'port = "net_pcap0"; } );\n', commands="quit\n")
        run.check(2)
        assert "/nowhere/x.pcap" in run.err
        assert "fabric.cfg:9: attach: there is no port net_pcap0," in run.err


@case
def lcores_share_cpus_only_where_the_fabric_file_insists():
    """Each port and each core of the switches has an lcore of its own."""
    with open(os.path.join(ROOT, "config/card.cfg"), encoding="utf-8") as f:
        lcores = f.read().split('@include "figure1.cfg"\n')[1]
    with Box() as box:
        run = box.run(["--packets", "2000"], config=FIGURE1 + lcores,
                      commands="wait up\nstart\nwait 20ms\n"
                      "link s0-s1#0 down\nwait dead s0-s1#0\nwait sent 60s\n"
                      "wait drained 60s\nshow lcores\nquit\n").check(0)
        assert run.report["lost_packets"] == 0
        assert run.report["delivered_packets"] == run.report["sent_packets"]
        assert len(re.findall(r"^lcore \d+:", run.out, re.M)) == 9, run.out
        # without it the reason is said, and how to insist
        run = box.run(config=FIGURE1 + lcores.replace("true", "false"),
                      eal=["--lcores=0@0,1@0,2@0,3@0"], commands="quit\n")
        one_line(run, 2, "lcore 2 runs no roles here", "lcores.share")


main()
