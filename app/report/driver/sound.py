# SPDX-License-Identifier: BSD-3-Clause
"""Whether a report's keys are of the types that the merge takes them for."""


def is_count(v):
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


def is_pairs(v):
    return isinstance(v, list) and all(
        isinstance(e, list) and len(e) == 2 and is_count(e[0]) for e in v)


def is_a(kind):
    return lambda v: isinstance(v, kind)


# What belongs there, whether it does, and the keys: those behind a dot are of an
# object, or of each object of a list.
ROWS = (
    ("a text", is_a(str),
     "process flows.end flows.source flows.destination flows.spans.digest "
     "flows.runs.digest"),
    ("true or false", is_a(bool), "drained killed flows.torn"),
    ("an object", is_a(dict), "edge channel"),
    ("a list", is_a(list),
     "processes attached recoveries suspects flows.spans flows.runs"),
    ("a list of pairs that begin with a number of 0 or more", is_pairs,
     "flows.reported flows.runs.missing"),
    ("a whole number of 0 or more", is_count,
     "sent_packets delivered_packets lost_packets duplicated_packets "
     "reordered_packets corrupted_packets reported_packets refused_packets "
     "inexact_packets unwritten_frames leaked_flits unrecorded_events "
     "lost_drop_notices elapsed_ns outage_ns flit_hops edge.refused "
     "edge.missed edge.cut edge.oversize edge.filtered channel.outages "
     "channel.away_ns recoveries.epoch suspects.count suspects.looked_flits "
     "flows.unlisted flows.spans.first flows.spans.packets flows.runs.first "
     "flows.runs.next flows.runs.packets"),
)


def all_are(o, path, fits):
    """Whether all that the path leads to from o, if anything, fits."""
    key, _, rest = path.partition(".")
    if not isinstance(o, dict) or key not in o:
        return True
    v = o[key]
    if not rest:
        return fits(v)
    if isinstance(v, list):
        return all(isinstance(e, dict) and all_are(e, rest, fits) for e in v)
    return all_are(v, rest, fits)


def why_unsound(report):
    """The first key that is of another type, in words; "": none."""
    for wanted, fits, paths in ROWS:
        for path in paths.split():
            if not all_are(report, path, fits):
                return ("%s: %s belongs there; give the files of --json" %
                        (path, wanted))
    return ""
