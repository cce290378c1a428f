# SPDX-License-Identifier: BSD-3-Clause
"""Recoveries as users of reflit-sim meet them: words of fault files, a channel
that is bad, what the report says [RES-1..4, EP-6].

usage: test_recoveries.py REFLIT_SIM SOURCE_ROOT
"""

import json
import os
import subprocess
import tempfile

from sim_check import ROOT, SIM, check, end

TORUS = os.path.join(ROOT, "config", "torus-4x4.cfg")
RECOVERY = {"epoch", "cause", "at_ns", "detect_ns", "compute_ns", "prove_ns",
            "mode", "held_flows", "quiesce_ns", "install_ns", "unquiesce_ns",
            "paused_ns", "silent_devices", "outcome"}


with tempfile.TemporaryDirectory() as tmp:
    def run(faults, *args):
        path = os.path.join(tmp, "faults")
        out = os.path.join(tmp, "r.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(faults)
        if os.path.exists(out):
            os.remove(out)
        p = subprocess.run([SIM, "--config", TORUS, "--faults", path, "--load",
                            "0.02", "--duration", "500us", "--json", out,
                            *args],
                           capture_output=True, text=True, timeout=240)
        if not os.path.exists(out):
            return p, None
        with open(out, encoding="utf-8") as f:
            return p, json.load(f)

    def whole(r):
        return (r["lost_packets"] == r["duplicated_packets"] ==
                r["reordered_packets"] == r["corrupted_packets"] == 0)

    p, r = run("100us crash s1.1\n")
    check("a switch that crashes is routed around, and who is cut off is named",
          p.returncode == 0 and whole(r) and r["recoveries"] and
          [u["endpoint"] for u in r["unreachable"]] == ["e1.1"] and
          r["unreachable"][0]["until_ns"] == 0, p.stdout + p.stderr)
    check("a recovery has all the keys of its phases",
          all(RECOVERY <= rec.keys() for rec in r["recoveries"]),
          r["recoveries"])
    check("nobody who stays connected is silent for long",
          0 < r["outage_ns"] < 5000000, r["outage_ns"])
    # [EP-6] an endpoint's only link cut for good: what is sent to it costs
    # nobody else anything, also while it is not yet known to be gone
    load = ("--load", "0.1", "--duration", "300us")
    p, healthy = run("", *load)
    p, r = run("50us cut e0.0-s0.0\n", *load)
    check("an endpoint that is cut off for good is named within 5 ms",
          p.returncode == 0 and whole(r) and
          [u["endpoint"] for u in r["unreachable"]] == ["e0.0"] and
          r["unreachable"][0]["since_ns"] < 5050000, r["unreachable"])
    check("the others' latency stays what it was",
          r["latency_ns"]["p99"] <= 3 * healthy["latency_ns"]["p99"],
          (r["latency_ns"], healthy["latency_ns"]))

    def others(r):
        return sum(e["counters"].get("rx_packets", 0) for e in r["endpoints"]
                   if e["endpoint"] != "e0.0")
    check("the others' rate, too: 14 of their 15 peers are left after 50 us",
          others(r) >= 0.98 * others(healthy) * (50 + 250 * 14 / 15) / 300,
          (others(r), others(healthy)))

    check("what is reported is accounted for",
          r["sent_packets"] == r["delivered_packets"] +
          r["reported_packets"] + r["died_packets"],
          (r["sent_packets"], r["delivered_packets"], r["reported_packets"],
           r["died_packets"]))

    p, r = run("100us crash e1.1\n200us restart e1.1\n")
    check("what an endpoint held that crashed is reported, or died with it",
          p.returncode == 0 and whole(r) and
          r["reported_packets"] + r["died_packets"] > 0 and
          r["sent_packets"] == r["delivered_packets"] +
          r["reported_packets"] + r["died_packets"], p.stdout + p.stderr)

    p, r = run("100us remove s0.0-s0.1\n110us remove s3.3\n"
               "300us add s0.0-s0.1\n300us add s3.3\n")
    check("what is removed as planned costs nothing",
          p.returncode == 0 and whole(r) and r["reported_packets"] == 0 and
          any("removed" in rec["cause"] for rec in r["recoveries"]),
          p.stdout + p.stderr)

    p, r = run("90us controller crash\n100us cut s0.0-s0.1\n"
               "300us controller restart\n")
    check("a controller that begins anew finds out what is dead",
          p.returncode == 0 and whole(r) and r["reported_packets"] == 0 and
          any("s0.0-s0.1" in rec["cause"] or "controller" in rec["cause"]
              for rec in r["recoveries"]), p.stdout + p.stderr)

    p, r = run("100us cut s0.0-s0.1\n", "--channel", "10us,50us,0.3,0.3")
    check("a channel that loses, doubles and reorders is no excuse",
          p.returncode == 0 and whole(r) and r["reported_packets"] == 0 and
          any(rec["outcome"] == "done" for rec in r["recoveries"]),
          p.stdout + p.stderr)
    quick = [rec["detect_ns"] for rec in r["recoveries"]]
    p, r = run("100us cut s0.0-s0.1\n", "--channel", "200us")
    check("its delay is what was asked for", p.returncode == 0 and
          r["recoveries"][0]["install_ns"] >= 400000,
          (quick, r["recoveries"]))
    p, r = run("100us cut s0.0-s0.1\n", "--compute", "5ms")
    check("computing takes what was asked for", p.returncode == 0 and
          r["recoveries"][0]["compute_ns"] + r["recoveries"][0]["prove_ns"] ==
          5000000, r["recoveries"])

    # [DRL-11]: packets wait for tables only while somebody makes them
    def refusing(name, text):
        path = os.path.join(tmp, name)
        with open(TORUS, encoding="utf-8") as src, \
                open(path, "w", encoding="utf-8") as dst:
            dst.write(src.read() + text)
        return ("--config", path)

    # [RES-2]: without retry new tables would stop all flows
    p, r = run("100us cut s0.0-s0.1\n",
               *refusing("hop.cfg", "endpoint: { retry = false; };\n"))
    check("without retry a failure that detours serve stops nobody",
          p.returncode == 0 and whole(r) and r["reported_packets"] == 0 and
          [(x["outcome"], x["mode"], x["paused_ns"] + x["install_ns"])
           for x in r["recoveries"]] == [("done", "live", 0)] and
          r["outage_ns"] < 50000, (p.stdout + p.stderr, r["recoveries"]))

    refuses = refusing("dor.cfg", 'routing: { engine = "torus-2qos"; };\n')
    live = refusing("live.cfg", 'controller: { mode = "live"; };\n')
    two = "400us cut s0.0-s1.0\n600us crash s2.2\n"
    for what, faults, args in (
            ("died before", "10us controller crash\n400us cut e0.0-s0.0\n",
             ()),
            ("dies at that moment", "400us cut e0.0-s0.0\n"
             "410us controller crash\n", ()),
            ("dies while it computes", "400us cut e0.0-s0.0\n"
             "500us controller crash\n", ("--compute", "5ms")),
            ("is late", "10us controller late for=8ms\n"
             "400us cut e0.0-s0.0\n", ()),
            ("is refused by its engine", two, refuses),
            ("may not hold anybody", two, live)):
        p, r = run(faults, "--load", "0.05", "--duration", "2ms", *args)
        check("a controller that %s stops nobody else for 5 ms" % what,
              p.returncode == 0 and whole(r) and r["outage_ns"] < 5000000,
              (p.stdout + p.stderr, r and r["outage_ns"]))
    # [RES-8]: one that is late is waited for, and holds up nobody
    p, r = run("10us late s1.1 for=20ms\n100us cut s0.0-s0.1\n")
    check("a device that is late is waited for", p.returncode == 0 and
          whole(r) and [(x["outcome"], x["silent_devices"], x["paused_ns"])
                        for x in r["recoveries"]] == [("done", 0, 0)],
          r["recoveries"])

    for line, words in (
            ("1us crash s9.9", "no device s9.9"),
            ("1us late s0.0", "late: by how much? add for=5ms"),
            ("1us late s0.0 for=soon", "for: bad value soon"),
            ("1us late s9.9 for=1us", "no device s9.9"),
            ("1us controller late", "late: by how much?"),
            ("1us crash s0.0-s0.1", "no device s0.0-s0.1"),
            ("1us crash s0.0 for=1us", "crash has no option for"),
            ("1us restart", "expected TIME WHAT LINK"),
            ("1us remove s0.0-s9.9", "no link or device s0.0-s9.9"),
            ("1us add s0.0 count=2", "add has no option count"),
            ("1us controller die", "expected controller crash, restart or "
             "late for=5ms"),
            ("1us controller crash now", "unknown option now of controller crash"),
            ("1us controller", "expected TIME WHAT LINK"),
            ("soon crash s0.0", "bad time soon")):
        p, r = run("# first\n" + line + "\n")
        check("refused: " + line, p.returncode == 2 and r is None and
              "faults:2: " in p.stderr and words in p.stderr and
              p.stderr.count("\n") == 1, (p.returncode, p.stderr))
    for channel in ("", "x", "10us,y", "10us,1us,2", "10us,1us,-0.1",
                    "10us,1us,0,0,0", "10us,,0.1x", "1" * 200):
        p, r = run("", "--channel", channel)
        check("refused: --channel " + channel[:20], p.returncode == 2 and
              r is None and "--channel" in p.stderr and
              p.stderr.count("\n") <= 2, (p.returncode, p.stderr))

end()
