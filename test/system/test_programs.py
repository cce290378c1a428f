#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The programs beside reflit refuse what they can't use before anything is
done [APP-4]: one line that says what and why, and the exit status of the
contract. And they agree with each other about what can be routed.

usage: test_programs.py REFLIT_SIM REFLIT_ROUTE REFLIT_BENCH SOURCE_ROOT
"""
import os
import subprocess
import sys
import tempfile

SIM, ROUTE, BENCH, ROOT = (os.path.abspath(p) for p in sys.argv[1:5])
TORUS = os.path.join(ROOT, "config", "torus-4x4.cfg")


def run(*args, **more):
    return subprocess.run(args, capture_output="stdout" not in more, text=True,
                          timeout=120, check=False, **more)


def refused_arguments():
    """Exit status 2, one line, and nothing on standard output."""
    rows = (
        ((ROUTE,), "give --config FILE"),
        ((ROUTE, "--config", "/nowhere/x"), "/nowhere/x:0: cannot read"),
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
        ((BENCH,), "name a suite"),
        ((BENCH, "speed"), "no suite 'speed'"),
        ((BENCH, "--reps", "0", "hop"), "'0' is not a number of 1 to 1000"),
        ((BENCH, "--config", "/nowhere/x", "sim"), "/nowhere/x:0: cannot read"),
        ((BENCH, "--json", "/nowhere/x", "sim"), "cannot write /nowhere/x"),
    )
    for args, words in rows:
        p = run(*args)
        assert p.returncode == 2, (args, p.returncode, p.stderr)
        assert words in p.stderr, (args, p.stderr)
        assert p.stderr.count("\n") == 1, (args, p.stderr)
        assert p.stdout == "", (args, p.stdout)


def a_full_disk_is_no_success():
    with open("/dev/full", "w", encoding="utf-8") as full:
        p = run(ROUTE, "--config", TORUS, "--verify", stdout=full,
                stderr=subprocess.PIPE)
    assert p.returncode == 2, p.returncode
    assert "standard output could not be written" in p.stderr, p.stderr
    p = run(ROUTE, "--config", TORUS, "--json", "/dev/full")
    assert p.returncode == 2, p.returncode
    assert "/dev/full: No space left" in p.stderr, p.stderr


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


CASES = (refused_arguments, a_full_disk_is_no_success,
         route_and_simulation_agree_about_service_levels,
         the_simulation_suite_takes_a_fabric_file)
for case in CASES:
    print("[ RUN      ]", case.__name__, flush=True)
    case()
    print("[       OK ]", case.__name__, flush=True)
print("%d case(s), 0 failed" % len(CASES))
