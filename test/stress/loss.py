#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""[LINK-C21] 2 % loss: each frame on each wire of a star of nine endpoints is
lost with a chance of 2 %, in both directions, ACKs and NAKs like all else.

What go-back-N can achieve: a lost frame is sent again, and with it what left
before its NAK was back. So of what is sent a share 1 / (1 + again) is of use,
where `again` is what was sent again for each flit that was sent first. Where
the lcore is what limits the rate, and not the wire, that is the rate to be
had; what is missing beyond it are links that waited.
"""
import stress

ENDS = 9


def main():
    args = stress.arguments(__doc__)
    links = ["e%d-s0 %s" % (i, end) for i in range(ENDS)
             for end in ("e%d" % i, "s0")]
    seconds = min(2.0, args.seconds)
    cycles = [[stress.Phase("plain", seconds / 2,
                            ["inject loss %s 0" % x for x in links]),
               stress.Phase("lossy", seconds,
                            ["inject loss %s 0.02" % x for x in links])]
              for _ in range(max(1, round(args.seconds / seconds)))]
    cycle, report, _ = stress.run(args, stress.star(args), cycles,
                                  ["--traffic", "uniform"])
    c = report["port_counters"]
    assert c["tx_replay_flits"] > 0 and c["rx_missing_seq"] > 0
    assert c["deaths"] == 0, "a lossy link is not a dead one"
    # links make good what is lost, and nothing is blocked: nobody gives up
    assert report["reported_packets"] == 0
    for w in cycle:
        assert w["lossy"].flits > 0 and w["plain"].flits > 0
    # all of it by two links, and also while the phases settled
    first = sum(2 * w["lossy"].flits * (1 + stress.SETTLE / w["lossy"].seconds)
                for w in cycle)
    again = c["tx_replay_flits"] / first
    ratio = stress.median(w["lossy"].rate() / w["plain"].rate()
                          for w in cycle)
    stress.finish(args, "2 % loss", report, [
        stress.Figure("flits/us without loss",
                      stress.median(w["plain"].rate() for w in cycle)),
        stress.Figure("flits/us with 2 % loss on every wire",
                      stress.median(w["lossy"].rate() for w in cycle)),
        stress.Figure("with loss / without", ratio),
        stress.Figure("sent again for each flit sent first", again),
        stress.Figure("achievable by go-back-N", 1 / (1 + again)),
        stress.Figure("share of the achievable", ratio * (1 + again), 0.95,
                      0.5),
        stress.Figure("replays that were not in vain",
                      1 - c["rx_duplicate_seq"] / c["tx_replay_flits"], 0.90,
                      0.7),
    ])


if __name__ == "__main__":
    main()
