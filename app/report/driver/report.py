#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Merges the reports of the processes of one fabric, and judges the whole.

usage: report.py PROGRAM REPORTS FILE NAME...

REPORTS is a list of reports (JSON), which came from files of these names. Writes the
merged report to FILE. Exit status as reflit-report's.
"""
import json
import os
import sys

import merge
import sound
from merge import entries, number

MOST = (1 << 63) - 1  # that a number in a report may be
DEPTH = 2048  # of a report, as jansson reads it
# packets that each process counts, and those that only the merge knows of
OWN = ("sent", "delivered", "lost", "duplicated", "reordered", "corrupted",
       "reported", "refused")
JUDGED = ("unproven", "unaccounted", "unlisted")
EDGE = ("refused", "missed", "cut", "oversize", "filtered")
UNCLEAN = ("inexact_packets", "unwritten_frames", "leaked_flits",
           "unrecorded_events", "lost_drop_notices")
BROKEN = ("lost", "duplicated", "reordered", "corrupted", "unlisted", "unclean",
          "unaccounted", "torn", "missing")
LISTS = ("failovers", "unreachable", "attached", "wires", "alarms")


def why_unsound(reports, names):
    """The first that is no report, or has a key of another type, and which; "":
    none has."""
    for name, r in zip(names, reports):
        if (not isinstance(r, dict) or not isinstance(r.get("flows"), list) or
                not isinstance(r.get("digest"), str) or not r["digest"]):
            return ("%s: is no report of reflit's; give the files of --json" %
                    name)
        why = sound.why_unsound(r)
        if why:
            return "%s: %s" % (name, why)
    return ""


def say_absent(reports):
    """Says of processes that the reports name and that left none. @return how
    many those are"""
    named = next((r["processes"] for r in reports if "processes" in r), [])
    there = [r.get("process") for r in reports]
    absent = [name for name in named if name not in there]
    for name in absent:
        say("process %s has left no report" % name)
    return len(absent)


def why_not(reports, names):
    """Why these are not reports of one fabric, each given once; "": they are"""
    for name, r in zip(names, reports):
        if r["digest"] != reports[0]["digest"]:
            return ("%s: is of another fabric than %s; give the reports of one"
                    % (name, names[0]))
    seen = {}
    # a report counts once, under whatever file name it is given
    for name, r in zip(names, reports):
        text = json.dumps(r, sort_keys=True)
        if text in seen:
            return ("%s: is the same report as %s; give each report once" %
                    (name, seen[text]))
        seen[text] = name
    return ""


def own(e, report):
    """An entry of a report; it names the report's process."""
    if isinstance(e, dict) and "process" in report:
        return dict(e, process=report["process"])
    return e


def join(reports, key):
    return [own(e, r) for r in reports for e in entries(r, key)]


def total(objects, key):
    return min(sum(number(o, key) for o in objects), MOST)


def suspects(reports):
    """Each part once, the worst first."""
    found = {}
    for r in reports:
        for e in entries(r, "suspects"):
            part = json.dumps([e.get("part"), e.get("kind")], sort_keys=True)
            found.setdefault(part, []).append(e)
    out = []
    altered = sum(number(e, "count") for es in found.values() for e in es)
    for es in found.values():
        s = dict(es[0])
        for key in ("count", "looked_flits"):
            if len(es) > 1:
                s[key] = total(es, key)
        # as in lib/device/rl_suspect.h
        s["confidence_percent"] = 100 * (number(s, "count") + 1) // (altered + 2)
        out.append(s)
    return sorted(out, key=lambda s: -number(s, "count"))


def unclean(r):
    """What is wrong with a run whatever the others say."""
    return (["%s: %d" % (key, number(r, key)) for key in UNCLEAN
             if number(r, key)] +
            ["did not come to rest"] * (r.get("drained") is False))


def add_up(reports, m):
    """Adds what each process saw without the others."""
    for r in reports:
        for key in OWN:
            m[key] += number(r, key + "_packets")
        m["unclean"] += bool(unclean(r))


def edge_of(reports):
    edges = [r.get("edge", {}) for r in reports]
    return {key: total(edges, key) for key in EDGE}


