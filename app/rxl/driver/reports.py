# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the evaluation, made of what the store holds."""
import math
from dataclasses import replace

import paper
import plan
from paper import NAN, ratio
from table import Table

ACKS_ALONE = ("rxl-compact", "cxl-sep-ack")  # they never ride on data
RATE = (("computed", "%.4g"), ("measured", "%.4g"), ("low", "%.4g"),
        ("high", "%.4g"), ("in", ""))
PAYLOAD_BITS = 8.0 * 240  # of a flit, for the transaction layer
FLIT_BITS = 8.0 * 256
FREED_BITS = 12.0         # FSN and ReplayCmd: rxl-compact gives them to it


def promises(profile):
    """Whether a profile promises order."""
    return profile != "cxl"


def add(a, b):
    """The sum of two outcomes: objects, lists and numbers."""
    if isinstance(a, dict):
        return {k: add(a[k], b[k]) for k in a}
    if isinstance(a, list):
        return [add(x, y) for x, y in zip(a, b)]
    return a + b


def ack_alone(o):
    """Stand-alone ACKs for each packet delivered, without NAKs."""
    p = o["path"]
    return max(0, p["control"] - o["naks"]) / p["delivered"] \
        if p["delivered"] else 0.0


def ack_share(o):
    """Share of first transmissions whose number an ACK has taken."""
    p = o["path"]
    return p["with_ack"] / p["fresh"] if p["fresh"] else 0.0


def loss_of(o):
    """Bandwidth lost, with its 95 % interval: what is random is how often a
    retry starts; what ACKs take is not. The one interval of all tables."""
    p = o["path"]
    loss = 1 - ratio(p["delivered"] - p["duplicates"], p["slots"])
    alone = ack_alone(o)
    retry = loss - alone / (1 + alone)
    starts = o["naks"] + o["timeouts"]
    half = 1.96 * retry / math.sqrt(starts) if starts > 0 and retry > 0 else 0
    return paper.Rate(None, None, loss, loss - half, loss + half)


def uncorrectable(model):
    return model["detected"] + model["missed"]


class Eval:
    """All that a report reads, and what it finds on its way."""

    def __init__(self, cases, known, ask):
        """known: outcomes by key; ask: a Worker's"""
        self.cases, self.known, self.ask = cases, known, ask
        self.models = {}
        self.compared = 0  # computed values held against measured ones
        self.held = 0      # of them within the 95 % interval
        self.sure = 0      # of these: 0 computed, nothing counted
        self.broken = 0    # promises of profiles that make them

    def model(self, ber):
        """The FEC's exact probabilities under independent errors."""
        if ber not in self.models:
            self.models[ber] = self.ask("model", {"ber": ber})
        return self.models[ber]

    def each(self, group):
        """(the first of its kind, the outcome of all of them)"""
        sums = {}
        for c in self.cases:
            if c.group != group:
                continue
            o = self.known[c.key()]
            first, total = sums.get(c.alike(), (c, None))
            sums[c.alike()] = first, o if total is None else add(total, o)
        return sums.values()

    def rate(self, r, computed):
        """Cells "measured", "low", "high", "in"."""
        held = paper.holds(r, computed)
        self.compared += 1
        self.held += held
        self.sure += held and computed == 0 and r.rate == 0
        return r.rate, r.lo, r.hi, held

    def expect(self, c, o, link=None):
        """What a path should do, from what one link does."""
        link = link or self.model(c.ber)
        values = self.ask("expect", {
            "detected": link["detected"], "missed": link["missed"],
            "levels": c.levels, "retry": c.retry,
            "burst_slots": c.burst_slots, "ack_share": ack_share(o),
            "ack_alone": ack_alone(o), "steady_acks": c.profile in ACKS_ALONE})
        return {k: NAN if v is None else v for k, v in values.items()}

    def judge(self, c, o, sound_only=("order_failures", "duplicates")):
        """Counts what a profile has promised, and not kept."""
        p = o["path"]
        if promises(c.profile):
            self.broken += sum(p[k] for k in sound_only) + o["missing"]
        self.broken += p["altered"] + o["leaked"]


