#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each equation of the RXL paper against the number that it prints [EVAL-1], and
intervals against their textbook values. Expected values stand here again in full,
worked out by hand, so that a wrong constant cannot agree with itself.

usage: test_rxl_paper.py DRIVER_FOLDER
"""
import math
import random
import sys

sys.path.insert(0, sys.argv[1])
import paper  # noqa: E402  (the folder is an argument)


def near(got, want):
    assert abs(got - want) <= 1e-4 * abs(want), (got, want)


def every_equation_gives_its_worked_out_value():
    want = (
        2.045905e-3,  # 1 - (1 - 1e-6)^2048
        3e-5,
        0.9853366,
        1.626303e-24,  # 3e-5 * 5.421011e-20
        2.927346e-3,   # * 1.8e21
        3e-5,
        3e-6,
        5.4e15,
        5.421173e-20,  # 1.00003 * 2^-64
        2.927434e-3,
        1.497753e-3,   # 1 - 2/2.003
        2.991027e-3,   # 1 - 2/2.006
        1,
        2.991027e-3)
    for n, (e, value) in enumerate(zip(paper.equations(paper.PAPER), want)):
        assert e.number == n + 1
        near(e.ours, value)


def every_equation_agrees_with_the_paper_or_says_why_not():
    """All but equation 9, whose printed formula does not give its number."""
    all_of_them = paper.equations(paper.PAPER)
    assert len(all_of_them) == 14
    for e in all_of_them:
        assert paper.agrees(e) == (e.number != 9), e
        assert (e.note is None) == (e.number != 9), e
    # what equation 9 must have meant
    meant = (1 + 3e-5) * 3e-5 * math.ldexp(1, -64)
    assert abs(meant - 1.6e-24) < 0.05e-24


def agreement_ends_half_a_unit_of_the_last_printed_digit_away():
    e = paper.equations(paper.PAPER)[0]._replace(paper=2.0e-3,
                                                 half_unit=0.05e-3)
    for ours, agrees in ((2.0499e-3, True), (1.9501e-3, True),
                         (2.0501e-3, False), (1.9499e-3, False),
                         (paper.NAN, False)):
        assert paper.agrees(e._replace(ours=ours)) == agrees, ours


def figure_8_parts_at_the_first_switch():
    """Together without a switch, 18 orders of magnitude apart with."""
    i = paper.PAPER
    near(paper.fit_cxl(i, 0), 2.927346e-3)
    near(paper.fit_rxl(i, 0), 2.927346e-3)
    assert paper.fit_cxl(i, 1) / paper.fit_rxl(i, 1) > 1e18
    for k in range(1, 5):
        near(paper.fit_cxl(i, k), k * 5.4e15)
        # a flit in 33,333 comes twice for each level
        near(paper.fit_rxl(i, k), 2.927346e-3 * (1 + k * 3e-5))


def other_inputs_move_every_equation_that_they_enter():
    e = paper.equations(paper.PAPER._replace(
        ber=1e-5, fer_uc=1e-3, ack_share=0.5, retry_ns=200))
    near(e[0].ours, 0.02027173)
    near(e[5].ours, 1e-3)
    near(e[6].ours, 5e-4)
    near(e[10].ours, 1 - 2 / 2.2)
    near(e[11].ours, 1 - 2 / 2.4)


def shares_of_flits_with_so_many_wrong_bits_are_binomial():
    near(paper.at_least(0.5, 10, 6), 386.0 / 1024)
    near(paper.at_least(0.5, 10, 0), 1)
    near(paper.at_least(0.5, 10, 10), 1.0 / 1024)
    near(paper.at_least(0.999, 2048, 1), 1)
    near(paper.at_least(1e-6, 2048, 1), paper.fer(1e-6, 2048))
    near(paper.at_least(1e-6, 2048, 2), 2.09327107e-06)
    near(paper.at_least(0, 2048, 1), 0)
    near(paper.at_least(1, 2048, 1), 1)


def what_crc64_bch_misses_needs_six_wrong_bits():
    i = paper.PAPER
    # 2048 over 6, 1e-36 of them, and 2^-64 of these
    near(paper.missed_by_bch(i, 0) / 5.4210109e-20 / 1.0155548e-19, 1)
    assert paper.missed_by_bch(i, 0) < 1e-14 * 1.6e-24
    assert paper.missed_by_bch(i, 1) > 60 * paper.missed_by_bch(i, 0)


def the_interval_has_its_textbook_values():
    for hits, of, lo, hi in (
            (0, 0, 0, 1), (0, 10, 0, 0.27753), (1, 10, 0.017876, 0.40415),
            (5, 10, 0.23659, 0.76341), (10, 10, 0.72247, 1),
            (8, 10, 0.49016, 0.94332)):
        r = paper.rate(hits, of)
        assert abs(r.lo - lo) < 1e-5 and abs(r.hi - hi) < 1e-5, r
        assert paper.holds(r, r.rate), r


def a_value_outside_of_the_interval_is_not_held():
    r = paper.rate(100, 1000)
    assert paper.holds(r, 0.1)
    assert not paper.holds(r, 0.13) and not paper.holds(r, 0.07)


def nineteen_of_twenty_intervals_hold_the_truth():
    prng, p, held = random.Random(20), 0.003, 0
    for _ in range(1000):
        hits = sum(prng.random() < p for _ in range(2000))
        held += paper.holds(paper.rate(hits, 2000), p)
    assert 925 < held < 985, held


def a_division_by_nothing_is_no_error():
    assert math.isnan(paper.ratio(0, 0))
    assert paper.ratio(1, 0) == math.inf and paper.ratio(3, 2) == 1.5


for case in (every_equation_gives_its_worked_out_value,
             every_equation_agrees_with_the_paper_or_says_why_not,
             agreement_ends_half_a_unit_of_the_last_printed_digit_away,
             figure_8_parts_at_the_first_switch,
             other_inputs_move_every_equation_that_they_enter,
             shares_of_flits_with_so_many_wrong_bits_are_binomial,
             what_crc64_bch_misses_needs_six_wrong_bits,
             the_interval_has_its_textbook_values,
             a_value_outside_of_the_interval_is_not_held,
             nineteen_of_twenty_intervals_hold_the_truth,
             a_division_by_nothing_is_no_error):
    print("[ RUN      ]", case.__name__, flush=True)
    case()
