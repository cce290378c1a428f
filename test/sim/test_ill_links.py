# SPDX-License-Identifier: BSD-3-Clause
"""devtools/ill_links.py: the rate that flows keep when the link that they go by
falls ill [LINK-5], and what it says of figures that are bad.

usage: test_ill_links.py REFLIT_SIM SOURCE_ROOT
"""
import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stdout

sys.path.insert(0, os.path.join(sys.argv[2], "devtools"))
import ill_links  # noqa: E402
from sim_check import check, end  # noqa: E402

BUILD = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1])))


def measure(path, *args):
    """(exit status, cells, last line of the table) of a measurement."""
    was, sys.argv = sys.argv, ["ill_links.py", "--build", BUILD, "--only", "sim",
                               "--key", "no", "--json", path, *args]
    text = io.StringIO()
    try:
        with redirect_stdout(text):
            status = ill_links.main()
    finally:
        sys.argv = was
    with open(path, encoding="utf-8") as f:
        return status, json.load(f)["cells"], text.getvalue().split("\n")[-2]


def told(now, **bad):
    """Instead of runs: 1000 packets before, a hundred in each 100 ms of a well
    link, and this many of an ill one."""
    def run(self, load, keyed, stop, noise=()):
        late = stop == ill_links.UNTIL
        report = {"delivered_packets": 1000 + late * (now if noise else 100),
                  "status": 0, "links": [
                      {"link": "s0-s1#%d" % i, "ends": [
                          {"device": "s0", "counters": {"tx_flits": i}},
                          {"device": "s1", "counters": {"tx_flits": 9}}]}
                      for i in (0, 1)]}
        seen.append("".join(noise))
        return {**report, **bad} if noise else report
    seen = []
    return run, seen


with tempfile.TemporaryDirectory() as tmp:
    out = os.path.join(tmp, "r.json")
    status, cells, line = measure(out, "--load", "0.01", "--ber", "1e-3")
    check("the flows of an ill link keep their rate, and lose nothing",
          status == 0 and len(cells) == 1 and cells[0]["wrong"] == "" and
          0.95 <= cells[0]["rate"] <= 1.05 and
          line == "| sim | no | 0.01 | %.2f |" % cells[0]["rate"],
          (status, cells, line))

    was = ill_links.Sim.run
    for what, now, bad, good, text in (
            ("a rate of 0.96 is good", 96, {}, True, "0.96"),
            ("a rate of 0.94 is bad", 94, {}, False, "0.94"),
            ("a packet that was lost is bad", 100, {"lost_packets": 1}, False,
             "1.00 (1 lost)"),
            ("an exit status that is not 0 is bad", 100, {"status": 1}, False,
             "1.00 (exit status 1)")):
        ill_links.Sim.run, seen = told(now, **bad)
        status, cells, line = measure(out, "--load", "0.1", "--ber", "1e-3")
        check(what, (status == 0) == good and
              line == "| sim | no | 0.1 | %s |" % text and
              # of the link that carries them, from 20 ms on
              "20000000ns noise s0-s1#1 ber=1e-3\n" in seen,
              (status, cells, line, seen))
    ill_links.Sim.run = was

end()
