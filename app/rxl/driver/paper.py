# SPDX-License-Identifier: BSD-3-Clause
"""Equations 1 to 14 and Figure 8 of the RXL paper (section 7) [EVAL-1], with its
inputs or others, and the interval of a rate that was counted."""
import math
from collections import namedtuple

SECONDS_PER_HOUR = 3600.0
FIT_HOURS = 1e9
Z = 1.959963984540054  # 97.5 % point of the normal distribution
BCH_BITS = 6           # wrong bits that crc64-bch can miss, at least

NAN = float("nan")

# What the equations start from: bit error rate, bits of a flit, flits that FEC
# cannot correct per link, undetected one in 2^crc_bits, share of flits with an
# AckNum, flits of a device, a flit on the wire, what a retry takes beside it.
Inputs = namedtuple("Inputs", "ber flit_bits fer_uc crc_bits ack_share "
                    "flits_per_s slot_ns retry_ns")
PAPER = Inputs(1e-6, 2048, 3.0e-5, 64, 0.1, 500e6, 2, 100)

# paper: as printed; half_unit: half of a unit of its last printed digit
Equation = namedtuple("Equation", "number name formula paper half_unit note ours")
Rate = namedtuple("Rate", "hits of rate lo hi")


def ratio(a, b):
    """a / b, as C has it where b is 0."""
    if b != 0:
        return a / b
    return NAN if a == 0 or a != a else math.copysign(math.inf, a)


def fer(ber, flit_bits):
    """Equation 1: a flit with at least one wrong bit. No digits of a small
    rate are lost."""
    return -math.expm1(flit_bits * math.log1p(-ber))


def fit(i, failures_per_flit):
    """Equations 5, 8, 10: failures in 10^9 hours of a device."""
    return failures_per_flit * i.flits_per_s * SECONDS_PER_HOUR * FIT_HOURS


def retry_loss(i, retries_per_flit):
    """Equations 11, 12, 14: share of the bandwidth that retries take."""
    plain = (1 - retries_per_flit) * i.slot_ns
    retried = retries_per_flit * (i.slot_ns + i.retry_ns)
    return 1 - i.slot_ns / (plain + retried)


def missed(i, wrong_per_flit):
    """What a CRC misses of flits that are wrong."""
    return math.ldexp(wrong_per_flit, -int(i.crc_bits))


def fit_cxl(i, levels):
    """Figure 8: CXL fails by order once there is a switch, else by what the CRC
    misses."""
    if levels == 0:
        return fit(i, missed(i, i.fer_uc))
    return fit(i, levels * i.fer_uc * i.ack_share)


def fit_rxl(i, levels):
    """Figure 8: each dropped flit comes once more, and may be missed then."""
    return fit(i, (1 + levels * i.fer_uc) * missed(i, i.fer_uc))


PRINTED = (
    (1, "flit error rate", "FER = 1 - (1 - BER)^flit_bits", 2.0e-3, 0.05e-3,
     None),
    (2, "uncorrectable by FEC", "FER_UC, the bound of PCIe 6.0", 3.0e-5,
     0.05e-5, None),
    (3, "share that FEC corrects", "1 - FER_UC / FER", 0.985, 0.0005, None),
    (4, "undetected, CXL direct", "FER_UC x 2^-64", 1.6e-24, 0.05e-24, None),
    (5, "FIT, CXL direct", "FER_UD x flits/h x 10^9", 2.9e-3, 0.05e-3, None),
    (6, "dropped by one switch", "FER_drop = FER_UC", 3.0e-5, 0.05e-5, None),
    (7, "order failure, CXL, one switch", "FER_drop x p_coalescing", 3.0e-6,
     0.05e-6, None),
    (8, "FIT, CXL, one switch", "FER_order x flits/h x 10^9", 5.4e15, 0.05e15,
     None),
    (9, "undetected, RXL, one switch", "(1 + FER_UC) x 2^-64", 1.6e-24,
     0.05e-24,
     "as printed the formula lacks a factor: only flits that FEC did not "
     "correct reach the CRC wrong. (1 + FER_UC) x FER_UC x 2^-64 is 1.6e-24, "
     "which equation 10 goes on with"),
    (10, "FIT, RXL, one switch", "FER_UD x flits/h x 10^9", 2.9e-3, 0.05e-3,
     None),
    (11, "bandwidth loss, CXL direct",
     "1 - 2 / ((1 - FER_UC) 2 + FER_UC 102)", 0.0015, 0.00005, None),
    (12, "bandwidth loss, CXL, one switch", "the same with 2 x FER_UC", 0.0030,
     0.00005, None),
    (13, "bandwidth loss, separate ACKs, p = 1", "p_coalescing", 1.0, 0.005,
     None),
    (14, "bandwidth loss, RXL, one switch", "as equation 12", 0.0030, 0.00005,
     None),
)


