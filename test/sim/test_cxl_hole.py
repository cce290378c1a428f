# SPDX-License-Identifier: BSD-3-Clause
"""The RXL paper's equation 7 on ports and cores [EP-3, EVAL-1]: with an FSN
that ACKs share, a flit that hides its number is taken for one that a hop
dropped. So order fails once in drops x (share of flits that carry an ACK). With
implicit numbers it never does. Two endpoints, both sending, one wire that
hurts frames beyond FEC; link retry is off.

usage: test_cxl_hole.py REFLIT_SIM
"""

import json
import math
import os
import subprocess
import tempfile

from sim_check import SIM, check, end

COALESCE = 10
CONFIG = """
fabric: { topology = "custom";
  switches = ( { name = "s0"; }, { name = "s1"; } );
  endpoints = ( { name = "e0"; }, { name = "e1"; } );
  links = ( { a = "e0"; b = "s0"; }, { a = "s0"; b = "s1"; },
            { a = "s1"; b = "e1"; } ); };
link: { retry = false; };
endpoint: { ack_coalesce_flits = %u; window_flits = 511; nak_delay_ns = 500;
            retry_mode = "go-back-n"; };
""" % COALESCE
FAULTS = "0 noise s0-s1 corrupt=5e-4 hurt=body bytes=8\n"


def run(tmp, profile):
    path = {n: os.path.join(tmp, n) for n in ("f.cfg", "f.flt", "r.json")}
    for name, text in (("f.cfg", CONFIG), ("f.flt", FAULTS)):
        with open(path[name], "w", encoding="utf-8") as f:
            f.write(text)
    p = subprocess.run([SIM, "--config", path["f.cfg"], "--faults",
                        path["f.flt"], "--profile", profile, "--load", "0.3",
                        "--packet-flits", "1", "--duration", "2ms", "--json",
                        path["r.json"]],
                       capture_output=True, text=True, timeout=280,
                       check=False)
    with open(path["r.json"], encoding="utf-8") as f:
        return p.returncode, json.load(f)


with tempfile.TemporaryDirectory() as tmp:
    status, r = run(tmp, "cxl")
    check("disorder is no success, though nothing is lost", status == 1 and
          r["lost_packets"] == 0 and r["at_rest"], (status, r))
    e = r["endpoint_counters"]
    flits = e["tx_flits"] + e["retransmitted_flits"]
    rides = e["ack_sent"] - e["ack_alone_sent"]
    check("an ACK waits for the data of its flow",
          rides > 0.95 * e["ack_sent"], e)
    check("and rides on about one flit in %u" % COALESCE,
          0.7 / COALESCE < rides / flits <= 1 / COALESCE, rides / flits)
    drops = r["port_counters"]["rx_bad"]
    want = drops * rides / flits
    failures = r["reordered_packets"]
    # 99.9 % of a Poisson variable, as wide as the normal has it and a half
    width = 3.3 * math.sqrt(want) + 0.5
    check("enough was dropped to tell", want > 10, want)
    check("order fails as often as equation 7 says",
          abs(failures - want) <= width,
          f"{failures} of {drops} drops, {want:.1f} +- {width:.1f} expected")
    status, r = run(tmp, "rxl")
    check("with implicit numbers it never does",
          status == 0 and r["port_counters"]["rx_bad"] > 100 and
          r["reordered_packets"] + r["duplicated_packets"] +
          r["lost_packets"] + r["corrupted_packets"] == 0, r)

end()
