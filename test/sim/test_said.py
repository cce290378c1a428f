# SPDX-License-Identifier: BSD-3-Clause
"""What a run prints are the numbers of its report, line by line, and nothing
else [APP-1].

usage: test_said.py REFLIT_SIM SOURCE_ROOT
"""

import os
import tempfile

from sim_check import FIGURE1, check, end, load, run

# name, faults, options, lines that this run has beside those that each has
RUNS = (
    ("a quiet run", "", (), ()),
    ("a cut", "20us cut s0-s1#0\n", (), ("recoveries",)),
    ("a switch that crashes", "10us crash s1\n60us restart s1\n", (),
     ("recoveries",)),
    ("requests in classes", "", ("--requests", "0.4", "--classes", "2"),
     ("requests",)),
    ("an endpoint that crashes", "10us crash e1\n40us restart e1\n",
     ("--load", "0.7"), ("recoveries", "died")),
    ("a cut that lasts", "10us cut s1-e1\n5500us heal s1-e1\n",
     ("--load", "0.01", "--duration", "6ms"), ("recoveries", "refused")),
)


def us(o, *quantiles):
    return tuple(o[q] / 1e3 for q in quantiles)


def lines(r):
    """{word: line}, in their order"""
    out = {
        "sent": "sent %d packets, delivered %d in %.3f ms of virtual time" % (
            r["sent_packets"], r["delivered_packets"], r["elapsed_ns"] / 1e6),
        "lost": "lost %d, duplicated %d, reordered %d, altered %d, reported %d"
                % tuple(r[k + "_packets"] for k in (
                    "lost", "duplicated", "reordered", "corrupted",
                    "reported"))}
    if r["sent_requests"]:
        out["requests"] = ("requests %d, arrived %d; responses %d, arrived %d" %
                           tuple(r[k] for k in (
                               "sent_requests", "delivered_requests",
                               "sent_responses", "delivered_responses")))
    if r["refused_packets"]:
        out["refused"] = ("refused %d: there was no way to their destination" %
                          r["refused_packets"])
    if r["redirected_packets"]:
        out["redirected"] = (
            "redirected %d: they went elsewhere, as their destinations did not "
            "answer for a while" % r["redirected_packets"])
    out["latency"] = (
        "latency ns: p50 %d, p99 %d, p99.9 %d, max %d; failovers %d" % (
            *(r["latency_ns"][q] for q in ("p50", "p99", "p999", "max")),
            len(r["failovers"])))
    if r["recoveries"]:
        last = r["recoveries"][-1]
        out["recoveries"] = (
            "recoveries %d: the last %s, %s; longest silence of a connected "
            "flow %.3f ms" % (len(r["recoveries"]), last["outcome"],
                              last["mode"], r["outage_ns"] / 1e6))
    if r["died_packets"]:
        out["died"] = ("of the reported, died with endpoints that crashed: %d" %
                       r["died_packets"])
    for v in r["latency_by_vc"]:
        out["VC %d" % v["vc"]] = (
            "  VC %d: %d packets; p50 %.3f us, p99 %.3f us, p99.9 %.3f us, max "
            "%.3f us; jitter p50 %.3f us, p99 %.3f us, max %.3f us" % (
                v["vc"], v["packets"],
                *us(v["latency_ns"], "p50", "p99", "p999", "max"),
                *us(v["jitter_ns"], "p50", "p99", "max")))
    out["hops"] = "%d flit-hops in %.3f s: %.2f M a second; %d flits in use at " \
        "most" % (r["flit_hops"], r["wall_ns"] / 1e9,
                  r["flit_hops"] * 1e3 / r["wall_ns"], r["flits_peak"])
    return out


ALWAYS = {"sent", "lost", "latency", "VC 0", "hops"}

with tempfile.TemporaryDirectory() as tmp:
    def path(name, text=None):
        if text is not None:
            with open(os.path.join(tmp, name), "w") as f:
                f.write(text)
        return os.path.join(tmp, name)

    for name, faults, args, more in RUNS:
        p = run("--config", FIGURE1, "--duration", "100us", "--json",
                path("r"), "--faults", path("f", faults), *args)
        r = load(path("r"))
        want = lines(r)
        check(name + " prints what it reports", p.returncode == 0 and
              p.stdout.splitlines() == list(want.values()),
              (p.stdout, want, p.stderr))
        check("with " + (", ".join(more) or "no more lines"),
              {w for w in want if w[:3] != "VC "} ==
              (ALWAYS - {"VC 0"}) | set(more), (list(want), p.stdout))

    lossy = path("f.cfg", "fabric: { topology = \"mesh\"; dims = [2]; };\n"
                 "link: { loopback = \"none\"; };\n"
                 "endpoint: { retry = false; };\n")
    p = run("--config", lossy, "--duration", "20us", "--json", path("r"),
            "--faults", path("f", "10us cut s0-s1\n"))
    r = load(path("r"))
    want = list(lines(r).values())
    check("a run that loses says so", p.returncode == 1 and
          r["lost_packets"] > 0 and
          p.stdout.splitlines()[:len(want)] == want, (p.stdout, want))

end()
