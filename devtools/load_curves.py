#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Curves of full fabrics, drawn by gnuplot from what `reflit-bench --json FILE
load` or devtools/peers/booksim.sh wrote: for each fabric and pattern what
arrives at each load that was tried.

usage: load_curves.py FILE FOLDER

Writes NAME.csv, NAME.gp, NAME.svg, NAME.png and NAME.pdf for each fabric."""
import json
import os
import re
import subprocess
import sys

STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app",
                     "rxl", "figures")


def part(name):
    with open(os.path.join(STYLE, name), encoding="utf-8") as f:
        return f.read()


def lines_of(run):
    """(title, points): reflit's, then that of each engine of BookSim2."""
    yield run["pattern"], run["points"]
    for engine, peer in run.get("peers", {}).items():
        yield "%s, BookSim2 %s" % (run["pattern"], engine), peer["points"]


def draw(fabric, runs, folder):
    name = re.sub(r"\W+", "-", os.path.basename(fabric))
    plots = []
    with open(os.path.join(folder, name + ".csv"), "w",
              encoding="utf-8") as f:
        print("line,load,delivered,worst", file=f)
        for run in runs:
            for title, points in lines_of(run):
                for p in points:
                    print('"%s",%g,%g,%g' % (title, p["load"], p["delivered"],
                                             p["worst"]), file=f)
                print("\n", file=f)  # a new set for gnuplot
                n = len(plots)
                plots.append("f index %d using 2:3 with linespoints lt %d%s "
                             "title '%s'" %
                             (n, n % 7 + 1, " dt 2" if "BookSim2" in title
                              else "", title))
    text = ("NAME = '%s'\n%sf = NAME.'.csv'\nset key outside noenhanced\n"
            "set xlabel 'offered flits for each slot and sender'\n"
            "set ylabel 'delivered'\nset title '%s' noenhanced\nset xrange [0:1]\n"
            "set yrange [0:1]\nplot x with lines lc rgb 'gray' notitle, \\\n"
            "\t%s\n%s" % (name, part("style.gp"), fabric,
                          ", \\\n\t".join(plots), part("forms.gp")))
    # the first line of a set is no heading
    text = text.replace("set grid", "set key noautotitle\nset grid")
    with open(os.path.join(folder, name + ".gp"), "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run(["gnuplot", name + ".gp"], cwd=folder, check=True,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as f:
            runs = json.load(f)["load"]["runs"]
        os.makedirs(sys.argv[2], exist_ok=True)
        for fabric in dict.fromkeys(r["fabric"] for r in runs):
            draw(fabric, [r for r in runs if r["fabric"] == fabric],
                 sys.argv[2])
    except (OSError, ValueError, KeyError,
            subprocess.CalledProcessError) as e:
        sys.exit("load_curves.py: %s: %s" % (sys.argv[1], e))


if __name__ == "__main__":
    main()
