# SPDX-License-Identifier: BSD-3-Clause
"""What a planted bug breaks is shrunk to a case of a few parts that fails in the
same way, and passes without the bug [SIM-2].

usage: test_shrink_bugs.py REFLIT_SIM SOURCE_ROOT REFLIT_SIM_PLANTS
"""

import filecmp
import os
import signal
import subprocess
import sys
import tempfile
import time

from sim_check import FIGURE1, SIM, check, end, load, run

PLANTS = sys.argv[3]
# A seed that fails by this bug, and runs that are enough here.
BUG, SEED, RUNS = "NO_ANSWER", "17", 60
# A run of files that fails: a link that dies without loopback and retry.
CONFIG = """
fabric: { topology = "custom"; switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; }, { name = "e2"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s1"; b = "e1"; }, { a = "s1"; b = "e2"; } ); };
link: { loopback = "none"; };
endpoint: { retry = false; window_flits = 511; };
"""
FAULTS = """
1us cut e2-s1
1.5us heal e2-s1
2us noise e0-s0 jitter=0.1 within=50ns
3us cut s0-s1#0
4us stall s1-e1 for=1us
6us heal s0-s1#0
"""


def shrink(program, bug, *args):
    env = dict(os.environ)
    env.pop("RL_PLANT_NAME", None)
    if bug:
        env["RL_PLANT_NAME"] = bug
    return subprocess.run([program, *args], env=env, capture_output=True,
                          text=True, timeout=240)


def of_bug(tmp):
    out = os.path.join(tmp, "bug")
    p = shrink(PLANTS, BUG, "shrink", "--seed", SEED, "--runs", str(RUNS),
               "--out", out)
    check("a planted bug is shrunk", p.returncode == 0, p.stderr)
    if p.returncode != 0:
        return
    r = load(os.path.join(out, "report.json"))
    check("to few parts", r["left"]["faults"] <= 5 and
          r["left"]["switches"] <= 4 and r["left"]["packets"] <= 100, r)
    case = [os.path.join(out, f) for f in ("fabric.cfg", "faults.flt")]
    again = ("--config", case[0], "--faults", case[1])
    p = shrink(PLANTS, BUG, *again)
    check("the case fails in the same way", p.returncode == 1 and
          "broken: " + r["broken"] in p.stdout, p.stdout + p.stderr)
    trace = os.path.join(tmp, "trace")
    p = run(*again, "--trace", trace)
    with open(trace) as f:
        met = f.read()
    check("and passes without the bug, with a trace of what flits met",
          p.returncode == 0 and ": delivered e" in met and "ns  fault: " in met,
          p.stdout + p.stderr)
    twice = [os.path.join(tmp, name) for name in ("one", "two")]
    for into in twice:
        p = shrink(PLANTS, BUG, "shrink", *case, "--out", into, "--runs", "9")
        check("a case can be shrunk again", p.returncode == 0, p.stderr)
    same, *rest = filecmp.cmpfiles(*twice, ["fabric.cfg", "faults.flt"],
                                   shallow=False)
    check("twice, to the same bytes", len(same) == 2, rest)


with tempfile.TemporaryDirectory() as tmp:
    def write(name, text):
        path = os.path.join(tmp, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    of_bug(tmp)

    config, faults = write("f.cfg", CONFIG), write("f.flt", FAULTS)
    out = os.path.join(tmp, "files")
    p = run("shrink", config, faults, "--out", out, "--duration", "6us",
            "--load", "0.6", "--packet-flits", "1-8", "--runs", "100",
            "--seed", "77")
    check("files with options of a run are shrunk", p.returncode == 0,
          p.stdout + p.stderr)
    if p.returncode == 0:
        r = load(os.path.join(out, "report.json"))
        check("to the cut that loses", r["left"]["faults"] == 1 and
              r["left"]["links"] <= 4 and r["left"]["packets"] <= 300, r)
        # its own seed fails, so no other is tried
        with open(out + "/faults.flt") as f:
            check("by its own seed", "\nrun seed=77 " in "\n" + f.read())
        p = run("--config", out + "/fabric.cfg", "--faults",
                out + "/faults.flt")
        check("which fails alone", p.returncode == 1, p.stdout + p.stderr)

    # stopped in the middle of it
    out = os.path.join(tmp, "stopped")
    for wait in (0.05 * 2 ** i for i in range(10)):
        p = subprocess.Popen([SIM, "shrink", config, faults, "--out", out,
                              "--duration", "40us", "--load", "0.6"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        time.sleep(wait)
        p.send_signal(signal.SIGINT)
        said, why = p.communicate(timeout=240)
        # too early: nothing had failed as files
        if p.returncode == 0:
            break
    r = load(os.path.join(out, "report.json"))
    again = run("--config", out + "/fabric.cfg", "--faults",
                out + "/faults.flt")
    check("stopped, it says what the run that is left breaks",
          p.returncode == 0 and r["left"]["packets"] > 0 and
          "lost" in r["broken"] and "broken: " + r["broken"] in said and
          again.returncode == 1, (r, said, why))

    quiet = write("quiet.flt", "1us heal s0-s1\n")
    case = os.path.join(out, "fabric.cfg"), os.path.join(out, "faults.flt")
    for args, words in (
            (("shrink", FIGURE1, quiet, "--out", out),
             "the run keeps every promise, so there is nothing to shrink"),
            (("shrink", FIGURE1, quiet), "Give --out DIR"),
            (("shrink", FIGURE1, "--out", out), "give a fabric file and"),
            (("shrink", FIGURE1, "/none", "--out", out), "/none: No such file"),
            (("shrink", *case, "--out", write("file", "")),
             "Not a directory"),
            (("shrink", *case, "--out", out), "it is read, too"),
            (("shrink", FIGURE1, quiet, "--out", out, "--seeds", "2"),
             "go with a campaign"),
            (("shrink", *case, "--out", out, "--load", "1"),
             "leave --load out"),
            (("--config", FIGURE1, "--out", out), "go with shrink"),
            (("--config", FIGURE1, "--runs", "3"), "go with shrink")):
        p = run(*args)
        check("unusable: " + " ".join(args)[-50:], p.returncode == 2 and
              words in p.stderr and p.stderr.count("\n") == 1,
              (p.returncode, p.stdout, p.stderr))

end()
