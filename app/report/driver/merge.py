# SPDX-License-Identifier: BSD-3-Clause
"""Holds the halves of flows between processes against each other [PHY-3].

If the two ends of a flow ran in two processes, its source knows what it sent,
and its sinks know what arrived (half.h). For each span of the source the merge
joins the numbers of all runs of all sinks. A number in no run was given up
(reported), went to a life of the sink that left no report (unproven), or is
lost. If all missing numbers were reported, the sums of the digests must agree;
otherwise a packet was altered."""
import bisect
from collections import Counter, defaultdict

NUMBERS = 1 << 32  # of packets: they go round
DIGESTS = 1 << 64


def number(o, key):
    v = o.get(key, 0)
    return v if type(v) is int else 0  # a bool is none


def entries(o, key):
    v = o.get(key)
    return v if isinstance(v, list) else []


def hexed(text):
    try:
        return int(text, 16)
    except (TypeError, ValueError):
        return 0


def is_killed(report):
    return report.get("killed", False)


def process_of(report):
    return report.get("process", "")


def ends_of(flow):
    return flow.get("source", ""), flow.get("destination", "")


class Span:
    """Numbers that a source sent one after the other."""

    def __init__(self, source, i, killed):
        spans = entries(source, "spans")
        self.source, self.killed = source, killed
        self.first = number(spans[i], "first")
        self.packets = self.digest = 0
        self.life = 0  # numbers below went to a peer that has died since
        self.torn = False  # a sink proves nothing: killed, or no report
        self.silent = False  # its sink was killed, and had received nothing
        self.killed_end = 0  # behind all that killed sinks received
        self.pieces = []  # (from, to) from its first number on
        self.twice = 0  # numbers that several runs have
        self.reported = {}  # digests of what was given up, and no sink has
        self.got_digest = 0
        self.append(i)

    def append(self, i):
        """The source's i-th span goes on with this one."""
        spans = entries(self.source, "spans")
        self.packets += number(spans[i], "packets")
        self.digest += hexed(spans[i].get("digest"))
        # nothing restarted after it
        self.is_last = i + 1 == len(spans)

    def places(self, sink):
        """Runs that begin in this span, and not in another one or in another
        sender's life: where each begins in it, and where it ends. Numbers go
        round: a run begins near the end of the one before it."""
        low = 0
        for run in entries(sink, "runs"):
            first = number(run, "first")
            at = low + (first - self.first - low) % NUMBERS
            if 0 <= at < self.packets:
                end = at + (number(run, "next") - first) % NUMBERS
                yield run, at, end
                low = end - NUMBERS // 2

    def add_run(self, run, at, end, killed):
        lo = at
        for gap_from, gap_to in entries(run, "missing"):
            self.pieces.append((lo, min(at + gap_from, end)))
            lo = at + gap_to
        self.pieces.append((lo, end))
        if killed:
            self.killed_end = max(self.killed_end, end)
        self.got_digest += hexed(run.get("digest"))

    def join_pieces(self):
        """Once all are there: makes them distinct, in order."""
        joined = []
        for lo, hi in sorted(p for p in self.pieces if p[0] < p[1]):
            if joined and lo <= joined[-1][1]:
                self.twice += min(hi, joined[-1][1]) - lo
                joined[-1] = joined[-1][0], max(hi, joined[-1][1])
            else:
                joined.append((lo, hi))
        self.pieces = joined
        for n, text in entries(self.source, "reported"):
            at = (n - self.first) % NUMBERS
            while at < self.packets and (self.has(at) or at in self.reported):
                at += NUMBERS
            self.reported[at] = hexed(text)

    def has(self, at):
        i = bisect.bisect_right(self.pieces, (at, float("inf"))) - 1
        return i >= 0 and at < self.pieces[i][1]

    def count_got(self, limit):
        return sum(min(hi, limit) - lo for lo, hi in self.pieces if lo < limit)

    def given_up(self, limit):
        """Digests of packets below limit that the source gave up and no sink
        has."""
        return [d for at, d in self.reported.items() if at < limit]

    def on_its_way(self):
        """Packets that died with a killed process on their way to or from it:
        the numbers behind the last that arrived."""
        end = max([self.life] + [hi for _, hi in self.pieces])
        if end >= self.packets:
            return 0
        excused = (self.torn or self.silent) and not self.pieces
        if not (self.killed or 0 != end == self.killed_end or excused):
            return 0
        return self.packets - end - (len(self.given_up(self.packets)) -
                                     len(self.given_up(end)))

    def judge(self, m):
        self.join_pieces()
        m["duplicated"] += self.twice
        gone = self.packets - self.count_got(self.packets)
        given_up = self.given_up(self.packets)
        m["reported"] += len(given_up)
        missing = gone - len(given_up)
        if missing == 0:
            told = self.got_digest + sum(given_up)
            m["corrupted"] += (told - self.digest) % DIGESTS != 0  # at least one
        elif self.is_last:
            before = (self.life - self.count_got(self.life) -
                      len(self.given_up(self.life)) + self.on_its_way())
            m["lost"] += missing - before
            m["unproven"] += before
        else:
            m["unproven"] += missing