def merged(reports, m):
    out = {key + "_packets": min(m[key], MOST) for key in OWN}
    out["edge"] = edge_of(reports)
    out.update((key + "_packets", min(m[key], MOST)) for key in JUDGED)
    out["flows_between_processes"] = m["flows"]
    out["unclean_reports"] = m["unclean"]
    out["missing_reports"] = m["missing"]
    out["torn_flows"] = m["torn"]
    out["killed"] = [r["process"] for r in reports
                     if merge.is_killed(r) and "process" in r]
    out["flit_hops"] = total(reports, "flit_hops")
    for key in ("elapsed_ns", "outage_ns"):
        out[key] = max(number(r, key) for r in reports)
    for key in LISTS:
        out[key] = join(reports, key)
    # epochs grow from one controller to the next, while each process has a
    # clock of its own
    out["recoveries"] = sorted(join(reports, "recoveries"),
                               key=lambda e: number(e, "epoch"))
    out["channels"] = [own(r["channel"], r) for r in reports if "channel" in r]
    out["suspects"] = suspects(reports)
    return out


def lines(reports, m):
    """What is said of the whole."""
    edge = edge_of(reports)
    lost_at_edge = sum(edge[key] for key in EDGE if key != "filtered")
    yield "%d reports, %d flows between processes" % (len(reports), m["flows"])
    yield "sent %(sent)d packets, delivered %(delivered)d" % m
    yield ("lost %(lost)d, duplicated %(duplicated)d, reordered %(reordered)d, "
           "altered %(corrupted)d, reported %(reported)d" % m)
    if m["refused"]:
        yield "refused %(refused)d: not sent, because there was no path" % m
    if lost_at_edge or join(reports, "attached"):
        yield ("not taken at the edge %d: refused %d, missed %d, cut %d, "
               "oversize %d" % (lost_at_edge, *(edge[k] for k in EDGE[:4])))
    if m["unproven"]:
        yield ("unproven %(unproven)d: on their way to or from a process that "
               "was killed, or has left no ledger" % m)
    if m["unaccounted"]:
        yield ("unaccounted for %(unaccounted)d of these: a half of their flow "
               "is in no file given; give the reports and ledgers of all" % m)
    if m["torn"]:
        yield ("%(torn)d halves of flows prove nothing: they were being written "
               "when their process was killed" % m)
    if m["unlisted"]:
        yield ("%(unlisted)d events were not written down: there is no proof" %
               m)
    if m["unclean"]:
        yield ("%(unclean)d reports are of runs that are unclean by themselves" %
               m)
    for r in reports:
        if unclean(r):
            yield "process %s: %s" % (merge.process_of(r),
                                      ", ".join(unclean(r)))
        outages = number(r.get("channel", {}), "outages")
        if outages:
            yield ("process %s: etcd did not answer %d times, %.1f s in all" %
                   (merge.process_of(r), outages,
                    number(r["channel"], "away_ns") / 1e9))
    if 2 * m["reported"] > m["sent"] != 0:
        yield "this run is no success: most of what was sent was given up"


def judge(reports, absent):
    """@return the exit status, what is printed, the merged report"""
    m = merge.Flows(reports, absent > 0).judge()
    m["missing"] = absent
    add_up(reports, m)
    return (int(any(m[key] for key in BROKEN)),
            "".join(line + "\n" for line in lines(reports, m)),
            merged(reports, m))


def octets(text):
    """Names as they came, whatever the locale is."""
    return text.encode("utf-8", "surrogateescape")


def say(line):
    sys.stderr.buffer.write(b"reflit-report: %s\n" % octets(line))
    sys.stderr.flush()


def main():
    sys.setrecursionlimit(4 * DEPTH)
    with open(sys.argv[2], "rb") as f:
        reports = json.load(f)
    names = [os.fsencode(name).decode("utf-8", "surrogateescape")
             for name in sys.argv[4:]]
    why = why_unsound(reports, names)
    if not why:
        absent = say_absent(reports)
        why = why_not(reports, names)
    if why:
        say(why)
        return 2
    status, text, report = judge(reports, absent)
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        json.dump(report, f)
    try:
        sys.stdout.buffer.write(octets(text))
        sys.stdout.flush()
    except OSError:
        say("standard output could not be written")
        status = 2
        # nothing is left to be written when the program ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return status


sys.exit(main())
