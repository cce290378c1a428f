# SPDX-License-Identifier: BSD-3-Clause
"""Reports made by hand for reflit-report, which is the first argument of a test that
uses them."""
import json
import os
import subprocess
import sys

REPORT = os.path.abspath(sys.argv[1])
sys.argv[1:] = ["-", "-", sys.argv[2]]  # reflit itself has no part in this
from reflit_test import Box  # noqa: E402

COUNTS = ("sent", "delivered", "lost", "duplicated", "reordered", "corrupted",
          "reported")


def report(process, flows=(), **more):
    """What reflit leaves of one of the processes a and b."""
    r = {k + "_packets": 0 for k in COUNTS}
    r.update(digest="f00d", processes=["a", "b"], process=process,
             flows=list(flows), drained=True, elapsed_ns=5, flit_hops=7,
             failovers=[], recoveries=[], unreachable=[], attached=[],
             wires=[], channel=dict(outages=0, away_ns=0))
    r.update(more)
    return r


def digest(*numbers):
    """A packet's digest is its number here; digests add up."""
    return "%016x" % sum(numbers)


def source(*spans, reported=(), unlisted=0):
    """Each span: its first number, and how many packets."""
    return {"end": "source", "source": "e0", "destination": "e1",
            "unlisted": unlisted,
            "reported": [[n, digest(n)] for n in reported],
            "spans": [{"first": first, "packets": n,
                       "digest": digest(*range(first, first + n))}
                      for first, n in spans]}


def sink(*runs, unlisted=0):
    """Each run: its first number, the one behind its last, and the gaps."""
    out = []
    for first, nxt, *missing in runs:
        got = [n for n in range(first, nxt)
               if not any(lo <= n - first < hi for lo, hi in missing)]
        out.append({"first": first % 2**32, "next": nxt % 2**32,
                    "missing": [list(m) for m in missing],
                    "packets": len(got), "digest": digest(*got)})
    return {"end": "sink", "source": "e0", "destination": "e1",
            "unlisted": unlisted, "runs": out}


def judge(status, *reports):
    """The merged report, and what was printed."""
    with Box() as box:
        files = [box.write("r%d.json" % i, json.dumps(r))
                 for i, r in enumerate(reports)]
        out = box.path("merged.json")
        p = subprocess.run([REPORT, "--json", out] + files,
                           capture_output=True, text=True, timeout=60,
                           check=False)
        assert p.returncode == status, (p.returncode, p.stdout, p.stderr)
        if not os.path.exists(out):
            return None, p.stdout + p.stderr
        with open(out, encoding="utf-8") as f:
            return json.load(f), p.stdout + p.stderr


def verdict(status, flow, *sinks, **want):
    """One flow from a to b; what is not wanted is 0."""
    m, _ = judge(status, report("a", [flow]), report("b", sinks))
    for key in ("lost", "duplicated", "corrupted", "reported", "unproven",
                "unlisted"):
        assert m[key + "_packets"] == want.get(key, 0), (key, m)
    assert m["flows_between_processes"] == 1, m
