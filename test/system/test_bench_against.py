# SPDX-License-Identifier: BSD-3-Clause
"""devtools/bench_against.py on programs whose figures are known.

usage: test_bench_against.py SOURCE_ROOT
"""

import json
import os
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
TOOL = os.path.join(ROOT, "devtools", "bench_against.py")
failed = 0

# counts its runs in a file: every other run of `jumpy` takes twice as long
PROGRAM = """#!/usr/bin/env python3
import json, os, sys
note = __file__ + ".runs"
runs = os.path.getsize(note) if os.path.exists(note) else 0
open(note, "a").write(".")
args = sys.argv[1:]
if {status}:
    print("out of order", file=sys.stderr)
    sys.exit({status})
jump = 2 if runs % 2 else 1
report = {{"hop": {{"bare_ns": 4.0, "runs": [
    {{"packet_flits": p, "flits_per_frame": 5, "modes": [
        {{"mode": "plain", "ns_per_hop": {cost} * p, "spread": 0.5,
          "jumpy": 3.0 * jump}}]}} for p in (1, 16)]}}}}
with open(args[args.index("--json") + 1], "w") as f:
    f.write({text!r} or json.dumps(report))
"""


# twice the time at 16/5 is twice everywhere; its work is 4 ns
AIMS = """#!/usr/bin/env python3
import json, sys
hop, rate = %r, %r
runs = [{"packet_flits": p, "flits_per_frame": f, "modes": [
    {"mode": "store-and-forward", "ns_per_hop": hop,
     "ratio_vs_bare": hop / 2.5}]}
    for p, f in ((1, 1), (1, 5), (16, 5), (16, 16))]
report = {"hop": {"runs": runs},
          "failover": {"first_rerouted_ns": {"p50": 100 * hop}},
          "sim": {"runs": [{"case": "torus 8x8, uniform",
                            "mflit_hops_per_s": rate}]}}
args = sys.argv[1:]
with open(args[args.index("--json") + 1], "w") as f:
    json.dump(report, f)
"""


def check(name, ok, what=""):
    global failed
    print(("ok      " if ok else "FAILED  ") + name + ("" if ok else f": {what}"))
    failed += not ok


with tempfile.TemporaryDirectory() as tmp:
    def program(name, cost=1.0, status=0, text=""):
        path = os.path.join(tmp, name)
        with open(path, "w") as f:
            f.write(PROGRAM.format(cost=cost, status=status, text=text))
        os.chmod(path, 0o755)
        return path

    def tool(*args):
        return subprocess.run([sys.executable, TOOL, *args],
                              capture_output=True, text=True, timeout=120)

    out = os.path.join(tmp, "out.json")
    slow = program("slow", 10.0)
    p = tool("--rounds", "4", "--json", out, program("quick", 4.0), slow,
             "hop")
    rows = {}
    if p.returncode == 0:
        with open(out) as f:
            rows = {r["name"]: r for r in json.load(f)["figures"]}
    name = ("runs/packet_flits=16 flits_per_frame=5/modes/mode=plain/"
            "ns_per_hop")
    check("figures are found by their rows", set(rows) == {
        "bare_ns", name, name.replace("16", "1"),
        name.replace("ns_per_hop", "jumpy"),
        name.replace("16", "1").replace("ns_per_hop", "jumpy")},
        (p.stderr, sorted(rows)))
    check("the ratio is this over other", name in rows and
          rows[name]["this"] == 64 and rows[name]["other"] == 160 and
          abs(rows[name]["ratio"] - 0.4) < 1e-9 and
          not rows[name]["noisy"] and " 0.400 " in p.stdout,
          (rows.get(name), p.stdout))
    check("both take turns, a figure that jumps with both has no spread",
          rows.get(name.replace("ns_per_hop", "jumpy"), {}).get("spread") ==
          0 and os.path.getsize(slow + ".runs") == 4, rows)

    # one run more of it: it jumps when the other does not
    subprocess.run([slow, "--json", os.path.join(tmp, "x")], check=True)
    p = tool("--rounds", "4", "--json", out, program("quick", 4.0), slow,
             "hop")
    with open(out) as f:
        rows = {r["name"]: r for r in json.load(f)["figures"]}
    check("a figure that jumps by itself is marked",
          rows[name.replace("ns_per_hop", "jumpy")]["noisy"] and
          "? " + name.replace("ns_per_hop", "jumpy") in p.stdout, p.stdout)

    def aims(name, hop, rate):
        path = os.path.join(tmp, name)
        with open(path, "w") as f:
            f.write(AIMS % (hop, rate))
        os.chmod(path, 0o755)
        return path

    p = tool("--rounds", "2", "--json", out, aims("good", 10.0, 8.0), aims("old", 20.0, 4.0),
             "aims")
    lines = p.stdout.splitlines()
    with open(out) as f:
        rows = {r["name"]: r for r in json.load(f)["figures"]}
    check("what is to be reached is a table of its own",
          p.returncode == 0 and len(lines) == 7 and
          rows["hop, 16 / 5, ns"]["met"] and
          rows["hop, 16 / 5, ns"]["bare_met"] and
          not rows["hop, 16 / 16, ns"]["bare_met"] and
          not rows["hop, 1 / 5, ns"]["met"] and
          rows["simulator, 8x8, ns a flit-hop"]["ratio"] == 0.5 and
          rows["simulator, 8x8, ns a flit-hop"]["met"] and
          not rows["failover, first rerouted, ns"]["met"], (p.stderr, p.stdout))
    check("and says of each whether it is",
          [line.count("met") for line in lines] == [0, 2, 1, 1, 1, 0, 1] and
          [line.count("NOT") for line in lines] == [0, 0, 1, 1, 1, 1, 0],
          p.stdout)
    p = tool("--rounds", "1", program("mum"), program("mum2"), "aims")
    check("a program without such a figure is named by it",
          p.returncode == 2 and "no figure 'runs/packet_flits=16" in p.stderr,
          p.stderr)

    for what, args, words in (
            ("a program that fails", (program("bad", status=3), slow, "hop"),
             "exit status 3: out of order"),
            ("a program that is not there", ("/nonexistent", slow, "hop"),
             "/nonexistent"),
            ("a report that is none", (program("mute", text="{"), slow,
                                       "hop"), "its report is no JSON"),
            ("a suite of no figures", (program("other"), slow, "replay"),
             "no figure of suite replay in common")):
        p = tool("--rounds", "1", *args)
        check(what, p.returncode == 2 and words in p.stderr and
              p.stdout == "" and p.stderr.count("\n") == 1,
              (p.returncode, p.stderr))
    p = tool("--rounds", "0", slow, slow, "hop")
    check("no rounds are refused", p.returncode == 2, p.stderr)
    p = subprocess.run([os.path.join(ROOT, "devtools", "bench-against.sh"),
                        "no-such-revision", "hop"], capture_output=True,
                       text=True, timeout=60)
    check("a revision that is none is refused before anything is built",
          p.returncode == 2 and "no revision no-such-revision" in p.stderr,
          p.stderr)

print(f"{failed} failed")
sys.exit(failed != 0)
