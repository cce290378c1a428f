# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the program share: running it, and counting cases.

A test file defines functions whose names are sentences, marks them with
@case, and ends in main(). Cases are printed the way cmocka prints them, so
that one summary counts them all.
"""
import json
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from cases import FULL, Skip, run_cases

REFLIT, PCAP_SAME, ROOT = (os.path.abspath(p) for p in sys.argv[1:4])
CASES = []

# nohup, and a shell that starts this in the background, let signals be
# ignored, and programs inherit that; these cases send them
for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    signal.signal(sig, signal.SIG_DFL)

FIGURE1 = """
fabric: {
  topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; count = 2; },
            { a = "s1"; b = "e1"; } );
};
"""


def case(fn):
    CASES.append(fn)
    return fn


def need(*programs):
    """Skips the case where one of these programs is not installed."""
    for name in programs:
        if shutil.which(name) is None:
            raise Skip("%s is not installed" % name)


class Run:
    """One run of the program, finished."""

    def __init__(self, status, out, err, report):
        self.status, self.out, self.err = status, out, err
        self.report = report

    def errors(self):
        return [line for line in self.err.split("\n") if line]

    def check(self, status):
        assert self.status == status, "exit status %s, not %s\n%s\n%s" % (
            self.status, status, self.out, self.err)
        return self

    def check_clean(self):
        """Every promise kept, and traffic that deserves the name."""
        self.check(0)
        for key in ("lost", "duplicated", "reordered", "corrupted",
                    "reported"):
            assert self.report[key + "_packets"] == 0, key
        assert self.report["sent_packets"] > 0
        assert self.report["sent_packets"] == self.report["delivered_packets"]
        return self


class Box:
    """A folder for the files of one case."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="reflit-test-")
        os.chmod(self.dir, 0o777)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.path(name), mode) as f:
            f.write(content)
        os.chmod(self.path(name), 0o644)
        return self.path(name)

    def run(self, args=(), eal=(), config=FIGURE1, commands=None, stdin=None,
            wrap=(), timeout=120, env=None, json_report=True):
        """Runs reflit; config and commands are texts, or None."""
        cmd = list(wrap) + [REFLIT] + list(eal) + ["--"]
        if config is not None:
            cmd += ["--config", self.write("fabric.cfg", config)]
        if commands is not None:
            cmd += ["--cmdline-file", self.write("commands", commands)]
        report = self.path("report.json")
        if os.path.exists(report):
            os.remove(report)
        cmd += (["--json", report] if json_report else []) + list(args)
        p = subprocess.run(cmd, capture_output=True, text=True, cwd=ROOT,
                           input=stdin, timeout=timeout, env=env)
        parsed = None
        if os.path.exists(report):
            with open(report, encoding="utf-8") as f:
                parsed = json.load(f)
        return Run(p.returncode, p.stdout, p.stderr, parsed)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for name in os.listdir(self.dir):
            if ".ledger" in name:  # of a process killed: a link to /dev/shm
                os.remove(os.path.realpath(self.path(name)))
        subprocess.run(["rm", "-rf", self.dir], check=False)


def first_line(program, seconds=60):
    """What a Popen says first; fails if that does not come in time."""
    assert select.select([program.stdout], [], [], seconds)[0], program.args
    return program.stdout.readline()


class Running:
    """A program that still runs, and ends with its block at the latest. A line
    that does not come in time fails the case, as does an early end."""

    def __init__(self, cmd, **popen):
        self.p = subprocess.Popen(cmd, stdout=subprocess.PIPE, text=True,
                                  cwd=ROOT, **popen)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.p.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def line(self, seconds=60):
        line = self.lines.get(timeout=seconds)
        assert line is not None, "it ended: %s" % self.p.wait(60)
        return line

    def until(self, text, seconds=60):
        """The line that holds this text."""
        end = time.monotonic() + seconds
        line = ""
        while text not in line:
            line = self.line(max(end - time.monotonic(), 0.01))
        return line

    def say(self, text):
        """To a program with stdin=subprocess.PIPE."""
        self.p.stdin.write(text)
        self.p.stdin.flush()

    def interrupt(self, seconds=60):
        """Until it ends: a second signal ends its waiting."""
        end = time.monotonic() + seconds
        while self.p.poll() is None:
            assert time.monotonic() < end
            self.p.send_signal(signal.SIGINT)
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait(60)
        self.reader.join(60)
        for f in (self.p.stdin, self.p.stdout, self.p.stderr):
            if f is not None:
                f.close()


def carrier(config):
    """Which of the two links between s0 and s1 s0 sends to e1 by."""
    with Box() as box:
        run = box.run(commands="show routes s0\nquit\n", config=config)
    line = [s for s in run.out.split("\n") if "to e1:" in s][0]
    return int(line.split("s0/")[1].split()[0]) - 1


def main():
    sys.exit(run_cases(CASES))