def equations(e):
    t = Table("equations",
              "Equations 1 to 14 of the RXL paper, with its inputs",
              ("eq", "%.0f"), ("quantity", ""), ("formula", ""),
              ("paper", "%.4g"), ("computed", "%.4g"), ("difference", "%+.2g"),
              ("agrees", ""))
    i = paper.PAPER
    for q in paper.equations(i):
        t.row(q.number, q.name, q.formula, q.paper, q.ours, q.ours - q.paper,
              paper.agrees(q))
        if q.note is not None:
            t.note("equation %d: %s", q.number, q.note)
    t.note("agrees: rounded to the paper's printed digits it is the paper's "
           "number")
    t.note("equation 2 is a bound of PCIe 6.0, not a consequence of equation "
           "1: independent errors of %g make %.2g of the flits uncorrectable "
           "(table fec), and table burst shows what it takes to reach %g",
           i.ber, uncorrectable(e.model(i.ber)), i.fer_uc)
    return t


LINK = ("flits", "lost", "hit", "corrected", "detected", "missed")


def sum_links(links):
    """All links together: each is a link like any other."""
    return {k: sum(link[k] for link in links) for k in LINK}


def outcomes_of(model, link):
    """(name, computed, counted) of one flit on one link"""
    return (
        ("erroneous (eq. 1)", 1 - model["clean"], link["hit"]),
        ("corrected", model["corrected"], link["corrected"]),
        ("uncorrectable", uncorrectable(model),
         link["detected"] + link["missed"]),
        ("  detected: dropped", model["detected"], link["detected"]),
        ("  miscorrected", model["missed"], link["missed"]))


def fec(e):
    t = Table("fec", "One link under independent bit errors: exact model and "
              "the codec, 95 % intervals", ("outcome", ""), ("ber", "%.1e"),
              *RATE, ("hits", "%.0f"), ("flits", "%.3g"))
    cases = e.each(plan.FEC)
    rows = []
    for first, _ in cases:
        if first.levels == 0:
            link = sum_links([k for c, o in cases if c.ber == first.ber
                              for k in o["trial"]["link"][:c.levels + 1]])
            rows.append((first.ber, link["flits"],
                         outcomes_of(e.model(first.ber), link)))
    for k in range(5):
        for ber, flits, outcomes in rows:
            name, computed, hits = outcomes[k]
            r = paper.rate(hits, flits)
            t.row(name, ber, computed, *e.rate(r, computed), hits, flits)
    t.note("the paper takes all uncorrectable flits to be dropped; the FEC "
           "misses a third of the bursts and, of two lone bits, 5 in 12: one "
           "time in 8 they are in the same place of their bytes")
    return t


def way(e):
    t = Table("way", "Flits over links and switches: dropped on the way "
              "(eq. 6), wrong on arrival, undetected (eq. 4, 9)",
              ("ber", "%.1e"), ("level", "%.0f"), ("outcome", ""), *RATE)
    flits = wrong = undetected = 0
    for c, o in e.each(plan.FEC):
        y = o["trial"]
        passed = y["undetected"] + y["slipped"]
        bad = y["fec_bad"] + y["crc_bad"] + passed
        x = e.expect(c, o)
        for what, hits, computed in (
                ("dropped", y["dropped"], x["dropped"]),
                ("wrong on arrival", bad, x["wrong"]),
                ("undetected", passed,
                 math.ldexp(y["crc_bad"] / y["flits"], -64))):
            r = paper.rate(hits, y["flits"])
            t.row(c.ber, c.levels, what, computed, *e.rate(r, computed))
        flits += y["flits"]
        wrong += bad
        undetected += passed
    e.broken += undetected
    t.note("%.3g flits in all, %.3g arrived wrong, %g were accepted or taken "
           "for another number", flits, wrong, undetected)
    t.note("undetected, computed: what the CRC alone had to find, times 2^-64")
    return t


