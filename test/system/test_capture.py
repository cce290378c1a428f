#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Captures and the dissector [APP-3]: real runs, and a frame of every type,
as tshark reads them."""
import os
import shutil
import subprocess
import sys

from reflit_test import Box, FIGURE1, ROOT, carrier, case, main, need

FRAME_PCAP = sys.argv[4]
LUA = os.path.join(ROOT, "app", "dissector")
BOOLEANS = {"True": "1", "False": "0"}  # as tshark prints them since 4.4


def ordinary(box):
    """Arguments by which root runs a program as nobody: tshark 4.4 takes no
    script of root's."""
    if os.geteuid() != 0:
        return {}
    return {"user": 65534, "group": 65534, "extra_groups": [],
            "env": dict(os.environ, HOME=box)}


def tshark(path, fields, where=None, prefs=()):
    """Rows of fields, each a list of that field's values."""
    need("tshark")
    box = os.path.dirname(path)
    lua = shutil.copytree(LUA, os.path.join(box, "lua"), dirs_exist_ok=True)
    cmd = ["tshark", "-X", "lua_script:" + os.path.join(lua, "reflit.lua"),
           "-r", path, "-T", "fields",
           "-E", "separator=\t", "-E", "aggregator=;"]
    for pref in prefs:
        cmd += ["-o", pref]
    for field in fields:
        cmd += ["-e", field]
    if where:
        cmd += ["-Y", where]
    p = subprocess.run(cmd, capture_output=True, text=True, timeout=120,
                       check=False, **ordinary(box))
    assert p.returncode == 0 and "Lua" not in p.stderr, p.stderr
    return [[[BOOLEANS.get(word, word) for word in v.split(";")] if v else []
             for v in line.split("\t")]
            for line in p.stdout.split("\n") if line]


def made(box, kind):
    need("tshark")
    path = box.path(kind + ".pcap")
    p = subprocess.run([FRAME_PCAP, kind, path], capture_output=True,
                       text=True, check=True)
    return path, p.stdout.split("\n")[:-1]


def numbers(row):
    return [int(v, 0) for v in row]


@case
def every_field_of_every_type_of_frame_is_read():
    with Box() as box:
        path, names = made(box, "types")
        head = ["reflit." + f for f in (
            "type", "version", "flits", "flags", "tx_epoch", "rx_epoch", "seq",
            "ack", "stamp", "stamp_echo")] + ["reflit.credit"]
        rows = dict(zip(names, tshark(path, head)))
        bad = tshark(path, ["reflit.check.bad", "frame.number"])
        init = tshark(path, ["reflit.init.nonce", "reflit.init.nonce_echo",
                             "reflit.init.incarnation", "reflit.init.digest",
                             "reflit.init.flits", "reflit.init.end",
                             "reflit.init.link", "reflit.init.port"],
                      "reflit.type==3")
        device = tshark(path, ["reflit.init.device"], "reflit.type==3")
        data = tshark(path, ["reflit.flit.seq", "reflit.flit.vc",
                             "reflit.flit.sop", "reflit.flit.looped",
                             "reflit.flit.hops", "reflit.flit.ack",
                             "reflit.txn.dst", "reflit.txn.src",
                             "reflit.txn.sl", "reflit.txn.cos",
                             "reflit.txn.class", "reflit.txn.tag",
                             "reflit.txn.pos", "reflit.txn.len",
                             "reflit.txn.eop", "reflit.flit.number",
                             "reflit.flit.state"],
                      "reflit.type==1 && reflit.flits==6")
    for name, kind, flags in (("init", 3, 4), ("idle", 2, 0x30),
                              ("retrain", 4, 4), ("data", 1, 1),
                              ("close", 5, 0)):
        row = [numbers(v) for v in rows[name]]
        assert row[0] == [kind] and row[1] == [3] and row[3] == [flags], row
        assert row[2] == [6 if name == "data" else 0]
        assert row[4:6] == [[7], [9]]
        assert row[6:8] == ([[0], [0]] if name == "init"
                            else [[65530], [4660]]), row
        assert row[8] == [0x55112233445566] and row[9] == [0x01020304], row
        assert row[10] == [100 * vc + 1 for vc in range(8)]
    assert [bool(b[0]) for b in bad[:5]] == [False] * 5, "whole, yet refused"
    assert numbers(sum(init[0], [])) == [0x1122334455667788, 0x99, 0xabc,
                                         0xdef, 16, 1, 70000, 12]
    assert device[0] == [["s1.2"]], device
    d = data[0]
    assert numbers(d[0]) == [65530, 65531, 65532, 65533, 65534, 65535]
    assert d[1] == ["6"] * 6 and d[4] == ["77"] * 6
    assert d[2] == ["1"] + ["0"] * 5 and d[3] == ["1"] + ["0"] * 5
    assert numbers(d[5]) == [0x2abcde] * 6
    assert d[6] == ["513"] * 6 and d[7] == ["258"] * 6
    assert d[8] == ["5"] * 6 and d[9] == ["3"] * 6 and d[10] == ["2"] * 6
    assert numbers(d[11]) == [0xdeadbeef] * 6
    assert numbers(d[12]) == list(range(6)) and d[13] == ["6"] * 6
    assert d[14] == ["0"] * 5 + ["1"]
    assert numbers(d[15]) == list(range(700, 706)), d[15]
    assert d[16] == ["intact"] * 6


