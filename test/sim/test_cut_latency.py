# SPDX-License-Identifier: BSD-3-Clause
"""What cut-through buys, in virtual time [LCB-1]: packets of 16 flits cross
three switches one at a time, on wires of 100 Gb/s. Times are exact: the same
seed gives the same nanoseconds on any machine.

usage: test_cut_latency.py REFLIT_SIM SOURCE_ROOT
"""

import json
import os
import subprocess
import tempfile

from sim_check import ROOT, SIM, check, end

CHAIN = os.path.join(ROOT, "config", "chain-3.cfg")
FLITS = 16
LINKS = 4           # endpoint, three switches, endpoint
FLIT_PS = 20480     # 256 bytes at 100 Gb/s
WIRE_NS = 100       # 20 m of fibre
# A frame of one flit: Ethernet and link headers, sideband, padding.
FRAME_BYTES = 320


def latency(tmp, switching, flits_per_frame):
    """Nanoseconds from the making of a packet to its delivery."""
    config = os.path.join(tmp, "chain.cfg")
    report = os.path.join(tmp, "report.json")
    with open(CHAIN, encoding="utf-8") as f, \
            open(config, "w", encoding="utf-8") as to:
        to.write(f.read() + 'link: { switching = "%s"; flits_per_frame = %u; '
                 '};\n' % (switching, flits_per_frame))
    p = subprocess.run(
        [SIM, "--config", config, "--packet-flits", str(FLITS), "--load",
         "0.001", "--packets", "2000", "--latency", "%uns" % WIRE_NS,
         "--flit-ps", str(FLIT_PS), "--json", report],
        capture_output=True, text=True, timeout=240, check=False)
    check("%s, %u flits a frame: all is delivered" %
          (switching, flits_per_frame), p.returncode == 0,
          p.stdout + p.stderr)
    with open(report, encoding="utf-8") as f:
        return json.load(f)["latency_ns"]["p50"]


def near(value, want):
    return abs(value - want) <= 0.01 * want


with tempfile.TemporaryDirectory() as tmp:
    whole = latency(tmp, "store-and-forward", 1)
    cut = latency(tmp, "cut-through", 1)
    frame_ns = FLIT_PS * FRAME_BYTES / 256 / 1000
    check("store-and-forward waits for the whole packet at each of 4 links",
          near(whole, LINKS * (FLITS * frame_ns + WIRE_NS)), whole)
    check("cut-through waits for it once, and for one frame at each switch",
          near(cut, (FLITS + LINKS - 1) * frame_ns + LINKS * WIRE_NS), cut)
    check("cut-through takes at most half as long", 2 * cut <= whole,
          (cut, whole))

    # larger frames cost fewer headers, and let less through
    whole = [latency(tmp, "store-and-forward", n) for n in (2, 16)]
    cut = [latency(tmp, "cut-through", n) for n in (2, 16)]
    check("with two flits a frame, too", 2 * cut[0] <= whole[0],
          (cut, whole))
    check("packets that fit one frame gain nothing", cut[1] == whole[1],
          (cut, whole))

end()
