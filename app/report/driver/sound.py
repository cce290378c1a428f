# SPDX-License-Identifier: BSD-3-Clause
"""Whether a report has the keys that the merge needs, and whether these are of the
types that it takes them for."""
import re


def is_count(v):
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


def is_number(v):
    return is_count(v) and v < 1 << 32


def is_digest(v):
    return isinstance(v, str) and re.fullmatch("[0-9a-f]{1,16}", v) is not None


def are_pairs(v):
    return isinstance(v, list) and all(
        isinstance(e, list) and len(e) == 2 and is_number(e[0]) for e in v)


def is_reported(v):
    return are_pairs(v) and all(is_digest(digest) for _, digest in v)


def is_missing(v):
    """Gaps: each ends behind its beginning, and where the next begins at most."""
    ends = [n for gap in v for n in gap] if are_pairs(v) else [None]
    return (all(map(is_number, ends)) and ends == sorted(ends) and
            all(lo < hi for lo, hi in v))


def is_halves(v):
    """Each says what it is a half of, and what was sent or received, unless it
    proves nothing."""
    return all(
        isinstance(e, dict) and e.get("end") in ("source", "sink") and
        (e.get("torn") is True or isinstance(
            e.get("spans" if e["end"] == "source" else "runs"), list))
        for e in v)


def is_a(kind):
    return lambda v: isinstance(v, kind)


# What belongs there, whether it does, and the keys: those behind a dot are of an
# object, or of each object of a list. One that ends in ! must be there, but for
# counts that a ledger does not have.
ROWS = (
    ("halves of flows", is_halves, "flows"),
    ("a text", is_a(str),
     "process! flows.source! flows.destination!"),
    ("a digest", is_digest, "flows.spans.digest! flows.runs.digest!"),
    ("true or false", is_a(bool), "drained! killed flows.torn"),
    ("an object", is_a(dict), "edge channel"),
    ("a list", is_a(list),
     "processes! attached recoveries suspects flows.spans flows.runs"),
    ("a list of pairs of a number and a digest", is_reported, "flows.reported"),
    ("a list of pairs of numbers that grow", is_missing, "flows.runs.missing!"),
    ("a whole number below 2^32", is_number,
     "flows.spans.first! flows.runs.first! flows.runs.next!"),
    ("a whole number of 0 or more", is_count,
     "sent_packets! delivered_packets! lost_packets! duplicated_packets! "
     "reordered_packets! corrupted_packets! reported_packets! refused_packets "
     "inexact_packets unwritten_frames leaked_flits unrecorded_events "
     "lost_drop_notices elapsed_ns outage_ns flit_hops edge.refused "
     "edge.missed edge.cut edge.oversize edge.filtered channel.outages "
     "channel.away_ns recoveries.epoch suspects.count suspects.looked_flits "
     "flows.unlisted flows.spans.packets! flows.runs.packets!"),
)


def all_are(o, path, fits):
    """Whether all that the path leads to from o, if anything, fits."""
    key, _, rest = path.rstrip("!").partition(".")
    if not isinstance(o, dict) or key not in o:
        return "." in path or path[-1] != "!"
    v = o[key]
    if not rest:
        return fits(v)
    rest += path[len(path.rstrip("!")):]
    if isinstance(v, list):
        return all(isinstance(e, dict) and all_are(e, rest, fits) for e in v)
    return all_are(v, rest, fits)


def why_unsound(report):
    """The first key that is missing, or of another type, in words; "": none."""
    for wanted, fits, paths in ROWS:
        for path in paths.split():
            if report.get("killed") is True and "." not in path:
                path = path.rstrip("!")
            if not all_are(report, path, fits):
                return ("%s: %s belongs there; give the files of --json" %
                        (path.rstrip("!"), wanted))
    return ""
