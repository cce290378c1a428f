#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit-report and the program in Python beside it: names in every locale, signals,
what dies, and what says nothing [APP-4].

usage: test_report_driver.py REFLIT_REPORT SOURCE_ROOT
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

REPORT = os.path.abspath(sys.argv[1])
sys.argv[1:] = ["-", "-", sys.argv[2]]  # reflit itself has no part in this
from reflit_test import Box, case, main  # noqa: E402


def report(process, **more):
    return dict({k + "_packets": 0 for k in (
        "sent", "delivered", "lost", "duplicated", "reordered", "corrupted",
        "reported")}, digest="f00d", process=process, flows=[], drained=True,
                **{"processes": [process], **more})


@case
def names_are_said_as_they_are_in_every_locale():
    name, process = b"sp\xe4t", "n\u00f6rd"
    plain = dict(os.environ, LC_ALL="C", PYTHONCOERCECLOCALE="0",
                 PYTHONUTF8="0")
    for env in (os.environ, plain):
        with Box() as box:
            path = os.path.join(box.dir.encode(), name)
            with open(path, "w", encoding="utf-8") as f:
                json.dump(report(process, processes=["w\u00e4r"],
                                 channel=dict(outages=1, away_ns=0)), f)
            p = subprocess.run([REPORT, path], capture_output=True, timeout=60,
                               env=env, check=False)
            assert p.returncode == 1, p
            assert ("process %s: etcd" % process).encode() in p.stdout, p
            assert p.stderr == ("reflit-report: process w\u00e4r has left no "
                                "report\n").encode(), p
            p = subprocess.run([REPORT, path, path], capture_output=True,
                               timeout=60, env=env, check=False)
            assert p.returncode == 2 and name + b": is the same" in p.stderr, p


@case
def a_status_is_heard_where_those_of_children_are_ignored():
    with Box() as box:
        for status, lost in ((0, 0), (1, 3)):
            path = box.write("r", json.dumps(report("a", processes=["a"],
                                                    lost_packets=lost)))
            p = subprocess.run(
                [REPORT, path], capture_output=True, timeout=60, check=False,
                preexec_fn=lambda: signal.signal(signal.SIGCHLD,
                                                 signal.SIG_IGN))
            assert p.returncode == status, p


@case
def standard_files_that_are_closed_are_no_verdict():
    with Box() as box:
        path, out = box.write("r", json.dumps(report("a"))), box.path("out")
        for closed, status in (("<&-", 0), ("2>&-", 0), (">&-", 2),
                               ("<&- >&- 2>&-", 2)):
            p = subprocess.run(
                ["bash", "-c", "$0 --json $1 $2 " + closed, REPORT, out, path],
                capture_output=True, text=True, timeout=60, check=False)
            assert p.returncode == status, (closed, p)
            assert p.stderr in ("", "reflit-report: standard output could not "
                                "be written\n"), (closed, p)
            with open(out, encoding="utf-8") as f:
                assert json.load(f)["missing_reports"] == 0, closed
            os.unlink(out)


def beside(box, driver):
    """reflit-report with another program in Python beside it, and a file."""
    os.makedirs(box.path("report"))
    box.write("report/report.py", driver)
    return [shutil.copy(REPORT, box.path("reflit-report")),
            box.write("r", json.dumps(report("a", processes=["a"])))]


@case
def what_dies_or_says_nothing_has_judged_nothing():
    for driver, words in (
            ("import os\nos.kill(os.getpid(), 9)", "python3 ended before its "
             "answer\n"), ("raise ValueError('odd')", "ValueError: odd\n"),
            ("", ""), ("import sys\nsys.exit(1)", "")):
        with Box() as box:
            p = subprocess.run(beside(box, driver), capture_output=True,
                               text=True, timeout=60, check=False)
            assert p.returncode == 2 and p.stderr.endswith(words), p
            shutil.rmtree(box.path("report"))
            p = subprocess.run([box.path("reflit-report"), box.path("r")],
                               capture_output=True, text=True, timeout=60,
                               check=False)
            assert p.returncode == 2, p
            assert "there is no report.py in" in p.stderr, p


def state_of(pid):
    """A letter of proc(5); empty: it is gone, perhaps while we look."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


@case
def a_signal_ends_what_judges_too():
    for sig in (signal.SIGINT, signal.SIGTERM):
        with Box() as box:
            args = beside(box, "import os, sys, time\n"
                          "print(os.getpid(), flush=True)\ntime.sleep(60)\n")
            with subprocess.Popen(args, stdout=subprocess.PIPE) as p:
                pid = int(p.stdout.readline())
                p.send_signal(sig)
                # the pipe ends with the last that holds it
                assert p.stdout.read() == b""
                assert p.wait() == -sig, p.returncode
            limit = time.monotonic() + 20
            while state_of(pid) not in ("", "Z"):
                assert time.monotonic() < limit
                time.sleep(0.01)


main()
