# SPDX-License-Identifier: BSD-3-Clause
"""A trace tells what each flit of a run met: of one that looped back, all the way
from its sender to its delivery.

usage: test_trace.py REFLIT_SIM SOURCE_ROOT
"""

import os
import re
import tempfile

from sim_check import FIGURE1, check, end, load as report, run

with tempfile.TemporaryDirectory() as tmp:
    out = os.path.join(tmp, "r.json")

    def fault_file(text):
        with open(os.path.join(tmp, "faults"), "w") as f:
            f.write(text)
        return f.name

    trace = os.path.join(tmp, "trace")
    for roles in ((), ("--roles",)):
        args = ("--config", FIGURE1, "--duration", "100us", *roles, "--faults",
                fault_file("50us cut s0-s1#0\n90us heal s0-s1#0\n"), "--json")
        run(*args, out)
        plain = report(out)
        p = run(*args, out, "--trace", trace)
        traced = report(out)
        same = ("sent_packets", "delivered_packets", "recoveries")
        same += () if roles else ("latency_ns", "failovers", "wires",
                                  "endpoint_counters")
        with open(trace) as f:
            lines = [re.fullmatch(r" *(\d+) ns  (.*)", s).groups()
                     for s in f.read().split("\n")[:-1]]
        check("a traced run is the same run", p.returncode == 0 and
              [plain[k] for k in same] == [traced[k] for k in same] and
              sum(": delivered " in s for _, s in lines) ==
              traced["delivered_packets"] and
              [int(t) for t, _ in lines] ==
              sorted(int(t) for t, _ in lines), (p.stdout, p.stderr))
        # the last one was still on the wire, or had yet to be sent
        looped = [s for _, s in lines if ": looped back " in s][-1]
        at, flow, tag, last = re.fullmatch(
            r"(\w+) s0-s1#0: looped back (\S+) (\d+)\.0(?:-(\d+))?",
            looped).groups()
        n = int(last or 0) + 1
        here = {"s0": ("e0", "e0-s0", "s1", "s1-e1", "e1")}.get(
            at, ("e1", "s1-e1", "s0", "e0-s0", "e0"))
        way = [re.sub(r" e\d>.*", "", s) for _, s in lines
               if " %s %s." % (flow, tag) in s]
        check("and tells the way of a packet that looped back", way == [
            "%s %s: given" % here[:2], *n * ["%s %s: sent" % here[:2]],
            "%s %s: received" % (at, here[1]), at + " s0-s1#0: forwarded",
            *[s for s in way if s == at + " s0-s1#0: sent" or
              s == at + " s0-s1#0: lost"],
            at + " s0-s1#0: looped back", at + " s0-s1#1: forwarded",
            *n * [at + " s0-s1#1: sent"], here[2] + " s0-s1#1: received",
            "%s %s: forwarded" % here[2:4], *n * ["%s %s: sent" % here[2:4]],
            "%s %s: received" % (here[4], here[3]), here[4] + ": delivered"],
            way)
        check("with what happened to links", {
            "fault: 50000ns cut s0-s1#0", "s0-s1#0 at s0: dead by phy",
            "s0-s1#0 at s1: up"} <= {s for _, s in lines} and
              any(t == "50000" and " s0-s1#0: lost e" in s for t, s in lines))
    p = run("--config", FIGURE1, "--duration", "100us", "--trace", trace,
            "--json", out, "--faults",
            fault_file("0 noise s0>s1 loss=0.02 corrupt=0.05 dup=0.05\n"
                       "0 noise e0>s0 soft=0.02\n"))
    with open(trace) as f:
        text = f.read()
    r = report(out)
    corrected = sum(map(int, re.findall(r": rx_corrected (\d+)", text)))
    check("and what noise does to flits", p.returncode == 0 and
          all(re.search(r" s0-s1#\d: %s e0>e1:0 " % word, text)
              for word in ("lost", "corrupted", "repeated", "sent again")) and
          "e0 e0-s0: given again e0>e1:0 " in text and
          re.search(r"dropped e0>e1:0 \d+\.\S+: error-mark", text) and
          corrected == r["port_counters"]["rx_corrected"] > 0,
          (p.stderr, corrected, r["port_counters"]["rx_corrected"]))
    for flits in (1, 2, 3):
        run("--config", FIGURE1, "--duration", "5us", "--packet-flits",
            str(flits), "--trace", trace)
        with open(trace) as f:
            given = re.findall(r": given e\d>e\d:0 \d+\.(\S+)$", f.read(), re.M)
        check("and names the flits of packets of %d" % flits, len(given) > 2 and
              set(given) == {"0" if flits == 1 else "0-%d" % (flits - 1)},
              given)
    # its next life numbers packets from another start, which is lower here
    run("--config", FIGURE1, "--duration", "500us", "--load", "0.02", "--trace",
        trace, "--faults", fault_file("20us crash e0\n21us restart e0\n"))
    with open(trace) as f:
        given = re.findall(r" e0 e0-s0: (given|given again) e0>e1:0 (\d+)\.",
                           f.read())
    lower = sum(int(b) + 1000 < int(a) for (_, a), (_, b) in
                zip(given, given[1:]))
    check("an endpoint that begins anew gives nothing again", lower == 1 and
          {what for what, _ in given} == {"given"}, (lower, given[:3]))
    p = run("--config", FIGURE1, "--duration", "100us", "--trace", "/dev/full")
    check("a trace that is not written whole is an error", p.returncode == 2
          and p.stderr == "reflit-sim: cannot write /dev/full: No space left "
          "on device\n", (p.returncode, p.stderr))
    for args, words in (
            (("--trace", FIGURE1), "it is read, too"),
            (("--trace", "/none/t"), "/none/t: No such file"),
            (("--trace", trace, "--seeds", "2"), "goes with one run"),
            (("campaign", "--store", out, "--trace", trace), "one run"),
            (("shrink", "--out", tmp, "--trace", trace), "one run")):
        p = run(*args, "--config", FIGURE1)
        check("unusable: " + " ".join(args)[-20:], p.returncode == 2 and
              words in p.stderr and p.stderr.count("\n") == 1, p.stderr)

end()
