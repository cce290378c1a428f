#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reports are what docs/schema.json says, for every program and subcommand; and
long work says how far it is, and ends at a signal with what it has [APP-4].

usage: test_reports.py REFLIT REFLIT_SIM REFLIT_ROUTE REFLIT_BENCH SOURCE_ROOT
                       REFLIT_REPORT
"""
import copy
import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from cases import FULL, Skip, run_cases

REFLIT, SIM, ROUTE, BENCH, ROOT, REPORT = (
    os.path.abspath(p) for p in sys.argv[1:7])
try:
    import jsonschema
except ImportError:
    jsonschema = None
TORUS = os.path.join(ROOT, "config", "torus-4x4.cfg")
FIGURE1 = os.path.join(ROOT, "config", "figure1.cfg")
BOX = tempfile.mkdtemp(prefix="reflit-reports-")
CUT = """start
wait 50ms
link s0-s1#0 down
wait 50ms
link s0-s1#0 up
wait 50ms
quit
"""
KEPT, BROKEN = (0,), (0, 1)


def report_of(name, status, *args):
    """Runs a program with --json, and returns its report."""
    path = os.path.join(BOX, name + ".json")
    p = subprocess.run(list(args) + ["--json", path], capture_output=True,
                       text=True, timeout=240, check=False, cwd=BOX)
    assert p.returncode in status, (args, p.returncode, p.stdout, p.stderr)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def schema():
    with open(os.path.join(ROOT, "docs", "schema.json"),
              encoding="utf-8") as f:
        return json.load(f)


@functools.lru_cache  # to check the schema takes longer than a report
def judge():
    if jsonschema is None:
        raise Skip("python3-jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def complaints(report):
    return ["%s: %s" % ("/".join(str(p) for p in e.absolute_path), e.message)
            for e in judge().iter_errors(report)]


def fits(report):
    found = complaints(report)
    assert not found, found[:5]
    assert report["date"].endswith("Z") and report["arguments"]
    return report


def a_run_on_lcores():
    commands = os.path.join(BOX, "commands")
    with open(commands, "w", encoding="utf-8") as f:
        f.write(CUT)
    r = fits(report_of("reflit", KEPT, REFLIT, "-l", "0", "--", "--config",
                       FIGURE1, "--load", "0.02", "--cmdline-file", commands))
    assert r["failovers"] and r["events"], r
    assert len(r["links"]) == 4 and len(r["endpoints"]) == 2, r
    assert {e["kind"] for e in r["events"]} >= {"link"}, r["events"]


def the_page_names_each_key_of_a_report_and_no_other():
    """The table below "Report" in docs/prompt.md; and the schema's own keys."""
    with open(os.path.join(ROOT, "docs", "prompt.md"), encoding="utf-8") as f:
        table = f.read().split("\n## Report\n")[1]
    told = {key for row in re.findall(r"^\| (`.*?) \|", table, re.M)
            for key in re.findall(r"`(\w+)`", row)}
    commands = os.path.join(BOX, "commands")
    with open(commands, "w", encoding="utf-8") as f:
        f.write("say hello\n" + CUT)
    r = report_of("page", KEPT, REFLIT, "-l", "0", "--", "--config", FIGURE1,
                  "--load", "0.02", "--timeline", "20ms", "--cmdline-file",
                  commands)
    assert len(r) > 40 and told >= set(r), sorted(set(r) - told)
    of_processes = {"process", "processes", "digest", "flows"}
    assert told <= set(r) | of_processes, sorted(told - set(r))
    parts = schema()["$defs"]
    for part in ("run", "run_on_lcores"):
        lacks = set(parts[part]["properties"]) - told
        assert not lacks, (part, sorted(lacks))


def reports_of_processes_put_together():
    """One process is all of a fabric; one of its links has a wire, and nobody
    at the other end of the cable."""
    config = os.path.join(BOX, "wires.cfg")
    with open(FIGURE1, encoding="utf-8") as f:
        text = f.read()
    with open(config, "w", encoding="utf-8") as f:
        f.write(text + 'wires = ( { link = "s0-s1#0"; a = "net_null0"; '
                'b = "net_null1"; } );\n')
    commands = os.path.join(BOX, "commands")
    with open(commands, "w", encoding="utf-8") as f:
        f.write("start\nwait 100ms\nstop\nwait drained\nquit\n")
    alone = fits(report_of(
        "alone", KEPT, REFLIT, "-l", "0", "--vdev=net_null0,no-rx=1",
        "--vdev=net_null1,no-rx=1", "--", "--config", config, "--load", "0.02",
        "--cmdline-file", commands))
    merged = fits(report_of("together", KEPT, REPORT, "alone.json"))
    assert len(alone["wires"]) == len(merged["wires"]) == 2, merged
    assert merged["sent_packets"] == alone["sent_packets"] > 0, merged
    assert merged["missing_reports"] == 0, merged