def burst(e):
    t = Table("burst", "What makes 3e-5 of flits uncorrectable: first errors "
              "at 1e-6 that run on (DFE)", ("propagate", "%.2f"),
              ("lanes", "%.0f"), ("bits_per_burst", "%.1f"),
              ("uncorrectable", "%.3g"), ("low", "%.3g"), ("high", "%.3g"),
              ("detected_share", "%.3f"))
    for c, o in e.each(plan.BURST):
        link = o["trial"]["link"][0]
        bad = link["detected"] + link["missed"]
        r = paper.rate(bad, link["flits"])
        t.row(c.propagate, c.lanes, 1 / (1 - c.propagate), r.rate, r.lo, r.hi,
              ratio(link["detected"], bad) if bad else None)
    t.note("propagate: probability that the bit after a wrong one on its lane "
           "is wrong, too; 16 lanes: a x16 link, where a lane's next byte is "
           "16 bytes on")
    t.note("independent errors (propagate 0): %.3g by the exact model",
           uncorrectable(e.model(1e-6)))
    return t


def order(e):
    t = Table("order", "Order failures per flit (eq. 7), endpoints in virtual "
              "time, 95 % intervals", ("profile", ""), ("level", "%.0f"),
              ("ber", "%.1e"), ("coalesce", "%.0f"), ("ack_share", "%.4f"),
              ("flits", "%.3g"), ("failures", "%.0f"), ("eq7", "%.3g"),
              ("computed", "%.3g"), ("measured", "%.3g"), ("low", "%.3g"),
              ("high", "%.3g"), ("in", ""), ("twice", "%.0f"), ("lost", "%.0f"))
    for c, o in e.each(plan.ORDER):
        p = o["path"]
        x = e.expect(c, o)
        # rxl acknowledges on every flit, and hides no number
        sound = promises(c.profile)
        computed = 0 if sound else x["order"]
        r = paper.rate(p["order_failures"], p["chances"])
        t.row(c.profile, c.levels, c.ber, c.coalesce, ack_share(o),
              p["chances"], p["order_failures"],
              0 if sound else x["order_paper"], computed, *e.rate(r, computed),
              p["duplicates"], o["missing"])
        e.judge(c, o, ("order_failures", "duplicates", "altered"))
    t.note("flits: first transmissions while all before had arrived; what "
           "comes while a retry is awaited is no chance of a failure")
    t.note("eq7: levels x FER_UC x ack_share, as the paper; computed: with the "
           "share that the FEC really detects, repeated drops, and the next "
           "flit's own fate")
    t.note("twice, lost: packets that the client got again, or never")
    return t


def harvest(e, level):
    """Failures of cxl at one level and share 0.1, at all error rates, those
    expected of the same chances, and their rate where FER_UC is the paper's."""
    failures = expected = 0.0
    r = paper.rate(0, 0)
    for c, o in e.each(plan.ORDER):
        if c.profile != "cxl" or c.levels != level or c.coalesce != 10:
            continue
        p = o["path"]
        failures += p["order_failures"]
        expected += e.expect(c, o)["order"] * p["chances"]
        if c.ber == plan.BER_OF_PAPER_UC:
            r = paper.rate(p["order_failures"], p["chances"])
    return failures, expected, r


def order_at(e, ber, level):
    """Equation 7, exactly, with the paper's ACK share."""
    link = e.model(ber)
    return e.ask("expect", {
        "detected": link["detected"], "missed": link["missed"],
        "levels": level, "retry": "go-back-n", "burst_slots": 1,
        "ack_share": paper.PAPER.ack_share, "ack_alone": 0,
        "steady_acks": False})["order"]


def crc_alone(e, ber, level):
    """Flits that only the CRC can find, per flit sent, by trial."""
    for c, o in e.each(plan.FEC):
        if c.ber == ber and c.levels == level:
            return o["trial"]["crc_bad"] / o["trial"]["flits"]
    return NAN


