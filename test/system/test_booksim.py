#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""devtools/peers/booksim.sh and devtools/load_curves.py, with a program that
answers as BookSim2 does.

usage: test_booksim.py REFLIT_BENCH SOURCE_ROOT
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BENCH, ROOT = (os.path.abspath(p) for p in sys.argv[1:3])
TOOL = os.path.join(ROOT, "devtools", "peers", "booksim.sh")
CURVES = os.path.join(ROOT, "devtools", "load_curves.py")

# carries 0.3 of dim_order and 0.6 of others; a transpose's eight silent nodes
# send to themselves; it knows no pattern that begins with bad
FAKE = """#!/usr/bin/env python3
import re, sys
text = open(sys.argv[1]).read()
load = float(re.search("injection_rate = ([0-9.]+);", text).group(1))
got = min(load, 0.3 if "= dim_order;" in text else 0.6)
if "traffic = bad" in text:
    sys.exit(255)
if "traffic = transpose" in text:
    got = (56 * got + 8 * load) / 64
print("====== Traffic class 0 ======\\nAccepted flit rate average = 9 (1 samples)"
      "\\n\\tminimum = 9 (1 samples)\\n====== Overall Traffic Statistics ======\\n"
      "Accepted flit rate average = %g (1 samples)\\n\\tminimum = %g (1 samples)"
      % (got, got / 2))
sys.exit(255)
"""


def point(load):
    return {"load": load, "delivered": load / 2, "worst": load / 4}


def row(fabric, pattern, knee):
    return {"fabric": fabric, "pattern": pattern, "knee": knee,
            "points": [point(0.2), point(1.0)]}


def run(*args, **env):
    return subprocess.run(args, capture_output=True, text=True, check=False,
                          timeout=100, env=dict(os.environ, **env))


with tempfile.TemporaryDirectory() as box:
    fake, load, out, figures = (os.path.join(box, n) for n in (
        "booksim", "load.json", "out.json", "figures"))
    with open(fake, "w", encoding="utf-8") as f:
        f.write(FAKE)
    os.chmod(fake, 0o755)
    with open(load, "w", encoding="utf-8") as f:
        json.dump({"load": {"runs": [
            row("torus 8x8", "transpose", 0.3),
            row("dragonfly 9x4", "next group", 0.2),
            row("torus 8x8", "worst of tables", 0.2),
            row("torus 8x8, adaptive", "transpose", 0.6)]}}, f)
    p = run(TOOL, "--load", load, "--json", out, BENCH=BENCH, BOOKSIM=fake)
    assert p.returncode == 0, p
    with open(out, encoding="utf-8") as f:
        runs = json.load(f)["load"]["runs"]
    peers = runs[0]["peers"]
    assert set(peers) == {"dim_order", "min_adapt"}, peers
    for engine, knee in (("dim_order", 0.3), ("min_adapt", 0.6)):
        # 97 % is carried, the knee is found to 2 %
        assert knee * 0.98 < peers[engine]["knee"] < knee / 0.97, peers
        assert abs(peers[engine]["full"] - knee) < 0.01, peers
    assert abs(runs[0]["ratio"] - 0.3 / peers["min_adapt"]["knee"]) < 1e-9
    assert runs[1]["peers"] == {} and "ratio" not in runs[1], runs[1]
    assert runs[3]["peers"] == peers, runs[3]
    assert "has none" in p.stdout and "peers" not in runs[2], p.stdout

    p = run(TOOL, "--load", os.path.join(box, "none"), BENCH=BENCH,
            BOOKSIM=fake)
    assert p.returncode == 1 and p.stderr.count("\n") == 1, p
    p = run(TOOL, BENCH=os.path.join(box, "none"), BOOKSIM=fake)
    assert p.returncode == 2 and p.stderr.count("\n") == 1, p

    if shutil.which("gnuplot") is not None:
        p = run(CURVES, out, figures)
        assert p.returncode == 0, p
        with open(os.path.join(figures, "torus-8x8.svg"),
                  encoding="utf-8") as f:
            text = f.read()
        # gnuplot takes an underscore for an index, unless it is told
        assert ">transpose, BookSim2 min_adapt<" in text, "no such line"
    p = run(CURVES, fake, figures)
    assert p.returncode == 1 and p.stderr.count("\n") == 1, p
print("1 case(s), 0 failed")
