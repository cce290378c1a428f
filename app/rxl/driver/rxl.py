#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of the evaluation of the RXL paper: what `reflit-sim rxl`
runs.

usage: rxl.py PROGRAM VERSION [options]

PROGRAM (reflit-sim) computes points: it simulates, and knows the exact model of
the FEC; everything around that is here. docs/evaluation.md says what it is.
"""
import json
import os
import stat
import sys
import time

import figures
import options
import plan
import reports
import run

BEGAN = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Unusable(Exception):
    """The run has no use; what is wrong."""


def why(error):
    return os.strerror(error.errno) if error.errno else str(error)


def check_document(path):
    """Whether a document can be written, as far as that is known without
    touching it: a run of minutes is not to end without a place for it."""
    if path in (None, "-"):
        return
    try:
        if path == "":
            raise FileNotFoundError(2, "")
        if os.path.exists(path):
            if stat.S_ISDIR(os.stat(path).st_mode):
                raise IsADirectoryError(21, "")
            there, mode = path, os.W_OK
        else:
            there, mode = os.path.dirname(path) or ".", os.W_OK | os.X_OK
            os.stat(there)
        if not os.access(there, mode):
            raise PermissionError(13, "")
    except OSError as e:
        raise Unusable("cannot write %s: %s" % (
            path or "to a file without a name", why(e))) from None


class Session:
    """A run, from the options to the last file."""

    def __init__(self, program, version, words, signals):
        self.program, self.version, self.words = program, version, words
        self.signals = signals
        self.o = options.parse(words)
        self.start = time.monotonic()
        self.out = self.document = sys.stdout
        self.cases, self.known, self.tables = [], {}, {}

    def claim_stdout(self):
        """A document on standard output is alone there."""
        check_document(self.o.json)
        if self.o.json == "-":
            self.out = sys.stderr

    def simulate(self):
        o = self.o
        groups = {g for t in o.tables for g in reports.REPORTS[t][0]}
        self.cases = plan.make(groups, o.quick, o.base, o.long_flits,
                               o.base if o.point else None)
        if not self.cases:
            return
        try:
            os.mkdir(o.out)
        except FileExistsError:
            pass
        except OSError as e:
            raise Unusable("cannot make the folder %s: %s" % (
                o.out, why(e))) from None
        path = os.path.join(o.out, "state.jsonl")
        try:
            store = run.Store(path, run.build_of(self.program), o.fresh)
        except OSError as e:
            raise Unusable("cannot use %s: %s" % (path, why(e))) from None
        if store.foreign and not o.quiet:
            sys.stderr.write("%s: %d results of other builds are left aside\n"
                             % (path, store.foreign))
        try:
            run.Runner(self.cases, store, not o.quiet, self.signals).run(
                self.program, o.jobs)
        except run.Stopped:
            sys.stderr.write("reflit-sim rxl: %s keeps them: the same command "
                             "goes on from there\n" % path)
            raise
        except run.Failed as e:
            raise Unusable("simulation stopped, %s: %s" % (path, e)) from None
        finally:
            store.close()
        self.known = store.known

    def report(self, e):
        makers = [reports.point] if self.o.point else []
        makers += [make for name, (_, make) in reports.REPORTS.items()
                   if name in self.o.tables]
        for make in makers:
            t = make(e)
            t.print(self.out)
            self.tables[t.name] = t.json()
            if self.cases:
                path = os.path.join(self.o.out, t.name + ".csv")
                try:
                    t.csv(path)
                except OSError as err:
                    raise Unusable("cannot write %s: %s" % (
                        path, why(err))) from None

    def draw(self):
        drawn = 0
        for name in figures.FIGURES:
            if name not in self.o.figures or not self.o.plots:
                continue
            try:
                figures.draw(name, self.o.out)
            except figures.NoGnuplot:
                self.out.write("\ngnuplot is not installed: the pictures are "
                               "left out, their scripts are in %s\n" %
                               self.o.out)
                return
            except OSError as e:
                raise Unusable("cannot draw %s: %s" % (name, why(e))) from None
            drawn += 1
        if drawn > 0:
            self.out.write("\n%d pictures, as SVG, PNG and PDF, in %s\n" % (
                drawn, self.o.out))

    def write_json(self, e):
        if self.o.json is None:
            return
        report = {
            "program": "reflit-sim", "version": self.version,
            # a file's name may be anything; JSON is UTF-8
            "arguments": ["rxl"] + [w.encode("utf-8", "replace").decode()
                                    for w in self.words], "date": BEGAN,
            "what": "evaluation of the RXL paper", "quick": self.o.quick,
            "compared": e.compared, "within_interval": e.held,
            "cannot_miss": e.sure, "promises_broken": e.broken,
            "wall_s": time.monotonic() - self.start, "tables": self.tables}
        text = json.dumps(report, indent=2) + "\n"
        try:
            if self.o.json == "-":
                self.document.write(text)
                self.document.flush()
            else:
                with open(self.o.json, "w", encoding="utf-8") as f:
                    f.write(text)
        except OSError as err:
            raise Unusable("cannot write %s: %s" % (
                "standard output" if self.o.json == "-" else self.o.json,
                why(err))) from None

    def summarise(self, e):
        if e.compared > 0:
            self.out.write(
                "\n%d of %d computed values lie in the 95 %% interval of the "
                "measured one; %d of them\ncannot miss (computed 0, nothing "
                "counted): of the other %d, %d miss\n" % (
                    e.held, e.compared, e.sure, e.compared - e.sure,
                    e.compared - e.held))
        if self.cases:
            self.out.write("%s; %.0f s\n" % (
                "PROMISES WERE BROKEN" if e.broken else
                "no order failure and no undetected corruption in a profile "
                "that promises so", time.monotonic() - self.start))

    def run(self):
        self.claim_stdout()
        self.simulate()
        worker = run.Worker(self.program)
        self.signals.workers.append(worker)
        try:
            e = reports.Eval(self.cases, self.known, worker.ask)
            self.report(e)
        except run.Failed as err:
            raise Unusable("cannot compute: %s" % err) from None
        finally:
            worker.close()
        self.draw()
        self.write_json(e)
        self.summarise(e)
        return 0 if e.broken == 0 else 1


def evaluate(program, version, words):
    """@return the exit status"""
    signals = run.Signals()
    try:
        return Session(program, version, words, signals).run()
    except options.Helped:
        sys.stdout.write(options.USAGE)
        return 0
    except options.Unusable as e:
        sys.stderr.write("%s\n" % e)
    except Unusable as e:
        sys.stderr.write("reflit-sim rxl: %s\n" % e)
    except run.Stopped:
        return 1
    return 2


if __name__ == "__main__":
    sys.exit(run.printed(evaluate, sys.argv[1], sys.argv[2], sys.argv[3:]))