def fit_row(e, t, level):
    i, uc_ber = paper.PAPER, plan.BER_OF_PAPER_UC
    one = paper.fit(i, 1)
    failures, expected, r = harvest(e, level)
    sound = [o["path"] for c, o in e.each(plan.ORDER)
             if promises(c.profile) and c.levels == level]
    near = one * math.ldexp(crc_alone(e, uc_ber, level), -64)
    far = one * math.ldexp(crc_alone(e, i.ber, level), -64)
    # without a switch no order is lost: the CRC decides, as for others
    if level == 0:
        cxl = near, NAN, NAN, near, far, far
    else:
        at_far = order_at(e, i.ber, level)
        over = failures / expected if expected > 0 else NAN
        cxl = (one * r.rate, one * r.lo, one * r.hi,
               one * order_at(e, uc_ber, level), over * one * at_far,
               one * at_far)
    t.row(level, paper.fit_cxl(i, level), paper.fit_rxl(i, level), *cxl,
          sum(p["order_failures"] for p in sound),
          sum(p["fresh"] for p in sound), near, far,
          one * paper.missed_by_bch(i._replace(ber=uc_ber), level),
          one * paper.missed_by_bch(i, level))


def fit(e):
    t = Table("fit", "Figure 8: FIT of a device, by levels of switching",
              ("level", "%.0f"), *((name, "%.3g") for name in (
                  "cxl_paper", "rxl_paper", "cxl", "cxl_low", "cxl_high",
                  "cxl_computed", "cxl_1e-6", "cxl_1e-6_computed")),
              ("others_failures", "%.0f"), ("others_flits", "%.3g"),
              ("rxl", "%.3g"), ("rxl_1e-6", "%.3g"), ("bch", "%.3g"),
              ("bch_1e-6", "%.3g"))
    for level in range(plan.LEVELS + 1):
        fit_row(e, t, level)
    t.note("cxl, rxl: at BER %g, where independent errors make the paper's "
           "3e-5 uncorrectable; _1e-6: at the paper's BER itself",
           plan.BER_OF_PAPER_UC)
    t.note("cxl: measured order failures; below the paper's, since the FEC "
           "notices, and a switch drops, 7 in 12 of what it can't correct")
    t.note("cxl_1e-6: failures at all raised rates over what the model expects "
           "there, times the model at 1e-6")
    t.note("rxl: flits that were measured to reach the CRC altered, times "
           "2^-64; the same for rxl-compact and cxl-sep-ack, none of which "
           "lost order (others_)")
    t.note("bch: computed; crc64-bch sees every flit with fewer than six wrong "
           "bits, whatever FEC made of them, so that only flits with six or "
           "more count, times 2^-64")
    return t


def loss(e):
    t = Table("loss", "Bandwidth loss (eq. 11 to 14), endpoints in virtual "
              "time, both directions full", ("profile", ""), ("retry", ""),
              ("level", "%.0f"), ("ber", "%.1e"), ("coalesce", "%.0f"),
              ("reports", ""), ("ack_alone", "%.4f"), ("again", "%.3g"),
              ("equation", "%.4g"), *RATE)
    for c, o in e.each(plan.LOSS):
        r = loss_of(o)
        x = e.expect(c, o)
        # nothing is computed of what is sent again twice
        measured = (r.rate, r.lo, r.hi, None) if c.reports else \
            e.rate(r, x["loss"])
        t.row(c.profile, c.retry, c.levels, c.ber, c.coalesce,
              "yes" if c.reports else "no", ack_alone(o),
              ratio(o["path"]["again"], o["path"]["fresh"]), x["loss_paper"],
              x["loss"], *measured)
        e.judge(c, o)
    t.note("equation: 1 - 1/(1 + 50 r) + p, with r = (levels + 1) x FER_UC of "
           "the exact model at this BER, and p = ack_alone (eq. 13); "
           "selective: 1 in place of 50")
    t.note("computed: with retries of retries, the NAKs, and p/(1 + p) for p: "
           "where both directions are full, an ACK takes a data flit's place, "
           "not all of it")
    t.note("selective, computed: a flit for a flit; at 1e-4 several gaps are "
           "open at once, a lost answer shows when a later one overtakes it, "
           "and all of them are asked for again")
    t.note("reports: the switch tells the originator, which sends at once; the "
           "NAK asks again all the same, so that it costs more and gains time "
           "only")
    t.note("ack_alone falls short of 1/coalesce by the slot that an ACK waits "
           "for data to ride on")
    return t


