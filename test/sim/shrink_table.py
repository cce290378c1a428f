# SPDX-License-Identifier: BSD-3-Clause
"""Shrinks what the campaign finds of each planted bug, and prints the table of
docs/simulation.md.

usage: shrink_table.py SIM_PLANTS REFLIT_SIM_PLANTS [BUG ...]
       (by default all bugs that have a test sim-finds-BUG)
"""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = ("RESIL_", "ROOM_", "FLOW_", "ASK_", "BYSTAND_")


def bugs():
    with open(os.path.join(HERE, "../../lib/base/rl_plant.h")) as f:
        names = re.findall(r"^\tX\((\w+),", f.read(), re.M)
    return [n for n in names if not n.startswith(UNIT)]


def starts():
    """Where the test looks for rare ones first."""
    with open(os.path.join(HERE, "meson.build")) as f:
        text = re.search(r"sim_found = \{(.*?)\}", f.read(), re.S).group(1)
    return dict(re.findall(r"'(\w+)': '(\d+)'", text))


def find(plants, bug, first):
    out = subprocess.run([plants, "--plant", bug, "--first", first, "--seeds",
                          "20000"], capture_output=True, text=True).stdout
    found = re.search(r"^seed (\d+):", out, re.M)
    return found and found.group(1)


def cpu_s():
    """CPU time of all children so far: the machine may be busy."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def shrink(sim, bug, seed, into):
    env = dict(os.environ, RL_PLANT_NAME=bug)
    start = cpu_s()
    p = subprocess.run([sim, "shrink", "--seed", seed, "--out", into], env=env,
                       capture_output=True, text=True)
    took = cpu_s() - start
    if p.returncode != 0:
        return None, p.stderr.strip(), took
    with open(os.path.join(into, "report.json")) as f:
        return json.load(f), "", took


def main():
    plants, sim = sys.argv[1:3]
    rows = []
    print("| bug | seed | faults | switches | packets | runs | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for bug in sys.argv[3:] or bugs():
        seed = find(plants, bug, starts().get(bug, "1"))
        if seed is None:
            print("| %s | not found | | | | | |" % bug, flush=True)
            continue
        with tempfile.TemporaryDirectory() as tmp:
            r, why, took = shrink(sim, bug, seed, tmp)
        if r is None:
            print("| %s | %s: %s | | | | | %.0f |" % (bug, seed, why, took),
                  flush=True)
            continue
        row = [(r["given"][k], r["left"][k])
               for k in ("faults", "switches", "packets")]
        rows.append([left for _, left in row] + [took])
        print("| %s | %s | %s | %d | %.0f |" % (
            bug, seed, " | ".join("%d to %d" % x for x in row), r["runs"],
            took), flush=True)
    if rows:
        print("| median | | %s | | %.0f |" % (
            " | ".join("%g" % statistics.median(c)
                       for c in list(zip(*rows))[:3]),
            statistics.median(r[3] for r in rows)))


if __name__ == "__main__":
    main()
