#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All endpoints of a star begin to send to all others at once, as fast as they
can. Nothing fails, so no packet is given up, at the beginning or later.
"""
import stress


def main():
    args = stress.arguments(__doc__)
    # longer than flows wait for an answer before they give up
    cycles = [[stress.Phase("uniform", args.seconds)]]
    cycle, report, _ = stress.run(
        args, stress.star(args), cycles, ["--traffic", "uniform", "--load", "1"])
    assert report["port_counters"]["deaths"] == 0
    assert report["reported_packets"] == 0, "%d packets were given up" % (
        report["reported_packets"])
    stress.finish(args, "all begin at once", report, [
        stress.Figure("flits/us", cycle[0]["uniform"].rate())])


if __name__ == "__main__":
    main()