def profiles(e):
    t = Table("profiles", "What each profile costs, where 3e-5 of the flits on "
              "a link are uncorrectable", ("profile", ""), ("retry", ""),
              ("level", "%.0f"), ("coalesce", "%.0f"), ("header_bits", "%.0f"),
              ("ack_alone", "%.4f"), ("sent_again", "%.2g"),
              ("bandwidth_loss", "%.5f"), ("payload_share", "%.4f"),
              ("order_failures", "%.0f"), ("twice", "%.0f"))
    for c, o in e.each(plan.LOSS):
        if c.ber != plan.BER_OF_PAPER_UC or c.reports or \
                (c.levels != 1 and c.coalesce != 10):
            continue
        p = o["path"]
        left = 1 - loss_of(o).rate
        freed = FREED_BITS if c.profile == "rxl-compact" else 0
        t.row(c.profile, c.retry, c.levels, c.coalesce, FREED_BITS - freed,
              ack_alone(o),
              ratio(p["again"], p["fresh"] + p["again"] + p["control"]),
              1 - left, left * (PAYLOAD_BITS + freed) / FLIT_BITS,
              p["order_failures"], p["duplicates"])
    t.note("payload_share: bits of the transaction layer that arrive, of all "
           "bits on the wire; CRC and FEC take 5.5 %, the header 0.8 %")
    t.note("selective retry asks for exactly what is missing, by the slip that "
           "the syndrome tells; the paper holds it to need a sequence field")
    return t


def stretch(outcomes):
    """Cells of the long run, and the promises that were broken in it."""
    def count(*keys):
        return sum(o["path"][k] for o in outcomes for k in keys)

    failures = count("order_failures", "late", "duplicates")
    lost = sum(o[k] for o in outcomes
               for k in ("missing", "unsettled", "leaked"))
    return (count("fresh", "again", "control"), count("dropped", "lost"),
            count("wrong"), count("hurt_inside"), count("again"), failures,
            count("altered"), lost), failures + count("altered") + lost


def long_run(e):
    t = Table("long", "The long run: rxl, flit by flit, at raised error rates",
              ("errors", ""), ("level", ""), *((name, "%.0f") for name in (
                  "flits", "dropped", "wrong", "hurt_inside", "sent_again",
                  "order_failures", "undetected", "lost")))
    cases = list(e.each(plan.LONG))
    for name, errors in plan.WEATHERS:
        for level in range(plan.LEVELS + 1):
            t.row(name, str(level), *stretch(
                [o for c, o in cases if c.levels == level and
                 c == replace(plan.Case(**errors), **{
                     k: getattr(c, k) for k in (
                         "group", "kind", "retry", "crc", "isn", "levels",
                         "burst_slots", "flits", "seed")})])[0])
    cells, broken = stretch([o for _, o in cases])
    t.row("all", "", *cells)
    e.broken += broken
    t.note("flits: crossings of the whole path, both ways, retries and "
           "stand-alone flits included; each was numbered, encoded, carried, "
           "and verified by the endpoints that ship")
    t.note("not run: the FEC check of a flit at a switch that no error has "
           "touched; order_failures counts duplicates, too")
    return t


