# SPDX-License-Identifier: BSD-3-Clause
"""Suite `load`: fabrics that are offered more than they carry, in virtual time.
For each fabric and pattern the *knee*, which is the highest load that is still
carried; what arrives at load 1, and of the worst sender; latency at half of the
knee. Warm-up is not counted, and there is no drain. Then victims: what an incast
of half of the endpoints does to pairs that have no part in it."""
import os

from virtual import Ended, Prng

FLITS = 8  # of a packet, or as many as the fabric file allows
SLOT_NS = 2.0  # of a flit on the wires of reflit-sim
POINTS = 16
CARRIED = 0.97
WIDTH = 0.02  # of the knee
STEP = 0.15  # from the first guess to the second
VICTIM_LOAD = 0.1
PATTERNS = ("uniform", "transpose", "tornado", "bit-complement")
# name, fabric, endpoints of a group
SHAPES = (
    ("torus 8x8", 'fabric: { topology = "torus"; dims = [8, 8]; };\n', 0),
    ("mesh 8x8", 'fabric: { topology = "mesh"; dims = [8, 8]; };\n', 0),
    ("dragonfly 9x4",
     'fabric: { topology = "dragonfly"; a = 4; p = 2; h = 2; };\n', 8),
)

# tables alone, and an adaptive plane
FABRICS = tuple(
    (name + more, "%srouting: { adaptive = %s; };\n" % (text, adaptive), group)
    for more, adaptive in (("", "false"), (", adaptive", "true"))
    for name, text, group in SHAPES)


def carried(p):
    """Whether what was offered arrived: 97 % of it, in the window."""
    return p["delivered"] >= CARRIED * p["load"]


