#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs beside reflit refuse what they can't use before anything is
done [APP-4]: one line that says what and why, and the exit status of the
contract. And they agree with each other about what can be routed.

usage: test_programs.py REFLIT_SIM REFLIT_ROUTE REFLIT_BENCH SOURCE_ROOT
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cases import run_cases, runtime_folders

SIM, ROUTE, BENCH, ROOT = (os.path.abspath(p) for p in sys.argv[1:5])
REPORT = os.path.join(os.path.dirname(SIM), "reflit-report")
TORUS = os.path.join(ROOT, "config", "torus-4x4.cfg")

# nohup, and a shell that starts this in the background, let signals be
# ignored, and programs inherit that; these cases send them
for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    signal.signal(sig, signal.SIG_DFL)


def run(*args, **more):
    return subprocess.run(args, capture_output="stdout" not in more, text=True,
                          timeout=120, check=False, **more)


def refused_arguments():
    """Exit status 2, one line, and nothing on standard output."""
    rows = (
        ((ROUTE,), "give --config FILE"),
        ((ROUTE, "--config", "/nowhere/x"), "/nowhere/x: cannot read"),
        ((ROUTE, "--config", TORUS, "--fail", "s9.9"), "no switch s9.9"),
        ((ROUTE, "--config", TORUS, "--fail", "s0.0-s2.2"),
         "no link s0.0-s2.2"),
        ((ROUTE, "--config", TORUS, "--fail", "s0.0-s0.1#1"),
         "#0 to #0 exist"),
        ((ROUTE, "--config", TORUS, "--engine", "magic"), 'no engine "magic"'),
        ((ROUTE, "--config", TORUS, "--vls", "9"), "1 to 8"),
        ((ROUTE, "--config", TORUS, "--json", "/nowhere/x"),
         "cannot write /nowhere/x: No such file"),
        ((ROUTE, "--config", TORUS, "--dump", ROOT), "Is a directory"),
        ((ROUTE, "--config", TORUS, "--dot", "/nowhere/x"), "/nowhere/x"),
        ((SIM, "--config", TORUS, "--cuts", "3"), "reflit-sim ablation"),
        ((SIM, "--config", TORUS, "--events", "--seeds", "3"),
         "--events goes with one run"),
        ((SIM, "ablation", "--seeds", "3"), "as --seed"),
        ((SIM, "--config", TORUS, "--duration", "0x10us"),
         "--duration 0x10us: not understood"),
        ((SIM, "--config", TORUS, "--load", "0x1"), "not understood"),
        ((SIM, "--config", ""), "name of the fabric file is empty"),
        ((SIM, "--config", TORUS, "--faults", ""), "without a name"),
        ((SIM, "--config", TORUS, "--json", ""), "without a name"),
        ((SIM, "ablation", "--json", "-", "--csv", "-"),
         "only one document"),
        ((BENCH,), "name a suite"),
        ((BENCH, "speed"), "no suite 'speed'"),
        ((BENCH, "--reps", "0", "hop"), "'0' is not a number of 1 to 1000"),
        ((BENCH, "--config", "/nowhere/x", "sim"), "/nowhere/x: cannot read"),
        ((BENCH, "--json", "/nowhere/x", "sim"), "cannot write /nowhere/x"),
    )
    for args, words in rows:
        p = run(*args)
        assert p.returncode == 2, (args, p.returncode, p.stderr)
        assert words in p.stderr, (args, p.stderr)
        assert p.stderr.count("\n") == 1, (args, p.stderr)
        assert p.stdout == "", (args, p.stdout)


def a_wrong_option_brings_the_one_that_was_meant():
    for args, text in (
            ((REPORT, "--jsn", "x"), "no option --jsn; did you mean --json?"),
            ((SIM, "--fautls=x"), "no option --fautls; did you mean --faults?"),
            ((ROUTE, "--verfy"), "did you mean --verify?"),
            ((ROUTE, "--zzzzzzzz"), "no option --zzzzzzzz; see --help"),
            ((BENCH, "--x-y"), "no option --x-y"),
            ((REPORT, "-q"), "no option -q"),
            ((REPORT, "--help=1"), "--help takes no argument"),
            ((REPORT, "--json"), "--json needs an argument")):
        p = run(*args)
        assert p.returncode == 2 and p.stdout == "", (args, p)
        assert text in p.stderr and p.stderr.count("\n") == 1, (args, p)