def point_path_rows(e, c, trial, path, link):
    """Rows (quantity, computed, rate) of what a point's path does, and what is
    expected of it."""
    y, p = trial["trial"], path["path"]
    sound = promises(c.profile)
    known = c.inside == 0 and c.lost == 0
    measured = None if c.plain() else {
        "detected": (link["detected"] + link["lost"]) / link["flits"],
        "missed": link["missed"] / link["flits"]}
    x = e.expect(c, path, measured)
    wrong = y["fec_bad"] + y["crc_bad"] + y["slipped"] + y["undetected"]
    twice = min(p["duplicates"], p["fresh"])
    gbn = c.retry == "go-back-n"
    return x, (
        ("way: dropped (eq. 6)", x["dropped"] if known else NAN,
         paper.rate(y["dropped"], y["flits"])),
        ("way: wrong on arrival", x["wrong"] if known else NAN,
         paper.rate(wrong, y["flits"])),
        ("way: undetected (eq. 4, 9)",
         math.ldexp(y["crc_bad"] / y["flits"], -64),
         paper.rate(y["undetected"] + y["slipped"], y["flits"])),
        ("order failures (eq. 7)" if gbn else "order failures",
         0 if sound else x["order"] if gbn else NAN,
         paper.rate(p["order_failures"], p["chances" if gbn else "fresh"])),
        ("delivered twice", 0 if sound else NAN,
         paper.rate(twice, p["fresh"])),
        ("bandwidth loss (eq. 11 to 14)", x["loss"] if known else NAN,
         loss_of(path)))


def point_notes(e, t, c, trial, path, x):
    y, p = trial["trial"], path["path"]
    t.note("the paper's equations, with this link's rate: order failures %.3g, "
           "bandwidth loss %.4g", 0.0 if promises(c.profile) else
           x["order_paper"], x["loss_paper"])
    t.note("FIT by order failures %.3g, by what the CRC misses %.3g",
           paper.fit(paper.PAPER, ratio(p["order_failures"], p["fresh"])),
           paper.fit(paper.PAPER, math.ldexp(y["crc_bad"] / y["flits"], -64)))
    t.note("ACK share %.4f, stand-alone ACKs a flit %.4f, delivered altered "
           "%.0f, never delivered %.0f, drop reports %.0f", ack_share(path),
           ack_alone(path), p["altered"], path["missing"], p["reports"])
    t.note("%s", c.key())
    if not c.plain():
        t.note("not only independent errors: what follows from a link is "
               "computed from the link as measured, or not at all")


def point(e):
    """Everything that is said of one point of the user's own."""
    t = Table("point", "One point", ("quantity", ""), *RATE)
    c, c_path = [c for c in e.cases if c.group == plan.POINT]
    trial, path = e.known[c.key()], e.known[c_path.key()]
    link = sum_links(trial["trial"]["link"][:c.levels + 1])
    model = e.model(c.ber) if c.plain() else dict.fromkeys(
        ("clean", "corrected", "detected", "missed"), NAN)
    names = ("erroneous (eq. 1)", "corrected", "uncorrectable (eq. 2)",
             "detected, dropped by a switch", "miscorrected")
    rows = [("link: " + name, computed, paper.rate(hits, link["flits"]))
            for name, (_, computed, hits)
            in zip(names, outcomes_of(model, link))]
    x, more = point_path_rows(e, c_path, trial, path, link)
    for what, computed, r in rows + list(more):
        t.row(what, computed, *(e.rate(r, computed)
                                if math.isfinite(computed)
                                else (r.rate, r.lo, r.hi, None)))
    e.judge(c_path, path)
    e.broken += trial["trial"]["undetected"]
    point_notes(e, t, c_path, trial, path, x)
    return t


# name -> the simulations that it needs, and what makes it; in this order
REPORTS = {
    "equations": ((), equations), "fec": ((plan.FEC,), fec),
    "way": ((plan.FEC,), way), "order": ((plan.ORDER,), order),
    "fit": ((plan.ORDER, plan.FEC), fit), "loss": ((plan.LOSS,), loss),
    "burst": ((plan.BURST,), burst), "profiles": ((plan.LOSS,), profiles),
    "long": ((plan.LONG,), long_run),
}