@case
def frames_that_are_hurt_are_told_by_what_is_wrong_with_them():
    with Box() as box:
        path, names = made(box, "types")
        rows = tshark(path, ["_ws.col.Info", "reflit.flit.state",
                             "reflit.check.bad", "reflit.fec.corrected",
                             "reflit.fec.bad", "reflit.flit.number"])
    got = dict(zip(names, rows))
    one = got["two bytes wrong"]
    assert one[1] == ["corrected, 2 bytes"] and one[5] == ["5"] and one[3]
    two = got["two bytes of a group wrong"]
    assert two[1] == ["corrupt"] and two[5] == [] and two[4], two
    assert got["header wrong"][2] and "header corrupt" in \
        got["header wrong"][0][0]
    for name, why in (("cut short", "shorter than its flits"),
                      ("no header", "shorter than a header"),
                      ("version 4", "version 4 is not 3"),
                      ("type 9", "unknown type 9"),
                      ("33 flits", "33 flits are too many")):
        assert got[name][0] == ["malformed: " + why], (name, got[name])


@case
def numbers_are_decoded_whatever_they_are_mixed_by():
    for kind, first, count, name in (
            ("wide", 700, 6, "ecma, wide"), ("xor10", 700, 6, "ecma, xor10"),
            ("xor10-bch", 700, 6, "bch, xor10"),
            ("wide19", 0x7bcde, 3, "bch, wide19")):
        with Box() as box:
            path, _ = made(box, kind)
            row = tshark(path, ["reflit.flit.number",
                                "reflit.flit.mixing"])[0]
            assert numbers(row[0]) == list(range(first, first + count)), row
            assert row[1] == [name] * count, row
            # and the wrong code explains nothing
            wrong = "bch, wide" if kind != "wide" else "bch, wide19"
            row = tshark(path, ["reflit.flit.number", "reflit.flit.state"],
                         prefs=["reflit.code:" + wrong])[0]
            assert row[0] == [] and row[1] == ["corrupt"] * count, row


@case
def a_token_is_named_with_the_tables_that_it_stands_for():
    with Box() as box:
        path, _ = made(box, "token")
        row, = tshark(path, ["reflit.token", "reflit.flit.vc", "reflit.flit",
                             "reflit.check.bad", "reflit.flit.number"])
        assert numbers(row[0]) == [41] and row[1] == ["2"], row
        assert not row[3] and not row[4], row
        path, _ = made(box, "wide")
        assert tshark(path, ["reflit.token", "reflit.type"])[0] == [[], ["1"]]


def captured(box, link, commands, args=("--load", "0.05")):
    path = box.path("a.pcapng")
    run = box.run(args, commands="capture %s %s\n" % (link, path) + commands,
                  config=FIGURE1)
    return path, run


@case
def a_capture_of_a_run_has_both_directions_and_its_faults():
    lane = carrier(FIGURE1)
    link = "s0-s1#%d" % lane
    with Box() as box:
        path, run = captured(
            box, link, "wait up\nstart\nwait 20ms\ninject corrupt %s s0 1\n"
            "inject drop %s s0 3\nwait 300ms\nlink %s down\nwait dead %s\n"
            "wait 20ms\nlink %s up\nwait up\nwait 20ms\nstop\nwait drained\n"
            "show captures\ncapture %s off\nquit\n" % ((link,) * 6))
        run.check_clean()
        assert "capture: " in run.out and ", 0 left out" in run.out
        rows = tshark(path, ["frame.interface_name", "frame.comment",
                             "reflit.type", "reflit.flit.state",
                             "reflit.gap", "reflit.nak", "reflit.replay",
                             "reflit.tx_epoch", "reflit.flits",
                             "reflit.fec.corrected", "reflit.check.bad",
                             "reflit.lost", "frame.time_relative"])
    assert set(r[0][0] for r in rows) == {link + " from s0", link + " from s1"}
    comments = [r[1][0] for r in rows if r[1]]
    assert comments.count("corrupted by an injected fault") == 1, comments
    assert comments.count("lost: injected drop, loss or cut") == 1
    hurt = [r for r in rows if r[1] and "corrupted" in r[1][0]][0]
    states = set(hurt[3])
    assert hurt[10] or "corrupt" in states or \
        any(s.startswith("corrected") for s in states), hurt
    assert any(r[5] for r in rows), "no NAK"
    assert any(r[6] for r in rows), "no replay"
    assert any(r[4] for r in rows), "no gap"
    lost = [r for r in rows if r[11]]
    assert len(lost) == len([c for c in comments if c.startswith("lost")])
    # trained anew, in another epoch: as often as it died
    types = set(int(r[2][0]) for r in rows if r[2])
    assert {1, 2, 3} <= types, types
    deaths = [sum(f["link"] == link and f["device"] == d
                  for f in run.report["failovers"]) for d in ("s0", "s1")]
    assert min(deaths) >= 1
    assert len(set(r[7][0] for r in rows if r[2] == ["1"])) == 1 + max(deaths)
    # all other flits are whole
    whole = [s for r in rows if not r[1] for s in r[3]]
    assert len(whole) > 100 and set(whole) == {"intact"}, set(whole)
    # as many frames as the program says
    said = int(run.out.split("capture: ")[1].split()[0])
    assert said == len(rows)


