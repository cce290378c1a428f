#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""[LINK-C26] A blocked VC: e0 takes nothing any more that comes by VC 0, while
all endpoints send to all by eight VCs. VC 0 backs up to the senders, through
every queue that it shares with the others; the other seven go on, and have
what VC 0 leaves. When it is freed, all that waited arrives.
"""
import stress

VCS = 8


def run_pattern(args, config, cycles, pattern):
    cycle, report, _ = stress.run(
        args, config, cycles, ["--traffic", pattern, "--classes", str(VCS)])
    usual = []  # of each VC, in the phases before and after
    for w in cycle:
        for vc in range(1, VCS):
            assert w["blocked"].vc.get(vc, 0) > 0, \
                "VC %d stopped with VC 0" % vc
        # of an incast, only what had left the core before may come
        assert pattern != "incast" or w["blocked"].vc.get(0, 0) <= 8 * 256, \
            "VC 0 is not blocked"
        usual.append([(w["open"].vc_rate(vc) + w["freed"].vc_rate(vc)) / 2
                      for vc in range(VCS)])
        assert min(usual[-1]) > 0, "a VC does not move"

    def ratios(of):
        return stress.median(of(w["blocked"], u)
                             for w, u in zip(cycle, usual))

    stress.finish(args, "a blocked VC, " + pattern, report, [
        stress.Figure("flits/us, nothing blocked",
                      stress.median(sum(u) for u in usual)),
        stress.Figure("flits/us, VC 0 of e0 blocked",
                      stress.median(w["blocked"].rate() for w in cycle)),
        stress.Figure("all VCs, blocked / not",
                      ratios(lambda b, u: b.rate() / sum(u))),
        stress.Figure("VC 0, blocked / not",
                      ratios(lambda b, u: b.vc_rate(0) / u[0])),
        stress.Figure("slowest of the other VCs, blocked / not",
                      ratios(lambda b, u: min(
                          b.vc_rate(vc) / u[vc] for vc in range(1, VCS))),
                      0.95, 0.4),
    ])


def main():
    args = stress.arguments(__doc__)
    # long enough for end-to-end timers to give up, where there is time
    seconds = min(10.0, args.seconds)
    cycles = [[stress.Phase("open", seconds / 5),
               stress.Phase("blocked", seconds, ["inject block e0 0"]),
               stress.Phase("freed", seconds / 5, ["inject unblock e0 0"])]
              for _ in range(max(1, round(args.seconds / seconds)))]
    config = stress.star(args) + "routing: { levels = 8; };\n"
    for pattern in ("incast", "uniform"):
        run_pattern(args, config, cycles, pattern)


if __name__ == "__main__":
    main()
