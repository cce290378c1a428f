# SPDX-License-Identifier: BSD-3-Clause
"""Links in virtual time at several speeds and loads: what is slow is sent once
[LINK-6], and what is ill is left [LINK-5].

usage: test_slow_links.py REFLIT_SIM SOURCE_ROOT
"""

import os
import tempfile

from sim_check import FIGURE1, check, end, load as report, run

SLOW = [("10000000", "40ms"), ("100000000", "200ms"), ("200000000", "200ms")]

with tempfile.TemporaryDirectory() as tmp:
    out = os.path.join(tmp, "r.json")
    faults = os.path.join(tmp, "faults")

    for flit_ps, duration in SLOW:
        for load in ("0.05", "1"):
            p = run("--config", FIGURE1, "--flit-ps", flit_ps, "--load", load,
                    "--duration", duration, "--json", out)
            r = report(out)
            c = r["port_counters"]
            check("%s ps a flit, load %s: nothing is sent twice, no link dies" %
                  (flit_ps, load), p.returncode == 0 and
                  r["delivered_packets"] > 0 and r["failovers"] == [] and
                  c["tx_replays"] == c["retrains"] == c["rx_duplicate_seq"] == 0,
                  (p.stderr, c))

    # devtools/test.sh --full takes them all
    every = [(b, l) for b in ("1e-4", "3e-4", "1e-3", "1e-2")
             for l in ("0.02", "0.1")]
    for ber, load in every if "RL_FULL" in os.environ else every[::3]:
        with open(faults, "w") as f:
            f.write("10us noise s0-s1#1 ber=%s\n" % ber)
        p = run("--config", FIGURE1, "--faults", faults, "--load", load,
                "--duration", "20ms", "--json", out)
        r = report(out)
        check("BER %s on one of two links, load %s: it is left" %
              (ber, load), p.returncode == 0 and
              r["port_counters"]["degraded"] +
              r["port_counters"]["deaths"] > 0 and
              r["port_counters"]["deaths"] < 20 and
              r["refused_packets"] == 0 and
              r["delivered_packets"] == r["sent_packets"],
              (p.stderr, r["port_counters"]["deaths"],
               r["refused_packets"], r["sent_packets"],
               r["delivered_packets"], r["failovers"][:3]))

end()
