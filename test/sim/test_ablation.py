# SPDX-License-Identifier: BSD-3-Clause
"""The ablation [EVAL-2]: its rows, its files, and what each of its runs is.

usage: test_ablation.py REFLIT_SIM SOURCE_ROOT
"""

import os
import subprocess
import tempfile

from sim_check import FIGURE1, ROOT, SIM, check, end, load as report, run

with tempfile.TemporaryDirectory() as tmp:
    out, cut = os.path.join(tmp, "r.json"), os.path.join(tmp, "cut.cfg")
    with open(cut, "w") as f:
        f.write(open(FIGURE1).read().replace(
            "fabric: {", 'fabric: { fail = ["s0-s1"];'))
    csv = os.path.join(tmp, "a.csv")
    p = run("ablation", "--cuts", "12", "--csv", csv, "--json", out)
    rows = {(x["switching"], x["loopback"], x["e2e_retry"]): x
            for x in report(out)["rows"]}
    check("the ablation has all twelve rows", p.returncode == 0 and
          len(rows) == 12 and len(open(csv).read().splitlines()) == 13)
    lost = {k: v["lost_packets"] for k, v in rows.items()}
    check("whole packets lose nothing, none loses most",
          all(n == 0 for (_, loop, retry), n in lost.items()
              if loop == "whole-packets" or retry) and
          all(lost[(sw, "none", False)] > lost[(sw, "unacked-only", False)] > 0
              for sw in ("store-and-forward", "cut-through")), lost)

    # [DRL-5] what the filter drops, endpoints need not; nothing is lost
    p = run("ablation", "--dup-filter", "--cuts", "12", "--csv", csv,
            "--json", out)
    rows = {(x["switching"], x["e2e_retry"], x["dup_filter"]): x
            for x in report(out)["rows"]}
    check("the ablation of the duplicate filter has all eight rows",
          p.returncode == 0 and len(rows) == 8 and
          len(open(csv).read().splitlines()) == 9, p.stderr)
    ends = {k: v["endpoint_counters"]["rx_duplicate"]
            for k, v in rows.items()}
    check("duplicates end in switches with the filter, else at endpoints",
          all((x["core_counters"]["drop_duplicate"] > 0) == filt
              for (_, _, filt), x in rows.items()) and
          all(ends[(sw, e2e, False)] > ends[(sw, e2e, True)]
              for sw in ("store-and-forward", "cut-through")
              for e2e in (False, True)), ends)

    # what is read for each row may be a pipe; faults that are given are all
    faults = os.path.join(tmp, "a.flt")
    with open(faults, "w") as f:
        f.write("30us cut s0-s1#0\n35us heal s0-s1#0\n")
    said = [run("ablation", "--faults", faults, "--json", out,
                "--duration", "60us", "--config", FIGURE1).stdout]
    check("no cut is drawn beside faults that are given",
          report(out)["cuts"] == 0)
    said.append(subprocess.run(
        ["bash", "-c", "$0 ablation --faults <(cat %s) --duration 60us "
         "--config <(cat %s)" % (faults, FIGURE1), SIM], capture_output=True,
        text=True, check=False).stdout)
    check("an ablation reads pipes once", said[0] == said[1], said)
    pcap = os.path.join(ROOT, "config", "demo.pcap")
    said = [subprocess.run(
        ["bash", "-c", "%s $0 ablation --duration 20us --cuts 1 --config %s "
         "--traffic pcap:%s %s" % how, SIM], capture_output=True, text=True,
        check=False).stdout
        for how in (("", FIGURE1, pcap, ""),
                    ("cat %s |" % FIGURE1, "/dev/stdin", pcap, ""),
                    ("", "/dev/stdin", pcap, "< " + FIGURE1),
                    ("cat %s |" % pcap, FIGURE1, "/dev/stdin", ""))]
    check("what an ablation reads comes to it from standard input as it is",
          all(s == said[0] for s in said) and said[0].count("\n") == 13, said)
    p = run("ablation", "--cuts", "1", "--duration", "20us", "--events")
    lines = p.stdout.splitlines()
    check("events stand before the row of their run",
          lines[0].startswith("switching") and " ns  e0-s0 at s0: up" in
          lines[1] and sum("ns  e0-s0 at s0: up" in x for x in lines) == 12 and
          lines[-1].startswith("cut-through"), p.stdout)
    for words, status in (((FIGURE1 + "x",), 2), ((cut,), 3)):
        if os.path.exists(out):
            os.unlink(out)
        p = run("ablation", "--json", out, "--config", *words)
        check("an ablation that cannot begin leaves no report",
              p.returncode == status and not os.path.exists(out), p)
    torus = os.path.join(os.path.dirname(FIGURE1), "torus-4x4.cfg")
    for words in (("ablation", "--config", torus, "--cuts", "1",
                   "--duration", "20us"),
                  ("--config", torus, "--duration", "20us", "--what-if",
                   "switching=cut-through")):
        p = run(*words)
        check("an adaptive plane is not cut through", p.returncode == 2 and
              "set routing.adaptive = false" in p.stderr, p)
    with open(cut, "w") as f:
        f.write(open(FIGURE1).read() + 'link: { switching = "cut-through"; };')
    said = [run("--config", FIGURE1, "--duration", "20us", "--what-if",
                "switching=cut-through,e2e=off").stdout]
    with open(cut, "a") as f:
        f.write("endpoint: { retry = false; };")
    said.append(run("--config", cut, "--duration", "20us").stdout)
    check("--what-if gives one run another policy",
          *[said[0].split("\n")[:4] == said[1].split("\n")[:4], said])

end()