@case
def a_capture_is_bounded_and_the_run_goes_on():
    with Box() as box:
        path = box.path("a.pcapng")
        run = box.run(commands="wait up\ntraffic packets 2000\n"
                      "capture s0-s1 %s 1\nstart\nwait sent\nwait drained\n"
                      "show captures\ncapture s0-s1 off\nquit\n" % path)
        run.check_clean()
        assert "%s is full (1 MiB)" % path in run.out, run.out
        assert ", ended" in run.out
        size = os.path.getsize(path)
        assert 0.9 * 2**20 < size <= 2**20 + 1000, size
        assert len(tshark(path, ["reflit.type"])) > 50


@case
def a_capture_that_finds_no_room_says_so_and_the_run_goes_on():
    # what a full disk is to a program, by a limit on the size of files
    limit = ("env", "--ignore-signal=XFSZ", "prlimit", "--fsize=100000")
    with Box() as box:
        path = box.path("a.pcapng")
        run = box.run(commands="wait up\ntraffic packets 2000\n"
                      "capture s0-s1 %s\nstart\nwait sent\nwait drained\n"
                      "quit\n" % path, wrap=limit)
        run.check(2)
        assert "%s: File too large" % path in run.err, run.err
        assert "could not be written: File too large" in run.err, run.err
        assert run.report["sent_packets"] == 4000 == \
            run.report["delivered_packets"], run.report
        assert os.path.getsize(path) <= 100000


@case
def off_without_a_number_closes_the_captures_of_all_parallel_links():
    with Box() as box:
        a, b = box.path("a"), box.path("b")
        run = box.run(commands="wait up\ncapture s0-s1#1 %s\n"
                      "capture s0-s1#0 %s\nwait 20ms\ncapture s0-s1 off\n"
                      "show captures\ncapture s0-s1#1 %s\n"
                      "capture s1-s0 off\ncapture s0-s1 off\nquit\n"
                      % (a, b, a)).check(2)
        assert run.out.count("capture: ") == 3, run.out
        assert "nothing is being captured" in run.out, run.out
        assert len(run.errors()) == 1, run.err
        assert "s0-s1 is not being captured" in run.err, run.err


@case
def captures_that_cannot_be_are_refused_and_change_nothing():
    with Box() as box:
        a = box.path("a.pcapng")
        keep = box.write("keep", "precious")
        os.mkfifo(box.path("fifo"))
        rows = (("capture s0-s1#0 off", "s0-s1#0 is not being captured"),
                ("capture s0-s1#0 /nowhere/x", "/nowhere/x: No such file"),
                ("capture s0-s1#0 %s" % box.dir, "not a plain file"),
                ("capture s0-s1#0 %s" % box.path("fifo"), "not a plain file"),
                ("capture s0-s1#0 /dev/null", "not a plain file"),
                ("capture s0-s1 %s" % keep, "captured already"))
        run = box.run(["-i"], stdin="wait up\n" + "".join(
            r[0] + "\n" for r in rows[:-1]) + "capture s1-s0#1 %s\n" % a +
            rows[-1][0] + "\nquit\n")
        run.check(2)
        errors = run.errors()
        assert len(errors) == len(rows), run.err
        for (line, why), error in zip(rows, errors):
            assert why in error, (line, error)
        with open(keep, encoding="utf-8") as f:
            assert f.read() == "precious"
        # the end of the run closes what is open
        assert "capture: " in run.out and os.path.getsize(a) > 100
        run = box.run(commands="capture s0-s9 %s\ncapture s0-s1 %s 0\n"
                      "quit\n" % (a, a))
        run.check(2)
        assert "no link s0-s9" in run.err and "1 to 65536 MiB" in run.err
        # two captures into one file, by whatever name
        os.symlink("a.pcapng", box.path("link"))
        for name in ("a.pcapng", "./a.pcapng", "link"):
            run = box.run(commands="wait up\ncapture s0-s1#0 %s\n"
                           "capture s0-s1#1 %s/%s\nquit\n"
                           % (a, box.dir, name))
            run.check(2)
            assert run.errors() == [
                "%s:3: cannot write %s/%s: another document goes there"
                % (box.path("commands"), box.dir, name)], run.err


main()