def a_run_in_virtual_time():
    faults = os.path.join(BOX, "faults")
    with open(faults, "w", encoding="utf-8") as f:
        f.write("10us cut s0-s1#0\n60us heal s0-s1#0\n")
    r = fits(report_of("sim", KEPT, SIM, "--config", FIGURE1, "--duration",
                       "100us", "--faults", faults))
    assert r["failovers"] and len(r["links"]) == 4, r


def a_campaign_and_its_store():
    fits(report_of("campaign", KEPT, SIM, "--config", FIGURE1, "--duration",
                   "20us", "--seeds", "3"))
    report_of("stored", KEPT, SIM, "campaign", "--store", "a.store", "--config",
              FIGURE1, "--duration", "20us", "--seeds", "4")
    fits(report_of("merged", KEPT, SIM, "merge", "a.store"))


def a_failure_in_fewer_parts():
    config, faults = (os.path.join(BOX, n) for n in ("lossy.cfg", "cut"))
    out = os.path.join(BOX, "smaller")
    with open(FIGURE1, encoding="utf-8") as f, \
            open(config, "w", encoding="utf-8") as to:
        to.write(f.read() + 'link: { loopback = "none"; };\n'
                 "endpoint: { retry = false; };\n")
    with open(faults, "w", encoding="utf-8") as f:
        f.write("3us cut s0-s1#0\n")
    subprocess.run([SIM, "shrink", config, faults, "--out", out, "--duration",
                    "6us", "--load", "0.6", "--runs", "10"], check=True,
                   capture_output=True, timeout=240, cwd=BOX)
    with open(os.path.join(out, "report.json"), encoding="utf-8") as f:
        r = fits(json.load(f))
    assert "lost" in r["broken"] and r["left"]["packets"] > 0, r
    r["left"]["packets"] = "few"
    assert len(complaints(r)) > 0, r


def an_ablation():
    assert len(fits(report_of("ablation", BROKEN, SIM, "ablation", "--cuts",
                              "1"))["rows"]) == 12


def the_evaluation():
    fits(report_of("scenario", BROKEN, SIM, "scenario", "fig5a"))
    fits(report_of("rxl", BROKEN, SIM, "rxl", "--table", "equations",
                   "--table", "fec", "--quick", "--no-plots", "--quiet",
                   "--out", os.path.join(BOX, "rxl")))
    fits(report_of("point", BROKEN, SIM, "rxl", "--profile", "cxl", "--flits",
                   "20000", "--quiet", "--out", os.path.join(BOX, "rxl")))


def routes():
    fits(report_of("route", KEPT, ROUTE, "--config", TORUS, "--verify",
                   "--stats", "--detours", "--double", "2"))
    fits(report_of("sweep", KEPT, ROUTE, "--config", TORUS, "--random-links",
                   "2", "--seeds", "3"))
    refused = fits(report_of(
        "refused", (3,), ROUTE, "--config", FIGURE1, "--fail", "s0-s1"))
    assert refused["refused"], refused
    fits(report_of("parts", BROKEN, ROUTE, "--config", FIGURE1, "--fail",
                   "s0-s1", "--parts"))


def measurements():
    r = fits(report_of("bench", KEPT, BENCH, "--quick", "--reps", "1",
                       "endpoint", "route"))
    assert {"endpoint", "route"} <= set(r) and r["interrupted"] is False, r
    fits(report_of("bench", KEPT, BENCH, "--quick", "--config", TORUS,
                   "load"))


def places(value, path=()):
    """Every key of a report, as the way to it; of arrays the first."""
    if isinstance(value, dict):
        for key, v in value.items():
            yield path + (key,)
            yield from places(v, path + (key,))
    elif isinstance(value, list) and value:
        yield from places(value[0], path + (0,))


def changed(report, path, change):
    r = copy.deepcopy(report)
    at = r
    for step in path[:-1]:
        at = at[step]
    change(at, path[-1])
    return r


def negative(at, key):
    at[key] = -1


def another_type(at, key):
    at[key] = {"a": 1} if not isinstance(at[key], dict) else "text"


def remove(at, key):
    del at[key]


