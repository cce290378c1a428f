# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2 and 3 of the DRL patent under load: every link that can be cut is
cut in turn in virtual time, and one of each on real lcores; nothing is lost,
duplicated or reordered [DRL-10], [DRL-2], [ROUTE-6]. The links come from
reflit-route's dump [ROUTE-5]. With --all every link of the larger figure, else
some of them.
"""
import json
import os
import subprocess
import sys
import tempfile

SIM, ROUTE, REFLIT, ROOT = (os.path.abspath(p) for p in sys.argv[1:5])
ALL = "--all" in sys.argv


def links(config):
    """(a, b) of every working link."""
    with tempfile.NamedTemporaryFile("r", suffix=".dump") as dump:
        subprocess.run([ROUTE, "--config", config, "--dump", dump.name],
                       check=True, stdout=subprocess.DEVNULL)
        return [line.split()[1:3] for line in dump
                if line.startswith("link ")]


def cut(config, link, load, seed):
    """Cuts a link under load, heals it; returns the report."""
    with tempfile.TemporaryDirectory() as d:
        faults = os.path.join(d, "cut.faults")
        report = os.path.join(d, "report.json")
        with open(faults, "w", encoding="utf-8") as f:
            f.write("5us cut %s\n30us heal %s\n" % (link, link))
        run = subprocess.run(
            [SIM, "--config", config, "--faults", faults, "--json", report,
             "--load", load, "--duration", "45us", "--seed", str(seed),
             "--packet-flits", "1-12"],
            capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, "%s: exit status %d\n%s%s" % (
            link, run.returncode, run.stdout, run.stderr)
        with open(report, encoding="utf-8") as f:
            return json.load(f)


def every_link(name, load, step):
    config = os.path.join(ROOT, "config", name)
    looped = 0
    chosen = links(config)[::1 if ALL else step]
    for seed, (a, b) in enumerate(chosen, 1):
        r = cut(config, "%s-%s" % (a, b), load, seed)
        assert r["sent_packets"] > 0
        assert r["sent_packets"] == r["delivered_packets"]
        for key in ("lost", "duplicated", "reordered", "corrupted",
                    "reported"):
            assert r[key + "_packets"] == 0, (a, b, key)
        assert r["failovers"], "%s-%s did not die" % (a, b)
        looped += sum(f["looped_packets"] for f in r["failovers"])
    assert looped > 0, "no packet ever looped back"
    print("%s: %d links cut in turn, %d packets looped back, none lost"
          % (name, len(chosen), looped))


def on_lcores(name, link):
    """The link dies under load, heals, and dies again, on real lcores."""
    config = os.path.join(ROOT, "config", name)
    with tempfile.TemporaryDirectory() as d:
        commands = os.path.join(d, "cut.cmd")
        report = os.path.join(d, "report.json")
        with open(commands, "w", encoding="utf-8") as f:
            f.write("start\nwait up\nwait 20ms\n" + 2 * (
                "link %s down\nwait dead %s\nwait 20ms\n"
                "link %s up\nwait up\nwait 20ms\n" % (link, link, link)) +
                "stop\nwait drained\nquit\n")
        run = subprocess.run([REFLIT, "--", "--config", config,
                              "--cmdline-file", commands, "--json", report],
                             capture_output=True, text=True, timeout=200)
        assert run.returncode == 0, "exit status %d\n%s%s" % (
            run.returncode, run.stdout, run.stderr)
        with open(report, encoding="utf-8") as f:
            r = json.load(f)
    assert r["sent_packets"] == r["delivered_packets"] > 0
    assert len(r["failovers"]) >= 4, "both ends, twice"


def case(title, fn, *args):
    print("[ RUN      ] " + title)
    try:
        fn(*args)
    except AssertionError as e:
        print(e)
        print("[  FAILED  ] " + title)
        return 1
    print("[       OK ] " + title)
    return 0


bad = case("figure_2_survives_every_single_link", every_link,
           "boards-figure2.cfg", "0.2", 1)
bad += case("figure_3_survives_every_single_link", every_link,
            "board-figure3.cfg", "0.1", 24)
bad += case("figure_2_survives_on_lcores", on_lcores, "boards-figure2.cfg",
            "b0.s1-b2.s1")
bad += case("figure_3_survives_on_lcores", on_lcores, "board-figure3.cfg",
            "c0.0-s0")
sys.exit(1 if bad else 0)
