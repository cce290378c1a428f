#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""[LINK-C26] An incast of eight to one through one switch: what eight senders
bring to the one link, beside what one sender alone brings. Nothing is dropped
for want of room; the senders wait. And all eight get their share.
"""
import re

import stress

SENDERS = 8


def shares(text, cycles):
    """Flits of each sender that e0 acknowledged while all eight sent."""
    acked = [int(m.group(1)) for m in re.finditer(
        r"^e[1-8] +e0 +0 +\S+ +\d+ +(\d+) ", text, re.M)]
    assert len(acked) == 2 * SENDERS * cycles, text
    got = [0] * SENDERS
    for at in range(0, len(acked), 2 * SENDERS):
        for i in range(SENDERS):
            got[i] += acked[at + SENDERS + i] - acked[at + i]
    return got


def main():
    args = stress.arguments(__doc__)
    # many short turns: a machine's speed changes within a second
    seconds = min(0.5, args.seconds)
    ends = range(1, SENDERS + 1)
    cycles = [[stress.Phase("one", seconds / 2, ["stop", "start e%d" % (
                   1 + i % SENDERS)]),
               stress.Phase("eight", seconds, ["start e%d" % e for e in ends],
                            ["show flow"])]
              for i in range(max(1, round(args.seconds / seconds)))]
    cycle, report, text = stress.run(args, stress.star(args), cycles,
                                     ["--traffic", "incast"])
    for w in cycle:
        assert w["one"].flits > 0 and w["eight"].flits > 0
    assert report["reported_packets"] == 0
    assert report["port_counters"]["rx_overrun"] == 0
    assert report["port_counters"]["rx_no_buffer"] == 0
    got = shares(text, len(cycles))
    assert min(got) > 0, "a sender starved: %s" % got
    stress.finish(args, "incast of eight to one", report, [
        stress.Figure("flits/us of one sender alone",
                      stress.median(w["one"].rate() for w in cycle)),
        stress.Figure("flits/us of eight together",
                      stress.median(w["eight"].rate() for w in cycle)),
        stress.Figure("eight / one: share of the link's rate",
                      stress.median(w["eight"].rate() / w["one"].rate()
                                    for w in cycle), 0.95, 0.5),
        stress.Figure("least / most of a sender", min(got) / max(got),
                      floor=0.5),
    ])


if __name__ == "__main__":
    main()
