#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables and their proof on tori from 5x5x5 to 20x20x20: time and memory, as the
table of docs/routing.md and as a curve.

    devtools/growth.py [--route PROGRAM] [--runs N] [--svg FILE]

Times are CPU time of one core, the least of N runs (3)."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

SIZES = [5, 8, 10, 12, 16, 20]
GNUPLOT = """set terminal svg size 640,420 font 'sans,13'
set output '{svg}'
set logscale xy
set key left top
set grid
set xlabel 'switches'
set ylabel 'CPU time, ms'
set xrange [100:10000]
plot '{data}' using 1:2 with linespoints title 'tables and detours', \\
     '' using 1:3 with linespoints title 'proof', \\
     x * x / 20000 with lines dashtype 2 title 'n^2'
"""


def one(route, n, folder):
    """Milliseconds of tables and of the proof, and MB, of one run."""
    config = os.path.join(folder, "torus.cfg")
    with open(config, "w", encoding="ascii") as f:
        f.write(f'fabric: {{ topology = "torus"; dims = [{n}, {n}, {n}]; }};')
    p = subprocess.Popen([route, "--config", config, "--time"],
                         stdout=subprocess.PIPE, text=True)
    text = p.stdout.read()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != 0:
        sys.exit(f"growth.py: {route} failed on {n}x{n}x{n}")
    cpu = {k: float(v) for k, v in
           re.findall(r"^time (\w+) .*\(cpu ([0-9.]+) ms\)", text, re.M)}
    return cpu["compute"], cpu["accept"], usage.ru_maxrss / 1024


def main():
    """Prints the table, and draws the curve if it is asked for."""
    p = argparse.ArgumentParser(description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--route", default="build/app/reflit-route")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--svg")
    opt = p.parse_args()
    rows = []
    print("| torus | switches | tables | proof | memory |\n"
          "|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES:
            runs = [one(opt.route, n, folder) for _ in range(opt.runs)]
            row = [min(r[i] for r in runs) for i in range(3)]
            rows.append((n ** 3, *row))
            print(f"| {n}x{n}x{n} | {n ** 3:,} | {row[0]:,.1f} ms | "
                  f"{row[1]:,.1f} ms | {row[2]:,.0f} MB |", flush=True)
        if opt.svg:
            data = os.path.join(folder, "growth.dat")
            with open(data, "w", encoding="ascii") as f:
                f.writelines(f"{r[0]} {r[1]} {r[2]}\n" for r in rows)
            subprocess.run(["gnuplot"], input=GNUPLOT.format(
                svg=opt.svg, data=data), text=True, check=True)


if __name__ == "__main__":
    main()