class Flows:
    """All halves of flows of all reports."""

    def __init__(self, reports, missing):
        self.reports, self.missing = reports, missing
        self.halves = {"source": defaultdict(list), "sink": defaultdict(list)}
        for r in reports:
            for flow in entries(r, "flows"):
                half = self.halves.get(flow.get("end"))
                if half is not None:
                    half[ends_of(flow)].append((r, flow))

    def sinks(self, source):
        return self.halves["sink"][ends_of(source)]

    def stayed_dead(self, report):
        """Whether it is of a killed process that did not come back."""
        return is_killed(report) and all(
            is_killed(r) or process_of(r) != process_of(report)
            for r in self.reports)

    def died_with_one(self, s, process):
        """Whether what is unproven of a span of that process died with one, as
        its ledger shows. A source begins a span for each life of its sink, so
        with fewer lives than that given, a ledger is missing."""
        sinks = {process_of(r) for r, _ in self.sinks(s.source)}
        lives = [r for r in self.reports if (
            process_of(r) in sinks if sinks else process_of(r) != process)]
        if s.torn or (s.killed and s.is_last):
            return not s.torn and lives != []
        return (any(is_killed(r) for r in lives) and
                len(lives) >= len(entries(s.source, "spans")))

    def goes_on(self, s):
        """A source learns of a restart when its peer says so. Packets that then
        waited for the flow to open were written down before, but went to the
        new life: a run of the sink that begins in the span before.
        @return where in the span that run begins; None: there is none"""
        for _, flow in self.sinks(s.source):
            for _, at, end in s.places(flow):
                if s.packets < end:
                    return at
        return None

    def judge_source(self, source, its, m):
        m["flows"] += 1
        spans = entries(source, "spans")
        i = 0
        while i < len(spans):
            s = Span(source, i, is_killed(its))
            i += 1
            # as far as runs of the sink join them
            while i < len(spans):
                at = self.goes_on(s)
                if at is None or (s.first + s.packets - number(
                        spans[i], "first")) % NUMBERS != 0:
                    break
                s.life = at
                s.append(i)
                i += 1
            unproven = m["unproven"]
            for report, flow in self.sinks(source):
                s.torn |= flow.get("torn", False)
                s.silent |= self.stayed_dead(report)
                for run, at, end in s.places(flow):
                    s.add_run(run, at, end, is_killed(report))
            s.torn |= not self.sinks(source) and self.missing
            s.judge(m)
            if not self.died_with_one(s, process_of(its)):
                m["unaccounted"] += m["unproven"] - unproven

    def was_sent(self, sink, run):
        return any((number(run, "first") - number(span, "first")) % NUMBERS <
                   number(span, "packets")
                   for _, flow in self.halves["source"][ends_of(sink)]
                   for span in entries(flow, "spans"))

    def judge(self):
        """@return what was found, by name"""
        m = Counter()
        for r in self.reports:
            for flow in entries(r, "flows"):
                m["torn"] += flow.get("torn", False)
                m["unlisted"] += number(flow, "unlisted")
                if flow.get("end") == "source":
                    self.judge_source(flow, r, m)
                    continue
                for run in entries(flow, "runs"):
                    if not self.was_sent(flow, run):
                        m["unproven"] += number(run, "packets")
                        m["unaccounted"] += number(run, "packets")
        return m
