# SPDX-License-Identifier: BSD-3-Clause
"""reflit-sim as its users meet it: exit statuses, reports, errors.

usage: test_reflit_sim.py REFLIT_SIM SOURCE_ROOT
"""

import os
import re
import shlex
import tempfile

from sim_check import FIGURE1, ROOT, check, end, load as report, run

CONTRACT = {
    "sent_packets", "delivered_packets", "lost_packets",
    "duplicated_packets", "reordered_packets", "corrupted_packets",
    "reported_packets", "flit_hops", "elapsed_ns", "wall_ns", "latency_ns",
    "failovers", "recoveries", "unreachable", "refused_packets", "edge",
    "suspects", "alarms", "outage_ns",
}


def balanced(r):
    return r["sent_packets"] == (r["delivered_packets"] + r["lost_packets"] +
                                 r["reported_packets"])


def timed(r, by_vc):
    """Packets of less than 8 bytes have no room for the time of their making:
    a few in a thousand."""
    n = sum(v["packets"] for v in by_vc)
    return 0.98 * r["delivered_packets"] < n <= r["delivered_packets"]


def grid_file(folder, dims):
    path = os.path.join(folder, "grid.cfg")
    with open(path, "w") as f:
        f.write('fabric: { topology = "torus"; dims = %s; };\n' % dims)
    return path


