# SPDX-License-Identifier: BSD-3-Clause
"""Suite `recovery`: links are cut and switches crash for good, under load, and
the controller recovers, all of it in virtual time; but computing and proving
take the CPU time that they are measured to take, and the fabric waits for them
that long. From the failure on: when the last port has found it out, when the
first flit of the last one goes another way, when all devices have proven tables.
And who was held meanwhile, and for how long.

Each repetition draws other places. A run in which a promise is broken ends the
suite."""
import itertools

from virtual import Ended, Prng

FAULT_NS = 200000
MODES = ("auto", "live", "partial", "tokens", "full", "off")
SMALL = ("4x4", (4, 4), 'fabric: { topology = "torus"; dims = [4, 4]; };\n'
         "routing: { adaptive = false; };\n")  # all modes are for tables
LARGE = ("10x10x10", (10, 10, 10),
         'fabric: { topology = "torus"; dims = [10, 10, 10]; };\n'
         "link: { window_flits = 128; credits_flits = 64; queue_flits = 64; };\n")
# fabric, links that are cut, switches that crash, load, ns from then on
ONE_LINK, ONE_SWITCH, MANY = (
    (SMALL, 1, 0, 0.05, 2000000), (SMALL, 0, 1, 0.05, 2000000),
    (SMALL, 4, 1, 0.05, 2000000))
LARGE_ONES = ((LARGE, 1, 0, 0.0001, 5000000), (LARGE, 0, 1, 0.0001, 5000000),
              (LARGE, 20, 5, 0.0001, 5000000))
QUICK = (SMALL, 1, 0, 0.02, 300000)
# each failure as it comes, and the same one way after the other
ROWS = [(case, mode) for cases, mode in (
    ((ONE_LINK, ONE_SWITCH, MANY), "auto"), ((ONE_LINK,), "live"),
    ((ONE_LINK, ONE_SWITCH, MANY), "partial"),
    ((ONE_LINK, ONE_SWITCH, MANY), "tokens"), ((ONE_LINK,), "full"),
    ((ONE_LINK,), "off"), (LARGE_ONES, "auto"), (LARGE_ONES, "tokens"))
        for case in cases]
SPANS = ("detect_ns", "rerouted_ns", "compute_ns", "prove_ns", "in_place_ns",
         "paused_ns", "held_flows", "ahead_flits", "outage_ns")
PACKETS = ("sent", "delivered", "reported", "died", "refused")


def parts_of(dims):
    """Names of the switches of a torus, and its links between them, in the
    order of the fabric."""
    places = list(itertools.product(*map(range, dims)))
    names = {at: "s" + ".".join(map(str, at)) for at in places}
    links = []
    for at in places:
        for d, radix in enumerate(dims):
            to = at[:d] + ((at[d] + 1) % radix,) + at[d + 1:]
            links.append((names[at], names[to]))
    return list(names.values()), links


def faults(case, seed):
    """Places of failures as lines of a fault file; no link of a dead switch."""
    (_, dims, _), nlinks, nswitches = case[:3]
    switches, links = parts_of(dims)
    n = len(switches)
    prng, dead, cut = Prng(seed ^ 0x4ec0743f), [], []
    while len(dead) < nswitches:  # of all devices: an endpoint is drawn again
        i = prng.below(2 * n)
        if i < n and switches[i] not in dead:
            dead.append(switches[i])
    while len(cut) < nlinks:  # of all links: those of endpoints are the first
        i = prng.below(n + len(links)) - n
        if i >= 0 and links[i] not in cut and not set(links[i]) & set(dead):
            cut.append(links[i])
    return "".join(["200us crash %s\n" % s for s in dead] +
                   ["200us cut %s-%s\n" % ends for ends in cut])


def spans_of(r):
    """What is measured of a run."""
    def most(values):
        return max(values, default=0)

    def after(ns):
        return 0 if ns == 1 else ns  # 1: in the same poll

    failovers, recoveries = r["failovers"], r["recoveries"]
    done = [x for x in recoveries if x["outcome"] == "done"]
    return {
        "detect_ns": most(f["at_ns"] - FAULT_NS for f in failovers),
        "rerouted_ns": most(f["at_ns"] + after(f["first_rerouted_ns"]) -
                            FAULT_NS for f in failovers
                            if f["first_rerouted_ns"] != 0),
        "compute_ns": sum(x["compute_ns"] for x in recoveries),
        "prove_ns": sum(x["prove_ns"] for x in recoveries),
        "in_place_ns": most(sum(x[key] for key in (
            "at_ns", "detect_ns", "compute_ns", "prove_ns", "quiesce_ns",
            "install_ns")) - FAULT_NS for x in done),
        "paused_ns": sum(x["paused_ns"] for x in recoveries),
        "held_flows": most(x["held_flows"] for x in recoveries),
        "ahead_flits": r["endpoint_counters"].get("rx_ahead", 0),
        "outage_ns": r["outage_ns"]}


