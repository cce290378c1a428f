#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reflit-bench's suite load beside BookSim2; see booksim.sh. BENCH names
reflit-bench, BOOKSIM BookSim2's program."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

BENCH = os.environ["BENCH"]
BOOKSIM = os.environ["BOOKSIM"]
FLITS = 8
CARRIED, WIDTH = 0.97, 0.02  # as in app/bench/driver/load.py
# fabric: topology, engines with their VCs, nodes, nodes that a transpose leaves
# silent
FABRICS = {
    "torus 8x8": ("topology = torus; k = 8; n = 2;",
                  {"dim_order": 8, "min_adapt": 8}, 64, 8),
    "mesh 8x8": ("topology = mesh; k = 8; n = 2;",
                 {"dim_order": 8, "min_adapt": 8}, 64, 8),
    "dragonfly 9x4": ("topology = dragonflynew; k = 2; n = 1;",
                      {"min": 2, "ugal": 3}, 72, 0),
}
# patterns that both have; the worst for our tables is not theirs
PATTERNS = {
    "uniform": "uniform", "transpose": "transpose", "tornado": "tornado",
    "bit-complement": "bitcomp", "random, worst": "randperm(1)",
    "next group": "bad_dragon",
}
# its routers pass a flit on at once; buffers are as large as reflit's windows
COMMON = """
num_vcs = %d; vc_buf_size = 256; wait_for_tail_credit = 0;
routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 2.0;
packet_size = %d; injection_rate_uses_flits = 1; sim_type = throughput;
warmup_periods = 2; sample_period = %d; max_samples = 4; sim_count = 1;
"""


def run(fabric, engine, traffic, load, period):
    """What arrives at a load: {load, delivered, worst}; None: no such run."""
    topology, engines, nodes, silent = FABRICS[fabric]
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as f:
        f.write("%s%s\nrouting_function = %s; traffic = %s;\n"
                "injection_rate = %.5f;\n" %
                (topology, COMMON % (engines[engine], FLITS, period), engine,
                 traffic, load))
        f.flush()
        p = subprocess.run([BOOKSIM, f.name], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False,
                           timeout=600)
    end = p.stdout.split("Overall Traffic Statistics")[-1]
    m = re.search(r"Accepted flit rate average = ([0-9.e-]+).*\n"
                  r"\s*minimum = ([0-9.e-]+)", end)
    if m is None:  # its exit status is 255 after a good run, too
        return None
    got, worst = float(m.group(1)), float(m.group(2))
    if traffic == "transpose":  # what nodes send to themselves arrives at once
        got = (got * nodes - load * silent) / (nodes - silent)
    return {"load": load, "delivered": got, "worst": worst}


def search(fabric, engine, traffic, period):
    """The knee by halving, as reflit-bench does it."""
    points = []

    def carried(load):
        points.append(run(fabric, engine, traffic, load, period))
        if points[-1] is None:
            raise ValueError("no such run")
        return points[-1]["delivered"] >= CARRIED * load

    try:
        low, high = (1.0, 1.0) if carried(1.0) else (0.0, 1.0)
        full, guess = points[0], points[0]["delivered"]
        while high - low > WIDTH * high:
            if not low < guess < high:
                guess = (low + high) / 2
            if carried(guess):
                low, guess = guess, guess * 1.15 if len(points) == 2 else 0
            else:
                high, guess = guess, guess * 0.85 if len(points) == 2 else 0
    except ValueError:
        return None
    points.sort(key=lambda p: p["load"])
    return {"knee": low, "full": full["delivered"], "worst": full["worst"],
            "points": points}


def ours(args):
    if args.load:
        with open(args.load, encoding="utf-8") as f:
            return json.load(f)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "load.json")
        subprocess.run([BENCH, "--json", path, "load"] +
                       ["--quick"] * args.quick, check=True)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def beside(r, args):
    """Adds `peers` and `ratio`, the knee over that of the best engine."""
    print("%-23s %-16s %7s  %s" % ("fabric", "pattern", "reflit",
                                   "BookSim2: knee, at load 1 (worst)"))
    for x in r["load"]["runs"]:
        traffic = PATTERNS.get(x["pattern"])
        fabric = x["fabric"].removesuffix(", adaptive")
        if traffic is None or fabric not in FABRICS:
            continue
        engines = FABRICS[fabric][1]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda engine, at=fabric, to=traffic: search(
                at, engine, to, 500 if args.quick else 2000), engines)
            x["peers"] = {e: p for e, p in zip(engines, found)
                          if p is not None}
        best = max((p["knee"] for p in x["peers"].values()), default=0)
        if best > 0:
            x["ratio"] = x["knee"] / best
        print("%-23s %-16s %7.3f  %s%s" % (
            x["fabric"], x["pattern"], x["knee"], "; ".join(
                "%s %.3f, %.3f (%.3f)" % (e, p["knee"], p["full"], p["worst"])
                for e, p in x["peers"].items()) or "has none",
            "; ratio %.2f" % x["ratio"] if best > 0 else ""), flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--quick", action="store_true",
                      help="a smoke test, not a measurement")
    args.add_argument("--load", metavar="FILE",
                      help="what reflit-bench wrote before, instead of a run")
    args.add_argument("--json", metavar="FILE", help="write the report there")
    args.add_argument("--figures", metavar="FOLDER",
                      help="draw the curves there, by gnuplot")
    args = args.parse_args()
    try:
        r = ours(args)
        beside(r, args)
        if args.json or args.figures:
            path = args.json or os.path.join(tempfile.gettempdir(),
                                             "load-%d.json" % os.getpid())
            with open(path, "w", encoding="utf-8") as f:
                json.dump(r, f, indent=1)
            if args.figures:
                here = os.path.dirname(os.path.abspath(__file__))
                subprocess.run([sys.executable, os.path.join(
                    here, "..", "load_curves.py"), path, args.figures],
                    check=True)
            if not args.json:
                os.unlink(path)
    except (OSError, ValueError, KeyError, subprocess.SubprocessError) as e:
        sys.exit("booksim.py: %s" % e)


if __name__ == "__main__":
    main()