with tempfile.TemporaryDirectory() as tmp:
    out = os.path.join(tmp, "r.json")
    faults = os.path.join(tmp, "faults")

    def fault_file(text):
        with open(faults, "w") as f:
            f.write(text)
        return faults

    p = run("--config", FIGURE1, "--duration", "100us", "--json", out)
    r = report(out)
    check("a quiet run keeps every promise and says so", p.returncode == 0 and
          balanced(r) and r["lost_packets"] == 0 and r["at_rest"], p.stderr)
    check("the report has the keys of the contract", CONTRACT <= r.keys(),
          CONTRACT - r.keys())
    check("latencies are in order", 0 < r["latency_ns"]["p50"] <=
          r["latency_ns"]["p99"] <= r["latency_ns"]["p999"] <=
          r["latency_ns"]["max"], r["latency_ns"])

    check("without classes all packets come by one VC",
          [v["vc"] for v in r["latency_by_vc"]] == [0] and
          timed(r, r["latency_by_vc"]) and
          r["latency_by_vc"][0]["latency_ns"] == r["latency_ns"] and
          r["latency_by_vc"][0]["jitter_ns"] == r["jitter_ns"],
          r["latency_by_vc"])

    run("--config", FIGURE1, "--duration", "100us", "--json", out + "2")
    again = report(out + "2")
    # what it says of itself: how long it took, when, and for whom
    for key in ("wall_ns", "arguments", "date"):
        r.pop(key, None), again.pop(key, None)
    check("the same seed gives the same report", r == again)
    chain = os.path.join(tmp, "chain.cfg")
    with open(chain, "w") as f:
        f.write('fabric: { topology = "mesh"; dims = [8]; };\n')
    run("--config", chain, "--traffic", "incast", "--load", "1",
        "--duration", "100us", "--json", out)
    full = report(out)
    check("a report says what each sender had when the traffic ended [SW-6]",
          full["senders"]["count"] == 7 and
          0 < full["senders"]["packets"] < full["delivered_packets"] and
          0.7 < full["senders"]["slowest"] <= 1 and
          0.9 < full["senders"]["jain"] <= 1, full["senders"])
    p = run("--config", chain, "--traffic", "bit-complement", "--load", "0.2",
            "--packet-flits", "8", "--warmup", "10us", "--window", "20us",
            "--json", out)
    w = report(out)["senders"]
    check("what is counted in a window is reported and printed",
          p.returncode == 0 and (w["from_ns"], w["to_ns"]) == (10000, 30000)
          and w["flits"] == 8 * w["packets"] and w["count"] == 8 and
          0.1 < w["worst"] < w["delivered"] < 0.3 and
          abs(w["worst"] / w["delivered"] - w["slowest"]) < 1e-6 and
          abs(w["delivered"] - w["flits"] / 8 / 10000) < 1e-9 and
          w["latency_ns"]["p50"] < w["latency_ns"]["p99"] and
          "from 10000 to 30000 ns: 8 senders, %.4f flits" % w["delivered"]
          in p.stdout and w["worst_sender"] + ";" in p.stdout, (w, p.stdout))
    for args, why in (
            (("--warmup", "5us", "--duration", "5us"), "leaves nothing"),
            (("--warmup", "5us", "--window", "1us", "--duration", "5us"),
             "longer than --duration"),
            (("--warmup", "5us", "--packets", "100"), "until when"),
            (("--window", "0us"), "use 1ns"),
            (("--warmup", "5us", "--seeds", "2"), "go with one run")):
        p = run("--config", chain, *args)
        check("a window that cannot be is refused: " + " ".join(args),
              p.returncode == 2 and why in p.stderr and
              p.stderr.count("\n") == 1, p.stderr)
    pairs = os.path.join(tmp, "pairs")

    def pairs_file(text):
        with open(pairs, "wb") as f:
            f.write(text)
        return "pairs:" + pairs

    p = run("--config", chain, "--traffic", pairs_file(
        b"# who sends to whom\n\ne0 e7\r\n\te3\te2 # near\ne0 e1"),
        "--duration", "50us", "--json", out, "--load", "0.2")
    check("a file says who sends to whom", p.returncode == 0 and
          report(out)["senders"]["count"] == 2, p.stderr)
    p = run("--config", chain, "--traffic", pairs_file(
        b"e0 e1\ne2 e3 uncounted\n"), "--duration", "50us", "--json", out)
    r = report(out)
    check("the file says whose packets count in the window", r["senders"][
        "count"] == 1 and 0 < r["senders"]["packets"] <
        0.7 * r["delivered_packets"], (p.stderr, r["senders"]))
    for text, why in (
            (b"e0 e1\ne2\n", ":2: a line is SOURCE DESTINATION [uncounted]"),
            (b"e0 e1 e2\n", ":1: a line is SOURCE DESTINATION [uncounted]"),
            (b"e0 e1\n\ne0 e8", ":3: there is no endpoint e8"),
            (b"e0 s1\n", ":1: there is no endpoint s1"),
            (b"e0 \x1b[2J\n", ":1: there is no endpoint ?[2J"),
            (b"e1 e1\n", ":1: e1 can't send to itself"),
            (b"e0 e1\0 e2\n", ":1: a zero byte"),
            (b"# none\n\n", ":2: no line names a pair"),
            (b"", ":1: no line names a pair")):
        p = run("--config", chain, "--traffic", pairs_file(text))
        check("a wrong file of pairs is refused: " + why, p.returncode == 2 and
              pairs + why + "\n" in p.stderr and p.stderr.count("\n") == 1,
              p.stderr)
    p = run("--config", chain, "--traffic", "pairs:" + tmp + "/none")
    check("so is one that is not there", p.returncode == 2 and
          tmp + "/none: " in p.stderr, p.stderr)
    p = run("--config", grid_file(tmp, "[8, 4]"), "--traffic", "transpose")
    check("a transpose of a fabric that is no square is refused",
          p.returncode == 2 and "it needs a grid whose dims are equal" in
          p.stderr, p.stderr)

    # what is lost, and told, does not depend on threads, nor on their number
    wide = os.path.join(tmp, "wide.cfg")
    with open(wide, "w") as f:
        f.write('fabric: { topology = "torus"; dims = [2, 4]; };\n')
    reports = []
    for threads in ("1", "2", "5"):
        p = run("--config", wide, "--duration", "60us", "--json", out,
                "--threads", threads, "--events", "--faults",
                fault_file("20us cut s0.0-s0.1\n40us crash e1.2\n"))
        t = report(out)
        assert t.pop("threads") == int(threads)
        for key in ("wall_ns", "arguments", "date"):
            t.pop(key)
        # the last line but two says how long it took
        reports.append((t, p.returncode, p.stdout.count(" ns  ")))
    check("any number of threads gives the same report, and tells as much",
          reports[0] == reports[1] == reports[2] and reports[0][2] > 20,
          reports[0][2])
    p = run("--config", wide, "--threads", "0")
    check("no thread at all is refused", p.returncode == 2 and
          "--threads 0" in p.stderr, p.stderr)
    run("--config", FIGURE1, "--duration", "100us", "--json", out, "--seed",
        "2")
    check("another seed gives another", report(out)["latency_ns"] !=
          again["latency_ns"] or report(out)["sent_packets"] !=
          again["sent_packets"])

    last = 2 ** 63 - 1
    p = run("--config", FIGURE1, "--duration", "20us", "--json", out, "--seed",
            str(last))
    check("the last seed that a report can name", p.returncode == 0 and
          report(out)["seed"] == last, (p.stderr, report(out)["seed"]))
    for args, words in (
            (("--seed", str(last + 1)),
             "--seed %u: out of range; use a number of 0 to %u" %
             (last + 1, last)),
            (("--seed", str(last), "--seeds", "2"), "beyond the last seed"),
            (("campaign", "--seed", str(last), "--store",
              os.path.join(tmp, "store")), "beyond the last seed")):
        p = run(*args[:1 if args[0] == "campaign" else 0], "--config", FIGURE1,
                *args[1 if args[0] == "campaign" else 0:])
        check("none beyond: " + " ".join(args)[:40], p.returncode == 2 and
              words in p.stderr and p.stderr.count("\n") == 1, p.stderr)

    # the evaluation's error model on a wire of a fabric
    for propagate, least, most in ((0, 0.0, 0.02), (0.9, 0.05, 0.3)):
        p = run("--config", FIGURE1, "--duration", "2ms", "--load", "0.5",
                "--json", out, "--faults",
                fault_file("0 noise s0-s1 ber=2e-5 propagate=%g lanes=16\n" %
                           propagate))
        r = report(out)
        c = r["port_counters"]
        hit = c["rx_corrected"] + c["rx_bad"]
        # of four links two are crossed with errors: a half of all flit-hops
        # at most, a third at least
        share = hit / (r["flit_hops"] * 2048 * 2e-5)
        check("bit errors come at their rate, as bursts where they run on",
              p.returncode == 0 and r["lost_packets"] == 0 and
              hit > 500 and 0.25 < share < 0.75 and
              least <= c["rx_bad"] / hit <= most,
              (p.stderr, hit, share, c["rx_bad"]))
    for turns in ((), ("--roles",)):
        p = run("--config", FIGURE1, "--duration", "200us", "--json", out,
                *turns, "--faults", fault_file("0 noise e0>s0 poison=0.05\n"))
        r = report(out)
        poisoned = r["drops"]["error-mark"]
        check("what its source declares bad is carried with its mark, dropped "
              "at its end and sent again " + " ".join(turns),
              p.returncode == 0 and poisoned > 5 and
              r["port_counters"]["rx_poisoned"] == 3 * poisoned and
              r["sent_packets"] == r["delivered_packets"],
              (poisoned, r["drops"]))

    p = run("--config", FIGURE1, "--duration", "200us", "--json", out,
            "--faults", fault_file("50us cut s0-s1#0\n90us heal s0-s1#0\n"))
    r = report(out)
    keys = {"link", "detector", "detect_ns", "first_rerouted_ns",
            "drained_ns", "looped_packets", "looped_flits",
            "looped_acked_flits"}
    check("a cut is a failover at both ends, and nothing is lost",
          p.returncode == 0 and len(r["failovers"]) == 2 and
          all(keys <= f.keys() and f["link"] == "s0-s1#0" and
              f["detector"] == "phy" for f in r["failovers"]) and
          r["lost_packets"] == 0, r["failovers"])
    check("something looped back and left by the other link",
          any(f["looped_flits"] > 0 and f["first_rerouted_ns"] >= 0
              for f in r["failovers"]))

    p = run("--config", FIGURE1, "--duration", "200us", "--json", out,
            "--roles", "--faults", faults)
    apart = report(out)
    check("ports and cores that are polled one by one keep every promise, too",
          p.returncode == 0 and balanced(apart) and
          apart["lost_packets"] == 0 and apart["at_rest"] and
          any(f["first_rerouted_ns"] >= 0 for f in apart["failovers"]),
          p.stdout)
    check("and poll more", apart["polls"] > r["polls"],
          (apart["polls"], r["polls"]))

    with open(os.path.join(tmp, "none.cfg"), "w") as f:
        f.write(open(FIGURE1).read() +
                'link: { loopback = "none"; };\n'
                'endpoint: { retry = false; gap_skip_ns = 20000; };\n')
    p = run("--config", f.name, "--duration", "200us", "--json", out,
            "--faults", fault_file("50us cut s0-s1#0\n90us heal s0-s1#0\n"))
    r = report(out)
    check("losses are counted and exit with 1", p.returncode == 1 and
          r["lost_packets"] > 0 and balanced(r), (p.returncode, p.stdout))

    with open(os.path.join(tmp, "levels.cfg"), "w") as f:
        f.write(open(FIGURE1).read() + "routing: { levels = 4; };\n")
    p = run("--config", f.name, "--duration", "100us", "--classes", "4",
            "--json", out)
    r = report(out)
    by_vc = r["latency_by_vc"]
    check("four classes on levels of their own have four VCs in the report",
          p.returncode == 0 and len(by_vc) == 4 and
          timed(r, by_vc) and
          max(v["latency_ns"]["max"] for v in by_vc) ==
          r["latency_ns"]["max"] and
          max(v["jitter_ns"]["max"] for v in by_vc) ==
          r["jitter_ns"]["max"] and
          all(v["packets"] > 0 and v["latency_ns"]["p50"] > 0 and
              v["jitter_ns"]["max"] < v["latency_ns"]["max"]
              for v in by_vc), (p.stderr, by_vc))
    check("and the same on standard output",
          all("VC %u: %u packets" % (v["vc"], v["packets"]) in p.stdout
              for v in by_vc), p.stdout)
    p = run("--config", f.name, "--duration", "100us", "--classes", "kind",
            "--requests", "0.5", "--json", out)
    r = report(out)
    by_vc = [v["packets"] for v in r["latency_by_vc"]]
    check("requests are answered, and each kind has a class of its own",
          p.returncode == 0 and r["sent_requests"] > 100 and
          r["delivered_requests"] == r["sent_requests"] ==
          r["sent_responses"] == r["delivered_responses"] and
          0.3 < r["sent_requests"] /
          (r["sent_packets"] - r["sent_responses"]) < 0.7 and
          len(by_vc) == 3 and
          by_vc[1] <= r["sent_requests"] and
          by_vc[2] <= r["sent_responses"] and
          "responses %u, arrived" % r["sent_responses"] in p.stdout,
          (p.stdout, p.stderr, by_vc))
    p = run("--config", FIGURE1, "--requests", "1.5")
    check("a share beyond 1 is refused", p.returncode == 2 and
          "--requests 1.5" in p.stderr, p.stderr)
    p = run("--config", FIGURE1, "--classes", "17")
    check("more classes than there are is refused", p.returncode == 2 and
          "--classes 17: out of range" in p.stderr, p.stderr)
    p = run("--config", FIGURE1, "--duration", "50us", "--events",
            "--faults", fault_file("10us drain s0-s1#0\n"))
    check("a planned removal says that it has run empty",
          p.returncode == 0 and ": empty" in p.stdout, p.stdout)

    p = run("--config", FIGURE1, "--duration", "300us", "--json", out,
            "--faults", fault_file("1us noise s0>s1 soft=0.2\n"
                                   "1us noise s1>s0 soft=0.2\n"))
    r = report(out)
    check("flits hurt in a switch are marked, dropped at their end, and "
          "counted by their names [LCB-2]", p.returncode == 0 and
          r["port_counters"]["tx_soft_error"] > 0 and
          r["port_counters"]["rx_poisoned"] > 0 and
          r["core_counters"]["drop_marked"] > 0 and
          r["drops"]["error-mark"] > 0 and
          r["endpoint_counters"]["drop_notices"] > 0,
          (p.stdout, p.stderr))

    with open(os.path.join(tmp, "cut.cfg"), "w") as f:
        f.write(open(FIGURE1).read() +
                'link: { switching = "cut-through"; flits_per_frame = 1;\n'
                '  keepalive_ns = 2000; keepalive_dead_ns = 10000;\n'
                '  flap_damping_ns = 1000; flap_damping_max_ns = 1000; };\n')
    p = run("--config", f.name, "--packet-flits", "16", "--duration", "1ms",
            "--json", out, "--faults",
            fault_file("".join("%dus cut %s#%u flit=%u silent arrive\n"
                               "%dus heal s0-s1#%u\n"
                               % (100 * i, "s0>s1" if i < 5 else "s1>s0",
                                  i % 2, 3 + i, 100 * i + 40, i % 2)
                               for i in range(1, 9))))
    r = report(out)
    check("half a packet is closed by a marked end, cut out or let go, and "
          "all of it delivered [LCB-2]", p.returncode == 0 and
          r["port_counters"]["rx_closed"] > 0 and
          r["delivered_packets"] == r["sent_packets"] and
          r["core_counters"]["drop_marked"] +
          r["core_counters"]["excised_packets"] > 0,
          (p.stdout, p.stderr, r["port_counters"]["rx_closed"],
           r["core_counters"]))

    # s1 sees the dark at once; s0 may hear of it only when there is light
    p = run("--config", FIGURE1, "--duration", "300us", "--json", out,
            "--faults", fault_file("10us cut s0>s1#1\n200us heal s0-s1#1\n"))
    dead = report(out)["failovers"]
    check("detection counts from the fault, not from its healing",
          len(dead) == 2 and
          all(f["detect_ns"] == max(1, f["at_ns"] - 10000) for f in dead),
          dead)  # 1: at once

    p = run("--config", FIGURE1, "--packets", "1000", "--json", out)
    check("--packets sends so many", p.returncode == 0 and
          report(out)["sent_packets"] == 1000)
    p = run("--config", FIGURE1, "--json", out, "--traffic",
            "pcap:" + os.path.join(ROOT, "config", "demo.pcap"))
    check("a capture goes through byte for byte", p.returncode == 0 and
          report(out)["delivered_packets"] ==
          2 * report(out)["trace_frames"], p.stdout + p.stderr)
    for profile in ("rxl", "rxl-compact", "cxl", "cxl-sep-ack"):
        p = run("--config", FIGURE1, "--duration", "20us", "--profile",
                profile)
        check(f"profile {profile} runs", p.returncode == 0, p.stderr)
    p = run("--config", FIGURE1, "--seeds", "5", "--duration", "50us",
            "--json", out)
    r = report(out)
    check("a campaign over a fabric", p.returncode == 0 and balanced(r) and
          r["seeds"] == 5 and r["failures"] == [], p.stdout)

    for name, restart in (("e1", ""), ("e1", "60us restart e1\n"),
                          ("e0", "60us restart e0\n90us crash e0\n")):
        p = run("--config", FIGURE1, "--duration", "200us", "--load", "0.2",
                "--json", out, "--faults",
                fault_file("20us cut s0-s1\n40us crash %s\n50us heal s0-s1\n"
                           % name + restart))
        r = report(out)
        check("what died with an endpoint was reported: the sums are whole",
              r["died_packets"] <= r["reported_packets"] and balanced(r) and
              "reported %u\n" % r["reported_packets"] in p.stdout,
              (name, restart, p.stdout, r["died_packets"]))
    check("some had died so", r["died_packets"] > 0, r)
    p = run("--config", FIGURE1, "--duration", "200us", "--load", "0.2",
            "--json", out, "--faults", faults, "--seeds", "2")
    r = report(out)
    check("and those of a campaign", r["died_packets"] > 0 and balanced(r) and
          "reported %u;" % r["reported_packets"] in p.stdout, p.stdout)
    check("a campaign's report has the keys of the contract, too, with sums",
          CONTRACT <= r.keys() and r["outage_ns"] > 0 and
          r["failover_count"] > 0 and
          r["edge"] == {"refused": 0, "missed": 0, "cut": 0, "oversize": 0},
          CONTRACT - r.keys())

    for nothing in ("", "# none yet\n"):
        p = run("--config", FIGURE1, "--seeds", "2", "--duration", "20us",
                "--faults", fault_file(nothing), "--json", out)
        check("a campaign whose fault file names no fault runs without any",
              p.returncode == 0 and report(out)["seeds"] == 2 and
              report(out)["failover_count"] == 0, (p.returncode, p.stderr))
    p = run("shrink", "--config", FIGURE1, "--duration", "20us", "--seed", "1",
            "--faults", faults, "--out", os.path.join(tmp, "smaller"))
    check("and its seed has nothing to shrink", p.returncode == 2 and
          "keeps every promise" in p.stderr, (p.returncode, p.stderr))

    # a campaign that waits for nothing at the end: some seeds do not end
    spaced = os.path.join(tmp, "a name with 'blanks'.cfg")
    with open(spaced, "w") as f:
        f.write(open(FIGURE1).read())
    args = ("--config", spaced, "--duration", "50us", "--drain=1ns",
            "--packet-flits", "1-4", "--load=0.5", "--latency", "2us",
            "--traffic", "uniform")
    p = run(*args, "--seed=40", "--seeds", "12", "--json", out)
    r = report(out)
    told = dict(zip(
        re.findall(r"^seed (\d+): not at rest", p.stdout, re.M),
        re.findall(r"^replay with: reflit-sim (.*)$", p.stdout, re.M)))
    check("seeds that fail are told, counted, and end in 1",
          p.returncode == 1 and len(told) > 0 and
          [str(f["seed"]) for f in r["failures"]] == list(told) and
          "%d seeds failed" % len(told) in p.stdout, p.stdout)
    seed, command = list(told.items())[-1]
    p = run(*shlex.split(command))
    check("the command told replays just that seed",
          p.returncode == 1 and "seed %s: not at rest" % seed in p.stdout and
          "1 seeds from %s" % seed in p.stdout and
          "--drain=1ns" in command and "--json" not in command and
          "--seed=40" not in command, (command, p.stdout, p.stderr))

    given = ("--faults", fault_file("5us cut s0-s1#0\n9us heal s0-s1#0\n"))
    for wide in ((), ("--wide", "slow=60,latency=60,window=60,vcs=60"),
                 ("--wide", "keyed=60,busy=60,paths=60"),
                 ("--wide", "partition=100", *given)):
        args = ("--config", FIGURE1, "--duration", "20us", "--packet-flits",
                "1-4", *wide, "--json", out)
        run(*args, "--seed", "7", "--seeds", "5")
        r = report(out)
        sums = {"sent_packets": 0, "flit_hops": 0, "elapsed_ns": 0}
        sent = set()
        for seed in range(7, 12):
            run(*args, "--seed", str(seed), "--seeds", "1")
            one = report(out)
            sent.add(one["sent_packets"])
            for key in sums:
                sums[key] += one[key]
        check("a campaign is the sum of its seeds, each as it is alone" +
              " ".join(("",) + wide),
              {key: r[key] for key in sums} == sums and len(sent) > 1,
              (sums, r["sent_packets"]))

    check("and each has the faults of a file, and no others",
          r["failover_count"] == 10, r["failover_count"])

    for fault in ("noise s0-s1 soft=0.1 poison=0.1", "soft s0 rate=0.1",
                  "poison s0 rate=0.1"):
        p = run("--config", FIGURE1, "--duration", "20us", "--seeds", "2",
                "--faults", fault_file("5us %s\n" % fault))
        check("packets that devices hurt as told are no failure: " + fault,
              p.returncode == 0, p.stdout)

    p = run("--config", FIGURE1, "--seeds", "2", "--duration", "20us",
            "--requests", "0.5", "--json", out)
    r = report(out)
    check("a campaign counts requests and responses, too",
          0 < r["sent_requests"] == r["delivered_requests"] and
          0 < r["sent_responses"] == r["delivered_responses"] and
          r["redirected_packets"] == 0, r)

    p = run("--config", FIGURE1, "--duration", "50us", "--drain", "1ns",
            "--faults", fault_file("10us cut s0-s1\n"), "--json", out)
    check("a run that does not come to rest says so and ends in 1",
          p.returncode == 1 and not report(out)["at_rest"] and
          "did not come to rest" in p.stdout, p.stdout)
    p = run("--config", FIGURE1, "--duration", "10us", "--faults",
            fault_file("5us drop s0-s1#0\n400us cut s0-s1#0\n"), "--json",
            out)
    check("a run goes on until its last fault", p.returncode == 0 and
          report(out)["elapsed_ns"] >= 400000, p.stdout)

    short = os.path.join(tmp, "short.cfg")
    with open(short, "w") as f:
        f.write(open(FIGURE1).read() + "link: { max_packet_flits = 2; };\n")
    pcap = "pcap:" + os.path.join(ROOT, "config", "demo.pcap")
    run("--config", FIGURE1, "--traffic", pcap, "--json", out)
    whole = report(out)["trace_frames"]
    p = run("--config", short, "--traffic", pcap, "--json", out)
    r = report(out)
    check("frames of a capture that fit no packet are left out and counted",
          0 < r["trace_oversize"] < whole and
          r["trace_frames"] + r["trace_oversize"] == whole and
          "%u frames of the capture are longer" % r["trace_oversize"]
          in p.stdout, p.stdout)

    stub = os.path.join(tmp, "stub.pcap")
    with open(os.path.join(ROOT, "config", "demo.pcap"), "rb") as f:
        head = f.read(50)
    with open(stub, "wb") as f:
        f.write(head)
    for args, words in (
            ((), "which fabric"),
            (("--config", "/nonexistent"), "/nonexistent"),
            (("--config", FIGURE1, "--load", "0"), "--load 0: out of range; "
             "use a number above 0"),
            (("--config", FIGURE1, "--duration", "0"), "out of range; use 1ns"),
            (("--config", FIGURE1, "--csv", out), "ablation"),
            (("--config", FIGURE1, "--wide", "all"), "goes with a campaign"),
            (("ablation", "--wide", "all"), "goes with a campaign"),
            (("ablation", "--store", out), "go with a campaign"),
            (("ablation", "--replay", FIGURE1), "goes with no command"),
            (("ablation", "--what-if", "e2e=off"),
             "several with --replay"),
            (("ablation", "--cuts", "3", "--faults", faults),
             "leave --cuts out"),
            (("shrink", "--seed", "1", "--out", tmp, "--events"),
             "goes with one run"),
            (("ablation", "--csv", "/nonexistent/x"),
             "cannot write /nonexistent/x: No such file"),
            (("rxl", "--quick", "--json", "/nonexistent/x"),
             "cannot write /nonexistent/x: No such file"),
            (("--config", FIGURE1, "--traffic", "pcap:" + stub),
             "holds no whole frame, it is cut off"),
            (("--config", FIGURE1, "--load", "x"), "not understood"),
            (("--config", FIGURE1, "--packet-flits", "9-3"), "out of range"),
            (("--config", FIGURE1, "--channel", "10us,,0.5"), "--channel"),
            (("--replay", FIGURE1, "--traffic", "tornado"), "leave"),
            (("--replay", FIGURE1, "--packet-flits", "3"), "leave"),
            *((("--replay", FIGURE1, *more.split()), "of its own: leave")
              for more in ("--classes 2", "--seeds 2", "--packets 5",
                           "--duration 5us", "--load 0.5", "--requests 0.5",
                           "--config " + FIGURE1, "--faults /dev/null")),
            (("--config", FIGURE1, "--packet-flits", "200"), "at most"),
            (("--config", FIGURE1, "--traffic", "rain"), "not understood"),
            (("--config", FIGURE1, "--traffic", "pcap:" + FIGURE1),
             "figure1.cfg: unknown file format"),
            (("--config", FIGURE1, "--traffic", "pcap:/nonexistent"),
             "/nonexistent"),
            (("--config", FIGURE1, "--profile", "ib"), "unknown"),
            (("--config", FIGURE1, "--engine", "magic"), "engine"),
            (("--config", FIGURE1, "--bogus"), "bogus"),
            (("--config", FIGURE1, "stray"), "stray"),
            (("--config", FIGURE1, "--faults", "/nonexistent"),
             "/nonexistent"),
            (("--config", FIGURE1, "--faults",
              fault_file("1us cut s0-s1\n2us melt s0-s1\n")),
             "faults:2: unknown fault melt")):
        p = run(*args)
        check("unusable: " + " ".join(args)[-40:], p.returncode == 2 and
              words in p.stderr and p.stderr.count("\n") <= 2,
              (p.returncode, p.stderr))

    p = run("--config", FIGURE1, "--json", tmp)
    check("a report that has no place is known before anything runs [APP-4]",
          p.returncode == 2 and p.stdout == "" and
          p.stderr == f"reflit-sim: cannot write {tmp}: Is a directory\n",
          (p.returncode, p.stdout, p.stderr))

    cut = os.path.join(tmp, "cut.cfg")
    with open(cut, "w") as f:
        f.write(open(FIGURE1).read().replace(
            "fabric: {", 'fabric: { fail = ["s0-s1"];'))
    p = run("--config", cut, "--duration", "20us")
    check("a fabric in two parts is refused with 3", p.returncode == 3 and
          p.stdout.startswith("refused: "), (p.returncode, p.stdout))

    p = run("--version")
    check("--version", p.returncode == 0 and p.stdout.startswith("reflit-sim"))
    for word in ("ablation", "campaign", "merge", "shrink"):
        told = run(word, "--version")
        check("%s --version" % word,
              told.returncode == 0 and told.stdout == p.stdout, told.stderr)
    p = run("--help")
    check("--help", p.returncode == 0 and "usage" in p.stdout)

end()
