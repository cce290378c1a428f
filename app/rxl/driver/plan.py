# SPDX-License-Identifier: BSD-3-Clause
"""Which simulations the tables and figures need."""
from dataclasses import asdict, dataclass, replace

from paper import fer

PROFILES = ("rxl", "rxl-compact", "cxl", "cxl-sep-ack")
RETRIES = ("go-back-n", "selective")
CRCS = ("crc64-ecma", "crc64-bch", "pcie6-rs")
ISNS = ("xor10", "wide", "wide19")

# Which table a case is for.
FEC, BURST, ORDER, LOSS, LONG, POINT = (
    "fec", "burst", "order", "loss", "long", "point")

LEVELS = 4
FLIT_BITS = 8 * 256
BER_OF_PAPER_UC = 6.6e-6  # independent errors make the paper's 3e-5 of it
CHUNK_FLITS = 20000000    # a long case is cut, so that a run can go on

# The kinds of error that the long run mixes.
WEATHERS = (
    ("independent bits, 1e-5", {"ber": 1e-5}),
    ("independent bits, 1e-4", {"ber": 1e-4}),
    ("DFE bursts on 16 lanes, 3e-6",
     {"ber": 3e-6, "propagate": 0.85, "lanes": 16}),
    ("byte bursts, lost flits", {"byte_bursts": 1e-3, "lost": 1e-4}),
    ("corruption inside switches", {"ber": 1e-5, "inside": 1e-3}),
)


@dataclass
class Case:
    """One simulation: all that decides its outcome is in its key."""
    group: str = POINT
    kind: str = "trial"      # or "path": endpoints in virtual time
    profile: str = "rxl"
    retry: str = "go-back-n"
    crc: str = "crc64-bch"
    isn: str = "wide"
    levels: int = 0          # switches
    coalesce: int = 10       # flits acknowledged at once
    burst_slots: int = 1
    ber: float = 0.0         # first bit errors, per bit
    propagate: float = 0.0   # of DFE bursts
    lanes: int = 1
    byte_bursts: float = 0.0  # per flit and link, 1 to 8 bytes
    lost: float = 0.0        # flits lost by a wire
    inside: float = 0.0      # byte bursts inside a switch, per flit
    reports: bool = False    # drop reports to the originator
    flits: int = 0           # of a trial; of a path, both directions
    seed: int = 1

    def key(self):
        return ("%s %s %s %s %s k%d c%d b%d e%g p%g l%d y%g d%g i%g r%d n%d "
                "s%d" % (self.kind, self.profile, self.retry, self.crc,
                         self.isn, self.levels, self.coalesce,
                         self.burst_slots, self.ber, self.propagate,
                         self.lanes, self.byte_bursts, self.lost, self.inside,
                         self.reports, self.flits, self.seed))

    def alike(self):
        """The same of two cases that differ in seed and length alone."""
        return self.group, replace(self, flits=0, seed=0).key()

    def json(self):
        """As `reflit-sim rxl-points` takes it."""
        values = asdict(self)
        del values["group"]
        values["seed"] = str(self.seed)  # JSON has no room for all of them
        return values

    def cost(self):
        """Seconds, roughly; only the proportions matter."""
        if self.kind == "path":
            return self.flits * (180e-9 if self.burst_slots == 1 else 110e-9)
        hit = self.ber * FLIT_BITS + self.byte_bursts + self.lost + self.inside
        return self.flits * (self.levels + 1) * max(hit, 1) * 400e-9

    def plain(self):
        """Nothing but independent errors: then there is an exact model."""
        return not (self.propagate or self.byte_bursts or self.lost or
                    self.inside)