def a_tornado_of_two_sends_and_one_of_one_is_refused():
    with tempfile.TemporaryDirectory() as box:
        path = os.path.join(box, "f.cfg")
        for dims, hosts, sends in (("[2, 1]", 2, True), ("[2, 2]", 1, True),
                                   ("[1, 2]", 1, True), ("[1]", 2, False),
                                   ("[1, 1]", 3, False)):
            with open(path, "w", encoding="utf-8") as f:
                f.write('fabric: { topology = "mesh"; dims = %s; '
                        'hosts_per_switch = %d; };\n' % (dims, hosts))
            p = run(SIM, "--config", path, "--traffic", "tornado", "--load",
                    "0.5", "--duration", "20us")
            if sends:
                assert p.returncode == 0, p
                assert not p.stdout.startswith("sent 0 "), p.stdout
            else:
                assert p.returncode == 2 and "tornado" in p.stderr, p


def a_simulation_that_sends_nothing_is_no_success():
    # it ends before the first packet is due
    p = run(SIM, "--config", TORUS, "--load", "0.5", "--duration", "1ns")
    assert p.returncode == 1, p
    assert p.stdout.strip().split("\n")[-1].startswith(
        "this run is no success: "), p.stdout


def a_full_disk_is_no_success():
    with open("/dev/full", "w", encoding="utf-8") as full:
        p = run(ROUTE, "--config", TORUS, "--verify", stdout=full,
                stderr=subprocess.PIPE)
    assert p.returncode == 2, p.returncode
    assert "standard output could not be written" in p.stderr, p.stderr
    p = run(ROUTE, "--config", TORUS, "--json", "/dev/full")
    assert p.returncode == 2, p.returncode
    assert "/dev/full: No space left" in p.stderr, p.stderr


def what_may_be_left_out_is_shown_as_it_is_given():
    fault = os.path.join(os.path.dirname(SIM), "reflit-fault")
    if os.path.exists(fault):  # not built where there is no XDP
        assert "  --one-way[=on|off] " in run(fault, "--help").stdout


def a_document_does_not_replace_what_is_read():
    with tempfile.TemporaryDirectory() as d:
        paths = [os.path.join(d, name) for name in ("cfg", "flt", "merge")]
        config, faults, shard = paths
        shutil.copy(TORUS, config)
        outer = os.path.join(d, "outer")
        with open(outer, "w", encoding="utf-8") as f:
            f.write('@include "cfg"\n')
        for path in (faults, shard):
            with open(path, "w", encoding="utf-8") as f:
                f.write("# mine\n")
        before = [open(path, encoding="utf-8").read() for path in paths]
        for args in ((ROUTE, "--config", config, "--dump", config),
                     (SIM, "--config", config, "--json", config),
                     (SIM, "--config", config, "--faults", faults, "--json",
                      faults),
                     (SIM, "--config", outer, "--json", config),
                     (SIM, "--config", outer, "--trace", config),
                     (SIM, "merge", "--json", shard, shard),
                     (BENCH, "--config", config, "--json", config, "sim"),
                     (BENCH, "--config", outer, "--json", config, "sim"),
                     (ROUTE, "--config", outer, "--dump", config),
                     (ROUTE, "--config", outer, "--worst", config),
                     (REPORT, "--json", shard, shard)):
            p = run(*args)
            assert p.returncode == 2, (args, p)
            assert p.stderr.endswith(": it is read, too\n"), (args, p)
        p = run(ROUTE, "--config", config, "--dump", shard, "--json", shard)
        assert p.stderr.endswith(": another document goes there\n"), p
        assert [open(path, encoding="utf-8").read()
                for path in paths] == before


