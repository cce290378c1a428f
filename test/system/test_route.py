#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit-route as its users meet it: documents on standard output, the kinds
of fabric, and the tables of other people's routers [ROUTE-5, ROUTE-8].

    test_route.py REFLIT_ROUTE SOURCE_ROOT
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cases import Skip, run_cases

ROUTE, ROOT = (os.path.abspath(p) for p in sys.argv[1:3])
DUMPS = os.path.join(ROOT, "test/unit/opensm")
CASES = []


def case(fn):
    CASES.append(fn)
    return fn


def route(*args, status=0):
    p = subprocess.run([ROUTE] + list(args), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=120, cwd=ROOT,
                       universal_newlines=True)
    assert p.returncode == status, "exit status %s, not %s\n%s\n%s" % (
        p.returncode, status, p.stdout[-2000:], p.stderr[-2000:])
    return p


def config(text, status=0, args=("--verify",)):
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as f:
        f.write(text)
        f.flush()
        return route("--config", f.name, *args, status=status)


def cpu_seconds(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            ticks = f.read().rsplit(")", 1)[1].split()[11:13]
    except OSError:
        return 0.0
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def last_lines(out):
    """The closing lines of --verify, by their first word."""
    return dict(line.split(" ", 1) for line in out.rstrip().split("\n")[-4:])


@case
def a_document_on_standard_output_is_alone():
    p = route("--config", "config/torus-4x4.cfg", "--verify", "--stats",
              "--detours", "--time", "--json", "-")
    report = json.loads(p.stdout)
    assert report["reachable"] == report["pairs"] == 240, report
    assert report["stretch_mean"] == 1.0, report
    assert "credit-loops 0" in p.stderr, p.stderr
    p = route("--config", "config/torus-4x4.cfg", "--verify", "--dump", "-")
    words = {line.split(" ")[0] for line in p.stdout.rstrip().split("\n")}
    assert words == {"switch", "link", "path", "backup"}, words
    assert "credit-loops 0" in p.stderr, p.stderr
    p = route("--config", "config/torus-4x4.cfg", "--dot", "-")
    assert p.stdout.startswith("graph fabric {"), p.stdout[:80]


@case
def two_documents_do_not_share_standard_output():
    p = route("--config", "config/torus-4x4.cfg", "--json", "-", "--dump", "-",
              status=2)
    assert p.stdout == "" and p.stderr.count("\n") == 1, p


@case
def without_a_document_the_proof_is_last_on_standard_output():
    p = route("--config", "config/torus-4x4.cfg", "--verify")
    assert last_lines(p.stdout) == {
        "pairs": "240/240", "max-hops": "6", "mean-hops": "4.1333",
        "credit-loops": "0"}, p.stdout


@case
def every_kind_of_fabric_is_routed_and_proven():
    for name, pairs in [("fat-tree-4x3", 64 * 63),
                        ("fat-tree-tapered", 96 * 95),
                        ("dragonfly-9x4", 72 * 71), ("slim-fly-5", 50 * 49),
                        ("random-64x6", 64 * 63), ("cluster-example", 9 * 8)]:
        p = route("--config", "config/%s.cfg" % name, "--verify", "--detours")
        lines = last_lines(p.stdout)
        assert lines["pairs"] == "%d/%d" % (pairs, pairs), (name, lines)
        assert lines["credit-loops"] == "0", (name, lines)


@case
def failures_of_every_kind_of_fabric_are_routed_around():
    for name, link in [("fat-tree-4x3", "s1.0-s2.0"),
                       ("dragonfly-9x4", "s0.0-s1.3"),
                       ("slim-fly-5", "s0.0.0-s0.0.1"),
                       ("random-64x6", None), ("cluster-example",
                                               "leaf_1-spine_1#0")]:
        if link is None:
            p = route("--config", "config/%s.cfg" % name, "--dump", "-")
            link = [line.split(" ") for line in p.stdout.split("\n")
                    if line.startswith("link s")][0]
            link = "%s-%s" % (link[1], link[2])
        p = route("--config", "config/%s.cfg" % name, "--verify", "--fail",
                  link)
        assert last_lines(p.stdout)["credit-loops"] == "0", p.stdout


@case
def a_torus_has_an_adaptive_plane_unless_told_otherwise():
    torus = 'fabric: { topology = "torus"; dims = [3, 3]; %s};\n'
    many = torus % "hosts_per_switch = 61; "  # a set has 64 ports
    for text, says, args in (
            (torus % "", "VL 7, which", ()), (many, "none: ", ()),
            (torus % "" + "routing: { adaptive = false; };", None, ()),
            (torus % "", None, ("--engine", "updown"))):
        p = config(text, args=("--verify", *args))
        found = [line[10:] for line in p.stdout.split("\n")
                 if line.startswith("adaptive: ")]
        assert (found == [] if says is None else
                len(found) == 1 and found[0].startswith(says)), p.stdout
    p = config(many + "routing: { adaptive = true; };", status=1)
    assert "65 ports" in p.stdout, p.stdout


@case
def a_backup_is_never_the_primary_though_an_endpoint_is_cut_off():
    """The first endpoint of a switch may have lost its link: what it would
    inject says nothing of what others meet (routing 5)."""
    for links in (["s2.3-s2.0", "s2.0-s2.1"],
                  ["s1.2-s1.3", "s3.0-s3.1", "s2.1-s3.1"],
                  ["s2.3-s2.0", "s3.0-s0.0", "s0.0-s1.0"]):
        fail = ", ".join('"%s"' % name for name in links + ["e0.0.0-s0.0"])
        first, backups = {}, {}
        for line in config("""fabric: { topology = "torus"; dims = [4, 4];
                              hosts_per_switch = 2; fail = [%s]; };""" % fail,
                           args=("--dump", "-")).stdout.split("\n"):
            w = line.split(" ")
            if w[0] == "path" and w[1] == "e0.0.1" and len(w) > 5:
                first[w[2]] = w[5].split(":")[1]
            if w[0] == "backup" and w[1] == "s0.0":
                backups[w[2]] = w[3]
        assert len(first) == 30, first
        for dst, hop in first.items():
            assert backups.get(dst, hop) != hop, (links, dst, hop, backups)


CUT = """fabric: { topology = "mesh"; dims = [3, 4]; hosts_per_switch = 2;
  fail = ["s0.1-s0.2", "s1.1-s1.2", "s2.1-s2.2", "s0.0-s0.1", "s0.0-s1.0",
          "e0.0.1-s0.0"]; };"""


@case
def a_fabric_in_parts_is_refused_unless_parts_are_asked_for():
    p = config(CUT, status=3)
    assert p.stdout.startswith("refused: 3 separate parts"), p.stdout
    p = config(CUT, args=("--verify", "--parts", "--detours"))
    lines = last_lines(p.stdout)
    # 12 and 10 endpoints; e0.0.0 is alone, e0.0.1 has no link
    assert lines["pairs"] == "222/222", lines
    assert lines["credit-loops"] == "0", lines
    assert "part 3: 1 switches, 1 endpoints: e0.0.0: alone" in p.stdout
    assert "unreachable e0.0.1" in p.stdout, p.stdout
    r = json.loads(config(CUT, args=("--parts", "--json", "-")).stdout)
    assert [len(x["endpoints"]) for x in r["parts"]] == [12, 10, 1], r
    # each part has its adaptive plane
    p = config(CUT + "routing: { adaptive = true; };",
               args=("--verify", "--parts"))
    assert last_lines(p.stdout)["pairs"] == "222/222", p.stdout
    assert re.search(r"may be left at (\d+) of \1 .*credit-loops 0",
                     p.stdout), p.stdout


@case
def paths_of_a_fabric_in_parts_stay_within_their_part():
    p = config(CUT, args=("--parts", "--dump", "-"))
    pairs = set()
    for line in p.stdout.split("\n"):
        w = line.split(" ")
        if w[0] == "path":
            assert w[-1].split(":")[1].split("#")[0] == w[2], line
            pairs.add((w[1], w[2]))
            # dimension 1 is cut between 1 and 2
            assert (w[1].split(".")[1] < "2") == (w[2].split(".")[1] < "2")
    assert len(pairs) == 222, len(pairs)


ISLANDS = """fabric: { topology = "custom";
  switches = ( {name = "s0";}, {name = "s1";}, {name = "s2";} );
  endpoints = ( {name = "e0";}, {name = "e1";}, {name = "e2";}, {name = "e3";},
                {name = "e4";} );
  links = ( {a = "e0"; b = "s0";}, {a = "e1"; b = "s0";}, {a = "e2"; b = "s1";},
            {a = "e3"; b = "s1";}, {a = "e4"; b = "s2";} ); };"""


@case
def rails_that_nothing_joins_are_routed_each_by_itself():
    p = config(ISLANDS, status=2)
    assert "3 separate parts" in p.stderr and "--parts" in p.stderr, p.stderr
    p = config(ISLANDS, args=("--verify", "--parts"))
    assert last_lines(p.stdout)["pairs"] == "4/4", p.stdout
    assert "e4: alone" in p.stdout, p.stdout
    p = config(ISLANDS.replace('{a = "e4"; b = "s2";}',
                               '{a = "e4"; b = "s2";}, {a = "s2"; b = "s1";}'),
               args=("--verify", "--parts"))
    assert last_lines(p.stdout)["pairs"] == "8/8", p.stdout


def discovered(slow):
    """Two leaves and two cables between them, one of which is slow."""
    cable = '[%d]\t"S-%s"[%d]\t\t# "x" lid 6 %s\n'
    text = ""
    for own, peer, host in (("a1", "a2", "b1"), ("a2", "a1", "b2")):
        text += 'Switch\t8 "S-%s"\t# "leaf %s" lid 1\n' % (own, own)
        text += cable % (1, peer, 1, "4xHDR") + cable % (2, peer, 2, slow)
        text += '[3]\t"H-%s"[1](c)\t# "h" lid 3 4xEDR\n' % host
        text += 'Ca\t1 "H-%s"\t# "host %s"\n' % (host, host)
    return text


@case
def cables_slower_than_those_beside_them_are_named():
    with tempfile.TemporaryDirectory() as d:
        for slow, says in (("1xHDR", "53.12"), ("4xEDR", "103.1"),
                           ("4xHDR", None)):
            with open(os.path.join(d, "f.txt"), "w") as f:
                f.write(discovered(slow))
            with open(os.path.join(d, "f.cfg"), "w") as f:
                f.write('fabric: { topology = "ibnetdiscover"; '
                        'file = "f.txt"; };\n')
            p = route("--config", os.path.join(d, "f.cfg"), "--verify",
                      "--json", os.path.join(d, "r.json"))
            with open(os.path.join(d, "r.json")) as f:
                named = json.load(f)["slow_cables"]
            assert len(named) == (says is not None), named
            if says is None:
                assert "slow cable" not in p.stdout, p.stdout
                continue
            assert named[0]["link"] == "leaf_a1-leaf_a2#1", named
            assert ("slow cable: leaf_a1-leaf_a2#1 runs at %s Gbit/s beside "
                    "212.5" % says) in p.stdout, p.stdout


@case
def a_signal_ends_a_long_computation_at_once():
    big = ('fabric: { topology = "dragonfly"; a = 16; p = 8; h = 8; '
           'groups = 129; };')
    for sig, seconds in ((signal.SIGTERM, 0.3), (signal.SIGINT, 2)):
        with tempfile.NamedTemporaryFile("w", suffix=".cfg") as f:
            f.write(big)
            f.flush()
            p = subprocess.Popen([ROUTE, "--config", f.name, "--verify"],
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            while p.poll() is None and cpu_seconds(p.pid) < seconds:
                time.sleep(0.05)
            p.send_signal(sig)
            at = cpu_seconds(p.pid)
            _, err = p.communicate(timeout=100)
        # by its own processor time, however busy the machine is; whole, it
        # takes some hundreds of seconds
        assert p.returncode == -sig, (p.returncode, err)
        assert b"stopped while" in err, err
        assert at < 60, at


@case
def parts_of_a_whole_fabric_are_the_fabric():
    a = route("--config", "config/torus-4x4.cfg", "--parts", "--dump", "-")
    b = route("--config", "config/torus-4x4.cfg", "--dump", "-")
    assert a.stdout == b.stdout


@case
def the_report_of_parts_is_that_of_all_of_them():
    r = json.loads(config(CUT, args=("--verify", "--parts", "--json",
                                     "-")).stdout)
    p = config(CUT, args=("--parts", "--dump", "-"))
    hops = [len(line.split(" ")) - 4 for line in p.stdout.split("\n")
            if line.startswith("path ")]
    assert (r["pairs"], r["reachable"]) == (222, 222), r
    assert r["max_hops"] == max(hops), (r, max(hops))
    assert abs(r["mean_hops"] - sum(hops) / len(hops)) < 1e-3, r


@case
def an_update_says_what_it_changed_and_how_the_tables_mix():
    fail = ("--fail", "s0.0-s0.1")
    p = route("--config", "config/torus-4x4.cfg", "--update", *fail,
              "--verify", "--dump", "-")
    assert "link s0.0 s0.1" not in p.stdout, p.stdout
    assert "updated, " in p.stderr and "updated, 0 of" not in p.stderr
    assert "credit loops 0" in p.stderr, p.stderr
    r = json.loads(route("--config", "config/torus-4x4.cfg", "--update",
                         *fail, "--verify", "--json", "-").stdout)
    assert 0 < r["changed_devices"] < 32, r
    assert r["mix"] == {"pairs": 240, "reachable": 240, "credit_loop": []}, r
    # another root, and nothing is where it was
    p = route("--config", "config/torus-4x4.cfg", "--engine", "updown",
              "--update", "--fail", "s0.0", "--verify")
    assert "credit loops found: install them with the fabric quiet" \
        in p.stdout, p.stdout


def sweep(text, *args, status=0):
    return json.loads(config(text, status, args + ("--json", "-")).stdout)


TORUS = 'fabric: { topology = "torus"; dims = [4, 4]; };'


@case
def each_seed_of_a_sweep_can_be_repeated_alone():
    def rows(*args):
        r = sweep(TORUS, "--random-links", "6", "--random-switches", "1",
                  *args)
        for row in r["sweep"]:
            row.pop("compute_ms", None)
        return r["sweep"], r["sum"]

    many, total = rows("--seeds", "12")
    assert [row["seed"] for row in many] == list(range(1, 13)), many
    assert total["accepted"] + total["refused"] + total["cut"] == 12, total
    assert total["accepted"] >= 1 and total["broken"] == 0, total
    for i in (1, 4, 9):
        assert rows("--seed", str(i + 1), "--seeds", "1")[0] == [many[i]]
    different = {tuple(sorted(row.items())[:3]) for row in many}
    assert len(different) > 3, many


@case
def a_sweep_fails_as_many_as_it_says_and_tells_the_cut_from_the_refused():
    ring = 'fabric: { topology = "torus"; dims = [3]; };'
    # of three links in a ring any one may go, and no two
    assert sweep(ring, "--random-links", "1", "--seeds",
                 "5")["sum"]["accepted"] == 5
    two = sweep(ring, "--random-links", "2", "--seeds", "5")["sum"]
    assert (two["cut"], two["refused"], two["accepted"]) == (5, 0, 0), two
    p = config(ring, 2, ("--random-links", "4", "--seeds", "5"))
    assert "does not have 4 links" in p.stderr, p.stderr


@case
def what_is_for_one_fabric_is_not_for_a_sweep():
    for words in (("--dump", "/dev/null"), ("--dot", "/dev/null"),
                  ("--worst", "/dev/null"), ("--verify",), ("--stats",),
                  ("--detours",)):
        p = config(TORUS, 2, ("--random-links", "1", *words))
        assert words[0] + " is for one fabric" in p.stderr, p.stderr


@case
def a_sweep_ends_at_the_last_seed():
    last = str(2 ** 63 - 1)
    assert sweep(TORUS, "--random-links", "1", "--seeds", "1", "--seed",
                 last)["sweep"][0]["seed"] == int(last)
    p = config(TORUS, 2, ("--random-links", "1", "--seeds", "2", "--seed",
                          last))
    assert "beyond the last seed" in p.stderr, p.stderr


@case
def draws_without_pairs_do_not_count_in_the_mean_stretch():
    # without s0 there is nobody
    r = sweep('fabric: { topology = "custom"; switches = ( { name = "s0"; },'
              ' { name = "s1"; } ); endpoints = ( { name = "a"; },'
              ' { name = "b"; } ); links = ( { a = "a"; b = "s0"; },'
              ' { a = "b"; b = "s0"; }, { a = "s0"; b = "s1"; } ); };',
              "--random-switches", "1", "--seeds", "10")
    assert {row["stretch"] for row in r["sweep"]} == {0, 1}, r
    assert r["sum"]["stretch_mean"] == 1, r


@case
def a_fabric_without_links_between_switches_has_no_pairs_of_them():
    p = config('fabric: { topology = "custom"; switches = ( { name = "s"; } );'
               ' endpoints = ( { name = "a"; }, { name = "b"; } ); links = ('
               ' { a = "a"; b = "s"; }, { a = "s"; b = "b"; } ); };',
               args=("--double", "3"))
    assert "two-links: no link between switches works" in p.stdout, p.stdout


@case
def pairs_of_dead_links_are_drawn_by_their_seed():
    def double(seed):
        return json.loads(config(TORUS, args=(
            "--detours", "--double", "10", "--seed", seed, "--json",
            "-")).stdout)["detours"]["two-links"]

    assert double("1") == double("1") != double("2")
    assert double("1")["draws"] == 10


@case
def what_failed_is_seen_in_the_graph_and_not_in_the_dump():
    fail = ("--fail", "s1.1", "--fail", "s0.0-s0.1")
    p = route("--config", "config/torus-4x4.cfg", *fail, "--dot", "-")
    lines = p.stdout.split("\n")
    gray = [line for line in lines if "fillcolor=gray" in line]
    assert len(gray) == 1 and '"s1.1"' in gray[0], gray
    dashed = [line for line in lines if "dashed" in line]
    # four links of the switch and its endpoint's, and the one by itself
    assert len(dashed) == 6 and len(lines) > 48, dashed
    p = route("--config", "config/torus-4x4.cfg", *fail, "--dump", "-")
    lines = p.stdout.split("\n")
    assert "switch s1.0" in lines and "switch s1.1" not in lines
    assert not [line for line in lines if line.startswith("link ") and
                ("s1.1 " in line or line == "link s0.0 s0.1 0")], p.stdout
    assert not [line for line in lines if line.startswith("backup s1.1")]


@case
def pairs_that_a_real_fabric_drops_are_no_success():
    with tempfile.TemporaryDirectory() as d:
        for name in os.listdir(os.path.join(DUMPS, "ring")):
            shutil.copy(os.path.join(DUMPS, "ring", name), d)
        path = os.path.join(d, "opensm-sl2vl.dump")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        assert "3   1   : 0 " in text
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("3   1   : 0 ", "3   1   : 15", 1))
        p = route("--check-opensm", d, status=1)
        assert "pairs are dropped by SL2VL, the first from H0" in p.stdout
        # there, and not to be read
        path = os.path.join(d, "opensm-path-records.dump")
        os.remove(path)
        os.mkdir(path)
        p = route("--check-opensm", d, status=2)
        assert p.stderr.startswith(path + ": cannot read"), p.stderr


@case
def an_engine_that_is_none_is_told_where_it_was_asked_for():
    p = config(TORUS + '\nrouting: { engine = "magic"; };', 2, ())
    assert ".cfg:2: " in p.stderr, p.stderr
    p = config(TORUS + '\nrouting: { engine = "updown"; };', 2,
               ("--engine", "magic"))
    assert p.stderr.startswith("reflit-route: --engine: "), p.stderr
    for args in (("--vls", "9"), ("--vls", "0"), ("--qos-levels", "3"),
                 ("--seeds", "0"), ("--double", "0x10")):
        p = config(TORUS, 2, args)
        assert "give a number of" in p.stderr, (args, p.stderr)
    p = config(TORUS, 2, ("--check-opensm", "."))
    assert "is not for it" in p.stderr, p.stderr


@case
def a_full_disk_is_no_success():
    with open("/dev/full", "w", encoding="utf-8") as full:
        p = subprocess.run([ROUTE, "--config", "config/torus-4x4.cfg",
                            "--verify"], stdout=full, stderr=subprocess.PIPE,
                           cwd=ROOT, timeout=120)
    assert p.returncode == 2 and b"could not be written" in p.stderr, p


@case
def the_tables_of_a_real_fabric_are_judged():
    p = route("--check-opensm", DUMPS + "/ring", "--stats")
    lines = last_lines(p.stdout)
    assert lines == {"pairs": "12/12", "max-hops": "4",
                     "mean-hops": "3.3333", "credit-loops": "0"}, lines
    p = route("--check-opensm", DUMPS + "/lmc", "--json", "-")
    assert json.loads(p.stdout)["endpoints"] == 8, p.stdout


@case
def a_loop_in_the_tables_of_a_real_fabric_is_told_with_its_pairs():
    with tempfile.TemporaryDirectory() as d:
        for name in ("opensm-subnet.lst", "opensm-lfts.dump"):
            shutil.copy(os.path.join(DUMPS, "ring", name), d)
        p = route("--check-opensm", d, status=1)
        loop = p.stdout.rstrip().split("\n")[-1]
        assert loop.startswith("credit-loops 1: 4 channels: "), loop
        for hop in ("S0:S1", "S1:S2", "S2:S3", "S3:S0"):
            assert hop + "#0:0 (H" in loop, loop
        assert "no opensm-path-records.dump: SL 0" in p.stdout, p.stdout


@case
def a_dump_that_is_not_whole_is_refused_before_anything_is_said():
    with tempfile.TemporaryDirectory() as d:
        p = route("--check-opensm", d, status=2)
        assert "there is no opensm-subnet.lst" in p.stderr, p.stderr
        shutil.copy(os.path.join(DUMPS, "ring/opensm-subnet.lst"), d)
        p = route("--check-opensm", d, status=2)
        assert "there is no opensm-lfts.dump" in p.stderr, p.stderr
        with open(os.path.join(d, "opensm-lfts.dump"), "w") as f:
            f.write("Unicast lids [0-1] of switch Lid 1 guid 0x200000\n0x1 x\n")
        p = route("--check-opensm", d, status=2)
        assert p.stderr.startswith(d + "/opensm-lfts.dump:2: "), p.stderr
    p = route("--check-opensm", DUMPS + "/ring", "--config",
              "config/torus-4x4.cfg", status=2)
    assert "--config is not for it" in p.stderr, p.stderr


@case
def a_torus_that_its_conf_describes_is_routed_by_torus_2qos():
    p = route("--config", "config/torus-example.cfg", "--verify", "--dump",
              "-")
    paths = {}
    for line in p.stdout.split("\n"):
        w = line.split(" ")
        if w[0] == "path":
            hops = [h.replace("#", ":").split(":") for h in w[4:]]
            paths[w[1], w[2]] = (w[3], [(h[1], h[3]) for h in hops[1:-1]])
    assert len(paths) == 20 * 19, len(paths)
    # the same torus by its coordinates; OpenSM's has a dimension more in front
    q = config("""fabric: { topology = "torus"; dims = [1, 4, 5]; };
                  routing: { engine = "torus-2qos"; };""", args=("--dump", "-"))
    for line in q.stdout.split("\n"):
        w = line.split(" ")
        if w[0] != "path":
            continue
        hops = [h.replace("#", ":").split(":") for h in w[4:]]

        def node(name):
            _, y, z = name[1:].split(".")
            return name[0].replace("s", "sw").replace("e", "node") + "_%s_%s" \
                % (y, z)
        assert paths[node(w[1]), node(w[2])] == \
            (w[3], [(node(h[1]), h[3]) for h in hops[1:-1]]), line


@case
def opensm_and_reflit_stand_in_one_table():
    """The peers' script, on one fabric; it installs nothing here."""
    for name, path in (("opensm", shutil.which("opensm")),
                       ("ibsim-utils", shutil.which("ibsim")),
                       ("libopensm-dev",
                        os.path.exists("/usr/include/infiniband/opensm"))):
        if not path:
            raise Skip("%s is not installed" % name)
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "out.json")
        p = subprocess.run(
            [sys.executable, os.path.join(ROOT, "devtools/peers/opensm.py"),
             "--only", "torus 4x4", "--json", out, "--tori", "1", "--timeout",
             "30"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, timeout=280,
            env=dict(os.environ, ROUTE=ROUTE))
        assert p.returncode == 0, p.stderr
        with open(out) as f:
            report = json.load(f)
    rows = {r["engine"]: r for r in report["engines"]}
    assert rows["reflit"]["verdict"] == "ok", rows
    assert rows["reflit"]["stretch"] == 1.0, rows
    # a slow machine may end OpenSM early, but no verdict of its is another
    assert rows["torus-2QoS"]["verdict"] in ("ok", "over 30 s"), rows
    assert rows["minhop"]["verdict"] in ("loop of 4", "over 30 s"), rows
    assert report["tori"][0]["verdict"] != "differ", report["tori"]


@case
def help_names_every_option_and_engine():
    p = route("--help")
    for word in ("--config FILE", "--check-opensm DIR", "--verify", "--json",
                 "torus-2qos", "Exit status: 0", "standard output"):
        assert word in p.stdout, word


if __name__ == "__main__":
    sys.exit(run_cases(CASES))