def the_schema_refuses_what_reports_must_not_say():
    """Each promise of the contract, broken in a good report."""
    with open(os.path.join(BOX, "reflit.json"), encoding="utf-8") as f:
        good = json.load(f)
    assert not complaints(good)
    promised = [("program",), ("version",), ("arguments",), ("date",),
                ("events",), ("links",), ("endpoints",), ("latency_ns",),
                ("latency_ns", "p999"), ("failovers",), ("recoveries",),
                ("unreachable",), ("failovers", 0, "looped_acked_flits"),
                ("failovers", 0, "detector"), ("links", 0, "ends"),
                ("links", 0, "ends", 0, "state"), ("events", 0, "at_ns"),
                ("events", 0, "text"), ("endpoints", 0, "counters")]
    promised += [(k,) for k in good if k.endswith("_packets") and
                 k.split("_")[0] in ("sent", "delivered", "lost",
                                     "duplicated", "reordered", "corrupted",
                                     "reported")]
    assert len(promised) == 26, promised
    known = set(places(good))
    for path in promised:
        assert path in known, path
        assert complaints(changed(good, path, remove)), path
        assert complaints(changed(good, path, another_type)), path
    units = [p for p in known if isinstance(p[-1], str) and p[-1].endswith(
        ("_ns", "_packets", "_flits", "_frames", "_bytes"))]
    assert len(units) > 50, len(units)
    for path in units[::5]:
        assert complaints(changed(good, path, negative)), path
    # one that was overtaken before its mode was chosen says so
    row = {"epoch": 2, "cause": "s0-s1#0 returned", "at_ns": 1,
           "mode": "auto", "outcome": "superseded"}
    whole = {k: 0 for k in good["recoveries"][0]} if good["recoveries"] else {}
    for mode, wrong in (("auto", False), ("off", True), ("", True)):
        r = dict(good, recoveries=[{**whole, **row, "mode": mode,
                                    "silent_devices": []}])
        assert bool([c for c in complaints(r) if "/mode" in c]) == wrong, mode
    more = dict(good, new_ns=-1)
    assert complaints(more)
    assert not complaints(dict(good, something_new={"a": [1]}))


def catches_sigint(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as f:
        caught = re.search(r"^SigCgt:\s*(\w+)", f.read(), re.M).group(1)
    return int(caught, 16) >> (signal.SIGINT - 1) & 1


def interrupted(args, words=None):
    """Ends a program by a signal once its standard error has these words; where
    there are none to wait for, soon after it has begun to catch signals.
    @return (exit status, report, standard error)"""
    path = os.path.join(BOX, "interrupted.json")
    if os.path.exists(path):
        os.remove(path)
    with subprocess.Popen(list(args) + ["--json", path],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as p:
        before = ""
        if words is not None:  # ten seconds pass without its work as well
            time.sleep(1)
            p.send_signal(signal.SIGSTOP)
            time.sleep(9)
            p.send_signal(signal.SIGCONT)
        while words is not None and words not in before:
            line = p.stderr.readline()
            assert line, (args, before, p.communicate())
            before += line
        end = time.monotonic() + 60  # a busy machine is slow to start it
        while words is None and time.monotonic() < end and \
                p.poll() is None and not catches_sigint(p.pid):
            time.sleep(0.05)
        time.sleep(0.5 if words is None else 0)
        assert p.poll() is None, (args, p.communicate())
        p.send_signal(signal.SIGINT)
        err = before + p.communicate(timeout=120)[1]
    assert os.path.exists(path), (args, p.returncode, err)
    with open(path, encoding="utf-8") as f:
        return p.returncode, json.load(f), err


def a_signal_ends_a_bench_in_the_middle_of_a_suite():
    status, report, err = interrupted(
        (BENCH, "--quick", "--reps", "1000", "replay"))
    assert status == 0, (status, err)
    assert report["interrupted"] is True and "replay" in report, report
    assert "ended early" in err, err


def long_work_says_how_far_it_is_and_when_it_ends():
    """Without a terminal a line every ten seconds, and so of two programs only
    one unless all is run."""
    status, report, err = interrupted(
        (SIM, "--config", TORUS, "--duration", "1us", "--seeds", "1000000000",
         "--progress"), " left, ")
    assert status == 0 and report["interrupted"], (status, err)
    lines = [s for s in err.split("\n") if " of 1000000000 seeds, " in s]
    assert lines and lines[0].endswith(" left, 0 failed"), err
    assert " h " in lines[0], err
    if not FULL:
        return
    status, report, err = interrupted(
        (ROUTE, "--config", TORUS, "--random-links", "2", "--seeds",
         "1000000", "--progress"), " left")
    assert status == 0 and report["interrupted"], (status, err)
    assert " of 1000000 seeds, " in err, err


CASES = (a_run_on_lcores,
         the_page_names_each_key_of_a_report_and_no_other,
         reports_of_processes_put_together,
         a_run_in_virtual_time, a_campaign_and_its_store,
         a_failure_in_fewer_parts,
         an_ablation, the_evaluation, routes, measurements,
         the_schema_refuses_what_reports_must_not_say,
         a_signal_ends_a_bench_in_the_middle_of_a_suite,
         long_work_says_how_far_it_is_and_when_it_ends)


def main():
    status = run_cases(CASES)
    subprocess.run(["rm", "-rf", BOX], check=False)
    return status


sys.exit(main())