class Case:
    """All repetitions of a row."""

    def __init__(self, rig, case, mode):
        self.rig, self.case, self.mode = rig, case, mode
        self.n, self.spans = 0, {key: [] for key in SPANS}
        self.sums = dict.fromkeys(("in_place", "recoveries", "timeouts") +
                                  PACKETS, 0)
        self.needed = 0  # the strongest mode

    def run(self, seed):
        (name, _, text), links, switches, load, traffic_ns = self.case
        rig = self.rig
        status, r = rig.simulate(
            rig.file("fabric.cfg", text + 'controller: { mode = "%s"; };\n' %
                     self.mode), seed,
            "--faults", rig.file("faults", faults(self.case, seed)), "--load",
            repr(load), "--duration", "%dns" % (FAULT_NS + traffic_ns),
            "--poll", "500ns", "--compute", "measured", "--drain", "3s")
        r["reported_packets"] += r["reported_delivered_packets"]
        # what was under way to a switch that crashes is reported
        if status == 0 and r["reported_packets"] and not (
                switches or self.mode == "off"):
            r["broken"], status = "packets were reported", 1
        if rig.stopped and r["interrupted"]:
            return
        if status != 0:
            raise Ended(1, "%s, seed %d, %d links and %d switches: %s" % (
                name, seed, links, switches, r["broken"]))
        self.add(r)

    def add(self, r):
        recoveries = r["recoveries"]
        done = [x for x in recoveries if x["outcome"] == "done"]
        self.n += 1
        for key, v in spans_of(r).items():
            self.spans[key].append(v)
        self.sums["in_place"] += bool(done)
        self.sums["recoveries"] += len(recoveries)
        self.sums["timeouts"] += sum(x["outcome"] == "timeout"
                                     for x in recoveries)
        for key in PACKETS:
            self.sums[key] += r[key + "_packets"]
        self.needed = max([self.needed] + [MODES.index(x["mode"])
                                           for x in done])

    def tell(self, out):
        (name, dims, _), links, switches = self.case[:3]
        nep, s = len(parts_of(dims)[0]), self.sums
        flows = nep * (nep - 1)
        needed = MODES[self.needed] if s["recoveries"] else "none"
        row = {"fabric": name, "links": links, "switches": switches,
               "mode": self.mode, "needed": needed, "runs": self.n}
        row.update((key, s[key]) for key in ("in_place", "recoveries",
                                             "timeouts"))
        row["flows"] = flows
        row.update((key + "_packets", s[key]) for key in PACKETS)
        line = "  %-9s %3u %3u  %-7s %-7s" % (name, links, switches, self.mode,
                                              needed)
        for key in SPANS:
            v = sorted(self.spans[key])
            p50, worst = v[self.n // 2], v[-1]
            row[key] = {"p50": float(p50), "max": float(worst)}
            if key == "ahead_flits":
                line += " %9.0f %9.0f" % (p50, worst)
            elif key == "held_flows":
                line += " %7.0f %6.2f%%" % (worst, 100 * worst / flows)
            else:
                line += " %9.1f %9.1f" % (p50 / 1e3, worst / 1e3)
        out["cases"].append(row)
        print(line + " %8d %6d" % (s["sent"] - s["delivered"],
                                   s["reported"] + s["died"]), flush=True)


def measure(rig, out):
    out["cases"] = []
    print("recovery: permanent failures, in virtual time, with measured times for "
          "computing and\nproving. Medians and maxima in us after the failure; "
          "most flows held,\nof all; packets not delivered, and of these reported "
          "or lost with a device\n"
          "  %-9s %3s %3s  %-7s %-7s %19s %19s %19s %19s %19s %19s %15s %19s %19s "
          "%8s %6s" % ("torus", "lnk", "sw", "mode", "needed", "detected",
                       "rerouted", "computing", "proving", "in place", "paused",
                       "held", "out of turn", "longest outage", "missing",
                       "told"))
    rows = [(QUICK, "auto")] if rig.o.quick else [
        (case, mode) for case, mode in ROWS if rig.o.row in
        "%s %u/%u %s" % (case[0][0], case[1], case[2], mode)]
    if not rows:
        raise Ended(2, "--row: no row holds '%s'" % rig.o.row)
    for case, mode in rows:
        c = Case(rig, case, mode)
        for i in range(rig.o.reps):
            if not rig.stopped:
                c.run(rig.o.seed + i)
        if c.n != 0:
            c.tell(out)