def equations(i):
    """All 14, with what their formulas give."""
    all_wrong = fer(i.ber, i.flit_bits)
    ours = (
        all_wrong, i.fer_uc, 1 - i.fer_uc / all_wrong, missed(i, i.fer_uc),
        fit_cxl(i, 0), i.fer_uc, i.fer_uc * i.ack_share, fit_cxl(i, 1),
        missed(i, 1 + i.fer_uc), fit_rxl(i, 1), retry_loss(i, i.fer_uc),
        retry_loss(i, 2 * i.fer_uc), 1, retry_loss(i, 2 * i.fer_uc))
    return [Equation(*p, o) for p, o in zip(PRINTED, ours)]


def agrees(e):
    """Whether ours, rounded as the paper's, is the paper's. A little more than
    half a unit: neither number is exact in binary."""
    return abs(e.ours - e.paper) <= e.half_unit * (1 + 1e-9)


def exactly(ber, bits, n):
    """The chance of exactly n wrong bits."""
    log_term = (bits - n) * math.log1p(-ber)
    for k in range(n):
        log_term += math.log((bits - k) / (k + 1.0) * ber)
    return math.exp(log_term)


def at_least(ber, bits, least):
    """Share of flits with this many or more wrong ones among independent
    bits."""
    if ber <= 0 or ber >= 1:
        return float(least == 0 or (ber >= 1 and bits >= least))
    if least <= bits * ber:  # the fewer ones are less to add up
        return max(0.0, 1 - sum(exactly(ber, bits, n) for n in range(least)))
    # beyond the mean each term is smaller than the one before
    term, total, n = exactly(ber, bits, least), 0.0, least
    while n <= bits and term > total * 1e-17:
        total += term
        term *= (bits - n) / (n + 1) * ber / (1 - ber)
        n += 1
    return total


def missed_by_bch(i, levels):
    """What crc64-bch misses of independent bit errors, for each flit: sharper
    than the paper's 2^-64 of all that reach the CRC altered.

    If FEC miscorrects, the byte that it adds to a group's data is the sum of
    the group's wrong bytes. So n wrong bits leave at most 2 n where the CRC
    looks, on every link again, since what FEC lets pass has no syndrome for the
    next link to see. The CRC sees all errors of up to 11 bits: fewer than six
    wrong bits, of all links together, are never missed. Of six and more, 2^-64
    are taken to pass."""
    return math.ldexp(at_least(i.ber, i.flit_bits * (levels + 1), BCH_BITS),
                      -64)


def rate(hits, of):
    """A rate with its 95 % interval: Wilson's, which holds at zero hits and at
    small counts."""
    assert hits <= of
    if of == 0:
        return Rate(hits, of, 0.0, 0.0, 1.0)
    p = hits / of
    mid = (p + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z * math.sqrt(p * (1 - p) / of + Z * Z / (4 * of * of)) / \
        (1 + Z * Z / of)
    # at the ends the formula is exact but for rounding
    return Rate(hits, of, p, 0.0 if hits == 0 else mid - half,
                1.0 if hits == of else mid + half)


def holds(r, computed):
    """Whether a computed value lies within the interval."""
    return r.lo <= computed <= r.hi