class Fabric:
    """One fabric, and the figures that go out."""

    def __init__(self, rig, name, config, group, out):
        self.rig, self.name, self.config = rig, name, config
        self.group, self.out = group, out
        self.seed = rig.o.seed
        worst = os.path.join(rig.folder, "worst")
        rig.run("reflit-route", "--config", config, "--worst", worst)
        with open(worst, encoding="utf-8") as f:
            self.worst = [line.split() for line in f]
        self.endpoints = [src for src, _ in self.worst]

    def run(self, pattern, load):
        """Rates in flits for each slot and sender, latencies in slots."""
        _, r = self.rig.simulate(
            self.config, self.seed, "--traffic", pattern, "--load", repr(load),
            "--packet-flits", str(self.rig.o.packet_flits), "--drain", "0ns", "--warmup",
            "%dns" % self.out["warmup_ns"], "--window",
            "%dns" % self.out["window_ns"])
        if (r["duplicated_packets"] or r["reordered_packets"] or
                r["corrupted_packets"]):
            raise Ended(1, "load: %s: a promise was broken" % self.name)
        s = r.get("senders", {"delivered": 0, "worst": 0, "jain": 0,
                              "latency_ns": {"mean": 0, "p50": 0, "p99": 0}})
        t = s["latency_ns"]
        return {"load": load, "delivered": s["delivered"], "worst": s["worst"],
                "jain": s["jain"], "mean_slots": t["mean"] / SLOT_NS,
                "p50_slots": t["p50"] / SLOT_NS,
                "p99_slots": t["p99"] / SLOT_NS}

    def pairs(self, name, lines):
        return "pairs:" + self.rig.file(name, "".join(
            " ".join(words) + "\n" for words in lines))

    def knee(self, pattern):
        """Finds it to 2 %, by halving. @return it, and points by load"""
        points = [self.run(pattern, 1.0)]
        low, high = (1.0, 1.0) if carried(points[0]) else (0.0, 1.0)
        # what arrives at load 1 is near the knee, on either side
        guess = points[0]["delivered"]
        while (high - low > WIDTH * high and not self.rig.stopped and
               len(points) < POINTS - 1):
            if not low < guess < high:
                guess = (low + high) / 2
            points.append(self.run(pattern, guess))
            step = STEP if carried(points[-1]) else -STEP
            if step > 0:
                low = guess
            else:
                high = guess
            guess = guess * (1 + step) if len(points) == 2 else 0
        points.sort(key=lambda p: p["load"])
        return low, points

    def search(self, title, pattern, mean_full=None):
        low, points = self.knee(pattern)
        full = points[-1]
        half = None
        if low > 0 and not self.rig.stopped:
            half = self.run(pattern, low / 2)
            points = sorted(points + [half], key=lambda p: p["load"])
        if self.rig.stopped:
            return  # it would be half a row
        run = {"fabric": self.name, "pattern": title, "knee": low,
               "full": full["delivered"], "worst": full["worst"],
               "jain": full["jain"]}
        for key in ("mean_slots", "p50_slots", "p99_slots"):
            run[key] = half[key] if half else 0.0
        run["points"] = points
        if mean_full is not None:
            run["mean_full"] = mean_full
        self.out["runs"].append(run)
        print("  %-21s %6.3f %6.3f %6.3f %6.3f %8.0f %8.0f %8.0f" % (
            title, low, run["full"], run["worst"], run["jain"],
            run["mean_slots"], run["p50_slots"], run["p99_slots"]), flush=True)

    def random(self):
        """--reps permutations at load 1; then the knee of the one that gets
        least."""
        found = []
        for i in range(self.rig.o.reps):
            self.seed = self.rig.o.seed + i
            found.append((self.run("permutation", 1.0)["delivered"], i))
            if self.rig.stopped:
                return
        mean = sum(full for full, _ in found) / len(found)
        self.seed = self.rig.o.seed + min(found)[1]
        self.search("random, worst", "permutation", mean)
        self.seed = self.rig.o.seed
        print("  %-21s        %6.3f   (%u permutations)" % (
            "random, mean", mean, len(found)))

    def victims(self):
        """Half of the endpoints send to one; the others in a circle."""
        prng, order = Prng(self.seed), []
        for i in range(len(self.endpoints)):
            j = prng.below(i + 1)
            order.append(None)
            order[i] = order[j]
            order[j] = self.endpoints[i]
        half = len(order) // 2
        circle = order[half + 1:]
        alone = list(zip(circle, circle[1:] + circle[:1]))
        incast = [(src, order[half], "uncounted") for src in order[:half]]
        p = [self.run(self.pairs(name, lines), VICTIM_LOAD) for name, lines in
             (("alone", alone), ("beside", incast + alone))]
        if self.rig.stopped:
            return
        times = {key: p[1][of] / p[0][of] for key, of in (
            ("p50_times", "p50_slots"), ("p99_times", "p99_slots"),
            ("rate_times", "delivered"))}
        self.out["victims"].append({"fabric": self.name, "alone": p[0],
                                    "beside": p[1], **times})
        print("  beside an incast of half of the endpoints the others have "
              "%.2f times the p50,\n  %.2f times the p99, %.3f times the rate"
              % tuple(times.values()), flush=True)

    def measure(self):
        print("%-23s %6s %6s %6s %6s %8s %8s %8s" % (
            self.name, "knee", "full", "worst", "Jain", "mean", "p50", "p99"))
        for pattern in PATTERNS[:2] if self.rig.o.quick else PATTERNS:
            try:
                if not self.rig.stopped:
                    self.search(pattern, pattern)
            except Ended as e:  # not every fabric has every pattern
                if e.status != 2 or pattern == PATTERNS[0]:
                    raise
        n = len(self.endpoints)
        parts = [(self.group, lambda: self.search(
            "next group", self.pairs("next", (
                (src, self.endpoints[(i + self.group) % n])
                for i, src in enumerate(self.endpoints))))),
                 (not self.rig.o.quick, self.random),
                 (True, lambda: self.search("worst of tables", self.pairs(
                     "pairs", self.worst))),
                 (True, self.victims)]
        for wanted, part in parts:
            if wanted and not self.rig.stopped:
                part()


def measure(rig, out):
    quick = rig.o.quick
    out.update(warmup_ns=10000 if quick else 25000,
               window_ns=4000 if quick else 15000, packet_flits=FLITS, runs=[],
               victims=[])
    print("load: flits for each slot and sender, packets of %d flits, wires of "
          "100 ns\n      (knee, at load 1, its worst sender, Jain's index; slots "
          "at half of the knee)" % FLITS)
    if rig.o.config is not None:
        fabrics = [(rig.o.config, None, rig.o.group)]
    else:
        fabrics = FABRICS[:1] if quick else FABRICS
    for name, text, group in fabrics:
        if rig.stopped:
            return
        config = name if text is None else rig.file("fabric.cfg", text)
        Fabric(rig, name, config, group, out).measure()