def route_and_simulation_agree_about_service_levels():
    """Levels share the VLs; what is left must be enough for the engine."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "levels.cfg")
        for dims, engine, levels, status in (
                ("[4, 4]", "reflit", 2, 0), ("[4, 4]", "reflit", 4, 3),
                ("[4, 4]", "torus-2qos", 4, 0),
                ("[4, 4, 4]", "torus-2qos", 4, 2),
                ("[4, 4]", "updown", 8, 0)):
            with open(path, "w", encoding="utf-8") as f:
                f.write('fabric: { topology = "torus"; dims = %s; };\n'
                        'routing: { engine = "%s"; levels = %d; };\n'
                        % (dims, engine, levels))
            route = run(ROUTE, "--config", path)
            sim = run(SIM, "--config", path, "--duration", "1us")
            at = (dims, engine, levels)
            assert route.returncode == status, (at, route)
            assert sim.returncode == status, (at, sim)
            if status != 0:
                assert (route.stdout, route.stderr) == (sim.stdout,
                                                        sim.stderr), at


def the_simulation_suite_takes_a_fabric_file():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "line.cfg")
        with open(path, "w", encoding="utf-8") as f:
            f.write('fabric: { topology = "mesh"; dims = [2]; };\n'
                    'link: { max_packet_flits = 4; };\n')
        p = run(BENCH, "--quick", "--reps", "1", "--config", path, "sim")
        assert p.returncode == 0 and path in p.stdout, p
        with open(path, "a", encoding="utf-8") as f:
            f.write('routing: { engine = "torus-2qos"; vls = 1; };\n')
        p = run(BENCH, "--quick", "--reps", "1", "--config", path, "sim")
        assert p.returncode == 3, p
        assert "refused: engine torus-2qos needs 2 VLs" in p.stdout, p.stdout


def a_full_fabric_has_a_knee_and_a_curve_for_each_pattern():
    with tempfile.TemporaryDirectory() as d:
        path, line = os.path.join(d, "r.json"), os.path.join(d, "line.cfg")
        p = run(BENCH, "--quick", "--config", TORUS, "--json", path, "load")
        assert p.returncode == 0, p
        with open(path, encoding="utf-8") as f:
            r = json.load(f)["load"]
        rows = {x["pattern"]: x for x in r["runs"]}
        assert set(rows) == {"uniform", "transpose", "worst of tables"}, p
        for x in rows.values():
            assert 0.2 < x["knee"] <= 1 and 0 < x["worst"] <= x["full"], x
            assert 0 < x["jain"] <= 1 and 0 < x["p50_slots"] <= \
                x["p99_slots"], x
            loads = [q["load"] for q in x["points"]]
            assert loads == sorted(loads) and loads[-1] == 1, loads
            assert x["full"] == x["points"][-1]["delivered"], x
            for q in x["points"]:  # carried up to the knee, and not beyond
                if q["load"] < x["knee"] * 0.9:
                    assert q["delivered"] > 0.9 * q["load"], (x["knee"], q)
                if q["load"] > x["knee"]:
                    assert q["delivered"] < 0.97 * q["load"], (x["knee"], q)
        assert rows["uniform"]["knee"] > rows["transpose"]["knee"], rows
        assert r["victims"][0]["rate_times"] > 0.5, r["victims"]
        with open(line, "w", encoding="utf-8") as f:
            f.write('fabric: { topology = "mesh"; dims = [4]; };\n')
        p = run(BENCH, "--quick", "--config", line, "load")
        assert p.returncode == 2 and "less than five" in p.stderr, p


def the_worst_permutation_of_tables_is_written_and_can_be_sent():
    with tempfile.TemporaryDirectory() as d:
        worst, report = os.path.join(d, "worst"), os.path.join(d, "r.json")
        p = run(ROUTE, "--config", TORUS, "--worst", worst)
        assert p.returncode == 0, p
        with open(worst, encoding="utf-8") as f:
            pairs = [line.split() for line in f]
        ends = ["e%d.%d" % (x, y) for x in range(4) for y in range(4)]
        assert [src for src, _ in pairs] == ends, pairs
        assert sorted(dst for _, dst in pairs) == ends, pairs
        assert all(src != dst for src, dst in pairs), pairs
        p = run(SIM, "--config", TORUS, "--traffic", "pairs:" + worst,
                "--load", "0.1", "--duration", "20us", "--json", report)
        assert p.returncode == 0, p
        with open(report, encoding="utf-8") as f:
            assert json.load(f)["senders"]["count"] == 16, p
        p = run(ROUTE, "--config", TORUS, "--worst", d)
        assert p.returncode == 2 and "Is a directory" in p.stderr, p


def a_recovery_is_measured_phase_by_phase_and_nothing_is_missing():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "r.json")
        p = run(BENCH, "--quick", "--reps", "2", "--json", path, "recovery")
        assert p.returncode == 0, p
        with open(path, encoding="utf-8") as f:
            r = json.load(f)["recovery"]["cases"][0]
    assert r["runs"] == r["in_place"] == 2 and r["recoveries"] >= 2, r
    assert r["sent_packets"] == r["delivered_packets"] > 0, r
    assert 0 < r["compute_ns"]["p50"] <= r["in_place_ns"]["p50"], r
    assert r["detect_ns"]["max"] <= r["in_place_ns"]["max"], r
    assert 0 <= r["held_flows"]["max"] <= r["flows"] == 240, r
    p = run(BENCH, "--row", "9x9", "recovery")
    assert p.returncode == 2 and "no row holds '9x9'" in p.stderr, p


def pipes_that_nobody_writes_are_refused_and_others_read():
    with tempfile.TemporaryDirectory() as d:
        fifo = os.path.join(d, "fifo")
        os.mkfifo(fifo)
        for args in (("--config", fifo),
                     ("--config", TORUS, "--faults", fifo),
                     ("--config", TORUS, "--traffic", "pcap:" + fifo)):
            p = run(SIM, *args)
            assert p.returncode == 2, (args, p)
            assert "this pipe has no writer" in p.stderr, (args, p)
        # a shell's <(...), slow to begin
        p = run("bash", "-c", "%s --config <(sleep 0.2; cat %s) --faults "
                "<(sleep 0.4; echo 1us cut s0.0-s0.1; echo 2us heal s0.0-s0.1) --duration 1us"
                % (SIM, TORUS))
        assert p.returncode == 0 and "lost 0" in p.stdout, p


def a_document_on_standard_output_is_alone_there():
    for args in ((SIM, "--config", TORUS, "--duration", "1us"),
                 (SIM, "--config", TORUS, "--duration", "1us", "--seeds", "2"),
                 (SIM, "scenario", "fig4", "--profile", "rxl"),
                 (SIM, "ablation", "--cuts", "1"),
                 (BENCH, "--quick", "--reps", "1", "replay")):
        human = run(*args)
        p = run(*args, "--json", "-")
        report = json.loads(p.stdout)
        assert p.returncode == human.returncode == 0, p
        first = human.stdout.split()[0]
        assert p.stderr.startswith(first), (first, p.stderr)
        assert not os.path.exists("-"), args
        # and every report says what it is of
        assert report["program"] == os.path.basename(args[0])
        assert report["arguments"] == list(args[1:]) + ["--json", "-"]
        assert report["version"][0].isdigit(), report["version"]
        assert time.time() - time.mktime(time.strptime(
            report["date"], "%Y-%m-%dT%H:%M:%SZ")) + time.timezone < 600


def a_signal_ends_a_campaign_with_what_it_has():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "report.json")
            p = subprocess.Popen(
                [SIM, "--config", TORUS, "--duration", "1us", "--seeds",
                 "1000000000", "--json", path], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
            time.sleep(1)
            p.send_signal(sig)
            out, err = p.communicate(timeout=60)
            assert p.returncode == 0, (sig, p.returncode, out, err)
            with open(path, encoding="utf-8") as f:
                report = json.load(f)
            assert 0 < report["seeds"] < 1000000000, report
            assert report["interrupted"] is True
            assert "ended after %d of" % report["seeds"] in err, err
            assert "%d seeds from 1:" % report["seeds"] in out, out


def a_signal_ends_a_sweep_with_what_it_has():
    p = subprocess.Popen([ROUTE, "--config", TORUS, "--random-links", "2",
                          "--seeds", "1000000"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 0, err
    assert "of 1000000 seeds" in err, err
    assert "\naccepted " in out, out[-500:]


def a_signal_ends_a_run_and_says_so():
    p = subprocess.Popen([SIM, "--config", TORUS, "--duration", "1s", "--json",
                          "-"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 1, (p.returncode, err)
    assert json.loads(out)["interrupted"] is True
    assert "interrupted: " in err, err


def a_signal_before_anything_is_sent_is_told_as_well():
    for wait in (0.02, 0.03, 0.05):
        p = subprocess.Popen([SIM, "--config", TORUS, "--duration", "1s",
                              "--json", "-"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        time.sleep(wait)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        if p.returncode == -signal.SIGINT:
            continue  # tables were being computed, or nothing had begun
        assert p.returncode == 1, (p.returncode, err)
        assert json.loads(out)["interrupted"] is True, err


def a_second_signal_ends_at_once():
    p = subprocess.Popen([SIM, "rxl", "--quick", "--out", "/dev/null/x"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert p.wait(60) == 2 and b"cannot make the folder" in p.stderr.read()
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.Popen([SIM, "rxl", "--out", d],
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        p.wait(60)
        # it was killed by the second, or had ended by the first by then
        err = p.stderr.read()
        assert p.returncode == -signal.SIGINT or (
            p.returncode == 1 and b"goes on from there" in err), err


def several_benches_run_beside_each_other():
    wraps, user = [[], []], 65531
    if os.geteuid() == 0 and shutil.which("setpriv"):
        probe = ["setpriv", "--reuid=%d" % user, "--regid=%d" % user,
                 "--clear-groups"]
        if run(*probe, "test", "-x", BENCH).returncode == 0:
            wraps += [probe, probe]
    env = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o777)
        before = runtime_folders(user)
        ps = [subprocess.Popen(w + [BENCH, "--quick", "--reps", "1", "replay"],
                               cwd=d, env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
              for w in wraps]
        for p in ps:
            out = p.communicate(timeout=120)[0]
            assert p.returncode == 0, out
        left = runtime_folders(user) - before
        assert not left or len(wraps) == 2, left


def a_bench_of_some_cases_says_how_far_it_holds():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "r.json")
        p = run(BENCH, "--quick", "--reps", "3", "--case", "2/5,16/16",
                "--json", path, "hop")
        assert p.returncode == 0, p.stderr
        with open(path, encoding="utf-8") as f:
            r = json.load(f)
    runs = r["hop"]["runs"]
    assert [(x["packet_flits"], x["flits_per_frame"]) for x in runs] == \
        [(2, 5), (16, 16)], runs
    assert r["machine"]["cpu"] and r["machine"]["codec"] in p.stdout, r
    for m in (m for x in runs for m in x["modes"]):
        assert m["spread"] >= 0 and isinstance(m["noisy"], bool), m
        # a spread of more than a fifth is no figure, and neither is none
        assert m["noisy"] == (m["spread"] > 0.2 or m["ratio_vs_bare"] <= 0), m
    for bad in ("", "0/5", "1", "1/33", "33/1", "1/5,", "1/5,x", "1//5"):
        p = run(BENCH, "--case", bad, "hop")
        assert p.returncode == 2 and "is not FLITS_A_PACKET" in p.stderr, bad


CASES = (refused_arguments, a_full_disk_is_no_success,
         what_may_be_left_out_is_shown_as_it_is_given,
         a_document_does_not_replace_what_is_read,
         route_and_simulation_agree_about_service_levels,
         the_simulation_suite_takes_a_fabric_file,
         a_full_fabric_has_a_knee_and_a_curve_for_each_pattern,
         a_wrong_option_brings_the_one_that_was_meant,
         a_tornado_of_two_sends_and_one_of_one_is_refused,
         a_simulation_that_sends_nothing_is_no_success,
         the_worst_permutation_of_tables_is_written_and_can_be_sent,
         a_recovery_is_measured_phase_by_phase_and_nothing_is_missing,
         pipes_that_nobody_writes_are_refused_and_others_read,
         a_document_on_standard_output_is_alone_there,
         a_signal_ends_a_campaign_with_what_it_has,
         a_signal_ends_a_sweep_with_what_it_has,
         a_signal_ends_a_run_and_says_so,
         a_signal_before_anything_is_sent_is_told_as_well, a_second_signal_ends_at_once,
         several_benches_run_beside_each_other,
         a_bench_of_some_cases_says_how_far_it_holds)
sys.exit(run_cases(CASES))