class Planner:
    def __init__(self, quick, base, long_flits):
        """base: a Case with the seed, crc and isn of all"""
        self.quick, self.base, self.long_flits = quick, base, long_flits
        self.cases = []

    def scaled(self, flits):
        return max(1, int(flits / 20 if self.quick else flits))

    def add(self, group, kind, **values):
        values.setdefault("seed", self.base.seed)
        self.cases.append(Case(group=group, kind=kind, crc=self.base.crc,
                               isn=self.base.isn, **values))

    def fec(self):
        for ber in (1e-6, 3e-6, BER_OF_PAPER_UC, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3,
                    3e-3):
            for level in range(LEVELS + 1):
                # as many flits as meet an error some millions of times in all
                flits = 4e6 / fer(ber, FLIT_BITS) / (level + 1)
                self.add(FEC, "trial", ber=ber, levels=level,
                         flits=self.scaled(flits))

    def burst(self):
        """First errors at 1e-6, and how far each runs on."""
        for propagate in (0, 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
            for lanes in (1, 16):
                self.add(BURST, "trial", ber=1e-6, propagate=propagate,
                         lanes=lanes,
                         flits=self.scaled(5e8 if propagate else 2e9))

    def order_of(self, ber, level, profile="cxl", coalesce=10):
        # flits that make some hundreds of failures at one switch
        flits = {BER_OF_PAPER_UC: 1e8, 1e-5: 6e7, 3e-5: 1e7, 1e-4: 4e6,
                 3e-4: 2e6}[ber] * (4 if coalesce > 10 else 1)
        left = self.scaled(flits if profile == "cxl" else 4e6)
        burst = min(coalesce, 10)  # that an ACK after `coalesce` flits fits into
        while coalesce % burst != 0:
            burst -= 1
        seed = self.base.seed
        while left > 0:
            self.add(ORDER, "path", profile=profile, levels=level, ber=ber,
                     coalesce=coalesce, burst_slots=burst, seed=seed,
                     flits=min(left, CHUNK_FLITS))
            left -= CHUNK_FLITS
            seed += 1

    def order(self):
        for ber in (BER_OF_PAPER_UC, 1e-5, 3e-5, 1e-4, 3e-4):
            for level in range(LEVELS + 1):
                # go-back-N hardly makes progress, and sends nothing new
                if ber <= 2e-4 or level <= 1:
                    self.order_of(ber, level)
        for coalesce in (2, 4, 32, 100):
            for level in range(1, LEVELS + 1):
                self.order_of(3e-5, level, coalesce=coalesce)
        for profile in PROFILES:
            for level in range(LEVELS + 1):
                for ber in (3e-5, 1e-4):
                    if profile != "cxl":
                        self.order_of(ber, level, profile)

    def loss(self):
        for profile, retry in (("rxl", "go-back-n"), ("rxl", "selective"),
                               ("cxl", "go-back-n")):
            for level in (0, 1, 2, 4):
                for ber in (BER_OF_PAPER_UC, 1e-5, 3e-5, 1e-4):
                    self.add(LOSS, "path", profile=profile, retry=retry,
                             levels=level, ber=ber,
                             flits=self.scaled(1e7 if ber < 2e-5 else 2e6))
        # the switch's report comes before the NAK, and both are answered
        for level in (1, 2, 4):
            self.add(LOSS, "path", retry="selective", reports=True, ber=3e-5,
                     levels=level, flits=self.scaled(2e6))
        for profile in PROFILES:
            for coalesce in (1, 2, 4, 10, 32, 64, 100):
                self.add(LOSS, "path", profile=profile, levels=1,
                         coalesce=coalesce, ber=BER_OF_PAPER_UC,
                         flits=self.scaled(2e6))

    def long(self):
        # all errors at all levels in both ways of retry, at least once
        one = 2 * len(WEATHERS) * (LEVELS + 1)
        flits = self.long_flits // 20 if self.quick else self.long_flits
        chunks = one * max(1, -(-(flits // one) // CHUNK_FLITS))
        for i in range(chunks):
            self.add(LONG, "path", burst_slots=8,
                     levels=i // len(WEATHERS) % (LEVELS + 1),
                     retry=RETRIES[i // len(WEATHERS) // (LEVELS + 1) % 2],
                     seed=self.base.seed + i, flits=flits // chunks + 1,
                     **WEATHERS[i % len(WEATHERS)][1])

    def point(self, case):
        """The two simulations that a point of the user's own needs."""
        self.cases += [replace(case, kind=kind) for kind in ("trial", "path")]


def make(groups, quick, base, long_flits, point=None):
    """@return the list of cases"""
    p = Planner(quick, base, long_flits)
    if point is not None:
        p.point(point)
    for group, add in ((FEC, p.fec), (BURST, p.burst), (ORDER, p.order),
                       (LOSS, p.loss), (LONG, p.long)):
        if group in groups:
            add()
    return p.cases
