# SPDX-License-Identifier: BSD-3-Clause
"""Runs the simulations that the store does not know yet, several at a time, by
`reflit-sim rxl-points`, and keeps what each has counted; ends the programs."""
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

FORMAT = 3  # changes whenever the meaning of a case or of its numbers does


class Failed(Exception):
    """A simulation, or the file that keeps them, did not do it."""


class Stopped(Exception):
    """A signal asked for the end."""


class Worker:
    """A process that computes: one line of JSON in, one out."""

    def __init__(self, program):
        # Ctrl-C is for this program alone: what is simulated ends by itself
        self.p = subprocess.Popen([program, "rxl-points"], text=True, bufsize=1,
                                  stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE,
                                  start_new_session=True)

    def ask(self, what, values):
        try:
            self.p.stdin.write(json.dumps({what: values}) + "\n")
            self.p.stdin.flush()
            line = self.p.stdout.readline()
            answer = json.loads(line) if line else {
                "error": "the simulation's process ended (status %s)" %
                self.p.wait()}
        except OSError as e:
            answer = {"error": e.strerror}
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def close(self):
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()

    def kill(self):
        self.p.kill()


def build_of(program):
    """What tells this build from any other: a hash of the program's file."""
    h = hashlib.blake2b(digest_size=8)
    with open(program, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


class Store:
    """Outcomes by key, kept in a file of one JSON line each, so that a run that
    was stopped goes on where it was. A line that cannot be read, and any that
    another build has written, is left aside: its case is run again."""

    def __init__(self, path, build, fresh=False):
        """OSError if the file cannot be used; path None: nothing is kept"""
        self.build, self.file, self.foreign = build, None, 0
        self.known = {}
        if path is None:
            return
        if not fresh and os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                for line in f:
                    self.read(line)
        self.file = open(path, "w" if fresh else "a", encoding="utf-8")

    def read(self, line):
        try:
            o = json.loads(line)
        except ValueError:
            return
        if not isinstance(o, dict) or "key" not in o:
            return
        if o.get("build") != self.build:
            self.foreign += 1
        elif o.get("format") == FORMAT and isinstance(o.get("outcome"), dict):
            self.known[o["key"]] = o["outcome"]

    def add(self, key, outcome):
        self.known[key] = outcome
        if self.file is None:
            return
        # a line is whole or, after a crash, the last one and unreadable
        self.file.write(json.dumps({
            "key": key, "format": FORMAT, "build": self.build,
            "outcome": outcome}, separators=(",", ":")) + "\n")
        self.file.flush()

    def close(self):
        if self.file is not None:
            self.file.close()


class Signals:
    """The first signal ends a run after what is being simulated, the second
    ends it at once."""

    def __init__(self):
        self.asked = False
        self.workers = []
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(s) != signal.SIG_IGN:
                signal.signal(s, self.take)

    def take(self, number, _frame):
        if not self.asked:
            self.asked = True
            return
        for w in self.workers:
            w.kill()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


class Runner:
    def __init__(self, cases, store, progress, signals):
        self.cases, self.store, self.signals = cases, store, signals
        self.progress = progress
        self.terminal = sys.stderr.isatty()
        self.lock = threading.Lock()
        self.todo = [c for c in cases if c.key() not in store.known]
        self.todo.reverse()
        self.done = len(cases) - len(self.todo)
        self.cost_todo = sum(c.cost() for c in self.todo)
        self.cost_done = 0.0
        self.start = time.monotonic()
        self.error = None

    def show(self, case):
        if not self.progress:
            return
        whole = self.cost_done + self.cost_todo
        share = self.cost_done / whole if whole > 0 else 1
        spent = time.monotonic() - self.start
        sys.stderr.write("%s[%d/%d] %3.0f %%, %.0f s left: %.56s%s" % (
            "\r\033[K" if self.terminal else "", self.done, len(self.cases),
            100 * share, spent * (1 - share) / share if share > 0 else 0,
            case.key(), "" if self.terminal else "\n"))
        sys.stderr.flush()

    def work(self, worker):
        while True:
            with self.lock:
                if self.error or self.signals.asked or not self.todo:
                    return
                case = self.todo.pop()
            try:
                outcome = worker.ask("case", case.json())
                with self.lock:
                    self.store.add(case.key(), outcome)
                    self.done += 1
                    self.cost_done += case.cost()
                    self.cost_todo -= case.cost()
                    self.show(case)
            except (Failed, OSError) as e:
                with self.lock:
                    self.error = self.error or e
                return

    def run(self, program, jobs):
        if self.progress and self.done > 0:
            sys.stderr.write("%d of %d simulations are known already\n" % (
                self.done, len(self.cases)))
        workers = [Worker(program) for _ in range(min(jobs, len(self.todo)))]
        self.signals.workers += workers
        threads = [threading.Thread(target=self.work, args=(w,))
                   for w in workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for w in workers:
            w.close()
        if self.progress and self.terminal:
            sys.stderr.write("\r\033[K")
        if self.error is not None:
            raise Failed(getattr(self.error, "strerror", None) or
                         str(self.error))
        if self.done < len(self.cases):
            sys.stderr.write("ended after %d of %d simulations\n" % (
                self.done, len(self.cases)))
            raise Stopped()


def printed(program, *args):
    """The exit status of a program: its own, or 2 if what it printed did not
    get there."""
    try:
        status = program(*args)
        sys.stdout.flush()
    except OSError:
        sys.stderr.write("reflit-sim: standard output could not be written\n")
        status = 2
        # nothing is left to be written when the program ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return status
